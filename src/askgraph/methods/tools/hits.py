"""Search hits as lines for a model, with the IRI, its classes and distinguishing facts."""

import asyncio
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Literal as Choice

import numpy as np
from pyoxigraph import BlankNode, Literal, NamedNode

from askgraph.answers.verbalize import fetch_term_descriptions
from askgraph.errors import ErrorReply, MalformedReply, TimedOut
from askgraph.graph import KnowledgeGraph
from askgraph.graph.arrays import GraphArrays
from askgraph.graph.literals import parse_resource_term
from askgraph.graph.names import (
    build_acronym,
    extract_code,
    group_by_code,
    group_by_property,
    is_informative_label,
)
from askgraph.graph.profile import PredicateProfile, Profile
from askgraph.graph.shapes import get_end_kinds, select_narrowest
from askgraph.index import Hit, Resource
from askgraph.index.names import split_tokens, stem_word
from askgraph.methods.tools import Context
from askgraph.methods.tools.rendering import TermWriter, clip_text, fetch_labels
from askgraph.sparql import vocabulary as v
from askgraph.sparql.prefixes import split_local_name
from askgraph.sparql.results import Term
from askgraph.sparql.vocabulary import SCHEMA_NAMESPACES

_MAX_CLASSES_PER_NODE = 20  # classes of one node to inspect
_MAX_EDGES = 5_000  # edges of all nodes together, per direction
_QUERY_FAILURES = (TimedOut, ErrorReply, MalformedReply)


@dataclass(frozen=True)
class IncidentPredicate:
    """A predicate at a node, the number of its edges there, and whether they are incoming."""

    predicate: str
    count: int
    inverse: bool = False


@dataclass(frozen=True)
class NodeFacts:
    """Classes and predicates by node (N-Triples text); `trouble` explains a failed query."""

    types: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    predicates: Mapping[str, tuple[IncidentPredicate, ...]] = field(default_factory=dict)
    trouble: str = ""


async def fetch_node_facts(context: Context, nodes: Sequence[Term]) -> NodeFacts:
    """Return the classes and predicates of IRIs and literals; skip blank nodes.

    If a remote graph does not answer, the facts are empty and `trouble` explains why.
    """
    node_texts = tuple(
        dict.fromkeys(str(node) for node in nodes if isinstance(node, NamedNode | Literal))
    )
    if not node_texts:
        return NodeFacts()
    if context.graph.arrays is not None:
        return await asyncio.to_thread(_collect_facts, context.graph.arrays, node_texts)
    try:
        result = await context.graph.endpoint.select(
            _build_query(node_texts), timeout=context.limits.timeout, limit=4 * _MAX_EDGES
        )
    except _QUERY_FAILURES as problem:
        return NodeFacts(trouble=f"classes and properties of these could not be asked: {problem}")
    types: dict[str, list[str]] = defaultdict(list)
    predicates: dict[str, list[IncidentPredicate]] = defaultdict(list)
    for node, cls, predicate, count, inverse in result.rows:
        if isinstance(cls, NamedNode):
            types[str(node)].append(cls.value)
        elif isinstance(predicate, NamedNode):
            incident_predicate = IncidentPredicate(
                predicate.value, parse_count(count), parse_count(inverse) == 1
            )
            predicates[str(node)].append(incident_predicate)
    return NodeFacts(
        {node: tuple(items) for node, items in types.items()},
        {node: tuple(items) for node, items in predicates.items()},
    )


def parse_count(term: Term | None) -> int:
    """Return a literal's whole number; 0 for any other term."""
    return int(term.value) if isinstance(term, Literal) and term.value.isdigit() else 0


def look_up_types(arrays: GraphArrays, node: str) -> tuple[str, ...]:
    """Return the classes of a node of a local graph, given as N-Triples text."""
    kind, at = arrays.get_predicate_number(v.RDF_TYPE), arrays.terms.find(node)
    if kind is None or at is None:
        return ()
    type_ids = arrays.step(np.array([at], dtype=np.int32), kind).tolist()
    return tuple(
        arrays.terms.get_value(type_id) for type_id in type_ids if arrays.terms.is_iri(type_id)
    )


