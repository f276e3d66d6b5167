"""Embedders, which map texts to vectors: their contract, and one class for each kind of name.

`hashed` needs no model. `local:PATH` is a model of sentence-transformers, on disk or in its cache;
`onnx:PATH` is a model in the Open Neural Network Exchange format, which needs no PyTorch.
`openai:MODEL@URL` is any server with OpenAI's embeddings endpoint (OpenAI, vLLM, Ollama,
llama.cpp); its key, if any, is in the environment variable ASKGRAPH_EMBEDDINGS_KEY.
"""

import os
import time
import zlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from importlib import import_module
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING, Any, Protocol, Self

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
from askgraph.index.names import pad_words
from askgraph.plugins import to_missing_extra_error

if TYPE_CHECKING:
    import httpx2

Vectors = NDArray[np.float32]

KEY_VARIABLE = "ASKGRAPH_EMBEDDINGS_KEY"
"""The environment variable that holds the server's key."""

_MAX_CACHED_COUNT = 50_000
_MAX_BATCH_SIZE = 256
_MAX_TOKENS = 256
_BUSY_STATUSES = frozenset({429, 500, 502, 503, 504})


class Embedder(Protocol):
    """Maps texts of similar meaning to similar vectors."""

    @property
    def name(self) -> str:
        """The name for `create_embedder`; an index is searched with the embedder of its build."""

    def embed(self, texts: Sequence[str]) -> Vectors:
        """Return one row for each text, all of one size; raise `ServiceError` if a server fails."""


def create_embedder(name: str) -> Embedder:
    """Return a new embedder by its name; raise `SetupError` for an unknown name."""
    kind, _, argument = name.partition(":")
    if name == "hashed":
        return HashedEmbedder()
    if kind == "local" and argument:
        return LocalEmbedder(argument)
    if kind == "onnx" and argument:
        return OnnxEmbedder(argument)
    if kind == "openai" and "@" in argument:
        model, _, address = argument.partition("@")
        return ServerEmbedder(model, address)
    raise SetupError(
        f"no embedder {name!r}; name 'hashed', 'onnx:PATH', 'local:PATH' or 'openai:MODEL@URL'"
    )


def normalize_rows(vectors: Vectors) -> Vectors:
    """Return the rows divided by their lengths; rows of zeros stay unchanged."""
    lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
    unit: Vectors = (vectors / np.maximum(lengths, 1e-12)).astype(np.float32)
    return unit


def _embed_in_batches(texts: Sequence[str], embed: Callable[[Sequence[str]], Vectors]) -> Vectors:
    rows = [
        embed(texts[start : start + _MAX_BATCH_SIZE])
        for start in range(0, len(texts), _MAX_BATCH_SIZE)
    ]
    return np.concatenate(rows) if rows else np.zeros((0, 0), dtype=np.float32)


@dataclass(eq=False)
class CachingEmbedder:
    """Caches at most `max_count` vectors of `inner`; the oldest are evicted."""

    inner: Embedder
    max_count: int = _MAX_CACHED_COUNT
    _cache: dict[str, NDArray[np.float32]] = field(default_factory=dict, repr=False)
    _lock: Lock = field(default_factory=Lock, repr=False)

    @property
    def name(self) -> str:
        """The name of the inner embedder."""
        return self.inner.name

    def embed(self, texts: Sequence[str]) -> Vectors:
        """Return one row for each text; raises the errors of the inner embedder."""
        with self._lock:
            cached = {text: self._cache[text] for text in texts if text in self._cache}
        missing = [text for text in dict.fromkeys(texts) if text not in cached]
        if missing:
            new = dict(zip(missing, self.inner.embed(missing), strict=True))
            cached |= new
            with self._lock:
                self._cache |= new
                while len(self._cache) > self.max_count:
                    del self._cache[next(iter(self._cache))]
        return np.array([cached[text] for text in texts], dtype=np.float32)


@lru_cache(maxsize=4)
def get_embedder(name: str) -> CachingEmbedder:
    """Return the cached embedder of a name; raise `SetupError` if the name is unknown."""
    return CachingEmbedder(create_embedder(name))


@dataclass(frozen=True)
class HashedEmbedder:
    """Hashes character trigrams into a fixed number of dimensions; the same on every machine."""

    dimensions: int = 384
    name: str = "hashed"

    def embed(self, texts: Sequence[str]) -> Vectors:
        """Return one row for each text."""
        vectors = np.zeros((len(texts), self.dimensions), dtype=np.float32)
        for row, text in zip(vectors, texts, strict=True):
            padded = pad_words(text)
            for start in range(len(padded) - 2):
                code = zlib.crc32(padded[start : start + 3].encode())
                row[code % self.dimensions] += 1 if code >> 31 else -1
        return vectors


def _import_library(module: str, embedder: str) -> Any:
    """Import the library of an embedder: it belongs to an extra and takes seconds."""
    try:
        return import_module(module)
    except ModuleNotFoundError as error:
        raise to_missing_extra_error(error, f"the embedder {embedder!r}") from error


class LocalEmbedder:
    """A sentence-transformers model, by folder or name; raises `SetupError` if unreadable."""

    def __init__(self, model: str) -> None:
        self.name = f"local:{model}"
        library = _import_library("sentence_transformers", self.name)
        try:
            self._model = library.SentenceTransformer(model)
        except (OSError, ValueError) as error:
            raise SetupError(f"the embedding model {model!r} cannot be read: {error}") from error

    def embed(self, texts: Sequence[str]) -> Vectors:
        """Return one row for each text."""
        vectors = self._model.encode(list(texts), show_progress_bar=False, convert_to_numpy=True)
        return np.asarray(vectors, dtype=np.float32)


