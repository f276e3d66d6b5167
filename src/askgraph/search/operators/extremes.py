"""The most and the least: superlatives of numbers, dates and counts."""

from pyoxigraph import Variable

from askgraph.graph.literals import Sort
from askgraph.search.expand import ACROSS, APART, BESIDE, NEAR, Doubt
from askgraph.search.operators.aggregates import (
    aggregated,
    alone,
    bounded_group,
    cast_of,
    enumerated,
    extreme_group,
    group_counted,
    has_several,
    is_column,
    limited,
    share_of_all,
)
from askgraph.search.operators.query_builder import (
    DATED,
    NUMERIC,
    Place,
    QueryBuilder,
    Slot,
    Spot,
    unnamed_spot,
)
from askgraph.search.operators.times import age, duration, is_dated, passed, says, spanned
from askgraph.search.query_pieces import aggregate
from askgraph.search.tokenize import Quantity
from askgraph.search.tokenize.question_operators import Operator
from askgraph.search.tokenize.word_lists import Measure
from askgraph.sparql import Call, Expression

_NEAR = 8  # so many words apart "descending" still says how something is sorted


def limiting(query: QueryBuilder, operator: Operator, *, up: bool) -> bool:
    """ "The maximum X", "the minimum X": the highest or lowest value, or what has it."""
    column = is_column(query, operator)
    if not column and extreme_group(query, operator, descending=up):
        return True
    if bounded_group(query, operator):
        return True
    if asks_several(query, operator):
        return extreme(query, operator, descending=up)
    if (column or alone(query, operator)) and aggregated(query, operator, "MAX" if up else "MIN"):
        return True
    return not alone(query, operator) and extreme(query, operator, descending=up)


def superlative(query: QueryBuilder, operator: Operator) -> bool:
    """ "The tallest X": what has the most of a measure, or how much that is."""
    measure = operator.measure
    if measure is None:
        return False
    column = is_column(query, operator)
    if not column and extreme_group(query, operator, descending=measure.up):
        return True
    only = column or (alone(query, operator) and query.frame.asks is None)
    slot = query.next_slot(operator.last, ACROSS if column else 2)
    several = asks_several(query, operator)
    if only and not several and query.spot(slot, sorts=NUMERIC) is not None:
        return aggregated(query, operator, "MAX" if measure.up else "MIN")
    return extreme(query, operator, descending=measure.up, measure=measure)


def extreme(
    query: QueryBuilder, operator: Operator, *, descending: bool, measure: Measure | None = None
) -> bool:
    """ "The most X", "the fewest X": by a number, or by how many there are."""
    if _turned(query, operator):
        return True
    frequent = measure is None and _is_frequent(query, operator)
    column = measure is None and is_column(query, operator)
    column = column or (not (frequent or measure is not None) and _asks_value(query, operator))
    if column and aggregated(query, operator, "MAX" if descending else "MIN"):
        return True
    shows, named = alone(query, operator), query.next_slot(operator.last, APART)
    measured = None if frequent else _measured_by(query, operator, measure)
    if measured is None:
        return measure is None and _most_of(query, operator, descending)
    variable, dated = measured
    if dated and measure is not None:
        descending = not descending
    key = _key(query, variable)
    query.draft.order.append((key, descending))
    limited(query, operator)
    taken = named is not None and not query.is_left(named)  # "the 3 highest scores", not "moons"
    if shows and taken and asks_several(query, operator):
        query.projected.append((operator.last, variable))
    return True


def _turned(query: QueryBuilder, operator: Operator) -> bool:
    """ "The largest and the smallest X": order the other way, too, by what was ordered by."""
    among, order = enumerated(query, operator), query.draft.order
    if len(among) != 2 or among[1].first != operator.first or len(order) != 1:
        return False
    measured = [{*one.measure.measures} if one.measure else set() for one in among]
    up = {one.measure.up if one.measure else one.name in ("maximum", "most") for one in among}
    if measured[0] != measured[1] or len(up) < 2 or among[0].name not in query.notes:
        return False
    key, descending = order[0]
    if isinstance(key, Call) and key.is_aggregate:
        return False
    order.append((key, not descending))
    return True


def _says_frequent(query: QueryBuilder, operator: Operator) -> bool:
    """Whether an operator says how often something comes: "most common", "least frequent"."""
    frequent = query.reading.words.clauses["frequent"]
    return any(query.reading.tokens[at].folded in frequent for at in operator.positions)


