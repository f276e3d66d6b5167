"""Operators that aggregate: counts, sums, averages, shares, and conditions on groups."""

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from itertools import takewhile

from pyoxigraph import Variable

from askgraph.graph.arrays import Ids
from askgraph.graph.literals import Sort
from askgraph.index.names import Kind, stem
from askgraph.search.expand import (
    ACROSS,
    APART,
    BESIDE,
    FAR,
    Node,
    PartialMatch,
    Worth,
    named_words,
)
from askgraph.search.link import Link
from askgraph.search.operators.columns import named_places, owner_of
from askgraph.search.operators.query_builder import (
    DATED,
    LISTED,
    NUMERIC,
    PAIRED,
    Candidate,
    Place,
    QueryBuilder,
    Slot,
    Spot,
    unnamed_spot,
)
from askgraph.search.query_pieces import (
    DECIMAL,
    TEXT,
    Value,
    aggregate,
    alias_of,
    function_of,
    number_term,
    values_of,
    variable_of,
)
from askgraph.search.tokenize import Quantity, bits
from askgraph.search.tokenize.question_operators import COMPARING, Operator, is_listed_count
from askgraph.sparql import Bind, Call, Expression, Group, Nested, Query, transform, variables_of
from askgraph.sparql.elapsed import elapsed

FUNCTIONS = {"average": "AVG", "sum": "SUM", "maximum": "MAX", "minimum": "MIN"}
"""The aggregates that groups are compared by."""


_WHOLE = 100.0  # all, in percent
BY_SHOWN = "by_shown"  # the note that the rows are grouped by what is shown
FEW = "few"  # the note that groups have at most so many of something, or fewer than so many


def extreme_group(query: QueryBuilder, operator: Operator, *, descending: bool) -> bool:
    """ "The highest average X", "the lowest total X": the group with the most of an aggregate."""
    of = [one for one in query.frame.of("average", "sum") if 0 < one.first - operator.last <= 2]
    if not of or operator.mask & query.used:
        return False
    value = _value_of_group(query, operator, of[0])
    if value is None:
        return False
    query.draft.order.append((value, descending))
    limited(query, operator)
    return True


def bounded_group(query: QueryBuilder, operator: Operator) -> bool:
    """ "Whose average X is above 5": a condition on an aggregate of each group."""
    compared = _comparison_after(query, operator)
    if compared is None or query.frame.of("each"):
        return False
    comparison, sign = compared
    quantity = query.frame.quantity_after(comparison)
    if quantity is None or quantity.value is None:
        return False
    value = _value_of_group(query, operator, operator)
    if value is None:
        return False
    query.draft.having.append(Call(sign, (value, number_term(quantity.value))))
    query.take(comparison.mask, query.search.weight_of(comparison.mask))
    query.take_quantity(quantity)
    return True


def _comparison_after(query: QueryBuilder, operator: Operator) -> tuple[Operator, str] | None:
    """The comparison that follows on the noun after an operator, and its sign."""
    slot = query.next_slot(operator.last, ACROSS)
    if slot is None or not _restricts(query, operator):
        return None
    for one in query.frame.of(*COMPARING, "comparative"):
        if 0 < one.first - slot.last <= BESIDE:
            sign = COMPARING.get(one.name, "")
            if one.measure is not None:
                sign = ">" if one.measure.up else "<"
            return one, sign
    return None


def _restricts(query: QueryBuilder, operator: Operator) -> bool:
    """Whether something is asked for before an operator, or shown."""
    asked = any(slot.first < operator.first for slot in query.slots)
    return asked or bool(query.named_before(operator) or query.projected)


def _value_of_group(query: QueryBuilder, operator: Operator, mean: Operator) -> Call | None:
    """The aggregate that words after an operator name, of each group; groups are made."""
    slot = query.next_slot(mean.last, ACROSS)
    spot = query.spot(slot, sorts=NUMERIC)
    if slot is None or spot is None:
        return None
    place = _group_before(query, operator, spot)
    if place is not None:
        variable = query.take_spot(spot)
        _group(query, place)
    else:
        key = query.last_slot(operator.first, FAR)
        by = None if key is slot else query.spot(key)
        if key is None or by is None or by.predicate == spot.predicate:
            return None
        variable = query.take_spot(spot)
        query.group_by_value(query.shown(query.take_spot(by), by), key.first)
    query.take(mean.mask, query.search.weight_of(mean.mask))
    return aggregated_value(query, FUNCTIONS[mean.name], variable)


def aggregated_value(query: QueryBuilder, function: str, variable: Variable) -> Call:
    """Return an aggregate of numbers; those that are stored as text are cast."""
    cast = cast_of(query, variable)
    return Call(function, (Call(cast, (variable,)),)) if cast else aggregate(function, variable)


def cast_of(query: QueryBuilder, variable: Variable) -> str:
    """Return what numbers stored as text, and days of several datatypes, are cast to, if so."""
    for (_, predicate, inverse), value in query.draft.attached.items():
        if value == variable and not inverse:
            if query.schema.sort(predicate) is Sort.TEXT_NUMBER:
                return DECIMAL
            if query.schema.is_mixed(predicate):
                return TEXT
    return ""


