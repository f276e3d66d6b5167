"""Results are the same by their sets of rows of values, under any order of columns."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pyoxigraph import Literal, NamedNode

from askgraph.rdf import vocabulary as voc
from askgraph.sparql.alike import alike, is_blank, of_columns
from askgraph.sparql.results import SelectResult, Term

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


@pytest.mark.parametrize(
    ("one", "other"),
    [
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
    ],
)
def test_results_that_give_the_same(one: SelectResult | bool, other: SelectResult | bool) -> None:
    assert alike([one, other]) == [0, 0]


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (table((A,), (B,)), table((A,))),
        (table((A, B), (B, C), (C, A)), table((A, B), (B, C), (A, C))),
        (table((A, A)), table((A,))),
        (table((A, A), (B, B)), table((A, B), (B, A))),
        (table((Literal("007"),)), table((Literal(7),))),
        (table((Literal(1),)), EMPTY),
        (True, False),
        (False, EMPTY),
    ],
)
def test_results_that_do_not(one: SelectResult | bool, other: SelectResult | bool) -> None:
    assert alike([one, other]) == [0, 1]


@given(TABLES, st.data())
def test_no_order_of_rows_and_columns_makes_a_difference(
    rows: list[tuple[Term | None, ...]], data: st.DataObject
) -> None:
    order = data.draw(st.permutations(range(len(rows[0]))))
    moved = [tuple(row[at] for at in order) for row in data.draw(st.permutations(rows))]

    assert alike([table(*rows), table(*moved)]) == [0, 0]


@given(TABLES, TABLES)
def test_tables_are_the_same_only_if_some_order_of_columns_makes_them_so(
    one: list[tuple[Term | None, ...]], other: list[tuple[Term | None, ...]]
) -> None:
    first, second = alike([table(*one), table(*other)])
    if first == second and not is_blank(table(*one)):
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

    assert alike([table(*turned), table(*turned[::-1])]) == [0, 0]


def test_a_result_is_reduced_to_the_columns_that_it_has() -> None:
    result = SelectResult(("x", "label"), ((A, Literal("a")),))

    assert of_columns(result, ["x", "z"]) == SelectResult(("x",), ((A,),))
    assert of_columns(result, ["z"]) is result


def test_each_result_is_numbered_once() -> None:
    results: list[SelectResult | bool] = [table((A,)), table((B,)), EMPTY, table((B,)), True]

    numbers = alike(results)

    assert numbers == [0, 1, 2, 1, 3]


@pytest.mark.parametrize("empty", [10, 40])
def test_many_columns_without_a_value_are_not_tried_in_every_order(empty: int) -> None:
    nothing = (None,) * empty

    one, other = table((A, *nothing), (B, *nothing)), table((*nothing, B), (*nothing, A))

    assert alike([one, other, table((A, *nothing), (C, *nothing))]) == [0, 0, 1]
