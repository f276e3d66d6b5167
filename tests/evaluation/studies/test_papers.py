"""The declared tables of papers are sound, and what is read from gold queries is right."""

from dataclasses import fields
from typing import Any

import pytest

from askgraph import plugins
from askgraph.evaluation import Score
from askgraph.evaluation.questions import GoldQuestion
from askgraph.evaluation.reports.statistics import Interval
from askgraph.evaluation.runs import Record
from askgraph.evaluation.runs.scores import table_metrics
from askgraph.evaluation.studies.papers import (
    PAPERS,
    Line,
    Measured,
    hops,
    measured,
    modifiers,
    paper_sheet,
    published_representations,
    read_paper,
)
from askgraph.trace import Usage
from askgraph.workspace.settings import method_spec


@pytest.mark.parametrize("name", PAPERS)
def test_every_row_sets_what_its_method_has(name: str) -> None:
    paper = read_paper(name)
    rows = [(table, row) for table in paper.tables for row in table.rows]
    for table, row in rows:
        plugin: Any = plugins.load("method", method_spec(row.method)[0])
        assert set(row.settings) <= {field.name for field in fields(plugin)}, row
        assert row.learns in ("", "examples", "fixed", "graph")
        assert set(row.published) <= set(table.heads)
        if table.measure == "answers":
            assert set(table.heads) <= set(table_metrics())
    needed = {row.model for _, row in rows} | {
        value[1:-1]
        for _, row in rows
        for value in row.settings.values()
        if isinstance(value, str) and value.startswith("{")
    }
    assert set(paper.needs) <= needed
    assert len({table.name for table in paper.tables}) == len(paper.tables)


def test_figures_are_those_of_their_benchmark() -> None:
    [table] = read_paper("grasp").chosen(["6"])
    row = next(row for row in table.rows if row.name == "S_E")
    assert row.published["row_assignment"]["QALD-7"] == 73.5
    [table] = read_paper("multi-stage").chosen(["4"])
    assert table.rows[-1].published["accuracy_at_1"]["RuBQ 2.0"] == 45.9
    assert published_representations()[10]["geo"] == pytest.approx((0.5, 0.583))


def asked(sparql: str) -> GoldQuestion:
    return GoldQuestion("q", "What?", "en", sparql)


QUERIES = (
    "SELECT ?x { ?x <urn:p> ?y . ?y <urn:q> ?z FILTER(YEAR(?z) = 2000) }",
    "SELECT (COUNT(*) AS ?n) { ?x <urn:limit> 'ORDER BY' } GROUP BY ?x",
    "ASK { <urn:a> <urn:p> ?x }",
    "SELECT ?x { broken",
)


def test_modifiers_are_counted_in_queries_not_in_texts_and_names() -> None:
    questions = [asked(one) for one in QUERIES]
    words = ("COUNT", "LIMIT", "ORDER BY", "FILTER", "ASK", "GROUP BY", "YEAR")
    counts = {word: modifiers(questions, word)["queries"] for word in words}
    assert {word: found.mean for word, found in counts.items() if found} == {
        "COUNT": 1, "LIMIT": 0, "ORDER BY": 0, "FILTER": 1, "ASK": 1, "GROUP BY": 1, "YEAR": 1,
    }  # fmt: skip


def test_a_hop_is_a_triple_pattern_and_broken_queries_do_not_count() -> None:
    found = {name: one and one.mean for name, one in hops(list(map(asked, QUERIES)), {}).items()}
    assert found == {
        "multi-hop": pytest.approx(1 / 3), "hops": pytest.approx(4 / 3), "fewest": 1, "most": 2,
    }  # fmt: skip
    assert set(hops([], {}).values()) == {None}


def record(question: str, f1: float, status: str = "answer", repeat: int = 0) -> Record:
    scores = {"best_column": Score(f1, f1, f1)}
    return Record(
        question, question, status, 1.0, scores, 2.0, None, None, benchmark="qald-10-test",
        graph="g", repeat=repeat, usage=Usage(llm_calls=2, input_tokens=10, output_tokens=1),
    )  # fmt: skip


def test_repetitions_of_a_question_are_one_value_and_their_costs_add_up() -> None:
    records = [record("a", 1.0), record("a", 0.0, repeat=1), record("b", 0.5)]
    [found] = measured(records, "answers", {"best_column": "F1"})

    assert found.questions == 2
    assert found.figures["best_column"] == Interval(0.5, 0.5, 0.5)
    assert (found.usage.llm_calls, found.usage.seconds) == (6, 6.0)


def test_what_was_rejected_is_told_of_wrong_and_right_ones() -> None:
    records = [record("a", 1.0, "refusal"), record("b", 0.0, "refusal"), record("c", 0.0)]
    [found] = measured(records, "rejection", {})

    caught, lost = found.figures["caught"], found.figures["lost"]
    assert caught and caught.mean == 0.5
    assert lost and lost.mean == 1.0


def test_published_figures_are_those_that_the_name_of_the_file_says() -> None:
    [table] = read_paper("dfsl").chosen(["5.4"])
    one = Measured("g", "qald-9-plus-test", 3, {"dfsl": Interval(0.5, 0.4, 0.6)})
    lines = [Line(table.rows[0], (one,), by="m", run="r"), Line(table.rows[1], missing="no model")]
    sheet = paper_sheet(table, lines)
    heads = [column.head for column in sheet.columns]

    assert [head for head in heads if "published" in head] == ["published QALD-9 Plus"]
    cells = dict(zip(heads, sheet.rows[0], strict=True))
    assert (cells["F1"], cells["95 %"]) == (0.5, "40.0 to 60.0")
    assert cells["published QALD-9 Plus"] == pytest.approx(0.7659)
    assert dict(zip(heads, sheet.rows[1], strict=True))["F1"] is None
    assert sheet.notes == ("Not run: DFSL-MQP LS (CodeLlama 70B): no model",)
    others = paper_sheet(table, [Line(table.rows[0])])
    assert sum("published" in column.head for column in others.columns) == 4
