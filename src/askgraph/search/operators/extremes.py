"""The most and the least: superlatives of numbers, dates and counts.

Of extremes that several share all are shown: all that tie, all that hang on one, and one in each
group. An order cut after its first row would keep only one of them, so that the extreme is asked
for in a sub-query, and what has it is kept. If the graph has only one, the order stays.
"""

from collections.abc import Sequence
from functools import partial

from pyoxigraph import Variable

from askgraph.search.grow.weights import ACROSS, APART, BESIDE, NEAR
from askgraph.search.linking.operators import Operator
from askgraph.search.linking.word_lists import Measure
from askgraph.search.operators.aggregates import aggregated, alone, is_column
from askgraph.search.operators.draft import Place
from askgraph.search.operators.group_values import (
    bounded_group,
    cast_of,
    extreme_group,
    group_counted,
    limited,
    spreads,
)
from askgraph.search.operators.lookups import DATED, NUMERIC, Slot
from askgraph.search.operators.measures import age, duration
from askgraph.search.operators.query_builder import Handlers, QueryBuilder, Spot
from askgraph.search.query import DECIMAL, aggregate, aggregate_of, alias_of, condition, variable_of
from askgraph.sparql.tree import Call, Element, Expression, transform
from askgraph.traversal.arrays import Ids, in_both

_NEAR = 8
"""So many words apart "descending" still says how something is sorted."""
_MOST = 20_000
"""Of more values it is not looked up if several share the highest."""


def limiting(work: QueryBuilder, operator: Operator, *, up: bool) -> bool:
    """ "The maximum X", "the minimum X": the highest or lowest value, or what has it."""
    column = is_column(work, operator)
    if not column and extreme_group(work, operator, descending=up):
        return True
    if bounded_group(work, operator):
        return True
    if asks_several(work, operator):
        return extreme(work, operator, descending=up)
    if (column or alone(work, operator)) and aggregated(work, operator, "MAX" if up else "MIN"):
        return True
    return not alone(work, operator) and extreme(work, operator, descending=up)


def superlative(work: QueryBuilder, operator: Operator) -> bool:
    """ "The tallest X": what has the most of a measure, or how much that is."""
    measure = operator.measure
    if measure is None:
        return False
    column = is_column(work, operator)
    if not column and extreme_group(work, operator, descending=measure.up):
        return True
    only = column or (alone(work, operator) and work.frame.asks is None)
    slot = work.next_slot(operator.last, ACROSS if column else 2)
    several = asks_several(work, operator)
    if only and not several and work.spot(slot, sorts=NUMERIC) is not None:
        return aggregated(work, operator, "MAX" if measure.up else "MIN")
    return extreme(work, operator, descending=measure.up, measure=measure)


def extreme(
    work: QueryBuilder, operator: Operator, *, descending: bool, measure: Measure | None = None
) -> bool:
    """ "The most X", "the fewest X": by a number, or by how many there are."""
    column = measure is None and is_column(work, operator)
    if column and aggregated(work, operator, "MAX" if descending else "MIN"):
        return True
    shows, named = alone(work, operator), work.next_slot(operator.last, APART)
    measured = _measured_by(work, operator, measure)
    if measured is None:
        return measure is None and _most_of(work, operator, descending)
    variable, dated = measured
    if dated and measure is not None:
        descending = not descending
    key = _key(work, variable)
    work.draft.order.append((key, descending))
    limited(work, operator)
    taken = named is not None and not work.is_left(named)  # "the 3 highest scores", not "moons"
    if shows and taken and asks_several(work, operator):
        work.projected.append((operator.last, variable))
    return True


def _key(work: QueryBuilder, variable: Variable) -> Expression:
    """What rows are ordered by: numbers that are stored as text are cast."""
    cast = cast_of(work, variable)
    return Call(cast, (variable,)) if cast else variable


def asks_several(work: QueryBuilder, operator: Operator) -> bool:
    """ "The top 3 highest": more than one is asked for."""
    before = work.frame.quantity_before(operator)
    return before is not None and before.value is not None and before.value > 1


