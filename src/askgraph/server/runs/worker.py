"""A process that answers questions for a server: `python -m askgraph.server.runs.worker`.

Its standard input brings messages, its standard output takes what is told of each question; both as
`crew.packed` writes them. It ends with its input.

    in     ("begin", folder, settings), then ("ask", number, job), ("cancel", number),
           ("forget", graph)
    out    (number, "told", head or step), then (number, "ended", None) or
           (number, "failed", error); before these (number, "alone", models) with the seconds for
           which those are left alone whose servers have just failed
"""

import asyncio
import logging
import os
import pickle
import sys
from collections.abc import Mapping
from contextlib import aclosing, suppress
from dataclasses import replace
from typing import Any

from askgraph import plugins
from askgraph.errors import AskgraphError, ServiceError, SetupError
from askgraph.server.graphs.graph_pool import Shelf, Verified
from askgraph.server.middleware.logs import set_up_logs
from askgraph.server.middleware.telemetry import within_span
from askgraph.server.runs.answering import Answering, Job
from askgraph.server.runs.worker_pool import packed, rarely_collected
from askgraph.server.settings import ServeSettings
from askgraph.workspace import Workspace
from askgraph.workspace.models import Models

_log = logging.getLogger("askgraph.server.runs")


class _Member:
    """The questions that are answered here."""

    def __init__(self, workspace: Workspace, settings: ServeSettings, out: int) -> None:
        self._out = out
        self._shelf, self._models = Shelf(workspace, settings), Models(workspace.folder)
        self._answering = Answering(workspace, self._shelf, self._models)
        self._verified: dict[str, Verified] = {}
        self._tasks: dict[int, asyncio.Task[None]] = {}
        self._ready = asyncio.create_task(asyncio.to_thread(_get_ready, self._models))

    def take(self, message: tuple[Any, ...]) -> None:
        """Begin or end what a message says."""
        match message:
            case ("ask", int(number), Job() as job):
                self._verified |= job.verified
                job = replace(job, verified=self._known(job.asked.graphs))
                task = asyncio.create_task(self._answer(number, job), name=f"question {number}")
                self._tasks[number] = task
                task.add_done_callback(lambda _: self._tasks.pop(number, None))
            case ("cancel", int(number)) if number in self._tasks:
                self._tasks[number].cancel()
            case ("forget", str(name)):
                self._tasks[-1] = asyncio.create_task(self._shelf.forget([name]))

    async def close(self) -> None:
        """End the work, and let go of the graphs."""
        for task in self._tasks.values():
            task.cancel()
        await self._ready
        await self._shelf.close()
        await self._models.close()

    def _known(self, graphs: tuple[str, ...]) -> Mapping[str, Verified]:
        return {name: self._verified[name] for name in graphs if name in self._verified}

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
            self._tell(number, "failed", portable(error))
        except Exception:  # noqa: BLE001 - a bug ends one question, not the others
            _log.exception("a question failed by a bug")
            self._tell(number, "failed", RuntimeError("a bug; the log says more"))

    def _tell(self, number: int, kind: str, content: object) -> None:
        view = memoryview(packed((number, kind, content)))
        while view:
            view = view[os.write(self._out, view) :]


def _get_ready(models: Models) -> None:
    """Import what the first question to a model's server would wait for, if there is one."""
    with suppress(SetupError):
        provider = models.settings().provider
        if provider != "transformers":  # which takes seconds and memory
            plugins.load("llm", provider)
            plugins.load("method", "guided")
    rarely_collected()


def portable(error: AskgraphError) -> AskgraphError:
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
    member: _Member | None = None
    try:
        while True:
            size = int.from_bytes(await reader.readexactly(8), "little")
            message = pickle.loads(await reader.readexactly(size))
            if member is None:
                _, folder, settings = message
                set_up_logs(settings)
                member = _Member(Workspace(folder), settings, out)
            else:
                member.take(message)
    except asyncio.IncompleteReadError:
        pass
    if member is not None:
        await member.close()


if __name__ == "__main__":
    replies = os.dup(1)
    os.dup2(2, 1)
    asyncio.run(_main(replies))
