"""A remote endpoint: the SPARQL 1.1 Protocol over HTTP, with a distinct error for each failure."""

import asyncio
import re
import time
from collections.abc import AsyncGenerator, Sequence
from contextlib import aclosing
from itertools import islice

import httpx2
from pyoxigraph import RdfFormat, Triple, parse

from askgraph import errors
from askgraph.endpoint import FormEndpoint, Kind
from askgraph.endpoint import _dialects as dialects
from askgraph.endpoint import _http_exchange as http_exchange
from askgraph.endpoint._results_json import ResultsParser, detect_format
from askgraph.endpoint.public_only import AddressGuard
from askgraph.sparql.judge import CheckedQuery, EndpointRequest, check_query, get_limit
from askgraph.sparql.rdf_files import check_document
from askgraph.sparql.results import GraphResult, Result, SelectResult, Truncation

__all__ = ["HttpEndpoint"]

MAX_GRAPH_BYTES = 256 * 1024 * 1024  # bytes of a CONSTRUCT or DESCRIBE result

_RESULTS_ACCEPT = "application/sparql-results+json, application/json;q=0.8"
_TRIPLES_ACCEPT = "application/n-triples, text/turtle;q=0.8"
_GRAPH_FORMATS = {
    "application/n-triples": RdfFormat.N_TRIPLES,
    "text/plain": RdfFormat.N_TRIPLES,
    "text/turtle": RdfFormat.TURTLE,
    "application/x-turtle": RdfFormat.TURTLE,
    "application/rdf+xml": RdfFormat.RDF_XML,
    "application/ld+json": RdfFormat.JSON_LD,
}
_GRAPH_KEYWORD_PATTERN = re.compile(r"\bGRAPH\b", re.IGNORECASE)


