"""Clusters of candidates that would give the same result: alike queries speak for each other.

Variables of a query count by their place and not by their number: each is named by all that is said
of it (colour refinement, as in the Weisfeiler-Leman test).
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from functools import lru_cache
from typing import Any

from pyoxigraph import Variable

from askgraph.graph.arrays import Ids
from askgraph.search import aggregates_of, values_of
from askgraph.search.operators.query_builder import Candidate
from askgraph.sparql import Bind, Call, Filter, Group, Nested, Path, Pattern, Query, Union, Values

_NEAR = 0.5
"""A member whose score is so near the best agrees with it."""
_AGREES, _ENOUGH = 0.02, 3
"""What a member that agrees adds, and how many may: they are often variants of one reading."""

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


_BOUND = 4
"""So many times what is said of a variable's neighbours is added to what is said of it."""

_FIELDS: dict[Any, tuple[str, ...]] = {
    node: tuple(one.name for one in fields(node) if one.compare)
    for node in (Path, Call, Pattern, Filter, Bind, Values, Nested, Union, Group, Query)
}
"""What of a node makes it what it is."""

_WHOLE = frozenset(["MIN", "MAX"])
_ITSELF = -7
"""The colour of a variable within what is said of it."""


@dataclass(frozen=True, slots=True)
class _Part:
    """A part of a query: its shape without the variables, and these in order, as numbers."""

    shape: int
    variables: tuple[int, ...]

    def painted(self, colours: Mapping[int, int]) -> tuple[int, ...]:
        """The part with the colours of its variables in their places."""
        return (self.shape, *[colours[number] for number in self.variables])

    def around(self, itself: int, colours: Mapping[int, int]) -> int:
        """What the part says of a variable in it."""
        return hash((self.shape, *[_ITSELF if n == itself else colours[n] for n in self.variables]))


def outline(candidate: Candidate) -> object:
    """Return a part of the signature that costs little: equal ones may have unequal signatures."""
    query, shown = candidate.tree, candidate.shown
    context = len(query.columns) - len(shown)
    kinds = [getattr(one, "name", "") for one in shown]
    ordered = (len(query.order), query.limit, query.offset, query.form)
    return (len(candidate.ids), context, *kinds, ordered)


def result_signature(candidate: Candidate) -> object:
    """Return what the result hangs on, beside the nodes that the root can be.

    What only narrows the root, and no more than that, stands in those nodes. Unequal signatures
    may have equal results, too.
    """
    query, shown, root = candidate.tree, candidate.shown, hash(candidate.root)
    columns = [
        _part("show" if one in shown else "context", one) for one in values_of(query) or shown
    ]
    ordered = [_part("by", key) for key in query.order]
    elements = query.where.elements
    patterns = [_part("is", one) for one in elements if isinstance(one, Pattern)]
    others = [*columns, *ordered]
    others += [_part("says", one) for one in elements if not isinstance(one, Pattern)]
    others += [_part("group", one) for one, _ in query.group_by]
    others += [_part("having", one) for one in query.having]
    if not _counts_rows(query):
        patterns = _kept(patterns, others, root)
    parts = patterns + others
    colours = _colours(parts, root)
    return (
        tuple(one.painted(colours) for one in columns),
        frozenset(one.painted(colours) for one in parts),
        tuple(one.painted(colours) for one in ordered),
        (query.limit, query.offset, query.form),
    )


def _counts_rows(query: Query) -> bool:
    """Whether the result hangs on how often a row is found, or on all that holds."""
    if query.form == "ASK" or query.group_by or query.order or query.limit is not None:
        return True
    return any(
        not one.name.endswith("DISTINCT") and one.name not in _WHOLE for one in aggregates_of(query)
    )


@lru_cache(maxsize=4096)
def _part(kind: str, part: object) -> _Part:
    """A part of a query as one of a kind."""
    variables: list[int] = []
    return _Part(hash((kind, _shape(part, variables))), tuple(variables))


def _shape(part: object, variables: list[int]) -> object:
    """Nested tuples of all that stands in a part but its variables, which are added to a list."""
    if isinstance(part, Variable):
        variables.append(hash(part))
        return Variable
    if isinstance(part, tuple):
        return tuple([_shape(one, variables) for one in part])
    inner = [_shape(getattr(part, name), variables) for name in _FIELDS.get(type(part), ())]
    return (type(part), *inner) if inner else part


def _kept(patterns: list[_Part], others: list[_Part], root: int) -> list[_Part]:
    """The patterns without those that hang on the root alone, and nothing else on them."""
    reached = {one for part in others for one in part.variables} - {root}
    apart = [(one, set(one.variables) - {root}) for one in patterns]
    hung = {one for part in patterns for one in part.variables if root in part.variables}
    needed = _spread(reached, [some for _, some in apart])
    narrowing = _spread(hung - {root}, [some for _, some in apart]) - needed
    return [
        one
        for one, some in apart
        if some & needed or (root not in one.variables and not some & narrowing)
    ]


def _spread(start: set[int], joined: Sequence[set[int]]) -> set[int]:
    """The variables that are reached from some over those that stand together."""
    found, before = set(start), -1
    while len(found) > before:
        before = len(found)
        found = found.union(*(some for some in joined if some & found))
    return found


def _colours(parts: Sequence[_Part], root: int) -> Mapping[int, int]:
    """What is said of each variable, as a number."""
    among: dict[int, list[_Part]] = {}
    for part in parts:
        for number in set(part.variables):
            among.setdefault(number, []).append(part)
    colours = {number: int(number == root) for number in among}
    for _ in range(min(_BOUND, len(colours))):
        colours = {
            number: hash((colours[number], *sorted([one.around(number, colours) for one in held])))
            for number, held in among.items()
        }
    return colours
