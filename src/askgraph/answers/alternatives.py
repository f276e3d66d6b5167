"""Alternatives to a part of a query: things of like name, or with which it has answers."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from pyoxigraph import Literal, NamedNode, Variable

from askgraph.answers.query_parts import Part
from askgraph.answers.resource import classes_of
from askgraph.answers.verbalize import descriptions_of, labels_of
from askgraph.endpoint import Endpoint
from askgraph.errors import QueryError, QuerySyntaxError, ServiceError
from askgraph.graph import KnowledgeGraph
from askgraph.graph.profile import Profile
from askgraph.index.names import Kind, name_tokens
from askgraph.sparql import (
    Call,
    Group,
    Nested,
    Path,
    Pattern,
    Query,
    Union,
    children,
    transform,
    walk,
)
from askgraph.sparql import vocabulary as v
from askgraph.sparql.parser import read
from askgraph.sparql.prefixes import words_of_local_name
from askgraph.sparql.serializer import text_of

_KINDS = {"entity": Kind.ENTITY, "class": Kind.CLASS, "predicate": Kind.PREDICATE}
_AT_ONCE = 2  # queries sent to one graph at a time
_ORDERED = 200  # things that are put into an order for people
_NAMED = 30  # things of a like name that are looked at

Terms = dict[NamedNode | Literal, int | None]


@dataclass(frozen=True)
class Alternative:
    """A term that could stand there; `rows` is how many solutions the query then has, if counted.

    `description` is what the graph says of a thing, if it says anything.
    """

    term: NamedNode | Literal
    label: str
    description: str = ""
    rows: int | None = None


async def alternatives(
    query: Query | str,
    parts: Sequence[Part],
    graph: KnowledgeGraph,
    languages: Sequence[str],
    *,
    limit: int = 8,
    timeout: float = 3.0,
    asking: bool = True,
    meant: Mapping[str, Sequence[str]] | None = None,
) -> tuple[tuple[Alternative, ...], ...]:
    """Return for each part at most `limit` terms that could stand in its place, best first.

    First come those that the question's words may mean as well: `meant` (IRI -> other IRIs). Then
    things of just the same name, then what gives an answer in that place, things of the same class
    and those of which most is known first, then things of a like name, then what fits by the
    profile. What gives an answer is asked of the graph, in one query a part, all in twice
    `timeout` seconds, each in at most one; if it does not answer, and without `asking`, names and
    profile do: alternatives are a courtesy. Values that are merely compared with have none.
    """
    try:
        tree = query if isinstance(query, Query) else read(query, graph.prefixes.namespaces)
    except QuerySyntaxError:
        return ((),) * len(parts)
    found = await _Search(tree, graph, languages, limit, timeout, asking, meant or {}).all(parts)
    iris = {term.value for terms in found for term in terms if isinstance(term, NamedNode)}
    labels = await labels_of(iris, graph, languages, timeout=timeout)
    things = [
        term.value
        for part, terms in zip(parts, found, strict=True)
        for term in terms
        if part.kind == "entity"
    ]
    try:
        told = await descriptions_of(things, graph, languages, timeout=timeout)
    except ServiceError:
        told = {}
    return tuple(
        tuple(
            Alternative(term, _label(term, labels), told.get(term.value, ""), rows)
            for term, rows in terms.items()
        )
        for terms in found
    )


@dataclass(frozen=True)
class _Search:
    """Looks for terms in the places of one query's parts."""

    tree: Query
    graph: KnowledgeGraph
    languages: Sequence[str]
    limit: int
    timeout: float
    asking: bool
    meant: Mapping[str, Sequence[str]]
    began: float = field(default_factory=time.monotonic)

    async def all(self, parts: Sequence[Part]) -> list[Terms]:
        """The terms for each part, with their numbers of solutions."""
        iris = [part.term.value for part in parts if isinstance(part.term, NamedNode)]
        labels = await labels_of(iris, self.graph, self.languages, timeout=self.timeout)
        gate = asyncio.Semaphore(_AT_ONCE)
        return await asyncio.gather(*(self.of(part, labels, gate) for part in parts))

    async def of(self, part: Part, labels: Mapping[str, str], gate: asyncio.Semaphore) -> Terms:
        same, like = list[str](), list[str]()
        if isinstance(part.term, NamedNode):
            label = _label(part.term, labels)
            same, like = await asyncio.to_thread(_named, label, _KINDS[part.kind], self.graph)
            same = [*self.meant.get(part.term.value, ())[: self.limit // 2], *same]
            if part.kind == "class":
                like += _classes_beside(part.term.value, self.graph.profile)
            if part.kind == "predicate":
                like += _predicates_beside(part.term.value, self.graph.profile)
        async with gate:
            is_late = time.monotonic() > self.began + self.timeout
            placed = await self.placed(part) if self.asking and not is_late else {}
        if part.kind == "entity" and self.graph.arrays is not None:
            placed = await asyncio.to_thread(self.by_fame, part.term.value, placed)
        listed = [*map(NamedNode, same), *placed, *map(NamedNode, like)]
        found: Terms = {}
        for term in listed:
            if term != part.term and len(found) < self.limit:
                found.setdefault(term, placed.get(term))
        return found

    def by_fame(
        self, thing: str, placed: Mapping[NamedNode | Literal, int]
    ) -> dict[NamedNode | Literal, int]:
        """Terms in the order of one who looks for another thing like this one.

        What is of its class comes first, then what more is known of, then what gives more rows.
        """
        arrays, own = self.graph.arrays, [one.iri for one in classes_of(thing, self.graph)[:1]]

        def place(item: tuple[NamedNode | Literal, int]) -> tuple[bool, int, int]:
            iri = item[0].value
            at = arrays.terms.find_iri(iri) if arrays is not None else None
            known = 0 if arrays is None or at is None else arrays.get_degree(at)
            alike = any(one.iri in own for one in classes_of(iri, self.graph))
            return not alike, -known, -item[1]

        return dict(sorted(placed.items(), key=place))

    async def placed(self, part: Part) -> dict[NamedNode | Literal, int]:
        """Terms with which the query has solutions; if only its own has, those of the pattern.

        The latter have no solutions all told. A remote graph is not asked for them: it would have
        to count all that has the predicate.
        """
        group = _in_group(part.term, self.tree.where)
        found = await self.fitting(part, group)
        is_thing = part.kind in ("entity", "value")
        if found.keys() - {part.term} or not is_thing or self.graph.arrays is None:
            return found
        others = await self.fitting(part, _freed(part.term, self.tree.where))
        return dict.fromkeys(others, 0) if group else others

    async def fitting(self, part: Part, group: Group | None) -> dict[NamedNode | Literal, int]:
        if group is None:
            return {}
        endpoint = self.graph.endpoint
        near = part.kind == "entity" and self.graph.arrays is not None
        limit = max(self.limit, _ORDERED) if near else self.limit
        found = await _counted(group, endpoint, limit=limit, timeout=self.timeout)
        wanted = Literal if part.kind == "value" else NamedNode
        return {term: rows for term, rows in found.items() if isinstance(term, wanted)}


def _classes_beside(iri: str, profile: Profile) -> list[str]:
    """The classes that are right below one that a class is right below."""
    parents = {above for one in profile.classes if one.iri == iri for above in one.parents}
    return [one.iri for one in profile.classes if parents & {*one.parents}]


def _predicates_beside(iri: str, profile: Profile) -> list[str]:
    """The predicates that things have which most often have a predicate, with values like its."""
    return [
        one.iri
        for own in profile.predicates
        if own.iri == iri
        for one in profile.predicates
        if one.literal == own.literal and one.iri not in _SAYS_NOTHING
        if dict(own.subject_classes[:3]).keys() & dict(one.subject_classes).keys()
    ]


def _named(label: str, kind: Kind, graph: KnowledgeGraph) -> tuple[list[str], list[str]]:
    """The IRIs of things of just this name, and of those of a like name."""
    names, stems = graph.names, name_tokens(label)
    ids = [(at, names.word_id(stem)) for at, stem in enumerate(stems)]
    matches = names.search([(at, word, 1.0) for at, word in ids if word is not None])
    found = [match.name for match in matches if match.name.kind is kind][:_NAMED]
    same = [name.target for name in found if sorted(name_tokens(name.text)) == sorted(stems)]
    return same, [name.target for name in found if name.target not in same]


def _label(term: NamedNode | Literal, labels: Mapping[str, str]) -> str:
    if isinstance(term, Literal):
        return term.value
    return labels.get(term.value) or words_of_local_name(term.value)


_OTHER, _ROWS = Variable("ask_other"), Variable("ask_rows")
_ENDS = (Variable("ask_subject"), Variable("ask_object"))
_SAYS_NOTHING = frozenset(
    [v.RDF_TYPE, *v.LABEL_PREDICATES, *v.ALTERNATIVE_LABEL_PREDICATES, *v.DESCRIPTION_PREDICATES]
)
"""Predicates that are in no question's place: names, descriptions, types."""


def _in_group(term: NamedNode | Literal, group: Group) -> Group | None:
    """Return the group with a variable wherever the term stands; None if it would stay unbound.

    It is bound if the term stands in a pattern itself, and not only within a path.
    """
    if not any(term in (p.subject, p.predicate, p.object) for p in _patterns(group)):
        return None
    opened: Group = transform(
        group,
        lambda node: _OTHER if node == term else node,
        enter=lambda node: not isinstance(node, Path),
    )
    return opened


def _freed(term: NamedNode | Literal, group: Group) -> Group | None:
    """Return the first pattern with a term, all but its predicate open: whatever else fits there.

    None if the term is a predicate itself, or its pattern has none.
    """
    for pattern in _patterns(group):
        if term in (pattern.subject, pattern.object) and isinstance(pattern.predicate, NamedNode):
            ends = (_OTHER, _ENDS[1]) if pattern.subject == term else (_ENDS[0], _OTHER)
            return Group((Pattern(ends[0], pattern.predicate, ends[1]),))
    return None


async def _counted(
    where: Group, endpoint: Endpoint, *, limit: int, timeout: float
) -> dict[NamedNode | Literal, int]:
    """Return the terms that the variable of a group may be, with numbers of solutions, most first.

    None if the endpoint does not answer in time.
    """
    most = limit + 1 + len(_SAYS_NOTHING)
    query = Query(
        "SELECT",
        where,
        ((_OTHER, None), (_ROWS, Call("COUNT"))),
        group_by=((_OTHER, None),),
        order=((_ROWS, True), (_OTHER, False)),
        limit=most,
    )
    try:
        result = await endpoint.select(text_of(query), timeout=timeout, limit=most)
    except (QueryError, ServiceError):
        return {}
    found: dict[NamedNode | Literal, int] = {}
    for term, rows in result.rows:
        told = isinstance(term, NamedNode | Literal) and term.value not in _SAYS_NOTHING
        if told and isinstance(term, NamedNode | Literal) and isinstance(rows, Literal):
            found[term] = int(rows.value)
    return found


def _patterns(group: Group) -> Iterator[Pattern]:
    """The patterns whose variables are seen in a group."""
    return (node for node in walk(group, into=_seen) if isinstance(node, Pattern))


def _seen(node: object) -> tuple[object, ...]:
    match node:
        case Group() | Union():
            return children(node)
        case Nested(word="" | "OPTIONAL" | "GRAPH", group=inner):
            return (inner,)
        case _:
            return ()
