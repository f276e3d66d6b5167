"""Graphs: list, starter questions, examples, glossaries; jobs that add and remove graphs."""

import asyncio
import json
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Annotated, Any

from fastapi import APIRouter, Query, Request, Response
from pydantic import BaseModel, Field
from starlette.datastructures import UploadFile

from askgraph import sample
from askgraph.answers.example_questions import Starter
from askgraph.answers.next_questions import ORIGIN_RANKS, find_starters, list_known_questions
from askgraph.answers.verbalize import fetch_term_labels
from askgraph.answers.verbalize.phrases import load_phrases
from askgraph.endpoint.http import HttpEndpoint
from askgraph.endpoint.public_only import AddressGuard, list_own_addresses
from askgraph.errors import NotPublic, ServiceError, SetupError, Unreachable
from askgraph.graph import KnowledgeGraph
from askgraph.graph.glossary import Glossary, GlossaryEntry, parse_entry
from askgraph.server.auth.identify import get_credentials
from askgraph.server.graphs import GraphSummary
from askgraph.server.graphs.jobs import JobView, NewGraph
from askgraph.server.graphs.uploads import ReceivedFile, get_upload_folder, store_files
from askgraph.server.hub import Asker, Hub, HubDep, Manager
from askgraph.server.rest import GraphName, IndexedGraph, LanguageQueryParameter, Offset, OpenGraph
from askgraph.server.rest.profile import NamedTerm
from askgraph.server.runs import RequestBody
from askgraph.server.runs.replies import stream_events
from askgraph.server.store.tables import generate_id
from askgraph.sparql.prefixes import split_local_name
from askgraph.trace import Answer, Outcome, Question, Refusal
from askgraph.workspace.run_sync import ask_method

router = APIRouter(prefix="/api/v1", tags=["graphs"])

_MAX_STARTERS = 8
_MAX_EXAMPLE_STARTERS = 5  # starter questions from the graph's examples
_STARTER_TIMEOUT_SECONDS = 3.0  # for one question
_STARTERS_TIMEOUT_SECONDS = 6.0  # after which no more are tried: a board is to be there in ten


class GraphsView(BaseModel):
    """The graphs that the caller may see."""

    graphs: list[GraphSummary]


class StartersView(BaseModel):
    """Starter questions."""

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
async def list_graphs(
    hub: HubDep, caller: Asker, language: LanguageQueryParameter = "en"
) -> GraphsView:
    """Return the graphs that the caller may see."""
    settings_by_name = [
        (name, hub.graphs.get_settings(name, caller)) for name in hub.graphs.list_names(caller)
    ]
    load_summary = hub.summaries.load
    return GraphsView(
        graphs=await asyncio.to_thread(
            lambda: [load_summary(*entry, language) for entry in settings_by_name]
        )
    )


@router.get("/graphs/{graph}")
async def get_graph(
    graph: GraphName, hub: HubDep, caller: Asker, language: LanguageQueryParameter = "en"
) -> GraphSummary:
    """Return a summary of one graph."""
    settings = hub.graphs.get_settings(graph, caller)
    return await asyncio.to_thread(hub.summaries.load, graph, settings, language)


@router.get("/graphs/{graph}/starters")
async def list_starters(
    opened: IndexedGraph, hub: HubDep, language: LanguageQueryParameter = "en"
) -> StartersView:
    """Return starter questions: confirmed or written ones first, then generated ones."""
    answers = await answer_starters(hub, opened, language)
    return StartersView(questions=list_questions(opened, language, answers))


StarterAnswers = Sequence[tuple[Starter, Answer]]


def get_starters_key(graph: KnowledgeGraph, language: str) -> tuple[str, str, str]:
    """Return the key of a graph's generated questions in `Hub.starters`."""
    return graph.name, graph.snapshot, load_phrases(language).language


