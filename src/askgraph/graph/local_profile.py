"""The profile of a graph whose triples lie in arrays: everything counted, nothing sampled.

A Wikibase has words of its own for `rdf:type` and `rdfs:subClassOf`: what its items are is said by
two of its properties, and `rdf:type` is left to the nodes that only carry statements. Which two
these are, the shape of the graph tells (`own_types`): nearly everything has the one, and it leads
to classes, which the other one orders.
"""

from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from functools import lru_cache, reduce
from typing import Any

import numpy as np
from numpy.typing import NDArray

from askgraph.graph.arrays import (
    GraphArrays,
    Ids,
    TermTable,
    distinct,
    in_both,
    names_of,
    objects_of,
    tallied,
    texts_of,
)
from askgraph.graph.literals import Sort, split_literal
from askgraph.graph.names import is_hierarchy, name_score, naming_role
from askgraph.graph.profile import (
    ClassProfile,
    Counts,
    Partition,
    PredicateProfile,
    Profile,
    complete,
    sorted_counts,
    standard_naming,
)
from askgraph.sparql import vocabulary as v
from askgraph.sparql.rdf_files import OwnTypes

_SAMPLE = 2000
_COUNTED = 100_000


def profile_of(graph: GraphArrays, *, source: str = "") -> Profile:
    """Profile a whole graph; time grows with its triples, not with classes times predicates."""
    predicates = tuple(_predicate(graph, p) for p in range(len(graph.predicates)))
    inverses = _inverses(graph, predicates)
    predicates = tuple(
        replace(p, inverse_of=tuple(sorted(inverses[p.iri] - {p.iri}))) for p in predicates
    )
    classes = [
        _class(graph, iri, members, predicates) for iri, members in _instances(graph).items()
    ]
    languages: Counter[str] = Counter()
    for p in predicates:
        languages.update(dict(p.languages))
    profile = Profile(
        triples=len(graph),
        classes=tuple(sorted(classes, key=lambda c: (-c.instances, c.iri))),
        predicates=tuple(sorted(predicates, key=lambda p: (-p.triples, p.iri))),
        languages=tuple(languages.most_common()),
        source=source,
        created=datetime.now(UTC).isoformat(timespec="seconds"),
        partitions=partitions_of(graph),
        types=tuple(own_types(graph).items()),
        described=_described(graph),
    )
    return replace(profile, completeness=complete(profile))


def _inverses(graph: GraphArrays, predicates: Sequence[PredicateProfile]) -> Mapping[str, set[str]]:
    """Return the predicates that are declared to be another one's inverse, or say just that."""
    inverses: dict[str, set[str]] = defaultdict(set)
    turned: dict[tuple[int, int, int], list[PredicateProfile]] = defaultdict(list)
    linking = [p for p in predicates if p.object_classes and p.triples > 1]
    for q in linking:
        turned[q.triples, q.objects, q.subjects].append(q)
    pairs = [(p.iri, q) for p in predicates for q in p.inverse_of]
    for p in linking:
        forwards = graph.between(0, len(graph.terms), graph.number(p.iri) or 0)
        for q in turned[p.triples, p.subjects, p.objects]:
            if p.iri < q.iri:
                number = graph.number(q.iri) or 0
                backwards = graph.between(0, len(graph.terms), number, inverse=True)
                if all(map(np.array_equal, forwards, backwards)):
                    pairs.append((p.iri, q.iri))
    for one, other in pairs:
        inverses[one].add(other)
        inverses[other].add(one)
    return inverses


_WHOLES = (
    v.VOID_DATASET,
    "http://www.w3.org/ns/dcat#Dataset",
    v.SCHEMA_HTTPS + "Dataset",
    v.SCHEMA + "Dataset",
    v.OWL_ONTOLOGY,
)


