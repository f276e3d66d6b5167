"""The life of a run, from its question to its outcome in the store.

    asked ─ begin ─→ queued ─→ running ─→ step, step, … ─→ done, or failed
                        └─────────┴── cancelled: by its caller, or since nobody reads it any more
                                  └── handed back: its process shuts down, or is found dead

A run is in the store before anybody hears of it, and so is its end. Beside this module, `request`
makes a question ready to run, `events` has the queue that holds it until its turn and the log that
many may read, and `records` is the side of the store, with ends that wait until it takes them.
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
from askgraph.index.names import tokens
from askgraph.search.tokenize.word_lists import detect_language
from askgraph.server.auth import ANONYMOUS, Principal, TooMany
from askgraph.server.graphs.open_graphs import OpenGraphs
from askgraph.server.problems import Missing, Problem, problem_of
from askgraph.server.runs import RunRequest, RunSummary, RunView, State, answer_view
from askgraph.server.runs.events import Event, Events, Queue, shield
from askgraph.server.runs.workers import Answering, Job, WorkerPool
from askgraph.server.settings import ServeSettings
from askgraph.server.store import Store
from askgraph.server.store.tables import Json, RunRow, SessionRow, new_id, runs
from askgraph.server.telemetry import (
    mask_fields,
    mask_value,
    question_span,
    remove_secrets,
    span_headers,
)
from askgraph.trace import Answer, Clarification, Earlier, Outcome, Refusal, Step, Trace, spent
from askgraph.trace.codec import Head, head_told, lines_of, step_told, trace_in
from askgraph.workspace.models import needs_model

_CONVERSATION = 20  # earlier questions that a question may follow
_TITLE = 120


class RunRecords:
    """The runs of the store, for callers who may read them.

    `process` is the id of this server process, `rows` how many rows of an answer are kept. Traces
    are kept without `secrets`, and without text that looks like one.
    """

    def __init__(
        self, store: Store, process: str, *, rows: int, secrets: Sequence[str] = ()
    ) -> None:
        self.store = store
        self.process = process
        self._rows = rows
        self._secrets = secrets
        self._unkept: dict[str, dict[str, Any]] = {}  # ends of runs, by id

    async def begin(self, asked: RunRequest, caller: Principal, state: State) -> str:
        """Keep a question that begins, with the session if that is new, and return its id.

        Raises `TooMany` if the caller has too many under way.
        """
        run = RunRow(
            new_id(),
            caller.id,
            asked.question.text,
            asked.graphs,
            asked.method,
            session=asked.session or None,
            language=asked.question.language,
            model=asked.model,
            settings=dict(asked.settings),
            after=asked.after,
            changes=asked.changes,
            process=self.process,
            state=state,
            counted_as=caller.counted_as,
        )
        title = asked.question.text[:_TITLE]
        session = SessionRow(asked.session, caller.id, title) if asked.begins else None
        most = caller.limits.parallel
        if not await self.store.begin_run(run, at_most=most, session=session):
            raise TooMany(
                f"{most} of your questions are under way, and no more may be at "
                "once: wait for one, or stop it",
                retry_after=5.0,
            )
        return run.id

    def mask(self, step: Step) -> Json:
        """Return a step as JSON that may be sent and kept: without secrets."""
        return mask_fields(step_told(step), self._secrets)

    async def ended(
        self,
        id: str,
        state: State,
        trace: Trace,
        head: Head,
        told: Sequence[Json],
        problem: Problem | None,
        seconds: float,
    ) -> None:
        """Keep the end of a run, with its steps, also as `mask` gives them.

        Nothing but our secrets is masked in an answer: text that looks like a secret there is data
        of a graph. If the store fails, which is raised, it is tried again; a run whose end is not
        there counts as under way.
        """
        outcome = trace.outcome if state == "done" else None
        answer = answer_view(outcome, limit=self._rows).model_dump() if outcome else None
        failure = problem.model_dump() if problem else None
        if failure:
            failure["detail"] = mask_value(failure["detail"], self._secrets)
        usage = spent(trace.steps)
        end: dict[str, Any] = {
            "state": state,
            "status": answer["status"] if answer else None,
            "answer": remove_secrets(answer, self._secrets),
            "trace": lines_of((mask_fields(head_told(trace, head), self._secrets), *told)),
            "problem": failure,
            "seconds": seconds,
            "tokens": usage.input_tokens + usage.output_tokens,
            "money": usage.money,
        }
        self._unkept[id] = end
        await self._keep({id: end})

    async def _keep(self, ends: Mapping[str, dict[str, Any]]) -> None:
        """Keep the ends of runs by their ids; `ServiceError` if the store fails."""
        for id, end in ends.items():
            await self.store.finish_run(id, **end)
            self._unkept.pop(id, None)

    async def row(self, id: str, caller: Principal) -> RunRow:
        """Return a run; `Missing` if there is none that the caller may read."""
        row = await self.store.run(id)
        if row is None or not _readable(row, caller):
            raise Missing(f"there is no question {id!r}, or it is not yours")
        return row

    async def own(self, id: str, caller: Principal) -> RunRow:
        """Return a run of the caller's own; `Missing` if it is none."""
        row = await self.row(id, caller)
        if not _owned(row, caller):
            raise Missing(f"there is no question {id!r}, or it is not yours")
        return row

    async def view(self, id: str, caller: Principal, *, ends: bool = False) -> RunView:
        """Return a run as it goes over the wire; `Missing` if the caller may not read it.

        Of one that `ends` just now nobody has an opinion yet.
        """
        row = await self.row(id, caller)
        said = [] if ends else await self.store.feedback(id)
        said = [one for one in said if one.owner == caller.id]
        before = await self._before(row.after, caller)
        return RunView.model_validate(
            {
                **vars(row),
                "session": row.session or "",
                "language": row.language or detect_language(tokens(row.question)),
                "before": [{"question": one.question} for one in before],
                "feedback": vars(said[0]) if said else None,
                "verified": not ends and bool(await self.store.verified_of([row.id])),
                "mine": _owned(row, caller),
            }
        )

    async def summaries(self, rows: Sequence[RunRow], caller: Principal) -> list[RunSummary]:
        """Return runs of the caller's as lines of the history."""
        before = {row.after for row in rows if row.after is not None}
        questions = await self.store.questions(before, caller.id)
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

    async def shows_steps(self, id: str, caller: Principal) -> bool:
        """Whether the caller may read a run's steps: they quote the questions before it."""
        row: RunRow | None = await self.row(id, caller)
        if row and _owned(row, caller):
            return True
        for _ in range(_CONVERSATION):
            row = await self.store.run(row.after) if row and row.after else None
            if row is None:
                return True
            if not _readable(row, caller):
                return False
        return True

    async def steps(self, id: str, caller: Principal) -> str:
        """Return the steps of a run as the text of a trace file; see `shows_steps`."""
        if not await self.shows_steps(id, caller):
            raise Missing(
                f"the steps of {id!r} quote questions before it, which are not shared with you"
            )
        return await self._trace(id)

    async def _trace(self, id: str) -> str:
        text = await self.store.trace(id)
        if text is None:
            raise Missing(f"the question {id!r} has no steps yet: it is still under way")
        return text

    async def outcome(self, id: str, caller: Principal) -> tuple[Trace, Head, Outcome]:
        """Return the trace and outcome of a run; `SetupError` if it has none."""
        await self.row(id, caller)
        trace, head = trace_in(await self._trace(id), f"of question {id}")
        try:
            return trace, head, trace.outcome
        except ValueError as error:
            raise SetupError(f"question {id!r} came to no answer: {error}") from error

    async def earlier(self, id: str, caller: Principal) -> tuple[Earlier, ...]:
        """Return the conversation up to a run, oldest first, for the question that follows it.

        It is read from the store alone: what a caller says of earlier questions is not believed.
        Questions that came to no query are passed over.
        """
        row = await self.row(id, caller)
        return await self._before(row.id, caller)

    async def session(self, id: str, caller: Principal) -> SessionRow:
        """Return a session of the caller's own; `Missing` if it is none."""
        known = await self.store.session(id)
        if known is None or known.owner != caller.id:
            raise Missing(f"there is no session {id!r}, or it is not yours")
        return known

    async def beat(self) -> tuple[str, ...]:
        """Report that this process lives, and hand back the work of dead ones: return its jobs.

        Ends that the store did not take before are given to it again.
        """
        await self.store.beat(self.process)
        given_up = await self.store.hand_back_orphans()
        await self._keep(dict(self._unkept))
        return given_up

    async def leave(self) -> None:
        """Report that this process ends."""
        with contextlib.suppress(ServiceError):
            await self._keep(dict(self._unkept))
        await self.store.leave(self.process)

    async def _before(self, id: str | None, caller: Principal) -> tuple[Earlier, ...]:
        """The chain of questions up to a run: those that came to a query and the caller may read.

        Who shares a question does not share those before it.
        """
        found: list[Earlier] = []
        for _ in range(_CONVERSATION):
            row = await self.store.run(id) if id else None
            if row is None:
                break
            query = (row.answer or {}).get("sparql")
            if isinstance(query, str) and _readable(row, caller):
                found.append(Earlier(row.question, query))
            id = row.after
        return tuple(reversed(found))


