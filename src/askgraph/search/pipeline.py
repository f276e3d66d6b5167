"""Graph search in six steps: tokenize, link, expand, complete with operators, rank, decide.

`propose` takes the first five; `askgraph.search.decide.decide` is the last, for the graph that fits
best. A remote graph is asked for the part that a question needs; all else is pure computation over
arrays, done off the event loop.
"""

import asyncio
from collections.abc import Container, Mapping
from dataclasses import replace
from datetime import date
from functools import lru_cache
from types import ModuleType

from askgraph.graph import KnowledgeGraph, surroundings
from askgraph.graph.arrays import GraphArrays, Seeds
from askgraph.graph.profile import Profile
from askgraph.index.names import Kind, NameIndex
from askgraph.search.decide import decide
from askgraph.search.expand.beam_search import expand
from askgraph.search.expand.schema import Schema
from askgraph.search.link import LinkedQuestion, link_question
from askgraph.search.operators import complete
from askgraph.search.rank import Proposal, rank, weights_for
from askgraph.search.rank.faults import demote_faulty
from askgraph.search.resolve_operators import resolve_operators
from askgraph.search.tokenize import TokenizedQuestion, tokenize
from askgraph.trace import Question

__all__ = [
    "build_schema",
    "decide",
    "link_text",
    "link_to_graph",
    "load_schema",
    "propose",
    "propose_from_links",
]

_FIRST_DAY = date(1970, 1, 1).toordinal()


async def propose(
    question: Question,
    graph: KnowledgeGraph,
    *,
    states: int = 150,
    operators: bool = True,
    today: date | None = None,
    ranking: str = "",
    meanings: str = "",
) -> Proposal:
    """Return what a question was read as, and its candidates; see `propose_from_links`.

    `ranking` is a file of weights; see `askgraph.search.rank`. With `meanings`, the name of
    an embedder, an unsure question is looked at again (`askgraph.search.embedding_linking`). Raises
    `ServiceError` if a remote graph or the embedder's server does not answer, and `SetupError` if
    the file holds no ranking or there is no such embedder.
    """
    weights = weights_for(graph.name, ranking)

    async def proposal_for(linked: LinkedQuestion) -> Proposal:
        schema = await load_schema(linked, graph)
        if linked.taught:
            linked = _glossary().unite_classes(linked)
        return await asyncio.to_thread(
            propose_from_links,
            *(linked, schema),
            states=states,
            operators=operators,
            today=today,
            weights=weights,
        )

    tokenized = await asyncio.to_thread(tokenize, question.text, question.language)
    linked = await link_to_graph(tokenized, graph)
    proposal = await proposal_for(linked)
    if meanings:
        from askgraph.search.embedding_linking import (
            retry_with_embeddings,  # only with an embedding model
        )

        proposal = await retry_with_embeddings(proposal, linked, graph, meanings, proposal_for)
    if linked.taught:
        schema = proposal.schema
        candidates = tuple(_glossary().restore_classes(proposal.candidates, linked.taught, schema))
        return replace(proposal, candidates=candidates)
    return proposal


def propose_from_links(
    linked: LinkedQuestion,
    schema: Schema,
    *,
    states: int = 150,
    operators: bool = True,
    today: date | None = None,
    weights: Mapping[str, float] | None = None,
) -> Proposal:
    """Expand the links of a question, complete and rank candidates; `states` bounds the work.

    Without `operators` only patterns come: no counts, comparisons, orders, negations. What is
    current is so on the day `today`, that of the clock if none is given. The `weights` of the
    ranking are the package's if none are given.
    """
    weights = weights_for("") if weights is None else weights
    day = float((today or date.today()).toordinal() - _FIRST_DAY)
    question = resolve_operators(linked, schema, day, operators=operators)
    expansion = expand(question.linked, question.operators, schema, weights, limit=states)
    candidates = complete(expansion, question.description)
    proposal = rank(candidates, question.linked, question.operators, schema, weights)
    return demote_faulty(proposal, weights["faulty"])


def _glossary() -> ModuleType:
    from askgraph.search import glossary  # few graphs have one

    return glossary


async def link_to_graph(reading: TokenizedQuestion, graph: KnowledgeGraph) -> LinkedQuestion:
    """Link the words of a question to a graph's names.

    A graph whose names are not all here is asked for those that the question may hold.
    """
    linked = await asyncio.to_thread(link_question, reading, graph.names)
    if graph.name_search is not None:
        from askgraph.search.link.endpoint_linking import link_with_endpoint  # most graphs lie here

        linked = await link_with_endpoint(linked, graph)
    if graph.glossary:
        linked = await asyncio.to_thread(_glossary().link_glossary, linked, graph)
    return linked


def link_text(
    text: str, language: str | None, names: NameIndex, *, without: Container[str] = ()
) -> LinkedQuestion:
    """Read a question and link its words to the names that are known here."""
    return link_question(tokenize(text, language), names, without=without)


async def load_schema(linked: LinkedQuestion, graph: KnowledgeGraph) -> Schema:
    """Return the schema of a graph over the arrays of what lies around the links.

    Raises `ServiceError` if a remote graph does not answer.
    """
    profile = (
        _glossary().add_superclasses(graph.profile, linked.taught)
        if linked.taught
        else graph.profile
    )
    return build_schema(await surroundings(graph, _seeds(linked)), profile)


def _seeds(linked: LinkedQuestion) -> Seeds:
    def targets(kind: Kind) -> tuple[str, ...]:
        return tuple(dict.fromkeys(link.target for link in linked.of(kind)))

    return Seeds(
        entities=targets(Kind.ENTITY),
        literals=targets(Kind.VALUE),
        classes=targets(Kind.CLASS),
        predicates=targets(Kind.PREDICATE),
    )


@lru_cache(maxsize=8)
def build_schema(graph: GraphArrays, profile: Profile) -> Schema:
    """Return the schema of a graph, kept for the next question."""
    return Schema(graph, profile)
