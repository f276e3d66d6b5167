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
from askgraph.index.folder import Folder, NewFolder
from askgraph.sparql.prefixes import split_local_name

Keys = NDArray[np.uint64]
_BLOCK = 1024
_BASE = 0x9E3779B97F4A7C15
_BASE_INVERSE = pow(_BASE, -1, 1 << 64)
_MIX = np.uint64(0xD6E8FEB86659FD93)
_SHIFT = np.uint64(32)


def keys_of(texts: Sequence[str]) -> Keys:
    """Return a key for each text: the same on every machine.

    Two of a billion texts share a key with a probability of about 3 %, two of a hundred million
    with one of 0.03 %; compare the texts to be sure.
    """
    blocks = [_keys(texts[at : at + _BLOCK]) for at in range(0, len(texts), _BLOCK)]
    return np.concatenate(blocks) if blocks else np.zeros(0, np.uint64)


def _keys(texts: Sequence[str]) -> Keys:
    """Return the bytes as digits of a number to an odd base, modulo 2 to the 64, then mixed."""
    digits = _digits(texts)
    starts = np.flatnonzero(digits == 0)
    if len(starts) > len(texts):
        digits = _digits([text.replace("\0", "\\0") for text in texts])
        starts = np.flatnonzero(digits == 0)
    starts[1:] = starts[:-1] + 1
    starts[0] = 0
    size = 1 << (len(digits) - 1).bit_length()
    # Each text's number is shifted by where it starts: dividing by the base makes up for it.
    keys: Keys = np.add.reduceat(_powers(_BASE, size)[: len(digits)] * (digits + _ONE), starts)
    keys *= _powers(_BASE_INVERSE, size)[starts]
    keys ^= keys >> _SHIFT
    keys *= _MIX
    keys ^= keys >> _SHIFT
    return keys


_ONE = np.uint8(1)


def _digits(texts: Sequence[str]) -> NDArray[np.uint8]:
    """Return the bytes of the texts, a zero byte after each."""
    return np.frombuffer("\0".join((*texts, "")).encode(), np.uint8)


@lru_cache(maxsize=4)
def _powers(base: int, size: int) -> NDArray[np.uint64]:
    factors = np.full(size, base, dtype=np.uint64)
    factors[0] = 1
    return np.cumprod(factors)


_AT_FIRST = 512


class Lines:
    """Stays open, so that lines are those of this file although another takes its name."""

    def __init__(self, path: Path) -> None:
        file = path.open("rb", buffering=0)
        self._file = file
        self._lock = threading.Lock()
        weakref.finalize(self, file.close)

    def line_at(self, start: int) -> bytes:
        """Return the line that starts at this byte, without its end."""
        size, line = _AT_FIRST, b""
        with self._lock:
            self._file.seek(start, os.SEEK_SET)
            while part := self._file.read(size):
                line += part
                if b"\n" in part:
                    break
                size *= 4
        return line.partition(b"\n")[0]


Numbers = NDArray[np.int64]

_STEP = 4096


@dataclass(frozen=True, eq=False, repr=False)
class Table:
    """Read-only; a resource's names have consecutive numbers too.

    All is memory-mapped but the records: a mapped file keeps the pages around each one read.
    """

    records: Lines
    starts: NDArray[np.integer]
    first_names: NDArray[np.int32]  # one longer than the resources
    keys: Keys  # sorted
    numbers: NDArray[np.int32]  # of the sorted keys

    @classmethod
    def open(cls, folder: Folder) -> "Table":
        """Map the table of an index into memory."""
        fields = (folder.array(f"table_{name}") for name in _FIELDS)
        return cls(Lines(folder.path / "table_records.jsonl"), *fields)

    def __len__(self) -> int:
        return len(self.starts)

    def resource(self, number: int) -> Resource:
        """Return the resource of a number."""
        record = self.records.line_at(int(self.starts[number]))
        iri, label, synonyms, score, infos = json.loads(record)
        return Resource(iri, label, tuple(synonyms), score, tuple(infos))

    def resources(self) -> Iterator[Resource]:
        """Yield all resources by their numbers."""
        return (self.resource(number) for number in range(len(self)))

    def find(self, iri: str) -> Resource | None:
        """Return the resource of an IRI, or None."""
        for number in self.numbers_of((iri,)).tolist():
            resource = self.resource(number)
            if resource.iri == iri:
                return resource
        return None

    def numbers_of(self, iris: Collection[str]) -> Numbers:
        """Return the numbers of the IRIs that are there, ascending, each once."""
        if not len(self) or not iris:
            return np.zeros(0, np.int64)
        wanted = np.sort(keys_of(list(iris)))
        at = np.minimum(np.searchsorted(self.keys, wanted), len(self) - 1)
        found = np.sort(self.numbers[at[self.keys[at] == wanted]]).astype(np.int64)
        return found[np.flatnonzero(np.diff(found, prepend=-1))]

    def owners_of(self, names: NDArray[np.integer]) -> Numbers:
        """Return the number of the resource that bears each name."""
        return owners(self.first_names, names)

    def names_of(self, numbers: Numbers) -> Numbers:
        """Return the numbers of the names that resources bear."""
        starts = self.first_names[numbers].astype(np.int64)
        return spread(starts, self.first_names[numbers + 1] - starts)


