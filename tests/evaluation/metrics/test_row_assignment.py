"""The published row-assignment F1: its definition, and its quirks as they are."""

from collections import Counter
from itertools import permutations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pyoxigraph import BlankNode, Literal, NamedNode

from askgraph.evaluation import Table
from askgraph.evaluation.metrics.assignment import row_assignment
from askgraph.sparql import vocabulary as voc
from askgraph.sparql.results import Row, SelectResult

XSD_INT = NamedNode(voc.XSD + "int")
XSD_INTEGER = NamedNode(voc.XSD + "integer")
IO, EUROPA, MARS = (NamedNode(f"http://example.org/{name}") for name in ("Io", "Europa", "Mars"))

small_rows = st.lists(st.lists(st.sampled_from("abcd"), min_size=1, max_size=3), max_size=4)


def solutions(*rows: Row) -> Table:
    width = len(rows[0]) if rows else 1
    return Table.of_result(SelectResult(tuple(f"v{at}" for at in range(width)), rows))


def stored(rows: list[list[str]]) -> Table:
    """A table of plain values; rows may differ in length, as they do without unbound cells."""
    return Table.of_json(["a", "b", "c"], rows)


def best_sum(predicted: list[list[str]], gold: list[list[str]]) -> float:
    """The highest sum of similarities over all assignments, by trying them."""
    size = max(len(predicted), len(gold))
    padded = predicted + [[] for _ in range(size - len(predicted))]
    return max(
        sum(
            (Counter(padded[to]) & Counter(row)).total() / len(row)
            for row, to in zip(gold, order, strict=False)
        )
        for order in permutations(range(size))
    )


@settings(deadline=None)
@given(small_rows, small_rows)
def test_it_is_the_f1_of_the_best_of_all_assignments(
    predicted: list[list[str]], gold: list[list[str]]
) -> None:
    score = row_assignment(stored(predicted), stored(gold))
    if not predicted or not gold:
        assert score.f1 == float(predicted == gold)
        return
    right = best_sum(predicted, gold)
    superfluous = max(0, len(predicted) - len(gold))
    assert score.f1 == pytest.approx(2 * right / (right + superfluous + len(gold)))
    assert score.recall == pytest.approx(right / len(gold))


def test_a_row_that_is_half_right_costs_recall_only() -> None:
    score = row_assignment(stored([["Io", "x"]]), stored([["Io", "Jupiter"]]))
    assert (score.precision, score.recall) == (1, 0.5)
    assert score.f1 == pytest.approx(2 / 3)


def test_extra_values_and_the_order_of_columns_are_free() -> None:
    gold = stored([["Io", "Jupiter"]])
    assert row_assignment(stored([["Jupiter", "Io", "Mars"]]), gold).f1 == 1


def test_a_value_that_gold_has_twice_must_be_there_twice() -> None:
    assert row_assignment(stored([["Io", "x"]]), stored([["Io", "Io"]])).recall == 0.5


def test_terms_must_be_written_alike() -> None:
    gold = solutions((Literal("1", datatype=XSD_INTEGER),))
    assert row_assignment(solutions((Literal("1", datatype=XSD_INTEGER),)), gold).f1 == 1
    assert row_assignment(solutions((Literal("1", datatype=XSD_INT),)), gold).f1 == 0
    named = solutions((Literal("Io"),))
    assert row_assignment(solutions((Literal("Io", language="en"),)), named).f1 == 0


def test_values_are_compared_where_a_table_has_no_terms() -> None:
    predicted = solutions((Literal("1", datatype=XSD_INT),))
    assert row_assignment(predicted, Table.of_json(["n"], [[1]])).f1 == 1


def test_unbound_cells_are_left_out() -> None:
    gold = solutions((IO, None))
    assert row_assignment(solutions((None, IO)), gold).f1 == 1
    assert row_assignment(solutions((None,)), solutions((None,))).f1 == 0


def test_a_select_result_against_an_ask_result_is_whether_there_are_rows() -> None:
    yes, no = Table.of_boolean(True), Table.of_boolean(False)
    assert row_assignment(yes, solutions((IO,))).f1 == 1
    assert row_assignment(solutions((IO,)), no).f1 == 0
    assert row_assignment(solutions(), no).f1 == 1
    assert row_assignment(yes, no).f1 == 0


def test_from_1025_rows_on_a_row_must_be_equal_as_a_tuple() -> None:
    names = [f"moon {at}" for at in range(1025)]
    gold = stored([[name] for name in names])
    labelled = [[name, "label"] for name in names]
    assert row_assignment(stored(labelled[:1024]), stored([[n] for n in names[:1024]])).f1 == 1
    assert row_assignment(stored(labelled), gold).f1 == 0
    assert row_assignment(gold, gold).f1 == 1
    doubled = row_assignment(stored([[name] for name in names * 2]), gold)
    assert (doubled.precision, doubled.recall) == (0.5, 1)


def test_blank_nodes_are_equal_by_name() -> None:
    assert row_assignment(solutions((BlankNode("x"),)), solutions((BlankNode("y"),))).f1 == 0


def test_both_empty_is_1_and_one_empty_is_0() -> None:
    assert row_assignment(solutions(), solutions()).f1 == 1
    assert row_assignment(solutions((MARS,)), solutions()).f1 == 0
    assert row_assignment(solutions(), solutions((EUROPA,))).f1 == 0
