"""The processes that answer, from the outside: each question goes to the one with least to do.

One interpreter searches on one core, so a server has as many processes as cores, which map the same
files; what waits for a language model with limits is in one of them, where its limits hold. A
process that dies fails its questions, and a new one takes its place.
"""

import asyncio
import contextlib
import gc
import logging
import os
import pickle
import signal
import sys
import time
from collections.abc import AsyncGenerator
from dataclasses import replace
from itertools import count
from pathlib import Path
from typing import Any

from askgraph import plugins
from askgraph.errors import ServiceError
from askgraph.server.runs.answering import Job, Told
from askgraph.server.settings import ServeSettings
from askgraph.workspace import Workspace
from askgraph.workspace.models import needs_model
from askgraph.workspace.settings import model_tables

_log = logging.getLogger("askgraph.server.runs")
_LIMITS = ("requests_per_minute", "tokens_per_minute", "parallel")
_LARGE = 1 << 16  # bytes from which a message is read off the event loop
_ENDED = "the process that answered the question ended: ask it again"


def rarely_collected() -> None:
    """Let this process look for garbage seldom, and never among what it has loaded by now.

    It did so for an eighth of the time, and all else waited up to 0.2 seconds for it.
    """
    gc.collect()
    gc.freeze()
    gc.set_threshold(50_000, 10, 10)


def packed(message: object) -> bytes:
    """Return a message with its length before it."""
    body = pickle.dumps(message, pickle.HIGHEST_PROTOCOL)
    return len(body).to_bytes(8, "little") + body


class Crew:
    """Answers questions in so many processes, which are started when they are first needed."""

    def __init__(self, settings: ServeSettings, workspace: Workspace, count: int) -> None:
        self._settings, self._folder = settings, workspace.folder
        self._members = [_Member(settings, workspace.folder) for _ in range(count)]

    async def told(self, job: Job) -> AsyncGenerator[Told, None]:
        """Tell a question's head and steps as `Answering` does.

        Raises `ServiceError` too, if its process dies.
        """
        members = self._members
        if needs_model(plugins.load("method", job.asked.method)) and self._is_limited():
            members = members[:1]
        member = min(members, key=lambda one: one.busy)
        async with contextlib.aclosing(member.told(job)) as steps:
            async for one in steps:
                yield one

    async def each(self, job: Job) -> None:
        """Let every process answer a question, so that its graphs are open there."""

        async def answered(member: _Member) -> None:
            async with contextlib.aclosing(member.told(job)) as steps:
                async for _ in steps:
                    pass

        await asyncio.gather(*map(answered, self._members))

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

    def _is_limited(self) -> bool:
        """Whether a language model has limits, which each process would count for itself."""
        tables = model_tables(self._folder).values()
        return any(table.get(name) for table in tables for name in _LIMITS)


class _Member:
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
                *(sys.executable, "-m", "askgraph.server.runs.worker"),
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
            self._process.stdin.write(packed(message))

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
            with contextlib.suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
            await process.wait()
        if self._reading is not None:
            await self._reading

    async def _read(self, process: asyncio.subprocess.Process) -> None:
        """Hand on what a process tells, until it ends."""
        assert process.stdout
        with contextlib.suppress(asyncio.IncompleteReadError):
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
