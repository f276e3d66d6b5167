"""The profile of a graph: classes and predicates, instances, and the facts of one thing."""

import asyncio
from collections.abc import Mapping, Sequence
from typing import Annotated

from fastapi import APIRouter, Query
from pydantic import BaseModel, Field
from pyoxigraph import NamedNode

from askgraph.answers.example_questions import values_of
from askgraph.answers.headline import units_of_properties
from askgraph.answers.resource import Facts, instances_of, resource_facts, some_instances
from askgraph.answers.verbalize import labels_of
from askgraph.graph import KnowledgeGraph
from askgraph.graph.profile import ClassProfile, PredicateProfile, Profile, picture_of
from askgraph.server.hub import Asker, HubDep
from askgraph.server.rest import GraphName, Offset, Tongue, label_of
from askgraph.server.runs.views import Cell, cell_of
from askgraph.sparql.prefixes import words_of_local_name
from askgraph.sparql.results import Term

router = APIRouter(prefix="/api/v1", tags=["graphs"])
Iri = Annotated[str, Query(min_length=1, max_length=4000, description="An IRI in full.")]

_ENDS = 20
_GRAPHS = 1000


class EndView(BaseModel):
    """A class or datatype at an end of a predicate, and how many triples have it."""

    iri: str
    label: str
    count: int


class ClassView(BaseModel):
    """A class as the graph uses it."""

    iri: str
    label: str
    instances: int
    parents: list[str]
    nary: bool = Field(description="Whether its instances have no name and link other things.")
    examples: list[Cell] = Field(description="Some instances.")


class PredicateView(BaseModel):
    """A predicate as the graph uses it."""

    iri: str
    label: str
    triples: int
    subjects: int
    objects: int
    subject_classes: list[EndView]
    object_classes: list[EndView]
    datatypes: list[EndView]
    example: str | None = Field(description="One of its values, shortened; null if unknown.")


class ProfileView(BaseModel):
    """What is known of a graph: its classes and predicates, the most used first, in pages."""

    name: str
    triples: int
    classes: list[ClassView]
    predicates: list[PredicateView]
    total_classes: int = Field(description="Classes in all, or that hold what was searched for.")
    total_predicates: int
    languages: dict[str, int] = Field(description="Texts by their language tag.")
    graphs: dict[str, int] = Field(description="Named graphs with their triples, at most 1,000.")
    cuts: list[str] = Field(description="What a bound left out of the count.")
    created: str = Field(description="When the graph was read.")


class DrawnClass(BaseModel):
    """A class in the picture of a graph."""

    iri: str
    label: str
    instances: int


class DrawnLink(BaseModel):
    """The predicate that links two classes of the picture most."""

    source: str = Field(description="A class, by its IRI.")
    target: str
    predicate: str
    label: str
    triples: int


class PictureView(BaseModel):
    """The largest classes of a graph and the links between them, most first."""

    classes: list[DrawnClass]
    links: list[DrawnLink]


class FactsView(BaseModel):
    """A predicate of a thing with its values, or with the things that point at it."""

    predicate: Cell
    unit: str | None = Field(None, description="What its numbers are in, in a sign or a word.")
    values: list[Cell]
    total: int = Field(description="Values in all, of which those of one page are here.")
    at_least: bool = Field(description="Whether there may be more than `total`.")


class ResourceView(BaseModel):
    """What a graph says of a thing, and what points at it."""

    iri: str
    label: str
    description: str | None
    types: list[Cell]
    outgoing: list[FactsView]
    incoming: list[FactsView]


class InstancesView(BaseModel):
    """Instances of a class, a page of them."""

    cls: Cell = Field(serialization_alias="class", description="The class.")
    instances: list[Cell]
    total: int
    at_least: bool = Field(description="Whether there may be more than `total`.")


@router.get("/graphs/{graph}/profile")
async def profile(
    graph: GraphName,
    hub: HubDep,
    caller: Asker,
    language: Tongue = "en",
    search: Annotated[str, Query(max_length=200)] = "",
    offset: Offset = 0,
    limit: Annotated[int, Query(ge=1, le=1000)] = 200,
) -> ProfileView:
    """Return the classes and predicates of a graph, the most used first.

    `offset` and `limit` are of both. With `search`, those whose label or IRI holds the text.
    """
    async with hub.graphs.lease(graph, caller) as opened:
        view = await asyncio.to_thread(_profile, opened, language, search, offset, limit)
        cells = [cell for cls in view.classes for cell in cls.examples]
        labels = await labels_of([cell.value for cell in cells], opened, [language])
    for cell in cells:
        cell.label = labels.get(cell.value)
    return view


@router.get("/graphs/{graph}/picture")
async def picture(
    graph: GraphName, hub: HubDep, caller: Asker, language: Tongue = "en"
) -> PictureView:
    """Return the largest classes of a graph and how they are linked, as its profile has it."""
    async with hub.graphs.lease(graph, caller) as opened:
        return await asyncio.to_thread(_picture, opened.profile, language)


