"""Operators that compare: values, texts, what exists and what must not."""

from collections.abc import Set
from dataclasses import replace

import numpy as np
from pyoxigraph import Literal, Variable

from askgraph.index.names import Kind
from askgraph.search.expand import APART, BESIDE, DOUBT_PATH, FAR, NEAR, Edge, Node
from askgraph.search.expand.schema import truths_of
from askgraph.search.link import Link
from askgraph.search.operators.aggregates import FEW, FUNCTIONS, cast_of, group_counted
from askgraph.search.operators.query_builder import (
    DATED,
    FIRST_DAY,
    NUMERIC,
    Place,
    QueryBuilder,
    Spot,
    bounding_day,
    unnamed_spot,
    year_of,
)
from askgraph.search.operators.times import (
    asked_span,
    by_dimension,
    compared_age,
    compared_nodes,
    is_dated,
    is_point,
    number_of,
    overlapping,
    spanned,
)
from askgraph.search.query_pieces import (
    DECIMAL,
    INTEGER,
    aggregate,
    aggregate_of,
    alias_of,
    condition,
    denied,
    number_term,
    pattern,
    term_of,
)
from askgraph.search.tokenize import Quantity
from askgraph.search.tokenize.question_operators import COMPARING, Operator, held_text, holder_of
from askgraph.search.tokenize.word_lists import shared_words
from askgraph.sparql import Call, Pattern, Term
from askgraph.traversal import Ids, in_both
from askgraph.traversal.literals import Sort, day_number, split_literal

_MOST = 20_000
"""Up to so many values are looked at for the text; of more it is taken to be there."""


def quoting(work: QueryBuilder, operator: Operator, function: str) -> bool:
    """ "Containing 'x'", "starting with 'x'", "with the letter x in its name"."""
    held = held_text(work.reading, operator.positions)
    if held is None or any(work.used >> at & 1 for at in held):
        return False
    spot = _holding(work, operator, held)
    if spot is None or not _limited(work, spot, function, held):
        return False
    kinds = work.reading.words.texts["kinds"]
    between = range(operator.last, held.start)
    work.take_tokens(at for at in between if work.reading.folded[at] in kinds)
    return True


def called(work: QueryBuilder, operator: Operator) -> bool:
    """ "Gemini flights": those whose names hold the word."""
    beside = {operator.first - 1, operator.last + 1}
    place = next((one for one in work.draft.places if beside & {*one.words}), None)
    if place is None:
        return False
    ids = work.ids_at(place)
    names = sorted(work.schema.naming & work.lookups.present(ids, inverse=False))
    if not names:
        return False
    name = work.schema.any_name(ids) or names[0]
    held = range(operator.first, operator.last + 1)
    return _limited(work, unnamed_spot(place, name), "CONTAINS", held)


def _limited(work: QueryBuilder, spot: Spot, function: str, held: range) -> bool:
    """Keep what has a value with the text of some tokens; False if nothing has."""
    tokens = work.reading.tokens
    text = work.reading.text[tokens[held.start].start : tokens[held.stop - 1].end]
    bearers = _bearers(work, spot, function, text.lower())
    if bearers is not None:
        if not len(bearers):
            return False
        work.keep(spot.place, bearers)
    variable = work.take_spot(spot)
    if spot.slot is not None and work.zones.is_head(spot.slot.first) and not work.draft.columns:
        work.shown_words |= spot.slot.mask
        work.projected.append((spot.slot.first, variable))
    work.draft.filters.append(condition(variable, function, Literal(text)))
    work.take_tokens(held)
    return True


def _holding(work: QueryBuilder, operator: Operator, held: range) -> Spot | None:
    """The value that holds the text: named after it ("in its title"), named before, or the name."""
    holder = holder_of(work.reading, held)
    slot = work.next_slot(holder, 2) if holder is not None else None
    slot = slot or work.last_slot(operator.first + 1, NEAR) or work.next_slot(held.stop - 1, 2)
    named = [
        (max(at for at in place.words if at < operator.first), -place.below, index, place)
        for index, place in enumerate(work.draft.places)
        if any(operator.first - APART - NEAR <= at < operator.first for at in place.words)
        and work.lookups.is_resource(place.node.ids)
    ]
    near = max(named)[3] if named else work.root
    if slot is not None:
        for _, link, number in work.lookups.named_by(slot, ()):
            at_hand = work.lookups.applies(work.ids_at(near), number, False)
            if at_hand and work.schema.sort(number) is not Sort.NONE:
                return Spot(near, number, False, link, slot=slot)
        spot = work.spot(slot)
        if spot is not None and work.schema.sort(spot.predicate) is not Sort.NONE:
            return spot
        if spot is not None and not spot.path:
            ids = work.graph.step(work.ids_at(spot.place), spot.predicate, inverse=spot.inverse)
            name = work.schema.any_name(ids)
            if name is None:
                return None
            variable = work.take_spot(spot)
            known = next((place for place in work.draft.places if place.end == variable), None)
            place = known or Place(variable, Node(ids), spot.place.below + 1)
            if known is None:
                work.draft.places.append(place)
            return unnamed_spot(place, name)
    name = work.schema.any_name(work.ids_at(near))
    return None if name is None else unnamed_spot(near, name)


