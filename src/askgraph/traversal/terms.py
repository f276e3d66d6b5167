"""All terms of a graph in one sorted, memory-mapped table: an id is a term's place in it.

Terms are N-Triples text in UTF-8, sorted by bytes, so the kinds lie together: literals (`"`), IRIs
(`<`), blank nodes (`_`). Looking an id up is a slice, looking a term up a binary search.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from pyoxigraph import BlankNode, Literal, NamedNode

from askgraph.traversal.literals import split_literal

__all__ = ["TermTable", "mapped"]


@dataclass(frozen=True, eq=False, repr=False)
class TermTable:
    """Terms by id; `offsets` has one entry more than there are terms."""

    blob: NDArray[np.uint8]
    offsets: NDArray[np.int64]
    first_iri: int
    first_blank: int

    @classmethod
    def of(cls, texts: Sequence[bytes]) -> Self:
        """Build from sorted, distinct N-Triples terms."""
        offsets = np.zeros(len(texts) + 1, dtype=np.int64)
        np.cumsum([len(text) for text in texts], out=offsets[1:])
        blob = np.frombuffer(b"".join(texts), dtype=np.uint8)
        table = cls(blob, offsets, 0, 0)
        first_iri, first_blank = table._place(b"<"), table._place(b"_")
        return cls(blob, offsets, first_iri, first_blank)

    @classmethod
    def load(cls, folder: Path) -> Self:
        """Open a saved table without reading it into memory."""
        blob, offsets = mapped(folder / "terms.npy"), mapped(folder / "term_offsets.npy")
        table = cls(blob, offsets, 0, 0)
        return cls(blob, offsets, table._place(b"<"), table._place(b"_"))

    def save(self, folder: Path) -> None:
        """Write the table into a folder."""
        np.save(folder / "terms.npy", self.blob)
        np.save(folder / "term_offsets.npy", self.offsets)

    def __len__(self) -> int:
        return len(self.offsets) - 1

    def text(self, at: int) -> str:
        """Return the N-Triples text of a term."""
        return self._bytes(at).decode()

    def value(self, at: int) -> str:
        """Return the IRI, the literal's lexical form, or the blank node's name."""
        text = self.text(at)
        if text[0] == "<":
            return text[1:-1]
        return text[2:] if text[0] == "_" else split_literal(text)[0]

    def term(self, at: int) -> NamedNode | BlankNode | Literal:
        """Return a term as pyoxigraph has it."""
        text = self.text(at)
        if text[0] == "<":
            return NamedNode(text[1:-1])
        if text[0] == "_":
            return BlankNode(text[2:])
        value, datatype, language = split_literal(text)
        if language:
            return Literal(value, language=language)
        return Literal(value, datatype=NamedNode(datatype))

    def find(self, text: str) -> int | None:
        """Return the id of an N-Triples term, or None where the graph does not have it."""
        wanted = text.encode()
        at = self._place(wanted)
        return at if at < len(self) and self._bytes(at) == wanted else None

    def iri(self, iri: str) -> int | None:
        """Return the id of an IRI."""
        return self.find(f"<{iri}>")

    def is_literal(self, at: int) -> bool:
        """Whether a term is a literal."""
        return at < self.first_iri

    def is_iri(self, at: int) -> bool:
        """Whether a term is an IRI."""
        return self.first_iri <= at < self.first_blank

    def starting(self, prefix: str) -> range:
        """Return the ids of all terms that start with this N-Triples text."""
        start = prefix.encode()
        return range(self._place(start), self._place(start + b"\xff"))

    def _bytes(self, at: int) -> bytes:
        return self.blob[self.offsets[at] : self.offsets[at + 1]].tobytes()

    def _place(self, wanted: bytes) -> int:
        low, high = 0, len(self)
        while low < high:
            middle = (low + high) // 2
            if self._bytes(middle) < wanted:
                low = middle + 1
            else:
                high = middle
        return low


def mapped(path: Path) -> NDArray[Any]:
    """Open a saved array without reading it, as a plain one: slices of `numpy.memmap` are slow."""
    return np.asarray(np.load(path, mmap_mode="r"))
