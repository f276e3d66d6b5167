"""Parse VoID, a publisher's statistics of a graph, to a profile.

VoID (https://www.w3.org/TR/void/) partitions a dataset by class and by property. Generators nest
these, class within property within class, and add datatypes with the `void-ext` vocabulary.
Several datasets (the named graphs of an endpoint) are parsed one by one and merged.
"""

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from functools import reduce

from pyoxigraph import Literal, NamedNode

from askgraph.graph import profile as parts
from askgraph.graph.vocabularies import add_vocabulary_names, load_vocabularies
from askgraph.sparql import vocabulary as v
from askgraph.sparql.rdf_files import Node, RdfStatements

VOID_PREDICATES = (
    v.VOID_TRIPLES, v.VOID_CLASSES, v.VOID_PROPERTIES, v.VOID_ENTITIES, v.VOID_DISTINCT_SUBJECTS,
    v.VOID_DISTINCT_OBJECTS, v.VOID_CLASS, v.VOID_PROPERTY, v.VOID_CLASS_PARTITION,
    v.VOID_PROPERTY_PARTITION, v.VOID_SUBSET, v.VOID_LINK_PREDICATE, v.VOID_SUBJECTS_TARGET,
    v.VOID_OBJECTS_TARGET, v.VOID_EXT_DATATYPE, v.VOID_EXT_DATATYPE_PARTITION, v.VOID_EXT_LANGUAGE,
    v.VOID_EXT_LANGUAGE_PARTITION, v.SD_DEFAULT_GRAPH, v.SD_NAME, v.SD_GRAPH,
)  # fmt: skip
"""Predicates to fetch of a VoID description, besides labels."""


def parse_void(statements: RdfStatements, *, source: str = "") -> parts.Profile | None:
    """Parse VoID to a profile; None if it has no class or property partitions.

    Missing numbers are 0. Named graphs and subsets are added up; the numbers of the dataset take
    precedence over their sum. Completeness is measured against the declared numbers of triples,
    classes and properties.
    """
    accounts = list(_iterate_accounts(statements))
    profile = reduce(parts.merge_profiles, accounts, parts.Profile(0, (), ()))
    classes = {c.iri: c for c in profile.classes}
    predicates = {p.iri: p for p in profile.predicates}
    by_predicate: dict[str, list[parts.Partition]] = defaultdict(list)
    for partition in profile.partitions:
        classes.setdefault(partition.cls, parts.ClassProfile(partition.cls, partition.subjects))
        by_predicate[partition.predicate].append(partition)
    for iri, partitions in by_predicate.items():
        max_triples = max(partition.triples for partition in partitions)
        profiled = predicates.get(iri, parts.PredicateProfile(iri, max_triples, 0, 0))
        predicates[iri] = replace(
            profiled,
            subject_classes=parts.sort_counts(
                Counter({x.cls: x.subjects or x.triples for x in partitions})
            ),
            object_classes=profiled.object_classes
            or _add_counts(partition.targets for partition in partitions),
            datatypes=profiled.datatypes
            or _add_counts(partition.datatypes for partition in partitions),
        )
    if not (classes or predicates):
        return None
    predicates_with_naming = [
        replace(p, naming=p.naming or (parts.get_standard_role(iri) if p.datatypes else ""))
        for iri, p in predicates.items()
    ]
    counts: Counter[str] = Counter()
    for node in statements.list_subjects(v.SD_NAME):
        name = statements.get_iri(node, v.SD_NAME)
        sizes = [
            statements.get_number(g, v.VOID_TRIPLES) or 0
            for g in statements.get_nodes(node, v.SD_GRAPH)
        ]
        if name is not None:
            counts[name] = max([*sizes, counts[name]])
    complete_profile = replace(
        profile,
        triples=profile.triples or sum(p.triples for p in predicates_with_naming),
        classes=tuple(classes.values()),
        predicates=tuple(predicates_with_naming),
        languages=profile.languages or _add_counts(p.languages for p in predicates_with_naming),
        source=source or profile.source,
        graphs=parts.sort_counts(counts),
        prefixes=tuple(sorted(statements.prefixes.items())),
    )
    return parts.sort_profile(
        add_vocabulary_names(
            apply_own_terms(statements, _measure_completeness(statements, complete_profile)),
            load_vocabularies([*classes, *predicates]),
        )
    )


