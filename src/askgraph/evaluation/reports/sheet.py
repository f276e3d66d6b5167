"""A table of figures, as CSV, Markdown, LaTeX and terminal output."""

import csv
import io
import json
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, cast

from rich import box
from rich.cells import cell_len, chop_cells
from rich.console import RenderableType
from rich.table import Table
from rich.text import Text

Cell = str | int | float | None

CellKind = Literal["text", "count", "share", "number", "p"]
"""Format of a cell for display: a share as per cent, a p value with three digits."""


@dataclass(frozen=True)
class SheetColumn:
    """The head of a column, and the kind of its cells; all kinds but text are right-aligned."""

    head: str
    kind: CellKind = "text"
    context: bool = False  # with one value in all rows it may move to the title

    @property
    def is_text(self) -> bool:
        """Whether its cells are left-aligned."""
        return self.kind == "text"


def build_columns(kind: CellKind, *heads: str) -> tuple[SheetColumn, ...]:
    """Build columns of one kind."""
    return tuple(SheetColumn(head, kind) for head in heads)


def parse_columns(text: str) -> tuple[SheetColumn, ...]:
    """Parse columns by kind: `metric; questions, right: count; kappa: number`."""
    return tuple(
        SheetColumn(head.strip(), cast("CellKind", kind.strip() or "text"))
        for heads, _, kind in (part.partition(":") for part in text.split(";"))
        for head in heads.split(",")
    )


@dataclass(frozen=True)
class Sheet:
    """A table with a title, and notes below it. Every row is as long as the columns."""

    title: str
    columns: tuple[SheetColumn, ...]
    rows: tuple[tuple[Cell, ...], ...]
    notes: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        for row in self.rows:
            if len(row) != len(self.columns):
                raise ValueError(f"{len(row)} cells for {len(self.columns)} columns: {row!r}")

    def move_context_to_title(self) -> "Sheet":
        """Return the table with constant context columns moved to its title."""
        constant = [
            index
            for index, column in enumerate(self.columns)
            if column.context and len({row[index] for row in self.rows}) == 1
        ]
        remaining_columns = [index for index in range(len(self.columns)) if index not in constant]
        words = [
            f"{self.columns[index].head} {self.rows[0][index]}"
            for index in constant
            if self.rows[0][index]
        ]
        return Sheet(
            ", ".join([self.title, *words]),
            tuple(self.columns[index] for index in remaining_columns),
            tuple(tuple(row[index] for index in remaining_columns) for row in self.rows),
            self.notes,
        )

    def format_rows(self) -> list[list[str]]:
        """Return the rows formatted for display."""
        return [
            [format_cell(cell, column.kind) for cell, column in zip(row, self.columns, strict=True)]
            for row in self.rows
        ]

    def to_json(self) -> Mapping[str, object]:
        """Return the table as a JSON object; numbers have full precision, shares are fractions."""
        heads = [column.head for column in self.columns]
        return {
            "title": self.title,
            "rows": [dict(zip(heads, map(round_cell, row), strict=True)) for row in self.rows],
            "notes": list(self.notes),
        }


def format_cell(cell: Cell, kind: CellKind) -> str:
    """Format a cell for display; None is a dash, a text is unchanged."""
    if cell is None:
        return "–"
    if isinstance(cell, str):
        return cell
    match kind:
        case "share":
            return f"{100 * cell:.1f}"
        case "p":
            return "<0.001" if cell < 0.001 else f"{cell:.3f}"
        case "number":
            return f"{cell:.3f}"
        case _:
            return str(cell)


def round_cell(cell: Cell) -> Cell:
    """Round a number to six decimal digits; return any other cell unchanged."""
    return round(cell, 6) if isinstance(cell, float) else cell


def to_csv(sheet: Sheet) -> str:
    """Return the heads and the rows as CSV (RFC 4180), without the title and the notes.

    Numbers have full precision, shares are fractions, and unknown values are empty.
    """
    text = io.StringIO()
    writer = csv.writer(text)
    writer.writerow([column.head for column in sheet.columns])
    writer.writerows([round_cell(cell) for cell in row] for row in sheet.rows)
    return text.getvalue()


