"""A SPARQL endpoint on loopback over an in-memory store, able to act out every fault."""

import asyncio
import contextlib
import hashlib
import ssl
import threading
from collections import Counter, deque
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Self
from urllib.parse import parse_qs, urlsplit
from urllib.request import parse_http_list, parse_keqv_list

from pyoxigraph import NamedNode, QueryBoolean, QueryResultsFormat, QuerySolutions, RdfFormat, Store

__all__ = ["Fault", "Habits", "Reply", "Request", "SparqlServer", "becomes_true", "held_open"]


async def becomes_true(condition: Callable[[], bool]) -> None:
    """Wait until a condition is met, for a minute or two at most: the test then looks again."""
    for _ in range(10_000):
        if condition():
            return
        await asyncio.sleep(0.01)


def held_open() -> Counter[str]:
    """Return the files and sockets that this process has open; some are closed meanwhile."""
    found: Counter[str] = Counter()
    for link in Path("/proc/self/fd").iterdir():
        with contextlib.suppress(FileNotFoundError):
            found[str(link.readlink())] += 1
    return found


@dataclass(frozen=True)
class Request:
    """A request as it came."""

    method: str
    target: str
    headers: dict[str, str]
    body: bytes

    @property
    def parameters(self) -> dict[str, list[str]]:
        """All parameters, of the address and of the body."""
        given = parse_qs(urlsplit(self.target).query)
        if self.way == "body":
            given["query"] = [self.body.decode()]
        if self.headers.get("content-type", "").startswith("application/x-www-form-urlencoded"):
            given |= parse_qs(self.body.decode())
        return given

    @property
    def way(self) -> str:
        """How the query came: GET, or as the form or the body of a POST."""
        is_body = self.headers.get("content-type", "").startswith("application/sparql-query")
        return "GET" if self.method == "GET" else "body" if is_body else "form"


@dataclass(frozen=True)
class Habits:
    """What a server does differently: the ways it takes, its only format, its authentication."""

    ways: tuple[str, ...] = ("GET", "form", "body")
    refusal: int = 405
    format: QueryResultsFormat = QueryResultsFormat.JSON
    digest: tuple[str, str] = ("", "")  # user and password
    orders_durations: bool = True

    def refuse(self, request: Request) -> "Reply | None":
        """Return the reply to a request that the server does not take as it is."""
        if request.way not in self.ways:
            return Reply(self.refusal, {"Content-Type": "text/plain"}, b"not in this way")
        accepts = request.headers.get("accept", "*/*")
        if self.format.media_type not in accepts and "json" in accepts and "*/*" not in accepts:
            return Reply(406, {}, b"")
        query = request.parameters["query"][0]
        if not self.orders_durations and "ASK" in query and "xsd:duration" in query:
            return Reply(200, {"Content-Type": self.format.media_type}, b'{"boolean": false}')
        user, password = self.digest
        if not user:
            return None

        def hash_text(*parts: str) -> str:
            return hashlib.md5(":".join(parts).encode(), usedforsecurity=False).hexdigest()

        given = parse_keqv_list(
            parse_http_list(request.headers.get("authorization", "").partition(" ")[2])
        )
        secret = hash_text(user, "graphs", password)
        proof = hash_text(secret, "once", hash_text(request.method, request.target))
        if given.get("response") == proof:
            return None
        return Reply(401, {"WWW-Authenticate": 'Digest realm="graphs", nonce="once"'}, b"")


@dataclass(frozen=True)
class Reply:
    """What goes back: status, headers, body."""

    status: int
    headers: dict[str, str]
    body: bytes

    @property
    def head(self) -> bytes:
        """The status line and headers; the length is declared where no other header says it."""
        headers = dict(self.headers)
        if "Transfer-Encoding" not in headers:
            headers.setdefault("Content-Length", str(len(self.body)))
        lines = [f"HTTP/1.1 {self.status} Status", *(f"{k}: {v}" for k, v in headers.items())]
        return "\r\n".join([*lines, "Connection: close", "", ""]).encode()


Fault = Callable[["SparqlServer", Request, asyncio.StreamWriter], Awaitable[None]]
"""Answers a request in its own way; the connection is closed after it."""


