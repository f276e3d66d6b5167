"""A search for the k1 and b of BM25 by which an index finds most of what questions are about.

Alekseev et al. (NLDB 2025, appendix B) tune both for each benchmark, for the recall of the first
hits. One number is varied at a time, until neither gets better: a few dozen evaluations.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from askgraph.agent.ranked_names import Bm25
from askgraph.evaluation.stages.retrieval import Recall

__all__ = ["EVALUATIONS", "K1", "B", "Tuned", "tuned"]

K1 = (0.1, 0.3, 0.6, 0.9, 1.2, 1.6, 2.0, 2.5, 3.0, 4.0, 5.0, 7.0, 10.0)
B = (0.01, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.75, 0.9, 1.0)
"""The values that are tried."""

_ROUNDS = 3

EVALUATIONS = _ROUNDS * (len(K1) + len(B))
"""How many evaluations there are at most."""


@dataclass(frozen=True)
class Tuned:
    """The best numbers for an index, and what it finds with those that it had and with these."""

    before: Bm25
    after: Bm25
    recall_before: Recall
    recall_after: Recall


def tuned(
    measure: Callable[[Bm25], Recall],
    *,
    start: Bm25,
    progress: Callable[[int], None] = lambda done: None,
) -> Tuned:
    """Search the numbers with the highest recall at the fewest hits, then at more.

    `measure` is asked once for each pair. Of equal ones the first found stays, so that what changes
    nothing is not changed. `progress` is told the number of evaluations so far.
    """
    known: dict[Bm25, Recall] = {}

    def value(one: Bm25) -> tuple[float, ...]:
        if one not in known:
            known[one] = measure(one)
            progress(len(known))
        return tuple(share for _, share in known[one].at)

    best = start
    value(best)
    for _ in range(_ROUNDS):
        before = best
        for other in _varied(best):
            if value(other) > value(best):
                best = other
        if best == before:
            break
    return Tuned(start, best, known[start], known[best])


def _varied(one: Bm25) -> Iterator[Bm25]:
    yield from (Bm25(k1, one.b) for k1 in K1)
    yield from (Bm25(one.k1, b) for b in B)
