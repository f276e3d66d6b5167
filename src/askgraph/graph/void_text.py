"""Serialize a profile as VoID, so that other tools can read its statistics.

The output is deterministic. IRIs of partitions are hashes of their keys. Facts beyond VoID use our
own vocabulary; `parse_void` reads everything back.
"""

import hashlib
from collections.abc import Iterator, Sequence

from pyoxigraph import Literal, NamedNode, RdfFormat, Triple, serialize

from askgraph.graph import profile as parts
from askgraph.graph.void import OWN_NAMESPACE, OwnTerms
from askgraph.sparql import vocabulary as v

_PREFIXES = {
    "void": v.VOID, "void-ext": v.VOID_EXT, "sd": v.SD, "rdfs": v.RDFS, "owl": v.OWL,
    "skos": v.SKOS, "sh": v.SH, "xsd": v.XSD, "dcterms": v.DCTERMS, "ask": OWN_NAMESPACE,
}  # fmt: skip
Counts = tuple[tuple[str, int], ...]


def serialize_void(profile: parts.Profile, *, dataset: str = "urn:askgraph:dataset") -> str:
    """Serialize a profile as VoID in Turtle; `dataset` is the IRI of the described dataset."""
    triples = list(_VoidWriter(dataset).build_triples(parts.sort_profile(profile)))
    text = (serialize(triples, format=RdfFormat.TURTLE, prefixes=_PREFIXES) or b"").decode()
    lines = text.splitlines(keepends=True)
    head = len(_PREFIXES)  # their order differs from one call to the next
    return "".join([*sorted(lines[:head]), *lines[head:]])


