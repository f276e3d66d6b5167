"""Reports on runs as tables and as JSON."""

import json
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.each import for_each
from tests.evaluation.reports.records import record, run_of, same

from askgraph.errors import SetupError
from askgraph.evaluation.questions import GoldQuestion
from askgraph.evaluation.reports import report
from askgraph.evaluation.reports.report_sheets import (
    SHEET_BUILDERS,
    build_report_sheets,
    build_score_sheet,
    build_slice_sheet,
    format_question_report,
    is_imperfect,
)
from askgraph.evaluation.reports.sheet import Sheet
from askgraph.evaluation.runs import EvaluationOptions, EvaluationRun, Record, Task
from askgraph.evaluation.runs.one_question import asked
from askgraph.trace import Answer, Draft, Findings, Mention, Question, Refusal, Step

RUN = run_of(
    record("q1", 1.0, method="fast", confidence=0.9, tags=("count",)),
    record("q2", 0.0, method="fast", confidence=0.2, failure="wrong entity"),
    replace(
        record("q3", 0.0, method="fast", status="error", error="TimedOut: slow"),
        sparql=None,
        confidence=0.0,
    ),
    record("q1", 0.0, method="slow", failure="empty", drafts=(0.0, 1.0)),
    record("q2", 1.0, method="slow", drafts=(1.0,)),
    record("q9", 1.0, method="slow", status="refusal", unanswerable=True),
    planned=7,
)


def rows(sheet: Sheet) -> list[dict[str, object]]:
    heads = [column.head for column in sheet.columns]
    return [dict(zip(heads, row, strict=True)) for row in sheet.rows]


def sheet(run: EvaluationRun, title: str, *, times: bool = True) -> list[dict[str, object]]:
    (found,) = [
        s for s in build_report_sheets([run], with_times=times) if s.title.startswith(title)
    ]
    return rows(found)


def test_what_the_sheets_hold() -> None:
    # A method that was told the links of gold is marked in every table and not mixed.
    told = replace(record("q1", 1.0, method="dfsl"), gold_links=True)
    run = run_of(told, record("q2", 0.0, method="dfsl"))
    scores = build_score_sheet([run])
    assert [row["method"] for row in rows(scores)] == ["dfsl", "dfsl [gold links]"]
    assert "given from gold" in " ".join(scores.notes)
    assert "dfsl [gold links]" in json.dumps(report.to_report_object([run]))
    assert "given from gold" not in " ".join(build_score_sheet([RUN]).notes)
    # Scores have a row for each method.
    fast, slow = rows(build_score_sheet([RUN]))
    assert (fast["method"], fast["questions"], fast["failed"]) == ("fast", 3, 1)
    assert fast["best_column"] == pytest.approx(1 / 3)
    assert (slow["method"], slow["questions"], slow["best_column"]) == ("slow", 2, 0.5)
    assert (slow["low"], slow["high"]) == (0.0, 1.0)
    # The mean of no answerable question is unknown.
    run = run_of(record("q9", 1.0, status="refusal", unanswerable=True))
    [row] = rows(build_score_sheet([run]))
    assert (row["questions"], row["best_column"], row["low"], row["high"]) == (0, None, None, None)
    assert build_slice_sheet([run], "metric").rows == ()
    # What is not finished is said first.
    found = build_score_sheet([RUN])
    assert found.title == "Scores, INCOMPLETE"
    assert found.notes[0].startswith("INCOMPLETE: run holds 6 of 7 records")
    assert report.describe_incomplete([run_of(record())]) == ()
    # A run without records is no table but a note.
    (found, *_) = build_report_sheets([run_of(name="begun", planned=5)])
    assert found.rows == () and found.notes[0].startswith("INCOMPLETE: begun holds 0 of 5 records")
    # What went wrong and why.
    fast, slow = sheet(RUN, "What went wrong")
    assert (fast["not right"], fast["wrong entity"], fast["timeout"], fast["empty"]) == (2, 1, 1, 0)
    assert (slow["not right"], slow["empty"]) == (1, 1)
    (error,) = sheet(RUN, "Errors")
    assert (error["error"], error["questions"], error["ids"]) == ("TimedOut: slow", 1, "q3")
    # The unanswerable are told apart.
    assert any(
        "of 1 unanswerable questions 1 were refused" in n for n in build_score_sheet([RUN]).notes
    )
    # A metric that some records lack is no zero.
    one = run_of(record("q1", scores=same(1, rows=1.0)), name="one")
    two = run_of(record("q1", scores=same(1)), name="two")
    assert [row["rows"] for row in rows(build_score_sheet([one, two]))] == [1.0, None]


