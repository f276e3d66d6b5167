"""Questions: asked, followed, shared and deleted; their sessions, and what callers say of them."""

import asyncio
import contextlib
import re
from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime
from typing import Annotated, Literal

from fastapi import APIRouter, Query, Request, Response
from pydantic import BaseModel, Field
from pyoxigraph import NamedNode, RdfFormat, Triple, parse

from askgraph.answers.evidence import evidence
from askgraph.answers.export import as_csv, as_workbook, matching, sheet_of
from askgraph.answers.verbalize import labels_of
from askgraph.errors import SetupError
from askgraph.graph import KnowledgeGraph
from askgraph.server.auth import NotAllowed, Principal
from askgraph.server.hub import Asker, Confirmer, Hub, HubDep, Querier
from askgraph.server.problems import Failed, Missing
from askgraph.server.runs import (
    AskBody,
    Body,
    ChooseBody,
    ConfirmBody,
    EditBody,
    FeedbackBody,
    FeedbackView,
    NextView,
    RunSummary,
    RunsView,
    RunView,
    ShareBody,
)
from askgraph.server.runs.replies import (
    choose_reading,
    confirm_answer,
    edit_answer,
    event_stream,
    suggest_following,
    unless_disconnected,
)
from askgraph.server.store.tables import Feedback, SessionRow, new_id, runs
from askgraph.server.store.tables import sessions as sessions_table
from askgraph.sparql.results import GRAPH_FORMATS, GraphResult, Result, format_named, serialised
from askgraph.trace import Answer, Evidence, attempt_of

router = APIRouter(prefix="/api/v1", tags=["questions"])
_STREAM = "text/event-stream"
Format = Literal["csv", "tsv", "json", "xml", "xlsx", "ttl", "nt", "rdf", "jsonld"]
_NAMED = 5000  # things of a file that are named
_ROWS = 500  # rows whose triples are fetched for a file of triples
_TRIPLES = {one.name for one in GRAPH_FORMATS}
_WORKBOOK = "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet"
_IRI = re.compile(r"<[^<>]*>")
_LOOK = 0.2  # seconds between two looks at whether another process has stopped them
_MOST = 10.0  # seconds; a process that takes longer is about to be given up for dead


@router.post(
    "/ask",
    response_model=RunView,
    responses={200: {"content": {_STREAM: {}}, "description": "The answer, or events up to it."}},
)
async def ask(body: AskBody, request: Request, hub: HubDep, caller: Asker) -> RunView | Response:
    """Ask a question of one graph or several.

    With `Accept: text/event-stream` the steps come as they are taken; the last event is `outcome`,
    `problem`, `cancelled` or `handed_back`. A question that nobody listens to any more is stopped,
    and one that cannot be worked on is refused, in both cases.
    """
    run = await hub.ask(body, caller)
    if _STREAM in request.headers.get("accept", ""):
        return event_stream(hub.runs.read(run))
    view = await unless_disconnected(request, hub.runs.outcome(run))
    if view.problem is not None:
        raise Failed(view.problem.model_copy(update={"run": view.id}))
    return view


@router.get("/runs")
async def history(
    hub: HubDep,
    caller: Asker,
    session: Annotated[str | None, Query(max_length=64)] = None,
    search: Annotated[str, Query(max_length=200)] = "",
    before: datetime | None = None,
    limit: Annotated[int, Query(ge=1, le=200)] = 50,
) -> RunsView:
    """Return the caller's questions, the latest first; `before` a time, for older ones.

    Callers without key and cookie have none, since they cannot be told apart.
    """
    if not caller.has_history:
        return RunsView(runs=[], more=False)
    rows = await hub.store.runs(
        caller.id, session=session, limit=limit + 1, before=before, search=search
    )
    return RunsView(runs=await hub.records.summaries(rows[:limit], caller), more=len(rows) > limit)


@router.delete("/runs")
async def forget_all(hub: HubDep, caller: Asker) -> dict[str, int]:
    """Delete the caller's whole history."""
    if not caller.has_history:
        return {"deleted": 0}
    await stop_runs(hub, caller.id)
    return {"deleted": await hub.store.delete_runs(caller.id)}


@router.get("/runs/{id}")
async def one(id: str, hub: HubDep, caller: Asker) -> RunView:
    """Return a question and its outcome."""
    return await hub.records.view(id, caller)