def _measured_by(
    work: QueryBuilder, operator: Operator, measure: Measure | None
) -> tuple[Variable, bool] | None:
    """The number or date that an adjective of measure is about."""
    every = NUMERIC + DATED
    slot = work.next_slot(operator.last, APART)
    if slot is None and measure is not None and measure.dates:
        slot = work.last_slot(operator.first, 2)
    spot = work.spot(slot, sorts=every)
    if spot is not None and _is_measured(work, spot, measure):
        dated = measure is not None and _says(work, spot, measure.dates)
        return work.take_spot(spot), dated or work.schema.sort(spot.predicate) not in NUMERIC
    if measure is not None:
        for words, sorts in ((measure.measures, NUMERIC), (measure.dates, every)):
            found = work.by_words(words, sorts, several=True)
            if found is not None:
                return work.hang(found), words is measure.dates
    return None


def _is_measured(work: QueryBuilder, spot: Spot, measure: Measure | None) -> bool:
    """Whether an adjective of age or time can be about a predicate: "oldest" is not of a price."""
    if measure is None or not measure.dates or work.schema.sort(spot.predicate) in DATED:
        return True
    return _says(work, spot, (*measure.measures, *measure.dates))


def _says(work: QueryBuilder, spot: Spot, words: Sequence[str]) -> bool:
    """Whether a predicate's name holds one of some words."""
    own = work.schema.words(spot.predicate)
    return any(word in own for word in words)


def measure(work: QueryBuilder, operator: Operator) -> bool:
    """ "How old": the age is what is asked for."""
    measure = operator.measure
    if measure is None:
        return False
    found = work.by_words(measure.measures, NUMERIC)
    if found is None and measure.is_age:
        years = age(work, operator)
        if years is not None:
            work.projected.append((operator.first, years))
            return True
    if found is None and "duration" in measure.measures and duration(work, operator):
        return True
    found = found or work.by_words(measure.dates, DATED + NUMERIC)
    if found is None:
        return False
    work.projected.append((operator.first, work.hang(found)))
    return True


def _most_of(work: QueryBuilder, operator: Operator, descending: bool) -> bool:
    """ "The most X": the member with the most things that X names."""
    place = work.next_place(operator.last, NEAR)
    counted: Variable | None = None
    if place is not None and place is not work.root and isinstance(place.end, Variable):
        counted = place.end
    else:
        spot = work.spot(work.next_slot(operator.last, NEAR))
        if spot is not None:
            counted = work.take_spot(spot)
            if work.schema.is_functional(spot.predicate) and not spot.inverse:
                shown = work.shown(counted, spot)  # "the most common X": what most members share
                return _by_members(work, operator, shown, operator.last, descending)
    if counted is None:
        return _most_frequent(work, operator, descending)
    work.draft.order.append((aggregate("COUNT", counted, distinct=True), descending))
    group_counted(work, counted, operator)
    limited(work, operator)
    return True


def _most_frequent(work: QueryBuilder, operator: Operator, descending: bool) -> bool:
    """A slot before the operator is the key, the members are counted."""
    slot = work.last_slot(operator.first, ACROSS)
    following = work.next_place(operator.last, NEAR)
    often = operator.last > operator.first
    if following is not work.root and not (following is None and often):
        return False
    spot = work.spot(slot)
    if slot is None or spot is None:
        return False
    shown = work.shown(work.take_spot(spot), spot)
    return _by_members(work, operator, shown, slot.first, descending)


def _by_members(
    work: QueryBuilder, operator: Operator, shown: Variable, token: int, descending: bool
) -> bool:
    """Group by a shown variable that stands for a word, and order by how many members share it."""
    work.group_by_value(shown, token)
    if not isinstance(work.root.end, Variable):
        return False
    counted = aggregate("COUNT", work.root.end, distinct=True)
    work.draft.order.append((counted, descending))
    limited(work, operator)
    return True


