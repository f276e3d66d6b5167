"""Run queries that callers write, within limits of time and size.

A request may name a dataset, which replaces the query's own FROM and FROM NAMED.
"""

import asyncio
from collections.abc import Sequence
from contextlib import AbstractAsyncContextManager

from askgraph.endpoint import execute_sparql
from askgraph.errors import QueryError, TimedOut
from askgraph.graph import KnowledgeGraph
from askgraph.server.runs.events import TurnQueue
from askgraph.server.settings import ServeSettings
from askgraph.sparql.judge import MAX_PARSED_CHARACTERS, CheckedQuery, admit_query
from askgraph.sparql.lexer import tokenize
from askgraph.sparql.parser import parse_query
from askgraph.sparql.results import Result

_MAX_SERVICE_QUERY_CHARACTERS = (
    5_000  # characters of a query with a SERVICE; parsing it takes half a second
)


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
        allowed_services = getattr(graph.endpoint, "services", ())
        prefixes = graph.prefixes.namespaces
        checked_query = admit_query(
            text,
            allowed_services=allowed_services,
            prefixes=prefixes,
            max_characters=_MAX_SERVICE_QUERY_CHARACTERS,
        )
        if not default_graphs and not named_graphs:
            return checked_query
        query_text = replace_dataset(checked_query.text, default_graphs, named_graphs)
        return admit_query(
            query_text,
            allowed_services=allowed_services,
            prefixes=prefixes,
            max_characters=_MAX_SERVICE_QUERY_CHARACTERS,
        )

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
