"""Questions: asked, followed, shared and deleted; their sessions, feedback and confirmations."""

import asyncio
import base64
import contextlib
import csv
import io
import math
import re
import struct
import unicodedata
import zlib
from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from typing import Annotated, Any, Literal

from fastapi import APIRouter, Query, Request, Response
from pydantic import BaseModel, Field
from pyoxigraph import NamedNode, RdfFormat, Triple, parse

from askgraph.answers.codec import to_json_value
from askgraph.answers.context import rank_answer
from askgraph.answers.evidence import fetch_evidence
from askgraph.answers.headline import name_property_units
from askgraph.answers.verbalize import fetch_term_labels
from askgraph.errors import SetupError
from askgraph.plugins import to_missing_extra_error
from askgraph.server.auth import NotAllowedError, Principal
from askgraph.server.hub import Asker, Confirmer, Hub, HubDep, Querier
from askgraph.server.problems import NotFound, RunFailed
from askgraph.server.rest import LanguageQueryParameter
from askgraph.server.runs import (
    AskBody,
    CellView,
    ChooseBody,
    ConfirmBody,
    EditBody,
    FeedbackBody,
    FeedbackView,
    NextQuestionsView,
    RequestBody,
    RunShareBody,
    RunSummary,
    RunsView,
    RunView,
    VerdictBody,
    to_cell,
)
from askgraph.server.runs.replies import (
    build_next_questions,
    cancel_on_disconnect,
    choose_interpretation,
    confirm_answer,
    edit_answer,
    find_lessons,
    stream_events,
)
from askgraph.server.store.tables import (
    Feedback,
    Opinions,
    SessionRow,
    VerifiedAnswer,
    generate_id,
    get_timestamp,
    runs,
)
from askgraph.server.store.tables import sessions as sessions_table
from askgraph.sparql.prefixes import split_local_name
from askgraph.sparql.results import (
    GRAPH_FORMATS,
    GraphResult,
    Result,
    Row,
    SelectResult,
    get_result_format,
    serialize_result,
    to_plain_value,
)
from askgraph.trace import Answer, Evidence, get_attempt

router = APIRouter(prefix="/api/v1", tags=["questions"])
_EVENT_STREAM_TYPE = "text/event-stream"
DownloadFormat = Literal["csv", "tsv", "json", "xml", "xlsx", "ttl", "nt", "rdf", "jsonld"]
_MAX_LABELED_TERMS = 5000  # things of a file that are named
_MAX_EVIDENCE_ROWS = 500  # rows whose triples are fetched for a file of triples
_TRIPLE_FORMAT_NAMES = {one.name for one in GRAPH_FORMATS}
_WORKBOOK_TYPE = "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet"
_IRI_PATTERN = re.compile(r"<[^<>]*>")
_POLL_SECONDS = 0.2  # seconds between checks whether another process has stopped them
_CONTEXT_TIMEOUT_SECONDS = 5.0  # seconds for each of two queries
_STOP_TIMEOUT_SECONDS = 10.0  # seconds after which a process is almost considered dead


@router.post(
    "/ask",
    response_model=RunView,
    responses={
        200: {"content": {_EVENT_STREAM_TYPE: {}}, "description": "The answer, or events up to it."}
    },
)
async def ask(body: AskBody, request: Request, hub: HubDep, caller: Asker) -> RunView | Response:
    """Ask a question of one graph or several.

    With `Accept: text/event-stream` each step is sent as an event; the last event is `outcome`,
    `problem`, `cancelled` or `handed_back`. A question without a listener is stopped. An invalid
    request is refused either way.
    """
    run = await hub.ask(body, caller)
    if _EVENT_STREAM_TYPE in request.headers.get("accept", ""):
        return stream_events(hub.runs.read(run))
    view = await cancel_on_disconnect(request, hub.runs.wait_for_outcome(run))
    if view.problem is not None:
        raise RunFailed(view.problem.model_copy(update={"run": view.id}))
    return view


