"""Results are told apart by what they say, not by how an engine says it."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pyoxigraph import BlankNode, Literal, NamedNode, Triple
from tests.each import for_each

from askgraph.graph.examples import Confirmation, Outcome, Result, outcome_of, what_changed
from askgraph.sparql.results import GraphResult, Row, SelectResult, Truncation
from askgraph.sparql.vocabulary import XSD_DECIMAL

A, B = NamedNode("http://a"), NamedNode("http://b")
NUMBER = NamedNode(XSD_DECIMAL)


def rows(*found: Row, cut: bool = False) -> SelectResult:
    by = Truncation("server", "its cap") if cut else None
    return SelectResult(("x",), found, by)


def test_rows_in_another_order_are_the_same_result() -> None:
    assert outcome_of(rows((A,), (B,))) == outcome_of(rows((B,), (A,)))


def test_a_row_more_of_the_same_is_another_result() -> None:
    assert outcome_of(rows((A,))) != outcome_of(rows((A,), (A,)))


@pytest.mark.parametrize(("one", "other"), [("1", "1.0"), ("0.3333333333", "0.33333333334")])
def test_numbers_count_by_their_value(one: str, other: str) -> None:
    found = [outcome_of(rows((Literal(text, datatype=NUMBER),))) for text in (one, other)]
    assert found[0] == found[1]


def test_texts_that_look_like_numbers_stay_texts() -> None:
    assert outcome_of(rows((Literal("1"),))) != outcome_of(rows((Literal("1.0"),)))


def test_blank_nodes_are_alike_whatever_their_names() -> None:
    assert outcome_of(rows((BlankNode("a"),))) == outcome_of(rows((BlankNode("b"),)))


def test_triples_and_booleans_have_outcomes_too() -> None:
    triple: Result = GraphResult((Triple(A, A, B),))
    assert outcome_of(triple).rows == 1
    assert outcome_of(True) != outcome_of(False)


@for_each(
    ("now", "expected"),
    [
        (rows((A,), (B,)), None),
        (rows((B,), (A,)), None),
        (rows((A,)), "fewer rows: 2 then, 1 now"),
        (rows((A,), (B,), (B,)), "more rows: 2 then, 3 now"),
        (rows(), "no rows: 2 then, 0 now"),
        (rows((A,), (A,)), "other values"),
        (rows((A,), (A,), cut=True), None),
    ],
)
def test_a_change_says_what_became_of_the_result(now: SelectResult, expected: str | None) -> None:
    before = outcome_of(rows((A,), (B,)))
    confirmed = Confirmation("2026-01-01", "g", "v", before.rows, before.digest)
    assert what_changed(confirmed, outcome_of(now)) == expected


@given(st.lists(st.sampled_from([A, B, None])), st.randoms())
def test_no_order_changes_the_digest(terms: list[NamedNode | None], chance: object) -> None:
    mixed = list(terms)
    chance.shuffle(mixed)  # type: ignore[attr-defined]
    first: Outcome = outcome_of(rows(*((term,) for term in terms)))
    assert outcome_of(rows(*((term,) for term in mixed))) == first
