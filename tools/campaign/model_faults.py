"""Model servers that fail in each way there is, under each method with a model.

    python tools/campaign/model_faults.py [--seconds 6] [--only METHOD ...] [--json FILE]

Each method is asked a question of the sample graph with a deadline of so many seconds. A fault is
survived if there is an outcome, or an error of askgraph's own, by then (a tenth, or half a second,
later at most), and if `guided` gives what graph search gives.
"""

import argparse
import asyncio
import json
import sys
import tempfile
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[2] / "benchmarks"))

from _measure import print_table
from askgraph import sample
from askgraph.errors import AskgraphError
from askgraph.evaluation.runs.one_question import trace_of
from askgraph.graph import KnowledgeGraph
from askgraph.methods import closed
from askgraph.trace import Answer, Question, attempt_of
from askgraph.workspace import Workspace

QUESTION = "Which moons orbit Jupiter?"
METHODS = ("guided", "grasp", "graf-von-data", "sparql-llm", "dfsl", "multi-stage")

Writer = asyncio.StreamWriter
_EVENT = (
    b'data: {"id":"1","object":"chat.completion.chunk","created":1,"model":"m","choices":['
    b'{"index":0,"delta":{"role":"assistant","content":%s},"finish_reason":%s}]}\n\n'
)
_STREAM = b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nConnection: close\r\n\r\n"


def event(text: str, finish: str | None = None) -> bytes:
    """Return one event of a streamed reply."""
    return _EVENT % (json.dumps(text).encode(), json.dumps(finish).encode())


def reply(status: str, kind: str, body: bytes) -> Callable[[Writer], Awaitable[None]]:
    """Return what answers with a status and a body."""

    async def act(writer: Writer) -> None:
        head = f"HTTP/1.1 {status}\r\nContent-Type: {kind}\r\nContent-Length: {len(body)}\r\n\r\n"
        writer.write(head.encode() + body)

    return act


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


async def end_early(writer: Writer) -> None:
    """End the stream in the middle of an event."""
    writer.write(_STREAM + event("The moons") + event("of Jupiter")[:40])


async def close(writer: Writer) -> None:
    """Close the connection without a word."""


def said(text: str) -> Callable[[Writer], Awaitable[None]]:
    """Return what says a text as a model does."""

    async def act(writer: Writer) -> None:
        writer.write(_STREAM + event(text) + event("", "stop") + b"data: [DONE]\n\n")

    return act


async def split_characters(writer: Writer) -> None:
    """Send lone halves of a character that JSON can write and UTF-8 cannot."""
    lone = event("x").replace(b'"x"', b'"\\ud83d moons \\udc00"')
    writer.write(_STREAM + lone + event("", "stop") + b"data: [DONE]\n\n")


FAULTS: dict[str, Callable[[Writer], Awaitable[None]] | None] = {
    "is not there": None,
    "hangs": hang,
    "closes at once": close,
    "500": reply("500 Internal Server Error", "text/plain", b"it broke"),
    "503": reply("503 Service Unavailable", "text/plain", b"busy"),
    "a page of HTML": reply("200 OK", "text/html", b"<html><body>Welcome</body></html>"),
    "other JSON": reply("200 OK", "application/json", b'{"hello": 1}'),
    "drips": drip,
    "ends its stream": end_early,
    "says nothing": said(""),
    "says rubbish": said("}{ \x00 SELECT (((" * 200),
    "halves of characters": split_characters,
}


@asynccontextmanager
async def failing(fault: Callable[[Writer], Awaitable[None]] | None) -> AsyncIterator[str]:
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


async def tried(
    name: str, fault: str, workspace: Workspace, graph: KnowledgeGraph, seconds: float
) -> dict[str, object]:
    """Ask with a method while its model has a fault; return what came."""
    async with failing(FAULTS[fault]) as address:
        settings = {"provider": "openai", "model": "m", "base_url": address, "seconds": seconds}
        method = workspace.method(name, settings)
        question = Question(QUESTION)
        began = time.perf_counter()
        try:
            trace = await trace_of(question, method=method, name=name, graphs=[graph])
            found = trace.steps[-1]
            outcome = type(found).__name__
            best = attempt_of(found)  # type: ignore[arg-type]
            words = getattr(found, "cut_short", None) or getattr(found, "reason", "") or ""
            rows = len(best.result.rows) if isinstance(best, Answer) else 0
            own = True
        except AskgraphError as problem:
            outcome, words, rows, own = type(problem).__name__, str(problem), 0, True
        except Exception as problem:  # noqa: BLE001 - anything else is what is looked for
            outcome, words, rows, own = type(problem).__name__, str(problem), 0, False
        took = time.perf_counter() - began
        await closed(method)
    late = took > seconds + max(0.5, seconds / 10)
    silent = name == "guided" and outcome != "Answer"
    return {
        "method": name,
        "the server": fault,
        "seconds": round(took, 2),
        "outcome": outcome,
        "rows": rows,
        "survived": own and not late and not silent,
        "words": " ".join(words.split())[:90],
    }


async def campaign(names: list[str], faults: list[str], seconds: float) -> list[dict[str, object]]:
    """Try each method with each fault."""
    found = []
    with tempfile.TemporaryDirectory() as folder:
        workspace = Workspace(folder)
        await asyncio.to_thread(workspace.add, "space", [sample.graph_path()])
        graph = await asyncio.to_thread(workspace.find, "space")
        for name in names:
            for fault in faults:
                found.append(await tried(name, fault, workspace, graph, seconds))
                print(*found[-1].values(), sep=" | ", file=sys.stderr, flush=True)
        await graph.endpoint.close()
    return found


def main() -> int:
    """Try all and print the table; return 1 if something was not survived."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=float, default=6.0, help="the deadline of a question")
    parser.add_argument("--only", nargs="*", choices=METHODS, metavar="METHOD")
    parser.add_argument("--faults", nargs="*", choices=FAULTS, metavar="FAULT")
    parser.add_argument("--json", type=Path, help="also write what came to this file")
    given = parser.parse_args()
    faults = given.faults or list(FAULTS)
    found = asyncio.run(campaign(given.only or list(METHODS), faults, given.seconds))
    keys = list(found[0])
    print_table(keys, *([one[key] for key in keys] for one in found))
    if given.json:
        given.json.write_text(json.dumps(found, indent=1))
    lost = [one for one in found if not one["survived"]]
    print(f"tried {len(found)}, survived {len(found) - len(lost)}")
    return bool(lost)


if __name__ == "__main__":
    sys.exit(main())
