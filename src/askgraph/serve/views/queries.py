"""Queries that callers write, and what is said of them, as they go over the wire."""

from typing import Annotated, Literal

from pydantic import BaseModel, Field

from askgraph.serve.views.body import Body
from askgraph.serve.views.runs import EvidenceView

__all__ = [
    "AlternativeView",
    "EvidenceBody",
    "FindingView",
    "FormattedView",
    "Language",
    "PartView",
    "PartsBody",
    "PartsView",
    "PieceView",
    "QueryBody",
    "QueryText",
    "RowEvidenceView",
    "SwapBody",
    "SwappedView",
    "ValidationView",
]

Sparql = Annotated[str, Field(min_length=1, max_length=100_000, description="A SPARQL query.")]
Language = Annotated[
    str,
    Field(
        pattern=r"^[A-Za-z]{2,8}(-[A-Za-z0-9]{1,8})*$",
        max_length=50,
        description="The language of labels and words: a BCP 47 tag.",
    ),
]


class QueryText(Body):
    """A query, and the language to speak of it in."""

    query: Sparql
    language: Language = "en"


class QueryBody(QueryText):
    """A query to run."""

    timeout: float | None = Field(None, gt=0, le=3600, description="Seconds; at most the server's.")
    limit: int | None = Field(None, ge=1, description="Rows to send; at most the server's.")


class EvidenceBody(QueryText):
    """A row of a query's result."""

    row: int = Field(ge=0, le=1_000_000, description="Its place, from 0.")


class PartsBody(QueryText):
    """A query to read back."""

    question: str | None = Field(
        None, max_length=4000, description="The question that it answers, where there is one."
    )
    alternatives: bool = Field(True, description="Whether to say what else could stand there.")


class SwapBody(QueryText):
    """Another term for a part of a query."""

    part: int | Annotated[str, Field(max_length=10_000)] = Field(
        description="The part: its `id`, its IRI, or its value."
    )
    to: str = Field(max_length=10_000, description="An IRI for an IRI; for a value its text.")


class FindingView(BaseModel):
    """One thing that is wrong with a query, and where."""

    check: str = Field(description="What kind of fault it is.")
    message: str
    severity: Literal["error", "warning", "info"] = Field(
        description="error: surely wrong; warning: likely; info: less so."
    )
    certainty: float = Field(description="How sure, 0 to 1.")
    line: int | None = Field(description="From 1, in `query` of the validation.")
    column: int | None = Field(description="From 1.")
    start: int | None = Field(description="Where it starts, in characters from 0.")
    end: int | None = Field(description="Where it ends, in characters.")
    repair: str | None = Field(description="What could stand there instead.")


class ValidationView(BaseModel):
    """What is wrong with a query, and the query with what can safely be repaired."""

    query: str = Field(description="The text that places count in.")
    findings: list[FindingView]
    words: str = Field(description="The query read back.")
    repaired: str | None = Field(description="The repaired query, where anything was repaired.")
    repairs: list[str] = Field(description="What was repaired, in words.")


class FormattedView(BaseModel):
    """A query as a careful person writes it."""

    query: str


class RowEvidenceView(EvidenceView):
    """The triples behind a row, with names for their IRIs."""

    labels: dict[str, str]


class PieceView(BaseModel):
    """A piece of the read-back."""

    text: str
    part: int | None = Field(None, description="The part that these are the words of.")


class AlternativeView(BaseModel):
    """What else could stand in the place of a part."""

    iri: str | None = None
    value: str | None = None
    label: str
    description: str | None = None
    rows: int | None = Field(None, description="Solutions that the query then has, if counted.")


class PartView(BaseModel):
    """A part of a query that can be changed."""

    id: int
    kind: Literal["entity", "class", "predicate", "value"]
    iri: str | None = None
    value: str | None = None
    datatype: str | None = None
    label: str
    alternatives: list[AlternativeView]


class PartsView(BaseModel):
    """A query in words, in pieces that joined are the whole text, and its parts."""

    pieces: list[PieceView]
    parts: list[PartView]


class SwappedView(BaseModel):
    """The query with another term, and in words."""

    query: str
    words: str
