"""Set precision, recall and F1 of the best single column.

Punishes wrong and missing values. Does not punish extra columns, a wrong order, wrong duplicates,
or, if gold has several columns, values paired in the wrong rows.

The measure of Henselmann et al., "Knowledge graph representations for KGQA" (2025), over sets
instead of multisets.
"""

from collections.abc import Set

from askgraph.evaluation import Score, Table, aligned, set_score
from askgraph.sparql.comparison import Cell

__all__ = ["best_column"]


def best_column(predicted: Table, gold: Table) -> Score:
    """Score each gold column against the predicted column that fits it best, by F1; take the mean.

    With one gold column, the usual case, this is the set F1 of the best predicted column. One
    predicted column may serve several gold columns. Both without rows is 1. With several gold
    columns all three numbers are means, so that F1 is not the harmonic mean of the other two.
    """
    predicted, gold = aligned(predicted, gold)
    columns = predicted.columns() or (frozenset(),)
    best = [_best(columns, wanted) for wanted in gold.columns() or (frozenset(),)]
    return Score.mean(best)


def _best(columns: tuple[Set[Cell], ...], gold: Set[Cell]) -> Score:
    scores = (set_score(column, gold) for column in columns)
    return max(scores, key=lambda score: (score.f1, score.precision))
