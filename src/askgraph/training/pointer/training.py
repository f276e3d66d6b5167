"""Training of the pointer writer with torch: to write what is right, to prefer it to the rest.

It learns from questions with a known answer: graph search's candidates, marked by results.
"""

import asyncio
from collections.abc import AsyncGenerator, Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor
from torch.nn import functional

from askgraph.errors import QueryError, ServiceError
from askgraph.evaluation import Table
from askgraph.evaluation.metrics.best_column import best_column
from askgraph.evaluation.questions import GoldQuestion, gold_table
from askgraph.graph import KnowledgeGraph
from askgraph.methods.writing.pointer.inputs import Units, listed_terms, units_of, written
from askgraph.methods.writing.pointer.network import (
    Settings,
    Steps,
    encoded,
    fits,
    judged,
    known_steps,
    shapes,
    unit_arrays,
)
from askgraph.methods.writing.pointer.skeleton import Skeleton, skeleton_of, terms_of
from askgraph.methods.writing.pointer.writer import RANK
from askgraph.search.link import LinkedQuestion
from askgraph.search.pipeline import build_schema, link_text, propose_from_links
from askgraph.search.query_pieces import Value
from askgraph.search.rank import Proposal, clusters, weights_for
from askgraph.sparql import Query
from askgraph.sparql.write import text_of
from askgraph.training.pointer.questions import asked

RIGHT = 0.99
"""From this worth on a query is right."""


@dataclass(frozen=True)
class Offer:
    """A query that may be right: its worth between 0 and 1, its score in graph search.

    Of its columns those that answer are `shown`, all if that is None.
    """

    query: Query
    worth: float
    score: float = 0.0
    shown: tuple[Value, ...] | None = None


@dataclass(frozen=True, eq=False)
class Lesson:
    """A question as the network sees it, with skeletons, what each is worth, and their scores."""

    units: Units
    skeletons: tuple[Skeleton, ...]
    worths: tuple[float, ...]
    scores: tuple[float, ...]


def lesson_of(
    linked: LinkedQuestion, offers: Sequence[Offer], graph: KnowledgeGraph
) -> Lesson | None:
    """Return a lesson; None if none of its offers is right and can be written."""
    named = dict.fromkeys(term for one in offers for term in terms_of(one.query))
    listed = listed_terms(linked, graph.profile, named=named)
    units = units_of(linked.reading, linked.weights, listed, graph.profile, graph.arrays)
    places = {written(one): at for at, one in enumerate(listed)}
    kept: dict[Skeleton, Offer] = {}
    for one in offers:
        try:
            skeleton = skeleton_of(one.query, places, one.shown)
            if fits(skeleton, units):
                kept.setdefault(skeleton, one)
        except ValueError:
            continue
    if not any(one.worth >= RIGHT for one in kept.values()):
        return None
    best = kept.values()
    return Lesson(units, tuple(kept), tuple(o.worth for o in best), tuple(o.score for o in best))


_CLUSTERS = 12
_MEMBERS = 2
_ROWS = 2_000
_SECONDS = 5.0


async def generated(
    graph: KnowledgeGraph, *, seed: int, number: int
) -> AsyncGenerator[Lesson, None]:
    """Yield lessons from so many questions made up over a graph that lies here.

    Questions whose query fails, gives nothing or gives too much teach nothing.
    """
    assert graph.arrays is not None
    schema = build_schema(graph.arrays, graph.profile)
    for one in asked(schema, seed, number):
        gold = await _table(one.query, graph)
        if gold is None or not gold.rows or len(gold.rows) >= _ROWS:
            continue
        proposal = await asyncio.to_thread(_proposal, one.text, "en", graph)
        lesson = await _lesson(proposal, gold, graph, one.query)
        if lesson is not None:
            yield lesson


async def from_examples(
    questions: Sequence[GoldQuestion], graph: KnowledgeGraph, *, ranking: str = ""
) -> AsyncGenerator[Lesson, None]:
    """Yield lessons from questions that people asked; those without a gold result are left out.

    Candidates are scored by the weights of the file `ranking`, by the package's if it is empty.
    """
    for one in questions:
        if one.unanswerable or not one.sparql:
            continue
        prefixes = graph.prefixes.namespaces
        try:
            gold = await gold_table(one, graph.endpoint, prefixes=prefixes, timeout=_SECONDS)
        except (QueryError, ServiceError):
            continue
        proposal = await asyncio.to_thread(_proposal, one.text, one.language, graph, ranking)
        lesson = await _lesson(proposal, gold, graph, None)
        if lesson is not None:
            yield lesson


def _proposal(
    text: str, language: str | None, graph: KnowledgeGraph, ranking: str = ""
) -> Proposal:
    assert graph.arrays is not None
    linked = link_text(text, language, graph.names)
    weights = weights_for(graph.name, ranking)
    return propose_from_links(linked, build_schema(graph.arrays, graph.profile), weights=weights)