def _iterate_accounts(statements: RdfStatements) -> Iterator[parts.Profile]:
    """Yield profiles: of datasets, default graphs, their subsets, and standalone partitions."""

    def collect_nodes(*predicates: str) -> set[Node]:
        return {
            n for subject in statements.subjects for n in statements.get_nodes(subject, *predicates)
        }

    partition_nodes = set(
        statements.list_subjects(
        v.VOID_CLASS, v.VOID_PROPERTY, v.VOID_LINK_PREDICATE, v.VOID_EXT_DATATYPE,
        v.VOID_EXT_LANGUAGE,
        )
    )  # fmt: skip
    candidates = statements.list_subjects(
        v.VOID_CLASS_PARTITION, v.VOID_PROPERTY_PARTITION, v.VOID_TRIPLES
    )
    roots = [node for node in candidates if node not in partition_nodes]
    subset_nodes = collect_nodes(v.SD_GRAPH, v.VOID_SUBSET)
    default_graphs = collect_nodes(v.SD_DEFAULT_GRAPH)
    class_partitions = collect_nodes(v.VOID_CLASS_PARTITION)
    for nodes in (
        [root for root in roots if root not in subset_nodes | default_graphs],
        [r for r in roots if r in default_graphs],
        [r for r in roots if r in subset_nodes],
    ):
        if nodes:
            yield parts.unite_profiles(
                [build_dataset_profile(statements, [root]) for root in nodes]
            )
    loose = [
        n
        for n in statements.list_subjects(v.VOID_PROPERTY_PARTITION)
        if n not in class_partitions and statements.get_iri(n, v.VOID_CLASS) is not None
    ]
    if loose:
        yield build_dataset_profile(statements, loose)
    if links := read_linksets(statements):
        yield parts.Profile(0, (), (), partitions=tuple(links))


def _add_counts(counts_list: Iterable[parts.Counts]) -> parts.Counts:
    total: Counter[str] = Counter()
    for counts in counts_list:
        total.update(dict(counts))
    return parts.sort_counts(total)


def _measure_completeness(statements: RdfStatements, profile: parts.Profile) -> parts.Profile:
    own_parts: list[parts.Part] = []
    for node in statements.list_subjects(OwnTerms.seen):
        count = statements.get_number(node, OwnTerms.seen) or 0
        total = statements.get_number(node, OwnTerms.total)
        notes = statements.get_texts(node, v.RDFS_COMMENT)
        note = notes[0][0] if notes else ""
        own_parts += [
            parts.Part(name, count, total, note)
            for name, _ in statements.get_texts(node, OwnTerms.name)
        ]
    if own_parts:
        return replace(profile, completeness=parts.replace_parts(tuple(own_parts), {}))
    schema: list[parts.ClassProfile | parts.PredicateProfile] = [
        *profile.classes,
        *profile.predicates,
    ]
    labelled = sum(bool(item.names) for item in schema)
    declared_parts = {part.name: part for part in profile.completeness}
    triples = declared_parts[parts.TRIPLES].seen if parts.TRIPLES in declared_parts else 0
    sizes: dict[str, tuple[int, int | None]] = {
        parts.TRIPLES: (triples, profile.triples),
        parts.GRAPHS: (len(profile.graphs), None),
        parts.COUNTS: (sum(p.triples > 0 for p in profile.predicates), len(profile.predicates)),
        parts.PARTITIONS: (len({item.cls for item in profile.partitions}), len(profile.classes)),
        parts.ENDS: (
            sum(bool(item.targets or item.datatypes) for item in profile.partitions),
            len(profile.partitions),
        ),
        parts.LABELS: (labelled, None if labelled < len(schema) else len(schema)),
    }
    measured_parts = {name: parts.Part(name, *size) for name, size in sizes.items()}
    return replace(profile, completeness=parts.replace_parts(profile.completeness, measured_parts))


