"""Queries that callers write themselves: run for a bounded time, with bounded results.

One may name another dataset, which stands in the place of its own FROM and FROM NAMED.
"""

import asyncio
from collections.abc import Sequence
from contextlib import AbstractAsyncContextManager

from askgraph.endpoint import run
from askgraph.errors import QueryError, TimedOut
from askgraph.graph import KnowledgeGraph
from askgraph.server.runs.events import Queue
from askgraph.server.settings import ServeSettings
from askgraph.sparql.judge import MAX_PARSED, CheckedQuery, admitted
from askgraph.sparql.lexer import lexed
from askgraph.sparql.parser import parse_query
from askgraph.sparql.results import Result

_PARSED = 5_000  # characters of a query with a SERVICE: its parse takes half a second


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
        return queue.turn(lambda _: None)  # queries do not hear their place

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


_MODIFIERS = ("GROUP", "HAVING", "ORDER", "LIMIT", "OFFSET", "VALUES")


def with_dataset(query: str, default: Sequence[str], named: Sequence[str]) -> str:
    """Return the query over the graphs of these IRIs, whatever its own FROM clauses say.

    That is what the parameters `default-graph-uri` and `named-graph-uri` of the SPARQL protocol
    mean. Without any, the query is as it was. Raises `QueryError` for text that is no IRI, and for
    a query that cannot be read or has more than 200,000 characters.
    """
    if not default and not named:
        return query
    for iri in (*default, *named):
        if [token.kind for token in lexed(f"<{iri}>").all] != ["iri"] or ":" not in iri:
            raise QueryError(f"{iri!r} is no IRI of a graph: give one in full")
    if len(query) > MAX_PARSED:
        raise QueryError(
            f"the query has {len(query):,} characters; over graphs that are given beside it, at "
            f"most {MAX_PARSED:,} are run"
        )
    start, end = _dataset_span(query)
    clauses = [*(f"FROM <{iri}>" for iri in default), *(f"FROM NAMED <{iri}>" for iri in named)]
    # On a line of their own: a comment may end before them.
    return f"{query[:start]}\n{' '.join(clauses)}\n{query[end:]}"


def _dataset_span(query: str) -> tuple[int, int]:
    """Return where a query has its FROM clauses, or may have some."""
    tree, given = parse_query(query).tree, lexed(query).given
    if tree.dataset_span:
        return tree.dataset_span
    if tree.where.span:
        at = tree.where.span[0]
        before = [token for token in given if token.start < at][-1]
        at = before.start if before.text.upper() == "WHERE" else at
    else:  # DESCRIBE alone
        words = (token for token in given if token.kind == "word")
        at = next((one.start for one in words if one.text.upper() in _MODIFIERS), len(query))
    return at, at
