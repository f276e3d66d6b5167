"""Set precision, recall and F1 under the best one-to-one mapping of gold to predicted columns.

Punishes wrong and missing values in each gold column, and a missing column: no predicted column
stands for two of gold.

Does not punish extra columns, the names and order of columns, a wrong order, wrong duplicates, or
values paired in the wrong rows.

Ours. `best_column` lets one predicted column serve several gold columns, `exact_match` wants whole
rows.
"""

from scipy.optimize import linear_sum_assignment

from askgraph.evaluation import Score, Table, aligned, set_score

__all__ = ["column_mapping"]

LESS = 1e-6  # what precision weighs beside F1: it decides between mappings of equal F1


def column_mapping(predicted: Table, gold: Table) -> Score:
    """Map each gold column to a predicted column of its own, so that F1 summed is highest.

    The score is the mean over the gold columns, one without a partner counts 0; with several, F1 is
    not the harmonic mean of the other two. No values on both sides is 1, on one side 0.
    """
    predicted, gold = aligned(predicted, gold)
    if not (predicted.values() and gold.values()):
        return set_score(predicted.values(), gold.values())
    missing = max(0, len(gold.variables) - len(predicted.variables))
    columns = [*predicted.columns(), *[frozenset()] * missing]
    scores = [[set_score(column, wanted) for column in columns] for wanted in gold.columns()]
    weights = [[score.f1 + LESS * score.precision for score in line] for line in scores]
    mapped = [scores[at][to] for at, to in zip(*linear_sum_assignment(weights, True), strict=True)]
    return Score.mean(mapped)
