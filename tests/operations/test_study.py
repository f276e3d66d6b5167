"""A study of representations: a run for each variant of a graph, made if it is missing."""

from pathlib import Path

import pytest
from tests.graphs_in_regions import FIRMS

from askgraph.errors import SetupError
from askgraph.evaluation.questions import GoldQuestion, write_questions
from askgraph.evaluation.studies.representations import Experiment
from askgraph.operations.study import Study, studied
from askgraph.workspace import Workspace

QUERY = "PREFIX : <http://example.org/> SELECT DISTINCT ?x { ?x :hasSeat/:partOf+ :south }"
EXPERIMENTS = (
    Experiment(1),
    Experiment(2, schema="specific"),
    Experiment(3, shortcuts=True),
    Experiment(4, comments=True),
)


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


def test_variants_are_made_once_and_what_needs_definitions_is_left_out(place: Workspace) -> None:
    asked: list[str] = []

    def of_run(name: str) -> None:
        asked.append(name)

    found = studied(place, study(place, "geo"), progress=of_run)  # type: ignore[arg-type]

    assert asked == ["plain", "shortcuts"]  # graph search has no boundaries: 1 and 2 are one run
    assert not found.bounded
    assert [one.number for one in found.figures] == [1, 2, 3]
    assert all(len(figures) == 2 for figures in found.figures.values())
    assert found.left_out == ("experiment 4: no definition has comments (--definitions)",)
    assert set(place.graphs()) == {"firms", "firms.shortcuts"}
    again = studied(place, study(place, "geo"))
    assert again.figures == found.figures and again.records == found.records


def test_what_no_question_or_graph_is_called_is_told_before_any_run(place: Workspace) -> None:
    with pytest.raises(SetupError, match="no question has the tag 'history'; there are: geo"):
        studied(place, study(place, "history"))
    with pytest.raises(SetupError, match="there is no graph 'nowhere'"):
        studied(place, study(place, variants={"inverse": "nowhere"}))
    assert not (place.folder / "runs").exists()
