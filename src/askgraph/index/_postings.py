"""Words and postings of an index on disk, word to documents and back: shared by word indices.

A document is a name (keyword, trigram) or a resource (bm25), numbered from the highest score down.
"""

from array import array
from bisect import bisect_left
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property
from itertools import groupby, pairwise

import numpy as np
from numpy.typing import NDArray
from rapidfuzz.distance import OSA

from askgraph.index._table import small, spread
from askgraph.index.folder import Folder, NewFolder, Window

_LEAST_MISTYPED = 4
_AT_ONCE = 1 << 22  # words of documents that are sorted together


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
        return bisect_left(range(len(self)), wanted, key=self._bytes)

    def _first_backwards(self, wanted: bytes) -> int:
        def backwards(at: int) -> bytes:
            return self._bytes(int(self.backwards[at])).decode()[::-1].encode()

        return bisect_left(range(len(self)), wanted, key=backwards)

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
    offsets = np.cumsum([0, *map(len, encoded)], dtype=np.int64)
    turned = sorted(range(len(words)), key=lambda at: words[at][::-1].encode())
    folder.save("words_text", np.frombuffer(b"".join(encoded), dtype=np.uint8))
    folder.save("words_offsets", offsets)
    folder.save("words_backwards", np.array(turned, dtype=np.int32))


def prefix_ranges(
    words: list[str], posted: NDArray[np.int64], most: int
) -> Iterator[tuple[int, int]]:
    """Yield the ranges of words with a common prefix that have more than `most` postings.

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


Documents = NDArray[np.int64]


@dataclass(frozen=True, eq=False, repr=False)
class Postings:
    """Read-only and memory-mapped; a word is in a document at most once, with its count.

    Of the words' lists only those in use are mapped.
    """

    vocabulary: Vocabulary
    word_offsets: NDArray[np.integer]
    documents: Window
    counts: Window
    document_offsets: NDArray[np.integer]
    words: NDArray[np.int32]
    word_counts: NDArray[np.uint8]

    @classmethod
    def open(cls, folder: Folder) -> "Postings":
        """Map the postings of an index into memory."""
        return cls(
            Vocabulary.open(folder),
            folder.array("postings_word_offsets"),
            folder.window("postings_documents"),
            folder.window("postings_counts"),
            folder.array("postings_document_offsets"),
            folder.array("postings_words"),
            folder.array("postings_word_counts"),
        )

    def __len__(self) -> int:
        """Return how many documents there are."""
        return len(self.document_offsets) - 1

    def posted(self, low: int, high: int) -> NDArray[np.int32]:
        """Return the documents of a range of words, one word after the other."""
        return self.documents[int(self.word_offsets[low]) : int(self.word_offsets[high])]

    def size(self, low: int, high: int) -> int:
        """Return how many postings a range of words has."""
        return int(self.word_offsets[high] - self.word_offsets[low])

    def contents(self, documents: Documents) -> tuple[Documents, Documents]:
        """Return the places of the documents' words in `words`, and the owner of each of them.

        An owner is a place in `documents`.
        """
        starts = self.document_offsets[documents].astype(np.int64)
        lengths = self.document_offsets[documents + 1] - starts
        return spread(starts, lengths), np.repeat(np.arange(len(documents)), lengths)


class PostingsWriter:
    """Takes the words of documents in any order."""

    def __init__(self) -> None:
        self._numbers: dict[str, int] = {}
        self._tokens = array("i")
        self._lengths = array("i")

    def add(self, words: Iterable[str]) -> None:
        """Take the words of the next document."""
        numbers, before = self._numbers, len(self._tokens)
        self._tokens.extend([numbers.setdefault(word, len(numbers)) for word in words])
        self._lengths.append(len(self._tokens) - before)

    @property
    def lengths(self) -> NDArray[np.int32]:
        """The number of words of each document, in the order they were taken."""
        return np.asarray(self._lengths, dtype=np.int32)

    def finish(self, folder: NewFolder, ranks: Documents) -> tuple[list[str], Documents]:
        """Write all, documents renumbered by `ranks`; return the words and their offsets."""
        words = sorted(self._numbers, key=str.encode)
        write_vocabulary(folder, words)
        renumbered = np.zeros(len(words), dtype=np.int32)
        renumbered[[self._numbers[word] for word in words]] = np.arange(len(words))
        self._numbers.clear()
        tokens = renumbered[np.asarray(self._tokens)]
        documents = np.repeat(ranks.astype(np.int32), np.asarray(self._lengths))
        offsets, inner, counts = _grouped(tokens, documents, len(words), len(ranks))
        folder.save("postings_word_offsets", small(offsets))
        folder.save("postings_documents", inner)
        folder.save("postings_counts", counts)
        starts, inner, counts = _grouped(documents, tokens, len(ranks), len(words))
        folder.save("postings_document_offsets", small(starts))
        folder.save("postings_words", inner)
        folder.save("postings_word_counts", counts)
        return words, offsets


def _grouped(
    outer: NDArray[np.int32], inner: NDArray[np.int32], outers: int, inners: int
) -> tuple[Documents, NDArray[np.int32], NDArray[np.uint8]]:
    """Offsets of each outer number, its inner numbers ascending, and how often each occurs.

    A part is sorted at a time: a sort of all would need many times their memory.
    """
    size = max(_AT_ONCE, len(outer) // 16)
    starts = range(0, len(outer), size)
    lengths = np.zeros(outers, np.int64)
    for at in starts:
        lengths += np.bincount(outer[at : at + size], minlength=outers)
    bounds = np.searchsorted(np.cumsum(lengths), starts, side="right")
    offsets = np.zeros(outers + 1, np.int64)
    found, counted = np.empty(len(outer), np.int32), np.empty(len(outer), np.uint8)
    end = 0
    for low, high in pairwise(np.unique([0, *bounds, outers]).tolist()):
        chosen = np.flatnonzero((outer >= low) & (outer < high))
        pairs = outer[chosen] * np.int64(inners) + inner[chosen]
        pairs.sort()
        firsts = np.flatnonzero(np.diff(pairs, prepend=-1))
        counts = np.diff(firsts, append=len(pairs))
        pairs = pairs[firsts]
        offsets[low:high] = end + np.searchsorted(pairs, np.arange(low, high) * inners)
        start, end = end, end + len(pairs)
        found[start:end] = pairs % inners
        counted[start:end] = np.minimum(counts, 255)
    offsets[outers] = end
    return offsets, found[:end], counted[:end]
