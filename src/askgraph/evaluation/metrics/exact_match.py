"""1 if some choice of the predicted columns gives exactly the gold rows, else 0.

Punishes every wrong, missing or wrongly paired value. Does not punish extra columns, the names and
order of columns, the order of rows, or duplicates.
"""

from collections.abc import Iterator
from itertools import islice

from askgraph.evaluation import Score, Table, aligned

__all__ = ["exact_match"]

ASSIGNMENTS = 1000  # tried at most; more are possible only with many columns of equal values


def exact_match(predicted: Table, gold: Table) -> Score:
    """Compare rows as sets under every assignment of gold columns to predicted columns.

    Both without rows is 1, whatever the columns.
    """
    predicted, gold = aligned(predicted, gold)
    if not predicted.rows or not gold.rows:
        value = float(not predicted.rows and not gold.rows)
    else:
        wanted = frozenset(gold.rows)
        value = float(
            any(
                frozenset(tuple(row[at] for at in columns) for row in predicted.rows) == wanted
                for columns in islice(_assignments(predicted, gold), ASSIGNMENTS)
            )
        )
    return Score.of(value)


def _assignments(predicted: Table, gold: Table) -> Iterator[tuple[int, ...]]:
    """Yield, for the gold columns in order, distinct predicted columns with equal value sets."""
    have = predicted.columns()
    fitting = [[at for at, c in enumerate(have) if c == wanted] for wanted in gold.columns()]

    def extend(chosen: tuple[int, ...]) -> Iterator[tuple[int, ...]]:
        if len(chosen) == len(fitting):
            yield chosen
            return
        for at in fitting[len(chosen)]:
            if at not in chosen:
                yield from extend((*chosen, at))

    return extend(())
