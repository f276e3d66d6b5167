"""Neighbours of nodes, as text: the names of the things they are linked with, and short values."""

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from askgraph.metadata.names import local_name
from askgraph.rdf import vocabulary as v
from askgraph.traversal.arrays import GraphArrays, Ids
from askgraph.traversal.literals import Sort

_PASSED_OVER = (v.RDF_TYPE, v.OWL_SAME_AS, *v.DESCRIPTION_PREDICATES)
_EACH = 2
_MOST = 8
_LONGEST_VALUE = 80
_LONGEST = 240

Marks = NDArray[np.bool_]


@dataclass(frozen=True, eq=False)
class Neighbours:
    """Tells nodes apart that have no name; `label` is the literal that names a term, -1 of none."""

    graph: GraphArrays
    label: Ids
    followed: Marks  # by predicate number

    @classmethod
    def over(
        cls, graph: GraphArrays, names: Sequence[int], languages: Sequence[str]
    ) -> "Neighbours":
        """Read off a graph how things are called; `names` are predicates, the best first."""
        label = np.full(len(graph.terms), -1, dtype=np.int32)
        for number in reversed(names):
            subjects, objects = graph.between(0, len(graph.terms), number)
            ranks = _ranks(graph, objects, languages)
            for rank in range(len(languages) + 1, -1, -1):
                label[subjects[ranks == rank]] = objects[ranks == rank]
        followed = np.ones(len(graph.predicates), dtype=np.bool_)
        for iri in _PASSED_OVER:
            passed_over = graph.number(iri)
            if passed_over is not None:
                followed[passed_over] = False
        return cls(graph, label, followed)

    def of_part(self, first: int, last: int, wanted: Marks) -> dict[int, str]:
        """Return what hangs on the wanted ids from `first` to before `last`, if anything does.

        At most two neighbours by each predicate and eight in all: things before texts, these
        before numbers and dates.
        """
        if not wanted.any():
            return {}
        sources, targets, orders = self._edges(first, last, wanted)
        order = np.lexsort((np.arange(len(sources)), orders, sources))
        listed: dict[int, list[int]] = defaultdict(list)
        for source, target in zip(sources[order].tolist(), targets[order].tolist(), strict=True):
            listed[source].append(target)
        told = ((at, self._told(dict.fromkeys(targets))) for at, targets in listed.items())
        return {at: text for at, text in told if text}

    def _edges(self, first: int, last: int, wanted: Marks) -> tuple[Ids, Ids, NDArray[np.int8]]:
        """Sources, targets and what sort of neighbour the target is, by predicate."""
        empty = np.zeros(0, dtype=np.int32)
        sources, targets, orders = [empty], [empty], [np.zeros(0, dtype=np.int8)]
        for inverse in (False, True):
            for number in self._present(first, last, inverse=inverse):
                near, far = self.graph.between(first, last, number, inverse=inverse)
                kept = wanted[near - first]
                near, far = near[kept], far[kept]
                few = _places(near) < _EACH
                near, far = near[few], far[few]
                sources.append(near)
                targets.append(far)
                orders.append(self._order(far, inverse=inverse))
        return np.concatenate(sources), np.concatenate(targets), np.concatenate(orders)

    def _present(self, first: int, last: int, *, inverse: bool) -> list[int]:
        graph = self.graph
        offsets = graph.in_offsets if inverse else graph.out_offsets
        listed = graph.in_predicates if inverse else graph.out_predicates
        tally = np.bincount(listed[offsets[first] : offsets[last]], minlength=len(graph.predicates))
        return np.flatnonzero((tally > 0) & self.followed).tolist()

    def _order(self, targets: Ids, *, inverse: bool) -> NDArray[np.int8]:
        """0 for a thing, 1 for one that points here, 2 for a text, 3 for any other literal."""
        found = np.full(len(targets), int(inverse), dtype=np.int8)
        literal = targets < self.graph.terms.first_iri
        sorts = self.graph.sorts[targets[literal]]
        found[literal] = np.where(sorts == Sort.TEXT, 2, 3)
        return found

    def _told(self, targets: dict[int, None]) -> str:
        parts: dict[str, None] = {}
        for target in targets:
            text = self._called(target)
            if text and len(text) <= _LONGEST_VALUE:
                parts[text] = None
            if len(parts) == _MOST:
                break
        return ", ".join(parts)[:_LONGEST]

    def _called(self, target: int) -> str:
        terms = self.graph.terms
        if terms.is_literal(target):
            return terms.value(target)
        named = int(self.label[target])
        if named >= 0:
            return terms.value(named)
        return local_name(terms.value(target)) if terms.is_iri(target) else ""


def _ranks(graph: GraphArrays, targets: Ids, languages: Sequence[str]) -> NDArray[np.int8]:
    """0 for a literal in the first language, more for the later ones and for none; -1 for a node.

    Read off the last bytes, since there may be millions of them.
    """
    ranks = np.full(len(targets), len(languages) + 1, dtype=np.int8)
    ends = graph.terms.offsets[targets + 1]
    endings = [*(f'"@{language}' for language in languages), '"']
    for rank, ending in reversed(list(enumerate(endings))):
        same = np.ones(len(targets), dtype=np.bool_)
        for back, byte in enumerate(reversed(ending.encode()), start=1):
            same &= graph.terms.blob[ends - back] == byte
        ranks[same] = rank
    ranks[targets >= graph.terms.first_iri] = -1
    return ranks


def _places(sources: Ids) -> NDArray[np.int64]:
    """Return the place of each among those that are equal and follow each other."""
    starts = np.flatnonzero(np.diff(sources, prepend=-1))
    lengths = np.diff(starts, append=len(sources))
    return np.arange(len(sources)) - np.repeat(starts, lengths)
