"""Operators that compare: values, texts, what exists and what must not."""

from collections.abc import Set
from dataclasses import replace

import numpy as np
from pyoxigraph import Literal, Variable

from askgraph.graph.arrays import Ids, in_both
from askgraph.graph.literals import Sort, day_number, split_literal
from askgraph.index.names import Kind
from askgraph.search.expand import APART, BESIDE, FAR, NEAR, Doubt, Edge, Node
from askgraph.search.expand.schema import truths_of
from askgraph.search.link import Link
from askgraph.search.operators.aggregates import FEW, FUNCTIONS, cast_of, group_counted
from askgraph.search.operators.query_builder import (
    DATED,
    FIRST_DAY,
    NUMERIC,
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

_MOST = 20_000  # up to so many values are looked at for the text; of more it is taken to be there


def quoting(query: QueryBuilder, operator: Operator, function: str) -> bool:
    """ "Containing 'x'", "starting with 'x'", "with the letter x in its name"."""
    held = held_text(query.reading, operator.positions)
    if held is None or any(query.used >> at & 1 for at in held):
        return False
    spot = _holding(query, operator, held)
    if spot is None or not _limited(query, spot, function, held):
        return False
    kinds = query.reading.words.texts["kinds"]
    between = range(operator.last, held.start)
    query.take_tokens(at for at in between if query.reading.folded[at] in kinds)
    return True


def called(query: QueryBuilder, operator: Operator) -> bool:
    """ "Gemini flights": those whose names hold the word."""
    beside = {operator.first - 1, operator.last + 1}
    place = next((one for one in query.draft.places if beside & {*one.words}), None)
    if place is None:
        return False
    ids = query.ids_at(place)
    names = sorted(query.schema.naming & query.lookups.present(ids, inverse=False))
    if not names:
        return False
    name = query.schema.any_name(ids) or names[0]
    held = range(operator.first, operator.last + 1)
    return _limited(query, unnamed_spot(place, name), "CONTAINS", held)


def _limited(query: QueryBuilder, spot: Spot, function: str, held: range) -> bool:
    """Keep what has a value with the text of some tokens; False if nothing has."""
    tokens = query.reading.tokens
    text = query.reading.text[tokens[held.start].start : tokens[held.stop - 1].end]
    bearers = _bearers(query, spot, function, text.lower())
    if bearers is not None:
        if not len(bearers):
            return False
        query.keep(spot.place, bearers)
    variable = query.take_spot(spot)
    if spot.slot is not None and query.zones.is_head(spot.slot.first) and not query.draft.columns:
        query.shown_words |= spot.slot.mask
        query.projected.append((spot.slot.first, variable))
    query.draft.filters.append(condition(variable, function, Literal(text)))
    query.take_tokens(held)
    return True


def _holding(query: QueryBuilder, operator: Operator, held: range) -> Spot | None:
    """The value that holds the text: named after it ("in its title"), named before, or the name."""
    holder = holder_of(query.reading, held)
    slot = query.next_slot(holder, 2) if holder is not None else None
    slot = slot or query.last_slot(operator.first + 1, NEAR) or query.next_slot(held.stop - 1, 2)
    named = [
        (max(at for at in place.words if at < operator.first), -place.below, index, place)
        for index, place in enumerate(query.draft.places)
        if any(operator.first - APART - NEAR <= at < operator.first for at in place.words)
        and query.lookups.is_resource(place.node.ids)
    ]
    near = max(named)[3] if named else query.root
    if slot is not None:
        for _, link, number in query.lookups.named_by(slot, ()):
            at_hand = query.lookups.applies(query.ids_at(near), number, False)
            if at_hand and query.schema.sort(number) is not Sort.NONE:
                return Spot(near, number, False, link, slot=slot)
        spot = query.spot(slot)
        if spot is not None and query.schema.sort(spot.predicate) is not Sort.NONE:
            return spot
        if spot is not None and not spot.path:
            ids = query.graph.step(query.ids_at(spot.place), spot.predicate, inverse=spot.inverse)
            name = query.schema.any_name(ids)
            if name is None:
                return None
            variable = query.take_spot(spot)
            known = query.draft.place_at(variable)
            place = known or Place(variable, Node(ids), spot.place.below + 1)
            if known is None:
                query.draft.places.append(place)
            return unnamed_spot(place, name)
    name = query.schema.any_name(query.ids_at(near))
    return None if name is None else unnamed_spot(near, name)


def _bearers(query: QueryBuilder, spot: Spot, function: str, text: str) -> Ids | None:
    """The things at a spot whose value holds the text; None if there are too many to say."""
    if spot.path:
        return None
    bearers, objects = query.graph.pairs(query.ids_at(spot.place), spot.predicate)
    if len(objects) > _MOST:
        return None
    holds = {"CONTAINS": str.__contains__, "STRSTARTS": str.startswith, "STRENDS": str.endswith}[
        function
    ]
    first, terms = query.graph.terms.first_iri, query.graph.terms
    values = {
        at: at < first and holds(split_literal(terms.text(at))[0].lower(), text)
        for at in np.unique(objects).tolist()
    }
    kept = np.array([values[at] for at in objects.tolist()], dtype=np.bool_)
    return in_both(np.unique(bearers[kept]), query.ids_at(spot.place))


_DATES = DATED
_LISTED = 500  # values that are looked at for what datatypes they are of
_NAME = 0.95  # a number belongs to a thing's name that is so well said
_SOON = 2  # so many words after a comparison an average is what is compared with
_MEASURED = (*NUMERIC, *_DATES)


def comparison(query: QueryBuilder, operator: Operator) -> bool:
    """ "More than 5 X", "before 1990": a condition on a value, or on how many there are."""
    after, before = _number_after(query, operator), query.frame.quantity_before(operator, 1)
    quantity = before if operator.name in ("at_least", "at_most") and before else after
    sign: str | None = COMPARING.get(operator.name)
    if sign is not None and _is_denied(query, operator):
        sign = _DENIED[sign]
    if quantity is not None and any(query.used >> at & 1 for at in quantity.positions):
        return False
    if quantity is None or sign is None:
        return _against(query, operator, sign)
    taken = operator.mask | sum(1 << at for at in quantity.positions)
    temporal = operator.name in ("before", "after")
    unit = query.next_place(quantity.last, 2)
    if unit is not None and not temporal:
        return _counted_against(query, operator, quantity, sign)
    if not temporal and _of_unit(query, operator, quantity, sign):
        return True
    spot = _compared(query, operator, quantity, temporal)
    if spot is None:
        return not temporal and _counted_against(query, operator, quantity, sign)
    if not (temporal and _ended_in(query, operator, spot, quantity)):
        bound(query, spot, quantity, sign, since=_is_said(query, operator, "since"))
    query.take(taken, sum(query.weights[at] for at in quantity.positions))
    return True


def _number_after(query: QueryBuilder, operator: Operator) -> Quantity | None:
    """The number after an operator, if it is not the end of a thing's name: "before Apollo 12"."""
    quantity = query.frame.quantity_after(operator)
    if quantity is None:
        return None
    named = any(
        link.score >= _NAME and operator.last < link.positions[0] < quantity.first
        for link in query.linked.of(Kind.ENTITY)
        if quantity.first in link.positions
    )
    return None if named else quantity


def _of_unit(query: QueryBuilder, operator: Operator, quantity: Quantity, sign: str) -> bool:
    """ "More than 30 years old", or a number with its unit at a node that words near by name."""
    following = quantity.measured.stop
    if quantity.unit is not None and following < len(query.reading.tokens):
        word = query.reading.tokens[following].folded
        for measure in query.reading.words.adjectives.get(word, ()):
            if measure.degree != "plain" or quantity.value is None:
                continue
            old = replace(operator, measure=measure)
            spot = query.by_words(measure.measures, NUMERIC)
            if spot is not None and _fits(query, spot.predicate, quantity):
                bound(query, spot, quantity, sign)
            elif not measure.is_age or not compared_age(query, old, quantity.value, sign):
                continue
            query.take_tokens(range(quantity.first, following + 1))
            return True
    near = (query.last_slot(operator.first, APART), query.next_slot(quantity.last, BESIDE))
    return compared_nodes(query, [s for s in near if s is not None], quantity, sign)


def _compared(
    query: QueryBuilder, operator: Operator, quantity: Quantity, temporal: bool
) -> Spot | None:
    """The predicate whose value is compared: named before, named after, or by its measure."""
    sorts: tuple[Sort, ...] = NUMERIC + DATED if quantity.days is not None else NUMERIC
    sorts = DATED if temporal else sorts
    near = [
        query.last_slot(operator.first, APART),
        query.next_slot(quantity.last, BESIDE),
        query.next_slot(operator.last, 2),
    ]
    for slot in near:
        spot = query.spot(slot, sorts=sorts)
        if spot is not None and _fits(query, spot.predicate, quantity):
            query.use_spot(spot)
            return spot
    if operator.measure is not None:
        last = operator.first - 1  # "people older than 30", "people who are older"
        while query.reading.is_stop(last) and last > 0:
            last -= 1
        joined = last + 1 == operator.first or (
            query.reading.folded[last + 1] in query.reading.words.clauses["restrict"]
        )
        beside = next((one for one in query.draft.places if joined and last in one.words), None)
        for words in (operator.measure.measures, operator.measure.dates):
            spot = query.by_words(words, sorts, first=beside)
            if spot is not None and _fits(query, spot.predicate, quantity):
                return spot
        return by_dimension(query, quantity)
    if temporal:
        found = _span_spot(query, operator) or query.only(DATED)
        dates = sorted(shared_words().names["dates"], reverse=True)
        return found or query.by_words(dates, NUMERIC + DATED)
    reused = [
        replace(unnamed_spot(place, predicate), inverse=inverse)
        for (end, predicate, inverse) in query.draft.attached
        for place in query.draft.places
        if place.end == end and query.schema.sort(predicate) in sorts
    ]
    return reused[0] if reused else by_dimension(query, quantity)


def _counted_against(
    query: QueryBuilder, operator: Operator, quantity: Quantity, sign: str
) -> bool:
    """ "More than two X": a condition on how many things X names."""
    if quantity.value is None:
        return False
    place = query.next_place(quantity.last, BESIDE)
    if place is query.root and isinstance(place.end, Variable):
        counted = place.end if _grouped_before(query, operator) else None
    elif place is not None and isinstance(place.end, Variable):
        counted = place.end
    else:
        spot = query.spot(query.next_slot(quantity.last, BESIDE))
        counted = (
            query.take_spot(spot) if spot is not None and not _is_single(query, spot) else None
        )
    if counted is None:
        return False
    count = aggregate("COUNT", counted, distinct=True)
    query.draft.having.append(Call(sign, (count, number_term(quantity.value))))
    query.notes += [FEW] if sign in ("<", "<=") else []
    if not query.draft.group:
        group_counted(query, counted, operator)
    query.grouped = True
    query.take_quantity(quantity)
    return True


def _is_single(query: QueryBuilder, spot: Spot) -> bool:
    """Whether each thing has one value at most, so that there is nothing to count."""
    single = query.schema.is_functional(spot.predicate, inverse=spot.inverse)
    return single and not spot.path and spot.place is query.root


def _grouped_before(query: QueryBuilder, operator: Operator) -> bool:
    """ "Grades that have at least 4 students": one row for each value named before."""
    slot = query.last_slot(operator.first, APART)
    spot = query.spot(slot)
    if slot is None or spot is None:
        return False
    query.group_by_value(query.shown(query.take_spot(spot), spot), slot.first)
    return True


def comparative(query: QueryBuilder, operator: Operator) -> bool:
    """ "Taller than 90", "larger than Mars": a condition on what the adjective measures."""
    measure = operator.measure
    if measure is None:
        return False
    joined = (query.reading.folded[operator.first],) in query.reading.words.operators["or"]
    before = query.frame.quantity_before(operator, 1) if joined else None
    quantity = before or _number_after(query, operator)
    if quantity is None:
        return _against(query, operator, ">" if measure.up else "<")
    spot = _compared(query, operator, quantity, False)
    dated = spot is not None and is_dated(query.schema, spot.predicate, measure)
    sign = "<" if measure.up == dated else ">"
    sign = _DENIED[sign] if _is_denied(query, operator) else sign + "=" * joined
    if spot is not None:
        bound(query, spot, quantity, sign)
    elif (
        not measure.is_age
        or quantity.value is None
        or not compared_age(query, operator, quantity.value, sign)
    ):
        return False
    query.take_quantity(quantity)
    return True


_DENIED = {">": "<=", "<": ">=", ">=": "<", "<=": ">", "=": "!="}


def _is_denied(query: QueryBuilder, operator: Operator) -> bool:
    """Whether a "not" stands right before: "not higher than"."""
    return any(one.last + 1 == operator.first for one in query.frame.of("not"))


def _against(query: QueryBuilder, operator: Operator, sign: str | None) -> bool:
    """Compared with the average or an extreme of all, or with the value of another thing."""
    if sign is None:
        return False
    near = (op for op in query.frame.of(*FUNCTIONS, "superlative") if op.first > operator.last)
    mean = next((op for op in near if op.first - operator.last <= _SOON), None)
    if mean is not None and mean.name != "sum":
        return _against_aggregate(query, operator, mean, sign)
    return _against_property(query, operator, sign) or any(
        _against_thing(query, operator, link, sign)
        for link in query.linked.of(Kind.ENTITY, Kind.VALUE)
        if 0 < link.positions[0] - operator.last <= BESIDE and query.search.gain(link, query.used)
    )


def _against_property(query: QueryBuilder, operator: Operator, sign: str) -> bool:
    """ "Whose height is greater than its width", "a higher price than cost": of one thing."""
    reading = query.reading
    after = query.next_slot(operator.last, APART)
    before = query.last_slot(operator.first, APART)
    than = reading.words.clauses["than"]
    if after is not None and any(
        reading.folded[at] in than for at in range(after.last + 1, len(reading.tokens))
    ):
        before, after = after, query.next_slot(after.last, APART)
    mine, theirs = (query.spot(one, sorts=_MEASURED) for one in (before, after))
    if mine is None or theirs is None or mine.predicate == theirs.predicate:
        return False
    numbers = {query.schema.sort(one.predicate) in NUMERIC for one in (mine, theirs)}
    if mine.place is not theirs.place or mine.path or theirs.path or len(numbers) > 1:
        return False
    value, other = query.take_spot(mine), query.take_spot(theirs)
    cast = cast_of(query, value) or cast_of(query, other)
    if cast:
        return False  # texts that read as numbers cannot be compared with each other
    dated = operator.measure is not None and True not in numbers
    turned = _TURNED[sign] if dated else sign
    query.draft.filters.append(condition(value, turned, other))
    query.notes.append("own")
    return True


_TURNED = {">": "<", "<": ">", ">=": "<=", "<=": ">="}


def _against_aggregate(query: QueryBuilder, operator: Operator, mean: Operator, sign: str) -> bool:
    near = (query.next_slot(mean.last, BESIDE), query.last_slot(operator.first, APART))
    spots = [one for slot in near if (one := query.spot(slot, sorts=NUMERIC))]
    spot = spots[0] if spots else None
    if spot is not None:
        for one in spots:
            if one.predicate == spot.predicate:  # "a height below the average height"
                query.use_spot(one)
    elif operator.measure is not None:
        spot = query.by_words(operator.measure.measures, NUMERIC)
    if spot is None:
        return False
    variable = query.hang(spot)
    other = query.draft.variable(query.draft.hints[variable])
    member = query.draft.variable("other")
    iri = query.graph.iri_of(spot.predicate)
    members: tuple[Pattern, ...] = (pattern(member, iri, other),)
    if spot.place.node.cls is not None:
        members = (query.draft.typed(member, spot.place.node.cls), *members)
    function = FUNCTIONS.get(mean.name) or ("MAX" if mean.measure and mean.measure.up else "MIN")
    cast = cast_of(query, variable)
    average = aggregate_of(other, members, function, cast=cast)
    query.draft.averages.append(average)
    query.draft.filters.append(condition(variable, sign, alias_of(average), cast=cast))
    query.take(mean.mask, query.search.weight_of(mean.mask))
    return True


def _against_thing(query: QueryBuilder, operator: Operator, link: Link, sign: str) -> bool:
    thing = query.schema.node_of(link)
    near = (query.next_slot(operator.last, FAR), query.last_slot(operator.first, NEAR))
    slot = next((one for one in near if one is not None and not one.mask & link.mask), None)
    spot = query.spot(slot, sorts=_MEASURED)
    if spot is None and operator.measure is not None:
        words = (*operator.measure.measures, *operator.measure.dates)
        spot = query.by_words(words, _MEASURED)
    if spot is None and operator.name in ("before", "after"):
        spot = _span_spot(query, operator) or query.only(DATED)
    subject = None if thing is None or spot is None else bearer(query, link, thing, spot)
    if spot is None or subject is None:
        return False
    mine = query.hang(spot)
    other = query.draft.variable("their " + query.draft.hints[mine])
    query.draft.patterns.append(pattern(subject, query.graph.iri_of(spot.predicate), other))
    if operator.measure is not None and is_dated(query.schema, spot.predicate, operator.measure):
        sign = "<" if sign == ">" else ">"
    query.draft.filters.append(condition(mine, sign, other))
    query.use_spot(spot)
    query.take_link(link)
    return True


def bearer(query: QueryBuilder, link: Link, thing: int, spot: Spot) -> Term | None:
    """Return what carries the value compared with: a thing itself, or what has it for a name."""
    ids, graph = np.array([thing], dtype=np.int32), query.graph
    if link.kind is Kind.ENTITY:
        applies = query.lookups.applies(ids, spot.predicate, spot.inverse)
        return graph.terms.term(thing) if applies else None
    bearers = graph.ends(spot.predicate, inverse=spot.inverse)
    for predicate in graph.predicates_of(ids, inverse=True)[0]:
        carriers = graph.step(ids, int(predicate), inverse=True)
        if len(in_both(carriers, bearers)):
            subject = query.draft.variable(link.name)
            named = pattern(subject, graph.iri_of(int(predicate)), graph.terms.term(thing))
            query.draft.patterns.append(named)
            return subject
    return None


def between(query: QueryBuilder, operator: Operator) -> bool:
    """ "Between 1960 and 1970": both bounds included."""
    first = query.frame.quantity_after(operator, 2)
    if first is None:
        return False
    later = [q for q in query.reading.quantities if 0 < q.first - first.last <= BESIDE]
    if not later:
        return False
    if between_days(query, first, later[0]):
        return True
    spot = _compared(query, operator, first, first.days is not None)
    if spot is None:
        return False
    bound(query, spot, first, ">=")
    bound(query, spot, later[0], "<=")
    query.take_quantity(first)
    query.take_quantity(later[0])
    return True


def _is_said(query: QueryBuilder, operator: Operator, name: str) -> bool:
    """Whether an operator's first word is one of time: "since" (itself counts too), "until"."""
    words = {phrase[0] for phrase in query.reading.words.times[name]}
    return query.reading.tokens[operator.first].folded in words


def _span_spot(query: QueryBuilder, operator: Operator) -> Spot | None:
    """The date that "before", "after", "since" and "until" are about if none is named.

    Of a relation it is the start, with "until" the end; so is the end of a thing with a name.
    """
    until = _is_said(query, operator, "until")
    one = spanned(query, named=until)
    if one is None:
        return None
    predicate = one.end if until else one.start
    if not query.lookups.applies(query.ids_at(one.place), predicate, False):
        return None
    return unnamed_spot(one.place, predicate)


def _ended_in(query: QueryBuilder, operator: Operator, spot: Spot, quantity: Quantity) -> bool:
    """ "Until 1989": the end lies in that time; False if none of them does."""
    span = days_in(quantity)
    ends = {end for _, end, _ in query.schema.spans}
    until = _is_said(query, operator, "until")
    if span is None or spot.predicate not in ends or not until or spot.path:
        return False
    _, objects = query.graph.pairs(query.ids_at(spot.place), spot.predicate)
    values = query.graph.values[objects[objects < query.graph.terms.first_iri]]
    if not ((values >= span[0]) & (values < span[1] + 1)).any():
        return False
    bound(query, spot, quantity, ">=")
    bound(query, spot, quantity, "<=")
    return True


def _fits(query: QueryBuilder, predicate: int, quantity: Quantity) -> bool:
    """Whether a predicate's values may be compared with a quantity: dates only with times."""
    if query.schema.sort(predicate) in _DATES and days_in(quantity) is None:
        return False
    own, said = query.schema.unit(predicate), quantity.unit
    return said is None or own is None or own.dimension == said.dimension


def bound(
    query: QueryBuilder, spot: Spot, quantity: Quantity, sign: str, *, since: bool = False
) -> None:
    """Bound a predicate's value; of a span of days the far end counts, or the near one."""
    variable, sort = query.hang(spot), query.schema.sort(spot.predicate)
    span = days_in(quantity)
    if sort in _DATES and span is not None and sign == "=":
        bound(query, spot, quantity, ">=")
        bound(query, spot, quantity, "<=")
    elif sort in _DATES and span is not None:
        low, high = span
        day = high if sign in (">", "<=") else low
        if since and sign == ">":
            day, sign = low, ">="
        early = sort is Sort.YEAR and day < FIRST_DAY
        one = condition(variable, sign, term_of(str(year_of(day))), cast=INTEGER)
        bounding = one if early else bounding_day(variable, sign, day, _datatypes_at(query, spot))
        query.draft.filters.append(bounding)
        query.keep_where(spot, sign, day)
    elif sort not in _DATES and quantity.value is not None:
        sign = ">=" if since and sign == ">" else sign
        number = number_of(query, spot.predicate, quantity)
        cast = DECIMAL if sort is Sort.TEXT_NUMBER else ""
        query.draft.filters.append(condition(variable, sign, number_term(number), cast=cast))
        query.keep_where(spot, sign, number)


def _datatypes_at(query: QueryBuilder, spot: Spot) -> Set[str]:
    """The datatypes of a predicate's values at a place, of those that are days."""
    listed = query.schema.predicates[spot.predicate].datatypes
    if len(listed) < 2 or spot.path:
        return {query.schema.datatype(spot.predicate)}
    _, objects = query.graph.pairs(query.ids_at(spot.place), spot.predicate)
    literals = np.unique(objects[objects < query.graph.terms.first_iri])
    dated = literals[np.isin(query.graph.sorts[literals], _DATES)][:_LISTED].tolist()
    found = {split_literal(query.graph.terms.text(one))[1] for one in dated}
    return found or {query.schema.datatype(spot.predicate)}


def between_days(query: QueryBuilder, first: Quantity, last: Quantity) -> bool:
    """Of what starts and ends: it had started by the later time and not ended before the earlier.

    Not if words ask for the start or the end itself.
    """
    if first.days is None or last.days is None:
        return False
    one = asked_span(query)
    if one is None or is_point(query, one, first):
        return False
    if not overlapping(query, one, first.days[0], last.days[1]):
        return False
    query.take_quantity(first)
    query.take_quantity(last)
    return True


def days_in(quantity: Quantity) -> tuple[float, float] | None:
    """The days that a quantity spans: its own, or those of the year that its number may be."""
    if quantity.days is not None or quantity.value is None or quantity.unit is not None:
        return quantity.days
    if not float(quantity.value).is_integer() or abs(quantity.value) > 9999:
        return None
    year = int(quantity.value)
    return day_number(year), day_number(year, 12, 31)


def exists(query: QueryBuilder, operator: Operator) -> bool:
    """ "Is there …": a question for yes or no."""
    if query.frame.asks is not None or query.draft.columns:
        return False
    query.draft.ask = True
    return True


def without(query: QueryBuilder, operator: Operator) -> bool:
    """ "Without X": no value of the predicate that X names, there or a step or two away."""
    spot = query.spot(query.next_slot(operator.last, NEAR))
    before = query.named_before(operator)  # what lacks something is named before "no"
    if spot is None or (before and spot.place not in before):
        return False
    truths = truths_of(query.schema, spot.predicate)
    if truths is not None and truths[1]:
        query.draft.filters.append(condition(query.take_spot(spot), "=", term_of(truths[1])))
        return True
    end, steps = spot.place.end, []
    for edge in (*spot.path, Edge(spot.predicate, spot.inverse)):
        steps.append(query.draft.beside(end, edge.predicate, inverse=edge.inverse))
        end = steps[-1].subject if edge.inverse else steps[-1].object
    query.unknown += Doubt.PATH * len(spot.path)
    query.draft.denied.append(denied(*steps))
    query.use_spot(spot)
    return True
