"""The resources of an index on disk, numbered from the highest score to the lowest."""

import json
import math
import os
import threading
import weakref
from array import array
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import IO

import numpy as np
from numpy.typing import NDArray

from askgraph.errors import SetupError
from askgraph.index import Hit, Progress, Resource
from askgraph.index.folder import IndexFolder, IndexFolderWriter
from askgraph.sparql.prefixes import split_local_name

Keys = NDArray[np.uint64]
_TEXTS_PER_BLOCK = 1024
_BASE_FACTOR = 0x9E3779B97F4A7C15
_BASE_INVERSE_FACTOR = pow(_BASE_FACTOR, -1, 1 << 64)
_MIX_FACTOR = np.uint64(0xD6E8FEB86659FD93)
_SHIFT_SIZE = np.uint64(32)


def hash_texts(texts: Sequence[str]) -> Keys:
    """Return a 64-bit key for each text, the same on every machine.

    Two of a billion texts share a key with a probability of about 3 %, two of a hundred million
    with one of 0.03 %; compare the texts to be sure.
    """
    blocks = [
        _hash_block(texts[start : start + _TEXTS_PER_BLOCK])
        for start in range(0, len(texts), _TEXTS_PER_BLOCK)
    ]
    return np.concatenate(blocks) if blocks else np.zeros(0, np.uint64)


def _hash_block(texts: Sequence[str]) -> Keys:
    """Read bytes as digits of a number to an odd base, modulo 2 to the 64, then mix the bits."""
    digits = np.frombuffer("\0".join((*texts, "")).encode(), np.uint8)
    starts = np.flatnonzero(digits == 0)
    if len(starts) > len(texts):
        digits = np.frombuffer(
            "\0".join((*[text.replace("\0", "\\0") for text in texts], "")).encode(), np.uint8
        )
        starts = np.flatnonzero(digits == 0)
    starts[1:] = starts[:-1] + 1
    starts[0] = 0
    size = 1 << (len(digits) - 1).bit_length()
    # Each text's number is scaled by its start; dividing by the base undoes this.
    keys: Keys = np.add.reduceat(
        _compute_powers(_BASE_FACTOR, size)[: len(digits)] * (digits + _DIGIT_OFFSET_NUMBER), starts
    )
    keys *= _compute_powers(_BASE_INVERSE_FACTOR, size)[starts]
    keys ^= keys >> _SHIFT_SIZE
    keys *= _MIX_FACTOR
    keys ^= keys >> _SHIFT_SIZE
    return keys


_DIGIT_OFFSET_NUMBER = np.uint8(1)


@lru_cache(maxsize=4)
def _compute_powers(base: int, size: int) -> NDArray[np.uint64]:
    factors = np.full(size, base, dtype=np.uint64)
    factors[0] = 1
    return np.cumprod(factors)


_FIRST_READ_BYTES = 512


class LineReader:
    """Reads lines of a file; stays open, so that a file that replaces it is not read instead."""

    def __init__(self, path: Path) -> None:
        file = path.open("rb", buffering=0)
        self._file = file
        self._lock = threading.Lock()
        weakref.finalize(self, file.close)

    def read_line(self, start: int) -> bytes:
        """Return the line that starts at this byte, without its end."""
        size, line = _FIRST_READ_BYTES, b""
        with self._lock:
            self._file.seek(start, os.SEEK_SET)
            while part := self._file.read(size):
                line += part
                if b"\n" in part:
                    break
                size *= 4
        return line.partition(b"\n")[0]


Numbers = NDArray[np.int64]

_PROGRESS_STEPS = 4096


@dataclass(frozen=True, eq=False, repr=False)
class ResourceTable:
    """The resources of an index; read-only. The names of a resource have consecutive numbers.

    All but the records is memory-mapped: a mapped file would keep the pages around each record.

    Attributes:
        records: the file of resources, one JSON line each.
        starts: the start of each record, in bytes.
        first_names: the number of each resource's first name, and the total at the end.
        keys: the sorted keys of the IRIs.
        numbers: the resource of each key.
    """

    records: LineReader
    starts: NDArray[np.integer]
    first_names: NDArray[np.int32]  # one longer than the resources
    keys: Keys  # sorted
    numbers: NDArray[np.int32]  # of the sorted keys

    @classmethod
    def open(cls, folder: IndexFolder) -> "ResourceTable":
        """Map the table of an index into memory."""
        fields = (folder.map_array(f"table_{name}") for name in _FIELDS)
        return cls(LineReader(folder.path / "table_records.jsonl"), *fields)

    def __len__(self) -> int:
        return len(self.starts)

    def read_resource(self, number: int) -> Resource:
        """Return the resource of a number."""
        record = self.records.read_line(int(self.starts[number]))
        iri, label, synonyms, score, infos = json.loads(record)
        return Resource(iri, label, tuple(synonyms), score, tuple(infos))

    def iterate_resources(self) -> Iterator[Resource]:
        """Yield all resources in the order of their numbers."""
        return (self.read_resource(number) for number in range(len(self)))

    def find(self, iri: str) -> Resource | None:
        """Return the resource of an IRI, or None."""
        for number in self.find_numbers((iri,)).tolist():
            resource = self.read_resource(number)
            if resource.iri == iri:
                return resource
        return None

    def find_numbers(self, iris: Collection[str]) -> Numbers:
        """Return the numbers of the IRIs in the table, ascending, without duplicates."""
        if not len(self) or not iris:
            return np.zeros(0, np.int64)
        wanted_keys = np.sort(hash_texts(list(iris)))
        positions = np.minimum(np.searchsorted(self.keys, wanted_keys), len(self) - 1)
        matches = np.sort(self.numbers[positions[self.keys[positions] == wanted_keys]]).astype(
            np.int64
        )
        return matches[np.flatnonzero(np.diff(matches, prepend=-1))]

    def list_names(self, numbers: Numbers) -> Numbers:
        """Return the numbers of the resources' names."""
        starts = self.first_names[numbers].astype(np.int64)
        return expand_ranges(starts, self.first_names[numbers + 1] - starts)