def _bearers(work: QueryBuilder, spot: Spot, function: str, text: str) -> Ids | None:
    """The things at a spot whose value holds the text; None if there are too many to say."""
    if spot.path:
        return None
    bearers, objects = work.graph.pairs(work.ids_at(spot.place), spot.predicate)
    if len(objects) > _MOST:
        return None
    holds = {"CONTAINS": str.__contains__, "STRSTARTS": str.startswith, "STRENDS": str.endswith}[
        function
    ]
    first, terms = work.graph.terms.first_iri, work.graph.terms
    values = {
        at: at < first and holds(split_literal(terms.text(at))[0].lower(), text)
        for at in np.unique(objects).tolist()
    }
    kept = np.array([values[at] for at in objects.tolist()], dtype=np.bool_)
    return in_both(np.unique(bearers[kept]), work.ids_at(spot.place))


_DATES = DATED
_LISTED = 500
"""Values that are looked at for what datatypes they are of."""
_NAME = 0.95
"""A number belongs to a thing's name that is so well said."""
_SOON = 2
"""So many words after a comparison an average is what is compared with."""
_MEASURED = (*NUMERIC, *_DATES)


def comparison(work: QueryBuilder, operator: Operator) -> bool:
    """ "More than 5 X", "before 1990": a condition on a value, or on how many there are."""
    after, before = _number_after(work, operator), work.frame.quantity_before(operator, 1)
    quantity = before if operator.name in ("at_least", "at_most") and before else after
    sign: str | None = COMPARING.get(operator.name)
    if sign is not None and _is_denied(work, operator):
        sign = _DENIED[sign]
    if quantity is not None and any(work.used >> at & 1 for at in quantity.positions):
        return False
    if quantity is None or sign is None:
        return _against(work, operator, sign)
    taken = operator.mask | sum(1 << at for at in quantity.positions)
    temporal = operator.name in ("before", "after")
    unit = work.next_place(quantity.last, 2)
    if unit is not None and not temporal:
        return _counted_against(work, operator, quantity, sign)
    if not temporal and _of_unit(work, operator, quantity, sign):
        return True
    spot = _compared(work, operator, quantity, temporal)
    if spot is None:
        return not temporal and _counted_against(work, operator, quantity, sign)
    if not (temporal and _ended_in(work, operator, spot, quantity)):
        bound(work, spot, quantity, sign, since=_is_said(work, operator, "since"))
    work.take(taken, sum(work.weights[at] for at in quantity.positions))
    return True


def _number_after(work: QueryBuilder, operator: Operator) -> Quantity | None:
    """The number after an operator, if it is not the end of a thing's name: "before Apollo 12"."""
    quantity = work.frame.quantity_after(operator)
    if quantity is None:
        return None
    named = any(
        link.score >= _NAME and operator.last < link.positions[0] < quantity.first
        for link in work.linked.of(Kind.ENTITY)
        if quantity.first in link.positions
    )
    return None if named else quantity


def _of_unit(work: QueryBuilder, operator: Operator, quantity: Quantity, sign: str) -> bool:
    """ "More than 30 years old", or a number with its unit at a node that words near by name."""
    following = quantity.measured.stop
    if quantity.unit is not None and following < len(work.reading.tokens):
        word = work.reading.tokens[following].folded
        for measure in work.reading.words.adjectives.get(word, ()):
            if measure.degree != "plain" or quantity.value is None:
                continue
            old = replace(operator, measure=measure)
            spot = work.by_words(measure.measures, NUMERIC)
            if spot is not None and _fits(work, spot.predicate, quantity):
                bound(work, spot, quantity, sign)
            elif not measure.is_age or not compared_age(work, old, quantity.value, sign):
                continue
            work.take_tokens(range(quantity.first, following + 1))
            return True
    near = (work.last_slot(operator.first, APART), work.next_slot(quantity.last, BESIDE))
    return compared_nodes(work, [s for s in near if s is not None], quantity, sign)


