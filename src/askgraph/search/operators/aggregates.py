"""Counts, averages, sums, and a row for each: how many, on average, in total, per."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import partial
from itertools import takewhile

from pyoxigraph import Variable

from askgraph.graph.literals import Sort
from askgraph.index import stem
from askgraph.search import Value, aggregate, alias_of, function_of, variable_of
from askgraph.search.grow import ACROSS, APART, BESIDE, WORTH_OPERATOR
from askgraph.search.linking.operators import Operator, is_listed_count
from askgraph.search.operators import DATED, NUMERIC, Slot
from askgraph.search.operators.draft import Place
from askgraph.search.operators.group_values import aggregated_value, bounded_group, spreads
from askgraph.search.operators.query_builder import (
    LISTED,
    PAIRED,
    Candidate,
    Handlers,
    QueryBuilder,
    Spot,
    unnamed_spot,
)
from askgraph.sparql import Bind, Call, Expression, Group, Query
from askgraph.sparql.elapsed import elapsed

_DATED = (Sort.DATE, Sort.YEAR)
AGGREGATING = ("average", "sum", "minimum", "maximum", "superlative", "most", "fewest")
"""Operators that may be aggregates of one number, beside each other."""


def each(work: QueryBuilder, operator: Operator) -> bool:
    """ "For each X": one row for each thing, or for each value, that X names."""
    slot, place = work.next_slot(operator.last), work.next_place(operator.last)
    if work.reading.folded[operator.last] in work.reading.words.clauses["rate"]:
        work.notes.append("rate")
    if place is not None and (slot is None or _comes_first(place, slot)):
        work.group_by(place)
        return True
    spot = work.spot(slot)
    if slot is None or spot is None:
        return False
    work.group_by_value(work.shown(work.take_spot(spot), spot), slot.first, asked=False)
    return True


def _comes_first(place: Place, slot: Slot) -> bool:
    """Whether a place is named before a slot, and not by the first of several words of it."""
    first = min(place.words)
    return first < slot.first or (first == slot.first and slot.first == slot.last)


_NAMED = 0.6
"""The word "year" is so much of a date's name that this very date is meant."""
_AGGREGATING = (
    *("count", "average", "sum", "minimum", "maximum"),
    *("most", "fewest", "superlative", "lasting", "measure"),
)


def yearly(work: QueryBuilder, operator: Operator) -> bool:
    """ "Per year": a row for each year of a date; how many things it is if nothing else is said."""
    spot = _dated(work, operator)
    if spot is None:
        return False
    date = work.take_spot(spot)
    if work.schema.sort(spot.predicate) in (Sort.DATE, Sort.TEXT_DATE):
        date = work.draft.compute("year", Call("YEAR", (date,)))
    work.group_by_value(date, operator.first, asked=False)
    if not work.frame.of(*_AGGREGATING):
        work.notes.append("rate")
    return True


def _dated(work: QueryBuilder, operator: Operator) -> Spot | None:
    """The date whose years are meant: one that words name, else the start of a span, else any."""
    named = [slot for slot in work.slots if work.is_left(slot)]
    for slot in sorted(named, key=lambda one: not one.mask & operator.mask):
        spot = work.spot(slot, sorts=DATED)
        if spot is not None and not spot.path and _is_meant(spot, operator):
            return spot
    present = work.predicates_at(work.root)
    starts = (start for start, end, _ in work.schema.spans if {start, end} & {*present})
    start = next((one for one in starts if one in present), None)
    return work.only(DATED) if start is None else unnamed_spot(work.root, start)


def _is_meant(spot: Spot, operator: Operator) -> bool:
    """Whether words that name a date are more than the "year" of "per year"."""
    others = [at for at in spot.link.positions if at not in operator.positions]
    return bool(others) or spot.link.score * spot.link.quality >= _NAMED


def counted_rate(work: QueryBuilder) -> None:
    """ "Launches per country": without another measure, it is how many there are."""
    draft, counted = work.draft, work.root.end
    bare = len(work.projected) == len(draft.group) and not (draft.columns or draft.order)
    free = isinstance(counted, Variable) and counted not in draft.group
    if "rate" in work.notes and bare and free:
        draft.columns.append(aggregate("COUNT", variable_of(counted), distinct=True))