class _VoidWriter:
    def __init__(self, dataset: str) -> None:
        self._base = dataset
        self._dataset = NamedNode(dataset)

    def build_triples(self, profile: parts.Profile) -> Iterator[Triple]:
        """Yield all triples, the dataset first."""
        node = self._dataset
        source = profile.source
        endpoint = source.startswith(("http://", "https://"))
        yield from _describe_node(
            node,
            (v.RDF_TYPE, NamedNode(v.VOID_DATASET)),
            (v.VOID_SPARQL_ENDPOINT, NamedNode(source) if endpoint else None),
            (v.DCTERMS_SOURCE, None if endpoint else source or None),
            (v.DCTERMS_CREATED, profile.created or None),
            (v.VOID_TRIPLES, profile.triples),
            (v.VOID_CLASSES, self._get_total(profile, parts.CLASSES)),
            (v.VOID_PROPERTIES, self._get_total(profile, parts.PREDICATES)),
        )
        yield from _describe_node(node, *((OwnTerms.cut, cut) for cut in profile.cuts))
        divisions = (
            (v.SD_NAMED_GRAPH, "graph", [graph for graph, _ in profile.graphs]),
            (OwnTerms.part, "known", [part.name for part in profile.completeness]),
            (OwnTerms.prefix, "prefix", [prefix for prefix, _ in profile.prefixes]),
            (v.VOID_CLASS_PARTITION, "class", _list_classes(profile)),
            (v.VOID_PROPERTY_PARTITION, "property", [p.iri for p in profile.predicates]),
        )
        for division, kind, names in divisions:
            yield from _describe_node(
                node, *((division, self._make_part_node(kind, name)) for name in names)
            )
        for graph, number in profile.graphs:
            yield from self._build_graph(graph, number)
        for part in profile.completeness:
            node = self._make_part_node("known", part.name)
            yield from _describe_node(node, (OwnTerms.name, part.name), (OwnTerms.seen, part.seen))
            yield from _describe_node(
                node, (OwnTerms.total, part.total), (v.RDFS_COMMENT, part.note or None)
            )
        for prefix, space in profile.prefixes:
            node = self._make_part_node("prefix", prefix)
            yield from _describe_node(node, (v.SH_PREFIX, prefix), (v.SH_NAMESPACE, space))
        by_class: dict[str, list[parts.Partition]] = {c.iri: [] for c in profile.classes}
        for partition in profile.partitions:
            by_class.setdefault(partition.cls, []).append(partition)
        profiled_classes = {c.iri: c for c in profile.classes}
        for iri, partitions in by_class.items():
            yield from self._build_class(
                profiled_classes.get(iri, parts.ClassProfile(iri, 0)), partitions
            )
        for predicate in profile.predicates:
            yield from self._build_predicate(predicate)

    def _get_total(self, profile: parts.Profile, name: str) -> int | None:
        return next((part.total for part in profile.completeness if part.name == name), None)

    def _build_graph(self, graph: str, number: int) -> Iterator[Triple]:
        node, content = self._make_part_node("graph", graph), self._make_part_node("content", graph)
        yield from _describe_node(
            node,
            (v.RDF_TYPE, NamedNode(v.SD_NAMED_GRAPH_CLASS)),
            (v.SD_NAME, NamedNode(graph)),
            (v.SD_GRAPH, content),
        )
        yield from _describe_node(content, (v.VOID_TRIPLES, number))

    def _build_class(
        self, cls: parts.ClassProfile, partitions: Sequence[parts.Partition]
    ) -> Iterator[Triple]:
        node = self._make_part_node("class", cls.iri)
        class_node = NamedNode(cls.iri)
        yield from _describe_node(
            node, (v.VOID_CLASS, class_node), (v.VOID_ENTITIES, cls.instances)
        )
        part_nodes = [
            self._make_part_node("property", partition.cls, partition.predicate)
            for partition in partitions
        ]
        yield from _describe_node(node, *((v.VOID_PROPERTY_PARTITION, part) for part in part_nodes))
        for part, partition in zip(part_nodes, partitions, strict=True):
            yield from _describe_node(
                part,
                (v.VOID_PROPERTY, NamedNode(partition.predicate)),
                (v.VOID_TRIPLES, partition.triples),
                (v.VOID_DISTINCT_SUBJECTS, partition.subjects or None),
                (v.VOID_DISTINCT_OBJECTS, partition.objects or None),
                (OwnTerms.sampled, "true" if partition.sampled else None),
            )
            key = (partition.cls, partition.predicate)
            yield from self._build_targets(part, key, partition.targets, size=v.VOID_TRIPLES)
            yield from self._build_datatypes(part, key, partition.datatypes)
        yield from _build_names(class_node, cls.names)
        yield from _describe_node(
            class_node, *((v.RDFS_SUB_CLASS_OF, NamedNode(iri)) for iri in cls.parents)
        )
        name_predicate = NamedNode(cls.name_predicate) if cls.name_predicate else None
        yield from _describe_node(
            class_node,
            (OwnTerms.name_predicate, name_predicate),
            (OwnTerms.nary, "true" if cls.nary else None),
        )

    def _build_predicate(self, p: parts.PredicateProfile) -> Iterator[Triple]:
        node = self._make_part_node("property", p.iri)
        yield from _describe_node(
            node,
            (v.VOID_PROPERTY, NamedNode(p.iri)),
            (v.VOID_TRIPLES, p.triples),
            (v.VOID_DISTINCT_SUBJECTS, p.subjects or None),
            (v.VOID_DISTINCT_OBJECTS, p.objects or None),
        )
        yield from self._build_targets(node, (p.iri,), p.object_classes, size=v.VOID_ENTITIES)
        yield from self._build_datatypes(node, (p.iri,), p.datatypes)
        for tag, number in p.languages:
            part = self._make_part_node("language", p.iri, tag)
            yield from _describe_node(node, (v.VOID_EXT_LANGUAGE_PARTITION, part))
            yield from _describe_node(part, (v.VOID_EXT_LANGUAGE, tag), (v.VOID_TRIPLES, number))
        predicate_node = NamedNode(p.iri)
        yield from _build_names(predicate_node, p.names)
        kind = NamedNode(v.OWL_TRANSITIVE_PROPERTY) if p.transitive else None
        yield from _describe_node(
            predicate_node, (v.RDF_TYPE, kind), (OwnTerms.naming, p.naming or None)
        )
        yield from _describe_node(
            predicate_node, *((v.OWL_INVERSE_OF, NamedNode(iri)) for iri in p.inverse_of)
        )

    def _build_targets(
        self, node: NamedNode, key: tuple[str, ...], counts: Counts, *, size: str
    ) -> Iterator[Triple]:
        for iri, number in counts:
            part = self._make_part_node("target", *key, iri)
            yield from _describe_node(node, (v.VOID_CLASS_PARTITION, part))
            yield from _describe_node(part, (v.VOID_CLASS, NamedNode(iri)), (size, number or None))

    def _build_datatypes(
        self, node: NamedNode, key: tuple[str, ...], counts: Counts
    ) -> Iterator[Triple]:
        for iri, number in counts:
            part = self._make_part_node("datatype", *key, iri)
            yield from _describe_node(node, (v.VOID_EXT_DATATYPE_PARTITION, part))
            kind = (v.VOID_EXT_DATATYPE, NamedNode(iri))
            yield from _describe_node(part, kind, (v.VOID_TRIPLES, number or None))

    def _make_part_node(self, kind: str, *names: str) -> NamedNode:
        digest = hashlib.sha256("\n".join(names).encode()).hexdigest()[:16]
        return NamedNode(f"{self._base}#{kind}-{digest}")


def _list_classes(profile: parts.Profile) -> list[str]:
    iris = [c.iri for c in profile.classes]
    return list(dict.fromkeys((*iris, *(partition.cls for partition in profile.partitions))))


def _build_names(node: NamedNode, names: Sequence[tuple[str, str]]) -> Iterator[Triple]:
    first = parts.select_first_names(names)
    for text, language in names:
        predicate = v.RDFS_LABEL if (text, language) in first else v.SKOS_ALT_LABEL
        literal = Literal(text, language=language) if language else Literal(text)
        yield Triple(node, NamedNode(predicate), literal)


def _describe_node(
    node: NamedNode, *statements: tuple[str, NamedNode | str | int | None]
) -> Iterator[Triple]:
    for predicate, value in statements:
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
