"""The ranker: a small language model that reads a question beside each candidate in words.

It is an encoder like BERT's that reads both texts at once, run by numpy; its tokens are made by
`tokenizers` (extra `semantic`). One file holds it all: a header, the tokenizer, the weights in
eight bits with a scale for each row, and how much it has a say. `askgraph finetune ranker` makes
it.
"""

import asyncio
import json
import zipfile
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, fields, replace
from functools import lru_cache
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO, Self

import numpy as np
from numpy.typing import NDArray

from askgraph import deadline
from askgraph.errors import SetupError
from askgraph.explanation import in_words, iris_of, labels_of, language_of_labels
from askgraph.graph import KnowledgeGraph
from askgraph.search.decide import confidence_of
from askgraph.search.operators.query_builder import Candidate
from askgraph.search.rank import Cluster, clusters
from askgraph.search.rank.score import Proposal
from askgraph.writing.pointer.writer import (
    UNREADABLE,
    Floats,
    array_of,
    header_of,
    pointer_writer,
    reranked,
)

if TYPE_CHECKING:
    from tokenizers import Encoding, Tokenizer

CONSIDERED = 6
"""So many clusters are read; what comes after them stays behind them."""

LONGEST = 64
"""Tokens of a question with a candidate; the longer of the two is cut."""

_SHARE = 0.5  # of the time left, for the labels of a remote graph
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


@dataclass(frozen=True)
class Say:
    """How much a ranker has a say: its `weight`, and the confidence from which it has none."""

    weight: float = 0.0
    below: float = 0.5


@dataclass(frozen=True, eq=False)
class Ranker:
    """A trained encoder of questions with candidates; `about` says what it learned from."""

    weights: Mapping[str, Floats]
    sizes: Sizes
    tokenizer: "Tokenizer" = field(repr=False)
    say: Say = Say()
    about: Mapping[str, object] = field(default_factory=dict)

    @classmethod
    def load(cls, path: Path | str) -> Self:
        """Read what `askgraph finetune ranker` made; raises `SetupError` for other files."""
        try:
            with zipfile.ZipFile(path) as archive:
                header = header_of(archive, _VERSION)
                sizes = _read_sizes(header["sizes"])
                say = _read_say(header["say"])
                weights = dict(_stored(archive, sizes))
                text = array_of(archive, "tokenizer", (sizes.tokenizer,), np.uint8).tobytes()
            tokenizer = tokenizer_of(text.decode("utf-8"))
            if tokenizer.get_vocab_size() > sizes.vocabulary:
                raise ValueError("its tokenizer has more pieces than it has weights for")
            about = header.get("about", {})
            if not isinstance(about, dict):
                raise ValueError("its header is of another kind")
        except UNREADABLE as problem:
            raise SetupError(
                f"{str(path)!r} holds no ranker ({problem}); make one with: "
                "askgraph finetune ranker BASE --benchmark FILE --out FOLDER"
            ) from problem
        return cls(weights, sizes, tokenizer, say, about)

    def judgements(self, question: str, readings: Sequence[str]) -> list[float]:
        """Return how well each reading in words fits a question: differences are log-odds."""
        if not readings:
            return []
        found = encoded(self.tokenizer, question, readings)
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


async def readings_of(
    found: Sequence[Cluster], proposal: Proposal, graph: KnowledgeGraph
) -> list[str]:
    """Return the best candidates of clusters in words, as they are shown beside an answer."""
    language, near = proposal.reading.language, proposal.schema.graph
    queries = [one.best.query for one in found]
    iris = (iri for query in queries for iri in iris_of(query))
    seconds = deadline.at_most(None, share=_SHARE)
    labels = await labels_of(iris, graph, [language], timeout=seconds, near=near)
    nouns = language_of_labels(graph, language)
    return [in_words(query, labels, language=language, nouns=nouns) for query in queries]


