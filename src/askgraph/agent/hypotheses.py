"""Several queries for one question: which of their results is the answer.

First set and largest set are D'Abramo's (arXiv 2407.01409, section 4.4.1); the vote over equal
results is ours.
"""

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass

from askgraph.errors import SetupError
from askgraph.trace import Answer

__all__ = ["CHOICES", "Hypothesis", "chosen"]

CHOICES = ("first", "largest", "vote")


@dataclass(frozen=True)
class Hypothesis:
    """A query with its answer; `weight` is what its author believes of it, against the others."""

    answer: Answer
    weight: float = 1.0

    @property
    def empty(self) -> bool:
        """Whether it gives no row; a yes or no is never empty."""
        return self.answer.boolean is None and not self.answer.result.rows

    @property
    def values(self) -> object:
        """What it gives, by which equal results are told; columns count without their names."""
        if self.answer.boolean is not None:
            return self.answer.boolean
        result, columns = self.answer.result, self.answer.answer_columns
        at = [result.variables.index(column) for column in columns]
        return frozenset(frozenset(str(row[n]) for n in at) for row in result.rows)


def chosen(hypotheses: Sequence[Hypothesis], by: str) -> tuple[Hypothesis, float] | None:
    """Return one hypothesis of several, in the order of their author, and the share that agrees.

    `first`: the first with a result. `largest`: the one with most rows, the first of equals.
    `vote`: the first of those whose equal results weigh most together. Empty results are chosen
    only where there is nothing else. None where there is no hypothesis. Raises `SetupError` for
    another way of choosing.
    """
    if by not in CHOICES:
        raise SetupError(f"hypotheses are chosen by {', '.join(CHOICES)}, not by {by!r}")
    listed = [one for one in hypotheses if not one.empty] or list(hypotheses)
    if not listed:
        return None
    votes: dict[object, float] = defaultdict(float)
    for one in listed:
        votes[one.values] += one.weight
    best = listed[0]
    if by == "largest":
        best = max(listed, key=lambda one: len(one.answer.result.rows))
    elif by == "vote":
        best = max(listed, key=lambda one: votes[one.values])
    total = sum(one.weight for one in hypotheses)
    return best, votes[best.values] / total if total else 0.0
