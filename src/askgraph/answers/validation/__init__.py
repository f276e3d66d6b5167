"""Findings on a query and their places, by the knowledge of a graph; checks are plugins.

A graph's knowledge is its classes and predicates, their ends, and how sure that is. A resource is
of the sorts that its classes are; one without a class is of the sort `UNTYPED`; a literal is of the
sort of its datatype. A query's variable may be of any sort that all its patterns allow.
"""

import re
from bisect import bisect_left
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from enum import StrEnum
from functools import cached_property, lru_cache
from operator import attrgetter
from typing import Protocol, TypeAlias

from pyoxigraph import Literal, NamedNode
from rapidfuzz.distance import OSA

from askgraph.sparql import Query, Span, Term
from askgraph.sparql.lexer import Token, lexed, position
from askgraph.sparql.prefixes import PrefixMap, namespace_of
from askgraph.sparql.vocabulary import RDF_TYPE

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

    @property
    def is_misprint(self) -> bool:
        """Whether its first proposal differs in next to nothing, and no other one does."""
        alike = [one for one in self.proposals if one.iri and _nearly(self.term, one.iri)]
        return self.kind in _NAMED and len(alike) == 1 and alike[0] is self.proposals[0]

    def to_json(self) -> dict[str, object]:
        """Return the finding as plain values."""
        return asdict(self) | {"kind": self.kind.value}


_NAMED = frozenset({Kind.CLASS, Kind.PREDICATE, Kind.ENTITY})
_SHORT = 4  # characters of a name below which one of them makes another word


def _nearly(wrong: str, iri: str) -> bool:
    own, other = wrong[len(namespace_of(wrong)) :], iri[len(namespace_of(iri)) :]
    plain = [_letters(own), _letters(other)]
    if plain[0] == plain[1]:
        return True
    near = OSA.distance(own, other) == 1 and min(map(len, plain)) >= _SHORT
    return near and own[-1:].isdigit() == other[-1:].isdigit() and not own[-1:].isdigit()


def _letters(name: str) -> str:
    return "".join(letter for letter in name.lower() if letter.isalnum())


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
            "findings": [finding.to_json() for finding in self.findings],
            "repaired": self.repaired,
            "repairs": [asdict(repair) for repair in self.repairs],
            "remaining": [finding.to_json() for finding in self.remaining],
        }


Sorts: TypeAlias = frozenset[str]
UNTYPED = ""
_DESCRIPTION = "/.well-known/void"


class Entities(Protocol):
    """The resources of a graph, as far as they can be looked up without asking an endpoint."""

    def sorts(self, iri: str) -> Sorts | None:
        """Return the sorts of a resource; None if the graph does not hold it."""
        ...

    def alike(self, iri: str) -> tuple[str, ...]:
        """Return the IRIs whose names come nearest to an IRI, best first; few."""
        ...


@dataclass(frozen=True)
class ClassUse:
    """A class with its instances, its names as (text, language), and the classes above it."""

    iri: str
    instances: int = 0
    names: tuple[tuple[str, str], ...] = ()
    parents: tuple[str, ...] = ()


@dataclass(frozen=True)
class PredicateUse:
    """What a predicate leads from and to.

    `links` has, for a sort of subjects, the sorts of their objects; a sort that it lacks is not
    known. The numbers `..._told`, 0 to 1, say how much of what there is the sorts tell: 1 is all,
    and below `Knowledge.least` nothing is concluded from them.
    """

    iri: str
    triples: int = 0
    names: tuple[tuple[str, str], ...] = ()
    subjects: Sorts = frozenset()
    objects: Sorts = frozenset()
    datatypes: Sorts = frozenset()
    languages: Sorts = frozenset()
    links: Mapping[str, Sorts] = field(default_factory=dict)
    subjects_told: float = 0.0
    objects_told: float = 0.0
    links_told: float = 0.0

    @cached_property
    def ends(self) -> Sorts:
        """All sorts of its objects, literals too."""
        return self.objects | self.datatypes