_FIELDS = ("starts", "first_names", "keys", "numbers")


@dataclass(frozen=True, eq=False, repr=False)
class Tabled:
    """An index of the resources in a table."""

    table: Table

    def __len__(self) -> int:
        return len(self.table)

    def find(self, iri: str) -> Resource | None:
        """Return the resource of an IRI, or None."""
        return self.table.find(iri)

    def resources(self) -> Iterator[Resource]:
        """Yield all resources, the highest score first."""
        return self.table.resources()


def small(offsets: Numbers) -> NDArray[np.integer]:
    """Return offsets in half the bytes, if they are small enough."""
    most = int(offsets.max(initial=0))
    return offsets.astype(np.uint32) if most < 1 << 32 else offsets


def owners(first_names: NDArray[np.int32], names: NDArray[np.integer]) -> Numbers:
    """Return the resource that bears each name."""
    # Of one type, else numpy copies all first names to compare.
    return np.searchsorted(first_names, names.astype(first_names.dtype), side="right") - 1


def spread(starts: Numbers, lengths: Numbers) -> Numbers:
    """Return the numbers of ranges, one range after the other.

    >>> spread(np.array([5, 20]), np.array([2, 3])).tolist()
    [5, 6, 20, 21, 22]
    """
    offsets = np.cumsum(lengths) - lengths
    return np.repeat(starts - offsets, lengths) + np.arange(int(lengths.sum()))


class TableWriter:
    """Takes resources in any order and writes them as they come; keeps only numbers in memory."""

    def __init__(self, folder: NewFolder) -> None:
        self._folder = folder
        self._starts = array("q")
        self._end = 0
        self._scores = array("d")
        self._names = array("i")
        self._keys: list[Keys] = []
        self._iris: list[str] = []

    def taken(
        self, resources: Iterable[Resource], progress: Progress | None = None
    ) -> Iterator[Resource]:
        """Write each resource and hand it on, with a label if it had none."""
        with (self._folder.path / "table_records.jsonl").open("wb") as file:
            for resource in resources:
                named = sound(resource)
                self._add(named, file)
                yield named
                if progress and len(self._scores) % _STEP == 0:
                    progress(len(self._scores))
        self._keys.append(keys_of(self._iris))
        self._iris.clear()
        if progress:
            progress(len(self._scores))

    def finish(self) -> tuple[Numbers, Numbers]:
        """Write the arrays; return the new number of each resource and of each name taken."""
        starts = np.asarray(self._starts, dtype=np.int64)
        order = np.argsort(-np.asarray(self._scores), kind="stable")
        ranks = np.empty_like(order)
        ranks[order] = np.arange(len(order))
        counts = np.asarray(self._names, dtype=np.int64)
        first = _offsets(counts[order])
        self._folder.save("table_starts", small(starts[order]))
        self._folder.save("table_first_names", first.astype(np.int32))
        self._save_keys(np.concatenate(self._keys), ranks, starts)
        names = np.repeat(first[ranks] - _offsets(counts)[:-1], counts) + np.arange(counts.sum())
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
        if len(self._iris) == _STEP:
            self._keys.append(keys_of(self._iris))
            self._iris.clear()

    def _save_keys(self, keys: Keys, ranks: Numbers, starts: Numbers) -> None:
        by_key = np.argsort(keys, kind="stable")
        sorted_keys = keys[by_key]
        same = np.flatnonzero(sorted_keys[1:] == sorted_keys[:-1])
        records = Lines(self._folder.path / "table_records.jsonl")
        for places in zip(by_key[same].tolist(), by_key[same + 1].tolist(), strict=True):
            one, two = (json.loads(records.line_at(int(starts[at])))[0] for at in places)
            if one == two:
                raise SetupError(f"{one!r} is given twice; give all that is known of it at once")
        self._folder.save("table_keys", sorted_keys)
        self._folder.save("table_numbers", ranks[by_key].astype(np.int32))


