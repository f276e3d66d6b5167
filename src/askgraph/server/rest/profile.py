"""The content of a graph: classes, predicates, instances, facts, and entities by name."""

import asyncio
from collections.abc import Mapping, Sequence
from typing import Annotated, Literal

from fastapi import APIRouter, Query
from pydantic import BaseModel, Field
from pyoxigraph import NamedNode

from askgraph.answers.example_questions import list_values
from askgraph.answers.headline import name_property_units
from askgraph.answers.resource import (
    PredicateFacts,
    fetch_instances,
    fetch_resource_facts,
    list_classes,
    sample_instances,
)
from askgraph.answers.verbalize import fetch_term_labels
from askgraph.graph import KnowledgeGraph
from askgraph.graph.profile import ClassProfile, PredicateProfile, Profile, build_schema_diagram
from askgraph.index import Hit, Resource
from askgraph.index.names import ItemKind, NameCompletion, complete_names
from askgraph.server.hub import HubDep
from askgraph.server.rest import IndexedGraph, LanguageQueryParameter, Offset, OpenGraph, get_label
from askgraph.server.runs import CellView, to_cell
from askgraph.sparql.prefixes import split_local_name
from askgraph.sparql.results import Term
from askgraph.sparql.vocabulary import RDF, RDFS, XSD

router = APIRouter(prefix="/api/v1", tags=["graphs"])
Iri = Annotated[str, Query(min_length=1, max_length=4000, description="An IRI in full.")]

_MAX_ENDS = 20
_MAX_NAMED_GRAPHS = 1000


class NamedTerm(BaseModel):
    """An IRI with its name."""

    iri: str
    label: str


class EndView(NamedTerm):
    """A class or datatype at an end of a predicate, with its number of triples."""

    count: int


class DiagramClassView(NamedTerm):
    """A class in the diagram of a graph."""

    instances: int


class ClassView(DiagramClassView):
    """A class as the graph uses it."""

    parents: list[str]
    nary: bool = Field(description="Whether its instances have no name and link other things.")
    examples: list[CellView] = Field(description="Some instances.")


class PredicateView(NamedTerm):
    """A predicate as the graph uses it."""

    triples: int
    subjects: int
    objects: int
    subject_classes: list[EndView]
    object_classes: list[EndView]
    datatypes: list[EndView]
    example: str | None = Field(description="One of its values, shortened; null if unknown.")


class ProfileView(BaseModel):
    """The profile of a graph: its classes and predicates, the most used first, in pages."""

    name: str
    triples: int
    classes: list[ClassView]
    predicates: list[PredicateView]
    total_classes: int = Field(description="Number of classes, or of those that match the search.")
    total_predicates: int
    languages: dict[str, int] = Field(description="Texts by their language tag.")
    graphs: dict[str, int] = Field(description="Named graphs with their triples, at most 1,000.")
    cuts: list[str] = Field(description="What the count leaves out because of a limit.")
    created: str = Field(description="When the graph was read.")


class DiagramLinkView(BaseModel):
    """The predicate with the most triples between two classes of the diagram."""

    source: str = Field(description="A class, by its IRI.")
    target: str
    predicate: str
    label: str
    triples: int


class DiagramView(BaseModel):
    """The largest classes of a graph and the links between them, most first."""

    classes: list[DiagramClassView]
    links: list[DiagramLinkView]


class FactsView(BaseModel):
    """A predicate of an entity with its values, or with the entities that refer to it."""

    predicate: CellView
    unit: str | None = Field(None, description="The unit of its numbers, as a symbol or a word.")
    values: list[CellView]
    total: int = Field(description="Number of all values; one page of them is here.")
    at_least: bool = Field(description="Whether there may be more than `total`.")


class ResourceView(NamedTerm):
    """The facts of a graph about an entity, outgoing and incoming."""

    description: str | None
    types: list[CellView]
    outgoing: list[FactsView]
    incoming: list[FactsView]


class InstancesView(BaseModel):
    """A page of the instances of a class."""

    cls: CellView = Field(serialization_alias="class", description="The class.")
    instances: list[CellView]
    total: int
    at_least: bool = Field(description="Whether there may be more than `total`.")


