"""Hits@1: 1 if the first value of the answer is one of gold's, else 0.

Punishes a wrong first value, and so a column of labels that stands before the wanted one.

Does not punish anything after the first value, nor that most of gold is missing. Of a query without
ORDER BY the first row is up to the endpoint, and the score with it.

The usual measure for systems that rank entities, and by older ones for WebQSP and CWQ reported
instead of F1: see the figures in brackets in Walter and Bast, "GRASP" (arXiv 2507.08107), table 4.
"""

from itertools import chain

from askgraph.evaluation import Score, Table, aligned

__all__ = ["hits_at_1"]


def hits_at_1(predicted: Table, gold: Table) -> Score:
    """Say, three times alike, whether the first bound value, row by row, is a value of gold.

    Both without values is 1, one of them without is 0.
    """
    predicted, gold = aligned(predicted, gold)
    first = next((cell for cell in chain(*predicted.rows) if cell is not None), None)
    wanted = gold.values()
    value = float(first in wanted if first is not None else not wanted)
    return Score.of(value)
