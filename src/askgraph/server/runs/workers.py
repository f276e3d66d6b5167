"""Answers questions: in this process (`Answering`), or in others (`WorkerPool`).

One interpreter searches on one core, so a server has as many processes as cores, which map the same
files; what waits for a language model with limits is in one of them, where its limits hold. A
process that dies fails its questions, and a new one takes its place. Its standard input brings
messages, its standard output takes what is told of each question; it ends with its input.

    in     ("begin", folder, settings), then ("ask", number, job), ("cancel", number),
           ("forget", graph)
    out    (number, "told", head or step), then (number, "ended", None) or
           (number, "failed", error); before these (number, "alone", models) with the seconds for
           which those are left alone whose servers have just failed
"""

import asyncio
import gc
import logging
import os
import pickle
import signal
import sys
import time
from collections.abc import AsyncGenerator, Mapping
from contextlib import AsyncExitStack, aclosing, suppress
from dataclasses import dataclass, field, replace
from itertools import count
from pathlib import Path
from typing import Any

from askgraph import plugins
from askgraph.errors import AskgraphError, ServiceError, SetupError
from askgraph.methods import can_search_indices
from askgraph.server.graphs.open_graphs import GraphPool, VerifiedAnswers
from askgraph.server.runs import RunRequest
from askgraph.server.settings import ServeSettings
from askgraph.server.telemetry import set_up_logs, within_span
from askgraph.trace import Step
from askgraph.trace.codec import Head
from askgraph.workspace import Workspace
from askgraph.workspace.graphs import only_services
from askgraph.workspace.models import Models, needs_model
from askgraph.workspace.run_sync import head_of, steps_of
from askgraph.workspace.settings import model_tables

Told = Head | Step
"""What is told of a run: how it is set up, then its steps, the last of which is the outcome."""


@dataclass(frozen=True)
class Job:
    """A question with what the server knows: verified answers, what may be reached, seconds.

    `services` are the graphs that a SERVICE may reach, None for all; `span` are the headers of the
    span of telemetry that its work belongs to.
    """

    asked: RunRequest
    timeout: float
    verified: Mapping[str, VerifiedAnswers] = field(default_factory=dict)
    services: frozenset[str] | None = None
    span: Mapping[str, str] = field(default_factory=dict)


async def _run_through(steps: AsyncGenerator[Told, None]) -> None:
    async with aclosing(steps):
        async for _ in steps:
            pass


class Answering:
    """Answers questions over the graphs of a workspace, many at a time."""

    def __init__(self, workspace: Workspace, pool: GraphPool, models: Models) -> None:
        self._workspace, self._pool, self._models = workspace, pool, models

    async def told(self, job: Job) -> AsyncGenerator[Told, None]:
        """Tell a question's head and steps; whoever stops reading closes it, which ends the work.

        Raises what making the method, opening the graphs and answering raise, and `TimedOut`.
        """
        asked = job.asked
        method = await asyncio.to_thread(asked.made, self._workspace, self._models)
        async with AsyncExitStack() as held:
            lent = (
                self._pool.lease(
                    name,
                    job.verified.get(name, VerifiedAnswers()),
                    searched=can_search_indices(method),
                )
                for name in dict.fromkeys(asked.graphs)
            )
            graphs = tuple([await held.enter_async_context(one) for one in lent])
            yield head_of(method, graphs)
            with only_services(job.services):
                steps = steps_of(asked.question, method, graphs, timeout=job.timeout)
                async with aclosing(steps):
                    async for step in steps:
                        yield step

    async def each(self, job: Job) -> None:
        """Answer a question, so that its graphs are open."""
        await _run_through(self.told(job))

    def left_alone(self) -> int:
        """Return how many models are left alone, as their servers have just failed."""
        return len(self._models.left_alone())

    async def forget(self, name: str) -> None:
        """Let go of a graph that was removed or replaced."""
        await self._pool.forget([name])

    async def close(self) -> None:
        """Do nothing: who made the parts closes them."""


_log = logging.getLogger("askgraph.server.runs")
_LIMITS = ("requests_per_minute", "tokens_per_minute", "parallel")
_LARGE = 1 << 16  # bytes from which a message is read off the event loop
# Not `-m`, which would load this module twice: jobs are pickled as its own.
_PROGRAM = "from askgraph.server.runs.workers import main; main()"
_ENDED = "the process that answered the question ended: ask it again"


def collect_rarely() -> None:
    """Let this process look for garbage seldom, and never among what it has loaded by now.

    It did so for an eighth of the time, and all else waited up to 0.2 seconds for it.
    """
    gc.collect()
    gc.freeze()
    gc.set_threshold(50_000, 10, 10)