def _collect_facts(arrays: GraphArrays, nodes: Sequence[str]) -> NodeFacts:
    ids = {node: at for node in nodes if (at := arrays.terms.find(node)) is not None}
    return NodeFacts(
        {node: look_up_types(arrays, node) for node in ids},
        {
            node: tuple(_list_predicates(arrays, np.array([at], dtype=np.int32)))
            for node, at in ids.items()
        },
    )


def _list_predicates(arrays: GraphArrays, node_ids: np.ndarray) -> Iterator[IncidentPredicate]:
    for inverse in (False, True):
        numbers, _ = arrays.count_predicates(node_ids, inverse=inverse)
        for number in numbers.tolist():
            edges = len(arrays.get_edges(node_ids, number, inverse=inverse)[0])
            yield IncidentPredicate(arrays.get_predicate_iri(number), edges, inverse)


def _build_query(nodes: Sequence[str]) -> str:
    """Build one query for the classes, the outgoing edges and some incoming edges of all nodes."""
    values = f"VALUES ?x {{ {' '.join(nodes)} }}"
    iris = [node for node in nodes if node.startswith("<")]
    leaving = f"VALUES ?x {{ {' '.join(iris)} }}"
    parts = [
        f"{{ SELECT ?x ?p (COUNT(*) AS ?n) (1 AS ?way) {{ {{ SELECT ?x ?p {{ {values} ?s ?p ?x }} "
        f"LIMIT {_MAX_EDGES} }} }} GROUP BY ?x ?p }}"
    ]
    if iris:
        parts += [
            f"{{ SELECT ?x ?c {{ {leaving} ?x <{v.RDF_TYPE}> ?c }} "
            f"LIMIT {_MAX_CLASSES_PER_NODE * len(iris)} }}",
            f"{{ SELECT ?x ?p (COUNT(*) AS ?n) (0 AS ?way) {{ {{ SELECT ?x ?p {{ {leaving} "
            f"?x ?p ?o }} LIMIT {_MAX_EDGES} }} }} GROUP BY ?x ?p }}",
        ]
    return f"SELECT ?x ?c ?p ?n ?way WHERE {{ {' UNION '.join(parts)} }} LIMIT {4 * _MAX_EDGES}"


@dataclass(frozen=True)
class PropertyVariants:
    """Properties of a graph that have several predicates, according to its profile."""

    profile: Profile

    @cached_property
    def profiles(self) -> Mapping[str, PredicateProfile]:
        """Profiles of predicates by IRI."""
        return {p.iri: p for p in self.profile.predicates}

    def group(self, iris: Iterable[str]) -> list[tuple[str, ...]]:
        """Group predicates that are one property, the groups in order of their first predicates.

        Within a group, the most direct predicate comes first.
        """
        return [self._sort_variants(group) for group in group_by_property(iris)]

    def find_variants(self, iris: Iterable[str]) -> dict[tuple[str, str], tuple[str, ...]]:
        """Return all variants of some predicates by their shared key, the most direct one first."""
        codes = {key for iri in iris if (key := extract_code(iri)) is not None}
        endings = tuple(code for _, code in codes)
        groups = group_by_code(iri for iri in self.profiles if iri.endswith(endings))
        return {key: self._sort_variants(group) for key, group in groups.items() if key in codes}

    def _sort_variants(self, iris: Sequence[str]) -> tuple[str, ...]:
        return tuple(iris) if len(iris) == 1 else tuple(sorted(iris, key=self._rank))

    def _rank(self, iri: str) -> tuple[int, float, bool, int, int, str]:
        """Return the sort key of a variant, the most direct one first."""
        p = self.profiles.get(iri)
        if p is None:
            return 0, 1.0, True, 0, len(iri), iri
        named_ends = self._has_named_ends(p.subject_classes) + (
            p.literal or self._has_named_ends(p.object_classes)
        )
        return -named_ends, p.objects / max(1, p.triples), not p.literal, -p.triples, len(iri), iri

    def _has_named_ends(self, ends: Sequence[tuple[str, int]]) -> bool:
        return any(iri not in self._nameless_classes for iri, _ in ends)

    @cached_property
    def _nameless_classes(self) -> frozenset[str]:
        """Classes whose instances have no label, such as nodes for statements."""
        return frozenset(c.iri for c in self.profile.classes if c.nary or c.name_predicate is None)


Sort = Choice["entities", "properties"]
"""The kind of a term: a property, or anything else, including literal values."""

