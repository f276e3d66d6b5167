"""A remote endpoint: the SPARQL 1.1 Protocol over HTTP, with its failures told apart."""

import asyncio
import re
import time
from collections.abc import AsyncGenerator, Awaitable, Callable, Sequence
from contextlib import aclosing
from itertools import islice

import httpx2
from pyoxigraph import RdfFormat, Triple, parse

from askgraph.endpoint import ByForm, Kind
from askgraph.endpoint._dialects import (
    Dialect,
    detected,
    dialect_named,
    problem_in,
    readable,
    truth_in,
)
from askgraph.endpoint._http_exchange import (
    Credentials,
    Exchange,
    checked_url,
    page_problem,
    some_text,
)
from askgraph.endpoint._results_json import ResultsParser
from askgraph.endpoint.public_only import Guard
from askgraph.errors import (
    ErrorReply,
    MalformedReply,
    QuerySyntaxError,
    ServiceError,
    SetupError,
    TimedOut,
)
from askgraph.sparql.judge import CheckedQuery, EndpointRequest, check_query, get_limit
from askgraph.sparql.rdf_files import check_document
from askgraph.sparql.results import GraphResult, Result, SelectResult, Truncation

__all__ = ["HttpEndpoint"]

MAX_GRAPH = 256 * 1024 * 1024  # bytes of a CONSTRUCT or DESCRIBE result

_RESULTS = "application/sparql-results+json, application/json;q=0.8"
_TRIPLES = "application/n-triples, text/turtle;q=0.8"
_GRAPH_FORMATS = {
    "application/n-triples": RdfFormat.N_TRIPLES,
    "text/plain": RdfFormat.N_TRIPLES,
    "text/turtle": RdfFormat.TURTLE,
    "application/x-turtle": RdfFormat.TURTLE,
    "application/rdf+xml": RdfFormat.RDF_XML,
}
_GRAPH = re.compile(r"\bGRAPH\b", re.IGNORECASE)


