"""An embedder that keeps the vectors of texts in memory: a text is embedded once."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from threading import Lock

import numpy as np
from numpy.typing import NDArray

from askgraph.index.embeddings import Embedder, Vectors, embedder_of

__all__ = ["KeptEmbedder", "kept_embedder"]

_MOST = 50_000


@dataclass(eq=False)
class KeptEmbedder:
    """Asks `inner` for texts that it has not seen; of more than `most` the oldest are forgotten."""

    inner: Embedder
    most: int = _MOST
    _known: dict[str, NDArray[np.float32]] = field(default_factory=dict, repr=False)
    _lock: Lock = field(default_factory=Lock, repr=False)

    @property
    def name(self) -> str:
        """The name of the embedder within."""
        return self.inner.name

    def embed(self, texts: Sequence[str]) -> Vectors:
        """Return one row a text; raises what the embedder within raises."""
        with self._lock:
            known = {text: self._known[text] for text in texts if text in self._known}
        missing = [text for text in dict.fromkeys(texts) if text not in known]
        if missing:
            new = dict(zip(missing, self.inner.embed(missing), strict=True))
            known |= new
            self._keep(new)
        return np.array([known[text] for text in texts], dtype=np.float32)

    def _keep(self, new: dict[str, NDArray[np.float32]]) -> None:
        with self._lock:
            self._known |= new
            while len(self._known) > self.most:
                del self._known[next(iter(self._known))]


@lru_cache(maxsize=4)
def kept_embedder(name: str) -> KeptEmbedder:
    """Return the embedder of a name (see `embedder_of`), the same one each time.

    Raises `SetupError` where there is none such.
    """
    return KeptEmbedder(embedder_of(name))
