"""The process that adds one graph and ends: `python -m askgraph.server.graphs.worker`.

It reads what to do as one line of JSON, and writes lines of JSON: how far it is, and at last what
was added or why not. It has bounds on memory and time, knows no secrets of the server, and ends as
soon as its input does. `askgraph.server.graphs.worker_process` is the other side.
"""

import json
import os
import sys
import threading
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any, TextIO

from askgraph.atomic_files import locked
from askgraph.errors import AskgraphError
from askgraph.server.graphs.uploads import check_files
from askgraph.workspace import Workspace
from askgraph.workspace.graph_data import is_url

if sys.platform != "win32":
    import resource

_PAUSE = 0.2  # seconds between two lines on the same work


def main() -> None:
    """Carry out the task in the first line of the input."""
    replies = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)
    task = json.loads(sys.stdin.readline())
    threading.Thread(target=_end_with_input, daemon=True).start()
    _bound(task["memory"], task["seconds"])
    try:
        _say(replies, {"added": _added(task, _Teller(replies))})
    except AskgraphError as error:
        _say(replies, {"error": type(error).__name__, "message": str(error)})
    except MemoryError:
        _say(replies, {"error": "MemoryError", "message": ""})


def _added(task: Mapping[str, Any], tell: "_Teller") -> dict[str, object]:
    workspace = Workspace(task["folder"])
    name, sources = task["name"], task["sources"]
    files = [Path(source) for source in sources if not is_url(source)]
    tell("checking files", 0, None)
    check_files(files, most=task["unpacked"])
    with locked(workspace.folder / "uploads" / ".locks" / name):
        profile = workspace.add(name, sources, settings=task["settings"], progress=tell)
        profile = workspace.grow(name, progress=tell) if workspace.unasked(name) else profile
    return {
        "triples": profile.triples,
        "classes": len(profile.classes),
        "predicates": len(profile.predicates),
        "cuts": list(profile.cuts),
    }


class _Teller:
    """Writes the progress of the work, now and then."""

    def __init__(self, replies: TextIO) -> None:
        self._replies = replies
        self._what = ""
        self._told = 0.0

    def __call__(self, what: str, done: int, total: int | None) -> None:
        now = time.monotonic()
        if what == self._what and now - self._told < _PAUSE:
            return
        self._what, self._told = what, now
        _say(self._replies, {"doing": what, "done": done, "total": total})


def _say(replies: TextIO, line: Mapping[str, object]) -> None:
    replies.write(f"{json.dumps(line)}\n")
    replies.flush()


def _end_with_input() -> None:
    """End the process when the server is gone, whatever is being done."""
    while os.read(0, 4096):
        pass
    os._exit(0)


def _bound(memory: int, seconds: int) -> None:
    """Bound the private memory and the time of all cores; leave no core file."""
    if sys.platform == "win32":
        return
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    resource.setrlimit(resource.RLIMIT_DATA, (memory, memory))
    time_of_all = seconds * (os.cpu_count() or 1)
    resource.setrlimit(resource.RLIMIT_CPU, (time_of_all, time_of_all + 5))


if __name__ == "__main__":
    main()
