"""The most and the least: superlatives of numbers, dates and counts."""

from pyoxigraph import Variable

from askgraph.search.linking.operators import Operator
from askgraph.search.linking.word_lists import Measure
from askgraph.search.operators.ages import age, duration, is_age, is_duration
from askgraph.search.operators.aggregates import aggregated, alone
from askgraph.search.operators.attachment import DATED, NUMERIC, Places
from askgraph.search.operators.query_builder import QueryBuilder, Slot, Spot
from askgraph.search.query import DECIMAL, aggregate
from askgraph.sparql.tree import Call
from askgraph.traversal.literals import Sort


def minimum(places: Places, work: QueryBuilder, operator: Operator) -> bool:
    """ "The minimum X": the lowest value, or what has it."""
    return (
        aggregated(places, work, operator, "MIN")
        if alone(places, work, operator)
        else (_extreme(places, work, operator, descending=False))
    )


def maximum(places: Places, work: QueryBuilder, operator: Operator) -> bool:
    """ "The maximum X": the highest value, or what has it."""
    return (
        aggregated(places, work, operator, "MAX")
        if alone(places, work, operator)
        else (_extreme(places, work, operator, descending=True))
    )


def superlative(places: Places, work: QueryBuilder, operator: Operator) -> bool:
    """ "The tallest X": what has the most of a measure, or how much that is."""
    measure = operator.measure
    if measure is None:
        return False
    slot = places.next_slot(work, operator.last, 2)
    alone_asked = alone(places, work, operator) and places.frame.asks is None
    if alone_asked and slot is not None and places.spot(work, slot, sorts=NUMERIC) is not None:
        return aggregated(places, work, operator, "MAX" if measure.up else "MIN")
    return _extreme(places, work, operator, descending=measure.up, measure=measure)


def _extreme(
    places: Places,
    work: QueryBuilder,
    operator: Operator,
    *,
    descending: bool,
    measure: Measure | None = None,
) -> bool:
    measured = _measured_by(places, work, operator, measure)
    if measured is None:
        if measure is None:
            return _most_of(places, work, operator, descending=descending)
        return False
    variable, dated = measured
    if dated and measure is not None:
        descending = not descending
    text = any(
        places.sort(predicate) is Sort.TEXT_NUMBER
        for (_, predicate, inverse), value in work.draft.attached.items()
        if value == variable and not inverse
    )
    key = Call(DECIMAL, (variable,)) if text else variable
    work.draft.order.append((key, descending))
    _limit(places, work, operator)
    return True


def _measured_by(
    places: Places, work: QueryBuilder, operator: Operator, measure: Measure | None
) -> tuple[Variable, bool] | None:
    """The number or date that an adjective of measure is about."""
    every = NUMERIC + DATED
    slot = places.next_slot(work, operator.last, 5)
    if slot is None and measure is not None and measure.dates:
        slot = places.last_slot(work, operator.first, 2)
    if slot is not None:
        spot = places.spot(work, slot, sorts=every)
        if spot is not None and _is_measured(places, spot, measure):
            variable = places.hang(work, spot)
            places.use(work, slot, spot.link)
            return variable, places.sort(spot.predicate) not in NUMERIC
    if measure is not None:
        for words, sorts in ((measure.measures, NUMERIC), (measure.dates, every)):
            found = places.by_words(work, words, sorts)
            if found is not None:
                dated = words is measure.dates
                return places.hang(work, found), dated
    return None


def _is_measured(places: Places, spot: Spot, measure: Measure | None) -> bool:
    """Whether an adjective of age or time can be about a predicate: "oldest" is not of a price."""
    if measure is None or not measure.dates or places.sort(spot.predicate) in DATED:
        return True
    own = places.schema.words(spot.predicate)
    return any(word in own for word in (*measure.measures, *measure.dates))


def measure(places: Places, work: QueryBuilder, operator: Operator) -> bool:
    """ "How old": the age is what is asked for."""
    measure = operator.measure
    if measure is None:
        return False
    found = places.by_words(work, measure.measures, NUMERIC)
    if found is None and is_age(measure):
        years = age(places, work, operator)
        if years is not None:
            work.projected.append((operator.first, years))
            return True
    if found is None and is_duration(measure) and duration(places, work, operator):
        return True
    found = found or places.by_words(work, measure.dates, DATED + NUMERIC)
    if found is None:
        return False
    work.projected.append((operator.first, places.hang(work, found)))
    return True


def _limit(places: Places, work: QueryBuilder, operator: Operator) -> None:
    count, offset = 1, 0
    before = [places.reading.tokens[at].folded for at in (operator.first - 1,) if at >= 0]
    after = [
        places.reading.tokens[at].folded
        for at in (operator.last + 1,)
        if at < len(places.reading.tokens)
    ]
    for word in before + after:
        if word in places.reading.words.ordinals and word in before:
            offset = places.reading.words.ordinals[word] - 1
            work.take(1 << (operator.first - 1), places.weights[operator.first - 1])
    for quantity in places.reading.quantities:
        if quantity.value is None or not float(quantity.value).is_integer():
            continue
        if (
            abs(quantity.first - operator.last) == 1
            or operator.first - quantity.last == 1
            or quantity.last + 1 in work.root.words
        ):
            count = max(1, int(quantity.value))
            places.take_quantity(work, quantity)
    work.draft.limit, work.draft.offset = count, offset


