"""Extremes that several share: all that tie, all that hang on one, and one in each group.

An order cut after its first row would keep only one of them, so that the extreme is asked for in a
sub-query, and what has it is kept. Where the graph has only one, the order stays.
"""

from collections.abc import Callable, Collection, Iterator, Sequence
from functools import reduce

import numpy as np
from numpy.typing import NDArray
from pyoxigraph import Variable

from askgraph.graph.arrays import Ids, distinct, in_both
from askgraph.search.expand import Doubt, Edge
from askgraph.search.expand.schema import is_mirrored
from askgraph.search.operators.aggregates import BY_SHOWN, spreads
from askgraph.search.operators.query_builder import Place, QueryBuilder
from askgraph.search.query_pieces import (
    DECIMAL,
    aggregate,
    aggregate_of,
    alias_of,
    condition,
    function_of,
    variable_of,
)
from askgraph.search.tokenize import bits
from askgraph.sparql import Call, Element, Expression, Filter, Group, Query, transform

_MOST = 20_000  # of more values it is not looked up if several share the highest


_TIED = 2  # so many groups share the most, at least, if some do


def keep_ties(query: QueryBuilder) -> None:
    """Keep all that have the highest or lowest value, in each group if there are groups."""
    draft = query.draft
    if draft.offset or not draft.order or draft.ask or draft.averages:
        return
    (key, descending), *others = draft.order
    if draft.having or others not in ([], [(key, not descending)]):
        return
    if isinstance(key, Call) and key.is_aggregate:
        if not others:
            _most_counted(query, key, descending=descending)
    elif not any(map(_is_aggregate, draft.columns)):
        ways = (descending, not descending)[: len(draft.order)]  # "the largest and the smallest"
        _highest(query, key, ways)


def _highest(query: QueryBuilder, key: Expression, ways: Sequence[bool]) -> None:
    """Keep all that have the highest or lowest value, or both."""
    draft, value = query.draft, variable_of(key)
    if query.grouped:
        ends = [end for (end, _, _), known in query.draft.attached.items() if known == value]
        owner = next((one for one in query.draft.places if one.end in ends), None)
        told = value in draft.group  # one value in each group
        if "each" in query.notes and owner is not None and not (told or owner.end in draft.group):
            groups = list(dict.fromkeys(draft.group))
            _keep(query, value, key, ways, groups)
            _show(query, owner)
            keys = [one for one in draft.places if one.end in groups]
            query.shown_words |= bits({at for one in keys for at in one.words})
            draft.group, query.grouped = [], False
    elif len(ways) > 1 or _is_shared(query, value, ways[0]):
        _keep(query, value, key, ways, [])


def _keep(
    query: QueryBuilder, value: Variable, key: object, ways: Sequence[bool], groups: list[Variable]
) -> None:
    """Ask for the highest or the lowest value, or both, in sub-queries, and for what has it."""
    draft = query.draft
    whole = _whole(query)
    cast = DECIMAL if isinstance(key, Call) else ""
    kept: list[Expression] = []
    for descending in ways:
        renamed = _renamed(query, groups)
        inner, other = transform(whole, renamed), renamed(value)
        assert isinstance(other, Variable)
        function = "MAX" if descending else "MIN"
        part = aggregate_of(other, inner, function, groups, cast=cast)
        draft.averages.append(part)
        kept.append(condition(value, "=", alias_of(part), cast=cast).condition)
    draft.filters.append(Filter(reduce(lambda one, other: Call("||", (one, other)), kept)))
    draft.order, draft.limit = [], None


def _whole(query: QueryBuilder) -> tuple[Element, ...]:
    """All that a draft asks for."""
    draft = query.draft
    return (
        *dict.fromkeys(draft.patterns),
        *dict.fromkeys(draft.given),
        *draft.either,
        *draft.computed,
        *dict.fromkeys(draft.filters),
        *draft.denied,
    )


def _renamed(query: QueryBuilder, keep: Collection[Variable]) -> Callable[[object], object]:
    """What gives each variable another one, always the same, but for those that are kept."""
    others: dict[Variable, Variable] = {}

    def renamed(node: object) -> object:
        if not isinstance(node, Variable) or node in keep:
            return node
        if node not in others:
            others[node] = query.draft.variable("other " + query.draft.hints[node])
        return others[node]

    return renamed


