"""Precision, recall and F1 of the best single column, as multisets.

Punishes wrong and missing values, and wrong duplicates: a row too many costs precision, a repeated
gold row that is found once costs recall. Also punishes a right empty result, which scores 0.

Does not punish extra columns, unless they multiply rows; a wrong order; or, if gold has several
columns, values paired in the wrong rows.

The measure of Henselmann et al., "Impact of Knowledge Graph Representations on Question Answering
with Language Models" (2025), section 5.5, as its published scores have it; there each gold query
has one column and is run without DISTINCT, and no query, an error and no rows score 0.
`best_column` is the same over sets.
"""

from collections import Counter
from collections.abc import Sequence

from askgraph.evaluation import Score, Table, aligned
from askgraph.sparql.comparison import Cell

__all__ = ["best_column_multiset"]


def best_column_multiset(predicted: Table, gold: Table) -> Score:
    """Score each gold column against the predicted column that fits it best, by F1; take the mean.

    Precision is over the predicted rows, recall over the gold rows; an unbound value counts as a
    row, and never as right. One predicted column may serve several gold columns. No rows on either
    side, or on both, is 0.
    """
    predicted, gold = aligned(predicted, gold)
    columns = [_column(predicted, at) for at in range(len(predicted.variables))]
    wanted = [_column(gold, at) for at in range(len(gold.variables))]
    if not (columns and wanted and predicted.rows and gold.rows):
        return Score.of(0.0)
    best = [_best(columns, one) for one in wanted]
    return Score.mean(best)


def _column(table: Table, at: int) -> list[Cell | None]:
    return [row[at] for row in table.rows]


def _best(columns: Sequence[Sequence[Cell | None]], gold: Sequence[Cell | None]) -> Score:
    scores = (_score(column, gold) for column in columns)
    return max(scores, key=lambda score: (score.f1, score.precision))


def _score(predicted: Sequence[Cell | None], gold: Sequence[Cell | None]) -> Score:
    common = Counter(predicted) & Counter(gold)
    right = common.total() - common[None]
    return Score(
        right / len(predicted), right / len(gold), 2 * right / (len(predicted) + len(gold))
    )
