"""Embedders, which make vectors of texts: their one contract, and one for each kind of name.

`hashed` needs no model. `local:PATH` is a model of sentence-transformers, on disk or in its cache.
`openai:MODEL@URL` is any server with OpenAI's embeddings address (OpenAI, vLLM, Ollama,
llama.cpp); the key, if it wants one, is in the environment variable ASKGRAPH_EMBEDDINGS_KEY.
"""

import os
import time
import zlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from threading import Lock
from types import TracebackType
from typing import TYPE_CHECKING, Protocol, Self

import numpy as np
from numpy.typing import NDArray

from askgraph.errors import (
    ErrorReply,
    MalformedReply,
    Overloaded,
    ServiceError,
    SetupError,
    TimedOut,
    Unauthorised,
    Unreachable,
)
from askgraph.index import spelling

if TYPE_CHECKING:
    import httpx2

Vectors = NDArray[np.float32]

KEY = "ASKGRAPH_EMBEDDINGS_KEY"
"""The environment variable that holds the server's key."""

_MOST = 50_000
_AT_ONCE = 256
_BUSY = frozenset({429, 500, 502, 503, 504})


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
        model, _, address = rest.partition("@")
        return EmbeddingsServer(model, address)
    raise SetupError(f"no embedder {name!r}; name 'hashed', 'local:PATH' or 'openai:MODEL@URL'")


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


class EmbeddingsServer:
    """Asks `address`/embeddings, at most 256 texts at once, busy servers up to `tries` times."""

    def __init__(
        self, model: str, address: str, *, timeout: float = 60.0, tries: int = 4, wait: float = 0.5
    ) -> None:
        self.name = f"openai:{model}@{address}"
        self._model = model
        self._address = f"{address.rstrip('/')}/embeddings"
        self._tries = tries
        self._wait = wait
        import httpx2  # takes long, and only a server needs it

        key = os.environ.get(KEY)
        headers = {"Authorization": f"Bearer {key}"} if key else {}
        self._client = httpx2.Client(timeout=timeout, headers=headers)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._client.close()

    def embed(self, texts: Sequence[str]) -> Vectors:
        """Return one row a text; `ServiceError` if the server fails."""
        parts = [texts[at : at + _AT_ONCE] for at in range(0, len(texts), _AT_ONCE)]
        rows = [self._vectors(part) for part in parts]
        return np.concatenate(rows) if rows else np.zeros((0, 0), dtype=np.float32)

    def _vectors(self, texts: Sequence[str]) -> Vectors:
        body = {"model": self._model, "input": list(texts), "encoding_format": "float"}
        reply = self._posted(body)
        try:
            listed = sorted(reply.json()["data"], key=lambda item: item["index"])
            vectors = np.array([item["embedding"] for item in listed], dtype=np.float32)
        except (ValueError, KeyError, TypeError) as error:
            raise MalformedReply(f"{self._address}: the reply holds no embeddings") from error
        if vectors.ndim != 2 or len(vectors) != len(texts):
            raise MalformedReply(
                f"{self._address}: {len(vectors)} embeddings came for {len(texts)} texts"
            )
        return vectors

    def _posted(self, body: Mapping[str, object]) -> "httpx2.Response":
        import httpx2

        for attempt in range(1, self._tries + 1):
            try:
                reply = self._client.post(self._address, json=body)
            except httpx2.TimeoutException as error:
                raise TimedOut(f"{self._address}: no reply in time") from error
            except httpx2.TransportError as error:
                raise Unreachable(f"{self._address}: {error}") from error
            if reply.status_code == 200:
                return reply
            if reply.status_code not in _BUSY or attempt == self._tries:
                break
            time.sleep(self._wait * 2 ** (attempt - 1))
        raise self._refused(reply)

    def _refused(self, reply: "httpx2.Response") -> ServiceError:
        said = f"{self._address}: HTTP {reply.status_code}: {reply.text[:200]}"
        if reply.status_code in (401, 403):
            return Unauthorised(f"{said}; set {KEY}")
        return Overloaded(said) if reply.status_code in _BUSY else ErrorReply(said)
