"""Clusters of candidates that would give the same result: alike queries speak for each other."""

from collections.abc import Sequence
from dataclasses import dataclass

from askgraph.search.operators.query_builder import Candidate
from askgraph.search.rank.signature import result_signature

__all__ = ["Cluster", "clusters", "together"]

_NEAR = 0.5
_AGREES, _ENOUGH = 0.02, 3


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
    """Group candidates by answer set and what is shown of it, best cluster first."""
    grouped: dict[object, list[Candidate]] = {}
    for candidate in candidates:
        grouped.setdefault(result_signature(candidate), []).append(candidate)
    found = [Cluster(tuple(sorted(group, key=lambda c: -c.score))) for group in grouped.values()]
    return sorted(found, key=lambda cluster: -cluster.score)
