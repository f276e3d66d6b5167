"""One question asked and scored: whatever fails, it counts."""

import asyncio
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import pytest
from pyoxigraph import NamedNode
from tests.each import for_each

from askgraph import trace
from askgraph.errors import ServiceError, SetupError, Unauthorised, Unreachable
from askgraph.evaluation import ResultTable
from askgraph.evaluation.questions import GoldQuestion
from askgraph.evaluation.runs import EvaluationOptions, Record, Task
from askgraph.evaluation.runs.one_question import (
    MAX_TEXT_CHARACTERS,
    Asker,
    asked,
    check_steps,
    get_gold_links,
    to_step_object,
)
from askgraph.evaluation.runs.run import evaluate
from askgraph.llm import Choice, Finish, System, ToolCall, ToolSchema, User
from askgraph.sparql.results import SelectResult, Truncation

AskerMaker = Callable[[Mapping[str, object]], Asker]

PREFIX = "PREFIX : <http://example.org/> "
MARS = PREFIX + "SELECT ?m { ?m :orbits :Mars }"
ALL = PREFIX + "SELECT ?m { ?m :orbits ?p }"
MOONS_OF_MARS = GoldQuestion("mars", "moons of Mars", sparql=MARS)
ROWS = tuple((NamedNode(f"http://example.org/{name}"),) for name in ("Phobos", "Deimos"))
SEEN = trace.Observation("a moon")
RIGHT = trace.Answer(MARS, "moons", SelectResult(("m",), ROWS), ("m",), "", 0.5)


def task(question: GoldQuestion = MOONS_OF_MARS, **options: Any) -> Task:
    return Task(question, "moons", "moons.ttl", "lookup", options=EvaluationOptions(**options))


async def recorded(ask: Asker, endpoint: Any, *args: Any, **options: Any) -> Record:
    return (await asked(task(*args, **options), ask, endpoint)).record


def give(*steps: Any, failure: BaseException | None = None) -> Asker:
    """Return a method that gives these steps, and fails then where there is a failure."""

    async def ask(question: trace.Question, given: list[trace.Step]) -> None:
        given.extend(steps)
        if failure:
            raise failure

    return ask


async def test_right_answers(endpoint: Any, ask_with: AskerMaker) -> None:
    # A right answer.
    record = await recorded(ask_with({"moons of Mars": MARS}), endpoint)
    assert (record.status, record.confidence, record.sparql) == ("answer", 0.9, MARS)
    assert {name for name, score in record.scores.items() if score.f1 != 1} == set()
    assert (record.error, record.failure, record.executed) == (None, None, True)
    assert (record.form, record.patterns) == ("SELECT", 1)
    # What a query links is scored.
    jupiter = PREFIX + "SELECT ?m { ?m :orbits :Jupiter }"
    record = await recorded(ask_with({"moons of Mars": jupiter}), endpoint)
    assert (
        record.get_score("linked_entities").f1 == 0
        and record.get_score("linked_predicates").f1 == 1
    )
    # Columns that an answer calls context cost nothing.
    wide = PREFIX + "SELECT ?m ?p { ?m :orbits ?p FILTER(?p = :Mars) }"
    result = SelectResult(("m", "p"), tuple((*row, NamedNode("http://m")) for row in ROWS))

    record = await recorded(give(trace.Answer(wide, "moons", result, ("m",), "", 0.5)), endpoint)
    assert (record.f1, record.em, record.f1_flattened) == (1, 1, 1)
    # Further answer columns cost only the flattened score.
    wide = PREFIX + "SELECT ?m ?p { ?m :orbits ?p FILTER(?p = :Mars) }"
    record = await recorded(ask_with({"moons of Mars": wide}), endpoint)
    assert (record.f1, record.em) == (1, 1) and record.f1_flattened == pytest.approx(0.8)