def _compared(
    work: QueryBuilder, operator: Operator, quantity: Quantity, temporal: bool
) -> Spot | None:
    """The predicate whose value is compared: named before, named after, or by its measure."""
    sorts: tuple[Sort, ...] = NUMERIC + DATED if quantity.days is not None else NUMERIC
    sorts = DATED if temporal else sorts
    near = [
        work.last_slot(operator.first, APART),
        work.next_slot(quantity.last, BESIDE),
        work.next_slot(operator.last, 2),
    ]
    for slot in near:
        spot = work.spot(slot, sorts=sorts)
        if spot is not None and _fits(work, spot.predicate, quantity):
            work.use_spot(spot)
            return spot
    if operator.measure is not None:
        last = operator.first - 1  # "people older than 30", "people who are older"
        while work.reading.is_stop(last) and last > 0:
            last -= 1
        joined = last + 1 == operator.first or (
            work.reading.folded[last + 1] in work.reading.words.clauses["restrict"]
        )
        beside = next((one for one in work.draft.places if joined and last in one.words), None)
        for words in (operator.measure.measures, operator.measure.dates):
            spot = work.by_words(words, sorts, first=beside)
            if spot is not None and _fits(work, spot.predicate, quantity):
                return spot
        return by_dimension(work, quantity)
    if temporal:
        found = _span_spot(work, operator) or work.only(DATED)
        dates = sorted(shared_words().names["dates"], reverse=True)
        return found or work.by_words(dates, NUMERIC + DATED)
    reused = [
        replace(unnamed_spot(place, predicate), inverse=inverse)
        for (end, predicate, inverse) in work.draft.attached
        for place in work.draft.places
        if place.end == end and work.schema.sort(predicate) in sorts
    ]
    return reused[0] if reused else by_dimension(work, quantity)


def _counted_against(work: QueryBuilder, operator: Operator, quantity: Quantity, sign: str) -> bool:
    """ "More than two X": a condition on how many things X names."""
    if quantity.value is None:
        return False
    place = work.next_place(quantity.last, BESIDE)
    if place is work.root and isinstance(place.end, Variable):
        counted = place.end if _grouped_before(work, operator) else None
    elif place is not None and isinstance(place.end, Variable):
        counted = place.end
    else:
        spot = work.spot(work.next_slot(quantity.last, BESIDE))
        counted = work.take_spot(spot) if spot is not None and not _is_single(work, spot) else None
    if counted is None:
        return False
    count = aggregate("COUNT", counted, distinct=True)
    work.draft.having.append(Call(sign, (count, number_term(quantity.value))))
    work.notes += [FEW] if sign in ("<", "<=") else []
    if not work.draft.group:
        group_counted(work, counted, operator)
    work.grouped = True
    work.take_quantity(quantity)
    return True


def _is_single(work: QueryBuilder, spot: Spot) -> bool:
    """Whether each thing has one value at most, so that there is nothing to count."""
    single = work.schema.is_functional(spot.predicate, inverse=spot.inverse)
    return single and not spot.path and spot.place is work.root


def _grouped_before(work: QueryBuilder, operator: Operator) -> bool:
    """ "Grades that have at least 4 students": one row for each value named before."""
    slot = work.last_slot(operator.first, APART)
    spot = work.spot(slot)
    if slot is None or spot is None:
        return False
    work.group_by_value(work.shown(work.take_spot(spot), spot), slot.first)
    return True


def comparative(work: QueryBuilder, operator: Operator) -> bool:
    """ "Taller than 90", "larger than Mars": a condition on what the adjective measures."""
    measure = operator.measure
    if measure is None:
        return False
    joined = (work.reading.folded[operator.first],) in work.reading.words.operators["or"]
    before = work.frame.quantity_before(operator, 1) if joined else None
    quantity = before or _number_after(work, operator)
    if quantity is None:
        return _against(work, operator, ">" if measure.up else "<")
    spot = _compared(work, operator, quantity, False)
    dated = spot is not None and is_dated(work.schema, spot.predicate, measure)
    sign = "<" if measure.up == dated else ">"
    sign = _DENIED[sign] if _is_denied(work, operator) else sign + "=" * joined
    if spot is not None:
        bound(work, spot, quantity, sign)
    elif (
        not measure.is_age
        or quantity.value is None
        or not compared_age(work, operator, quantity.value, sign)
    ):
        return False
    work.take_quantity(quantity)
    return True


