"""A study of representations: a run for each variant of a graph, made if it is missing."""

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from tests.graphs_in_regions import FIRMS
from tests.servers.llm import LlmServer, Turn

from askgraph.errors import SetupError
from askgraph.evaluation.questions import GoldQuestion, write_questions
from askgraph.evaluation.studies import read_paper
from askgraph.evaluation.studies.representations import EXPERIMENTS as EXPERIMENTS_OF_THE_PAPER
from askgraph.evaluation.studies.representations import Experiment
from askgraph.graph.definitions import Definitions, read_definitions
from askgraph.workspace import Workspace
from askgraph.workspace.graphs import build_missing_indices
from askgraph.workspace.run_sync import run_coroutine
from askgraph.workspace.selection import Selection
from askgraph.workspace.study import (
    PaperStudy,
    PlannedRow,
    Study,
    find_missing_requirement,
    plan_rows,
    run_study,
)

QUERY = "PREFIX : <http://example.org/> SELECT DISTINCT ?x { ?x :hasSeat/:partOf+ :south }"
EXPERIMENTS = (
    Experiment(1),
    Experiment(2, schema="specific"),
    Experiment(3, shortcuts=True),
    Experiment(4, comments=True),
)


def read_definitions_of(place: Workspace, text: str) -> Definitions:
    (place.folder / "defined.toml").write_text(text)
    return read_definitions(place.folder / "defined.toml")


@pytest.fixture
def place(tmp_path: Path) -> Workspace:
    (tmp_path / "firms.ttl").write_text(FIRMS)
    asked = GoldQuestion("south", "Which firms are from Southland?", "en", QUERY, tags=("geo",))
    write_questions(tmp_path / "questions.jsonl", [asked])
    workspace = Workspace(tmp_path)
    workspace.add("firms", [tmp_path / "firms.ttl"])
    return workspace


def study(place: Workspace, *tags: str, **more: object) -> Study:
    folder = place.folder / "runs"
    benchmark = str(place.folder / "questions.jsonl")
    return Study(benchmark, "firms", "graph-search", folder, EXPERIMENTS, tags, **more)  # type: ignore[arg-type]


def published(place: Workspace, server: LlmServer, **more: object) -> Study:
    settings = (f"base_url={server.base}/v1", "model=scripted", "provider=openai")
    wanted = study(place, settings=settings, **more)
    method = "graf-von-data:preset=paper"
    return replace(wanted, method=method, experiments=EXPERIMENTS_OF_THE_PAPER)


def test_variants_are_made_once_and_what_needs_definitions_is_left_out(place: Workspace) -> None:
    asked: list[str] = []

    def of_run(name: str) -> None:
        asked.append(name)

    found = run_study(place, study(place, "geo"), progress=of_run)  # type: ignore[arg-type]

    assert asked == ["plain", "shortcuts"]  # graph search has no boundaries: 1 and 2 are one run
    assert not found.has_boundaries
    assert [one.number for one in found.figures] == [1, 2, 3]
    assert all(len(figures) == 2 for figures in found.figures.values())
    assert found.left_out == (
        "experiment 4: no definition has comments (--definitions), and no language model is named "
        "to draft them (--model)",
    )
    assert set(place.graphs()) == {"firms", "firms.shortcuts"}
    again = run_study(place, study(place, "geo"))
    assert again.figures == found.figures and again.records == found.records


def test_comments_are_wanted_only_from_what_could_have_them(place: Workspace) -> None:
    last = EXPERIMENTS[-1]
    no_comments = read_definitions_of(place, DEFINED.partition("[[comment]]")[0])

    assert "no language model is named" in find_missing_requirement(place, study(place), last)
    assert "no definition" in find_missing_requirement(
        place, study(place, definitions=no_comments), last
    )
    for more in ({"variants": {"comments": "firms"}}, {"settings": ("model=gpt-5-mini",)}):
        assert not find_missing_requirement(place, study(place, **more), last)
    assert not find_missing_requirement(place, study(place), EXPERIMENTS[0])


def test_what_no_question_or_graph_is_called_is_told_before_any_run(place: Workspace) -> None:
    with pytest.raises(SetupError, match="no question has the tag 'history'; available: geo"):
        run_study(place, study(place, "history"))
    with pytest.raises(SetupError, match="there is no graph 'nowhere'"):
        run_study(place, study(place, variants={"inverse": "nowhere"}))
    assert not (place.folder / "runs").exists()


DEFINED = """
[prefixes]
ex = "http://example.org/"

[[shortcut]]
property = "ex:locatedIn"
path = "ex:hasSeat/ex:partOf+"
label = "located in"

[[inverse]]
property = "ex:seatOf"
of = "ex:hasSeat"
label = "seat of"

[[comment]]
term = "ex:hasSeat"
text = "The office from which a firm is led."
"""