def count(work: QueryBuilder, operator: Operator) -> bool:
    """ "How many X": count things; if X is a number in the graph, leave it to be shown."""
    slot, place = work.next_slot(operator.last), work.next_place(operator.last)
    if _is_aggregated(work, operator):
        return True
    if _per_value(work, operator):
        place = work.root
    elif is_listed_count(work.reading, operator.last):
        place = work.next_place(operator.last, len(work.reading.tokens))
        work.notes.append(LISTED)
    elif slot is not None and (
        place is None or slot.first <= min(place.words) or _is_compound(work, place, slot)
    ):
        return _count_values(work, operator, slot)
    if place is None and work.spot(work.last_slot(operator.first, 1), sorts=NUMERIC) is not None:
        return True  # "employee count": the slot itself is shown
    place = place or work.root
    if not isinstance(place.end, Variable) or work.is_statement(place):
        return False
    if _states_number(work, place):
        return True
    work.draft.columns.append(aggregate("COUNT", place.end, distinct=True))
    return True


def _is_aggregated(work: QueryBuilder, operator: Operator) -> bool:
    """Whether it is a number that an aggregate beside it has taken: "the average number of"."""
    reading, over = work.reading, work.frame.of("average", "sum", "minimum", "maximum")
    gaps = (range(min(one.last, operator.last) + 1, max(one.first, operator.first)) for one in over)
    joining = reading.words.joining
    if not any(
        all(reading.is_stop(n) and reading.folded[n] not in joining for n in g) for g in gaps
    ):
        return False
    near = range(operator.first, operator.last + BESIDE + 1)
    return any(slot.first in near and not work.is_left(slot) for slot in work.slots)


def _count_values(work: QueryBuilder, operator: Operator, slot: Slot) -> bool:
    """Count the values that a slot names, or leave a number to be shown, or added up."""
    spot = work.spot(slot)
    if spot is None:
        return False
    number = work.schema.sort(spot.predicate) is Sort.NUMBER
    several = number and not spot.inverse and not work.schema.is_functional(spot.predicate)
    distinct = not number or _counts_values(work, operator)
    if not distinct and not several:
        if _is_total(work, operator) or _is_quantity(work, spot):
            return aggregated(work, operator, "SUM")
        if not _is_of_groups(work, spot):
            return False
        if _names_many(work, spot):
            return aggregated(work, operator, "SUM")
        distinct = True  # the section, the room: each has its number
    counted = work.take_spot(spot)
    work.draft.columns.append(aggregate("COUNT", counted, distinct=distinct))
    return True


def _is_quantity(work: QueryBuilder, spot: Spot) -> bool:
    """Whether a predicate called by a plural ("beds") says how many of it several things have.

    No word names these things, so that they are not what the number is asked of.
    """
    ids = work.ids_at(spot.place)
    if len(ids) < 2 or spot.path or work.root.words or work.frame.of("each", "yearly"):
        return False
    if work.frame.asks != "number":
        return False  # "the name and number of beds of …"
    return _names_many(work, spot)


def _names_many(work: QueryBuilder, spot: Spot) -> bool:
    """Whether a predicate is called by a plural."""
    names = [text.split() for text in work.schema.texts(spot.predicate)]
    return any(words and stem(words[-1]) != words[-1] for words in names)


def _is_of_groups(work: QueryBuilder, spot: Spot) -> bool:
    """Whether a number of things is asked for each of something else: "beds per city"."""
    if spot.path or spot.place is not work.root:
        return False
    for one in work.frame.of("each"):
        slot, place = work.next_slot(one.last), work.next_place(one.last)
        if place is not None and (slot is None or _comes_first(place, slot)):
            alike = _classes_at(work, place) == _classes_at(work, spot.place)
            return not alike and spreads(work, place, spot.place)
        by = work.spot(slot)
        if by is not None and by.place is spot.place and by.predicate != spot.predicate:
            return not work.schema.is_functional(by.predicate, inverse=not by.inverse)
        if by is not None and slot is not None:
            return False
    return (
        bool(work.draft.group) and spot.place.end not in work.draft.group and "each" in work.notes
    )


