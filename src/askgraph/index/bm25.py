"""BM25 over labels, synonyms and infos together: the resources that hold the search's rare words.

Robertson and Zaragoza, "The Probabilistic Relevance Framework: BM25 and Beyond", 2009. `k1` says
how much a word's second and third occurrence count, `b` how much a long text costs; both may be
given anew when an index is opened. Query-based KGQA (NLDB 2025, appendix B) tunes them per
benchmark, to k1 between 0.1 and 5.18 and b between 0.01 and 0.7. Words are compared by their stems;
a word must be whole.
"""

import math
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Self

import numpy as np
from numpy.typing import NDArray

from askgraph.index import Hit, Progress, Resource
from askgraph.index._postings import Documents, Postings, PostingsWriter
from askgraph.index._table import (
    Scores,
    Table,
    Tabled,
    TableWriter,
    best_of,
    check_weights,
    positive,
)
from askgraph.index.folder import Folder, Kind, new_folder
from askgraph.index.names import search_stems

__all__ = ["BM25Index"]

_KIND = Kind("bm25", 1)
_ROUNDING = 1 - 1e-9
_MANY = 1024


@dataclass(frozen=True)
class _Term:
    """A word of the search: its number, its rarity, and the most it adds to any score."""

    word: int
    rarity: float
    most: float


@dataclass(frozen=True, eq=False, repr=False)
class BM25Index(Tabled):
    """Read-only and memory-mapped."""

    postings: Postings
    lengths: NDArray[np.int32]  # words in each resource
    shortest: NDArray[np.int32]  # the fewest words of a resource that holds the word
    often: NDArray[np.uint8]  # how often the word is in one resource at most
    k1: float
    b: float

    @classmethod
    def build(
        cls,
        resources: Iterable[Resource],
        folder: Path,
        *,
        progress: Progress | None = None,
        k1: float = 1.2,
        b: float = 0.75,
    ) -> Self:
        """Write an index; see `DiskIndex.build`."""
        check_weights(k1, b)
        with new_folder(folder, _KIND, {"k1": k1, "b": b}) as new:
            table, postings = TableWriter(new), PostingsWriter()
            for resource in table.taken(resources, progress):
                texts = (*resource.names, *resource.infos)
                postings.add(word for text in texts for word in search_stems(text))
            numbers, _ = table.finish()
            lengths = np.zeros(len(numbers), dtype=np.int32)
            lengths[numbers] = postings.lengths
            _, offsets = postings.finish(new, numbers)
            documents = np.load(new.path / "postings_documents.npy", mmap_mode="r")
            counts = np.load(new.path / "postings_counts.npy", mmap_mode="r")
            starts = offsets[:-1]
            shortest = np.minimum.reduceat(lengths[documents], starts) if len(starts) else lengths
            often = np.maximum.reduceat(counts, starts) if len(starts) else counts
            new.save("bm25_lengths", lengths)
            new.save("bm25_shortest", shortest)
            new.save("bm25_often", often)
        return cls.open(folder)

    @classmethod
    def open(cls, folder: Path, *, k1: float | None = None, b: float | None = None) -> Self:
        """Map an index into memory; `k1` and `b` go before those that it was built with."""
        opened = Folder.open(folder, _KIND)
        k1 = opened.number("k1") if k1 is None else k1
        b = opened.number("b") if b is None else b
        check_weights(k1, b)
        lengths, shortest, often = map(
            opened.array, ("bm25_lengths", "bm25_shortest", "bm25_often")
        )
        table, postings = Table.open(opened), Postings.open(opened)
        return cls(table, postings, lengths, shortest, often, k1, b)

    def search(
        self, text: str, *, limit: int = 10, within: Collection[str] | None = None
    ) -> Sequence[Hit[Resource]]:
        """Return the best resources; see `SearchIndex.search`."""
        positive(limit)
        terms = sorted(self._terms(text), key=lambda term: -term.rarity)
        if not terms:
            return []
        if within is None:
            numbers, scores = self._best(terms, limit)
        else:
            numbers = self.table.numbers_of(within)
            scores = self._scores(numbers, terms)
        best = [int(at) for at in best_of(scores, limit) if scores[at] > 0]
        return [Hit(self.table.resource(int(numbers[at])), float(scores[at])) for at in best]

    def _terms(self, text: str) -> Iterator[_Term]:
        for word in dict.fromkeys(search_stems(text)):
            at = self.postings.vocabulary.find(word)
            if at is not None:
                holding = self.postings.size(at, at + 1)
                rarity = math.log(1 + (len(self) - holding + 0.5) / (holding + 0.5))
                most = self._weights(self.often[at : at + 1], self.shortest[at : at + 1])
                yield _Term(at, rarity, rarity * float(most[0]))

    def _best(self, terms: list[_Term], limit: int) -> tuple[Documents, Scores]:
        """Return the resources that may be among the best, with their scores.

        Rare words come first. Of a frequent word's resources, only those are scored that could
        still go before the ones found.
        """
        numbers, scores = np.zeros(0, dtype=np.int64), np.zeros(0)
        for at, term in enumerate(terms):
            least = float(np.sort(scores)[-limit]) if len(scores) >= limit else 0.0
            rest = sum(other.most for other in terms[at + 1 :])
            if least > term.most + rest:
                break
            low, high = self.postings.word_offsets[term.word : term.word + 2].tolist()
            listed = self.postings.documents[low:high]
            own = term.rarity * self._weights(self.postings.counts[low:high], self.lengths[listed])
            kept = np.flatnonzero(own + rest >= least * _ROUNDING)
            if not rest and len(kept) > _MANY:
                kept = kept[best_of(own[kept], limit + len(numbers))]
            numbers = np.union1d(numbers, listed[kept]).astype(np.int64)
            scores = self._scores(numbers, terms)
            best = np.sort(best_of(scores, limit))
            numbers, scores = numbers[best], scores[best]
        return numbers, scores

    def _scores(self, numbers: Documents, terms: list[_Term]) -> Scores:
        scores = np.zeros(len(numbers))
        places, whose = self.postings.contents(numbers)
        words = self.postings.words[places]
        for term in terms:
            found = np.flatnonzero(words == term.word)
            owners = whose[found]
            counts = self.postings.word_counts[places[found]]
            scores[owners] += term.rarity * self._weights(counts, self.lengths[numbers[owners]])
        return scores

    def _weights(self, counts: NDArray[np.uint8], lengths: NDArray[np.int32]) -> Scores:
        damped = self.k1 * (1 - self.b + self.b * lengths / max(self._average, 1e-9))
        return counts * (self.k1 + 1) / (counts + damped)

    @cached_property
    def _average(self) -> float:
        return float(np.mean(self.lengths)) if len(self.lengths) else 0.0
