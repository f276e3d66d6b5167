"""Clusters of candidates that would give the same result: alike queries speak for each other.

Variables of a query count by their place and not by their number: each is named by all that is said
of it (colour refinement, as in the Weisfeiler-Leman test).
"""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from askgraph.search.form import Aggregate, Average, Filter, Form, Pattern
from askgraph.search.operators.query_builder import Candidate
from askgraph.traversal.arrays import Ids

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


_BOUND = 4
"""So many times what is said of a variable's neighbours is added to what is said of it."""

_WHOLE = frozenset(["MIN", "MAX"])
_ITSELF = -7
"""The colour of a variable within what is said of it."""


@dataclass(frozen=True)
class _Variable:
    number: int


_VARIABLE = _Variable(-1)
"""The place of any variable."""


@dataclass(frozen=True, slots=True)
class _Part:
    """A part of a query: its shape without the variables, and the variables in their order."""

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
    form = candidate.form
    kinds = tuple(
        (one.value.function, one.value.distinct, one.answer)
        if isinstance(one.value, Aggregate)
        else one.answer
        for one in form.columns
    )
    return (len(candidate.ids), kinds, len(form.order), form.limit, form.offset, form.ask)


def result_signature(candidate: Candidate) -> object:
    """Return what the result hangs on, beside the nodes that the root can be.

    What only narrows the root, and no more than that, stands in those nodes. Unequal signatures
    may have equal results, too.
    """
    form = candidate.form
    columns, ordered = [*map(_part, _columns(form))], [*map(_part, _ordered(form))]
    others = [*columns, *map(_part, _conditions(form)), *ordered]
    patterns = [_part(_pattern("is", one)) for one in form.patterns]
    if not _counts_rows(form):
        patterns = _kept(patterns, others, candidate.root)
    parts = patterns + others
    colours = _colours(parts, candidate.root)
    return (
        tuple(one.painted(colours) for one in columns),
        frozenset(one.painted(colours) for one in parts),
        tuple(one.painted(colours) for one in ordered),
        (form.limit, form.offset, form.ask),
    )


def _counts_rows(form: Form) -> bool:
    """Whether the result hangs on how often a row is found, or on all that holds."""
    values = [*(one.value for one in form.columns), *(key.value for key in form.order)]
    found = [one for one in values if isinstance(one, Aggregate)]
    found += [one.aggregate for one in form.having]
    many = any(not one.distinct and one.function not in _WHOLE for one in found)
    return bool(many or form.ask or form.group or form.order or form.limit is not None)


def _columns(form: Form) -> Iterator[object]:
    return (("show", _value(one.value), one.answer) for one in form.columns)


def _ordered(form: Form) -> Iterator[object]:
    return (("by", _value(key.value), key.descending) for key in form.order)


def _conditions(form: Form) -> Iterator[object]:
    """All of a form but its patterns, its columns, its order and how much of it is kept."""
    yield from (_filter(one) for one in form.filters)
    yield from (_pattern("may be", one) for one in form.optional)
    for kind, blocks in (("without", form.without), ("either", form.either)):
        yield from (_block(kind, patterns, filters) for patterns, filters in blocks)
    for given in form.given:
        yield ("given", tuple(_Variable(one) for one in given.variables), given.rows)
    for made in form.computed:
        yield ("computed", _Variable(made.variable), made.operation, *map(_end, made.operands))
    yield from (("group", _Variable(one)) for one in form.group)
    for having in form.having:
        yield ("having", _value(having.aggregate), having.operator, having.value)


def _block(kind: str, patterns: tuple[Pattern, ...], filters: tuple[Filter, ...]) -> object:
    return (kind, tuple(_pattern("is", p) for p in patterns), tuple(_filter(f) for f in filters))


def _pattern(kind: str, one: Pattern) -> object:
    return (kind, _end(one.subject), one.predicate, _end(one.object), one.plus)


def _filter(one: Filter) -> object:
    values = tuple(_average(v) if isinstance(v, Average) else _end(v) for v in one.values)
    return ("filter", _Variable(one.variable), one.operator, values, one.as_integer)


def _average(one: Average) -> object:
    patterns = tuple(_pattern("is", pattern) for pattern in one.patterns)
    return ("average", one.function, _Variable(one.variable), patterns)


def _value(value: int | Aggregate) -> object:
    if isinstance(value, Aggregate):
        return (value.function, _Variable(value.variable), value.distinct)
    return _Variable(value)


def _end(end: int | str) -> object:
    return _Variable(end) if isinstance(end, int) else end


def _part(nested: object) -> _Part:
    """A part from nested tuples with variables in them."""
    variables: list[int] = []
    return _Part(hash(_shape(nested, variables)), tuple(variables))


def _shape(nested: object, variables: list[int]) -> object:
    if isinstance(nested, _Variable):
        variables.append(nested.number)
        return _VARIABLE
    if isinstance(nested, tuple):
        return tuple([_shape(one, variables) for one in nested])
    return nested


def _kept(patterns: list[_Part], others: list[_Part], root: int | str) -> list[_Part]:
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


def _colours(parts: Sequence[_Part], root: int | str) -> Mapping[int, int]:
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