def _is_frequent(query: QueryBuilder, operator: Operator) -> bool:
    """ "The most common X", "most of the Xs were …": what there is most of."""
    if _says_frequent(query, operator):
        return True
    if operator.name not in ("most", "fewest") or operator.first < operator.last:
        return False
    place, slot = query.next_place(operator.last, BESIDE), query.next_slot(operator.last, APART)
    tokens = query.reading.tokens
    return (
        place is not None
        and slot is not None
        and any(
            at == operator.last + 1 or tokens[at].stem != tokens[at].folded
            for at in place.words
            if operator.last < at < slot.first
        )
    )


def _asks_value(query: QueryBuilder, operator: Operator) -> bool:
    """ "The maximum number of points": how many they are, not what has them."""
    if query.next_slot(operator.last, APART) is None or query.frame.asks not in (None, "number"):
        return False
    return alone(query, operator) and not asks_several(query, operator)


def _key(query: QueryBuilder, variable: Variable) -> Expression:
    """What rows are ordered by: numbers that are stored as text are cast."""
    cast = cast_of(query, variable)
    return Call(cast, (variable,)) if cast else variable


def asks_several(query: QueryBuilder, operator: Operator) -> bool:
    """ "The top 3 highest": more than one is asked for."""
    before = query.frame.quantity_before(operator)
    return before is not None and before.value is not None and before.value > 1


def _measured_by(
    query: QueryBuilder, operator: Operator, measure: Measure | None
) -> tuple[Variable, bool] | None:
    """The number or date that an adjective of measure is about."""
    every = NUMERIC + DATED
    slot = query.next_slot(operator.last, APART)
    if slot is None and (measure.dates if measure is not None else _ends(query, operator)):
        slot = query.last_slot(operator.first, 2)
    spot = query.spot(slot, sorts=every, owner=_said_of(query, operator))
    if spot is not None and _is_measured(query, spot, measure):
        return query.take_spot(spot), is_dated(query.schema, spot.predicate, measure)
    if measure is not None:
        for words, sorts in ((measure.measures, NUMERIC), (measure.dates, every)):
            beside = query.next_place(operator.last, BESIDE)
            found = query.by_words(words, sorts, several=True, first=beside, lives=measure.is_age)
            time = _time_of(query, measure, beside or query.root, found)
            if time is not None:
                return time, False
            if found is not None:
                query.unknown += Doubt.BESIDE if _is_of_next(query, operator, beside) else 0.0
                return query.hang(found), words is measure.dates
        return _event_of(query, measure)
    return None


def _ends(query: QueryBuilder, operator: Operator) -> bool:
    """Whether "the most" is of the verb before it, with no noun behind: "which costs the most?"."""
    after, reading = operator.last + 1, query.reading
    return after == len(reading.tokens) or reading.is_stop(after)


def _is_of_next(query: QueryBuilder, operator: Operator, place: Place | None) -> bool:
    """Whether things named right behind an adjective, at no place, are what it is about."""
    slot = query.next_slot(operator.last, BESIDE) if place is None else None
    if slot is None:
        return False
    predicates = (query.schema.number(link.target) for link in slot.links)
    return any(one is not None and query.schema.sort(one) is Sort.NONE for one in predicates)


def _said_of(query: QueryBuilder, operator: Operator) -> Place | None:
    """The thing named right before: "the planet with the highest mass"."""
    reading, last = query.reading, operator.first - 1
    while last > 0 and reading.is_stop(last):
        last -= 1
    following = reading.folded[last + 1 : operator.first]
    if not following or following[0] not in reading.words.clauses["restrict"]:
        return None
    return next((one for one in query.draft.places if last in one.words), None)


def _time_of(
    query: QueryBuilder, measure: Measure, place: Place, found: Spot | None
) -> Variable | None:
    """How long something went on if it has a start and an end, and no such number itself."""
    if "duration" not in measure.measures or (found and found.place is place and not found.path):
        return None
    one = spanned(query, named=True)
    if one is None or one.place is not place:
        return None
    saying = {at for operator in query.frame.of("lasted") for at in operator.positions}
    said = (at for at, word in enumerate(query.reading.folded) if word in measure.measures)
    query.take_tokens((*saying, *said))
    return passed(query, one)