async def listened(
    proposal: Proposal, graph: KnowledgeGraph, *, writer: str, ranker: str, below: float
) -> Proposal:
    """Return what is proposed in the order that trained weights would have it, if it is unsure.

    `writer` and `ranker` are files; `{graph}` in them stands for the graph's name, and of a folder
    of rankers one is taken that has not learned from the graph. The writer is listened to `below`
    a confidence, a ranker below its own. Raises `SetupError` for files that hold none.
    """
    sure = confidence_of(proposal, clusters(proposal.candidates))
    if writer and sure < below:
        weights = pointer_writer(writer.replace("{graph}", graph.name))
        proposal = await asyncio.to_thread(reranked, proposal, weights, graph)
    if ranker:
        model = ranker_for(ranker, graph.name)
        if sure < model.say.below:
            proposal = await ranked(proposal, model, graph)
    return proposal


async def ranked(proposal: Proposal, ranker: Ranker, graph: KnowledgeGraph) -> Proposal:
    """Return the candidates with scores less what the ranker holds against them, best first.

    The cluster that it likes best loses nothing. What is not read loses as much as the least liked.
    """
    found = clusters(proposal.candidates)[:CONSIDERED]
    if len(found) < 2 or not ranker.say.weight:
        return proposal
    readings = await readings_of(found, proposal, graph)
    liked = await asyncio.to_thread(ranker.judgements, proposal.reading.text, readings)
    losses = losses_of(liked, ranker.say.weight)
    known = {
        id(member): loss
        for cluster, loss in zip(found, losses, strict=True)
        for member in cluster.members
    }
    return replace(proposal, candidates=_less(proposal.candidates, known, max(losses)))


def losses_of(liked: Sequence[float], weight: float) -> list[float]:
    """Return what each candidate loses of its score for being liked less than the best one."""
    best = max(liked)
    return [weight * (best - one) for one in liked]


def _less(
    candidates: Iterable[Candidate], known: Mapping[int, float], most: float
) -> tuple[Candidate, ...]:
    scored = [replace(one, score=one.score - known.get(id(one), most)) for one in candidates]
    return tuple(sorted(scored, key=lambda one: -one.score))


def ranker_for(place: str, graph: str) -> Ranker:
    """Return the ranker of a file, or of a folder the first that did not learn from a graph."""
    path = Path(place.replace("{graph}", graph))
    if not path.is_dir():
        return kept_ranker(str(path))
    for one in sorted(path.glob("*.npz"), key=lambda one: (one.name != "ranker.npz", one.name)):
        found = kept_ranker(str(one))
        learned = found.about.get("graphs")
        if isinstance(learned, list) and graph not in learned:
            return found
    raise SetupError(
        f"{place} holds no ranker that has not learned from {graph!r}: name a file, or make some "
        "with: askgraph finetune ranker --folds K"
    )


@lru_cache(maxsize=8)
def kept_ranker(path: str) -> Ranker:
    """Return the ranker of a file, kept for the next question; see `Ranker.load`."""
    return Ranker.load(path)


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
    file: BinaryIO, weights: Mapping[str, Floats], tokenizer: str, sizes: Sizes, say: Say,
    about: Mapping[str, object],
) -> None:  # fmt: skip
    """Write a ranker as `Ranker.load` reads it."""
    header = {"version": _VERSION, "sizes": asdict(sizes), "say": asdict(say), "about": dict(about)}
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


def _stored(archive: zipfile.ZipFile, sizes: Sizes) -> Iterable[tuple[str, Floats]]:
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


def _read_say(given: object) -> Say:
    if not isinstance(given, dict) or given.keys() != {"weight", "below"}:
        raise ValueError("its header does not say how much it has a say")
    if not all(isinstance(one, int | float) and 0 <= one <= 100 for one in given.values()):
        raise ValueError("what it has a say is no number from 0 to 100")
    return Say(float(given["weight"]), float(given["below"]))
