"""Solutions as the VALUES of a query."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pyoxigraph import BlankNode, Literal, NamedNode, QuerySolutions, Store

from askgraph.endpoint._joining import batches, values_of
from askgraph.errors import QueryError
from askgraph.sparql.results import Row

TEXT = st.text(st.characters(exclude_categories=["Cs"]), max_size=8)
TERMS = st.one_of(
    st.none(),
    st.builds(Literal, TEXT),
    st.builds(lambda text: Literal(text, language="en"), TEXT),
    st.builds(lambda text: Literal(text, datatype=NamedNode("a:type")), TEXT),
    st.sampled_from([NamedNode("http://example.org/ü"), Literal(5), Literal(0.5), Literal(True)]),
)
ROWS = st.lists(st.tuples(TERMS, TERMS), max_size=6)


def read(values: str) -> list[Row]:
    found = Store().query(f"SELECT ?a ?b WHERE {{ {values} }}")
    assert isinstance(found, QuerySolutions)
    return [tuple(row) for row in found]


@given(rows=ROWS)
def test_every_row_comes_back_as_often_as_it_was_given(rows: list[Row]) -> None:
    assert read(values_of(["a", "b"], rows)) == rows


@given(rows=ROWS, most=st.integers(1, 3))
def test_batches_hold_all_rows_in_turn(rows: list[Row], most: int) -> None:
    blocks = list(batches(["a", "b"], rows, most=most, characters=40))
    assert [row for block in blocks for row in read(block)] == rows
    assert all(1 <= len(read(block)) <= most for block in blocks)


@pytest.mark.parametrize("count", [0, 1, 3])
def test_solutions_without_variables_are_counted_too(count: int) -> None:
    assert len(read(values_of([], [()] * count))) == count


def test_a_blank_node_has_no_name_in_a_query() -> None:
    with pytest.raises(QueryError, match="cannot be named"):
        values_of(["a"], [(BlankNode("b"),)])
