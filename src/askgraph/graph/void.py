"""VoID read into a profile: a publisher's own account of a graph.

VoID (https://www.w3.org/TR/void/) divides a dataset by class and by property; generators nest
these, class within property within class, and add datatypes by the `void-ext` vocabulary. Several
datasets (the named graphs of an endpoint) are read one by one and put together.
"""

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from functools import reduce

from pyoxigraph import Literal, NamedNode

from askgraph.graph import profile as parts
from askgraph.graph.profile import (
    ClassProfile,
    Counts,
    Part,
    Partition,
    PredicateProfile,
    Profile,
    merged,
    ordered,
    sorted_counts,
    standard_naming,
    united,
)
from askgraph.sparql import vocabulary as v
from askgraph.sparql.rdf_files import Node, Statements

VOID_PREDICATES = (
    v.VOID_TRIPLES, v.VOID_CLASSES, v.VOID_PROPERTIES, v.VOID_ENTITIES, v.VOID_DISTINCT_SUBJECTS,
    v.VOID_DISTINCT_OBJECTS, v.VOID_CLASS, v.VOID_PROPERTY, v.VOID_CLASS_PARTITION,
    v.VOID_PROPERTY_PARTITION, v.VOID_SUBSET, v.VOID_LINK_PREDICATE, v.VOID_SUBJECTS_TARGET,
    v.VOID_OBJECTS_TARGET, v.VOID_EXT_DATATYPE, v.VOID_EXT_DATATYPE_PARTITION, v.VOID_EXT_LANGUAGE,
    v.VOID_EXT_LANGUAGE_PARTITION, v.SD_DEFAULT_GRAPH, v.SD_NAME, v.SD_GRAPH,
)  # fmt: skip
"""Predicates whose triples are all that is read of another's VoID, but for labels."""


def profile_of_void(described: Statements, *, source: str = "") -> Profile | None:
    """Return the profile that VoID describes; None if it divides nothing by class or property.

    Numbers that it does not give are 0. Named graphs and subsets are added up; what is said of the
    whole is believed before their sum. Completeness is measured against the numbers of triples,
    classes and properties that the VoID itself declares.
    """
    accounts = list(_accounts(described))
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
            object_classes=known.object_classes or _add_counts(one.targets for one in some),
            datatypes=known.datatypes or _add_counts(one.datatypes for one in some),
        )
    if not (classes or predicates):
        return None
    named = [
        replace(p, naming=p.naming or (standard_naming(iri) if p.datatypes else ""))
        for iri, p in predicates.items()
    ]
    whole = replace(
        profile,
        triples=profile.triples or sum(p.triples for p in named),
        classes=tuple(classes.values()),
        predicates=tuple(named),
        languages=profile.languages or _add_counts(p.languages for p in named),
        source=source or profile.source,
        graphs=_graphs(described),
        prefixes=tuple(sorted(described.prefixes.items())),
    )
    return ordered(own_profile(described, _measured(described, whole)))


def _accounts(described: Statements) -> Iterator[Profile]:
    """Yield what is said of whole datasets, default graphs, the parts of these, and loose parts."""

    def objects(*predicates: str) -> set[Node]:
        return {n for subject in described.subjects for n in described.nodes(subject, *predicates)}

    roots, inner = _roots(described), objects(v.SD_GRAPH, v.VOID_SUBSET)
    same, held = objects(v.SD_DEFAULT_GRAPH), objects(v.VOID_CLASS_PARTITION)
    outer = [root for root in roots if root not in inner | same]
    for some in (outer, [r for r in roots if r in same], [r for r in roots if r in inner]):
        if some:
            yield united([dataset_profile(described, [root]) for root in some])
    divided = described.holding(v.VOID_PROPERTY_PARTITION)
    loose = [n for n in divided if n not in held and described.iri(n, v.VOID_CLASS) is not None]
    if loose:
        yield dataset_profile(described, loose)
    if links := links_between(described):
        yield Profile(0, (), (), partitions=tuple(links))


def _roots(described: Statements) -> list[Node]:
    """Datasets: what is divided, or has a size, and is no division itself."""
    part = set(
        described.holding(
        v.VOID_CLASS, v.VOID_PROPERTY, v.VOID_LINK_PREDICATE, v.VOID_EXT_DATATYPE,
        v.VOID_EXT_LANGUAGE,
        )
    )  # fmt: skip
    whole = described.holding(v.VOID_CLASS_PARTITION, v.VOID_PROPERTY_PARTITION, v.VOID_TRIPLES)
    return [node for node in whole if node not in part]