async def _lesson(
    proposal: Proposal, gold: Table, graph: KnowledgeGraph, own: Query | None
) -> Lesson | None:
    """The lesson of a question: the members of a cluster have one result, and one worth.

    If graph search does not find what is right, the question's own query is what to write.
    """
    offers: list[Offer] = []
    for cluster in clusters(proposal.candidates)[:_CLUSTERS]:
        table = await _table(cluster.best.tree, graph)
        worth = best_column(table, gold).f1 if table is not None else 0.0
        offers += [Offer(m.tree, worth, m.score, m.shown) for m in cluster.members[:_MEMBERS]]
    if own is not None and not any(one.worth >= RIGHT for one in offers):
        offers = [Offer(own, 1.0)]
    return lesson_of(proposal.linked, offers, graph)


async def _table(query: Query, graph: KnowledgeGraph) -> Table | None:
    """What a query gives; None if it cannot be run in time."""
    text = text_of(query)
    try:
        if query.form == "ASK":
            return Table.of_boolean(await graph.endpoint.ask(text, timeout=_SECONDS))
        result = await graph.endpoint.select(text, timeout=_SECONDS, limit=_ROWS)
    except (QueryError, ServiceError):
        return None
    return Table.of_result(result if query.order else result.sorted())


_LAST = 20


@dataclass(frozen=True)
class Plan:
    """How to train: `offers` wrong and right skeletons are compared a question.

    `compare` weighs preferring what is right against writing it, `forget` is the share of words'
    features left out, so that words seen in few graphs are not learned by heart.
    """

    epochs: int = 4
    batch: int = 16
    rate: float = 2e-3
    offers: int = 8
    compare: float = 1.0
    write: float = 1.0
    forget: float = 0.3
    drop: float = 0.1
    decay: float = 0.01
    seed: int = 42


@dataclass(frozen=True, eq=False)
class Trained:
    """Weights, the mean of the last losses, and what the weights learned from."""

    weights: Mapping[str, Tensor]
    loss: float
    about: Mapping[str, object] = field(default_factory=dict)

    def arrays(self) -> dict[str, NDArray[np.float32]]:
        """The weights for numpy."""
        return {name: value.numpy() for name, value in self.weights.items()}


class TorchLibrary:
    """The operations that the network needs, in torch; `drop` is the share left out."""

    def __init__(self, drop: float = 0.0) -> None:
        self.drop = drop

    def bag(self, table: Tensor, ids: Tensor) -> Tensor:
        """Sum the rows of a table by numbers along the last axis; row 0 is nothing."""
        flat = ids.reshape(-1, ids.shape[-1])
        bags = functional.embedding_bag(flat, table, mode="sum", padding_idx=0)
        return bags.reshape(*ids.shape[:-1], -1)

    def rows(self, table: Tensor, ids: Tensor) -> Tensor:
        """Give the rows of a table."""
        return functional.embedding(ids, table)

    def softmax(self, scores: Tensor, *, log: bool = False) -> Tensor:
        """Normalise along the last axis."""
        return scores.log_softmax(-1) if log else scores.softmax(-1)

    def clipped(self, values: Tensor, low: float | None, high: float | None) -> Tensor:
        """Bound values."""
        return values.clamp(low, high)

    def joined(self, one: Tensor, other: Tensor) -> Tensor:
        """Put two arrays together along the last axis."""
        return torch.cat([one, other], -1)

    def dropped(self, values: Tensor) -> Tensor:
        """Leave some values out while learning."""
        return functional.dropout(values, self.drop) if self.drop else values


def started(settings: Settings, seed: int = 42) -> dict[str, Tensor]:
    """Return weights to begin with: words are nothing, so that unseen ones stay so."""
    generator = torch.Generator().manual_seed(seed)
    found = {}
    for name, shape in shapes(settings).items():
        zero = name == "grams" or len(shape) < 2 or name.endswith(("norm", "relations", "reuse"))
        scale = 0.0 if zero else 0.1 if name in ("symbols", "stages", "steps") else shape[0] ** -0.5
        found[name] = torch.randn(shape, generator=generator) * scale
    found["grams"] += torch.randn(found["grams"].shape, generator=generator) * 0.01
    found["rank"] += 1.0
    return found


def continued(arrays: Mapping[str, NDArray[np.float32]], about: Mapping[str, object]) -> Trained:
    """Return weights to go on from."""
    return Trained({name: torch.tensor(value) for name, value in arrays.items()}, 0.0, about)