@router.get("/runs")
async def list_runs(
    hub: HubDep,
    caller: Asker,
    session: Annotated[str | None, Query(max_length=64)] = None,
    search: Annotated[str, Query(max_length=200)] = "",
    before: datetime | None = None,
    limit: Annotated[int, Query(ge=1, le=200)] = 50,
) -> RunsView:
    """Return the caller's questions, the latest first; with `before` a time, older ones.

    Callers without a key or cookie have none, since they have no identity.
    """
    if not caller.has_history:
        return RunsView(runs=[], more=False)
    rows = await hub.store.list_runs(
        caller.id, session=session, limit=limit + 1, before=before, search=search
    )
    return RunsView(runs=await hub.records.summarize(rows[:limit], caller), more=len(rows) > limit)


@router.delete("/runs")
async def delete_history(hub: HubDep, caller: Asker) -> dict[str, int]:
    """Delete the caller's entire history."""
    if not caller.has_history:
        return {"deleted": 0}
    await stop_runs(hub, caller.id)
    return {"deleted": await hub.store.delete_runs(caller.id)}


@router.get("/runs/{id}")
async def get_run(id: str, hub: HubDep, caller: Asker) -> RunView:
    """Return a question and its outcome."""
    return await hub.records.load_view(id, caller)


@router.delete("/runs/{id}", status_code=204)
async def delete_run(id: str, hub: HubDep, caller: Asker) -> None:
    """Delete a question of the caller."""
    await hub.records.load_run(id, caller, must_own=True)
    await stop_runs(hub, caller.id, run=id)
    await hub.store.delete_row(runs, id)


@router.get("/runs/{id}/events", response_class=Response)
async def stream_run(
    id: str, hub: HubDep, caller: Asker, after: Annotated[int, Query(ge=-1)] = -1
) -> Response:
    """Stream the events of a question after number `after`."""
    await hub.records.load_run(id, caller)
    return stream_events(hub.runs.follow(id, caller, after))


@router.get("/runs/{id}/trace", response_class=Response)
async def get_trace(id: str, hub: HubDep, caller: Asker) -> Response:
    """Return the steps of a question, one per line, as `askgraph trace` reads them."""
    text = await hub.records.load_trace_text(id, caller)
    name = f'attachment; filename="{id}.jsonl"'
    return Response(text, media_type="application/x-ndjson", headers={"Content-Disposition": name})


@router.get("/runs/{id}/next")
async def suggest_next(id: str, hub: HubDep, caller: Asker) -> NextQuestionsView:
    """Return up to three follow-up questions, each checked to have an answer."""
    trace, _, outcome = await hub.records.load_outcome(id, caller)
    before = await hub.records.load_conversation(id, caller)
    question = replace(trace.question, before=before[:-1])
    return NextQuestionsView(
        questions=list(await build_next_questions(hub, question, outcome, caller))
    )


class RankedView(BaseModel):
    """A thing with its value and its rank among others."""

    rank: int = Field(description="From 1; equal values have the same.")
    entity: CellView
    value: CellView
    is_answer: bool = Field(description="Whether the answer is about it.")
    is_joint: bool = Field(description="Whether another thing has the same rank.")


class ContextView(BaseModel):
    """What an answer is compared with."""

    ranking: list[RankedView] = Field(description="First place first; empty if there is none.")
    unit: str | None = Field(None, description="The unit of the values.")
    cls: CellView | None = Field(
        None, serialization_alias="class", description="The class in which a number is ranked."
    )
    total: int | None = Field(None, description="Number of things of the class that are ranked.")
    left_out: int | None = Field(None, description="Things that lack the value to count them by.")


@router.get("/runs/{id}/context", response_model_by_alias=True)
async def get_context(
    id: str, hub: HubDep, caller: Asker, language: LanguageQueryParameter = "en"
) -> ContextView:
    """Return the runners-up of a superlative, or the place of a number in the class of its thing.

    `ranking` is empty for other answers.
    """
    _, _, outcome = await hub.records.load_outcome(id, caller)
    if not isinstance(outcome, Answer):
        return ContextView(ranking=[])
    timeout = min(_CONTEXT_TIMEOUT_SECONDS, hub.settings.query_timeout)
    async with hub.graphs.lease(outcome.graph, caller) as graph, hub.queries.wait_turn(graph.name):
        ranking = await rank_answer(outcome, graph, timeout=timeout)
        if ranking is None:
            return ContextView(ranking=[])
        iris = [ranked.entity.value for ranked in ranking.entities]
        classes = [ranking.cls] if ranking.cls else []
        labels = await fetch_term_labels([*iris, *classes], graph, [language], timeout=timeout)
    predicate = ranking.predicate or ""
    return ContextView(
        ranking=[
            RankedView.model_validate(
                {
                    **vars(ranked),
                    "entity": to_cell(ranked.entity, labels),
                    "value": to_cell(ranked.value, labels),
                }
            )
            for ranked in ranking.entities
        ],
        unit=name_property_units([predicate], graph, language).get(predicate),
        cls=to_cell(NamedNode(ranking.cls), labels) if ranking.cls else None,
        total=ranking.total,
        left_out=ranking.left_out,
    )


