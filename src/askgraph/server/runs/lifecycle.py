"""The life cycle of a run, from the question to the outcome in the store.

    requested ─ begin ─→ queued ─→ running ─→ step, step, … ─→ done or failed
                            └─────────┴── cancelled: by its caller, or because no reader is left
                                      └── handed back: its process shuts down or was found dead

The start and the end of a run are stored before they are announced. `RunRecords` is the interface
to the store and retries failed writes of outcomes; `events` has the queue in which a run waits and
the log of its events, which many may read.
"""

import asyncio
import contextlib
import logging
from collections.abc import (
    AsyncGenerator,
    Awaitable,
    Callable,
    Collection,
    Iterator,
    Mapping,
    Sequence,
)
from contextlib import AsyncExitStack, aclosing, contextmanager
from dataclasses import dataclass, field
from itertools import count
from typing import Any

from askgraph import plugins
from askgraph.errors import AskgraphError, ServiceError, SetupError
from askgraph.index.names import split_tokens
from askgraph.search.tokenize.word_lists import detect_language
from askgraph.server import telemetry
from askgraph.server.auth import ANONYMOUS, LimitExceededError, Principal
from askgraph.server.graphs import GraphCatalog
from askgraph.server.problems import NotFound, Problem, to_problem
from askgraph.server.runs import RunRequest, RunSummary, RunView, State, to_answer_view
from askgraph.server.runs.events import Event, EventLog, TurnQueue, run_shielded
from askgraph.server.runs.worker_pool import LocalAnswerer, QuestionJob, WorkerPool
from askgraph.server.settings import ServeSettings
from askgraph.server.store import Store
from askgraph.server.store.tables import Json, RunRow, SessionRow, generate_id, runs
from askgraph.trace import (
    Answer,
    Clarification,
    Outcome,
    PreviousQuestion,
    Refusal,
    Step,
    Trace,
    compute_usage,
)
from askgraph.trace.codec import TraceHead, encode_head, encode_step, join_lines, parse_trace
from askgraph.workspace.models import is_model_required

_MAX_EARLIER_QUESTIONS = 20  # earlier questions of a conversation to read
_MAX_TITLE_CHARACTERS = 120


