"""Search hits for a model: one line each, with the IRI, its classes, and what tells it apart.

The classes of a few nodes and the predicates that meet there are looked up at once: in the arrays
if the triples lie here, else by one query. Predicates that are one property are shown under the one
that leads straight to the values.
"""

import asyncio
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Literal as Choice

import numpy as np
from pyoxigraph import BlankNode, Literal, NamedNode

from askgraph.answers.verbalize import descriptions_of
from askgraph.errors import ErrorReply, MalformedReply, TimedOut
from askgraph.graph import KnowledgeGraph
from askgraph.graph.arrays import GraphArrays
from askgraph.graph.literals import resource_term
from askgraph.graph.names import code_of, same_property, tells_more, variants_in
from askgraph.graph.profile import PredicateProfile, Profile
from askgraph.graph.shapes import ends_of, narrowest
from askgraph.index import Hit, Resource
from askgraph.index.names import stem, tokens
from askgraph.methods.tools import Context
from askgraph.methods.tools.rendering import Writer, clipped, labels_in
from askgraph.sparql import vocabulary as v
from askgraph.sparql.prefixes import words_of_local_name
from askgraph.sparql.results import Term
from askgraph.sparql.vocabulary import SCHEMA_SPACES

_TYPES = 20  # classes of one node that are looked at
_EDGES = 5_000  # of all nodes together, each way
_TRIED = (TimedOut, ErrorReply, MalformedReply)


@dataclass(frozen=True)
class Meeting:
    """A predicate at a node, the number of its edges there, and whether they come in."""

    predicate: str
    count: int
    inverse: bool = False


@dataclass(frozen=True)
class Facts:
    """By N-Triples text: classes and predicates; `trouble` says what could not be asked."""

    types: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    meetings: Mapping[str, tuple[Meeting, ...]] = field(default_factory=dict)
    trouble: str = ""


async def facts_of(context: Context, nodes: Sequence[Term]) -> Facts:
    """Return the classes and predicates of IRIs and literals; blank nodes are passed over.

    A remote graph that does not answer costs the facts, not the search: `trouble` says so.
    """
    wanted = tuple(
        dict.fromkeys(str(node) for node in nodes if isinstance(node, NamedNode | Literal))
    )
    if not wanted:
        return Facts()
    if context.graph.arrays is not None:
        return await asyncio.to_thread(_known, context.graph.arrays, wanted)
    try:
        result = await context.graph.endpoint.select(
            _question(wanted), timeout=context.limits.timeout, limit=4 * _EDGES
        )
    except _TRIED as problem:
        return Facts(trouble=f"classes and properties of these could not be asked: {problem}")
    types: dict[str, list[str]] = defaultdict(list)
    meetings: dict[str, list[Meeting]] = defaultdict(list)
    for node, cls, predicate, count, way in result.rows:
        if isinstance(cls, NamedNode):
            types[str(node)].append(cls.value)
        elif isinstance(predicate, NamedNode):
            meeting = Meeting(predicate.value, numbered(count), numbered(way) == 1)
            meetings[str(node)].append(meeting)
    return Facts(
        {node: tuple(listed) for node, listed in types.items()},
        {node: tuple(listed) for node, listed in meetings.items()},
    )


def numbered(term: Term | None) -> int:
    """Return the whole number that a literal is, 0 for anything else."""
    return int(term.value) if isinstance(term, Literal) and term.value.isdigit() else 0


def own_types(arrays: GraphArrays, node: str) -> tuple[str, ...]:
    """Return the classes of a node, which is given as N-Triples text."""
    kind, at = arrays.number(v.RDF_TYPE), arrays.terms.find(node)
    if kind is None or at is None:
        return ()
    found = arrays.step(np.array([at], dtype=np.int32), kind).tolist()
    return tuple(arrays.terms.value(one) for one in found if arrays.terms.is_iri(one))


def _known(arrays: GraphArrays, nodes: Sequence[str]) -> Facts:
    types: dict[str, tuple[str, ...]] = {}
    meetings: dict[str, tuple[Meeting, ...]] = {}
    for node in nodes:
        at = arrays.terms.find(node)
        if at is None:
            continue
        here = np.array([at], dtype=np.int32)
        types[node] = own_types(arrays, node)
        meetings[node] = tuple(_meetings(arrays, here))
    return Facts(types, meetings)