@pytest.mark.parametrize("told", [True, False])
async def test_gold_links_are_told_if_the_task_says_and_kept(endpoint: Any, told: bool) -> None:
    heard: list[trace.Question] = []

    async def ask(question: trace.Question, steps: list[trace.Step]) -> None:
        heard.append(question)
        steps.append(RIGHT)

    done = await asked(replace(task(), gold_links=told), ask, endpoint)

    links = ("http://example.org/Mars", "http://example.org/orbits")
    assert [question.given for question in heard] == [links if told else None]
    assert (
        done.record.gold_links is told
        and Record.from_json(done.record.to_json()).gold_links is told
    )


@pytest.mark.parametrize(("sign", "status"), [("?", "clarification"), ("!", "refusal")])
async def test_the_best_attempt_counts_unless_abstaining(
    endpoint: Any, ask_with: AskerMaker, sign: str, status: str
) -> None:
    ask = ask_with({"moons of Mars": sign + MARS})
    counted = await recorded(ask, endpoint)
    abstained = await recorded(ask, endpoint, abstain=True)
    assert counted.status == abstained.status == status and (counted.f1, abstained.f1) == (1, 0)
    assert counted.get_score("linked_entities").f1 == 1
    assert {score.f1 for score in abstained.scores.values()} == {0}


@pytest.mark.parametrize(
    ("failure", "message"),
    [
        (Unreachable("no connection to moons"), "Unreachable: no connection to moons"),
        (KeyError("x"), "the method failed: KeyError('x')"),
        (asyncio.CancelledError(), "the method failed: it cancelled its own task"),
    ],
)
async def test_a_failure_scores_0_and_says_why(
    endpoint: Any, failure: BaseException, message: str
) -> None:
    record = await recorded(give(failure=failure), endpoint)
    assert (record.f1, record.status, record.error) == (0, "error", message) and record.failure


async def test_a_question_that_takes_too_long_fails(endpoint: Any) -> None:
    async def ask(question: trace.Question, steps: list[trace.Step]) -> None:
        await asyncio.sleep(60)

    record = await recorded(ask, endpoint, timeout=0.01)

    assert record.error == "no answer within 0.01 s" and record.failure == "timeout"


async def test_late_answers(endpoint: Any, ask_with: AskerMaker) -> None:
    # An answer that comes too late fails also where its method never waits.
    async def ask(question: trace.Question, steps: list[trace.Step]) -> None:
        time.sleep(0.02)  # noqa: ASYNC251 - such methods are what this is about
        steps.append(RIGHT)

    record = await recorded(ask, endpoint, timeout=0.01)
    assert (record.f1, record.status, record.failure) == (0, "error", "timeout")
    # A timeout inside a method is not taken for that of the question.
    record = await recorded(ask_with({"moons of Mars": TimeoutError("slow")}), endpoint)
    assert record.error == "the method failed: TimeoutError('slow')"


@for_each(
    ("steps", "message"),
    ([], "it ended without an answer, a refusal or a question back"),
    ([trace.Thought("hm")], "it ended without an answer, a refusal or a question back"),
    ([RIGHT, RIGHT], "it went on after its answer"),
    ([RIGHT, trace.Thought("late")], "it went on after its answer"),
    (["moons", RIGHT], "it yielded a str, which is not a step"),
    ([trace.ToolUse("search", {"a": {"moons"}}, SEEN), RIGHT], "its ToolUse cannot be written"),
    ([replace(RIGHT, confidence=float("nan"))], "its Answer cannot be written"),
    ([replace(RIGHT, confidence=17)], "its confidence is 17, not between 0 and 1"),
)
async def test_steps_that_no_method_may_give_cost_the_question_and_not_the_run(
    endpoint: Any, steps: Sequence[Any], message: str
) -> None:
    run = await evaluate([task()], lambda one: asked(one, give(*steps), endpoint))
    (record,) = run.records
    assert (record.f1, record.status, record.failure) == (0, "error", "error")
    assert (record.error or "").startswith(f"the method failed: {message}")


