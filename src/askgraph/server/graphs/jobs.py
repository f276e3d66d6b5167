"""Jobs that add graphs: in turn, followed as they go, kept in the store, and stopped cleanly."""

import asyncio
import logging
import shutil
import time
from collections.abc import AsyncGenerator, Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Literal

from pydantic import BaseModel, Field

from askgraph.errors import AskgraphError, ServiceError, SetupError
from askgraph.server.auth import ANONYMOUS, NotAllowed, Principal
from askgraph.server.graphs.open_graphs import OpenGraphs
from askgraph.server.graphs.uploads import clear_graph, clear_orphans, upload_folder, uploads_of
from askgraph.server.graphs.worker import AddedView, Doing, Task, add_in_process
from askgraph.server.problems import Missing, Problem, problem_of
from askgraph.server.runs.events import Event, Queue, shield
from askgraph.server.settings import ServeSettings
from askgraph.server.store import Store
from askgraph.server.store.tables import UNDER_WAY, JobRow, JobState, jobs, new_id
from askgraph.workspace import Workspace, check_name

_log = logging.getLogger("askgraph.server.graphs")
_AT_ONCE, _WAITING = 2, 20
_LOOK = 1.0  # seconds between two looks at whether another process was asked to stop a job here
_KEPT = 60.0  # seconds for which a job that ended is known here
_LONGEST_NAME = 64


class JobView(BaseModel):
    """A graph that is being added, or was."""

    id: str
    kind: Literal["upload", "address"]
    graph: str
    state: JobState
    doing: str = Field("", description="What is being done.")
    done: int = Field(0, description="How far that is.")
    total: int | None = Field(None, description="Of how much, if that is known.")
    added: AddedView | None = None
    problem: Problem | None = None
    created: str = Field(description="A time in UTC (ISO 8601).")


@dataclass(frozen=True)
class NewGraph:
    """A graph to add: of uploaded files in the folder of `job`, or at an address."""

    name: str
    kind: Literal["upload", "address"]
    sources: Sequence[str]
    settings: Mapping[str, object] = field(default_factory=dict)
    job: str = field(default_factory=new_id)


@dataclass(eq=False)
class _Job:
    """A job of this process."""

    row: JobRow
    new: NewGraph
    version: int = 0
    more: asyncio.Event = field(default_factory=asyncio.Event)
    task: "asyncio.Task[None] | None" = None
    stops_as: JobState = "cancelled"

    def change(self, **values: Any) -> None:
        """Change the job as the store has it, and wake those that follow it."""
        self.row = replace(self.row, **values)
        self.version += 1
        more, self.more = self.more, asyncio.Event()
        more.set()

    def report(self, doing: Doing) -> None:
        self.change(progress=vars(doing))


