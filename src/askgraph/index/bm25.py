"""BM25 over labels, synonyms and infos together; rare words count most.

Robertson and Zaragoza, "The Probabilistic Relevance Framework: BM25 and Beyond", 2009. `k1` weighs
the repeated occurrences of a word, `b` penalizes long texts; both can be overridden when an index
is opened. Query-based KGQA (NLDB 2025, appendix B) tunes them per benchmark, to k1 between 0.1 and
5.18 and b between 0.01 and 0.7. Stems are compared; prefixes of words do not match.
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
    ResourceTable,
    Scores,
    TableIndex,
    TableWriter,
    check_limit,
    check_weights,
    select_best,
)
from askgraph.index.folder import IndexFolder, IndexFormat, create_folder
from askgraph.index.names import split_stems

__all__ = ["BM25Index"]

_KIND = IndexFormat("bm25", 1)
_ROUNDING_FACTOR = 1 - 1e-9
_MIN_PRESELECTION_SIZE = 1024


@dataclass(frozen=True)
class _SearchTerm:
    """A word of the search: its number, its rarity, and the most that it adds to any score."""

    word: int
    rarity: float
    max_score: float


@dataclass(frozen=True, eq=False, repr=False)
class BM25Index(TableIndex):
    """A BM25 index; read-only and memory-mapped.

    Attributes:
        postings: the words of each resource.
        lengths: the number of words of each resource.
        shortest: for each word, the length of the shortest resource that contains it.
        often: for each word, its highest count in one resource.
        k1: the weight of repeated words.
        b: the penalty of long texts.
    """

    postings: Postings
    lengths: NDArray[np.int32]  # words in each resource
    shortest: NDArray[np.int32]  # the fewest words of a resource that holds the word
    max_counts: NDArray[np.uint8]  # how often the word is in one resource at most
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
        with create_folder(folder, _KIND, {"k1": k1, "b": b}) as new:
            table, postings = TableWriter(new), PostingsWriter()
            for resource in table.write_resources(resources, progress):
                texts = (*resource.names, *resource.infos)
                postings.add(word for text in texts for word in split_stems(text))
            numbers, _ = table.finish()
            lengths = np.zeros(len(numbers), dtype=np.int32)
            lengths[numbers] = postings.lengths
            _, offsets = postings.finish(new, numbers)
            documents = np.load(new.path / "postings_documents.npy", mmap_mode="r")
            counts = np.load(new.path / "postings_counts.npy", mmap_mode="r")
            starts = offsets[:-1]
            shortest = np.minimum.reduceat(lengths[documents], starts) if len(starts) else lengths
            max_counts = np.maximum.reduceat(counts, starts) if len(starts) else counts
            new.save("bm25_lengths", lengths)
            new.save("bm25_shortest", shortest)
            new.save("bm25_often", max_counts)
        return cls.open(folder)

    @classmethod
    def open(cls, folder: Path, *, k1: float | None = None, b: float | None = None) -> Self:
        """Map an index into memory; `k1` and `b` override the values of the build."""
        opened = IndexFolder.open(folder, _KIND)
        k1 = opened.get_number("k1") if k1 is None else k1
        b = opened.get_number("b") if b is None else b
        check_weights(k1, b)
        lengths, shortest, max_counts = map(
            opened.map_array, ("bm25_lengths", "bm25_shortest", "bm25_often")
        )
        table, postings = ResourceTable.open(opened), Postings.open(opened)
        return cls(table, postings, lengths, shortest, max_counts, k1, b)

    def search(
        self, text: str, *, limit: int = 10, within: Collection[str] | None = None
    ) -> Sequence[Hit[Resource]]:
        """Return the best resources; see `SearchIndex.search`."""
        check_limit(limit)
        terms = sorted(self._find_terms(text), key=lambda term: -term.rarity)
        if not terms:
            return []
        if within is None:
            numbers, scores = self._select_best(terms, limit)
        else:
            numbers = self.table.find_numbers(within)
            scores = self._score_resources(numbers, terms)
        best = [int(position) for position in select_best(scores, limit) if scores[position] > 0]
        return [
            Hit(self.table.read_resource(int(numbers[position])), float(scores[position]))
            for position in best
        ]

    def _find_terms(self, text: str) -> Iterator[_SearchTerm]:
        for word in dict.fromkeys(split_stems(text)):
            number = self.postings.vocabulary.find(word)
            if number is not None:
                document_count = self.postings.count_postings(number, number + 1)
                rarity = math.log(1 + (len(self) - document_count + 0.5) / (document_count + 0.5))
                max_weights = self._compute_weights(
                    self.max_counts[number : number + 1], self.shortest[number : number + 1]
                )
                yield _SearchTerm(number, rarity, rarity * float(max_weights[0]))

    def _select_best(self, terms: list[_SearchTerm], limit: int) -> tuple[Documents, Scores]:
        """Return the resources that may be among the best, with their scores."""
        # Rare words come first. For a frequent word, only resources that could still precede the
        # current best are scored.
        numbers, scores = np.zeros(0, dtype=np.int64), np.zeros(0)
        for position, term in enumerate(terms):
            threshold = float(np.sort(scores)[-limit]) if len(scores) >= limit else 0.0
            max_remaining = sum(later_term.max_score for later_term in terms[position + 1 :])
            if threshold > term.max_score + max_remaining:
                break
            low, high = self.postings.word_offsets[term.word : term.word + 2].tolist()
            documents = self.postings.documents[low:high]
            own_scores = term.rarity * self._compute_weights(
                self.postings.counts[low:high], self.lengths[documents]
            )
            selected = np.flatnonzero(own_scores + max_remaining >= threshold * _ROUNDING_FACTOR)
            if not max_remaining and len(selected) > _MIN_PRESELECTION_SIZE:
                selected = selected[select_best(own_scores[selected], limit + len(numbers))]
            numbers = np.union1d(numbers, documents[selected]).astype(np.int64)
            scores = self._score_resources(numbers, terms)
            best = np.sort(select_best(scores, limit))
            numbers, scores = numbers[best], scores[best]
        return numbers, scores

    def _score_resources(self, numbers: Documents, terms: list[_SearchTerm]) -> Scores:
        scores = np.zeros(len(numbers))
        positions, position_owners = self.postings.locate_words(numbers)
        words = self.postings.words[positions]
        for term in terms:
            matches = np.flatnonzero(words == term.word)
            owners = position_owners[matches]
            scores[owners] += term.rarity * self._compute_weights(
                self.postings.word_counts[positions[matches]], self.lengths[numbers[owners]]
            )
        return scores

    def _compute_weights(self, counts: NDArray[np.uint8], lengths: NDArray[np.int32]) -> Scores:
        damped = self.k1 * (1 - self.b + self.b * lengths / max(self._average_length, 1e-9))
        return counts * (self.k1 + 1) / (counts + damped)

    @cached_property
    def _average_length(self) -> float:
        return float(np.mean(self.lengths)) if len(self.lengths) else 0.0
