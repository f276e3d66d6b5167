"""What a person sees of one scored answer: the heads of both results, and where they differ."""

from collections import Counter
from collections.abc import Sequence

from askgraph.answers.codec import Json, plain_value
from askgraph.evaluation.runs.run_folder import Detail
from askgraph.evaluation.values import Table, aligned
from askgraph.sparql.comparison import Cell

__all__ = ["detail_of"]

HEAD = 20


def detail_of(
    key: str, predicted: Table | None, gold: Table | None, *, steps: Sequence[Json] = ()
) -> Detail:
    """Return the detail of the record with a key; None is a result that there is not."""
    missing, extra = _difference(predicted, gold)
    return Detail(key, tuple(steps), _head(predicted), _head(gold), missing, extra)


def _head(table: Table | None) -> Json | None:
    if table is None:
        return None
    rows = [list(row) for row in _plain(table, table.rows[:HEAD], table.terms[:HEAD])]
    return {"columns": list(table.variables), "rows": rows, "n": len(table.rows)}


def _plain(
    table: Table, rows: Sequence[tuple[Cell | None, ...]], terms: Sequence[tuple[object, ...]]
) -> list[tuple[object, ...]]:
    if table.terms:
        return [tuple(plain_value(term) for term in row) for row in terms]  # type: ignore[arg-type]
    return [tuple(cell and cell[1] for cell in row) for row in rows]


def _difference(
    predicted: Table | None, gold: Table | None
) -> tuple[tuple[tuple[object, ...], ...], tuple[tuple[object, ...], ...]]:
    """The first rows that only gold has, and that only the answer has, as they are."""
    if predicted is None or gold is None:
        return (), ()
    ours, theirs = aligned(predicted, gold)
    missing = _left(theirs.rows, ours.rows)
    extra = _left(ours.rows, theirs.rows)
    return _at(gold, missing), _at(predicted, extra)


def _left(rows: Sequence[object], taken: Sequence[object]) -> list[int]:
    """Where the rows stand that are not among those taken, each taken once."""
    counts = Counter(taken)
    left: list[int] = []
    for at, row in enumerate(rows):
        if counts[row] > 0:
            counts[row] -= 1
        elif len(left) < HEAD:
            left.append(at)
    return left


def _at(table: Table, places: Sequence[int]) -> tuple[tuple[object, ...], ...]:
    rows = [table.rows[at] for at in places]
    terms = [table.terms[at] for at in places] if table.terms else []
    return tuple(_plain(table, rows, terms))
