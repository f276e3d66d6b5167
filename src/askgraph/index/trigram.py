"""Character trigrams: the names spelled most like the search, by the cosine of trigram counts.

The search of Graf von Data (Henselmann et al. 2025). Spelling errors and other endings
cost a little; the order of words hardly counts, and a short word within a long name counts little.
The label and each synonym are compared apart; `infos` are not searched.
"""

import math
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Self

import numpy as np
from numpy.typing import NDArray

from askgraph.index import Hit, Progress, Resource
from askgraph.index._postings import Documents, Postings, PostingsWriter
from askgraph.index._table import Best, Scores, Table, Tabled, TableWriter, best_names, positive
from askgraph.index.folder import Folder, Kind, new_folder
from askgraph.index.names import spelling

__all__ = ["TrigramIndex"]

_KIND = Kind("trigram", 1)
_TRIED_FIRST = 20_000
_ROUNDING = 1e-6


@dataclass(frozen=True)
class _Part:
    """A trigram of the search: its number, its share of the search's length, its names."""

    word: int
    share: float
    size: int


@dataclass(frozen=True, eq=False, repr=False)
class TrigramIndex(Tabled):
    """Read-only and memory-mapped."""

    postings: Postings
    lengths: NDArray[np.float32]  # of the names' vectors

    @classmethod
    def build(
        cls, resources: Iterable[Resource], folder: Path, *, progress: Progress | None = None
    ) -> Self:
        """Write an index; see `DiskIndex.build`."""
        with new_folder(folder, _KIND) as new:
            table, postings = TableWriter(new), PostingsWriter()
            for resource in table.taken(resources, progress):
                for name in resource.names:
                    postings.add(_trigrams(name))
            _, names = table.finish()
            postings.finish(new, names)
            offsets = np.load(new.path / "postings_document_offsets.npy").astype(np.int64)
            squares = np.load(new.path / "postings_word_counts.npy").astype(np.float64) ** 2
            sums = np.concatenate(([0.0], np.cumsum(squares)))
            lengths = np.sqrt(sums[offsets[1:]] - sums[offsets[:-1]])
            new.save("trigram_lengths", lengths.astype(np.float32))
        return cls.open(folder)

    @classmethod
    def open(cls, folder: Path) -> Self:
        """Map an index into memory; see `DiskIndex.open`."""
        opened = Folder.open(folder, _KIND)
        lengths = opened.array("trigram_lengths")
        return cls(Table.open(opened), Postings.open(opened), lengths)

    def search(
        self, text: str, *, limit: int = 10, within: Collection[str] | None = None
    ) -> Sequence[Hit[Resource]]:
        """Return the best resources; see `SearchIndex.search`."""
        positive(limit)
        parts = sorted(self._parts(text), key=lambda part: part.size)
        if not parts:
            return []
        if within is None:
            best = self._best(parts, limit)
        else:
            names = self.table.names_of(self.table.numbers_of(within))
            best = self._ranked(names, parts, limit)
        return best.hits(self.table)

    def _parts(self, text: str) -> Iterator[_Part]:
        counts = Counter(_trigrams(text))
        length = math.sqrt(sum(count * count for count in counts.values()))
        for part, count in counts.items():
            at = self.postings.vocabulary.find(part)
            if at is not None:
                yield _Part(at, count / length, self.postings.size(at, at + 1))

    def _best(self, parts: list[_Part], limit: int) -> Best:
        """Return the best names, without scoring all that share a frequent trigram.

        A name without any of the rarer trigrams has a cosine of at most the length of the rest of
        the search's vector. So the names with rare trigrams are scored first, and what they reach
        says of which other trigrams a better name must have one.
        """
        first = 1
        while first < len(parts) and sum(p.size for p in parts[: first + 1]) <= _TRIED_FIRST:
            first += 1
        names = np.concatenate(
            [self.postings.posted(part.word, part.word + 1) for part in parts[:first]]
        )
        ordered = np.sort(names).astype(np.int64)
        best = self._ranked(ordered[np.flatnonzero(np.diff(ordered, prepend=-1))], parts, limit)
        least = best.found[-1][2] if len(best.found) == limit else 0.0
        needed = first
        while needed < len(parts) and _length(parts[needed:]) >= least - _ROUNDING:
            needed += 1
        if needed == first:
            return best
        sums = np.zeros(len(self.postings), dtype=np.float32)
        self._add(parts[:needed], sums)
        names = self._above(sums, least - _length(parts[needed:]))
        if len(names) > _TRIED_FIRST and needed < len(parts):
            self._add(parts[needed:], sums)
            names = self._above(sums, least)
        return self._ranked(names, parts, limit)

    def _add(self, parts: list[_Part], sums: NDArray[np.float32]) -> None:
        for part in parts:
            low, high = self.postings.word_offsets[part.word : part.word + 2].tolist()
            counts = self.postings.counts[low:high]
            sums[self.postings.documents[low:high]] += np.float32(part.share) * counts

    def _above(self, sums: NDArray[np.float32], least: float) -> Documents:
        """Return the names with a sum above 0 whose cosine may be that much."""
        bounds = np.float32(max(0.0, least - _ROUNDING)) * self.lengths
        return np.flatnonzero(sums > bounds)

    def _ranked(self, names: Documents, parts: list[_Part], limit: int) -> Best:
        return best_names(self.table, names, self._scores(names, parts), limit)

    def _scores(self, names: Documents, parts: list[_Part]) -> Scores:
        places, whose = self.postings.contents(names)
        shares = np.zeros(len(self.postings.vocabulary))
        shares[[part.word for part in parts]] = [part.share for part in parts]
        weights = shares[self.postings.words[places]] * self.postings.word_counts[places]
        return np.bincount(whose, weights, len(names)) / self.lengths[names]


def _trigrams(text: str) -> list[str]:
    whole = spelling(text)
    return [whole[at : at + 3] for at in range(len(whole) - 2)]


def _length(parts: list[_Part]) -> float:
    return math.sqrt(sum(part.share**2 for part in parts))
