"""Lessons from questions with a known answer: graph search's candidates, marked by results."""

import asyncio
from collections.abc import AsyncGenerator, Sequence
from dataclasses import dataclass

from askgraph.errors import QueryError, ServiceError
from askgraph.evaluation import Table
from askgraph.evaluation.metrics.best_column import best_column
from askgraph.evaluation.questions import GoldQuestion, gold_table
from askgraph.graph import KnowledgeGraph
from askgraph.search import Value
from askgraph.search.linking.link import Linked
from askgraph.search.rank import clusters
from askgraph.search.rank.score import Proposal, weights_for
from askgraph.search.run import proposed, read_and_linked, schema_of
from askgraph.sparql import Query
from askgraph.sparql.write import text_of
from askgraph.training.pointer.questions import asked
from askgraph.writing.pointer.inputs import Units, listed_terms, units_of, written
from askgraph.writing.pointer.network import fits
from askgraph.writing.pointer.skeleton import Skeleton, skeleton_of, terms_of

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


def lesson_of(linked: Linked, offers: Sequence[Offer], graph: KnowledgeGraph) -> Lesson | None:
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
    schema = schema_of(graph.arrays, graph.profile)
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
    linked = read_and_linked(text, language, graph.names)
    weights = weights_for(graph.name, ranking)
    return proposed(linked, schema_of(graph.arrays, graph.profile), weights=weights)


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