USUAL_PREDICATES = (v.RDF_TYPE, *v.LABEL_PREDICATES, *v.ALTERNATIVE_LABEL_PREDICATES)
"""Predicates that nearly everything has and that say little about a hit."""

_MAX_NAMES = 5
_MAX_NAME_CHARACTERS = 60  # characters of all other names of a hit together
_TRIVIAL_INFOS = frozenset({"class", "property"})
_MAX_HINTS = 4
_MAX_HITS_BEFORE_LITERALS = 3  # for things, no values are searched in addition


@dataclass(frozen=True)
class SearchHit:
    """A search hit: a term, its entry in an index, and the name that matched.

    `note` is added by the search, such as how often the term occurs.
    """

    term: Term
    resource: Resource | None = None
    name: str = ""
    note: str = ""


async def search_graph(context: Context, text: str, sort: Sort) -> list[SearchHit]:
    """Return the best hits of the whole graph, with literals if there are few entities.

    With plain limits these are the hits of one index, in its order; with bare ones, of all.
    """
    graph, max_hits = context.graph, context.limits.hits
    words = {stem_word(token) for token in split_tokens(text)}

    def is_named(resource: Resource) -> bool:
        """Return whether a name contains a word of the text, or the start of one."""
        name_stems = {stem_word(token) for name in resource.names for token in split_tokens(name)}
        return any(a.startswith(b) or b.startswith(a) for a in words for b in name_stems)

    def search_indices() -> list[SearchHit]:
        if context.limits.bare:
            keys = ("entities", "properties")
            hits = [hit for key in keys for hit in search_index(graph, key, text, max_hits)]
            return list(map(to_search_hit, sorted(hits, key=lambda hit: -hit.score)[:max_hits]))
        hits = search_index(graph, sort, text, max_hits)
        if context.limits.plain:
            return list(map(to_search_hit, hits))
        if sort == "entities" and len(hits) <= min(_MAX_HITS_BEFORE_LITERALS, max_hits - 1):
            hits += search_index(graph, "literals", text, max_hits - len(hits))
        hits.sort(key=lambda hit: not is_named(hit.item))  # hits in comments only come last
        return list(map(to_search_hit, hits))

    return await asyncio.to_thread(search_indices)


def to_search_hit(hit: Hit[Resource]) -> SearchHit:
    """Convert a hit of an index to a search hit."""
    return SearchHit(parse_resource_term(hit.item.iri), hit.item, hit.name)


def search_index(
    graph: KnowledgeGraph, key: str, text: str, limit: int, within: Sequence[str] | None = None
) -> list[Hit[Resource]]:
    """Return the hits of one index of a graph; empty if the graph has no such index."""
    index = graph.indices.get(key)
    return [] if index is None else list(index.search(text, limit=limit, within=within))


def get_term_key(term: Term) -> str:
    """Return an IRI unchanged, and any other term as N-Triples text."""
    return term.value if isinstance(term, NamedNode) else str(term)