@router.post("/runs/{id}/cancel")
async def cancel_run(id: str, hub: HubDep, caller: Asker) -> RunView:
    """Stop a question that is under way."""
    await hub.records.load_run(id, caller, must_own=True)
    await hub.runs.cancel(id)
    return await hub.records.load_view(id, caller)


@router.post("/runs/{id}/choose")
async def choose_option(id: str, body: ChooseBody, hub: HubDep, caller: Asker) -> RunView:
    """Answer a clarification with one of its interpretations; return a new run with the answer."""
    return await choose_interpretation(hub, id, body.option, caller)


@router.post("/runs/{id}/edit")
async def edit_run(id: str, body: EditBody, hub: HubDep, caller: Querier) -> RunView:
    """Answer the question of a run with the caller's query; return a new run."""
    return await edit_answer(hub, id, body.query, caller)


@router.post("/runs/{id}/share")
async def share_run(id: str, body: RunShareBody, hub: HubDep, caller: Asker) -> RunView:
    """Share a question by its address with others who may ask its graphs, or stop sharing it.

    Previews of the link show the `picture`, which whoever shares it draws; it is deleted when
    sharing ends.
    """
    await hub.records.load_run(id, caller, must_own=True)
    picture = decode_png(body.picture) if body.shared and body.picture else None
    await hub.store.update_row(runs, id, shared=body.shared, picture=picture)
    return await hub.records.load_view(id, caller)


_PNG_SIGNATURE = b"\x89PNG\r\n\x1a\n"
_PNG_CHUNKS = {b"IHDR", b"PLTE", b"tRNS", b"IDAT", b"IEND", b"sRGB", b"gAMA", b"cHRM", b"iCCP"}
_MAX_PICTURE_PIXELS = 2_400  # of a side


def decode_png(text: str) -> bytes:
    """Return the PNG of a base64 text; its chunks are checked, not its pixels.

    Raises:
        SetupError: it is no whole PNG, has other chunks than those of a still picture, or is
            too large.
    """
    kinds = []
    try:
        content = base64.b64decode(text, validate=True)
        start = len(_PNG_SIGNATURE)
        size = struct.unpack_from(">II", content, start + 8)
        while start < len(content):
            length, kind = struct.unpack_from(">I4s", content, start)
            end = start + 8 + length
            (checksum,) = struct.unpack_from(">I", content, end)
            kinds.append(kind if zlib.crc32(content[start + 4 : end]) == checksum else b"")
            start = end + 4
    except (ValueError, struct.error) as error:
        raise SetupError(f"the picture is no PNG in base64: {error}") from error
    is_png = content.startswith(_PNG_SIGNATURE) and {*kinds} <= _PNG_CHUNKS
    is_whole = kinds[:1] == [b"IHDR"] and kinds[-1:] == [b"IEND"] and kinds.count(b"IEND") == 1
    if not is_png or not is_whole:
        raise SetupError("the picture is no whole and plain PNG: send one without other chunks")
    if max(size) > _MAX_PICTURE_PIXELS:
        raise SetupError(f"the picture has more than {_MAX_PICTURE_PIXELS:,} pixels in a side")
    return content