def _meetings(arrays: GraphArrays, here: np.ndarray) -> Iterator[Meeting]:
    for inverse in (False, True):
        numbers, _ = arrays.predicates_of(here, inverse=inverse)
        for number in numbers.tolist():
            edges = len(arrays.pairs(here, number, inverse=inverse)[0])
            yield Meeting(arrays.iri_of(number), edges, inverse)


def _question(nodes: Sequence[str]) -> str:
    """One query: classes, what leaves the nodes, and some of what comes in."""
    values = f"VALUES ?x {{ {' '.join(nodes)} }}"
    iris = [node for node in nodes if node.startswith("<")]
    leaving = f"VALUES ?x {{ {' '.join(iris)} }}"
    parts = [
        f"{{ SELECT ?x ?p (COUNT(*) AS ?n) (1 AS ?way) {{ {{ SELECT ?x ?p {{ {values} ?s ?p ?x }} "
        f"LIMIT {_EDGES} }} }} GROUP BY ?x ?p }}"
    ]
    if iris:
        parts += [
            f"{{ SELECT ?x ?c {{ {leaving} ?x <{v.RDF_TYPE}> ?c }} LIMIT {_TYPES * len(iris)} }}",
            f"{{ SELECT ?x ?p (COUNT(*) AS ?n) (0 AS ?way) {{ {{ SELECT ?x ?p {{ {leaving} "
            f"?x ?p ?o }} LIMIT {_EDGES} }} }} GROUP BY ?x ?p }}",
        ]
    return f"SELECT ?x ?c ?p ?n ?way WHERE {{ {' UNION '.join(parts)} }} LIMIT {4 * _EDGES}"


@dataclass(frozen=True)
class Variants:
    """The properties of a graph that it writes as several predicates, by its profile."""

    profile: Profile

    @cached_property
    def known(self) -> Mapping[str, PredicateProfile]:
        """What the profile tells of each predicate."""
        return {p.iri: p for p in self.profile.predicates}

    def grouped(self, iris: Iterable[str]) -> list[tuple[str, ...]]:
        """Return predicates in groups, each of one property, in the order of their firsts.

        Within a group the most direct one comes first.
        """
        return [self._in_order(group) for group in same_property(iris)]

    def of(self, iris: Iterable[str]) -> dict[tuple[str, str], tuple[str, ...]]:
        """Return all variants of some predicates, by what they share, the most direct one first."""
        codes = {key for iri in iris if (key := code_of(iri)) is not None}
        endings = tuple(code for _, code in codes)
        alike = variants_in(iri for iri in self.known if iri.endswith(endings))
        return {key: self._in_order(group) for key, group in alike.items() if key in codes}

    def _in_order(self, iris: Sequence[str]) -> tuple[str, ...]:
        return tuple(iris) if len(iris) == 1 else tuple(sorted(iris, key=self._rank))

    def _rank(self, iri: str) -> tuple[int, float, bool, int, int, str]:
        """The order of variants.

        If statements are nodes, those have no label, and a predicate leads to each of them
        once; its direct variant leads to the values, which many share.
        """
        p = self.known.get(iri)
        if p is None:
            return 0, 1.0, True, 0, len(iri), iri
        plain = self._plain(p.subject_classes) + (p.literal or self._plain(p.object_classes))
        own = p.objects / max(1, p.triples)
        return -plain, own, not p.literal, -p.triples, len(iri), iri

    def _plain(self, ends: Sequence[tuple[str, int]]) -> bool:
        return any(iri not in self._nameless for iri, _ in ends)

    @cached_property
    def _nameless(self) -> frozenset[str]:
        """The classes whose instances have no label, as nodes for statements have none."""
        classes = self.profile.classes
        return frozenset(c.iri for c in classes if c.nary or c.name_predicate is None)


Sort = Choice["entities", "properties"]
"""What a place holds: properties, or anything else, literal values among it."""

USUAL = (v.RDF_TYPE, *v.LABEL_PREDICATES, *v.ALTERNATIVE_LABEL_PREDICATES)
"""Predicates that (nearly) everything has: they tell nothing of a hit."""

_NAMES = 5
_NAME_ROOM = 60  # characters of all other names of a hit together
_PLAIN_INFOS = frozenset({"class", "property"})
_HINTS = 4
_ENOUGH = 3  # things, of which no values are looked for besides


@dataclass(frozen=True)
class Found:
    """What a search found: a term, what an index knows of it, the name that matched.

    `note` is what the search adds: how often it stands where it was looked for. `nameless` nodes
    have no label: their resource's is made of what hangs on them.
    """

    term: Term
    resource: Resource | None = None
    name: str = ""
    note: str = ""
    nameless: bool = False


