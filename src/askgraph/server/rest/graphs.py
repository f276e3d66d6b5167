"""Graphs: a list, questions to start with, glossaries; jobs that add and remove some."""

import asyncio
from dataclasses import asdict
from typing import Annotated, Any

from fastapi import APIRouter, Query, Request, Response
from pydantic import BaseModel, Field
from starlette.datastructures import UploadFile

from askgraph.answers.next_questions import FIRST, known_questions
from askgraph.answers.next_questions import starters as made_starters
from askgraph.answers.verbalize import labels_of
from askgraph.endpoint.http import HttpEndpoint
from askgraph.endpoint.public_only import Guard
from askgraph.errors import NotPublic, ServiceError, SetupError, Unreachable
from askgraph.graph import KnowledgeGraph
from askgraph.graph.glossary import Glossary, GlossaryEntry, parse_entry
from askgraph.server.graphs.jobs import JobView, NewGraph
from askgraph.server.graphs.open_graphs import GraphSummary
from askgraph.server.graphs.uploads import Sent, store_files, upload_folder
from askgraph.server.hub import Asker, HubDep, Manager
from askgraph.server.rest import GraphName, Offset, OpenGraph, SearchedGraph, Tongue
from askgraph.server.runs import Body
from askgraph.server.runs.replies import event_stream
from askgraph.server.store.tables import new_id
from askgraph.sparql.prefixes import words_of_local_name
from askgraph.trace import Outcome, Question, Refusal
from askgraph.workspace.run_sync import outcome_of

router = APIRouter(prefix="/api/v1", tags=["graphs"])

_STARTERS = 8
_OWN = 5  # of them that are examples of the graph


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
async def graphs(hub: HubDep, caller: Asker, language: Tongue = "en") -> GraphsView:
    """Return the graphs that the caller may see."""
    named = [(name, hub.graphs.settings(name, caller)) for name in hub.graphs.names(caller)]
    read = hub.summaries.of
    return GraphsView(
        graphs=await asyncio.to_thread(lambda: [read(*one, language) for one in named])
    )


@router.get("/graphs/{graph}")
async def graph(
    graph: GraphName, hub: HubDep, caller: Asker, language: Tongue = "en"
) -> GraphSummary:
    """Return a summary of one graph."""
    settings = hub.graphs.settings(graph, caller)
    return await asyncio.to_thread(hub.summaries.of, graph, settings, language)


@router.get("/graphs/{graph}/starters")
async def starters(opened: SearchedGraph, hub: HubDep, language: Tongue = "en") -> StartersView:
    """Return questions to start with: some that were confirmed or written, and some made up."""
    method = await asyncio.to_thread(hub.workspace.method)
    key = (opened.name, opened.snapshot, language)
    made = hub.starters.get(key)
    if made is None:

        async def ask(question: Question, asked: KnowledgeGraph) -> Outcome:
            seconds = hub.settings.query_timeout
            try:
                async with hub.queries.turn(opened.name):
                    return await outcome_of(question, method, [asked], timeout=seconds)
            except ServiceError as error:
                return Refusal(str(error))

        found = await made_starters(opened, language, ask, most=_STARTERS)
        made = tuple(text for text, _ in found)
        if made:
            hub.starters[key] = made
    questions = [*known_questions(opened, language, most=_OWN), *made]
    return StartersView(questions=list(dict.fromkeys(questions))[:_STARTERS])


@router.get("/graphs/{graph}/examples")
async def examples(
    opened: OpenGraph,
    search: Annotated[str, Query(max_length=200)] = "",
    offset: Offset = 0,
    limit: Annotated[int, Query(ge=1, le=500)] = 50,
) -> ExamplesView:
    """Return questions on the graph with the queries that answer them, confirmed ones first."""
    wanted = search.casefold()
    found = [one for one in opened.examples if wanted in one.question.casefold()]
    found.sort(key=lambda one: FIRST[one.origin])
    page = found[offset : offset + limit]
    views = [
        ExampleView.model_validate(
            {
                **vars(one),
                "others": [other.text for other in one.others],
                "when": one.confirmation.when if one.confirmation else None,
            }
        )
        for one in page
    ]
    return ExamplesView(examples=views, total=len(found))


_FILES = 100
_RESOLVING = 10.0  # seconds
_FORM: dict[str, Any] = {
    "requestBody": {
        "required": True,
        "content": {
            "multipart/form-data": {
                "schema": {
                    "type": "object",
                    "required": ["name", "files"],
                    "properties": {
                        "name": {"type": "string", "maxLength": 64},
                        "files": {
                            "type": "array",
                            "items": {"type": "string", "format": "binary"},
                            "description": "RDF in any format, packed or not.",
                        },
                    },
                }
            }
        },
    }
}


class AddBody(Body):
    """A graph to add by its address."""

    name: str = Field(max_length=64, description="What to call the graph: letters, digits, _-.")
    url: str = Field(max_length=2000, description="The address of its SPARQL endpoint.")
    dialect: str | None = Field(
        None,
        max_length=20,
        description="qlever, virtuoso, graphdb, blazegraph, fuseki or oxigraph; else detected.",
    )
    graphs: list[str] = Field(
        default_factory=list, max_length=100, description="IRIs of the named graphs to read."
    )
    timeout: float | None = Field(None, gt=0, le=600, description="Seconds for each query.")


class JobsView(BaseModel):
    """The caller's jobs, the latest first."""

    jobs: list[JobView]