@router.get("/graphs/{graph}/profile")
async def get_profile(
    opened: OpenGraph,
    language: LanguageQueryParameter = "en",
    search: Annotated[str, Query(max_length=200)] = "",
    offset: Offset = 0,
    limit: Annotated[int, Query(ge=1, le=1000)] = 200,
) -> ProfileView:
    """Return the classes and predicates of a graph, the most used first.

    `offset` and `limit` apply to both. `search` keeps those whose label or IRI contains the text.
    """
    view = await asyncio.to_thread(_build_profile, opened, language, search, offset, limit)
    cells = [cell for cls in view.classes for cell in cls.examples]
    labels = await fetch_term_labels([cell.value for cell in cells], opened, [language])
    for cell in cells:
        cell.label = labels.get(cell.value)
    return view


@router.get("/graphs/{graph}/picture")
async def get_diagram(opened: OpenGraph, language: LanguageQueryParameter = "en") -> DiagramView:
    """Return the largest classes of a graph and the links between them, from its profile."""
    return await asyncio.to_thread(build_diagram_view, opened.profile, language)


@router.get("/graphs/{graph}/instances", response_model_by_alias=True)
async def list_instances(
    opened: OpenGraph,
    hub: HubDep,
    cls: Annotated[
        str, Query(alias="class", min_length=1, max_length=4000, description="A class, by its IRI.")
    ],
    language: LanguageQueryParameter = "en",
    offset: Offset = 0,
    limit: Annotated[int, Query(ge=1, le=500)] = 50,
) -> InstancesView:
    """Return a page of the instances of a class."""
    timeout = hub.settings.query_timeout
    page = await fetch_instances(cls, opened, limit=limit, offset=offset, timeout=timeout)
    iris = [cls, *(term.value for term in page.values if isinstance(term, NamedNode))]
    labels = await fetch_term_labels(iris, opened, [language], timeout=timeout)
    return InstancesView(
        cls=_to_bound_cell(NamedNode(cls), labels),
        instances=[_to_bound_cell(term, labels) for term in page.values],
        total=page.total,
        at_least=page.at_least,
    )


@router.get("/graphs/{graph}/resource")
async def describe_resource(
    opened: OpenGraph,
    hub: HubDep,
    iri: Iri,
    language: LanguageQueryParameter = "en",
    predicate: Annotated[
        str | None, Query(max_length=4000, description="Only the facts with this predicate.")
    ] = None,
    offset: Offset = 0,
    limit: Annotated[int, Query(ge=1, le=200, description="Values of each predicate.")] = 20,
) -> ResourceView:
    """Return the facts of a graph about an entity, outgoing and incoming, by predicate."""
    resource = await fetch_resource_facts(
        iri, opened, [language], predicate=predicate, page_size=limit, offset=offset,
        timeout=hub.settings.query_timeout,
    )  # fmt: skip
    units = name_property_units((item.predicate for item in resource.outgoing), opened, language)
    labels = resource.labels
    return ResourceView(
        iri=iri,
        label=resource.label,
        description=resource.description or None,
        types=[_to_bound_cell(NamedNode(item), labels) for item in resource.types],
        outgoing=[_to_facts_view(item, labels, units) for item in resource.outgoing],
        incoming=[_to_facts_view(item, labels, {}) for item in resource.incoming],
    )


def _to_facts_view(
    facts: PredicateFacts, labels: Mapping[str, str], units: Mapping[str, str]
) -> FactsView:
    return FactsView(
        predicate=_to_bound_cell(NamedNode(facts.predicate), labels),
        unit=units.get(facts.predicate),
        values=[_to_bound_cell(value, labels) for value in facts.values],
        total=facts.total,
        at_least=facts.at_least,
    )


def _to_bound_cell(term: Term, labels: Mapping[str, str]) -> CellView:
    cell = to_cell(term, labels)
    assert cell is not None
    return cell


def build_diagram_view(graph_profile: Profile, language: str) -> DiagramView:
    """Build the diagram of a profile with labels in a language."""
    diagram = build_schema_diagram(graph_profile)
    terms: list[ClassProfile | PredicateProfile] = [*diagram.classes, *graph_profile.predicates]
    labels = {item.iri: get_label(item, language) for item in terms}

    def find_label(iri: str) -> str:
        return labels.get(iri) or split_local_name(iri)

    return DiagramView(
        classes=[
            DiagramClassView.model_validate({**vars(item), "label": labels[item.iri]})
            for item in diagram.classes
        ],
        links=[
            DiagramLinkView.model_validate({**vars(item), "label": find_label(item.predicate)})
            for item in diagram.links
        ],
    )


