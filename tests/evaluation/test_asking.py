"""One question through a method, and how it went, told in full."""

from collections.abc import AsyncIterator, Sequence
from typing import Any

import pytest

from askgraph.errors import Unreachable
from askgraph.evaluation.asking import answerer, trace_of
from askgraph.evaluation.questions import GoldQuestion
from askgraph.evaluation.run import evaluate
from askgraph.evaluation.story import failed, story
from askgraph.graph import KnowledgeGraph
from askgraph.trace import Answer, Draft, Findings, Mention, Question, Refusal, Step, Thought

PREFIX = "PREFIX : <http://example.org/>\n"
ALL = PREFIX + "SELECT ?moon { ?moon :orbits ?planet } ORDER BY ?moon"
MARS = PREFIX + "SELECT ?moon { ?moon :orbits :Mars } ORDER BY ?moon"


class Scripted:
    """A method that says what it is given, and knows whether its stream was closed."""

    def __init__(self, *steps: Step | Exception) -> None:
        self.steps = steps
        self.closed = False
        self.asked: list[Question] = []

    async def answer(
        self, question: Question, graphs: Sequence[KnowledgeGraph]
    ) -> AsyncIterator[Step]:
        self.asked.append(question)
        try:
            for step in self.steps:
                if isinstance(step, Exception):
                    raise step
                yield step
        finally:
            self.closed = True


async def test_all_steps_are_kept_and_the_stream_is_closed() -> None:
    method = Scripted(Thought("hm"), Refusal("no"))

    trace = await trace_of(Question("?"), method=method, name="scripted", graphs=[])

    assert trace.steps == (Thought("hm"), Refusal("no"))
    assert trace.method == "scripted"
    assert method.closed


async def test_an_error_comes_through_and_the_stream_is_closed() -> None:
    method = Scripted(Unreachable("down"))
    with pytest.raises(Unreachable):
        await trace_of(Question("?"), method=method, name="scripted", graphs=[])
    assert method.closed


async def test_a_language_is_given_to_questions_that_have_none() -> None:
    method = Scripted(Refusal("no"))
    ask = answerer(method, "scripted", [], language="de")
    assert await ask(Question("Monde?")) == Refusal("no")
    await ask(Question("moons?", "en"))
    assert [question.language for question in method.asked] == ["de", "en"]


async def test_a_failure_is_told_with_what_was_understood_and_both_results(endpoint: Any) -> None:
    result = await endpoint.select(ALL)
    method = Scripted(
        Findings((Mention("moons", "class", "http://example.org/Moon", "moon", 0.9),), ("of",)),
        Draft("SELECT oops", 0.1, "broken"),
        Draft(MARS, 1.2),
        Draft(ALL, 1.5, "all moons"),
        Answer(ALL, "moons", result, ("moon",), "all moons", 0.7),
    )
    question = GoldQuestion("mars", "moons of Mars", sparql=MARS, tags=("en",))
    report = await evaluate([question], answerer(method, "scripted", []), endpoint)
    trace = await trace_of(Question("?"), method=method, name="scripted", graphs=[])

    told = await story(question, report.records[0], trace, endpoint, rows=1)

    assert failed(report.records[0])
    assert told.startswith("~ mars   F1 67   flat 67   EM 0   answer   confidence 0.70")
    assert told.partition("\n")[2] == "\n".join(
        [
            "  moons of Mars",
            "  understood",
            "    'moons' → class 'moon' 0.90 <http://example.org/Moon>",
            "    unused: of",
            "  drafts",
            "       1.500   F1  67   all moons",
            "       1.200   F1 100   SELECT ?moon { ?moon :orbits :Mars } ORDER BY ?moon",
            "       0.100   F1   0   broken",
            "  predicted",
            "    SELECT ?moon { ?moon :orbits ?planet } ORDER BY ?moon",
            "    → 4 rows of moon",
            "      http://example.org/Deimos",
            "  gold",
            "    SELECT ?moon { ?moon :orbits :Mars } ORDER BY ?moon",
            "    → 2 rows of moon",
            "      http://example.org/Deimos",
        ]
    )


async def test_a_question_without_an_attempt_is_told_too(endpoint: Any) -> None:
    question = GoldQuestion("x", "x", sparql="SELECT oops")
    report = await evaluate([question], answerer(Scripted(Refusal("no")), "scripted", []), endpoint)
    told = await story(question, report.records[0], None, endpoint)
    assert "(no query)" in told and "→ QuerySyntaxError" in told
