"""Model servers that fail in each way there is, under each method with a model.

    python -m tools.campaign.model_faults [--seconds 10] [--only METHOD FAULT ...]

Each method is asked a question of the sample graph with a deadline of so many seconds. A fault is
survived if there is an outcome, or an error of askgraph's own, by then (a tenth, or half a second,
later at most), and if `guided` gives what graph search gives.
"""

import asyncio
import json
import sys
import time
from argparse import Namespace
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from pathlib import Path

from tools.campaign._tries import QUESTION, Tried, main, workspace

from askgraph.errors import AskgraphError
from askgraph.evaluation.runs.one_question import trace_of
from askgraph.graph import KnowledgeGraph
from askgraph.methods import Method, closed
from askgraph.trace import Answer, Question, get_attempt
from askgraph.workspace import Workspace

METHODS: dict[str, dict[str, str]] = {
    **{name: {} for name in ("guided", "grasp", "graf-von-data", "sparql-llm", "dfsl", "direct")},
    "multi-stage": {"writer": "model"},
}
"""Each with the settings with which it asks a model."""

_AT_ONCE = 4  # they wait for the model's server mostly

Writer = asyncio.StreamWriter
Fault = Callable[[Writer], Awaitable[None]]
_EVENT = (
    b'data: {"id":"1","object":"chat.completion.chunk","created":1,"model":"m","choices":['
    b'{"index":0,"delta":{"role":"assistant","content":%s},"finish_reason":%s}]}\n\n'
)
_STREAM = b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nConnection: close\r\n\r\n"


def event(text: str, finish: str | None = None) -> bytes:
    """Return one event of a streamed reply."""
    return _EVENT % (json.dumps(text).encode(), json.dumps(finish).encode())


def write(*parts: bytes) -> Fault:
    """Return what sends these bytes and closes the connection."""

    async def act(writer: Writer) -> None:
        writer.write(b"".join(parts))

    return act


def reply(status: str, kind: str, body: bytes) -> Fault:
    """Return what answers with a status and a body."""
    head = f"HTTP/1.1 {status}\r\nContent-Type: {kind}\r\nContent-Length: {len(body)}\r\n\r\n"
    return write(head.encode(), body)


def say(*events: bytes) -> Fault:
    """Return what streams some events to their end, as a model does."""
    return write(_STREAM, *events, event("", "stop"), b"data: [DONE]\n\n")


async def hang(writer: Writer) -> None:
    """Say nothing."""
    await asyncio.sleep(3600)


async def drip(writer: Writer) -> None:
    """Send a word a second, and never an end."""
    writer.write(_STREAM)
    while not writer.is_closing():
        writer.write(event("moon "))
        await writer.drain()
        await asyncio.sleep(1)


_HALVES = event("x").replace(b'"x"', b'"\\ud83d moons \\udc00"')
"""Halves of a character, each by itself, which JSON can write and UTF-8 cannot."""

FAULTS: dict[str, Fault | None] = {
    "is not there": None,
    "hangs": hang,
    "closes at once": write(),
    "500": reply("500 Internal Server Error", "text/plain", b"it broke"),
    "503": reply("503 Service Unavailable", "text/plain", b"busy"),
    "a page of HTML": reply("200 OK", "text/html", b"<html><body>Welcome</body></html>"),
    "other JSON": reply("200 OK", "application/json", b'{"hello": 1}'),
    "drips": drip,
    "ends its stream": write(_STREAM, event("The moons"), event("of Jupiter")[:40]),
    "says nothing": say(event("")),
    "says rubbish": say(event("}{ \x00 SELECT (((" * 200)),
    "halves of characters": say(_HALVES),
    "halves in its reasoning": say(_HALVES.replace(b"content", b"reasoning_content")),
}


@asynccontextmanager
async def failing(fault: Fault | None) -> AsyncIterator[str]:
    """Run a model server with a fault; give its address."""

    async def served(reader: asyncio.StreamReader, writer: Writer) -> None:
        assert fault is not None
        try:
            head = await reader.readuntil(b"\r\n\r\n")
            length = head.lower().partition(b"content-length:")[2].split(b"\r\n")[0]
            await reader.readexactly(int(length or 0))
            await fault(writer)
            await writer.drain()
        except (ConnectionError, asyncio.IncompleteReadError, asyncio.CancelledError):
            pass  # the caller left
        finally:
            writer.close()

    server = await asyncio.start_server(served, "127.0.0.1", 0)
    address = server.sockets[0].getsockname()
    if fault is None:
        server.close()
        await server.wait_closed()
    try:
        yield f"http://127.0.0.1:{address[1]}/v1"
    finally:
        server.close()


async def asked(
    method: Method, name: str, graph: KnowledgeGraph, question: str = QUESTION
) -> tuple[Answer | None, str, str, float]:
    """Ask a method; return its answer, what came, its words, and the seconds."""
    began, best = time.perf_counter(), None
    try:
        trace = await trace_of(Question(question), method=method, name=name, graphs=[graph])
        outcome = trace.steps[-1]
        best = get_attempt(outcome)  # type: ignore[arg-type]
        came = type(outcome).__name__
        words = getattr(outcome, "cut_short", None) or getattr(outcome, "reason", "") or ""
    except AskgraphError as problem:
        came, words = f"error {type(problem).__name__}", str(problem)
    except Exception as problem:  # noqa: BLE001 - anything else is what is looked for
        came, words = f"a bug: {type(problem).__name__}", str(problem)
    return best, came, " ".join(words.split())[:90], time.perf_counter() - began


def same(one: Answer | None, other: Answer | None) -> bool:
    """Return whether two answers say the same."""
    return one is not None and other is not None and one.result.rows == other.result.rows


async def campaign_of(folder: Path, only: list[str], most: int) -> list[Tried]:
    """Try each method with each fault, if it is among `only`."""
    names = [name for name in METHODS if name in only] or list(METHODS)
    faults = [fault for fault in FAULTS if fault in only] or list(FAULTS)
    place = Workspace(workspace(folder))
    graph = await asyncio.to_thread(place.graph, "space")
    searched, *_ = await asked(place.method("graph-search"), "graph-search", graph)
    turns = asyncio.Semaphore(_AT_ONCE)

    async def one(name: str, fault: str) -> Tried:
        async with turns, failing(FAULTS[fault]) as address:
            settings = {"base_url": address, "seconds": most, **METHODS[name]}
            method = place.method(name, {"provider": "openai", "model": "m", **settings})
            best, came, words, seconds = await asked(method, name, graph)
            await closed(method)
        wrong = came if came.startswith("a bug") else ""
        if seconds > most + max(0.5, most / 10):
            wrong = f"late: {seconds:.1f} s"
        if name == "guided" and not (came == "Answer" and same(best, searched)):
            wrong = f"not what graph search gives: {came}"
        came = "as graph search" if came == "Answer" and same(best, searched) else came
        return Tried(name, fault, wrong, seconds, f"{came}: {words}".removesuffix(": "))

    found = list[Tried]()
    for name in names:
        found.append(await one(name, faults[0]))  # which loads the method: the others do not wait
        found += await asyncio.gather(*(one(name, fault) for fault in faults[1:]))
    await graph.endpoint.close()
    return found


def campaign(folder: Path, given: Namespace) -> list[Tried]:
    """Try all of them."""
    return asyncio.run(campaign_of(folder, given.only, given.seconds))


if __name__ == "__main__":
    sys.exit(
        main(__doc__, campaign, [*METHODS, *FAULTS], {"seconds": (10, "that a question may take")})
    )
