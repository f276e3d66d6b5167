"""Vectors without a model: character trigrams, each at a place and with a sign of its own.

They find like spellings, not like meanings: for trying things out, and where no model can be had.
"""

import zlib
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from askgraph.index._words import spelling
from askgraph.index.embeddings import Vectors

__all__ = ["Hashed"]


@dataclass(frozen=True)
class Hashed:
    """Embeds texts into a fixed number of dimensions, the same on every machine."""

    dimensions: int = 384
    name: str = "hashed"

    def embed(self, texts: Sequence[str]) -> Vectors:
        """Return one row a text."""
        vectors = np.zeros((len(texts), self.dimensions), dtype=np.float32)
        for row, text in zip(vectors, texts, strict=True):
            whole = spelling(text)
            for at in range(len(whole) - 2):
                code = zlib.crc32(whole[at : at + 3].encode())
                row[code % self.dimensions] += 1 if code >> 31 else -1
        return vectors
