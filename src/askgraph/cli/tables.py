"""Results as people and programs read them: tables, CSV, JSON."""

import csv
import io
import json
import sys
from collections.abc import Iterable, Mapping, Sequence

import typer
from pyoxigraph import Literal, NamedNode
from rich import box
from rich.console import Console, RenderableType
from rich.markup import escape
from rich.table import Table
from rich.text import Text

from askgraph.rdf.prefixes import PrefixMap
from askgraph.rdf.vocabulary import NUMERIC_DATATYPES
from askgraph.sparql.results import SelectResult, Term, value_of

_WIDE = 200


def on_terminal() -> bool:
    """Whether a person looks at standard output."""
    return sys.stdout.isatty()


def room() -> int:
    """How many characters a line may have: as many as the terminal shows, else 200."""
    if not on_terminal():
        return _WIDE

    return Console().width


def show(blocks: Iterable[RenderableType]) -> None:
    """Print blocks: with colours on a terminal, else as plain text in lines of 200 at most."""
    if not on_terminal():
        typer.echo(plain_text(blocks, width=_WIDE))
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


def table(
    result: SelectResult,
    prefixes: PrefixMap,
    labels: Mapping[str, str],
    *,
    context: Sequence[str] = (),
    limit: int | None = None,
) -> Table:
    """Return a table of a result; the columns in `context` are dimmed."""
    shown = Table(box=box.SIMPLE_HEAD, pad_edge=False, show_edge=False)
    for variable in result.variables:
        style = "dim" if variable in context else ""
        numeric = _numeric(term for term in result.column(variable))
        shown.add_column(
            Text(variable.replace("_", " ")),
            style=style,
            justify="right" if numeric else "left",
            overflow="fold",
        )
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
