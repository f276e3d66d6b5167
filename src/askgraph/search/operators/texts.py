"""Conditions on texts: names and other values that hold, start or end with some letters."""

from functools import partial

import numpy as np
from pyoxigraph import Literal

from askgraph.graph.arrays import Ids, in_both
from askgraph.graph.literals import Sort, split_literal
from askgraph.search import condition
from askgraph.search.grow import APART, NEAR, Node
from askgraph.search.linking.operators import Operator, held_text, holder_of
from askgraph.search.operators.draft import Place
from askgraph.search.operators.query_builder import Handlers, QueryBuilder, Spot, unnamed_spot

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
    near = _place_before(work, operator)
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
            return unnamed_spot(_stepped(work, spot, ids), name)
    name = work.schema.any_name(work.ids_at(near))
    return None if name is None else unnamed_spot(near, name)


def _stepped(work: QueryBuilder, spot: Spot, ids: Ids) -> Place:
    """The place that a spot's predicate leads to, added to the draft."""
    variable = work.take_spot(spot)
    known = next((place for place in work.draft.places if place.end == variable), None)
    place = known or Place(variable, Node(ids), spot.place.below + 1)
    if known is None:
        work.draft.places.append(place)
    return place


def _place_before(work: QueryBuilder, operator: Operator) -> Place:
    """The thing that is named last before an operator, else the one that is asked for."""
    named = [
        (max(at for at in place.words if at < operator.first), -place.below, index, place)
        for index, place in enumerate(work.draft.places)
        if any(operator.first - APART - NEAR <= at < operator.first for at in place.words)
        and work.lookups.is_resource(place.node.ids)
    ]
    return max(named)[3] if named else work.root


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


HANDLERS: Handlers = {
    "called": called,
    "containing": partial(quoting, function="CONTAINS"),
    "starting": partial(quoting, function="STRSTARTS"),
    "ending": partial(quoting, function="STRENDS"),
}
