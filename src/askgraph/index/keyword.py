"""Prefix keywords: the names that hold most words of the search, whole or begun.

The ranking of GRASP (arXiv 2507.08107, section 3, "Prefix-keyword index"). A keyword that is a word
of a name counts 1, one that only begins a word counts 0.75 (the paper gives no weights); a label
and each synonym are ranked apart, the best one ranks the resource, equal ones are ranked by their
score. So "Albert E" gives Albert Einstein, Albert Finney, Carlos Alberto, and not Peter Falk.

A keyword that no name holds or begins with counts 0.5 for the words that differ by one letter. The
order of words, and words of a name that the search does not hold, count nothing. `infos` are not
searched.
"""

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Self

import numpy as np
from numpy.typing import NDArray

from askgraph.index import Hit, Progress, Resource
from askgraph.index._postings import Documents, Postings, PostingsWriter, prefix_ranges
from askgraph.index._table import Best, Table, Tabled, TableWriter, best_names, owners, positive
from askgraph.index.folder import Folder, Kind, NewFolder, new_folder
from askgraph.index.names import search_words

__all__ = ["KeywordIndex"]


_LONG = 4096
_KEPT = 64


@dataclass(frozen=True, eq=False, repr=False)
class Heads:
    """For each long range of words the first name of each of its first resources."""

    ranges: NDArray[np.int32]
    names: NDArray[np.int32]

    @classmethod
    def open(cls, folder: Folder) -> "Heads":
        """Map the heads of an index into memory."""
        return cls(folder.array("heads_ranges"), folder.array("heads_names"))

    def first(
        self, table: Table, postings: Postings, words: tuple[int, int], limit: int
    ) -> Documents:
        """Return names, ascending, among them the first of each of the first `limit` resources."""
        at = self._places.get(words)
        if at is not None and limit <= _KEPT:
            names: Documents = self.names[at].astype(np.int64)
            return names
        posted = postings.posted(*words)
        if words[1] - words[0] == 1:
            # One word's names ascend; of very many only the start is read.
            posted = posted[: _LONG * limit]
        return _first(table.first_names, posted, limit)

    @cached_property
    def _places(self) -> dict[tuple[int, int], int]:
        return {(low, high): at for at, (low, high) in enumerate(self.ranges.tolist())}


def write_heads(
    folder: NewFolder, words: list[str], offsets: Documents, first_names: NDArray[np.int32]
) -> None:
    """Write the heads of all prefixes whose words are in very many names."""
    documents = np.load(folder.path / "postings_documents.npy", mmap_mode="r")
    found = [
        (low, high, _first(first_names, documents[offsets[low] : offsets[high]], _KEPT))
        for low, high in prefix_ranges(words, offsets, _LONG)
    ]
    whole = [item for item in found if len(item[2]) >= _KEPT]
    ranges = np.array([(low, high) for low, high, _ in whole], np.int32).reshape(-1, 2)
    heads = np.array([names[:_KEPT] for _, _, names in whole], np.int32).reshape(-1, _KEPT)
    folder.save("heads_ranges", ranges)
    folder.save("heads_names", heads)


def _first(first_names: NDArray[np.int32], posted: NDArray[np.int32], limit: int) -> Documents:
    """Return the first name of each of the first resources: at least `limit`, or all."""
    count = 4 * limit
    while True:
        some = posted
        if len(posted) > count:
            some = np.partition(posted, count)[:count]
        names = np.unique(some).astype(np.int64)
        firsts = names[np.flatnonzero(np.diff(owners(first_names, names), prepend=-1))]
        if len(firsts) >= limit or count >= len(posted):
            return firsts
        count *= 8


_KIND = Kind("keyword", 1)
_EXACT = 1.0
_PREFIX = 0.75
_MISTYPED = 0.5
_FEW = 4096


@dataclass(frozen=True)
class _Keyword:
    """A keyword in the index: the words it leads to, as ranges of numbers, and what they count.

    `whole` is the keyword's own word, which is in the range and counts 1; -1 if there is none.
    """

    ranges: tuple[tuple[int, int], ...]
    weight: float
    whole: int
    size: int

    @property
    def most(self) -> float:
        """The most that the keyword can count."""
        return self.weight if self.whole < 0 else _EXACT