def group_counted(query: QueryBuilder, counted: Variable, operator: Operator) -> None:
    """Make one row for each thing that there are several of what is counted for.

    That is what the pattern starts at, or another thing named before an operator, above all if the
    first has no name; if there can only be one for each, what is shown makes the groups.
    """
    query.grouped = True
    place = query.draft.place_at(counted)
    named = [one for one in query.named_before(operator) if isinstance(one.end, Variable)]
    others = [one for one in named if one is not place and one is not query.root]
    if place is None or place is query.root or spreads(query, query.root, place):
        _group(query, query.root if place is None else _named_group(query, place, operator))
    elif others and spreads(query, others[0], place):
        _group(query, others[0])
    else:  # there is only one for each thing
        query.notes.append(BY_SHOWN)


def _named_group(query: QueryBuilder, counted: Place, operator: Operator) -> Place:
    """Return what the pattern starts at, if words before an operator do not name another well."""
    starts, _ = named_places(query)
    named = [place for at, place in starts.items() if at < operator.first and place is not counted]
    if query.root in named or counted is query.root:
        return query.root
    return next((one for one in named if spreads(query, one, counted)), query.root)


def _group(query: QueryBuilder, place: Place) -> None:
    """Make one row for each thing at a place, which is shown if nothing of it is."""
    if place is query.root or not _shows(query, place):
        query.group_by(place)
    elif isinstance(place.end, Variable) and place.end not in query.draft.group:
        query.draft.group.append(place.end)
        query.grouped = True


def spreads(query: QueryBuilder, start: Place, end: Place) -> bool:
    """Whether one thing at a place may go with several at another one."""
    above = []
    up: Place | None = start
    while up is not None:
        above.append(up)
        up = up.parent
    while end not in above and end.parent is not None and end.edge is not None:
        if _fans_out(query, end.edge.predicate, end.edge.inverse):
            return True
        end = end.parent
    for one in above[: above.index(end)] if end in above else ():
        if one.edge is not None and _fans_out(query, one.edge.predicate, not one.edge.inverse):
            return True
    return False


def _shows(query: QueryBuilder, place: Place) -> bool:
    """Whether words that are still to be shown name something of a place."""
    return any(
        (spot := query.spot(slot, owner=owner_of(query, slot.first, slot.last))) is not None
        and spot.place is place
        for slot in query.slots
        if query.is_left(slot) and slot.first < min(place.words, default=0)
    )


def _group_before(query: QueryBuilder, operator: Operator, spot: Spot) -> Place | None:
    """The thing named before an operator of which a number has several values."""
    for place in query.named_before(operator):
        if isinstance(place.end, Variable) and has_several(query, place, spot):
            return place
    return None


def has_several(query: QueryBuilder, place: Place, spot: Spot) -> bool:
    """Whether what stands at a place may lead to several values of a spot."""
    if spot.path:
        fans = any(_fans_out(query, one.predicate, one.inverse) for one in spot.path)
        return place is spot.place and fans
    return not query.schema.is_functional(spot.predicate) or spreads(query, place, spot.place)


def _fans_out(query: QueryBuilder, predicate: int, inverse: bool) -> bool:
    """Whether a step leads from one thing to several."""
    return not query.schema.is_functional(predicate, inverse=inverse)


def limited(query: QueryBuilder, operator: Operator) -> None:
    """Keep so many of an order as the words beside an operator say: "the second", "the three"."""
    first, last = _ordinals(query, operator)
    count, offset = 1 + last - first, first - 1
    for quantity in query.reading.quantities:
        if quantity.value is None or not float(quantity.value).is_integer():
            continue
        if _is_numeral(query, quantity.first) and (
            abs(quantity.first - operator.last) == 1
            or operator.first - quantity.last == 1
            or quantity.last + 1 in query.root.words
        ):
            count = share_of_all(query, quantity) or max(1, int(quantity.value))
            query.take_quantity(quantity)
    query.draft.limit, query.draft.offset = count, offset


def share_of_all(query: QueryBuilder, quantity: Quantity) -> int | None:
    """Return so many percent of all things, at least one; None if it is no percentage."""
    if not query.reading.is_percent(quantity):
        return None
    following = [quantity.last + 1] if quantity.last + 1 < len(query.reading.tokens) else []
    said = query.reading.words.clauses["percent"]
    query.take_tokens(at for at in following if query.reading.folded[at] in said)
    share = (quantity.value or 0.0) / _WHOLE
    return max(1, math.ceil(len(query.ids_at(query.root)) * share))


def _ordinals(query: QueryBuilder, operator: Operator) -> tuple[int, int]:
    """The first and the last place of an order: "the second", "the third to fifth"."""
    words, lists, at = query.reading.folded, query.reading.words, operator.first - 1
    while at > 0 and at in query.root.words:  # "el segundo planeta más grande"
        at -= 1
    last = lists.ordinals.get(words[at], 0) if at >= 0 else 0
    if not last:
        return 1, 1
    before = at - 1 - (words[at - 1] in lists.clauses["through"])
    first = lists.ordinals.get(words[before], last) if before >= 0 else last
    if first >= last:
        first, before = last, at
    query.take_tokens(range(before, at + 1))
    return first, last


