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
from askgraph.sparql.judge import CheckedQuery, admitted
from askgraph.sparql.lexer import Token, lexed
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


_FORMS = ("SELECT", "ASK", "CONSTRUCT", "DESCRIBE")
_AFTER = ("WHERE", "GROUP", "HAVING", "ORDER", "LIMIT", "OFFSET", "VALUES")


def with_dataset(query: str, default: Sequence[str], named: Sequence[str]) -> str:
    """Return the query over the graphs of these IRIs, whatever its own FROM clauses say.

    That is what the parameters `default-graph-uri` and `named-graph-uri` of the SPARQL protocol
    mean. Without any, the query is as it was. Raises `QueryError` for text that is no IRI, and for
    a query of no known form.
    """
    if not default and not named:
        return query
    for iri in (*default, *named):
        if [token.kind for token in lexed(f"<{iri}>").all] != ["iri"] or ":" not in iri:
            raise QueryError(f"{iri!r} is no IRI of a graph: give one in full")
    given = lexed(query).given
    start, end = _clause(given)
    own = _own(given[start:end])
    clauses = "".join(f" FROM <{iri}>" for iri in default)
    clauses += "".join(f" FROM NAMED <{iri}>" for iri in named)
    place = given[end].start if end < len(given) else len(query)
    text = query[:place].rstrip() + clauses + " " + query[place:]
    for first, last in reversed(own):
        text = text[: first.start] + text[last.start + len(last.text) :]
    return text


def _clause(given: Sequence[Token]) -> tuple[int, int]:
    """Where FROM clauses may stand: from after the form to before WHERE or what comes instead."""
    words = [token.text.upper() if token.kind == "word" else token.text for token in given]
    start = next((at for at, word in enumerate(words) if word in _FORMS), None)
    if start is None:
        raise QueryError("only SELECT, ASK, CONSTRUCT and DESCRIBE queries have a dataset")
    at = start + 1
    if words[start] == "CONSTRUCT" and words[at : at + 1] == ["{"]:
        at = _closed(words, at)
    depth = 0
    for end in range(at, len(words)):
        if depth == 0 and (words[end] == "{" or words[end] in _AFTER):
            return at, end
        depth += (words[end] == "(") - (words[end] == ")")
    return at, len(words)


def _closed(words: Sequence[str], at: int) -> int:
    """The place behind the brace that closes the one at a place."""
    depth = 0
    for end in range(at, len(words)):
        depth += (words[end] == "{") - (words[end] == "}")
        if depth == 0:
            return end + 1
    return len(words)


def _own(given: Sequence[Token]) -> list[tuple[Token, Token]]:
    """The first and last tokens of the FROM clauses that are there."""
    found = []
    for at, token in enumerate(given[:-1]):
        if token.kind == "word" and token.text.upper() == "FROM":
            last = at + 1 + (given[at + 1].text.upper() == "NAMED")
            found.append((token, given[min(last, len(given) - 1)]))
    return found
