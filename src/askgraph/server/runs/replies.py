"""Answers on their way to a caller: as streams; by another reading or query; confirmed."""

import asyncio
import json
import time
from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Collection, Sequence
from contextlib import aclosing
from dataclasses import replace
from typing import TypeVar

import anyio
from starlette.requests import Request
from starlette.responses import StreamingResponse

from askgraph.answers import AnswerBuilder, chosen_answer
from askgraph.endpoint import Counted, run
from askgraph.errors import SetupError
from askgraph.graph import KnowledgeGraph
from askgraph.graph.examples import digest_result
from askgraph.methods import can_search_indices
from askgraph.server.auth import Principal
from askgraph.server.hub import Hub
from askgraph.server.problems import Failed, Problem
from askgraph.server.runs import RunRequest, RunView
from askgraph.server.runs.events import Event
from askgraph.server.runs.lifecycle import Run
from askgraph.server.store.tables import RunRow, Verified, new_id
from askgraph.sparql.judge import form_of
from askgraph.sparql.lexer import with_declared
from askgraph.sparql.results import SelectResult
from askgraph.trace import (
    Answer,
    Clarification,
    Outcome,
    Question,
    Step,
    Thought,
    Trace,
    Usage,
    attempt_of,
)
from askgraph.trace.codec import Head
from askgraph.workspace.next_questions import following

_QUIET = 15.0  # seconds after which a comment keeps the connection alive
Value = TypeVar("Value")


def event_stream(events: AsyncGenerator[Event, None]) -> StreamingResponse:
    """Return a response that sends events as they come, and closes `events` when it is left."""
    return text_stream(_to_texts(events))


def text_stream(texts: AsyncGenerator[str, None]) -> StreamingResponse:
    """Return a response that sends events that are text already; see `event_stream`."""
    return StreamingResponse(
        _keep_alive(texts),
        media_type="text/event-stream",
        headers={"Cache-Control": "no-store", "X-Accel-Buffering": "no"},
    )


async def _to_texts(events: AsyncGenerator[Event, None]) -> AsyncGenerator[str, None]:
    async with aclosing(events):
        async for event in events:
            data = json.dumps(event, ensure_ascii=False)
            yield f"event: {event['event']}\nid: {event['seq']}\ndata: {data}\n\n"


async def _keep_alive(texts: AsyncGenerator[str, None]) -> AsyncIterator[str]:
    async with aclosing(texts):
        coming: asyncio.Task[str | None] = asyncio.ensure_future(anext(texts, None))
        try:
            while True:
                done, _ = await asyncio.wait({coming}, timeout=_QUIET)
                if not done:
                    yield ": still at it\n\n"
                    continue
                text = coming.result()
                if text is None:
                    return
                yield text
                coming = asyncio.ensure_future(anext(texts, None))
        finally:
            if not coming.done():
                coming.cancel()
                await asyncio.wait({coming})


async def unless_disconnected(request: Request, work: Awaitable[Value]) -> Value:
    """Return the result of some work, which is cancelled when the client disconnects."""
    task = asyncio.ensure_future(work)

    async def wait_for_disconnect() -> None:
        while (await request.receive())["type"] != "http.disconnect":
            pass

    gone = asyncio.ensure_future(wait_for_disconnect())
    try:
        await asyncio.wait({task, gone}, return_when=asyncio.FIRST_COMPLETED)
        if not task.done():
            task.cancel()
        return await task
    finally:
        gone.cancel()


def read_steps(hub: Hub, run: Run) -> AsyncGenerator[Step, None]:
    """Yield the steps of a run up to its outcome, its places in the queue first, as thoughts.

    Closed early, the run is cancelled. Raises `Failed` if it failed or was stopped.
    """
    return _steps(hub, run, run.steps)  # this list, which a run that has ended lets go of


