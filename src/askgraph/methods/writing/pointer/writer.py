"""The pointer writer: a small trained network that writes and judges queries, without torch.

The file of its weights is a header, then arrays of the shapes that it says.
"""

import asyncio
import json
import lzma
import struct
import tokenize
import zipfile
import zlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from functools import lru_cache
from pathlib import Path
from typing import IO, BinaryIO, Self, TypeVar

import numpy as np
from numpy.lib import format as npy
from numpy.typing import NDArray
from pyoxigraph import Variable

from askgraph.errors import SetupError
from askgraph.graph import KnowledgeGraph
from askgraph.methods.writing import Hypothesis, Listed
from askgraph.methods.writing.pointer.inputs import (
    MOST,
    Units,
    listed_terms,
    said_numbers,
    units_of,
    written,
)
from askgraph.methods.writing.pointer.network import (
    LONGEST,
    Known,
    Memory,
    Settings,
    Steps,
    encoded,
    fits,
    judged,
    known_steps,
    shapes,
    unit_arrays,
)
from askgraph.methods.writing.pointer.pieces import STOP, SYMBOLS, Piece
from askgraph.methods.writing.pointer.skeleton import Skeleton, query_of, skeleton_of, terms_of
from askgraph.search.link import LinkedQuestion
from askgraph.search.operators.query_builder import Candidate
from askgraph.search.pipeline import link_text
from askgraph.search.query_pieces import conditions_in, denied_in, either_in, patterns_in
from askgraph.search.rank import Proposal
from askgraph.sparql import Query, variables_of
from askgraph.sparql.write import plain_text
from askgraph.trace import Question

RANK = 5.0
"""What graph search's own score is multiplied by, beside verdicts."""

Floats = NDArray[np.float32]
Number = TypeVar("Number", np.float32, np.int8, np.uint8)


class NumpyLibrary:
    """The operations that the network needs, in numpy."""

    def bag(self, table: Floats, ids: NDArray[np.int64]) -> Floats:
        """Sum the rows of a table by numbers along the last axis; row 0 is nothing."""
        rows: Floats = (table[ids] * (ids > 0)[..., None]).sum(-2)
        return rows

    def rows(self, table: Floats, ids: NDArray[np.int64]) -> Floats:
        """Give the rows of a table."""
        return table[ids]

    def softmax(self, scores: Floats, *, log: bool = False) -> Floats:
        """Normalise along the last axis."""
        raised = scores - scores.max(-1, keepdims=True)
        power = np.exp(raised)
        total = power.sum(-1, keepdims=True)
        found: Floats = raised - np.log(total) if log else power / total
        return found

    def clipped(self, values: Floats, low: float | None, high: float | None) -> Floats:
        """Bound values."""
        return np.clip(values, low, high)

    def joined(self, one: Floats, other: Floats) -> Floats:
        """Put two arrays together along the last axis."""
        return np.concatenate([one, other], -1)

    def dropped(self, values: Floats) -> Floats:
        """Nothing is left out once learning is over."""
        return values


_NUMPY = NumpyLibrary()


