"""VoID read into a profile: a publisher's own account of a graph.

VoID (https://www.w3.org/TR/void/) divides a dataset by class and by property; generators nest
these, class within property within class, and add datatypes by the `void-ext` vocabulary. Several
datasets (the named graphs of an endpoint) are read one by one and put together.
"""

from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import reduce

from pyoxigraph import Literal, NamedNode

from askgraph.graph import profile as parts
from askgraph.graph.names import standard_naming
from askgraph.graph.profile import (
    ClassProfile,
    Part,
    Partition,
    PredicateProfile,
    Profile,
    merged,
    ordered,
    sorted_counts,
    united,
)
from askgraph.sparql import vocabulary as v
from askgraph.sparql.rdf_files import Node, Statements

VOID_PREDICATES = (
    v.VOID_TRIPLES,
    v.VOID_CLASSES,
    v.VOID_PROPERTIES,
    v.VOID_ENTITIES,
    v.VOID_DISTINCT_SUBJECTS,
    v.VOID_DISTINCT_OBJECTS,
    v.VOID_CLASS,
    v.VOID_PROPERTY,
    v.VOID_CLASS_PARTITION,
    v.VOID_PROPERTY_PARTITION,
    v.VOID_SUBSET,
    v.VOID_LINK_PREDICATE,
    v.VOID_SUBJECTS_TARGET,
    v.VOID_OBJECTS_TARGET,
    v.VOID_EXT_DATATYPE,
    v.VOID_EXT_DATATYPE_PARTITION,
    v.VOID_EXT_LANGUAGE,
    v.VOID_EXT_LANGUAGE_PARTITION,
    v.SD_DEFAULT_GRAPH,
    v.SD_NAME,
    v.SD_GRAPH,
)
"""Predicates whose triples are all that is read of another's VoID, but for labels."""

Counts = tuple[tuple[str, int], ...]


def profile_of_void(described: Statements, *, source: str = "") -> Profile | None:
    """Return the profile that VoID describes; None if it divides nothing by class or property.

    Numbers that it does not give are 0. Named graphs and subsets are added up; what is said of the
    whole is believed before their sum. Completeness is measured against the numbers of triples,
    classes and properties that the VoID itself declares.
    """
    roots = _roots(described)
    inner = _objects(described, v.SD_GRAPH, v.VOID_SUBSET)
    same = _objects(described, v.SD_DEFAULT_GRAPH)
    outer = [dataset_profile(described, [root]) for root in roots if root not in inner | same]
    default = [dataset_profile(described, [root]) for root in roots if root in same]
    nested = [dataset_profile(described, [root]) for root in roots if root in inner]
    held = _objects(described, v.VOID_CLASS_PARTITION)
    divided = described.holding(v.VOID_PROPERTY_PARTITION)
    loose = [
        node
        for node in divided
        if node not in held and described.iri(node, v.VOID_CLASS) is not None
    ]
    links = links_between(described)
    accounts = [united(some) for some in (outer, default, nested) if some]
    accounts += [dataset_profile(described, loose)] if loose else []
    accounts += [Profile(0, (), (), partitions=tuple(links))] if links else []
    profile = reduce(merged, accounts, Profile(0, (), ()))
    classes = {c.iri: c for c in profile.classes}
    predicates = {p.iri: p for p in profile.predicates}
    by_predicate: dict[str, list[Partition]] = defaultdict(list)
    for one in profile.partitions:
        classes.setdefault(one.cls, ClassProfile(one.cls, one.subjects))
        by_predicate[one.predicate].append(one)
    for iri, some in by_predicate.items():
        most = max(one.triples for one in some)
        known = predicates.get(iri, PredicateProfile(iri, most, 0, 0))
        predicates[iri] = replace(
            known,
            subject_classes=sorted_counts(Counter({x.cls: x.subjects or x.triples for x in some})),
            object_classes=known.object_classes or _added(one.targets for one in some),
            datatypes=known.datatypes or _added(one.datatypes for one in some),
        )
    named = {
        iri: replace(p, naming=p.naming or (standard_naming(iri) if p.datatypes else ""))
        for iri, p in predicates.items()
    }
    triples = profile.triples or sum(p.triples for p in named.values())
    whole = replace(
        profile,
        triples=triples,
        classes=tuple(classes.values()),
        predicates=tuple(named.values()),
        languages=profile.languages or _added(p.languages for p in named.values()),
    )
    if not (whole.classes or whole.predicates):
        return None
    whole = replace(
        whole,
        source=source or whole.source,
        graphs=_graphs(described),
        prefixes=tuple(sorted(described.prefixes.items())),
    )
    return ordered(own_profile(described, _measured(described, whole)))


def _objects(described: Statements, *predicates: str) -> set[Node]:
    return {
        node for subject in described.subjects for node in described.nodes(subject, *predicates)
    }


def _roots(described: Statements) -> list[Node]:
    """Datasets: what is divided, or has a size, and is no division itself."""
    whole = described.holding(v.VOID_CLASS_PARTITION, v.VOID_PROPERTY_PARTITION, v.VOID_TRIPLES)
    part = set(
        described.holding(
            v.VOID_CLASS,
            v.VOID_PROPERTY,
            v.VOID_LINK_PREDICATE,
            v.VOID_EXT_DATATYPE,
            v.VOID_EXT_LANGUAGE,
        )
    )
    return [node for node in whole if node not in part]


