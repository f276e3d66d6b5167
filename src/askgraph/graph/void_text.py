"""A profile written as VoID, so that others can read what we counted.

The same profile gives the same bytes. Partitions have IRIs made from what they divide by. What
VoID cannot say is stated in terms of our own; `profile_of_void` reads it all back.
"""

import hashlib
from collections.abc import Iterator, Sequence

from pyoxigraph import Literal, NamedNode, RdfFormat, Triple, serialize

from askgraph.graph import profile as parts
from askgraph.graph.profile import (
    ClassProfile,
    Partition,
    PredicateProfile,
    Profile,
    first_names,
    ordered,
)
from askgraph.graph.void import OWN, SPACE
from askgraph.sparql import vocabulary as v

_PREFIXES = {
    "void": v.VOID,
    "void-ext": v.VOID_EXT,
    "sd": v.SD,
    "rdfs": v.RDFS,
    "owl": v.OWL,
    "skos": v.SKOS,
    "sh": v.SH,
    "xsd": v.XSD,
    "dcterms": v.DCTERMS,
    "ask": SPACE,
}
Counts = tuple[tuple[str, int], ...]


def void_of(profile: Profile, *, dataset: str = "urn:askgraph:dataset") -> str:
    """Return a profile as VoID in Turtle; `dataset` is the IRI of what is described."""
    writer = _Writer(dataset)
    triples = list(writer.triples(ordered(profile)))
    text = (serialize(triples, format=RdfFormat.TURTLE, prefixes=_PREFIXES) or b"").decode()
    lines = text.splitlines(keepends=True)
    head = len(_PREFIXES)  # their order differs from one call to the next
    return "".join([*sorted(lines[:head]), *lines[head:]])


