"""Embeddings from a server with OpenAI's embeddings address: OpenAI, vLLM, Ollama, llama.cpp."""

import os
import time
from collections.abc import Mapping, Sequence
from types import TracebackType
from typing import Self

import httpx2
import numpy as np
from numpy.typing import NDArray

from askgraph.errors import (
    ErrorReply,
    MalformedReply,
    Overloaded,
    ServiceError,
    TimedOut,
    Unauthorised,
    Unreachable,
)

Vectors = NDArray[np.float32]

KEY = "ASKGRAPH_EMBEDDINGS_KEY"
"""The environment variable that holds the server's key."""

_AT_ONCE = 256
_BUSY = frozenset({429, 500, 502, 503, 504})


class EmbeddingsServer:
    """Asks `address`/embeddings, at most 256 texts at once, busy servers up to `tries` times."""

    def __init__(
        self,
        model: str,
        address: str,
        *,
        timeout: float = 60.0,
        tries: int = 4,
        wait: float = 0.5,
    ) -> None:
        self.name = f"openai:{model}@{address}"
        self._model = model
        self._address = f"{address.rstrip('/')}/embeddings"
        self._tries = tries
        self._wait = wait
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

    def _posted(self, body: Mapping[str, object]) -> httpx2.Response:
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

    def _refused(self, reply: httpx2.Response) -> ServiceError:
        said = f"{self._address}: HTTP {reply.status_code}: {reply.text[:200]}"
        if reply.status_code in (401, 403):
            return Unauthorised(f"{said}; set {KEY}")
        return Overloaded(said) if reply.status_code in _BUSY else ErrorReply(said)