async def found_anywhere(context: Context, text: str, sort: Sort) -> list[Found]:
    """Return the best hits of the whole graph; values too if few things are found."""
    graph, most = context.graph, context.limits.hits
    words = {stem(token) for token in tokens(text)}

    def is_named(resource: Resource) -> bool:
        """Whether a name holds a word of the text, or as much as its beginning."""
        own = {stem(token) for name in resource.names for token in tokens(name)}
        return any(a.startswith(b) or b.startswith(a) for a in words for b in own)

    def search() -> list[Found]:
        hits = index_hits(graph, sort, text, most)
        if sort == "entities" and len(hits) <= min(_ENOUGH, most - 1):
            hits += index_hits(graph, "literals", text, most - len(hits))
        hits.sort(key=lambda hit: not is_named(hit.item))  # what only a comment says comes last
        return list(map(found_of, hits))

    return await asyncio.to_thread(search)


def found_of(hit: Hit[Resource]) -> Found:
    """Return a hit of an index as what a search found."""
    return Found(resource_term(hit.item.iri), hit.item, hit.name)


def index_hits(
    graph: KnowledgeGraph, key: str, text: str, limit: int, within: Sequence[str] | None = None
) -> list[Hit[Resource]]:
    """Return the hits of one index of a graph; none if it has no such index."""
    index = graph.indices.get(key)
    return [] if index is None else list(index.search(text, limit=limit, within=within))


def key_of(term: Term) -> str:
    """Return an IRI as it is, and any other term as N-Triples text."""
    return term.value if isinstance(term, NamedNode) else str(term)


@dataclass(frozen=True)
class Page:
    """Writes hits, with what was fetched for all of them."""

    context: Context
    writer: Writer
    classes: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    hints: Mapping[str, Sequence[Meeting]] = field(default_factory=dict)
    holders: Mapping[str, str] = field(default_factory=dict)
    every: Mapping[str, frozenset[str]] = field(default_factory=dict)  # all classes

    def line(self, found: Found) -> str:
        """One entity or literal."""
        if isinstance(found.term, Literal):
            text = self.writer.literal(found.term)  # as a query has to write it
            if len(found.term.value) > self.context.limits.clip:
                text += " (clipped; match a part of it by CONTAINS)"
            return _joined(text, self._holder(found.term), found.note)
        if isinstance(found.term, BlankNode):
            return _joined("a blank node", self._about(found), found.note)
        iri = key_of(found.term)
        cls = next((c for c in self.context.graph.profile.classes if c.iri == iri), None)
        kinds = [self.writer.iri(one) for one in self.classes.get(str(found.term), ())]
        head = self.writer.iri(iri)
        if cls is not None:
            counts = self.context.shows_counts
            head += f" class, {cls.instances:,} instances" if counts else " class"
        elif kinds:
            head += f" a {', '.join(kinds)}"
        hints = [
            f"{'^' if one.inverse else ''}{self.writer.iri(one.predicate)}"
            for one in self.hints.get(str(found.term), ())
        ]
        has = f"has {', '.join(hints)}" if hints else ""
        about, others, infos = self._about(found), self._others(found), self._infos(found)
        return _joined(head, about, others, infos, has, found.note)

    def property_line(
        self,
        found: Found,
        variants: Sequence[str],
        profile: PredicateProfile | None,
        description: str,
    ) -> str:
        """One property."""
        iri, writer = key_of(found.term), self.writer
        head = writer.short(iri)
        if iri in USUAL:
            return _joined(head, found.note)
        label = writer.labels.get(iri) or (found.resource.label if found.resource else "")
        if label and tells_more(label, (iri,)):
            head += f" {writer.about(iri, label)}"
        if variants:
            head += f" (also {', '.join(map(writer.short, variants))})"
        use = self._infos(found)
        if profile is not None:
            whole = self.context.graph.profile
            sides = (ends_of(profile, whole, inverse=inverse) for inverse in (True, False))
            sources, targets = (" or ".join(map(writer.iri, ends)) or "things" for ends in sides)
            count = f", {profile.triples:,}×" if self.context.shows_counts else ""
            use = f"{sources} → {targets}{count}"
        about = writer.about(iri, description) if description else ""
        return _joined(head, use, self._others(found), about, found.note)

    def _holder(self, literal: Literal) -> str:
        meetings = self.hints.get(str(literal), ())
        total = sum(one.count for one in meetings)
        by = ", ".join(self.writer.iri(one.predicate) for one in meetings[:2])
        holder = self.holders.get(str(literal))
        who = f" of {self.writer.iri(holder)}" if holder else ""
        counts = holder and total > 1 and self.context.shows_counts
        return f"{by}{who}{f' and {total - 1:,} more' if counts else ''}"

    def _about(self, found: Found) -> str:
        """What an index calls a node that has no label: words of what hangs on it."""
        iri = key_of(found.term)
        if found.resource is None or iri in self.writer.labels:
            return ""
        own = tokens(words_of_local_name(iri))
        telling = [name for name in found.resource.names if tokens(name) != own]
        if not telling:
            return ""
        words = max(telling, key=len)
        kind, _, rest = words.partition(": ")
        told = self.writer.about(iri, rest if tokens(kind) in self._kinds(found) else words)
        return f"no label; {told}" if told else "no label"

    def _kinds(self, found: Found) -> set[tuple[str, ...]]:
        """The names of all classes of a hit."""
        types = self.every.get(str(found.term), frozenset())
        known = self.context.graph.profile.classes
        named = [text for c in known if c.iri in types for text, _ in c.names]
        return {tokens(words) for words in (*named, *map(words_of_local_name, types))}

    def _others(self, found: Found) -> str:
        """Other names, the one that matched first."""
        iri = key_of(found.term)
        if found.resource is None or self._about(found) or not self.writer.about(iri, "-"):
            return ""
        shown = {tokens(self.writer.labels.get(iri, found.resource.label))}
        shown.add(tokens(words_of_local_name(iri)))
        names: list[str] = []
        room = _NAME_ROOM
        for name in (found.name, *found.resource.names):
            room -= len(name)
            if name and tokens(name) not in shown and (room > 0 or not names):
                shown.add(tokens(name))
                names.append(self.writer.about(iri, name))
        return f"also {', '.join(names[:_NAMES])}" if names else ""

    def _infos(self, found: Found) -> str:
        """What an index tells things apart by, if the line does not say it anyway."""
        if found.resource is None:
            return ""
        said = self._kinds(found)
        infos = [
            clipped(" ".join(info.split()), self.context.limits.clip)
            for info in found.resource.infos
            if info not in _PLAIN_INFOS and tokens(info) not in said
        ]
        told = (self.writer.about(key_of(found.term), info) for info in infos[:2])
        return ", ".join(info for info in told if info)