def _is_numeral(query: QueryBuilder, at: int) -> bool:
    """Whether a number says how many: it is not that of a noun before it ("room 111")."""
    before = at - 1
    return at == 0 or query.reading.is_stop(before) or bool(query.frame.mask >> before & 1)


def group_count(query: QueryBuilder) -> Call | None:
    """Take the number of groups off the columns: "how many planets have more than two moons"."""
    draft = query.draft
    for one in draft.columns if draft.having and len(draft.group) == 1 else ():
        if isinstance(one, Call) and one == aggregate("COUNT", draft.group[0], distinct=True):
            draft.columns = [draft.group[0]]
            return one
    return None


def counting_groups(candidate: Candidate, call: Call) -> Candidate:
    """Return a candidate for the number of the groups that another one finds."""
    columns = ((alias_of(call), call),)
    inner = replace(candidate.tree, distinct=False)
    tree = Query("SELECT", Group((inner,)), columns=columns)
    return replace(candidate, tree=tree, shown=(call,))


def with_none(query: QueryBuilder, candidate: Candidate) -> Candidate | None:
    """Return a candidate for groups of few things that has those of none, too, if there are such.

    What is counted, and all that hangs on it alone, need not be there then.
    """
    tree, draft = candidate.tree, query.draft
    if not (draft.having and draft.group):
        return None
    group, counted = draft.group[0], variable_of(draft.having[0].arguments[0])
    place = draft.place_at(group)
    if place is None or place.node.cls is None or len(draft.having) > 1 or tree.order:
        return None
    every = query.schema.instances(place.node.cls)
    if len(every) == len(query.ids_at(place)) or draft.averages or draft.denied:
        return None
    parts = [(one, set(variables_of(one)) - {group}) for one in tree.where.elements]
    free, before = {counted}, 0
    while len(free) > before:
        before = len(free)
        free = free.union(*(some for _, some in parts if some & free))
    shown = {variable_of(one) for one in values_of(tree) if isinstance(one, Variable)}
    if free & shown or not any(not some for _, some in parts):
        return None
    kept = tuple(one for one, some in parts if not some & free)
    inner = tuple(one for one, some in parts if some & free)
    where = Group((*kept, Nested("OPTIONAL", Group(inner))))
    return replace(
        candidate,
        tree=replace(tree, where=where),
        ids=every if place is query.root else candidate.ids,
        gain=candidate.gain + Worth.NONE,
    )


_DATED = (Sort.DATE, Sort.YEAR)
AGGREGATING = ("average", "sum", "minimum", "maximum", "superlative", "most", "fewest")
"""Operators that may be aggregates of one number, beside each other."""


def each(query: QueryBuilder, operator: Operator) -> bool:
    """ "For each X": one row for each thing, or for each value, that X names."""
    slot, place = query.next_slot(operator.last), query.next_place(operator.last)
    if query.reading.folded[operator.last] in query.reading.words.clauses["rate"]:
        query.notes.append("rate")
    if place is not None and (slot is None or _comes_first(place, slot)):
        query.group_by(place)
        return True
    spot = query.spot(slot)
    if slot is None or spot is None:
        return False
    query.group_by_value(query.shown(query.take_spot(spot), spot), slot.first, asked=False)
    return True


def _comes_first(place: Place, slot: Slot) -> bool:
    """Whether a place is named before a slot, and not by the first of several words of it."""
    first = min(place.words)
    return first < slot.first or (first == slot.first and slot.first == slot.last)


_NAMED = 0.6  # the word "year" is so much of a date's name that this very date is meant
_AGGREGATING = (
    *("count", "average", "sum", "minimum", "maximum"),
    *("most", "fewest", "superlative", "lasting", "measure"),
)


def yearly(query: QueryBuilder, operator: Operator) -> bool:
    """ "Per year": a row for each year of a date; how many things it is if nothing else is said."""
    spot = _dated(query, operator)
    if spot is None:
        return False
    date = query.take_spot(spot)
    if query.schema.sort(spot.predicate) in (Sort.DATE, Sort.TEXT_DATE):
        date = query.draft.compute("year", Call("YEAR", (date,)))
    query.group_by_value(date, operator.first, asked=False)
    if not query.frame.of(*_AGGREGATING):
        query.notes.append("rate")
    return True


def _dated(query: QueryBuilder, operator: Operator) -> Spot | None:
    """The date whose years are meant: one that words name, else the start of a span, else any."""
    named = [slot for slot in query.slots if query.is_left(slot)]
    for slot in sorted(named, key=lambda one: not one.mask & operator.mask):
        spot = query.spot(slot, sorts=DATED)
        if spot is not None and not spot.path and _is_meant(spot, operator):
            return spot
    present = query.predicates_at(query.root)
    starts = (start for start, end, _ in query.schema.spans if {start, end} & {*present})
    start = next((one for one in starts if one in present), None)
    return query.only(DATED) if start is None else unnamed_spot(query.root, start)


def _is_meant(spot: Spot, operator: Operator) -> bool:
    """Whether words that name a date are more than the "year" of "per year"."""
    others = [at for at in spot.link.positions if at not in operator.positions]
    return bool(others) or spot.link.score * spot.link.quality >= _NAMED