def _show(query: QueryBuilder, owner: Place) -> None:
    """Show what has the extreme beside its group, if nothing else of it is shown."""
    draft = query.draft
    own = {value for (end, _, _), value in draft.attached.items() if end == owner.end}
    if not any(one in own and one not in draft.group for one in draft.columns):
        draft.columns.append(query.named(owner))


def _is_shared(query: QueryBuilder, value: Variable, descending: bool) -> bool:
    """Whether several rows have the highest or lowest value."""
    found = next((one for one in query.draft.attached.items() if one[1] == value), None)
    if found is None:
        return False
    (end, predicate, inverse), _ = found
    place = query.draft.place_at(end)
    if place is None or inverse:
        return False
    ids = query.ids_at(place)
    if not query.lookups.is_resource(ids) or len(ids) > _MOST:
        return False
    bearers, objects = query.graph.pairs(ids, predicate)
    literal = objects < query.graph.terms.first_iri
    bearers, values = bearers[literal], query.graph.values[objects[literal]]
    if not len(values):
        return False
    top: Ids = bearers[values == (values.max() if descending else values.min())]
    at = place  # of the things that the pattern starts at, those that lead to the extreme
    while at.parent is not None and at.edge is not None:
        above = query.lookups.along(top, at.edge, back=True)
        top, at = in_both(query.ids_at(at.parent), above), at.parent
    return len(dict.fromkeys(top.tolist())) > 1 or _fans(query, place)


def _fans(query: QueryBuilder, place: Place) -> bool:
    """Whether things are shown of which there are several for one that has the extreme."""
    shown = set(map(variable_of, query.draft.columns))
    owners = {end for (end, _, _), value in query.draft.attached.items() if value in shown}
    return any(
        spreads(query, query.root, one)
        for one in query.draft.places
        if one is not place and (one.end in owners or one.end in shown)
    )


def _is_aggregate(value: object) -> bool:
    return isinstance(value, Call) and value.is_aggregate


def _most_counted(query: QueryBuilder, key: Call, *, descending: bool) -> None:
    """Keep all groups that have the most of what is counted, and all that is asked of them.

    Each group's number is compared with the highest of all numbers, both from sub-queries. If only
    one group has it, and one row, the order stays.
    """
    draft = query.draft
    if function_of(key) != "COUNT" or not draft.group or "each" in query.notes:
        return
    if any(_is_aggregate(one) and one != key for one in draft.columns):
        return
    if BY_SHOWN in query.notes and len(draft.group) > 1:
        return
    group, counted = draft.group[0], variable_of(key)
    counts = _counts(query, group, counted)
    if len(counts) and counts.max() == 1:
        query.unknown += Doubt.MISTAKEN  # there is one of it in each group: nothing has the most
        return
    asked = [one for one in draft.columns if isinstance(one, Variable) and one != group]
    of_group = [one for one in asked if _is_told(query, group, one)]
    place, value = _at(query, group)
    meant = _is_behind(query, group) if value is not None else bool(place and place.words)
    fans = meant and len(of_group) < len(asked)
    first = counts.max() if descending and len(counts) else counts.min(initial=1)
    if not fans and int((counts == first).sum()) < _TIED:
        return
    if fans and value is not None:
        draft.columns = [one for one in draft.columns if one != group]
        draft.context = [one for one in draft.context if one != group]
    whole = _whole(query)
    mine = _numbers(query, whole, (group, counted), keep=(group,))
    theirs = _numbers(query, whole, (group, counted))
    number, other = alias_of(mine), alias_of(theirs)
    most = Variable(("highest_" if descending else "lowest_") + other.value)
    highest = Call("MAX" if descending else "MIN", (other,))
    draft.averages += [mine, Query("SELECT", Group((theirs,)), columns=((most, highest),))]
    draft.filters.append(condition(number, "=", most))
    draft.columns = [number if one == key else one for one in draft.columns]
    draft.order, draft.limit, draft.group, query.grouped = [], None, [], False


def _numbers(
    query: QueryBuilder,
    whole: tuple[Element, ...],
    over: tuple[Variable, Variable],
    *,
    keep: tuple[Variable, ...] = (),
) -> Query:
    """The sub-query of how many different ones there are in each group."""
    renamed = _renamed(query, keep)
    group, counted = renamed(over[0]), renamed(over[1])
    assert isinstance(group, Variable) and isinstance(counted, Variable)
    call = aggregate("COUNT", counted, distinct=True)
    columns = ((alias_of(call), call), *((one, None) for one in keep))
    inner = Group(transform(whole, renamed))
    return Query("SELECT", inner, columns=columns, group_by=((group, None),))


