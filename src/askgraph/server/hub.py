"""The hub: the server parts that all handlers share, and the dependencies that provide them."""

import asyncio
import contextlib
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Annotated

from fastapi import Depends, Request

from askgraph.server.auth import Principal, Scope
from askgraph.server.auth.identify import CallerAccounts, RequestCredentials, get_credentials
from askgraph.server.graphs.jobs import GraphJobs
from askgraph.server.graphs.open_graphs import GraphCatalog, GraphPool, SummaryCache
from askgraph.server.graphs.queries import QueryRunner
from askgraph.server.runs import AskBody, check_choice, list_model_names, to_request
from askgraph.server.runs.lifecycle import ActiveRun, RunRecords, RunRegistry
from askgraph.server.runs.worker_pool import LocalAnswerer, WorkerPool
from askgraph.server.settings import ServeSettings
from askgraph.server.store import Store
from askgraph.server.store.tables import generate_id
from askgraph.server.telemetry import collect_secrets
from askgraph.trace import PreviousQuestion
from askgraph.workspace import Workspace
from askgraph.workspace.models import Models


@dataclass(eq=False)
class Hub:
    """The parts of one server.

    Attributes:
        ready: whether the server accepts requests.
        starters: generated starter questions, by graph name, snapshot and language.
        answerer: runs questions, in this process or in worker processes.
        process: the id of this server process.
    """

    settings: ServeSettings
    workspace: Workspace
    store: Store
    accounts: CallerAccounts
    graphs: GraphCatalog
    models: Models
    records: RunRecords
    runs: RunRegistry
    queries: QueryRunner
    jobs: GraphJobs
    summaries: SummaryCache
    answerer: LocalAnswerer | WorkerPool
    process: str
    starters: dict[tuple[str, str, str], tuple[str, ...]] = field(default_factory=dict)
    ready: bool = False
    _probe: "asyncio.Task[list[str]] | None" = None

    async def ask(
        self, body: AskBody, caller: Principal, *, before: Sequence[PreviousQuestion] = ()
    ) -> ActiveRun:
        """Start a run for a question of a caller.

        Args:
            before: earlier questions of the conversation, as the caller reports them.

        Raises:
            NotAllowed, NotFound, TooMany: the caller may not ask this, or not now.
            SetupError: the request is invalid or its method cannot be set up; no run is created.
        """
        caller.require_scope("ask")
        await self.accounts.check_budget(caller)
        graphs = self.graphs.choose(body.graphs, caller)
        earlier = tuple(before)
        if body.after:
            earlier = await self.records.load_conversation(body.after, caller)
        request = to_request(body, graphs, earlier)
        check_choice(request, caller, self.settings, list_model_names(self.workspace))
        if body.session is not None:
            await self.records.load_session(body.session, caller)
        await asyncio.to_thread(request.build_method, self.workspace, self.models)
        return await self.runs.begin(request, caller)

    async def check_store(self, seconds: float) -> bool:
        """Return whether the store responds in time; a pending probe is reused, not repeated."""
        if self._probe is None or self._probe.done():
            self._probe = asyncio.create_task(
                self.store.list_live_processes(), name="ask the store"
            )
        done, _ = await asyncio.wait({self._probe}, timeout=seconds)
        return bool(done) and not self._probe.cancelled() and self._probe.exception() is None

    async def stop(self) -> None:
        """Accept no more questions, and let running ones finish within the grace period."""
        self.ready = False
        if self._probe is not None:
            self._probe.cancel()
        await self.jobs.close()
        await self.runs.close(self.settings.grace)


@asynccontextmanager
async def open_hub(settings: ServeSettings, workspace: Workspace) -> AsyncIterator[Hub]:
    """Open the parts of a server; at exit, finish running questions and close the parts."""
    process = generate_id()
    store = await Store.open(settings.resolve_database(workspace.folder))
    models = Models(workspace.folder)
    pool = GraphPool(workspace, settings)
    answerer = (
        WorkerPool(settings, workspace, settings.processes)
        if settings.processes
        else LocalAnswerer(workspace, pool, models)
    )
    graphs = GraphCatalog(workspace, store, pool, answerer.forget, preferred=settings.first_graphs)
    secrets = collect_secrets(workspace.folder)
    records = RunRecords(store, process, max_rows=settings.page_rows, secrets=secrets)
    runs = RunRegistry(settings, graphs, answerer, records)
    accounts = CallerAccounts(settings, store)
    queries = QueryRunner(settings)
    jobs = GraphJobs(settings, workspace, store, graphs, process)
    hub = Hub(
        settings,
        workspace,
        store,
        accounts,
        graphs,
        models,
        records,
        runs,
        queries,
        jobs,
        SummaryCache(workspace),
        answerer,
        process,
    )
    watch_task = asyncio.create_task(
        runs.watch_store(jobs.clear_orphaned_jobs), name="watch the store"
    )
    try:
        await jobs.open()
        hub.ready = True
        yield hub
    finally:
        await hub.stop()
        watch_task.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await watch_task
        await answerer.close()
        await records.unregister()
        await pool.close()
        await models.close()
        await store.close()


def get_hub(request: Request) -> Hub:
    """Return the hub of the application that serves a request."""
    hub: Hub = request.app.state.hub
    return hub


HubDep = Annotated[Hub, Depends(get_hub)]


async def identify_caller(request: Request, hub: HubDep) -> Principal:
    """Return the caller of a request, identified once per request.

    Raises:
        NotAllowed: the key is invalid (401).
        TooMany: the caller is over a limit.
    """
    principal_of_request = getattr(request.state, "principal", None)
    if isinstance(principal_of_request, Principal):
        return principal_of_request
    credentials: RequestCredentials = get_credentials(request)
    principal = await hub.accounts.identify(credentials)
    await hub.accounts.admit(principal)
    request.state.principal = principal
    return principal


Caller = Annotated[Principal, Depends(identify_caller)]


def require_scope(scope: Scope) -> Callable[[Principal], Awaitable[Principal]]:
    """Return a dependency that provides the caller and requires a scope.

    The dependency raises `NotAllowedError`: 401 for an unknown caller, 403 without the scope.
    """

    async def check_caller(caller: Caller) -> Principal:
        caller.require_scope(scope)
        return caller

    return check_caller


Asker = Annotated[Principal, Depends(require_scope("ask"))]
Querier = Annotated[Principal, Depends(require_scope("query"))]
Confirmer = Annotated[Principal, Depends(require_scope("confirm"))]
Manager = Annotated[Principal, Depends(require_scope("manage"))]
