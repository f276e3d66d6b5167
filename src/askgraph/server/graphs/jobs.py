"""Jobs that add graphs: queued, observable, stored, and cleaned up when stopped."""

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
from askgraph.server.auth import ANONYMOUS, NotAllowedError, Principal
from askgraph.server.graphs import GraphCatalog, uploads
from askgraph.server.graphs.add_worker import AddedGraphView, AddTask, JobProgress, add_in_process
from askgraph.server.problems import NotFound, Problem, to_problem
from askgraph.server.runs.events import Event, TurnQueue, run_shielded
from askgraph.server.settings import ServeSettings
from askgraph.server.store import Store
from askgraph.server.store.tables import ACTIVE_STATES, JobRow, JobState, generate_id, jobs
from askgraph.workspace import Workspace, check_name

_log = logging.getLogger("askgraph.server.graphs")
_MAX_PARALLEL_JOBS, _MAX_WAITING_JOBS = 2, 20
_POLL_SECONDS = 1.0  # seconds between checks for requests of other processes to cancel a job
_RETENTION_SECONDS = 60.0  # seconds for which a finished job is kept in memory
_MAX_NAME_CHARACTERS = 64


class JobView(BaseModel):
    """A job that adds a graph, under way or ended."""

    id: str
    kind: Literal["upload", "address"]
    graph: str
    state: JobState
    doing: str = Field("", description="The current stage.")
    done: int = Field(0, description="The progress of the stage.")
    total: int | None = Field(None, description="The total of the stage, if known.")
    added: AddedGraphView | None = None
    problem: Problem | None = None
    created: str = Field(description="A time in UTC (ISO 8601).")


@dataclass(frozen=True)
class NewGraph:
    """A graph to add.

    Attributes:
        kind: from uploaded files in the folder of `job`, or from an address.
        sources: paths of the files, or the address.
    """

    name: str
    kind: Literal["upload", "address"]
    sources: Sequence[str]
    settings: Mapping[str, object] = field(default_factory=dict)
    job: str = field(default_factory=generate_id)


@dataclass(eq=False)
class _ActiveJob:
    """A job of this process; each change sets `next_change` and replaces it by a new event."""

    row: JobRow
    new_graph: NewGraph
    version: int = 0  # increases with each change
    next_change: asyncio.Event = field(default_factory=asyncio.Event)
    task: "asyncio.Task[None] | None" = None
    stops_as: JobState = "cancelled"  # the state to store if its task is cancelled
    is_finished: bool = False  # whether it is stored and cleaned up, so that its name is free

    def update(self, **values: Any) -> None:
        self.row = replace(self.row, **values)
        self.version += 1
        next_change, self.next_change = self.next_change, asyncio.Event()
        next_change.set()

    def report_progress(self, progress: JobProgress) -> None:
        self.update(progress=vars(progress))


