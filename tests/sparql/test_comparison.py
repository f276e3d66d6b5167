"""What counts as the same value."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pyoxigraph import BlankNode, Literal, NamedNode
from tests.each import for_each

from askgraph.sparql import vocabulary as voc
from askgraph.sparql.comparison import (
    compare_results,
    group_equal_results,
    has_no_value,
    parse_json_value,
    select_columns,
    to_comparable_value,
)
from askgraph.sparql.results import Row, SelectResult, Term


def typed(text: str, datatype: str) -> Literal:
    return Literal(text, datatype=NamedNode(datatype))


@for_each(
    ("one", "other"),
    (Literal(1), Literal("1")),
    (Literal(1), typed("1.0", voc.XSD_DECIMAL)),
    (typed("1E0", voc.XSD_DOUBLE), typed("+1", voc.XSD_BYTE)),
    (typed("007", voc.XSD_INTEGER), Literal(7)),
    (typed("1", voc.XSD_BOOLEAN), Literal("true")),
    (Literal("Mond", language="de"), Literal("Mond")),
    (Literal("e\u0301"), Literal("\u00e9")),
    (NamedNode("http://example.org/Moon"), Literal("http://example.org/Moon")),
    (typed("2020-01-01", voc.XSD_DATE), typed("2020-01-01T00:00:00Z", voc.XSD_DATE_TIME)),
    (
        typed("2020-01-01T02:00:00+02:00", voc.XSD_DATE_TIME),
        typed("2020-01-01T00:00:00.000Z", voc.XSD_DATE_TIME),
    ),
    (typed("2020-01-01+02:00", voc.XSD_DATE), typed("2019-12-31T22:00:00", voc.XSD_DATE_TIME)),
    (typed("-0044-03-15", voc.XSD_DATE), typed("-0044-03-15T00:00:00Z", voc.XSD_DATE_TIME)),
    (
        typed("0001-01-01T00:00:00+01:00", voc.XSD_DATE_TIME),
        typed("0000-12-31T23:00:00Z", voc.XSD_DATE_TIME),
    ),
    (typed("12000-02-29", voc.XSD_DATE), typed("12000-02-29T00:00:00Z", voc.XSD_DATE_TIME)),
    (typed("1E400", voc.XSD_DOUBLE), typed("INF", voc.XSD_DOUBLE)),
    (typed("1990", voc.XSD_G_YEAR), Literal(1990)),
    (typed("NaN", voc.XSD_DOUBLE), typed("NaN", voc.XSD_DOUBLE)),
)
def test_values_that_are_equal(one: Literal, other: Literal) -> None:
    assert to_comparable_value(one) == to_comparable_value(other)


@for_each(
    ("one", "other"),
    (Literal("007"), Literal(7)),
    (Literal("true"), Literal(1)),
    (Literal("moon"), Literal("Moon")),
    (typed("2020-02-30", voc.XSD_DATE), typed("2020-03-01", voc.XSD_DATE)),
    (Literal("1e"), Literal(1)),
    (typed("-0044-03-15", voc.XSD_DATE), typed("0044-03-15", voc.XSD_DATE)),
    (typed("P1D", voc.XSD + "dayTimeDuration"), typed("PT24H", voc.XSD + "dayTimeDuration")),
    (NamedNode("http://example.org/%C3%A9"), NamedNode("http://example.org/é")),
    (BlankNode("a"), BlankNode("b")),
    (Literal("٣"), Literal(3)),
)
def test_values_that_are_not_equal(one: Literal, other: Literal) -> None:
    assert to_comparable_value(one) != to_comparable_value(other)


@for_each("text", ["9" * 5000, "1e999", "-.5e-999", "9999-12-31T23:59:59+00:00"])
def test_extreme_values_have_a_form(text: str) -> None:
    assert parse_json_value(text) is not None


def test_a_stored_value_equals_the_term_it_was_taken_from() -> None:
    assert parse_json_value("2.50") == to_comparable_value(typed("2.5", voc.XSD_DECIMAL))
    assert parse_json_value(2.5) == parse_json_value("2.5")
    assert parse_json_value(True) == to_comparable_value(Literal(True))
    assert parse_json_value(None) is to_comparable_value(None)
    iri = NamedNode("http://example.org/e\u0301")
    assert (
        to_comparable_value(iri)
        == parse_json_value(iri.value)
        == parse_json_value("http://example.org/\u00e9")
    )


CELLS = st.none() | st.sampled_from(
    [Literal(1), Literal(2), Literal("a"), NamedNode("http://example.org/a"), Literal("b")]
)
TABLES = st.integers(1, 4).flatmap(
    lambda width: st.lists(st.tuples(*[CELLS] * width), min_size=1, max_size=6)
)


def table(*rows: tuple[Term | None, ...]) -> SelectResult:
    return SelectResult(tuple(f"c{at}" for at in range(len(rows[0]))), rows)


def decimal(text: str) -> Literal:
    return Literal(text, datatype=NamedNode(voc.XSD_DECIMAL))


A, B, C = (NamedNode(f"http://example.org/{name}") for name in "ABC")
EMPTY = SelectResult(("x",), ())


@for_each(
    ("one", "other"),
    (table((A,), (B,)), table((B,), (A,), (A,))),
    (table((A, Literal(1))), table((decimal("1.0"), A))),
    (table((Literal("Mond", language="de"),)), table((Literal("Mond"),))),
    (table((decimal("0.333333333"),)), table((decimal("0.333333334"),))),
    (table((A, B), (B, C)), table((B, A), (C, B))),
    (table((A, B), (B, A)), table((B, A), (A, B))),
    (table((A, None), (B, C)), table((None, A), (C, B))),
    (EMPTY, SelectResult(("x", "y"), ())),
    (EMPTY, table((None,))),
    (True, table((Literal(True),))),
)
def test_results_that_give_the_same(one: SelectResult | bool, other: SelectResult | bool) -> None:
    assert group_equal_results([one, other]) == [0, 0]


@for_each(
    ("one", "other"),
    (table((A,), (B,)), table((A,))),
    (table((A, B), (B, C), (C, A)), table((A, B), (B, C), (A, C))),
    (table((A, A)), table((A,))),
    (table((A, A), (B, B)), table((A, B), (B, A))),
    (table((Literal("007"),)), table((Literal(7),))),
    (table((Literal(1),)), EMPTY),
    (True, False),
    (False, EMPTY),
)
def test_results_that_do_not(one: SelectResult | bool, other: SelectResult | bool) -> None:
    assert group_equal_results([one, other]) == [0, 1]


@given(TABLES, st.data())
def test_no_order_of_rows_and_columns_makes_a_difference(
    rows: list[tuple[Term | None, ...]], data: st.DataObject
) -> None:
    order = data.draw(st.permutations(range(len(rows[0]))))
    moved = [tuple(row[at] for at in order) for row in data.draw(st.permutations(rows))]

    assert group_equal_results([table(*rows), table(*moved)]) == [0, 0]


@given(TABLES, TABLES)
def test_tables_are_the_same_only_if_some_order_of_columns_makes_them_so(
    one: list[tuple[Term | None, ...]], other: list[tuple[Term | None, ...]]
) -> None:
    first, second = group_equal_results([table(*one), table(*other)])
    if first == second and not has_no_value(table(*one)):
        columns = [
            {tuple(sorted({str(row[at]) for row in rows})) for at in range(len(rows[0]))}
            for rows in (_plain(one), _plain(other))
        ]
        assert columns[0] == columns[1]
        assert len(set(_plain(one))) == len(set(_plain(other)))


def _plain(rows: list[tuple[Term | None, ...]]) -> list[tuple[str, ...]]:
    return [tuple(str(term) for term in row) for row in rows]


def test_nine_columns_that_nothing_tells_apart_are_not_tried_in_every_order() -> None:
    things = [NamedNode(f"http://example.org/{at}") for at in range(9)]
    turned = [tuple(things[at:] + things[:at]) for at in range(9)]

    assert group_equal_results([table(*turned), EMPTY, True, table(*turned[::-1])]) == [0, 1, 2, 0]


def test_a_result_is_reduced_to_the_columns_that_it_has() -> None:
    result = SelectResult(("x", "label"), ((A, Literal("a")),))

    assert select_columns(result, ["x", "z"]) == SelectResult(("x",), ((A,),))
    assert select_columns(result, ["z"]) is result


@pytest.mark.parametrize("empty", [10, 40])
def test_many_columns_without_a_value_are_not_tried_in_every_order(empty: int) -> None:
    nothing = (None,) * empty

    one, other = table((A, *nothing), (B, *nothing)), table((*nothing, B), (*nothing, A))

    assert group_equal_results([one, other, table((A, *nothing), (C, *nothing))]) == [0, 0, 1]


CELLS_DIFFERING = st.sampled_from([Literal(1), Literal("1.0"), Literal("a"), Literal("b")])
PAIRS = st.lists(st.tuples(CELLS_DIFFERING, CELLS_DIFFERING), max_size=6)


def pairs(*rows: tuple[object, object]) -> SelectResult:
    return SelectResult(("x", "y"), tuple((Literal(str(a)), Literal(str(b))) for a, b in rows))


def of(rows: list[Row]) -> SelectResult:
    return SelectResult(("x", "y"), tuple(rows))


def test_columns_are_compared_with_those_that_fit_best() -> None:
    found = compare_results(
        pairs(("a", 1), ("b", 2), ("c", 3)), pairs((1, "a"), (2, "b"), (4, "d"))
    )

    assert [row[0].value for row in found.only_first if isinstance(row[0], Literal)] == ["c"]
    assert [row[1].value for row in found.only_second if isinstance(row[1], Literal)] == ["d"]
    assert found.common == 2 and found.mapped == (1, 0)


def test_a_column_more_is_left_out_of_the_comparison() -> None:
    narrow = SelectResult(("y",), ((Literal(1),), (Literal(3),)))

    found = compare_results(pairs(("a", 1), ("b", 2)), narrow)

    assert found.common == 1 and found.mapped == (1,)
    assert found.only_first == ((Literal("b"), Literal("2")),)
    assert found.only_second == ((Literal(3),),)


@given(PAIRS, PAIRS)
def test_results_of_one_width_with_equal_rows_are_alike(one: list[Row], other: list[Row]) -> None:
    found = compare_results(of(one), of(other))

    same = group_equal_results([of(one), of(other)]) == [0, 0]
    assert same == (not found.only_first and not found.only_second)


@given(PAIRS, PAIRS)
def test_the_order_of_the_two_only_swaps_the_sides(one: list[Row], other: list[Row]) -> None:
    found, turned = compare_results(of(one), of(other)), compare_results(of(other), of(one))

    assert found.common == turned.common
    assert len(found.only_first) == len(turned.only_second)