def _classes_at(work: QueryBuilder, place: Place) -> tuple[str, ...]:
    return work.schema.classes_of(int(place.node.ids[0])) if len(place.node.ids) else ()


def _states_number(work: QueryBuilder, place: Place) -> bool:
    """Whether a place is a statement whose value is a number: that is shown, not counted."""
    leading = [edge for edge, _ in place.node.edges if edge.inverse]
    leading += [place.edge] if place.edge and not place.edge.inverse else []
    values = (work.schema.stated(place.node.ids, one.predicate) for one in leading)
    return any(v is not None and work.schema.sort(v) is Sort.NUMBER for v in values)


def _per_value(work: QueryBuilder, operator: Operator) -> bool:
    """Make a row for each of the values that "and" joins before the noun: male and female pupils.

    Or if each has a count of its own: "how many are male and how many are female".
    """
    noun, counts = work.root.node.cls_link, work.frame.of("count")
    for place in work.draft.places:
        link = place.node.link
        if link is None or noun is None or len(place.node.terms) < 2 or place is work.root:
            continue
        first, last = link.positions[0], link.positions[-1]
        joins = [one for one in work.frame.of("and") if 0 < one.first - last <= BESIDE]
        before = operator.last < first <= last < noun.positions[0]
        again = any(0 < one.first - join.last <= 2 for join in joins for one in counts)
        if joins and (before or again) and first not in dict(work.projected):
            work.group_by_value(work.named(place), first)
            work.notes.append(LISTED)
            return True
    return False


def _is_compound(work: QueryBuilder, place: Place, slot: Slot) -> bool:
    """ "Movie directors": a noun in the plural right behind a class in the singular."""
    link, tokens, spot = place.node.cls_link, work.reading.tokens, work.spot(slot)
    if link is None or link.positions[-1] + 1 != slot.first:
        return False
    if spot is None or spot.place is not place:
        return False
    modifier, head = tokens[link.positions[-1]], tokens[slot.last]
    return modifier.stem == modifier.folded and head.stem != head.folded


def _counts_values(work: QueryBuilder, operator: Operator) -> bool:
    """Whether words say that equal numbers count once: "how many different"."""
    distinct = {phrase[0] for phrase in work.reading.words.operators["distinct"]}
    return any(work.reading.tokens[at].folded in distinct for at in operator.positions)


def _is_total(work: QueryBuilder, operator: Operator) -> bool:
    """Whether words say that numbers are added up: "the total number of employees"."""
    totals = work.reading.words.clauses["totals"]
    return any(work.reading.folded[at] in totals for at in operator.positions)


def alone(work: QueryBuilder, operator: Operator) -> bool:
    """Whether nothing else is asked for before the operator: "what is the maximum …".

    What the rows are grouped by does not count.
    """
    asked = [s for s in work.slots if s.first < operator.first and work.is_left(s)]
    named = [
        place
        for place in work.draft.places
        for at in place.words
        if at < operator.first and place.end not in work.draft.group
    ]
    return not asked and not named and work.zones.is_head(operator.first)


def enumerated(work: QueryBuilder, operator: Operator) -> tuple[Operator, ...]:
    """The operators that share a noun with one: "the minimum, average and maximum price"."""
    listed = work.frame.of(*AGGREGATING)
    at = next((n for n, one in enumerate(listed) if one.first == operator.first), None)
    if at is None:
        return (operator,)
    first = last = at
    while first and _adjoin(work, listed[first - 1], listed[first]):
        first -= 1
    while last + 1 < len(listed) and _adjoin(work, listed[last], listed[last + 1]):
        last += 1
    return listed[first : last + 1]


