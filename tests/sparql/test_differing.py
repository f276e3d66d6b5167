"""Rows that only one of two results has, under the best mapping of columns."""

from hypothesis import given
from hypothesis import strategies as st
from pyoxigraph import Literal

from askgraph.sparql.alike import alike
from askgraph.sparql.differing import differing
from askgraph.sparql.results import Row, SelectResult

CELLS = st.sampled_from([Literal(1), Literal("1.0"), Literal("a"), Literal("b")])
PAIRS = st.lists(st.tuples(CELLS, CELLS), max_size=6)


def pairs(*rows: tuple[object, object]) -> SelectResult:
    return SelectResult(("x", "y"), tuple((Literal(str(a)), Literal(str(b))) for a, b in rows))


def of(rows: list[Row]) -> SelectResult:
    return SelectResult(("x", "y"), tuple(rows))


def test_columns_are_compared_with_those_that_fit_best() -> None:
    found = differing(pairs(("a", 1), ("b", 2), ("c", 3)), pairs((1, "a"), (2, "b"), (4, "d")))

    assert [row[0].value for row in found.only_first if isinstance(row[0], Literal)] == ["c"]
    assert [row[1].value for row in found.only_second if isinstance(row[1], Literal)] == ["d"]
    assert found.common == 2 and found.mapped == (1, 0)


def test_a_column_more_is_left_out_of_the_comparison() -> None:
    narrow = SelectResult(("y",), ((Literal(1),), (Literal(3),)))

    found = differing(pairs(("a", 1), ("b", 2)), narrow)

    assert found.common == 1 and found.mapped == (1,)
    assert found.only_first == ((Literal("b"), Literal("2")),)
    assert found.only_second == ((Literal(3),),)


@given(PAIRS, PAIRS)
def test_results_of_one_width_are_alike_where_no_row_differs(
    one: list[Row], other: list[Row]
) -> None:
    found = differing(of(one), of(other))

    same = alike([of(one), of(other)]) == [0, 0]
    assert same == (not found.only_first and not found.only_second)


@given(PAIRS, PAIRS)
def test_the_order_of_the_two_only_swaps_the_sides(one: list[Row], other: list[Row]) -> None:
    found, turned = differing(of(one), of(other)), differing(of(other), of(one))

    assert found.common == turned.common
    assert len(found.only_first) == len(turned.only_second)