def _add_counts(listed: Iterable[Counts]) -> Counts:
    total: Counter[str] = Counter()
    for counts in listed:
        total.update(dict(counts))
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
    schema: list[ClassProfile | PredicateProfile] = [*profile.classes, *profile.predicates]
    named = sum(bool(one.names) for one in schema)
    declared = {part.name: part for part in profile.completeness}
    counted = declared[parts.TRIPLES].seen if parts.TRIPLES in declared else 0
    sizes: dict[str, tuple[int, int | None]] = {
        parts.TRIPLES: (counted, profile.triples),
        parts.GRAPHS: (len(profile.graphs), None),
        parts.COUNTS: (sum(p.triples > 0 for p in profile.predicates), len(profile.predicates)),
        parts.PARTITIONS: (len({one.cls for one in profile.partitions}), len(profile.classes)),
        parts.ENDS: (
            sum(bool(one.targets or one.datatypes) for one in profile.partitions),
            len(profile.partitions),
        ),
        parts.LABELS: (named, None if named < len(schema) else len(schema)),
    }
    found = {name: Part(name, *size) for name, size in sizes.items()}
    return replace(profile, completeness=parts.with_parts(profile.completeness, found))


def dataset_profile(described: Statements, nodes: Sequence[Node]) -> Profile:
    """Return the profile of these nodes together: one dataset, or class partitions without any."""
    classes: dict[str, int] = {}
    predicates: dict[str, PredicateProfile] = {}
    partitions: dict[tuple[str, str], Partition] = {}
    for node in nodes:
        own = (node,) if described.iri(node, v.VOID_CLASS) else ()
        for part in (*own, *described.nodes(node, v.VOID_CLASS_PARTITION)):
            if (cls := described.iri(part, v.VOID_CLASS)) is None:
                continue
            entities = described.number(part, v.VOID_ENTITIES) or 0
            classes[cls] = max(entities, classes.get(cls, 0))
            for predicate, one in _property_partitions(described, part):
                partitions[cls, predicate] = Partition(
                    cls,
                    predicate,
                    *_sizes(described, one),
                    _counted(described, one, *_CLASSES, v.VOID_TRIPLES),
                    _counted(described, one, *_DATATYPES),
                    sampled=bool(described.objects(one, OWN.sampled)),
                )
        for iri, part in _property_partitions(described, node) if not own else ():
            predicates[iri] = _predicate(described, part, iri)
    triples = max((described.number(node, v.VOID_TRIPLES) or 0 for node in nodes), default=0)
    counted = sum(p.triples for p in predicates.values())
    # The sizes that the dataset declares, beside those listed of it.
    properties = described.number(nodes[0], v.VOID_PROPERTIES)
    if properties is None and triples and counted >= triples:
        properties = len(predicates)
    return Profile(
        triples=triples,
        classes=tuple(
            ClassProfile(
                iri,
                instances,
                names=_names(described, iri),
                parents=_iris(described, iri, v.RDFS_SUB_CLASS_OF),
            )
            for iri, instances in classes.items()
        ),
        predicates=tuple(predicates.values()),
        partitions=tuple(partitions.values()),
        completeness=(
            Part(parts.TRIPLES, min(counted, triples) if triples else counted, triples or None),
            Part(parts.CLASSES, len(classes), described.number(nodes[0], v.VOID_CLASSES)),
            Part(parts.PREDICATES, len(predicates), properties),
        ),
    )


_CLASSES = (v.VOID_CLASS_PARTITION, v.VOID_CLASS)
_DATATYPES = (v.VOID_EXT_DATATYPE_PARTITION, v.VOID_EXT_DATATYPE)
_LANGUAGES = (v.VOID_EXT_LANGUAGE_PARTITION, v.VOID_EXT_LANGUAGE)


def _property_partitions(described: Statements, node: Node) -> Iterator[tuple[str, Node]]:
    for part in described.nodes(node, v.VOID_PROPERTY_PARTITION):
        if (iri := described.iri(part, v.VOID_PROPERTY)) is not None:
            yield iri, part


def _predicate(described: Statements, part: Node, iri: str) -> PredicateProfile:
    datatypes = _counted(described, part, *_DATATYPES)
    return PredicateProfile(
        iri,
        *_sizes(described, part),
        names=_names(described, iri),
        object_classes=_counted(described, part, *_CLASSES, v.VOID_ENTITIES),
        datatypes=datatypes,
        languages=_counted(described, part, *_LANGUAGES),
        naming=standard_naming(iri) if datatypes else "",
        transitive=v.OWL_TRANSITIVE_PROPERTY in _iris(described, iri, v.RDF_TYPE),
        inverse_of=_iris(described, iri, v.OWL_INVERSE_OF),
    )