def _owned(row: RunRow, caller: Principal) -> bool:
    return row.owner == caller.id


def _readable(row: RunRow, caller: Principal) -> bool:
    if not all(caller.sees(graph) for graph in row.graphs):
        return False
    return _owned(row, caller) or row.shared or row.owner == ANONYMOUS or caller.may("admin")


_log = logging.getLogger("askgraph.server")
_LOOK, _BEAT = 1.0, 5  # seconds between two looks at the store, looks between two signs of life
_KNOWN = 60.0  # seconds for which a run that ended is known here


@dataclass(eq=False)
class Run:
    """A question that runs here, or ran a moment ago."""

    id: str
    caller: Principal
    asked: RunRequest
    began: float
    events: Events
    state: State
    steps: list[Step] = field(default_factory=list)
    told: list[Json] = field(default_factory=list)
    head: Head = field(default_factory=Head)
    task: "asyncio.Task[None] | None" = None
    stops_as: State = "cancelled"
    patience: asyncio.TimerHandle | None = None


class Runs:
    """The runs of this process; none goes on when nobody listens."""

    def __init__(
        self,
        settings: ServeSettings,
        graphs: OpenGraphs,
        answering: Answering | WorkerPool,
        records: RunRecords,
    ) -> None:
        self._settings, self._answering = settings, answering
        self._graphs, self._records = graphs, records
        self._here: dict[str, Run] = {}
        self._queue = Queue(settings.parallel, settings.queue)
        self._model_queue = Queue(settings.parallel_with_model, settings.queue)
        self._graph_queues: dict[str, Queue] = {}
        self._closing = False
        self._observers: list[Callable[[RunView], None]] = []

    @property
    def running(self) -> int:
        """The number of questions that are worked on."""
        return self._queue.inside + self._model_queue.inside

    @property
    def waiting(self) -> int:
        """The number of questions that wait for their turn."""
        return self._queue.waiting + self._model_queue.waiting

    def observe(self, observer: Callable[[RunView], None]) -> None:
        """Call `observer` with each run that ends here."""
        self._observers.append(observer)

    # Asked: the run is in the store, and its first event can be read.

    async def begin(self, asked: RunRequest, caller: Principal) -> Run:
        """Begin a run; its events come from `read`.

        If the caller goes away in the middle, the run is complete, and one that nobody reads.
        Raises `TooMany` if the caller has too many under way, or the server shuts down.
        """
        if self._closing:
            raise TooMany("this server is shutting down; ask again in a moment", retry_after=2.0)
        return await asyncio.shield(asyncio.create_task(self._begin_run(asked, caller)))

    async def _begin_run(self, asked: RunRequest, caller: Principal) -> Run:
        waits = any(queue.full for queue in self._queues(asked))
        state: State = "queued" if waits else "running"
        id = await self._records.begin(asked, caller, state)
        now = asyncio.get_running_loop().time()
        run = self._here[id] = Run(id, caller, asked, now, Events(id), state)
        run.events.add(
            "run",
            session=asked.session,
            question=asked.question.text,
            graphs=list(asked.graphs),
            method=asked.method,
        )
        run.task = asyncio.create_task(self._run(run), name=f"run {id}")
        self._leave(run)
        return run

    async def _run(self, run: Run) -> None:
        """Work on a question to its end, whatever that is, and keep it."""
        problem: Problem | None = None
        try:
            with question_span(run.id, run.asked.method, run.asked.graphs):
                await self._work(run)
            run.state = "done"
        except asyncio.CancelledError:
            run.state = run.stops_as
        except AskgraphError as error:
            run.state, problem = "failed", problem_of(error)
        except BaseException:  # noqa: BLE001 - a bug ends one question, not the server
            run.state, problem = "failed", Problem.unexpected()
            _log.exception("question %s failed by a bug", run.id)
        try:
            await shield(self._end(run, problem))
        finally:
            asyncio.get_running_loop().call_later(_KNOWN, self._here.pop, run.id, None)

    async def _work(self, run: Run) -> None:
        async with AsyncExitStack() as held:
            # Queued: for each graph, then for the server.
            for queue in self._queues(run.asked):
                turn = queue.turn(lambda ahead: run.events.add("queued", ahead=ahead))
                await held.enter_async_context(turn)
            # Running.
            if run.state == "queued":
                run.state = "running"
                await self._records.store.run_started(run.id, self._records.process)
            # Its steps, the last of which is the outcome.
            async with aclosing(self._answering.told(await self._job(run))) as told:
                async for one in told:
                    if isinstance(one, Head):
                        run.head = one
                        continue
                    run.steps.append(one)
                    run.told.append(self._records.mask(one))
                    if not isinstance(one, Answer | Clarification | Refusal):
                        run.events.add("step", step=run.told[-1])

    async def _job(self, run: Run) -> Job:
        """The question with all that its answer needs of the server."""
        graphs = self._graphs
        for name in run.asked.graphs:
            graphs.settings(name, run.caller)  # it may be gone by now
        return Job(
            run.asked,
            min(run.asked.timeout or self._settings.timeout, self._settings.timeout),
            {name: await graphs.verified(name) for name in run.asked.graphs},
            graphs.services(run.caller),
            span_headers(),
        )

    async def _end(self, run: Run, problem: Problem | None) -> None:
        """Keep how a run ended, then announce it."""
        trace = Trace(run.asked.question, run.asked.method, tuple(run.steps))
        seconds = round(asyncio.get_running_loop().time() - run.began, 6)
        try:
            ended = (trace, run.head, run.told, problem, seconds)
            await self._records.ended(run.id, run.state, *ended)
            view = await self._records.view(run.id, run.caller, ends=True)
        except AskgraphError as error:
            _log.error("the outcome of question %s cannot be kept: %s", run.id, error)
            run.events.add("problem", problem=problem_of(error).model_dump())
            return
        finally:
            run.steps, run.told = [], []  # they are in the store; readers of them have the list
        run.events.add(**_last(view))
        for observer in self._observers:
            observer(view)

    # Read: by its caller, by others, after a broken connection. Left by all, it is cancelled.

    async def read(self, run: Run, after: int = -1) -> AsyncGenerator[Event, None]:
        """Yield the events of a run from the one after `after`.

        A run that nobody reads any more is cancelled after the server's `patience`.
        """
        with self._attend(run):
            async with aclosing(run.events.read(after)) as events:
                async for event in events:
                    yield event

    @contextmanager
    def _attend(self, run: Run) -> Iterator[None]:
        if run.patience is not None:
            run.patience.cancel()
            run.patience = None
        try:
            yield
        finally:
            self._leave(run)

    def _leave(self, run: Run) -> None:
        if run.events.ended or run.events.readers or run.patience is not None:
            return

        def stop() -> None:
            if not run.events.readers and run.task is not None:
                run.task.cancel()

        loop = asyncio.get_running_loop()
        run.patience = loop.call_later(self._settings.patience, stop)

    async def outcome(self, run: Run) -> RunView:
        """Wait for the end of a run and return it; cancelled early, the run is left."""
        with self._attend(run):
            last = await run.events.last()
        if last["event"] == "outcome":
            return RunView.model_validate(last["run"])
        return await self._records.view(run.id, run.caller)

    async def follow(
        self, id: str, caller: Principal, after: int = -1
    ) -> AsyncGenerator[Event, None]:
        """Yield the events of a run wherever it runs.

        Only the last event is given of a run of another process, and to callers who may not read
        the steps. Raises `Missing` if there is none that the caller may read.
        """
        run = self._here.get(id)
        if run is not None and await self._records.shows_steps(id, caller):
            async with aclosing(self.read(run, after)) as events:
                async for event in events:
                    yield event
            return
        view = await self._records.view(id, caller)
        while view.state in ("queued", "running"):
            await asyncio.sleep(_LOOK)
            view = await self._records.view(id, caller)
        yield {**_last(view), "id": id, "seq": after + 1}

    # Cancelled, handed back, or taken over from a process that died.

    async def cancel(self, id: str) -> None:
        """Cancel a run, wherever it runs; one that has ended stays as it is."""
        run = self._here.get(id)
        if run is None:
            await self._records.store.ask_to_cancel(runs, id)
        else:
            await self._stop(run, "cancelled")

    async def _stop(self, run: Run, state: State) -> None:
        if run.task is not None and not run.task.done():
            run.stops_as = state
            run.task.cancel()
            await asyncio.wait([run.task])

    async def watch(self, give_up: Callable[[Collection[str]], Awaitable[None]]) -> None:
        """Cancel what other processes were asked to, and take over the work of dead ones; for ever.

        `give_up` gets the jobs of dead ones. Ends that the store did not take before are given to
        it again.
        """
        for looks in count():
            try:
                if looks % _BEAT == 0:
                    await give_up(await self._records.beat())
                store, process = self._records.store, self._records.process
                for id in await store.cancel_wanted(process) if self._here else []:
                    await self.cancel(id)
            except (ServiceError, SetupError) as error:
                _log.warning("what to stop, and what others left, cannot be seen: %s", error)
            await asyncio.sleep(_LOOK)

    async def close(self, grace: float) -> None:
        """Take no more questions; give those that run `grace` seconds, then hand them back."""
        self._closing = True
        tasks = [run.task for run in self._here.values() if run.task]
        if tasks:
            await asyncio.wait(tasks, timeout=grace)
        for run in list(self._here.values()):
            await self._stop(run, "handed_back")

    def _queues(self, asked: RunRequest) -> list[Queue]:
        """The queues to pass, those of the graphs in one order for all, so that none block.

        What waits for a language model most of its time has a queue of its own.
        """
        if needs_model(plugins.load("method", asked.method)):
            return [self._model_queue]
        most, waiting = self._settings.per_graph, self._settings.queue
        for name in set(asked.graphs) - self._graph_queues.keys():
            self._graph_queues[name] = Queue(most, waiting, what=f"questions to {name!r}")
        return [*(self._graph_queues[name] for name in sorted(set(asked.graphs))), self._queue]


def _last(view: RunView) -> dict[str, Any]:
    """The event that a run ended with."""
    match view.state:
        case "done":
            return {"event": "outcome", "run": view.model_dump()}
        case "failed":
            problem = view.problem or Problem.unexpected()
            return {"event": "problem", "problem": problem.model_dump()}
        case state:
            return {"event": state}