@dataclass(frozen=True, eq=False)
class PointerWriter:
    """Trained weights that write queries over listed terms; `about` says what they learned from.

    Writes only what the grammar of skeletons allows, over listed terms and the question's numbers;
    the parts of a query always hang together. `width` hypotheses are followed at once.
    """

    weights: Mapping[str, Floats]
    settings: Settings
    about: Mapping[str, object]
    width: int = 5

    @classmethod
    def load(cls, path: Path | str) -> Self:
        """Read weights that `askgraph finetune writer` made; raises `SetupError` for others."""
        try:
            weights, settings, about = stored(path)
        except UNREADABLE as problem:
            raise SetupError(
                f"{str(path)!r} holds no weights of the pointer writer ({problem}); "
                f"make them with: askgraph finetune writer --out {str(path)!r}"
            ) from problem
        return cls(weights, settings, about)

    async def write(
        self, question: Question, listed: Sequence[Listed], graph: KnowledgeGraph, *, n: int = 1
    ) -> list[Hypothesis]:
        """Write queries; an empty list if none fits, nothing is listed, or none is wanted."""
        if n < 1 or not listed:
            return []
        return await asyncio.to_thread(self._written, question, listed, graph, n)

    def _written(
        self, question: Question, listed: Sequence[Listed], graph: KnowledgeGraph, n: int
    ) -> list[Hypothesis]:
        linked = link_text(question.text, question.language, graph.names)
        terms = _with_numbers(listed, linked, graph)
        units = _seen(linked, terms, graph)
        texts = [written(one) for one in terms]
        found: dict[str, Hypothesis] = {}
        for skeleton, score in self.skeletons(units, n=n):
            query = query_of(skeleton, texts)
            if is_whole(query):
                text = plain_text(query, graph.prefixes)
                found.setdefault(text, Hypothesis(text, score))
        return list(found.values())[:n]

    def skeletons(self, units: Units, *, n: int = 1) -> list[tuple[Skeleton, float]]:
        """Return up to `n` skeletons and their log-probabilities, most likely first."""
        memory = self._memory(units)

        def chances(begun: Sequence[Skeleton]) -> Floats:
            known = known_steps(begun, units)
            logs, _ = self._judged(memory, known)
            found: Floats = logs[np.arange(len(begun)), [len(one) for one in begun]]
            return found

        return beams(chances, units, width=max(n, self.width))[:n]

    def log_probability(self, skeleton: Skeleton, units: Units) -> float:
        """Return the logarithm of the chance that this is what is written."""
        known = known_steps([skeleton], units)
        logs, _ = self._judged(self._memory(units), known)
        return float(_told(logs, known)[0])

    def judgements(
        self, linked: LinkedQuestion, candidates: Sequence[Candidate], graph: KnowledgeGraph
    ) -> list[float | None]:
        """Return how much speaks for each candidate, in units of graph search's score.

        None if its query cannot be expressed over the terms that there is room for.
        """
        named = dict.fromkeys(term for one in candidates for term in terms_of(one.tree))
        listed = listed_terms(linked, graph.profile, named=named)
        units = _seen(linked, listed, graph)
        places = {written(one): at for at, one in enumerate(listed)}
        skeletons = [_expressed(one, places, units) for one in candidates]
        kept = list(dict.fromkeys(one for one in skeletons if one is not None))
        if not kept:
            return [None] * len(candidates)
        known = known_steps(kept, units)
        _, verdicts = self._judged(self._memory(units), known)
        last = known.counts.sum(-1).astype(int) - 1
        verdict = verdicts[np.arange(len(kept)), last]
        values = verdict / (RANK * max(float(self.weights["rank"][0]), 0.1))
        by_skeleton = dict(zip(kept, values.tolist(), strict=True))
        return [None if one is None else by_skeleton[one] for one in skeletons]

    def _memory(self, units: Units) -> Memory:
        return encoded(self.weights, unit_arrays([units]), self.settings, _NUMPY)

    def _judged(self, memory: Memory, known: Known) -> tuple[Floats, Floats]:
        arrays = (known.symbols, known.pointed, known.used, known.stages, known.allowed)
        steps = Steps(*(one[None] for one in arrays))
        logs, verdicts = judged(self.weights, memory, steps, self.settings, _NUMPY)
        return logs[0], verdicts[0]


@lru_cache(maxsize=8)
def pointer_writer(path: str) -> PointerWriter:
    """Return the writer of a file, kept for the next question; see `PointerWriter.load`."""
    return PointerWriter.load(path)


def _told(logs: Floats, known: Known) -> Floats:
    """The log-probability of each of some skeletons."""
    each = np.take_along_axis(logs, known.targets[..., None], -1)[..., 0]
    found: Floats = (each * known.counts).sum(-1)
    return found


def _seen(linked: LinkedQuestion, listed: Sequence[Listed], graph: KnowledgeGraph) -> Units:
    return units_of(linked.reading, linked.weights, listed, graph.profile, graph.arrays)


def _with_numbers(
    listed: Sequence[Listed], linked: LinkedQuestion, graph: KnowledgeGraph
) -> list[Listed]:
    """The best of the listed terms, with the constants that the question's numbers may be."""
    numbers = list(said_numbers(linked.reading.quantities, graph.profile))
    best = sorted(listed, key=lambda one: -one.score)[: MOST - len(numbers)]
    kept = {written(one): one for one in (*best, *numbers)}
    return sorted(kept.values(), key=lambda one: (one.positions or (MOST,), -one.score))


