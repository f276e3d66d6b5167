"""How a question went, told in full."""

from typing import Any

from askgraph.evaluation.questions import GoldQuestion
from askgraph.evaluation.reports.story import failed, story
from askgraph.evaluation.runs.one_question import asked
from askgraph.evaluation.runs.record import Options, Task
from askgraph.trace import Answer, Draft, Findings, Mention, Question, Refusal, Step

PREFIX = "PREFIX : <http://example.org/>\n"
ALL = PREFIX + "SELECT ?moon { ?moon :orbits ?planet } ORDER BY ?moon"
MARS = PREFIX + "SELECT ?moon { ?moon :orbits :Mars } ORDER BY ?moon"


async def test_a_failure_is_told_with_what_was_understood_and_both_results(endpoint: Any) -> None:
    result = await endpoint.select(ALL)

    async def ask(question: Question, steps: list[Step]) -> None:
        mention = Mention("moons", "class", "http://example.org/Moon", "moon", 0.9)
        steps += [Findings((mention,), ("of",)), Draft("SELECT oops", 0.1, "broken")]
        steps += [Draft(MARS, 1.2), Draft(ALL, 1.5, "all moons")]
        steps.append(Answer(ALL, "moons", result, ("moon",), "all moons", 0.7))

    question = GoldQuestion("mars", "moons of Mars", sparql=MARS, tags=("en",))
    task = Task(question, "moons", "moons.ttl", "scripted", options=Options(drafts=3))
    done = await asked(task, ask, endpoint)

    told = story(done.record, done.detail, rows=1)

    assert failed(done.record)
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
    async def ask(question: Question, steps: list[Step]) -> None:
        steps.append(Refusal("no"))

    task = Task(GoldQuestion("x", "x", sparql="SELECT oops"), "moons", "moons.ttl", "scripted")
    done = await asked(task, ask, endpoint)

    told = story(done.record, None)

    assert "(no query)" in told
    assert "gold error: QuerySyntaxError" in told