def test_the_method_of_the_paper_is_run_over_all_kinds_of_variants(
    place: Workspace, llm_server: LlmServer
) -> None:
    deref = Turn("Think: so.\nAct: deref('http://example.org/hasSeat')")
    query = Turn(f"Think: so.\nAct: query('{QUERY}') | success('Done.')")
    llm_server.turns.extend([deref, query] * len(EXPERIMENTS_OF_THE_PAPER))
    wanted = published(place, llm_server, definitions=read_definitions_of(place, DEFINED))

    found = run_study(place, wanted)

    assert found.left_out == () and found.has_boundaries
    assert [one.number for one in found.figures] == list(range(1, 14))
    assert all(figures[0] == (1.0, 1.0) for figures in found.figures.values())
    shown = [str(body["messages"][-1]) for body in llm_server.bodies[1::2]]
    assert ["office" in one for one in shown] == [n > 10 for n in range(1, 14)]
    assert found_by(place, "firms.comments", "office") == ["http://example.org/hasSeat"]
    assert found_by(place, "firms.inverse", "office") == []
    asked = len(llm_server.bodies)
    assert run_study(place, wanted).figures == found.figures and len(llm_server.bodies) == asked


def test_a_study_goes_on_if_the_model_drafts_no_comment_or_fails(
    place: Workspace, llm_server: LlmServer
) -> None:
    for reply, reason in (
        ({"error": "asleep"}, "asleep"),
        ([Turn('{"comments": []}')], "drafted no"),
    ):
        llm_server.knows = lambda asked, reply=reply: (
            reply if asked.get("response_format") else [Turn("Act: fail('no')")]
        )
        found = run_study(place, published(place, llm_server))

        assert [one.number for one in found.figures] == list(range(1, 11))
        assert "experiments 11, 12, 13: " in found.left_out[0] and reason in found.left_out[0]


def found_by(place: Workspace, graph: str, word: str) -> list[str]:
    """The properties that a search for a word finds: comments are searched where there are some."""
    opened = place.graph(graph)
    build_missing_indices(opened)
    try:
        return [hit.item.iri for hit in opened.indices["properties"].search(word, limit=5)]
    finally:
        run_coroutine(opened.endpoint.close())


def rows(place: Workspace, paper: str, table: str, **more: Any) -> dict[str, PlannedRow]:
    """The rows of a table as they would be run, by their names."""
    wanted = PaperStudy(
        read_paper(paper), (str(place.folder / "questions.jsonl"),), place.folder / "runs",
        graphs=("firms",), tables=(table,), **more,
    )  # fmt: skip
    return {one.row.name: one for one in plan_rows(place, wanted, wanted.select_questions(place))}


def test_rows_learn_from_a_file_from_other_folds_or_from_the_graph(place: Workspace) -> None:
    file = place.folder / "questions.jsonl"
    alone = rows(place, "dfsl", "5.14")
    assert "--examples" in alone["DFSL"].missing and not alone["Plain question"].missing
    given = rows(place, "dfsl", "5.14", examples=file)
    assert json.loads(given["DFSL"].choice.settings)["examples"] == str(file)
    assert "examples" not in json.loads(given["Plain question"].choice.settings)
    folded = rows(place, "dfsl", "5.14", selection=Selection(folds=3))
    assert [one.folds for one in folded.values()] == [None, 3, 3, 3, 3]
    grasp = rows(place, "grasp", "8", examples=file)  # which shows those of the graph alone
    assert "askgraph add NAME SOURCE --examples" in grasp["GRASP sim"].missing
    place.remove("firms")
    place.add("firms", [place.folder / "firms.ttl"], settings={"examples": str(file)})
    assert not rows(place, "grasp", "8")["GRASP sim"].missing
    assert not rows(place, "dfsl", "5.14")["DFSL"].missing


def test_examples_that_were_picked_by_hand_are_for_the_fixed_rows_alone(place: Workspace) -> None:
    file, own = place.folder / "questions.jsonl", place.folder / "own.jsonl"
    own.write_bytes(file.read_bytes())
    found = rows(place, "dfsl", "5.5", examples=file, resources={"fixed": str(own)})

    named = {name: json.loads(one.choice.settings).get("examples") for name, one in found.items()}
    assert named["Few-shot"] == str(own)
    assert named["DFSL"] == str(file)
    assert json.loads(found["Few-shot"].choice.settings)["variant"] == "fixed"


def test_a_row_has_the_settings_of_the_paper_and_what_it_changes(place: Workspace) -> None:
    found = rows(place, "multi-stage", "2", resources={"ReFinED": "http://127.0.0.1:9/refined"})

    assert json.loads(found["ReFinED"].choice.settings) == {
        "preset": "paper", "writer": "grown", "predicates": "linked", "entities": "outside",
        "linker": "refined", "linker_address": "http://127.0.0.1:9/refined",
    }  # fmt: skip
    assert found["Falcon"].missing == "--with 'Falcon'=… names the address of Falcon 2.0"
    assert (
        rows(place, "multi-stage", "5")["Trained elsewhere + ReFinED"].missing.count("--with") == 3
    )
    with pytest.raises(SetupError, match="no row of multi-stage needs it"):
        rows(place, "multi-stage", "2", resources={"GENRE": "x"})
