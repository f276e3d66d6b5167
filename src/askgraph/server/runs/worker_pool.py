"""Answer questions in this process (`LocalAnswerer`) or in worker processes (`WorkerPool`).

One interpreter searches on one core, so a server has a process per core; all map the same files.
Methods whose language model has rate limits run in a single process, which enforces them. If a
process dies, its questions fail and a new process replaces it. A process reads messages from
standard input, writes updates to standard output, and ends when its input ends.

    in     ("begin", folder, settings), then ("ask", number, job), ("cancel", number),
           ("forget", graph)
    out    (number, "told", head or step), then (number, "ended", None) or
           (number, "failed", error); before these (number, "alone", models), with the seconds for
           which models are skipped because their servers have just failed
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
from functools import partial
from itertools import count
from pathlib import Path
from typing import Any

from askgraph import plugins
from askgraph.errors import AskgraphError, ServiceError, SetupError
from askgraph.methods import can_search_indices
from askgraph.server.graphs import GraphPool, VerifiedAnswers
from askgraph.server.runs import RunRequest
from askgraph.server.settings import ServeSettings
from askgraph.server.telemetry import set_up_logs, use_parent_span
from askgraph.trace import Step
from askgraph.trace.codec import TraceHead
from askgraph.workspace import Workspace
from askgraph.workspace.graphs import restrict_services
from askgraph.workspace.models import Models, is_model_required
from askgraph.workspace.run_sync import head_of, stream_steps
from askgraph.workspace.settings import load_model_tables

RunUpdate = TraceHead | Step
"""An update of a run: its head, then its steps; the last step is the outcome."""


@dataclass(frozen=True)
class QuestionJob:
    """A question with the server state that its answer needs.

    Attributes:
        timeout: seconds until it fails.
        verified: verified answers by graph.
        services: graphs that a SERVICE may reach; None for all.
        span: headers of the telemetry span that the work belongs to.
        caller: the id of the caller, for verified answers of their own.
    """

    request: RunRequest
    timeout: float
    verified: Mapping[str, VerifiedAnswers] = field(default_factory=dict)
    services: frozenset[str] | None = None
    span: Mapping[str, str] = field(default_factory=dict)
    caller: str = ""


async def _drain(steps: AsyncGenerator[RunUpdate, None]) -> None:
    async with aclosing(steps):
        async for _ in steps:
            pass


class LocalAnswerer:
    """Answers questions over the graphs of a workspace in this process, many at a time."""

    def __init__(self, workspace: Workspace, pool: GraphPool, models: Models) -> None:
        self._workspace, self._pool, self._models = workspace, pool, models

    async def stream_updates(self, job: QuestionJob) -> AsyncGenerator[RunUpdate, None]:
        """Yield the head and the steps of a run; closing the iterator stops the work.

        Raises:
            TimedOut: the job's timeout is over. Errors of building the method, opening the graphs
                and answering are also raised.
        """
        request = job.request
        method = await asyncio.to_thread(request.build_method, self._workspace, self._models)
        async with AsyncExitStack() as stack:
            leases = (
                self._pool.lease(
                    name,
                    job.verified.get(name, VerifiedAnswers()),
                    job.caller,
                    with_indices=can_search_indices(method),
                )
                for name in dict.fromkeys(request.graphs)
            )
            graphs = tuple([await stack.enter_async_context(lease) for lease in leases])
            yield head_of(method, graphs)
            with restrict_services(job.services):
                offer = partial(self._workspace.offer_graphs, visible=job.services)
                steps = stream_steps(
                    request.question, method, graphs, timeout=job.timeout, offer=offer
                )
                async with aclosing(steps):
                    async for step in steps:
                        yield step

    async def warm_up(self, job: QuestionJob) -> None:
        """Answer a question and discard the answer, so that its graphs are open."""
        await _drain(self.stream_updates(job))

    def count_unavailable_models(self) -> int:
        """Return how many models are skipped because their servers have just failed."""
        return len(self._models.list_paused_models())

    async def forget(self, name: str) -> None:
        """Close a graph that was removed or replaced."""
        await self._pool.evict([name])

    async def close(self) -> None:
        """Do nothing: the owner of the parts closes them."""


_log = logging.getLogger("askgraph.server.runs")
_RATE_LIMIT_SETTINGS = ("requests_per_minute", "tokens_per_minute", "parallel")
_THREAD_THRESHOLD_BYTES = 1 << 16  # larger messages are parsed outside of the event loop
# Not `-m`, which would load this module twice: jobs are pickled as its own.
_PROGRAM = "from askgraph.server.runs.worker_pool import main; main()"
_PROCESS_ENDED = "the process that answered the question exited: ask it again"


def reduce_garbage_collection() -> None:
    """Collect garbage rarely, and never among the objects loaded so far."""
    # Collection took an eighth of the time and blocked everything else for up to 0.2 seconds.
    gc.collect()
    gc.freeze()
    gc.set_threshold(50_000, 10, 10)


def frame_message(message: object) -> bytes:
    """Serialize a message with its length in front."""
    body = pickle.dumps(message, pickle.HIGHEST_PROTOCOL)
    return len(body).to_bytes(8, "little") + body


class WorkerPool:
    """Answers questions in several processes, which start when they are first needed."""

    def __init__(self, settings: ServeSettings, workspace: Workspace, count: int) -> None:
        self._settings, self._folder = settings, workspace.folder
        self._workers = [_WorkerProcess(settings, workspace.folder) for _ in range(count)]

    async def stream_updates(self, job: QuestionJob) -> AsyncGenerator[RunUpdate, None]:
        """Yield the head and the steps of a run as `LocalAnswerer` does.

        Raises:
            ServiceError: its process died.
        """
        workers = self._workers
        if is_model_required(plugins.load("method", job.request.method)):
            tables = load_model_tables(self._folder).values()
            # Limits of language models, which must be counted across processes.
            if any(table.get(name) for table in tables for name in _RATE_LIMIT_SETTINGS):
                workers = workers[:1]
        worker = min(workers, key=lambda update: update.question_count)
        async with aclosing(worker.stream_updates(job)) as steps:
            async for update in steps:
                yield update

    async def warm_up(self, job: QuestionJob) -> None:
        """Let every process answer a question, so that its graphs are open there."""
        await asyncio.gather(*(_drain(worker.stream_updates(job)) for worker in self._workers))

    def count_unavailable_models(self) -> int:
        """Return how many models a process skips because their servers have just failed."""
        return len({name for worker in self._workers for name in worker.list_unavailable_models()})

    async def forget(self, name: str) -> None:
        """Close a graph that was removed or replaced."""
        for worker in self._workers:
            worker.send(("forget", name))

    async def close(self) -> None:
        """End the processes."""
        await asyncio.gather(*(worker.close() for worker in self._workers))


class _WorkerProcess:
    """A worker process, its questions, and its knowledge of verified answers."""

    def __init__(self, settings: ServeSettings, folder: Path) -> None:
        self._settings, self._folder = settings, folder
        self._process: asyncio.subprocess.Process | None = None
        self._reader_task: asyncio.Task[None] | None = None
        self._start_lock = asyncio.Lock()
        self._numbers = count()
        self._replies: dict[int, asyncio.Queue[tuple[str, Any]]] = {}
        self._verified_versions: dict[str, int] = {}
        self._unavailable_models: dict[
            str, float
        ] = {}  # models, and the time until which each is skipped
        self._pending_count = 0  # questions that wait until it has started
        self._is_closed = False

    @property
    def question_count(self) -> int:
        return len(self._replies) + self._pending_count

    def list_unavailable_models(self) -> list[str]:
        return [
            name for name, until in self._unavailable_models.items() if until > time.monotonic()
        ]

    async def stream_updates(self, job: QuestionJob) -> AsyncGenerator[RunUpdate, None]:
        self._pending_count += 1
        try:
            await self.ensure_started()
        finally:
            self._pending_count -= 1
        number = next(self._numbers)
        replies = self._replies[number] = asyncio.Queue()
        has_ended = False
        try:
            new_verified = {
                name: answers
                for name, answers in job.verified.items()
                if self._verified_versions.get(name) != answers.version
            }
            self._verified_versions |= {
                name: answers.version for name, answers in new_verified.items()
            }
            self.send(("ask", number, replace(job, verified=new_verified)))
            while True:
                message_type, content = await replies.get()
                if message_type == "told":
                    yield content
                    continue
                has_ended = True
                if message_type == "failed":
                    raise content
                return
        finally:
            self._replies.pop(number, None)
            if not has_ended:
                self.send(("cancel", number))

    async def ensure_started(self) -> None:
        async with self._start_lock:
            if self._is_closed:
                raise ServiceError("this server is shutting down")
            if self._process is not None and self._process.returncode is None:
                return
            if self._reader_task is not None:
                await self._reader_task  # first fail the questions of the dead process
            self._verified_versions = {}
            self._process = await asyncio.create_subprocess_exec(
                *(sys.executable, "-c", _PROGRAM),
                stdin=asyncio.subprocess.PIPE,
                stdout=asyncio.subprocess.PIPE,
                start_new_session=True,  # only the server gets Ctrl-C; it closes the worker's input
            )
            self.send(("begin", self._folder, self._settings))
            self._reader_task = asyncio.create_task(
                self._read_messages(self._process), name="hear a process"
            )

    def send(self, message: tuple[Any, ...]) -> None:
        if self._process is not None and self._process.returncode is None:
            assert self._process.stdin
            self._process.stdin.write(frame_message(message))

    async def close(self) -> None:
        self._is_closed = True
        async with self._start_lock:
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
        if self._reader_task is not None:
            await self._reader_task

    async def _read_messages(self, process: asyncio.subprocess.Process) -> None:
        assert process.stdout
        with suppress(asyncio.IncompleteReadError):
            while True:
                size = int.from_bytes(await process.stdout.readexactly(8), "little")
                body = await process.stdout.readexactly(size)
                is_large = size > _THREAD_THRESHOLD_BYTES
                message = (
                    await asyncio.to_thread(pickle.loads, body) if is_large else pickle.loads(body)
                )
                number, message_type, content = message
                if message_type == "alone":
                    now = time.monotonic()
                    self._unavailable_models = {
                        name: now + seconds for name, seconds in content.items()
                    }
                elif number in self._replies:
                    self._replies[number].put_nowait((message_type, content))
        code = await process.wait()
        if not self._is_closed:
            _log.error("a process that answers questions exited with status %s", code)
        for replies in self._replies.values():
            replies.put_nowait(("failed", ServiceError(_PROCESS_ENDED)))


class _QuestionWorker:
    """The questions that this worker process answers."""

    def __init__(self, workspace: Workspace, settings: ServeSettings, out: int) -> None:
        self._out = out
        self._pool, self._models = GraphPool(workspace, settings), Models(workspace.folder)
        self._answerer = LocalAnswerer(workspace, self._pool, self._models)
        self._verified: dict[str, VerifiedAnswers] = {}
        self._tasks: dict[int, asyncio.Task[None]] = {}
        self._preload_task = asyncio.create_task(asyncio.to_thread(_preload, self._models))

    def handle_message(self, message: tuple[Any, ...]) -> None:
        match message:
            case ("ask", int(number), QuestionJob() as job):
                self._verified |= job.verified
                verified = {
                    name: self._verified.get(name, VerifiedAnswers()) for name in job.request.graphs
                }
                job = replace(job, verified=verified)
                task = asyncio.create_task(self._answer(number, job), name=f"question {number}")
                self._tasks[number] = task
                task.add_done_callback(lambda _: self._tasks.pop(number, None))
            case ("cancel", int(number)) if number in self._tasks:
                self._tasks[number].cancel()
            case ("forget", str(name)):
                self._tasks[-1] = asyncio.create_task(self._pool.evict([name]))

    async def close(self) -> None:
        for task in self._tasks.values():
            task.cancel()
        await self._preload_task
        await self._pool.close()
        await self._models.close()

    async def _answer(self, number: int, job: QuestionJob) -> None:
        try:
            with use_parent_span(job.span):
                try:
                    async with aclosing(self._answerer.stream_updates(job)) as steps:
                        async for update in steps:
                            self._send(number, "told", update)
                finally:
                    self._send(number, "alone", self._models.list_paused_models())
            self._send(number, "ended", None)
        except AskgraphError as error:
            self._send(number, "failed", to_picklable(error))
        except Exception:  # noqa: BLE001 - a bug ends one question, not the others
            _log.exception("a question failed because of a bug")
            self._send(number, "failed", RuntimeError("a bug; see the log"))

    def _send(self, number: int, message_type: str, content: object) -> None:
        view = memoryview(frame_message((number, message_type, content)))
        while view:
            view = view[os.write(self._out, view) :]


def _preload(models: Models) -> None:
    """Import modules that the first question to a language model would wait for."""
    with suppress(SetupError):
        provider = models.resolve_settings().provider
        if provider != "transformers":  # which takes seconds and memory
            plugins.load("llm", provider)
            plugins.load("method", "guided")
    reduce_garbage_collection()


def to_picklable(error: AskgraphError) -> AskgraphError:
    """Return the error if it can be pickled, else a `ServiceError` with its message."""
    try:
        pickle.loads(pickle.dumps(error))
    except Exception:  # noqa: BLE001 - whatever an error holds
        return ServiceError(str(error))
    return error


async def _run_worker(out: int) -> None:
    loop = asyncio.get_running_loop()
    reader = asyncio.StreamReader()
    await loop.connect_read_pipe(lambda: asyncio.StreamReaderProtocol(reader), sys.stdin)
    worker: _QuestionWorker | None = None
    try:
        while True:
            size = int.from_bytes(await reader.readexactly(8), "little")
            message = pickle.loads(await reader.readexactly(size))
            if worker is None:
                _, folder, settings = message
                set_up_logs(settings)
                worker = _QuestionWorker(Workspace(folder), settings, out)
            else:
                worker.handle_message(message)
    except asyncio.IncompleteReadError:
        pass
    if worker is not None:
        await worker.close()


def main() -> None:
    """Answer the questions from standard input; other printed output goes to the log."""
    replies = os.dup(1)
    os.dup2(2, 1)
    asyncio.run(_run_worker(replies))
