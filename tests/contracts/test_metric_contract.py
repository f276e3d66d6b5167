"""What every metric promises, whoever wrote it."""

import inspect
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pyoxigraph import BlankNode, Literal, NamedNode
from tests.each import for_each

from askgraph.evaluation import Metric, ResultTable, Score
from askgraph.plugins import list_names, load
from askgraph.sparql.results import SelectResult
from askgraph.sparql.vocabulary import XSD_DOUBLE, XSD_INTEGER

METRICS = list_names("metric")
BY_ORDER = {"hits_at_1"}  # what comes first is what it is about

ODD = {
    "no columns": ResultTable((), ()),
    "rows without columns": ResultTable((), ((), ())),
    "no rows": ResultTable(("x", "y"), ()),
    "only unbound cells": ResultTable.from_json(["x", "y"], [[None, None], [None, None]]),
    "some unbound cells": ResultTable.from_json(["x", "y"], [["Io", None], [None, "Io"]]),
    "yes": ResultTable.from_boolean(True),
    "no": ResultTable.from_boolean(False),
    "huge numbers": ResultTable.from_json(["x"], [[10**60 + 1], [10**59], [-(10**59)], [1e300]]),
    "no number": ResultTable.from_result(
        SelectResult(
            ("x",),
            tuple(
                (Literal(text, datatype=NamedNode(datatype)),)
                for text in ("NaN", "INF", "", " 1 ", "one", "1e999")
                for datatype in (XSD_INTEGER, XSD_DOUBLE)
            ),
        )
    ),
    "blank nodes": ResultTable.from_result(
        SelectResult(("x",), ((BlankNode("a"),), (BlankNode("b"),)))
    ),
    "the same row often": ResultTable.from_json(["x", "y"], [["Io", "Io"]] * 20),
    "many columns": ResultTable.from_json([f"v{at}" for at in range(40)], [list(range(40))]),
    "many rows": ResultTable.from_json(["x", "y"], [[at, f"crater {at}"] for at in range(1100)]),
}

every_metric = for_each("name", METRICS)

terms = st.one_of(
    st.none(),
    st.sampled_from(["Io", "Europa", "8", "8.0", "true"]).map(Literal),
    st.sampled_from(["8", "8.0", "9"]).map(lambda t: Literal(t, datatype=NamedNode(XSD_DOUBLE))),
    st.sampled_from(["Io", "Europa"]).map(lambda n: NamedNode(f"https://example.org/space/{n}")),
)


@st.composite
def tables(draw: st.DrawFn) -> ResultTable:
    width = draw(st.integers(0, 3))
    rows = draw(st.lists(st.tuples(*[terms] * width), max_size=5))
    return ResultTable.from_result(SelectResult(tuple("xyz"[:width]), tuple(rows)))


@st.composite
def tables_turned(draw: st.DrawFn) -> tuple[ResultTable, ResultTable]:
    """A table, and the same with its rows in another order."""
    table = draw(tables())
    order = draw(st.permutations(range(len(table.rows))))
    rows, raw = (tuple(part[at] for at in order) for part in (table.rows, table.terms))
    return table, replace(table, rows=rows, terms=raw)  # type: ignore[arg-type]


def metric(name: str) -> Metric:
    loaded: Metric = load("metric", name)
    return loaded


def check(score: Score) -> None:
    assert isinstance(score, Score)
    assert all(0 <= part <= 1 for part in (score.precision, score.recall, score.f1))


@pytest.mark.slow
@every_metric
@for_each("predicted", ODD)
def test_odd_tables_are_scored_between_0_and_1(name: str, predicted: str) -> None:
    for gold in ODD.values():
        check(metric(name)(ODD[predicted], gold))


@every_metric
@given(predicted=tables(), gold=tables())
def test_scores_lie_between_0_and_1(name: str, predicted: ResultTable, gold: ResultTable) -> None:
    check(metric(name)(predicted, gold))


@pytest.mark.slow
@for_each("name", [name for name in METRICS if name not in BY_ORDER])
@given(predicted=tables_turned(), gold=tables_turned())
def test_the_order_of_rows_does_not_count(
    name: str, predicted: tuple[ResultTable, ResultTable], gold: tuple[ResultTable, ResultTable]
) -> None:
    score, turned = metric(name)(predicted[0], gold[0]), metric(name)(predicted[1], gold[1])
    assert turned.f1 == pytest.approx(score.f1)


@every_metric
def test_one_right_value_is_right_and_one_wrong_value_is_wrong(name: str) -> None:
    io, europa = ResultTable.from_json(["x"], [["Io"]]), ResultTable.from_json(["x"], [["Europa"]])
    assert metric(name)(io, io) == Score(1.0, 1.0, 1.0)
    assert metric(name)(europa, io) == Score(0.0, 0.0, 0.0)


@every_metric
def test_its_docstring_says_what_it_punishes_and_what_not(name: str) -> None:
    said = " ".join((inspect.getdoc(load("metric", name)) or "").split())
    assert "Punishes" in said
    assert "Does not punish" in said