def _is_behind(query: QueryBuilder, group: Variable) -> bool:
    """Whether a value is named after "the most": what was asked for before it is another thing."""
    places = [token for token, shown in query.projected if shown == group]
    return any(one.last <= at for one in query.frame.of("most", "fewest") for at in places)


_Place = tuple[Place | None, tuple[int, bool] | None]
"""A place of the pattern, and the predicate of it that leads to a value."""


def _at(query: QueryBuilder, variable: Variable) -> _Place:
    """Where a variable stands: at a place, or at the end of a predicate of one."""
    if (place := query.draft.place_at(variable)) is not None:
        return place, None
    for (end, predicate, inverse), value in query.draft.attached.items():
        if value == variable:
            return query.draft.place_at(end), (predicate, inverse)
    return None, None


def _is_told(query: QueryBuilder, group: Variable, value: Variable) -> bool:
    """Whether each group has only one of a value."""
    (place, of_place), (owner, step) = _at(query, group), _at(query, value)
    if place is None or owner is None or of_place is not None:
        return False
    single = step is None or query.schema.is_functional(step[0], inverse=step[1])
    return single and (owner is place or not spreads(query, place, owner))


def _counts(query: QueryBuilder, group: Variable, counted: Variable) -> NDArray[np.int64]:
    """How many of what is counted each group has; none if that is hard to tell."""
    # What goes together at two ends of the pattern; None if it is too much, or not plain.
    start = _at(query, counted)
    end = _at(query, group)
    (place, value), (target, key) = start, end
    if place is None or target is None:
        pairs = None
    else:
        ids = query.ids_at(place)
        found: tuple[Ids, Ids] | None = (ids, ids)
        if value is not None:
            found = query.graph.pairs(ids, value[0], inverse=value[1])[::-1]
        for edge, to, back in _route(place, target):
            found = None if found is None else _stepped(query, found, edge, to, back=back)
        if found is None or key is None:
            pairs = found
        else:
            pairs = _joined(found, query.graph.pairs(distinct(found[1]), key[0], inverse=key[1]))
    if pairs is None:
        return np.zeros(0, dtype=np.int64)
    keys = pairs[0].astype(np.int64) << 32 | pairs[1]
    keys.sort(kind="stable")  # most come in order
    first = np.diff(keys, prepend=-1) != 0
    counts = np.bincount(keys[first] & 0xFFFFFFFF)
    return counts[counts > 0]


def _route(start: Place, end: Place) -> Iterator[tuple[Edge, Place, bool]]:
    """The steps from one place to another, each with where it leads, and whether it leads up."""
    above = [end]
    while above[-1].parent is not None:
        above.append(above[-1].parent)
    while start not in above and start.parent is not None and start.edge is not None:
        yield start.edge, start.parent, True
        start = start.parent
    for one in reversed(above[: above.index(start)]):
        if one.edge is not None:
            yield one.edge, one, False


def _stepped(
    query: QueryBuilder, pairs: tuple[Ids, Ids], edge: Edge, to: Place, *, back: bool
) -> tuple[Ids, Ids] | None:
    """Pairs whose second ends go a step on, to what stands at a place."""
    if edge.plus or is_mirrored(query.schema, edge.predicate) or len(pairs[1]) > _MOST:
        return None
    inverse = edge.inverse != back
    steps = query.graph.pairs(distinct(pairs[1]), edge.predicate, inverse=inverse)
    kept = np.isin(steps[1], query.ids_at(to))
    return _joined(pairs, (steps[0][kept], steps[1][kept]))


def _joined(one: tuple[Ids, Ids], other: tuple[Ids, Ids]) -> tuple[Ids, Ids]:
    """Pairs of the first ends of some and the second ends of others that meet between."""
    order = np.argsort(other[0], kind="stable")
    starts, ends = other[0][order], other[1][order]
    low = np.searchsorted(starts, one[1], "left")
    counts = np.searchsorted(starts, one[1], "right") - low
    shift = np.concatenate([[0], np.cumsum(counts)[:-1]]) if len(counts) else counts
    places = np.repeat(low - shift, counts) + np.arange(int(counts.sum()))
    return np.repeat(one[0], counts), ends[places]