def _build_profile(
    graph: KnowledgeGraph, language: str, search: str, offset: int, limit: int
) -> ProfileView:
    graph_profile = graph.profile
    terms: list[ClassProfile | PredicateProfile] = [
        *graph_profile.classes,
        *graph_profile.predicates,
    ]
    labels = {item.iri: get_label(item, language) for item in terms}
    search_text = search.casefold()

    def matches_search(item: ClassProfile | PredicateProfile) -> bool:
        return search_text in labels[item.iri].casefold() or search_text in item.iri.casefold()

    classes = list(filter(matches_search, graph_profile.classes))
    predicates = list(filter(matches_search, graph_profile.predicates))
    pages = classes[offset : offset + limit], predicates[offset : offset + limit]
    instances = sample_instances([item.iri for item in pages[0]], graph)
    examples = {
        cls: [_to_bound_cell(NamedNode(iri), {}) for iri in iris] for cls, iris in instances.items()
    }
    return ProfileView(
        name=graph.name,
        triples=graph_profile.triples,
        classes=[
            ClassView.model_validate(
                {**vars(item), "label": labels[item.iri], "examples": examples.get(item.iri, [])}
            )
            for item in pages[0]
        ],
        predicates=_to_predicate_views(pages[1], graph, labels, language),
        total_classes=len(classes),
        total_predicates=len(predicates),
        languages=dict(graph_profile.languages),
        graphs=dict(graph_profile.graphs[:_MAX_NAMED_GRAPHS]),
        cuts=list(graph_profile.cuts),
        created=graph_profile.created,
    )


def _to_predicate_views(
    predicates: Sequence[PredicateProfile],
    graph: KnowledgeGraph,
    labels: Mapping[str, str],
    language: str,
) -> list[PredicateView]:
    iris = [predicate.iri for predicate in predicates]
    values = list_values(iris, graph.profile, graph.arrays, graph.prefixes, [language])

    def to_end_views(counts: Sequence[tuple[str, int]]) -> list[EndView]:
        return [
            EndView(iri=iri, label=labels.get(iri) or split_local_name(iri), count=count)
            for iri, count in counts[:_MAX_ENDS]
        ]

    return [
        PredicateView.model_validate(
            {
                **vars(predicate),
                "label": labels[predicate.iri],
                "subject_classes": to_end_views(predicate.subject_classes),
                "object_classes": to_end_views(predicate.object_classes),
                "datatypes": to_end_views(predicate.datatypes),
                "example": values.get(predicate.iri),
            }
        )
        for predicate in predicates
    ]


TermKind = Literal["entity", "class", "property"]
_MAX_VOCABULARY_TERMS = 2000  # classes and predicates for an editor, each
_COMPLETIONS_PER_RESULT_RATIO = 4  # completions to inspect per returned one
_STANDARD_PREFIXES = {"rdf": RDF, "rdfs": RDFS, "xsd": XSD}
_TERM_KINDS: dict[ItemKind, TermKind] = {
    ItemKind.ENTITY: "entity",
    ItemKind.CLASS: "class",
    ItemKind.PREDICATE: "property",
}


class SearchHitView(NamedTerm):
    """A result of a search by name."""

    name: str = Field(description="The name that matched, if it is another one.")
    description: str
    kind: TermKind
    score: float = Field(description="How well it matches, by the index's own measure.")


class SearchHitsView(BaseModel):
    """The results of a search by name, best first."""

    hits: list[SearchHitView]


class CompletionView(BaseModel):
    """A name that completes the end of the typed text."""

    text: str = Field(description="The name to insert.")
    label: str
    iri: str
    kind: TermKind
    of: str = Field(description="The class of a thing; empty if it has none or it is unknown.")
    start: int = Field(description="The offset of the words that it completes, in characters.")


class CompletionsView(BaseModel):
    """Names that complete the end of the typed text, best first."""

    completions: list[CompletionView]


class TermView(EndView):
    """A class or predicate, with its number of uses."""


class VocabularyView(BaseModel):
    """The vocabulary for completion in a query editor: prefixes, classes, predicates."""

    prefixes: dict[str, str]
    classes: list[TermView] = Field(description="The most used ones.")
    predicates: list[TermView] = Field(description="The most used ones.")