@dataclass(frozen=True)
class HitFormatter:
    """Formats hits as lines, with the facts that were fetched for all of them."""

    context: Context
    writer: TermWriter
    classes: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    hints: Mapping[str, Sequence[IncidentPredicate]] = field(default_factory=dict)
    subjects: Mapping[str, str] = field(default_factory=dict)
    all_classes: Mapping[str, frozenset[str]] = field(default_factory=dict)  # all classes

    def format_entity(self, hit: SearchHit) -> str:
        """Return the line of an entity or a literal."""
        if isinstance(hit.term, Literal):
            text = self.writer.write_literal(hit.term)  # as written in a query
            if len(hit.term.value) > self.context.limits.clip:
                text += " (clipped; match a part of it by CONTAINS)"
            return _join_parts(text, self._format_subject(hit.term), hit.note)
        if isinstance(hit.term, BlankNode):
            return _join_parts("a blank node", self._describe_nameless(hit), hit.note)
        iri = get_term_key(hit.term)
        cls = next((c for c in self.context.graph.profile.classes if c.iri == iri), None)
        kinds = [self.writer.write_iri(item) for item in self.classes.get(str(hit.term), ())]
        head = self.writer.write_iri(iri)
        if cls is not None:
            counts = self.context.can_show_counts
            head += f" class, {cls.instances:,} instances" if counts else " class"
        elif kinds:
            head += f" a {', '.join(kinds)}"
        hints = [
            f"{'^' if item.inverse else ''}{self.writer.write_iri(item.predicate)}"
            for item in self.hints.get(str(hit.term), ())
        ]
        has = f"has {', '.join(hints)}" if hints else ""
        about = self._describe_nameless(hit)
        other_names = self._format_other_names(hit)
        return _join_parts(head, about, other_names, self._format_infos(hit), has, hit.note)

    def format_property(
        self,
        hit: SearchHit,
        variants: Sequence[str],
        profile: PredicateProfile | None,
        description: str,
    ) -> str:
        """Return the line of a property."""
        iri, writer = get_term_key(hit.term), self.writer
        head = writer.write_short(iri)
        if iri in USUAL_PREDICATES:
            return _join_parts(head, hit.note)
        label = writer.labels.get(iri) or (hit.resource.label if hit.resource else "")
        if label and is_informative_label(label, (iri,)):
            head += f" {writer.write_description(iri, label)}"
        if variants:
            head += f" (also {', '.join(map(writer.write_short, variants))})"
        use = self._format_infos(hit)
        if profile is not None:
            graph_profile = self.context.graph.profile
            sides = (
                get_end_kinds(profile, graph_profile, inverse=inverse) for inverse in (True, False)
            )
            sources, targets = (
                " or ".join(map(writer.write_iri, ends)) or "things" for ends in sides
            )
            count = f", {profile.triples:,}×" if self.context.can_show_counts else ""
            use = f"{sources} → {targets}{count}"
        about = writer.write_description(iri, description) if description else ""
        return _join_parts(head, use, self._format_other_names(hit), about, hit.note)

    def _format_subject(self, literal: Literal) -> str:
        incidents = self.hints.get(str(literal), ())
        total = sum(incident.count for incident in incidents)
        predicates = ", ".join(
            self.writer.write_iri(incident.predicate) for incident in incidents[:2]
        )
        subject = self.subjects.get(str(literal))
        subject_text = f" of {self.writer.write_iri(subject)}" if subject else ""
        counts = subject and total > 1 and self.context.can_show_counts
        return f"{predicates}{subject_text}{f' and {total - 1:,} more' if counts else ''}"

    def _describe_nameless(self, hit: SearchHit) -> str:
        """Return an index's text for a node without a label: words of the nodes beside it."""
        iri = get_term_key(hit.term)
        if hit.resource is None or iri in self.writer.labels:
            return ""
        iri_words = split_tokens(split_local_name(iri))
        candidates = [name for name in hit.resource.names if split_tokens(name) != iri_words]
        if not candidates:
            return ""
        words = max(candidates, key=len)
        kind, _, details = words.partition(": ")
        description = self.writer.write_description(
            iri, details if split_tokens(kind) in self._list_class_names(hit) else words
        )
        return f"no label; {description}" if description else "no label"

    def _list_class_names(self, hit: SearchHit) -> set[tuple[str, ...]]:
        """Return the names of all classes of a hit, as tokens."""
        types = self.all_classes.get(str(hit.term), frozenset())
        classes = self.context.graph.profile.classes
        class_names = [text for c in classes if c.iri in types for text, _ in c.names]
        return {split_tokens(words) for words in (*class_names, *map(split_local_name, types))}

    def _format_other_names(self, hit: SearchHit) -> str:
        """Return other names, beginning with the one that matched."""
        iri = get_term_key(hit.term)
        if (
            hit.resource is None
            or self._describe_nameless(hit)
            or not self.writer.write_description(iri, "-")
        ):
            return ""
        label = self.writer.labels.get(iri, hit.resource.label)
        shown_names = {split_tokens(name) for name in (label, build_acronym(label))}
        shown_names.add(split_tokens(split_local_name(iri)))
        names: list[str] = []
        characters_left = _MAX_NAME_CHARACTERS
        for name in (hit.name, *hit.resource.names):
            characters_left -= len(name)
            if (
                name
                and split_tokens(name) not in shown_names
                and (characters_left > 0 or not names)
            ):
                shown_names.add(split_tokens(name))
                names.append(self.writer.write_description(iri, name))
        return f"also {', '.join(names[:_MAX_NAMES])}" if names else ""

    def _format_infos(self, hit: SearchHit) -> str:
        """Return an index's distinguishing texts that the line does not repeat."""
        if hit.resource is None:
            return ""
        class_names = self._list_class_names(hit)
        infos = [
            clip_text(" ".join(info.split()), self.context.limits.clip)
            for info in hit.resource.infos
            if info not in _TRIVIAL_INFOS and split_tokens(info) not in class_names
        ]
        descriptions = (
            self.writer.write_description(get_term_key(hit.term), info) for info in infos[:2]
        )
        return ", ".join(info for info in descriptions if info)


