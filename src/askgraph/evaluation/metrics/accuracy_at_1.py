"""Acc@1: 1 if every gold value is in the answer of the first query, else 0.

Punishes a missing or wrong gold value, one of many as much as all.

Does not punish values too many, and so not extra columns; values in the wrong column or row; a
wrong order; wrong duplicates.

The measure of Alekseev et al., "The benefits of query-based KGQA systems for complex and temporal
questions in LLM era" (NLDB 2025), section 3: the intersection of the two sets equals gold. "At 1"
stands for the first query that was generated, not for the first value, which is `hits_at_1`; the
two are the same only if answer and gold have one value each.
"""

from askgraph.evaluation import Score, Table, aligned

__all__ = ["accuracy_at_1"]


def accuracy_at_1(predicted: Table, gold: Table) -> Score:
    """Say, three times alike, whether gold's values are a subset of the predicted ones.

    If gold is empty, as in none of the paper's questions, only an empty answer is right.
    """
    predicted, gold = aligned(predicted, gold)
    found, wanted = predicted.values(), gold.values()
    value = float(wanted <= found if wanted else not found)
    return Score.of(value)
