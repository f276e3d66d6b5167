"""A second look by meaning: words that nothing names, linked to names whose vectors are near.

Spelling and the lexicon go first. Only if what they lead to is unsure, words that they leave alone
are compared with the names of classes, predicates and common values by an embedding model, alone
and within the question. What is then found stands only if it is clearly surer.
"""

import asyncio
import hashlib
from collections.abc import Awaitable, Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Final
from weakref import WeakKeyDictionary

import numpy as np

from askgraph.atomic_files import replaced
from askgraph.graph import KnowledgeGraph
from askgraph.index.embeddings import Embedder, Vectors, kept_embedder, unit_length
from askgraph.index.names import Kind, Name, NameIndex
from askgraph.search.decide import estimate_confidence
from askgraph.search.link import Link, LinkedQuestion, free_tokens, joined
from askgraph.search.rank import Proposal, clusters
from askgraph.search.tokenize import TokenizedQuestion

_SURE: Final = 0.9  # from this confidence on no second look is taken
_SURER: Final = 0.1  # so much more confident a second look is, or the first one stands
_NEAR: Final = 0.45
"""The least likeness (a cosine, mixed with that of the question) of words and a name."""
_UNLIKE: Final = 0.4
"""The mean cosine of two names up to which a model's cosines are taken as they are."""
_CONTEXT: Final = 0.2  # the share that the whole question has in it
_LINKS: Final = 4  # links that some words get at most
_WORDS: Final = 3  # so many words are compared as one at most
_QUALITY, _MOST = 0.1, 0.75
"""What a likeness is raised by to be a quality as of other links, and the most that it may be."""
_KNOWN: Final = {Kind.CLASS: 0.7, Kind.PREDICATE: 0.7, Kind.ENTITY: 0.85, Kind.VALUE: 0.85}
"""From this share of a name of each kind on, a link explains its words."""
_FIT: Final = 0.8  # if they are of such a quality
_VALUES: Final = 2_000  # values are compared if a graph has no more of them


@dataclass(frozen=True, eq=False)
class NamedVectors:
    """Names with their vectors, of length 1, in the same order, and the model that made them."""

    names: tuple[Name, ...]
    vectors: Vectors
    embedder: Embedder

    def likeness(self, vector: Vectors) -> Vectors:
        """Return how like the names are to a vector of length 1: at most 1, for the same.

        It is their cosine. Some models (E5) give all texts like vectors; there what any two names
        have in common counts for as little as it does elsewhere.
        """
        cosines = self.vectors @ vector
        found: Vectors = 1 - (1 - cosines) * self.stretch
        return found

    @cached_property
    def stretch(self) -> float:
        """What distances are multiplied by, so that names lie as far apart as usual."""
        number = len(self.names)
        if number < 2:
            return 1.0
        total = float(np.square(self.vectors.sum(0)).sum())
        common = (total - number) / (number * (number - 1))
        return max(1.0, (1 - _UNLIKE) / max(1 - common, 1e-3))


_VECTORS: WeakKeyDictionary[NameIndex, dict[str, NamedVectors]] = WeakKeyDictionary()


async def retry_with_embeddings(
    proposal: Proposal,
    linked: LinkedQuestion,
    graph: KnowledgeGraph,
    embedder: str,
    again: Callable[[LinkedQuestion], Awaitable[Proposal]],
) -> Proposal:
    """Return what is proposed with words linked by meaning, or the proposal itself if it is surer.

    `embedder` is a name that `askgraph.index.embeddings.embedder_of` takes; `again` proposes for
    other links. Raises `SetupError` for an embedder that is none, `ServiceError` if its server
    fails.
    """
    sure = estimate_confidence(proposal, clusters(proposal.candidates))
    if sure >= _SURE:
        return proposal
    more = await asyncio.to_thread(link_by_embedding, linked, graph, embedder)
    if more is None:
        return proposal
    other = await again(more)
    found = estimate_confidence(other, clusters(other.candidates))
    return other if found > sure + _SURER else proposal