class HttpEndpoint(FormEndpoint):
    """Answers queries by a SPARQL endpoint over HTTP.

    Rows are parsed as they arrive, and the transfer ends at the row limit. Requests to a busy
    server (429, 502, 503, 504) and reset connections are retried up to `retries` times, after
    the server's requested wait but never beyond the timeout; a 500 is retried once. Meanwhile
    no other request is sent, and never more than `a_minute` of them in a minute, unless that
    is 0. `graphs` restricts the default graph and the named graphs. For `auth` (none, basic,
    digest, bearer, header) the other settings name environment variables; the secrets are sent to
    this host only and never shown. Certificates in `ca_file` are trusted too. `services` are
    the addresses that a SERVICE may name.
    `dialect` is detected by default. With a `guard` only public addresses are reached, and
    redirects to another host are not followed.
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
        guard: AddressGuard | None = None,
        a_minute: int = 0,
        ca_file: str | None = None,
    ) -> None:
        credentials = http_exchange.EndpointCredentials.from_settings(
            auth, user_env, password_env, token_env, header, header_env
        )
        timeouts = httpx2.Timeout(read_timeout, connect=connect_timeout)
        self._exchange = http_exchange.HttpExchange(
            http_exchange.parse_url(url), credentials, timeouts, retries, guard, a_minute, ca_file
        )
        self._dialect = dialects.get_dialect(dialect) if dialect else None
        self._timeout = timeout
        self._max_rows = max_rows
        self._graphs = tuple(graphs)
        self.prefixes = prefixes or {}
        self.services = services

    def __repr__(self) -> str:
        return f"HttpEndpoint({self.address!r})"

    @property
    def address(self) -> str:
        """The URL without its query part, which may contain a key."""
        return self._exchange.address

    @property
    def dialect(self) -> str:
        """The name of its dialect; empty before the first reply."""
        return self._dialect.name if self._dialect else ""

    async def close(self) -> None:
        """Close the connections."""
        await self._exchange.close()

    async def _answer(self, request: EndpointRequest, kind: type[Kind]) -> Kind:
        start = time.perf_counter()
        checked_query = await asyncio.to_thread(request.check, self.prefixes, self.services)
        row_limit = request.get_row_limit(self._max_rows)

        async def fetch_result(deadline: float) -> Result:
            if request.form in ("CONSTRUCT", "DESCRIBE"):
                triples, truncation = await self._fetch_triples(checked_query, row_limit, deadline)
                return GraphResult(triples, truncation, time.perf_counter() - start)
            parser, truncation = await self._fetch_results(
                checked_query, 1 if request.form == "ASK" else row_limit, deadline
            )
            if request.form == "SELECT":
                if parser.boolean is not None:
                    raise errors.MalformedReply(
                        f"{self.address} answered a SELECT query with true or false"
                    )
                seconds = time.perf_counter() - start
                return SelectResult(parser.variables, parser.rows, truncation, seconds)
            boolean = parser.boolean
            truth = (
                dialects.parse_truth(parser.variables, parser.rows) if boolean is None else boolean
            )
            if truth is None:
                raise errors.MalformedReply(f"{self.address} answered an ASK query with rows")
            return truth

        seconds = request.get_timeout(self._timeout)
        try:
            async with asyncio.timeout(seconds):
                result = await fetch_result(time.monotonic() + seconds)
        except errors.QuerySyntaxError as problem:
            try:
                await asyncio.to_thread(
                    check_query, request.query,
                    allowed_services=self.services, prefixes=self.prefixes,
                )  # fmt: skip
            except errors.QueryError as fault:  # its words are better, if it finds the fault too
                fault.reply = problem.reply
                raise fault from problem
            raise
        except TimeoutError as problem:
            raise errors.TimedOut(
                f"{self.address} gave no complete answer within {seconds:g} seconds"
            ) from problem
        assert isinstance(result, kind)
        return result

    def _build_parameters(
        self, checked_query: CheckedQuery, deadline: float
    ) -> list[tuple[str, str]]:
        parameters = [("query", checked_query.text)]
        # Only where they matter: with named graphs Virtuoso 7 counts a thousand times slower.
        uses_graph = _GRAPH_KEYWORD_PATTERN.search(checked_query.text) is not None
        for graph in self._graphs:
            parameters.append(("default-graph-uri", graph))
            parameters += [("named-graph-uri", graph)] if uses_graph else []
        if self._dialect:
            parameters += self._dialect.build_parameters(deadline - time.monotonic()).items()
        return parameters

    async def _fetch_results(
        self, checked_query: CheckedQuery, row_limit: int, deadline: float
    ) -> tuple[ResultsParser, Truncation | None]:
        parameters = self._build_parameters(checked_query, deadline)
        async with self._exchange.open_reply(
            parameters, _RESULTS_ACCEPT, deadline=deadline
        ) as response:
            parser = ResultsParser(row_limit)
            await self._read_results(response, parser)
        if parser.is_full:
            return parser, Truncation("askgraph", f"stopped after {row_limit:,} rows")
        dialect = self._get_dialect(response)
        limit = get_limit(checked_query.text)
        return parser, dialect.detect_truncation(len(parser.rows), response.headers, limit=limit)

    async def _read_results(self, response: httpx2.Response, parser: ResultsParser) -> None:
        has_begun = False
        async with aclosing(response.aiter_bytes()) as parts:
            async for part in parts:
                if not has_begun:
                    start = part.lstrip(b"\xef\xbb\xbf \t\r\n")
                    if not start:
                        continue
                    has_begun = True
                    if not start.startswith(b"{"):
                        media_type = (
                            response.headers.get("content-type", "")
                            .partition(";")[0]
                            .strip()
                            .lower()
                        )
                        format_name = detect_format(media_type, part)
                        if not format_name:
                            raise await self._read_page_error(parts, part)
                        body = await self._read_parts(parts, part)
                        try:
                            await asyncio.to_thread(parser.load_table, format_name, body)
                        except errors.MalformedReply as problem:
                            raise errors.MalformedReply(f"{self.address}: {problem}") from problem
                        return
                self._feed_parser(parser, part)
                if parser.is_full:
                    return
        if not has_begun:
            raise http_exchange.build_page_error(self.address, "")
        self._feed_parser(parser, None)

    def _feed_parser(self, parser: ResultsParser, part: bytes | None) -> None:
        """Pass bytes, or the end, to the parser; add the address to its errors."""
        try:
            parser.feed(part)
        except errors.ErrorReply as problem:
            raise self._build_reported_error(str(problem)) from problem
        except errors.MalformedReply as problem:
            if dialects.classify_error(parser.unread) or "exception" in parser.unread.lower():
                raise self._build_reported_error(parser.unread) from problem
            message = self._exchange.redact(str(problem))
            raise errors.MalformedReply(f"{self.address}: {message}") from problem

    async def _fetch_triples(
        self, checked_query: CheckedQuery, triple_limit: int, deadline: float
    ) -> tuple[tuple[Triple, ...], Truncation | None]:
        parameters = self._build_parameters(checked_query, deadline)
        async with self._exchange.open_reply(
            parameters, _TRIPLES_ACCEPT, deadline=deadline
        ) as response:
            media_type = response.headers.get("content-type", "").partition(";")[0].strip().lower()
            if media_type not in _GRAPH_FORMATS:
                raise await self._read_page_error(response.aiter_bytes())
            lines = triple_limit + 1 if _GRAPH_FORMATS[media_type] == RdfFormat.N_TRIPLES else None
            async with aclosing(response.aiter_bytes()) as parts:
                body = await self._read_parts(parts, lines=lines)
        triples = await asyncio.to_thread(
            self._parse_triples, body, _GRAPH_FORMATS[media_type], triple_limit + 1
        )
        if len(triples) > triple_limit:
            return triples[:triple_limit], Truncation(
                "askgraph", f"stopped after {triple_limit:,} triples"
            )
        return triples, self._get_dialect(response).detect_truncation(
            -1, response.headers, limit=None
        )

    async def _read_parts(
        self, parts: AsyncGenerator[bytes, None], start: bytes = b"", lines: int | None = None
    ) -> bytes:
        body = bytearray(start)
        async with aclosing(parts):
            async for part in parts:
                body += part
                if lines is not None:
                    lines -= part.count(b"\n")
                    if lines <= 0:
                        return bytes(body[: body.rindex(b"\n") + 1])
                if len(body) > MAX_GRAPH_BYTES:
                    raise errors.ErrorReply(
                        f"the reply of {self.address} is larger than"
                        f" {MAX_GRAPH_BYTES // 2**20} MiB: add a LIMIT to the query"
                    )
        return bytes(body)

    def _parse_triples(
        self, body: bytes, rdf_format: RdfFormat, max_triples: int
    ) -> tuple[Triple, ...]:
        try:
            check_document(self.address, rdf_format, [body])
            quads = parse(body, rdf_format, base_iri=self.address)
            return tuple([quad.triple for quad in islice(quads, max_triples)])
        except errors.SetupError as problem:
            raise errors.MalformedReply(str(problem)) from problem
        except SyntaxError as problem:
            text = body[:2000].decode("utf-8", "replace")
            if dialects.classify_error(text):
                raise self._build_reported_error(text) from problem
            raise errors.MalformedReply(
                f"{self.address} sent RDF that does not parse, or is cut off: {problem}"
            ) from problem

    async def _read_page_error(
        self, parts: AsyncGenerator[bytes, None], start: bytes = b""
    ) -> errors.ServiceError:
        async with aclosing(parts):
            text = await http_exchange.read_error_text(parts, start)
        return http_exchange.build_page_error(self.address, self._exchange.redact(text))

    def _build_reported_error(self, text: str) -> errors.ServiceError:
        message = self._exchange.redact(dialects.extract_message(text))
        if dialects.classify_error(text) == "timeout":
            return errors.TimedOut(f"the server's own time limit was reached: {message}")
        return errors.ErrorReply(f"{self.address} reports: {message}")

    def _get_dialect(self, response: httpx2.Response) -> dialects.ServerDialect:
        if self._dialect is None:
            self._dialect = dialects.detect_dialect(response.headers)
        return self._dialect
