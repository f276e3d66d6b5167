"""The first names of short prefixes, found once when an index is built.

A short prefix is in hundreds of thousands of names; a search for nothing else needs the few of the
highest score.
"""

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from askgraph.index._postings import Documents, Postings
from askgraph.index._table import Table, owners
from askgraph.index._vocabulary import prefix_ranges
from askgraph.index.folder import Folder, NewFolder

__all__ = ["Heads", "write_heads"]

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
    """The first name of each of the first resources: at least `limit`, or all."""
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
