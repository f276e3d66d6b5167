"""Words and postings of an index on disk, for all indices of words.

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

from askgraph.index._table import expand_ranges, shrink_offsets
from askgraph.index.folder import IndexFolder, IndexFolderWriter, SlicedArray

_MIN_MISTYPED_LENGTH = 4
_MAX_SORTED_COUNT = 1 << 22  # words of documents that are sorted together


@dataclass(frozen=True, eq=False, repr=False)
class Vocabulary:
    """The words of an index by number, in the order of their UTF-8 bytes; memory-mapped.

    Attributes:
        text: the bytes of all words.
        offsets: the start of each word in `text`, and the end of the last.
        backwards: the word numbers, sorted by the reversed words.
    """

    text: NDArray[np.uint8]
    offsets: NDArray[np.int64]
    backwards: NDArray[np.int32]  # the words' numbers, sorted by the words read backwards

    @classmethod
    def open(cls, folder: IndexFolder) -> "Vocabulary":
        """Map the words of an index into memory."""
        fields = (folder.map_array(f"words_{name}") for name in ("text", "offsets", "backwards"))
        return cls(*fields)

    def __len__(self) -> int:
        return len(self.offsets) - 1

    def find(self, word: str) -> int | None:
        """Return the number of a word, or None."""
        encoded = word.encode()
        number = self._find_first(encoded)
        return number if number < len(self) and self._read_bytes(number) == encoded else None

    def find_prefix_range(self, prefix: str) -> tuple[int, int]:
        """Return the first number of the words with a prefix, and one more than the last."""
        start = prefix.encode()
        # No byte of UTF-8 is as high as 0xff.
        return self._find_first(start), self._find_first(start + b"\xff")

    def find_mistyped(self, word: str) -> list[int]:
        """Return the words at one typing error from a word.

        An error is an added, missing or wrong letter, or two swapped neighbours. A word that has
        fewer than four letters, or a character that is no letter, gets no corrections.
        """
        if len(word) < _MIN_MISTYPED_LENGTH or not word.isalpha():
            return []
        # One half of the word is right, but where the two letters in its middle changed places.
        middle = len(word) // 2
        swapped = word[: middle - 1] + word[middle] + word[middle - 1] + word[middle + 1 :]
        low, high = self.find_prefix_range(word[:middle])
        ending = word[middle:][::-1].encode()
        first = self._find_first_backwards(ending)
        last = self._find_first_backwards(ending + b"\xff")
        candidates = {*range(low, high), *self.backwards[first:last].tolist(), self.find(swapped)}
        return sorted(
            number
            for number in candidates
            if number is not None
            and abs(self._offsets[number + 1] - self._offsets[number] - len(word.encode())) <= 4
            and OSA.distance(self._read_bytes(number).decode(), word, score_cutoff=1) == 1
        )

    def _find_first(self, encoded: bytes) -> int:
        return bisect_left(range(len(self)), encoded, key=self._read_bytes)

    def _find_first_backwards(self, encoded: bytes) -> int:
        def reverse_word(position: int) -> bytes:
            return self._read_bytes(int(self.backwards[position])).decode()[::-1].encode()

        return bisect_left(range(len(self)), encoded, key=reverse_word)

    def _read_bytes(self, number: int) -> bytes:
        return bytes(self._text[self._offsets[number] : self._offsets[number + 1]])

    @cached_property
    def _text(self) -> memoryview:
        return memoryview(self.text)  # type: ignore[arg-type]

    @cached_property
    def _offsets(self) -> memoryview:
        return memoryview(self.offsets)  # type: ignore[arg-type]


def iterate_prefix_ranges(
    words: list[str], offsets: NDArray[np.int64], min_postings: int
) -> Iterator[tuple[int, int]]:
    """Yield the ranges of words with a common prefix and more than `min_postings` postings.

    `offsets` are those of the words' postings. A range of several prefixes comes once.
    """
    ranges = {(0, len(words))}
    depth = 0
    while ranges:
        deeper = set()
        for low, high in ranges:
            start = low
            for prefix, group in groupby(words[low:high], key=lambda word: word[: depth + 1]):
                end = start + sum(1 for _ in group)
                if len(prefix) > depth and offsets[end] - offsets[start] > min_postings:
                    deeper.add((start, end))
                start = end
        yield from sorted(deeper if depth == 0 else deeper - ranges)
        ranges = deeper
        depth += 1


Documents = NDArray[np.int64]


@dataclass(frozen=True, eq=False, repr=False)
class Postings:
    """Postings in both directions; read-only and memory-mapped.

    A word is in a document at most once, with its count. Only the lists in use are mapped.
    """

    vocabulary: Vocabulary
    word_offsets: NDArray[np.integer]
    documents: SlicedArray
    counts: SlicedArray
    document_offsets: NDArray[np.integer]
    words: NDArray[np.int32]
    word_counts: NDArray[np.uint8]

    @classmethod
    def open(cls, folder: IndexFolder) -> "Postings":
        """Map the postings of an index into memory."""
        return cls(
            Vocabulary.open(folder),
            folder.map_array("postings_word_offsets"),
            folder.open_sliced_array("postings_documents"),
            folder.open_sliced_array("postings_counts"),
            folder.map_array("postings_document_offsets"),
            folder.map_array("postings_words"),
            folder.map_array("postings_word_counts"),
        )

    def __len__(self) -> int:
        """Return the number of documents."""
        return len(self.document_offsets) - 1

    def read_documents(self, low: int, high: int) -> NDArray[np.int32]:
        """Return the documents of a range of words, one word after the other."""
        return self.documents[int(self.word_offsets[low]) : int(self.word_offsets[high])]

    def count_postings(self, low: int, high: int) -> int:
        """Return the number of postings of a range of words."""
        return int(self.word_offsets[high] - self.word_offsets[low])

    def locate_words(self, documents: Documents) -> tuple[Documents, Documents]:
        """Return the positions of the documents' words in `words`, and the owner of each.

        An owner is a position in `documents`.
        """
        starts = self.document_offsets[documents].astype(np.int64)
        lengths = self.document_offsets[documents + 1] - starts
        return expand_ranges(starts, lengths), np.repeat(np.arange(len(documents)), lengths)


class PostingsWriter:
    """Collects the words of documents, in any order, and writes the postings."""

    def __init__(self) -> None:
        self._numbers: dict[str, int] = {}
        self._tokens = array("i")
        self._lengths = array("i")

    def add(self, words: Iterable[str]) -> None:
        """Add the words of the next document."""
        numbers, previous_length = self._numbers, len(self._tokens)
        self._tokens.extend([numbers.setdefault(word, len(numbers)) for word in words])
        self._lengths.append(len(self._tokens) - previous_length)

    @property
    def lengths(self) -> NDArray[np.int32]:
        """The number of words of each document, in the order of `add`."""
        return np.asarray(self._lengths, dtype=np.int32)

    def finish(self, folder: IndexFolderWriter, ranks: Documents) -> tuple[list[str], Documents]:
        """Write the postings, documents renumbered by `ranks`; return words and their offsets."""
        words = sorted(self._numbers, key=str.encode)
        encoded = [word.encode() for word in words]
        offsets = np.cumsum([0, *map(len, encoded)], dtype=np.int64)
        reversed_order = sorted(range(len(words)), key=lambda number: words[number][::-1].encode())
        folder.save("words_text", np.frombuffer(b"".join(encoded), dtype=np.uint8))
        folder.save("words_offsets", offsets)
        folder.save("words_backwards", np.array(reversed_order, dtype=np.int32))
        renumbered = np.zeros(len(words), dtype=np.int32)
        renumbered[[self._numbers[word] for word in words]] = np.arange(len(words))
        self._numbers.clear()
        tokens = renumbered[np.asarray(self._tokens)]
        documents = np.repeat(ranks.astype(np.int32), np.asarray(self._lengths))
        offsets, inner, counts = _group_pairs(tokens, documents, len(words), len(ranks))
        folder.save("postings_word_offsets", shrink_offsets(offsets))
        folder.save("postings_documents", inner)
        folder.save("postings_counts", counts)
        starts, inner, counts = _group_pairs(documents, tokens, len(ranks), len(words))
        folder.save("postings_document_offsets", shrink_offsets(starts))
        folder.save("postings_words", inner)
        folder.save("postings_word_counts", counts)
        return words, offsets


def _group_pairs(
    outer: NDArray[np.int32], inner: NDArray[np.int32], outer_count: int, inner_count: int
) -> tuple[Documents, NDArray[np.int32], NDArray[np.uint8]]:
    """Group inner numbers by outer number: return offsets, inner numbers (ascending) and counts."""
    # One part is sorted at a time: sorting all at once would need many times the memory.
    size = max(_MAX_SORTED_COUNT, len(outer) // 16)
    starts = range(0, len(outer), size)
    lengths = np.zeros(outer_count, np.int64)
    for offset in starts:
        lengths += np.bincount(outer[offset : offset + size], minlength=outer_count)
    bounds = np.searchsorted(np.cumsum(lengths), starts, side="right")
    offsets = np.zeros(outer_count + 1, np.int64)
    grouped, grouped_counts = np.empty(len(outer), np.int32), np.empty(len(outer), np.uint8)
    end = 0
    for low, high in pairwise(np.unique([0, *bounds, outer_count]).tolist()):
        selected = np.flatnonzero((outer >= low) & (outer < high))
        pairs = outer[selected] * np.int64(inner_count) + inner[selected]
        pairs.sort()
        firsts = np.flatnonzero(np.diff(pairs, prepend=-1))
        counts = np.diff(firsts, append=len(pairs))
        pairs = pairs[firsts]
        offsets[low:high] = end + np.searchsorted(pairs, np.arange(low, high) * inner_count)
        start, end = end, end + len(pairs)
        grouped[start:end] = pairs % inner_count
        grouped_counts[start:end] = np.minimum(counts, 255)
    offsets[outer_count] = end
    return offsets, grouped[:end], grouped_counts[:end]
