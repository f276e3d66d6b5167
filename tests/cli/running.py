"""The command line run for tests: in this process, or on a terminal of its own."""

import os
import pty
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pytest
from tests.cli import lookup
from typer.testing import CliRunner, Result

from askgraph.cli import app

__all__ = ["Done", "Run", "askgraph", "cli", "on_terminal"]


@dataclass(frozen=True)
class Done:
    """How a command ended, and what it printed."""

    returncode: int
    stdout: str
    stderr: str


Run = Callable[..., Done]


def cli(*words: object) -> Result:
    """Run a command where the test runs."""
    return CliRunner().invoke(app, [str(word) for word in words])


def askgraph(*words: object, workspace: Path, folder: Path, packages: Path | None = None) -> Done:
    """Run a command in a folder; its plugins are also those of the packages in `packages`."""
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        patch.setenv("ASKGRAPH_WORKSPACE", str(workspace))
        if packages is not None:
            patch.syspath_prepend(packages)
        try:
            result = CliRunner().invoke(app, [str(word) for word in words])
        finally:
            sys.modules.pop(lookup.MODULE, None)
    if result.exception is not None and not isinstance(result.exception, SystemExit):
        raise result.exception
    return Done(result.exit_code, result.stdout, result.stderr)


def on_terminal(*arguments: str, printing: bool = False) -> tuple[str, str]:
    """Run a command with a terminal as its standard error; return what it printed on both."""
    # If it is `printing` there, its standard output is that terminal, too.
    ours, theirs = pty.openpty()
    process = subprocess.Popen(
        [sys.executable, "-m", "askgraph", *arguments],
        stdout=theirs if printing else subprocess.PIPE,
        stderr=theirs,
        text=True,
        env={**os.environ, "TERM": "xterm", "COLUMNS": "150"},
    )
    os.close(theirs)
    said = b""
    while True:
        try:
            part = os.read(ours, 4096)
        except OSError:  # the other end is closed
            break
        if not part:
            break
        said += part
    os.close(ours)
    printed, _ = process.communicate(timeout=600)
    return printed or "", said.decode()
