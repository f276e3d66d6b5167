"""Questions that run: begun for a caller, worked on in turn, read by many, kept in the store."""

import asyncio
import logging
from collections.abc import AsyncGenerator, Callable, Sequence
from contextlib import AsyncExitStack, aclosing
from dataclasses import dataclass, field
from typing import Any

from askgraph.errors import AskgraphError
from askgraph.methods import searches
from askgraph.serve.graphs.open_graphs import OpenGraphs
from askgraph.serve.identity.principal import Principal, TooMany
from askgraph.serve.middleware.telemetry import question_span
from askgraph.serve.problems import Problem, problem_of
from askgraph.serve.runs.asking import Asked
from askgraph.serve.runs.events import Event, Events
from askgraph.serve.runs.kept import KeptRuns
from askgraph.serve.runs.queue import Line
from askgraph.serve.runs.shield import to_its_end
from askgraph.serve.settings import ServeSettings
from askgraph.serve.views.runs import RunView, State
from askgraph.trace import Answer, Clarification, Refusal, Step, Trace
from askgraph.trace.lines import Head
from askgraph.workspace import Workspace
from askgraph.workspace.answering import steps_of
from askgraph.workspace.models import Models
from askgraph.workspace.tracing import head_of

__all__ = ["Run", "Runs"]

_log = logging.getLogger("askgraph.serve")
_LOOK = 1.0  # seconds between two looks at a run of another process
_KNOWN = 60.0  # seconds for which a run that ended is known here


@dataclass(eq=False)
class Run:
    """A question that runs here, or ran a moment ago."""

    id: str
    caller: Principal
    asked: Asked
    began: float
    events: Events
    steps: list[Step] = field(default_factory=list)
    head: Head = field(default_factory=Head)
    state: State = "queued"
    task: "asyncio.Task[None] | None" = None
    stops_as: State = "cancelled"
    leaving: asyncio.TimerHandle | None = None


