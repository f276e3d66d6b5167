"""Profile a graph whose triples are in arrays: everything is counted, nothing sampled.

A Wikibase has its own predicates for `rdf:type` and `rdfs:subClassOf`, and uses `rdf:type` only for
statement nodes. `detect_own_types` recognizes the two by the structure of the graph: nearly every
entity has the first, and the second orders the classes that the first leads to.
"""

from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from functools import lru_cache, reduce
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from askgraph.graph import profile as parts
from askgraph.graph.arrays import (
    GraphArrays,
    Ids,
    TermTable,
    deduplicate,
    get_names,
    get_objects,
    get_texts,
    intersect,
    tally_ids,
)
from askgraph.graph.literals import ValueKind, split_literal
from askgraph.graph.names import (
    detect_naming_role,
    has_name_word,
    is_hierarchy,
    score_name_predicate,
)
from askgraph.graph.vocabularies import Vocabularies, add_vocabulary_names, load_vocabularies
from askgraph.sparql import vocabulary as v
from askgraph.sparql.prefixes import get_namespace
from askgraph.sparql.rdf_files import OwnPredicates

_SAMPLE_SIZE = 2000
_MAX_COUNTED_LITERALS = 100_000


def build_profile(
    graph: GraphArrays, *, source: str = "", vocabulary_files: Sequence[Path] = ()
) -> parts.Profile:
    """Profile a complete graph; time grows with its triples, not with classes times predicates.

    Args:
        vocabulary_files: Vocabularies besides those in the package.
    """
    instances = _collect_instances(graph)
    predicate_iris = map(graph.get_predicate_iri, range(len(graph.predicates)))
    vocabularies = load_vocabularies([*predicate_iris, *instances], vocabulary_files)
    predicates = tuple(
        _build_predicate(graph, p, vocabularies) for p in range(len(graph.predicates))
    )
    inverses = _find_inverses(graph, predicates)
    predicates = tuple(
        replace(p, inverse_of=tuple(sorted(inverses[p.iri] - {p.iri}))) for p in predicates
    )
    classes = [_build_class(graph, iri, members, predicates) for iri, members in instances.items()]
    # Texts that are unique name things only if no better property does.
    used_names = {cls.name_predicate for cls in classes}
    predicates = tuple(
        replace(p, naming="")
        if p.naming == "name"
        and p.subject_classes
        and p.iri not in used_names
        and not (parts.get_standard_role(p.iri) or has_name_word(p.iri))
        else p
        for p in predicates
    )
    languages: Counter[str] = Counter()
    for p in predicates:
        languages.update(dict(p.languages))
    datasets = (get_objects(graph, kind, v.RDF_TYPE, inverse=True) for kind in _DATASET_CLASSES)
    descriptions = (
        get_texts(graph, *dataset, v.DESCRIPTION_PREDICATES)
        for dataset in datasets
        if len(dataset) == 1
    )
    profile = parts.Profile(
        triples=len(graph),
        classes=tuple(sorted(classes, key=lambda c: (-c.instances, c.iri))),
        predicates=tuple(sorted(predicates, key=lambda p: (-p.triples, p.iri))),
        languages=tuple(languages.most_common()),
        source=source,
        created=datetime.now(UTC).isoformat(timespec="seconds"),
        partitions=build_partitions(graph),
        types=tuple(detect_own_types(graph).items()),
        described=next(filter(None, descriptions), ()),
    )
    profile = replace(profile, completeness=parts.build_complete_parts(profile))
    return add_vocabulary_names(profile, vocabularies)


def _find_inverses(
    graph: GraphArrays, predicates: Sequence[parts.PredicateProfile]
) -> Mapping[str, set[str]]:
    inverses: dict[str, set[str]] = defaultdict(set)
    by_reversed_size: dict[tuple[int, int, int], list[parts.PredicateProfile]] = defaultdict(list)
    link_predicates = [p for p in predicates if p.object_classes and p.triples > 1]
    for q in link_predicates:
        by_reversed_size[q.triples, q.objects, q.subjects].append(q)
    pairs = [(p.iri, q) for p in predicates for q in p.inverse_of]
    for p in link_predicates:
        forwards = graph.get_edges_in_range(
            0, len(graph.terms), graph.get_predicate_number(p.iri) or 0
        )
        for q in by_reversed_size[p.triples, p.subjects, p.objects]:
            if p.iri < q.iri:
                number = graph.get_predicate_number(q.iri) or 0
                backwards = graph.get_edges_in_range(0, len(graph.terms), number, inverse=True)
                if all(map(np.array_equal, forwards, backwards)):
                    pairs.append((p.iri, q.iri))
    for first, second in pairs:
        inverses[first].add(second)
        inverses[second].add(first)
    return inverses