@router.post("/graphs", status_code=202)
async def add(body: AddBody, hub: HubDep, caller: Manager) -> JobView:
    """Begin to add the graph of a SPARQL endpoint, which must be at a public address."""
    hub.jobs.check(body.name, caller)
    allowed = hub.settings.private_addresses
    settings: dict[str, object] = {
        "public_only": True,
        "private_addresses": list(allowed),
        "added_by": caller.id,
        **body.model_dump(include={"dialect", "graphs", "timeout"}, exclude_defaults=True),
    }
    guard = Guard(allowed)
    await HttpEndpoint(body.url, dialect=body.dialect, guard=guard).close()
    try:
        async with asyncio.timeout(_RESOLVING):
            await guard.addresses(body.url)
    except TimeoutError as problem:
        raise SetupError(f"the name in {body.url!r} is not resolved in time") from problem
    except NotPublic:
        raise
    except Unreachable as problem:
        raise SetupError(f"{problem}: check the address") from problem
    return await hub.jobs.begin(NewGraph(body.name, "address", [body.url], settings), caller)


@router.post("/graphs/upload", status_code=202, openapi_extra=_FORM)
async def upload(request: Request, hub: HubDep, caller: Manager) -> JobView:
    """Begin to add a graph of the files that are sent, as a form with `name` and `files`."""
    if not request.headers.get("content-type", "").startswith("multipart/form-data"):
        raise SetupError("send a form (multipart/form-data) with 'name' and 'files'")
    id = new_id()
    folder = upload_folder(hub.workspace.folder, id)
    async with request.form(max_files=_FILES, max_fields=10) as form:
        name = form.get("name")
        if not isinstance(name, str):
            raise SetupError("the form has no field 'name': what to call the graph")
        hub.jobs.check(name, caller)
        files = [
            Sent(file.filename or "", file.file)
            for file in form.getlist("files")
            if isinstance(file, UploadFile)
        ]
        new = NewGraph(name, "upload", (), {"added_by": caller.id}, id)
        return await hub.jobs.begin(new, caller, lambda: store_files(files, folder))


@router.delete("/graphs/{graph}", status_code=204)
async def remove(graph: str, hub: HubDep, caller: Manager) -> None:
    """Take a graph away that was added over the web."""
    await hub.jobs.remove(graph, caller)


@router.get("/jobs")
async def jobs(hub: HubDep, caller: Manager) -> JobsView:
    """Return the caller's jobs, the latest first."""
    return JobsView(jobs=await hub.jobs.of(caller))


@router.get("/jobs/{id}")
async def job(id: str, hub: HubDep, caller: Manager) -> JobView:
    """Return the progress of a job."""
    return await hub.jobs.view(id, caller)


@router.get("/jobs/{id}/events", response_class=Response)
async def events(id: str, hub: HubDep, caller: Manager) -> Response:
    """Return a job each time that it is further, as events `job`, to its end."""
    await hub.jobs.view(id, caller)
    return event_stream(hub.jobs.follow(id, caller))


@router.delete("/jobs/{id}")
async def cancel(id: str, hub: HubDep, caller: Manager) -> JobView:
    """Stop a job; nothing is left of its graph."""
    return await hub.jobs.cancel(id, caller)


glossary_router = APIRouter(prefix="/api/v1", tags=["graphs"])

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
    phrase: str | None = Field(
        None, max_length=100, description="How answers speak of the property: crewed by."
    )
    inverse: str | None = Field(
        None, max_length=100, description="What its value did, in the past: crewed."
    )
    plural: str | None = Field(None, max_length=100, description="The plural of the noun.")
    most: str | None = Field(
        None, max_length=100, description="The adjective of the highest value: largest."
    )
    least: str | None = Field(None, max_length=100, description="That of the lowest value.")
    person: bool = Field(False, description="Whether it is a class of people, or leads to people.")


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
    wording: dict[str, str | bool] = Field(
        description="How answers speak of it: phrase, inverse, plural, most, least, person."
    )


class GlossaryView(BaseModel):
    """What was taught of a graph."""

    entries: list[EntryView]
    instructions: str


@glossary_router.get("/graphs/{graph}/glossary")
async def glossary(opened: OpenGraph, language: Tongue = "en") -> GlossaryView:
    """Return what was taught of a graph."""
    return await _glossary(opened, language)


@glossary_router.post("/graphs/{graph}/glossary")
async def teach(
    graph: GraphName, body: TeachBody, hub: HubDep, caller: Manager, language: Tongue = "en"
) -> GlossaryView:
    """Teach a graph what words mean, and return all that was taught of it."""
    hub.graphs.settings(graph, caller)
    entries = [parse_entry(one.model_dump(), "the glossary") for one in body.entries]
    workspace = hub.workspace
    await asyncio.to_thread(workspace.teach, graph, *entries, instructions=body.instructions)
    async with hub.graphs.lease(graph, caller) as opened:
        return await _glossary(opened, language)


@glossary_router.delete("/graphs/{graph}/glossary")
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
        return await _glossary(opened, language)


async def _glossary(graph: KnowledgeGraph, language: str) -> GlossaryView:
    known = graph.glossary or Glossary()
    iris = {iri for one in known.entries for iri in one.means}
    labels = await labels_of(sorted(iris), graph, [language])

    def view(entry: GlossaryEntry) -> EntryView:
        means = [
            MeaningView(iri=iri, label=labels.get(iri) or words_of_local_name(iri))
            for iri in entry.means
        ]
        wording = {key: value for key, value in asdict(entry.wording).items() if value}
        return EntryView(
            word=entry.word,
            means=means,
            same_as=entry.same_as,
            query=entry.query,
            wording=wording,
        )

    return GlossaryView(entries=[*map(view, known.entries)], instructions=known.instructions)