_MARKDOWN_SPECIAL = re.compile(r"([\\`*_\[\]<>|~&$#])")


def to_markdown(sheet: Sheet) -> str:
    """Return the title, the table and its notes as Markdown, with cells escaped."""
    heads = [column.head for column in sheet.columns]
    marks = ["---" if column.is_text else "---:" for column in sheet.columns]
    table = [_join_markdown_cells(map(_escape_markdown, heads)), _join_markdown_cells(marks)]
    table += [_join_markdown_cells(map(_escape_markdown, row)) for row in sheet.format_rows()]
    notes = [f"- {_escape_markdown(note)}" for note in sheet.notes]
    parts = [[f"### {_escape_markdown(sheet.title)}"], table, notes]
    return "\n\n".join("\n".join(part) for part in parts if part) + "\n"


def _join_markdown_cells(cells: Iterable[str]) -> str:
    return "| " + " | ".join(cells) + " |"


def _escape_markdown(text: str) -> str:
    return "<br>".join([_MARKDOWN_SPECIAL.sub(r"\\\1", line) for line in text.splitlines()])


_LATEX_ESCAPES = str.maketrans(
    json.loads(Path(__file__).with_name("latex.json").read_text("utf-8"))
)


def to_latex(sheet: Sheet) -> str:
    r"""Return a LaTeX `table` with the title as its caption and the notes under it.

    It needs `\\usepackage{booktabs}` and T1 fonts.
    """
    alignments = "".join("l" if column.is_text else "r" for column in sheet.columns)
    return "\n".join(
        [
            r"\begin{table}",
            r"\centering",
            rf"\caption{{{_escape_latex(sheet.title)}}}",
            rf"\begin{{tabular}}{{{alignments}}}",
            r"\toprule",
            _join_latex_cells(column.head for column in sheet.columns),
            r"\midrule",
            *map(_join_latex_cells, sheet.format_rows()),
            r"\bottomrule",
            r"\end{tabular}",
            *(rf"\par\footnotesize {_escape_latex(note)}" for note in sheet.notes),
            r"\end{table}",
            "",
        ]
    )


def _join_latex_cells(cells: Iterable[str]) -> str:
    return " & ".join(map(_protect_latex_cell, cells)) + r" \\"


def _protect_latex_cell(cell: str) -> str:
    """Escape a cell; protect a leading `[`, which LaTeX would read as an argument."""
    text = _escape_latex(cell)
    return "{}" + text if text.startswith(("[", "*")) else text


def _escape_latex(text: str) -> str:
    return " ".join(text.split()).translate(_LATEX_ESCAPES)


GAP_CHARACTERS = 3, 2  # characters between two columns: normally, and in a tight space
MAX_WORD_CHARACTERS = 16  # a text column is no narrower than its longest word, up to this

_WORD_PATTERN = re.compile(r"\S*\s+|\S+")
_PIECE_PATTERN = re.compile(r"[^\s:,_/#]*[\s:,_/#]+|[^\s:,_/#]+")


def to_blocks(sheet: Sheet, *, width: int) -> list[RenderableType]:
    """Return the title, the table and its notes, to be printed one below the other."""
    notes = [Text(note) for note in sheet.notes]
    title = Text(sheet.title, style="bold")
    return [title, Text(""), *to_tables(sheet, width=width), *notes, Text("")]


def to_tables(sheet: Sheet, *, width: int) -> list[RenderableType]:
    """Return the table; if it is too wide, as several with empty lines between them."""
    blocks: list[RenderableType] = []
    rows = sheet.format_rows()
    tables, gap = fit_columns(sheet, width)
    padding = (0, 1, 0, gap - 2)  # a space replaces the border between two columns
    for widths in tables:
        table = Table(box=box.SIMPLE_HEAD, padding=padding, pad_edge=False, show_edge=False)
        for index, size in widths.items():
            column = sheet.columns[index]
            table.add_column(
                Text(wrap_text(column.head, size)),
                justify="left" if column.is_text else "right",
                min_width=size,
                overflow="fold",
            )
        for row in rows:
            table.add_row(*(Text(wrap_text(row[index], size)) for index, size in widths.items()))
        blocks += [Text(""), table] if blocks else [table]
    return blocks


