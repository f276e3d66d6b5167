"""One dataset of VoID, or one linkset: its divisions by class and property, as they nest."""

from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from pyoxigraph import NamedNode

from askgraph.metadata import ClassProfile, Part, Partition, PredicateProfile, Profile
from askgraph.metadata import completeness as parts
from askgraph.metadata.naming import standard_naming
from askgraph.metadata.partitions import sorted_counts
from askgraph.metadata.void_terms import OWN
from askgraph.rdf import vocabulary as v
from askgraph.rdf.statements import Node, Statements

__all__ = ["dataset_profile", "links_between"]

Counts = tuple[tuple[str, int], ...]


@dataclass
class _Dataset:
    """What one dataset tells so far."""

    classes: dict[str, int] = field(default_factory=dict)
    predicates: dict[str, PredicateProfile] = field(default_factory=dict)
    partitions: dict[tuple[str, str], Partition] = field(default_factory=dict)


def dataset_profile(described: Statements, nodes: Sequence[Node]) -> Profile:
    """Return what these nodes tell together: one dataset, or class partitions without any."""
    found = _Dataset()
    for node in nodes:
        own = (node,) if described.iri(node, v.VOID_CLASS) else ()
        for part in (*own, *described.nodes(node, v.VOID_CLASS_PARTITION)):
            _read_class(described, part, found)
        for part in described.nodes(node, v.VOID_PROPERTY_PARTITION) if not own else ():
            iri = described.iri(part, v.VOID_PROPERTY)
            if iri is not None:
                found.predicates[iri] = _predicate(described, part, iri)
    triples = max((described.number(node, v.VOID_TRIPLES) or 0 for node in nodes), default=0)
    return Profile(
        triples=triples,
        classes=tuple(_class(described, iri, n) for iri, n in found.classes.items()),
        predicates=tuple(found.predicates.values()),
        partitions=tuple(found.partitions.values()),
        completeness=_declared(described, nodes[0], found, triples),
    )


def _read_class(described: Statements, part: Node, found: _Dataset) -> None:
    cls = described.iri(part, v.VOID_CLASS)
    if cls is None:
        return
    entities = described.number(part, v.VOID_ENTITIES) or 0
    found.classes[cls] = max(entities, found.classes.get(cls, 0))
    for node in described.nodes(part, v.VOID_PROPERTY_PARTITION):
        predicate = described.iri(node, v.VOID_PROPERTY)
        if predicate is None:
            continue
        found.partitions[cls, predicate] = Partition(
            cls,
            predicate,
            described.number(node, v.VOID_TRIPLES) or 0,
            described.number(node, v.VOID_DISTINCT_SUBJECTS) or 0,
            described.number(node, v.VOID_DISTINCT_OBJECTS) or 0,
            _targets(described, node, v.VOID_TRIPLES),
            _counted(described, node, v.VOID_EXT_DATATYPE_PARTITION, v.VOID_EXT_DATATYPE),
            sampled=bool(described.objects(node, OWN.sampled)),
        )


def _class(described: Statements, iri: str, instances: int) -> ClassProfile:
    node = NamedNode(iri)
    parents = described.objects(node, v.RDFS_SUB_CLASS_OF)
    return ClassProfile(
        iri,
        instances,
        names=_names(described, node),
        parents=tuple(t.value for t in parents if isinstance(t, NamedNode)),
    )


def _predicate(described: Statements, part: Node, iri: str) -> PredicateProfile:
    node = NamedNode(iri)
    datatypes = _counted(described, part, v.VOID_EXT_DATATYPE_PARTITION, v.VOID_EXT_DATATYPE)
    inverse = described.objects(node, v.OWL_INVERSE_OF)
    kinds = described.nodes(node, v.RDF_TYPE)
    return PredicateProfile(
        iri,
        triples=described.number(part, v.VOID_TRIPLES) or 0,
        subjects=described.number(part, v.VOID_DISTINCT_SUBJECTS) or 0,
        objects=described.number(part, v.VOID_DISTINCT_OBJECTS) or 0,
        names=_names(described, node),
        object_classes=_targets(described, part, v.VOID_ENTITIES),
        datatypes=datatypes,
        languages=_languages(described, part),
        naming=standard_naming(iri) if datatypes else "",
        transitive=NamedNode(v.OWL_TRANSITIVE_PROPERTY) in kinds,
        inverse_of=tuple(t.value for t in inverse if isinstance(t, NamedNode)),
    )


def _names(described: Statements, node: NamedNode) -> tuple[tuple[str, str], ...]:
    first = described.texts(node, *v.LABEL_PREDICATES)
    return tuple(dict.fromkeys((*first, *described.texts(node, *v.ALTERNATIVE_LABEL_PREDICATES))))


def _targets(described: Statements, part: Node, size: str) -> Counts:
    counts: Counter[str] = Counter()
    for node in described.nodes(part, v.VOID_CLASS_PARTITION):
        iri = described.iri(node, v.VOID_CLASS)
        if iri is not None:
            number = described.number(node, size)
            counts[iri] += number or described.number(node, v.VOID_TRIPLES) or 0
    return sorted_counts(counts)


def _counted(described: Statements, part: Node, division: str, kind: str) -> Counts:
    counts: Counter[str] = Counter()
    for node in described.nodes(part, division):
        iri = described.iri(node, kind)
        if iri is not None:
            counts[iri] += described.number(node, v.VOID_TRIPLES) or 0
    return sorted_counts(counts)


def _languages(described: Statements, part: Node) -> Counts:
    counts: Counter[str] = Counter()
    for node in described.nodes(part, v.VOID_EXT_LANGUAGE_PARTITION):
        for tag, _ in described.texts(node, v.VOID_EXT_LANGUAGE):
            counts[tag] += described.number(node, v.VOID_TRIPLES) or 0
    return sorted_counts(counts)


def links_between(described: Statements) -> list[Partition]:
    """Return what linksets say that leads from a class to a class."""
    targets: dict[tuple[str, str], Counter[str]] = defaultdict(Counter)
    for node in described.holding(v.VOID_LINK_PREDICATE):
        predicate = described.iri(node, v.VOID_LINK_PREDICATE)
        number = described.number(node, v.VOID_TRIPLES) or 0
        for source in _sides(described, node, v.VOID_SUBJECTS_TARGET):
            for target in _sides(described, node, v.VOID_OBJECTS_TARGET):
                if predicate is not None:
                    targets[source, predicate][target] += number
    return [
        Partition(cls, predicate, counts.total(), targets=sorted_counts(counts))
        for (cls, predicate), counts in sorted(targets.items())
    ]


def _sides(described: Statements, linkset: Node, side: str) -> Iterator[str]:
    for node in described.nodes(linkset, side):
        iri = described.iri(node, v.VOID_CLASS)
        if iri is not None:
            yield iri


def _declared(described: Statements, node: Node, found: _Dataset, triples: int) -> tuple[Part, ...]:
    """What one dataset declares of its size, beside what is listed of it."""
    counted = sum(p.triples for p in found.predicates.values())
    classes = described.number(node, v.VOID_CLASSES)
    properties = described.number(node, v.VOID_PROPERTIES)
    if properties is None and triples and counted >= triples:
        properties = len(found.predicates)
    return (
        Part(parts.TRIPLES, min(counted, triples) if triples else counted, triples or None),
        Part(parts.CLASSES, len(found.classes), classes),
        Part(parts.PREDICATES, len(found.predicates), properties),
    )