async def test_errors_and_gold(endpoint: Any, ask_with: AskerMaker) -> None:
    # An error after the answer is a failure with the cost of the answer.
    thought = trace.Thought("hm", trace.Usage(llm_calls=1))
    answer = replace(RIGHT, usage=trace.Usage(llm_calls=2))
    record = await recorded(give(thought, answer, failure=RuntimeError("cannot close")), endpoint)
    assert (record.f1, record.status, record.usage.llm_calls) == (0, "error", 2)
    # What the operator must mend is raised.
    with pytest.raises(SetupError):
        await recorded(ask_with({"moons of Mars": SetupError("no model")}), endpoint)
    # A gold query that fails is reported and scores 0.
    broken = replace(MOONS_OF_MARS, sparql="SELECT oops")
    record = await recorded(ask_with({"moons of Mars": MARS}), endpoint, broken)
    assert record.f1 == 0 and "QuerySyntaxError" in str(record.gold_error)
    # Stored answers stand in for a gold query that fails.
    stored = ResultTable.from_json(
        ["m"], [["http://example.org/Phobos"], ["http://example.org/Deimos"]]
    )
    question = replace(MOONS_OF_MARS, sparql="SELECT oops", answers=stored)
    record = await recorded(ask_with({"moons of Mars": MARS}), endpoint, question)
    assert record.em == 1 and record.gold_error
    # Stored answers are gold where there is no query.
    question = GoldQuestion("n", "how many", answers=ResultTable.from_json(["n"], [["4"]]))
    query = PREFIX + "SELECT (COUNT(*) AS ?n) { ?m :orbits ?p }"
    assert (await recorded(ask_with({"how many": query}), endpoint, question)).f1 == 1


@pytest.mark.parametrize("failure", [Unreachable("down"), Unauthorised("no")])
async def test_an_endpoint_that_is_gone_ends_the_run(endpoint: Any, failure: ServiceError) -> None:
    async def gone(*_: object, **__: object) -> SelectResult:
        raise failure

    endpoint.select = gone
    with pytest.raises(type(failure)):
        await recorded(give(trace.Refusal("no")), endpoint)
    stored = ResultTable.from_json(["m"], [["http://example.org/Phobos"]])
    question = replace(MOONS_OF_MARS, answers=stored)
    kept = await recorded(give(trace.Refusal("no")), endpoint, question)
    assert kept.gold_error == f"{type(failure).__name__}: {failure}"


async def test_stored_gold(endpoint: Any, ask_with: AskerMaker) -> None:
    # With stored gold no gold query runs.
    old = ResultTable.from_json(["m"], [["http://example.org/Vulcan"]])
    ask = ask_with({"moons of Mars": MARS})
    question = replace(MOONS_OF_MARS, answers=old)
    record = await recorded(ask, endpoint, question, stored_gold=True)
    missing = await recorded(ask, endpoint, MOONS_OF_MARS, stored_gold=True)
    assert record.f1 == 0 and endpoint.asked == [MARS, MARS]
    assert missing.gold_error == "no gold result is stored for this question"
    # Yes and no are scored.
    question = GoldQuestion("any", "any?", sparql=PREFIX + "ASK { ?m :orbits :Venus }")
    no, yes = PREFIX + "ASK { :x :y :z }", PREFIX + "ASK { :Io :orbits ?x }"
    right = await recorded(ask_with({"any?": no}), endpoint, question)
    wrong = await recorded(ask_with({"any?": yes}), endpoint, question)
    assert (right.f1, wrong.f1) == (1, 0)


@for_each(("found", "score"), [(trace.Refusal("no"), 1), ("?" + MARS, 1), (MARS, 0)])
async def test_an_unanswerable_question_should_not_be_answered(
    endpoint: Any, ask_with: AskerMaker, found: object, score: int
) -> None:
    question = GoldQuestion("a", "a", unanswerable=True)
    assert (await recorded(ask_with({"a": found}), endpoint, question)).f1 == score


