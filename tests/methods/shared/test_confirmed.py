"""A confirmed answer comes again for the same question, from the graph as it is."""

from collections.abc import Iterator
from contextlib import aclosing
from dataclasses import replace
from pathlib import Path

import pytest
from tests.graphs import MOONS, PETS
from tests.methods.tools.exploring import served

from askgraph.graph import KnowledgeGraph
from askgraph.graph.examples import Confirmation, QueryExample, Wording, digest_result
from askgraph.methods.shared.confirmed_answers import answer_from_confirmed
from askgraph.trace import Answer, ConfirmedQuestion, PreviousQuestion, Question, Step, Thought

ORBITS = "?moon <http://example.org/onto#orbits>"
PHOBOS = QueryExample(
    "Which moons has Mars?",
    f"SELECT ?moon {{ {ORBITS} <http://example.org/Mars> }}",
    "en",
    others=(Wording("Welche Monde hat der Mars?", "de"),),
    iri="urn:a:1",
    origin="confirmed",
    confirmation=Confirmation("2026-01-02T00:00:00+00:00", "moons", "", 1, by="Ada"),
)
JUPITER = PHOBOS.query.replace("Mars", "Jupiter")
ASKED = Question("Which moons has Mars?", "en")


@pytest.fixture
def moons(tmp_path: Path) -> Iterator[KnowledgeGraph]:
    with served(MOONS, tmp_path, examples=(PHOBOS,)) as (graph, _):
        yield graph


async def steps_of(question: Question, *graphs: KnowledgeGraph) -> list[Step]:
    async with aclosing(answer_from_confirmed(question, graphs)) as stream:
        return [step async for step in stream]


def knowing(graph: KnowledgeGraph, query: str, rows: int, when: str = "2026") -> KnowledgeGraph:
    """The graph with another confirmed query, which had so many rows."""
    confirmation = Confirmation(when, "moons", "", rows)
    return replace(graph, examples=(replace(PHOBOS, query=query, confirmation=confirmation),))


@pytest.mark.parametrize(
    "question",
    [
        ASKED,
        Question("  which MOONS has\tMars ?! "),
        Question("welche Monde hat der Mars", "de-AT"),
    ],
)
async def test_the_same_question_gets_the_confirmed_query_and_who_confirmed_it(
    moons: KnowledgeGraph, question: Question
) -> None:
    (answer,) = await steps_of(question, moons)

    assert isinstance(answer, Answer)
    assert [str(term) for (term,) in answer.result.rows] == ["<http://example.org/Phobos>"]
    assert answer.confidence == 1.0
    assert answer.confirmed == ConfirmedQuestion(
        "Which moons has Mars?", "2026-01-02T00:00:00+00:00", "Ada", "urn:a:1"
    )
    assert (answer.usage.llm_calls, answer.usage.requests >= 1) == (0, True)


async def test_another_question_gets_none_nor_what_nobody_confirmed(moons: KnowledgeGraph) -> None:
    for question in (
        Question("Which moon has Mars?", "en"),
        Question("Which moons has Mars?", "de"),
        Question("Which moons has Mars?", "en", (PreviousQuestion("Is there life?", "ASK { }"),)),
    ):
        assert await steps_of(question, moons) == []
    for origin in ("written", "generated"):
        known = (replace(PHOBOS, origin=origin),)
        assert await steps_of(ASKED, replace(moons, examples=known)) == []


@pytest.mark.parametrize(
    ("query", "why"),
    [
        ("SELECT ?moon WHERE {", "'{' is never closed"),
        (f"CONSTRUCT WHERE {{ {ORBITS} ?planet }}", "SELECT or an ASK"),
        (f"SELECT ?moon {{ {ORBITS} <http://example.org/Venus> }}", "no result any more"),
    ],
)
async def test_a_query_that_can_no_longer_be_used_is_a_thought_that_says_why(
    moons: KnowledgeGraph, query: str, why: str
) -> None:
    (thought,) = await steps_of(ASKED, knowing(moons, query, rows=1))
    assert isinstance(thought, Thought)
    assert "'Which moons has Mars?' is not used" in thought.text and why in thought.text


async def test_a_query_that_never_had_a_result_is_an_answer(moons: KnowledgeGraph) -> None:
    empty = f"SELECT ?moon {{ {ORBITS} <http://example.org/Venus> }}"
    (answer,) = await steps_of(ASKED, knowing(moons, empty, rows=0))
    assert isinstance(answer, Answer) and answer.why_empty


async def test_a_result_that_changed_says_how(moons: KnowledgeGraph) -> None:
    query = "ASK { ?moon <http://example.org/onto#orbits> <http://example.org/Venus> }"
    yes = Confirmation("2026", "moons", "", 1, digest_result(True).digest)
    known = replace(PHOBOS, query=query, confirmation=yes)

    (more,) = await steps_of(ASKED, knowing(moons, JUPITER, rows=1))
    (no,) = await steps_of(ASKED, replace(moons, examples=(known,)))

    assert isinstance(more, Answer) and more.confirmed is not None
    assert more.confirmed.change == "more rows: 1 then, 2 now"
    assert isinstance(no, Answer) and no.confirmed is not None
    assert (no.boolean, no.confirmed.change) == (False, "other values")


async def test_the_graph_confirmed_last_answers(moons: KnowledgeGraph, tmp_path: Path) -> None:
    with served(PETS, tmp_path / "pets", examples=()) as (pets, _):
        older = replace(knowing(moons, PHOBOS.query, rows=1, when="2025"), name="older")
        newer = replace(knowing(moons, JUPITER, rows=2, when="2026"), name="newer")
        (answer,) = await steps_of(ASKED, pets, older, newer)
    assert isinstance(answer, Answer) and answer.graph == "newer"