def _added(listed: Iterator[Counts]) -> Counts:
    total: Counter[str] = Counter()
    for counts in listed:
        for name, number in counts:
            total[name] += number
    return sorted_counts(total)


def _graphs(described: Statements) -> Counts:
    counts: Counter[str] = Counter()
    for node in described.holding(v.SD_NAME):
        name = described.iri(node, v.SD_NAME)
        sizes = [
            described.number(g, v.VOID_TRIPLES) or 0 for g in described.nodes(node, v.SD_GRAPH)
        ]
        if name is not None:
            counts[name] = max([*sizes, counts[name]])
    return sorted_counts(counts)


def _measured(described: Statements, profile: Profile) -> Profile:
    """Return the profile with the completeness that it states, or else that can be measured."""
    if stated := own_parts(described):
        return replace(profile, completeness=parts.with_parts(stated, {}))
    divided = {one.cls for one in profile.partitions}
    ended = sum(bool(one.targets or one.datatypes) for one in profile.partitions)
    named = sum(bool(c.names) for c in profile.classes)
    named += sum(bool(p.names) for p in profile.predicates)
    schema = len(profile.classes) + len(profile.predicates)
    found = {
        parts.GRAPHS: Part(parts.GRAPHS, len(profile.graphs), None),
        parts.COUNTS: Part(
            parts.COUNTS, sum(p.triples > 0 for p in profile.predicates), len(profile.predicates)
        ),
        parts.PARTITIONS: Part(parts.PARTITIONS, len(divided), len(profile.classes)),
        parts.ENDS: Part(parts.ENDS, ended, len(profile.partitions)),
        parts.LABELS: Part(parts.LABELS, named, None if named < schema else schema),
    }
    declared = {part.name: part for part in profile.completeness}
    counted = declared[parts.TRIPLES].seen if parts.TRIPLES in declared else 0
    found[parts.TRIPLES] = Part(parts.TRIPLES, counted, profile.triples)
    return replace(profile, completeness=parts.with_parts(profile.completeness, found))


@dataclass
class _Dataset:
    """The parts of one dataset read so far."""

    classes: dict[str, int] = field(default_factory=dict)
    predicates: dict[str, PredicateProfile] = field(default_factory=dict)
    partitions: dict[tuple[str, str], Partition] = field(default_factory=dict)


def dataset_profile(described: Statements, nodes: Sequence[Node]) -> Profile:
    """Return the profile of these nodes together: one dataset, or class partitions without any."""
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
            _datatypes(described, node),
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
    datatypes = _datatypes(described, part)
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
    return _counted(described, part, v.VOID_CLASS_PARTITION, v.VOID_CLASS, size)


def _datatypes(described: Statements, part: Node) -> Counts:
    return _counted(described, part, v.VOID_EXT_DATATYPE_PARTITION, v.VOID_EXT_DATATYPE)


def _counted(
    described: Statements, part: Node, division: str, kind: str, size: str = v.VOID_TRIPLES
) -> Counts:
    counts: Counter[str] = Counter()
    for node in described.nodes(part, division):
        iri = described.iri(node, kind)
        if iri is not None:
            counts[iri] += (
                described.number(node, size) or described.number(node, v.VOID_TRIPLES) or 0
            )
    return sorted_counts(counts)


def _languages(described: Statements, part: Node) -> Counts:
    counts: Counter[str] = Counter()
    for node in described.nodes(part, v.VOID_EXT_LANGUAGE_PARTITION):
        for tag, _ in described.texts(node, v.VOID_EXT_LANGUAGE):
            counts[tag] += described.number(node, v.VOID_TRIPLES) or 0
    return sorted_counts(counts)


def links_between(described: Statements) -> list[Partition]:
    """Return the links from class to class that linksets state."""
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
    """Return the sizes that one dataset declares, beside those listed of it."""
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


class OWN:
    """IRIs of the terms of our own.

    Of a dataset: `cut`, a text; `part`, a node with `seen`, `total` and a comment. Of a class:
    `name_predicate` and `nary`. Of a predicate: `naming`. Of a partition: `sampled`.
    """

    cut = SPACE + "cut"
    part = SPACE + "part"
    name = SPACE + "name"
    seen = SPACE + "seen"
    total = SPACE + "total"
    name_predicate = SPACE + "namePredicate"
    nary = SPACE + "nary"
    naming = SPACE + "naming"
    sampled = SPACE + "sampled"
    prefix = SPACE + "prefix"


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
    """Return the profile with all statements about it in our own terms."""
    cuts = _all_texts(described, OWN.cut)
    created = _all_texts(described, v.DCTERMS_CREATED)
    sources = [
        term.value
        for node in described.holding(v.DCTERMS_SOURCE, v.VOID_SPARQL_ENDPOINT)
        for term in described.objects(node, v.DCTERMS_SOURCE, v.VOID_SPARQL_ENDPOINT)
        if isinstance(term, NamedNode | Literal)
    ]
    found = set()
    for node in described.holding(OWN.prefix):
        for declared in described.nodes(node, OWN.prefix):
            names = described.texts(declared, v.SH_PREFIX)
            spaces = described.texts(declared, v.SH_NAMESPACE)
            if names and spaces:
                found.add((names[0][0], spaces[0][0]))
    prefixes = tuple(sorted(found))
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
