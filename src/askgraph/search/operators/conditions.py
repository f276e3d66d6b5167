"""Conditions on text, existence, and what must not be there."""

from pyoxigraph import Literal

from askgraph.search.linking.operators import Operator
from askgraph.search.operators.attachment import Places
from askgraph.search.operators.query_builder import QueryBuilder
from askgraph.search.query import condition, denied, pattern, term_of
from askgraph.traversal.literals import Sort


def containing(places: Places, work: QueryBuilder, operator: Operator) -> bool:
    """ "Containing 'x'"."""
    return _text_condition(places, work, operator, "CONTAINS")


def starting(places: Places, work: QueryBuilder, operator: Operator) -> bool:
    """ "Starting with 'x'"."""
    return _text_condition(places, work, operator, "STRSTARTS")


def ending(places: Places, work: QueryBuilder, operator: Operator) -> bool:
    """ "Ending with 'x'"."""
    return _text_condition(places, work, operator, "STRENDS")


def _text_condition(places: Places, work: QueryBuilder, operator: Operator, function: str) -> bool:
    quoted = [t for t in places.reading.tokens if t.quote is not None]
    following = [
        at
        for at, t in enumerate(places.reading.tokens)
        if t.quote is not None and 0 < at - operator.last <= 3
    ]
    if not following:
        return False
    number = places.reading.tokens[following[0]].quote
    inside = [t for t in quoted if t.quote == number]
    text = places.reading.text[inside[0].start : inside[-1].end]
    slot = places.last_slot(work, operator.first, 4)
    spot = places.spot(work, slot) if slot is not None else None
    if slot is not None and spot is not None:
        variable = places.hang(work, spot)
        places.use(work, slot, spot.link)
    else:
        name = places.schema.any_name(work.root.node.ids)
        if name is None:
            return False
        variable = work.draft.attach(work.root, name)
    work.draft.filters.append(condition(variable, function, Literal(text)))
    positions = [at for at, t in enumerate(places.reading.tokens) if t.quote == number]
    work.take(sum(1 << at for at in positions), sum(places.weights[at] for at in positions))
    return True


def exists(places: Places, work: QueryBuilder, operator: Operator) -> bool:
    """ "Is there …": a question for yes or no."""
    if places.frame.asks is not None or work.draft.columns:
        return False
    work.draft.ask = True
    return True


def without(places: Places, work: QueryBuilder, operator: Operator) -> bool:
    """ "Without X": no value of the predicate that X names."""
    slot = places.next_slot(work, operator.last, 4)
    if slot is None:
        return False
    spot = places.spot(work, slot)
    if spot is None or spot.path:
        return False
    if places.sort(spot.predicate) is Sort.BOOLEAN:
        variable = places.hang(work, spot)
        work.draft.filters.append(condition(variable, "=", term_of("false")))
        places.use(work, slot, spot.link)
        return True
    iri = places.graph.iri_of(spot.predicate)
    other = work.draft.variable(work.draft.hint_of(iri))
    ends = (other, spot.place.end) if spot.inverse else (spot.place.end, other)
    work.draft.denied.append(denied(pattern(ends[0], iri, ends[1])))
    places.use(work, slot, spot.link)
    return True