_DENIED = {">": "<=", "<": ">=", ">=": "<", "<=": ">", "=": "!="}


def _is_denied(work: QueryBuilder, operator: Operator) -> bool:
    """Whether a "not" stands right before: "not higher than"."""
    return any(one.last + 1 == operator.first for one in work.frame.of("not"))


def _against(work: QueryBuilder, operator: Operator, sign: str | None) -> bool:
    """Compared with the average or an extreme of all, or with the value of another thing."""
    if sign is None:
        return False
    near = (op for op in work.frame.of(*FUNCTIONS, "superlative") if op.first > operator.last)
    mean = next((op for op in near if op.first - operator.last <= _SOON), None)
    if mean is not None and mean.name != "sum":
        return _against_aggregate(work, operator, mean, sign)
    return _against_property(work, operator, sign) or any(
        _against_thing(work, operator, link, sign)
        for link in work.linked.of(Kind.ENTITY, Kind.VALUE)
        if 0 < link.positions[0] - operator.last <= BESIDE and work.grower.gain(link, work.used)
    )


def _against_property(work: QueryBuilder, operator: Operator, sign: str) -> bool:
    """ "Whose height is greater than its width", "a higher price than cost": of one thing."""
    reading = work.reading
    after = work.next_slot(operator.last, APART)
    before = work.last_slot(operator.first, APART)
    than = reading.words.clauses["than"]
    if after is not None and any(
        reading.folded[at] in than for at in range(after.last + 1, len(reading.tokens))
    ):
        before, after = after, work.next_slot(after.last, APART)
    mine, theirs = (work.spot(one, sorts=_MEASURED) for one in (before, after))
    if mine is None or theirs is None or mine.predicate == theirs.predicate:
        return False
    numbers = {work.schema.sort(one.predicate) in NUMERIC for one in (mine, theirs)}
    if mine.place is not theirs.place or mine.path or theirs.path or len(numbers) > 1:
        return False
    value, other = work.take_spot(mine), work.take_spot(theirs)
    cast = cast_of(work, value) or cast_of(work, other)
    if cast:
        return False  # texts that read as numbers cannot be compared with each other
    dated = operator.measure is not None and True not in numbers
    turned = _TURNED[sign] if dated else sign
    work.draft.filters.append(condition(value, turned, other))
    work.notes.append("own")
    return True


_TURNED = {">": "<", "<": ">", ">=": "<=", "<=": ">="}


def _against_aggregate(work: QueryBuilder, operator: Operator, mean: Operator, sign: str) -> bool:
    near = (work.next_slot(mean.last, BESIDE), work.last_slot(operator.first, APART))
    spots = [one for slot in near if (one := work.spot(slot, sorts=NUMERIC))]
    spot = spots[0] if spots else None
    if spot is not None:
        for one in spots:
            if one.predicate == spot.predicate:  # "a height below the average height"
                work.use_spot(one)
    elif operator.measure is not None:
        spot = work.by_words(operator.measure.measures, NUMERIC)
    if spot is None:
        return False
    variable = work.hang(spot)
    other = work.draft.variable(work.draft.hints[variable])
    member = work.draft.variable("other")
    iri = work.graph.iri_of(spot.predicate)
    members: tuple[Pattern, ...] = (pattern(member, iri, other),)
    if spot.place.node.cls is not None:
        members = (work.draft.typed(member, spot.place.node.cls), *members)
    function = FUNCTIONS.get(mean.name) or ("MAX" if mean.measure and mean.measure.up else "MIN")
    cast = cast_of(work, variable)
    average = aggregate_of(other, members, function, cast=cast)
    work.draft.averages.append(average)
    work.draft.filters.append(condition(variable, sign, alias_of(average), cast=cast))
    work.take(mean.mask, work.grower.weight_of(mean.mask))
    return True


