"""A question asked of a graph: its words linked, what they name fetched, the candidates grown.

This is where the candidates, which are pure computation, meet the graph: a remote one is asked for
the part that a question needs, and all computing is done off the event loop.
"""

import asyncio
from datetime import date

from askgraph.graph import KnowledgeGraph, surroundings
from askgraph.index.names import Kind
from askgraph.search.grow.schema import Schema
from askgraph.search.linking.link import Linked
from askgraph.search.propose import Proposal, proposed, read_and_linked, schema_of
from askgraph.search.rank.weights import weights_for
from askgraph.trace import Question
from askgraph.traversal.remote import Seeds

__all__ = ["proposal_of", "schema_around"]


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

    `ranking` is a file of weights; see `askgraph.search.rank.weights`. Raises `ServiceError` where
    a remote graph does not answer, and `SetupError` where the file holds no ranking.
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


async def schema_around(linked: Linked, graph: KnowledgeGraph) -> Schema:
    """Return the schema of a graph over the arrays of what lies around the links.

    Raises `ServiceError` where a remote graph does not answer.
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
