"""Calls of one turn are independent of each other, and over when the time of the question is."""

import asyncio
import json
from collections.abc import Sequence

import pytest
from tests.graphs import MOONS
from tests.servers import faults
from tests.tool_graphs import served

from askgraph.errors import SetupError
from askgraph.graph import KnowledgeGraph
from askgraph.llm import ToolCall
from askgraph.methods.tools.toolbox import GraphToolbox, parse_tool_set
from askgraph.trace import Question, ToolUse

PREFIXES = {"": "http://example.org/", "onto": "http://example.org/onto#"}
ALL = "SELECT ?moon WHERE { ?moon onto:orbits :Jupiter }"
QUESTION = Question("Which moons orbit Jupiter?")


def call(name: str, tool: str, **arguments: object) -> ToolCall:
    return ToolCall(name, tool, json.dumps(arguments))


def turns(
    graph: KnowledgeGraph,
    *several: Sequence[ToolCall],
    question: Question = QUESTION,
    seconds: float | None = None,
) -> list[tuple[ToolUse, ...]]:
    """What the calls of each turn give, one turn after the other."""

    async def run() -> list[tuple[ToolUse, ...]]:
        box = GraphToolbox(("answer", "execute", "cancel"), [graph], question, seconds=seconds)
        try:
            return [await box.call_all(calls) for calls in several]
        finally:
            await graph.endpoint.close()

    return asyncio.run(run())


def test_an_answer_given_twice_in_one_turn_is_refused_twice() -> None:
    answer = [call(name, "answer", query=ALL, columns=["moon"]) for name in "ab"]
    with served(MOONS, PREFIXES) as (_, graph):
        first, second = turns(graph, answer, answer[:1])
    assert [use.observation.failed for use in first] == [True, True]
    assert second[0].observation.answer is not None, "in another turn it is insisted on"


def test_what_a_call_shows_has_not_been_seen_by_another_of_the_same_turn() -> None:
    both = [call("a", "execute", query=ALL), call("b", "answer", query=ALL, columns=["moon"])]
    with served(MOONS, PREFIXES) as (_, graph):
        ((shown, refused),) = turns(graph, both)
    assert "http://example.org/Jupiter" in shown.observation.seen
    assert refused.observation.failed and "nothing has shown" in refused.observation.text


def test_an_iri_of_the_question_has_been_seen() -> None:
    query = "SELECT ?what WHERE { <http://example.org/Io> ?p ?what }"
    asked = Question("What is known of <http://example.org/Io>?")
    with served(MOONS, PREFIXES) as (_, graph):
        ((use,),) = turns(
            graph, [call("a", "answer", query=query, columns=[], certainty=1.0)], question=asked
        )

    assert use.observation.answer is not None


def test_the_time_of_the_question_ends_calls_under_way() -> None:
    with served(MOONS, PREFIXES) as (server, graph):
        server.acts.extend([faults.silence()] * 8)
        ((use,),) = turns(graph, [call("a", "execute", query=ALL)], seconds=0.2)
    assert use.observation.failed and "time is over" in use.observation.text


def test_a_set_has_each_tool_once_and_at_least_one() -> None:
    assert parse_tool_set("execute, answer,execute") == ("execute", "answer")
    for name in ("", " , "):
        with pytest.raises(SetupError, match="best"):
            parse_tool_set(name)