def _against_thing(work: QueryBuilder, operator: Operator, link: Link, sign: str) -> bool:
    thing = work.graph.terms.find(f"<{link.target}>" if link.kind is Kind.ENTITY else link.target)
    near = (work.next_slot(operator.last, FAR), work.last_slot(operator.first, NEAR))
    slot = next((one for one in near if one is not None and not one.mask & link.mask), None)
    spot = work.spot(slot, sorts=_MEASURED)
    if spot is None and operator.measure is not None:
        words = (*operator.measure.measures, *operator.measure.dates)
        spot = work.by_words(words, _MEASURED)
    if spot is None and operator.name in ("before", "after"):
        spot = _span_spot(work, operator) or work.only(DATED)
    subject = None if thing is None or spot is None else bearer(work, link, thing, spot)
    if spot is None or subject is None:
        return False
    mine = work.hang(spot)
    other = work.draft.variable("their " + work.draft.hints[mine])
    work.draft.patterns.append(pattern(subject, work.graph.iri_of(spot.predicate), other))
    if operator.measure is not None and is_dated(work.schema, spot.predicate, operator.measure):
        sign = "<" if sign == ">" else ">"
    work.draft.filters.append(condition(mine, sign, other))
    work.use_spot(spot)
    work.take_link(link)
    return True


def bearer(work: QueryBuilder, link: Link, thing: int, spot: Spot) -> Term | None:
    """Return what carries the value compared with: a thing itself, or what has it for a name."""
    ids, graph = np.array([thing], dtype=np.int32), work.graph
    if link.kind is Kind.ENTITY:
        applies = work.lookups.applies(ids, spot.predicate, spot.inverse)
        return graph.terms.term(thing) if applies else None
    bearers = graph.ends(spot.predicate, inverse=spot.inverse)
    for predicate in graph.predicates_of(ids, inverse=True)[0]:
        carriers = graph.step(ids, int(predicate), inverse=True)
        if len(in_both(carriers, bearers)):
            subject = work.draft.variable(link.name)
            named = pattern(subject, graph.iri_of(int(predicate)), graph.terms.term(thing))
            work.draft.patterns.append(named)
            return subject
    return None


def between(work: QueryBuilder, operator: Operator) -> bool:
    """ "Between 1960 and 1970": both bounds included."""
    first = work.frame.quantity_after(operator, 2)
    if first is None:
        return False
    later = [q for q in work.reading.quantities if 0 < q.first - first.last <= BESIDE]
    if not later:
        return False
    if between_days(work, first, later[0]):
        return True
    spot = _compared(work, operator, first, first.days is not None)
    if spot is None:
        return False
    bound(work, spot, first, ">=")
    bound(work, spot, later[0], "<=")
    work.take_quantity(first)
    work.take_quantity(later[0])
    return True


def _is_said(work: QueryBuilder, operator: Operator, name: str) -> bool:
    """Whether an operator's first word is one of time: "since" (itself counts too), "until"."""
    words = {phrase[0] for phrase in work.reading.words.times[name]}
    return work.reading.tokens[operator.first].folded in words


def _span_spot(work: QueryBuilder, operator: Operator) -> Spot | None:
    """The date that "before", "after", "since" and "until" are about if none is named.

    Of a relation it is the start, with "until" the end; so is the end of a thing with a name.
    """
    until = _is_said(work, operator, "until")
    one = spanned(work, named=until)
    if one is None:
        return None
    predicate = one.end if until else one.start
    if not work.lookups.applies(work.ids_at(one.place), predicate, False):
        return None
    return unnamed_spot(one.place, predicate)


def _ended_in(work: QueryBuilder, operator: Operator, spot: Spot, quantity: Quantity) -> bool:
    """ "Until 1989": the end lies in that time; False if none of them does."""
    span = days_in(quantity)
    ends = {end for _, end, _ in work.schema.spans}
    until = _is_said(work, operator, "until")
    if span is None or spot.predicate not in ends or not until or spot.path:
        return False
    _, objects = work.graph.pairs(work.ids_at(spot.place), spot.predicate)
    values = work.graph.values[objects[objects < work.graph.terms.first_iri]]
    if not ((values >= span[0]) & (values < span[1] + 1)).any():
        return False
    bound(work, spot, quantity, ">=")
    bound(work, spot, quantity, "<=")
    return True


def _fits(work: QueryBuilder, predicate: int, quantity: Quantity) -> bool:
    """Whether a predicate's values may be compared with a quantity: dates only with times."""
    if work.schema.sort(predicate) in _DATES and days_in(quantity) is None:
        return False
    own, said = work.schema.unit(predicate), quantity.unit
    return said is None or own is None or own.dimension == said.dimension