class Jobs:
    """Adds graphs over the web; a job that fails or is stopped leaves nothing behind."""

    def __init__(
        self,
        settings: ServeSettings,
        workspace: Workspace,
        store: Store,
        graphs: OpenGraphs,
        process: str,
    ) -> None:
        self._settings = settings
        self._workspace = workspace
        self._store = store
        self._graphs = graphs
        self._process = process
        self._here: dict[str, _Job] = {}
        self._queue = Queue(_AT_ONCE, _WAITING, what="graphs to be added")

    def check(self, name: str, caller: Principal) -> None:
        """Raise if a caller may not add a graph of this name."""
        caller.check("manage")
        check_name(name)
        if len(name) > _LONGEST_NAME:
            raise SetupError(f"the name of a graph has at most {_LONGEST_NAME} characters")
        if not caller.sees(name):
            raise NotAllowed(f"{caller.name} may add graphs of certain names only, not {name!r}")
        graphs = self._workspace.graphs()
        under_way = [job.row for job in self._here.values() if job.row.state in UNDER_WAY]
        if name in graphs or name in {row.graph for row in under_way}:
            raise SetupError(f"there is a graph {name!r} already: choose another name")
        check_room(
            caller, [one.added_by for one in graphs.values()] + [row.owner for row in under_way]
        )

    async def begin(
        self, new: NewGraph, caller: Principal, files: Callable[[], Sequence[Path]] | None = None
    ) -> JobView:
        """Begin to add a graph, and return the job; `files` puts its files in their folder first.

        Raises what `check` and `files` raise.
        """
        self.check(new.name, caller)
        waiting = vars(Doing("waiting"))
        row = JobRow(
            new.job, caller.id, new.kind, new.name, progress=waiting, process=self._process
        )
        job = self._here[row.id] = _Job(row, new)  # from here on the name is taken
        try:
            if files is not None:
                paths = await asyncio.to_thread(files)
                job.new = replace(new, sources=[str(path) for path in paths])
            await self._store.put_job(row)
        except BaseException:
            await asyncio.to_thread(clear_graph, self._workspace, new.name, new.job)
            del self._here[row.id]
            raise
        job.task = asyncio.create_task(self._run(job), name=f"add {new.name}")
        return _view(row)

    async def view(self, id: str, caller: Principal) -> JobView:
        """Return a job of the caller's; `Missing` if it is none."""
        row = await self._store.job(id)
        if row is None or (row.owner != caller.id and not caller.may("admin")):
            raise Missing(f"there is no job {id!r}, or it is not yours")
        job = self._here.get(id)
        return _view(job.row if job else row)

    async def of(self, caller: Principal) -> list[JobView]:
        """Return the jobs of a caller, the latest first."""
        rows = await self._store.jobs(caller.id)
        return [_view(self._here[row.id].row if row.id in self._here else row) for row in rows]

    async def follow(self, id: str, caller: Principal) -> AsyncGenerator[Event, None]:
        """Yield a job each time that it is further, the last time as it ended."""
        seq = 0
        while True:
            job = self._here.get(id)
            more, version = (job.more, job.version) if job else (None, 0)
            view = await self.view(id, caller)
            yield {"event": "job", "id": id, "seq": seq, "job": view.model_dump()}
            if view.state not in UNDER_WAY:
                return
            seq += 1
            if job is None or more is None:
                await asyncio.sleep(_LOOK)
            elif job.version == version:
                await more.wait()

    async def cancel(self, id: str, caller: Principal) -> JobView:
        """Stop a job, wherever it runs; one that has ended stays as it is."""
        await self.view(id, caller)
        job = self._here.get(id)
        if job is None:
            await self._store.ask_to_cancel(jobs, id)
        else:
            await self._stop(job, "cancelled")
        return await self.view(id, caller)

    async def remove(self, name: str, caller: Principal) -> None:
        """Take a graph away that was added over the web; others need the scope `admin`.

        Answers that were confirmed for it are withdrawn.
        """
        caller.check("manage")
        settings = self._graphs.settings(name, caller)
        if not settings.added_by and not caller.may("admin"):
            raise NotAllowed(
                f"the graph {name!r} was not added over the web: its operator can remove it with"
                f" askgraph remove {name}"
            )
        await asyncio.to_thread(self._workspace.remove, name)
        await self._graphs.forget(name)
        if place := uploads_of(self._workspace.folder, settings):
            await asyncio.to_thread(shutil.rmtree, place, ignore_errors=True)
        await self._store.withdraw_graph(name)

    async def open(self) -> None:
        """Clear old uploads that belong to no graph, whoever left them."""
        await self._clear(before=time.time() - 2 * self._settings.upload_seconds - 3600)

    async def give_up(self, jobs: Collection[str]) -> None:
        """Clear the uploads of jobs whose process was killed."""
        if jobs:
            await self._clear(jobs=jobs)

    async def _clear(self, *, jobs: Collection[str] = (), before: float = 0.0) -> None:
        folder, graphs = self._workspace.folder, list(self._workspace.graphs().values())
        await asyncio.to_thread(clear_orphans, folder, graphs, jobs=jobs, before=before)

    async def close(self) -> None:
        """Stop all jobs of this process."""
        for job in list(self._here.values()):
            await self._stop(job, "handed_back")

    async def _stop(self, job: _Job, state: JobState) -> None:
        if job.task is None or job.task.done():
            return
        job.stops_as = state
        job.task.cancel()
        await asyncio.wait([job.task])

    async def _run(self, job: _Job) -> None:
        """Add a graph, or leave nothing of it, and keep how it ended."""
        watch = asyncio.create_task(self._watch(job))
        end: dict[str, Any]
        try:
            async with self._queue.turn(lambda _: None):
                job.change(state="running", progress=vars(Doing("starting")))
                await self._store.withdraw_graph(job.new.name)  # of another graph of this name
                settings, new = self._settings, job.new
                task = Task(
                    self._workspace.folder,
                    new.name,
                    list(new.sources),
                    dict(new.settings),
                    memory=settings.upload_memory_mb * 2**20,
                    unpacked=settings.upload_mb * 2**20,
                    seconds=settings.upload_seconds,
                )
                added = await add_in_process(task, job.report)
            end = {"state": "done", "progress": {**job.row.progress, "added": added.model_dump()}}
        except asyncio.CancelledError:
            end = {"state": job.stops_as}
        except AskgraphError as error:
            folder, problem = self._workspace.folder, problem_of(error)
            for place in (upload_folder(folder, job.row.id), folder):
                problem.detail = problem.detail.replace(f"{place}/", "")
            end = {"state": "failed", "problem": problem.model_dump()}
        except BaseException:  # noqa: BLE001 - a bug ends one job, not the server
            end = {"state": "failed", "problem": Problem.unexpected().model_dump()}
            _log.exception("adding the graph %r failed by a bug", job.new.name)
        watch.cancel()
        job.row = replace(job.row, **end)  # those that follow it hear so when all is cleared
        await shield(self._end(job))

    async def _end(self, job: _Job) -> None:
        """Leave nothing of a graph that did not come to be, and keep how the job ended."""
        try:
            if job.row.state != "done":
                await asyncio.to_thread(clear_graph, self._workspace, job.new.name, job.new.job)
            await self._store.put_job(job.row)
        except AskgraphError as error:
            _log.error("how the job %s ended cannot be kept: %s", job.row.id, error)
        finally:
            job.change()
            asyncio.get_running_loop().call_later(_KEPT, self._here.pop, job.row.id, None)

    async def _watch(self, job: _Job) -> None:
        """Keep how far a job is, and stop it if another process was asked to."""
        version = -1
        while True:
            await asyncio.sleep(_LOOK)
            try:
                if job.version != version:
                    version = job.version
                    await self._store.put_job(job.row)
                if await self._store.job_cancel_wanted(job.row.id) and job.task:
                    job.task.cancel()
            except ServiceError as error:
                _log.warning("the store cannot be asked about the job %s: %s", job.row.id, error)


def _view(row: JobRow) -> JobView:
    problem = row.problem
    if row.state == "handed_back":
        again = SetupError("the server was stopped while it added the graph: add it again")
        problem = problem_of(again).model_dump()
    return JobView.model_validate({**row.progress, **vars(row), "problem": problem})


def check_room(caller: Principal, owners: Iterable[str]) -> None:
    """Raise `NotAllowed` if `owners`, who added the graphs there are, name a caller too often.

    Callers without a key, who can have any number of ids, are counted as one.
    """
    most = caller.limits.graphs
    if not most or caller.may("admin"):
        return

    def whose(owner: str) -> str:
        return ANONYMOUS if owner.startswith("visitor:") else owner

    if sum(bool(owner) and whose(owner) == whose(caller.id) for owner in owners) >= most:
        raise NotAllowed(
            f"{most} graphs were added already, and no more may be: remove one, or let the"
            " operator raise graphs_per_caller"
        )