_FIELDS = ("starts", "first_names", "keys", "numbers")


@dataclass(frozen=True, eq=False, repr=False)
class TableIndex:
    """Base of indices whose resources are in a table."""

    table: ResourceTable

    def __len__(self) -> int:
        return len(self.table)

    def find(self, iri: str) -> Resource | None:
        """Return the resource of an IRI, or None."""
        return self.table.find(iri)

    def iterate_resources(self) -> Iterator[Resource]:
        """Yield all resources, highest score first."""
        return self.table.iterate_resources()


def shrink_offsets(offsets: Numbers) -> NDArray[np.integer]:
    """Return offsets as 32-bit numbers if they fit."""
    return offsets.astype(np.uint32) if int(offsets.max(initial=0)) < 1 << 32 else offsets


def find_name_owners(first_names: NDArray[np.int32], names: NDArray[np.integer]) -> Numbers:
    """Return the resource of each name."""
    # Use one type: otherwise numpy copies the whole array to compare.
    return np.searchsorted(first_names, names.astype(first_names.dtype), side="right") - 1


def expand_ranges(starts: Numbers, lengths: Numbers) -> Numbers:
    """Return the numbers of ranges, one range after the other.

    >>> expand_ranges(np.array([5, 20]), np.array([2, 3])).tolist()
    [5, 6, 20, 21, 22]
    """
    offsets = np.cumsum(lengths) - lengths
    return np.repeat(starts - offsets, lengths) + np.arange(int(lengths.sum()))


class TableWriter:
    """Writes resources in the order they arrive; keeps only numbers in memory."""

    def __init__(self, folder: IndexFolderWriter) -> None:
        self._folder = folder
        self._starts = array("q")
        self._end = 0
        self._scores = array("d")
        self._names = array("i")
        self._keys: list[Keys] = []
        self._iris: list[str] = []

    def write_resources(
        self, resources: Iterable[Resource], progress: Progress | None = None
    ) -> Iterator[Resource]:
        """Write each resource and yield it, with a label if it had none."""
        with (self._folder.path / "table_records.jsonl").open("wb") as file:
            for resource in resources:
                checked = validate_resource(resource)
                self._add(checked, file)
                yield checked
                if progress and len(self._scores) % _PROGRESS_STEPS == 0:
                    progress(len(self._scores))
        self._keys.append(hash_texts(self._iris))
        self._iris.clear()
        if progress:
            progress(len(self._scores))

    def finish(self) -> tuple[Numbers, Numbers]:
        """Write the arrays; return the new number of each resource and of each name."""
        starts = np.asarray(self._starts, dtype=np.int64)
        order = np.argsort(-np.asarray(self._scores), kind="stable")
        ranks = np.empty_like(order)
        ranks[order] = np.arange(len(order))
        counts = np.asarray(self._names, dtype=np.int64)
        first_names = _compute_offsets(counts[order])
        self._folder.save("table_starts", shrink_offsets(starts[order]))
        self._folder.save("table_first_names", first_names.astype(np.int32))
        keys = np.concatenate(self._keys)
        by_key = np.argsort(keys, kind="stable")
        sorted_keys = keys[by_key]
        duplicates = np.flatnonzero(sorted_keys[1:] == sorted_keys[:-1])
        records = LineReader(self._folder.path / "table_records.jsonl")
        for pair in zip(by_key[duplicates].tolist(), by_key[duplicates + 1].tolist(), strict=True):
            iri, second_iri = (
                json.loads(records.read_line(int(starts[number])))[0] for number in pair
            )
            if iri == second_iri:
                raise SetupError(f"{iri!r} occurs twice; put all its values into one row")
        self._folder.save("table_keys", sorted_keys)
        self._folder.save("table_numbers", ranks[by_key].astype(np.int32))
        names = np.repeat(first_names[ranks] - _compute_offsets(counts)[:-1], counts) + np.arange(
            counts.sum()
        )
        return ranks, names

    def _add(self, resource: Resource, file: IO[bytes]) -> None:
        fields = (resource.iri, resource.label, resource.synonyms, resource.score, resource.infos)
        record = f"{json.dumps(fields, ensure_ascii=False, separators=(',', ':'))}\n".encode()
        file.write(record)
        self._starts.append(self._end)
        self._end += len(record)
        self._scores.append(resource.score)
        self._names.append(len(resource.names))
        self._iris.append(resource.iri)
        if len(self._iris) == _PROGRESS_STEPS:
            self._keys.append(hash_texts(self._iris))
            self._iris.clear()