def _joined(*parts: str) -> str:
    return "- " + " | ".join(part for part in parts if part)


@dataclass(frozen=True)
class HitLines:
    """Lines for a model, and the IRIs in them."""

    lines: tuple[str, ...] = ()
    seen: tuple[str, ...] = ()


async def entity_lines(
    context: Context, found: Sequence[Found], *, near: Sequence[str] = ()
) -> HitLines:
    """Show things, classes and literal values, each with its classes or with what has it.

    Of the predicates at a thing those that are `near` to a question come first, in that order.
    """
    facts, holders = await asyncio.gather(
        facts_of(context, [one.term for one in found]), _holders(context, found)
    )
    same = Variants(context.graph.profile)
    hints = {
        str(one.term): _hints(facts.meetings.get(str(one.term), ()), same, near) for one in found
    }
    classes = {
        str(one.term): narrowest(facts.types.get(str(one.term), ()), context.graph.profile)
        for one in found
    }
    met = [meeting.predicate for listed in hints.values() for meeting in listed]
    types = [iri for listed in classes.values() for iri in listed]
    writer = await _writer(context, found, [*types, *met, *holders.values()])
    every = {node: frozenset(listed) for node, listed in facts.types.items()}
    # The hints of each hit, without those that a hit of the same class before it has.
    told: set[tuple[tuple[str, ...], str, bool]] = set()
    kept: dict[str, Sequence[Meeting]] = {}
    for node in (str(one.term) for one in found):
        kind = classes.get(node, ())
        marks = [(kind, one.predicate, one.inverse) for one in hints[node]]
        new = [mark not in told or not kind or node[0] == '"' for mark in marks]
        kept[node] = [one for one, is_new in zip(hints[node], new, strict=True) if is_new]
        told |= set(marks)
    page = Page(context, writer, classes, kept, holders, every)
    lines = [page.line(one) for one in found]
    if facts.trouble:
        lines.append(f"({facts.trouble})")
    return HitLines(tuple(lines), tuple(writer.seen))