def sound(resource: Resource) -> Resource:
    """Return a resource that has a label; `SetupError` without an IRI, or for a bad score."""
    if not resource.iri:
        raise SetupError(f"a resource has no IRI; its label is {resource.label!r}")
    if not math.isfinite(resource.score):
        raise SetupError(f"the score of {resource.iri!r} is {resource.score}, not a number")
    if resource.label.strip():
        return resource
    label = split_local_name(resource.iri)
    return Resource(resource.iri, label, resource.synonyms, resource.score, resource.infos)


def _offsets(counts: Numbers) -> Numbers:
    return np.concatenate(([0], np.cumsum(counts)))


Scores = NDArray[np.float64]


def positive(limit: int) -> int:
    """Return the limit; `ValueError` if it is below 1."""
    if limit < 1:
        raise ValueError(f"limit must be 1 or more, it is {limit}")
    return limit


def fuse_rankings(rankings: Iterable[Iterable[str]], k: int = 60) -> dict[str, float]:
    """Join rankings by their reciprocal ranks, best first; see `askgraph.index.hybrid`."""
    scores: dict[str, float] = {}
    for ranking in rankings:
        for rank, iri in enumerate(ranking, start=1):
            scores[iri] = scores.get(iri, 0.0) + 1 / (k + rank)
    return dict(sorted(scores.items(), key=lambda item: -item[1]))


def best_of(scores: Scores, limit: int) -> Numbers:
    """Return the places of the `limit` highest scores, best first, of equal ones the first."""
    if limit >= len(scores):
        return np.argsort(-scores, kind="stable")
    least = np.partition(scores, len(scores) - limit)[len(scores) - limit]
    above = np.flatnonzero(scores > least)
    equal = np.flatnonzero(scores == least)[: limit - len(above)]
    kept = np.sort(np.concatenate((above, equal)))
    return kept[np.argsort(-scores[kept], kind="stable")]


@dataclass(frozen=True)
class Best:
    """The best resources, best first, each by its best name: (resource, name, score)."""

    found: tuple[tuple[int, int, float], ...]

    def beats(self, score: float, name: int, limit: int) -> bool:
        """Return whether `limit` resources go before all names from this one on, of that score."""
        return limit <= sum(
            own > score or (own == score and at < name) for _, at, own in self.found
        )

    def joined(self, other: "Best", limit: int) -> "Best":
        """Return the best of both."""
        ordered = sorted({*self.found, *other.found}, key=lambda item: (-item[2], item[1]))
        firsts = {item[0]: item for item in reversed(ordered)}
        kept = sorted(firsts.values(), key=lambda item: (-item[2], item[1]))
        return Best(tuple(kept[:limit]))

    def hits(self, table: Table) -> list[Hit[Resource]]:
        """Read the resources."""
        hits = []
        for owner, name, score in self.found:
            resource = table.resource(owner)
            text = resource.names[name - int(table.first_names[owner])]
            hits.append(Hit(resource, score, text))
        return hits


def best_names(table: Table, names: Numbers, scores: Scores, limit: int) -> Best:
    """Return the best resources among the names with a score above 0.

    `names` ascend. Of a resource's equal names the first given one counts.
    """
    count = 4 * limit
    while True:
        kept = best_of(scores, count)
        kept = kept[scores[kept] > 0]
        owners = table.owners_of(names[kept]).tolist()
        firsts = {owner: at for at, owner in reversed(list(enumerate(owners)))}
        if len(firsts) >= limit or len(kept) < count:
            chosen = sorted((at, owner) for owner, at in firsts.items())[:limit]
            places = [(owner, int(kept[at])) for at, owner in chosen]
            return Best(tuple((o, int(names[at]), float(scores[at])) for o, at in places))
        count *= 8


def check_weights(k1: float, b: float) -> None:
    """Raise `SetupError` for settings that BM25 cannot have."""
    if not (k1 >= 0 and 0 <= b <= 1):
        raise SetupError(f"k1 must be 0 or more and b between 0 and 1; they are {k1}, {b}")
