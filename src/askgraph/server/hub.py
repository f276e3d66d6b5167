"""The hub: the parts of a server that all handlers share, and how a handler gets it."""

import asyncio
import contextlib
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Annotated

from fastapi import Depends, Request

from askgraph.server.auth import Principal, Scope
from askgraph.server.auth.identify import Accounts, Credentials, credentials_of
from askgraph.server.graphs.jobs import Jobs
from askgraph.server.graphs.open_graphs import GraphPool, OpenGraphs, Summaries
from askgraph.server.graphs.queries import Queries
from askgraph.server.runs import AskBody, check_choice, model_names, to_request
from askgraph.server.runs.lifecycle import Run, RunRecords, Runs
from askgraph.server.runs.workers import Answering, WorkerPool
from askgraph.server.settings import ServeSettings
from askgraph.server.store import Store
from askgraph.server.store.tables import new_id
from askgraph.server.telemetry import known_secrets
from askgraph.trace import Earlier
from askgraph.workspace import Workspace
from askgraph.workspace.models import Models


@dataclass(eq=False)
class Hub:
    """One server's parts; `ready` while it takes requests.

    `starters` are the questions to start with that were made, by graph, its snapshot and language.
    """

    settings: ServeSettings
    workspace: Workspace
    store: Store
    accounts: Accounts
    graphs: OpenGraphs
    models: Models
    records: RunRecords
    runs: Runs
    queries: Queries
    jobs: Jobs
    summaries: Summaries
    answering: Answering | WorkerPool
    process: str
    starters: dict[tuple[str, str, str], tuple[str, ...]] = field(default_factory=dict)
    ready: bool = False
    _probe: "asyncio.Task[list[str]] | None" = None

    async def ask(self, body: AskBody, caller: Principal, *, before: Sequence[Earlier] = ()) -> Run:
        """Begin a question for a caller; `before` are earlier questions by their own account.

        Raises `NotAllowed`, `Missing`, `TooMany`, and `SetupError` also for a method that cannot
        be made ready: a question that cannot be worked on is no run.
        """
        caller.check("ask")
        await self.accounts.check_budget(caller)
        graphs = self.graphs.choose(body.graphs, caller)
        earlier = tuple(before)
        if body.after:
            earlier = await self.records.earlier(body.after, caller)
        asked = to_request(body, graphs, earlier)
        check_choice(asked, caller, self.settings, model_names(self.workspace))
        if body.session is not None:
            await self.records.session(body.session, caller)
        await asyncio.to_thread(asked.made, self.workspace, self.models)
        return await self.runs.begin(asked, caller)

    async def store_answers(self, seconds: float) -> bool:
        """Return whether the store answers within some seconds; one that hangs is asked once."""
        if self._probe is None or self._probe.done():
            self._probe = asyncio.create_task(self.store.alive(), name="ask the store")
        done, _ = await asyncio.wait({self._probe}, timeout=seconds)
        return bool(done) and not self._probe.cancelled() and self._probe.exception() is None

    async def stop(self) -> None:
        """Take no more questions, and bring those under way to their ends, for the time allowed."""
        self.ready = False
        if self._probe is not None:
            self._probe.cancel()
        await self.jobs.close()
        await self.runs.close(self.settings.grace)


@asynccontextmanager
async def open_hub(settings: ServeSettings, workspace: Workspace) -> AsyncIterator[Hub]:
    """Open a server's parts, and close them at the end, the questions under way first."""
    process = new_id()
    store = await Store.open(settings.database_in(workspace.folder))
    models = Models(workspace.folder)
    pool = GraphPool(workspace, settings)
    answering = (
        WorkerPool(settings, workspace, settings.processes)
        if settings.processes
        else Answering(workspace, pool, models)
    )
    graphs = OpenGraphs(workspace, store, pool, answering.forget, first=settings.first_graphs)
    secrets = known_secrets(workspace.folder)
    records = RunRecords(store, process, rows=settings.page_rows, secrets=secrets)
    runs = Runs(settings, graphs, answering, records)
    accounts = Accounts(settings, store)
    queries = Queries(settings)
    jobs = Jobs(settings, workspace, store, graphs, process)
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
        Summaries(workspace),
        answering,
        process,
    )
    watching = asyncio.create_task(runs.watch(jobs.give_up), name="watch the store")
    try:
        await jobs.open()
        hub.ready = True
        yield hub
    finally:
        await hub.stop()
        watching.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await watching
        await answering.close()
        await records.leave()
        await pool.close()
        await models.close()
        await store.close()


def hub_of(request: Request) -> Hub:
    """Return the hub of the application that a request is for."""
    hub: Hub = request.app.state.hub
    return hub


HubDep = Annotated[Hub, Depends(hub_of)]


async def caller_of(request: Request, hub: HubDep) -> Principal:
    """Return the caller; `NotAllowed` (401) for a key that is none, `TooMany` past a limit."""
    known = getattr(request.state, "principal", None)
    if isinstance(known, Principal):
        return known
    credentials: Credentials = credentials_of(request)
    principal = await hub.accounts.identify(credentials)
    await hub.accounts.admit(principal)
    request.state.principal = principal
    return principal


Caller = Annotated[Principal, Depends(caller_of)]


def needs(scope: Scope) -> Callable[[Principal], Awaitable[Principal]]:
    """Return a dependency that gives the caller, who must have a scope.

    It raises `NotAllowed`: 401 if the caller is unknown, 403 if the scope is missing.
    """

    async def allowed(caller: Caller) -> Principal:
        caller.check(scope)
        return caller

    return allowed


Asker = Annotated[Principal, Depends(needs("ask"))]
Querier = Annotated[Principal, Depends(needs("query"))]
Confirmer = Annotated[Principal, Depends(needs("confirm"))]
Manager = Annotated[Principal, Depends(needs("manage"))]
