"""The resources of an index on disk, numbered from the highest score to the lowest."""

import json
import math
from array import array
from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass
from typing import IO

import numpy as np
from numpy.typing import NDArray

from askgraph.errors import SetupError
from askgraph.index import Progress, Resource
from askgraph.index._keys import Keys, keys_of
from askgraph.index._lines import Lines
from askgraph.index.folder import Folder, NewFolder
from askgraph.rdf.labels import words_of_local_name

__all__ = ["Numbers", "Table", "TableWriter", "owners", "small", "spread"]

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
        """Give all resources by their numbers."""
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


def small(offsets: Numbers) -> NDArray[np.integer]:
    """Return offsets in half the bytes, where they are small enough."""
    most = int(offsets.max(initial=0))
    return offsets.astype(np.uint32) if most < 1 << 32 else offsets


def owners(first_names: NDArray[np.int32], names: NDArray[np.integer]) -> Numbers:
    """Return for each name the resource whose names it is among."""
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
        """Write each resource and hand it on, with a label where it had none."""
        with (self._folder.path / "table_records.jsonl").open("wb") as file:
            for resource in resources:
                sound = _sound(resource)
                self._add(sound, file)
                yield sound
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
        ranks = _inverse(order)
        counts = np.asarray(self._names, dtype=np.int64)
        first = _offsets(counts[order])
        self._folder.save("table_starts", small(starts[order]))
        self._folder.save("table_first_names", first.astype(np.int32))
        self._save_keys(np.concatenate(self._keys), ranks, starts)
        names = np.repeat(first[ranks] - _offsets(counts)[:-1], counts) + np.arange(counts.sum())
        return ranks, names

    def _add(self, resource: Resource, file: IO[bytes]) -> None:
        fields = (
            resource.iri,
            resource.label,
            resource.synonyms,
            resource.score,
            resource.infos,
        )
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


def _sound(resource: Resource) -> Resource:
    if not resource.iri:
        raise SetupError(f"a resource has no IRI; its label is {resource.label!r}")
    if not math.isfinite(resource.score):
        raise SetupError(f"the score of {resource.iri!r} is {resource.score}, not a number")
    if resource.label.strip():
        return resource
    label = words_of_local_name(resource.iri)
    return Resource(resource.iri, label, resource.synonyms, resource.score, resource.infos)


def _inverse(order: Numbers) -> Numbers:
    ranks = np.empty_like(order)
    ranks[order] = np.arange(len(order))
    return ranks


def _offsets(counts: Numbers) -> Numbers:
    offsets = np.zeros(len(counts) + 1, dtype=np.int64)
    np.cumsum(counts, out=offsets[1:])
    return offsets
