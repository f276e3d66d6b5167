"""Graph search: a question in, candidates out; its words linked, answer sets grown, queries ranked.

A remote graph is asked for the part that a question needs; all else is pure computation over
arrays, done off the event loop.
"""

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import date
from functools import lru_cache

from askgraph.graph import KnowledgeGraph, surroundings
from askgraph.index.names import Kind, NameIndex
from askgraph.metadata import Profile
from askgraph.search.grow.growth import grown
from askgraph.search.grow.schema import Schema
from askgraph.search.grow.steps import Grower
from askgraph.search.linking.link import Linked, link
from askgraph.search.linking.operators import Frame, frame_of
from askgraph.search.linking.text import Reading, read
from askgraph.search.operators.finish import Finisher
from askgraph.search.operators.query_builder import Candidate
from askgraph.search.operators.timely import timely
from askgraph.search.rank.score import ranked, weights_for
from askgraph.trace import Question
from askgraph.traversal import Seeds
from askgraph.traversal.arrays import GraphArrays

_FIRST_DAY = date(1970, 1, 1).toordinal()


@dataclass(frozen=True, eq=False)
class Proposal:
    """A question as it was read, and the candidates for it, best first."""

    linked: Linked
    frame: Frame
    candidates: tuple[Candidate, ...]
    schema: Schema

    @property
    def reading(self) -> Reading:
        """The question as read."""
        return self.linked.reading


async def proposal_of(
    question: Question,
    graph: KnowledgeGraph,
    *,
    states: int = 150,
    operators: bool = True,
    today: date | None = None,
    ranking: str = "",
) -> Proposal:
    """Return what a question was read as, and its candidates; see `proposed`.

    `ranking` is a file of weights; see `askgraph.search.rank.score`. Raises `ServiceError` if
    a remote graph does not answer, and `SetupError` if the file holds no ranking.
    """
    weights = weights_for(graph.name, ranking)
    linked = await asyncio.to_thread(read_and_linked, question.text, question.language, graph.names)
    schema = await schema_around(linked, graph)
    return await asyncio.to_thread(
        proposed,
        linked,
        schema,
        states=states,
        operators=operators,
        today=today,
        weights=weights,
    )


def read_and_linked(text: str, language: str | None, names: NameIndex) -> Linked:
    """Read a question and link its words to a graph's names."""
    return link(read(text, language), names)


async def schema_around(linked: Linked, graph: KnowledgeGraph) -> Schema:
    """Return the schema of a graph over the arrays of what lies around the links.

    Raises `ServiceError` if a remote graph does not answer.
    """
    return schema_of(await surroundings(graph, _seeds(linked)), graph.profile)


def _seeds(linked: Linked) -> Seeds:
    def targets(kind: Kind) -> tuple[str, ...]:
        return tuple(dict.fromkeys(link.target for link in linked.of(kind)))

    return Seeds(
        entities=targets(Kind.ENTITY),
        literals=targets(Kind.VALUE),
        classes=targets(Kind.CLASS),
        predicates=targets(Kind.PREDICATE),
    )


@lru_cache(maxsize=8)
def schema_of(graph: GraphArrays, profile: Profile) -> Schema:
    """Return the schema of a graph, kept for the next question."""
    return Schema(graph, profile)


def proposed(
    linked: Linked,
    schema: Schema,
    *,
    states: int = 150,
    operators: bool = True,
    today: date | None = None,
    weights: Mapping[str, float] | None = None,
) -> Proposal:
    """Grow, finish and rank the candidates for a linked question; `states` bounds the work.

    Without `operators` only patterns come: no counts, comparisons, orders, negations. What is
    current is so on the day `today`, that of the clock if none is given. The `weights` of the
    ranking are the package's if none are given.
    """
    day = (today or date.today()).toordinal() - _FIRST_DAY
    linked = replace(linked, reading=linked.reading.on(float(day)))
    frame = timely(frame_of(linked.reading), schema, float(day))
    if not operators:
        frame = replace(frame, operators=())
    grower = Grower(schema.graph, schema, linked, frame)
    found = grown(grower)[:states]
    finisher = Finisher(grower, frame)
    weights = weights_for("") if weights is None else weights
    candidates = ranked(list(finisher.candidates(found)), linked, frame, schema, weights)
    return Proposal(linked, frame, tuple(candidates), schema)
