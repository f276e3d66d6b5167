"""A table of figures, and its text as CSV, Markdown and LaTeX, and fitted to a terminal."""

import csv
import io
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from rich import box
from rich.cells import cell_len, chop_cells
from rich.console import RenderableType
from rich.table import Table
from rich.text import Text

Cell = str | int | float | None

Kind = Literal["text", "count", "share", "number", "p"]
"""How a cell is written for people: a share of 1 as per cent, a p value with three digits."""


@dataclass(frozen=True)
class Column:
    """The head of a column, and the kind of its cells; all but text are aligned to the right.

    A `context` column that says the same in all rows can be told once, in the title.
    """

    head: str
    kind: Kind = "text"
    context: bool = False

    @property
    def is_text(self) -> bool:
        """Whether its cells are aligned to the left."""
        return self.kind == "text"


def columns_of(kind: Kind, *heads: str) -> tuple[Column, ...]:
    """Return columns of one kind."""
    return tuple(Column(head, kind) for head in heads)


@dataclass(frozen=True)
class Sheet:
    """A table with a title, and notes that belong under it. Every row is as long as the columns."""

    title: str
    columns: tuple[Column, ...]
    rows: tuple[tuple[Cell, ...], ...]
    notes: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        for row in self.rows:
            if len(row) != len(self.columns):
                raise ValueError(f"{len(row)} cells for {len(self.columns)} columns: {row!r}")

    def compact(self) -> "Sheet":
        """Return the table with context that is the same in all rows in its title only."""
        told = [
            at
            for at, column in enumerate(self.columns)
            if column.context and len({row[at] for row in self.rows}) == 1
        ]
        kept = [at for at in range(len(self.columns)) if at not in told]
        words = [f"{self.columns[at].head} {self.rows[0][at]}" for at in told if self.rows[0][at]]
        return Sheet(
            ", ".join([self.title, *words]),
            tuple(self.columns[at] for at in kept),
            tuple(tuple(row[at] for at in kept) for row in self.rows),
            self.notes,
        )

    def texts(self) -> list[list[str]]:
        """Return the rows as people read them."""
        return [
            [shown(cell, column.kind) for cell, column in zip(row, self.columns, strict=True)]
            for row in self.rows
        ]

    def json(self) -> Mapping[str, object]:
        """Return the table as a JSON object; numbers are in full, shares are shares of 1."""
        heads = [column.head for column in self.columns]
        return {
            "title": self.title,
            "rows": [dict(zip(heads, map(rounded, row), strict=True)) for row in self.rows],
            "notes": list(self.notes),
        }


def shown(cell: Cell, kind: Kind) -> str:
    """Return a cell as people read it; None is a dash, a text is left as it is."""
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


def rounded(cell: Cell) -> Cell:
    """Return a number with at most six digits behind the point, any other cell as it is."""
    return round(cell, 6) if isinstance(cell, float) else cell


def as_csv(sheet: Sheet) -> str:
    """Return the heads and the rows as CSV (RFC 4180), without the title and the notes.

    Numbers are in full, shares are shares of 1, and what is unknown is left empty.
    """
    text = io.StringIO()
    writer = csv.writer(text)
    writer.writerow([column.head for column in sheet.columns])
    writer.writerows([rounded(cell) for cell in row] for row in sheet.rows)
    return text.getvalue()


_MARKDOWN = re.compile(r"([\\`*_\[\]<>|~&$#])")


def as_markdown(sheet: Sheet) -> str:
    """Return the title, the table and its notes; a cell never ends its row, whatever it holds."""
    heads = [column.head for column in sheet.columns]
    marks = ["---" if column.is_text else "---:" for column in sheet.columns]
    table = [_line(map(_markdown_text, heads)), _line(marks)]
    table += [_line(map(_markdown_text, row)) for row in sheet.texts()]
    notes = [f"- {_markdown_text(note)}" for note in sheet.notes]
    parts = [[f"### {_markdown_text(sheet.title)}"], table, notes]
    return "\n\n".join("\n".join(part) for part in parts if part) + "\n"


def _line(cells: Iterable[str]) -> str:
    return "| " + " | ".join(cells) + " |"


def _markdown_text(text: str) -> str:
    lines = [_MARKDOWN.sub(r"\\\1", line) for line in text.splitlines()]
    return "<br>".join(lines)


_LATEX = str.maketrans(
    {
        "\\": r"\textbackslash{}",
        "{": r"\{",
        "}": r"\}",
        "$": r"\$",
        "&": r"\&",
        "#": r"\#",
        "_": r"\_",
        "%": r"\%",
        "~": r"\textasciitilde{}",
        "^": r"\textasciicircum{}",
        "<": r"\textless{}",
        ">": r"\textgreater{}",
        "|": r"\textbar{}",
        '"': r"\textquotedbl{}",
        "–": "--",
    }
)


def as_latex(sheet: Sheet) -> str:
    """Return a `table` with the title as its caption and the notes under it, to be put in a paper.

    It needs `\\usepackage{booktabs}` and T1 fonts.
    """
    places = "".join("l" if column.is_text else "r" for column in sheet.columns)
    return "\n".join(
        [
            r"\begin{table}",
            r"\centering",
            rf"\caption{{{_latex_text(sheet.title)}}}",
            rf"\begin{{tabular}}{{{places}}}",
            r"\toprule",
            _row(column.head for column in sheet.columns),
            r"\midrule",
            *map(_row, sheet.texts()),
            r"\bottomrule",
            r"\end{tabular}",
            *(rf"\par\footnotesize {_latex_text(note)}" for note in sheet.notes),
            r"\end{table}",
            "",
        ]
    )