def counted_rate(query: QueryBuilder) -> None:
    """ "Launches per country": without another measure, it is how many there are."""
    draft, counted = query.draft, query.root.end
    bare = len(query.projected) == len(draft.group) and not (draft.columns or draft.order)
    free = isinstance(counted, Variable) and counted not in draft.group
    if bare and free:
        draft.columns.append(aggregate("COUNT", variable_of(counted), distinct=True))


def count(query: QueryBuilder, operator: Operator) -> bool:
    """ "How many X": count things; if X is a number in the graph, leave it to be shown."""
    slot, place = query.next_slot(operator.last), query.next_place(operator.last)
    if _is_aggregated(query, operator):
        return True
    if _per_value(query, operator):
        place = query.root
    elif is_listed_count(query.reading, operator.last):
        place = query.next_place(operator.last, len(query.reading.tokens))
        query.notes.append(LISTED)
    elif slot is not None and (
        place is None or slot.first <= min(place.words) or _is_compound(query, place, slot)
    ):
        return _count_values(query, operator, slot)
    if place is None and query.spot(query.last_slot(operator.first, 1), sorts=NUMERIC) is not None:
        return True  # "employee count": the slot itself is shown
    place = place or query.root
    if not isinstance(place.end, Variable) or query.is_statement(place):
        return False
    if _states_number(query, place):
        return True
    query.draft.columns.append(aggregate("COUNT", place.end, distinct=True))
    return True


def _is_aggregated(query: QueryBuilder, operator: Operator) -> bool:
    """Whether it is a number that an aggregate beside it has taken: "the average number of"."""
    reading, over = query.reading, query.frame.of("average", "sum", "minimum", "maximum")
    gaps = (range(min(one.last, operator.last) + 1, max(one.first, operator.first)) for one in over)
    joining = reading.words.joining
    if not any(
        all(reading.is_stop(n) and reading.folded[n] not in joining for n in g) for g in gaps
    ):
        return False
    near = range(operator.first, operator.last + BESIDE + 1)
    return any(slot.first in near and not query.is_left(slot) for slot in query.slots)


def _count_values(query: QueryBuilder, operator: Operator, slot: Slot) -> bool:
    """Count the values that a slot names, or leave a number to be shown, or added up."""
    spot = query.spot(slot)
    if spot is None:
        return False
    number = query.schema.sort(spot.predicate) is Sort.NUMBER
    several = number and not spot.inverse and not query.schema.is_functional(spot.predicate)
    said = {query.reading.folded[at] for at in operator.positions}
    differing = {phrase[0] for phrase in query.reading.words.operators["distinct"]}
    distinct = not number or bool(said & differing)  # "how many different"
    if not distinct and not several:
        if said & query.reading.words.clauses["totals"] or _is_quantity(query, spot):
            return aggregated(query, operator, "SUM")
        if not _is_of_groups(query, spot):
            return False
        if _names_many(query, spot):
            return aggregated(query, operator, "SUM")
        distinct = True  # the section, the room: each has its number
    counted = query.take_spot(spot)
    query.draft.columns.append(aggregate("COUNT", counted, distinct=distinct))
    return True


def _is_quantity(query: QueryBuilder, spot: Spot) -> bool:
    """Whether a predicate called by a plural ("beds") says how many of it several things have.

    No word names these things, so that they are not what the number is asked of.
    """
    ids = query.ids_at(spot.place)
    if len(ids) < 2 or spot.path or query.root.words or query.frame.of("each", "yearly"):
        return False
    if query.frame.asks != "number":
        return False  # "the name and number of beds of …"
    return _names_many(query, spot)


def _names_many(query: QueryBuilder, spot: Spot) -> bool:
    """Whether a predicate is called by a plural."""
    names = [text.split() for text in query.schema.texts(spot.predicate)]
    return any(words and stem(words[-1]) != words[-1] for words in names)


def _is_of_groups(query: QueryBuilder, spot: Spot) -> bool:
    """Whether a number of things is asked for each of something else: "beds per city"."""
    if spot.path or spot.place is not query.root:
        return False
    for one in query.frame.of("each"):
        slot, place = query.next_slot(one.last), query.next_place(one.last)
        if place is not None and (slot is None or _comes_first(place, slot)):
            alike = _classes_at(query, place) == _classes_at(query, spot.place)
            return not alike and spreads(query, place, spot.place)
        by = query.spot(slot)
        if by is not None and by.place is spot.place and by.predicate != spot.predicate:
            return not query.schema.is_functional(by.predicate, inverse=not by.inverse)
        if by is not None and slot is not None:
            return False
    return (
        bool(query.draft.group)
        and spot.place.end not in query.draft.group
        and "each" in query.notes
    )


def _classes_at(query: QueryBuilder, place: Place) -> tuple[str, ...]:
    return query.schema.classes_of(int(place.node.ids[0])) if len(place.node.ids) else ()


def _states_number(query: QueryBuilder, place: Place) -> bool:
    """Whether a place is a statement whose value is a number: that is shown, not counted."""
    leading = [edge for edge, _ in place.node.edges if edge.inverse]
    leading += [place.edge] if place.edge and not place.edge.inverse else []
    values = (query.schema.stated(place.node.ids, one.predicate) for one in leading)
    return any(v is not None and query.schema.sort(v) is Sort.NUMBER for v in values)


