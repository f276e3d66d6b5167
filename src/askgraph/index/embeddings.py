"""Embedders, which make vectors of texts: their one contract, and one for each kind of name.

`hashed` needs no model. `local:PATH` is a model of sentence-transformers, on disk or in its cache.
`openai:MODEL@URL` is any server with OpenAI's embeddings address (OpenAI, vLLM, Ollama,
llama.cpp); the key, if it wants one, is in the environment variable ASKGRAPH_EMBEDDINGS_KEY.
"""

import zlib
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from threading import Lock
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from askgraph.errors import SetupError
from askgraph.index.tokens import spelling

Vectors = NDArray[np.float32]


class Embedder(Protocol):
    """Makes like vectors of texts of like meaning."""

    @property
    def name(self) -> str:
        """The name that `embedder_of` takes; an index is searched with the embedder it names."""
        ...

    def embed(self, texts: Sequence[str]) -> Vectors:
        """Return one row a text, all equally long; lengths of rows do not matter.

        Raises `ServiceError` if a server fails.
        """
        ...


def embedder_of(name: str) -> Embedder:
    """Return the embedder of a name; `SetupError` if there is none such."""
    kind, _, rest = name.partition(":")
    if name == "hashed":
        return Hashed()
    if kind == "local" and rest:
        return LocalModel(rest)
    if kind == "openai" and "@" in rest:
        # Only a server needs an HTTP client, which takes long to import.
        from askgraph.index._embeddings_server import EmbeddingsServer

        model, _, address = rest.partition("@")
        return EmbeddingsServer(model, address)
    raise SetupError(f"no embedder {name!r}; name 'hashed', 'local:PATH' or 'openai:MODEL@URL'")


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

    Raises `SetupError` if there is none such.
    """
    return KeptEmbedder(embedder_of(name))


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


class LocalModel:
    """A model by the path of its folder, or by a name that sentence-transformers knows."""

    def __init__(self, model: str) -> None:
        try:  # an extra, and seconds to import
            from sentence_transformers import SentenceTransformer
        except ModuleNotFoundError as error:
            raise SetupError(
                f"the embedder 'local:{model}' needs {error.name}: pip install"
                " 'askgraph[embeddings]'"
            ) from error
        self.name = f"local:{model}"
        self._model = SentenceTransformer(model)

    def embed(self, texts: Sequence[str]) -> Vectors:
        """Return one row a text."""
        vectors = self._model.encode(list(texts), show_progress_bar=False, convert_to_numpy=True)
        return np.asarray(vectors, dtype=np.float32)
