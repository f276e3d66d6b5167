"""Tables on the wire: each term of a result as a cell that says what it is."""

from collections.abc import Mapping, Sequence
from typing import Literal as Choice

from pydantic import BaseModel, Field
from pyoxigraph import BlankNode, Literal, NamedNode, Triple

from askgraph.rdf.vocabulary import XSD
from askgraph.sparql.result_formats import Result
from askgraph.sparql.results import GraphResult, Row, SelectResult, Term, Truncation

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
    """The result of a query: rows, a boolean, or triples."""

    columns: list[str]
    cells: list[list[Cell | None]] = Field(description="Rows of cells; null where unbound.")
    boolean: bool | None = Field(None, description="The answer of an ASK query.")
    triples: list[tuple[Cell, Cell, Cell]] | None = Field(
        None, description="What a CONSTRUCT or DESCRIBE query gives."
    )
    form: Choice["SELECT", "ASK", "CONSTRUCT"] = Field(
        "SELECT", description="CONSTRUCT also stands for DESCRIBE."
    )
    total: int = Field(description="Rows or triples in all, also those not sent.")
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


def table_of(result: Result, labels: Mapping[str, str], *, limit: int | None = None) -> TableView:
    """Return a result of any form with at most `limit` rows or triples in it."""
    match result:
        case bool():
            return TableView(form="ASK", columns=[], cells=[], boolean=result, total=1)
        case SelectResult():
            return TableView(
                columns=list(result.variables),
                cells=cells_of(result.rows, labels, limit=limit),
                total=len(result.rows),
                truncated=cut_of(result.truncated),
                seconds=round(result.seconds, 6),
            )
        case GraphResult():
            return TableView(
                form="CONSTRUCT",
                columns=[],
                cells=[],
                triples=[_triple(triple, labels) for triple in result.triples[:limit]],
                total=len(result.triples),
                truncated=cut_of(result.truncated),
                seconds=round(result.seconds, 6),
            )


def _triple(triple: Triple, labels: Mapping[str, str]) -> tuple[Cell, Cell, Cell]:
    subject, predicate, value = (
        cell_of(term, labels) or Cell(type="blank", value="")
        for term in (triple.subject, triple.predicate, triple.object)
    )
    return subject, predicate, value