def _expressed(one: Candidate, places: Mapping[str, int], units: Units) -> Skeleton | None:
    try:
        skeleton = skeleton_of(one.tree, places, one.shown)
        return skeleton if fits(skeleton, units) else None
    except ValueError:
        return None


CONSIDERED = 40
"""How many candidates are judged."""

TRUST = 0.4
"""How much of the writer's judgement is added to a score."""

_WORST = 0.6


def reranked(
    proposal: Proposal, writer: PointerWriter, graph: KnowledgeGraph, *, trust: float = TRUST
) -> Proposal:
    """Return the candidates with scores less what the writer holds against them, best first.

    The one that it likes best keeps its score; no other loses more than a bound, and those that
    come after the first `CONSIDERED` lose as much as the least liked. What it cannot read loses as
    much as the best that it can read.
    """
    head = proposal.candidates[:CONSIDERED]
    judged = writer.judgements(proposal.linked, head, graph)
    known = [value for value in judged if value is not None]
    if not known:
        return proposal
    best, most = max(known), min(_WORST, trust * (max(known) - min(known)))
    first = next(value for value in judged if value is not None)
    losses = [min(_WORST, trust * (best - (first if v is None else v))) for v in judged]
    losses += [most] * (len(proposal.candidates) - len(head))
    scored = [
        replace(one, score=one.score - loss)
        for one, loss in zip(proposal.candidates, losses, strict=True)
    ]
    return replace(proposal, candidates=tuple(sorted(scored, key=lambda one: -one.score)))


_BARRED = -1e8
_ASSURED = 0.7


def beams(
    chances: Callable[[Sequence[Skeleton]], NDArray[np.float32]], units: Units, *, width: int
) -> list[tuple[Skeleton, float]]:
    """Return whole skeletons with their log-probabilities, most likely first.

    `chances` gives the log-probabilities of symbols and units after each of some unfinished
    skeletons. So many as `width` are followed at once; longer ones than `LONGEST` are given up.
    They are ordered by the mean of their pieces, to a power that spares the long ones a little.
    """
    open_: list[tuple[Skeleton, float]] = [((), 0.0)]
    done: list[tuple[Skeleton, float]] = []
    for _ in range(LONGEST - 1):
        logs = chances([skeleton for skeleton, _ in open_])
        grown: list[tuple[Skeleton, float]] = []
        for (skeleton, score), row in zip(open_, logs, strict=True):
            for at in np.argsort(-row)[: width + 1]:
                if row[at] > _BARRED:
                    piece = _piece(int(at), units)
                    grown.append(((*skeleton, piece), score + float(row[at])))
        grown.sort(key=lambda one: -one[1])
        done += [one for one in grown[:width] if one[0][-1] == STOP]
        open_ = [one for one in grown[:width] if one[0][-1] != STOP]
        if not open_ or len(done) >= width:
            break
    return sorted(done, key=lambda one: -one[1] / len(one[0]) ** _ASSURED)


def _piece(at: int, units: Units) -> Piece:
    return SYMBOLS[at] if at < len(SYMBOLS) else at - len(SYMBOLS) - units.words


def is_whole(query: Query) -> bool:
    """Whether all patterns of a query hang together, by variables, constants or conditions."""
    where = query.where
    parts = (where, *either_in(where), *denied_in(where))
    links = [set(variables_of(one)) for part in parts for one in patterns_in(part)]
    conditions = conditions_in(where)
    links += [set(variables_of((one.variable, *one.values))) for one in conditions]
    groups: list[set[Variable]] = []
    for link in filter(None, links):
        touched = [group for group in groups if group & link]
        groups = [group for group in groups if not group & link]
        groups.append(link.union(*touched))
    return len(groups) <= 1


UNREADABLE = (
    OSError, ValueError, KeyError, TypeError, EOFError, RuntimeError, SyntaxError, struct.error,
    zipfile.BadZipFile, zlib.error, lzma.LZMAError, tokenize.TokenError,
)  # fmt: skip
"""What reading a file raises that is damaged or something else."""

