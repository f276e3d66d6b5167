"""The process that adds one graph and ends, seen from both sides.

`python -m askgraph.server.graphs.worker` reads what to do as one line of JSON, and writes lines of
JSON: how far it is, and at last what was added or why not. It has bounds on memory and time, knows
no secrets of the server, and ends as soon as its input does.
"""

import asyncio
import contextlib
import json
import logging
import os
import signal
import sys
import threading
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TextIO

from pydantic import BaseModel, Field

from askgraph import errors
from askgraph.atomic_files import lock_file
from askgraph.errors import AskgraphError, ServiceError, SetupError, TimedOut
from askgraph.server.graphs.uploads import check_files
from askgraph.server.problems import TooLarge
from askgraph.workspace import Workspace
from askgraph.workspace.graph_data import is_url

_log = logging.getLogger("askgraph.server.graphs")
_LINE = 1 << 20
_TAIL = 8 * 1024  # bytes of what a worker that died says on its standard error
_ENVIRONMENT = ("HOME", "LANG", "LC_ALL", "PATH", "PYTHONPATH", "SYSTEMROOT", "TMPDIR", "TZ")
_KINDS: dict[str, type[AskgraphError]] = {
    TooLarge.__name__: TooLarge,
    **{
        name: kind
        for name in errors.__all__
        if issubclass(kind := getattr(errors, name), SetupError | ServiceError)
    },
}


@dataclass(frozen=True)
class Task:
    """A graph to add: from files or an address, within bounds (bytes, seconds)."""

    folder: Path
    name: str
    sources: list[str]
    settings: dict[str, object] = field(default_factory=dict)
    memory: int = 2**32
    unpacked: int = 2**28
    seconds: float = 600.0

    def line(self) -> bytes:
        """Return it as the worker reads it."""
        content = {**vars(self), "folder": str(self.folder), "seconds": round(self.seconds) + 1}
        return f"{json.dumps(content)}\n".encode()


@dataclass(frozen=True)
class Doing:
    """The progress of a job: its present work, how much is done, and of how much, if known."""

    doing: str
    done: int = 0
    total: int | None = None


class AddedView(BaseModel):
    """The graph that was added."""

    triples: int
    classes: int
    predicates: int
    cuts: list[str] = Field(description="What was left out of its profile, and why.")


async def add_in_process(task: Task, tell: Callable[[Doing], None]) -> AddedView:
    """Add a graph in a process of its own, which is gone when this ends, however it ends.

    Raises what adding raises, `TooLarge`, `TimedOut` after the task's seconds, and `SetupError`
    if it needs more memory than it may have.
    """
    process = await asyncio.create_subprocess_exec(
        sys.executable,
        "-m",
        "askgraph.server.graphs.worker",
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
        limit=_LINE,
        start_new_session=True,
        env={name: os.environ[name] for name in _ENVIRONMENT if name in os.environ},
    )
    assert process.stderr

    async def tail(stream: asyncio.StreamReader) -> str:
        kept = b""
        while part := await stream.read(_TAIL):
            kept = (kept + part)[-_TAIL:]
        return kept.decode("utf-8", "replace")

    complaints = asyncio.create_task(tail(process.stderr))
    try:
        async with asyncio.timeout(task.seconds):
            assert process.stdin
            assert process.stdout
            process.stdin.write(task.line())
            last: Mapping[str, Any] = {}
            async for line in process.stdout:
                last = json.loads(line)
                if "doing" in last:
                    tell(Doing(last["doing"], last["done"], last["total"]))
            code = await process.wait()
    except TimeoutError as problem:
        raise TimedOut(
            f"adding the graph {task.name!r} was stopped after {task.seconds:g} seconds"
        ) from problem
    finally:
        if process.returncode is None:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
        await process.wait()
        said = await complaints
    if "added" in last:
        return AddedView.model_validate(last["added"])
    if kind := _KINDS.get(last.get("error", "")):
        raise kind(last["message"])
    if "error" in last or code in (-signal.SIGABRT, -signal.SIGKILL):
        raise SetupError(
            f"reading it takes more memory than the {task.memory // 2**20:,} MB that it may have:"
            " split it, or ask the operator to raise upload_memory_mb"
        )
    if code == -signal.SIGXCPU:
        raise TimedOut(f"adding the graph {task.name!r} took too long")
    _log.error("the worker that adds graphs ended with status %s: %s", code, said)
    raise ServiceError("the process that reads the graph ended by a bug; the log says more")


if sys.platform != "win32":
    import resource

_PAUSE = 0.2  # seconds between two lines on the same work


def main() -> None:
    """Carry out the task in the first line of the input."""
    replies = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)
    task = json.loads(sys.stdin.readline())
    threading.Thread(target=_end_with_input, daemon=True).start()
    _limit(task["memory"], task["seconds"])
    try:
        _say(replies, {"added": _add(task, replies)})
    except AskgraphError as error:
        _say(replies, {"error": type(error).__name__, "message": str(error)})
    except MemoryError:
        _say(replies, {"error": "MemoryError", "message": ""})


def _add(task: Mapping[str, Any], replies: TextIO) -> dict[str, object]:
    """Add a graph, and write now and then how far that is."""
    last: tuple[str, float] = ("", 0.0)

    def tell(what: str, done: int, total: int | None) -> None:
        nonlocal last
        now = time.monotonic()
        if what != last[0] or now - last[1] >= _PAUSE:
            last = what, now
            _say(replies, {"doing": what, "done": done, "total": total})

    workspace = Workspace(task["folder"])
    name, sources = task["name"], task["sources"]
    files = [Path(source) for source in sources if not is_url(source)]
    tell("checking files", 0, None)
    check_files(files, most=task["unpacked"])
    with lock_file(workspace.folder / "uploads" / ".locks" / name):
        profile = workspace.add(name, sources, settings=task["settings"], progress=tell)
        profile = workspace.grow(name, progress=tell) if workspace.unasked(name) else profile
    return {
        "triples": profile.triples,
        "classes": len(profile.classes),
        "predicates": len(profile.predicates),
        "cuts": list(profile.cuts),
    }


def _say(replies: TextIO, line: Mapping[str, object]) -> None:
    replies.write(f"{json.dumps(line)}\n")
    replies.flush()


def _end_with_input() -> None:
    """End the process when the server is gone, whatever is being done."""
    while os.read(0, 4096):
        pass
    os._exit(0)


def _limit(memory: int, seconds: int) -> None:
    """Bound the private memory and the time of all cores; leave no core file."""
    if sys.platform == "win32":
        return
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    resource.setrlimit(resource.RLIMIT_DATA, (memory, memory))
    time_of_all = seconds * (os.cpu_count() or 1)
    resource.setrlimit(resource.RLIMIT_CPU, (time_of_all, time_of_all + 5))


if __name__ == "__main__":
    main()
