"""Running and scoring questions: nothing dropped, nothing repeated."""

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from pathlib import Path
from typing import Any

import pytest

from askgraph.errors import SetupError, Unreachable
from askgraph.evaluation.questions import GoldQuestion
from askgraph.evaluation.report import Report
from askgraph.evaluation.run import evaluate
from askgraph.evaluation.values import Table
from askgraph.sparql.results import SelectResult, Truncation
from askgraph.trace import Answer, Outcome, Question, Refusal

Answerer = Callable[[Question], Awaitable[Outcome]]
AnswerWith = Callable[[Mapping[str, object]], Answerer]

PREFIX = "PREFIX : <http://example.org/> "
MARS = PREFIX + "SELECT ?m { ?m :orbits :Mars }"
ALL = PREFIX + "SELECT ?m { ?m :orbits ?p }"
MOONS_OF_MARS = GoldQuestion("mars", "moons of Mars", sparql=MARS)


async def test_a_right_answer(endpoint: Any, answer_with: AnswerWith) -> None:
    report = await evaluate([MOONS_OF_MARS], answer_with({"moons of Mars": MARS}), endpoint)

    (record,) = report.records
    assert (record.status, record.confidence, record.sparql) == ("answer", 0.9, MARS)
    assert (record.f1, record.f1_flattened, record.em) == (1, 1, 1)
    assert record.error is None
    assert report.json()["answered"] == 1


async def test_context_columns_cost_only_the_flattened_score(
    endpoint: Any, answer_with: AnswerWith
) -> None:
    wide = PREFIX + "SELECT ?m ?p { ?m :orbits ?p FILTER(?p = :Mars) }"
    report = await evaluate([MOONS_OF_MARS], answer_with({"moons of Mars": wide}), endpoint)
    assert (report.f1, report.em) == (1, 1)
    assert report.f1_flattened == pytest.approx(0.8)


@pytest.mark.parametrize(("sign", "status"), [("?", "clarification"), ("!", "refusal")])
async def test_the_best_attempt_counts_unless_abstaining(
    endpoint: Any, answer_with: AnswerWith, sign: str, status: str
) -> None:
    answerer = answer_with({"moons of Mars": sign + MARS})

    counted = await evaluate([MOONS_OF_MARS], answerer, endpoint)
    abstained = await evaluate([MOONS_OF_MARS], answerer, endpoint, abstain=True)

    assert counted.records[0].status == abstained.records[0].status == status
    assert (counted.f1, abstained.f1) == (1, 0)


@pytest.mark.parametrize(
    ("failure", "message"),
    [
        (Unreachable("no connection to moons"), "Unreachable: no connection to moons"),
        (KeyError("x"), "the method failed: KeyError('x')"),
    ],
)
async def test_a_failure_scores_0_and_stays(
    endpoint: Any, answer_with: AnswerWith, failure: Exception, message: str
) -> None:
    other = GoldQuestion("all", "all moons", sparql=ALL)
    answerer = answer_with({"moons of Mars": failure, "all moons": ALL})

    report = await evaluate([MOONS_OF_MARS, other], answerer, endpoint)

    assert report.f1 == 0.5
    record = report.records[0]
    assert record.status == "error"
    assert record.error == message


async def test_a_question_that_takes_too_long_fails(endpoint: Any) -> None:
    async def answerer(question: Question) -> Outcome:
        await asyncio.sleep(60)
        return Refusal("late")

    report = await evaluate([MOONS_OF_MARS], answerer, endpoint, timeout=0.01)

    assert report.records[0].error == "no answer within 0.01 s"


async def test_what_the_operator_must_mend_ends_the_run(
    endpoint: Any, answer_with: AnswerWith
) -> None:
    with pytest.raises(SetupError):
        await evaluate(
            [MOONS_OF_MARS], answer_with({"moons of Mars": SetupError("no model")}), endpoint
        )


async def test_a_gold_query_that_fails_is_reported_and_scores_0(
    endpoint: Any, answer_with: AnswerWith
) -> None:
    broken = GoldQuestion("mars", "moons of Mars", sparql="SELECT oops")

    report = await evaluate([broken], answer_with({"moons of Mars": MARS}), endpoint)

    assert report.f1 == 0
    assert "'mars'" in str(report.json()["gold_errors"])
    assert "QuerySyntaxError" in str(report.json()["gold_errors"])


async def test_stored_answers_stand_in_for_a_gold_query_that_fails(
    endpoint: Any, answer_with: AnswerWith
) -> None:
    stored = Table.of_json(["m"], [["http://example.org/Phobos"], ["http://example.org/Deimos"]])
    question = GoldQuestion("mars", "moons of Mars", sparql="SELECT oops", answers=stored)

    report = await evaluate([question], answer_with({"moons of Mars": MARS}), endpoint)

    assert report.em == 1
    assert report.records[0].gold_error


