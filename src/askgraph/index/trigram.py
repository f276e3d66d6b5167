"""Character trigrams: the names of the most similar spelling, by the cosine of trigram counts.

The search of Graf von Data (Henselmann et al. 2025). Typing errors and other endings cost little;
the order of words hardly matters, and a short word within a long name weighs little. The label and
each synonym are compared separately; `infos` are not searched.
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
from askgraph.index._table import (
    BestNames,
    ResourceTable,
    TableIndex,
    TableWriter,
    check_limit,
    rank_names,
)
from askgraph.index.folder import IndexFolder, IndexFormat, create_folder
from askgraph.index.names import pad_words

__all__ = ["TrigramIndex"]

_KIND = IndexFormat("trigram", 1)
_MAX_FIRST_NAMES_COUNT = 20_000
_ROUNDING_THRESHOLD = 1e-6


@dataclass(frozen=True)
class _SearchTrigram:
    """A trigram of the search: its number, its share of the vector's length, its name count."""

    word: int
    share: float
    size: int


@dataclass(frozen=True, eq=False, repr=False)
class TrigramIndex(TableIndex):
    """A trigram index; read-only and memory-mapped. `lengths` are those of the names' vectors."""

    postings: Postings
    lengths: NDArray[np.float32]  # of the names' vectors

    @classmethod
    def build(
        cls, resources: Iterable[Resource], folder: Path, *, progress: Progress | None = None
    ) -> Self:
        """Write an index; see `DiskIndex.build`."""
        with create_folder(folder, _KIND) as writer:
            table, postings = TableWriter(writer), PostingsWriter()
            for resource in table.write_resources(resources, progress):
                for name in resource.names:
                    postings.add(_split_trigrams(name))
            _, names = table.finish()
            postings.finish(writer, names)
            offsets = np.load(writer.path / "postings_document_offsets.npy").astype(np.int64)
            squares = np.load(writer.path / "postings_word_counts.npy").astype(np.float64) ** 2
            sums = np.concatenate(([0.0], np.cumsum(squares)))
            lengths = np.sqrt(sums[offsets[1:]] - sums[offsets[:-1]])
            writer.save("trigram_lengths", lengths.astype(np.float32))
        return cls.open(folder)

    @classmethod
    def open(cls, folder: Path) -> Self:
        """Map an index into memory; see `DiskIndex.open`."""
        opened = IndexFolder.open(folder, _KIND)
        lengths = opened.map_array("trigram_lengths")
        return cls(ResourceTable.open(opened), Postings.open(opened), lengths)

    def search(
        self, text: str, *, limit: int = 10, within: Collection[str] | None = None
    ) -> Sequence[Hit[Resource]]:
        """Return the best resources; see `SearchIndex.search`."""
        check_limit(limit)
        trigrams = sorted(self._find_trigrams(text), key=lambda trigram: trigram.size)
        if not trigrams:
            return []
        if within is None:
            best = self._find_best(trigrams, limit)
        else:
            names = self.table.list_names(self.table.find_numbers(within))
            best = self._rank(names, trigrams, limit)
        return best.read_hits(self.table)

    def _find_trigrams(self, text: str) -> Iterator[_SearchTrigram]:
        counts = Counter(_split_trigrams(text))
        length = math.sqrt(sum(count * count for count in counts.values()))
        for trigram, count in counts.items():
            number = self.postings.vocabulary.find(trigram)
            if number is not None:
                yield _SearchTrigram(
                    number, count / length, self.postings.count_postings(number, number + 1)
                )

    def _find_best(self, trigrams: list[_SearchTrigram], limit: int) -> BestNames:
        """Return the best names without scoring all that share a frequent trigram."""
        # A name without any of the rarer trigrams has a cosine of at most the length of the rest of
        # the search's vector. So names with rare trigrams are scored first, and their scores decide
        # which further trigrams a better name needs.
        totals = np.cumsum([trigram.size for trigram in trigrams])
        first_count = max(1, int(totals.searchsorted(_MAX_FIRST_NAMES_COUNT, side="right")))
        names = np.concatenate(
            [
                self.postings.read_documents(rare_trigram.word, rare_trigram.word + 1)
                for rare_trigram in trigrams[:first_count]
            ]
        )
        ordered = np.sort(names).astype(np.int64)
        best = self._rank(ordered[np.flatnonzero(np.diff(ordered, prepend=-1))], trigrams, limit)
        threshold = best.entries[-1][2] if len(best.entries) == limit else 0.0
        required_count = first_count
        while (
            required_count < len(trigrams)
            and _compute_length(trigrams[required_count:]) >= threshold - _ROUNDING_THRESHOLD
        ):
            required_count += 1
        if required_count == first_count:
            return best
        sums = np.zeros(len(self.postings), dtype=np.float32)
        self._add_scores(trigrams[:required_count], sums)
        names = self._select_above(sums, threshold - _compute_length(trigrams[required_count:]))
        if len(names) > _MAX_FIRST_NAMES_COUNT and required_count < len(trigrams):
            self._add_scores(trigrams[required_count:], sums)
            names = self._select_above(sums, threshold)
        return self._rank(names, trigrams, limit)

    def _add_scores(self, trigrams: list[_SearchTrigram], sums: NDArray[np.float32]) -> None:
        for trigram in trigrams:
            low, high = self.postings.word_offsets[trigram.word : trigram.word + 2].tolist()
            counts = self.postings.counts[low:high]
            sums[self.postings.documents[low:high]] += np.float32(trigram.share) * counts

    def _select_above(self, sums: NDArray[np.float32], threshold: float) -> Documents:
        """Return the names with a sum above 0 whose cosine may reach a threshold."""
        bounds = np.float32(max(0.0, threshold - _ROUNDING_THRESHOLD)) * self.lengths
        return np.flatnonzero(sums > bounds)

    def _rank(self, names: Documents, trigrams: list[_SearchTrigram], limit: int) -> BestNames:
        positions, position_owners = self.postings.locate_words(names)
        shares = np.zeros(len(self.postings.vocabulary))
        shares[[trigram.word for trigram in trigrams]] = [trigram.share for trigram in trigrams]
        weights = shares[self.postings.words[positions]] * self.postings.word_counts[positions]
        scores = np.bincount(position_owners, weights, len(names)) / self.lengths[names]
        return rank_names(self.table, names, scores, limit)


def _split_trigrams(text: str) -> list[str]:
    padded = pad_words(text)
    return [padded[start : start + 3] for start in range(len(padded) - 2)]


def _compute_length(trigrams: list[_SearchTrigram]) -> float:
    return math.sqrt(sum(trigram.share**2 for trigram in trigrams))
