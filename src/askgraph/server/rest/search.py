"""Things of a graph by their names: searched for, completed while somebody types, listed."""

import asyncio
from collections.abc import Sequence
from typing import Annotated, Literal

from fastapi import APIRouter, Query
from pydantic import BaseModel, Field

from askgraph.answers.resource import classes_of
from askgraph.answers.verbalize import labels_of
from askgraph.graph import KnowledgeGraph
from askgraph.index import Hit, Resource
from askgraph.index.completion import Completion, completions
from askgraph.index.names import Kind
from askgraph.server.hub import Asker, HubDep
from askgraph.server.rest import GraphName, Tongue, label_of
from askgraph.sparql.vocabulary import RDF, RDFS, XSD

TermKind = Literal["entity", "class", "property"]
router = APIRouter(prefix="/api/v1", tags=["graphs"])
_TERMS = 2000  # classes, and predicates, that an editor is given
_CHOICE = 4  # completions looked at for each one given
_STANDARD = {"rdf": RDF, "rdfs": RDFS, "xsd": XSD}
_KINDS: dict[Kind, TermKind] = {
    Kind.ENTITY: "entity",
    Kind.CLASS: "class",
    Kind.PREDICATE: "property",
}


class HitView(BaseModel):
    """A thing found."""

    iri: str
    label: str
    name: str = Field(description="The name that matched, if it is another one.")
    description: str
    kind: TermKind
    score: float = Field(description="How well it matches, by the index's own measure.")


class HitsView(BaseModel):
    """What a search found, best first."""

    hits: list[HitView]


class CompletionView(BaseModel):
    """A name that completes the end of what is typed."""

    text: str = Field(description="The name to put in.")
    label: str
    iri: str
    kind: TermKind
    of: str = Field(description="The class of a thing; empty if there is none, or nobody knows.")
    start: int = Field(description="Where the words begin that it completes, in characters.")


class CompletionsView(BaseModel):
    """Names that complete the end of what is typed, best first."""

    completions: list[CompletionView]


class TermView(BaseModel):
    """A class or predicate, and how often it is used."""

    iri: str
    label: str
    count: int


class VocabularyView(BaseModel):
    """What an editor completes queries from: prefixes, classes, predicates."""

    prefixes: dict[str, str]
    classes: list[TermView] = Field(description="The most used ones.")
    predicates: list[TermView] = Field(description="The most used ones.")


@router.get("/graphs/{graph}/search")
async def search(
    graph: GraphName,
    hub: HubDep,
    caller: Asker,
    q: Annotated[str, Query(min_length=1, max_length=500, description="A name, or words of it.")],
    kind: TermKind = "entity",
    language: Tongue = "en",
    limit: Annotated[int, Query(ge=1, le=100)] = 10,
) -> HitsView:
    """Search things, classes or properties of a graph by name, in the graph's own index."""
    async with hub.graphs.lease(graph, caller, searched=True) as opened:
        hits = await asyncio.to_thread(_hits, opened, q, kind, limit)
        labels = await labels_of(
            [hit.item.iri for hit in hits], opened, [language], timeout=hub.settings.query_timeout
        )
        classes = {one.iri for one in opened.profile.classes}
    return HitsView(hits=[_hit(hit, kind, labels, classes) for hit in hits])


@router.get("/graphs/{graph}/complete")
async def complete(
    graph: GraphName,
    hub: HubDep,
    caller: Asker,
    q: Annotated[str, Query(max_length=4000, description="What is typed so far.")] = "",
    language: Tongue = "en",
    limit: Annotated[int, Query(ge=1, le=50)] = 8,
) -> CompletionsView:
    """Return names that complete the words at the end of what is typed, within milliseconds."""
    async with hub.graphs.lease(graph, caller) as opened:
        found = await asyncio.to_thread(completions, opened.names, q, limit=_CHOICE * limit)
        labels: dict[str, str] = {}
        if opened.arrays is not None:
            labels = await labels_of([one.name.target for one in found], opened, [language])
    best = _own_language_first(found, labels)[:limit]
    of = await asyncio.to_thread(_classes, best, opened, language)
    return CompletionsView(completions=[_completion(one, labels, of) for one in best])


@router.get("/graphs/{graph}/vocabulary")
async def vocabulary(
    graph: GraphName, hub: HubDep, caller: Asker, language: Tongue = "en"
) -> VocabularyView:
    """Return the vocabulary from which an editor completes queries on a graph."""
    async with hub.graphs.lease(graph, caller) as opened:
        known, prefixes = opened.profile, opened.prefixes
        return VocabularyView(
            prefixes={**_STANDARD, **prefixes.own},
            classes=[
                TermView(iri=one.iri, label=label_of(one, language), count=one.instances)
                for one in known.classes[:_TERMS]
            ],
            predicates=[
                TermView(iri=one.iri, label=label_of(one, language), count=one.triples)
                for one in known.predicates[:_TERMS]
            ],
        )


def _hits(graph: KnowledgeGraph, text: str, kind: TermKind, limit: int) -> Sequence[Hit[Resource]]:
    """Hits in the index of a kind; classes are among the entities."""
    key = "properties" if kind == "property" else "entities"
    index = graph.indices.get(key)
    if index is None:
        return ()
    within = [one.iri for one in graph.profile.classes] if kind == "class" else None
    return index.search(text, limit=limit, within=within)


def _hit(hit: Hit[Resource], kind: TermKind, labels: dict[str, str], classes: set[str]) -> HitView:
    item = hit.item
    is_class = kind == "entity" and item.iri in classes
    label = labels.get(item.iri) or item.label
    return HitView(
        iri=item.iri,
        label=label,
        name="" if hit.name == label else hit.name,
        description="; ".join(item.infos),
        kind="class" if is_class else kind,
        score=hit.score,
    )


def _own_language_first(found: Sequence[Completion], labels: dict[str, str]) -> list[Completion]:
    """The completions, of those of one place the names in the asker's language first."""
    return sorted(
        found,
        key=lambda one: (one.start, labels.get(one.name.target, one.name.text) != one.name.text),
    )


def _classes(found: Sequence[Completion], graph: KnowledgeGraph, language: str) -> dict[str, str]:
    """The name of the smallest class of each thing."""
    things = [one.name.target for one in found if one.name.kind is Kind.ENTITY]
    own = {iri: classes_of(iri, graph)[:1] for iri in things}
    return {iri: label_of(cls, language) for iri, classes in own.items() for cls in classes}


def _completion(
    completion: Completion, labels: dict[str, str], of: dict[str, str]
) -> CompletionView:
    name = completion.name
    return CompletionView(
        text=name.text,
        label=labels.get(name.target) or name.text,
        iri=name.target,
        kind=_KINDS[name.kind],
        of=of.get(name.target, ""),
        start=completion.start,
    )
