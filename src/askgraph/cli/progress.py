"""A progress bar on standard error, where that is a terminal."""

import contextlib
import sys
from collections.abc import Iterator

from askgraph.workspace import Progress

__all__ = ["progress_bar"]


@contextlib.contextmanager
def progress_bar() -> Iterator[Progress]:
    """Give a function to tell progress to; it shows nothing where nobody looks."""
    if not sys.stderr.isatty():
        yield lambda what, done, total: None
        return
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn

    columns = (TextColumn("{task.description}"), BarColumn(), TimeElapsedColumn())
    with Progress(*columns, console=Console(stderr=True), transient=True) as bars:
        bar = bars.add_task("", total=None)

        def tell(what: str, done: int, total: int | None) -> None:
            bars.update(bar, description=what, completed=done, total=total)

        yield tell
