"""What a candidate's result hangs on: two candidates with equal signatures give equal results.

Variables count by their place and not by their number: each is named by all that is said of it
(colour refinement, as in the Weisfeiler-Leman test).
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from askgraph.search.form import Aggregate, Average, Filter, Form, Pattern
from askgraph.search.operators.query_builder import Candidate

__all__ = ["result_signature"]

_COMPARED = 20_000
"""Up to so many nodes are compared one by one; larger sets are equal where they are one object."""

_BOUND = 4
"""So many times what is said of a variable's neighbours is added to what is said of it."""

_WHOLE = frozenset(["MIN", "MAX"])


@dataclass(frozen=True)
class _Variable:
    number: int


_Part = tuple[object, ...]


def result_signature(candidate: Candidate) -> object:
    """Return what the result hangs on; unequal signatures may have equal results, too.

    What only narrows the root, and no more than that, stands in the nodes that the root can be.
    """
    form, ids = candidate.form, candidate.ids
    others = [*_columns(form), *_conditions(form)]
    patterns = [_pattern("is", one) for one in form.patterns]
    if not _counts_rows(form):
        patterns = _kept(patterns, others, candidate.root)
    parts = patterns + others
    colours = _colours(parts, candidate.root)
    return (
        len(ids),
        ids.tobytes() if len(ids) <= _COMPARED else id(ids),
        tuple(_painted(one, colours) for one in _columns(form)),
        frozenset(_painted(one, colours) for one in parts),
        tuple(_painted(one, colours) for one in _ordered(form)),
        (form.limit, form.offset, form.ask),
    )


def _counts_rows(form: Form) -> bool:
    """Whether the result hangs on how often a row is found, or on all that holds."""
    values = [*(one.value for one in form.columns), *(key.value for key in form.order)]
    found = [one for one in values if isinstance(one, Aggregate)]
    found += [one.aggregate for one in form.having]
    many = any(not one.distinct and one.function not in _WHOLE for one in found)
    return bool(many or form.ask or form.group or form.order or form.limit is not None)


def _columns(form: Form) -> list[_Part]:
    return [("show", _value(one.value), one.answer) for one in form.columns]


def _ordered(form: Form) -> list[_Part]:
    return [("by", _value(key.value), key.descending) for key in form.order]


def _conditions(form: Form) -> Iterator[_Part]:
    """All of a form but its patterns, its columns and how much of it is kept."""
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
    yield from _ordered(form)


def _block(kind: str, patterns: tuple[Pattern, ...], filters: tuple[Filter, ...]) -> _Part:
    return (kind, tuple(_pattern("is", p) for p in patterns), tuple(_filter(f) for f in filters))


def _pattern(kind: str, one: Pattern) -> _Part:
    return (kind, _end(one.subject), one.predicate, _end(one.object), one.plus)


def _filter(one: Filter) -> _Part:
    values = tuple(_average(v) if isinstance(v, Average) else _end(v) for v in one.values)
    return ("filter", _Variable(one.variable), one.operator, values, one.as_integer)


def _average(one: Average) -> _Part:
    patterns = tuple(_pattern("is", pattern) for pattern in one.patterns)
    return ("average", one.function, _Variable(one.variable), patterns)


def _value(value: int | Aggregate) -> object:
    if isinstance(value, Aggregate):
        return (value.function, _Variable(value.variable), value.distinct)
    return _Variable(value)


def _end(end: int | str) -> object:
    return _Variable(end) if isinstance(end, int) else end


def _kept(patterns: list[_Part], others: list[_Part], root: int | str) -> list[_Part]:
    """The patterns without those that hang on the root alone, and nothing else on them."""
    reached = {one for part in others for one in _variables(part)} - {root}
    apart = [(one, set(_variables(one)) - {root}) for one in patterns]
    hung = {one for part in patterns for one in _variables(part) if root in _variables(part)}
    needed = _spread(reached, [some for _, some in apart])
    narrowing = _spread(hung - {root}, [some for _, some in apart]) - needed
    return [
        one
        for one, some in apart
        if some & needed or (root not in _variables(one) and not some & narrowing)
    ]


def _spread(start: set[int], joined: list[set[int]]) -> set[int]:
    """The variables that are reached from some over those that stand together."""
    found, before = set(start), -1
    while len(found) > before:
        before = len(found)
        found = found.union(*(some for some in joined if some & found))
    return found


def _variables(part: object) -> list[int]:
    if isinstance(part, _Variable):
        return [part.number]
    if isinstance(part, tuple):
        return [number for one in part for number in _variables(one)]
    return []


def _colours(parts: list[_Part], root: int | str) -> Mapping[int, int]:
    """What is said of each variable, as a number."""
    among: dict[int, list[_Part]] = {}
    for part in parts:
        for number in set(_variables(part)):
            among.setdefault(number, []).append(part)
    colours = {number: int(number == root) for number in among}
    for _ in range(min(_BOUND, len(colours))):
        colours = {
            number: hash(
                (
                    colours[number],
                    tuple(sorted(hash(_painted(one, {**colours, number: -7})) for one in held)),
                )
            )
            for number, held in among.items()
        }
    return colours


def _painted(part: object, colours: Mapping[int, int]) -> object:
    """A part with the colours of its variables in their places."""
    if isinstance(part, _Variable):
        return ("variable", colours[part.number])
    if isinstance(part, tuple):
        return tuple(_painted(one, colours) for one in part)
    return part