def frame_message(message: object) -> bytes:
    """Return a message with its length before it."""
    body = pickle.dumps(message, pickle.HIGHEST_PROTOCOL)
    return len(body).to_bytes(8, "little") + body


class WorkerPool:
    """Answers questions in so many processes, which are started when they are first needed."""

    def __init__(self, settings: ServeSettings, workspace: Workspace, count: int) -> None:
        self._settings, self._folder = settings, workspace.folder
        self._members = [_WorkerProcess(settings, workspace.folder) for _ in range(count)]

    async def told(self, job: Job) -> AsyncGenerator[Told, None]:
        """Tell a question's head and steps as `Answering` does.

        Raises `ServiceError` too, if its process dies.
        """
        members = self._members
        if needs_model(plugins.load("method", job.asked.method)):
            tables = model_tables(self._folder).values()
            # Limits of language models, which each process would count for itself.
            if any(table.get(name) for table in tables for name in _LIMITS):
                members = members[:1]
        member = min(members, key=lambda one: one.busy)
        async with aclosing(member.told(job)) as steps:
            async for one in steps:
                yield one

    async def each(self, job: Job) -> None:
        """Let every process answer a question, so that its graphs are open there."""
        await asyncio.gather(*(_run_through(member.told(job)) for member in self._members))

    def left_alone(self) -> int:
        """Return how many models are left alone by a process, as their servers have just failed."""
        return len({name for member in self._members for name in member.left_alone()})

    async def forget(self, name: str) -> None:
        """Let go of a graph that was removed or replaced."""
        for one in self._members:
            one.send(("forget", name))

    async def close(self) -> None:
        """End the processes."""
        await asyncio.gather(*(one.close() for one in self._members))


class _WorkerProcess:
    """One process, the questions that it has, and what it knows of verified answers."""

    def __init__(self, settings: ServeSettings, folder: Path) -> None:
        self._settings, self._folder = settings, folder
        self._process: asyncio.subprocess.Process | None = None
        self._reading: asyncio.Task[None] | None = None
        self._starting = asyncio.Lock()
        self._numbers = count()
        self._heard: dict[int, asyncio.Queue[tuple[str, Any]]] = {}
        self._known: dict[str, int] = {}
        self._alone: dict[str, float] = {}  # models, and until when they are left alone
        self._coming = 0  # questions that wait until it has started
        self._closed = False

    @property
    def busy(self) -> int:
        """The number of questions that it has."""
        return len(self._heard) + self._coming

    def left_alone(self) -> list[str]:
        """Return the models that the process leaves alone."""
        return [name for name, until in self._alone.items() if until > time.monotonic()]

    async def told(self, job: Job) -> AsyncGenerator[Told, None]:
        """Hand a question over and tell what comes of it."""
        self._coming += 1
        try:
            await self.started()
        finally:
            self._coming -= 1
        number = next(self._numbers)
        heard = self._heard[number] = asyncio.Queue()
        ended = False
        try:
            news = {
                name: one
                for name, one in job.verified.items()
                if self._known.get(name) != one.version
            }
            self._known |= {name: one.version for name, one in news.items()}
            self.send(("ask", number, replace(job, verified=news)))
            while True:
                kind, content = await heard.get()
                if kind == "told":
                    yield content
                    continue
                ended = True
                if kind == "failed":
                    raise content
                return
        finally:
            self._heard.pop(number, None)
            if not ended:
                self.send(("cancel", number))

    async def started(self) -> None:
        """Start the process if it does not run."""
        async with self._starting:
            if self._closed:
                raise ServiceError("this server is shutting down")
            if self._process is not None and self._process.returncode is None:
                return
            if self._reading is not None:
                await self._reading  # the questions of the one that died are told so first
            self._known = {}
            self._process = await asyncio.create_subprocess_exec(
                *(sys.executable, "-c", _PROGRAM),
                stdin=asyncio.subprocess.PIPE,
                stdout=asyncio.subprocess.PIPE,
                start_new_session=True,  # Ctrl-C is for the server, which ends it with its input
            )
            self.send(("begin", self._folder, self._settings))
            self._reading = asyncio.create_task(self._read(self._process), name="hear a process")

    def send(self, message: tuple[Any, ...]) -> None:
        """Send a message, if the process runs."""
        if self._process is not None and self._process.returncode is None:
            assert self._process.stdin
            self._process.stdin.write(frame_message(message))

    async def close(self) -> None:
        """End the process and what it does."""
        self._closed = True
        async with self._starting:
            process = self._process
        if process is None:
            return
        assert process.stdin
        process.stdin.close()
        try:
            await asyncio.wait_for(process.wait(), 2.0)
        except TimeoutError:
            with suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
            await process.wait()
        if self._reading is not None:
            await self._reading

    async def _read(self, process: asyncio.subprocess.Process) -> None:
        """Hand on what a process tells, until it ends."""
        assert process.stdout
        with suppress(asyncio.IncompleteReadError):
            while True:
                size = int.from_bytes(await process.stdout.readexactly(8), "little")
                body = await process.stdout.readexactly(size)
                large = size > _LARGE
                told = await asyncio.to_thread(pickle.loads, body) if large else pickle.loads(body)
                number, kind, content = told
                if kind == "alone":
                    now = time.monotonic()
                    self._alone = {name: now + seconds for name, seconds in content.items()}
                elif number in self._heard:
                    self._heard[number].put_nowait((kind, content))
        code = await process.wait()
        if not self._closed:
            _log.error("a process that answers questions ended with status %s", code)
        for heard in self._heard.values():
            heard.put_nowait(("failed", ServiceError(_ENDED)))