@router.get("/graphs/{graph}/instances", response_model_by_alias=True)
async def instances(
    graph: GraphName,
    hub: HubDep,
    caller: Asker,
    cls: Annotated[
        str, Query(alias="class", min_length=1, max_length=4000, description="A class, by its IRI.")
    ],
    language: Tongue = "en",
    offset: Offset = 0,
    limit: Annotated[int, Query(ge=1, le=500)] = 50,
) -> InstancesView:
    """Return a page of the instances of a class."""
    async with hub.graphs.lease(graph, caller) as opened:
        timeout = hub.settings.query_timeout
        found = await instances_of(cls, opened, limit=limit, offset=offset, timeout=timeout)
        iris = [cls, *(one.value for one in found.values if isinstance(one, NamedNode))]
        labels = await labels_of(iris, opened, [language], timeout=timeout)
    return InstancesView(
        cls=_cell(NamedNode(cls), labels),
        instances=[_cell(one, labels) for one in found.values],
        total=found.total,
        at_least=found.at_least,
    )


@router.get("/graphs/{graph}/resource")
async def resource(
    graph: GraphName,
    hub: HubDep,
    caller: Asker,
    iri: Iri,
    language: Tongue = "en",
    predicate: Annotated[
        str | None, Query(max_length=4000, description="Only the facts with this predicate.")
    ] = None,
    offset: Offset = 0,
    limit: Annotated[int, Query(ge=1, le=200, description="Values of each predicate.")] = 20,
) -> ResourceView:
    """Return what a graph says of a thing, and what points at it, by predicate."""
    async with hub.graphs.lease(graph, caller) as opened:
        found = await resource_facts(
            iri,
            opened,
            [language],
            predicate=predicate,
            each=limit,
            offset=offset,
            timeout=hub.settings.query_timeout,
        )
        units = units_of_properties((one.predicate for one in found.outgoing), opened, language)
    return ResourceView(
        iri=iri,
        label=found.label,
        description=found.description or None,
        types=[_cell(NamedNode(one), found.labels) for one in found.types],
        outgoing=[_facts(one, found.labels, units) for one in found.outgoing],
        incoming=[_facts(one, found.labels, {}) for one in found.incoming],
    )


def _facts(facts: Facts, labels: Mapping[str, str], units: Mapping[str, str]) -> FactsView:
    return FactsView(
        predicate=_cell(NamedNode(facts.predicate), labels),
        unit=units.get(facts.predicate),
        values=[_cell(value, labels) for value in facts.values],
        total=facts.total,
        at_least=facts.at_least,
    )


def _cell(term: Term, labels: Mapping[str, str]) -> Cell:
    cell = cell_of(term, labels)
    assert cell is not None
    return cell


def _picture(known: Profile, language: str) -> PictureView:
    drawn = picture_of(known)
    terms: list[ClassProfile | PredicateProfile] = [*drawn.classes, *known.predicates]
    named = {one.iri: label_of(one, language) for one in terms}
    return PictureView(
        classes=[
            DrawnClass(iri=one.iri, label=named[one.iri], instances=one.instances)
            for one in drawn.classes
        ],
        links=[
            DrawnLink(
                source=one.source,
                target=one.target,
                predicate=one.predicate,
                label=named.get(one.predicate) or words_of_local_name(one.predicate),
                triples=one.triples,
            )
            for one in drawn.links
        ],
    )


def _profile(
    graph: KnowledgeGraph, language: str, search: str, offset: int, limit: int
) -> ProfileView:
    known = graph.profile
    terms: list[ClassProfile | PredicateProfile] = [*known.classes, *known.predicates]
    labels = {item.iri: label_of(item, language) for item in terms}
    wanted = search.casefold()

    def fits(item: ClassProfile | PredicateProfile) -> bool:
        return wanted in labels[item.iri].casefold() or wanted in item.iri.casefold()

    classes = [one for one in known.classes if fits(one)]
    predicates = [one for one in known.predicates if fits(one)]
    page = classes[offset : offset + limit], predicates[offset : offset + limit]
    return ProfileView(
        name=graph.name,
        triples=known.triples,
        classes=_classes(page[0], graph, labels),
        predicates=_predicates(page[1], graph, labels, language),
        total_classes=len(classes),
        total_predicates=len(predicates),
        languages=dict(known.languages),
        graphs=dict(known.graphs[:_GRAPHS]),
        cuts=list(known.cuts),
        created=known.created,
    )


def _classes(
    classes: Sequence[ClassProfile], graph: KnowledgeGraph, labels: Mapping[str, str]
) -> list[ClassView]:
    some = some_instances([one.iri for one in classes], graph)
    return [
        ClassView(
            iri=one.iri,
            label=labels[one.iri],
            instances=one.instances,
            parents=list(one.parents),
            nary=one.nary,
            examples=[_cell(NamedNode(iri), {}) for iri in some.get(one.iri, ())],
        )
        for one in classes
    ]


def _predicates(
    predicates: Sequence[PredicateProfile],
    graph: KnowledgeGraph,
    labels: Mapping[str, str],
    language: str,
) -> list[PredicateView]:
    iris = [one.iri for one in predicates]
    values = values_of(iris, graph.profile, graph.arrays, graph.prefixes, [language])

    def ends(counted: Sequence[tuple[str, int]]) -> list[EndView]:
        return [
            EndView(iri=iri, label=labels.get(iri) or words_of_local_name(iri), count=count)
            for iri, count in counted[:_ENDS]
        ]

    return [
        PredicateView(
            iri=one.iri,
            label=labels[one.iri],
            triples=one.triples,
            subjects=one.subjects,
            objects=one.objects,
            subject_classes=ends(one.subject_classes),
            object_classes=ends(one.object_classes),
            datatypes=ends(one.datatypes),
            example=values.get(one.iri),
        )
        for one in predicates
    ]