async def test_stored_answers_are_gold_where_there_is_no_query(
    endpoint: Any, answer_with: AnswerWith
) -> None:
    question = GoldQuestion("n", "how many", answers=Table.of_json(["n"], [["4"]]))
    query = PREFIX + "SELECT (COUNT(*) AS ?n) { ?m :orbits ?p }"
    report = await evaluate([question], answer_with({"how many": query}), endpoint)
    assert report.f1 == 1


async def test_yes_and_no_are_scored(endpoint: Any, answer_with: AnswerWith) -> None:
    question = GoldQuestion("any", "any?", sparql=PREFIX + "ASK { ?m :orbits :Venus }")
    right = await evaluate([question], answer_with({"any?": PREFIX + "ASK { :x :y :z }"}), endpoint)
    wrong = await evaluate(
        [question], answer_with({"any?": PREFIX + "ASK { :Io :orbits ?x }"}), endpoint
    )
    assert (right.f1, wrong.f1) == (1, 0)


async def test_an_unanswerable_question_should_not_be_answered(
    endpoint: Any, answer_with: AnswerWith
) -> None:
    questions = [GoldQuestion(text, text, unanswerable=True) for text in ("a", "b", "c")]
    answerer = answer_with({"a": Refusal("no"), "b": "?" + MARS, "c": MARS})

    report = await evaluate(questions, answerer, endpoint)

    assert report.json()["unanswerable"] == {"n": 3, "refused": 2}
    assert endpoint.asked == [MARS, MARS]


async def test_an_answer_that_was_cut_off_is_run_in_full(endpoint: Any) -> None:
    cut = SelectResult(("m",), (), Truncation("askgraph", "0 rows"))

    async def answerer(question: Question) -> Outcome:
        return Answer(MARS, "moons", cut, ("m",), "", 0.5)

    report = await evaluate([MOONS_OF_MARS], answerer, endpoint)

    assert report.f1 == 1


async def test_a_run_goes_on_where_it_stopped(
    endpoint: Any, answer_with: AnswerWith, tmp_path: Path
) -> None:
    questions = [GoldQuestion(str(n), str(n), sparql=MARS) for n in range(5)]
    known: dict[str, object] = {str(n): MARS if n % 2 else ALL for n in range(5)}
    file = tmp_path / "records.jsonl"

    def stop(report: Report, total: int) -> None:
        if len(report.records) == 2:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        await evaluate(questions, answer_with(known), endpoint, records=file, progress=stop)
    known["0"] = known["1"] = RuntimeError("asked again")
    again = await evaluate(questions, answer_with(known), endpoint, records=file)
    known |= {"0": ALL, "1": MARS}
    fresh = await evaluate(questions, answer_with(known), endpoint)

    assert [r.id for r in again.records] == ["0", "1", "2", "3", "4"]
    assert [(r.f1, r.sparql) for r in again.records] == [(r.f1, r.sparql) for r in fresh.records]
    assert len(file.read_text().splitlines()) == 5


async def test_records_of_other_settings_are_not_mixed_in(
    endpoint: Any, answer_with: AnswerWith, tmp_path: Path
) -> None:
    file = tmp_path / "records.jsonl"
    answerer = answer_with({"moons of Mars": MARS})
    await evaluate([MOONS_OF_MARS], answerer, endpoint, records=file, settings={"method": "a"})
    with pytest.raises(SetupError, match="other settings"):
        await evaluate([MOONS_OF_MARS], answerer, endpoint, records=file, settings={"method": "b"})


async def test_concurrent_runs_give_the_same_report(endpoint: Any, answer_with: AnswerWith) -> None:
    questions = [GoldQuestion(str(n), str(n), sparql=MARS) for n in range(9)]
    answerer = answer_with({str(n): MARS if n % 2 else ALL for n in range(9)})
    one = await evaluate(questions, answerer, endpoint)
    many = await evaluate(questions, answerer, endpoint, concurrency=4)
    assert [(r.id, r.f1) for r in one.records] == [(r.id, r.f1) for r in many.records]


async def test_gold_may_leave_prefixes_to_the_graph(endpoint: Any, answer_with: AnswerWith) -> None:
    question = GoldQuestion("mars", "moons of Mars", sparql=MARS.removeprefix(PREFIX))
    report = await evaluate(
        [question],
        answer_with({"moons of Mars": MARS}),
        endpoint,
        prefixes={"": "http://example.org/"},
    )
    assert report.f1 == 1


async def test_gold_that_is_no_table_is_reported(endpoint: Any, answer_with: AnswerWith) -> None:
    question = GoldQuestion("mars", "moons of Mars", sparql="DESCRIBE <http://example.org/Mars>")
    report = await evaluate([question], answer_with({"moons of Mars": MARS}), endpoint)
    assert "DESCRIBE query cannot be scored" in str(report.json()["gold_errors"])
