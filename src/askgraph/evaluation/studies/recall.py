"""Recall of an index for whole questions, and a search for the k1 and b with the highest.

Recall at 10 and 100 is the measure of Alekseev et al. (NLDB 2025, appendix B).
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from statistics import fmean

from askgraph.agent.kept_index import Bm25
from askgraph.index import Resource, SearchIndex

LIMITS = (10, 100)


@dataclass(frozen=True)
class Sought:
    """A question as it is searched for, and the IRIs that should be found."""

    text: str
    wanted: frozenset[str]


@dataclass(frozen=True)
class Recall:
    """The mean share of what is wanted among the first hits, for some numbers of hits.

    `what` was searched, for so many `questions` that want anything of it.
    """

    what: str
    questions: int
    at: tuple[tuple[int, float], ...]


def recall_at(
    what: str,
    sought: Sequence[tuple[SearchIndex[Resource], Sought]],
    limits: Sequence[int] = LIMITS,
) -> Recall:
    """Search each question in its index; what no question wants anything of has a recall of 0."""
    found = [
        [_share(ranked[:limit], one.wanted) for limit in limits]
        for index, one in sought
        if one.wanted
        for ranked in [[hit.item.iri for hit in index.search(one.text, limit=max(limits))]]
    ]
    means = [fmean(column) for column in zip(*found, strict=True)] or [0.0] * len(limits)
    return Recall(what, len(found), tuple(zip(limits, means, strict=True)))


def _share(iris: Sequence[str], wanted: frozenset[str]) -> float:
    return len(wanted.intersection(iris)) / len(wanted)


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

    Alekseev et al. tune both for each benchmark. Here one number is varied at a time, until neither
    gets better: a few dozen evaluations.

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