def build_dataset_profile(statements: RdfStatements, nodes: Sequence[Node]) -> parts.Profile:
    """Build one profile from some nodes: a dataset, or class partitions without a dataset."""
    classes: dict[str, int] = {}
    predicates: dict[str, parts.PredicateProfile] = {}
    partitions: dict[tuple[str, str], parts.Partition] = {}
    for node in nodes:
        class_node = (node,) if statements.get_iri(node, v.VOID_CLASS) else ()
        for part in (*class_node, *statements.get_nodes(node, v.VOID_CLASS_PARTITION)):
            if (cls := statements.get_iri(part, v.VOID_CLASS)) is None:
                continue
            entities = statements.get_number(part, v.VOID_ENTITIES) or 0
            classes[cls] = max(entities, classes.get(cls, 0))
            for predicate, node_part in _iterate_property_partitions(statements, part):
                partitions[cls, predicate] = parts.Partition(
                    cls,
                    predicate,
                    *_read_sizes(statements, node_part),
                    _read_counts(statements, node_part, *_CLASS_PARTITIONS, v.VOID_TRIPLES),
                    _read_counts(statements, node_part, *_DATATYPE_PARTITIONS),
                    sampled=bool(statements.get_objects(node_part, OwnTerms.sampled)),
                )
        for iri, part in _iterate_property_partitions(statements, node) if not class_node else ():
            datatypes = _read_counts(statements, part, *_DATATYPE_PARTITIONS)
            predicates[iri] = parts.PredicateProfile(
                iri,
                *_read_sizes(statements, part),
                names=_read_names(statements, iri),
                object_classes=_read_counts(statements, part, *_CLASS_PARTITIONS, v.VOID_ENTITIES),
                datatypes=datatypes,
                languages=_read_counts(statements, part, *_LANGUAGE_PARTITIONS),
                naming=parts.get_standard_role(iri) if datatypes else "",
                transitive=v.OWL_TRANSITIVE_PROPERTY in _read_iris(statements, iri, v.RDF_TYPE),
                inverse_of=_read_iris(statements, iri, v.OWL_INVERSE_OF),
            )
    triples = max((statements.get_number(node, v.VOID_TRIPLES) or 0 for node in nodes), default=0)
    triple_sum = sum(p.triples for p in predicates.values())
    # The sizes that the dataset declares, beside those listed of it.
    properties = statements.get_number(nodes[0], v.VOID_PROPERTIES)
    if properties is None and triples and triple_sum >= triples:
        properties = len(predicates)
    return parts.Profile(
        triples=triples,
        classes=tuple(
            parts.ClassProfile(
                iri,
                instances,
                names=_read_names(statements, iri),
                parents=_read_iris(statements, iri, v.RDFS_SUB_CLASS_OF),
            )
            for iri, instances in classes.items()
        ),
        predicates=tuple(predicates.values()),
        partitions=tuple(partitions.values()),
        completeness=(
            parts.Part(
                parts.TRIPLES, min(triple_sum, triples) if triples else triple_sum, triples or None
            ),
            parts.Part(
                parts.CLASSES, len(classes), statements.get_number(nodes[0], v.VOID_CLASSES)
            ),
            parts.Part(parts.PREDICATES, len(predicates), properties),
        ),
    )


_CLASS_PARTITIONS = (v.VOID_CLASS_PARTITION, v.VOID_CLASS)
_DATATYPE_PARTITIONS = (v.VOID_EXT_DATATYPE_PARTITION, v.VOID_EXT_DATATYPE)
_LANGUAGE_PARTITIONS = (v.VOID_EXT_LANGUAGE_PARTITION, v.VOID_EXT_LANGUAGE)


def _iterate_property_partitions(
    statements: RdfStatements, node: Node
) -> Iterator[tuple[str, Node]]:
    for part in statements.get_nodes(node, v.VOID_PROPERTY_PARTITION):
        if (iri := statements.get_iri(part, v.VOID_PROPERTY)) is not None:
            yield iri, part


def _read_sizes(statements: RdfStatements, part: Node) -> tuple[int, int, int]:
    sizes = (v.VOID_TRIPLES, v.VOID_DISTINCT_SUBJECTS, v.VOID_DISTINCT_OBJECTS)
    triples, subjects, objects = (statements.get_number(part, size) or 0 for size in sizes)
    return triples, subjects, objects


def _read_names(statements: RdfStatements, iri: str) -> tuple[tuple[str, str], ...]:
    texts = (
        text
        for predicates in (v.LABEL_PREDICATES, v.ALTERNATIVE_LABEL_PREDICATES)
        for text in statements.get_texts(NamedNode(iri), *predicates)
    )
    return tuple(dict.fromkeys(texts))


def _read_iris(statements: RdfStatements, iri: str, predicate: str) -> tuple[str, ...]:
    terms = statements.get_objects(NamedNode(iri), predicate)
    return tuple(term.value for term in terms if isinstance(term, NamedNode))


