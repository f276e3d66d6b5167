"""A graph's triples as sorted integer arrays: answer sets are grown by steps, not by queries.

Ids are those of the `TermTable`; predicates also have a number of their own, 0 … P-1. Each
predicate's triples lie together, once sorted by subject and once by object; a second pair of
orders gives the edges of a node. Sets of nodes are sorted arrays of distinct ids (int32).
"""

from array import array
from bisect import bisect_left
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, fields
from functools import cached_property
from itertools import chain, count, islice, pairwise
from pathlib import Path
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from pyoxigraph import BlankNode, Literal, NamedNode, Quad, Triple

from askgraph.graph.literals import Sort, measured, put_as_stored, split_literal, term_of
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
    """Terms by id; `offsets` has one entry more than there are terms."""

    blob: NDArray[np.uint8]
    offsets: NDArray[np.int64]

    @cached_property
    def first_iri(self) -> int:
        """The first id of an IRI: those below are literals."""
        return self._place(b"<")

    @cached_property
    def first_blank(self) -> int:
        """The first id of a blank node: those below are IRIs or literals."""
        return self._place(b"_")

    @classmethod
    def of(cls, texts: Iterable[str]) -> Self:
        """Build from sorted, distinct N-Triples terms."""
        blob, lengths = bytearray(), array("q", [0])
        rest = iter(texts)
        while encoded := [text.encode() for text in islice(rest, _BLOCK)]:
            lengths.extend(map(len, encoded))
            blob += b"".join(encoded)
        offsets = np.cumsum(np.frombuffer(lengths, dtype=np.int64))
        return cls(np.frombuffer(blob, dtype=np.uint8), offsets)

    @classmethod
    def load(cls, folder: Path) -> Self:
        """Open a saved table without reading it into memory."""
        return cls(mapped(folder / "terms.npy"), mapped(folder / "term_offsets.npy"))

    def save(self, folder: Path) -> None:
        """Write the table into a folder."""
        np.save(folder / "terms.npy", self.blob)
        np.save(folder / "term_offsets.npy", self.offsets)

    def __len__(self) -> int:
        return len(self.offsets) - 1

    def text(self, at: int) -> str:
        """Return the N-Triples text of a term."""
        return self._bytes(at).decode()

    def value(self, at: int) -> str:
        """Return the IRI, the literal's lexical form, or the blank node's name."""
        text = self.text(at)
        if text[0] == "<":
            return text[1:-1]
        return text[2:] if text[0] == "_" else split_literal(text)[0]

    def values(self, ids: NDArray[np.integer]) -> Iterator[str]:
        """Yield the values of some terms, faster than one by one; see `value`."""
        blob = self.blob.data
        for first in range(0, len(ids), _BLOCK):
            some = ids[first : first + _BLOCK]
            places = zip(self.offsets[some].tolist(), self.offsets[some + 1].tolist(), strict=True)
            for start, end in places:
                text = str(blob[start:end], "utf-8")
                if text[0] == '"':
                    yield split_literal(text)[0]
                else:
                    yield text[1:-1] if text[0] == "<" else text[2:]

    def term(self, at: int) -> NamedNode | BlankNode | Literal:
        """Return a term as pyoxigraph has it."""
        return term_of(self.text(at))

    def find(self, text: str) -> int | None:
        """Return the id of an N-Triples term, or None if the graph does not have it."""
        wanted = text.encode()
        at = self._place(wanted)
        return at if at < len(self) and self._bytes(at) == wanted else None

    def iri(self, iri: str) -> int | None:
        """Return the id of an IRI."""
        return self.find(f"<{iri}>")

    def is_literal(self, at: int) -> bool:
        """Return whether a term is a literal."""
        return at < self.first_iri

    def is_iri(self, at: int) -> bool:
        """Return whether a term is an IRI."""
        return self.first_iri <= at < self.first_blank

    def starting(self, prefix: str) -> range:
        """Return the ids of all terms that start with this N-Triples text."""
        start = prefix.encode()
        return range(self._place(start), self._place(start + b"\xff"))

    def _bytes(self, at: int) -> bytes:
        return self.blob[self.offsets[at] : self.offsets[at + 1]].tobytes()

    def _place(self, wanted: bytes) -> int:
        return bisect_left(range(len(self)), wanted, key=self._bytes)


