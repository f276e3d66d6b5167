"""Deliver answers: stream them, choose an interpretation, edit the query, confirm it."""

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

from askgraph.answers import AnswerBuilder, answer_option
from askgraph.endpoint import CountingEndpoint, execute_sparql
from askgraph.errors import SetupError
from askgraph.graph import KnowledgeGraph
from askgraph.graph.examples import digest_result
from askgraph.methods import can_search_indices
from askgraph.server.auth import Principal
from askgraph.server.hub import Hub
from askgraph.server.problems import Problem, RunFailed
from askgraph.server.runs import MAX_QUESTION_CHARACTERS, RunRequest, RunView
from askgraph.server.runs.events import Event
from askgraph.server.runs.lifecycle import ActiveRun
from askgraph.server.store.tables import RunRow, VerifiedAnswer, generate_id
from askgraph.sparql.judge import get_query_form
from askgraph.sparql.lexer import declare_prefixes
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
    get_attempt,
)
from askgraph.trace.codec import TraceHead
from askgraph.workspace.examples import Lesson, LessonEffect, preview_lessons, propose_lessons
from askgraph.workspace.run_sync import suggest_next_questions

_KEEP_ALIVE_SECONDS = 15.0  # seconds after which a comment keeps the connection alive
ResultT = TypeVar("ResultT")


def stream_events(events: AsyncGenerator[Event, None]) -> StreamingResponse:
    """Return a response that sends events as they come, and closes `events` on disconnect."""
    return stream_texts(_format_events(events))


def stream_texts(texts: AsyncGenerator[str, None]) -> StreamingResponse:
    """Return a response that sends formatted events; see `stream_events`."""
    return StreamingResponse(
        _send_keep_alive(texts),
        media_type="text/event-stream",
        headers={"Cache-Control": "no-store", "X-Accel-Buffering": "no"},
    )


async def _format_events(events: AsyncGenerator[Event, None]) -> AsyncGenerator[str, None]:
    async with aclosing(events):
        async for event in events:
            data = json.dumps(event, ensure_ascii=False)
            yield f"event: {event['event']}\nid: {event['seq']}\ndata: {data}\n\n"


async def _send_keep_alive(texts: AsyncGenerator[str, None]) -> AsyncIterator[str]:
    async with aclosing(texts):
        next_text: asyncio.Task[str | None] = asyncio.ensure_future(anext(texts, None))
        try:
            while True:
                done, _ = await asyncio.wait({next_text}, timeout=_KEEP_ALIVE_SECONDS)
                if not done:
                    yield ": still running\n\n"
                    continue
                text = next_text.result()
                if text is None:
                    return
                yield text
                next_text = asyncio.ensure_future(anext(texts, None))
        finally:
            if not next_text.done():
                next_text.cancel()
                await asyncio.wait({next_text})


async def cancel_on_disconnect(request: Request, awaitable: Awaitable[ResultT]) -> ResultT:
    """Return the result of an awaitable; cancel it when the client disconnects."""
    task = asyncio.ensure_future(awaitable)

    async def wait_for_disconnect() -> None:
        while (await request.receive())["type"] != "http.disconnect":
            pass

    disconnect_task = asyncio.ensure_future(wait_for_disconnect())
    try:
        await asyncio.wait({task, disconnect_task}, return_when=asyncio.FIRST_COMPLETED)
        if not task.done():
            task.cancel()
        return await task
    finally:
        disconnect_task.cancel()


def read_steps(hub: Hub, run: ActiveRun) -> AsyncGenerator[Step, None]:
    """Yield the steps of a run up to its outcome; positions in the queue come first, as thoughts.

    Closing the iterator early cancels the run.

    Raises:
        RunFailed: the run failed or was stopped.
    """
    return _read_steps(hub, run, run.steps)  # a reference to this list, which a finished run drops


async def _read_steps(hub: Hub, run: ActiveRun, steps: list[Step]) -> AsyncGenerator[Step, None]:
    index = 0
    try:
        async with aclosing(hub.runs.read(run)) as events:
            async for event in events:
                match event["event"]:
                    case "queued":
                        is_next = event["ahead"] == 1
                        ahead = "one question" if is_next else f"{event['ahead']} questions"
                        yield Thought(f"waiting: {ahead} ahead")
                    case "step":
                        yield steps[index]
                        index += 1
                    case "outcome":
                        yield steps[-1]
                    case "problem":
                        raise RunFailed(Problem.model_validate(event["problem"]))
                    case "cancelled" | "handed_back":
                        raise RunFailed(Problem.for_stop())
    finally:
        if not run.events.has_ended:
            with anyio.CancelScope(shield=True):
                await hub.runs.cancel(run.id)


_MAX_EVIDENCE_SECONDS = 5.0  # seconds for the evidence of an answer, or for why it is empty


