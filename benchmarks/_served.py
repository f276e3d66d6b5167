"""A server as `askgraph serve` runs it, in a process of its own."""

import re
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

__all__ = ["served"]


@contextmanager
def served(folder: Path, *options: str) -> Iterator[tuple[str, int]]:
    """Run the server on a workspace; give its address, without a slash, and its process id."""
    log = folder / "serve.log"
    command = [sys.executable, "-m", "askgraph", "serve", "--workspace", str(folder), "--port", "0"]
    with log.open("w") as errors:
        process = subprocess.Popen([*command, *options], stdout=subprocess.DEVNULL, stderr=errors)
    try:
        while not (found := re.search(r"is at (http://\S+?)/\s", log.read_text("utf-8"))):
            if process.poll() is not None:
                sys.exit(log.read_text("utf-8"))
            time.sleep(0.05)
        yield found[1], process.pid
    finally:
        process.terminate()
        process.wait()