def _per_value(query: QueryBuilder, operator: Operator) -> bool:
    """Make a row for each of the values that "and" joins before the noun: male and female pupils.

    Or if each has a count of its own: "how many are male and how many are female".
    """
    noun, counts = query.root.node.cls_link, query.frame.of("count")
    for place in query.draft.places:
        link = place.node.link
        if link is None or noun is None or len(place.node.terms) < 2 or place is query.root:
            continue
        first, last = link.positions[0], link.positions[-1]
        joins = [one for one in query.frame.of("and") if 0 < one.first - last <= BESIDE]
        before = operator.last < first <= last < noun.positions[0]
        again = any(0 < one.first - join.last <= 2 for join in joins for one in counts)
        if joins and (before or again) and first not in dict(query.projected):
            query.group_by_value(query.named(place), first)
            query.notes.append(LISTED)
            return True
    return False


def _is_compound(query: QueryBuilder, place: Place, slot: Slot) -> bool:
    """ "Movie directors": a noun in the plural right behind a class in the singular."""
    link, tokens, spot = place.node.cls_link, query.reading.tokens, query.spot(slot)
    if link is None or link.positions[-1] + 1 != slot.first:
        return False
    if spot is None or spot.place is not place:
        return False
    modifier, head = tokens[link.positions[-1]], tokens[slot.last]
    return modifier.stem == modifier.folded and head.stem != head.folded


def alone(query: QueryBuilder, operator: Operator) -> bool:
    """Whether nothing else is asked for before the operator: "what is the maximum …".

    What the rows are grouped by does not count.
    """
    asked = [s for s in query.slots if s.first < operator.first and query.is_left(s)]
    named = any(one.end not in query.draft.group for one in query.named_before(operator))
    return not asked and not named and query.zones.is_head(operator.first)


def enumerated(query: QueryBuilder, operator: Operator) -> tuple[Operator, ...]:
    """The operators that share a noun with one: "the minimum, average and maximum price"."""
    listed = query.frame.of(*AGGREGATING)
    at = next((n for n, one in enumerate(listed) if one.first == operator.first), None)
    if at is None:
        return (operator,)
    first = last = at
    while first and _adjoin(query, listed[first - 1], listed[first]):
        first -= 1
    while last + 1 < len(listed) and _adjoin(query, listed[last], listed[last + 1]):
        last += 1
    return listed[first : last + 1]


def _adjoin(query: QueryBuilder, one: Operator, other: Operator) -> bool:
    """Whether a comma or a conjunction, and articles at most, part two operators."""
    between = range(one.last + 1, other.first)
    if any(not query.reading.is_stop(at) for at in between):
        return False
    reading = query.reading
    gap, joining = reading.gap(one.last, other.first), reading.words.joining
    return "," in gap or any(reading.folded[at] in joining for at in between)


def is_column(query: QueryBuilder, operator: Operator) -> bool:
    """Whether an extreme is a column of its own, of a number that is named right after.

    It is listed with other aggregates, or after what is shown: "each type and the maximum price".
    """
    among = enumerated(query, operator)
    first = among[0].first
    opened = all(query.reading.is_stop(at) for at in range(first))
    listed = not opened and query.zones.is_listed(first) and query.zones.is_head(first)
    if not listed and (len(among) == 1 or _is_had(query, among)):
        return False
    last = among[-1].last
    slot, place = query.next_slot(last, ACROSS), query.next_place(last, ACROSS)
    before = place is not None and slot is not None and min(place.words) < slot.first
    return not before


def _is_had(query: QueryBuilder, among: Sequence[Operator]) -> bool:
    """ "What has the highest and the lowest X": both say which is meant, not what is shown."""
    before = takewhile(query.reading.is_stop, range(among[0].first - 1, -1, -1))
    words = [query.reading.tokens[at].folded for at in before]
    lists = query.reading.words
    if any(one.name in ("average", "sum") for one in among) or query.frame.of("each"):
        return False
    having = any(word in lists.texts["has"] for word in words)
    return having and not any(word in lists.clauses["possessive"] for word in words)


def aggregated(query: QueryBuilder, operator: Operator, function: str) -> bool:
    """ "The average X": show an aggregate of the number that the words after an operator name.

    Also of those that are listed with it: "the average X and Y".
    """
    if operator.name in ("average", "sum") and bounded_group(query, operator):
        return True
    sorts = NUMERIC if function in ("AVG", "SUM") else (*NUMERIC, *_DATED)
    variables = _aggregands(query, operator, sorts)
    if not variables:
        return False
    for variable in variables:
        query.draft.columns.append(aggregated_value(query, function, variable))
    _per_value(query, operator)
    return True


