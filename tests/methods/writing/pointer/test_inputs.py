"""The numbers of a question as terms of a query."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pyoxigraph import Literal, QuerySolutions, Store

from askgraph.methods.writing.pointer.inputs import plain_number
from askgraph.methods.writing.pointer.skeleton import number_of


@given(st.floats(allow_nan=False, allow_infinity=False))
def test_a_number_as_a_term_is_the_same_number(value: float) -> None:
    assert number_of(plain_number(value)) == value


@pytest.mark.parametrize("value", [1e-13, 123456.789, 0.1, 1e22, -2.5e-7, 3.0, 3])
def test_a_number_stands_in_a_query_as_it_is(value: float) -> None:
    rows = Store().query(f"SELECT ({plain_number(value)} AS ?n) {{}}")

    assert isinstance(rows, QuerySolutions)
    found = next(rows)["n"]
    assert isinstance(found, Literal)
    assert float(found.value) == pytest.approx(value, rel=1e-9, abs=1e-18)
