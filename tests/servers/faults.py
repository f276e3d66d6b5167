"""The faults that SPARQL endpoints are known for, each a way to answer a request."""

import asyncio
import re
import socket
import struct

from pyoxigraph import QueryResultsFormat
from tests.servers.sparql import Fault, Reply, Request, SparqlServer

__all__ = [
    "body", "breathing", "capped", "chunked_and_cut", "cut", "endless", "redirect",
    "refused_where", "reset", "silence", "slow_drip", "slow_first_byte", "slow_where", "status",
]  # fmt: skip

JSON = QueryResultsFormat.JSON.media_type


def status(code: int, text: str = "", **headers: str) -> Fault:
    """Answer with a status; `retry_after="1"` becomes the header Retry-After."""
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    return body(text, code=code, kind="text/plain", **named)


def body(text: str, *, code: int = 200, kind: str = JSON, **headers: str) -> Fault:
    """Answer with this body, of whatever kind it claims to be."""
    named = {name.replace("_", "-"): value for name, value in headers.items()}

    async def act(server: SparqlServer, request: Request, writer: asyncio.StreamWriter) -> None:
        reply = Reply(code, {"Content-Type": kind, **named}, text.encode())
        writer.write(reply.head + reply.body)
        await writer.drain()

    return act


def redirect(to: str, code: int = 307) -> Fault:
    """Send the client elsewhere."""
    return status(code, location=to)


def slow_first_byte(seconds: float) -> Fault:
    """Say nothing for a while, then answer well."""

    async def act(server: SparqlServer, request: Request, writer: asyncio.StreamWriter) -> None:
        await asyncio.sleep(seconds)
        reply = server.honest(request)
        writer.write(reply.head + reply.body)
        await writer.drain()

    return act


def silence() -> Fault:
    """Take the request and never answer."""
    return slow_first_byte(3600)


def slow_drip(seconds: float) -> Fault:
    """Send the right answer, one byte at a time."""

    async def act(server: SparqlServer, request: Request, writer: asyncio.StreamWriter) -> None:
        reply = server.honest(request)
        writer.write(reply.head)
        for byte in reply.body:
            writer.write(bytes([byte]))
            await writer.drain()
            await asyncio.sleep(seconds)

    return act


def cut(share: float = 0.5) -> Fault:
    """Send a part of the right answer without saying how long it is, and close."""

    async def act(server: SparqlServer, request: Request, writer: asyncio.StreamWriter) -> None:
        reply = server.honest(request)
        head = f"HTTP/1.1 200 OK\r\nContent-Type: {reply.headers['Content-Type']}\r\n\r\n"
        writer.write(head.encode() + reply.body[: int(len(reply.body) * share)])
        await writer.drain()

    return act


def chunked_and_cut(share: float = 0.5) -> Fault:
    """Send a part of the right answer in chunks, and close before the last one."""

    async def act(server: SparqlServer, request: Request, writer: asyncio.StreamWriter) -> None:
        reply = server.honest(request)
        kind = reply.headers["Content-Type"]
        part = reply.body[: int(len(reply.body) * share)]
        writer.write(Reply(200, {"Content-Type": kind, "Transfer-Encoding": "chunked"}, b"").head)
        writer.write(f"{len(part):x}\r\n".encode() + part + b"\r\n")
        await writer.drain()

    return act


def capped(rows: int, **headers: str) -> Fault:
    """Answer with exactly so many rows, whatever was asked."""
    row = '{"n":{"type":"literal","value":"%d"}}'
    rows_text = ",".join(row % number for number in range(rows))
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    text = '{"head":{"vars":["n"]},"results":{"bindings":[' + rows_text + "]}}"
    return body(text, code=200, kind=named.pop("Content-Type", JSON), **named)


def endless() -> Fault:
    """Send rows for ever."""

    async def act(server: SparqlServer, request: Request, writer: asyncio.StreamWriter) -> None:
        writer.write(f"HTTP/1.1 200 OK\r\nContent-Type: {JSON}\r\n\r\n".encode())
        writer.write(b'{"head":{"vars":["n"]},"results":{"bindings":[')
        while True:
            writer.write(b'{"n":{"type":"literal","value":"1"}},' * 100)
            await writer.drain()

    return act


def breathing(start: str = "") -> Fault:
    """Send the start of a stream of events, and then only signs of life for ever."""

    async def act(server: SparqlServer, request: Request, writer: asyncio.StreamWriter) -> None:
        writer.write(b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n\r\n")
        writer.write(start.encode())
        while True:
            writer.write(b": still here\n\n")
            await writer.drain()
            await asyncio.sleep(0.02)

    return act


def reset() -> Fault:
    """Break the connection as a crashed server does."""

    async def act(server: SparqlServer, request: Request, writer: asyncio.StreamWriter) -> None:
        own: socket.socket = writer.get_extra_info("socket")
        own.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        writer.transport.abort()

    return act


def slow_where(pattern: str, seconds: float) -> Fault:
    """Answer queries that match a pattern late, all others at once."""
    return _where(pattern, slow_first_byte(seconds))


def refused_where(pattern: str, text: str) -> Fault:
    """Refuse queries that match a pattern with these words, answer all others."""
    return _where(pattern, status(500, text))


def _where(pattern: str, fault: Fault) -> Fault:
    wanted = re.compile(pattern)

    async def act(server: SparqlServer, request: Request, writer: asyncio.StreamWriter) -> None:
        if wanted.search(request.parameters["query"][0]):
            await fault(server, request, writer)
            return
        reply = server.honest(request)
        writer.write(reply.head + reply.body)
        await writer.drain()

    return act