@router.get("/runs/{id}/result", response_class=Response)
async def download_result(
    id: str,
    hub: HubDep,
    caller: Asker,
    format: DownloadFormat = "csv",
    *,
    names: bool = False,
    search: Annotated[str, Query(max_length=200)] = "",
    heads: Annotated[str, Query(max_length=4000)] = "",
) -> Response:
    """Return all rows of a result, or the triples behind them, as a file.

    `csv`, `tsv`, `json` and `xml` are the SPARQL 1.1 formats of rows; `ttl`, `nt`, `rdf` and
    `jsonld` contain the triples behind the first 500 rows. `xlsx`, and `csv` and `tsv` with
    `names`, have labels beside the IRIs, and the `heads`, between tabs, above the columns. `search`
    keeps only rows that contain all of its words.
    """
    content, media_type = await export_result(
        hub, id, format, caller, search, names=names, heads=heads
    )
    disposition = f'attachment; filename="answer-{id[:8]}.{format}"'
    headers = {"Content-Disposition": disposition, "Cache-Control": "private, no-store"}
    return Response(content, media_type=media_type, headers=headers)


async def export_result(
    hub: Hub,
    id: str,
    name: str,
    caller: Principal,
    search: str = "",
    *,
    names: bool = False,
    heads: str = "",
) -> tuple[bytes, str]:
    """Return the result of a run in a format, and its media type.

    RDF formats contain the triples behind the first 500 rows.

    Raises:
        SetupError: the run has no result, or none in this format.
    """
    _, _, outcome = await hub.records.load_outcome(id, caller)
    answer = get_attempt(outcome)
    if answer is None:
        raise SetupError(f"question {id!r} has no query: there is no result to download")
    is_sheet = name == "xlsx" or (names and name in ("csv", "tsv"))
    rows, labels = answer.result, {}
    async with hub.graphs.lease(answer.graph, caller) as graph:
        if is_sheet or (search and answer.boolean is None):
            language = (await hub.records.load_view(id, caller)).language or "en"
            terms = (term for row in answer.result.rows for term in row)
            iris = dict.fromkeys(term.value for term in terms if isinstance(term, NamedNode))
            unlabeled = [iri for iri in iris if iri not in answer.labels][:_MAX_LABELED_TERMS]
            seconds = hub.settings.query_timeout
            labels = {
                **answer.labels,
                **await fetch_term_labels(unlabeled, graph, [language], timeout=seconds),
            }
            rows = replace(rows, rows=filter_rows(rows, labels, search))
        result: Result = rows if answer.boolean is None else answer.boolean
        if name in _TRIPLE_FORMAT_NAMES:
            async with hub.queries.wait_turn(answer.graph):
                evidence_of_rows = await fetch_evidence(
                    answer.query, answer.result, graph.endpoint, rows=_MAX_EVIDENCE_ROWS
                )
            result = GraphResult(_to_triples(evidence_of_rows.describe({})))
    if is_sheet:
        table = await asyncio.to_thread(build_sheet, rows, labels, heads.split("\t"))
        if name == "xlsx":
            return await asyncio.to_thread(to_workbook, table), _WORKBOOK_TYPE
        text = await asyncio.to_thread(to_csv, table, "\t" if name == "tsv" else ",")
        return text, "text/csv" if name == "csv" else "text/tab-separated-values"
    try:
        result_format, prefixes = get_result_format(name, result), graph.prefixes.namespaces
        return await asyncio.to_thread(
            serialize_result, result, result_format, prefixes=prefixes
        ), result_format.media_type
    except ValueError as error:
        raise SetupError(str(error)) from error


def _to_triples(evidence: Sequence[Evidence]) -> tuple[Triple, ...]:
    """Convert evidence to distinct triples; property paths are left out."""
    lines = [
        f"{subject} {predicate} {object_} ."
        for row in evidence
        for subject, predicate, object_ in row.triples
        if _IRI_PATTERN.fullmatch(predicate)
    ]
    text = "\n".join(dict.fromkeys(lines))
    return tuple(quad.triple for quad in parse(text, RdfFormat.N_TRIPLES))


async def stop_runs(
    hub: Hub, owner: str, *, session: str | None = None, run: str | None = None
) -> None:
    """Stop an owner's questions that are under way in any process, and wait for their ends.

    Deletion needs this first: a deleted question that still runs would not count against its
    owner's limits.

    Args:
        session: only the questions of this session.
        run: only this question.
    """
    with contextlib.suppress(TimeoutError):
        async with asyncio.timeout(_STOP_TIMEOUT_SECONDS):
            for id in await hub.store.list_active_runs(owner, session=session, run=run):
                await hub.runs.cancel(id)
            # They may end in another process, which only updates the store.
            while await hub.store.list_active_runs(owner, session=session, run=run):  # noqa: ASYNC110
                await asyncio.sleep(_POLL_SECONDS)