async def _steps(hub: Hub, run: Run, steps: list[Step]) -> AsyncGenerator[Step, None]:
    at = 0
    try:
        async with aclosing(hub.runs.read(run)) as events:
            async for event in events:
                match event["event"]:
                    case "queued":
                        is_next = event["ahead"] == 1
                        ahead = "one question is" if is_next else f"{event['ahead']} are"
                        yield Thought(f"waits: {ahead} before it")
                    case "step":
                        yield steps[at]
                        at += 1
                    case "outcome":
                        yield steps[-1]
                    case "problem":
                        raise Failed(Problem.model_validate(event["problem"]))
                    case "cancelled" | "handed_back":
                        raise Failed(Problem.stopped())
    finally:
        if not run.events.ended:
            with anyio.CancelScope(shield=True):
                await hub.runs.cancel(run.id)


_COURTESY = 5.0  # seconds for what is behind an answer, or why it is empty


async def choose_reading(hub: Hub, id: str, option: int, caller: Principal) -> RunView:
    """Return a new run whose answer is the reading at a place in the options of another run.

    Raises `SetupError` if the run asked nothing back, or had no such option; `QueryError` and
    `ServiceError` if the reading's query fails.
    """
    row = await hub.records.own(id, caller)
    trace, head, outcome = await hub.records.outcome(id, caller)
    if not isinstance(outcome, Clarification):
        raise SetupError(f"question {id!r} asked nothing back: there is nothing to choose")
    if option >= len(outcome.options):
        raise SetupError(
            f"there is no option {option}: choose one from 0 to {len(outcome.options) - 1}"
        )
    graph = outcome.best.graph if outcome.best else row.graphs[0]
    began = time.perf_counter()
    spoken = await hub.records.view(id, caller)
    languages = [spoken.language] if spoken.language else []
    async with hub.graphs.lease(graph, caller) as opened, hub.queries.turn(graph):
        answer = await chosen_answer(
            outcome.options[option],
            outcome,
            opened,
            languages=languages,
            timeout=hub.settings.query_timeout,
            limit=hub.settings.max_rows,
        )
    return await _keep_change(hub, row, trace, head, answer, caller, began=began)


async def edit_answer(hub: Hub, id: str, query: str, caller: Principal) -> RunView:
    """Return a new run for the question of another one, answered by a query of the caller's.

    It goes on in the run's own conversation, or if that is somebody else's in a new one. Raises
    `NotAllowed` if the caller may run no queries, `QueryError` and `ServiceError` if it fails.
    """
    row, spoken = await hub.records.row(id, caller), await hub.records.view(id, caller)
    caller.check("query")
    trace, head, outcome = await hub.records.outcome(id, caller)
    before = attempt_of(outcome)
    graph, _ = _attempt(row)
    began = time.perf_counter()
    async with hub.graphs.lease(graph, caller) as opened:
        answer = await answer_query(
            hub,
            query,
            opened,
            languages=[spoken.language or "en"],
            context=set(before.result.variables) - set(before.answer_columns) if before else (),
        )
    return await _keep_change(hub, row, trace, head, answer, caller, began=began)


async def suggest_following(
    hub: Hub, asked: Question, outcome: Outcome, caller: Principal, *, seconds: float = 10.0
) -> tuple[str, ...]:
    """Return questions that may follow an answer; see `askgraph.workspace.next_questions`."""
    if not isinstance(outcome, Answer):
        return ()
    method = await asyncio.to_thread(hub.workspace.method)
    async with hub.graphs.lease(
        outcome.graph, caller, searched=can_search_indices(method)
    ) as graph:
        return await following(
            asked,
            outcome,
            method,
            graph,
            timeout=hub.settings.query_timeout,
            seconds=seconds,
            turn=lambda: hub.queries.turn(graph.name),
        )


