"""Prefix keywords: names that contain most words of the search, complete or as prefixes.

The ranking of GRASP (arXiv 2507.08107, section 3, "Prefix-keyword index"). A keyword that equals a
word of a name counts 1, one that is only its prefix counts 0.75 (the paper gives no weights); a
label and each synonym are ranked separately, the best ranks the resource, and ties are broken by
the resource's score. So "Albert E" gives Albert Einstein, Albert Finney, Carlos Alberto, and not
Peter Falk.

A keyword without any such word counts 0.5 for words that differ by one letter. The order of words,
and words of a name that are not in the search, do not matter. `infos` are not searched.
"""

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Self

import numpy as np
from numpy.typing import NDArray

from askgraph.index import Hit, Progress, Resource
from askgraph.index._postings import Documents, Postings, PostingsWriter, iterate_prefix_ranges
from askgraph.index._table import (
    BestNames,
    ResourceTable,
    TableIndex,
    TableWriter,
    check_limit,
    find_name_owners,
    rank_names,
)
from askgraph.index.folder import IndexFolder, IndexFormat, create_folder
from askgraph.index.names import split_words

__all__ = ["KeywordIndex"]


_MIN_LONG_RANGE_SIZE = 4096
_MAX_HEAD_SIZE = 64


@dataclass(frozen=True, eq=False, repr=False)
class PrefixHeads:
    """The first name of each of the first resources, for each long range of words."""

    ranges: NDArray[np.int32]
    names: NDArray[np.int32]

    @classmethod
    def open(cls, folder: IndexFolder) -> "PrefixHeads":
        """Map the heads of an index into memory."""
        return cls(folder.map_array("heads_ranges"), folder.map_array("heads_names"))

    def read_first_names(
        self, table: ResourceTable, postings: Postings, words: tuple[int, int], limit: int
    ) -> Documents:
        """Return names, ascending, with the first of each of the first `limit` resources."""
        position = self._positions.get(words)
        if position is not None and limit <= _MAX_HEAD_SIZE:
            names: Documents = self.names[position].astype(np.int64)
            return names
        documents = postings.read_documents(*words)
        if words[1] - words[0] == 1:
            # One word's names ascend; of very many only the start is read.
            documents = documents[: _MIN_LONG_RANGE_SIZE * limit]
        return _select_first_names(table.first_names, documents, limit)

    @cached_property
    def _positions(self) -> dict[tuple[int, int], int]:
        return {(low, high): position for position, (low, high) in enumerate(self.ranges.tolist())}


def _select_first_names(
    first_names: NDArray[np.int32], documents: NDArray[np.int32], limit: int
) -> Documents:
    """Return the first name of each of the first resources: at least `limit`, or all."""
    count = 4 * limit
    while True:
        lowest = documents
        if len(documents) > count:
            lowest = np.partition(documents, count)[:count]
        names = np.unique(lowest).astype(np.int64)
        firsts = names[np.flatnonzero(np.diff(find_name_owners(first_names, names), prepend=-1))]
        if len(firsts) >= limit or count >= len(documents):
            return firsts
        count *= 8


_KIND = IndexFormat("keyword", 1)
_EXACT_WEIGHT = 1.0
_PREFIX_WEIGHT = 0.75
_MISTYPED_WEIGHT = 0.5
_MIN_MASKED_COUNT = 4096


@dataclass(frozen=True)
class _Keyword:
    """A keyword of the search in the index.

    Attributes:
        ranges: the ranges of words that it matches.
        weight: the score of such a word.
        whole: the number of the word that equals it (score 1), which is in the range; -1 if the
            index has no such word.
        size: the number of postings.
    """

    ranges: tuple[tuple[int, int], ...]
    weight: float
    exact_word: int
    size: int

    @property
    def max_score(self) -> float:
        """The maximum score of the keyword."""
        return self.weight if self.exact_word < 0 else _EXACT_WEIGHT


