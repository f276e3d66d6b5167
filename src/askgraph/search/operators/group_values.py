"""Groups by their aggregates: the highest average, a total above a number."""

import math
from dataclasses import replace

from pyoxigraph import Variable

from askgraph.graph.literals import Sort
from askgraph.search import (
    DECIMAL,
    TEXT,
    aggregate,
    alias_of,
    number_term,
    values_of,
    variable_of,
)
from askgraph.search.grow import ACROSS, BESIDE, FAR, WORTH_NONE
from askgraph.search.linking.operators import COMPARING, Operator
from askgraph.search.linking.quantities import Quantity
from askgraph.search.operators import NUMERIC
from askgraph.search.operators.draft import Place
from askgraph.search.operators.naming import named_places, owner_of
from askgraph.search.operators.query_builder import Candidate, QueryBuilder, Spot
from askgraph.sparql import Call, Group, Nested, Query, variables_of

FUNCTIONS = {"average": "AVG", "sum": "SUM", "maximum": "MAX", "minimum": "MIN"}
"""The aggregates that groups are compared by."""


_WHOLE = 100.0
"""All, in percent."""
BY_SHOWN = "by_shown"
"""The note that the rows are grouped by what is shown."""
FEW = "few"
"""The note that groups have at most so many of something, or fewer than so many."""


def extreme_group(work: QueryBuilder, operator: Operator, *, descending: bool) -> bool:
    """ "The highest average X", "the lowest total X": the group with the most of an aggregate."""
    of = [one for one in work.frame.of("average", "sum") if 0 < one.first - operator.last <= 2]
    if not of or operator.mask & work.used:
        return False
    value = _value_of_group(work, operator, of[0])
    if value is None:
        return False
    work.draft.order.append((value, descending))
    limited(work, operator)
    return True


def bounded_group(work: QueryBuilder, operator: Operator) -> bool:
    """ "Whose average X is above 5": a condition on an aggregate of each group."""
    compared = _comparison_after(work, operator)
    if compared is None or work.frame.of("each"):
        return False
    comparison, sign = compared
    quantity = work.frame.quantity_after(comparison)
    if quantity is None or quantity.value is None:
        return False
    value = _value_of_group(work, operator, operator)
    if value is None:
        return False
    work.draft.having.append(Call(sign, (value, number_term(quantity.value))))
    work.take(comparison.mask, work.grower.weight_of(comparison.mask))
    work.take_quantity(quantity)
    return True


def _comparison_after(work: QueryBuilder, operator: Operator) -> tuple[Operator, str] | None:
    """The comparison that follows on the noun after an operator, and its sign."""
    slot = work.next_slot(operator.last, ACROSS)
    if slot is None or not _restricts(work, operator):
        return None
    for one in work.frame.of(*COMPARING, "comparative"):
        if 0 < one.first - slot.last <= BESIDE:
            sign = COMPARING.get(one.name, "")
            if one.measure is not None:
                sign = ">" if one.measure.up else "<"
            return one, sign
    return None


def _restricts(work: QueryBuilder, operator: Operator) -> bool:
    """Whether something is asked for before an operator, or shown."""
    named = [at for place in work.draft.places for at in place.words if at < operator.first]
    asked = [slot for slot in work.slots if slot.first < operator.first]
    return bool(named or asked or work.projected)


def _value_of_group(work: QueryBuilder, operator: Operator, mean: Operator) -> Call | None:
    """The aggregate that words after an operator name, of each group; groups are made."""
    slot = work.next_slot(mean.last, ACROSS)
    spot = work.spot(slot, sorts=NUMERIC)
    if slot is None or spot is None:
        return None
    place = _group_before(work, operator, spot)
    if place is not None:
        variable = work.take_spot(spot)
        _group(work, place)
    else:
        key = work.last_slot(operator.first, FAR)
        by = None if key is slot else work.spot(key)
        if key is None or by is None or by.predicate == spot.predicate:
            return None
        variable = work.take_spot(spot)
        work.group_by_value(work.shown(work.take_spot(by), by), key.first)
    work.take(mean.mask, work.grower.weight_of(mean.mask))
    return aggregated_value(work, FUNCTIONS[mean.name], variable)


def aggregated_value(work: QueryBuilder, function: str, variable: Variable) -> Call:
    """Return an aggregate of numbers; those that are stored as text are cast."""
    cast = cast_of(work, variable)
    return Call(function, (Call(cast, (variable,)),)) if cast else aggregate(function, variable)


def cast_of(work: QueryBuilder, variable: Variable) -> str:
    """Return what numbers stored as text, and days of several datatypes, are cast to, if so."""
    for (_, predicate, inverse), value in work.draft.attached.items():
        if value == variable and not inverse:
            if work.schema.sort(predicate) is Sort.TEXT_NUMBER:
                return DECIMAL
            if work.schema.is_mixed(predicate):
                return TEXT
    return ""


def group_counted(work: QueryBuilder, counted: Variable, operator: Operator) -> None:
    """Make one row for each thing that there are several of what is counted for.

    That is what the pattern starts at, or another thing named before an operator, above all if the
    first has no name; if there can only be one for each, what is shown makes the groups.
    """
    work.grouped = True
    place = next((one for one in work.draft.places if one.end == counted), None)
    named = [
        one
        for one in work.draft.places
        if any(at < operator.first for at in one.words) and isinstance(one.end, Variable)
    ]
    others = [one for one in named if one is not place and one is not work.root]
    if place is None or place is work.root or spreads(work, work.root, place):
        _group(work, work.root if place is None else _named_group(work, place, operator))
    elif others and spreads(work, others[0], place):
        _group(work, others[0])
    else:  # there is only one for each thing
        work.notes.append(BY_SHOWN)