async def answer_query(
    hub: Hub,
    query: str,
    graph: KnowledgeGraph,
    *,
    languages: Sequence[str],
    columns: Sequence[str] = (),
    context: Collection[str] = (),
    timeout: float | None = None,
) -> Answer:
    """Return the answer of a query that a person wrote, read back, with what is behind its rows.

    `columns` answer, if the result has them; without any, those do that are not `context`. Raises
    as `Queries.read` and `Queries.run` do.
    """
    seconds = hub.settings.query_timeout
    ready = await asyncio.to_thread(hub.queries.read, query, graph)
    endpoint = Counted(graph.endpoint)
    asked = replace(graph, endpoint=endpoint)
    result = await hub.queries.run(ready, asked, timeout=timeout)
    courtesy = min(seconds, _COURTESY)
    builder = AnswerBuilder(asked, languages, seconds, evidence_seconds=courtesy)
    async with hub.queries.turn(graph.name):
        there = result.variables if isinstance(result, SelectResult) else ()
        columns = columns or [name for name in there if name not in context]
        built = await builder.written(ready.text, result, columns=columns)
    spent = 0.0 if isinstance(result, bool) else result.seconds
    return replace(built, query=query, usage=Usage(spent, endpoint.requests), chosen=True)


async def _keep_change(
    hub: Hub,
    row: RunRow,
    trace: Trace,
    head: Head,
    answer: Answer,
    caller: Principal,
    *,
    began: float,
) -> RunView:
    """Keep a new run that answers the question of another one as a person wants it."""
    is_own = row.owner == caller.id
    asked = RunRequest(
        trace.question,
        row.graphs,
        row.method,
        row.model,
        dict(row.settings),
        (row.session or "") if is_own else new_id(),
        after=row.after if is_own else None,
        changes=row.id,
        begins=not is_own,
    )
    steps = trace.steps[:-1] if is_own or row.after is None else ()
    now = Trace(trace.question, trace.method, (*steps, answer))

    async def kept() -> RunView:
        new = await hub.records.begin(asked, caller, "running")
        told = [hub.records.mask(step) for step in now.steps]
        spent = round(time.perf_counter() - began, 6)
        await hub.records.ended(new, "done", now, head, told, None, spent)
        return await hub.records.view(new, caller)

    # A caller who goes away in the middle leaves no run that never ends.
    return await asyncio.shield(asyncio.create_task(kept()))


async def confirm_answer(hub: Hub, id: str, query: str | None, caller: Principal) -> Verified:
    """Keep a query, by default the run's own, as the one that answers the run's question.

    It takes the place of what the caller confirmed for the same question before. Raises
    `SetupError` if there is nothing to confirm, `NotAllowed` if the query is the caller's and
    they may run none, `QueryError` and `ServiceError` if the query fails.
    """
    row = await hub.records.row(id, caller)
    graph, own = _attempt(row)
    if row.after is not None:
        raise SetupError(
            f"{row.question!r} goes on from an earlier question: ask it in words that stand alone, "
            "then confirm that answer"
        )
    wanted = query or own
    if wanted is None:
        raise SetupError(f"{row.question!r} came to no query: there is nothing to confirm")
    if wanted != own:
        caller.check("query")
    async with hub.graphs.lease(graph, caller) as opened, hub.queries.turn(graph):
        text = with_declared(wanted.strip(), opened.prefixes.namespaces)
        result = await run(
            opened.endpoint,
            form_of(text),
            text,
            timeout=hub.settings.query_timeout,
            limit=hub.settings.max_rows,
        )
        outcome = digest_result(result)
        verified = Verified(
            new_id(),
            graph,
            " ".join(row.question.split()),
            text,
            caller.id,
            outcome.rows,
            language=row.language,
            snapshot=opened.snapshot,
            digest=outcome.digest,
            by=caller.name,
            run=row.id,
        )
    await hub.store.put_verified(verified)
    return verified


def _attempt(row: RunRow) -> tuple[str, str | None]:
    """The graph and the query of a run's answer, or of its best attempt."""
    answer = row.answer or {}
    graph, query = answer.get("graph"), answer.get("sparql")
    return (
        graph if isinstance(graph, str) else row.graphs[0],
        query if isinstance(query, str) else None,
    )
