"""Store a graph's triples as sorted integer arrays, so that search needs no queries.

Ids are positions in the `TermTable`; predicates also have numbers of their own, 0 to P-1. The
triples of each predicate are contiguous, sorted once by subject and once by object; two more arrays
list the predicates of each node. Sets of nodes are sorted arrays of distinct ids (int32).
"""

from array import array
from bisect import bisect_left
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, fields, replace
from functools import cached_property
from itertools import chain, count, islice, pairwise
from pathlib import Path
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from pyoxigraph import BlankNode, Literal, NamedNode, Quad, Triple

from askgraph.graph.literals import (
    ValueKind,
    normalize_literals,
    parse_term,
    parse_value,
    split_literal,
)
from askgraph.sparql import vocabulary as v


@dataclass(frozen=True)
class Seeds:
    """The terms that a question mentions: IRIs, and literals as N-Triples text."""

    entities: tuple[str, ...] = ()
    literals: tuple[str, ...] = ()
    classes: tuple[str, ...] = ()
    predicates: tuple[str, ...] = ()


@dataclass(frozen=True, eq=False, repr=False)
class TermTable:
    """Sorted terms by id."""

    blob: NDArray[np.uint8]  # all N-Triples texts, concatenated as UTF-8
    offsets: NDArray[np.int64]  # start of each text in `blob`, and the end of the last

    @cached_property
    def first_iri(self) -> int:
        """The first id of an IRI: lower ids are literals."""
        return self._locate(b"<")

    @cached_property
    def first_blank(self) -> int:
        """The first id of a blank node: lower ids are IRIs or literals."""
        return self._locate(b"_")

    @classmethod
    def from_texts(cls, texts: Iterable[str]) -> Self:
        """Build a table from sorted, distinct N-Triples terms."""
        blob, lengths = bytearray(), array("q", [0])
        remaining = iter(texts)
        while block := [text.encode() for text in islice(remaining, _BLOCK_SIZE)]:
            lengths.extend(map(len, block))
            blob += b"".join(block)
        offsets = np.cumsum(np.frombuffer(lengths, dtype=np.int64))
        return cls(np.frombuffer(blob, dtype=np.uint8), offsets)

    @classmethod
    def load(cls, folder: Path) -> Self:
        """Open a saved table by memory mapping."""
        return cls(open_array(folder / "terms.npy"), open_array(folder / "term_offsets.npy"))

    def save(self, folder: Path) -> None:
        """Write the table to a folder."""
        np.save(folder / "terms.npy", self.blob)
        np.save(folder / "term_offsets.npy", self.offsets)

    def __len__(self) -> int:
        return len(self.offsets) - 1

    def get_text(self, term_id: int) -> str:
        """Return the N-Triples text of a term."""
        return self._get_bytes(term_id).decode()

    def get_value(self, term_id: int) -> str:
        """Return the IRI, the literal's lexical form, or the blank node's name."""
        text = self.get_text(term_id)
        if text[0] == "<":
            return text[1:-1]
        return text[2:] if text[0] == "_" else split_literal(text)[0]

    def iterate_values(self, ids: NDArray[np.integer]) -> Iterator[str]:
        """Yield the values of some terms, faster than one by one; see `get_value`."""
        blob = self.blob.data
        for first in range(0, len(ids), _BLOCK_SIZE):
            block = ids[first : first + _BLOCK_SIZE]
            ranges = zip(
                self.offsets[block].tolist(), self.offsets[block + 1].tolist(), strict=True
            )
            for start, end in ranges:
                text = str(blob[start:end], "utf-8")
                if text[0] == '"':
                    yield split_literal(text)[0]
                else:
                    yield text[1:-1] if text[0] == "<" else text[2:]

    def get_term(self, term_id: int) -> NamedNode | BlankNode | Literal:
        """Return a term as a pyoxigraph object."""
        return parse_term(self.get_text(term_id))

    def find(self, text: str) -> int | None:
        """Return the id of an N-Triples term, or None if the graph does not contain it."""
        key = text.encode()
        term_id = self._locate(key)
        return term_id if term_id < len(self) and self._get_bytes(term_id) == key else None

    def find_iri(self, iri: str) -> int | None:
        """Return the id of an IRI, or None if the graph does not contain it."""
        return self.find(f"<{iri}>")

    def is_literal(self, term_id: int) -> bool:
        """Return whether a term is a literal."""
        return term_id < self.first_iri

    def is_iri(self, term_id: int) -> bool:
        """Return whether a term is an IRI."""
        return self.first_iri <= term_id < self.first_blank

    def find_prefix(self, prefix: str) -> range:
        """Return the ids of all terms that start with an N-Triples text."""
        start = prefix.encode()
        return range(self._locate(start), self._locate(start + b"\xff"))

    def _get_bytes(self, term_id: int) -> bytes:
        return self.blob[self.offsets[term_id] : self.offsets[term_id + 1]].tobytes()

    def _locate(self, key: bytes) -> int:
        return bisect_left(range(len(self)), key, key=self._get_bytes)


