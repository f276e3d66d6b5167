"""Set precision, recall and F1 over all values of all columns together.

Punishes wrong and missing values in any column that answers, and so extra ones too: a column of
labels beside the wanted IRIs costs precision. Does not punish columns that an answer calls context,
values in the wrong column or row, a wrong order or wrong duplicates.

The form of the official TEXT2SPARQL measure (2025), with values compared as in `values` instead of
as strings, and without its quirk that a correct `false` or a correct empty result scores 0.
"""

from askgraph.evaluation import Score, Table, aligned, set_score

__all__ = ["flattened"]


def flattened(predicted: Table, gold: Table) -> Score:
    """Compare the two sets of all bound values; both empty is 1."""
    predicted, gold = aligned(predicted, gold)
    return set_score(predicted.answers(), gold.values())