def test_oracles_times_and_metrics() -> None:
    # Oracles are called what they are.
    methods, first, third = sheet(RUN, "Oracle (not a system)")
    assert methods["chosen by looking at gold"] == "best of fast, slow on each question"
    assert (methods["n"], methods["score"], methods["without the oracle"]) == (2, 1.0, 0.5)
    assert (first["score"], third["score"]) == (0.5, 1.0)
    # An oracle needs the same questions and the same gold.
    run = run_of(
        record("q1", 0.5, method="a"),
        record("q1", 1.0, method="b", gold_sparql="SELECT ?x { ?x ?y ?z }"),
    )
    assert report.compute_method_oracles(report.group_runs([run])) == ()
    assert report.compute_method_oracles(report.group_runs([run_of(record("q1"))])) == ()
    # Times are left out on request.
    assert "p50 s" in sheet(RUN, "Cost")[0] and "p50 s" not in sheet(RUN, "Cost", times=False)[0]
    found = report.to_report_object([RUN], with_times=False)
    assert "created" not in json.dumps(found) and "second" not in json.dumps(found)
    # Repetitions have a deviation.
    run = run_of(record("q1", 1.0, repeat=0), record("q1", 0.0, repeat=1))
    (found,) = rows(build_score_sheet([run]))
    assert (found["questions"], found["rounds"], found["best_column"]) == (1, 2, 0.5)
    assert found["sd"] == pytest.approx(0.5**0.5)
    # How much could be answered at a risk is in the table and in json.
    fast, slow = sheet(RUN, "Confidence")
    told = report.to_report_object([RUN])
    assert fast["answered at risk 0.05"] == fast["answered at risk 0.1"] == pytest.approx(1 / 3)
    assert slow["answered at risk 0.05"] == 0.0  # both are as sure, and one is wrong
    assert '"coverage_at_risk": [{"risk": 0.05, "coverage": 0.333333}' in json.dumps(told)
    # Calibration and coverage are tables too.
    bins = [row for row in rows(build_slice_sheet([RUN], "confidence")) if row["method"] == "fast"]
    assert [row["answers"] for row in bins] == [0, 0, 1, 0, 0, 0, 0, 0, 0, 1]
    tenths = [row for row in rows(build_slice_sheet([RUN], "coverage")) if row["method"] == "fast"]
    assert [row["best_column"] for row in tenths][:4] == [1.0, 1.0, 1.0, 0.5]
    # Another metric is in front and an unknown one is refused.
    run = run_of(record(scores=same(1, rows=0.25)))
    assert rows(build_score_sheet([run], metric="rows"))[0]["rows"] == 0.25
    with pytest.raises(SetupError, match=r"1 of 1 records of run .* 'wors'; choose one of"):
        build_report_sheets([run], metric="wors")


@for_each(
    ("by", "heads"),
    ("metric", ["best_column", "exact_match", "flattened"]),
    ("tag", ["count"]),
    ("patterns", ["1"]),
    ("form", ["SELECT"]),
    ("graph", ["space"]),
    ("failure", ["none", "timeout", "wrong entity"]),
)
def test_figures_are_taken_apart(by: str, heads: list[str]) -> None:
    found = rows(build_slice_sheet([RUN], by))
    assert [row[by] for row in found if row["method"] == "fast"] == heads


records = st.builds(
    record,
    st.sampled_from("abcd"),
    st.sampled_from([0.0, 1 / 3, 1.0]),
    method=st.sampled_from(["x", "y"]),
    status=st.sampled_from(["answer", "refusal", "error"]),
    confidence=st.sampled_from([0.1, 0.3, 0.9]),
    error=st.sampled_from([None, "down", "TimedOut: slow"]),
    drafts=st.sampled_from([(), (1.0, 0.1)]),
)


@settings(deadline=None, max_examples=20)
@given(
    st.lists(records, max_size=8, unique_by=lambda record: record.key).flatmap(
        lambda found: st.tuples(st.just(found), st.permutations(found))
    )
)
def test_the_order_of_records_does_not_matter(orders: tuple[list[Record], list[Record]]) -> None:
    one, other = ([run_of(*order)] for order in orders)
    assert build_report_sheets(one) == build_report_sheets(other)
    assert json.dumps(report.to_report_object(one)) == json.dumps(report.to_report_object(other))
    assert [build_slice_sheet(one, by) for by in SHEET_BUILDERS] == [
        build_slice_sheet(other, by) for by in SHEET_BUILDERS
    ]


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
    task = Task(question, "moons", "moons.ttl", "scripted", options=EvaluationOptions(drafts=3))
    done = await asked(task, ask, endpoint)

    told = format_question_report(done.record, done.detail, max_rows=1)

    assert is_imperfect(done.record)
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

    told = format_question_report(done.record, None)

    assert "(no query)" in told and "gold error: QuerySyntaxError" in told