feedback_router = APIRouter(prefix="/api/v1", tags=["feedback"])


class VerifiedAnswerView(BaseModel):
    """A person's opinion: that a query answers a question, or does not."""

    id: str
    question: str
    query: str
    language: str | None = None
    disputed: bool = Field(description="Whether the person says that the query is wrong.")
    confirmations: int = Field(description="How many people confirm the query.")
    disputes: int = Field(description="How many people dispute it.")
    shared: bool = Field(description="Whether people who have not confirmed it get it, too.")
    rows: int = Field(description="How many rows the query gave when it was confirmed.")
    when: str = Field(description="When it was confirmed (ISO 8601, UTC).")
    by: str | None = Field(None, description="Who confirmed or disputed it.")
    run: str | None = Field(None, description="The run that it was confirmed of.")
    mine: bool = Field(description="Whether the caller confirmed it.")


class VerifiedAnswersView(BaseModel):
    """What people confirm and dispute on a graph, the latest first."""

    verified: list[VerifiedAnswerView]


class LessonEffectView(BaseModel):
    """How graph search would answer confirmed questions after a lesson."""

    corrects: bool = Field(description="Whether it would answer the corrected question right.")
    improved: list[str] = Field(description="The questions that become right.")
    worsened: list[str] = Field(description="The questions that become wrong.")
    right: int = Field(description="How many questions stay right.")
    wrong: int = Field(description="How many questions stay wrong.")
    untried: int = Field(description="How many questions were not tried.")


class LessonView(BaseModel):
    """A proposal: a word with its meaning, or the question with the right query."""

    word: str | None = Field(description="The word; null if the question is to be confirmed.")
    means: list[str] = Field(description="The IRI that the word means.")
    label: str = Field(description="The name of that IRI, or the pattern of the condition.")
    definition: dict[str, Any] = Field(description="The keys of a condition, as in a file.")
    query: str = Field(description="The right query of the question.")
    effect: LessonEffectView


class LessonsView(BaseModel):
    """The lessons of a corrected answer."""

    run: str = Field(description="The run of the corrected question.")
    lessons: list[LessonView]


@feedback_router.post("/runs/{id}/lessons")
async def propose(id: str, body: ConfirmBody, hub: HubDep, caller: Confirmer) -> LessonsView:
    """Propose lessons of a corrected answer, with their effects; nothing is stored.

    The correction is the query, or else the changed or chosen query of the run.
    """
    run, lessons = await find_lessons(hub, id, body.query, caller)
    views = [
        LessonView(
            word=entry.word if entry else None,
            means=list(entry.means) if entry else [],
            label=(entry.definition.pattern or split_local_name(entry.means[0])) if entry else "",
            definition=entry.definition.to_table() if entry else {},
            query=lesson.example.query,
            effect=LessonEffectView.model_validate(vars(effect)),
        )
        for lesson, effect in lessons
        for entry in (lesson.entry,)
    ]
    return LessonsView(run=run, lessons=views)


@feedback_router.post("/runs/{id}/feedback")
async def put_feedback(id: str, body: FeedbackBody, hub: HubDep, caller: Asker) -> FeedbackView:
    """Store whether an answer is right; a second verdict replaces the first."""
    await hub.records.load_run(id, caller)
    await hub.store.put_feedback(Feedback(id, caller.id, body.verdict, body.comment))
    return FeedbackView(verdict=body.verdict, comment=body.comment)


@feedback_router.post("/runs/{id}/confirm")
async def confirm_run(id: str, body: ConfirmBody, hub: HubDep, caller: Confirmer) -> RunView:
    """Confirm that a query answers a question; from now on the same question gets it at once.

    Others get it after as many confirmations as the setting `confirmations` asks. The question of
    a changed query is that query in words. The query runs again first and must succeed.
    """
    await confirm_answer(hub, id, body.query, caller)
    return await hub.records.load_view(id, caller)