async def test_an_answer_that_was_cut_off_is_run_in_full(endpoint: Any) -> None:
    cut = SelectResult(("m",), (), Truncation("askgraph", "0 rows"))
    answer = trace.Answer(MARS, "moons", cut, ("m",), "", 0.5)
    assert (await recorded(give(answer), endpoint)).f1 == 1


async def test_costs_add_up_over_attempts(endpoint: Any) -> None:
    tries = iter([Unreachable("busy"), RuntimeError("cut off"), None])

    async def ask(question: trace.Question, steps: list[trace.Step]) -> None:
        spent = trace.Usage(llm_calls=1, input_tokens=100, money=0.5)
        steps.append(trace.Thought("thinking", spent))
        if failure := next(tries):
            raise failure
        result = await endpoint.select(MARS)
        total = spent + trace.Usage(requests=1)
        steps.append(trace.Answer(MARS, "moons", result, ("m",), "", 0.5, usage=total))

    record = await recorded(ask, endpoint, retries=2)

    assert (record.f1, record.attempts, record.error) == (1, 3, None)
    assert record.usage == trace.Usage(requests=1, llm_calls=3, input_tokens=300, money=1.5)


async def test_the_turns_of_a_model_are_paid_for_also_where_no_outcome_comes(endpoint: Any) -> None:
    turn = trace.ModelTurn(Choice("Hm."), trace.Usage(llm_calls=1, input_tokens=100))
    record = await recorded(give(turn, failure=Unreachable("gone")), endpoint)
    assert record.usage == trace.Usage(llm_calls=1, input_tokens=100)


async def test_retries_and_details(endpoint: Any, ask_with: AskerMaker) -> None:
    # A failure that stays is scored with all it cost.
    thought = trace.Thought("thinking", trace.Usage(llm_calls=2))
    record = await recorded(give(thought, failure=Unreachable("down")), endpoint, retries=1)
    assert (record.f1, record.attempts, record.usage.llm_calls) == (0, 2, 4)
    # A query that is wrong is not tried again.
    record = await recorded(ask_with({"moons of Mars": "SELECT oops"}), endpoint, retries=5)
    assert record.attempts == 1
    # The detail shows both results and their difference.
    jupiter = PREFIX + "SELECT ?m { VALUES ?m { :Phobos :Io } }"
    done = await asked(task(), ask_with({"moons of Mars": jupiter}), endpoint)
    base = "http://example.org/"
    assert done.detail.missing == ((base + "Deimos",),) and done.detail.extra == ((base + "Io",),)
    assert done.detail.predicted == {
        "columns": ["m"],
        "rows": [[base + "Io"], [base + "Phobos"]],
        "n": 2,
    }
    assert done.detail.key == done.record.key
    assert [step["step"] for step in done.detail.steps] == ["answer"]


@pytest.mark.parametrize(
    ("end", "rows"), [("", ["Deimos", "Phobos"]), (" ORDER BY DESC(?m)", ["Phobos", "Deimos"])]
)
async def test_rows_that_a_query_does_not_order_come_in_the_order_of_their_terms(
    endpoint: Any, ask_with: AskerMaker, end: str, rows: list[str]
) -> None:
    values = PREFIX + "SELECT ?m { VALUES ?m { :Phobos :Deimos } }" + end
    done = await asked(task(), ask_with({"moons of Mars": values}), endpoint)
    shown = done.detail.predicted or {}
    assert shown["rows"] == [["http://example.org/" + name] for name in rows]