def validate_resource(resource: Resource) -> Resource:
    """Return a resource with a label; raise `SetupError` without an IRI or a finite score."""
    if not resource.iri:
        raise SetupError(f"a resource has no IRI; its label is {resource.label!r}")
    if not math.isfinite(resource.score):
        raise SetupError(f"the score of {resource.iri!r} is {resource.score}, not a number")
    if resource.label.strip():
        return resource
    label = split_local_name(resource.iri)
    return Resource(resource.iri, label, resource.synonyms, resource.score, resource.infos)


def _compute_offsets(counts: Numbers) -> Numbers:
    return np.concatenate(([0], np.cumsum(counts)))


Scores = NDArray[np.float64]


def check_limit(limit: int) -> int:
    """Return the limit; raise `ValueError` if it is below 1."""
    if limit < 1:
        raise ValueError(f"limit must be 1 or more, not {limit}")
    return limit


def fuse_rankings(rankings: Iterable[Iterable[str]], k: int = 60) -> dict[str, float]:
    """Fuse rankings by their reciprocal ranks, best first; see `askgraph.index.hybrid`."""
    scores: dict[str, float] = {}
    for ranking in rankings:
        for rank, iri in enumerate(ranking, start=1):
            scores[iri] = scores.get(iri, 0.0) + 1 / (k + rank)
    return dict(sorted(scores.items(), key=lambda item: -item[1]))


def select_best(scores: Scores, limit: int) -> Numbers:
    """Return the positions of the `limit` highest scores, best first; ties in their order."""
    if limit >= len(scores):
        return np.argsort(-scores, kind="stable")
    threshold = np.partition(scores, len(scores) - limit)[len(scores) - limit]
    above = np.flatnonzero(scores > threshold)
    equal = np.flatnonzero(scores == threshold)[: limit - len(above)]
    selected = np.sort(np.concatenate((above, equal)))
    return selected[np.argsort(-scores[selected], kind="stable")]


@dataclass(frozen=True)
class BestNames:
    """The best resources, best first, each with its best name."""

    entries: tuple[tuple[int, int, float], ...]
    """(resource, name, score) of each."""

    def has_enough_before(self, score: float, name: int, limit: int) -> bool:
        """Return whether `limit` entries precede all names of that score from `name` on."""
        return limit <= sum(
            entry_score > score or (entry_score == score and entry_name < name)
            for _, entry_name, entry_score in self.entries
        )

    def merge(self, second: "BestNames", limit: int) -> "BestNames":
        """Return the best entries of both."""
        ordered = sorted({*self.entries, *second.entries}, key=lambda item: (-item[2], item[1]))
        firsts = {item[0]: item for item in reversed(ordered)}
        merged = sorted(firsts.values(), key=lambda item: (-item[2], item[1]))
        return BestNames(tuple(merged[:limit]))

    def read_hits(self, table: ResourceTable) -> list[Hit[Resource]]:
        """Read the resources from the table."""
        hits = []
        for owner, name, score in self.entries:
            resource = table.read_resource(owner)
            hits.append(Hit(resource, score, resource.names[name - int(table.first_names[owner])]))
        return hits


def rank_names(table: ResourceTable, names: Numbers, scores: Scores, limit: int) -> BestNames:
    """Return the best resources among the names with a score above 0.

    `names` ascend. Among equal names of a resource the first counts.
    """
    count = 4 * limit
    while True:
        selected = select_best(scores, count)
        selected = selected[scores[selected] > 0]
        owners = find_name_owners(table.first_names, names[selected]).tolist()
        firsts = {owner: position for position, owner in reversed(list(enumerate(owners)))}
        if len(firsts) >= limit or len(selected) < count:
            pairs = sorted((position, owner) for owner, position in firsts.items())[:limit]
            entries = [(owner, int(selected[position])) for position, owner in pairs]
            return BestNames(
                tuple(
                    (owner, int(names[position]), float(scores[position]))
                    for owner, position in entries
                )
            )
        count *= 8


def check_weights(k1: float, b: float) -> None:
    """Raise `SetupError` for invalid parameters of BM25."""
    if not (k1 >= 0 and 0 <= b <= 1):
        raise SetupError(f"k1 must be 0 or more and b between 0 and 1, not {k1}, {b}")