def _row(cells: Iterable[str]) -> str:
    return " & ".join(map(_guarded, cells)) + r" \\"


def _guarded(cell: str) -> str:
    """Return a cell; `[` at its start would be taken for an argument of the row end before it."""
    text = _latex_text(cell)
    return "{}" + text if text.startswith(("[", "*")) else text


def _latex_text(text: str) -> str:
    return " ".join(text.split()).translate(_LATEX)


GAPS = 3, 2  # characters between two columns: if there is room, and if there is none
WORD = 16  # a text column is no narrower than its longest word, up to this

_WORD = re.compile(r"\S*\s+|\S+")
_PIECE = re.compile(r"[^\s:,_/#]*[\s:,_/#]+|[^\s:,_/#]+")


def as_blocks(sheet: Sheet, *, width: int) -> list[RenderableType]:
    """Return the title, the table and its notes, to be printed one below the other."""
    notes = [Text(note) for note in sheet.notes]
    title = Text(sheet.title, style="bold")
    return [title, Text(""), *as_tables(sheet, width=width), *notes, Text("")]


def as_tables(sheet: Sheet, *, width: int) -> list[RenderableType]:
    """Return the table; if it is too wide, as several with empty lines between them."""
    blocks: list[RenderableType] = []
    rows = sheet.texts()
    tables, gap = fit_columns(sheet, width)
    padding = (0, 1, 0, gap - 2)  # a space stands for the border between two columns
    for widths in tables:
        table = Table(box=box.SIMPLE_HEAD, padding=padding, pad_edge=False, show_edge=False)
        for at, size in widths.items():
            column = sheet.columns[at]
            table.add_column(
                Text(broken(column.head, size)),
                justify="left" if column.is_text else "right",
                min_width=size,
                overflow="fold",
            )
        for row in rows:
            table.add_row(*(Text(broken(row[at], size)) for at, size in widths.items()))
        blocks += [Text(""), table] if blocks else [table]
    return blocks


def fit_columns(sheet: Sheet, width: int) -> tuple[list[dict[int, int]], int]:
    """Return tables, each with the widths of its columns by number, and the gap between columns.

    Figures and words are kept whole, heads and texts are broken. If that is too wide still, the
    columns of figures are dealt out to several tables, each with the texts in front of them.
    """
    sizes = _measure_columns(sheet)
    columns = list(range(len(sizes)))
    gap = GAPS[_total([most for _, most in sizes], GAPS[0]) > width]
    least = [size for size, _ in sizes]
    first = next((at for at in columns if not sheet.columns[at].is_text), len(sizes))
    parts = [columns]
    if _total(least, gap) > width and first < len(sizes):
        parts = []
        for at in columns[first:]:
            if parts and _total([least[column] for column in (*parts[-1], at)], gap) <= width:
                parts[-1].append(at)
            else:
                parts.append([*columns[:first], at])
    return [_widen(part, sizes, gap, width) for part in parts], gap


def broken(text: str, width: int) -> str:
    """Return a text in lines of a width at most, broken behind a space, else a mark, else anywhere.

    A character that is wider than that stands alone.
    """
    return "\n".join(part for line in text.split("\n") for part in _lines(line, width))


def _measure_columns(sheet: Sheet) -> list[tuple[int, int]]:
    """Return the width that each column needs, and would take if there were room."""
    rows = sheet.texts()
    sizes = []
    for at, column in enumerate(sheet.columns):
        cells = [line for row in rows for line in row[at].split("\n")]
        head = max(1, _longest_piece(column.head))
        words = [min(WORD, _longest_piece(cell)) for cell in cells]
        least = max([head, *(words if column.is_text else map(cell_len, cells))])
        sizes.append((least, max(map(cell_len, [column.head, *cells]))))
    return sizes


def _widen(
    columns: Sequence[int], sizes: Sequence[tuple[int, int]], gap: int, width: int
) -> dict[int, int]:
    """Return the widths of columns; what room is left goes to those that are broken most."""
    widths = {at: sizes[at][0] for at in columns}
    for _ in range(width - _total(list(widths.values()), gap)):
        narrow = max(columns, key=lambda at: sizes[at][1] / widths[at])
        if widths[narrow] >= sizes[narrow][1]:
            break
        widths[narrow] += 1
    return widths


def _total(widths: Sequence[int], gap: int) -> int:
    return sum(widths) + gap * (len(widths) - 1)


def _lines(line: str, width: int) -> list[str]:
    lines = [""]
    for word in _WORD.findall(line):
        for piece in [word] if cell_len(word.rstrip()) <= width else _cut(word, width):
            if cell_len((lines[-1] + piece).rstrip()) <= width:
                lines[-1] += piece
            else:
                lines.append(piece)
    return [part.rstrip() for part in lines if part.strip()] or [""]


def _cut(word: str, width: int) -> list[str]:
    pieces = _PIECE.findall(word)
    return [
        part for p in pieces for part in ([p] if cell_len(p) <= width else chop_cells(p, width))
    ]


def _longest_piece(text: str) -> int:
    return max((cell_len(piece.rstrip()) for piece in _PIECE.findall(text)), default=1)
