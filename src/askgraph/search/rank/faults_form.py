"""What of a query cannot be right whatever was asked: it contradicts itself or sums up nothing."""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence

from askgraph.search.form import Aggregate, Filter, Form, Pattern
from askgraph.search.grow.schema import Schema

__all__ = ["FORM_FAULTS", "denied_apart"]

_NUMBER = re.compile(r'^"?(-?\d+(?:\.\d+)?)')
_LOWER, _UPPER = (">", ">=", "="), ("<", "<=", "=")


def _contradicts(form: Form, _: Schema) -> bool:
    """It denies what it asks for, or its bounds leave nothing between them."""
    said = {_plain(one) for one in form.patterns}
    denied = (some for some, filters in form.without if not filters)
    if any(all(_plain(one) in said for one in some) for some in denied):
        return True
    return any(
        max(_bounds(form.filters, variable, _LOWER), default=float("-inf"))
        > min(_bounds(form.filters, variable, _UPPER), default=float("inf"))
        for variable in {one.variable for one in form.filters}
    )


def _plain(pattern: Pattern) -> tuple[int | str, str, int | str]:
    return pattern.subject, pattern.predicate, pattern.object


def _bounds(filters: Sequence[Filter], variable: int, operators: Sequence[str]) -> Iterator[float]:
    for one in filters:
        if one.variable == variable and one.operator in operators and len(one.values) == 1:
            found = _NUMBER.match(one.values[0]) if isinstance(one.values[0], str) else None
            if found is not None:
                yield float(found.group(1))


def _counts_group(form: Form, _: Schema) -> bool:
    """It counts or sums up what it groups by: one in each group."""
    return any(one.variable in form.group for one in _aggregates(form))


def _single_values(form: Form, schema: Schema) -> bool:
    """It takes the average, sum or extreme of one value: that of each thing it groups by."""
    known = schema.predicates_by_iri
    return any(
        pattern.subject in form.group
        and pattern.object == one.variable
        and pattern.predicate in known
        and known[pattern.predicate].functional
        for one in _aggregates(form)
        if one.function != "COUNT"
        for pattern in form.patterns
    )


def _aggregates(form: Form) -> Iterator[Aggregate]:
    values = [column.value for column in form.columns] + [key.value for key in form.order]
    yield from (value for value in values if isinstance(value, Aggregate))
    yield from (having.aggregate for having in form.having)


def _bound_twice(form: Form, _: Schema) -> bool:
    """Two bounds on the same side of one value: one of them was meant for another."""
    sides = [(f.variable, f.operator[0]) for f in form.filters if f.operator[0] in "<>"]
    return len(sides) > len(set(sides))


def denied_apart(form: Form) -> bool:
    """Whether what it denies hangs on something else than what it shows: another may have it."""
    main = {end for one in form.patterns for end in _variables(one)}
    things = {one.subject for one in form.patterns}
    shown = set(_shown(form))
    asked: set[int | str] = {*shown}
    asked.update(one.subject for one in form.patterns if one.object in shown - things)
    return not form.ask and any(
        not {end for one in some for end in _variables(one)} & main & asked
        for some, _ in form.without
    )


def _idle_condition(form: Form, _: Schema) -> bool:
    """A condition says nothing of what is shown: only of a thing that the question names."""
    if form.ask:
        return False
    joined = list(_joined(form))
    reached, before = set(_shown(form)), -1
    while len(reached) > before:
        before = len(reached)
        reached = reached.union(*(some for some in joined if some & reached))
    return any(one.variable not in reached for one in form.filters)


def _joined(form: Form) -> Iterator[set[int]]:
    """The variables that stand together: in a pattern, in given rows, in what is computed."""
    yield from (set(_variables(one)) for one in (*form.patterns, *form.optional))
    yield from (set(one.variables) for one in form.given)
    for made in form.computed:
        yield {made.variable, *(one for one in made.operands if isinstance(one, int))}


def _shown(form: Form) -> Iterator[int]:
    for column in form.columns:
        if column.answer:
            value = column.value
            yield value.variable if isinstance(value, Aggregate) else value


def _variables(pattern: Pattern) -> Iterator[int]:
    yield from (end for end in (pattern.subject, pattern.object) if isinstance(end, int))


FORM_FAULTS: Mapping[str, tuple[Callable[[Form, Schema], bool], str]] = {
    "contradicts": (_contradicts, "nothing can fit all its conditions"),
    "counts_group": (_counts_group, "it counts what it groups by"),
    "single_values": (_single_values, "it sums up single values, one a group"),
    "bound_twice": (_bound_twice, "two bounds lie on the same side of one value"),
    "idle_condition": (_idle_condition, "a condition says nothing of what is shown"),
}
"""The faults of a query by name: whether it has one, and what is wrong in words."""