def _adjoin(work: QueryBuilder, one: Operator, other: Operator) -> bool:
    """Whether a comma or a conjunction, and articles at most, part two operators."""
    between = range(one.last + 1, other.first)
    if any(not work.reading.is_stop(at) for at in between):
        return False
    tokens = work.reading.tokens
    gap = work.reading.text[tokens[one.last].end : tokens[other.first].start]
    return "," in gap or any(tokens[at].folded in work.reading.words.joining for at in between)


def is_column(work: QueryBuilder, operator: Operator) -> bool:
    """Whether an extreme is a column of its own, of a number that is named right after.

    It is listed with other aggregates, or after what is shown: "each type and the maximum price".
    """
    among = enumerated(work, operator)
    first = among[0].first
    opened = all(work.reading.is_stop(at) for at in range(first))
    listed = not opened and work.zones.is_listed(first) and work.zones.is_head(first)
    if not listed and (len(among) == 1 or _is_had(work, among)):
        return False
    last = among[-1].last
    slot, place = work.next_slot(last, ACROSS), work.next_place(last, ACROSS)
    before = place is not None and slot is not None and min(place.words) < slot.first
    return not before


def _is_had(work: QueryBuilder, among: Sequence[Operator]) -> bool:
    """ "What has the highest and the lowest X": both say which is meant, not what is shown."""
    before = takewhile(work.reading.is_stop, range(among[0].first - 1, -1, -1))
    words = [work.reading.tokens[at].folded for at in before]
    lists = work.reading.words
    if any(one.name in ("average", "sum") for one in among) or work.frame.of("each"):
        return False
    having = any(word in lists.texts["has"] for word in words)
    return having and not any(word in lists.clauses["possessive"] for word in words)


def aggregated(work: QueryBuilder, operator: Operator, function: str) -> bool:
    """ "The average X": show an aggregate of the number that the words after an operator name.

    Also of those that are listed with it: "the average X and Y".
    """
    if operator.name in ("average", "sum") and bounded_group(work, operator):
        return True
    sorts = NUMERIC if function in ("AVG", "SUM") else (*NUMERIC, *_DATED)
    variables = _aggregands(work, operator, sorts)
    if not variables:
        return False
    for variable in variables:
        work.draft.columns.append(aggregated_value(work, function, variable))
    _per_value(work, operator)
    return True


def _aggregands(work: QueryBuilder, operator: Operator, sorts: Sequence[Sort]) -> list[Variable]:
    """The numbers that an aggregate is over; several aggregates may share one."""
    slot = work.next_slot(operator.last, ACROSS)
    spot = None if slot is None or _parted(work, operator, slot) else work.spot(slot, sorts=sorts)
    if slot is not None and spot is not None:
        others = work.frame.of(*AGGREGATING)
        among = enumerated(work, operator)
        shared = among[-1].first > operator.first or any(
            0 < one.first - operator.last <= BESIDE and one.last < slot.first for one in others
        )
        if shared:
            return [work.hang(spot)]
        return [work.take_spot(spot), *_listed_with(work, slot)]
    for column in work.draft.columns:
        if isinstance(column, Call) and function_of(column) != "COUNT":
            return [variable_of(column)]
    return _said_before(work, operator)


def _listed_with(work: QueryBuilder, first: Slot) -> Iterator[Variable]:
    """The numbers that are listed right after another, no operator between."""
    last = first.last
    while (slot := work.next_slot(last, BESIDE)) is not None:
        between = range(last + 1, slot.first + 1)
        taken = any(one.first in between for one in work.frame.operators if one.name != "and")
        joined = _joined(work, range(last + 1, slot.first))
        spot = work.spot(slot, sorts=NUMERIC) if joined and not taken else None
        if spot is None or _parts_rows(work, slot):
            return
        yield work.take_spot(spot)
        last = slot.last


def _parts_rows(work: QueryBuilder, slot: Slot) -> bool:
    """Whether the same noun comes again after "each"."""
    tokens = work.reading.tokens
    nouns = {tokens[at].stem for at in range(slot.first, slot.last + 1)}
    if any(tokens[one.last].stem in nouns for one in work.frame.of("yearly")):
        return True
    return any(
        tokens[at].stem in nouns
        for one in work.frame.of("each")
        for at in range(max(one.last, slot.last) + 1, min(one.last + 1 + BESIDE, len(tokens)))
    )


