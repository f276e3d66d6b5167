"""Hosts of a run's questions: graphs opened and methods made once, then kept."""

import asyncio
import atexit
import contextlib
import json
import threading
from collections import OrderedDict
from collections.abc import AsyncIterator
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path

from askgraph.errors import SetupError
from askgraph.evaluation.runs import Done, Task
from askgraph.evaluation.runs.one_question import asked, asker
from askgraph.graph import KnowledgeGraph
from askgraph.methods import Confirming, Method
from askgraph.workspace import Workspace
from askgraph.workspace.models import Models

OPEN = 16  # graphs kept open; each has a process of its own


@dataclass(frozen=True)
class MethodChoice:
    """A method with settings: its label in a run, its name, and the settings as JSON."""

    label: str
    name: str
    settings: str = "{}"


@dataclass(frozen=True)
class Site:
    """What a process needs to know to answer: the workspace's folder, and the methods."""

    folder: Path
    methods: tuple[MethodChoice, ...]


@dataclass
class _Opened:
    graph: KnowledgeGraph
    users: int = 0


@dataclass
class Host:
    """Answers tasks in this process; close it when all are done."""

    site: Site
    _graphs: OrderedDict[str, _Opened] = field(default_factory=OrderedDict)
    _opening: asyncio.Lock = field(default_factory=asyncio.Lock)
    _methods: dict[tuple[str, Path | None], Method] = field(default_factory=dict)
    _models: Models = field(init=False)

    def __post_init__(self) -> None:
        self._models = Models(self.site.folder)

    async def work(self, task: Task) -> Done:
        """Ask and score one question. Raises what the operator has to mend."""
        method = self.method(task.method, task.examples)
        async with self.graph(task.graph) as graph:
            if task.snapshot not in ("", graph.snapshot):
                raise SetupError(
                    f"the graph {graph.name!r} here is another one than where the run was planned; "
                    "build it from the same files"
                )
            ask = asker(self._as_asked(task.method, method), [graph])
            prefixes = graph.prefixes.namespaces
            return await asked(task, ask, graph.endpoint, graph=graph.name, prefixes=prefixes)

    def method(self, label: str, examples: Path | None = None) -> Method:
        """Return the method with a label, with the examples that it may learn from."""
        if (label, examples) not in self._methods:
            choice = self._choice(label)
            settings = json.loads(choice.settings)
            if examples is not None:
                settings["examples"] = str(examples)
            self._methods[label, examples] = Workspace(self.site.folder).method(
                choice.name, settings, models=self._models
            )
        return self._methods[label, examples]

    @contextlib.asynccontextmanager
    async def graph(self, source: str | Path) -> AsyncIterator[KnowledgeGraph]:
        """Give a graph by its name, path or URL, opened once; idle ones are closed when many."""
        opened = await self._opened(source)
        opened.users += 1
        try:
            yield opened.graph
        finally:
            opened.users -= 1
            await self._close_idle()

    async def close(self) -> None:
        """Close all graphs and language models."""
        while self._graphs:
            _, opened = self._graphs.popitem()
            await opened.graph.endpoint.close()
        await self._models.close()

    def _choice(self, label: str) -> MethodChoice:
        return next(choice for choice in self.site.methods if choice.label == label)

    def _as_asked(self, label: str, method: Method) -> Method:
        """The method; with the confirmed answers, which may be the gold, only if it says so."""
        wanted = json.loads(self._choice(label).settings).get("confirmed")
        return Confirming(method) if wanted is True else method

    async def _opened(self, source: str | Path) -> _Opened:
        async with self._opening:
            if (key := str(source)) not in self._graphs:
                graph = await asyncio.to_thread(Workspace(self.site.folder).find, source)
                self._graphs[key] = _Opened(graph)
            self._graphs.move_to_end(key)
            return self._graphs[key]

    async def _close_idle(self) -> None:
        for key in list(self._graphs):
            if len(self._graphs) <= OPEN:
                return
            if not self._graphs[key].users:
                await self._graphs.pop(key).graph.endpoint.close()


_LOCK = threading.Lock()


def work_in_process(site: Site, task: Task) -> Done:
    """Do a task in this process, which keeps what it opens: for processes that only do tasks."""
    with _LOCK:
        host, loop = _host(site), _loop()
    return asyncio.run_coroutine_threadsafe(host.work(task), loop).result()


@cache
def _host(site: Site) -> Host:
    host = Host(site)
    atexit.register(_close, host)
    return host


@cache
def _loop() -> asyncio.AbstractEventLoop:
    loop = asyncio.new_event_loop()
    threading.Thread(target=loop.run_forever, name="askgraph", daemon=True).start()
    return loop


def _close(host: Host) -> None:
    asyncio.run_coroutine_threadsafe(host.close(), _loop()).result(10)