class GraphJobs:
    """Adds graphs over the web; a job that fails or is stopped leaves nothing behind."""

    def __init__(
        self,
        settings: ServeSettings,
        workspace: Workspace,
        store: Store,
        graphs: GraphCatalog,
        process: str,
    ) -> None:
        self._settings = settings
        self._workspace = workspace
        self._store = store
        self._graphs = graphs
        self._process = process
        self._jobs: dict[str, _ActiveJob] = {}
        self._queue = TurnQueue(_MAX_PARALLEL_JOBS, _MAX_WAITING_JOBS, noun="graphs to be added")

    def check(self, name: str, caller: Principal) -> None:
        """Raise an error if a caller may not add a graph of this name."""
        caller.require_scope("manage")
        check_name(name)
        if len(name) > _MAX_NAME_CHARACTERS:
            raise SetupError(
                f"the name of a graph can have at most {_MAX_NAME_CHARACTERS} characters"
            )
        if not caller.can_see(name):
            raise NotAllowedError(
                f"{caller.name} may only add graphs with certain names, not {name!r}"
            )
        graphs = self._workspace.graphs()
        under_way = [job.row for job in self._jobs.values() if not job.is_finished]
        if name in graphs or name in {row.graph for row in under_way}:
            raise SetupError(f"graph {name!r} exists already: choose another name")
        check_graph_limit(
            caller,
            [graph_settings.added_by for graph_settings in graphs.values()]
            + [row.owner for row in under_way],
        )

    async def begin(
        self,
        new_graph: NewGraph,
        caller: Principal,
        files: Callable[[], Sequence[Path]] | None = None,
    ) -> JobView:
        """Begin to add a graph, and return the job.

        Args:
            files: writes the files to their folder and returns their paths; called first.

        Raises:
            Whatever `check` or `files` raises.
        """
        self.check(new_graph.name, caller)
        row = JobRow(
            new_graph.job,
            caller.id,
            new_graph.kind,
            new_graph.name,
            progress=vars(JobProgress("waiting")),
            process=self._process,
        )
        job = self._jobs[row.id] = _ActiveJob(row, new_graph)  # the name is reserved from here on
        try:
            if files is not None:
                paths = await asyncio.to_thread(files)
                job.new_graph = replace(new_graph, sources=[str(path) for path in paths])
            await self._store.put_job(row)
        except BaseException:
            try:
                await asyncio.to_thread(
                    uploads.remove_graph, self._workspace, new_graph.name, new_graph.job
                )
            finally:
                del self._jobs[row.id]
                job.update()
            raise
        if job.row.state in ACTIVE_STATES:
            job.task = asyncio.create_task(self._run(job), name=f"add {new_graph.name}")
        else:  # cancelled while its files were stored
            await self._finish(job)
        return _to_job_view(job.row)

    async def load_view(self, id: str, caller: Principal) -> JobView:
        """Load a job of the caller; raise `NotFound` if there is no such job."""
        job = self._jobs.get(id)
        row = job.row if job else await self._store.get_job(id)
        if row is None or (row.owner != caller.id and not caller.has_scope("admin")):
            raise NotFound(f"job {id!r} does not exist, or it is not yours")
        return _to_job_view(row)

    async def list_jobs(self, caller: Principal) -> list[JobView]:
        """Return the jobs of a caller, the latest first."""
        stored = {row.id: row for row in await self._store.list_jobs(caller.id)}
        active = {id: job.row for id, job in self._jobs.items() if job.row.owner == caller.id}
        unstored = {id: row for id, row in reversed(active.items()) if id not in stored}
        return [_to_job_view(row) for row in (unstored | stored | active).values()]

    async def follow(self, id: str, caller: Principal) -> AsyncGenerator[Event, None]:
        """Yield a job whenever it progresses; the last event has its end."""
        seq = 0
        while True:
            job = self._jobs.get(id)
            next_change, version = (job.next_change, job.version) if job else (None, 0)
            view = await self.load_view(id, caller)
            yield {"event": "job", "id": id, "seq": seq, "job": view.model_dump()}
            if view.state not in ACTIVE_STATES:
                return
            seq += 1
            if job is None or next_change is None:
                await asyncio.sleep(_POLL_SECONDS)
            elif job.version == version:
                await next_change.wait()

    async def cancel(self, id: str, caller: Principal) -> JobView:
        """Stop a job in any process; a job that has ended stays unchanged."""
        await self.load_view(id, caller)
        job = self._jobs.get(id)
        if job is None:
            await self._store.request_cancel(jobs, id)
        else:
            await self._stop(job, "cancelled")
        return await self.load_view(id, caller)

    async def remove(self, name: str, caller: Principal) -> None:
        """Remove a graph that was added over the web; other graphs require the scope `admin`.

        Confirmed answers of the graph are withdrawn.
        """
        caller.require_scope("manage")
        settings = self._graphs.get_settings(name, caller)
        if not settings.added_by and not caller.has_scope("admin"):
            raise NotAllowedError(
                f"the graph {name!r} was not added over the web: the operator can remove "
                f"it with: askgraph remove {name}"
            )
        await asyncio.to_thread(self._workspace.remove, name)
        await self._graphs.forget(name)
        if folder := uploads.find_uploads(self._workspace.folder, settings):
            await asyncio.to_thread(shutil.rmtree, folder, ignore_errors=True)
        await self._store.delete_verified_of_graph(name)

    async def open(self) -> None:
        """Remove old uploads that belong to no graph."""
        await self._clear_uploads(before=time.time() - 2 * self._settings.upload_seconds - 3600)

    async def clear_orphaned_jobs(self, jobs: Collection[str]) -> None:
        """Remove the uploads of jobs whose process died."""
        if jobs:
            await self._clear_uploads(jobs=jobs)

    async def _clear_uploads(self, *, jobs: Collection[str] = (), before: float = 0.0) -> None:
        folder, graphs = self._workspace.folder, list(self._workspace.graphs().values())
        await asyncio.to_thread(uploads.remove_orphans, folder, graphs, jobs=jobs, before=before)

    async def close(self) -> None:
        """Stop all jobs of this process."""
        for job in list(self._jobs.values()):
            await self._stop(job, "handed_back")

    async def _stop(self, job: _ActiveJob, state: JobState) -> None:
        if job.task is None and job.row.state in ACTIVE_STATES:
            job.update(state=state)
        if job.task is None or job.task.done():
            return
        job.stops_as = state
        job.task.cancel()
        await asyncio.wait([job.task])
        if job.row.state in ACTIVE_STATES:  # the task had not begun
            job.update(state=state)
            await self._finish(job)

    async def _run(self, job: _ActiveJob) -> None:
        watch_task = asyncio.create_task(self._save_progress(job))
        end: dict[str, Any]
        try:
            async with self._queue.wait_turn(lambda _: None):
                job.update(state="running", progress=vars(JobProgress("starting")))
                # Files of another graph with this name.
                await self._store.delete_verified_of_graph(job.new_graph.name)
                settings, new_graph = self._settings, job.new_graph
                task = AddTask(
                    self._workspace.folder,
                    new_graph.name,
                    list(new_graph.sources),
                    dict(new_graph.settings),
                    memory=settings.upload_memory_mb * 2**20,
                    unpacked=settings.upload_mb * 2**20,
                    seconds=settings.upload_seconds,
                )
                graph_view = await add_in_process(task, job.report_progress)
            progress = {**job.row.progress, "added": graph_view.model_dump()}
            end = {"state": "done", "progress": progress}
        except asyncio.CancelledError:
            end = {"state": job.stops_as}
        except AskgraphError as error:
            folder, problem = self._workspace.folder, to_problem(error)
            for path in (uploads.get_upload_folder(folder, job.row.id), folder):
                problem.detail = problem.detail.replace(f"{path}/", "")
            end = {"state": "failed", "problem": problem.model_dump()}
        except BaseException:  # noqa: BLE001 - a bug ends one job, not the server
            end = {"state": "failed", "problem": Problem.for_bug().model_dump()}
            _log.exception("adding graph %r failed because of a bug", job.new_graph.name)
        watch_task.cancel()
        job.row = replace(job.row, **end)  # followers are notified after the cleanup
        await run_shielded(self._finish(job))

    async def _finish(self, job: _ActiveJob) -> None:
        try:
            if job.row.state != "done":
                await asyncio.to_thread(
                    uploads.remove_graph, self._workspace, job.new_graph.name, job.new_graph.job
                )
            await self._store.put_job(job.row)
        except AskgraphError as error:
            _log.error("could not store the outcome of job %s: %s", job.row.id, error)
        finally:
            job.update()
            job.is_finished = True
            asyncio.get_running_loop().call_later(
                _RETENTION_SECONDS, self._jobs.pop, job.row.id, None
            )

    async def _save_progress(self, job: _ActiveJob) -> None:
        version = -1
        while True:
            await asyncio.sleep(_POLL_SECONDS)
            try:
                if job.version != version:
                    version = job.version
                    await self._store.put_job(job.row)
                if await self._store.is_job_cancelled(job.row.id) and job.task:
                    job.task.cancel()
            except ServiceError as error:
                _log.warning("could not read job %s from the store: %s", job.row.id, error)


def _to_job_view(row: JobRow) -> JobView:
    problem = row.problem
    if row.state == "handed_back":
        stop_error = SetupError("the server was stopped while it added the graph: add it again")
        problem = to_problem(stop_error).model_dump()
    return JobView.model_validate({**row.progress, **vars(row), "problem": problem})


def check_graph_limit(caller: Principal, owners: Iterable[str]) -> None:
    """Raise `NotAllowedError` if a caller has added as many graphs as allowed.

    Callers without a key, who can obtain any number of ids, count as one.

    Args:
        owners: who added each existing graph; "" if nobody did over the web.
    """
    max_graphs = caller.limits.graphs
    if not max_graphs or caller.has_scope("admin"):
        return

    def normalize_owner(owner: str) -> str:
        return ANONYMOUS if owner.startswith("visitor:") else owner

    caller_id = normalize_owner(caller.id)
    if sum(normalize_owner(owner) == caller_id for owner in owners if owner) >= max_graphs:
        raise NotAllowedError(
            f"{max_graphs} graphs were added already, the most allowed: remove one, or let the"
            " operator raise graphs_per_caller"
        )