class RunRecords:
    """The runs in the store, for callers who may read them.

    Args:
        rows: maximum number of stored rows per answer.
        secrets: texts to mask in traces, besides text that looks like a secret.
    """

    def __init__(
        self, store: Store, process: str, *, max_rows: int, secrets: Sequence[str] = ()
    ) -> None:
        self.store = store
        self.process = process
        self._max_rows = max_rows
        self._secrets = secrets
        self._unsaved_ends: dict[str, dict[str, Any]] = {}  # ends of runs, by id

    async def begin(self, request: RunRequest, caller: Principal, state: State) -> str:
        """Store a new run, and its session if that is new; return the run's id.

        Raises:
            TooMany: the caller has too many questions under way.
        """
        run = RunRow(
            generate_id(),
            caller.id,
            request.question.text,
            request.graphs,
            request.method,
            session=request.session or None,
            language=request.question.language,
            model=request.model,
            settings=dict(request.settings),
            after=request.after,
            changes=request.changes,
            changed_from=request.changed_from,
            process=self.process,
            state=state,
            counted_as=caller.counted_as,
        )
        title = request.question.text[:_MAX_TITLE_CHARACTERS]
        session = SessionRow(request.session, caller.id, title) if request.starts_session else None
        max_parallel = caller.limits.parallel
        if not await self.store.begin_run(run, limit=max_parallel, session=session):
            raise LimitExceededError(
                f"{max_parallel} of your questions are running, the most allowed at "
                "once: wait for one, or stop it",
                retry_after=5.0,
            )
        return run.id

    def mask_step(self, step: Step) -> Json:
        """Return a step as JSON without secrets, to be sent and stored."""
        return telemetry.mask_fields(encode_step(step), self._secrets)

    async def finish(
        self,
        id: str,
        state: State,
        trace: Trace,
        head: TraceHead,
        masked_steps: Sequence[Json],
        problem: Problem | None,
        seconds: float,
    ) -> None:
        """Store the end of a run with its steps.

        In an answer only the known secrets are removed: text that looks like a secret is data of
        the graph. If the store fails, the error is raised and the write is retried later; until
        then the run counts as under way.

        Args:
            masked_steps: the steps as `mask_step` returns them.
            seconds: duration of the run.
        """
        outcome = trace.outcome if state == "done" else None
        answer = to_answer_view(outcome, limit=self._max_rows).model_dump() if outcome else None
        failure = problem.model_dump() if problem else None
        if failure:
            failure["detail"] = telemetry.mask_value(failure["detail"], self._secrets)
        usage = compute_usage(trace.steps)
        end: dict[str, Any] = {
            "state": state,
            "status": answer["status"] if answer else None,
            "answer": telemetry.remove_secrets(answer, self._secrets),
            "trace": join_lines(
                (telemetry.mask_fields(encode_head(trace, head), self._secrets), *masked_steps)
            ),
            "problem": failure,
            "seconds": seconds,
            "tokens": usage.input_tokens + usage.output_tokens,
            "money": usage.money,
        }
        self._unsaved_ends[id] = end
        await self._save_ends({id: end})

    async def _save_ends(self, ends: Mapping[str, dict[str, Any]]) -> None:
        for id, end in ends.items():
            await self.store.finish_run(id, **end)
            self._unsaved_ends.pop(id, None)

    async def load_run(self, id: str, caller: Principal, *, must_own: bool = False) -> RunRow:
        """Load a run; raise `NotFound` if the caller may not read it, or does not own it."""
        row = await self.store.get_run(id)
        if row and _can_read(row, caller) and (_is_owner(row, caller) or not must_own):
            return row
        raise NotFound(
            f"There is no question {id!r} that you may open. It may be private, deleted, or asked "
            "in another browser: ask whoever sent you the link to share it."
        )

    async def load_view(self, id: str, caller: Principal, *, just_ended: bool = False) -> RunView:
        """Load a run as the API returns it.

        Args:
            just_ended: the run ended just now, so it has no feedback yet.

        Raises:
            NotFound: the caller may read no such run.
        """
        row = await self.load_run(id, caller)
        feedback = [] if just_ended else await self.store.list_feedback(id)
        feedback = [entry for entry in feedback if entry.owner == caller.id]
        verified = [] if just_ended else await self.store.list_verified_of_runs([row.id])
        before = await self._load_earlier(row.after, caller)
        return RunView.model_validate(
            {
                **vars(row),
                "session": row.session or "",
                "language": row.language or detect_language(split_tokens(row.question)),
                "before": [{"question": entry.question} for entry in before],
                "feedback": vars(feedback[0]) if feedback else None,
                "verified": caller.id in {answer.owner for answer in verified},
                "mine": _is_owner(row, caller),
            }
        )

    async def summarize(self, rows: Sequence[RunRow], caller: Principal) -> list[RunSummary]:
        """Convert runs of the caller to lines of the history."""
        before = {row.after for row in rows if row.after is not None}
        questions = await self.store.get_questions(before, caller.id)
        return [
            RunSummary.model_validate(
                {
                    **vars(row),
                    "session": row.session or "",
                    "follows": questions.get(row.after or ""),
                }
            )
            for row in rows
        ]

    async def can_read_steps(self, id: str, caller: Principal) -> bool:
        """Return whether the caller may read a run's steps, which quote earlier questions."""
        row: RunRow | None = await self.load_run(id, caller)
        if row and _is_owner(row, caller):
            return True
        for _ in range(_MAX_EARLIER_QUESTIONS):
            row = await self.store.get_run(row.after) if row and row.after else None
            if row is None:
                return True
            if not _can_read(row, caller):
                return False
        return True

    async def load_trace_text(self, id: str, caller: Principal) -> str:
        """Load the steps of a run as the text of a trace file; see `can_read_steps`."""
        if not await self.can_read_steps(id, caller):
            raise NotFound(
                f"the steps of {id!r} quote earlier questions that are not shared with you"
            )
        return await self._load_trace_text(id)

    async def _load_trace_text(self, id: str) -> str:
        text = await self.store.get_trace(id)
        if text is None:
            raise NotFound(f"the question {id!r} has no steps yet: it is still running")
        return text

    async def load_outcome(self, id: str, caller: Principal) -> tuple[Trace, TraceHead, Outcome]:
        """Load the trace and outcome of a run; raise `SetupError` if it has no outcome."""
        await self.load_run(id, caller)
        trace, head = parse_trace(await self._load_trace_text(id), f"of question {id}")
        try:
            return trace, head, trace.outcome
        except ValueError as error:
            raise SetupError(f"question {id!r} has no answer: {error}") from error

    async def load_conversation(self, id: str, caller: Principal) -> tuple[PreviousQuestion, ...]:
        """Load the conversation up to a run, oldest question first, for a follow-up question.

        Only stored questions count, whatever a caller reports. Questions without a query are
        skipped.
        """
        return await self._load_earlier((await self.load_run(id, caller)).id, caller)

    async def load_session(self, id: str, caller: Principal) -> SessionRow:
        """Load a session of the caller; raise `NotFound` if there is no such session."""
        row = await self.store.get_session(id)
        if row is None or row.owner != caller.id:
            raise NotFound(f"there is no session {id!r}, or it is not yours")
        return row

    async def send_heartbeat(self) -> tuple[str, ...]:
        """Report that this process is alive, hand back runs of dead processes, return their jobs.

        Failed writes of outcomes are retried.
        """
        await self.store.record_heartbeat(self.process)
        orphaned_jobs = await self.store.hand_back_orphans()
        await self._save_ends(dict(self._unsaved_ends))
        return orphaned_jobs

    async def unregister(self) -> None:
        """Report that this process ends."""
        with contextlib.suppress(ServiceError):
            await self._save_ends(dict(self._unsaved_ends))
        await self.store.remove_process(self.process)

    async def _load_earlier(
        self, id: str | None, caller: Principal
    ) -> tuple[PreviousQuestion, ...]:
        """Load the earlier questions with a query, as far as the caller may read each of them."""
        conversation: list[PreviousQuestion] = []
        for _ in range(_MAX_EARLIER_QUESTIONS):
            row = await self.store.get_run(id) if id else None
            if row is None:
                break
            query = (row.answer or {}).get("sparql")
            if isinstance(query, str) and _can_read(row, caller):
                conversation.append(PreviousQuestion(row.question, query))
            id = row.after
        return tuple(reversed(conversation))


