"""Results are told apart by what they say, not by how an engine says it."""

from hypothesis import given
from hypothesis import strategies as st
from pyoxigraph import BlankNode, Literal, NamedNode, Triple
from tests.each import for_each

from askgraph.graph import examples
from askgraph.sparql.results import GraphResult, Row, SelectResult, Truncation
from askgraph.sparql.vocabulary import XSD_DECIMAL

A, B = NamedNode("http://a"), NamedNode("http://b")
NUMBER = NamedNode(XSD_DECIMAL)


def rows(*found: Row, cut: bool = False) -> SelectResult:
    return SelectResult(("x",), found, Truncation("server", "its cap") if cut else None)


def number(text: str) -> Literal:
    return Literal(text, datatype=NUMBER)


@for_each(
    ("one", "other", "same"),
    (rows((A,), (B,)), rows((B,), (A,)), True),
    (rows((A,)), rows((A,), (A,)), False),
    (rows((number("1"),)), rows((number("1.0"),)), True),
    (rows((number("0.3333333333"),)), rows((number("0.33333333334"),)), True),
    (rows((Literal("1"),)), rows((Literal("1.0"),)), False),
    (rows((BlankNode("a"),)), rows((BlankNode("b"),)), True),
    (True, False, False),
    (GraphResult((Triple(A, A, B),)), GraphResult((Triple(A, A, B),)), True),
)
def test_results_are_the_same_by_what_they_say(
    one: examples.Result, other: examples.Result, same: bool
) -> None:
    assert (examples.digest_result(one) == examples.digest_result(other)) is same


@for_each(
    ("now", "expected"),
    (rows((A,), (B,)), None),
    (rows((B,), (A,)), None),
    (rows((A,)), "fewer rows: 2 then, 1 now"),
    (rows((A,), (B,), (B,)), "more rows: 2 then, 3 now"),
    (rows(), "no rows: 2 then, 0 now"),
    (rows((A,), (A,)), "other values"),
    (rows((A,), (A,), cut=True), None),
)
def test_a_change_says_what_became_of_the_result(now: SelectResult, expected: str | None) -> None:
    before = examples.digest_result(rows((A,), (B,)))
    confirmed = examples.Confirmation("2026-01-01", "g", "v", before.rows, before.digest)
    assert examples.describe_change(confirmed, examples.digest_result(now)) == expected


@given(st.lists(st.sampled_from([A, B, None])), st.randoms())
def test_no_order_changes_the_digest(terms: list[NamedNode | None], chance: object) -> None:
    mixed = list(terms)
    chance.shuffle(mixed)  # type: ignore[attr-defined]
    first: examples.ResultDigest = examples.digest_result(rows(*((term,) for term in terms)))
    assert examples.digest_result(rows(*((term,) for term in mixed))) == first
