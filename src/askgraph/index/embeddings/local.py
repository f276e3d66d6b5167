"""Vectors from a model on this machine, through sentence-transformers."""

from collections.abc import Sequence

import numpy as np
from sentence_transformers import SentenceTransformer

from askgraph.index.embeddings import Vectors

__all__ = ["LocalModel"]


class LocalModel:
    """A model by the path of its folder, or by a name that sentence-transformers knows."""

    def __init__(self, model: str) -> None:
        self.name = f"local:{model}"
        self._model = SentenceTransformer(model)

    def embed(self, texts: Sequence[str]) -> Vectors:
        """Return one row a text."""
        vectors = self._model.encode(list(texts), show_progress_bar=False, convert_to_numpy=True)
        return np.asarray(vectors, dtype=np.float32)
