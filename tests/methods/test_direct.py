"""The model alone as a baseline: what it says is found in the graph, or it does not know."""

import json
from dataclasses import replace
from pathlib import Path

import pytest
from tests.each import for_each
from tests.methods.moons_asked import run_method

import askgraph
from askgraph import sample
from askgraph.errors import SetupError
from askgraph.graph import KnowledgeGraph
from askgraph.graph.examples import QueryExample
from askgraph.llm.scripted import ScriptedModel
from askgraph.methods.dfsl import Dfsl
from askgraph.methods.direct import Direct
from askgraph.methods.graf_von_data import GrafVonData
from askgraph.methods.grasp import Grasp
from askgraph.methods.multi_stage import MultiStage
from askgraph.methods.sparql_llm import SparqlLlm
from askgraph.trace import Answer, Refusal, Trace
from askgraph.workspace import Workspace


def asked(graph: KnowledgeGraph, reply: str, question: str) -> tuple[Trace, ScriptedModel]:
    return run_method(Direct, [reply], graph, question=question)


def said(*answers: str, known: bool = True, yes: bool | None = None) -> str:
    return json.dumps({"known": known, "yes": yes, "answers": answers})


def test_what_the_model_says_is_found_in_the_graph(moons: KnowledgeGraph) -> None:
    trace, model = asked(moons, said("europa", "Io", "Amalthea"), "Which moons orbit Jupiter?")

    assert isinstance(trace.outcome, Answer)
    assert {str(row[0]) for row in trace.outcome.result.rows} == {
        "<http://example.org/Europa>",
        "<http://example.org/Io>",
        '"Amalthea"',
    }
    assert "orbits" not in str(model.requests[0].messages), "nothing of the graph is shown"


@pytest.mark.parametrize("yes", [True, False])
def test_a_yes_or_no_is_one(moons: KnowledgeGraph, yes: bool) -> None:
    trace, _ = asked(moons, said(yes=yes), "Is Io a moon?")
    assert isinstance(trace.outcome, Answer) and trace.outcome.boolean is yes


@for_each("reply", [said("Io", known=False), said(), "I cannot say.", ""])
def test_what_the_model_does_not_know_is_a_refusal(moons: KnowledgeGraph, reply: str) -> None:
    trace, _ = asked(moons, reply, "Which moons orbit Jupiter?")
    assert isinstance(trace.outcome, Refusal) and trace.outcome.best is None


def test_a_name_that_would_break_the_query_is_a_text(moons: KnowledgeGraph) -> None:
    trace, _ = asked(moons, said('a " } } SELECT \\ \n'), "What?")
    assert isinstance(trace.outcome, Answer) and len(trace.outcome.result.rows) == 1


def test_similar_examples_are_shown_with_their_answers(moons: KnowledgeGraph) -> None:
    examples = (
        QueryExample("Which moons orbit Mars?", "SELECT ?m { ?m onto:orbits :Mars }"),
        QueryExample("Which moons orbit Jupiter?", "SELECT ?m { ?m onto:orbits :Jupiter }"),
        QueryExample("Does Io orbit Mars?", "ASK { :Io onto:orbits :Mars }"),
    )
    asked = "Which moons orbit Jupiter?"
    _, model = run_method(
        Direct, [said("Io")], replace(moons, examples=examples), question=asked, shots=3
    )

    _, *shown, last = (getattr(message, "text", "") for message in model.requests[0].messages)
    no = '{"known": true, "yes": false, "answers": []}'
    phobos = '{"known": true, "yes": null, "answers": ["Phobos"]}'
    assert shown[::2] == [f"Question: {examples[at].question}" for at in (2, 0)]
    assert shown[1::2] == [no, phobos]
    assert last == f"Question: {asked}"


MARS = "SELECT ?moon { ?moon ont:orbits space:Mars }"
EARTH = "ASK { space:Moon ont:orbits space:Earth }"


def examples(folder: Path, *lines: dict[str, object]) -> str:
    path = folder / "examples.jsonl"
    numbered = [{"id": str(number), **line} for number, line in enumerate(lines)]
    path.write_text("".join(json.dumps(line) + "\n" for line in numbered))
    return str(path)


def ask_nearest(question: str, path: str) -> askgraph.Result:
    return askgraph.ask(
        question, sample.graph_path(), method="nearest-example", settings={"examples": path}
    )


def test_the_query_of_the_most_similar_question_answers(tmp_path: Path) -> None:
    path = examples(
        tmp_path,
        {"question": "What moons does Mars have?", "sparql": MARS},
        {"question": "Does the Moon orbit the Earth?", "sparql": EARTH},
        {"question": "What moons does Mars have today?"},
    )
    found = ask_nearest("What moons does Mars have today?", path).json()
    assert found["sparql"] == MARS
    assert found["status"] == "answer" and 0.5 < float(str(found["confidence"])) < 1
    assert ask_nearest("The Moon, does it orbit the Earth?", path).json()["boolean"] is True


def test_without_a_query_that_fits_there_is_no_answer(tmp_path: Path) -> None:
    bare: dict[str, object] = {"question": "Who?"}
    for line in (bare | {"sparql": "SELECT ?x { ?x other:thing ?y }"}, bare):
        assert ask_nearest("Who?", examples(tmp_path, line)).json()["status"] == "refusal"


@pytest.mark.parametrize(
    ("content", "problem"), [(None, "cannot read"), ("{]", "line 1"), ('{"id": 1}', "line 1")]
)
def test_unreadable_examples_are_said(tmp_path: Path, content: str | None, problem: str) -> None:
    path = tmp_path / "examples.jsonl"
    if content is not None:
        path.write_text(content)
    with pytest.raises(SetupError, match=problem):
        ask_nearest("Who?", str(path))


def test_it_needs_examples() -> None:
    with pytest.raises(SetupError, match="its setting 'examples'"):
        ask_nearest("Who?", "")


PLUGINS = (Dfsl, GrafVonData, Grasp, MultiStage, SparqlLlm)


@for_each("plugin", PLUGINS)
def test_a_preset_is_a_table_of_settings_that_differ_each_with_its_place(plugin: type) -> None:
    best = plugin(ScriptedModel([]))
    paper = plugin(ScriptedModel([]), preset="paper")

    table = plugin.published.settings  # type: ignore[attr-defined]
    assert table
    for name, (value, place) in table.items():
        assert getattr(paper, name) == value != getattr(best, name)
        assert place.strip()
    others = set(plugin.__dataclass_fields__) - {*table, "preset", "model"}  # type: ignore[attr-defined]
    assert all(getattr(paper, name) == getattr(best, name) for name in others)


def test_a_setting_that_is_given_goes_before_the_preset() -> None:
    method = Grasp(ScriptedModel([]), preset="paper", hits=3)
    assert (method.hits, method.tools) == (3, "S_E")
    assert replace(method, timeout=1.0).timeout == 1.0
    assert replace(method, timeout=1.0).tools == "S_E"


def test_a_preset_stands_in_the_settings_of_a_workspace(tmp_path: Path) -> None:
    (tmp_path / "askgraph.toml").write_text('[methods.grasp]\npreset = "paper"\nrows = 4\n')

    method = Workspace(tmp_path).method("grasp", {"model": ScriptedModel([]), "steps": 2})
    assert isinstance(method, Grasp)
    assert (method.tools, method.rows, method.steps, method.propose) == ("S_E", 4, 2, False)


def test_an_unknown_preset_says_which_there_are() -> None:
    with pytest.raises(SetupError, match="'preset' must be one of best, paper, not 'draft'"):
        Grasp(ScriptedModel([]), preset="draft")