def bound(
    work: QueryBuilder, spot: Spot, quantity: Quantity, sign: str, *, since: bool = False
) -> None:
    """Bound a predicate's value; of a span of days the far end counts, or the near one."""
    variable, sort = work.hang(spot), work.schema.sort(spot.predicate)
    span = days_in(quantity)
    if sort in _DATES and span is not None and sign == "=":
        bound(work, spot, quantity, ">=")
        bound(work, spot, quantity, "<=")
    elif sort in _DATES and span is not None:
        low, high = span
        day = high if sign in (">", "<=") else low
        if since and sign == ">":
            day, sign = low, ">="
        early = sort is Sort.YEAR and day < FIRST_DAY
        one = condition(variable, sign, term_of(str(year_of(day))), cast=INTEGER)
        bounding = one if early else bounding_day(variable, sign, day, _datatypes_at(work, spot))
        work.draft.filters.append(bounding)
        work.keep_where(spot, sign, day)
    elif sort not in _DATES and quantity.value is not None:
        sign = ">=" if since and sign == ">" else sign
        number = number_of(work, spot.predicate, quantity)
        cast = DECIMAL if sort is Sort.TEXT_NUMBER else ""
        work.draft.filters.append(condition(variable, sign, number_term(number), cast=cast))
        work.keep_where(spot, sign, number)


def _datatypes_at(work: QueryBuilder, spot: Spot) -> Set[str]:
    """The datatypes of a predicate's values at a place, of those that are days."""
    listed = work.schema.predicates[spot.predicate].datatypes
    if len(listed) < 2 or spot.path:
        return {work.schema.datatype(spot.predicate)}
    _, objects = work.graph.pairs(work.ids_at(spot.place), spot.predicate)
    literals = np.unique(objects[objects < work.graph.terms.first_iri])
    dated = literals[np.isin(work.graph.sorts[literals], _DATES)][:_LISTED].tolist()
    found = {split_literal(work.graph.terms.text(one))[1] for one in dated}
    return found or {work.schema.datatype(spot.predicate)}


def between_days(work: QueryBuilder, first: Quantity, last: Quantity) -> bool:
    """Of what starts and ends: it had started by the later time and not ended before the earlier.

    Not if words ask for the start or the end itself.
    """
    if first.days is None or last.days is None:
        return False
    one = asked_span(work)
    if one is None or is_point(work, one, first):
        return False
    if not overlapping(work, one, first.days[0], last.days[1]):
        return False
    work.take_quantity(first)
    work.take_quantity(last)
    return True


def days_in(quantity: Quantity) -> tuple[float, float] | None:
    """The days that a quantity spans: its own, or those of the year that its number may be."""
    if quantity.days is not None or quantity.value is None or quantity.unit is not None:
        return quantity.days
    if not float(quantity.value).is_integer() or abs(quantity.value) > 9999:
        return None
    year = int(quantity.value)
    return day_number(year), day_number(year, 12, 31)


def exists(work: QueryBuilder, operator: Operator) -> bool:
    """ "Is there …": a question for yes or no."""
    if work.frame.asks is not None or work.draft.columns:
        return False
    work.draft.ask = True
    return True


def without(work: QueryBuilder, operator: Operator) -> bool:
    """ "Without X": no value of the predicate that X names, there or a step or two away."""
    spot = work.spot(work.next_slot(operator.last, NEAR))
    if spot is None or _is_denied_itself(work, operator, spot.place):
        return False
    truths = truths_of(work.schema, spot.predicate)
    if truths is not None and truths[1]:
        work.draft.filters.append(condition(work.take_spot(spot), "=", term_of(truths[1])))
        return True
    end, steps = spot.place.end, []
    for edge in (*spot.path, Edge(spot.predicate, spot.inverse)):
        steps.append(work.draft.beside(end, edge.predicate, inverse=edge.inverse))
        end = steps[-1].subject if edge.inverse else steps[-1].object
    work.unknown += DOUBT_PATH * len(spot.path)
    work.draft.denied.append(denied(*steps))
    work.use_spot(spot)
    return True


def _is_denied_itself(work: QueryBuilder, operator: Operator, place: Place) -> bool:
    """Whether a thing that lacks something is not named before "no", though another one is."""
    named = {at for one in work.draft.places for at in one.words if at < operator.first}
    return bool(named) and not any(at < operator.first for at in place.words)
