"""What is known of a graph that lies here: every link between sorts counted, every name found."""

from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from askgraph.graph import KnowledgeGraph
from askgraph.index.names import NameIndex
from askgraph.rdf.vocabulary import RDF_TYPE, RDFS_SUB_CLASS_OF
from askgraph.traversal.arrays import GraphArrays
from askgraph.validation.knowledge import UNTYPED, Knowledge, PredicateUse, Sorts
from askgraph.validation.nearest import nearest_names
from askgraph.validation.profile_knowledge import profile_knowledge

__all__ = ["array_knowledge", "graph_knowledge"]

_KNOWN: dict[NameIndex, Knowledge] = {}
_MOST = 8  # graphs whose knowledge is kept


def graph_knowledge(graph: KnowledgeGraph) -> Knowledge:
    """Return what is known of a graph: exactly where its triples lie here, else by its profile.

    The first call for a graph of a million triples takes seconds; that of the last eight graphs is
    kept, by their names, which stay the same where only the endpoint is wrapped in another one.
    """
    known = _KNOWN.pop(graph.names, None) or _known(graph)
    _KNOWN[graph.names] = known
    while len(_KNOWN) > _MOST:
        del _KNOWN[next(iter(_KNOWN))]
    return known


def _known(graph: KnowledgeGraph) -> Knowledge:
    arrays, told = graph.arrays, profile_knowledge(graph.profile)
    if arrays is not None and arrays.complete:
        exact = replace(told, complete=1.0, entities=_Resources(arrays, graph))
        told = array_knowledge(exact, arrays)
    return replace(told, prefixes=graph.prefixes)


def array_knowledge(known: Knowledge, arrays: GraphArrays) -> Knowledge:
    """Return the knowledge with the links that the triples of all predicates have."""
    kinds = _Kinds.of(arrays)
    entities = known.entities or _Resources(arrays, None)
    uses = {iri: _exact(use, arrays, kinds) for iri, use in known.predicates.items()}
    return replace(
        known,
        predicates=uses,
        entities=entities,
        together=_together(kinds),
        hierarchy=_hierarchy(arrays),
    )


@dataclass(frozen=True, eq=False)
class _Resources:
    """The resources of arrays; the names that come nearest are those of the graph."""

    arrays: GraphArrays
    graph: KnowledgeGraph | None

    def sorts(self, iri: str) -> Sorts | None:
        at, kind = self.arrays.terms.iri(iri), self.arrays.number(RDF_TYPE)
        if at is None:
            return None
        if kind is None:
            return frozenset([UNTYPED])
        classes = self.arrays.step(np.array([at], dtype=np.int32), kind).tolist()
        terms = self.arrays.terms
        return frozenset(terms.value(one) for one in classes if terms.is_iri(one)) or frozenset(
            [UNTYPED]
        )

    def alike(self, iri: str) -> tuple[str, ...]:
        return () if self.graph is None else nearest_names(self.graph, iri, sort="entities")


@dataclass(frozen=True, eq=False)
class _Kinds:
    """For each term the number of the set of sorts that it has; literals have none, -1."""

    numbers: NDArray[np.int32]
    sorts: tuple[Sorts, ...]

    @classmethod
    def of(cls, arrays: GraphArrays) -> "_Kinds":
        numbers = np.zeros(len(arrays.terms), dtype=np.int32)
        numbers[: arrays.terms.first_iri] = -1
        known: dict[Sorts, int] = {frozenset([UNTYPED]): 0}
        kind = arrays.number(RDF_TYPE)
        if kind is not None:
            names: dict[int, str] = {}
            classes: dict[int, list[str]] = defaultdict(list)
            pairs = arrays.pairs(arrays.ends(kind), kind)
            for node, one in zip(*(part.tolist() for part in pairs), strict=True):
                if arrays.terms.is_iri(one):
                    if one not in names:
                        names[one] = arrays.terms.value(one)
                    classes[node].append(names[one])
            for node, listed in classes.items():
                numbers[node] = known.setdefault(frozenset(listed), len(known))
        return cls(numbers, tuple(known))


def _together(kinds: _Kinds) -> dict[str, Sorts]:
    found: dict[str, set[str]] = defaultdict(set)
    for sorts in kinds.sorts:
        for one in sorts:
            found[one] |= sorts
    return _frozen(found)


def _hierarchy(arrays: GraphArrays) -> dict[str, list[str]]:
    number = arrays.number(RDFS_SUB_CLASS_OF)
    if number is None:
        return {}
    terms, found = arrays.terms, defaultdict[str, list[str]](list)
    pairs = arrays.pairs(arrays.ends(number), number)
    for below, above in zip(*(part.tolist() for part in pairs), strict=True):
        if terms.is_iri(below) and terms.is_iri(above):
            found[terms.value(below)].append(terms.value(above))
    return dict(found)


def _exact(use: PredicateUse, arrays: GraphArrays, kinds: _Kinds) -> PredicateUse:
    number = arrays.number(use.iri)
    if number is None:
        return use
    pairs = arrays.pairs(arrays.ends(number), number)
    both = np.stack([kinds.numbers[part] for part in pairs], axis=1)
    links: dict[str, set[str]] = defaultdict(set)
    for source, target in np.unique(both, axis=0).tolist():
        reached = use.datatypes if target < 0 else kinds.sorts[target]
        for sort in kinds.sorts[source]:
            links[sort] |= reached
    objects = {int(one) for one in np.unique(both[:, 1])} - {-1}
    return replace(
        use,
        subjects=frozenset(links),
        objects=frozenset().union(*(kinds.sorts[one] for one in objects)),
        links=_frozen(links),
        subjects_told=1.0,
        objects_told=1.0,
        links_told=1.0,
    )


def _frozen(links: Mapping[str, set[str]]) -> dict[str, Sorts]:
    return {sort: frozenset(reached) for sort, reached in links.items()}
