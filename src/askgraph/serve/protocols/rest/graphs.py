"""The graphs that there are, and questions to start with."""

import asyncio
from typing import Annotated

from fastapi import APIRouter, Query
from pydantic import BaseModel, Field

from askgraph.explanation.starters import examples_of
from askgraph.graph import KnowledgeGraph
from askgraph.metadata.examples import QueryExample
from askgraph.metadata.examples.similar import same_language
from askgraph.serve.graphs.open_graphs import GraphSummary
from askgraph.serve.hub import Asker, HubDep
from askgraph.serve.protocols.rest.parameters import GraphName, Offset, Tongue

router = APIRouter(prefix="/api/v1", tags=["graphs"])

_STARTERS = 8
_OWN = 5  # of them that are examples of the graph
_FIRST = {"confirmed": 0, "written": 1, "generated": 2}


class GraphsView(BaseModel):
    """The graphs that the caller may see."""

    graphs: list[GraphSummary]


class StartersView(BaseModel):
    """Questions to start with."""

    questions: list[str]


class ExampleView(BaseModel):
    """A question with the query that answers it."""

    question: str
    language: str | None
    query: str
    others: list[str] = Field(description="The same question in other words.")
    origin: str = Field(description="written, confirmed or generated.")
    when: str | None = Field(description="When it was confirmed or generated (ISO 8601).")
    keywords: list[str]


class ExamplesView(BaseModel):
    """A page of a graph's examples, confirmed ones first."""

    examples: list[ExampleView]
    total: int


@router.get("/graphs")
async def graphs(hub: HubDep, caller: Asker) -> GraphsView:
    """Return the graphs that the caller may see."""
    named = [(name, hub.graphs.settings(name, caller)) for name in hub.graphs.names(caller)]
    read = hub.summaries.of
    return GraphsView(graphs=await asyncio.to_thread(lambda: [read(*one) for one in named]))


@router.get("/graphs/{graph}")
async def graph(graph: GraphName, hub: HubDep, caller: Asker) -> GraphSummary:
    """Return a summary of one graph."""
    settings = hub.graphs.settings(graph, caller)
    return await asyncio.to_thread(hub.summaries.of, graph, settings)


@router.get("/graphs/{graph}/starters")
async def starters(
    graph: GraphName, hub: HubDep, caller: Asker, language: Tongue = "en"
) -> StartersView:
    """Return questions to start with: some that were confirmed or written, and some made up."""
    async with hub.graphs.lease(graph, caller) as opened:
        questions = await asyncio.to_thread(_starters, opened, language)
    return StartersView(questions=questions)


@router.get("/graphs/{graph}/examples")
async def examples(
    graph: GraphName,
    hub: HubDep,
    caller: Asker,
    search: Annotated[str, Query(max_length=200)] = "",
    offset: Offset = 0,
    limit: Annotated[int, Query(ge=1, le=500)] = 50,
) -> ExamplesView:
    """Return questions on the graph with the queries that answer them, confirmed ones first."""
    async with hub.graphs.lease(graph, caller) as opened:
        wanted = search.casefold()
        found = [one for one in opened.examples if wanted in one.question.casefold()]
    found.sort(key=lambda one: _FIRST[one.origin])
    page = found[offset : offset + limit]
    return ExamplesView(examples=[_example(one) for one in page], total=len(found))


def _example(example: QueryExample) -> ExampleView:
    return ExampleView(
        question=example.question,
        language=example.language,
        query=example.query,
        others=[one.text for one in example.others],
        origin=example.origin,
        when=example.confirmation.when if example.confirmation else None,
        keywords=list(example.keywords),
    )


def _starters(graph: KnowledgeGraph, language: str) -> list[str]:
    listed = sorted(graph.examples, key=lambda one: _FIRST[one.origin])
    own = [
        wording.text
        for one in listed
        for wording in one.wordings
        if same_language(wording.language, language)
    ]
    spread = own[:: max(1, len(own) // _OWN)]  # of many kinds, where they come in kinds
    made = examples_of(
        graph.profile, graph.arrays, graph.prefixes, [language], most=_STARTERS
    ).questions
    return list(dict.fromkeys([*spread[:_OWN], *made]))[:_STARTERS]
