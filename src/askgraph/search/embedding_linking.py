"""Retry a question with an embedding model: link unmatched words to names with near vectors.

Spelling and the lexicon come first. Only if their confidence is low, an embedding model compares
the unmatched words with the names of classes, predicates and common values, alone and within the
question. The retry replaces the first result only if it is clearly more confident.
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

from askgraph.atomic_files import replace_file
from askgraph.graph import KnowledgeGraph
from askgraph.index.embeddings import Embedder, Vectors, get_embedder, normalize_rows
from askgraph.index.names import IndexedName, ItemKind, NameIndex
from askgraph.search.decide import estimate_confidence
from askgraph.search.link import Link, LinkedQuestion, add_links, find_free_tokens
from askgraph.search.rank import RankedCandidates, cluster_candidates
from askgraph.search.tokenize import TokenizedQuestion

_CONFIDENCE_TO_SKIP: Final = 0.9  # no second linking from this confidence on
_MIN_CONFIDENCE_GAIN: Final = 0.1  # required confidence gain of the second linking over the first
_MIN_SIMILARITY_SCORE: Final = 0.45
"""Minimum similarity (a cosine, mixed with the question's) of words and a name."""
_MAX_MEAN_COSINE_SCORE: Final = 0.4
"""Mean cosine of two names up to which a model's cosines are used unchanged."""
_QUESTION_WEIGHT: Final = 0.2  # weight of the whole question
_MAX_LINKS_PER_STRETCH: Final = 4  # links that some words get at most
_MAX_WORDS: Final = 3  # maximum number of words compared as one
_SCORE_BONUS, _MAX_LINK_SCORE = 0.1, 0.75
"""Added to a similarity to make it comparable with other links' quality, and its maximum."""
_MIN_EXPLAINED_SHARE: Final = {
    ItemKind.CLASS: 0.7,
    ItemKind.PREDICATE: 0.7,
    ItemKind.ENTITY: 0.85,
    ItemKind.VALUE: 0.85,
}
"""Minimum share of a name, by kind, for a link to explain its words."""
_MIN_WORD_SCORE: Final = 0.8  # if they are of such a quality
_MAX_VALUES_COUNT: Final = 2_000  # maximum number of values of a graph to compare


@dataclass(frozen=True, eq=False)
class NameVectors:
    """Names and their unit vectors, in the same order, with the model that computed them."""

    names: tuple[IndexedName, ...]
    vectors: Vectors
    embedder: Embedder

    def compute_similarities(self, vector: Vectors) -> Vectors:
        """Return the similarity of each name to a unit vector: a stretched cosine, at most 1.

        Some models (E5) give all texts similar vectors; the stretch removes what all names have in
        common.

        Returns:
            An array of shape (names,).
        """
        cosines = self.vectors @ vector
        similarities: Vectors = 1 - (1 - cosines) * self.stretch
        return similarities

    @cached_property
    def stretch(self) -> float:
        """The factor for distances that spreads the names as far as usual."""
        number = len(self.names)
        if number < 2:
            return 1.0
        total = float(np.square(self.vectors.sum(0)).sum())
        common = (total - number) / (number * (number - 1))
        return max(1.0, (1 - _MAX_MEAN_COSINE_SCORE) / max(1 - common, 1e-3))


_VECTORS_BY_INDEX: WeakKeyDictionary[NameIndex, dict[str, NameVectors]] = WeakKeyDictionary()


async def retry_with_embeddings(
    proposal: RankedCandidates,
    linked: LinkedQuestion,
    graph: KnowledgeGraph,
    embedder: str,
    propose: Callable[[LinkedQuestion], Awaitable[RankedCandidates]],
) -> RankedCandidates:
    """Return the proposal with words linked by embeddings if it is clearly more confident.

    Args:
        proposal: the first proposal.
        linked: its linked question.
        graph: the graph.
        embedder: a name accepted by `askgraph.index.embeddings`.
        again: computes a proposal for other links.

    Raises:
        SetupError: there is no such embedder.
        ServiceError: the embedder's server failed.
    """
    confidence = estimate_confidence(proposal, cluster_candidates(proposal.candidates))
    if confidence >= _CONFIDENCE_TO_SKIP:
        return proposal
    extended = await asyncio.to_thread(link_by_embedding, linked, graph, embedder)
    if extended is None:
        return proposal
    second = await propose(extended)
    second_confidence = estimate_confidence(second, cluster_candidates(second.candidates))
    return second if second_confidence > confidence + _MIN_CONFIDENCE_GAIN else proposal


def link_by_embedding(
    linked: LinkedQuestion, graph: KnowledgeGraph, embedder: str
) -> LinkedQuestion | None:
    """Return the question with links by embedding, None if there are none.

    It may wait for a model: call it in a thread. Errors as in `retry_with_embeddings`.
    """
    stretches: list[Sequence[int]] = []
    explained = {
        at
        for link in linked.links
        if link.similarity >= _MIN_EXPLAINED_SHARE[link.kind]
        for at, quality in zip(link.positions, link.qualities, strict=True)
        if quality >= _MIN_WORD_SCORE
    }
    tokens = linked.reading.tokens
    unexplained = [
        at
        for at in sorted(find_free_tokens(linked.reading) - explained)
        if tokens[at].text[0].isalpha() and tokens[at].quote is None
    ]
    for first in range(len(unexplained)):
        for last in range(first, min(first + _MAX_WORDS, len(unexplained))):
            if unexplained[last] - unexplained[first] == last - first:
                stretches.append(unexplained[first : last + 1])
    if not stretches:
        return None
    name_vectors = load_name_vectors(graph, embedder)
    if not name_vectors.names:
        return None
    texts = [_join_words(linked.reading, words) for words in stretches]
    *vectors, question_vector = normalize_rows(
        name_vectors.embedder.embed([*texts, linked.reading.text])
    )
    context = _QUESTION_WEIGHT * name_vectors.compute_similarities(question_vector)
    links: list[Link] = []
    for words, vector in zip(stretches, vectors, strict=True):
        similarities = (1 - _QUESTION_WEIGHT) * name_vectors.compute_similarities(vector) + context
        for at in np.argsort(-similarities, kind="stable")[:_MAX_LINKS_PER_STRETCH].tolist():
            if similarities[at] >= _MIN_SIMILARITY_SCORE:
                links.append(_build_link(name_vectors.names[at], words, float(similarities[at])))
    return add_links(linked, links) if links else None


def _build_link(name: IndexedName, words: Sequence[int], similarity: float) -> Link:
    """Build a link with the quality of related words."""
    quality = min(_MAX_LINK_SCORE, similarity + _SCORE_BONUS)
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


def _join_words(reading: TokenizedQuestion, words: Sequence[int]) -> str:
    return " ".join(reading.tokens[at].text for at in words).lower()


def load_name_vectors(graph: KnowledgeGraph, embedder: str) -> NameVectors:
    """Return the vectors of a graph's names, cached with the graph and on disk.

    Errors as in `retry_with_embeddings`.
    """
    cache = _VECTORS_BY_INDEX.setdefault(graph.names, {})
    if embedder not in cache:
        names = tuple(_select_names(graph.names))
        model = get_embedder(embedder)
        cache[embedder] = NameVectors(names, _load_vectors(names, graph, model), model)
    return cache[embedder]


def _select_names(index: NameIndex) -> Iterator[IndexedName]:
    kinds = [int(ItemKind.CLASS), int(ItemKind.PREDICATE)]
    if np.count_nonzero(index.kinds == int(ItemKind.VALUE)) <= _MAX_VALUES_COUNT:
        kinds.append(int(ItemKind.VALUE))
    for at in np.flatnonzero(np.isin(index.kinds, kinds)).tolist():
        yield index.read_name(at)


def _load_vectors(names: Sequence[IndexedName], graph: KnowledgeGraph, model: Embedder) -> Vectors:
    """Return the vectors of names, from disk if they are stored there.

    Returns:
        An array of shape (names, dimensions).
    """
    texts = [name.text.lower() for name in names]
    if not texts:
        return np.zeros((0, 1), np.float32)
    path = _get_cache_path(graph, model.name, texts)
    if path is not None and path.is_file():
        try:
            vectors: Vectors = np.load(path)
        except (OSError, ValueError, EOFError):  # damaged: rebuild it
            vectors = np.zeros((0, 1), np.float32)
        if len(vectors) == len(texts):
            return vectors
    computed = normalize_rows(model.embed(texts))
    if path is not None:
        with suppress(OSError), replace_file(path) as file:
            np.save(file, computed)
    return computed


def _get_cache_path(graph: KnowledgeGraph, model: str, texts: Sequence[str]) -> Path | None:
    if graph.cache_folder is None:
        return None
    digest = hashlib.sha256("\n".join((model, *texts)).encode()).hexdigest()[:32]
    return graph.cache_folder / f"meanings~{digest}.npy"
