"""Queries that callers write themselves: run for a bounded time, with bounded results."""

import asyncio
from collections.abc import Sequence
from contextlib import AbstractAsyncContextManager

from askgraph.endpoint import run
from askgraph.errors import TimedOut
from askgraph.graph import KnowledgeGraph
from askgraph.serve.runs.queue import Queue
from askgraph.serve.settings import ServeSettings
from askgraph.sparql.judge import CheckedQuery, admitted
from askgraph.sparql.results import Result
from askgraph.sparql.rewrite.dataset import with_dataset

_PARSED = 20_000  # characters of a query that is parsed: a second or two of this process


class Queries:
    """Runs queries: on each graph a few at once, others wait; each within the server's limits."""

    def __init__(self, settings: ServeSettings) -> None:
        self._settings = settings
        self._queues: dict[str, Queue] = {}

    def read(
        self,
        text: str,
        graph: KnowledgeGraph,
        *,
        default_graphs: Sequence[str] = (),
        named_graphs: Sequence[str] = (),
    ) -> CheckedQuery:
        """Return a query as it may be run on a graph, over these of its named graphs.

        Raises `QueryError`: it is none, it would write, it reaches out of the workspace.
        """
        allowed = getattr(graph.endpoint, "services", ())
        known = graph.prefixes.namespaces
        ready = admitted(text, allowed_services=allowed, prefixes=known, most=_PARSED)
        if not default_graphs and not named_graphs:
            return ready
        whole = with_dataset(ready.text, default_graphs, named_graphs)
        return admitted(whole, allowed_services=allowed, prefixes=known, most=_PARSED)

    def turn(self, graph: str) -> AbstractAsyncContextManager[None]:
        """Return a context that waits for a turn on a graph and holds it; see `Queue.turn`."""
        queue = self._queues.setdefault(
            graph, Queue(self._settings.per_graph, self._settings.queue, what="queries")
        )
        return queue.turn(_tell_nobody)

    async def run(
        self,
        ready: CheckedQuery,
        graph: KnowledgeGraph,
        *,
        timeout: float | None = None,
        limit: int | None = None,
    ) -> Result:
        """Return the result of a query; `timeout` (seconds) and `limit` (rows) only lessen it.

        Raises `ServiceError` as endpoints do, and `TooMany` if too many wait already.
        """
        seconds = min(timeout or self._settings.query_timeout, self._settings.query_timeout)
        most = min(limit or self._settings.max_rows, self._settings.max_rows)
        try:
            async with asyncio.timeout(seconds) as waiting, self.turn(graph.name):
                waiting.reschedule(None)
                return await run(
                    graph.endpoint, ready.form, ready.given, timeout=seconds, limit=most
                )
        except TimeoutError as problem:
            raise TimedOut(
                f"other queries on this graph took all of {seconds:g} seconds: try again later"
            ) from problem


def _tell_nobody(place: int) -> None:
    """Report nothing: queries do not hear their place."""
