"""Prefix keywords: the names that hold most words of the search, whole or begun.

The ranking of GRASP (arXiv 2507.08107, section 3, "Prefix-keyword index"). A keyword that is a word
of a name counts 1, one that only begins a word counts 0.75 (the paper gives no weights); a label
and each synonym are ranked apart, the best one ranks the resource, equal ones are ranked by their
score. So "Albert E" gives Albert Einstein, Albert Finney, Carlos Alberto, and not Peter Falk.

A keyword that no name holds or begins with counts 0.5 for the words that differ by one letter. The
order of words, and words of a name that the search does not hold, count nothing. `infos` are not
searched.
"""

from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Self

import numpy as np
from numpy.typing import NDArray

from askgraph.index import Hit, Progress, Resource
from askgraph.index._best import Best, best_names, positive
from askgraph.index._heads import Heads, write_heads
from askgraph.index._postings import Documents, Postings, PostingsWriter
from askgraph.index._table import Table, TableWriter
from askgraph.index._words import search_words
from askgraph.index.folder import Folder, Kind, new_folder

__all__ = ["KeywordIndex"]

_KIND = Kind("keyword", 1)
_EXACT = 1.0
_PREFIX = 0.75
_MISTYPED = 0.5
_FEW = 4096


@dataclass(frozen=True)
class _Keyword:
    """A keyword in the index: the words it leads to, as ranges of numbers, and what they count.

    `whole` is the keyword's own word, which is in the range and counts 1; -1 where there is none.
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
class KeywordIndex:
    """Read-only and memory-mapped. Time grows with the names of the search's rarer words."""

    table: Table
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

    def __len__(self) -> int:
        return len(self.table)

    def find(self, iri: str) -> Resource | None:
        """Return the resource of an IRI, or None."""
        return self.table.find(iri)

    def resources(self) -> Iterator[Resource]:
        """Give all resources, the highest score first."""
        return self.table.resources()

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
        """The best names, without reading every list whole.

        A name that matches one keyword alone is among the best only if it is among the first that
        do. One that matches several is in the list of the rarest of them: the longest list is only
        compared with the others. Names come by score, so a list is left as soon as nothing in the
        rest of it can go before what was found.
        """
        best = self._ranked(self._firsts(keywords, limit), keywords, limit)
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

    def _firsts(self, keywords: list[_Keyword], limit: int) -> Documents:
        ranges = [
            words
            for keyword in keywords
            for words in (*keyword.ranges, (keyword.whole, keyword.whole + 1))
            if words[0] >= 0
        ]
        first = [self.heads.first(self.table, self.postings, words, limit) for words in ranges]
        return np.sort(np.concatenate(first))

    @property
    def _blocks(self) -> tuple[tuple[int, int], ...]:
        names = len(self.postings)
        first = names // 16
        return ((0, names),) if first < _FEW else ((0, first), (first, names))

    def _listed(self, keyword: _Keyword, low: int, high: int) -> NDArray[np.int32]:
        """The keyword's names from one number to another, in no order, some of them twice."""
        lists = [self.postings.posted(*words) for words in keyword.ranges]
        posted = np.concatenate(lists) if len(lists) > 1 else lists[0]
        if (low, high) == (0, len(self.postings)):
            return posted
        return posted[(posted >= low) & (posted < high)]

    def _marked(self, keywords: list[_Keyword], low: int, high: int) -> NDArray[np.bool_]:
        """Whether each name from one number to another matches any of the keywords."""
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
