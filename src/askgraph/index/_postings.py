"""Postings on disk, word to documents and back: what the word indices share.

A document is a name (keyword, trigram) or a resource (bm25), numbered from the highest score down.
"""

from array import array
from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from askgraph.index._table import small, spread
from askgraph.index._vocabulary import Vocabulary, write_vocabulary
from askgraph.index.folder import Folder, NewFolder, Window

__all__ = ["Documents", "Postings", "PostingsWriter"]

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
        """How many documents there are."""
        return len(self.document_offsets) - 1

    def posted(self, low: int, high: int) -> NDArray[np.int32]:
        """Return the documents of a range of words, one word after the other."""
        return self.documents[int(self.word_offsets[low]) : int(self.word_offsets[high])]

    def size(self, low: int, high: int) -> int:
        """Return how many postings a range of words has."""
        return int(self.word_offsets[high] - self.word_offsets[low])

    def contents(self, documents: Documents) -> tuple[Documents, Documents]:
        """Return where the words of the documents lie in `words`, and whose each of them is.

        Whose is a place in `documents`.
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
        """How many words each document has, in the order they were taken."""
        return np.asarray(self._lengths, dtype=np.int32)

    def finish(self, folder: NewFolder, ranks: Documents) -> tuple[list[str], Documents]:
        """Write all, documents renumbered by `ranks`; return the words and their offsets."""
        words = sorted(self._numbers, key=str.encode)
        write_vocabulary(folder, words)
        renumbered = np.zeros(len(words), dtype=np.int64)
        renumbered[[self._numbers[word] for word in words]] = np.arange(len(words))
        tokens = renumbered[np.asarray(self._tokens)]
        documents = np.repeat(ranks, np.asarray(self._lengths))
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
    outer: Documents, inner: Documents, outers: int, inners: int
) -> tuple[Documents, NDArray[np.int32], NDArray[np.uint8]]:
    """Offsets of each outer number, its inner numbers ascending, and how often each occurs."""
    pairs = outer * inners + inner
    pairs.sort()
    firsts = np.flatnonzero(np.diff(pairs, prepend=-1))
    counts = np.diff(firsts, append=len(pairs))
    pairs = pairs[firsts]
    offsets = np.searchsorted(pairs, np.arange(outers + 1) * inners)
    found = (pairs % inners if inners else pairs).astype(np.int32)
    return offsets, found, np.minimum(counts, 255).astype(np.uint8)