class OnnxEmbedder:
    """A model in ONNX: a folder with `model.onnx` (or `onnx/model.onnx`) and `tokenizer.json`.

    `path` may also be the model's file, with the tokenizer beside it or one folder above. The
    vector of a text is the mean over its tokens (at most 256), or the model's own vector of the
    text.

    Raises:
        SetupError: a file is missing or cannot be read.
    """

    def __init__(self, path: str) -> None:
        self.name = f"onnx:{path}"
        runtime = _import_library("onnxruntime", self.name)
        tokenizers = _import_library("tokenizers", self.name)
        model, tokenizer = _find_onnx_files(Path(path))
        try:
            self._tokenizer = tokenizers.Tokenizer.from_file(str(tokenizer))
            self._session = runtime.InferenceSession(str(model))
        except Exception as error:  # both libraries raise plain exceptions
            raise SetupError(f"cannot read the model at {path}: {error}") from error
        self._tokenizer.enable_padding()
        self._tokenizer.enable_truncation(_MAX_TOKENS)
        self._inputs = {model_input.name for model_input in self._session.get_inputs()}

    def embed(self, texts: Sequence[str]) -> Vectors:
        """Return one row for each text."""
        return _embed_in_batches(texts, self._embed_batch)

    def _embed_batch(self, texts: Sequence[str]) -> Vectors:
        encodings = self._tokenizer.encode_batch(list(texts))
        mask = np.array([encoding.attention_mask for encoding in encodings], dtype=np.int64)
        available = {
            "input_ids": np.array([encoding.ids for encoding in encodings], dtype=np.int64),
            "attention_mask": mask,
            "token_type_ids": np.zeros_like(mask),
        }
        inputs = {name: value for name, value in available.items() if name in self._inputs}
        vectors: Vectors = self._session.run(None, inputs)[0]
        if vectors.ndim == 3:  # texts, tokens, dimensions
            vectors = (vectors * mask[..., None]).sum(1) / mask.sum(1, keepdims=True)
        return vectors.astype(np.float32)


def _find_onnx_files(path: Path) -> tuple[Path, Path]:
    """Return the files of a model and of its tokenizer; raise `SetupError` if one is missing."""
    models = [path] if path.suffix == ".onnx" else [path / "model.onnx", path / "onnx/model.onnx"]
    model = next((file for file in models if file.is_file()), None)
    if model is None:
        raise SetupError(
            f"there is no model at {path}: name a folder with model.onnx and "
            "tokenizer.json, such as a published model of sentence-transformers"
        )
    tokenizer_paths = [model.parent / "tokenizer.json", model.parent.parent / "tokenizer.json"]
    tokenizer = next((file for file in tokenizer_paths if file.is_file()), None)
    if tokenizer is None:
        raise SetupError(f"there is no tokenizer: put the model's tokenizer.json beside {model}")
    return model, tokenizer


class ServerEmbedder:
    """Embeddings from `address`/embeddings, at most 256 texts in a request.

    Requests to a busy server are tried up to `tries` times; `timeout` and `wait` are seconds.
    """

    def __init__(
        self, model: str, address: str, *, timeout: float = 60.0, tries: int = 4, wait: float = 0.5
    ) -> None:
        self.name = f"openai:{model}@{address}"
        self._model = model
        self._address = f"{address.rstrip('/')}/embeddings"
        self._tries = tries
        self._wait = wait
        import httpx2  # slow to import; only a server needs it

        key = os.environ.get(KEY_VARIABLE)
        headers = {"Authorization": f"Bearer {key}"} if key else {}
        self._client = httpx2.Client(timeout=timeout, headers=headers)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._client.close()

    def embed(self, texts: Sequence[str]) -> Vectors:
        """Return one row for each text; raise `ServiceError` if the server fails."""
        return _embed_in_batches(texts, self._embed_batch)

    def _embed_batch(self, texts: Sequence[str]) -> Vectors:
        reply = self._post({"model": self._model, "input": list(texts), "encoding_format": "float"})
        try:
            items = sorted(reply.json()["data"], key=lambda item: item["index"])
            vectors = np.array([item["embedding"] for item in items], dtype=np.float32)
        except (ValueError, KeyError, TypeError) as error:
            raise MalformedReply(f"{self._address}: the reply contains no embeddings") from error
        if vectors.ndim != 2 or len(vectors) != len(texts):
            raise MalformedReply(
                f"{self._address}: {len(vectors)} embeddings were returned for {len(texts)} texts"
            )
        return vectors

    def _post(self, body: Mapping[str, object]) -> "httpx2.Response":
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
            if reply.status_code not in _BUSY_STATUSES or attempt == self._tries:
                break
            time.sleep(self._wait * 2 ** (attempt - 1))
        raise self._build_error(reply)

    def _build_error(self, reply: "httpx2.Response") -> ServiceError:
        message = f"{self._address}: HTTP {reply.status_code}: {reply.text[:200]}"
        if reply.status_code in (401, 403):
            return Unauthorised(f"{message}; set {KEY_VARIABLE}")
        return Overloaded(message) if reply.status_code in _BUSY_STATUSES else ErrorReply(message)