_HEADER = "header"
_VERSION = 1
_MOST = 4_096
_LONGEST = 1_000_000


def stored(path: Path | str) -> tuple[dict[str, Floats], Settings, dict[str, object]]:
    """Read weights, their sizes, and what is said about them; raises one of `UNREADABLE`.

    What a file declares is judged before memory is taken for it.
    """
    with zipfile.ZipFile(path) as archive:
        header = header_of(archive, _VERSION)
        settings = _settings(header["settings"])
        expected = shapes(settings)
        if {name.removesuffix(".npy") for name in archive.namelist()} != {_HEADER, *expected}:
            raise ValueError("its arrays have other names")
        weights: dict[str, Floats] = {
            name: array_of(archive, name, shape, np.float32) for name, shape in expected.items()
        }
    about = header.get("about", {})
    if not isinstance(about, dict):
        raise ValueError("its header is of another kind")
    return weights, settings, about


def saved(
    file: BinaryIO, weights: Mapping[str, Floats], settings: Settings, about: Mapping[str, object]
) -> None:
    """Write weights with their header, as `stored` reads them."""
    sizes = {one.name: getattr(settings, one.name) for one in fields(Settings)}
    header = json.dumps({"version": _VERSION, "settings": sizes, "about": dict(about)})
    arrays = {
        name: np.ascontiguousarray(value, dtype=np.float32) for name, value in weights.items()
    }
    np.savez_compressed(file, allow_pickle=False, **{_HEADER: np.array(header)}, **arrays)


def header_of(archive: zipfile.ZipFile, version: int) -> dict[str, object]:
    """Read the header of weights, which must be of a version; raises one of `UNREADABLE`."""
    with archive.open(f"{_HEADER}.npy") as file:
        shape, kind = _declared(file)
        if shape != () or kind.kind != "U" or kind.itemsize > _LONGEST:
            raise ValueError("its header is of another kind")
        text = file.read(kind.itemsize + 1)
    if len(text) != kind.itemsize:
        raise ValueError("its header is cut off")
    found = json.loads(str(np.frombuffer(text, kind)[0]))
    if not isinstance(found, dict) or found.get("version") != version:
        raise ValueError(f"it is not of version {version}")
    return found


def _settings(sizes: object) -> Settings:
    """The sizes that a header says; no larger than any sound one."""
    names = {one.name for one in fields(Settings)}
    if not isinstance(sizes, dict) or sizes.keys() != names:
        raise ValueError("its header names other sizes")
    if not all(type(size) is int and 1 <= size <= _MOST for size in sizes.values()):
        raise ValueError(f"its sizes are not numbers from 1 to {_MOST:,}")
    settings = Settings(**sizes)
    if settings.width % settings.heads:
        raise ValueError("its width cannot be parted among its heads")
    return settings


def array_of(
    archive: zipfile.ZipFile, name: str, shape: tuple[int, ...], of: type[Number]
) -> NDArray[Number]:
    """Read one array of weights, which must have a shape and a type; raises as `header_of` does.

    What the file declares is judged before memory is taken for it.
    """
    with archive.open(f"{name}.npy") as file:
        declared, kind = _declared(file)
        if declared != shape or kind != of:
            raise ValueError(f"its array {name!r} is of another shape or type")
        size = int(np.prod(shape)) * kind.itemsize
        content = file.read(size + 1)
    if len(content) != size:
        raise ValueError(f"its array {name!r} is cut off")
    found: NDArray[Number] = np.frombuffer(content, of).reshape(shape).copy()
    if not np.isfinite(found).all():
        raise ValueError(f"its array {name!r} holds what is no number")
    return found


def _declared(file: IO[bytes]) -> tuple[tuple[int, ...], np.dtype[np.generic]]:
    """The shape and type of an array, from the head of its file."""
    version = npy.read_magic(file)
    if version != (1, 0):
        raise ValueError("its arrays are of another format")
    shape, in_columns, kind = npy.read_array_header_1_0(file)
    if in_columns and len(shape) > 1:
        raise ValueError("its arrays are in another order")
    return shape, kind