@router.delete("/runs/{id}", status_code=204)
async def forget(id: str, hub: HubDep, caller: Asker) -> None:
    """Delete one question of the caller's."""
    await hub.records.own(id, caller)
    await stop_runs(hub, caller.id, run=id)
    await hub.store.delete(runs, id)


@router.get("/runs/{id}/events", response_class=Response)
async def events(
    id: str, hub: HubDep, caller: Asker, after: Annotated[int, Query(ge=-1)] = -1
) -> Response:
    """Return the events of a question after the one with the number `after`, as they come."""
    await hub.records.row(id, caller)
    return event_stream(hub.runs.follow(id, caller, after))


@router.get("/runs/{id}/trace", response_class=Response)
async def trace(id: str, hub: HubDep, caller: Asker) -> Response:
    """Return all steps of a question, a line each, as `askgraph trace` reads them."""
    text = await hub.records.steps(id, caller)
    name = f'attachment; filename="{id}.jsonl"'
    return Response(text, media_type="application/x-ndjson", headers={"Content-Disposition": name})


@router.get("/runs/{id}/next")
async def next_ones(id: str, hub: HubDep, caller: Asker) -> NextView:
    """Return up to three questions that may follow an answer, each checked to have one itself."""
    trace, _, outcome = await hub.records.outcome(id, caller)
    before = await hub.records.earlier(id, caller)
    asked = replace(trace.question, before=before[:-1])
    return NextView(questions=list(await suggest_following(hub, asked, outcome, caller)))


@router.post("/runs/{id}/cancel")
async def cancel(id: str, hub: HubDep, caller: Asker) -> RunView:
    """Stop a question that is under way."""
    await hub.records.own(id, caller)
    await hub.runs.cancel(id)
    return await hub.records.view(id, caller)


@router.post("/runs/{id}/choose")
async def choose(id: str, body: ChooseBody, hub: HubDep, caller: Asker) -> RunView:
    """Answer a question back by one of its readings; returns a new run with the answer."""
    return await choose_reading(hub, id, body.option, caller)


@router.post("/runs/{id}/edit")
async def edit(id: str, body: EditBody, hub: HubDep, caller: Querier) -> RunView:
    """Answer the question of a run by a query of the caller's; returns a new run."""
    return await edit_answer(hub, id, body.query, caller)


@router.post("/runs/{id}/share")
async def share(id: str, body: ShareBody, hub: HubDep, caller: Asker) -> RunView:
    """Let others who may ask the same graphs read a question by its address, or no longer."""
    await hub.records.own(id, caller)
    await hub.store.change(runs, id, shared=body.shared)
    return await hub.records.view(id, caller)


@router.get("/runs/{id}/result", response_class=Response)
async def result(
    id: str,
    hub: HubDep,
    caller: Asker,
    format: Format = "csv",
    *,
    names: bool = False,
    search: Annotated[str, Query(max_length=200)] = "",
) -> Response:
    """Return all rows of a result, or the triples behind them, as a file.

    `csv`, `tsv`, `json` and `xml` are the formats of SPARQL 1.1 for rows; in `ttl`, `nt`, `rdf` and
    `jsonld` it is the triples behind the first 500 rows. `xlsx`, and `csv` with `names`, have the
    names of things beside their IRIs. `search` leaves only rows in which all of its words occur.
    """
    content, media_type = await download(hub, id, format, caller, search, names=names)
    disposition = f'attachment; filename="answer-{id[:8]}.{format}"'
    headers = {"Content-Disposition": disposition, "Cache-Control": "private, no-store"}
    return Response(content, media_type=media_type, headers=headers)