def _read_counts(
    statements: RdfStatements, part: Node, division: str, kind: str, size: str = v.VOID_TRIPLES
) -> parts.Counts:
    counts: Counter[str] = Counter()
    for node in statements.get_nodes(part, division):
        number = (
            statements.get_number(node, size) or statements.get_number(node, v.VOID_TRIPLES) or 0
        )
        iri = statements.get_iri(node, kind)
        texts = [text for text, _ in statements.get_texts(node, kind)] if iri is None else [iri]
        counts.update(dict.fromkeys(texts, number))
    return parts.sort_counts(counts)


def read_linksets(statements: RdfStatements) -> list[parts.Partition]:
    """Return the links between classes that linksets declare."""

    def read_classes(linkset: Node, side: str) -> list[str]:
        ends = (
            statements.get_iri(node, v.VOID_CLASS) for node in statements.get_nodes(linkset, side)
        )
        return [iri for iri in ends if iri is not None]

    targets: dict[tuple[str, str], Counter[str]] = defaultdict(Counter)
    for node in statements.list_subjects(v.VOID_LINK_PREDICATE):
        predicate = statements.get_iri(node, v.VOID_LINK_PREDICATE)
        number = statements.get_number(node, v.VOID_TRIPLES) or 0
        for source in read_classes(node, v.VOID_SUBJECTS_TARGET) if predicate is not None else ():
            for target in read_classes(node, v.VOID_OBJECTS_TARGET):
                targets[source, predicate or ""][target] += number
    return [
        parts.Partition(cls, predicate, counts.total(), targets=parts.sort_counts(counts))
        for (cls, predicate), counts in sorted(targets.items())
    ]


OWN_NAMESPACE = "urn:askgraph:terms#"


class OwnTerms:
    """IRIs of askgraph's own vocabulary.

    For a dataset: `cut`, a text; `part`, a node with `seen`, `total` and a comment. For a class:
    `name_predicate` and `nary`. For a predicate: `naming`. For a partition: `sampled`.
    """

    cut = OWN_NAMESPACE + "cut"
    part = OWN_NAMESPACE + "part"
    name = OWN_NAMESPACE + "name"
    seen = OWN_NAMESPACE + "seen"
    total = OWN_NAMESPACE + "total"
    name_predicate = OWN_NAMESPACE + "namePredicate"
    nary = OWN_NAMESPACE + "nary"
    naming = OWN_NAMESPACE + "naming"
    sampled = OWN_NAMESPACE + "sampled"
    prefix = OWN_NAMESPACE + "prefix"


def apply_own_terms(statements: RdfStatements, profile: parts.Profile) -> parts.Profile:
    """Return the profile completed by all statements in our own vocabulary."""

    def collect_texts(predicate: str) -> list[str]:
        holders = statements.list_subjects(predicate)
        return [text for node in holders for text, _ in statements.get_texts(node, predicate)]

    source_predicates = (v.DCTERMS_SOURCE, v.VOID_SPARQL_ENDPOINT)
    sources = [
        term.value
        for node in statements.list_subjects(*source_predicates)
        for term in statements.get_objects(node, *source_predicates)
        if isinstance(term, NamedNode | Literal)
    ]
    prefixes = set()
    for prefix_node in (
        part
        for node in statements.list_subjects(OwnTerms.prefix)
        for part in statements.get_nodes(node, OwnTerms.prefix)
    ):
        names = statements.get_texts(prefix_node, v.SH_PREFIX)
        spaces = statements.get_texts(prefix_node, v.SH_NAMESPACE)
        if names and spaces:
            prefixes.add((names[0][0], spaces[0][0]))
    classes, predicates = [], []
    for cls in profile.classes:
        node = NamedNode(cls.iri)
        name_predicate = statements.get_iri(node, OwnTerms.name_predicate) or cls.name_predicate
        nary = bool(statements.get_objects(node, OwnTerms.nary)) or cls.nary
        classes.append(replace(cls, name_predicate=name_predicate, nary=nary))
    for predicate in profile.predicates:
        naming_texts = statements.get_texts(NamedNode(predicate.iri), OwnTerms.naming)
        predicates.append(
            replace(predicate, naming=naming_texts[0][0]) if naming_texts else predicate
        )
    is_own_format = OWN_NAMESPACE in statements.prefixes.values()
    return replace(
        profile,
        classes=tuple(classes),
        predicates=tuple(predicates),
        cuts=tuple(collect_texts(OwnTerms.cut)) or profile.cuts,
        created=min(collect_texts(v.DCTERMS_CREATED), default=profile.created),
        source=profile.source or min(sources, default=""),
        prefixes=tuple(sorted(prefixes)) if is_own_format else profile.prefixes,
    )
