"""The best of many scored documents, as resources and as hits."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from askgraph.index import Hit, Resource
from askgraph.index._table import Numbers, Table

__all__ = ["Best", "Scores", "best_names", "best_of", "positive"]

Scores = NDArray[np.float64]


def positive(limit: int) -> int:
    """Return the limit; `ValueError` where it is below 1."""
    if limit < 1:
        raise ValueError(f"limit must be 1 or more, it is {limit}")
    return limit


def best_of(scores: Scores, limit: int) -> Numbers:
    """Return where the `limit` highest scores are, best first, of equal ones the first."""
    if limit >= len(scores):
        return np.argsort(-scores, kind="stable")
    least = np.partition(scores, len(scores) - limit)[len(scores) - limit]
    above = np.flatnonzero(scores > least)
    equal = np.flatnonzero(scores == least)[: limit - len(above)]
    kept = np.sort(np.concatenate((above, equal)))
    return kept[np.argsort(-scores[kept], kind="stable")]


@dataclass(frozen=True)
class Best:
    """The best resources, best first, each by its best name: (resource, name, score)."""

    found: tuple[tuple[int, int, float], ...]

    def beats(self, score: float, name: int, limit: int) -> bool:
        """Whether `limit` resources go before all names from this one on of that score or less."""
        return limit <= sum(
            own > score or (own == score and at < name) for _, at, own in self.found
        )

    def joined(self, other: "Best", limit: int) -> "Best":
        """Return the best of both."""
        ordered = sorted({*self.found, *other.found}, key=lambda item: (-item[2], item[1]))
        firsts = {item[0]: item for item in reversed(ordered)}
        kept = sorted(firsts.values(), key=lambda item: (-item[2], item[1]))
        return Best(tuple(kept[:limit]))

    def hits(self, table: Table) -> list[Hit[Resource]]:
        """Read the resources."""
        hits = []
        for owner, name, score in self.found:
            resource = table.resource(owner)
            text = resource.names[name - int(table.first_names[owner])]
            hits.append(Hit(resource, score, text))
        return hits


def best_names(table: Table, names: Numbers, scores: Scores, limit: int) -> Best:
    """Return the best resources among the names with a score above 0.

    `names` ascend. Of a resource's equal names the first given one counts.
    """
    count = 4 * limit
    while True:
        kept = best_of(scores, count)
        kept = kept[scores[kept] > 0]
        owners = table.owners_of(names[kept]).tolist()
        firsts = {owner: at for at, owner in reversed(list(enumerate(owners)))}
        if len(firsts) >= limit or len(kept) < count:
            chosen = sorted((at, owner) for owner, at in firsts.items())[:limit]
            places = [(owner, int(kept[at])) for at, owner in chosen]
            return Best(tuple((o, int(names[at]), float(scores[at])) for o, at in places))
        count *= 8
