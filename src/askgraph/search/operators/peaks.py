"""Extremes that several share: all that tie, all that hang on one, and one in each group.

An order cut after its first row would keep only one of them, so that the extreme is asked for in a
sub-query, and what has it is kept. Where the graph has only one, the order stays.
"""

from collections.abc import Sequence
from functools import reduce

from pyoxigraph import Variable

from askgraph.search.operators.draft import Place
from askgraph.search.operators.group_values import spreads
from askgraph.search.operators.query_builder import QueryBuilder
from askgraph.search.query import DECIMAL, aggregate_of, alias_of, condition, variable_of
from askgraph.sparql.tree import Call, Element, Expression, Filter, Query, transform
from askgraph.traversal.arrays import Ids, in_both

_MOST = 20_000
"""Of more values it is not looked up if several share the highest."""


def peaked(work: QueryBuilder) -> None:
    """Keep all that have the highest or lowest value, in each group if there are groups."""
    draft = work.draft
    if draft.limit != 1 or draft.offset or not draft.order or draft.ask or draft.averages:
        return
    (key, descending), *others = draft.order
    if others not in ([], [(key, not descending)]):
        return
    ways = (descending, not descending)[: len(draft.order)]  # "the largest and the smallest"
    if _is_aggregate(key) or any(map(_is_aggregate, draft.columns)) or draft.having:
        return
    value = variable_of(key)
    if work.grouped:
        owner = _owner(work, value)
        told = value in draft.group  # one value in each group
        if "each" in work.notes and owner is not None and not (told or owner.end in draft.group):
            groups = list(dict.fromkeys(draft.group))
            _keep(work, value, key, ways, groups)
            _show(work, owner)
            draft.group, work.grouped = [], False
    elif others or _is_shared(work, value, descending):
        _keep(work, value, key, ways, [])


def _keep(
    work: QueryBuilder,
    value: Variable,
    key: object,
    ways: Sequence[bool],
    groups: list[Variable],
) -> None:
    """Ask for the highest or the lowest value, or both, in sub-queries, and for what has it."""
    draft = work.draft
    whole = _whole(work)
    cast = DECIMAL if isinstance(key, Call) else ""
    kept: list[Expression] = []
    for descending in ways:
        part = _extreme_of(work, whole, value, descending=descending, groups=groups, cast=cast)
        draft.averages.append(part)
        kept.append(condition(value, "=", alias_of(part), cast=cast).condition)
    draft.filters.append(Filter(reduce(lambda one, other: Call("||", (one, other)), kept)))
    draft.order, draft.limit = [], None


def _whole(work: QueryBuilder) -> tuple[Element, ...]:
    """All that a draft asks for."""
    draft = work.draft
    return (
        *dict.fromkeys(draft.patterns),
        *dict.fromkeys(draft.given),
        *draft.computed,
        *dict.fromkeys(draft.filters),
        *draft.denied,
    )


def _extreme_of(
    work: QueryBuilder,
    whole: tuple[Element, ...],
    value: Variable,
    *,
    descending: bool,
    groups: list[Variable],
    cast: str,
) -> Query:
    """The sub-query of the highest or lowest value of the whole, or of each group."""
    others: dict[Variable, Variable] = {}

    def renamed(node: object) -> object:
        if not isinstance(node, Variable) or node in groups:
            return node
        if node not in others:
            others[node] = work.draft.variable("other " + work.draft.hints[node])
        return others[node]

    inner = transform(whole, renamed)
    function = "MAX" if descending else "MIN"
    return aggregate_of(others[value], inner, function, groups, cast=cast)


def _owner(work: QueryBuilder, value: Variable) -> Place | None:
    """The place whose value something is."""
    ends = [end for (end, _, _), known in work.draft.attached.items() if known == value]
    return next((one for one in work.draft.places if one.end in ends), None)


def _show(work: QueryBuilder, owner: Place) -> None:
    """Show what has the extreme beside its group, if nothing else of it is shown."""
    draft = work.draft
    own = {value for (end, _, _), value in draft.attached.items() if end == owner.end}
    if not any(one in own and one not in draft.group for one in draft.columns):
        draft.columns.append(work.named(owner))


def _is_shared(work: QueryBuilder, value: Variable, descending: bool) -> bool:
    """Whether several rows have the highest or lowest value."""
    found = next((one for one in work.draft.attached.items() if one[1] == value), None)
    if found is None:
        return False
    (end, predicate, inverse), _ = found
    place = next((one for one in work.draft.places if one.end == end), None)
    if place is None or inverse:
        return False
    ids = work.ids_at(place)
    if not work.lookups.is_resource(ids) or len(ids) > _MOST:
        return False
    bearers, objects = work.graph.pairs(ids, predicate)
    literal = objects < work.graph.terms.first_iri
    bearers, values = bearers[literal], work.graph.values[objects[literal]]
    if not len(values):
        return False
    top: Ids = bearers[values == (values.max() if descending else values.min())]
    return _rows_of(work, place, top) > 1 or _fans(work, place)


def _rows_of(work: QueryBuilder, place: Place, top: Ids) -> int:
    """How many of the things that the pattern starts at lead to some at a place."""
    while place.parent is not None and place.edge is not None:
        above = work.lookups.along(top, place.edge, back=True)
        top, place = in_both(work.ids_at(place.parent), above), place.parent
    return len(dict.fromkeys(top.tolist()))


def _fans(work: QueryBuilder, place: Place) -> bool:
    """Whether things are shown of which there are several for one that has the extreme."""
    shown = set(map(variable_of, work.draft.columns))
    owners = {end for (end, _, _), value in work.draft.attached.items() if value in shown}
    return any(
        spreads(work, work.root, one)
        for one in work.draft.places
        if one is not place and (one.end in owners or one.end in shown)
    )


def _is_aggregate(value: object) -> bool:
    return isinstance(value, Call) and value.is_aggregate
