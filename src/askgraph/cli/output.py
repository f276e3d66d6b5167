"""Output as people and programs read it: tables, CSV, JSON; progress on standard error."""

import contextlib
import csv
import io
import json
import sys
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence

import typer
from pyoxigraph import Literal, NamedNode
from rich import box
from rich.console import Console, RenderableType
from rich.markup import escape
from rich.table import Table
from rich.text import Text

from askgraph.sparql.prefixes import PrefixMap
from askgraph.sparql.results import SelectResult, Term, value_of
from askgraph.sparql.vocabulary import NUMERIC_DATATYPES
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


def plain_text(blocks: Iterable[RenderableType], *, width: int) -> str:
    """Return blocks as text without colours or spaces at the ends of lines."""
    text = io.StringIO()
    screen = Console(file=text, width=width, highlight=False, color_system=None)
    for block in blocks:
        screen.print(block)
    return "\n".join(line.rstrip() for line in text.getvalue().splitlines())


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


def counted(number: int, noun: str) -> str:
    """Return a number with its noun."""
    return f"{number:,} {noun}{'' if number == 1 else 's'}"


def listing(
    heads: Sequence[str],
    rows: Iterable[Sequence[str]],
    *,
    right: Collection[str] = (),
    dim: Collection[str] = (),
) -> Table:
    """Return a table of texts, those under the heads in `right` aligned to the right."""
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False, show_edge=False)
    for head in heads:
        table.add_column(
            Text(head),
            justify="right" if head in right else "left",
            style="dim" if head in dim else "",
            overflow="fold",
        )
    for row in rows:
        table.add_row(*map(Text, row))
    return table


def result_table(
    result: SelectResult,
    prefixes: PrefixMap,
    labels: Mapping[str, str],
    *,
    context: Sequence[str] = (),
    limit: int | None = None,
) -> Table:
    """Return a table of a result; the columns in `context` are dimmed."""
    heads = {name: name.replace("_", " ") for name in result.variables}
    right = [head for name, head in heads.items() if _numeric(result.column(name))]
    shown = listing(tuple(heads.values()), (), right=right, dim=[heads[name] for name in context])
    for row in result.rows[:limit]:
        shown.add_row(*(Text.from_markup(cell(term, prefixes, labels)) for term in row))
    return shown


def cell(term: Term | None, prefixes: PrefixMap, labels: Mapping[str, str]) -> str:
    """Return a term as rich markup: its label with a dimmed short IRI, or its value."""
    if not isinstance(term, NamedNode):
        return escape(value_of(term) or "")
    short = prefixes.shorten(term.value)
    label = labels.get(term.value)
    return f"{escape(label)} [dim]{escape(short)}[/dim]" if label else escape(short)


def _numeric(terms: Iterable[Term | None]) -> bool:
    return all(
        term is None or (isinstance(term, Literal) and term.datatype.value in NUMERIC_DATATYPES)
        for term in terms
    )


@contextlib.contextmanager
def progress_bar() -> Iterator[Progress]:
    """Give a function to tell progress to: a bar that comes with the first thing there is to tell.

    It shows nothing if standard error is no terminal.
    """
    if not sys.stderr.isatty():
        yield lambda what, done, total: None
        return
    from rich.progress import BarColumn, TextColumn, TimeElapsedColumn  # if somebody looks
    from rich.progress import Progress as Bars

    columns = (TextColumn("{task.description}", markup=False), BarColumn(), TimeElapsedColumn())
    bars = Bars(*columns, console=Console(stderr=True), transient=True)

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