def open_array(path: Path) -> NDArray[Any]:
    """Memory-map a saved array as a plain array: slices of `numpy.memmap` are slow."""
    return np.asarray(np.load(path, mmap_mode="r"))


Ids = NDArray[np.int32]

_BLOCK_SIZE = 65_536  # terms that are encoded together
_KIND_SAMPLE_SIZE = 5_000  # texts whose kinds are compared with those of today
_PROGRESS_BATCH_SIZE = 50_000  # triples between two progress reports
_MAX_FLATTENED_TRIPLES = 1_000_000  # of a graph whose lists are flattened
_MIN_MARKED_COUNT, _MAX_SPARSE_RATIO = 10_000, 32
"""Sets of more ids than this, and at least one in 32 of all ids, use a boolean mask."""
_MAX_DIRECT_NODES, _MAX_DIRECT_EDGES = 8, 256
"""Up to this size, collecting the predicates of nodes in a loop is faster."""
_MAX_MASK_BYTES, _MAX_MASK_EDGES = 4_000_000, 500_000
"""Up to these sizes, bit masks of the predicates of all nodes are cached."""


@dataclass(frozen=True, eq=False, repr=False)
class GraphArrays:
    """The triples of a graph, read-only; `complete` is False if only a part was fetched.

    "By predicate" means in the order of predicate numbers.
    """

    terms: TermTable
    predicates: Ids  # term id of each predicate number
    predicate_offsets: NDArray[np.int64]  # where each predicate's triples start
    subjects: Ids  # by predicate, then subject
    objects: Ids
    objects_sorted: Ids  # by predicate, then object
    subjects_of: Ids
    out_offsets: NDArray[np.int64]  # by subject: its predicates
    out_predicates: Ids
    in_offsets: NDArray[np.int64]  # by object: its predicates
    in_predicates: Ids
    sorts: NDArray[np.uint8]  # Sort of each literal id (those below terms.first_iri)
    values: NDArray[np.float64]
    complete: bool = True

    @classmethod
    def load(cls, folder: Path) -> Self:
        """Open saved arrays by memory mapping."""
        arrays: dict[str, Any] = {
            name: open_array(folder / f"{name}.npy") for name in _list_array_fields()
        }
        return cls(TermTable.load(folder), **arrays)

    def save(self, folder: Path) -> None:
        """Write all arrays to an existing folder."""
        self.terms.save(folder)
        for name in _list_array_fields():
            np.save(folder / f"{name}.npy", getattr(self, name))

    def has_current_kinds(self) -> bool:
        """Return whether a sample of dates and texts that begin as values has the kinds of today.

        An older version may have read some dates as plain texts, or texts as dates.
        """
        kinds = (ValueKind.TEXT, ValueKind.DATE, ValueKind.YEAR)
        texts = np.flatnonzero(np.isin(self.sorts, kinds))
        second_bytes = self.terms.blob[self.terms.offsets[texts] + 1]  # after the quotation mark
        is_digit = (second_bytes >= ord("0")) & (second_bytes <= ord("9"))
        numeric = texts[is_digit | (second_bytes == ord("P"))]
        sample = numeric[:: len(numeric) // _KIND_SAMPLE_SIZE + 1].tolist()
        return all(parse_value(self.terms.get_text(at))[0] == self.sorts[at] for at in sample)

    def iterate_texts(self) -> "Iterator[TripleTexts]":
        """Yield all triples as N-Triples texts."""
        get_text = self.terms.get_text
        for number, term in enumerate(self.predicates.tolist()):
            predicate, (start, end) = get_text(term), self._starts[number : number + 2]
            ends = self.subjects[start:end].tolist(), self.objects[start:end].tolist()
            for subject, value in zip(*ends, strict=True):
                yield get_text(subject), predicate, get_text(value)

    @cached_property
    def list_predicates(self) -> frozenset[str]:
        """IRIs of the predicates of data that lead to RDF lists; empty for a very large graph."""
        first = self.get_predicate_number(v.RDF_FIRST)
        if first is None or len(self) > _MAX_FLATTENED_TRIPLES:
            return frozenset()
        cells = self.get_ends(first)
        ends = ((n, self.get_ends(n, inverse=True)) for n in range(len(self.predicates)))
        iris = (self.get_predicate_iri(n) for n, ids in ends if len(intersect(ids, cells)))
        return frozenset(iri for iri in iris if not iri.startswith((v.RDF, v.OWL, v.SH)))

    @cached_property
    def flattened(self) -> "GraphArrays":
        """The arrays with links to the members of lists in place of those to the lists."""
        first, following = map(self.get_predicate_number, (v.RDF_FIRST, v.RDF_REST))
        if first is None or following is None or not self.list_predicates:
            return self
        predicates = self.predicates.repeat(np.diff(self.predicate_offsets))
        edges = np.stack((self.subjects, predicates, self.objects), axis=1)
        lists = [term for iri in self.list_predicates if (term := self.terms.find_iri(iri))]
        is_list = np.isin(predicates, lists) & np.isin(self.objects, self.get_ends(first))
        links = [
            (subject, predicate, member)
            for subject, predicate, head in edges[is_list].tolist()
            for further in [self.compute_closure(np.array([head], np.int32), following)]
            for member in self.step(np.union1d(further, [head]).astype(np.int32), first)
        ]
        edges = np.concatenate((edges[~is_list], np.array(links, dtype=np.int32)))
        return _arrange(self.terms, edges, complete=self.complete)

    def drop_predicates(self, iris: Iterable[str]) -> Self:
        """Return the arrays without the triples of some predicates."""
        numbers = [n for n in map(self.get_predicate_number, iris) if n is not None]
        sizes = np.diff(self.predicate_offsets)
        is_kept = np.ones(len(sizes), dtype=np.bool_)
        is_kept[numbers] = False
        rows = is_kept.repeat(sizes)
        offsets = np.concatenate(([0], np.cumsum(sizes[is_kept])))
        subjects, objects = self.subjects[rows], self.objects_sorted[rows]
        return replace(
            self,
            predicates=self.predicates[is_kept],
            predicate_offsets=offsets,
            subjects=subjects,
            objects=self.objects[rows],
            objects_sorted=objects,
            subjects_of=self.subjects_of[rows],
            out_offsets=_compute_offsets(subjects, len(self.terms)),
            out_predicates=_group_predicates(subjects, offsets),
            in_offsets=_compute_offsets(objects, len(self.terms)),
            in_predicates=_group_predicates(objects, offsets),
        )

    def __len__(self) -> int:
        return len(self.subjects)

    @cached_property
    def numbers(self) -> dict[int, int]:
        """The number of each predicate by its term id."""
        return {int(term): number for number, term in enumerate(self.predicates)}

    def get_predicate_number(self, iri: str) -> int | None:
        """Return the number of a predicate, or None if no triple uses it."""
        return self._numbers_by_iri.get(iri)

    @cached_property
    def _numbers_by_iri(self) -> dict[str, int]:
        return {iri: number for number, iri in enumerate(self._iris)}

    def get_predicate_iri(self, predicate: int) -> str:
        """Return the IRI of a predicate by its number."""
        return self._iris[predicate]

    @cached_property
    def _iris(self) -> list[str]:
        return [self.terms.get_value(int(term)) for term in self.predicates]

    def count_triples(self, predicate: int) -> int:
        """Return the number of triples of a predicate."""
        return int(self.predicate_offsets[predicate + 1] - self.predicate_offsets[predicate])

    def get_edges(self, nodes: Ids, predicate: int, *, inverse: bool = False) -> tuple[Ids, Ids]:
        """Return the sources and targets of all edges of a predicate from the nodes, by source."""
        sources, targets = self._get_sorted_edges(predicate, inverse=inverse)
        if len(nodes) * 8 > len(sources):
            if not len(nodes):
                is_selected = np.zeros(len(sources), dtype=np.bool_)
            elif len(sources) > _MIN_MARKED_COUNT and (
                last := max(nodes[-1], sources[-1])
            ) < _MAX_SPARSE_RATIO * len(sources):
                is_selected = _mark_ids(nodes, int(last))[sources]
            else:
                is_selected = np.asarray(
                    nodes.take(nodes.searchsorted(sources), mode="clip") == sources
                )
            return sources[is_selected], targets[is_selected]
        starts = sources.searchsorted(nodes, side="left")
        ends = sources.searchsorted(nodes, side="right")
        if len(nodes) == 1:
            node_targets = targets[starts[0] : ends[0]]
            return nodes.repeat(len(node_targets)), node_targets
        counts = ends - starts
        return nodes.repeat(counts), targets[_concatenate_ranges(starts, counts)]

    def get_edges_in_range(
        self, first: int, last: int, predicate: int, *, inverse: bool = False
    ) -> tuple[Ids, Ids]:
        """Return the sources and targets of all edges from the ids `first` to before `last`.

        For iterating over all nodes in blocks: no edge is read twice.
        """
        sources, targets = self._get_sorted_edges(predicate, inverse=inverse)
        start, end = sources.searchsorted(np.array((first, last), dtype=np.int32))
        return sources[start:end], targets[start:end]

    def step(self, nodes: Ids, predicate: int, *, inverse: bool = False) -> Ids:
        """Return the nodes that one edge of a predicate leads to from a set of nodes."""
        if len(nodes) == 1:
            return self.get_edges(nodes, predicate, inverse=inverse)[1]
        return deduplicate(self.get_edges(nodes, predicate, inverse=inverse)[1])

    def follow(self, node: int, iri: str, *, inverse: bool = False) -> list[int]:
        """Return the nodes that one edge leads to from a node, by the predicate's IRI."""
        number = self.get_predicate_number(iri)
        if number is None:
            return []
        ends = self.step(np.array([node], dtype=np.int32), number, inverse=inverse)
        targets: list[int] = ends.tolist()
        return targets

    def select_sources(self, nodes: Ids, predicate: int, *, inverse: bool = False) -> Ids:
        """Return the nodes that have an edge of a predicate."""
        return _drop_repeats(self.get_edges(nodes, predicate, inverse=inverse)[0])

    def compute_closure(self, nodes: Ids, predicate: int, *, inverse: bool = False) -> Ids:
        """Return the nodes that one or more edges of a predicate lead to from a set of nodes."""
        reached = frontier = self.step(nodes, predicate, inverse=inverse)
        while len(frontier):
            targets = self.step(frontier, predicate, inverse=inverse)
            frontier = targets[reached.take(reached.searchsorted(targets), mode="clip") != targets]
            reached = deduplicate(np.concatenate((reached, frontier))) if len(frontier) else reached
        return reached

    def get_ends(self, predicate: int, *, inverse: bool = False) -> Ids:
        """Return all subjects of a predicate, or all its objects if `inverse`."""
        return _drop_repeats(self._get_sorted_edges(predicate, inverse=inverse)[0])

    def count_predicates(
        self, nodes: Ids, *, inverse: bool = False
    ) -> tuple[Ids, NDArray[np.int64]]:
        """Return the predicates of edges from (or to) a set of nodes, and their edge counts."""
        offsets, predicates = self._get_adjacency(inverse=inverse)
        if len(nodes) == 1:
            edges = predicates[offsets[nodes[0]] : offsets[nodes[0] + 1]]
        else:
            starts = offsets[nodes]
            edges = predicates[_concatenate_ranges(starts, offsets[nodes + 1] - starts)]
        tally = np.bincount(edges, minlength=len(self.predicates))
        present = np.flatnonzero(tally)
        return present.astype(np.int32), tally[present]

    def _get_adjacency(self, *, inverse: bool) -> tuple[NDArray[np.int64], Ids]:
        if inverse:
            return self.in_offsets, self.in_predicates
        return self.out_offsets, self.out_predicates

    def get_predicates(self, nodes: Ids, *, inverse: bool = False) -> frozenset[int]:
        """Return the predicates of edges from (or to) a set of nodes."""
        if self._masks is not None:
            masks = self._masks[inverse].take(nodes, axis=0)
            mask = (masks if len(nodes) == 1 else np.bitwise_or.reduce(masks)).tobytes()
            if mask not in self._predicate_sets:
                bits = np.unpackbits(np.frombuffer(mask, dtype=np.uint8), bitorder="little")
                self._predicate_sets[mask] = frozenset(bits.nonzero()[0].tolist())
            return self._predicate_sets[mask]
        if len(nodes) <= _MAX_DIRECT_NODES:
            offsets, predicates = self._get_adjacency(inverse=inverse)
            edges = [(int(offsets[node]), int(offsets[node + 1])) for node in nodes.tolist()]
            if sum(end - start for start, end in edges) <= _MAX_DIRECT_EDGES:
                return frozenset(
                    number for start, end in edges for number in predicates[start:end].tolist()
                )
        return frozenset(self.count_predicates(nodes, inverse=inverse)[0].tolist())

    @cached_property
    def _masks(self) -> tuple[NDArray[np.uint8], NDArray[np.uint8]] | None:
        """Bit masks of the predicates that leave each node, and of those that enter it."""
        # None if the graph is too large.
        width = len(self.predicates) // 8 + 1
        if len(self.terms) * width > _MAX_MASK_BYTES or len(self) > _MAX_MASK_EDGES:
            return None
        masks = np.zeros((2, len(self.terms), width), dtype=np.uint8)
        for mask, inverse in zip(masks, (False, True), strict=True):
            offsets, predicates = self._get_adjacency(inverse=inverse)
            nodes = np.arange(len(self.terms)).repeat(np.diff(offsets))
            bits = np.left_shift(1, predicates & 7).astype(np.uint8)
            np.bitwise_or.at(mask, (nodes, predicates >> 3), bits)
        return masks[0], masks[1]

    @cached_property
    def _predicate_sets(self) -> dict[bytes, frozenset[int]]:
        return {}

    def get_degree(self, node: int) -> int:
        """Return the number of edges at a node in both directions."""
        leaving = self.out_offsets[node + 1] - self.out_offsets[node]
        return int(leaving + self.in_offsets[node + 1] - self.in_offsets[node])

    def count_outgoing_predicates(self, node: int) -> int:
        """Return the number of distinct predicates that leave a node."""
        return len(
            np.unique(self.out_predicates[self.out_offsets[node] : self.out_offsets[node + 1]])
        )

    def _get_sorted_edges(self, predicate: int, *, inverse: bool) -> tuple[Ids, Ids]:
        start, end = self._starts[predicate], self._starts[predicate + 1]
        if inverse:
            return self.objects_sorted[start:end], self.subjects_of[start:end]
        return self.subjects[start:end], self.objects[start:end]

    @cached_property
    def _starts(self) -> list[int]:
        """The offsets of predicates as Python integers, which make slicing faster."""
        return [int(offset) for offset in self.predicate_offsets]


def intersect(first: Ids, second: Ids) -> Ids:
    """Return the intersection of two sets of ids; faster than numpy on small sets."""
    small, large = (first, second) if len(first) <= len(second) else (second, first)
    if not len(small):
        return small
    if len(small) > _MIN_MARKED_COUNT and (
        last := max(small[-1], large[-1])
    ) < _MAX_SPARSE_RATIO * len(large):
        return np.asarray(small[_mark_ids(large, int(last))[small]])
    return np.asarray(small[large.take(large.searchsorted(small), mode="clip") == small])


def _concatenate_ranges(starts: NDArray[np.int64], counts: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return start, start + 1, … for each start, `counts` many of each, concatenated."""
    ends = counts.cumsum()
    total = int(ends[-1]) if len(ends) else 0
    return np.asarray(np.arange(total) + (starts - ends + counts).repeat(counts))


def deduplicate(ids: Ids) -> Ids:
    """Return the distinct ids, sorted; faster than `numpy.unique` on these arrays."""
    if len(ids) < 2:
        return ids
    if len(ids) > _MIN_MARKED_COUNT and (last := ids.max()) < _MAX_SPARSE_RATIO * len(ids):
        return np.flatnonzero(_mark_ids(ids, int(last))).astype(np.int32)
    sorted_ids = ids.copy()
    sorted_ids.sort()
    return _drop_repeats(sorted_ids)


def tally_ids(ids: NDArray[Any]) -> tuple[NDArray[Any], NDArray[np.int64]]:
    """Return the distinct ids, sorted, and the count of each."""
    if not len(ids) or ids.max() > _MAX_SPARSE_RATIO * len(ids):
        return np.unique(ids, return_counts=True)
    counts = np.bincount(ids)
    present = np.flatnonzero(counts)
    return present.astype(ids.dtype), counts[present]


def _drop_repeats(sorted_ids: Ids) -> Ids:
    if len(sorted_ids) < 2:
        return sorted_ids
    is_first = np.empty(len(sorted_ids), dtype=np.bool_)
    is_first[0] = True
    np.not_equal(sorted_ids[1:], sorted_ids[:-1], out=is_first[1:])
    return np.asarray(sorted_ids[is_first])


def _mark_ids(ids: Ids, last: int) -> NDArray[np.bool_]:
    marks = np.zeros(last + 1, dtype=np.bool_)
    marks[ids] = True
    return marks


TripleTexts = tuple[str, str, str]
"""A triple as the N-Triples texts of its terms."""


def build_arrays(
    triples: Iterable[Triple | Quad | TripleTexts],
    *,
    progress: Callable[[int], None] | None = None,
    complete: bool = True,
    as_stored: bool = False,
) -> GraphArrays:
    """Build the arrays of a graph; for quads, of the union of all graphs.

    Triples with triple terms are skipped.

    Args:
        progress: Called with the number of triples read, every 50,000.
        complete: Whether these are all triples of the graph.
        as_stored: Normalize literals to the form in which our store returns them.
    """
    ids: defaultdict[str, int] = defaultdict(count().__next__)
    flat = array("i")
    rows = _iterate_texts(triples)
    while batch := list(islice(rows, _PROGRESS_BATCH_SIZE)):
        flat.extend(map(ids.__getitem__, chain.from_iterable(batch)))
        if len(batch) == _PROGRESS_BATCH_SIZE and progress is not None:
            progress(len(flat) // 3)
    texts, triple_ids = list(ids), np.frombuffer(flat, dtype=np.int32).reshape(-1, 3)
    if as_stored:
        normalize_literals(texts)
    order = sorted(range(len(texts)), key=texts.__getitem__)  # as their bytes sort in UTF-8
    is_first = np.ones(len(order), dtype=np.bool_)
    is_first[1:] = [
        texts[position] != texts[next_position] for position, next_position in pairwise(order)
    ]
    rank = np.empty(len(order), dtype=np.int32)
    rank[order] = np.cumsum(is_first) - 1
    distinct_texts = (
        texts[position]
        for position, is_first_text in zip(order, is_first.tolist(), strict=True)
        if is_first_text
    )
    terms = TermTable.from_texts(distinct_texts)
    del texts, order, is_first, distinct_texts
    rank.take(triple_ids, out=triple_ids, mode="clip")  # in place, as there may be many millions
    return _arrange(terms, triple_ids, complete=complete)


def _iterate_texts(triples: Iterable[Triple | Quad | TripleTexts]) -> Iterator[TripleTexts]:
    for triple in triples:
        if isinstance(triple, tuple):
            yield triple
        elif not isinstance(triple.subject, Triple) and not isinstance(triple.object, Triple):
            yield str(triple.subject), str(triple.predicate), str(triple.object)


def _arrange(terms: TermTable, edges: NDArray[np.int32], *, complete: bool) -> GraphArrays:
    predicates = edges[:, 1]
    predicate_ids = np.flatnonzero(np.bincount(predicates, minlength=len(terms))).astype(np.int32)
    number_of = np.zeros(len(terms), dtype=np.uint16 if len(predicate_ids) < 1 << 16 else np.int32)
    number_of[predicate_ids] = np.arange(len(predicate_ids))
    numbers = number_of[predicates]
    order = np.argsort(numbers, kind="stable")  # of 16 bits: in linear time
    starts = np.cumsum(np.bincount(numbers, minlength=len(predicate_ids))).tolist()
    predicate_offsets = np.zeros(len(predicate_ids) + 1, dtype=np.int64)
    subjects, objects, objects_sorted, subjects_of = np.empty((4, len(edges)), dtype=np.int32)
    for number, (start, end) in enumerate(pairwise([0, *starts])):
        selected = order[start:end]
        leaving = _build_pair_keys(edges[selected, 0], edges[selected, 2])
        entering = _build_pair_keys(*_split_keys(leaving)[::-1])
        start_position = predicate_offsets[number]
        predicate_offsets[number + 1] = end_position = start_position + len(leaving)
        subjects[start_position:end_position], objects[start_position:end_position] = _split_keys(
            leaving
        )
        objects_sorted[start_position:end_position], subjects_of[start_position:end_position] = (
            _split_keys(entering)
        )
    del edges, order, numbers
    size = int(predicate_offsets[-1])
    by_subject, by_object = subjects[:size], objects_sorted[:size]
    sorts = np.full(terms.first_iri, ValueKind.TEXT, dtype=np.uint8)
    values = np.full(terms.first_iri, np.nan)
    for term_id, text in enumerate(_iterate_literals(terms)):
        has_language = text[text.rindex('"') + 1 :][:1] == "@"
        if not has_language or text[1].isdigit():  # with a language, a text or a date
            sorts[term_id], values[term_id] = parse_value(text)
    return GraphArrays(
        terms=terms,
        predicates=predicate_ids,
        predicate_offsets=predicate_offsets,
        subjects=by_subject,
        objects=objects[:size],
        objects_sorted=by_object,
        subjects_of=subjects_of[:size],
        out_offsets=_compute_offsets(by_subject, len(terms)),
        out_predicates=_group_predicates(by_subject, predicate_offsets),
        in_offsets=_compute_offsets(by_object, len(terms)),
        in_predicates=_group_predicates(by_object, predicate_offsets),
        sorts=sorts,
        values=values,
        complete=complete,
    )


def _build_pair_keys(first: Ids, second: Ids) -> NDArray[np.int64]:
    """Return the distinct pairs in order, each as one integer."""
    keys = first.astype(np.int64)
    keys <<= 32
    keys |= second
    keys.sort()
    is_first = np.ones(len(keys), dtype=np.bool_)
    np.not_equal(keys[1:], keys[:-1], out=is_first[1:])
    return np.asarray(keys[is_first])


def _split_keys(keys: NDArray[np.int64]) -> tuple[Ids, Ids]:
    return (keys >> 32).astype(np.int32), (keys & 0xFFFFFFFF).astype(np.int32)


def _group_predicates(nodes: Ids, starts: NDArray[np.int64]) -> Ids:
    keys = nodes.astype(np.int64)
    keys <<= 32
    keys |= np.repeat(np.arange(len(starts) - 1), np.diff(starts))
    keys.sort()
    return _split_keys(keys)[1]


def _compute_offsets(ids: NDArray[np.int32], size: int) -> NDArray[np.int64]:
    return np.concatenate(([0], np.cumsum(np.bincount(ids, minlength=size))))


def _iterate_literals(terms: TermTable) -> Iterator[str]:
    for first in range(0, terms.first_iri, _BLOCK_SIZE):
        positions = terms.offsets[first : min(first + _BLOCK_SIZE, terms.first_iri) + 1].tolist()
        block = terms.blob[positions[0] : positions[-1]].tobytes()
        for start, end in pairwise(positions):
            yield block[start - positions[0] : end - positions[0]].decode()


def _list_array_fields() -> list[str]:
    return [field.name for field in fields(GraphArrays)[1:-1]]


def get_objects(
    graph: GraphArrays, iri: str, predicate: str, *, inverse: bool = False
) -> tuple[str, ...]:
    """Return the IRIs that a predicate links from a resource."""
    node = graph.terms.find_iri(iri)
    ends = graph.follow(node, predicate, inverse=inverse) if node is not None else []
    return tuple(graph.terms.get_value(end) for end in ends if graph.terms.is_iri(end))


def get_names(graph: GraphArrays, iri: str) -> tuple[tuple[str, str], ...]:
    """Return the (text, language) names of a resource by the standard name predicates.

    A predicate without names has those of the Wikibase property that it is a form of.
    """
    naming = v.LABEL_PREDICATES + v.ALTERNATIVE_LABEL_PREDICATES
    return get_texts(graph, iri, naming) or tuple(
        name
        for form in v.WIKIBASE_FORMS
        for property_ in get_objects(graph, iri, form, inverse=True)
        for name in get_texts(graph, property_, naming)
    )


def get_texts(
    graph: GraphArrays, iri: str, predicates: Sequence[str]
) -> tuple[tuple[str, str], ...]:
    """Return the (text, language) values of a resource for some predicates, in their order."""
    node = graph.terms.find_iri(iri)
    ends = [end for p in predicates for end in graph.follow(node, p)] if node is not None else []
    literals = (
        split_literal(graph.terms.get_text(end)) for end in ends if graph.terms.is_literal(end)
    )
    return tuple(dict.fromkeys((text, language or "") for text, _, language in literals))
