"""Set precision, recall and F1 of the answers; two empty answers agree.

Punishes wrong and missing values in any column, and so extra columns.

Does not punish a right empty result, which is 1 here and 0 for `text2sparql` and
`best_column_multiset`; values in the wrong column or row; a wrong order; wrong duplicates.

The measure of D'Abramo, "Dynamic Few-Shot Learning for Knowledge Graph Question Answering" (thesis,
2024; arXiv 2407.01409), section 5.4.4. It does not say what one result of several columns is; here
it is each value. By this definition it is the same as `flattened`, and has a name of its own so
that a report can say whose figures it stands beside.
"""

from askgraph.evaluation import Score, Table, aligned, set_score

__all__ = ["dfsl"]


def dfsl(predicted: Table, gold: Table) -> Score:
    """Compare the two sets of all bound values; both empty is 1, one empty is 0."""
    predicted, gold = aligned(predicted, gold)
    return set_score(predicted.values(), gold.values())
