"""What a query gives, as a count and a digest that the same result has at any time, on any server.

Rows are compared without their order, numbers to nine digits, blank nodes by being blank: two
engines differ in all of these without meaning anything else.
"""

import hashlib
from collections import Counter
from dataclasses import dataclass
from typing import Literal as Choice

from pyoxigraph import BlankNode, Literal, Triple

from askgraph.endpoint import Endpoint
from askgraph.metadata.examples import Confirmation
from askgraph.rdf.vocabulary import NUMERIC_DATATYPES
from askgraph.sparql.repair import form_of
from askgraph.sparql.results import GraphResult, SelectResult, Term

__all__ = ["Change", "Outcome", "Result", "change", "outcome_of", "run"]

Result = SelectResult | GraphResult | bool
_EXACT = 2.0**53  # whole numbers above it are compared by their digits

Change = Choice["more rows", "fewer rows", "no rows", "other values"]


@dataclass(frozen=True)
class Outcome:
    """How many solutions or triples came (1 for ASK), and their digest where none was cut off."""

    rows: int
    digest: str | None


async def run(
    endpoint: Endpoint, query: str, *, timeout: float | None = None, limit: int | None = None
) -> Result:
    """Run a query of any form, taking at most `limit` rows or triples.

    Raises `QueryError` and `ServiceError` as the endpoint does.
    """
    match form_of(query):
        case "ASK":
            return await endpoint.ask(query, timeout=timeout)
        case "CONSTRUCT":
            return await endpoint.construct(query, timeout=timeout, limit=limit)
        case "DESCRIBE":
            return await endpoint.describe(query, timeout=timeout, limit=limit)
        case _:
            return await endpoint.select(query, timeout=timeout, limit=limit)


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


def change(before: Confirmation, now: Outcome) -> Change | None:
    """Return how a result differs from the one that was confirmed, None where it is the same.

    Where either was cut off, only the counts are compared.
    """
    if now.rows == 0 and before.rows:
        return "no rows"
    if now.rows != before.rows:
        return "more rows" if now.rows > before.rows else "fewer rows"
    if before.digest is None or now.digest is None or before.digest == now.digest:
        return None
    return "other values"


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
