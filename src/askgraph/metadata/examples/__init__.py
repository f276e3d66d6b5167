"""Questions with their queries, for methods that learn from them, and what is known of each."""

from dataclasses import dataclass
from typing import Literal

from askgraph.sparql.rewrite.repair import form_of

__all__ = ["Collection", "Confirmation", "Origin", "QueryExample", "Unread", "Wording"]

Origin = Literal["written", "confirmed", "generated"]
"""Written by a person, confirmed by a user who saw the answer, or generated from a profile."""


@dataclass(frozen=True)
class Wording:
    """One way to ask a question; the language is a BCP 47 tag, None if it is not known."""

    text: str
    language: str | None = None


@dataclass(frozen=True)
class Confirmation:
    """What a query gave when its answer was confirmed, or when it was generated.

    `when` is a time in ISO 8601, `graph` the graph's name in its workspace, `snapshot` what told
    its content from any other. `rows` counts solutions or triples (1 for ASK); `digest` is that of
    `askgraph.metadata.examples.outcome`, None if the result was cut off. `by` names who
    confirmed it or, of a generated example, the language model that worded it; None if nobody
    said.
    """

    when: str
    graph: str
    snapshot: str
    rows: int
    digest: str | None = None
    by: str | None = None


@dataclass(frozen=True)
class QueryExample:
    """A question and a query that answers it.

    `others` are further wordings of the question. `iri` names the example. `targets` are the
    addresses of the endpoints that the query is for, `federates_with` those that it calls by
    SERVICE. A written example has no `confirmation`.
    """

    question: str
    query: str
    language: str | None = None
    others: tuple[Wording, ...] = ()
    iri: str | None = None
    keywords: tuple[str, ...] = ()
    targets: tuple[str, ...] = ()
    federates_with: tuple[str, ...] = ()
    origin: Origin = "written"
    confirmation: Confirmation | None = None

    @property
    def wordings(self) -> tuple[Wording, ...]:
        """All wordings, that of `question` first."""
        return (Wording(self.question, self.language), *self.others)

    @property
    def form(self) -> str:
        """SELECT, ASK, CONSTRUCT or DESCRIBE; empty if the query is none of them."""
        return form_of(self.query)


@dataclass(frozen=True)
class Unread:
    """An item that is no example: where it stands, and why."""

    place: str
    reason: str


@dataclass(frozen=True)
class Collection:
    """What a source holds: its examples in order, and what could not be read."""

    examples: tuple[QueryExample, ...]
    unread: tuple[Unread, ...] = ()