def link_by_embedding(
    linked: LinkedQuestion, graph: KnowledgeGraph, embedder: str
) -> LinkedQuestion | None:
    """Return the links with those of meaning, None if there are none.

    It may wait for a model: call it in a thread. It raises as `retry_with_embeddings` does.
    """
    stretches: list[Sequence[int]] = []
    explained = {
        at
        for one in linked.links
        if one.similarity >= _KNOWN[one.kind]
        for at, quality in zip(one.positions, one.qualities, strict=True)
        if quality >= _FIT
    }
    tokens = linked.reading.tokens
    left = [
        at
        for at in sorted(free_tokens(linked.reading) - explained)
        if tokens[at].text[0].isalpha() and tokens[at].quote is None
    ]
    for first in range(len(left)):
        for last in range(first, min(first + _WORDS, len(left))):
            if left[last] - left[first] == last - first:
                stretches.append(left[first : last + 1])
    if not stretches:
        return None
    known = named_vectors(graph, embedder)
    if not known.names:
        return None
    texts = [_said(linked.reading, words) for words in stretches]
    *own, whole = unit_length(known.embedder.embed([*texts, linked.reading.text]))
    around = _CONTEXT * known.likeness(whole)
    links: list[Link] = []
    for words, vector in zip(stretches, own, strict=True):
        likeness = (1 - _CONTEXT) * known.likeness(vector) + around
        for at in np.argsort(-likeness, kind="stable")[:_LINKS].tolist():
            if likeness[at] >= _NEAR:
                links.append(_link(known.names[at], words, float(likeness[at])))
    return joined(linked, links) if links else None


def _link(name: Name, words: Sequence[int], likeness: float) -> Link:
    """A link as of words that are akin."""
    quality = min(_MOST, likeness + _QUALITY)
    count = len(words)
    return Link(
        name.kind,
        name.target,
        name.text,
        quality,
        tuple(words),
        (quality,) * count,
        name.preferred,
        how=("near",) * count,
    )


def _said(reading: TokenizedQuestion, words: Sequence[int]) -> str:
    return " ".join(reading.tokens[at].text for at in words).lower()


def named_vectors(graph: KnowledgeGraph, embedder: str) -> NamedVectors:
    """Return the vectors of a graph's names; made once, kept with the graph and on its disk.

    Raises as `retry_with_embeddings` says.
    """
    kept = _VECTORS.setdefault(graph.names, {})
    if embedder not in kept:
        names = tuple(_names(graph.names))
        model = kept_embedder(embedder)
        kept[embedder] = NamedVectors(names, _vectors(names, graph, model), model)
    return kept[embedder]


def _names(index: NameIndex) -> Iterator[Name]:
    kinds = [int(Kind.CLASS), int(Kind.PREDICATE)]
    if np.count_nonzero(index.kinds == int(Kind.VALUE)) <= _VALUES:
        kinds.append(int(Kind.VALUE))
    for at in np.flatnonzero(np.isin(index.kinds, kinds)).tolist():
        yield index.name(at)


def _vectors(names: Sequence[Name], graph: KnowledgeGraph, model: Embedder) -> Vectors:
    """The vectors of names, from disk if they are there."""
    texts = [name.text.lower() for name in names]
    if not texts:
        return np.zeros((0, 1), np.float32)
    place = _place(graph, model.name, texts)
    if place is not None and place.is_file():
        try:
            found: Vectors = np.load(place)
        except (OSError, ValueError, EOFError):  # damaged: it is made anew
            found = np.zeros((0, 1), np.float32)
        if len(found) == len(texts):
            return found
    made = unit_length(model.embed(texts))
    if place is not None:
        with suppress(OSError), replaced(place) as file:
            np.save(file, made)
    return made


def _place(graph: KnowledgeGraph, model: str, texts: Sequence[str]) -> Path | None:
    if graph.kept is None:
        return None
    digest = hashlib.sha256("\n".join((model, *texts)).encode()).hexdigest()[:32]
    return graph.kept / f"meanings~{digest}.npy"