class _Worker:
    """The questions that are answered here."""

    def __init__(self, workspace: Workspace, settings: ServeSettings, out: int) -> None:
        self._out = out
        self._pool, self._models = GraphPool(workspace, settings), Models(workspace.folder)
        self._answering = Answering(workspace, self._pool, self._models)
        self._verified: dict[str, VerifiedAnswers] = {}
        self._tasks: dict[int, asyncio.Task[None]] = {}
        self._ready = asyncio.create_task(asyncio.to_thread(_get_ready, self._models))

    def take(self, message: tuple[Any, ...]) -> None:
        """Begin or end what a message says."""
        match message:
            case ("ask", int(number), Job() as job):
                self._verified |= job.verified
                known = {
                    name: self._verified.get(name, VerifiedAnswers()) for name in job.asked.graphs
                }
                job = replace(job, verified=known)
                task = asyncio.create_task(self._answer(number, job), name=f"question {number}")
                self._tasks[number] = task
                task.add_done_callback(lambda _: self._tasks.pop(number, None))
            case ("cancel", int(number)) if number in self._tasks:
                self._tasks[number].cancel()
            case ("forget", str(name)):
                self._tasks[-1] = asyncio.create_task(self._pool.forget([name]))

    async def close(self) -> None:
        """End the work, and let go of the graphs."""
        for task in self._tasks.values():
            task.cancel()
        await self._ready
        await self._pool.close()
        await self._models.close()

    async def _answer(self, number: int, job: Job) -> None:
        try:
            with within_span(job.span):
                try:
                    async with aclosing(self._answering.told(job)) as steps:
                        async for one in steps:
                            self._tell(number, "told", one)
                finally:
                    self._tell(number, "alone", self._models.left_alone())
            self._tell(number, "ended", None)
        except AskgraphError as error:
            self._tell(number, "failed", to_portable(error))
        except Exception:  # noqa: BLE001 - a bug ends one question, not the others
            _log.exception("a question failed by a bug")
            self._tell(number, "failed", RuntimeError("a bug; the log says more"))

    def _tell(self, number: int, kind: str, content: object) -> None:
        view = memoryview(frame_message((number, kind, content)))
        while view:
            view = view[os.write(self._out, view) :]


def _get_ready(models: Models) -> None:
    """Import what the first question to a model's server would wait for, if there is one."""
    with suppress(SetupError):
        provider = models.settings().provider
        if provider != "transformers":  # which takes seconds and memory
            plugins.load("llm", provider)
            plugins.load("method", "guided")
    collect_rarely()


def to_portable(error: AskgraphError) -> AskgraphError:
    """Return an error that can be sent: itself, or one with its words."""
    try:
        pickle.loads(pickle.dumps(error))
    except Exception:  # noqa: BLE001 - whatever an error holds
        return ServiceError(str(error))
    return error


async def _main(out: int) -> None:
    loop = asyncio.get_running_loop()
    reader = asyncio.StreamReader()
    await loop.connect_read_pipe(lambda: asyncio.StreamReaderProtocol(reader), sys.stdin)
    member: _Worker | None = None
    try:
        while True:
            size = int.from_bytes(await reader.readexactly(8), "little")
            message = pickle.loads(await reader.readexactly(size))
            if member is None:
                _, folder, settings = message
                set_up_logs(settings)
                member = _Worker(Workspace(folder), settings, out)
            else:
                member.take(message)
    except asyncio.IncompleteReadError:
        pass
    if member is not None:
        await member.close()


def main() -> None:
    """Answer the questions that standard input brings; what else is printed goes to the log."""
    replies = os.dup(1)
    os.dup2(2, 1)
    asyncio.run(_main(replies))
