"""What all parts of a server share: its settings, workspace, store, graphs, runs and accounts."""

import asyncio
import contextlib
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Annotated

from fastapi import Depends, Request

from askgraph.errors import SetupError
from askgraph.serve.graphs.jobs import Jobs
from askgraph.serve.graphs.open_graphs import OpenGraphs, Summaries
from askgraph.serve.graphs.queries import Queries
from askgraph.serve.identity.identify import Accounts, Asking, asking_of
from askgraph.serve.identity.principal import Principal, Scope
from askgraph.serve.middleware.masking import known_secrets
from askgraph.serve.runs.asking import Asked, checked_choice, model_names
from askgraph.serve.runs.kept import KeptRuns
from askgraph.serve.runs.lifecycle import Run, Runs
from askgraph.serve.runs.watching import watch
from askgraph.serve.settings import ServeSettings
from askgraph.serve.store import Store, new_id
from askgraph.serve.views.runs import AskBody
from askgraph.trace import Earlier, Question
from askgraph.workspace import DEFAULT_METHOD, Workspace
from askgraph.workspace.models import Models

__all__ = [
    "Caller",
    "Hub",
    "HubDep",
    "caller_of",
    "hub_of",
    "needs",
    "open_hub",
]


@dataclass(eq=False)
class Hub:
    """One server's parts; `ready` while it takes requests."""

    settings: ServeSettings
    workspace: Workspace
    store: Store
    accounts: Accounts
    graphs: OpenGraphs
    models: Models
    kept: KeptRuns
    runs: Runs
    queries: Queries
    jobs: Jobs
    summaries: Summaries
    process: str
    ready: bool = False

    async def ask(self, body: AskBody, caller: Principal, *, before: Sequence[Earlier] = ()) -> Run:
        """Begin a question for a caller; `before` is what they say was asked before it.

        Raises `NotAllowed`, `Missing`, `TooMany` and `SetupError`.
        """
        caller.check("ask")
        await self.accounts.check_budget(caller)
        graphs = self._graphs(body.graphs, caller)
        after = body.after
        earlier = await self.kept.earlier(after, caller) if after else tuple(before)
        asked = Asked(
            Question(" ".join(body.question.split()), body.language, earlier),
            graphs,
            body.method or DEFAULT_METHOD,
            body.model,
            body.settings,
            timeout=body.timeout,
            anew=body.anew,
            after=after,
        )
        checked_choice(asked, caller, self.settings, model_names(self.workspace))
        if body.session is not None:
            await self.kept.check_session(body.session, caller)
        asked = asked.within(body.session or new_id(), begins=body.session is None)
        return await self.runs.begin(asked, caller)

    async def stop(self) -> None:
        """Take no more questions, and bring those under way to their ends, for the time allowed."""
        self.ready = False
        await self.jobs.close()
        await self.runs.close(self.settings.grace)

    def _graphs(self, wanted: list[str] | None, caller: Principal) -> tuple[str, ...]:
        there = self.graphs.names(caller)
        if wanted:
            for name in wanted:
                self.graphs.settings(name, caller)
            return tuple(dict.fromkeys(wanted))
        if len(there) == 1:
            return tuple(there)
        if there:
            raise SetupError(f"which graph? There are {', '.join(there)}: name one in 'graphs'")
        raise SetupError("there is no graph to ask yet: add one")


@asynccontextmanager
async def open_hub(settings: ServeSettings, workspace: Workspace) -> AsyncIterator[Hub]:
    """Open a server's parts, and close them at the end, the questions under way first."""
    process = new_id()
    store = await Store.open(settings.database_in(workspace.folder))
    models = Models(workspace.folder)
    graphs = OpenGraphs(workspace, store)
    secrets = known_secrets(workspace.folder)
    kept = KeptRuns(store, process, rows=settings.page_rows, secrets=secrets)
    runs = Runs(settings, workspace, graphs, models, kept)
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
        kept,
        runs,
        queries,
        jobs,
        Summaries(workspace),
        process,
    )
    watching = asyncio.create_task(watch(runs, kept), name="watch the store")
    try:
        await jobs.open()
        hub.ready = True
        yield hub
    finally:
        await hub.stop()
        watching.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await watching
        await kept.leave()
        await graphs.close()
        await models.close()
        await store.close()


def hub_of(request: Request) -> Hub:
    """Return what all parts of the server share."""
    hub: Hub = request.app.state.hub
    return hub


HubDep = Annotated[Hub, Depends(hub_of)]


async def caller_of(request: Request, hub: HubDep) -> Principal:
    """Return who asks; `NotAllowed` (401) for a key that is none, `TooMany` past a limit."""
    known = getattr(request.state, "principal", None)
    if isinstance(known, Principal):
        return known
    asking: Asking = asking_of(request)
    principal = await hub.accounts.identify(asking)
    await hub.accounts.admit(principal)
    request.state.principal = principal
    return principal


Caller = Annotated[Principal, Depends(caller_of)]


def needs(scope: Scope) -> Callable[[Principal], Awaitable[Principal]]:
    """Return a dependency that gives the caller, who must have a scope.

    It raises `NotAllowed`: 401 where nobody knows the caller, 403 where the scope is missing.
    """

    async def allowed(caller: Caller) -> Principal:
        caller.check(scope)
        return caller

    return allowed