def mapped(path: Path) -> NDArray[Any]:
    """Open a saved array without reading it, as a plain one: slices of `numpy.memmap` are slow."""
    return np.asarray(np.load(path, mmap_mode="r"))


Ids = NDArray[np.int32]

_BLOCK = 65_536  # terms that are encoded together
_TOLD = 50_000  # triples after which progress is told
_MANY, _SPARSE = 10_000, 32
"""So many ids, one in so many of all at least, are marked rather than sorted or looked up."""
_FEW, _FEW_EDGES = 8, 256
"""The predicates of so few nodes with so few edges are put together faster one by one."""
_MOST_BYTES, _MOST_EDGES = 4_000_000, 500_000
"""Up to so many bytes tell the predicates of all nodes, if the graph has no more edges."""


@dataclass(frozen=True, eq=False, repr=False)
class GraphArrays:
    """The triples of a graph, read-only; `complete` is False if only a part was fetched."""

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
        """Open saved arrays without reading them into memory."""
        arrays: dict[str, Any] = {name: mapped(folder / f"{name}.npy") for name in _saved()}
        return cls(TermTable.load(folder), **arrays)

    def save(self, folder: Path) -> None:
        """Write all arrays into an existing folder."""
        self.terms.save(folder)
        for name in _saved():
            np.save(folder / f"{name}.npy", getattr(self, name))

    def __len__(self) -> int:
        return len(self.subjects)

    @cached_property
    def numbers(self) -> dict[int, int]:
        """The number of each predicate by its term id."""
        return {int(term): number for number, term in enumerate(self.predicates)}

    def number(self, iri: str) -> int | None:
        """Return the number of a predicate, or None if no triple has it."""
        return self._numbers_by_iri.get(iri)

    @cached_property
    def _numbers_by_iri(self) -> dict[str, int]:
        return {iri: number for number, iri in enumerate(self._iris)}

    def iri_of(self, predicate: int) -> str:
        """Return the IRI of a predicate's number."""
        return self._iris[predicate]

    @cached_property
    def _iris(self) -> list[str]:
        """The IRIs of all predicates by their numbers."""
        return [self.terms.value(int(term)) for term in self.predicates]

    def size(self, predicate: int) -> int:
        """Return the number of triples with a predicate."""
        return int(self.predicate_offsets[predicate + 1] - self.predicate_offsets[predicate])

    def pairs(self, nodes: Ids, predicate: int, *, inverse: bool = False) -> tuple[Ids, Ids]:
        """Return (source, target) of each edge that leaves the nodes, in the order of sources."""
        sources, targets = self._order(predicate, inverse=inverse)
        if len(nodes) * 8 > len(sources):
            if not len(nodes):
                kept = np.zeros(len(sources), dtype=np.bool_)
            elif len(sources) > _MANY and (last := max(nodes[-1], sources[-1])) < _SPARSE * len(
                sources
            ):
                kept = _marks(nodes, int(last))[sources]
            else:
                kept = np.asarray(nodes.take(nodes.searchsorted(sources), mode="clip") == sources)
            return sources[kept], targets[kept]
        left = sources.searchsorted(nodes, side="left")
        right = sources.searchsorted(nodes, side="right")
        if len(nodes) == 1:
            found = targets[left[0] : right[0]]
            return nodes.repeat(len(found)), found
        counts = right - left
        at = _ranges(left, counts)
        return nodes.repeat(counts), targets[at]

    def between(
        self, first: int, last: int, predicate: int, *, inverse: bool = False
    ) -> tuple[Ids, Ids]:
        """Return (source, target) of each edge that leaves the ids from `first` to before `last`.

        For a walk over all nodes in parts: no edge is looked at twice.
        """
        sources, targets = self._order(predicate, inverse=inverse)
        start, end = sources.searchsorted(np.array((first, last), dtype=np.int32))
        return sources[start:end], targets[start:end]

    def step(self, nodes: Ids, predicate: int, *, inverse: bool = False) -> Ids:
        """Return the nodes that one edge of a predicate away from a set."""
        if len(nodes) == 1:
            return self.pairs(nodes, predicate, inverse=inverse)[1]
        return distinct(self.pairs(nodes, predicate, inverse=inverse)[1])

    def follow(self, node: int, iri: str, *, inverse: bool = False) -> list[int]:
        """Return the nodes one edge away from a node, by a predicate's IRI."""
        number = self.number(iri)
        if number is None:
            return []
        ends = self.step(np.array([node], dtype=np.int32), number, inverse=inverse)
        found: list[int] = ends.tolist()
        return found

    def bearers(self, nodes: Ids, predicate: int, *, inverse: bool = False) -> Ids:
        """Return those of the nodes that an edge of a predicate leaves."""
        return _first_of_each(self.pairs(nodes, predicate, inverse=inverse)[0])

    def closure(self, nodes: Ids, predicate: int, *, inverse: bool = False) -> Ids:
        """Return the nodes that one or more edges of a predicate away from a set."""
        reached = frontier = self.step(nodes, predicate, inverse=inverse)
        while len(frontier):
            found = self.step(frontier, predicate, inverse=inverse)
            frontier = found[reached.take(reached.searchsorted(found), mode="clip") != found]
            reached = distinct(np.concatenate((reached, frontier))) if len(frontier) else reached
        return reached

    def ends(self, predicate: int, *, inverse: bool = False) -> Ids:
        """Return all subjects of a predicate, or all its objects."""
        return _first_of_each(self._order(predicate, inverse=inverse)[0])

    def predicates_of(self, nodes: Ids, *, inverse: bool = False) -> tuple[Ids, NDArray[np.int64]]:
        """Return the predicates that leave (or enter) a set, and how many edges each has."""
        offsets, listed = self._edges(inverse=inverse)
        if len(nodes) == 1:
            edges = listed[offsets[nodes[0]] : offsets[nodes[0] + 1]]
        else:
            left = offsets[nodes]
            edges = listed[_ranges(left, offsets[nodes + 1] - left)]
        tally = np.bincount(edges, minlength=len(self.predicates))
        present = np.flatnonzero(tally)
        return present.astype(np.int32), tally[present]

    def _edges(self, *, inverse: bool) -> tuple[NDArray[np.int64], Ids]:
        if inverse:
            return self.in_offsets, self.in_predicates
        return self.out_offsets, self.out_predicates

    def present(self, nodes: Ids, *, inverse: bool = False) -> frozenset[int]:
        """Return the predicates that leave (or enter) a set."""
        if self._masks is not None:
            masks = self._masks[inverse].take(nodes, axis=0)
            mask = (masks if len(nodes) == 1 else np.bitwise_or.reduce(masks)).tobytes()
            if mask not in self._sets:
                bits = np.unpackbits(np.frombuffer(mask, dtype=np.uint8), bitorder="little")
                self._sets[mask] = frozenset(bits.nonzero()[0].tolist())
            return self._sets[mask]
        if len(nodes) <= _FEW:
            offsets, listed = self._edges(inverse=inverse)
            edges = [(int(offsets[node]), int(offsets[node + 1])) for node in nodes.tolist()]
            if sum(end - start for start, end in edges) <= _FEW_EDGES:
                return frozenset(at for start, end in edges for at in listed[start:end].tolist())
        return frozenset(self.predicates_of(nodes, inverse=inverse)[0].tolist())

    @cached_property
    def _masks(self) -> tuple[NDArray[np.uint8], NDArray[np.uint8]] | None:
        """For each node the predicates that leave it, as bits, and those that enter it.

        None for a graph that is too large for that.
        """
        width = len(self.predicates) // 8 + 1
        if len(self.terms) * width > _MOST_BYTES or len(self) > _MOST_EDGES:
            return None
        masks = np.zeros((2, len(self.terms), width), dtype=np.uint8)
        for mask, inverse in zip(masks, (False, True), strict=True):
            offsets, listed = self._edges(inverse=inverse)
            nodes = np.arange(len(self.terms)).repeat(np.diff(offsets))
            bits = np.left_shift(1, listed & 7).astype(np.uint8)
            np.bitwise_or.at(mask, (nodes, listed >> 3), bits)
        return masks[0], masks[1]

    @cached_property
    def _sets(self) -> dict[bytes, frozenset[int]]:
        """The sets of predicates that were asked for, by their bits."""
        return {}

    def degree(self, node: int) -> int:
        """Return the number of edges at a node, both ways."""
        leaving = self.out_offsets[node + 1] - self.out_offsets[node]
        return int(leaving + self.in_offsets[node + 1] - self.in_offsets[node])

    def predicate_count(self, node: int) -> int:
        """Return the number of different predicates that leave a node."""
        return len(
            np.unique(self.out_predicates[self.out_offsets[node] : self.out_offsets[node + 1]])
        )

    def _order(self, predicate: int, *, inverse: bool) -> tuple[Ids, Ids]:
        start, end = self._starts[predicate], self._starts[predicate + 1]
        if inverse:
            return self.objects_sorted[start:end], self.subjects_of[start:end]
        return self.subjects[start:end], self.objects[start:end]

    @cached_property
    def _starts(self) -> list[int]:
        """The offsets of predicates as Python's numbers, by which slicing is faster."""
        return [int(offset) for offset in self.predicate_offsets]