@dataclass(frozen=True, eq=False, repr=False)
class KeywordIndex(Tabled):
    """Read-only and memory-mapped. Time grows with the names of the search's rarer words."""

    postings: Postings
    heads: Heads

    @classmethod
    def build(
        cls, resources: Iterable[Resource], folder: Path, *, progress: Progress | None = None
    ) -> Self:
        """Write an index; see `DiskIndex.build`."""
        with new_folder(folder, _KIND) as new:
            table, postings = TableWriter(new), PostingsWriter()
            for resource in table.taken(resources, progress):
                for name in resource.names:
                    postings.add(search_words(name))
            _, names = table.finish()
            words, offsets = postings.finish(new, names)
            write_heads(new, words, offsets, np.load(new.path / "table_first_names.npy"))
        return cls.open(folder)

    @classmethod
    def open(cls, folder: Path) -> Self:
        """Map an index into memory; see `DiskIndex.open`."""
        opened = Folder.open(folder, _KIND)
        return cls(Table.open(opened), Postings.open(opened), Heads.open(opened))

    def search(
        self, text: str, *, limit: int = 10, within: Collection[str] | None = None
    ) -> Sequence[Hit[Resource]]:
        """Return the best resources; see `SearchIndex.search`."""
        positive(limit)
        keywords = [self._keyword(word) for word in dict.fromkeys(search_words(text))]
        found = sorted((keyword for keyword in keywords if keyword.size), key=lambda k: k.size)
        if not found:
            return []
        if within is None:
            best = self._best(found, limit)
        else:
            names = self.table.names_of(self.table.numbers_of(within))
            best = self._ranked(names, found, limit)
        return best.hits(self.table)

    def _keyword(self, word: str) -> _Keyword:
        low, high = self.postings.vocabulary.prefixed(word)
        if low < high:
            # The word itself is the first of those that it begins.
            whole = -1 if self.postings.vocabulary.find(word) is None else low
            size = self.postings.size(low, high)
            return _Keyword(((low, high),), _PREFIX, whole, size)
        ranges = tuple((at, at + 1) for at in self.postings.vocabulary.mistyped(word))
        size = sum(self.postings.size(*words) for words in ranges)
        return _Keyword(ranges, _MISTYPED, -1, size)

    def _best(self, keywords: list[_Keyword], limit: int) -> Best:
        """Return the best names, without reading every list whole.

        A name that matches one keyword alone is among the best only if it is among the first that
        do. One that matches several is in the list of the rarest of them: the longest list is only
        compared with the others. Names come by score, so a list is left as soon as nothing in the
        rest of it can go before what was found.
        """
        ranges = [
            words
            for keyword in keywords
            for words in (*keyword.ranges, (keyword.whole, keyword.whole + 1))
            if words[0] >= 0
        ]
        first = [self.heads.first(self.table, self.postings, words, limit) for words in ranges]
        best = self._ranked(np.sort(np.concatenate(first)), keywords, limit)
        for at, keyword in enumerate(keywords[:-1]):
            bound = sum(other.most for other in keywords[at:])
            for low, high in self._blocks:
                if best.beats(bound, low, limit):
                    break
                names = self._listed(keyword, low, high)
                others = keywords[at + 1 :]
                if len(names) > _FEW and 32 * len(names) > sum(other.size for other in others):
                    names = names[self._marked(others, low, high)[names - low]]
                more = self._ranked(np.sort(names).astype(np.int64), keywords, limit)
                best = best.joined(more, limit)
        return best

    @property
    def _blocks(self) -> tuple[tuple[int, int], ...]:
        names = len(self.postings)
        first = names // 16
        return ((0, names),) if first < _FEW else ((0, first), (first, names))

    def _listed(self, keyword: _Keyword, low: int, high: int) -> NDArray[np.int32]:
        """Return the keyword's names in a range of numbers, in no order, some of them twice."""
        lists = [self.postings.posted(*words) for words in keyword.ranges]
        posted = np.concatenate(lists) if len(lists) > 1 else lists[0]
        if (low, high) == (0, len(self.postings)):
            return posted
        return posted[(posted >= low) & (posted < high)]

    def _marked(self, keywords: list[_Keyword], low: int, high: int) -> NDArray[np.bool_]:
        """Return whether each name from one number to another matches any of the keywords."""
        marks = np.zeros(high - low, dtype=np.bool_)
        for keyword in keywords:
            marks[self._listed(keyword, low, high) - low] = True
        return marks

    def _ranked(self, names: Documents, keywords: list[_Keyword], limit: int) -> Best:
        """Score each name: the sum, over the keywords, of the best that a word of it counts."""
        if not len(names):
            return Best(())
        places, whose = self.postings.contents(names)
        words = self.postings.words[places]
        scores = np.zeros(len(names))
        for keyword in keywords:
            counted = np.zeros(len(names))
            for low, high in keyword.ranges:
                counted[whose[(words >= low) & (words < high)]] = keyword.weight
            counted[whose[words == keyword.whole]] = _EXACT
            scores += counted
        return best_names(self.table, names, scores, limit)