def _aggregands(query: QueryBuilder, operator: Operator, sorts: Sequence[Sort]) -> list[Variable]:
    """The numbers that an aggregate is over; several aggregates may share one."""
    slot = query.next_slot(operator.last, ACROSS)
    spot = (
        None
        if slot is None or query.reading.parted(operator.last, slot.first)
        else query.spot(slot, sorts=sorts)
    )
    if slot is not None and spot is not None:
        others = query.frame.of(*AGGREGATING)
        among = enumerated(query, operator)
        shared = among[-1].first > operator.first or any(
            0 < one.first - operator.last <= BESIDE and one.last < slot.first for one in others
        )
        if shared:
            return [query.hang(spot)]
        return [query.take_spot(spot), *_listed_with(query, slot)]
    for column in query.draft.columns:
        if isinstance(column, Call) and function_of(column) != "COUNT":
            return [variable_of(column)]
    return _said_before(query, operator)


def _listed_with(query: QueryBuilder, first: Slot) -> Iterator[Variable]:
    """The numbers that are listed right after another, no operator between."""
    last = first.last
    while (slot := query.next_slot(last, BESIDE)) is not None:
        between = range(last + 1, slot.first + 1)
        taken = any(one.first in between for one in query.frame.operators if one.name != "and")
        joined = _joined(query, range(last + 1, slot.first))
        spot = query.spot(slot, sorts=NUMERIC) if joined and not taken else None
        if spot is None or _parts_rows(query, slot):
            return
        yield query.take_spot(spot)
        last = slot.last


def _parts_rows(query: QueryBuilder, slot: Slot) -> bool:
    """Whether the same noun comes again after "each"."""
    tokens = query.reading.tokens
    nouns = {tokens[at].stem for at in range(slot.first, slot.last + 1)}
    if any(tokens[one.last].stem in nouns for one in query.frame.of("yearly")):
        return True
    return any(
        tokens[at].stem in nouns
        for one in query.frame.of("each")
        for at in range(max(one.last, slot.last) + 1, min(one.last + 1 + BESIDE, len(tokens)))
    )


def _joined(query: QueryBuilder, between: range) -> bool:
    """Whether a comma or a conjunction stands between two nouns, and nothing of content."""
    reading = query.reading
    words = {reading.folded[at] for at in between}
    joined = "," in reading.gap(between.start - 1, between.stop) or words & reading.words.joining
    return bool(joined) and all(map(reading.is_stop, between))


def _said_before(query: QueryBuilder, operator: Operator) -> list[Variable]:
    """The number that is asked for before the operator: "how old are they on average"."""
    for shown in reversed(query.projected):
        numeric = any(
            query.schema.sort(predicate) in NUMERIC and not inverse
            for (_, predicate, inverse), variable in query.draft.attached.items()
            if variable == shown[1]
        )
        if shown[0] < operator.first and numeric:
            query.projected.remove(shown)
            return [shown[1]]
    spot = query.spot(query.last_slot(operator.first, APART), sorts=NUMERIC)
    return [] if spot is None else [query.take_spot(spot)]


def reckoned(query: QueryBuilder, candidate: Candidate) -> Candidate:
    """Return what is reckoned from what a candidate shows; it stays as it is if nothing is."""
    for operator in query.frame.of("difference", "ratio")[:1]:
        candidate = _of_two(query, operator, candidate)
    if query.frame.mean_count is not None:
        candidate = _average_of_counts(query, query.frame.mean_count, candidate)
    return candidate


def _of_two(query: QueryBuilder, operator: Operator, candidate: Candidate) -> Candidate:
    """Return the difference or the ratio of the two numbers or dates that a candidate shows.

    It stays as it is if there are not just two of them.
    """
    draft = query.draft
    sorts = {value: query.schema.sort(number) for (_, number, _), value in draft.attached.items()}
    calls: list[Value] = [one for one in draft.columns if isinstance(one, Call)]
    for some in (NUMERIC, _DATED):
        values = calls or [one for one in draft.columns if sorts.get(variable_of(one)) in some]
        if len(values) == 2 and all(sorts.get(variable_of(one)) in some for one in values):
            break
    else:
        return candidate
    first, second = map(alias_of, values)
    if calls and [function_of(one) for one in calls if isinstance(one, Call)] == ["MIN", "MAX"]:
        first, second = second, first
    value = draft.variable(f"{operator.name} of {draft.hints[variable_of(values[0])]}")
    told: Expression = Call("/" if operator.name == "ratio" else "-", (first, second))
    if some is _DATED:
        ends = (second, first) if calls else (first, second)
        years = any(sorts.get(variable_of(one)) is Sort.YEAR for one in values)
        told = elapsed("calendar years" if years else "days", *ends)
    tree = candidate.tree
    kept = tuple((one, of) for one, of in tree.columns if one not in (first, second))
    where = (tree,) if calls else tree.where.elements
    shown = tuple(one for one in candidate.shown if one not in values)
    outer = Query("SELECT", Group((*where, Bind(told, value))), columns=((value, None),))
    columns = (*((one, None) for one, _ in kept), (value, None))
    tree = replace(outer if calls else replace(tree, where=outer.where), columns=columns)
    return _with_number(query, operator, candidate, tree, (*shown, value))


def _with_number(
    query: QueryBuilder,
    operator: Operator,
    candidate: Candidate,
    tree: Query,
    shown: tuple[Value, ...],
) -> Candidate:
    """A candidate that shows what an operator reckons from what it showed."""
    return replace(
        candidate,
        tree=tree,
        shown=shown,
        hints=query.draft.hints,
        used=candidate.used | operator.mask,
        shown_words=candidate.shown_words | operator.mask,
        gain=candidate.gain + Worth.OPERATOR + query.search.weight_of(operator.mask),
        notes=(*candidate.notes, PAIRED),
    )