def most(places: Places, work: QueryBuilder, operator: Operator) -> bool:
    """ "The most X": by a number, or by how many there are."""
    return _extreme(places, work, operator, descending=True)


def fewest(places: Places, work: QueryBuilder, operator: Operator) -> bool:
    """ "The fewest X": by a number, or by how many there are."""
    return _extreme(places, work, operator, descending=False)


def _most_of(places: Places, work: QueryBuilder, operator: Operator, *, descending: bool) -> bool:
    """ "The most X": the member with the most things that X names."""
    place = places.next_place(work, operator.last, 4)
    counted: Variable | None = None
    if place is not None and place is not work.root and isinstance(place.end, Variable):
        counted = place.end
    else:
        slot = places.next_slot(work, operator.last, 4)
        spot = places.spot(work, slot) if slot is not None else None
        if slot is not None and spot is not None:
            variable = places.hang(work, spot)
            places.use(work, slot, spot.link)
            if places.schema.is_functional(spot.predicate) and not spot.inverse:
                return _most_common(places, work, operator, variable, spot, descending)
            counted = variable
    if counted is None:
        return _most_frequent(places, work, operator, descending)
    work.draft.order.append((aggregate("COUNT", counted, distinct=True), descending))
    places.group_by(work, work.root)
    work.grouped = True
    _limit(places, work, operator)
    return True


def _most_common(
    places: Places,
    work: QueryBuilder,
    operator: Operator,
    variable: Variable,
    spot: Spot,
    descending: bool,
) -> bool:
    """ "The most common X": the value that most members share."""
    shown = places.shown(work, variable, spot)
    return _by_members(places, work, operator, shown, operator.last, descending)


def _most_frequent(
    places: Places, work: QueryBuilder, operator: Operator, descending: bool
) -> bool:
    """A slot before the operator is the key, the members are counted."""
    slot = places.last_slot(work, operator.first, 6)
    place = places.next_place(work, operator.last, 4)
    if slot is None or place is not work.root:
        return False
    spot = places.spot(work, slot)
    if spot is None:
        return False
    variable = places.hang(work, spot)
    places.use(work, slot, spot.link)
    shown = places.shown(work, variable, spot)
    return _by_members(places, work, operator, shown, slot.first, descending)


def _by_members(
    places: Places,
    work: QueryBuilder,
    operator: Operator,
    shown: Variable,
    token: int,
    descending: bool,
) -> bool:
    """Group by a shown variable that stands for a word, and order by how many members share it."""
    work.draft.group.append(shown)
    work.grouped = True
    work.projected.append((token, shown))
    if not isinstance(work.root.end, Variable):
        return False
    counted = aggregate("COUNT", work.root.end, distinct=True)
    work.draft.order.append((counted, descending))
    _limit(places, work, operator)
    return True


def top(places: Places, work: QueryBuilder, operator: Operator) -> bool:
    """ "The first 10": so many rows."""
    quantity = places.frame.quantity_after(operator, 1)
    if quantity is None or quantity.value is None:
        return False
    work.draft.limit = int(quantity.value)
    places.take_quantity(work, quantity)
    return True


def order(places: Places, work: QueryBuilder, operator: Operator) -> bool:
    """ "Sorted by X": by what X names, else by what is shown."""
    slot = places.next_slot(work, operator.last, 5)
    if slot is None:
        return _ordered_by_shown(places, work, operator)
    return _ordered(places, work, slot, _descends(places, operator))


def _ordered_by_shown(places: Places, work: QueryBuilder, operator: Operator) -> bool:
    work.notes.append("order_shown_desc" if _descends(places, operator) else "order_shown")
    return True


def _descends(places: Places, operator: Operator) -> bool:
    after = [op for op in places.frame.of("descending") if abs(op.first - operator.last) <= 8]
    return bool(after)


def _ordered(places: Places, work: QueryBuilder, slot: Slot, descending: bool) -> bool:
    spot = places.spot(work, slot)
    if spot is None:
        return False
    variable = places.hang(work, spot)
    places.use(work, slot, spot.link)
    work.draft.order.append((places.shown(work, variable, spot), descending))
    return True


def ascending(places: Places, work: QueryBuilder, operator: Operator) -> bool:
    """ "In ascending order"."""
    return _directed(places, work, operator, descending=False)


def descending(places: Places, work: QueryBuilder, operator: Operator) -> bool:
    """ "In descending order"."""
    return _directed(places, work, operator, descending=True)


def _directed(places: Places, work: QueryBuilder, operator: Operator, *, descending: bool) -> bool:
    if work.draft.order:
        return True
    slot = places.next_slot(work, operator.last, 3)
    if slot is not None and _ordered(places, work, slot, descending):
        return True
    work.notes.append("order_shown_desc" if descending else "order_shown")
    return True
