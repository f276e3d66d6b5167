"""A table at a terminal, its columns fitted to the width: narrowed, then spread over several."""

import re
from collections.abc import Sequence
from dataclasses import dataclass

from rich import box
from rich.cells import cell_len, chop_cells
from rich.console import RenderableType
from rich.table import Table
from rich.text import Text

from askgraph.evaluation.reports.sheet import Sheet

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
    found = fitted(sheet, width)
    padding = (0, 1, 0, found.gap - 2)  # a space stands for the border between two columns
    for places in found.tables:
        table = Table(box=box.SIMPLE_HEAD, padding=padding, pad_edge=False, show_edge=False)
        for place in places:
            column = sheet.columns[place.at]
            table.add_column(
                Text(broken(column.head, place.width)),
                justify="left" if column.is_text else "right",
                min_width=place.width,
                overflow="fold",
            )
        for row in rows:
            table.add_row(*(Text(broken(row[place.at], place.width)) for place in places))
        blocks += [Text(""), table] if blocks else [table]
    return blocks


@dataclass(frozen=True)
class Place:
    """A column of a sheet, by its number, and how wide it is shown."""

    at: int
    width: int


@dataclass(frozen=True)
class Fitted:
    """The tables that a sheet is shown as, each with its columns; `gap` characters are between."""

    tables: tuple[tuple[Place, ...], ...]
    gap: int


def fitted(sheet: Sheet, width: int) -> Fitted:
    """Fit a sheet to a width.

    Figures and words are kept whole, heads and texts are broken. If that is too wide still, the
    columns of figures are dealt out to several tables, each with the texts in front of them.
    """
    sizes = _sizes(sheet)
    columns = tuple(range(len(sizes)))
    gap = GAPS[_total([most for _, most in sizes], GAPS[0]) > width]
    least = [size for size, _ in sizes]
    first = next((at for at in columns if not sheet.columns[at].is_text), len(sizes))
    fits = _total(least, gap) <= width or first == len(sizes)
    parts = [columns] if fits else _dealt(columns[:first], columns[first:], least, gap, width)
    return Fitted(tuple(_widened(part, sizes, gap, width) for part in parts), gap)


def broken(text: str, width: int) -> str:
    """Return a text in lines of a width at most, broken behind a space, else a mark, else anywhere.

    A character that is wider than that stands alone.
    """
    return "\n".join(part for line in text.split("\n") for part in _lines(line, width))


def _sizes(sheet: Sheet) -> list[tuple[int, int]]:
    """Return the width that each column needs, and would take if there were room."""
    rows = sheet.texts()
    sizes = []
    for at, column in enumerate(sheet.columns):
        cells = [line for row in rows for line in row[at].split("\n")]
        head = max(1, _longest_piece(column.head))
        words = [min(WORD, _longest_piece(cell)) for cell in cells]
        least = max([head, *(words if column.is_text else map(_width, cells))])
        sizes.append((least, max(map(_width, [column.head, *cells]))))
    return sizes


def _dealt(
    keys: Sequence[int], rest: Sequence[int], least: Sequence[int], gap: int, width: int
) -> list[tuple[int, ...]]:
    """Fill one table after the other; each starts with the keys."""
    parts: list[tuple[int, ...]] = []
    for at in rest:
        if parts and _total([least[column] for column in (*parts[-1], at)], gap) <= width:
            parts[-1] = (*parts[-1], at)
        else:
            parts.append((*keys, at))
    return parts


def _widened(
    columns: Sequence[int], sizes: Sequence[tuple[int, int]], gap: int, width: int
) -> tuple[Place, ...]:
    """Give what room is left to the columns that are broken most."""
    widths = {at: sizes[at][0] for at in columns}
    for _ in range(width - _total(list(widths.values()), gap)):
        narrow = max(columns, key=lambda at: sizes[at][1] / widths[at])
        if widths[narrow] >= sizes[narrow][1]:
            break
        widths[narrow] += 1
    return tuple(Place(at, widths[at]) for at in columns)


def _total(widths: Sequence[int], gap: int) -> int:
    return sum(widths) + gap * (len(widths) - 1)


def _lines(line: str, width: int) -> list[str]:
    lines = [""]
    for word in _WORD.findall(line):
        for piece in [word] if _width(word.rstrip()) <= width else _cut(word, width):
            if _width((lines[-1] + piece).rstrip()) <= width:
                lines[-1] += piece
            else:
                lines.append(piece)
    return [part.rstrip() for part in lines if part.strip()] or [""]


def _cut(word: str, width: int) -> list[str]:

    pieces = _PIECE.findall(word)
    return [part for p in pieces for part in ([p] if _width(p) <= width else chop_cells(p, width))]


def _longest_piece(text: str) -> int:
    return max((_width(piece.rstrip()) for piece in _PIECE.findall(text)), default=1)


def _width(text: str) -> int:

    return cell_len(text)
