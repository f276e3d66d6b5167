"""Check queries against the knowledge of a graph: findings with their places; checks are plugins.

The knowledge of a graph is its classes and predicates, their ends, and how complete that is. A
resource has its classes as sorts; one without a class has the sort `UNTYPED`; the sort of a
literal is its datatype. A variable may have any sort that all its patterns allow.
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
from askgraph.sparql.lexer import Token, locate, tokenize
from askgraph.sparql.prefixes import PrefixMap, get_namespace
from askgraph.sparql.vocabulary import RDF_TYPE

MAX_CHECKED_CHARACTERS = 200_000
"""Longer queries are not checked."""

MIN_WRONG_CERTAINTY = 0.5
"""A finding with at least this certainty makes its query count as wrong."""

UNCHECKED_PROBABILITY = 0.3
"""Certainty of the finding that a query was not checked: no evidence against it exists."""


class FaultKind(StrEnum):
    """The kinds of faults of a query."""

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
class SourceRange:
    """A range of a query: characters from `start` to before `end`; line and column from 1."""

    start: int
    end: int
    line: int
    column: int


@dataclass(frozen=True)
class Replacement:
    """A term that could replace the faulty one, as the query writes it, and its label if known."""

    text: str
    label: str = ""
    iri: str = ""


@dataclass(frozen=True)
class Finding:
    """A fault in a sentence, with its place and possible replacements, best first.

    `certainty` is between 0 and 1 and depends on how completely the graph is known. `term` is
    the term at the place, an IRI in full.
    """

    kind: FaultKind
    message: str
    place: SourceRange | None = None
    term: str = ""
    proposals: tuple[Replacement, ...] = ()
    certainty: float = 1.0

    @property
    def is_misprint(self) -> bool:
        """Whether the first replacement, and no other, has almost the same spelling."""
        misspelled = [
            replacement
            for replacement in self.proposals
            if replacement.iri and _is_nearly_equal(self.term, replacement.iri)
        ]
        return (
            self.kind in _NAME_KINDS and len(misspelled) == 1 and misspelled[0] is self.proposals[0]
        )

    def to_json(self) -> dict[str, object]:
        """Return the finding as plain values."""
        return asdict(self) | {"kind": self.kind.value}


_NAME_KINDS = frozenset({FaultKind.CLASS, FaultKind.PREDICATE, FaultKind.ENTITY})
_MIN_TYPO_CHARACTERS = 4  # in shorter names, one changed letter makes another word


def _is_nearly_equal(wrong: str, iri: str) -> bool:
    wrong_name, correct_name = wrong[len(get_namespace(wrong)) :], iri[len(get_namespace(iri)) :]
    normalized = [_keep_alphanumeric(wrong_name), _keep_alphanumeric(correct_name)]
    if normalized[0] == normalized[1]:
        return True
    is_one_edit = (
        OSA.distance(wrong_name, correct_name) == 1
        and min(map(len, normalized)) >= _MIN_TYPO_CHARACTERS
    )
    return (
        is_one_edit
        and wrong_name[-1:].isdigit() == correct_name[-1:].isdigit()
        and not wrong_name[-1:].isdigit()
    )


def _keep_alphanumeric(name: str) -> str:
    return "".join(letter for letter in name.lower() if letter.isalnum())


@dataclass(frozen=True)
class Repair:
    """A change that preserves the meaning of the query; `note` describes it."""

    note: str
    before: str = ""
    after: str = ""


@dataclass(frozen=True)
class Validation:
    """The findings on a query, and the query with all safe repairs.

    The places of the findings count in `query`. That is the given text, unless surrounding
    words, a bare aggregate or a label service kept it from being parsed. `remaining` are the
    findings on the `repaired` query.
    """

    query: str
    findings: tuple[Finding, ...]
    repaired: str
    repairs: tuple[Repair, ...] = ()
    remaining: tuple[Finding, ...] = ()

    @property
    def is_wrong(self) -> bool:
        """Whether any finding on the query is more likely right than not."""
        return any(finding.certainty >= MIN_WRONG_CERTAINTY for finding in self.findings)

    def to_json(self) -> dict[str, object]:
        """Return all fields as plain values."""
        return {
            "query": self.query,
            "findings": [finding.to_json() for finding in self.findings],
            "repaired": self.repaired,
            "repairs": [asdict(repair) for repair in self.repairs],
            "remaining": [finding.to_json() for finding in self.remaining],
        }


Sorts: TypeAlias = frozenset[str]
UNTYPED = ""
"""The sort of a resource without a class."""
_DESCRIPTION_PATH = "/.well-known/void"


class EntityLookup(Protocol):
    """The resources of a graph that can be looked up without a request."""

    def get_sorts(self, iri: str) -> Sorts | None:
        """Return the sorts of a resource; None if the graph does not contain it."""
        ...

    def find_similar(self, iri: str) -> tuple[str, ...]:
        """Return a few IRIs with the most similar names, best first."""
        ...


@dataclass(frozen=True)
class ClassUse:
    """A class with its number of instances, its names as (text, language), and its superclasses."""

    iri: str
    instances: int = 0
    names: tuple[tuple[str, str], ...] = ()
    parents: tuple[str, ...] = ()


@dataclass(frozen=True)
class PredicateUse:
    """The sorts of the subjects and objects of a predicate.

    `links` maps a sort of subjects to the sorts of their objects; a missing sort is unknown.
    The shares, 0 to 1, are the parts of the data that the sorts cover: 1 is all, and below
    `Knowledge.min_share` the checks conclude nothing from them.
    """

    iri: str
    triples: int = 0
    names: tuple[tuple[str, str], ...] = ()
    subjects: Sorts = frozenset()
    objects: Sorts = frozenset()
    datatypes: Sorts = frozenset()
    languages: Sorts = frozenset()
    links: Mapping[str, Sorts] = field(default_factory=dict)
    subjects_share: float = 0.0
    objects_share: float = 0.0
    links_share: float = 0.0

    @cached_property
    def object_sorts(self) -> Sorts:
        """All sorts of its objects, including datatypes of literals."""
        return self.objects | self.datatypes


@dataclass(frozen=True)
class Knowledge:
    """The knowledge of one graph.

    Attributes:
        shared_sorts: for a class, all sorts of its instances; a class that is missing may share
            instances with any other.
        hierarchy: for each class its direct superclasses, including those without instances; None
            if only classes with instances list theirs.
        graphs: the knowledge of each named graph, None if only its existence is known; empty if no
            named graphs are known.
    """

    classes: Mapping[str, ClassUse]
    predicates: Mapping[str, PredicateUse]
    prefixes: PrefixMap = field(default_factory=PrefixMap)
    completeness: float = 1.0  # how surely all names are listed, 0 to 1
    min_share: float = 0.75  # the checks conclude nothing from sorts that cover less
    entities: EntityLookup | None = None  # lookup of resources, if available
    shared_sorts: Mapping[str, Sorts] = field(default_factory=dict)
    hierarchy: Mapping[str, Iterable[str]] | None = None
    graphs: Mapping[str, "Knowledge | None"] = field(default_factory=dict)
    name: str = ""  # the named graph that this describes

    def select_graph(self, iri: str) -> "Knowledge | None":
        """Return the knowledge of a named graph, or of all together; None if it is unknown.

        A graph that is not listed is unknown. The graph at VoID's own address holds the
        description, which was counted before it was complete.
        """
        if (self.graphs and iri not in self.graphs) or iri.endswith(_DESCRIPTION_PATH):
            return None
        return self.graphs.get(iri) or self

    def list_subclasses(self, iri: str) -> Sorts | None:
        """Return the classes with instances that may be a class or below it, at any depth.

        None if nothing is known. Superclasses of a class without instances are known only with a
        full hierarchy; without one, the subclasses of such a class may be below any class.
        """
        if iri not in self._subclass_cache:
            children, unplaced = self._children
            has_hierarchy = self.hierarchy is not None or bool(children)
            subclasses = _collect_reachable([iri, *unplaced], children) if has_hierarchy else ()
            self._subclass_cache[iri] = (
                frozenset(subclass for subclass in subclasses if subclass in self.classes) or None
            )
        return self._subclass_cache[iri]

    @cached_property
    def _subclass_cache(self) -> dict[str, Sorts | None]:
        return {}

    @cached_property
    def _children(self) -> tuple[Mapping[str, Sequence[str]], tuple[str, ...]]:
        """The direct subclasses of each class, and the classes with unknown superclasses."""
        parents = self.hierarchy
        if parents is None:
            parents = {class_iri.iri: class_iri.parents for class_iri in self.classes.values()}
        children: dict[str, list[str]] = defaultdict(list)
        for class_iri, superclasses in parents.items():
            for parent in superclasses:
                children[parent].append(class_iri)
        has_full_hierarchy = self.hierarchy is not None
        return children, () if has_full_hierarchy else tuple(
            class_iri for class_iri in children if class_iri not in parents
        )

    @cached_property
    def predicates_by_class(self) -> Mapping[str, tuple[str, ...]]:
        """The predicates of the instances of each class, most frequent first."""
        uses_by_sort: dict[str, list[PredicateUse]] = defaultdict(list)
        for use in self.predicates.values():
            for sort in use.subjects:
                uses_by_sort[sort].append(use)
        return {
            sort: tuple(use.iri for use in sorted(uses, key=lambda u: (-u.triples, u.iri)))
            for sort, uses in uses_by_sort.items()
        }

    def get_label(self, iri: str) -> str:
        """Return a name of a class or predicate, English first; empty if it has none."""
        class_or_predicate = self.classes.get(iri) or self.predicates.get(iri)
        names = class_or_predicate.names if class_or_predicate else ()
        english = [text for text, language in names if language.startswith("en")]
        return (english or [text for text, _ in names] or [""])[0]


@dataclass(frozen=True)
class ServiceKnowledge:
    """The knowledge of the queried graph, and of those that its SERVICE clauses call."""

    queried_graph: Knowledge
    services: Mapping[str, Knowledge] = field(default_factory=dict)


def _collect_reachable(start: Iterable[str], children: Mapping[str, Iterable[str]]) -> set[str]:
    waiting = list(start)
    reachable = set(waiting)
    while waiting:
        for child in children.get(waiting.pop(), ()):
            if child not in reachable:
                reachable.add(child)
                waiting.append(child)
    return reachable


@dataclass(frozen=True)
class CheckInput:
    """A query to check: its text, its tree, and the knowledge of the graphs that it queries."""

    text: str
    tree: Query | None  # None if the text cannot be parsed
    services: ServiceKnowledge


class Check(Protocol):
    """A check of a query, without I/O; it never raises."""

    def __call__(self, subject: CheckInput, /) -> Iterable[Finding]:
        """Yield the findings."""
        ...


def get_range(text: str, span: Span) -> SourceRange:
    """Return a span of a text as a range with line and column."""
    line, column = locate(text, span[0])
    return SourceRange(span[0], span[1], line, column)


def find_term(text: str, term: Term, span: Span, prefixes: PrefixMap) -> SourceRange:
    """Return the first place of a term within a span; literals include their tag or type."""
    match term:
        case NamedNode():
            namespaces = {**prefixes.namespaces, **tokenize(text).declared_prefixes}
            tokens = tokenize(text).tokens
            first, last = (
                bisect_left(tokens, position, key=attrgetter("start")) for position in span
            )
            for token in tokens[first:last]:
                if _is_name_of(token, term.value, namespaces):
                    return get_range(text, (token.start, token.end))
        case Literal():
            return get_range(text, span)
    return get_range(text, span)


def find_variable(text: str, name: str) -> SourceRange | None:
    """Return the first place of a variable in a text; None if it does not occur."""
    start = _find_variables(text).get(name)
    return None if start is None else get_range(text, (start, start + len(name) + 1))


def shorten_iri(iri: str, text: str, prefixes: PrefixMap) -> str:
    """Return an IRI as the query would write it: with a prefix of the query or of the graph."""
    if iri == RDF_TYPE:
        return "a"
    return PrefixMap({**prefixes.own_prefixes, **tokenize(text).declared_prefixes}).shorten(iri)


@lru_cache(maxsize=16)
def _find_variables(text: str) -> Mapping[str, int]:
    starts: dict[str, int] = {}
    for token in tokenize(text).all_tokens:
        if token.kind == "variable":
            starts.setdefault(token.text[1:], token.start)
    return starts


def _is_name_of(token: Token, iri: str, namespaces: dict[str, str]) -> bool:
    match token.kind:
        case "iri":
            return token.text[1:-1] == iri
        case "pname":
            prefix, _, local = token.text.partition(":")
            space = namespaces.get(prefix, prefix + ":")
            return space + re.sub(r"\\(.)", r"\1", local) == iri
        case "word":
            return token.text == "a" and iri == RDF_TYPE
        case _:
            return False