async def download(
    hub: Hub, id: str, name: str, caller: Principal, search: str = "", *, names: bool = False
) -> tuple[bytes, str]:
    """Return the result of a run in the format of this name, and its media type.

    In a format of RDF it is the triples behind its rows, the first 500. Raises `SetupError` if
    there is no result, or none in such a format.
    """
    _, _, outcome = await hub.records.outcome(id, caller)
    answer = attempt_of(outcome)
    if answer is None:
        raise SetupError(f"question {id!r} came to no query: there is no result to download")
    is_sheet, rows, labels = name == "xlsx" or (names and name == "csv"), answer.result, {}
    async with hub.graphs.lease(answer.graph, caller) as graph:
        if is_sheet or (search and answer.boolean is None):
            labels = await _labels(hub, id, answer, graph, caller)
            rows = replace(rows, rows=matching(rows, labels, search))
        result: Result = rows if answer.boolean is None else answer.boolean
        if name in _TRIPLES:
            async with hub.queries.turn(answer.graph):
                behind = await evidence(answer.query, answer.result, graph.endpoint, rows=_ROWS)
            result = GraphResult(_triples(behind.told({})))
    if is_sheet:
        table = await asyncio.to_thread(sheet_of, rows, labels)
        write, media_type = (as_workbook, _WORKBOOK) if name == "xlsx" else (as_csv, "text/csv")
        return await asyncio.to_thread(write, table), media_type
    try:
        form, prefixes = format_named(name, result), graph.prefixes.namespaces
        return await asyncio.to_thread(serialised, result, form, prefixes=prefixes), form.media_type
    except ValueError as error:
        raise SetupError(str(error)) from error


async def _labels(
    hub: Hub, id: str, answer: Answer, graph: KnowledgeGraph, caller: Principal
) -> dict[str, str]:
    """The names of the things in the answer of a run, of the first thousands."""
    language = (await hub.records.view(id, caller)).language or "en"
    terms = (term for line in answer.result.rows for term in line)
    iris = dict.fromkeys(term.value for term in terms if isinstance(term, NamedNode))
    new = [iri for iri in iris if iri not in answer.labels][:_NAMED]
    seconds = hub.settings.query_timeout
    return {**answer.labels, **await labels_of(new, graph, [language], timeout=seconds)}


def _triples(evidence: Sequence[Evidence]) -> tuple[Triple, ...]:
    """The triples of some evidence, each once; a path between two nodes is none."""
    lines = [
        f"{subject} {predicate} {object_} ."
        for row in evidence
        for subject, predicate, object_ in row.triples
        if _IRI.fullmatch(predicate)
    ]
    text = "\n".join(dict.fromkeys(lines))
    return tuple(quad.triple for quad in parse(text, RdfFormat.N_TRIPLES))


async def stop_runs(
    hub: Hub, owner: str, *, session: str | None = None, run: str | None = None
) -> None:
    """Stop the questions of an owner that are under way, wherever they run, and wait for that.

    All of them, or those of a session, or one. A question that is deleted while it runs would go
    on without counting against its owner's limits.
    """
    with contextlib.suppress(TimeoutError):
        async with asyncio.timeout(_MOST):
            for id in await hub.store.under_way(owner, session=session, run=run):
                await hub.runs.cancel(id)
            # They may end in another process, which tells the store and nobody else.
            while await hub.store.under_way(owner, session=session, run=run):  # noqa: ASYNC110
                await asyncio.sleep(_LOOK)


feedback_router = APIRouter(prefix="/api/v1", tags=["feedback"])


class VerifiedOne(BaseModel):
    """A question and the query that everybody who asks it is answered with."""

    id: str
    question: str
    query: str
    language: str | None = None
    rows: int = Field(description="How many rows the query gave when it was confirmed.")
    when: str = Field(description="When it was confirmed (ISO 8601, UTC).")
    by: str | None = Field(None, description="Who confirmed it.")
    run: str | None = Field(None, description="The run that it was confirmed of.")
    mine: bool = Field(description="Whether the caller confirmed it.")


class VerifiedList(BaseModel):
    """The verified answers of a graph, the latest first."""

    verified: list[VerifiedOne]


@feedback_router.post("/runs/{id}/feedback")
async def feedback(id: str, body: FeedbackBody, hub: HubDep, caller: Asker) -> FeedbackView:
    """Keep whether an answer is right; a second verdict replaces the first."""
    await hub.records.row(id, caller)
    await hub.store.put_feedback(Feedback(id, caller.id, body.verdict, body.comment))
    return FeedbackView(verdict=body.verdict, comment=body.comment)


@feedback_router.post("/runs/{id}/confirm")
async def confirm(id: str, body: ConfirmBody, hub: HubDep, caller: Confirmer) -> RunView:
    """Confirm that a query answers a question: from now on the same question gets it at once.

    The query is run again first; one that fails cannot be confirmed.
    """
    await confirm_answer(hub, id, body.query, caller)
    return await hub.records.view(id, caller)