async def choose_interpretation(hub: Hub, id: str, option: int, caller: Principal) -> RunView:
    """Return a new run with the answer of the chosen interpretation of a clarification.

    Raises:
        SetupError: the run asked no clarification, or has no such option.
        QueryError, ServiceError: the query of the interpretation fails.
    """
    row = await hub.records.load_run(id, caller, must_own=True)
    trace, head, outcome = await hub.records.load_outcome(id, caller)
    if not isinstance(outcome, Clarification):
        raise SetupError(f"question {id!r} asked no question back: there is nothing to choose")
    if option >= len(outcome.options):
        raise SetupError(
            f"there is no option {option}: choose a number from 0 to {len(outcome.options) - 1}"
        )
    graph = outcome.best.graph if outcome.best else row.graphs[0]
    began = time.perf_counter()
    view = await hub.records.load_view(id, caller)
    languages = [view.language] if view.language else []
    async with hub.graphs.lease(graph, caller) as open_graph, hub.queries.wait_turn(graph):
        answer = await answer_option(
            outcome.options[option],
            outcome,
            open_graph,
            languages=languages,
            timeout=hub.settings.query_timeout,
            limit=hub.settings.max_rows,
        )
    return await _save_change(hub, row, trace, head, answer, caller, began=began)


async def edit_answer(hub: Hub, id: str, query: str, caller: Principal) -> RunView:
    """Return a new run with the answer of the caller's query; its question is that query in words.

    It belongs to the run's conversation if that is the caller's, else to a new one.

    Raises:
        NotAllowed: the caller may not run queries.
        QueryError, ServiceError: the query fails.
    """
    row, view = await hub.records.load_run(id, caller), await hub.records.load_view(id, caller)
    caller.require_scope("query")
    trace, head, outcome = await hub.records.load_outcome(id, caller)
    attempt = get_attempt(outcome)
    graph, _ = _get_attempt(row)
    began = time.perf_counter()
    async with hub.graphs.lease(graph, caller) as open_graph:
        answer = await answer_query(
            hub,
            query,
            open_graph,
            languages=[view.language or "en"],
            context=set(attempt.result.variables) - set(attempt.answer_columns) if attempt else (),
        )
    if attempt is None or query.strip() != attempt.query.strip():
        note = Thought(f"A person changed the query of {row.question!r}.")
        text = (answer.words.strip().rstrip(".") or answer.query)[:MAX_QUESTION_CHARACTERS]
        steps = (*trace.steps[:-1], note, answer)
        trace = replace(trace, question=Question(text, view.language), steps=steps)
        row = replace(row, changed_from=row.changed_from or row.question)
    return await _save_change(hub, row, trace, head, answer, caller, began=began)


