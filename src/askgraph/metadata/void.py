"""VoID read into a profile: what a graph's publisher says that it holds.

VoID (https://www.w3.org/TR/void/) divides a dataset by class and by property; generators nest
these, class within property within class, and add datatypes by the `void-ext` vocabulary. Several
datasets (the named graphs of an endpoint) are read one by one and put together.
"""

from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import reduce

from askgraph import metadata as parts
from askgraph.metadata import ClassProfile, Part, Partition, PredicateProfile, Profile
from askgraph.metadata._void_dataset import dataset_profile, links_between, own_parts, own_profile
from askgraph.metadata.merge import merged, ordered, united
from askgraph.metadata.names import standard_naming
from askgraph.metadata.partitions import sorted_counts
from askgraph.rdf import vocabulary as v
from askgraph.rdf.statements import Node, Statements

__all__ = ["VOID_PREDICATES", "profile_of_void"]

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
    """Return what VoID tells of a graph; None if it divides nothing by class or property.

    Numbers that it does not give are 0. Named graphs and subsets are added up; what is said of the
    whole is believed before their sum. Completeness is measured against the numbers of triples,
    classes and properties that the VoID itself declares.
    """
    roots = _roots(described)
    inner = {
        node
        for subject in described.subjects
        for node in described.nodes(subject, v.SD_GRAPH, v.VOID_SUBSET)
    }
    same = {
        node
        for subject in described.subjects
        for node in described.nodes(subject, v.SD_DEFAULT_GRAPH)
    }
    outer = [dataset_profile(described, [root]) for root in roots if root not in inner | same]
    default = [dataset_profile(described, [root]) for root in roots if root in same]
    nested = [dataset_profile(described, [root]) for root in roots if root in inner]
    loose = _loose(described)
    links = links_between(described)
    accounts = [united(some) for some in (outer, default, nested) if some]
    accounts += [dataset_profile(described, loose)] if loose else []
    accounts += [_linked(links)] if links else []
    whole = _filled(reduce(merged, accounts, Profile(0, (), ())))
    if not (whole.classes or whole.predicates):
        return None
    whole = replace(
        whole,
        source=source or whole.source,
        graphs=_graphs(described),
        prefixes=tuple(sorted(described.prefixes.items())),
    )
    return ordered(own_profile(described, _measured(described, whole)))


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


def _loose(described: Statements) -> list[Node]:
    """Class partitions that belong to no dataset, as in a reply that was cut off."""
    held = {
        node
        for subject in described.subjects
        for node in described.nodes(subject, v.VOID_CLASS_PARTITION)
    }
    divided = described.holding(v.VOID_PROPERTY_PARTITION)
    return [
        node
        for node in divided
        if node not in held and described.iri(node, v.VOID_CLASS) is not None
    ]


def _linked(links: Sequence[Partition]) -> Profile:
    return Profile(triples=0, classes=(), predicates=(), partitions=tuple(links))


def _filled(profile: Profile) -> Profile:
    """The profile with classes and predicates that only its partitions name, and their ends."""
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
    return replace(
        profile,
        triples=triples,
        classes=tuple(classes.values()),
        predicates=tuple(named.values()),
        languages=profile.languages or _added(p.languages for p in named.values()),
    )


def _added(listed: "Iterator[Counts]") -> Counts:
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
    """The profile with the completeness that it states itself, or else that can be measured."""
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