class _Writer:
    """Makes the triples, those of one subject together."""

    def __init__(self, dataset: str) -> None:
        self._base = dataset
        self._dataset = NamedNode(dataset)

    def triples(self, profile: Profile) -> Iterator[Triple]:
        """Yield all triples, the dataset first."""
        yield from self._head(profile)
        for graph, number in profile.graphs:
            yield from self._graph(graph, number)
        for part in profile.completeness:
            node = self._part("known", part.name)
            yield from _about(node, (OWN.name, part.name), (OWN.seen, part.seen))
            yield from _about(node, (OWN.total, part.total), (v.RDFS_COMMENT, part.note or None))
        for prefix, space in profile.prefixes:
            node = self._part("prefix", prefix)
            yield from _about(node, (v.SH_PREFIX, prefix), (v.SH_NAMESPACE, space))
        by_class: dict[str, list[Partition]] = {c.iri: [] for c in profile.classes}
        for one in profile.partitions:
            by_class.setdefault(one.cls, []).append(one)
        known = {c.iri: c for c in profile.classes}
        for iri, some in by_class.items():
            yield from self._class(known.get(iri, ClassProfile(iri, 0)), some)
        for predicate in profile.predicates:
            yield from self._predicate(predicate)

    def _head(self, profile: Profile) -> Iterator[Triple]:
        node = self._dataset
        source = profile.source
        endpoint = source.startswith(("http://", "https://"))
        yield from _about(
            node,
            (v.RDF_TYPE, NamedNode(v.VOID_DATASET)),
            (v.VOID_SPARQL_ENDPOINT, NamedNode(source) if endpoint else None),
            (v.DCTERMS_SOURCE, None if endpoint else source or None),
            (v.DCTERMS_CREATED, profile.created or None),
            (v.VOID_TRIPLES, profile.triples),
            (v.VOID_CLASSES, self._total(profile, parts.CLASSES)),
            (v.VOID_PROPERTIES, self._total(profile, parts.PREDICATES)),
        )
        yield from _about(node, *((OWN.cut, cut) for cut in profile.cuts))
        divisions = (
            (v.SD_NAMED_GRAPH, "graph", [graph for graph, _ in profile.graphs]),
            (OWN.part, "known", [part.name for part in profile.completeness]),
            (OWN.prefix, "prefix", [prefix for prefix, _ in profile.prefixes]),
            (v.VOID_CLASS_PARTITION, "class", _classes(profile)),
            (v.VOID_PROPERTY_PARTITION, "property", [p.iri for p in profile.predicates]),
        )
        for division, kind, names in divisions:
            yield from _about(node, *((division, self._part(kind, name)) for name in names))

    def _total(self, profile: Profile, name: str) -> int | None:
        return next((part.total for part in profile.completeness if part.name == name), None)

    def _graph(self, graph: str, number: int) -> Iterator[Triple]:
        node, content = self._part("graph", graph), self._part("content", graph)
        yield from _about(
            node,
            (v.RDF_TYPE, NamedNode(v.SD_NAMED_GRAPH_CLASS)),
            (v.SD_NAME, NamedNode(graph)),
            (v.SD_GRAPH, content),
        )
        yield from _about(content, (v.VOID_TRIPLES, number))

    def _class(self, cls: ClassProfile, partitions: Sequence[Partition]) -> Iterator[Triple]:
        node = self._part("class", cls.iri)
        own = NamedNode(cls.iri)
        yield from _about(node, (v.VOID_CLASS, own), (v.VOID_ENTITIES, cls.instances))
        held = [self._part("property", one.cls, one.predicate) for one in partitions]
        yield from _about(node, *((v.VOID_PROPERTY_PARTITION, part) for part in held))
        for part, one in zip(held, partitions, strict=True):
            yield from _about(
                part,
                (v.VOID_PROPERTY, NamedNode(one.predicate)),
                (v.VOID_TRIPLES, one.triples),
                (v.VOID_DISTINCT_SUBJECTS, one.subjects or None),
                (v.VOID_DISTINCT_OBJECTS, one.objects or None),
                (OWN.sampled, "true" if one.sampled else None),
            )
            at = (one.cls, one.predicate)
            yield from self._targets(part, at, one.targets, size=v.VOID_TRIPLES)
            yield from self._datatypes(part, at, one.datatypes)
        yield from _names(own, cls.names)
        yield from _about(own, *((v.RDFS_SUB_CLASS_OF, NamedNode(iri)) for iri in cls.parents))
        named = NamedNode(cls.name_predicate) if cls.name_predicate else None
        yield from _about(
            own, (OWN.name_predicate, named), (OWN.nary, "true" if cls.nary else None)
        )

    def _predicate(self, p: PredicateProfile) -> Iterator[Triple]:
        node = self._part("property", p.iri)
        yield from _about(
            node,
            (v.VOID_PROPERTY, NamedNode(p.iri)),
            (v.VOID_TRIPLES, p.triples),
            (v.VOID_DISTINCT_SUBJECTS, p.subjects or None),
            (v.VOID_DISTINCT_OBJECTS, p.objects or None),
        )
        yield from self._targets(node, (p.iri,), p.object_classes, size=v.VOID_ENTITIES)
        yield from self._datatypes(node, (p.iri,), p.datatypes)
        for tag, number in p.languages:
            part = self._part("language", p.iri, tag)
            yield from _about(node, (v.VOID_EXT_LANGUAGE_PARTITION, part))
            yield from _about(part, (v.VOID_EXT_LANGUAGE, tag), (v.VOID_TRIPLES, number))
        own = NamedNode(p.iri)
        yield from _names(own, p.names)
        kind = NamedNode(v.OWL_TRANSITIVE_PROPERTY) if p.transitive else None
        yield from _about(own, (v.RDF_TYPE, kind), (OWN.naming, p.naming or None))
        yield from _about(own, *((v.OWL_INVERSE_OF, NamedNode(iri)) for iri in p.inverse_of))

    def _targets(
        self, node: NamedNode, at: tuple[str, ...], counts: Counts, *, size: str
    ) -> Iterator[Triple]:
        for iri, number in counts:
            part = self._part("target", *at, iri)
            yield from _about(node, (v.VOID_CLASS_PARTITION, part))
            yield from _about(part, (v.VOID_CLASS, NamedNode(iri)), (size, number or None))

    def _datatypes(self, node: NamedNode, at: tuple[str, ...], counts: Counts) -> Iterator[Triple]:
        for iri, number in counts:
            part = self._part("datatype", *at, iri)
            yield from _about(node, (v.VOID_EXT_DATATYPE_PARTITION, part))
            kind = (v.VOID_EXT_DATATYPE, NamedNode(iri))
            yield from _about(part, kind, (v.VOID_TRIPLES, number or None))

    def _part(self, kind: str, *names: str) -> NamedNode:
        digest = hashlib.sha256("\n".join(names).encode()).hexdigest()[:16]
        return NamedNode(f"{self._base}#{kind}-{digest}")


def _classes(profile: Profile) -> list[str]:
    listed = [c.iri for c in profile.classes]
    return list(dict.fromkeys((*listed, *(one.cls for one in profile.partitions))))


def _names(node: NamedNode, names: Sequence[tuple[str, str]]) -> Iterator[Triple]:
    first = first_names(names)
    for text, language in names:
        predicate = v.RDFS_LABEL if (text, language) in first else v.SKOS_ALT_LABEL
        literal = Literal(text, language=language) if language else Literal(text)
        yield Triple(node, NamedNode(predicate), literal)


def _about(node: NamedNode, *told: tuple[str, NamedNode | str | int | None]) -> Iterator[Triple]:
    for predicate, value in told:
        match value:
            case None:
                continue
            case NamedNode():
                yield Triple(node, NamedNode(predicate), value)
            case int():
                number = Literal(str(value), datatype=NamedNode(v.XSD_INTEGER))
                yield Triple(node, NamedNode(predicate), number)
            case str():
                yield Triple(node, NamedNode(predicate), Literal(value))
