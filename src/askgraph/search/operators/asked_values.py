"""Values that a question word asks for and no other word names: the date, the place, the person."""

from askgraph.search.grow.kinds import kinds_of_nodes, kinds_of_predicate
from askgraph.search.grow.weights import DOUBT_OTHER_FITS
from askgraph.search.linking.kind_words import kind_words
from askgraph.search.operators.draft import Place
from askgraph.search.operators.lookups import DATED
from askgraph.search.operators.query_builder import QueryBuilder, Spot, unnamed_spot
from askgraph.traversal.literals import Sort

_TEXTS = {"place": "places", "person": "persons"}
"""The kind of thing whose name stands in a text, by what the question word asks for."""


def value_asked(work: QueryBuilder) -> Spot | None:
    """Return where the value is that the question word asks for: a date of "when".

    Places and persons of which only the name is known, as text, are values as well.
    """
    if work.frame.asks in ("date", "year"):
        return work.only(DATED)
    asked = work.frame.asked_at
    kind = _TEXTS.get(asked[0]) if asked is not None else None
    for place in work.draft.places if kind is not None else ():
        if kind is None or not work.lookups.is_resource(place.node.ids):
            continue
        fits = _texts(work, place, kind)
        found = place is work.root and not place.node.terms
        if found and kind in kinds_of_nodes(work.schema, place.node.ids):
            return None  # the answer itself
        if fits:
            generic = kind_words().generic[kind]
            plain = [number for number in fits if work.schema.words(number) & generic]
            work.unknown += DOUBT_OTHER_FITS * (len(fits) - 1)
            return unnamed_spot(place, (plain or fits)[0])
    return None


def _texts(work: QueryBuilder, place: Place, kind: str) -> list[int]:
    """The predicates of texts that name what is of a kind, but for the things' own name."""
    schema = work.schema
    own = schema.name_predicate(place.node.ids)
    return [
        number
        for number in work.predicates_at(place)
        if number in schema.open
        and number != own
        and schema.sort(number) is Sort.TEXT
        and kind in kinds_of_predicate(schema, number)
    ]