def _described(graph: GraphArrays) -> tuple[tuple[str, str], ...]:
    """What the graph says of itself: of the one data set that it describes, else the ontology."""
    kinds = (objects_of(graph, kind, v.RDF_TYPE, inverse=True) for kind in _WHOLES)
    found = (texts_of(graph, *some, v.DESCRIPTION_PREDICATES) for some in kinds if len(some) == 1)
    return next(filter(None, found), ())


def _instances(graph: GraphArrays) -> dict[str, Ids]:
    kind = graph.number(v.RDF_TYPE)
    if kind is None:
        return {}
    classes = graph.ends(kind, inverse=True)
    return {
        graph.terms.value(int(c)): graph.step(np.array([c], dtype=np.int32), kind, inverse=True)
        for c in classes
        if graph.terms.is_iri(int(c))
    }


def _class(
    graph: GraphArrays, iri: str, members: Ids, predicates: tuple[PredicateProfile, ...]
) -> ClassProfile:
    named = []
    for number, count in zip(*graph.predicates_of(members), strict=True):
        predicate = predicates[number]
        if predicate.naming == "name" and count >= 0.5 * len(members):
            bearers, names = graph.pairs(members, int(number))
            coverage, different = len(distinct(bearers)) / len(members), len(distinct(names))
            score = name_score(predicate.iri, iri, coverage, different / len(names))
            named.append((score, predicate.iri))
    name = max(named)[1] if named else None
    return ClassProfile(
        iri=iri,
        instances=len(members),
        names=names_of(graph, iri),
        parents=objects_of(graph, iri, v.RDFS_SUB_CLASS_OF),
        name_predicate=name,
        nary=name is None and _links(graph, members) >= 2,
    )


def _links(graph: GraphArrays, members: Ids) -> float:
    sample = members[:_SAMPLE]
    linked = 0
    for predicate in graph.predicates_of(sample)[0]:
        iri = graph.iri_of(int(predicate))
        if iri in (v.RDF_TYPE, v.OWL_SAME_AS):
            continue
        sources, targets = graph.pairs(sample, int(predicate))
        if len(targets) and not graph.terms.is_literal(int(targets[0])):
            linked += len(distinct(sources))
    return linked / len(sample)


