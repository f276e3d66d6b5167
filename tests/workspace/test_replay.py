"""Runs again from their traces: every method that works with a model, on one graph and on two."""

import json
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from tests.each import for_each
from tests.graphs import MOONS, PETS

from askgraph.errors import SetupError
from askgraph.evaluation.runs.one_question import trace_of
from askgraph.graph import KnowledgeGraph
from askgraph.graph.examples import QueryExample
from askgraph.llm import Choice, Finish, ToolCall
from askgraph.llm.scripted import ScriptedModel
from askgraph.trace import Answer, Question, Trace
from askgraph.trace.codec import TraceHead, read_trace, write_trace
from askgraph.workspace import Workspace
from askgraph.workspace.replay import replayed
from askgraph.workspace.run_sync import head_of, run_coroutine

QUERY = "SELECT ?moon { ?moon onto:orbits :Jupiter }"
MOONS_OF_JUPITER = {"http://example.org/Io", "http://example.org/Europa"}


def called(tool: str, number: int, graph: str, **arguments: object) -> ToolCall:
    given = {"graph": graph, **arguments} if graph else arguments
    return ToolCall(f"c{number}", tool, json.dumps(given))


def script(method: str, graph: str) -> ScriptedModel:
    """What a model says that tries two queries at once and answers with one of them."""
    if method == "graf-von-data":
        tried = f"Think: which orbit it?\nAct: query('{QUERY}') | search('Mars')"
        return ScriptedModel([tried, "Think: that is it.\nAct: success('')"])
    other = QUERY.replace("Jupiter", "Mars")
    calls = [called("execute", n, graph, query=q) for n, q in enumerate((QUERY, other))]
    final = called("answer", 3, graph, query=QUERY, columns=["moon"])
    return ScriptedModel([Choice("I try.", tuple(calls), Finish.CALLS), final])


@pytest.fixture
def workspace(tmp_path: Path) -> Workspace:
    place = Workspace(tmp_path / "workspace")
    for name, text in (("moons", MOONS), ("pets", PETS)):
        (tmp_path / f"{name}.ttl").write_text(text)
        place.add(name, [tmp_path / f"{name}.ttl"])
    return place


@pytest.fixture
def graphs(workspace: Workspace) -> Iterator[dict[str, KnowledgeGraph]]:
    opened = {name: workspace.graph(name) for name in ("moons", "pets")}
    yield opened
    for graph in opened.values():
        run_coroutine(graph.endpoint.close())


@for_each("method", ["grasp", "graf-von-data"], share_folder=True)
@for_each("names", [("moons",), ("moons", "pets")], share_folder=True)
async def test_a_run_takes_the_same_steps_again_without_model_and_graph(
    workspace: Workspace,
    graphs: dict[str, KnowledgeGraph],
    tmp_path: Path,
    method: str,
    names: tuple[str, ...],
) -> None:
    asked = [graphs[name] for name in names]
    model = script(method, "moons" if len(names) > 1 else "")
    made = workspace.method(method, {"model": model})
    question = Question("Which moons orbit Jupiter?")
    trace = await trace_of(question, method=made, name=method, graphs=asked)
    write_trace(tmp_path / "run.jsonl", trace, head_of(made, asked))

    again = await replayed(*read_trace(tmp_path / "run.jsonl"))

    assert (again.same_answer, again.differs) == (True, None)
    answer = again.now.outcome
    assert isinstance(answer, Answer)
    assert {str(row[0]).strip("<>") for row in answer.result.rows} == MOONS_OF_JUPITER
    spent, then = answer.usage, trace.outcome.usage
    assert replace(spent, seconds=0.0) == replace(then, seconds=0.0)


async def test_another_answer_is_told_with_the_step_that_differs(
    workspace: Workspace, graphs: dict[str, KnowledgeGraph]
) -> None:
    made = workspace.method("grasp", {"model": script("grasp", "")})
    question, asked = Question("Which moons orbit Jupiter?"), [graphs["moons"]]
    trace = await trace_of(question, method=made, name="grasp", graphs=asked)
    answer = trace.outcome
    assert isinstance(answer, Answer)
    claimed = replace(answer, query="SELECT * { ?s ?p ?o }")
    changed = Trace(question, "grasp", (*trace.steps[:-1], claimed))

    again = await replayed(changed, head_of(made, asked))

    assert (again.same_answer, again.differs) == (False, len(trace.steps) - 1)


@for_each(
    ("method", "settings", "told"),
    ("graph-search", {}, "'graph-search' cannot be replayed"),
    ("grasp", {"model": {}, "speed": 1}, "made by askgraph 0.0, .* other settings"),
    ("grasp", {"model": {}, "steps": "many"}, "made by askgraph 0.0, .* other settings"),
    ("no-such", {}, "no method named"),
)
async def test_what_cannot_be_run_again_is_told(
    method: str, settings: dict[str, object], told: str
) -> None:
    with pytest.raises(SetupError, match=told):
        await replayed(Trace(Question("?"), method, ()), TraceHead(settings, askgraph="0.0"))


async def test_a_confirmed_answer_has_the_settings_of_its_method_and_nothing_to_run_again(
    workspace: Workspace, graphs: dict[str, KnowledgeGraph], tmp_path: Path
) -> None:
    known = QueryExample("Which moons orbit Jupiter?", QUERY, origin="confirmed")
    asked = [replace(graphs["moons"], examples=(known,))]
    made = workspace.method("grasp", {"model": ScriptedModel([])}, confirmed=True)
    question = Question("Which moons orbit Jupiter?")
    trace = await trace_of(question, method=made, name="grasp", graphs=asked)
    write_trace(tmp_path / "run.jsonl", trace, head_of(made, asked))

    again, head = read_trace(tmp_path / "run.jsonl")

    assert isinstance(again.outcome, Answer) and again.outcome == trace.outcome
    assert "model" in head.settings
    with pytest.raises(SetupError, match="confirmed before, as 'Which moons orbit Jupiter"):
        await replayed(again, head)