class SparqlServer:
    """Answers as an honest endpoint, except where `acts` has a fault for the next request.

    `always` is a fault for all requests. `requests` are those that came. With `union` its default
    graph, where a query names none, is all graphs together.
    """

    def __init__(
        self,
        store: Store,
        *,
        headers: dict[str, str] | None = None,
        union: bool = True,
        tls: ssl.SSLContext | None = None,
    ) -> None:
        self.store = store
        self.union = union
        self.tls = tls
        self.headers = headers or {}
        self.habits = Habits()
        self.acts: deque[Fault] = deque()
        self.always: Fault | None = None
        self.requests: list[Request] = []
        self.url = ""
        self._loop = asyncio.new_event_loop()
        self._ready = threading.Event()
        self._thread = threading.Thread(target=self._run, daemon=True)

    def __enter__(self) -> Self:
        self._thread.start()
        self._ready.wait()
        return self

    def __exit__(self, *_: object) -> None:
        self._loop.call_soon_threadsafe(self._stop.set)
        self._thread.join()

    def honest(self, request: Request) -> Reply:
        """The right reply to a request, as the habits of the server allow."""
        if refusal := self.habits.refuse(request):
            return refusal
        given = request.parameters
        query = given["query"][0]
        named = "default-graph-uri" in given or "FROM <" in query
        try:
            result = self.store.query(
                query,
                use_default_graph_as_union=self.union and not named,
                default_graph=[NamedNode(g) for g in given.get("default-graph-uri", [])] or None,
                named_graphs=[NamedNode(g) for g in given.get("named-graph-uri", [])] or None,
            )
        except SyntaxError as problem:
            return Reply(400, {"Content-Type": "text/plain"}, str(problem).encode())
        kind: RdfFormat | QueryResultsFormat
        if isinstance(result, QuerySolutions | QueryBoolean):
            kind = self.habits.format
            body = result.serialize(format=kind)
        else:
            turtle = request.headers.get("accept", "").startswith("text/turtle")
            kind = RdfFormat.TURTLE if turtle else RdfFormat.N_TRIPLES
            body = result.serialize(format=kind)
        assert body is not None
        return Reply(200, {"Content-Type": kind.media_type, **self.headers}, body)

    def _run(self) -> None:
        asyncio.set_event_loop(self._loop)
        self._loop.run_until_complete(self._serve())
        self._loop.close()

    async def _serve(self) -> None:
        self._stop = asyncio.Event()
        self._tasks: set[asyncio.Task[None]] = set()
        server = await asyncio.start_server(self._connection, "127.0.0.1", 0, ssl=self.tls)
        host, port = server.sockets[0].getsockname()[:2]
        self.url = f"http{'s' if self.tls else ''}://{host}:{port}/sparql"
        self._ready.set()
        await self._stop.wait()
        for listening in server.sockets:  # a socket accepted while the server closes stays open
            asyncio.get_running_loop().remove_reader(listening.fileno())
        while others := asyncio.all_tasks() - {asyncio.current_task()}:
            for task in self._tasks:
                task.cancel()
            await asyncio.wait(others, timeout=0.01)  # what was just accepted comes to be a task
        server.close()
        for _ in range(3):
            await asyncio.sleep(0)  # sockets are closed in the rounds after

    async def _connection(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task
        self._tasks.add(task)
        try:
            with contextlib.suppress(ConnectionError, asyncio.IncompleteReadError):
                await self._answer(await _request(reader), writer)
        except asyncio.CancelledError:
            pass
        finally:
            writer.close()
            with contextlib.suppress(ConnectionError, asyncio.CancelledError):
                await writer.wait_closed()
            writer.transport.abort()  # if it was not waited for
            self._tasks.discard(task)

    async def _answer(self, request: Request, writer: asyncio.StreamWriter) -> None:
        self.requests.append(request)
        fault = self.acts.popleft() if self.acts else self.always
        if fault:
            await fault(self, request, writer)
            return
        reply = self.honest(request)
        writer.write(reply.head + reply.body)
        await writer.drain()


async def _request(reader: asyncio.StreamReader) -> Request:
    head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1").split("\r\n")
    method, target, _ = head[0].split(" ")
    headers = {
        name.strip().lower(): value.strip()
        for name, _, value in (line.partition(":") for line in head[1:] if line)
    }
    body = await reader.readexactly(int(headers.get("content-length", "0")))
    return Request(method, target, headers, body)