async def answer_starters(hub: Hub, graph: KnowledgeGraph, language: str) -> StarterAnswers:
    """Return generated questions of a graph with their answers, kept until the graph changes."""
    key = get_starters_key(graph, language)
    language = key[-1]
    if key in hub.starters:
        return hub.starters[key]
    method = await asyncio.to_thread(hub.workspace.method)
    seconds = min(hub.settings.query_timeout, _STARTER_TIMEOUT_SECONDS)

    async def ask(question: Question, open_graph: KnowledgeGraph) -> Outcome:
        try:
            async with hub.queries.wait_turn(graph.name):
                return await ask_method(question, method, [open_graph], timeout=seconds)
        except ServiceError as error:
            return Refusal(str(error))

    answers = await find_starters(
        graph, language, ask, most=_MAX_STARTERS, seconds=_STARTERS_TIMEOUT_SECONDS
    )
    if answers:
        hub.starters[key] = answers
    return answers


def list_questions(graph: KnowledgeGraph, language: str, answers: StarterAnswers) -> list[str]:
    """Return the questions to start with: a graph's own before those of `answers`."""
    questions = list_known_questions(graph, language, most=_MAX_EXAMPLE_STARTERS)
    questions += [starter.text for starter, _ in answers]
    return list(dict.fromkeys(questions))[:_MAX_STARTERS]


@router.get("/graphs/{graph}/examples")
async def list_examples(
    opened: OpenGraph,
    search: Annotated[str, Query(max_length=200)] = "",
    offset: Offset = 0,
    limit: Annotated[int, Query(ge=1, le=500)] = 50,
) -> ExamplesView:
    """Return questions on the graph with the queries that answer them, confirmed ones first."""
    search_text = search.casefold()
    matches = [example for example in opened.examples if search_text in example.question.casefold()]
    matches.sort(key=lambda example: ORIGIN_RANKS[example.origin])
    views = [
        ExampleView.model_validate(
            {
                **vars(example),
                "others": [paraphrase.text for paraphrase in example.others],
                "when": example.confirmation.when if example.confirmation else None,
            }
        )
        for example in matches[offset : offset + limit]
    ]
    return ExamplesView(examples=views, total=len(matches))


_MAX_FILES = 100
_RESOLVE_TIMEOUT_SECONDS = 10.0  # seconds
_UPLOAD_FORM: dict[str, Any] = json.loads(
    Path(__file__).with_name("upload.json").read_text("utf-8")
)


class AddBody(RequestBody):
    """A graph to add by its address."""

    name: str = Field(max_length=64, description="The name of the graph: letters, digits, _-.")
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
async def add_endpoint(body: AddBody, request: Request, hub: HubDep, caller: Manager) -> JobView:
    """Start to add the graph of a SPARQL endpoint.

    Its address must be public. One's own server on loopback also takes localhost and the IP
    addresses of its machine and private network.
    """
    hub.jobs.check(body.name, caller)
    private_addresses = hub.settings.private_addresses
    settings: dict[str, object] = {
        "public_only": True,
        "private_addresses": list(private_addresses),
        "added_by": caller.id,
        **body.model_dump(include={"dialect", "graphs", "timeout"}, exclude_defaults=True),
    }
    guard = AddressGuard(private_addresses)
    await HttpEndpoint(body.url, dialect=body.dialect, guard=guard).close()
    try:
        async with asyncio.timeout(_RESOLVE_TIMEOUT_SECONDS):
            await guard.resolve_addresses(body.url)
    except TimeoutError as problem:
        raise SetupError(
            f"the name in {body.url!r} was not resolved in time: try again later"
        ) from problem
    except NotPublic:
        is_own = hub.settings.is_personal and not get_credentials(request).is_forwarded
        own_addresses = list_own_addresses(body.url) if is_own else ()
        if not own_addresses:
            raise
        settings |= {"private_addresses": [*private_addresses, *own_addresses], "personal": True}
    except Unreachable as problem:
        raise SetupError(f"{problem}: check the address") from problem
    return await hub.jobs.begin(NewGraph(body.name, "address", [body.url], settings), caller)


