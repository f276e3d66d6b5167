"""An encoder like BERT's that reads two texts at once and gives one number, run by numpy.

Its tokens are made by `tokenizers` (extra `semantic`). One file holds it all: a header, the
tokenizer, the weights in eight bits with a scale for each row.
"""

import json
import zipfile
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, fields
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO

import numpy as np
from numpy.typing import NDArray

from askgraph.errors import SetupError
from askgraph.methods.writing.pointer.writer import Floats, array_of, header_of

if TYPE_CHECKING:
    from tokenizers import Encoding, Tokenizer

LONGEST = 64
"""Tokens of both texts together; the longer of the two is cut."""

_VERSION = 1
_MOST = 1 << 20
_MOST_TEXT = 1 << 25
_LEVELS = 127


@dataclass(frozen=True)
class Sizes:
    """The sizes of an encoder: rows of its tables, width, inner width, heads, layers, text."""

    vocabulary: int
    places: int
    width: int
    inner: int
    heads: int
    layers: int
    tokenizer: int


@dataclass(frozen=True, eq=False)
class Encoder:
    """Trained weights with their tokenizer."""

    weights: Mapping[str, Floats]
    sizes: Sizes
    tokenizer: "Tokenizer" = field(repr=False)

    def judgements(self, text: str, others: Sequence[str]) -> list[float]:
        """Return the number that a text gets with each of some others."""
        if not others:
            return []
        found = encoded(self.tokenizer, text, others)
        length = max(len(one.ids) for one in found)

        def padded(name: str) -> NDArray[np.int64]:
            rows = [[*getattr(one, name), *[0] * (length - len(one.ids))] for one in found]
            return np.array(rows, dtype=np.int64)

        vectors = self._read(padded("ids"), padded("type_ids"), padded("attention_mask"))
        scores = vectors @ self.weights["verdict"]
        return [float(score) for score in scores[:, 0]]

    def _read(
        self, ids: NDArray[np.int64], kinds: NDArray[np.int64], mask: NDArray[np.int64]
    ) -> Floats:
        """The mean vector of each row of tokens."""
        weights, (rows, length) = self.weights, ids.shape
        sums = (
            weights["words"][ids]
            + weights["places"][:length]
            + weights["kinds"][np.minimum(kinds, 1)]
        )
        flat = _normed(sums.reshape(rows * length, -1), weights["norm"])
        unseen = np.where(mask, 0.0, -1e9).astype(np.float32)[:, None, None, :]
        for layer in range(self.sizes.layers):
            flat = self._layer(f"layer{layer}", flat, unseen)
        there = mask[..., None].astype(np.float32)
        found: Floats = (flat.reshape(rows, length, -1) * there).sum(1) / there.sum(1)
        return found

    def _layer(self, name: str, flat: Floats, unseen: Floats) -> Floats:
        """One layer over rows of tokens that lie one after the other."""
        rows, length = unseen.shape[0], unseen.shape[-1]
        heads, own = self.sizes.heads, self.sizes.width // self.sizes.heads
        whole = self._linear(f"{name}.attend", flat)
        query, key, value = whole.reshape(rows, length, 3, heads, own).transpose(2, 0, 3, 1, 4)
        scores = query @ key.swapaxes(-1, -2) / np.float32(own**0.5) + unseen
        power = np.exp(scores - scores.max(-1, keepdims=True))
        seen = (power / power.sum(-1, keepdims=True)) @ value
        seen = seen.transpose(0, 2, 1, 3).reshape(rows * length, -1)
        flat = _normed(flat + self._linear(f"{name}.out", seen), self.weights[f"{name}.norm"])
        inner = self._linear(f"{name}.up", flat)
        bent = np.tanh(_GELU * (inner + np.float32(0.044715) * inner * inner * inner))
        down = self._linear(f"{name}.down", inner * (np.float32(0.5) + np.float32(0.5) * bent))
        return _normed(flat + down, self.weights[f"{name}.last"])

    def _linear(self, name: str, flat: Floats) -> Floats:
        found: Floats = flat @ self.weights[name] + self.weights[f"{name}.bias"]
        return found


_GELU = np.float32((2 / np.pi) ** 0.5)


def _normed(values: Floats, weights: Floats) -> Floats:
    """Rows with mean 0 and variance 1, then scaled and shifted."""
    around = values - values.mean(-1, keepdims=True)
    spread = (around * around).mean(-1, keepdims=True)
    found: Floats = around / np.sqrt(spread + np.float32(1e-12)) * weights[0] + weights[1]
    return found


