"""A progress bar on standard error, if that is a terminal."""

import contextlib
import sys
from collections.abc import Iterator

from rich.console import Console
from rich.progress import BarColumn, TaskID, TextColumn, TimeElapsedColumn
from rich.progress import Progress as Bars

from askgraph.workspace import Progress


@contextlib.contextmanager
def progress_bar() -> Iterator[Progress]:
    """Give a function to tell progress to; it shows nothing if nobody looks."""
    if not sys.stderr.isatty():
        yield lambda what, done, total: None
        return
    with contextlib.ExitStack() as stack:
        bar = _Bar(stack)
        yield bar.tell


class _Bar:
    """Appears with the first thing there is to tell."""

    def __init__(self, stack: contextlib.ExitStack) -> None:
        self._stack = stack
        self._bars: Bars | None = None
        self._task: TaskID | None = None

    def tell(self, what: str, done: int, total: int | None) -> None:
        if self._bars is None or self._task is None:
            self._bars = self._stack.enter_context(_bars())
            self._task = self._bars.add_task("", total=None)
        self._bars.update(self._task, description=what, completed=done, total=total)


def _bars() -> Bars:
    columns = (TextColumn("{task.description}", markup=False), BarColumn(), TimeElapsedColumn())
    return Bars(*columns, console=Console(stderr=True), transient=True)
