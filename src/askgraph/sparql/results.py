"""Results of a SPARQL query: solutions or triples, and whether something was cut off."""

import math
from dataclasses import dataclass, replace
from typing import Literal as Choice

from pyoxigraph import BlankNode, Literal, NamedNode, Triple

from askgraph.rdf.vocabulary import NUMERIC_DATATYPES

Term = NamedNode | BlankNode | Literal | Triple
Row = tuple[Term | None, ...]


@dataclass(frozen=True)
class Truncation:
    """Who cut a result off, and how we know."""

    by: Choice["askgraph", "server"]
    reason: str


@dataclass(frozen=True)
class SelectResult:
    """Solutions of a SELECT query, in the order received.

    `rows` are as long as `variables`; an unbound variable is `None`. `truncated` is `None` if
    the result is complete.
    """

    variables: tuple[str, ...]
    rows: tuple[Row, ...]
    truncated: Truncation | None = None
    seconds: float = 0.0

    def column(self, variable: str) -> tuple[Term | None, ...]:
        """Return the values of one variable, row by row; KeyError if it has none."""
        if variable not in self.variables:
            raise KeyError(variable)
        at = self.variables.index(variable)
        return tuple(row[at] for row in self.rows)

    def sorted(self) -> "SelectResult":
        """Return the same solutions in the order of their terms, whatever the engine gave first.

        Unbound comes first, then blank nodes, IRIs, numbers by value, and other literals by text.
        """
        return replace(self, rows=tuple(sorted(self.rows, key=_order_of_row)))


@dataclass(frozen=True)
class GraphResult:
    """Triples of a CONSTRUCT or DESCRIBE query."""

    triples: tuple[Triple, ...]
    truncated: Truncation | None = None
    seconds: float = 0.0


def _order_of_row(row: Row) -> tuple[tuple[int, float, str], ...]:
    return tuple(_order_of_term(term) for term in row)


def _order_of_term(term: Term | None) -> tuple[int, float, str]:
    match term:
        case None:
            return 0, 0.0, ""
        case BlankNode():
            return 1, 0.0, term.value
        case NamedNode():
            return 2, 0.0, term.value
        case Literal() if term.datatype.value in NUMERIC_DATATYPES:
            try:
                number = float(term.value)
            except ValueError:
                number = math.inf
            return 3, number if math.isfinite(number) else math.inf, str(term)
        case _:
            return 4, 0.0, str(term)


def value_of(term: Term | None) -> str | None:
    """Return a term as a plain value: the IRI, the literal's text, `_:` and a blank node's name."""
    match term:
        case None:
            return None
        case Triple():
            return str(term)
        case BlankNode():
            return f"_:{term.value}"
        case _:
            return term.value
