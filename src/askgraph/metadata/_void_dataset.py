"""One dataset of VoID, or one linkset: its divisions by class and property, as they nest."""

from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace

from pyoxigraph import Literal, NamedNode

from askgraph import metadata as parts
from askgraph.metadata import ClassProfile, Part, Partition, PredicateProfile, Profile
from askgraph.metadata.names import standard_naming
from askgraph.metadata.partitions import sorted_counts
from askgraph.rdf import vocabulary as v
from askgraph.rdf.statements import Node, Statements

__all__ = [
    "OWN",
    "SPACE",
    "dataset_profile",
    "links_between",
    "own_parts",
    "own_profile",
]

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


SPACE = "urn:askgraph:terms#"


@dataclass(frozen=True)
class _Terms:
    """IRIs of the terms of our own.

    Of a dataset: `cut`, a text; `part`, a node with `seen`, `total` and a comment. Of a class:
    `name_predicate` and `nary`. Of a predicate: `naming`. Of a partition: `sampled`.
    """

    cut: str = SPACE + "cut"
    part: str = SPACE + "part"
    name: str = SPACE + "name"
    seen: str = SPACE + "seen"
    total: str = SPACE + "total"
    name_predicate: str = SPACE + "namePredicate"
    nary: str = SPACE + "nary"
    naming: str = SPACE + "naming"
    sampled: str = SPACE + "sampled"
    prefix: str = SPACE + "prefix"


OWN = _Terms()


def own_parts(described: Statements) -> tuple[Part, ...]:
    """Return the statements of completeness."""
    found = []
    for node in described.holding(OWN.seen):
        seen, total = described.number(node, OWN.seen) or 0, described.number(node, OWN.total)
        notes = described.texts(node, v.RDFS_COMMENT)
        note = notes[0][0] if notes else ""
        found += [Part(name, seen, total, note) for name, _ in described.texts(node, OWN.name)]
    return tuple(found)


def own_profile(described: Statements, profile: Profile) -> Profile:
    """The profile with all that is said of it in terms of our own."""
    cuts = [
        text for node in described.holding(OWN.cut) for text, _ in described.texts(node, OWN.cut)
    ]
    created = [
        text
        for node in described.holding(v.DCTERMS_CREATED)
        for text, _ in described.texts(node, v.DCTERMS_CREATED)
    ]
    sources = [
        term.value
        for node in described.holding(v.DCTERMS_SOURCE, v.VOID_SPARQL_ENDPOINT)
        for term in described.objects(node, v.DCTERMS_SOURCE, v.VOID_SPARQL_ENDPOINT)
        if isinstance(term, NamedNode | Literal)
    ]
    prefixes = _prefixes(described)
    return replace(
        profile,
        classes=tuple(_class_node(described, one) for one in profile.classes),
        predicates=tuple(_predicate_node(described, one) for one in profile.predicates),
        cuts=tuple(cuts) or profile.cuts,
        created=min(created, default=profile.created),
        source=profile.source or min(sources, default=""),
        prefixes=prefixes if SPACE in described.prefixes.values() else profile.prefixes,
    )


def _all_texts(described: Statements, predicate: str) -> list[str]:
    holders = described.holding(predicate)
    return [text for node in holders for text, _ in described.texts(node, predicate)]


def _class_node(described: Statements, cls: ClassProfile) -> ClassProfile:
    node = NamedNode(cls.iri)
    return replace(
        cls,
        name_predicate=described.iri(node, OWN.name_predicate) or cls.name_predicate,
        nary=bool(described.objects(node, OWN.nary)) or cls.nary,
    )


def _predicate_node(described: Statements, predicate: PredicateProfile) -> PredicateProfile:
    told = described.texts(NamedNode(predicate.iri), OWN.naming)
    return replace(predicate, naming=told[0][0]) if told else predicate


def _prefixes(described: Statements) -> tuple[tuple[str, str], ...]:
    found = set()
    for node in described.holding(OWN.prefix):
        for declared in described.nodes(node, OWN.prefix):
            names = described.texts(declared, v.SH_PREFIX)
            spaces = described.texts(declared, v.SH_NAMESPACE)
            if names and spaces:
                found.add((names[0][0], spaces[0][0]))
    return tuple(sorted(found))