def _average_of_counts(query: QueryBuilder, operator: Operator, candidate: Candidate) -> Candidate:
    """Return the average of what a candidate counts for each of its groups: "moons per planet".

    It stays as it is if it counts in no groups, or only some of them.
    """
    tree = candidate.tree
    counts = [one for one in candidate.shown if isinstance(one, Call)]
    whole = not (tree.having or tree.limit is not None or candidate.used & operator.mask)
    if not (tree.group_by and whole) or list(map(function_of, counts)) != ["COUNT"]:
        return candidate
    number = Call("AVG", (alias_of(counts[0]),))
    each_one = replace(tree, distinct=False, order=())
    outer = Query("SELECT", Group((each_one,)), columns=((alias_of(number), number),))
    return _with_number(query, operator, candidate, outer, (number,))


_CLASS_NAMED = 0.6  # words name a class so well

Operate = Callable[[QueryBuilder, tuple[Operator, ...]], None]
"""Lets some operators take their words."""


def share(query: QueryBuilder, operator: Operator) -> bool:
    """ "What percentage of X are Y", "what share of the N comes from Y"; see `as_share`."""
    spot, verb = _summed(query, operator), _verb(query, operator)
    if verb is not None:
        query.take_tokens([verb])
    if spot is not None:
        query.draft.columns.append(aggregated_value(query, "SUM", query.take_spot(spot)))
        for one in query.frame.of("sum"):
            query.take(one.mask, query.search.weight_of(one.mask))
            query.gain += Worth.OPERATOR
        return True
    whole = _whole(query, operator)
    if whole is None or not (query.root.node.edges or query.root.node.cls != whole.target):
        return False
    query.take_link(whole)
    return True


def _summed(query: QueryBuilder, operator: Operator) -> Spot | None:
    """The number that is summed up: it is named in what the share is of."""
    slot = query.next_slot(operator.last, ACROSS)
    if slot is None:
        return None
    between = range(operator.last + 1, slot.first)
    totals = {at for one in query.frame.of("sum") for at in one.positions}
    beside = all(at in totals or query.reading.is_stop(at) for at in between)
    if not (beside or slot.first - 1 in totals or query.zones.is_head(slot.first)):
        return None
    verb = _verb(query, operator)
    return None if verb is not None and verb < slot.first else query.spot(slot, sorts=NUMERIC)


def _whole(query: QueryBuilder, operator: Operator) -> Link | None:
    """The class named after "what percentage of", if all that the pattern starts at are of it."""
    ids = query.ids_at(query.root)
    near = [
        one
        for one in query.linked.of(Kind.CLASS)
        if 0 < one.positions[0] - operator.last <= BESIDE and one.score >= _CLASS_NAMED
    ]
    best = [one for one in near if one.score >= near[0].score]
    return next((one for one in best if query.schema.all_are(ids, one.target)), None)


def _verb(query: QueryBuilder, operator: Operator) -> int | None:
    """Where the part that has the share begins: at a verb, if need be of a relative clause."""
    reading, parting = query.reading, query.reading.words.clauses["parting"]
    found = [
        at for at in range(operator.last + 2, len(reading.tokens)) if reading.folded[at] in parting
    ]
    clauses = reading.words.clauses
    opens = clauses["restrict"] - clauses["weak"]
    main = (at for at in found if reading.folded[at - 1] not in opens)
    return next(main, found[0] if found else None)


def _part(query: QueryBuilder, operator: Operator) -> int:
    """The words for what has the share, as bits.

    They stand after the verb; without one, before the operator, or they name the last thing.
    """
    verb, count = _verb(query, operator), len(query.reading.tokens)
    if verb is not None:
        return bits((*range(operator.first), *range(verb, count)))
    links = [one for node in query.state.node.walk() for one in (node.link,) if one is not None]
    last = max(links, key=lambda one: one.positions, default=None)
    before = bits(range(operator.first))
    if last is None or any(one.mask & before for one in links):
        return before
    return last.mask


def as_share(query: QueryBuilder, candidate: Candidate, operate: Operate) -> Candidate | None:
    """Return the share that what a candidate counts or sums up has of the whole, in percent."""
    tree, root, draft = candidate.tree, candidate.root, query.draft
    operator = query.frame.of("share")[0]
    sums = [one for one in candidate.shown if isinstance(one, Call)]
    keys: tuple[Value, ...] = tuple(one for one in candidate.shown if one not in sums)
    if tree.having or tree.limit is not None or len(sums) > 1 or candidate.asks:
        return None
    if not sums and (keys != (root,) or _whole(query, operator) is None):
        return None
    if sums and (set(keys) != set(draft.group) or _repeats(query, variable_of(sums[0]))):
        return None
    counted = sums[0] if sums else aggregate("COUNT", variable_of(root), distinct=True)
    every = _of_all(query, operator, counted, operate)
    if every is None or (_shape(tree.where) <= _shape(every.where) and not (sums and keys)):
        return None
    columns = ((alias_of(counted), counted), *((alias_of(one), None) for one in keys * bool(sums)))
    part = replace(tree, columns=columns, distinct=False, order=())
    value = draft.variable("percentage of " + draft.hints[variable_of(counted)])
    ends = alias_of(counted), every.columns[0][0]
    percent = Call("/", (Call("*", (number_term(100), ends[0])), ends[1]))
    shown = (*(keys if sums else ()), value)
    inner = Group((part, every, Bind(percent, value)))
    return replace(
        candidate,
        tree=Query("SELECT", inner, columns=tuple((alias_of(one), None) for one in shown)),
        shown=shown,
        hints=draft.hints,
    )


