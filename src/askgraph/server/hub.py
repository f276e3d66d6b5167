"""The hub: the server parts that all handlers share, and the dependencies that provide them."""

import asyncio
import contextlib
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Annotated

from fastapi import Depends, Request

from askgraph.answers.example_questions import Starter
from askgraph.endpoint import execute_sparql
from askgraph.errors import QueryError, TimedOut
from askgraph.graph import KnowledgeGraph
from askgraph.server.auth import Principal, Scope
from askgraph.server.auth.identify import CallerAccounts, RequestCredentials, get_credentials
from askgraph.server.graphs import GraphCatalog, GraphPool, SummaryCache
from askgraph.server.graphs.jobs import GraphJobs
from askgraph.server.runs import AskBody, check_choice, list_model_names, to_request
from askgraph.server.runs.events import TurnQueue
from askgraph.server.runs.lifecycle import ActiveRun, RunRecords, RunRegistry
from askgraph.server.runs.worker_pool import LocalAnswerer, WorkerPool
from askgraph.server.settings import ServeSettings
from askgraph.server.store import Store
from askgraph.server.store.tables import generate_id
from askgraph.server.telemetry import collect_secrets
from askgraph.sparql.judge import MAX_PARSED_CHARACTERS, CheckedQuery, admit_query
from askgraph.sparql.lexer import tokenize
from askgraph.sparql.parser import parse_query
from askgraph.sparql.results import Result
from askgraph.trace import Answer, PreviousQuestion
from askgraph.workspace import Workspace
from askgraph.workspace.models import Models

# Characters of a query with a SERVICE; parsing it takes half a second.
_MAX_SERVICE_QUERY_CHARACTERS = 5_000


class QueryRunner:
    """Runs queries within the server's limits; per graph a few at once, while others wait."""

    def __init__(self, settings: ServeSettings) -> None:
        self._settings = settings
        self._queues: dict[str, TurnQueue] = {}

    def check(
        self,
        text: str,
        graph: KnowledgeGraph,
        *,
        default_graphs: Sequence[str] = (),
        named_graphs: Sequence[str] = (),
    ) -> CheckedQuery:
        """Check a query for a graph, over the given named graphs, and return it.

        Raises:
            QueryError: it is invalid, it would write, or it reaches beyond the workspace.
        """
        admit = partial(
            admit_query,
            allowed_services=getattr(graph.endpoint, "services", ()),
            prefixes=graph.prefixes.namespaces,
            max_characters=_MAX_SERVICE_QUERY_CHARACTERS,
        )
        checked_query = admit(text)
        if not default_graphs and not named_graphs:
            return checked_query
        return admit(replace_dataset(checked_query.text, default_graphs, named_graphs))

    def wait_turn(self, graph: str) -> AbstractAsyncContextManager[None]:
        """Return a context manager that waits for a turn on a graph; see `TurnQueue.wait_turn`."""
        queue = self._queues.setdefault(
            graph, TurnQueue(self._settings.per_graph, self._settings.queue, noun="queries")
        )
        return queue.wait_turn(lambda _: None)  # queries do not hear their place

    async def run(
        self,
        checked_query: CheckedQuery,
        graph: KnowledgeGraph,
        *,
        timeout: float | None = None,
        limit: int | None = None,
    ) -> Result:
        """Run a query and return its result.

        Args:
            timeout: seconds; can only lower the server's limit.
            limit: rows; can only lower the server's limit.

        Raises:
            ServiceError: as endpoints raise it.
            TooMany: too many queries are waiting.
        """
        seconds = min(timeout or self._settings.query_timeout, self._settings.query_timeout)
        max_rows = min(limit or self._settings.max_rows, self._settings.max_rows)
        try:
            async with asyncio.timeout(seconds) as deadline, self.wait_turn(graph.name):
                deadline.reschedule(None)
                return await execute_sparql(
                    graph.endpoint,
                    checked_query.form,
                    checked_query.original_text,
                    timeout=seconds,
                    limit=max_rows,
                )
        except TimeoutError as problem:
            raise TimedOut(
                f"other queries on this graph took all of {seconds:g} seconds: try again later"
            ) from problem


_MODIFIER_KEYWORDS = ("GROUP", "HAVING", "ORDER", "LIMIT", "OFFSET", "VALUES")


def replace_dataset(query: str, default_graphs: Sequence[str], named_graphs: Sequence[str]) -> str:
    """Replace the FROM clauses of a query by the graphs of these IRIs.

    This implements the parameters `default-graph-uri` and `named-graph-uri` of the SPARQL protocol.
    Without graphs, the query is unchanged.

    Raises:
        QueryError: an IRI is invalid, or the query cannot be parsed or has more than 200,000
            characters.
    """
    if not default_graphs and not named_graphs:
        return query
    for iri in (*default_graphs, *named_graphs):
        if [token.kind for token in tokenize(f"<{iri}>").all_tokens] != ["iri"] or ":" not in iri:
            raise QueryError(f"{iri!r} is not an IRI of a graph: give one in full")
    if len(query) > MAX_PARSED_CHARACTERS:
        raise QueryError(
            f"the query has {len(query):,} characters; with graphs named in the request, "
            f"at most {MAX_PARSED_CHARACTERS:,} are allowed"
        )
    start, end = _find_dataset_span(query)
    clauses = [
        *(f"FROM <{iri}>" for iri in default_graphs),
        *(f"FROM NAMED <{iri}>" for iri in named_graphs),
    ]
    # Start a new line: the query may end in a comment.
    return f"{query[:start]}\n{' '.join(clauses)}\n{query[end:]}"


def _find_dataset_span(query: str) -> tuple[int, int]:
    """Return the span of a query's FROM clauses, or the position where they would go."""
    tree, tokens = parse_query(query).tree, tokenize(query).tokens
    if tree.dataset_span:
        return tree.dataset_span
    if tree.where.span:
        position = tree.where.span[0]
        previous = [token for token in tokens if token.start < position][-1]
        position = previous.start if previous.text.upper() == "WHERE" else position
    else:  # DESCRIBE alone
        keywords = (token for token in tokens if token.kind == "word")
        position = next(
            (keyword.start for keyword in keywords if keyword.text.upper() in _MODIFIER_KEYWORDS),
            len(query),
        )
    return position, position


@dataclass(eq=False)
class Hub:
    """The parts of one server.

    Attributes:
        ready: whether the server accepts requests.
        starters: generated questions with their answers, by graph name, snapshot and language.
        sample_boards: the fields of the sample's board, by language.
        answerer: runs questions, in this process or in worker processes.
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
    starters: dict[tuple[str, str, str], list[tuple[Starter, Answer]]] = field(default_factory=dict)
    sample_boards: dict[str, dict[str, object]] = field(default_factory=dict)
    sample_lock: asyncio.Lock = field(default_factory=asyncio.Lock)
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
        request = to_request(body, graphs, earlier, self.settings)
        check_choice(request, caller, self.settings, list_model_names(self.workspace))
        model = {"model": request.model} if request.model else {}
        method, settings = self.workspace.resolve_method(
            request.method, {**request.settings, **model}
        )
        request = replace(request, method=method, settings=settings)
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
    graphs = GraphCatalog(workspace, store, pool, answerer.forget, settings)
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