def trained(
    weights: Mapping[str, Tensor], lessons: Sequence[Lesson], settings: Settings, plan: Plan,
    *, told: Callable[[int, int, float], None] = lambda done, planned, loss: None,
) -> Trained:  # fmt: skip
    """Return weights that have learned from lessons; the same seed gives the same weights.

    `told` is called after each batch with the batches done and planned, and the loss.
    """
    torch.manual_seed(plan.seed)
    random = np.random.default_rng(plan.seed)
    own = {name: value.clone().requires_grad_() for name, value in weights.items()}
    optimizer = torch.optim.AdamW(own.values(), lr=plan.rate, weight_decay=plan.decay)
    planned = plan.epochs * -(-len(lessons) // plan.batch)
    library, recent = TorchLibrary(plan.drop), list[float]()
    for done, batch in enumerate(_batches(lessons, plan, random), 1):
        warm = min(1.0, done / (0.05 * planned + 1))
        for group in optimizer.param_groups:
            group["lr"] = plan.rate * warm * max(0.02, 1 - done / planned)
        write, compare = losses(own, batch, settings, plan, library, random)
        loss = plan.write * write + plan.compare * compare
        optimizer.zero_grad()
        torch.autograd.backward([loss])
        torch.nn.utils.clip_grad_norm_(own.values(), 1.0)
        optimizer.step()
        recent.append(float(loss.detach()))
        told(done, planned, recent[-1])
    final = sum(recent[-_LAST:]) / max(1, len(recent[-_LAST:]))
    return Trained({name: value.detach() for name, value in own.items()}, final)


def _batches(
    lessons: Sequence[Lesson], plan: Plan, random: np.random.Generator
) -> Iterator[list[Lesson]]:
    """Batches of lessons of about the same length, shuffled anew each epoch."""
    sizes = np.array([len(one.units.grams) for one in lessons])
    for _ in range(plan.epochs):
        order = np.argsort(sizes + random.uniform(0, 12, len(lessons)), kind="stable")
        starts = np.arange(0, len(lessons), plan.batch)
        for start in random.permutation(starts):
            yield [lessons[at] for at in order[start : start + plan.batch]]


def losses(
    weights: Mapping[str, Tensor], batch: Sequence[Lesson], settings: Settings, plan: Plan,
    library: TorchLibrary, random: np.random.Generator,
) -> tuple[Tensor, Tensor]:  # fmt: skip
    """Return the loss of writing what is right, and that of preferring it to the rest."""
    chosen = [_chosen(one, plan.offers, random) for one in batch]
    units = {k: torch.from_numpy(v) for k, v in unit_arrays([one.units for one in batch]).items()}
    if plan.forget:
        mask = torch.from_numpy(random.random(units["grams"].shape) >= plan.forget)
        units["grams"] = units["grams"] * mask
    memory = encoded(weights, units, settings, library)
    steps, targets, counts = _steps(batch, chosen, units["grams"].shape[1])
    chances, verdicts = judged(weights, memory, steps, settings, library)
    each = chances.gather(-1, targets[..., None])[..., 0] * counts
    told, lengths = each.sum(-1), counts.sum(-1)
    last = (lengths.long() - 1).clamp(min=0)
    verdict = verdicts.gather(-1, last[..., None])[..., 0]
    worth, score, real = _offered(batch, chosen, steps.symbols.shape[1])
    right = (worth >= RIGHT) & real
    write = -(told * right).sum() / (lengths * right).sum().clamp(min=1)
    total = (verdict + weights["rank"] * RANK * score).masked_fill(~real, -1e9)
    some = right.any(-1) & (~right & real).any(-1)
    if not some.any():
        return write, write * 0
    log = total.log_softmax(-1)
    return write, -log.masked_fill(~right, -1e9).logsumexp(-1)[some].mean()


def _chosen(lesson: Lesson, offers: int, random: np.random.Generator) -> list[int]:
    """Skeletons to compare: all that are right up to half, the best of the wrong, some others."""
    right = [at for at, worth in enumerate(lesson.worths) if worth >= RIGHT][: max(1, offers // 2)]
    wrong = [at for at, worth in enumerate(lesson.worths) if worth < RIGHT]
    room = offers - len(right)
    first = wrong[: room // 2]
    rest = wrong[room // 2 :]
    some = random.permutation(len(rest))[: room - len(first)]
    return right + first + [rest[at] for at in some]


def _steps(
    batch: Sequence[Lesson], chosen: Sequence[Sequence[int]], size: int
) -> tuple[Steps, Tensor, Tensor]:
    width = max(map(len, chosen))
    length = max(
        len(one.skeletons[at]) for one, places in zip(batch, chosen, strict=True) for at in places
    )
    known = [
        known_steps([one.skeletons[at] for at in places], one.units, room=(width, length, size))
        for one, places in zip(batch, chosen, strict=True)
    ]

    def together(name: str) -> Tensor:
        return torch.from_numpy(np.stack([getattr(one, name) for one in known]))

    steps = Steps(*map(together, ("symbols", "pointed", "used", "stages", "allowed")))
    return steps, together("targets"), together("counts")


def _offered(
    batch: Sequence[Lesson], chosen: Sequence[Sequence[int]], width: int
) -> tuple[Tensor, Tensor, Tensor]:
    shape = (len(batch), width)
    worth, score, real = (
        torch.zeros(shape),
        torch.zeros(shape),
        torch.zeros(shape, dtype=torch.bool),
    )
    for row, (one, places) in enumerate(zip(batch, chosen, strict=True)):
        for column, at in enumerate(places):
            worth[row, column], score[row, column] = one.worths[at], one.scores[at]
            real[row, column] = True
    return worth, score - score.amax(-1, keepdim=True), real
