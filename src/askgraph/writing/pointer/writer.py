"""The pointer writer: a small trained network that writes and judges queries, without torch."""

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Self

import numpy as np
from numpy.typing import NDArray

from askgraph.errors import SetupError
from askgraph.graph import KnowledgeGraph
from askgraph.search.form import Form
from askgraph.search.linking.link import Linked
from askgraph.search.propose import read_and_linked
from askgraph.search.query import query_of
from askgraph.sparql.write import plain_text
from askgraph.trace import Question
from askgraph.writing import Hypothesis, Listed
from askgraph.writing.pointer.batches import Known, fits, known_steps, unit_arrays
from askgraph.writing.pointer.beams import beams, is_whole
from askgraph.writing.pointer.inputs import Units, units_of
from askgraph.writing.pointer.listing import MOST, listed_terms, said_numbers, written
from askgraph.writing.pointer.network import Memory, Settings, Steps, encoded, judged
from askgraph.writing.pointer.skeleton import Skeleton, form_of, skeleton_of, terms_of
from askgraph.writing.pointer.stored import UNREADABLE, stored

__all__ = ["RANK", "NumpyLibrary", "PointerWriter", "pointer_writer"]

RANK = 5.0
"""What graph search's own score is multiplied by, beside verdicts."""

Floats = NDArray[np.float32]


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
        """Write queries; an empty list where none fits, nothing is listed, or none is wanted."""
        if n < 1 or not listed:
            return []
        return await asyncio.to_thread(self._written, question, listed, graph, n)

    def _written(
        self, question: Question, listed: Sequence[Listed], graph: KnowledgeGraph, n: int
    ) -> list[Hypothesis]:
        linked = read_and_linked(question.text, question.language, graph.names)
        terms = _with_numbers(listed, linked, graph)
        units = _seen(linked, terms, graph)
        texts = [written(one) for one in terms]
        found: dict[str, Hypothesis] = {}
        for skeleton, score in self.skeletons(units, n=n):
            form = form_of(skeleton, texts)
            if is_whole(form):
                query = plain_text(query_of(form), graph.prefixes)
                found.setdefault(query, Hypothesis(query, score))
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
        self, linked: Linked, forms: Sequence[Form], graph: KnowledgeGraph
    ) -> list[float | None]:
        """Return how much speaks for each form, in units of graph search's score.

        None where a form cannot be expressed over the terms that there is room for.
        """
        named = dict.fromkeys(term for form in forms for term in terms_of(form))
        listed = listed_terms(linked, graph.profile, named=named)
        units = _seen(linked, listed, graph)
        places = {written(one): at for at, one in enumerate(listed)}
        skeletons = [_expressed(form, places, units) for form in forms]
        kept = list(dict.fromkeys(one for one in skeletons if one is not None))
        if not kept:
            return [None] * len(forms)
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


def _seen(linked: Linked, listed: Sequence[Listed], graph: KnowledgeGraph) -> Units:
    return units_of(linked.reading, linked.weights, listed, graph.profile, graph.arrays)


def _with_numbers(listed: Sequence[Listed], linked: Linked, graph: KnowledgeGraph) -> list[Listed]:
    """The best of the listed terms, with the constants that the question's numbers may be."""
    numbers = list(said_numbers(linked.reading.quantities, graph.profile))
    best = sorted(listed, key=lambda one: -one.score)[: MOST - len(numbers)]
    kept = {written(one): one for one in (*best, *numbers)}
    return sorted(kept.values(), key=lambda one: (one.positions or (MOST,), -one.score))


def _expressed(form: Form, places: Mapping[str, int], units: Units) -> Skeleton | None:
    try:
        skeleton = skeleton_of(form, places)
        return skeleton if fits(skeleton, units) else None
    except ValueError:
        return None
