"""Tables of figures on their way out: in which form, and to where."""

import json
from collections.abc import Sequence
from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer
from rich.console import RenderableType

from askgraph.cli.tables import plain_text, room, show
from askgraph.errors import SetupError
from askgraph.evaluation.files import replaced
from askgraph.evaluation.reports.sheet import Column, Sheet, as_csv, as_latex, as_markdown
from askgraph.evaluation.reports.terminal import as_blocks, as_tables

MarkdownOption = Annotated[bool, typer.Option("--markdown", help="Print Markdown tables.")]
LatexOption = Annotated[
    bool, typer.Option("--latex", help="Print LaTeX tables, with the rules of booktabs.")
]
CsvOption = Annotated[bool, typer.Option("--csv", help="Print one table as CSV.")]
OutOption = Annotated[
    Path | None, typer.Option("--out", metavar="FILE", help="Write to this file instead.")
]

WIDE = 200


class Form(StrEnum):
    """How figures are written."""

    TERMINAL = "terminal"
    MARKDOWN = "markdown"
    CSV = "csv"
    LATEX = "latex"
    JSON = "json"


def form_of(*, markdown: bool, csv: bool, latex: bool, json: bool) -> Form:
    """Return the form that was asked for; `SetupError` if several were."""
    given = {Form.MARKDOWN: markdown, Form.CSV: csv, Form.LATEX: latex, Form.JSON: json}
    asked = [form for form, wanted in given.items() if wanted]
    if len(asked) > 1:
        raise SetupError(f"one form at a time: --{' and --'.join(asked)} were asked for at once")
    return asked[0] if asked else Form.TERMINAL


def give(sheets: Sequence[Sheet], content: object, form: Form, *, out: Path | None) -> None:
    """Print the tables in a form, or write them to a file, whole or not at all.

    As JSON, `content` is given instead. CSV holds the first table only.
    """
    if out is None and form is Form.TERMINAL:
        show(_blocks(sheets, room()))
    elif out is None:
        typer.echo(_text(sheets, content, form), nl=False)
    else:
        write_whole(out, _text(sheets, content, form))


def as_table(heads: Sequence[str], rows: Sequence[Sequence[str]]) -> list[RenderableType]:
    """Return a table of texts that fits the screen."""
    sheet = Sheet("", tuple(map(Column, heads)), tuple(map(tuple, rows)))
    return as_tables(sheet, width=room())


def write_whole(path: Path, text: str) -> None:
    """Write a file by way of a temporary one; `SetupError` if that cannot be."""
    with replaced(path) as file:
        file.write(text.encode("utf-8", "backslashreplace"))


def _text(sheets: Sequence[Sheet], content: object, form: Form) -> str:
    match form:
        case Form.JSON:
            return _json(content)
        case Form.CSV:
            return as_csv(sheets[0])
        case Form.LATEX:
            return "\n".join(as_latex(sheet.compact()) for sheet in sheets)
        case Form.MARKDOWN:
            return "\n".join(as_markdown(sheet.compact()) for sheet in sheets)
        case Form.TERMINAL:
            return _plain(sheets)


def _json(content: object) -> str:
    return json.dumps(content, ensure_ascii=False, indent=2) + "\n"


def _plain(sheets: Sequence[Sheet]) -> str:
    return plain_text(_blocks(sheets, WIDE), width=WIDE) + "\n"


def _blocks(sheets: Sequence[Sheet], width: int) -> list[RenderableType]:
    return [block for sheet in sheets for block in as_blocks(sheet.compact(), width=width)]
