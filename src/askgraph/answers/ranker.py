"""Rankers: models that read unsure candidates beside the question, and have a say in their order.

An encoder reads them in words; a language model that was trained to write queries tells how likely
it would have written each. `askgraph finetune ranker` makes both, with how much of a say they have.
"""

import asyncio
import json
from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache
from pathlib import Path
from typing import Self

from askgraph import deadline, plugins
from askgraph.answers.encoder import Encoder, stored
from askgraph.answers.verbalize import in_words, iris_of, labels_of, language_of_labels
from askgraph.errors import QuerySyntaxError, SetupError
from askgraph.graph import KnowledgeGraph
from askgraph.graph.arrays import GraphArrays
from askgraph.index.names import Kind
from askgraph.llm import Judges
from askgraph.methods.writing import Listed
from askgraph.methods.writing.pointer.writer import UNREADABLE, pointer_writer, reranked
from askgraph.methods.writing.prompt import messages, target
from askgraph.methods.writing.references import NAMES, References, terms_in, value_text
from askgraph.search.decide import estimate_confidence
from askgraph.search.operators.query_builder import Candidate
from askgraph.search.rank import Cluster, Proposal, clusters
from askgraph.sparql.prefixes import words_of_local_name

CONSIDERED = 6
"""So many clusters are read; what comes after them stays behind them."""

_SHARE = 0.5  # of the time left, for the labels of a remote graph
_MAKE = "make one with: askgraph finetune ranker BASE --benchmark FILE --out FOLDER"
_FAR = 30.0  # log-odds from the best from which a candidate is no less likely


@dataclass(frozen=True)
class Say:
    """How much a ranker has a say: its `weight`, and the confidence from which it has none."""

    weight: float = 0.0
    below: float = 0.5


@dataclass(frozen=True, eq=False)
class Ranker(ABC):
    """What prefers some candidates to others; `about` says what it learned from."""

    say: Say
    about: Mapping[str, object]

    @abstractmethod
    async def liked(
        self, found: Sequence[Cluster], proposal: Proposal, graph: KnowledgeGraph
    ) -> list[float]:
        """Return how well the best candidate of each cluster fits: differences are log-odds."""


@dataclass(frozen=True, eq=False)
class EncoderRanker(Ranker):
    """Reads candidates in words with a trained encoder."""

    encoder: Encoder

    @classmethod
    def load(cls, path: Path | str) -> Self:
        """Read what `askgraph finetune ranker` made; raises `SetupError` for other files."""
        try:
            encoder, header = stored(path)
            say, about = _read_say(header["say"]), _read_about(header)
        except UNREADABLE as problem:
            raise SetupError(f"{str(path)!r} holds no ranker ({problem}); {_MAKE}") from problem
        return cls(say, about, encoder)

    async def liked(
        self, found: Sequence[Cluster], proposal: Proposal, graph: KnowledgeGraph
    ) -> list[float]:
        """Judge candidates as they are worded beside an answer."""
        words = await readings_of(found, proposal, graph)
        return await asyncio.to_thread(self.judgements, proposal.reading.text, words)

    def judgements(self, question: str, readings: Sequence[str]) -> list[float]:
        """Return how well each reading in words fits a question: differences are log-odds."""
        return self.encoder.judgements(question, readings)


@dataclass(frozen=True, eq=False)
class LanguageRanker(Ranker):
    """Asks a language model on this machine how likely it would have written each candidate."""

    model: Judges = field(repr=False)

    @classmethod
    def load(cls, path: Path | str) -> Self:
        """Read the file that names a model and its say; raises `SetupError` for other files."""
        try:
            header = json.loads(Path(path).read_text("utf-8"))
            say, about = _read_say(header["say"]), _read_about(header)
            name = header["model"]
            if not isinstance(name, str) or not name:
                raise ValueError("it names no model")
        except UNREADABLE as problem:
            raise SetupError(f"{str(path)!r} holds no ranker ({problem}); {_MAKE}") from problem
        return cls(say, about, language_model(str(Path(path).parent / name)))

    async def liked(
        self, found: Sequence[Cluster], proposal: Proposal, graph: KnowledgeGraph
    ) -> list[float]:
        """Judge candidates as a writer would write them of the terms that they name."""
        queries = [graph.plain_text(one.best.query) for one in found]
        near = proposal.schema.graph
        terms = await listed_of(queries, graph, proposal.reading.language, near=near)
        return await self.judgements(proposal.reading.text, queries, terms)

    async def judgements(
        self, question: str, queries: Sequence[str], terms: Sequence[Listed]
    ) -> list[float]:
        """Return the log-probability of each query; of one that cannot be written, the first's."""
        references = References(terms, NAMES)
        replies = [_reply(one, references) for one in queries]
        kept = list(dict.fromkeys(one for one in replies if one is not None))
        if len(kept) < 2:
            return [0.0] * len(queries)
        told = await self.model.log_probabilities(messages(question, references), kept)
        known, best = dict(zip(kept, told, strict=True)), max(told)
        return [max(known[kept[0] if one is None else one], best - _FAR) for one in replies]


def _reply(query: str, references: References) -> str | None:
    try:
        return target(query, references)
    except QuerySyntaxError:
        return None


async def listed_of(
    queries: Iterable[str], graph: KnowledgeGraph, language: str | None,
    near: GraphArrays | None = None,
) -> tuple[Listed, ...]:  # fmt: skip
    """Return the terms that queries name, by their IRIs; what cannot be read names nothing."""
    found = terms_in(queries)
    seconds = deadline.at_most(None, share=_SHARE)
    iris = [target for kind, target in found if kind is not Kind.VALUE]
    labels = await labels_of(iris, graph, [language or "en"], timeout=seconds, near=near)

    def label(kind: Kind, target: str) -> str:
        if kind is Kind.VALUE:
            return value_text(target)
        return labels.get(target) or words_of_local_name(target) or target

    return tuple(
        Listed(kind, target, label(kind, target), score=1.0)
        for kind, target in sorted(found, key=lambda one: (one[1], one[0].name))
    )


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
    sure = estimate_confidence(proposal, clusters(proposal.candidates))
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
    liked = await ranker.liked(found, proposal, graph)
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
    """Return the ranker of a file, or of a folder the first that did not learn from a graph.

    What a language model has learned from is not known: it is named by its file.
    """
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


_LOADED: Mapping[str, type[EncoderRanker | LanguageRanker]] = {
    ".npz": EncoderRanker, ".json": LanguageRanker,
}  # fmt: skip


@lru_cache(maxsize=8)
def kept_ranker(path: str) -> Ranker:
    """Return the ranker of a file, kept for the next question; `SetupError` if it holds none."""
    return _LOADED.get(Path(path).suffix, EncoderRanker).load(path)


@lru_cache(maxsize=2)
def language_model(name: str) -> Judges:
    """Return a model on this machine by its folder or GGUF file, kept for the next question."""
    made: Judges = plugins.load("llm", "transformers")(name)
    return made


def _read_say(given: object) -> Say:
    if not isinstance(given, dict) or given.keys() != {"weight", "below"}:
        raise ValueError("its header does not say how much it has a say")
    if not all(isinstance(one, int | float) and 0 <= one <= 100 for one in given.values()):
        raise ValueError("what it has a say is no number from 0 to 100")
    return Say(float(given["weight"]), float(given["below"]))


def _read_about(header: Mapping[str, object]) -> Mapping[str, object]:
    about = header.get("about", {})
    if not isinstance(about, dict):
        raise ValueError("its header is of another kind")
    return about