def _join_parts(*parts: str) -> str:
    return "- " + " | ".join(part for part in parts if part)


@dataclass(frozen=True)
class HitLines:
    """Lines for a model, and the IRIs in them."""

    lines: tuple[str, ...] = ()
    iris: tuple[str, ...] = ()


async def format_plain_hits(context: Context, hits: Sequence[SearchHit]) -> HitLines:
    """Format hits with what an index holds of them: IRI, label and infos.

    No line names a predicate at a hit, a class that only the graph knows, or a count (GRASP, arXiv
    2507.08107, section 3.4; Henselmann et al. 2025, section 5.1).
    """
    writer = await _build_writer(context, hits, ())
    lines = []
    for hit in hits:
        if not isinstance(hit.term, NamedNode):
            lines.append(_join_parts(writer.write_term(hit.term)))
            continue
        iri, head = hit.term.value, writer.write_short(hit.term.value)
        label = writer.labels.get(iri) or (hit.resource.label if hit.resource else "")
        description = f" {writer.write_description(iri, label)}" if label else ""
        if context.limits.bare:
            lines.append(f"{iri}{description}")
            continue
        infos = (
            writer.write_description(iri, info)
            for info in (hit.resource.infos if hit.resource else ())
        )
        lines.append(_join_parts(f"{head}{description}", ", ".join(infos)))
    return HitLines(tuple(lines), tuple(writer.written_iris))


async def format_entities(
    context: Context, hits: Sequence[SearchHit], *, near: Sequence[str] = ()
) -> HitLines:
    """Format entities, classes and literals, with their classes or their subjects.

    Predicates of a hit that are `near` to a question come first, in that order.
    """
    facts, subjects = await asyncio.gather(
        fetch_node_facts(context, [item.term for item in hits]), _find_subjects(context, hits)
    )
    variants = PropertyVariants(context.graph.profile)
    hints = {
        (key := str(item.term)): _select_hints(
            facts.predicates.get(key, ()), variants, near, is_text=isinstance(item.term, Literal)
        )
        for item in hits
    }
    classes = {
        str(item.term): select_narrowest(facts.types.get(str(item.term), ()), context.graph.profile)
        for item in hits
    }
    hint_predicates = [incident.predicate for items in hints.values() for incident in items]
    types = [iri for items in classes.values() for iri in items]
    writer = await _build_writer(context, hits, [*types, *hint_predicates, *subjects.values()])
    all_classes = {node: frozenset(items) for node, items in facts.types.items()}
    # The hints of each hit, without those of an earlier hit of the same class.
    previous_hints: set[tuple[tuple[str, ...], str, bool]] = set()
    new_hints: dict[str, Sequence[IncidentPredicate]] = {}
    for node in (str(item.term) for item in hits):
        kind = classes.get(node, ())
        marks = [(kind, item.predicate, item.inverse) for item in hints[node]]
        new = [mark not in previous_hints or not kind or node[0] == '"' for mark in marks]
        new_hints[node] = [item for item, is_new in zip(hints[node], new, strict=True) if is_new]
        previous_hints |= set(marks)
    formatter = HitFormatter(context, writer, classes, new_hints, subjects, all_classes)
    lines = [formatter.format_entity(item) for item in hits]
    if facts.trouble:
        lines.append(f"({facts.trouble})")
    return HitLines(tuple(lines), tuple(writer.written_iris))