class Runs:
    """Begins questions, tells of them, stops them; none is left running when nobody listens.

    A question begun is in the store before anybody hears of it, and so is its outcome.
    """

    def __init__(
        self,
        settings: ServeSettings,
        workspace: Workspace,
        graphs: OpenGraphs,
        models: Models,
        kept: KeptRuns,
    ) -> None:
        self._settings = settings
        self._workspace = workspace
        self._graphs = graphs
        self._models = models
        self._kept = kept
        self._here: dict[str, Run] = {}
        self._line = Line(settings.parallel, settings.queue)
        self._graph_lines: dict[str, Line] = {}
        self._closing = False
        self._observers: list[Callable[[RunView], None]] = []

    @property
    def running(self) -> int:
        """How many questions are worked on."""
        return self._line.inside

    @property
    def waiting(self) -> int:
        """How many questions wait for their turn."""
        return self._line.waiting

    @property
    def known(self) -> int:
        """How many questions are under way here, or ended a moment ago."""
        return len(self._here)

    def observe(self, observer: Callable[[RunView], None]) -> None:
        """Let somebody hear of each question that ended here."""
        self._observers.append(observer)

    async def begin(self, asked: Asked, caller: Principal) -> Run:
        """Begin a question; its events come from `read`.

        A caller who goes away in the middle leaves no half-begun question: it is one that nobody
        reads. Raises `TooMany` where the caller has too many under way, or the server shuts down.
        """
        if self._closing:
            raise TooMany("this server is shutting down; ask again in a moment", retry_after=2.0)
        return await asyncio.shield(asyncio.create_task(self._begun(asked, caller)))

    async def _begun(self, asked: Asked, caller: Principal) -> Run:
        full = any(line.full for line in self._lines(asked.graphs))
        state: State = "queued" if full else "running"
        id = await self._kept.begin(asked, caller, state)
        run = Run(id, caller, asked, asyncio.get_running_loop().time(), Events(id), state=state)
        self._here[id] = run
        run.events.add(
            "run",
            session=asked.session,
            question=asked.question.text,
            graphs=list(asked.graphs),
            method=asked.method,
        )
        run.task = asyncio.create_task(self._run(run), name=f"run {id}")
        self._left(run)
        return run

    def here(self, id: str) -> Run | None:
        """Return a run that is under way in this process, or ended a moment ago."""
        return self._here.get(id)

    async def read(self, run: Run, after: int = -1) -> AsyncGenerator[Event, None]:
        """Yield the events of a run from the one after `after`; closed early, somebody left.

        A run that nobody reads any more is stopped after the server's `patience`.
        """
        if run.leaving is not None:
            run.leaving.cancel()
            run.leaving = None
        try:
            async with aclosing(run.events.read(after)) as events:
                async for event in events:
                    yield event
        finally:
            self._left(run)

    async def follow(
        self, id: str, caller: Principal, after: int = -1
    ) -> AsyncGenerator[Event, None]:
        """Yield the events of a run wherever it runs; of another process's, only the last one.

        So also to who may not read its steps.

        Raises `Missing` where there is none that the caller may read.
        """
        run = self._here.get(id)
        if run is not None and await self._kept.tells_steps(id, caller):
            async with aclosing(self.read(run, after)) as events:
                async for event in events:
                    yield event
            return
        while True:
            view = await self._kept.view(id, caller)
            if view.state not in ("queued", "running"):
                yield {**_last(view), "id": id, "seq": after + 1}
                return
            await asyncio.sleep(_LOOK)

    async def outcome(self, run: Run) -> RunView:
        """Wait for the end of a run and return it; closed early, somebody left."""
        last: Event = {}
        async with aclosing(self.read(run)) as events:
            async for event in events:
                last = event
        if last["event"] == "outcome":
            return RunView.model_validate(last["run"])
        return await self._kept.view(run.id, run.caller)

    async def cancel(self, id: str) -> None:
        """Stop a run, wherever it runs; one that has ended stays as it is."""
        run = self._here.get(id)
        if run is None:
            await self._kept.ask_to_cancel(id)
        else:
            await self._stop(run, "cancelled")

    async def close(self, grace: float) -> None:
        """Take no more questions; give those that run `grace` seconds, then hand them back."""
        self._closing = True
        tasks = [run.task for run in self._here.values() if run.task]
        if tasks:
            await asyncio.wait(tasks, timeout=grace)
        for run in list(self._here.values()):
            await self._stop(run, "handed_back")

    async def _stop(self, run: Run, state: State) -> None:
        if run.task is None or run.task.done():
            return
        run.stops_as = state
        run.task.cancel()
        await asyncio.wait([run.task])

    def _left(self, run: Run) -> None:
        """Stop a run in a while, if it goes on and nobody reads it by then."""
        if run.events.ended or run.events.readers or run.leaving is not None:
            return

        def stop() -> None:
            if not run.events.readers and run.task is not None:
                run.task.cancel()

        loop = asyncio.get_running_loop()
        run.leaving = loop.call_later(self._settings.patience, stop)

    async def _run(self, run: Run) -> None:
        """Work on a question to its end, whatever that is, and keep it."""
        problem: Problem | None = None
        try:
            with question_span(run.id, run.asked.method, run.asked.graphs):
                run.state = await self._worked(run)
        except asyncio.CancelledError:
            run.state = run.stops_as
        except AskgraphError as error:
            run.state, problem = "failed", problem_of(error)
        except BaseException:  # noqa: BLE001 - a bug ends one question, not the server
            run.state = "failed"
            problem = Problem.unexpected()
            _log.exception("question %s failed by a bug", run.id)
        try:
            await to_its_end(self._ended(run, problem))
        finally:
            asyncio.get_running_loop().call_later(_KNOWN, self._here.pop, run.id, None)

    async def _worked(self, run: Run) -> State:
        async with AsyncExitStack() as turns:
            for line in self._lines(run.asked.graphs):
                await turns.enter_async_context(
                    line.turn(lambda ahead: run.events.add("queued", ahead=ahead))
                )
            if run.state == "queued":
                run.state = "running"
                await self._kept.started(run.id)
            method = await asyncio.to_thread(run.asked.made, self._workspace, self._models)
            leases = self._graphs.leases(run.asked.graphs, run.caller, searched=searches(method))
            graphs = await turns.enter_async_context(leases)
            run.head = head_of(method, graphs)
            timeout = min(run.asked.timeout or self._settings.timeout, self._settings.timeout)
            steps = steps_of(run.asked.question, method, graphs, timeout=timeout)
            async with aclosing(steps):
                async for step in steps:
                    run.steps.append(step)
                    if not isinstance(step, Answer | Clarification | Refusal):
                        run.events.add("step", step=self._kept.told(step))
        return "done"

    async def _ended(self, run: Run, problem: Problem | None) -> None:
        """Keep what came of a question, then say it."""
        trace = Trace(run.asked.question, run.asked.method, tuple(run.steps))
        try:
            seconds = asyncio.get_running_loop().time() - run.began
            await self._kept.ended(
                run.id, run.state, trace, run.head, problem=problem, seconds=round(seconds, 6)
            )
            view = await self._kept.view(run.id, run.caller)
        except AskgraphError as error:
            _log.error("the outcome of question %s cannot be kept: %s", run.id, error)
            run.events.add("problem", problem=problem_of(error).model_dump())
            return
        finally:
            run.steps = []  # they are in the store; who reads them has the list
        run.events.add(**_last(view))
        for observer in self._observers:
            observer(view)

    def _lines(self, graphs: Sequence[str]) -> list[Line]:
        """The lines to wait in, those of the graphs in one order for all, so that none block."""
        lines = [
            self._graph_lines.setdefault(
                name,
                Line(self._settings.per_graph, self._settings.queue, what=f"questions to {name!r}"),
            )
            for name in sorted(set(graphs))
        ]
        return [*lines, self._line]


def _last(view: RunView) -> dict[str, Any]:
    """The event that a run ended with."""
    match view.state:
        case "done":
            return {"event": "outcome", "run": view.model_dump()}
        case "failed":
            problem = view.problem or Problem.unexpected()
            return {"event": "problem", "problem": problem.model_dump()}
        case "handed_back":
            return {"event": "handed_back"}
        case _:
            return {"event": "cancelled"}
