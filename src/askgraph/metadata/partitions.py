"""Partitions of a graph in arrays: class, predicate, and the class or datatype it leads to.

Nodes with the same classes are counted together, so that time grows with the triples, not with
classes times predicates.
"""

from collections import Counter, defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from askgraph.metadata import Partition
from askgraph.rdf import vocabulary as v
from askgraph.traversal.arrays import GraphArrays, Ids
from askgraph.traversal.literals import split_literal

__all__ = ["partitions_of", "sorted_counts"]

_COUNTED = 100_000  # literals of one predicate whose datatypes are read; of more, evenly chosen


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


def sorted_counts(counted: Counter[str]) -> tuple[tuple[str, int], ...]:
    """Return (name, number) pairs, the highest number first, equal ones by name."""
    return tuple(sorted(counted.items(), key=lambda item: (-item[1], item[0])))


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


@dataclass
class _Tally:
    """What is counted of one class at one predicate."""

    triples: int = 0
    subjects: int = 0
    objects: int = 0


def _partitions(graph: GraphArrays, number: int, groups: _Groups) -> Iterator[Partition]:
    subjects, objects = graph.pairs(graph.ends(number), number)
    tallies = _tallies(groups, subjects, objects)
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
    for cls, tally in tallies.items():
        yield Partition(
            cls,
            iri,
            tally.triples,
            tally.subjects,
            tally.objects,
            sorted_counts(targets[cls]),
            sorted_counts(datatypes[cls]),
        )


def _tallies(groups: _Groups, subjects: Ids, objects: Ids) -> dict[str, _Tally]:
    tallies: dict[str, _Tally] = defaultdict(_Tally)
    size = len(groups.classes)
    triples = np.bincount(groups.of[subjects], minlength=size)
    having = np.bincount(groups.of[np.unique(subjects)], minlength=size)
    ends: dict[str, list[int]] = defaultdict(list)
    for group in np.flatnonzero(triples).tolist():
        for cls in groups.classes[group]:
            tallies[cls].triples += int(triples[group])
            tallies[cls].subjects += int(having[group])
            ends[cls].append(group)
    keys = np.unique(groups.of[subjects] * np.int64(2**32) + objects)
    from_group, distinct = keys >> 32, keys & (2**32 - 1)
    single = np.bincount(from_group, minlength=size)
    for cls, its in ends.items():
        if len(its) == 1:
            tallies[cls].objects = int(single[its[0]])
        else:
            tallies[cls].objects = len(np.unique(distinct[np.isin(from_group, its)]))
    return tallies


def _pair_counts(
    first: NDArray[Any], second: NDArray[Any], size: int
) -> Iterator[tuple[int, int, int]]:
    keys, counts = np.unique(first * size + second, return_counts=True)
    for key, count in zip(keys.tolist(), counts.tolist(), strict=True):
        yield key // size, key % size, count


def _datatypes(graph: GraphArrays, literals: Ids) -> tuple[NDArray[np.int64], list[str]]:
    """The number of each literal's datatype, and the datatypes."""
    distinct, at = np.unique(literals, return_inverse=True)
    names: dict[str, int] = {}
    numbers = np.zeros(len(distinct), dtype=np.int64)
    step = max(1, len(distinct) // _COUNTED)
    for place in range(0, len(distinct), step):
        text = graph.terms.text(int(distinct[place]))
        datatype = split_literal('"' + text[text.rindex('"') :])[1]
        numbers[place : place + step] = names.setdefault(datatype, len(names))
    return numbers[at], list(names)