def _named_group(work: QueryBuilder, counted: Place, operator: Operator) -> Place:
    """Return what the pattern starts at, if words before an operator do not name another well."""
    starts, _ = named_places(work)
    named = [place for at, place in starts.items() if at < operator.first and place is not counted]
    if work.root in named or counted is work.root:
        return work.root
    return next((one for one in named if spreads(work, one, counted)), work.root)


def _group(work: QueryBuilder, place: Place) -> None:
    """Make one row for each thing at a place, which is shown if nothing of it is."""
    if place is work.root or not _shows(work, place):
        work.group_by(place)
    elif isinstance(place.end, Variable) and place.end not in work.draft.group:
        work.draft.group.append(place.end)
        work.grouped = True


def spreads(work: QueryBuilder, start: Place, end: Place) -> bool:
    """Whether one thing at a place may go with several at another one."""
    above = []
    up: Place | None = start
    while up is not None:
        above.append(up)
        up = up.parent
    while end not in above and end.parent is not None and end.edge is not None:
        if _fans_out(work, end.edge.predicate, end.edge.inverse):
            return True
        end = end.parent
    for one in above[: above.index(end)] if end in above else ():
        if one.edge is not None and _fans_out(work, one.edge.predicate, not one.edge.inverse):
            return True
    return False


def _shows(work: QueryBuilder, place: Place) -> bool:
    """Whether words that are still to be shown name something of a place."""
    return any(
        (spot := work.spot(slot, owner=owner_of(work, slot.first, slot.last))) is not None
        and spot.place is place
        for slot in work.slots
        if work.is_left(slot) and slot.first < min(place.words, default=0)
    )


def _group_before(work: QueryBuilder, operator: Operator, spot: Spot) -> Place | None:
    """The thing named before an operator of which a number has several values."""
    for place in work.draft.places:
        named = any(at < operator.first for at in place.words)
        if named and isinstance(place.end, Variable) and has_several(work, place, spot):
            return place
    return None


def has_several(work: QueryBuilder, place: Place, spot: Spot) -> bool:
    """Whether what stands at a place may lead to several values of a spot."""
    if spot.path:
        fans = any(_fans_out(work, one.predicate, one.inverse) for one in spot.path)
        return place is spot.place and fans
    return not work.schema.is_functional(spot.predicate) or spreads(work, place, spot.place)


def _fans_out(work: QueryBuilder, predicate: int, inverse: bool) -> bool:
    """Whether a step leads from one thing to several."""
    return not work.schema.is_functional(predicate, inverse=inverse)


def limited(work: QueryBuilder, operator: Operator) -> None:
    """Keep so many of an order as the words beside an operator say: "the second", "the three"."""
    first, last = _ordinals(work, operator)
    count, offset = 1 + last - first, first - 1
    for quantity in work.reading.quantities:
        if quantity.value is None or not float(quantity.value).is_integer():
            continue
        if _is_numeral(work, quantity.first) and (
            abs(quantity.first - operator.last) == 1
            or operator.first - quantity.last == 1
            or quantity.last + 1 in work.root.words
        ):
            count = share_of_all(work, quantity) or max(1, int(quantity.value))
            work.take_quantity(quantity)
    work.draft.limit, work.draft.offset = count, offset


def share_of_all(work: QueryBuilder, quantity: Quantity) -> int | None:
    """Return so many percent of all things, at least one; None if it is no percentage."""
    if not work.reading.is_percent(quantity):
        return None
    following = [quantity.last + 1] if quantity.last + 1 < len(work.reading.tokens) else []
    said = work.reading.words.clauses["percent"]
    work.take_tokens(at for at in following if work.reading.folded[at] in said)
    share = (quantity.value or 0.0) / _WHOLE
    return max(1, math.ceil(len(work.ids_at(work.root)) * share))


def _ordinals(work: QueryBuilder, operator: Operator) -> tuple[int, int]:
    """The first and the last place of an order: "the second", "the third to fifth"."""
    words, lists, at = work.reading.folded, work.reading.words, operator.first - 1
    while at > 0 and at in work.root.words:  # "el segundo planeta más grande"
        at -= 1
    last = lists.ordinals.get(words[at], 0) if at >= 0 else 0
    if not last:
        return 1, 1
    before = at - 1 - (words[at - 1] in lists.clauses["through"])
    first = lists.ordinals.get(words[before], last) if before >= 0 else last
    if first >= last:
        first, before = last, at
    work.take_tokens(range(before, at + 1))
    return first, last


def _is_numeral(work: QueryBuilder, at: int) -> bool:
    """Whether a number says how many: it is not that of a noun before it ("room 111")."""
    before = at - 1
    return at == 0 or work.reading.is_stop(before) or bool(work.frame.mask >> before & 1)


def group_count(work: QueryBuilder) -> Call | None:
    """Take the number of groups off the columns: "how many planets have more than two moons"."""
    draft = work.draft
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


def with_none(work: QueryBuilder, candidate: Candidate) -> Candidate | None:
    """Return a candidate for groups of few things that has those of none, too, if there are such.

    What is counted, and all that hangs on it alone, need not be there then.
    """
    tree, draft = candidate.tree, work.draft
    if not (draft.having and draft.group):
        return None
    group, counted = draft.group[0], variable_of(draft.having[0].arguments[0])
    place = next((one for one in draft.places if one.end == group), None)
    if place is None or place.node.cls is None or len(draft.having) > 1 or tree.order:
        return None
    every = work.schema.instances(place.node.cls)
    if len(every) == len(work.ids_at(place)) or draft.averages or draft.denied:
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
        ids=every if place is work.root else candidate.ids,
        gain=candidate.gain + WORTH_NONE,
    )
