"""Tables on the wire: each term of a result as a cell that says what it is."""

from collections.abc import Mapping, Sequence
from typing import Literal as Choice

from pydantic import BaseModel, Field
from pyoxigraph import BlankNode, Literal, NamedNode, Triple

from askgraph.rdf.vocabulary import XSD
from askgraph.sparql.results import Row, SelectResult, Term, Truncation

__all__ = ["Cell", "CutView", "TableView", "cell_of", "cells_of", "cut_of", "table_of"]

_STRING = f"{XSD}string"


class Cell(BaseModel):
    """One term of a result."""

    type: Choice["iri", "literal", "blank", "triple"]
    value: str = Field(description="The IRI, the literal's text, or a name for the blank node.")
    label: str | None = Field(None, description="The name of an IRI in the asker's language.")
    datatype: str | None = Field(None, description="The datatype of a literal that is no string.")
    language: str | None = Field(None, description="The language tag of a literal.")


class CutView(BaseModel):
    """Who cut a result off, and why."""

    by: Choice["askgraph", "server"]
    reason: str


class TableView(BaseModel):
    """The result of a SELECT or ASK query, as a table."""

    columns: list[str]
    cells: list[list[Cell | None]] = Field(description="Rows of cells; null where unbound.")
    boolean: bool | None = Field(None, description="The answer of an ASK query.")
    total: int = Field(description="The number of rows in all, also of those not sent.")
    truncated: CutView | None = None
    seconds: float = 0.0


def cell_of(term: Term | None, labels: Mapping[str, str]) -> Cell | None:
    """Return a term as a cell; None where it is unbound."""
    match term:
        case None:
            return None
        case NamedNode():
            return Cell(type="iri", value=term.value, label=labels.get(term.value))
        case BlankNode():
            return Cell(type="blank", value=f"_:{term.value}")
        case Literal():
            typed = not term.language and term.datatype.value != _STRING
            return Cell(
                type="literal",
                value=term.value,
                datatype=term.datatype.value if typed else None,
                language=term.language or None,
            )
        case Triple():
            return Cell(type="triple", value=str(term))


def cells_of(
    rows: Sequence[Row], labels: Mapping[str, str], *, limit: int | None = None
) -> list[list[Cell | None]]:
    """Return rows of terms as rows of cells, at most `limit`."""
    return [[cell_of(term, labels) for term in row] for row in rows[:limit]]


def cut_of(truncated: Truncation | None) -> CutView | None:
    """Return who cut a result off; None where it is whole."""
    return CutView(by=truncated.by, reason=truncated.reason) if truncated else None


def table_of(
    result: SelectResult, labels: Mapping[str, str], *, limit: int | None = None
) -> TableView:
    """Return a result as a table with at most `limit` rows in it."""
    return TableView(
        columns=list(result.variables),
        cells=cells_of(result.rows, labels, limit=limit),
        total=len(result.rows),
        truncated=cut_of(result.truncated),
        seconds=round(result.seconds, 6),
    )