def _predicate(graph: GraphArrays, number: int) -> PredicateProfile:
    iri = graph.iri_of(number)
    subjects, objects = graph.ends(number), graph.ends(number, inverse=True)
    literals = objects[objects < graph.terms.first_iri]
    resources = objects[objects >= graph.terms.first_iri]
    datatypes, languages = _literal_types(graph, number, len(literals))
    draft = PredicateProfile(
        iri=iri,
        triples=graph.size(number),
        subjects=len(subjects),
        objects=len(objects),
        names=names_of(graph, iri),
        subject_classes=_classes_of(graph, subjects),
        object_classes=_classes_of(graph, resources)
        or (((v.RDFS_RESOURCE, len(resources)),) if len(resources) else ()),
        datatypes=datatypes,
        languages=languages,
        transitive=is_hierarchy(graph, number),
        inverse_of=objects_of(graph, iri, v.OWL_INVERSE_OF),
    )
    samples = [graph.terms.value(int(at)) for at in literals[:: max(1, len(literals) // 200)]]
    texts = bool(len(literals)) and float(np.mean(graph.sorts[literals] == Sort.TEXT)) > 0.8
    role = naming_role(draft, samples) if texts else standard_naming(iri)
    return replace(draft, naming=role if draft.datatypes else "")


def _classes_of(graph: GraphArrays, nodes: Ids) -> Counts:
    kind = graph.number(v.RDF_TYPE)
    if kind is None or not len(nodes):
        return ()
    classes, counts = tallied(graph.pairs(nodes, kind)[1])
    named = zip(classes.tolist(), counts.tolist(), strict=True)
    return sorted_counts(
        Counter({graph.terms.value(cls): n for cls, n in named if graph.terms.is_iri(cls)})
    )


def _literal_types(graph: GraphArrays, predicate: int, literals: int) -> tuple[Counts, Counts]:
    """Datatypes and languages with their numbers of triples; of very many, scaled up."""
    datatypes: Counter[str] = Counter()
    languages: Counter[str] = Counter()
    ends, counts = tallied(graph.between(0, graph.terms.first_iri, predicate, inverse=True)[0])
    step = max(1, literals // _COUNTED)
    for at, count in zip(ends[::step].tolist(), counts[::step].tolist(), strict=True):
        datatype, language = _kind(graph.terms, at)
        datatypes[datatype] += step * count
        if language:
            languages[language] += step * count
    return tuple(datatypes.most_common()), tuple(languages.most_common())


def _kind(terms: TermTable, at: int) -> tuple[str, str | None]:
    """Return the datatype and the language of a literal."""
    text = terms.text(at)
    return _kind_of_ending(text[text.rindex('"') :])


@lru_cache(maxsize=1000)
def _kind_of_ending(ending: str) -> tuple[str, str | None]:
    return split_literal(f'"{ending}')[1:]


_READ = 100_000  # literals of one predicate whose datatypes are read; of more, evenly chosen


def partitions_of(graph: GraphArrays) -> tuple[Partition, ...]:
    """Return the partitions of all classes, in order of class and predicate.

    All numbers are exact, but for datatypes of a predicate that has several of them over more than
    100,000 different literals.
    """
    groups = _groups(graph)
    found: list[Partition] = []
    if groups is not None:
        for number in range(len(graph.predicates)):
            found += _partitions(graph, number, groups)
    return tuple(sorted(found, key=lambda one: (one.cls, one.predicate)))


@dataclass(frozen=True)
class _Groups:
    """The group of each node (0: of no class), and the classes of each group."""

    of: NDArray[np.int64]
    classes: tuple[tuple[str, ...], ...]


def _groups(graph: GraphArrays) -> _Groups | None:
    kind = graph.number(v.RDF_TYPE)
    if kind is None:
        return None
    nodes, classes = graph.pairs(graph.ends(kind), kind)
    named = (classes >= graph.terms.first_iri) & (classes < graph.terms.first_blank)
    nodes, classes = nodes[named], classes[named]
    members, starts = np.unique(nodes, return_index=True)
    if not len(members):
        return None
    weights = np.random.default_rng(7).integers(1, 2**62, size=len(graph.terms), dtype=np.int64)
    marks = np.add.reduceat(weights[classes], starts)
    _, firsts, group = np.unique(marks, return_index=True, return_inverse=True)
    ends = np.append(starts[1:], len(nodes))
    listed = [
        tuple(graph.terms.value(int(c)) for c in classes[starts[at] : ends[at]]) for at in firsts
    ]
    of = np.zeros(len(graph.terms), dtype=np.int64)
    of[members] = group + 1
    return _Groups(of, ((), *listed))


def _partitions(graph: GraphArrays, number: int, groups: _Groups) -> Iterator[Partition]:
    subjects, objects = graph.between(0, len(graph.terms), number)
    targets: dict[str, Counter[str]] = defaultdict(Counter)
    datatypes: dict[str, Counter[str]] = defaultdict(Counter)
    literal = objects < graph.terms.first_iri
    pairs = (groups.of[subjects[~literal]], groups.of[objects[~literal]])
    for source, target, count in _pair_counts(*pairs, len(groups.classes)):
        for cls in groups.classes[source]:
            for other in groups.classes[target] or (v.RDFS_RESOURCE,):
                targets[cls][other] += count
    kinds, names = _datatypes(graph, objects[literal])
    for source, kind, count in _pair_counts(groups.of[subjects[literal]], kinds, len(names)):
        for cls in groups.classes[source]:
            datatypes[cls][names[kind]] += count
    iri = graph.iri_of(number)
    for cls, sizes in _sizes(graph, number, groups):
        yield Partition(
            cls, iri, *sizes, sorted_counts(targets[cls]), sorted_counts(datatypes[cls])
        )


def _sizes(
    graph: GraphArrays, number: int, groups: _Groups
) -> Iterator[tuple[str, tuple[int, int, int]]]:
    """Yield each class at a predicate with its triples, its subjects, and their objects."""
    size = len(groups.classes)
    objects, subjects = graph.between(0, len(graph.terms), number, inverse=True)
    of = groups.of[subjects]
    triples = np.bincount(of, minlength=size)
    having = np.bincount(groups.of[graph.ends(number)], minlength=size)
    groups_of: dict[str, list[int]] = defaultdict(list)
    for group in np.flatnonzero(triples).tolist():
        for cls in groups.classes[group]:
            groups_of[cls].append(group)
    keys = objects.astype(np.int64) << 32 | of
    keys.sort(kind="stable")  # they nearly are
    keys = keys[np.diff(keys, prepend=-1) != 0]
    from_group, objects = keys & 0xFFFFFFFF, keys >> 32
    single = np.bincount(from_group, minlength=size)
    for cls, its in groups_of.items():
        if len(its) == 1:
            distinct_objects = single[its[0]]
        else:
            own = objects[np.isin(from_group, its)]
            distinct_objects = np.count_nonzero(np.diff(own, prepend=-1))
        yield cls, (int(triples[its].sum()), int(having[its].sum()), int(distinct_objects))


def _pair_counts(
    first: NDArray[Any], second: NDArray[Any], size: int
) -> Iterator[tuple[int, int, int]]:
    keys, counts = tallied(first * size + second)
    for key, count in zip(keys.tolist(), counts.tolist(), strict=True):
        yield key // size, key % size, count


def _datatypes(graph: GraphArrays, literals: Ids) -> tuple[NDArray[np.int64], list[str]]:
    """Return the number of each literal's datatype, and the datatypes."""
    known = distinct(literals)
    names: dict[str, int] = {}
    numbers = np.zeros(graph.terms.first_iri, dtype=np.int64)
    step = max(1, len(known) // _READ)
    for place in range(0, len(known), step):
        datatype, _ = _kind(graph.terms, int(known[place]))
        numbers[known[place : place + step]] = names.setdefault(datatype, len(names))
    return numbers[literals], list(names)


_CLASSES = 0.9
"""So many of the ends of an own `rdf:type` are classes, and so many of its starts are none."""
_MOST = 0.5
"""So many of the things that any property tells of have it."""


def own_types(graph: GraphArrays) -> OwnTypes:
    """Return the predicates of a Wikibase that say what things and classes are; empty elsewhere."""
    claims = graph.number(v.WIKIBASE_DIRECT)
    if claims is None:
        direct: list[int] = []
    else:
        named = graph.ends(claims, inverse=True).tolist()
        numbers = [graph.numbers[at] for at in named if at in graph.numbers]
        direct = [at for at in numbers if graph.terms.is_iri(int(graph.ends(at, inverse=True)[-1]))]
    if not direct:
        return {}
    starts = {number: graph.ends(number) for number in direct}
    most = max(map(len, starts.values()))
    common = sorted(
        (number for number in direct if len(starts[number]) >= _MOST * most),
        key=lambda number: -len(starts[number]),
    )
    orders = [number for number in direct if is_hierarchy(graph, number)]
    for kind in common:
        ends = graph.ends(kind, inverse=True)
        fitting = [
            (len(_both(graph, order, ends)), order)
            for order in orders
            if order != kind
            and len(_both(graph, order, ends)) >= _CLASSES * len(ends)
            and len(_both(graph, order, starts[kind])) <= _MOST * len(starts[kind])
        ]
        if fitting:
            above = max(fitting)[1]
            return {v.RDF_TYPE: graph.iri_of(kind), v.RDFS_SUB_CLASS_OF: graph.iri_of(above)}
    return {}


def _both(graph: GraphArrays, order: int, nodes: Ids) -> Ids:
    """Those of some nodes that stand at either end of a predicate."""
    ends = (graph.ends(order), graph.ends(order, inverse=True))
    return reduce(np.union1d, (in_both(nodes, some) for some in ends))