def _is_owner(row: RunRow, caller: Principal) -> bool:
    return row.owner == caller.id


def _can_read(row: RunRow, caller: Principal) -> bool:
    if not all(caller.can_see(graph) for graph in row.graphs):
        return False
    return (
        _is_owner(row, caller) or row.shared or row.owner == ANONYMOUS or caller.has_scope("admin")
    )


_log = logging.getLogger("askgraph.server")
# Seconds between two looks at the store, looks between two signs of life.
_POLL_SECONDS, _POLLS_PER_HEARTBEAT = 1.0, 5
_RETENTION_SECONDS = 60.0  # seconds for which a finished run is kept in memory


@dataclass(eq=False)
class ActiveRun:
    """A question that runs in this process, or ended a moment ago."""

    id: str
    caller: Principal
    request: RunRequest
    began: float  # when it began, in seconds of the event loop's clock
    events: EventLog
    state: State
    steps: list[Step] = field(default_factory=list)  # the steps so far; the last one is the outcome
    masked_steps: list[Json] = field(default_factory=list)  # the same as JSON without secrets
    head: TraceHead = field(default_factory=TraceHead)
    task: "asyncio.Task[None] | None" = None
    stops_as: State = "cancelled"  # its state if its task is cancelled
    patience: asyncio.TimerHandle | None = None  # the timer that cancels it when no reader is left