@feedback_router.delete("/runs/{id}/confirm")
async def withdraw_confirmation(id: str, hub: HubDep, caller: Confirmer) -> RunView:
    """Withdraw the confirmation of a question's query."""
    row = await hub.records.load_run(id, caller)
    if not await hub.store.delete_verified_of_run(
        id, None if caller.has_scope("admin") else caller.id
    ):
        raise SetupError(f"you have not confirmed an answer to {row.question!r}")
    return await hub.records.load_view(id, caller)


@feedback_router.get("/graphs/{graph}/verified")
async def list_verified(graph: str, hub: HubDep, caller: Confirmer) -> VerifiedAnswersView:
    """Return what people confirm and dispute on a graph, the latest first."""
    hub.graphs.get_settings(graph, caller)
    rows = await hub.store.list_verified(graph)
    opinions = Opinions.count(rows)
    views = [
        VerifiedAnswerView.model_validate(
            {
                **vars(row),
                "mine": row.owner == caller.id,
                "confirmations": len(opinions[row.id].confirming),
                "disputes": len(opinions[row.id].disputing),
                "shared": opinions[row.id].is_shared(hub.settings.confirmations),
            }
        )
        for row in reversed(rows)
    ]
    return VerifiedAnswersView(verified=views)


@feedback_router.post("/graphs/{graph}/verified/{id}")
async def judge_verified(
    graph: str, id: str, body: VerdictBody, hub: HubDep, caller: Confirmer
) -> VerifiedAnswersView:
    """Confirm or dispute what somebody confirmed; it replaces the caller's earlier opinion."""
    answer = await _load_verified(hub, graph, id, caller)
    opinion = replace(answer, id=generate_id(), owner=caller.id, by=caller.name, run=None)
    is_wrong = body.verdict == "wrong"
    await hub.store.put_verified(replace(opinion, when=get_timestamp(), disputed=is_wrong))
    return await list_verified(graph, hub, caller)


@feedback_router.delete("/graphs/{graph}/verified/{id}", status_code=204, name="withdraw")
async def withdraw_verified(graph: str, id: str, hub: HubDep, caller: Confirmer) -> None:
    """Withdraw a confirmation or dispute: the caller's own or, with scope `admin`, anybody's."""
    answer = await _load_verified(hub, graph, id, caller)
    if answer.owner != caller.id and not caller.has_scope("admin"):
        raise NotAllowedError(
            "somebody else confirmed this: dispute it, or ask an administrator to withdraw it"
        )
    await hub.store.delete_verified(id)


async def _load_verified(hub: Hub, graph: str, id: str, caller: Principal) -> VerifiedAnswer:
    hub.graphs.get_settings(graph, caller)
    answers = {answer.id: answer for answer in await hub.store.list_verified(graph)}
    if id not in answers:
        raise NotFound(f"there is no verified answer {id!r} of {graph!r}")
    return answers[id]


sessions_router = APIRouter(prefix="/api/v1", tags=["sessions"])
_MAX_QUESTIONS = 200


class SessionBody(RequestBody):
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
async def list_sessions(
    hub: HubDep, caller: Asker, limit: Annotated[int, Query(ge=1, le=200)] = 50
) -> SessionsView:
    """Return the caller's sessions, latest change first; none without a key or cookie."""
    rows = await hub.store.list_sessions(caller.id, limit=limit) if caller.has_history else []
    return SessionsView(sessions=[_to_session_summary(row) for row in rows])


@sessions_router.post("/sessions", status_code=201)
async def create_session(body: SessionBody, hub: HubDep, caller: Asker) -> SessionSummary:
    """Create a session."""
    row = SessionRow(generate_id(), caller.id, body.title)
    await hub.store.add_session(row)
    return _to_session_summary(row)


@sessions_router.get("/sessions/{id}")
async def get_session(id: str, hub: HubDep, caller: Asker) -> SessionView:
    """Return a session with its questions, the latest first."""
    row = await hub.records.load_session(id, caller)
    runs = await hub.store.list_runs(caller.id, session=id, limit=_MAX_QUESTIONS)
    questions = await hub.records.summarize(runs, caller)
    return SessionView(**_to_session_summary(row).model_dump(), questions=questions)