@dataclass(frozen=True)
class Knowledge:
    """What is known of one graph.

    `complete`, 0 to 1, is how surely it lists all names. From sorts of which less than `least` is
    told nothing is concluded. `together` has, for a class, all sorts that its instances are of; a
    class that it lacks may share instances with any other. `hierarchy` has, for each class, those
    right above it, also of classes without instances; None if only those with instances tell
    theirs. `graphs` has what is known of each named graph, None if it is known to be there and
    no more; empty if no named graphs are known. `name` is the named graph that this tells of.
    """

    classes: Mapping[str, ClassUse]
    predicates: Mapping[str, PredicateUse]
    prefixes: PrefixMap = field(default_factory=PrefixMap)
    complete: float = 1.0
    least: float = 0.75
    entities: Entities | None = None
    together: Mapping[str, Sorts] = field(default_factory=dict)
    hierarchy: Mapping[str, Iterable[str]] | None = None
    graphs: Mapping[str, "Knowledge | None"] = field(default_factory=dict)
    name: str = ""

    def of_graph(self, iri: str) -> "Knowledge | None":
        """Return what is known of a named graph, or of all together; None if it is not known.

        A graph that is not among those listed holds what nothing tells of. The one at VoID's own
        address holds the description, which was counted before it was done.
        """
        if (self.graphs and iri not in self.graphs) or iri.endswith(_DESCRIPTION):
            return None
        return self.graphs.get(iri) or self

    def below(self, iri: str) -> Sorts | None:
        """Return the classes with instances that may be a class or below it, at any depth.

        None if nothing is known of that. What is above a class without instances is known of the
        whole hierarchy only: all classes below such a one may be below any other.
        """
        if iri not in self._below:
            children, loose = self._children
            told = self.hierarchy is not None or bool(children)
            found = _closure([iri, *loose], children) if told else ()
            self._below[iri] = frozenset(one for one in found if one in self.classes) or None
        return self._below[iri]

    @cached_property
    def _below(self) -> dict[str, Sorts | None]:
        """What was found below the classes that were asked for."""
        return {}

    @cached_property
    def _children(self) -> tuple[Mapping[str, Sequence[str]], tuple[str, ...]]:
        """For each class those right below it, and the classes whose parents are not known."""
        parents = self.hierarchy
        if parents is None:
            parents = {one.iri: one.parents for one in self.classes.values()}
        children: dict[str, list[str]] = defaultdict(list)
        for one, above in parents.items():
            for parent in above:
                children[parent].append(one)
        known = self.hierarchy is not None
        return children, () if known else tuple(one for one in children if one not in parents)

    @cached_property
    def of_class(self) -> Mapping[str, tuple[str, ...]]:
        """The predicates that instances of a class have, the most frequent first."""
        found: dict[str, list[PredicateUse]] = defaultdict(list)
        for use in self.predicates.values():
            for sort in use.subjects:
                found[sort].append(use)
        return {
            sort: tuple(use.iri for use in sorted(uses, key=lambda u: (-u.triples, u.iri)))
            for sort, uses in found.items()
        }

    def label(self, iri: str) -> str:
        """Return a name of a class or predicate, English before others; empty if it has none."""
        known = self.classes.get(iri) or self.predicates.get(iri)
        names = known.names if known else ()
        english = [text for text, language in names if language.startswith("en")]
        return (english or [text for text, _ in names] or [""])[0]


@dataclass(frozen=True)
class Services:
    """The knowledge of the graph that a query is put to, and of those that its SERVICE calls."""

    own: Knowledge
    others: Mapping[str, Knowledge] = field(default_factory=dict)


def _closure(start: Iterable[str], children: Mapping[str, Iterable[str]]) -> set[str]:
    waiting = list(start)
    found = set(waiting)
    while waiting:
        for child in children.get(waiting.pop(), ()):
            if child not in found:
                found.add(child)
                waiting.append(child)
    return found


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