class RunRegistry:
    """The runs of this process; a run without readers is cancelled."""

    def __init__(
        self,
        settings: ServeSettings,
        graphs: GraphCatalog,
        answerer: LocalAnswerer | WorkerPool,
        records: RunRecords,
    ) -> None:
        self._settings, self._answerer = settings, answerer
        self._graphs, self._records = graphs, records
        self._runs: dict[str, ActiveRun] = {}
        self._queue = TurnQueue(settings.parallel, settings.queue)
        self._model_queue = TurnQueue(settings.parallel_with_model, settings.queue)
        self._graph_queues: dict[str, TurnQueue] = {}
        self._is_closing = False
        self._observers: list[Callable[[RunView], None]] = []

    @property
    def running_count(self) -> int:
        """The number of running questions."""
        return self._queue.active_count + self._model_queue.active_count

    @property
    def waiting_count(self) -> int:
        """The number of questions that wait for their turn."""
        return self._queue.waiting_count + self._model_queue.waiting_count

    def add_observer(self, observer: Callable[[RunView], None]) -> None:
        """Call `observer` with each run that ends here."""
        self._observers.append(observer)

    async def begin(self, request: RunRequest, caller: Principal) -> ActiveRun:
        """Begin a run; `read` yields its events.

        If the caller is cancelled meanwhile, the run is still set up, without a reader.

        Raises:
            TooMany: the caller has too many questions under way, or the server is shutting down.
        """
        if self._is_closing:
            raise LimitExceededError(
                "this server is shutting down; ask again in a moment", retry_after=2.0
            )
        return await asyncio.shield(asyncio.create_task(self._begin_run(request, caller)))

    async def _begin_run(self, request: RunRequest, caller: Principal) -> ActiveRun:
        must_wait = any(queue.is_full for queue in self._select_queues(request))
        state: State = "queued" if must_wait else "running"
        id = await self._records.begin(request, caller, state)
        began = asyncio.get_running_loop().time()
        run = self._runs[id] = ActiveRun(id, caller, request, began, EventLog(id), state)
        run.events.add(
            "run",
            session=request.session,
            question=request.question.text,
            graphs=list(request.graphs),
            method=request.method,
        )
        run.task = asyncio.create_task(self._execute(run), name=f"run {id}")
        self._start_patience(run)
        return run

    async def _execute(self, run: ActiveRun) -> None:
        problem: Problem | None = None
        try:
            with telemetry.start_question_span(run.id, run.request.method, run.request.graphs):
                await self._answer(run)
            run.state = "done"
        except asyncio.CancelledError:
            run.state = run.stops_as
        except AskgraphError as error:
            run.state, problem = "failed", to_problem(error)
        except BaseException:  # noqa: BLE001 - a bug ends one question, not the server
            run.state, problem = "failed", Problem.for_bug()
            _log.exception("question %s failed because of a bug", run.id)
        try:
            await run_shielded(self._finish(run, problem))
        finally:
            asyncio.get_running_loop().call_later(_RETENTION_SECONDS, self._runs.pop, run.id, None)

    async def _answer(self, run: ActiveRun) -> None:
        async with AsyncExitStack() as stack:
            # Queued: for each graph, then for the server.
            for queue in self._select_queues(run.request):
                turn = queue.wait_turn(lambda ahead: run.events.add("queued", ahead=ahead))
                await stack.enter_async_context(turn)
            # Running.
            if run.state == "queued":
                run.state = "running"
                await self._records.store.start_run(run.id, self._records.process)
            # Stream its steps; the last one is the outcome.
            async with aclosing(
                self._answerer.stream_updates(await self._build_job(run))
            ) as updates:
                async for update in updates:
                    if isinstance(update, TraceHead):
                        run.head = update
                        continue
                    run.steps.append(update)
                    run.masked_steps.append(self._records.mask_step(update))
                    if not isinstance(update, Answer | Clarification | Refusal):
                        run.events.add("step", step=run.masked_steps[-1])

    async def _build_job(self, run: ActiveRun) -> QuestionJob:
        graphs = self._graphs
        for name in run.request.graphs:
            graphs.get_settings(name, run.caller)  # it may be removed already
        return QuestionJob(
            run.request,
            min(run.request.timeout or self._settings.timeout, self._settings.timeout),
            {name: await graphs.load_verified(name) for name in run.request.graphs},
            graphs.list_services(run.caller),
            telemetry.export_span_headers(),
            run.caller.id,
        )

    async def _finish(self, run: ActiveRun, problem: Problem | None) -> None:
        trace = Trace(run.request.question, run.request.method, tuple(run.steps))
        seconds = round(asyncio.get_running_loop().time() - run.began, 6)
        try:
            result = (trace, run.head, run.masked_steps, problem, seconds)
            await self._records.finish(run.id, run.state, *result)
            view = await self._records.load_view(run.id, run.caller, just_ended=True)
        except AskgraphError as error:
            _log.error("could not store the outcome of question %s: %s", run.id, error)
            run.events.add("problem", problem=to_problem(error).model_dump())
            return
        finally:
            # They are in the store, and current readers have the list.
            run.steps, run.masked_steps = ([], [])
        run.events.add(**_build_final_event(view))
        for observer in self._observers:
            observer(view)

    # Read: by its caller, by others, after a broken connection. Left by all, it is cancelled.

    async def read(self, run: ActiveRun, after: int = -1) -> AsyncGenerator[Event, None]:
        """Yield the events of a run after number `after`.

        A run without readers is cancelled after the server's `patience`.
        """
        with self._keep_alive(run):
            async with aclosing(run.events.read(after)) as events:
                async for event in events:
                    yield event

    @contextmanager
    def _keep_alive(self, run: ActiveRun) -> Iterator[None]:
        if run.patience is not None:
            run.patience.cancel()
            run.patience = None
        try:
            yield
        finally:
            self._start_patience(run)

    def _start_patience(self, run: ActiveRun) -> None:
        if run.events.has_ended or run.events.reader_count or run.patience is not None:
            return

        def stop() -> None:
            if not run.events.reader_count and run.task is not None:
                run.task.cancel()

        run.patience = asyncio.get_running_loop().call_later(self._settings.patience, stop)

    async def wait_for_outcome(self, run: ActiveRun) -> RunView:
        """Wait for the end of a run and return it; a cancelled call counts as a leaving reader."""
        with self._keep_alive(run):
            final_event = await run.events.wait_for_end()
        if final_event["event"] == "outcome":
            return RunView.model_validate(final_event["run"])
        return await self._records.load_view(run.id, run.caller)

    async def follow(
        self, id: str, caller: Principal, after: int = -1
    ) -> AsyncGenerator[Event, None]:
        """Yield the events of a run in any process.

        Only the final event is yielded for a run of another process, and to callers who may not
        read its steps.

        Raises:
            NotFound: the caller may read no such run.
        """
        run = self._runs.get(id)
        if run is not None and await self._records.can_read_steps(id, caller):
            async with aclosing(self.read(run, after)) as events:
                async for event in events:
                    yield event
            return
        view = await self._records.load_view(id, caller)
        while view.state in ("queued", "running"):
            await asyncio.sleep(_POLL_SECONDS)
            view = await self._records.load_view(id, caller)
        yield {**_build_final_event(view), "id": id, "seq": after + 1}

    # The run was cancelled, handed back, or taken over from a dead process.

    async def cancel(self, id: str) -> None:
        """Cancel a run in any process; a run that has ended stays unchanged."""
        run = self._runs.get(id)
        if run is None:
            await self._records.store.request_cancel(runs, id)
        else:
            await self._stop(run, "cancelled")

    async def _stop(self, run: ActiveRun, state: State) -> None:
        if run.task is not None and not run.task.done():
            run.stops_as = state
            run.task.cancel()
            await asyncio.wait([run.task])

    async def watch_store(self, give_up: Callable[[Collection[str]], Awaitable[None]]) -> None:
        """Poll the store forever: cancel runs on request, and take over the work of dead processes.

        Failed writes of outcomes are retried.

        Args:
            give_up: receives the ids of jobs of dead processes.
        """
        for poll in count():
            try:
                if poll % _POLLS_PER_HEARTBEAT == 0:
                    await give_up(await self._records.send_heartbeat())
                store, process = self._records.store, self._records.process
                for id in await store.cancel_wanted(process) if self._runs else []:
                    await self.cancel(id)
            except (ServiceError, SetupError) as error:
                _log.warning("could not read from the store which questions to stop: %s", error)
            await asyncio.sleep(_POLL_SECONDS)

    async def close(self, grace: float) -> None:
        """Accept no more questions; after `grace` seconds, hand the remaining ones back."""
        self._is_closing = True
        tasks = [run.task for run in self._runs.values() if run.task]
        if tasks:
            await asyncio.wait(tasks, timeout=grace)
        for run in list(self._runs.values()):
            await self._stop(run, "handed_back")

    def _select_queues(self, request: RunRequest) -> list[TurnQueue]:
        """Select the queues to pass, graphs in sorted order, so that runs cannot deadlock."""
        # Methods with a language model mostly wait for it, and have their own queue.
        if is_model_required(plugins.load("method", request.method)):
            return [self._model_queue]
        max_parallel, max_waiting = self._settings.per_graph, self._settings.queue
        for name in set(request.graphs) - self._graph_queues.keys():
            self._graph_queues[name] = TurnQueue(
                max_parallel, max_waiting, noun=f"questions to {name!r}"
            )
        return [*(self._graph_queues[name] for name in sorted(set(request.graphs))), self._queue]


def _build_final_event(view: RunView) -> dict[str, Any]:
    match view.state:
        case "done":
            return {"event": "outcome", "run": view.model_dump()}
        case "failed":
            return {"event": "problem", "problem": (view.problem or Problem.for_bug()).model_dump()}
        case state:
            return {"event": state}