@router.get("/graphs/{graph}/search")
async def search_terms(
    opened: IndexedGraph,
    hub: HubDep,
    q: Annotated[str, Query(min_length=1, max_length=500, description="A name, or words of it.")],
    kind: TermKind = "entity",
    language: LanguageQueryParameter = "en",
    limit: Annotated[int, Query(ge=1, le=100)] = 10,
) -> SearchHitsView:
    """Search entities, classes or properties of a graph by name, in the graph's own index."""
    hits = await asyncio.to_thread(_search_index, opened, q, kind, limit)
    labels = await fetch_term_labels(
        [hit.item.iri for hit in hits], opened, [language], timeout=hub.settings.query_timeout
    )
    classes = {cls.iri for cls in opened.profile.classes}
    return SearchHitsView(hits=[_to_hit_view(hit, kind, labels, classes) for hit in hits])


@router.get("/graphs/{graph}/complete")
async def complete_text(
    opened: OpenGraph,
    q: Annotated[str, Query(max_length=4000, description="The text typed so far.")] = "",
    language: LanguageQueryParameter = "en",
    limit: Annotated[int, Query(ge=1, le=50)] = 8,
) -> CompletionsView:
    """Return names that complete the words at the end of the typed text, within milliseconds."""
    limit_of_candidates = _COMPLETIONS_PER_RESULT_RATIO * limit
    candidates = await asyncio.to_thread(complete_names, opened.names, q, limit=limit_of_candidates)
    iris = [] if opened.arrays is None else [candidate.name.target for candidate in candidates]
    labels = await fetch_term_labels(iris, opened, [language])

    def sort_key(completion: NameCompletion) -> tuple[int, bool]:
        """Put names in the asker's language first for the same offset."""
        name = completion.name
        return completion.start, labels.get(name.target, name.text) != name.text

    def to_view(completion: NameCompletion) -> CompletionView:
        name = completion.name
        classes = list_classes(name.target, opened) if name.kind is ItemKind.ENTITY else ()
        return CompletionView(
            text=name.text,
            label=labels.get(name.target) or name.text,
            iri=name.target,
            kind=_TERM_KINDS[name.kind],
            of=get_label(classes[0], language) if classes else "",  # the smallest
            start=completion.start,
        )

    best = sorted(candidates, key=sort_key)[:limit]
    return CompletionsView(completions=await asyncio.to_thread(lambda: [*map(to_view, best)]))


@router.get("/graphs/{graph}/vocabulary")
async def get_vocabulary(
    opened: OpenGraph, language: LanguageQueryParameter = "en"
) -> VocabularyView:
    """Return the vocabulary with which an editor completes queries on a graph."""
    graph_profile, prefixes = opened.profile, opened.prefixes

    def to_term_view(item: ClassProfile | PredicateProfile) -> TermView:
        count = item.instances if isinstance(item, ClassProfile) else item.triples
        return TermView(iri=item.iri, label=get_label(item, language), count=count)

    return VocabularyView(
        prefixes={**_STANDARD_PREFIXES, **prefixes.own_prefixes},
        classes=[*map(to_term_view, graph_profile.classes[:_MAX_VOCABULARY_TERMS])],
        predicates=[*map(to_term_view, graph_profile.predicates[:_MAX_VOCABULARY_TERMS])],
    )


def _search_index(
    graph: KnowledgeGraph, text: str, kind: TermKind, limit: int
) -> Sequence[Hit[Resource]]:
    """Search the index of a kind of term; classes are in the index of entities."""
    index = graph.indices.get("properties" if kind == "property" else "entities")
    if index is None:
        return ()
    class_iris = [cls.iri for cls in graph.profile.classes] if kind == "class" else None
    return index.search(text, limit=limit, within=class_iris)


def _to_hit_view(
    hit: Hit[Resource], kind: TermKind, labels: dict[str, str], classes: set[str]
) -> SearchHitView:
    item = hit.item
    is_class = kind == "entity" and item.iri in classes
    label = labels.get(item.iri) or item.label
    return SearchHitView(
        iri=item.iri,
        label=label,
        name="" if hit.name == label else hit.name,
        description="; ".join(item.infos),
        kind="class" if is_class else kind,
        score=hit.score,
    )