@router.post("/graphs/upload", status_code=202, openapi_extra=_UPLOAD_FORM)
async def upload_graph(request: Request, hub: HubDep, caller: Manager) -> JobView:
    """Start to add a graph from uploaded files: a form with `name` and `files`."""
    if not request.headers.get("content-type", "").startswith("multipart/form-data"):
        raise SetupError("send a form (multipart/form-data) with 'name' and 'files'")
    id = generate_id()
    folder = get_upload_folder(hub.workspace.folder, id)
    async with request.form(max_files=_MAX_FILES, max_fields=10) as form:
        name = form.get("name")
        if not isinstance(name, str):
            raise SetupError("the form has no field 'name': send the name of the new graph")
        hub.jobs.check(name, caller)
        files = [
            ReceivedFile(file.filename or "", file.file)
            for file in form.getlist("files")
            if isinstance(file, UploadFile)
        ]
        new_graph = NewGraph(name, "upload", (), {"added_by": caller.id}, id)
        await request.is_disconnected()  # resumes reading, which a large last part has paused
        job = await hub.jobs.begin(new_graph, caller, lambda: store_files(files, folder))
    # A client that disconnected during the last bytes cannot cancel the job: it has no id.
    return await hub.jobs.cancel(job.id, caller) if await request.is_disconnected() else job


@router.post("/graphs/sample", status_code=202)
async def add_sample(hub: HubDep, caller: Manager) -> JobView:
    """Start to add the sample graph, `space`."""
    examples = sample.questions_path().with_suffix(".jsonl")
    settings = {"added_by": caller.id, "examples": str(examples)}
    new_graph = NewGraph("space", "upload", [str(sample.graph_path())], settings)
    return await hub.jobs.begin(new_graph, caller)


@router.delete("/graphs/{graph}", status_code=204)
async def remove_graph(graph: str, hub: HubDep, caller: Manager) -> None:
    """Remove a graph that was added over the web."""
    await hub.jobs.remove(graph, caller)


@router.get("/jobs")
async def list_jobs(hub: HubDep, caller: Manager) -> JobsView:
    """Return the caller's jobs, the latest first."""
    return JobsView(jobs=await hub.jobs.list_jobs(caller))


@router.get("/jobs/{id}")
async def get_job(id: str, hub: HubDep, caller: Manager) -> JobView:
    """Return the progress of a job."""
    return await hub.jobs.load_view(id, caller)


@router.get("/jobs/{id}/events", response_class=Response)
async def stream_job(id: str, hub: HubDep, caller: Manager) -> Response:
    """Stream a job whenever it progresses, as events `job`, until its end."""
    await hub.jobs.load_view(id, caller)
    return stream_events(hub.jobs.follow(id, caller))


@router.delete("/jobs/{id}")
async def cancel_job(id: str, hub: HubDep, caller: Manager) -> JobView:
    """Stop a job; nothing of its graph remains."""
    return await hub.jobs.cancel(id, caller)


glossary_router = APIRouter(prefix="/api/v1", tags=["graphs"])

Word = Annotated[str, Field(min_length=1, max_length=200, description="A word or phrase.")]


class EntryBody(RequestBody):
    """A word or phrase with its meaning."""

    word: Word
    means: list[Annotated[str, Field(max_length=2000)]] = Field(
        default_factory=list,
        max_length=200,
        description="A property, a thing, or classes: by name, prefixed name or IRI.",
    )
    same_as: str | None = Field(None, max_length=200, description="Another word.")
    query: str | None = Field(None, max_length=20_000, description="The query of the phrase.")
    phrase: str | None = Field(None, max_length=100, description="How answers name it: crewed by.")
    inverse: str | None = Field(None, max_length=100, description="Past tense of a value: crewed.")
    plural: str | None = Field(None, max_length=100, description="The plural of the noun.")
    most: str | None = Field(None, max_length=100, description="Adjective of the most: largest.")
    least: str | None = Field(None, max_length=100, description="Adjective of the least: smallest.")
    person: bool = Field(False, description="Whether it is a class of people, or leads to people.")
    definition: dict[str, Any] = Field(
        default_factory=dict,
        description="Further keys as in a file: of, pattern, value, hidden, synonyms, tests …",
    )


