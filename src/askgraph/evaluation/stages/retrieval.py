"""What an index finds of gold with the whole question: the first half of retrieve and reason.

Recall at 10 and 100 is the measure of Alekseev et al. (NLDB 2025, appendix B).
"""

from collections.abc import Sequence
from dataclasses import dataclass
from statistics import fmean

from askgraph.index import Resource, SearchIndex

__all__ = ["LIMITS", "Recall", "Sought", "recall"]

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


def recall(
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
