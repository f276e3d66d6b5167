"""Differences between two results of a query: rows that came or went, values that changed."""

from collections import Counter, defaultdict
from collections.abc import Sequence

from pydantic import BaseModel, Field

from askgraph.server.runs.views import AnswerView, Cell

_Row = Sequence[Cell | None]
_Key = tuple[object, ...]


class RowChange(BaseModel):
    """A row that is new, or has other values than before."""

    row: int = Field(description="Its place in the answer, from 0.")
    was: list[Cell | None] | None = Field(description="Its cells before; null if it is new.")


class ChangesView(BaseModel):
    """What differs between an answer and the one that its owner saw last."""

    added: int = Field(description="Rows that are new.")
    gone: int = Field(description="Rows that are no more.")
    changed: int = Field(description="Rows of the same thing with other values.")
    total: int = Field(description="The number of rows before.")
    rows: list[RowChange] = Field(description="The rows that are new, or changed.")
    lost: list[list[Cell | None]] = Field(description="The rows that are no more.")
    boolean: bool | None = Field(None, description="The yes or no before.")
    partly: bool = Field(
        False, description="Whether only the rows that were kept were compared, not all."
    )


def changes_of(before: AnswerView, after: AnswerView) -> ChangesView:
    """Return what differs between an answer and an earlier one of the same query.

    Rows that only moved are the same. A row is the same with other values if what names it is: the
    column of which each row has another value, things before texts and numbers.
    """
    if after.boolean is not None or before.boolean is not None:
        return ChangesView(
            added=0,
            gone=0,
            changed=int(after.boolean != before.boolean),
            total=before.total,
            rows=[],
            lost=[],
            boolean=before.boolean,
        )
    lost = _without(before.cells, after.cells)
    new = _without(after.cells, before.cells)
    was = _earlier(before, after, lost, new)
    changed = set(was.values())
    return ChangesView(
        added=len(new) - len(was),
        gone=len(lost) - len(was),
        changed=len(was),
        total=before.total,
        rows=[
            RowChange(row=at, was=list(before.cells[was[at]]) if at in was else None) for at in new
        ],
        lost=[list(before.cells[at]) for at in lost if at not in changed],
        partly=any(one.total > len(one.cells) for one in (before, after)),
    )


def _without(rows: Sequence[_Row], others: Sequence[_Row]) -> list[int]:
    """The places of the rows that are not among others, as often as they are there."""
    there = Counter(map(_row_key, others))
    found = []
    for at, row in enumerate(rows):
        key = _row_key(row)
        if there[key]:
            there[key] -= 1
        else:
            found.append(at)
    return found


def _earlier(
    before: AnswerView, after: AnswerView, lost: Sequence[int], new: Sequence[int]
) -> dict[int, int]:
    """For each new row that was there with other values, its place before."""
    if before.columns != after.columns:
        return {}
    if before.total == after.total == len(lost) == len(new) == 1:
        return {new[0]: lost[0]}
    naming = _naming(before.cells, after.cells)
    if naming is None:
        return {}
    named = defaultdict(list)
    for at in reversed(lost):
        named[_key(before.cells[at][naming])].append(at)
    found = {}
    for at in new:
        if same := named[_key(after.cells[at][naming])]:
            found[at] = same.pop()
    return found


def _naming(before: Sequence[_Row], after: Sequence[_Row]) -> int | None:
    """The column that names the rows: each of them has another value there."""
    width = len(before[0]) if before and after else 0

    def names(at: int) -> bool:
        return all(
            all(row[at] for row in rows) and len({_key(row[at]) for row in rows}) == len(rows)
            for rows in (before, after)
        )

    def rank(at: int) -> bool:
        return any(
            cell is not None and cell.type != "iri" for cell in (before[0][at], after[0][at])
        )

    return next((at for at in sorted(range(width), key=rank) if names(at)), None)


def _row_key(row: _Row) -> _Key:
    return tuple(map(_key, row))


def _key(cell: Cell | None) -> _Key | None:
    """What makes a term the same; names of blank nodes are others each time."""
    if cell is None:
        return None
    if cell.type == "blank":
        return ("blank",)
    return (cell.type, cell.value, cell.datatype, cell.language)