class GlossaryBody(RequestBody):
    """Entries to add; each replaces an entry of the same word."""

    entries: list[EntryBody] = Field(default_factory=list, max_length=500)
    instructions: str | None = Field(
        None, max_length=4000, description="A note for language models; null: unchanged."
    )


class MeaningView(NamedTerm):
    """A class, property or entity that a word means."""


class EntryView(BaseModel):
    """A word with its meaning; one of `means`, `same_as` and `query` is set."""

    word: str
    means: list[MeaningView]
    same_as: str
    query: str
    wording: dict[str, str | bool] = Field(
        description="How answers speak of it: phrase, inverse, plural, most, least, person."
    )
    kind: str = Field(description="measure, condition, filter, rows, hidden; empty: a meaning.")
    description: str = Field(description="What it means; for a definition, else its SPARQL.")
    definition: dict[str, Any] = Field(description="The further keys of the entry.")


class GlossaryView(BaseModel):
    """The glossary of a graph."""

    entries: list[EntryView]
    instructions: str


@glossary_router.get("/graphs/{graph}/glossary")
async def get_glossary(opened: OpenGraph, language: LanguageQueryParameter = "en") -> GlossaryView:
    """Return the glossary of a graph."""
    return await _to_glossary_view(opened, language)


@glossary_router.post("/graphs/{graph}/glossary")
async def update_glossary(
    graph: GraphName,
    body: GlossaryBody,
    hub: HubDep,
    caller: Manager,
    language: LanguageQueryParameter = "en",
) -> GlossaryView:
    """Add entries to the glossary of a graph, and return the glossary."""
    hub.graphs.get_settings(graph, caller)
    entries = [
        parse_entry(
            {**entry.model_dump(exclude={"definition"}), **entry.definition}, "the glossary"
        )
        for entry in body.entries
    ]
    await asyncio.to_thread(hub.workspace.define, graph, *entries, instructions=body.instructions)
    async with hub.graphs.lease(graph, caller) as open_graph:
        return await _to_glossary_view(open_graph, language)


@glossary_router.delete("/graphs/{graph}/glossary")
async def remove_word(
    graph: GraphName,
    hub: HubDep,
    caller: Manager,
    word: Annotated[str, Query(min_length=1, max_length=200)],
    language: LanguageQueryParameter = "en",
) -> GlossaryView:
    """Remove a word from a graph's glossary, and return the glossary."""
    hub.graphs.get_settings(graph, caller)
    await asyncio.to_thread(hub.workspace.define, graph, without=word)
    async with hub.graphs.lease(graph, caller) as open_graph:
        return await _to_glossary_view(open_graph, language)


async def _to_glossary_view(graph: KnowledgeGraph, language: str) -> GlossaryView:
    entries_of_graph = graph.glossary or Glossary()
    iris = {iri for entry in entries_of_graph.entries for iri in entry.means}
    labels = await fetch_term_labels(sorted(iris), graph, [language])

    def to_entry_view(entry: GlossaryEntry) -> EntryView:
        means = [
            MeaningView(iri=iri, label=labels.get(iri) or split_local_name(iri))
            for iri in entry.means
        ]
        return EntryView(
            word=entry.word,
            means=means,
            same_as=entry.same_as,
            query=entry.query,
            wording={key: value for key, value in asdict(entry.wording).items() if value},
            kind=entry.definition.kind,
            description=entry.definition.description
            or entry.definition.value
            or entry.definition.pattern,
            definition=entry.definition.to_table(),
        )

    return GlossaryView(
        entries=[*map(to_entry_view, entries_of_graph.entries)],
        instructions=entries_of_graph.instructions,
    )