def in_both(one: Ids, other: Ids) -> Ids:
    """Return the ids that are in both sets; faster than `numpy.intersect1d` on small sets."""
    small, large = (one, other) if len(one) <= len(other) else (other, one)
    if not len(small):
        return small
    if len(small) > _MANY and (last := max(small[-1], large[-1])) < _SPARSE * len(large):
        return np.asarray(small[_marks(large, int(last))[small]])
    return np.asarray(small[large.take(large.searchsorted(small), mode="clip") == small])


def _ranges(starts: NDArray[np.int64], counts: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return start, start + 1, … for each start, as many as its count says, one after another."""
    ends = counts.cumsum()
    total = int(ends[-1]) if len(ends) else 0
    return np.asarray(np.arange(total) + (starts - ends + counts).repeat(counts))


def distinct(ids: Ids) -> Ids:
    """Return the distinct ids, sorted; faster than `numpy.unique` on the arrays here."""
    if len(ids) < 2:
        return ids
    if len(ids) > _MANY and (last := ids.max()) < _SPARSE * len(ids):
        return np.flatnonzero(_marks(ids, int(last))).astype(np.int32)
    ordered = ids.copy()
    ordered.sort()
    return _first_of_each(ordered)


def tallied(ids: NDArray[Any]) -> tuple[NDArray[Any], NDArray[np.int64]]:
    """Return the distinct ids, sorted, and how often each is there."""
    if not len(ids) or ids.max() > _SPARSE * len(ids):
        return np.unique(ids, return_counts=True)
    counts = np.bincount(ids)
    found = np.flatnonzero(counts)
    return found.astype(ids.dtype), counts[found]


def _first_of_each(ordered: Ids) -> Ids:
    """Return the distinct ids of sorted ones."""
    if len(ordered) < 2:
        return ordered
    kept = np.empty(len(ordered), dtype=np.bool_)
    kept[0] = True
    np.not_equal(ordered[1:], ordered[:-1], out=kept[1:])
    return np.asarray(ordered[kept])


def _marks(ids: Ids, last: int) -> NDArray[np.bool_]:
    """Return which of the ids up to the last are there."""
    marks = np.zeros(last + 1, dtype=np.bool_)
    marks[ids] = True
    return marks


Row = tuple[str, str, str]
"""A triple as the N-Triples texts of its terms."""


def build_arrays(
    triples: Iterable[Triple | Quad | Row],
    *,
    progress: Callable[[int], None] | None = None,
    complete: bool = True,
    as_stored: bool = False,
) -> GraphArrays:
    """Build the arrays of a graph; of quads, the union of all graphs. Triple terms are left out.

    `progress` is told the number of triples read so far, every 50,000. With `as_stored`
    literals have the form in which a store of ours gives them back.
    """
    ids: defaultdict[str, int] = defaultdict(count().__next__)
    flat = array("i")
    rows = _rows(triples)
    while some := list(islice(rows, _TOLD)):
        flat.extend(map(ids.__getitem__, chain.from_iterable(some)))
        if len(some) == _TOLD and progress is not None:
            progress(len(flat) // 3)
    texts, numbered = list(ids), np.frombuffer(flat, dtype=np.int32).reshape(-1, 3)
    if as_stored:
        put_as_stored(texts)
    terms, rank = _ranked(texts)
    del texts
    rank.take(numbered, out=numbered, mode="clip")  # in place: there may be many millions
    return _arranged(terms, numbered, complete=complete)


def _rows(triples: Iterable[Triple | Quad | Row]) -> Iterator[Row]:
    for triple in triples:
        if isinstance(triple, tuple):
            yield triple
        elif not isinstance(triple.subject, Triple) and not isinstance(triple.object, Triple):
            yield str(triple.subject), str(triple.predicate), str(triple.object)


def _ranked(texts: list[str]) -> tuple[TermTable, Ids]:
    """Return the table of the terms, and the place of each; some may be there twice."""
    order = sorted(range(len(texts)), key=texts.__getitem__)  # as their bytes sort in UTF-8
    new = np.ones(len(order), dtype=np.bool_)
    new[1:] = [texts[one] != texts[other] for one, other in pairwise(order)]
    rank = np.empty(len(order), dtype=np.int32)
    rank[order] = np.cumsum(new) - 1
    distinct = (texts[at] for at, first in zip(order, new.tolist(), strict=True) if first)
    return TermTable.of(distinct), rank


def _arranged(terms: TermTable, edges: NDArray[np.int32], *, complete: bool) -> GraphArrays:
    predicates = edges[:, 1]
    named = np.flatnonzero(np.bincount(predicates, minlength=len(terms))).astype(np.int32)
    number_of = np.zeros(len(terms), dtype=np.uint16 if len(named) < 1 << 16 else np.int32)
    number_of[named] = np.arange(len(named))
    numbers = number_of[predicates]
    order = np.argsort(numbers, kind="stable")  # of 16 bits: in linear time
    starts = np.cumsum(np.bincount(numbers, minlength=len(named))).tolist()
    there = np.zeros(len(named) + 1, dtype=np.int64)
    subjects, objects, objects_sorted, subjects_of = np.empty((4, len(edges)), dtype=np.int32)
    for number, (start, end) in enumerate(pairwise([0, *starts])):
        some = order[start:end]
        leaving = _distinct_keys(edges[some, 0], edges[some, 2])
        entering = _distinct_keys(*_split(leaving)[::-1])
        at = there[number]
        there[number + 1] = to = at + len(leaving)
        subjects[at:to], objects[at:to] = _split(leaving)
        objects_sorted[at:to], subjects_of[at:to] = _split(entering)
    del edges, order, numbers
    size = int(there[-1])
    by_subject, by_object = subjects[:size], objects_sorted[:size]
    sorts, values = _measures(terms)
    return GraphArrays(
        terms=terms,
        predicates=named,
        predicate_offsets=there,
        subjects=by_subject,
        objects=objects[:size],
        objects_sorted=by_object,
        subjects_of=subjects_of[:size],
        out_offsets=_offsets(by_subject, len(terms)),
        out_predicates=_numbers_at(by_subject, there),
        in_offsets=_offsets(by_object, len(terms)),
        in_predicates=_numbers_at(by_object, there),
        sorts=sorts,
        values=values,
        complete=complete,
    )


def _distinct_keys(first: Ids, second: Ids) -> NDArray[np.int64]:
    """Return the distinct pairs in their order, as one number each."""
    keys = first.astype(np.int64)
    keys <<= 32
    keys |= second
    keys.sort()
    new = np.ones(len(keys), dtype=np.bool_)
    np.not_equal(keys[1:], keys[:-1], out=new[1:])
    return np.asarray(keys[new])


def _split(keys: NDArray[np.int64]) -> tuple[Ids, Ids]:
    return (keys >> 32).astype(np.int32), (keys & 0xFFFFFFFF).astype(np.int32)


def _numbers_at(nodes: Ids, starts: NDArray[np.int64]) -> Ids:
    """Return the predicate of each edge, the edges of a node together; they lie by predicate."""
    keys = nodes.astype(np.int64)
    keys <<= 32
    keys |= np.repeat(np.arange(len(starts) - 1), np.diff(starts))
    keys.sort()
    return _split(keys)[1]


def _offsets(ids: NDArray[np.int32], size: int) -> NDArray[np.int64]:
    return np.concatenate(([0], np.cumsum(np.bincount(ids, minlength=size))))


def _measures(terms: TermTable) -> tuple[NDArray[np.uint8], NDArray[np.float64]]:
    sorts = np.full(terms.first_iri, Sort.TEXT, dtype=np.uint8)
    values = np.full(terms.first_iri, np.nan)
    for at, text in enumerate(_literals(terms)):
        if text[text.rindex('"') + 1 :][:1] != "@":  # what has a language is a text
            sorts[at], values[at] = measured(text)
    return sorts, values


def _literals(terms: TermTable) -> Iterator[str]:
    """Yield the texts of all literals."""
    for first in range(0, terms.first_iri, _BLOCK):
        places = terms.offsets[first : min(first + _BLOCK, terms.first_iri) + 1].tolist()
        some = terms.blob[places[0] : places[-1]].tobytes()
        for start, end in pairwise(places):
            yield some[start - places[0] : end - places[0]].decode()


def _saved() -> list[str]:
    """Return the names of the arrays: all fields but the terms and whether they are complete."""
    return [one.name for one in fields(GraphArrays)[1:-1]]


def objects_of(
    graph: GraphArrays, iri: str, predicate: str, *, inverse: bool = False
) -> tuple[str, ...]:
    """Return the IRIs that a predicate leads to from a resource."""
    at = graph.terms.iri(iri)
    ends = graph.follow(at, predicate, inverse=inverse) if at is not None else []
    return tuple(graph.terms.value(end) for end in ends if graph.terms.is_iri(end))


def names_of(graph: GraphArrays, iri: str) -> tuple[tuple[str, str], ...]:
    """Return the (text, language) names that a resource has by the standard name predicates.

    A predicate without any has those of the property that it is a form of.
    """
    naming = v.LABEL_PREDICATES + v.ALTERNATIVE_LABEL_PREDICATES
    return texts_of(graph, iri, naming) or tuple(
        name
        for form in v.WIKIBASE_FORMS
        for property_ in objects_of(graph, iri, form, inverse=True)
        for name in texts_of(graph, property_, naming)
    )


def texts_of(
    graph: GraphArrays, iri: str, predicates: Sequence[str]
) -> tuple[tuple[str, str], ...]:
    """Return the (text, language) pairs that some predicates give a resource, in their order."""
    at = graph.terms.iri(iri)
    ends = [end for p in predicates for end in graph.follow(at, p)] if at is not None else []
    literals = (split_literal(graph.terms.text(end)) for end in ends if graph.terms.is_literal(end))
    return tuple(dict.fromkeys((text, language or "") for text, _, language in literals))