@dataclass(frozen=True, eq=False, repr=False)
class KeywordIndex(TableIndex):
    """Read-only and memory-mapped. Time grows with the names of the search's rarer words."""

    postings: Postings
    heads: PrefixHeads

    @classmethod
    def build(
        cls, resources: Iterable[Resource], folder: Path, *, progress: Progress | None = None
    ) -> Self:
        """Write an index; see `DiskIndex.build`."""
        with create_folder(folder, _KIND) as writer:
            table, postings = TableWriter(writer), PostingsWriter()
            for resource in table.write_resources(resources, progress):
                for name in resource.names:
                    postings.add(split_words(name))
            _, names = table.finish()
            words, offsets = postings.finish(writer, names)
            first_names = np.load(writer.path / "table_first_names.npy")
            documents = np.load(writer.path / "postings_documents.npy", mmap_mode="r")
            candidates = [
                (
                    low,
                    high,
                    _select_first_names(
                        first_names, documents[offsets[low] : offsets[high]], _MAX_HEAD_SIZE
                    ),
                )
                for low, high in iterate_prefix_ranges(words, offsets, _MIN_LONG_RANGE_SIZE)
            ]
            complete = [item for item in candidates if len(item[2]) >= _MAX_HEAD_SIZE]
            ranges = np.array([(low, high) for low, high, _ in complete], np.int32).reshape(-1, 2)
            heads = np.array(
                [names[:_MAX_HEAD_SIZE] for _, _, names in complete], np.int32
            ).reshape(-1, _MAX_HEAD_SIZE)
            writer.save("heads_ranges", ranges)
            writer.save("heads_names", heads)
        return cls.open(folder)

    @classmethod
    def open(cls, folder: Path) -> Self:
        """Map an index into memory; see `DiskIndex.open`."""
        opened = IndexFolder.open(folder, _KIND)
        return cls(ResourceTable.open(opened), Postings.open(opened), PrefixHeads.open(opened))

    def search(
        self, text: str, *, limit: int = 10, within: Collection[str] | None = None
    ) -> Sequence[Hit[Resource]]:
        """Return the best resources; see `SearchIndex.search`."""
        check_limit(limit)
        keywords = [self._find_keyword(word) for word in dict.fromkeys(split_words(text))]
        matching = sorted((keyword for keyword in keywords if keyword.size), key=lambda k: k.size)
        if not matching:
            return []
        if within is None:
            best = self._find_best(matching, limit)
        else:
            names = self.table.list_names(self.table.find_numbers(within))
            best = self._rank(names, matching, limit)
        return best.read_hits(self.table)

    def _find_keyword(self, word: str) -> _Keyword:
        low, high = self.postings.vocabulary.find_prefix_range(word)
        if low < high:
            # The word itself is the first of the words with this prefix.
            exact_word = -1 if self.postings.vocabulary.find(word) is None else low
            size = self.postings.count_postings(low, high)
            return _Keyword(((low, high),), _PREFIX_WEIGHT, exact_word, size)
        ranges = tuple(
            (number, number + 1) for number in self.postings.vocabulary.find_mistyped(word)
        )
        size = sum(self.postings.count_postings(*words) for words in ranges)
        return _Keyword(ranges, _MISTYPED_WEIGHT, -1, size)

    def _find_best(self, keywords: list[_Keyword], limit: int) -> BestNames:
        """Return the best names without reading every list completely."""
        # A name that matches only one keyword is among the best only if it is among the first of
        # that keyword. A name that matches several is in the list of the rarest: the longest list
        # is only compared with the others. Names are ordered by score, so a list ends as soon as no
        # later name in it can precede the current best.
        ranges = [
            words
            for keyword in keywords
            for words in (*keyword.ranges, (keyword.exact_word, keyword.exact_word + 1))
            if words[0] >= 0
        ]
        first_names = [
            self.heads.read_first_names(self.table, self.postings, words, limit) for words in ranges
        ]
        best = self._rank(np.sort(np.concatenate(first_names)), keywords, limit)
        for position, keyword in enumerate(keywords[:-1]):
            bound = sum(later_keyword.max_score for later_keyword in keywords[position:])
            for low, high in self._blocks:
                if best.has_enough_before(bound, low, limit):
                    break
                names = self._read_names(keyword, low, high)
                later_keywords = keywords[position + 1 :]
                if len(names) > _MIN_MASKED_COUNT and 32 * len(names) > sum(
                    later_keyword.size for later_keyword in later_keywords
                ):
                    names = names[self._mask_names(later_keywords, low, high)[names - low]]
                further_names = self._rank(np.sort(names).astype(np.int64), keywords, limit)
                best = best.merge(further_names, limit)
        return best

    @property
    def _blocks(self) -> tuple[tuple[int, int], ...]:
        names = len(self.postings)
        first = names // 16
        return ((0, names),) if first < _MIN_MASKED_COUNT else ((0, first), (first, names))

    def _read_names(self, keyword: _Keyword, low: int, high: int) -> NDArray[np.int32]:
        """Return the keyword's names in a range of numbers, unordered, with duplicates."""
        lists = [self.postings.read_documents(*words) for words in keyword.ranges]
        names = np.concatenate(lists) if len(lists) > 1 else lists[0]
        if (low, high) == (0, len(self.postings)):
            return names
        return names[(names >= low) & (names < high)]

    def _mask_names(self, keywords: list[_Keyword], low: int, high: int) -> NDArray[np.bool_]:
        """Return a mask of the names from `low` to before `high` that match any keyword."""
        marks = np.zeros(high - low, dtype=np.bool_)
        for keyword in keywords:
            marks[self._read_names(keyword, low, high) - low] = True
        return marks

    def _rank(self, names: Documents, keywords: list[_Keyword], limit: int) -> BestNames:
        """Score each name: the sum, over the keywords, of the score of its best word."""
        if not len(names):
            return BestNames(())
        positions, position_owners = self.postings.locate_words(names)
        words = self.postings.words[positions]
        scores = np.zeros(len(names))
        for keyword in keywords:
            keyword_scores = np.zeros(len(names))
            for low, high in keyword.ranges:
                keyword_scores[position_owners[(words >= low) & (words < high)]] = keyword.weight
            keyword_scores[position_owners[words == keyword.exact_word]] = _EXACT_WEIGHT
            scores += keyword_scores
        return rank_names(self.table, names, scores, limit)