_DATASET_CLASSES = (
    v.VOID_DATASET,
    "http://www.w3.org/ns/dcat#Dataset",
    v.SCHEMA_HTTPS + "Dataset",
    v.SCHEMA + "Dataset",
    v.OWL_ONTOLOGY,
)


def _collect_instances(graph: GraphArrays) -> dict[str, Ids]:
    type_number = graph.get_predicate_number(v.RDF_TYPE)
    if type_number is None:
        return {}
    return {
        graph.terms.get_value(int(c)): graph.step(
            np.array([c], dtype=np.int32), type_number, inverse=True
        )
        for c in graph.get_ends(type_number, inverse=True)
        if graph.terms.is_iri(int(c))
    }


def _build_class(
    graph: GraphArrays, iri: str, members: Ids, predicates: tuple[parts.PredicateProfile, ...]
) -> parts.ClassProfile:
    scored_names = []
    for number, count in zip(*graph.count_predicates(members), strict=True):
        predicate = predicates[number]
        if predicate.naming == "name" and count >= 0.5 * len(members):
            bearers, names = graph.get_edges(members, int(number))
            coverage = len(deduplicate(bearers)) / len(members)
            distinct_count = len(deduplicate(names))
            score = score_name_predicate(predicate.iri, iri, coverage, distinct_count / len(names))
            scored_names.append((score, predicate.iri))
    name = max(scored_names)[1] if scored_names else None
    return parts.ClassProfile(
        iri=iri,
        instances=len(members),
        names=get_names(graph, iri),
        parents=get_objects(graph, iri, v.RDFS_SUB_CLASS_OF),
        name_predicate=name,
        nary=name is None and _count_links(graph, members) >= 2,
    )


def _count_links(graph: GraphArrays, members: Ids) -> float:
    sample = members[:_SAMPLE_SIZE]
    link_count = 0
    for predicate in graph.count_predicates(sample)[0]:
        if graph.get_predicate_iri(int(predicate)) in (v.RDF_TYPE, v.OWL_SAME_AS):
            continue
        sources, targets = graph.get_edges(sample, int(predicate))
        if len(targets) and not graph.terms.is_literal(int(targets[0])):
            link_count += len(deduplicate(sources))
    return link_count / len(sample)