def _parted(work: QueryBuilder, operator: Operator, slot: Slot) -> bool:
    """Whether a sentence ends between an operator and a noun."""
    tokens = work.reading.tokens
    between = work.reading.text[tokens[operator.last].end : tokens[slot.first].start]
    return any(mark in between for mark in ".?!;")


def _joined(work: QueryBuilder, between: range) -> bool:
    """Whether a comma or a conjunction stands between two nouns, and nothing of content."""
    tokens, reading = work.reading.tokens, work.reading
    gap = reading.text[tokens[between.start - 1].end : tokens[between.stop].start]
    words = {tokens[at].folded for at in between}
    stops = all(reading.is_stop(at) for at in between)
    return stops and ("," in gap or bool(words & reading.words.joining))


def _said_before(work: QueryBuilder, operator: Operator) -> list[Variable]:
    """The number that is asked for before the operator: "how old are they on average"."""
    for shown in reversed(work.projected):
        numeric = any(
            work.schema.sort(predicate) in NUMERIC and not inverse
            for (_, predicate, inverse), variable in work.draft.attached.items()
            if variable == shown[1]
        )
        if shown[0] < operator.first and numeric:
            work.projected.remove(shown)
            return [shown[1]]
    spot = work.spot(work.last_slot(operator.first, APART), sorts=NUMERIC)
    return [] if spot is None else [work.take_spot(spot)]


def reckoned(work: QueryBuilder, candidate: Candidate) -> Candidate:
    """Return what is reckoned from what a candidate shows; it stays as it is if nothing is."""
    for operator in work.frame.of("difference", "ratio")[:1]:
        candidate = _of_two(work, operator, candidate)
    if work.frame.mean_count is not None:
        candidate = _average_of_counts(work, work.frame.mean_count, candidate)
    return candidate


def _of_two(work: QueryBuilder, operator: Operator, candidate: Candidate) -> Candidate:
    """Return the difference or the ratio of the two numbers or dates that a candidate shows.

    It stays as it is if there are not just two of them.
    """
    draft = work.draft
    sorts = {value: work.schema.sort(number) for (_, number, _), value in draft.attached.items()}
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
    return replace(
        candidate,
        tree=tree,
        shown=(*shown, value),
        hints=draft.hints,
        used=candidate.used | operator.mask,
        shown_words=candidate.shown_words | operator.mask,
        gain=candidate.gain + WORTH_OPERATOR + work.grower.weight_of(operator.mask),
        notes=(*candidate.notes, PAIRED),
    )


def _average_of_counts(work: QueryBuilder, operator: Operator, candidate: Candidate) -> Candidate:
    """Return the average of what a candidate counts for each of its groups: "moons per planet".

    It stays as it is if it counts in no groups, or only some of them.
    """
    tree, draft = candidate.tree, work.draft
    counts = [one for one in candidate.shown if isinstance(one, Call)]
    whole = not (tree.having or tree.limit is not None or candidate.used & operator.mask)
    if not (tree.group_by and whole) or list(map(function_of, counts)) != ["COUNT"]:
        return candidate
    number = Call("AVG", (alias_of(counts[0]),))
    each_one = replace(tree, distinct=False, order=())
    return replace(
        candidate,
        tree=Query("SELECT", Group((each_one,)), columns=((alias_of(number), number),)),
        shown=(number,),
        hints=draft.hints,
        used=candidate.used | operator.mask,
        shown_words=candidate.shown_words | operator.mask,
        gain=candidate.gain + WORTH_OPERATOR + work.grower.weight_of(operator.mask),
        notes=(*candidate.notes, PAIRED),
    )


HANDLERS: Handlers = {
    "each": each,
    "yearly": yearly,
    "count": count,
    "average": partial(aggregated, function="AVG"),
    "sum": partial(aggregated, function="SUM"),
}