async def build_next_questions(
    hub: Hub, question: Question, outcome: Outcome, caller: Principal, *, seconds: float = 10.0
) -> tuple[str, ...]:
    """Return questions that may follow an answer; see `askgraph.workspace.run_sync`."""
    if not isinstance(outcome, Answer):
        return ()
    method = await asyncio.to_thread(hub.workspace.method)
    async with hub.graphs.lease(
        outcome.graph, caller, with_indices=can_search_indices(method)
    ) as graph:
        return await suggest_next_questions(
            question,
            outcome,
            method,
            graph,
            timeout=hub.settings.query_timeout,
            seconds=seconds,
            enter_turn=lambda: hub.queries.wait_turn(graph.name),
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
    """Run a query that a person wrote and return its answer, in words and with evidence.

    Args:
        columns: the columns that answer, if the result has them; by default all except `context`.

    Raises:
        As `QueryRunner.check` and `QueryRunner.run`.
    """
    seconds = hub.settings.query_timeout
    checked_query = await asyncio.to_thread(hub.queries.check, query, graph)
    endpoint = CountingEndpoint(graph.endpoint)
    counted_graph = replace(graph, endpoint=endpoint)
    result = await hub.queries.run(checked_query, counted_graph, timeout=timeout)
    evidence_seconds = min(seconds, _MAX_EVIDENCE_SECONDS)
    builder = AnswerBuilder(counted_graph, languages, seconds, evidence_seconds=evidence_seconds)
    async with hub.queries.wait_turn(graph.name):
        variables = result.variables if isinstance(result, SelectResult) else ()
        columns = columns or [name for name in variables if name not in context]
        answer = await builder.build_user_answer(checked_query.text, result, columns=columns)
    query_seconds = 0.0 if isinstance(result, bool) else result.seconds
    return replace(answer, query=query, usage=Usage(query_seconds, endpoint.requests), chosen=True)


async def _save_change(
    hub: Hub,
    row: RunRow,
    trace: Trace,
    head: TraceHead,
    answer: Answer,
    caller: Principal,
    *,
    began: float,
) -> RunView:
    """Store a new run that answers the question of another one as a person decided."""
    is_own = row.owner == caller.id
    request = RunRequest(
        trace.question,
        row.graphs,
        row.method,
        row.model,
        dict(row.settings),
        (row.session or "") if is_own else generate_id(),
        after=row.after if is_own else None,
        changes=row.id,
        changed_from=row.changed_from,
        starts_session=not is_own,
    )
    steps = trace.steps[:-1] if is_own or row.after is None else ()
    new_trace = Trace(trace.question, trace.method, (*steps, answer))

    async def save() -> RunView:
        id = await hub.records.begin(request, caller, "running")
        masked_steps = [hub.records.mask_step(step) for step in new_trace.steps]
        seconds = round(time.perf_counter() - began, 6)
        await hub.records.finish(id, "done", new_trace, head, masked_steps, None, seconds)
        return await hub.records.load_view(id, caller)

    # A caller who goes away in the middle leaves no run that never ends.
    return await asyncio.shield(asyncio.create_task(save()))


async def confirm_answer(hub: Hub, id: str, query: str | None, caller: Principal) -> VerifiedAnswer:
    """Store a query, by default the run's own, as the confirmed answer to the run's question.

    The question of a changed query is that query in words, never what was asked at first.
    It replaces what the caller confirmed for the same question before.

    Raises:
        SetupError: the run has no query to confirm, or depends on an earlier question.
        NotAllowed: the query is not the run's own, and the caller may not run queries.
        QueryError, ServiceError: the query fails.
    """
    row = await hub.records.load_run(id, caller)
    graph, run_query = _get_attempt(row)
    if row.after is not None and row.changed_from is None:
        raise SetupError(
            f"{row.question!r} depends on an earlier question: ask it again as a complete "
            "question, then confirm that answer"
        )
    confirmed_query = query or run_query
    if confirmed_query is None:
        raise SetupError(f"{row.question!r} has no query: there is nothing to confirm")
    if confirmed_query != run_query:
        caller.require_scope("query")
    async with hub.graphs.lease(graph, caller) as open_graph, hub.queries.wait_turn(graph):
        text = declare_prefixes(confirmed_query.strip(), open_graph.prefixes.namespaces)
        result = await execute_sparql(
            open_graph.endpoint,
            get_query_form(text),
            text,
            timeout=hub.settings.query_timeout,
            limit=hub.settings.max_rows,
        )
        outcome = digest_result(result)
        verified = VerifiedAnswer(
            generate_id(),
            graph,
            " ".join(row.question.split()),
            text,
            caller.id,
            outcome.rows,
            language=row.language,
            snapshot=open_graph.snapshot,
            digest=outcome.digest,
            by=caller.name,
            run=row.id,
        )
    await hub.store.put_verified(verified)
    return verified


_MAX_PREVIEW_SECONDS = 5.0  # seconds for the effect of lessons on confirmed questions


async def find_lessons(
    hub: Hub, id: str, query: str | None, caller: Principal
) -> tuple[str, list[tuple[Lesson, LessonEffect]]]:
    """Return the lessons of a corrected run with their effects, and the run of its question.

    The correction is `query`, or else the changed or chosen query of the run.

    Raises:
        SetupError: there is no query, or the question depends on an earlier one.
        NotAllowed: the query is not the run's own, and the caller may not run queries.
        QueryError: the query is invalid.
    """
    row = await hub.records.load_run(id, caller)
    graph, run_query = _get_attempt(row)
    chosen = query or run_query
    while row.changes is not None:
        row = await hub.records.load_run(row.changes, caller)
    if chosen is None:
        raise SetupError(f"{row.question!r} has no query: send the right one")
    if chosen != run_query:
        caller.require_scope("query")
    trace, _, _ = await hub.records.load_outcome(row.id, caller)
    method = await asyncio.to_thread(hub.workspace.method)
    seconds = min(_MAX_PREVIEW_SECONDS, hub.settings.query_timeout)
    async with hub.graphs.lease(graph, caller) as open_graph, hub.queries.wait_turn(graph):
        await asyncio.to_thread(hub.queries.check, chosen, open_graph)
        lessons = await asyncio.to_thread(propose_lessons, trace, chosen, open_graph)
        effects = await preview_lessons(
            lessons, open_graph, open_graph.examples, method, seconds=seconds
        )
    return row.id, [*zip(lessons, effects, strict=True)]


def _get_attempt(row: RunRow) -> tuple[str, str | None]:
    """Return the graph and the query of a run's answer or best attempt."""
    answer = row.answer or {}
    graph, query = answer.get("graph"), answer.get("sparql")
    return (
        graph if isinstance(graph, str) else row.graphs[0],
        query if isinstance(query, str) else None,
    )