async def format_properties(context: Context, hits: Sequence[SearchHit]) -> HitLines:
    """Format properties, with the classes at both ends, their use and their description.

    One property in several namespaces takes one line; see `askgraph.graph.names`.
    """
    variants_by_code = PropertyVariants(context.graph.profile).find_variants(
        get_term_key(item.term) for item in hits
    )
    hits_by_property: dict[object, list[SearchHit]] = defaultdict(list)
    for item in hits:
        hits_by_property[extract_code(get_term_key(item.term)) or get_term_key(item.term)].append(
            item
        )
    merged = []
    for key, group in hits_by_property.items():
        best = next((item for item in group if item.resource is not None), group[0])
        hit_iris = [get_term_key(item.term) for item in group]
        known_variants = variants_by_code.get(key, ()) if isinstance(key, tuple) else ()
        noted_iris = [get_term_key(item.term) for item in group if item.note]
        ordered_iris = tuple(
            dict.fromkeys([*noted_iris, *known_variants, *([] if known_variants else hit_iris)])
        )
        notes = dict.fromkeys(item.note for item in group if item.note)
        main_hit = replace(best, term=NamedNode(ordered_iris[0]), note=", ".join(notes))
        merged.append((main_hit, ordered_iris[1:]))
    iris = [item.term.value for item, _ in merged if isinstance(item.term, NamedNode)]
    profiles = {p.iri: p for p in context.graph.profile.predicates}
    ends = [
        iri
        for p in (profiles[item] for item in iris if item in profiles)
        for inverse in (True, False)
        for iri in get_end_kinds(p, context.graph.profile, inverse=inverse)
    ]
    descriptions, writer = await asyncio.gather(
        fetch_term_descriptions(
            iris, context.graph, [context.language, "en"], timeout=context.limits.timeout
        ),
        _build_writer(context, [item for item, _ in merged], ends),
    )
    formatter = HitFormatter(context, writer)
    lines = [
        formatter.format_property(
            item,
            variants,
            profiles.get(get_term_key(item.term)),
            descriptions.get(get_term_key(item.term), ""),
        )
        for item, variants in merged
    ]
    return HitLines(tuple(lines), tuple(writer.written_iris))


async def _find_subjects(context: Context, hits: Sequence[SearchHit]) -> dict[str, str]:
    """Return one subject of each literal, by N-Triples text."""
    literals = [str(hit.term) for hit in hits if isinstance(hit.term, Literal)]
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
    subjects = {}
    for text in literals:
        at = arrays.terms.find(text)
        node_ids = np.array([] if at is None else [at], dtype=np.int32)
        for number in arrays.count_predicates(node_ids, inverse=True)[0].tolist()[:1]:
            subject = int(arrays.step(node_ids, number, inverse=True)[0])
            if arrays.terms.is_iri(subject):
                subjects[text] = arrays.terms.get_value(subject)
    return subjects


def _select_hints(
    incidents: Sequence[IncidentPredicate],
    variants: PropertyVariants,
    near: Sequence[str] = (),
    *,
    is_text: bool = False,
) -> list[IncidentPredicate]:
    """Return the predicates that best describe a node: near ones first, then frequent ones."""
    ranks = {iri: at for at, iri in enumerate(near)}
    direct = {first for first, *_ in variants.group(incident.predicate for incident in incidents)}

    def get_sort_key(incident: IncidentPredicate) -> tuple[int, int, int]:
        profile = variants.profiles.get(incident.predicate)
        rank = ranks.get(incident.predicate, len(ranks))
        return rank, -incident.count, -profile.triples if profile else 0

    informative = [
        incident
        for incident in incidents
        if incident.predicate in direct
        and incident.predicate not in v.DESCRIPTION_PREDICATES
        and (is_text or incident.predicate not in USUAL_PREDICATES)
        and (
            is_text or not incident.inverse or not incident.predicate.startswith(SCHEMA_NAMESPACES)
        )
    ]
    return sorted(informative, key=get_sort_key)[:_MAX_HINTS]


async def _build_writer(
    context: Context, hits: Sequence[SearchHit], further_iris: Iterable[str]
) -> TermWriter:
    """Return a writer with all labels; an index of a remote graph knows those of its hits."""
    hit_iris = [get_term_key(hit.term) for hit in hits if isinstance(hit.term, NamedNode)]
    known_labels = {
        hit.resource.iri: hit.resource.label
        for hit in hits
        if hit.resource is not None and context.graph.arrays is None
    }
    missing_iris = [
        iri for iri in dict.fromkeys([*hit_iris, *further_iris]) if iri not in known_labels
    ]
    labels = await fetch_labels(context, missing_iris)
    return TermWriter(context, {**known_labels, **labels})