async def test_drafts_and_gold(endpoint: Any, ask_with: AskerMaker) -> None:
    # Drafts are scored best first.
    drafts = (trace.Draft(ALL, 0.5), trace.Draft(MARS, 0.7), trace.Draft("oops", 0.6))
    ask = give(trace.Findings(()), *drafts, trace.Refusal("no"))
    assert (await recorded(ask, endpoint, drafts=3)).drafts == pytest.approx((1, 0, 2 / 3))
    # Gold may leave prefixes to the graph.
    question = replace(MOONS_OF_MARS, sparql=MARS.removeprefix(PREFIX))
    prefixes = {"": "http://example.org/"}
    ask = ask_with({"moons of Mars": MARS})
    done = await asked(task(question), ask, endpoint, prefixes=prefixes)
    assert done.record.f1 == 1
    # Gold that is no table is reported.
    question = replace(MOONS_OF_MARS, sparql="DESCRIBE <http://example.org/Mars>")
    record = await recorded(ask_with({"moons of Mars": MARS}), endpoint, question)
    assert "DESCRIBE query cannot be scored" in str(record.gold_error)


PREFIXES = {"": "http://e/"}
QUERY = "SELECT ?m { ?m :orbits :Mars ; a :Moon }"


def test_gold_links_and_steps() -> None:
    # They are those of the gold query things first.
    found = get_gold_links(GoldQuestion("q", "Moons?", sparql=QUERY), prefixes=PREFIXES)
    assert found == ("http://e/Mars", "http://e/Moon", "http://e/orbits")
    # What the benchmark itself names goes before the query.
    named = GoldQuestion("q", "Moons?", sparql=QUERY, entities=("e:Mars",), predicates=("e:o",))
    assert get_gold_links(named, prefixes=PREFIXES) == ("e:Mars", "e:o")
    # Without gold there is none.
    assert get_gold_links(GoldQuestion("q", "Moons?", unanswerable=True)) == ()
    # A prompt tells its messages and the names of its tools.
    tools = (ToolSchema("execute", "Run.", {}),)
    assert to_step_object(trace.Prompt("question", (System("Work."), User(LONG)), tools)) == {
        "step": "prompt",
        "purpose": "question",
        "messages": [{"role": "system", "text": "Work."}, {"role": "user", "text": CUT}],
        "tools": ["execute"],
    }
    # A turn tells what was said called and paid.
    call = ToolCall("c1", "execute", '{"query": "ASK {}"}')
    choice = Choice("", (call,), Finish.CALLS, LONG, refusal="No.", opaque="signed")
    said = to_step_object(trace.ModelTurn(choice, trace.Usage(llm_calls=1, input_tokens=9), "m"))
    assert said.pop("usage") == {
        "seconds": 0.0, "requests": 0, "llm_calls": 1, "input_tokens": 9, "cached_tokens": 0,
        "output_tokens": 0, "money": 0.0,
    }  # fmt: skip
    assert said == {
        "step": "model_turn",
        "text": "No.",
        "reasoning": CUT,
        "calls": [{"tool": "execute", "arguments": '{"query": "ASK {}"}'}],
        "finish": "calls",
        "model": "m",
    }


LONG = "x" * (MAX_TEXT_CHARACTERS + 1_000)
CUT = "x" * MAX_TEXT_CHARACTERS + " … (1,000 characters more)"


def test_calls_and_sound_steps() -> None:
    # A call tells what it gave.
    seen = trace.Observation(LONG, ("http://example.org/Io",), False, "ASK {}", 1)
    assert to_step_object(trace.ToolUse("execute", {"query": LONG, "n": 1}, seen, 0.5, "c1")) == {
        "step": "tool_use", "tool": "execute", "arguments": {"query": CUT, "n": 1}, "output": CUT,
        "failed": False, "query": "ASK {}", "rows": 1, "seconds": 0.5,
    }  # fmt: skip
    # The steps of a model are sound.
    steps = (
        trace.Prompt("question", (User("?"),)),
        trace.ModelTurn(Choice("Hm."), trace.Usage()),
        trace.ToolUse("cancel", {}, trace.Observation("given up", ends="cancel")),
        trace.Refusal("given up"),
    )
    assert check_steps(steps) == (steps, None)
