"""The outcome of a query: a count and a digest, the same for one result at any time and place.

Rows are compared without their order, numbers to nine digits, blank nodes by being blank: two
engines differ in all of these without meaning anything else.
"""

import hashlib
from collections import Counter
from dataclasses import dataclass

from pyoxigraph import BlankNode, Literal, Triple

from askgraph.metadata.examples import Confirmation
from askgraph.rdf.vocabulary import NUMERIC_DATATYPES
from askgraph.sparql.results import GraphResult, SelectResult, Term

Result = SelectResult | GraphResult | bool
_EXACT = 2.0**53  # whole numbers above it are compared by their digits


@dataclass(frozen=True)
class Outcome:
    """The number of solutions or triples (1 for ASK), and their digest if none was cut off."""

    rows: int
    digest: str | None


def outcome_of(result: Result) -> Outcome:
    """Return the count and the digest of a result."""
    match result:
        case bool():
            return Outcome(1, _digest([str(result).lower()]))
        case SelectResult():
            rows = [" ".join(map(_plain, row)) for row in result.rows]
        case GraphResult():
            rows = [" ".join(map(_plain, _terms(triple))) for triple in result.triples]
    return Outcome(len(rows), None if result.truncated else _digest(rows))


def what_changed(before: Confirmation, now: Outcome) -> str | None:
    """Return how a result differs from the one that was confirmed, None if it is the same.

    `more rows`, `fewer rows` and `no rows` come with both counts, `other values` without. If
    either was cut off, only the counts are compared.
    """
    if now.rows == before.rows:
        same = before.digest is None or now.digest is None or before.digest == now.digest
        return None if same else "other values"
    change = "no" if not now.rows else "more" if now.rows > before.rows else "fewer"
    return f"{change} rows: {before.rows} then, {now.rows} now"


def _terms(triple: Triple) -> tuple[Term, ...]:
    return triple.subject, triple.predicate, triple.object


def _plain(term: Term | None) -> str:
    match term:
        case None:
            return "-"
        case BlankNode():
            return "_:"
        case Literal() if term.datatype.value in NUMERIC_DATATYPES:
            return _number(term.value)
        case Triple():
            return f"<<{' '.join(map(_plain, _terms(term)))}>>"
        case _:
            return str(term)


def _number(text: str) -> str:
    try:
        value = float(text)
    except ValueError:
        return text
    return (
        text if abs(value) >= _EXACT else f"{value:.0f}" if value.is_integer() else f"{value:.9g}"
    )


def _digest(rows: list[str]) -> str:
    counted = sorted(Counter(rows).items())
    text = "\n".join(f"{count} {row}" for row, count in counted)
    return hashlib.sha256(text.encode("utf-8", "backslashreplace")).hexdigest()