def _event_of(query: QueryBuilder, measure: Measure) -> tuple[Variable, bool] | None:
    """When what relates the others began: "the first person in space"."""
    starts = {start for start, _, life in query.schema.spans if not life}
    for place in query.draft.places if measure.dates and not measure.is_age else ():
        found = starts.intersection(query.predicates_at(place)) if query.is_event(place) else ()
        for number in found:
            return query.hang(unnamed_spot(place, number)), True
    return None


def _is_measured(query: QueryBuilder, spot: Spot, measure: Measure | None) -> bool:
    """Whether an adjective of age or time can be about a predicate: "oldest" is not of a price."""
    if measure is None or not measure.dates or query.schema.sort(spot.predicate) in DATED:
        return True
    return says(query.schema, spot.predicate, (*measure.measures, *measure.dates))


def measure(query: QueryBuilder, operator: Operator) -> bool:
    """ "How old": the age is what is asked for."""
    measure = operator.measure
    if measure is None:
        return False
    found = query.by_words(measure.measures, NUMERIC)
    if found is None and measure.is_age:
        years = age(query, operator)
        if years is not None:
            query.projected.append((operator.first, years))
            return True
    if found is None and "duration" in measure.measures and duration(query, operator):
        return True
    found = found or query.by_words(measure.dates, DATED + NUMERIC)
    if found is None:
        return False
    query.projected.append((operator.first, query.hang(found)))
    return True


def _most_of(query: QueryBuilder, operator: Operator, descending: bool) -> bool:
    """ "The most X": the member with the most things that X names."""
    place = query.next_place(operator.last, NEAR)
    often = _says_frequent(query, operator)
    key = _most_common(query, operator, place) if often else None
    if key is not None and _by_things(query, operator, key, descending):
        return True
    if place is not None and place is not query.root and isinstance(place.end, Variable):
        if not _by_value_of(query, operator, place):
            group_counted(query, place.end, operator)
        return _counting(query, operator, place.end, descending)
    spot = query.spot(query.next_slot(operator.last, NEAR))
    if spot is None:
        return _most_frequent(query, operator, descending)
    if query.lookups.is_id(spot.predicate, spot.link) and isinstance(query.root.end, Variable):
        query.use_spot(spot)  # "the most customers", where each has its number
        return _by_value_before(query, operator, query.root.end, descending)
    # Whether the most of a property is the value that most have: nothing has several of it.
    if spot.inverse:
        common = False
    elif _says_frequent(query, operator):
        common = True
    else:
        before = query.named_before(operator)
        common = not any(has_several(query, one, spot) for one in (query.root, *before))
    counted = query.take_spot(spot)
    if not often and _by_value_before(query, operator, counted, descending):
        return True
    if common:  # "the most common X": what most members share
        shown = query.shown(counted, spot)
        return _by_members(query, operator, shown, operator.last, descending)
    group_counted(query, counted, operator)
    return _counting(query, operator, counted, descending)


def _most_common(query: QueryBuilder, operator: Operator, after: Place | None) -> Place | None:
    """The thing that comes most often: named after "most common", or before "is most common in"."""
    reading, following = query.reading, operator.last + 1
    leads = reading.words.clauses["restrict"] | reading.words.clauses["among"]
    if following < len(reading.tokens) and reading.folded[following] not in leads:
        return after
    before = [
        (at, place) for place in query.draft.places for at in place.words if at < operator.first
    ]
    return max(before, key=lambda one: one[0])[1] if before else None


def _by_value_before(
    query: QueryBuilder, operator: Operator, counted: Variable, descending: bool
) -> bool:
    """ "Which X has the most Y" if both are properties of one thing: a row for each X."""
    grouped = _by_value_of(query, operator, None)
    return grouped and _counting(query, operator, counted, descending)


def _by_value_of(query: QueryBuilder, operator: Operator, counted: Place | None) -> bool:
    """ "Which year has the most orders": a row for each value, if what is counted has it.

    Not if a thing is named before; it makes the groups then.
    """
    slot = query.last_slot(operator.first, ACROSS)
    if slot is None or not query.zones.is_head(slot.first):
        return False
    tokens, names = query.reading.tokens, query.reading.words.naming
    spot = query.spot(slot)
    if spot is None or (spot.place.end, spot.predicate, spot.inverse) in query.draft.attached:
        return False
    if any(tokens[at].stem in names for at in slot.links[0].positions):
        return False
    if query.named_before(operator):
        return False
    if counted is not None and (counted is query.root or spot.place is not counted):
        return False
    query.group_by_value(query.shown(query.take_spot(spot), spot), slot.first)
    return True


