"""The words of an index on disk, sorted: exact, by prefix, and one letter wrong."""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from itertools import groupby

import numpy as np
from numpy.typing import NDArray
from rapidfuzz.distance import OSA

from askgraph.index.folder import Folder, NewFolder

__all__ = ["Vocabulary", "prefix_ranges", "write_vocabulary"]

_LEAST_MISTYPED = 4


@dataclass(frozen=True, eq=False, repr=False)
class Vocabulary:
    """Words by their numbers, in the order of their UTF-8 bytes; memory-mapped."""

    text: NDArray[np.uint8]
    offsets: NDArray[np.int64]
    backwards: NDArray[np.int32]  # the words' numbers, sorted by the words read backwards

    @classmethod
    def open(cls, folder: Folder) -> "Vocabulary":
        """Map the words of an index into memory."""
        fields = (folder.array(f"words_{name}") for name in ("text", "offsets", "backwards"))
        return cls(*fields)

    def __len__(self) -> int:
        return len(self.offsets) - 1

    def find(self, word: str) -> int | None:
        """Return the number of a word, or None."""
        wanted = word.encode()
        at = self._first(wanted)
        return at if at < len(self) and self._bytes(at) == wanted else None

    def prefixed(self, prefix: str) -> tuple[int, int]:
        """Return the first number of the words with a prefix, and one more than the last."""
        start = prefix.encode()
        # No byte of UTF-8 is as high as 0xff.
        return self._first(start), self._first(start + b"\xff")

    def mistyped(self, word: str) -> list[int]:
        """Return the words that differ by a letter added, missing, wrong, or changed with the next.

        A word of fewer than four letters, or one with a digit, is not taken for mistyped.
        """
        if len(word) < _LEAST_MISTYPED or not word.isalpha():
            return []
        # One half of the word is right, but where the two letters in its middle changed places.
        middle = len(word) // 2
        swapped = word[: middle - 1] + word[middle] + word[middle - 1] + word[middle + 1 :]
        low, high = self.prefixed(word[:middle])
        ending = word[middle:][::-1].encode()
        first = self._first_backwards(ending)
        last = self._first_backwards(ending + b"\xff")
        near = {*range(low, high), *self.backwards[first:last].tolist(), self.find(swapped)}
        return sorted(at for at in near if at is not None and self._differs_by_one(at, word))

    def _differs_by_one(self, at: int, word: str) -> bool:
        if abs(self._offsets[at + 1] - self._offsets[at] - len(word.encode())) > 4:
            return False
        return OSA.distance(self._bytes(at).decode(), word, score_cutoff=1) == 1

    def _first(self, wanted: bytes) -> int:
        low, high = 0, len(self)
        while low < high:
            middle = (low + high) // 2
            if self._bytes(middle) < wanted:
                low = middle + 1
            else:
                high = middle
        return low

    def _first_backwards(self, wanted: bytes) -> int:
        low, high = 0, len(self)
        while low < high:
            middle = (low + high) // 2
            if self._bytes(int(self.backwards[middle])).decode()[::-1].encode() < wanted:
                low = middle + 1
            else:
                high = middle
        return low

    def _bytes(self, at: int) -> bytes:
        return bytes(self._text[self._offsets[at] : self._offsets[at + 1]])

    @cached_property
    def _text(self) -> memoryview:
        return memoryview(self.text)  # type: ignore[arg-type]

    @cached_property
    def _offsets(self) -> memoryview:
        return memoryview(self.offsets)  # type: ignore[arg-type]


def write_vocabulary(folder: NewFolder, words: list[str]) -> None:
    """Write words that are sorted by their UTF-8 bytes."""
    encoded = [word.encode() for word in words]
    offsets = np.zeros(len(words) + 1, dtype=np.int64)
    np.cumsum(np.fromiter(map(len, encoded), np.int64, len(encoded)), out=offsets[1:])
    turned = sorted(range(len(words)), key=lambda at: words[at][::-1].encode())
    folder.save("words_text", np.frombuffer(b"".join(encoded), dtype=np.uint8))
    folder.save("words_offsets", offsets)
    folder.save("words_backwards", np.array(turned, dtype=np.int32))


def prefix_ranges(
    words: list[str], posted: NDArray[np.int64], most: int
) -> Iterator[tuple[int, int]]:
    """Give the ranges of words with a common prefix that have more than `most` postings.

    `posted` are the offsets of the words' postings. A range that several prefixes share is given
    once.
    """
    ranges = {(0, len(words))}
    depth = 0
    while ranges:
        deeper = set()
        for low, high in ranges:
            at = low
            for prefix, group in groupby(words[low:high], key=lambda word: word[: depth + 1]):
                end = at + sum(1 for _ in group)
                if len(prefix) > depth and posted[end] - posted[at] > most:
                    deeper.add((at, end))
                at = end
        yield from sorted(deeper if depth == 0 else deeper - ranges)
        ranges = deeper
        depth += 1