def _sizes(described: Statements, part: Node) -> tuple[int, int, int]:
    """Return the numbers of triples, subjects and objects."""
    sizes = (v.VOID_TRIPLES, v.VOID_DISTINCT_SUBJECTS, v.VOID_DISTINCT_OBJECTS)
    triples, subjects, objects = (described.number(part, size) or 0 for size in sizes)
    return triples, subjects, objects


def _names(described: Statements, iri: str) -> tuple[tuple[str, str], ...]:
    by = (v.LABEL_PREDICATES, v.ALTERNATIVE_LABEL_PREDICATES)
    texts = (text for some in by for text in described.texts(NamedNode(iri), *some))
    return tuple(dict.fromkeys(texts))


def _iris(described: Statements, iri: str, predicate: str) -> tuple[str, ...]:
    terms = described.objects(NamedNode(iri), predicate)
    return tuple(term.value for term in terms if isinstance(term, NamedNode))


def _counted(
    described: Statements, part: Node, division: str, kind: str, size: str = v.VOID_TRIPLES
) -> Counts:
    """Return the classes, datatypes or language tags that a part is divided by."""
    counts: Counter[str] = Counter()
    for node in described.nodes(part, division):
        number = described.number(node, size) or described.number(node, v.VOID_TRIPLES) or 0
        iri = described.iri(node, kind)
        texts = [text for text, _ in described.texts(node, kind)] if iri is None else [iri]
        counts.update(dict.fromkeys(texts, number))
    return sorted_counts(counts)


def links_between(described: Statements) -> list[Partition]:
    """Return the links from class to class that linksets state."""

    def classes(linkset: Node, side: str) -> list[str]:
        ends = (described.iri(node, v.VOID_CLASS) for node in described.nodes(linkset, side))
        return [iri for iri in ends if iri is not None]

    targets: dict[tuple[str, str], Counter[str]] = defaultdict(Counter)
    for node in described.holding(v.VOID_LINK_PREDICATE):
        predicate = described.iri(node, v.VOID_LINK_PREDICATE)
        number = described.number(node, v.VOID_TRIPLES) or 0
        for source in classes(node, v.VOID_SUBJECTS_TARGET) if predicate is not None else ():
            for target in classes(node, v.VOID_OBJECTS_TARGET):
                targets[source, predicate or ""][target] += number
    return [
        Partition(cls, predicate, counts.total(), targets=sorted_counts(counts))
        for (cls, predicate), counts in sorted(targets.items())
    ]


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

    def texts(predicate: str) -> list[str]:
        holders = described.holding(predicate)
        return [text for node in holders for text, _ in described.texts(node, predicate)]

    sourced = (v.DCTERMS_SOURCE, v.VOID_SPARQL_ENDPOINT)
    sources = [
        term.value
        for node in described.holding(*sourced)
        for term in described.objects(node, *sourced)
        if isinstance(term, NamedNode | Literal)
    ]
    prefixes = set()
    for declared in (
        part for node in described.holding(OWN.prefix) for part in described.nodes(node, OWN.prefix)
    ):
        names = described.texts(declared, v.SH_PREFIX)
        spaces = described.texts(declared, v.SH_NAMESPACE)
        if names and spaces:
            prefixes.add((names[0][0], spaces[0][0]))
    classes, predicates = [], []
    for cls in profile.classes:
        node = NamedNode(cls.iri)
        name = described.iri(node, OWN.name_predicate) or cls.name_predicate
        nary = bool(described.objects(node, OWN.nary)) or cls.nary
        classes.append(replace(cls, name_predicate=name, nary=nary))
    for predicate in profile.predicates:
        told = described.texts(NamedNode(predicate.iri), OWN.naming)
        predicates.append(replace(predicate, naming=told[0][0]) if told else predicate)
    ours = SPACE in described.prefixes.values()
    return replace(
        profile,
        classes=tuple(classes),
        predicates=tuple(predicates),
        cuts=tuple(texts(OWN.cut)) or profile.cuts,
        created=min(texts(v.DCTERMS_CREATED), default=profile.created),
        source=profile.source or min(sources, default=""),
        prefixes=tuple(sorted(prefixes)) if ours else profile.prefixes,
    )
