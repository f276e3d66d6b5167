"""A graph's glossary: what words mean, as its users taught it; added to and taken away from."""

import asyncio
from typing import Annotated

from fastapi import APIRouter, Query
from pydantic import BaseModel, Field

from askgraph.answers.verbalize import labels_of
from askgraph.graph import KnowledgeGraph
from askgraph.graph.glossary import Entry, Glossary, entry_of
from askgraph.server.hub import Asker, HubDep, Manager
from askgraph.server.rest import GraphName, Tongue
from askgraph.server.runs.views import Body
from askgraph.sparql.prefixes import words_of_local_name

router = APIRouter(prefix="/api/v1", tags=["graphs"])

Word = Annotated[str, Field(min_length=1, max_length=200, description="A word or phrase.")]


class EntryBody(Body):
    """A word, and one of the meanings that it can have."""

    word: Word
    means: list[Annotated[str, Field(max_length=2000)]] = Field(
        default_factory=list,
        max_length=200,
        description="A property, a thing, or classes: by name, prefixed name or IRI.",
    )
    same_as: str | None = Field(None, max_length=200, description="Another word.")
    query: str | None = Field(None, max_length=20_000, description="What answers the phrase.")


class TeachBody(Body):
    """Entries to add, each in the place of one of the same word."""

    entries: list[EntryBody] = Field(default_factory=list, max_length=500)
    instructions: str | None = Field(
        None, max_length=4000, description="What language models are told; null: as it was."
    )


class MeaningView(BaseModel):
    """A class, property or thing that a word means."""

    iri: str
    label: str


class EntryView(BaseModel):
    """A word with its meaning, of which there is one."""

    word: str
    means: list[MeaningView]
    same_as: str
    query: str


class GlossaryView(BaseModel):
    """What was taught of a graph."""

    entries: list[EntryView]
    instructions: str


@router.get("/graphs/{graph}/glossary")
async def glossary(
    graph: GraphName, hub: HubDep, caller: Asker, language: Tongue = "en"
) -> GlossaryView:
    """Return what was taught of a graph."""
    async with hub.graphs.lease(graph, caller) as opened:
        return await _view(opened, language)


@router.post("/graphs/{graph}/glossary")
async def teach(
    graph: GraphName, body: TeachBody, hub: HubDep, caller: Manager, language: Tongue = "en"
) -> GlossaryView:
    """Teach a graph what words mean, and return all that was taught of it."""
    hub.graphs.settings(graph, caller)
    entries = [entry_of(one.model_dump(), "the glossary") for one in body.entries]
    workspace = hub.workspace
    await asyncio.to_thread(workspace.teach, graph, *entries, instructions=body.instructions)
    async with hub.graphs.lease(graph, caller) as opened:
        return await _view(opened, language)


@router.delete("/graphs/{graph}/glossary")
async def forget(
    graph: GraphName,
    hub: HubDep,
    caller: Manager,
    word: Annotated[str, Query(min_length=1, max_length=200)],
    language: Tongue = "en",
) -> GlossaryView:
    """Take a word out of a graph's glossary, and return the rest."""
    hub.graphs.settings(graph, caller)
    await asyncio.to_thread(hub.workspace.teach, graph, without=word)
    async with hub.graphs.lease(graph, caller) as opened:
        return await _view(opened, language)


async def _view(graph: KnowledgeGraph, language: str) -> GlossaryView:
    known = graph.glossary or Glossary()
    iris = {iri for one in known.entries for iri in one.means}
    labels = await labels_of(sorted(iris), graph, [language])

    def view(entry: Entry) -> EntryView:
        means = [
            MeaningView(iri=iri, label=labels.get(iri) or words_of_local_name(iri))
            for iri in entry.means
        ]
        return EntryView(word=entry.word, means=means, same_as=entry.same_as, query=entry.query)

    return GlossaryView(entries=[*map(view, known.entries)], instructions=known.instructions)
