"""Arrays from triples: intern the terms, sort them, sort the triples."""

from collections.abc import Callable, Iterable

import numpy as np
from numpy.typing import NDArray
from pyoxigraph import Quad, Triple

from askgraph.traversal.arrays import GraphArrays, TermTable
from askgraph.traversal.literals import Sort, measured

__all__ = ["build_arrays"]


def build_arrays(
    triples: Iterable[Triple | Quad],
    *,
    progress: Callable[[int], None] | None = None,
    complete: bool = True,
) -> GraphArrays:
    """Build the arrays of a graph; of quads, the union of all graphs. Triple terms are left out.

    `progress` is told the number of triples read so far, every 50,000.
    """
    texts, numbered = _interned(triples, progress)
    order = sorted(range(len(texts)), key=texts.__getitem__)
    rank = np.empty(len(texts), dtype=np.int32)
    rank[order] = np.arange(len(texts), dtype=np.int32)
    terms = TermTable.of([texts[at] for at in order])
    edges = np.unique(rank[numbered], axis=0) if len(numbered) else numbered.reshape(0, 3)
    return _arranged(terms, edges, complete=complete)


def _interned(
    triples: Iterable[Triple | Quad], progress: Callable[[int], None] | None
) -> tuple[list[bytes], NDArray[np.int32]]:
    ids: dict[object, int] = {}
    flat: list[int] = []
    blocks: list[NDArray[np.int32]] = []
    read = 0
    for triple in triples:
        if isinstance(triple.subject, Triple) or isinstance(triple.object, Triple):
            continue
        for term in (triple.subject, triple.predicate, triple.object):
            at = ids.get(term)
            if at is None:
                at = ids[term] = len(ids)
            flat.append(at)
        read += 1
        if read % 50_000 == 0:
            blocks.append(np.array(flat, dtype=np.int32))
            flat.clear()
            if progress is not None:
                progress(read)
    blocks.append(np.array(flat, dtype=np.int32))
    texts = [str(term).encode() for term in ids]
    return texts, np.concatenate(blocks).reshape(-1, 3)


def _arranged(terms: TermTable, edges: NDArray[np.int32], *, complete: bool) -> GraphArrays:
    subjects, predicates, objects = edges[:, 0], edges[:, 1], edges[:, 2]
    named, places = np.unique(predicates, return_inverse=True)
    numbers: NDArray[np.int32] = places.astype(np.int32)
    by_subject = np.lexsort((objects, subjects, numbers))
    by_object = np.lexsort((subjects, objects, numbers))
    leaving, entering = np.argsort(subjects, kind="stable"), np.argsort(objects, kind="stable")
    sorts, values = _measures(terms)
    return GraphArrays(
        terms=terms,
        predicates=named.astype(np.int32),
        predicate_offsets=_offsets(numbers, len(named)),
        subjects=subjects[by_subject],
        objects=objects[by_subject],
        objects_sorted=objects[by_object],
        subjects_of=subjects[by_object],
        out_offsets=_offsets(subjects, len(terms)),
        out_predicates=numbers[leaving],
        in_offsets=_offsets(objects, len(terms)),
        in_predicates=numbers[entering],
        sorts=sorts,
        values=values,
        complete=complete,
    )


def _offsets(ids: NDArray[np.int32], size: int) -> NDArray[np.int64]:
    offsets = np.zeros(size + 1, dtype=np.int64)
    np.cumsum(np.bincount(ids, minlength=size), out=offsets[1:])
    return offsets


def _measures(terms: TermTable) -> tuple[NDArray[np.uint8], NDArray[np.float64]]:
    sorts = np.full(terms.first_iri, Sort.NONE, dtype=np.uint8)
    values = np.full(terms.first_iri, np.nan)
    for at in range(terms.first_iri):
        sorts[at], values[at] = measured(terms.text(at))
    return sorts, values