def _owner(query: QueryBuilder, value: Variable) -> Place:
    """What a number is of."""
    owners = [one.subject for one in query.draft.patterns if one.object == value]
    return next((one for one in query.draft.places if one.end in owners), query.root)


def _repeats(query: QueryBuilder, value: Variable) -> bool:
    """Whether a number would be added up several times: it stands in several rows."""
    owner = _owner(query, value)
    return any(spreads(query, owner, one) for one in query.draft.places if one is not owner)


def _shape(group: Group) -> frozenset[object]:
    """What a group says, whatever its variables are called."""
    one = Variable("any")
    alike: Group = transform(group, lambda node: one if isinstance(node, Variable) else node)
    return frozenset(alike.elements)


def _of_all(
    query: QueryBuilder, operator: Operator, counted: Call, operate: Operate
) -> Query | None:
    """The sub-query of the count or the sum over the whole."""
    whole = _restricted(query, operator, counted, operate)
    end, summed = whole.root.end, counted.name != "COUNT DISTINCT"
    if summed:
        spot = whole.spot(whole.next_slot(operator.last, ACROSS), sorts=NUMERIC)
        end = end if spot is None else whole.take_spot(spot)
    for slot in whole.slots:
        known = slot in query.done and whole.is_left(slot)
        spot = whole.spot(slot) if known else None
        if spot is not None:
            whole.take_spot(spot)
    if not isinstance(end, Variable) or summed == (end == whole.root.end):
        return None
    call = aggregated_value(whole, "SUM", end) if summed else aggregate("COUNT", end, distinct=True)
    others: dict[Variable, Variable] = {}

    def renamed(one: object) -> object:
        if not isinstance(one, Variable) or one not in whole.draft.hints:
            return one
        if one not in others:
            others[one] = query.draft.variable("all " + whole.draft.hints[one])
        return others[one]

    where = transform(whole.draft.query().where, renamed)
    made: Call = transform(call, renamed)
    return Query("SELECT", where, columns=((alias_of(made), made),))


def _restricted(
    query: QueryBuilder, operator: Operator, counted: Call, operate: Operate
) -> QueryBuilder:
    """The query of the words for the whole alone, without what is counted or summed up."""
    part, link = _part(query, operator), _whole(query, operator)
    node, known, ids = (
        _without(query.state.node, part),
        query.state.node.cls,
        query.ids_at(query.root),
    )
    owner = _owner(query, variable_of(counted))
    if not (node.edges or node.terms) and owner is not query.root:
        node, known, ids = Node(query.ids_at(owner)), None, query.ids_at(owner)
        link = None
    if query.root.end in query.draft.group:
        node = replace(node, cls=known)
    cls = link.target if link is not None else node.cls or _kind(query, ids, known)
    node = replace(node, ids=node.ids if cls is None else query.schema.instances(cls), cls=cls)
    state = PartialMatch(node, query.state.used & ~part, 0.0, anchored=True)
    left = [slot for slot in query.slots if not slot.mask & part]
    whole = QueryBuilder(query.lookups, state, left)
    if link is not None:
        whole.take_link(link)
    operate(whole, tuple(one for one in query.made if not one.mask & part))
    return whole


def _kind(query: QueryBuilder, ids: Ids, known: str | None) -> str | None:
    """The smallest class that all of some nodes are of, larger than one that is known."""
    schema = query.schema
    own = schema.classes_of(int(ids[0])) if len(ids) else ()
    above = [up for one in own for up in schema.classes[one].parents if up in schema.classes]
    size = len(schema.instances(known)) if known is not None else 0
    fits = [one for one in (*own, *above) if schema.all_are(ids, one)]
    larger = [one for one in fits if len(schema.instances(one)) > size]
    return min(larger, key=lambda one: len(schema.instances(one)), default=None)


def _without(node: Node, part: int) -> Node:
    """A pattern without what some words say."""
    said = node.link is not None and not node.link.mask & ~part
    if node.quantity is not None:
        said = not bits(node.quantity.positions) & ~part
    typed = node.cls_link is not None and bool(node.cls_link.mask & part)
    edges = tuple(
        (edge, _without(child, part))
        for edge, child in node.edges
        if (named_words(child) or (edge.link.mask if edge.link is not None else 0)) & ~part
    )
    return replace(
        node,
        edges=edges,
        terms=() if said else node.terms,
        link=None if said else node.link,
        quantity=None if said else node.quantity,
        cls=None if typed else node.cls,
        cls_link=None if typed else node.cls_link,
        without=tuple(one for one in node.without if named_words(one) & ~part),
    )
