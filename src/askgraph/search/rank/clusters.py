"""Clusters of candidates that would give the same result: alike queries speak for each other."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from askgraph.search.operators.query_builder import Candidate
from askgraph.search.rank.signature import outline, result_signature
from askgraph.traversal.arrays import Ids

__all__ = ["Cluster", "clusters", "together"]

_NEAR = 0.5
_AGREES, _ENOUGH = 0.02, 3

_COMPARED = 20_000
"""Up to so many nodes are compared one by one; larger sets are equal if they are one object."""


@dataclass(frozen=True, eq=False)
class Cluster:
    """Candidates with one result, best first."""

    members: tuple[Candidate, ...]

    @property
    def best(self) -> Candidate:
        """The member with the highest score."""
        return self.members[0]

    @property
    def score(self) -> float:
        """The best member's score, and a little for each that agrees with it."""
        return together([member.score for member in self.members])


def together(scores: Sequence[float]) -> float:
    """Return the score of a cluster: the best of its members', a little more for each near it."""
    best = max(scores)
    agreeing = sum(score > best - _NEAR for score in scores) - 1
    return best + _AGREES * min(_ENOUGH, agreeing)


def clusters(candidates: Sequence[Candidate]) -> list[Cluster]:
    """Group candidates by answer set and what is shown of it, best cluster first.

    Only candidates that cannot be told apart at less cost are signed.
    """
    outlines = [outline(candidate) for candidate in candidates]
    shared = _repeated(outlines)
    nodes = _Nodes()
    keys = [
        (known, nodes.key(one.ids)) if known in shared else known
        for one, known in zip(candidates, outlines, strict=True)
    ]
    shared = _repeated(keys)
    grouped: dict[object, list[Candidate]] = {}
    for candidate, key in zip(candidates, keys, strict=True):
        full = (key, result_signature(candidate)) if key in shared else key
        grouped.setdefault(full, []).append(candidate)
    found = [Cluster(tuple(sorted(group, key=lambda c: -c.score))) for group in grouped.values()]
    return sorted(found, key=lambda cluster: -cluster.score)


def _repeated(keys: Sequence[object]) -> set[object]:
    """The keys that come more than once."""
    return {key for key, times in Counter(keys).items() if times > 1}


class _Nodes:
    """Keys of node sets, equal for equal sets."""

    def __init__(self) -> None:
        self.large: list[Ids] = []

    def key(self, ids: Ids) -> object:
        """Return what a set is compared by."""
        if len(ids) <= _COMPARED:
            return ids.tobytes()
        for number, known in enumerate(self.large):
            if known is ids:
                return number
        self.large.append(ids)
        return len(self.large) - 1