@feedback_router.delete("/runs/{id}/confirm")
async def withdraw(id: str, hub: HubDep, caller: Confirmer) -> RunView:
    """Withdraw the query that was confirmed for a question."""
    row = await hub.records.row(id, caller)
    if not await hub.store.withdraw_run(id, None if caller.may("admin") else caller.id):
        raise SetupError(f"you confirmed nothing for {row.question!r}")
    return await hub.records.view(id, caller)


@feedback_router.get("/graphs/{graph}/verified")
async def listed(graph: str, hub: HubDep, caller: Confirmer) -> VerifiedList:
    """Return the verified answers of a graph, the latest first."""
    hub.graphs.settings(graph, caller)
    found = await hub.store.verified(graph)
    views = [
        VerifiedOne.model_validate({**vars(one), "mine": one.owner == caller.id})
        for one in reversed(found)
    ]
    return VerifiedList(verified=views)


@feedback_router.delete("/graphs/{graph}/verified/{id}", status_code=204, name="withdraw")
async def withdraw_verified(graph: str, id: str, hub: HubDep, caller: Confirmer) -> None:
    """Withdraw a verified answer: the caller's own or, of an `admin`, anybody's."""
    hub.graphs.settings(graph, caller)
    one = next((one for one in await hub.store.verified(graph) if one.id == id), None)
    if one is None:
        raise Missing(f"there is no verified answer {id!r} of {graph!r}")
    if one.owner != caller.id and not caller.may("admin"):
        raise NotAllowed("somebody else confirmed this: they withdraw it, or an administrator")
    await hub.store.withdraw(id)


sessions_router = APIRouter(prefix="/api/v1", tags=["sessions"])
_QUESTIONS = 200


class SessionBody(Body):
    """The title of a session."""

    title: str = Field("", max_length=200)


class SessionSummary(BaseModel):
    """A conversation."""

    id: str
    title: str
    created: str = Field(description="A time in UTC (ISO 8601).")
    changed: str = Field(description="When something was asked in it last.")
    runs: int = Field(description="How many questions it has.")


class SessionsView(BaseModel):
    """The caller's sessions, the one changed last first."""

    sessions: list[SessionSummary]


class SessionView(SessionSummary):
    """A conversation with its questions, the latest first."""

    questions: list[RunSummary]


@sessions_router.get("/sessions")
async def sessions(
    hub: HubDep, caller: Asker, limit: Annotated[int, Query(ge=1, le=200)] = 50
) -> SessionsView:
    """Return the caller's sessions, the one changed last first; none without key and cookie."""
    rows = await hub.store.sessions(caller.id, limit=limit) if caller.has_history else []
    return SessionsView(sessions=[_summary(row) for row in rows])


@sessions_router.post("/sessions", status_code=201)
async def begin(body: SessionBody, hub: HubDep, caller: Asker) -> SessionSummary:
    """Begin a session."""
    row = SessionRow(new_id(), caller.id, body.title)
    await hub.store.add_session(row)
    return _summary(row)


@sessions_router.get("/sessions/{id}")
async def session(id: str, hub: HubDep, caller: Asker) -> SessionView:
    """Return a session with its questions, the latest first."""
    row = await hub.records.session(id, caller)
    runs = await hub.store.runs(caller.id, session=id, limit=_QUESTIONS)
    questions = await hub.records.summaries(runs, caller)
    return SessionView(**_summary(row).model_dump(), questions=questions)


@sessions_router.patch("/sessions/{id}")
async def rename(id: str, body: SessionBody, hub: HubDep, caller: Asker) -> SessionSummary:
    """Give a session another title."""
    await hub.records.session(id, caller)
    await hub.store.change(sessions_table, id, title=body.title)
    return _summary(await hub.records.session(id, caller))


@sessions_router.delete("/sessions/{id}", status_code=204)
async def forget_session(id: str, hub: HubDep, caller: Asker) -> None:
    """Delete a session with its questions."""
    await hub.records.session(id, caller)
    await stop_runs(hub, caller.id, session=id)
    await hub.store.delete(sessions_table, id)


def _summary(row: SessionRow) -> SessionSummary:
    return SessionSummary.model_validate(vars(row))