def _build_predicate(
    graph: GraphArrays, number: int, vocabularies: Vocabularies
) -> parts.PredicateProfile:
    iri = graph.get_predicate_iri(number)
    subjects, objects = graph.get_ends(number), graph.get_ends(number, inverse=True)
    literals = objects[objects < graph.terms.first_iri]
    resources = objects[objects >= graph.terms.first_iri]
    datatypes, languages = _count_literal_types(graph, number, len(literals))
    draft = parts.PredicateProfile(
        iri=iri,
        triples=graph.count_triples(number),
        subjects=len(subjects),
        objects=len(objects),
        names=get_names(graph, iri),
        subject_classes=_count_classes(graph, subjects),
        object_classes=_count_classes(graph, resources)
        or (((v.RDFS_RESOURCE, len(resources)),) if len(resources) else ()),
        datatypes=datatypes,
        languages=languages,
        transitive=is_hierarchy(graph, number),
        inverse_of=(
            *get_objects(graph, iri, v.OWL_INVERSE_OF),
            *get_objects(graph, iri, v.OWL_INVERSE_OF, inverse=True),
        ),
    )
    term = vocabularies.find_property(iri)
    if term is not None and term.inverse:
        draft = replace(draft, inverse_of=(*draft.inverse_of, get_namespace(iri) + term.inverse))
    samples = [
        graph.terms.get_value(int(term_id)) for term_id in literals[:: max(1, len(literals) // 200)]
    ]
    is_textual = (
        bool(len(literals)) and float(np.mean(graph.sorts[literals] == ValueKind.TEXT)) > 0.8
    )
    role = detect_naming_role(draft, samples, term) if is_textual else parts.get_standard_role(iri)
    return replace(draft, naming=role if draft.datatypes else "")


def _count_classes(graph: GraphArrays, nodes: Ids) -> parts.Counts:
    type_number = graph.get_predicate_number(v.RDF_TYPE)
    if type_number is None or not len(nodes):
        return ()
    classes, counts = tally_ids(graph.get_edges(nodes, type_number)[1])
    class_counts = zip(classes.tolist(), counts.tolist(), strict=True)
    return parts.sort_counts(
        Counter(
            {graph.terms.get_value(cls): n for cls, n in class_counts if graph.terms.is_iri(cls)}
        )
    )


def _count_literal_types(
    graph: GraphArrays, predicate: int, literals: int
) -> tuple[parts.Counts, parts.Counts]:
    """Return datatypes and languages with their numbers of triples, scaled up from a sample."""
    datatypes: Counter[str] = Counter()
    languages: Counter[str] = Counter()
    ends, counts = tally_ids(
        graph.get_edges_in_range(0, graph.terms.first_iri, predicate, inverse=True)[0]
    )
    step = max(1, literals // _MAX_COUNTED_LITERALS)
    for term_id, count in zip(ends[::step].tolist(), counts[::step].tolist(), strict=True):
        datatype, language = _get_literal_type(graph.terms, term_id)
        datatypes[datatype] += step * count
        if language:
            languages[language] += step * count
    return tuple(datatypes.most_common()), tuple(languages.most_common())


def _get_literal_type(terms: TermTable, term_id: int) -> tuple[str, str | None]:
    text = terms.get_text(term_id)
    return _parse_literal_suffix(text[text.rindex('"') :])


@lru_cache(maxsize=1000)
def _parse_literal_suffix(suffix: str) -> tuple[str, str | None]:
    return split_literal(f'"{suffix}')[1:]


# Literals of one predicate whose datatypes are read; of more, evenly chosen.
_MAX_READ_LITERALS = 100_000


def build_partitions(graph: GraphArrays) -> tuple[parts.Partition, ...]:
    """Return the partitions of all classes, ordered by class and predicate.

    All numbers are exact, except datatypes of a predicate with several of them over more than
    100,000 distinct literals.
    """
    groups = _group_by_classes(graph)
    partitions: list[parts.Partition] = []
    if groups is not None:
        for number in range(len(graph.predicates)):
            partitions += _build_predicate_partitions(graph, number, groups)
    return tuple(sorted(partitions, key=lambda partition: (partition.cls, partition.predicate)))


@dataclass(frozen=True)
class _ClassGroups:
    """Nodes grouped by their set of classes; the group of a node without classes is 0."""

    numbers: NDArray[np.int64]
    classes: tuple[tuple[str, ...], ...]


def _group_by_classes(graph: GraphArrays) -> _ClassGroups | None:
    type_number = graph.get_predicate_number(v.RDF_TYPE)
    if type_number is None:
        return None
    nodes, classes = graph.get_edges(graph.get_ends(type_number), type_number)
    is_class_iri = (classes >= graph.terms.first_iri) & (classes < graph.terms.first_blank)
    nodes, classes = nodes[is_class_iri], classes[is_class_iri]
    members, starts = np.unique(nodes, return_index=True)
    if not len(members):
        return None
    weights = np.random.default_rng(7).integers(1, 2**62, size=len(graph.terms), dtype=np.int64)
    hashes = np.add.reduceat(weights[classes], starts)
    _, firsts, group = np.unique(hashes, return_index=True, return_inverse=True)
    ends = np.append(starts[1:], len(nodes))
    class_lists = [
        tuple(graph.terms.get_value(int(c)) for c in classes[starts[index] : ends[index]])
        for index in firsts
    ]
    numbers = np.zeros(len(graph.terms), dtype=np.int64)
    numbers[members] = group + 1
    return _ClassGroups(numbers, ((), *class_lists))


def _build_predicate_partitions(
    graph: GraphArrays, number: int, groups: _ClassGroups
) -> Iterator[parts.Partition]:
    subjects, objects = graph.get_edges_in_range(0, len(graph.terms), number)
    targets: dict[str, Counter[str]] = defaultdict(Counter)
    datatypes: dict[str, Counter[str]] = defaultdict(Counter)
    is_literal = objects < graph.terms.first_iri
    pairs = (groups.numbers[subjects[~is_literal]], groups.numbers[objects[~is_literal]])
    for source, target, count in _count_pairs(*pairs, len(groups.classes)):
        for cls in groups.classes[source]:
            for target_class in groups.classes[target] or (v.RDFS_RESOURCE,):
                targets[cls][target_class] += count
    literals = objects[is_literal]
    distinct_literals = deduplicate(literals)
    number_by_datatype: dict[str, int] = {}
    numbers = np.zeros(graph.terms.first_iri, dtype=np.int64)
    step = max(1, len(distinct_literals) // _MAX_READ_LITERALS)
    for index in range(0, len(distinct_literals), step):
        datatype, _ = _get_literal_type(graph.terms, int(distinct_literals[index]))
        numbers[distinct_literals[index : index + step]] = number_by_datatype.setdefault(
            datatype, len(number_by_datatype)
        )
    kinds, names = numbers[literals], list(number_by_datatype)
    for source, kind, count in _count_pairs(
        groups.numbers[subjects[is_literal]], kinds, len(names)
    ):
        for cls in groups.classes[source]:
            datatypes[cls][names[kind]] += count
    iri = graph.get_predicate_iri(number)
    for cls, sizes in _iterate_sizes(graph, number, groups):
        yield parts.Partition(
            cls, iri, *sizes, parts.sort_counts(targets[cls]), parts.sort_counts(datatypes[cls])
        )


def _iterate_sizes(
    graph: GraphArrays, number: int, groups: _ClassGroups
) -> Iterator[tuple[str, tuple[int, int, int]]]:
    size = len(groups.classes)
    objects, subjects = graph.get_edges_in_range(0, len(graph.terms), number, inverse=True)
    subject_groups = groups.numbers[subjects]
    triples = np.bincount(subject_groups, minlength=size)
    subject_counts = np.bincount(groups.numbers[graph.get_ends(number)], minlength=size)
    groups_of: dict[str, list[int]] = defaultdict(list)
    for group in np.flatnonzero(triples).tolist():
        for cls in groups.classes[group]:
            groups_of[cls].append(group)
    keys = objects.astype(np.int64) << 32 | subject_groups
    keys.sort(kind="stable")  # they nearly are
    keys = keys[np.diff(keys, prepend=-1) != 0]
    from_group, objects = keys & 0xFFFFFFFF, keys >> 32
    single = np.bincount(from_group, minlength=size)
    for cls, class_groups in groups_of.items():
        if len(class_groups) == 1:
            distinct_objects = single[class_groups[0]]
        else:
            own_objects = objects[np.isin(from_group, class_groups)]
            distinct_objects = np.count_nonzero(np.diff(own_objects, prepend=-1))
        yield (
            cls,
            (
                int(triples[class_groups].sum()),
                int(subject_counts[class_groups].sum()),
                int(distinct_objects),
            ),
        )


def _count_pairs(
    first: NDArray[Any], second: NDArray[Any], size: int
) -> Iterator[tuple[int, int, int]]:
    keys, counts = tally_ids(first * size + second)
    for key, count in zip(keys.tolist(), counts.tolist(), strict=True):
        yield key // size, key % size, count


_MIN_CLASS_SHARE = 0.9
"""Minimum share of the type predicate's objects that are classes."""
_COMMON_SHARE = 0.5
"""Share of subjects from which on a predicate is common."""


def detect_own_types(graph: GraphArrays) -> OwnPredicates:
    """Return a Wikibase's predicates for types and superclasses; empty for other graphs."""
    claims = graph.get_predicate_number(v.WIKIBASE_DIRECT)
    if claims is None:
        direct: list[int] = []
    else:
        claim_nodes = graph.get_ends(claims, inverse=True).tolist()
        numbers = [graph.numbers[term_id] for term_id in claim_nodes if term_id in graph.numbers]
        direct = [
            term_id
            for term_id in numbers
            if graph.terms.is_iri(int(graph.get_ends(term_id, inverse=True)[-1]))
        ]
    if not direct:
        return {}
    starts = {number: graph.get_ends(number) for number in direct}
    max_subjects = max(map(len, starts.values()))
    common = sorted(
        (number for number in direct if len(starts[number]) >= _COMMON_SHARE * max_subjects),
        key=lambda number: -len(starts[number]),
    )
    hierarchies = [number for number in direct if is_hierarchy(graph, number)]
    for type_candidate in common:
        ends = graph.get_ends(type_candidate, inverse=True)
        fitting = [
            (len(_select_at_ends(graph, order, ends)), order)
            for order in hierarchies
            if order != type_candidate
            and len(_select_at_ends(graph, order, ends)) >= _MIN_CLASS_SHARE * len(ends)
            and len(_select_at_ends(graph, order, starts[type_candidate]))
            <= _COMMON_SHARE * len(starts[type_candidate])
        ]
        if fitting:
            return {
                v.RDF_TYPE: graph.get_predicate_iri(type_candidate),
                v.RDFS_SUB_CLASS_OF: graph.get_predicate_iri(max(fitting)[1]),
            }
    return {}


def _select_at_ends(graph: GraphArrays, order: int, nodes: Ids) -> Ids:
    ends = (graph.get_ends(order), graph.get_ends(order, inverse=True))
    return reduce(np.union1d, (intersect(nodes, end_nodes) for end_nodes in ends))
