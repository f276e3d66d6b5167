"""The content of a graph: classes, predicates, instances, facts, and things by name."""

import asyncio
from collections.abc import Mapping, Sequence
from typing import Annotated, Literal

from fastapi import APIRouter, Query
from pydantic import BaseModel, Field
from pyoxigraph import NamedNode

from askgraph.answers.example_questions import values_of
from askgraph.answers.headline import units_of_properties
from askgraph.answers.resource import (
    Facts,
    classes_of,
    instances_of,
    resource_facts,
    some_instances,
)
from askgraph.answers.verbalize import labels_of
from askgraph.graph import KnowledgeGraph
from askgraph.graph.profile import ClassProfile, PredicateProfile, Profile, build_schema_diagram
from askgraph.index import Hit, Resource
from askgraph.index.completion import completions
from askgraph.index.names import Kind
from askgraph.server.hub import HubDep
from askgraph.server.rest import Offset, OpenGraph, SearchedGraph, Tongue, label_of
from askgraph.server.runs import Cell, cell_of
from askgraph.sparql.prefixes import words_of_local_name
from askgraph.sparql.results import Term
from askgraph.sparql.vocabulary import RDF, RDFS, XSD

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
    opened: OpenGraph,
    language: Tongue = "en",
    search: Annotated[str, Query(max_length=200)] = "",
    offset: Offset = 0,
    limit: Annotated[int, Query(ge=1, le=1000)] = 200,
) -> ProfileView:
    """Return the classes and predicates of a graph, the most used first.

    `offset` and `limit` are of both. With `search`, those whose label or IRI holds the text.
    """
    view = await asyncio.to_thread(_profile, opened, language, search, offset, limit)
    cells = [cell for cls in view.classes for cell in cls.examples]
    labels = await labels_of([cell.value for cell in cells], opened, [language])
    for cell in cells:
        cell.label = labels.get(cell.value)
    return view


@router.get("/graphs/{graph}/picture")
async def picture(opened: OpenGraph, language: Tongue = "en") -> PictureView:
    """Return the largest classes of a graph and how they are linked, as its profile has it."""
    return await asyncio.to_thread(_picture, opened.profile, language)


@router.get("/graphs/{graph}/instances", response_model_by_alias=True)
async def instances(
    opened: OpenGraph,
    hub: HubDep,
    cls: Annotated[
        str, Query(alias="class", min_length=1, max_length=4000, description="A class, by its IRI.")
    ],
    language: Tongue = "en",
    offset: Offset = 0,
    limit: Annotated[int, Query(ge=1, le=500)] = 50,
) -> InstancesView:
    """Return a page of the instances of a class."""
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
    opened: OpenGraph,
    hub: HubDep,
    iri: Iri,
    language: Tongue = "en",
    predicate: Annotated[
        str | None, Query(max_length=4000, description="Only the facts with this predicate.")
    ] = None,
    offset: Offset = 0,
    limit: Annotated[int, Query(ge=1, le=200, description="Values of each predicate.")] = 20,
) -> ResourceView:
    """Return what a graph says of a thing, and what points at it, by predicate."""
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
    drawn = build_schema_diagram(known)
    terms: list[ClassProfile | PredicateProfile] = [*drawn.classes, *known.predicates]
    named = {one.iri: label_of(one, language) for one in terms}

    def label(iri: str) -> str:
        return named.get(iri) or words_of_local_name(iri)

    return PictureView(
        classes=[
            DrawnClass.model_validate({**vars(one), "label": named[one.iri]})
            for one in drawn.classes
        ],
        links=[
            DrawnLink.model_validate({**vars(one), "label": label(one.predicate)})
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
    some = some_instances([one.iri for one in page[0]], graph)
    return ProfileView(
        name=graph.name,
        triples=known.triples,
        classes=[
            ClassView.model_validate(
                {
                    **vars(one),
                    "label": labels[one.iri],
                    "examples": [_cell(NamedNode(iri), {}) for iri in some.get(one.iri, ())],
                }
            )
            for one in page[0]
        ],
        predicates=_predicates(page[1], graph, labels, language),
        total_classes=len(classes),
        total_predicates=len(predicates),
        languages=dict(known.languages),
        graphs=dict(known.graphs[:_GRAPHS]),
        cuts=list(known.cuts),
        created=known.created,
    )


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
        PredicateView.model_validate(
            {
                **vars(one),
                "label": labels[one.iri],
                "subject_classes": ends(one.subject_classes),
                "object_classes": ends(one.object_classes),
                "datatypes": ends(one.datatypes),
                "example": values.get(one.iri),
            }
        )
        for one in predicates
    ]


TermKind = Literal["entity", "class", "property"]
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
    opened: SearchedGraph,
    hub: HubDep,
    q: Annotated[str, Query(min_length=1, max_length=500, description="A name, or words of it.")],
    kind: TermKind = "entity",
    language: Tongue = "en",
    limit: Annotated[int, Query(ge=1, le=100)] = 10,
) -> HitsView:
    """Search things, classes or properties of a graph by name, in the graph's own index."""
    hits = await asyncio.to_thread(_hits, opened, q, kind, limit)
    labels = await labels_of(
        [hit.item.iri for hit in hits], opened, [language], timeout=hub.settings.query_timeout
    )
    classes = {one.iri for one in opened.profile.classes}
    return HitsView(hits=[_hit(hit, kind, labels, classes) for hit in hits])


@router.get("/graphs/{graph}/complete")
async def complete(
    opened: OpenGraph,
    q: Annotated[str, Query(max_length=4000, description="What is typed so far.")] = "",
    language: Tongue = "en",
    limit: Annotated[int, Query(ge=1, le=50)] = 8,
) -> CompletionsView:
    """Return names that complete the words at the end of what is typed, within milliseconds."""
    found = await asyncio.to_thread(completions, opened.names, q, limit=_CHOICE * limit)
    labels: dict[str, str] = {}
    if opened.arrays is not None:
        labels = await labels_of([one.name.target for one in found], opened, [language])
    # Of those of one place the names in the asker's language come first.
    best = sorted(
        found,
        key=lambda one: (one.start, labels.get(one.name.target, one.name.text) != one.name.text),
    )[:limit]
    things = [one.name.target for one in best if one.name.kind is Kind.ENTITY]
    # The name of the smallest class of each thing.
    of = await asyncio.to_thread(
        lambda: {
            iri: label_of(cls, language) for iri in things for cls in classes_of(iri, opened)[:1]
        }
    )
    views = [
        CompletionView(
            text=one.name.text,
            label=labels.get(one.name.target) or one.name.text,
            iri=one.name.target,
            kind=_KINDS[one.name.kind],
            of=of.get(one.name.target, ""),
            start=one.start,
        )
        for one in best
    ]
    return CompletionsView(completions=views)


@router.get("/graphs/{graph}/vocabulary")
async def vocabulary(opened: OpenGraph, language: Tongue = "en") -> VocabularyView:
    """Return the vocabulary from which an editor completes queries on a graph."""
    known, prefixes = opened.profile, opened.prefixes

    def view(one: ClassProfile | PredicateProfile) -> TermView:
        count = one.instances if isinstance(one, ClassProfile) else one.triples
        return TermView(iri=one.iri, label=label_of(one, language), count=count)

    return VocabularyView(
        prefixes={**_STANDARD, **prefixes.own},
        classes=[*map(view, known.classes[:_TERMS])],
        predicates=[*map(view, known.predicates[:_TERMS])],
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