@sessions_router.patch("/sessions/{id}")
async def rename_session(id: str, body: SessionBody, hub: HubDep, caller: Asker) -> SessionSummary:
    """Change the title of a session."""
    await hub.records.load_session(id, caller)
    await hub.store.update_row(sessions_table, id, title=body.title)
    return _to_session_summary(await hub.records.load_session(id, caller))


@sessions_router.delete("/sessions/{id}", status_code=204)
async def delete_session(id: str, hub: HubDep, caller: Asker) -> None:
    """Delete a session with its questions."""
    await hub.records.load_session(id, caller)
    await stop_runs(hub, caller.id, session=id)
    await hub.store.delete_row(sessions_table, id)


def _to_session_summary(row: SessionRow) -> SessionSummary:
    return SessionSummary.model_validate(vars(row))


SheetValue = str | int | float | bool | None
Sheet = list[list[SheetValue]]
"""Rows of values; the first row holds the headings."""

_FORMULA_STARTS = tuple("=+-@\t\r\n＝＋－＠")


def filter_rows(result: SelectResult, labels: Mapping[str, str], search: str) -> tuple[Row, ...]:
    """Return the rows that contain every word in a name or a value, whatever the accents."""
    words = _fold_accents(search).split()

    def has_all_words(row: Row) -> bool:
        values = [value for term in row if (value := to_plain_value(term)) is not None]
        folded = _fold_accents("\n".join(f"{labels.get(value, '')}\n{value}" for value in values))
        return all(word in folded for word in words)

    return tuple(row for row in result.rows if has_all_words(row))


def build_sheet(
    result: SelectResult, labels: Mapping[str, str], heads: Sequence[str] = ()
) -> Sheet:
    """Build a sheet of a result; a column of resources becomes two, names and IRIs.

    `heads` that are not one for each column are replaced by the variables in words.
    """
    columns = range(len(result.variables))
    if len(heads) != len(columns) or not all(heads):
        heads = [name.replace("_", " ") for name in result.variables]
    has_iris = [any(isinstance(row[at], NamedNode) for row in result.rows) for at in columns]
    head: list[SheetValue] = []
    for name, is_iri_column in zip(heads, has_iris, strict=True):
        head += [name, f"{name} IRI"] if is_iri_column else [name]
    return [head, *(_to_cell_values(row, has_iris, labels) for row in result.rows)]


def to_csv(sheet: Sheet, delimiter: str = ",") -> bytes:
    """Return a sheet as CSV in UTF-8, with the byte order mark that spreadsheets expect."""
    text = io.StringIO()
    csv.writer(text, delimiter=delimiter).writerows(
        [
            (f"'{value}" if isinstance(value, str) and value.startswith(_FORMULA_STARTS) else value)
            for value in row
        ]
        for row in sheet
    )
    return text.getvalue().encode("utf-8-sig")


def to_workbook(sheet: Sheet) -> bytes:
    """Return a sheet as a workbook, with numbers as numbers and texts as texts.

    Raises:
        SetupError: the extra `serve` is missing.
    """
    try:
        from xlsxwriter import Workbook
    except ModuleNotFoundError as error:
        raise to_missing_extra_error(error, "a workbook") from error
    content = io.BytesIO()
    with Workbook(content, {"in_memory": True}) as workbook:
        page = workbook.add_worksheet("Result")
        for row, values in enumerate(sheet):
            for column, value in enumerate(values):
                if isinstance(value, bool):
                    page.write_boolean(row, column, value)
                elif isinstance(value, int | float) and math.isfinite(value):
                    page.write_number(row, column, value)
                elif value is not None:
                    page.write_string(row, column, str(value))
    return content.getvalue()


def _to_cell_values(
    row: Row, has_iris: Sequence[bool], labels: Mapping[str, str]
) -> list[SheetValue]:
    cells: list[SheetValue] = []
    for term, is_iri_column in zip(row, has_iris, strict=True):
        if is_iri_column and isinstance(term, NamedNode):
            cells += [labels.get(term.value, term.value), term.value]
        else:
            cells += [to_json_value(term), None] if is_iri_column else [to_json_value(term)]
    return cells


def _fold_accents(text: str) -> str:
    plain = unicodedata.normalize("NFD", text)
    return "".join(
        character for character in plain if not unicodedata.combining(character)
    ).casefold()