def fit_columns(sheet: Sheet, width: int) -> tuple[list[dict[int, int]], int]:
    """Return tables, each with the widths of its columns by index, and the gap between columns.

    Figures and words stay unbroken; heads and texts wrap. If the table is still too wide, its
    figure columns are distributed over several tables, each with the text columns in front.
    """
    sizes = _measure_columns(sheet)
    columns = list(range(len(sizes)))
    gap = GAP_CHARACTERS[
        _compute_total_width([max_width for _, max_width in sizes], GAP_CHARACTERS[0]) > width
    ]
    min_widths = [size for size, _ in sizes]
    first_figure = next(
        (index for index in columns if not sheet.columns[index].is_text), len(sizes)
    )
    parts = [columns]
    if _compute_total_width(min_widths, gap) > width and first_figure < len(sizes):
        parts = []
        for index in columns[first_figure:]:
            if (
                parts
                and _compute_total_width(
                    [min_widths[column] for column in (*parts[-1], index)], gap
                )
                <= width
            ):
                parts[-1].append(index)
            else:
                parts.append([*columns[:first_figure], index])
    return [_distribute_width(part, sizes, gap, width) for part in parts], gap


def wrap_text(text: str, width: int) -> str:
    """Wrap a text at a width: after a space, else after a mark, else anywhere.

    A wider character gets a line of its own.
    """
    return "\n".join(piece for line in text.split("\n") for piece in _wrap_line(line, width))


def _measure_columns(sheet: Sheet) -> list[tuple[int, int]]:
    rows = sheet.format_rows()
    sizes = []
    for index, column in enumerate(sheet.columns):
        cells = [line for row in rows for line in row[index].split("\n")]
        head = max(1, _measure_longest_piece(column.head))
        words = [min(MAX_WORD_CHARACTERS, _measure_longest_piece(cell)) for cell in cells]
        min_width = max([head, *(words if column.is_text else map(cell_len, cells))])
        sizes.append((min_width, max(map(cell_len, [column.head, *cells]))))
    return sizes


def _distribute_width(
    columns: Sequence[int], sizes: Sequence[tuple[int, int]], gap: int, width: int
) -> dict[int, int]:
    """Return the widths of columns; spare width goes to the most wrapped ones."""
    widths = {index: sizes[index][0] for index in columns}
    for _ in range(width - _compute_total_width(list(widths.values()), gap)):
        narrowest = max(columns, key=lambda index: sizes[index][1] / widths[index])
        if widths[narrowest] >= sizes[narrowest][1]:
            break
        widths[narrowest] += 1
    return widths


def _compute_total_width(widths: Sequence[int], gap: int) -> int:
    return sum(widths) + gap * (len(widths) - 1)


def _wrap_line(line: str, width: int) -> list[str]:
    lines = [""]
    for word in _WORD_PATTERN.findall(line):
        for piece in [word] if cell_len(word.rstrip()) <= width else _split_word(word, width):
            if cell_len((lines[-1] + piece).rstrip()) <= width:
                lines[-1] += piece
            else:
                lines.append(piece)
    return [wrapped_line.rstrip() for wrapped_line in lines if wrapped_line.strip()] or [""]


def _split_word(word: str, width: int) -> list[str]:
    return [
        part
        for piece in _PIECE_PATTERN.findall(word)
        for part in ([piece] if cell_len(piece) <= width else chop_cells(piece, width))
    ]


def _measure_longest_piece(text: str) -> int:
    return max((cell_len(piece.rstrip()) for piece in _PIECE_PATTERN.findall(text)), default=1)
