"""The model alone as a baseline: what it says is found in the graph, or it does not know."""

import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.graphs import MOONS

from askgraph.evaluation.runs.one_question import trace_of
from askgraph.graph import KnowledgeGraph
from askgraph.llm.scripted import ScriptedModel
from askgraph.methods.direct import Direct
from askgraph.trace import Answer, Question, Refusal, Trace
from askgraph.workspace import Workspace
from askgraph.workspace.run_sync import result_of


@pytest.fixture(scope="module")
def moons(tmp_path_factory: pytest.TempPathFactory) -> Iterator[KnowledgeGraph]:
    folder: Path = tmp_path_factory.mktemp("direct")
    (folder / "moons.ttl").write_text(MOONS)
    graph = Workspace(folder / "workspace").open(folder / "moons.ttl")
    yield graph
    result_of(graph.endpoint.close())


def asked(graph: KnowledgeGraph, reply: str, question: str) -> tuple[Trace, ScriptedModel]:
    model = ScriptedModel([reply])
    method = Direct(model)
    trace = result_of(trace_of(Question(question), method=method, name="direct", graphs=[graph]))
    return trace, model


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


@pytest.mark.parametrize("reply", [said(known=False), said(), "I cannot say.", ""])
def test_what_the_model_does_not_know_is_a_refusal(moons: KnowledgeGraph, reply: str) -> None:
    trace, _ = asked(moons, reply, "Which moons orbit Jupiter?")

    assert isinstance(trace.outcome, Refusal) and trace.outcome.best is None


def test_a_name_that_would_break_the_query_is_a_text(moons: KnowledgeGraph) -> None:
    trace, _ = asked(moons, said('a " } } SELECT \\ \n'), "What?")

    assert isinstance(trace.outcome, Answer) and len(trace.outcome.result.rows) == 1
