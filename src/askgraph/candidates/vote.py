"""Clusters of candidates that would give the same result: alike queries speak for each other."""

from collections.abc import Sequence
from dataclasses import dataclass

from askgraph.candidates.form import Aggregate
from askgraph.candidates.work import Candidate

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
        grouped.setdefault(_signature(candidate), []).append(candidate)
    found = [Cluster(tuple(sorted(group, key=lambda c: -c.score))) for group in grouped.values()]
    return sorted(found, key=lambda cluster: -cluster.score)


def _signature(candidate: Candidate) -> object:
    """Two candidates with equal signatures have equal results; unequal ones may have, too."""
    form, ids = candidate.form, candidate.ids
    shown = tuple(_shown(candidate, column.value) for column in form.columns)
    filters = tuple((f.operator, f.values, _shown(candidate, f.variable)) for f in form.filters)
    modifiers = (len(form.group), form.having, form.order, form.limit, form.offset, form.ask)
    plain = not (form.group or form.order or form.having or form.ask)
    return (
        len(ids),
        ids.tobytes() if len(ids) <= 20_000 else id(ids),
        shown,
        () if plain and not form.filters else filters,
        modifiers if not plain else (),
        len(form.without),
    )


def _shown(candidate: Candidate, value: int | Aggregate) -> object:
    variable = value.variable if isinstance(value, Aggregate) else value
    function = value.function if isinstance(value, Aggregate) else ""
    if variable == candidate.root:
        return function, "root"
    for pattern in candidate.form.patterns:
        if pattern.object == variable and pattern.subject == candidate.root:
            return function, pattern.predicate
    return function, candidate.form.hints.get(variable), len(candidate.form.patterns)
