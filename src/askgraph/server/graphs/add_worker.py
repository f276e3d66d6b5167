"""The process that adds one graph and ends; both sides of it.

`python -m askgraph.server.graphs.add_worker` reads a task as one line of JSON, and writes lines of
JSON: its progress, then the result or the error. Its memory and time are limited, it has no secrets
of the server, and it ends as soon as its input does.
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
_MAX_LINE_BYTES = 1 << 20
_STDERR_TAIL_BYTES = 8 * 1024  # bytes to keep of a dead worker's standard error
_PASSED_VARIABLES = ("HOME", "LANG", "LC_ALL", "PATH", "PYTHONPATH", "SYSTEMROOT", "TMPDIR", "TZ")
_ERROR_TYPES: dict[str, type[AskgraphError]] = {
    TooLarge.__name__: TooLarge,
    **{
        name: kind
        for name in errors.__all__
        if issubclass(kind := getattr(errors, name), SetupError | ServiceError)
    },
}


@dataclass(frozen=True)
class AddTask:
    """A graph to add, with limits."""

    folder: Path  # the workspace
    name: str
    sources: list[str]  # files or an address
    settings: dict[str, object] = field(default_factory=dict)
    memory: int = 2**32  # private memory in bytes
    unpacked: int = 2**28  # total size of the unpacked files in bytes
    seconds: float = 600.0  # time limit

    def to_line(self) -> bytes:
        """Return the task as the line that the worker reads."""
        content = {**vars(self), "folder": str(self.folder), "seconds": round(self.seconds) + 1}
        return f"{json.dumps(content)}\n".encode()


@dataclass(frozen=True)
class JobProgress:
    """The progress of a job: its present work, and how much of the total is done, if known."""

    doing: str
    done: int = 0
    total: int | None = None


class AddedGraphView(BaseModel):
    """The graph that was added."""

    triples: int
    classes: int
    predicates: int
    cuts: list[str] = Field(description="What was left out of its profile, and why.")


async def add_in_process(task: AddTask, report: Callable[[JobProgress], None]) -> AddedGraphView:
    """Add a graph in a separate process, which never outlives this call.

    Raises:
        TooLarge: the files are too large.
        TimedOut: the task's seconds are over.
        SetupError: it needs more memory than allowed. Errors of adding are also raised.
    """
    process = await asyncio.create_subprocess_exec(
        sys.executable,
        "-m",
        "askgraph.server.graphs.add_worker",
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
        limit=_MAX_LINE_BYTES,
        start_new_session=True,
        env={name: os.environ[name] for name in _PASSED_VARIABLES if name in os.environ},
    )
    assert process.stderr

    async def read_tail(stream: asyncio.StreamReader) -> str:
        tail_bytes = b""
        while chunk := await stream.read(_STDERR_TAIL_BYTES):
            tail_bytes = (tail_bytes + chunk)[-_STDERR_TAIL_BYTES:]
        return tail_bytes.decode("utf-8", "replace")

    stderr_task = asyncio.create_task(read_tail(process.stderr))
    try:
        async with asyncio.timeout(task.seconds):
            assert process.stdin
            assert process.stdout
            process.stdin.write(task.to_line())
            message: Mapping[str, Any] = {}
            async for line in process.stdout:
                message = json.loads(line)
                if "doing" in message:
                    report(JobProgress(message["doing"], message["done"], message["total"]))
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
        stderr_text = await stderr_task
    if "added" in message:
        return AddedGraphView.model_validate(message["added"])
    if error_type := _ERROR_TYPES.get(message.get("error", "")):
        raise error_type(message["message"])
    if "error" in message or code in (-signal.SIGABRT, -signal.SIGKILL):
        raise SetupError(
            f"reading the graph takes more than the {task.memory // 2**20:,} MB of memory "
            "that it may use: split it, or ask the operator to raise upload_memory_mb"
        )
    if code == -signal.SIGXCPU:
        raise TimedOut(f"adding the graph {task.name!r} took too long")
    _log.error("the worker that adds graphs exited with status %s: %s", code, stderr_text)
    raise ServiceError("the process that reads the graph crashed; see the server's log")


if sys.platform != "win32":
    import resource

_PROGRESS_INTERVAL_SECONDS = 0.2  # seconds between two lines on the same work


def main() -> None:
    """Run the task in the first line of standard input."""
    replies = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)
    task = json.loads(sys.stdin.readline())
    threading.Thread(target=_exit_with_input, daemon=True).start()
    _set_limits(task["memory"], task["seconds"])
    try:
        _write_line(replies, {"added": _add_graph(task, replies)})
    except AskgraphError as error:
        _write_line(replies, {"error": type(error).__name__, "message": str(error)})
    except MemoryError:
        _write_line(replies, {"error": "MemoryError", "message": ""})


def _add_graph(task: Mapping[str, Any], replies: TextIO) -> dict[str, object]:
    last_report: tuple[str, float] = ("", 0.0)

    def report(work: str, done: int, total: int | None) -> None:
        nonlocal last_report
        now = time.monotonic()
        if work != last_report[0] or now - last_report[1] >= _PROGRESS_INTERVAL_SECONDS:
            last_report = work, now
            _write_line(replies, {"doing": work, "done": done, "total": total})

    workspace = Workspace(task["folder"])
    name, sources = task["name"], task["sources"]
    files = [Path(source) for source in sources if not is_url(source)]
    report("checking files", 0, None)
    check_files(files, max_bytes=task["unpacked"])
    with lock_file(workspace.folder / "uploads" / ".locks" / name):
        profile = workspace.add(name, sources, settings=task["settings"], progress=report)
        if workspace.has_pending_survey(name):
            profile = workspace.complete_survey(name, progress=report)
    return {
        "triples": profile.triples,
        "classes": len(profile.classes),
        "predicates": len(profile.predicates),
        "cuts": list(profile.cuts),
    }


def _write_line(replies: TextIO, line: Mapping[str, object]) -> None:
    replies.write(f"{json.dumps(line)}\n")
    replies.flush()


def _exit_with_input() -> None:
    """Exit the process when the server is gone."""
    while os.read(0, 4096):
        pass
    os._exit(0)


def _set_limits(memory: int, seconds: int) -> None:
    """Limit the private memory and the CPU time of all cores; disable core files."""
    if sys.platform == "win32":
        return
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    resource.setrlimit(resource.RLIMIT_DATA, (memory, memory))
    cpu_seconds = seconds * (os.cpu_count() or 1)
    resource.setrlimit(resource.RLIMIT_CPU, (cpu_seconds, cpu_seconds + 5))


if __name__ == "__main__":
    main()