def tokenizer_of(text: str) -> "Tokenizer":
    """Return a tokenizer of its own text; `SetupError` if `tokenizers` is missing or refuses it."""
    try:
        made = import_module("tokenizers").Tokenizer.from_str(text)
    except ModuleNotFoundError as missing:
        raise SetupError(
            f"a ranker needs {missing.name}: pip install 'askgraph[semantic]'"
        ) from missing
    except Exception as problem:  # the library raises plain exceptions
        raise SetupError(f"the tokenizer of a ranker cannot be read: {problem}") from problem
    made.no_padding()
    made.enable_truncation(LONGEST)
    found: Tokenizer = made
    return found


def encoded(tokenizer: "Tokenizer", question: str, readings: Sequence[str]) -> list["Encoding"]:
    """Return the tokens of a question with each reading."""
    return tokenizer.encode_batch([(question, one) for one in readings])


def stored(path: Path | str) -> tuple[Encoder, dict[str, object]]:
    """Read an encoder and the header of its file; raises one of `UNREADABLE` for other files."""
    with zipfile.ZipFile(path) as archive:
        header = header_of(archive, _VERSION)
        sizes = _read_sizes(header["sizes"])
        weights = dict(_arrays(archive, sizes))
        text = array_of(archive, "tokenizer", (sizes.tokenizer,), np.uint8).tobytes()
    tokenizer = tokenizer_of(text.decode("utf-8"))
    if tokenizer.get_vocab_size() > sizes.vocabulary:
        raise ValueError("its tokenizer has more pieces than it has weights for")
    return Encoder(weights, sizes, tokenizer), header


def shapes(sizes: Sizes) -> dict[str, tuple[int, ...]]:
    """Return the names and shapes of all weights."""
    wide, inner = sizes.width, sizes.inner
    found: dict[str, tuple[int, ...]] = {
        "words": (sizes.vocabulary, wide), "places": (sizes.places, wide), "kinds": (2, wide),
        "norm": (2, wide), "verdict": (wide, 1),
    }  # fmt: skip
    for layer in range(sizes.layers):
        name = f"layer{layer}"
        found |= {f"{name}.norm": (2, wide), f"{name}.last": (2, wide)}
        for part, into, out in (("attend", wide, 3 * wide), ("out", wide, wide),
                                ("up", wide, inner), ("down", inner, wide)):  # fmt: skip
            found |= {f"{name}.{part}": (into, out), f"{name}.{part}.bias": (out,)}
    return found


def _is_packed(shape: tuple[int, ...]) -> bool:
    """Whether weights of a shape are kept in eight bits: all tables and matrices."""
    return len(shape) == 2 and min(shape) > 2


def saved(
    file: BinaryIO, weights: Mapping[str, Floats], tokenizer: str, sizes: Sizes,
    more: Mapping[str, object],
) -> None:  # fmt: skip
    """Write an encoder as `stored` reads it, with `more` in its header."""
    header = {**more, "version": _VERSION, "sizes": asdict(sizes)}
    arrays: dict[str, NDArray[np.generic]] = {"header": np.array(json.dumps(header))}
    arrays["tokenizer"] = np.frombuffer(tokenizer.encode("utf-8"), np.uint8)
    for name, shape in shapes(sizes).items():
        value = np.ascontiguousarray(weights[name], dtype=np.float32)
        if _is_packed(shape):
            scale = np.maximum(np.abs(value).max(1, keepdims=True) / _LEVELS, 1e-12)
            arrays[f"{name}.scale"] = scale.astype(np.float32)
            value = np.round(value / scale).astype(np.int8)
        arrays[name] = value
    np.savez_compressed(file, allow_pickle=False, **arrays)


def _arrays(archive: zipfile.ZipFile, sizes: Sizes) -> Iterable[tuple[str, Floats]]:
    for name, shape in shapes(sizes).items():
        if not _is_packed(shape):
            yield name, array_of(archive, name, shape, np.float32)
            continue
        scale = array_of(archive, f"{name}.scale", (shape[0], 1), np.float32)
        yield name, array_of(archive, name, shape, np.int8).astype(np.float32) * scale


def _read_sizes(given: object) -> Sizes:
    names = {one.name for one in fields(Sizes)}
    if not isinstance(given, dict) or given.keys() != names:
        raise ValueError("its header names other sizes")
    for name, size in given.items():
        most = _MOST_TEXT if name == "tokenizer" else _MOST
        if type(size) is not int or not 1 <= size <= most:
            raise ValueError(f"its {name} is no number from 1 to {most:,}")
    sizes = Sizes(**given)
    wide = max(sizes.width, sizes.inner) > 1 << 13 or sizes.layers > 48
    if wide or sizes.width % sizes.heads or sizes.places < LONGEST:
        raise ValueError("its sizes do not fit")
    return sizes