def _most_frequent(query: QueryBuilder, operator: Operator, descending: bool) -> bool:
    """A slot before the operator is the key, the members are counted."""
    slot = query.last_slot(operator.first, ACROSS)
    following = query.next_place(operator.last, NEAR)
    often = operator.last > operator.first
    if following is not query.root and not (following is None and often):
        return False
    spot = query.spot(slot)
    if slot is None or spot is None:
        return False
    shown = query.shown(query.take_spot(spot), spot)
    return _by_members(query, operator, shown, slot.first, descending)


def _by_members(
    query: QueryBuilder, operator: Operator, shown: Variable, token: int, descending: bool
) -> bool:
    """Group by a shown variable that stands for a word, and order by how many members share it."""
    query.group_by_value(shown, token)
    if not isinstance(query.root.end, Variable):
        return False
    return _counting(query, operator, query.root.end, descending)


def _by_things(query: QueryBuilder, operator: Operator, place: Place, descending: bool) -> bool:
    """ "The most common X in Y": a row for each X, by how many there are that go with it."""
    others = [one for one in query.draft.places if one is not place]
    ends = [one.end for one in others if isinstance(one.end, Variable)]
    slot = query.next_slot(operator.last, NEAR)
    if slot is not None and slot.first <= min(place.words) + 1:
        return False  # "payment method": a property of what the first word names
    if not ends or not isinstance(place.end, Variable):
        return False
    query.group_by(place)
    return _counting(query, operator, ends[0], descending)


def _counting(query: QueryBuilder, operator: Operator, counted: Variable, descending: bool) -> bool:
    """Order groups by how many different things they have of what is counted."""
    query.draft.order.append((aggregate("COUNT", counted, distinct=True), descending))
    limited(query, operator)
    return True


def top(query: QueryBuilder, operator: Operator) -> bool:
    """ "The first 10", "the top 10 %": so many rows."""
    quantity = query.frame.quantity_after(operator, 1)
    if quantity is None or quantity.value is None:
        return False
    by = _sorted_by(query, quantity)
    if by is not None:
        query.draft.order.append((_key(query, query.take_spot(by)), True))
    query.draft.limit = share_of_all(query, quantity) or int(quantity.value)
    query.take_quantity(quantity)
    if by is not None:
        return True
    slot = query.next_slot(quantity.last, 2)
    spot = None if slot is None or _extreme_follows(query, operator) else query.spot(slot)
    if slot is not None and spot is not None and query.schema.sort(spot.predicate) in NUMERIC:
        variable = query.take_spot(spot)  # "the top 3 scores"
        query.draft.order.append((_key(query, variable), True))
        if alone(query, operator):
            query.projected.append((slot.first, variable))
    return True


def _sorted_by(query: QueryBuilder, quantity: Quantity) -> Spot | None:
    """The number after "by" in "the top 10 moons by diameter"."""
    reading = query.reading
    for slot in query.slots:
        near = 0 < slot.first - quantity.last <= ACROSS and query.is_left(slot)
        if near and reading.folded[slot.first - 1] in reading.words.clauses["by"]:
            return query.spot(slot, sorts=NUMERIC)
    return None


def _extreme_follows(query: QueryBuilder, operator: Operator) -> bool:
    others = query.frame.of("superlative", "most", "fewest", "maximum", "minimum")
    return any(0 < one.first - operator.last <= BESIDE for one in others)


def order(query: QueryBuilder, operator: Operator) -> bool:
    """ "Sorted by X": by what X names, else by what is shown."""
    near = query.frame.of("descending")
    descending = any(abs(one.first - operator.last) <= _NEAR for one in near)
    slot = query.next_slot(operator.last, APART)
    if slot is not None:
        return _ordered(query, slot, descending)
    query.notes.append("order_shown_desc" if descending else "order_shown")
    return True


def _ordered(query: QueryBuilder, slot: Slot | None, descending: bool) -> bool:
    spot = query.spot(slot)
    if spot is None:
        return False
    query.draft.order.append((_key(query, query.shown(query.take_spot(spot), spot)), descending))
    return True


def directed(query: QueryBuilder, operator: Operator, *, descending: bool) -> bool:
    """ "In ascending order", "in descending order"."""
    if not query.draft.order and not _ordered(
        query, query.next_slot(operator.last, BESIDE), descending
    ):
        query.notes.append("order_shown_desc" if descending else "order_shown")
    return True