def top(work: QueryBuilder, operator: Operator) -> bool:
    """ "The first 10": so many rows."""
    quantity = work.frame.quantity_after(operator, 1)
    if quantity is None or quantity.value is None:
        return False
    work.draft.limit = int(quantity.value)
    work.take_quantity(quantity)
    slot = work.next_slot(quantity.last, 2)
    spot = None if slot is None or _extreme_follows(work, operator) else work.spot(slot)
    if slot is not None and spot is not None and work.schema.sort(spot.predicate) in NUMERIC:
        variable = work.take_spot(spot)  # "the top 3 scores"
        work.draft.order.append((_key(work, variable), True))
        if alone(work, operator):
            work.projected.append((slot.first, variable))
    return True


def _extreme_follows(work: QueryBuilder, operator: Operator) -> bool:
    others = work.frame.of("superlative", "most", "fewest", "maximum", "minimum")
    return any(0 < one.first - operator.last <= BESIDE for one in others)


def order(work: QueryBuilder, operator: Operator) -> bool:
    """ "Sorted by X": by what X names, else by what is shown."""
    near = work.frame.of("descending")
    descending = any(abs(one.first - operator.last) <= _NEAR for one in near)
    slot = work.next_slot(operator.last, APART)
    if slot is not None:
        return _ordered(work, slot, descending)
    work.notes.append("order_shown_desc" if descending else "order_shown")
    return True


def _ordered(work: QueryBuilder, slot: Slot | None, descending: bool) -> bool:
    spot = work.spot(slot)
    if spot is None:
        return False
    work.draft.order.append((_key(work, work.shown(work.take_spot(spot), spot)), descending))
    return True


def directed(work: QueryBuilder, operator: Operator, *, descending: bool) -> bool:
    """ "In ascending order", "in descending order"."""
    if not work.draft.order and not _ordered(
        work, work.next_slot(operator.last, BESIDE), descending
    ):
        work.notes.append("order_shown_desc" if descending else "order_shown")
    return True


def peaked(work: QueryBuilder) -> None:
    """Keep all that have the highest or lowest value, in each group if there are groups."""
    draft = work.draft
    if draft.limit != 1 or draft.offset or len(draft.order) != 1 or draft.ask or draft.averages:
        return
    key, descending = draft.order[0]
    if _is_aggregate(key) or any(map(_is_aggregate, draft.columns)) or draft.having:
        return
    value = variable_of(key)
    if work.grouped:
        owner = _owner(work, value)
        told = value in draft.group  # one value in each group
        if "each" in work.notes and owner is not None and not (told or owner.end in draft.group):
            groups = list(dict.fromkeys(draft.group))
            _keep(work, value, key, descending, groups)
            _show(work, owner)
            draft.group, work.grouped = [], False
    elif _is_shared(work, value, descending):
        _keep(work, value, key, descending, [])


def _keep(
    work: QueryBuilder, value: Variable, key: object, descending: bool, groups: list[Variable]
) -> None:
    """Ask for the extreme of the pattern in a sub-query, and for what has it."""
    draft = work.draft
    whole: tuple[Element, ...] = (
        *dict.fromkeys(draft.patterns),
        *dict.fromkeys(draft.given),
        *draft.computed,
        *dict.fromkeys(draft.filters),
        *draft.denied,
    )
    others: dict[Variable, Variable] = {}

    def renamed(node: object) -> object:
        if not isinstance(node, Variable) or node in groups:
            return node
        if node not in others:
            others[node] = draft.variable("other " + draft.hints[node])
        return others[node]

    inner = transform(whole, renamed)
    cast = DECIMAL if isinstance(key, Call) else ""
    part = aggregate_of(others[value], inner, "MAX" if descending else "MIN", groups, cast=cast)
    draft.averages.append(part)
    draft.filters.append(condition(value, "=", alias_of(part), cast=cast))
    draft.order, draft.limit = [], None


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


HANDLERS: Handlers = {
    "minimum": partial(limiting, up=False),
    "maximum": partial(limiting, up=True),
    "superlative": superlative,
    "most": partial(extreme, descending=True),
    "fewest": partial(extreme, descending=False),
    "measure": measure,
    "top": top,
    "order": order,
    "ascending": partial(directed, descending=False),
    "descending": partial(directed, descending=True),
}