async def property_lines(context: Context, found: Sequence[Found]) -> HitLines:
    """Show properties, each with what it leads from and to, its use and its description.

    What is one property in several namespaces takes one line: see `askgraph.graph.names`.
    """
    used = Variants(context.graph.profile).of(key_of(one.term) for one in found)
    together: dict[object, list[Found]] = defaultdict(list)
    for one in found:
        together[code_of(key_of(one.term)) or key_of(one.term)].append(one)
    merged = []
    for key, several in together.items():
        best = next((one for one in several if one.resource is not None), several[0])
        looked_for = [key_of(one.term) for one in several]
        known = used.get(key, ()) if isinstance(key, tuple) else ()
        noted = [key_of(one.term) for one in several if one.note]
        order = tuple(dict.fromkeys([*noted, *known, *([] if known else looked_for)]))
        notes = dict.fromkeys(one.note for one in several if one.note)
        first = replace(best, term=NamedNode(order[0]), note=", ".join(notes))
        merged.append((first, order[1:]))
    iris = [one.term.value for one, _ in merged if isinstance(one.term, NamedNode)]
    profiles = {p.iri: p for p in context.graph.profile.predicates}
    ends = [
        iri
        for p in (profiles[one] for one in iris if one in profiles)
        for way in (True, False)
        for iri in ends_of(p, context.graph.profile, inverse=way)
    ]
    described, writer = await asyncio.gather(
        descriptions_of(
            iris, context.graph, [context.language, "en"], timeout=context.limits.timeout
        ),
        _writer(context, [one for one, _ in merged], ends),
    )
    page = Page(context, writer)
    lines = [
        page.property_line(
            one, variants, profiles.get(key_of(one.term)), described.get(key_of(one.term), "")
        )
        for one, variants in merged
    ]
    return HitLines(tuple(lines), tuple(writer.seen))


async def _holders(context: Context, found: Sequence[Found]) -> dict[str, str]:
    """One subject of each literal, by N-Triples text."""
    literals = [str(one.term) for one in found if isinstance(one.term, Literal)]
    if not literals:
        return {}
    arrays = context.graph.arrays
    if arrays is None:
        parts = [
            f"{{ SELECT ({at} AS ?n) ?s {{ ?s ?p {text} }} LIMIT 1 }}"
            for at, text in enumerate(literals)
        ]
        query = f"SELECT ?n ?s WHERE {{ {' UNION '.join(parts)} }} LIMIT {len(parts)}"
        result = await context.graph.endpoint.select(query, timeout=context.limits.timeout)
        return {
            literals[int(at.value)]: subject.value
            for at, subject in result.rows
            if isinstance(at, Literal) and isinstance(subject, NamedNode)
        }
    holders = {}
    for text in literals:
        at = arrays.terms.find(text)
        here = np.array([] if at is None else [at], dtype=np.int32)
        for number in arrays.predicates_of(here, inverse=True)[0].tolist()[:1]:
            subject = int(arrays.step(here, number, inverse=True)[0])
            if arrays.terms.is_iri(subject):
                holders[text] = arrays.terms.value(subject)
    return holders


def _hints(meetings: Sequence[Meeting], same: Variants, near: Sequence[str] = ()) -> list[Meeting]:
    """The predicates that tell most of what may be asked of a node: near ones, then frequent."""
    places = {iri: at for at, iri in enumerate(near)}
    direct = {first for first, *_ in same.grouped(one.predicate for one in meetings)}

    def order(one: Meeting) -> tuple[int, int, int]:
        profile = same.known.get(one.predicate)
        place = places.get(one.predicate, len(places))
        return place, -one.count, -profile.triples if profile else 0

    telling = [
        one
        for one in meetings
        if one.predicate in direct
        and one.predicate not in USUAL
        and one.predicate not in v.DESCRIPTION_PREDICATES
        and not (one.inverse and one.predicate.startswith(SCHEMA_SPACES))
    ]
    return sorted(telling, key=order)[:_HINTS]


async def _writer(context: Context, found: Sequence[Found], more: Iterable[str]) -> Writer:
    """A writer that knows all labels; of a remote graph an index knows those of its hits."""
    own = [key_of(one.term) for one in found if isinstance(one.term, NamedNode)]
    known = {
        one.resource.iri: one.resource.label
        for one in found
        if one.resource is not None and context.graph.arrays is None and not one.nameless
    }
    wanted = [iri for iri in dict.fromkeys([*own, *more]) if iri not in known]
    labels = await labels_in(context, wanted)
    return Writer(context, {**known, **labels})
