"""Embedders, which make vectors of texts: their one contract, and one for each kind of name.

`hashed` needs no model. `local:PATH` is a model of sentence-transformers, on disk or in its cache;
`onnx:PATH` one in the Open Neural Network Exchange format, which needs no PyTorch.
`openai:MODEL@URL` is any server with OpenAI's embeddings address (OpenAI, vLLM, Ollama,
llama.cpp); the key, if it wants one, is in the environment variable ASKGRAPH_EMBEDDINGS_KEY.
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
from types import TracebackType
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
from askgraph.index.names import spelling
from askgraph.plugins import to_missing_extra_error

if TYPE_CHECKING:
    import httpx2

Vectors = NDArray[np.float32]

KEY = "ASKGRAPH_EMBEDDINGS_KEY"
"""The environment variable that holds the server's key."""

_MOST = 50_000
_AT_ONCE = 256
_TOKENS = 256
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
    if kind == "onnx" and rest:
        return OnnxModel(rest)
    if kind == "openai" and "@" in rest:
        model, _, address = rest.partition("@")
        return EmbeddingsServer(model, address)
    raise SetupError(
        f"no embedder {name!r}; name 'hashed', 'onnx:PATH', 'local:PATH' or 'openai:MODEL@URL'"
    )


def unit_length(vectors: Vectors) -> Vectors:
    """Return the rows divided by their lengths; a row of zeros stays one."""
    lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
    unit: Vectors = (vectors / np.maximum(lengths, 1e-12)).astype(np.float32)
    return unit


def _embed_in_parts(texts: Sequence[str], embed: Callable[[Sequence[str]], Vectors]) -> Vectors:
    rows = [embed(texts[at : at + _AT_ONCE]) for at in range(0, len(texts), _AT_ONCE)]
    return np.concatenate(rows) if rows else np.zeros((0, 0), dtype=np.float32)


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
            with self._lock:
                self._known |= new
                while len(self._known) > self.most:
                    del self._known[next(iter(self._known))]
        return np.array([known[text] for text in texts], dtype=np.float32)


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


def _library(module: str, embedder: str) -> Any:
    """Import what an embedder needs: an extra, and seconds to import."""
    try:
        return import_module(module)
    except ModuleNotFoundError as error:
        raise to_missing_extra_error(error, f"the embedder {embedder!r}") from error


class LocalModel:
    """A model by the path of its folder, or by a name that sentence-transformers knows.

    Raises `SetupError` if it is in neither place and cannot be fetched.
    """

    def __init__(self, model: str) -> None:
        self.name = f"local:{model}"
        library = _library("sentence_transformers", self.name)
        try:
            self._model = library.SentenceTransformer(model)
        except (OSError, ValueError) as error:
            raise SetupError(f"the embedding model {model!r} cannot be read: {error}") from error

    def embed(self, texts: Sequence[str]) -> Vectors:
        """Return one row a text."""
        vectors = self._model.encode(list(texts), show_progress_bar=False, convert_to_numpy=True)
        return np.asarray(vectors, dtype=np.float32)


class OnnxModel:
    """A model and its tokenizer: a folder with `model.onnx`, also in `onnx/`, and `tokenizer.json`.

    `path` may be the model's file, too, with the tokenizer beside it or one folder above. A text's
    vector is the mean of those of its tokens, of which at most 256 are read, or what the model
    itself gives for the text. Raises `SetupError` if a part of it is missing or cannot be read.
    """

    def __init__(self, path: str) -> None:
        self.name = f"onnx:{path}"
        runtime = _library("onnxruntime", self.name)
        tokenizers = _library("tokenizers", self.name)
        model, tokenizer = _onnx_files(Path(path))
        try:
            self._tokenizer = tokenizers.Tokenizer.from_file(str(tokenizer))
            self._session = runtime.InferenceSession(str(model))
        except Exception as error:  # both libraries raise plain exceptions
            raise SetupError(f"cannot read the model at {path}: {error}") from error
        self._tokenizer.enable_padding()
        self._tokenizer.enable_truncation(_TOKENS)
        self._inputs = {given.name for given in self._session.get_inputs()}

    def embed(self, texts: Sequence[str]) -> Vectors:
        """Return one row a text."""
        return _embed_in_parts(texts, self._vectors)

    def _vectors(self, texts: Sequence[str]) -> Vectors:
        read = self._tokenizer.encode_batch(list(texts))
        mask = np.array([one.attention_mask for one in read], dtype=np.int64)
        given = {
            "input_ids": np.array([one.ids for one in read], dtype=np.int64),
            "attention_mask": mask,
            "token_type_ids": np.zeros_like(mask),
        }
        asked = {name: value for name, value in given.items() if name in self._inputs}
        vectors: Vectors = self._session.run(None, asked)[0]
        if vectors.ndim == 3:  # texts, tokens, dimensions
            vectors = (vectors * mask[..., None]).sum(1) / mask.sum(1, keepdims=True)
        return vectors.astype(np.float32)


def _onnx_files(path: Path) -> tuple[Path, Path]:
    """The files of a model and of its tokenizer; `SetupError` says which is missing."""
    models = [path] if path.suffix == ".onnx" else [path / "model.onnx", path / "onnx/model.onnx"]
    model = next((one for one in models if one.is_file()), None)
    if model is None:
        raise SetupError(
            f"no model at {path}: name a folder with model.onnx and tokenizer.json, as those of"
            " sentence-transformers are published"
        )
    places = [model.parent / "tokenizer.json", model.parent.parent / "tokenizer.json"]
    tokenizer = next((one for one in places if one.is_file()), None)
    if tokenizer is None:
        raise SetupError(f"no tokenizer: put the model's tokenizer.json beside {model}")
    return model, tokenizer


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
        return _embed_in_parts(texts, self._vectors)

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
