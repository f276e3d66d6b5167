"""Operators of time: in a year, during an event, now, formerly, the latest value."""

import numpy as np

from askgraph.index.names import Kind
from askgraph.search.form import Filter, Pattern
from askgraph.search.linking.link import Link
from askgraph.search.linking.operators import Operator
from askgraph.search.operators.attachment import DATED, Places, unnamed_spot
from askgraph.search.operators.query_builder import Work
from askgraph.search.operators.spans import (
    alive_words,
    asked_span,
    days_of,
    is_point,
    over,
    overlapping,
    spanned,
    unfinished,
)
from askgraph.traversal.arrays import Ids
from askgraph.traversal.literals import Sort

__all__ = ["at", "during", "lasted", "now", "ongoing", "past"]

_NOTED = frozenset(("at", "now", "past", "during", "between"))


def at(places: Places, work: Work, operator: Operator) -> bool:
    """ "In 1995": what had started and not ended then, where no word asks for the start itself."""
    quantity = next(q for q in places.reading.quantities if q.first == operator.first)
    one = asked_span(places, work)
    if one is None and "age_then" in work.notes:
        return True
    if one is None or quantity.days is None or is_point(places, work, one, quantity):
        return False
    return overlapping(places, work, one, *quantity.days)


def now(places: Places, work: Work, operator: Operator) -> bool:
    """ "Currently", "still": what has not ended; else the latest of dated statements."""
    one = asked_span(places, work, named=True, operator=operator)
    if one is not None and unfinished(places, work, one):
        if one.life:
            places.take_tokens(work, alive_words(places))
        return True
    return _latest(places, work)


def past(places: Places, work: Work, operator: Operator) -> bool:
    """ "Former": what has ended."""
    one = asked_span(places, work, named=True, operator=operator)
    return one is not None and over(places, work, one)


def ongoing(places: Places, work: Work, operator: Operator) -> bool:
    """ "Active", "in office": said of a time that other words give, else of today."""
    if _NOTED & set(work.notes):
        return True
    if places.frame.of(*_NOTED, "before", "after"):
        return False
    return now(places, work, operator)


def lasted(places: Places, work: Work, operator: Operator) -> bool:
    """ "Last": the verb of "how long did it last"."""
    return "elapsed" in work.notes


def during(places: Places, work: Work, operator: Operator) -> bool:
    """ "During X": at the time between the start and the end of a thing that X names."""
    for link in places.linked.of(Kind.ENTITY, Kind.VALUE):
        near = 0 < link.positions[0] - operator.last <= 3
        if near and places.grower.gain(link, work.used) and _during(places, work, link):
            work.take(link.mask, places.grower.gain(link, work.used))
            return True
    return False


def _latest(places: Places, work: Work) -> bool:
    """The statement without a name that no other of the same thing is later than."""
    for place in work.draft.places:
        if not isinstance(place.variable, int) or not places.schema.is_nameless(place.node.ids):
            continue
        dates = [
            number
            for iri in places.schema.times.dates
            if (number := places.schema.number(iri)) is not None
            and places.applies(place.node.ids, number, False)
        ]
        if not dates:
            continue
        pattern = _leading(work, place.variable)
        if pattern is None:
            continue
        date = places.hang(work, unnamed_spot(place, dates[0]))
        other = work.draft.variable("other " + work.draft.hints[place.variable])
        later = work.draft.variable("later " + work.draft.hints[date])
        iri = places.graph.iri_of(dates[0])
        patterns = (Pattern(pattern.subject, pattern.predicate, other), Pattern(other, iri, later))
        work.draft.without.append((patterns, (Filter(later, ">", (date,)),)))
        return True
    return False


def _leading(work: Work, variable: int) -> Pattern | None:
    """The pattern that leads to a variable from what it is a statement on."""
    return next((p for p in work.draft.patterns if p.object == variable), None)


def _during(places: Places, work: Work, link: Link) -> bool:
    """Put what the pattern is about into the time of a thing: its span, or its one date."""
    event = places.thing_of(link)
    if event is None:
        return False
    node = np.array([event], dtype=np.int32)
    dates = _event_dates(places, node)
    if dates is None:
        return False
    first, last = dates
    subject, draft = places.graph.terms.text(event), work.draft
    if _point_during(places, work, subject, first, last):
        return True
    one = spanned(places, work, named=True)
    if one is None or places.schema.datatype(one.start) != places.schema.datatype(first):
        return False
    low = float(days_of(places, node, first, np.nan)[0])
    high = float(days_of(places, node, last, low)[0])
    ids = places.ids_at(work, one.place)
    starts = days_of(places, ids, one.start, np.inf)
    ends = days_of(places, ids, one.end, np.inf)
    kept = ids[(starts <= high) & (ends >= low)]
    if not len(kept):
        return False
    opens, closes = _bounds(work, places, subject, first, last)
    start = places.hang(work, unnamed_spot(one.place, one.start))
    draft.filters.append(Filter(start, "<=", (closes,)))
    iri = places.graph.iri_of(one.end)
    end = draft.variable(draft.hint_of(iri))
    condition = (Filter(end, "<", (opens,)),)
    draft.without.append(((Pattern(one.place.variable, iri, end),), condition))
    places.keep(work, one.place, kept)
    return True


def _point_during(places: Places, work: Work, subject: str, first: int, last: int) -> bool:
    """ "Launched during X": the date that words name lies in the time of X."""
    datatype = places.schema.datatype(first)
    for slot in work.slots:
        spot = places.spot(work, slot, sorts=DATED) if work.is_left(slot) else None
        if spot is None or places.schema.datatype(spot.predicate) != datatype:
            continue
        opens, closes = _bounds(work, places, subject, first, last)
        date = places.hang(work, spot)
        places.use(work, slot, spot.link)
        work.draft.filters += [Filter(date, ">=", (opens,)), Filter(date, "<=", (closes,))]
        return True
    return False


def _bounds(work: Work, places: Places, subject: str, first: int, last: int) -> tuple[int, int]:
    """The variables of an event's start and end; the same one where it has a single date."""
    found = []
    for number in dict.fromkeys((first, last)):
        iri = places.graph.iri_of(number)
        variable = work.draft.variable(work.draft.hint_of(iri))
        work.draft.patterns.append(Pattern(subject, iri, variable))
        found.append(variable)
    return found[0], found[-1]


def _event_dates(places: Places, node: Ids) -> tuple[int, int] | None:
    """The predicates of an event's start and end: a span that it has whole, or its one date."""
    for start, end, _ in places.schema.spans:
        if all(len(places.graph.step(node, number)) for number in (start, end)):
            return start, end
    present = places.graph.predicates_of(node)[0].tolist()
    dated = [n for n in present if places.sort(n) in (Sort.DATE, Sort.YEAR)]
    return (dated[0], dated[0]) if len(dated) == 1 else None
