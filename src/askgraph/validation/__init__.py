"""Findings on a query and their places, as programs and people read them; checks are plugins."""

import re
from bisect import bisect_left
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass
from enum import StrEnum
from functools import lru_cache
from operator import attrgetter
from typing import Protocol

from pyoxigraph import Literal, NamedNode

from askgraph.rdf import PrefixMap
from askgraph.rdf.vocabulary import RDF_TYPE
from askgraph.sparql import Query, Span, Term
from askgraph.sparql.lexer import Token, lexed, position
from askgraph.validation.knowledge import Services

MAX_JUDGED = 200_000
"""Characters of a query that are looked at."""

WRONG = 0.5
"""A finding that is at least so sure calls its query wrong."""

UNJUDGED = 0.3
"""How sure a finding on a query is that was not looked at: nothing speaks against it."""


class Kind(StrEnum):
    """What may be wrong."""

    SYNTAX = "syntax"
    PREFIX = "missing prefix"
    UNGROUPED = "ungrouped projection"
    UNBOUND = "variable never bound"
    UNJOINED = "unjoined blocks"
    CLASS = "unknown class"
    PREDICATE = "unknown predicate"
    ENTITY = "unknown entity"
    DIRECTION = "wrong direction"
    SUBJECT = "wrong subject class"
    OBJECT = "wrong object class"
    DATATYPE = "wrong datatype"
    LANGUAGE = "wrong language tag"
    FILTER = "filter never holds"


@dataclass(frozen=True)
class Place:
    """A piece of a query: characters from `start` to before `end`; line and column from 1."""

    start: int
    end: int
    line: int
    column: int


@dataclass(frozen=True)
class Proposal:
    """A term that could stand there instead, as the query writes it, and its label if known."""

    text: str
    label: str = ""
    iri: str = ""


@dataclass(frozen=True)
class Finding:
    """One thing that is wrong, in a sentence, with its place and what it could be, best first.

    `certainty` is between 0 and 1: how sure it is, given how completely the graph is known.
    `term` is what stands at the place, an IRI in full.
    """

    kind: Kind
    message: str
    place: Place | None = None
    term: str = ""
    proposals: tuple[Proposal, ...] = ()
    certainty: float = 1.0

    def json(self) -> dict[str, object]:
        """Return the finding as plain values."""
        return asdict(self) | {"kind": self.kind.value}


@dataclass(frozen=True)
class Repair:
    """A change that keeps what the query means: what was done, in words."""

    note: str
    before: str = ""
    after: str = ""


@dataclass(frozen=True)
class Validation:
    """What is wrong with a query, and the query with what could safely be repaired.

    `query` is the text that the places of the findings count in: the one given, unless words or
    marks around it, a bare aggregate or a label service kept it from being read at all. `remaining`
    are the findings on the `repaired` query.
    """

    query: str
    findings: tuple[Finding, ...]
    repaired: str
    repairs: tuple[Repair, ...] = ()
    remaining: tuple[Finding, ...] = ()

    @property
    def is_wrong(self) -> bool:
        """Whether any finding on the query as given is more likely right than not."""
        return any(finding.certainty >= WRONG for finding in self.findings)

    def json(self) -> dict[str, object]:
        """Return all as plain values."""
        return {
            "query": self.query,
            "findings": [finding.json() for finding in self.findings],
            "repaired": self.repaired,
            "repairs": [asdict(repair) for repair in self.repairs],
            "remaining": [finding.json() for finding in self.remaining],
        }


@dataclass(frozen=True)
class Subject:
    """A query under examination: its text, its tree, and what is known of the graphs it asks.

    `tree` is None if the text cannot be read.
    """

    text: str
    tree: Query | None
    services: Services


class Check(Protocol):
    """One examination of a query, without I/O; it raises nothing, whatever the query."""

    def __call__(self, subject: Subject, /) -> Iterable[Finding]:
        """Give what is wrong."""
        ...


def place_of(text: str, span: Span) -> Place:
    """Return a span of a text as a place."""
    line, column = position(text, span[0])
    return Place(span[0], span[1], line, column)


def place_of_term(text: str, term: Term, span: Span, prefixes: PrefixMap) -> Place:
    """Return where a term stands first within a span, literals with their tag or type."""
    match term:
        case NamedNode():
            known = {**prefixes.namespaces, **lexed(text).declared}
            given = lexed(text).given
            first, last = (bisect_left(given, at, key=attrgetter("start")) for at in span)
            for token in given[first:last]:
                if _names(token, term.value, known):
                    return place_of(text, (token.start, token.end))
        case Literal():
            return place_of(text, span)
    return place_of(text, span)


def place_of_variable(text: str, name: str) -> Place | None:
    """Return where a variable stands first in a text; None if it does not."""
    start = _variables(text).get(name)
    return None if start is None else place_of(text, (start, start + len(name) + 1))


def written(iri: str, text: str, prefixes: PrefixMap) -> str:
    """Return an IRI as the query would write it: by a prefix of its own, or the graph's."""
    if iri == RDF_TYPE:
        return "a"
    return PrefixMap({**prefixes.own, **lexed(text).declared}).shorten(iri)


@lru_cache(maxsize=16)
def _variables(text: str) -> Mapping[str, int]:
    """Where each variable stands first."""
    found: dict[str, int] = {}
    for token in lexed(text).all:
        if token.kind == "variable":
            found.setdefault(token.text[1:], token.start)
    return found


def _names(token: Token, iri: str, known: dict[str, str]) -> bool:
    match token.kind:
        case "iri":
            return token.text[1:-1] == iri
        case "pname":
            prefix, _, local = token.text.partition(":")
            space = known.get(prefix, prefix + ":")
            return space + re.sub(r"\\(.)", r"\1", local) == iri
        case "word":
            return token.text == "a" and iri == RDF_TYPE
        case _:
            return False
