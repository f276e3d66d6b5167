"""Output as people and programs read it: tables, CSV, JSON; progress on standard error."""

import contextlib
import csv
import io
import json
import sys
from collections.abc import Iterable, Iterator, Sequence

import typer
from rich.console import Console, RenderableType

from askgraph.answers.console import plain_text
from askgraph.sparql.results import Term, value_of
from askgraph.workspace import Progress

WIDE = 200


def on_terminal() -> bool:
    """Whether a person looks at standard output."""
    return sys.stdout.isatty()


def room() -> int:
    """How many characters a line may have: as many as the terminal shows, else 200."""
    return Console().width if on_terminal() else WIDE


def show(blocks: Iterable[RenderableType]) -> None:
    """Print blocks: with colours on a terminal, else as plain text in lines of 200 at most."""
    if not on_terminal():
        typer.echo(plain_text(blocks, width=WIDE))
        return
    screen = Console(highlight=False)
    for block in blocks:
        screen.print(block)


def print_json(content: object) -> None:
    """Print one JSON value: over several lines for people, on one line for programs."""
    indent = 2 if on_terminal() else None
    typer.echo(json.dumps(content, ensure_ascii=False, indent=indent))


def csv_text(columns: Sequence[str], rows: Iterable[Sequence[Term | None]]) -> str:
    """Return rows as CSV (RFC 4180) with a header; unbound is empty."""
    text = io.StringIO()
    writer = csv.writer(text)
    writer.writerow(columns)
    writer.writerows([value_of(term) for term in row] for row in rows)
    return text.getvalue()


@contextlib.contextmanager
def progress_bar() -> Iterator[Progress]:
    """Give a function to tell progress to: a bar that comes with the first thing there is to tell.

    It shows nothing if standard error is no terminal.
    """
    if not sys.stderr.isatty():
        yield lambda what, done, total: None
        return
    from rich import progress  # only where a person looks

    text = progress.TextColumn("{task.description}", markup=False)
    columns = (text, progress.BarColumn(), progress.TimeElapsedColumn())
    bars = progress.Progress(*columns, console=Console(stderr=True), transient=True)

    def tell(what: str, done: int, total: int | None) -> None:
        if not bars.tasks:
            bars.start()
            bars.add_task("", total=None)
        bars.update(bars.tasks[0].id, description=what, completed=done, total=total)

    try:
        yield tell
    finally:
        if bars.tasks:
            bars.stop()