class HttpEndpoint(ByForm):
    """Answers queries by asking a SPARQL endpoint over HTTP.

    Rows are read as they arrive and the transfer ends at the row cap. A busy server (429, 502, 503,
    504) and a connection that is reset are tried again up to `retries` times, as late as the server
    asks for, but never beyond the timeout; a 500 is tried once more. No other request is sent until
    then, and never more than `a_minute` of them, if that is not 0. `graphs` restricts the default
    graph and the named graphs. For `auth` (none, basic, bearer, header) the other settings name
    environment variables; the secrets are sent to this host only and shown nowhere. `services` are
    the addresses that a SERVICE may name. `dialect` is detected if it is not set. With a `guard`
    only public addresses are reached, and no redirect to another host is followed.
    """

    def __init__(
        self,
        url: str,
        *,
        dialect: str | None = None,
        auth: str = "none",
        user_env: str | None = None,
        password_env: str | None = None,
        token_env: str | None = None,
        header: str | None = None,
        header_env: str | None = None,
        timeout: float = 60.0,
        connect_timeout: float = 10.0,
        read_timeout: float | None = None,
        max_rows: int = 1_000_000,
        retries: int = 3,
        graphs: Sequence[str] = (),
        prefixes: dict[str, str] | None = None,
        services: frozenset[str] = frozenset(),
        guard: Guard | None = None,
        a_minute: int = 0,
    ) -> None:
        credentials = Credentials.of(auth, user_env, password_env, token_env, header, header_env)
        times = httpx2.Timeout(read_timeout, connect=connect_timeout)
        self._exchange = Exchange(checked_url(url), credentials, times, retries, guard, a_minute)
        self._dialect = dialect_named(dialect) if dialect else None
        self._timeout = timeout
        self._max_rows = max_rows
        self._graphs = tuple(graphs)
        self.prefixes = prefixes or {}
        self.services = services

    def __repr__(self) -> str:
        return f"HttpEndpoint({self.address!r})"

    @property
    def address(self) -> str:
        """The URL without its query part, which may hold a key."""
        return self._exchange.address

    @property
    def dialect(self) -> str:
        """The name of its dialect, empty before a reply has betrayed it."""
        return self._dialect.name if self._dialect else ""

    async def close(self) -> None:
        """Close the connections."""
        await self._exchange.close()

    async def _of_form(self, asked: EndpointRequest, kind: type[Kind]) -> Kind:
        began = time.perf_counter()
        ready = await asyncio.to_thread(asked.check, self.prefixes, self.services)
        cap = asked.get_row_limit(self._max_rows)

        async def answered(deadline: float) -> Result:
            if asked.form in ("CONSTRUCT", "DESCRIBE"):
                triples, cut = await self._triples(ready, cap, deadline)
                return GraphResult(triples, cut, time.perf_counter() - began)
            parser, cut = await self._results(ready, 1 if asked.form == "ASK" else cap, deadline)
            if asked.form == "SELECT":
                if parser.boolean is not None:
                    raise MalformedReply(
                        f"{self.address} answered a SELECT query with true or false"
                    )
                taken = time.perf_counter() - began
                return SelectResult(parser.variables, parser.rows, cut, taken)
            said = parser.boolean
            truth = truth_in(parser.variables, parser.rows) if said is None else said
            if truth is None:
                raise MalformedReply(f"{self.address} answered an ASK query with rows")
            return truth

        result = await self._within(asked, answered)
        assert isinstance(result, kind)
        return result

    async def _within(
        self, asked: EndpointRequest, work: Callable[[float], Awaitable[Result]]
    ) -> Result:
        """Run `work` with a deadline; raise `TimedOut` if it is missed.

        If the endpoint finds the query's syntax wrong, our own parser may say it better.
        """
        seconds = asked.get_timeout(self._timeout)
        try:
            async with asyncio.timeout(seconds):
                return await work(time.monotonic() + seconds)
        except QuerySyntaxError:
            await asyncio.to_thread(
                check_query, asked.query, allowed_services=self.services, prefixes=self.prefixes
            )
            raise
        except TimeoutError as problem:
            raise TimedOut(
                f"{self.address} gave no complete answer within {seconds:g} seconds"
            ) from problem

    def _parameters(self, ready: CheckedQuery, deadline: float) -> list[tuple[str, str]]:
        parameters = [("query", ready.text)]
        # Only where they matter: with named graphs Virtuoso 7 counts a thousand times slower.
        named = _GRAPH.search(ready.text) is not None
        for graph in self._graphs:
            parameters.append(("default-graph-uri", graph))
            parameters += [("named-graph-uri", graph)] if named else []
        if self._dialect:
            parameters += self._dialect.parameters(deadline - time.monotonic()).items()
        return parameters

    async def _results(
        self, ready: CheckedQuery, cap: int, deadline: float
    ) -> tuple[ResultsParser, Truncation | None]:
        parameters = self._parameters(ready, deadline)
        async with self._exchange.reply(parameters, _RESULTS, deadline=deadline) as response:
            parser = ResultsParser(cap)
            await self._read(response, parser)
        if parser.full:
            return parser, Truncation("askgraph", f"stopped after {cap:,} rows")
        dialect = self._known_dialect(response)
        limit = get_limit(ready.text)
        return parser, dialect.truncation(len(parser.rows), response.headers, limit=limit)

    async def _read(self, response: httpx2.Response, parser: ResultsParser) -> None:
        begun = False
        async with aclosing(response.aiter_bytes()) as parts:
            async for part in parts:
                if not begun:
                    start = part.lstrip(b"\xef\xbb\xbf \t\r\n")
                    if not start:
                        continue
                    begun = True
                    if not start.startswith(b"{"):
                        raise await self._page_problem(parts, part)
                self._feed(parser, part)
                if parser.full:
                    return
        if not begun:
            raise page_problem(self.address, "")
        self._feed(parser, None)

    def _feed(self, parser: ResultsParser, part: bytes | None) -> None:
        """Pass bytes, or the end, to the parser; its errors get a name and the address."""
        try:
            parser.feed(part)
        except ErrorReply as problem:
            raise self._as_said(str(problem)) from problem
        except MalformedReply as problem:
            if problem_in(parser.unread) or "exception" in parser.unread.lower():
                raise self._as_said(parser.unread) from problem
            said = self._exchange.scrubbed(str(problem))
            raise MalformedReply(f"{self.address}: {said}") from problem

    async def _triples(
        self, ready: CheckedQuery, cap: int, deadline: float
    ) -> tuple[tuple[Triple, ...], Truncation | None]:
        parameters = self._parameters(ready, deadline)
        async with self._exchange.reply(parameters, _TRIPLES, deadline=deadline) as response:
            kind = response.headers.get("content-type", "").partition(";")[0].strip().lower()
            if kind not in _GRAPH_FORMATS:
                raise await self._page_problem(response.aiter_bytes())
            lines = cap + 1 if _GRAPH_FORMATS[kind] == RdfFormat.N_TRIPLES else None
            body = await self._body(response, lines)
        triples = await asyncio.to_thread(self._parsed, body, _GRAPH_FORMATS[kind], cap + 1)
        if len(triples) > cap:
            return triples[:cap], Truncation("askgraph", f"stopped after {cap:,} triples")
        return triples, self._known_dialect(response).truncation(-1, response.headers, limit=None)

    async def _body(self, response: httpx2.Response, lines: int | None) -> bytes:
        """Return the body; if each line is a triple, no more than so many."""
        body = bytearray()
        async with aclosing(response.aiter_bytes()) as parts:
            async for part in parts:
                body += part
                if lines is not None:
                    lines -= part.count(b"\n")
                    if lines <= 0:
                        return bytes(body[: body.rindex(b"\n") + 1])
                if len(body) > MAX_GRAPH:
                    raise ErrorReply(
                        f"the graph that {self.address} sends is larger than"
                        f" {MAX_GRAPH // 2**20} MiB: add a LIMIT to the query"
                    )
        return bytes(body)

    def _parsed(self, body: bytes, kind: RdfFormat, most: int) -> tuple[Triple, ...]:
        try:
            check_document(self.address, kind, [body])
            quads = parse(body, kind, base_iri=self.address)
            return tuple([quad.triple for quad in islice(quads, most)])
        except SetupError as problem:
            raise MalformedReply(str(problem)) from problem
        except SyntaxError as problem:
            text = body[:2000].decode("utf-8", "replace")
            if problem_in(text):
                raise self._as_said(text) from problem
            raise MalformedReply(
                f"{self.address} sent RDF that does not parse, or is cut off: {problem}"
            ) from problem

    async def _page_problem(
        self, parts: AsyncGenerator[bytes, None], start: bytes = b""
    ) -> ServiceError:
        async with aclosing(parts):
            text = await some_text(parts, start)
        return page_problem(self.address, self._exchange.scrubbed(text))

    def _as_said(self, text: str) -> ServiceError:
        said = self._exchange.scrubbed(readable(text))
        if problem_in(text) == "timeout":
            return TimedOut(f"the server's own time limit was reached: {said}")
        return ErrorReply(f"{self.address} reports: {said}")

    def _known_dialect(self, response: httpx2.Response) -> Dialect:
        if self._dialect is None:
            self._dialect = detected(response.headers)
        return self._dialect
