"""Names and values that are asked for: whose they are, and what carries them.

A question word asks for a value that no other word names: the date, the place, the person.
"""

from collections.abc import Iterator, Mapping, Sequence

from pyoxigraph import Literal, Variable

from askgraph.graph.literals import Sort, split_literal
from askgraph.graph.names import NAME_WORDS
from askgraph.graph.profile import standard_naming
from askgraph.index.names import Kind, name_tokens
from askgraph.search.expand import Doubt, Worth
from askgraph.search.expand.schema import (
    KINDS,
    kinds_of_nodes,
    kinds_of_predicate,
    links_asked,
    spread,
)
from askgraph.search.operators.query_builder import (
    DATED,
    Place,
    QueryBuilder,
    Slot,
    Spot,
    unnamed_spot,
)
from askgraph.search.query_pieces import Value, pattern
from askgraph.search.tokenize.word_lists import kind_words, shared_words
from askgraph.sparql import Call, Element, Filter, Group

_WITHIN = 9
"""Words between a property and the noun that it is said of: "name and date of birth of the …"."""
_NAMED = 0.8  # a place is named so well, or nothing is said of it
_LOOKED_AT = 5  # so many things say whether the labels of all are numbers
_OWN_NOUN = ("count", "average", "sum", "minimum", "maximum", "most", "fewest", "superlative")
"""Operators that have a noun of their own: "the name and the number of reservations"."""
_FITS = 0.9  # a predicate called so well by the words for a name is what they mean
_TEXTS = {"place": "places", "person": "persons"}
"""The kind of thing whose name stands in a text, by what the question word asks for."""


def show_names(query: QueryBuilder) -> None:
    """Show the names that words ask for: of a thing that has a label, the thing itself.

    "The names and ages of the pilots" shows the pilots. Of persons whose first and last names are
    two predicates both are shown. If a predicate at the thing is called by the very words, these
    are left to it.
    """
    for at in query.lookups.naming:
        if query.reading.tokens[at].quote is not None:
            continue
        if query.used >> at & 1 or not query.zones.is_head(at):
            continue
        slot = next((one for one in query.slots if one.first <= at <= one.last), None)
        if _is_named_itself(query, at) and (slot is None or slot.first == slot.last):
            query.take(1 << at, query.weights[at] * Worth.NAMING)
            query.done |= set() if slot is None else {slot}
            continue
        place = owner_of(query, at, at)
        if place is None or not isinstance(place.end, Variable) or _is_taken(query, slot, place):
            continue
        names = _names(query, place) or (_name_of_other(query, place) if slot is None else [])
        if not names:
            continue
        query.projected += [(at, shown) for shown in names]
        query.take(1 << at, query.weights[at] * Worth.NAMING)
        query.shown_words |= 1 << at
        if slot is not None:
            query.done.add(slot)


def _is_named_itself(query: QueryBuilder, at: int) -> bool:
    """ "Director names": the texts of a property, named right before, are names themselves."""
    spots = (query.spot(one) for one in query.slots if one.last == at - 1)
    return any(
        spot is not None and not spot.inverse and query.schema.sort(spot.predicate) is Sort.TEXT
        for spot in spots
    )


def owner_of(query: QueryBuilder, first: int, last: int) -> Place | None:
    """Return the place of the pattern whose property the words from `first` to `last` name.

    Its words stand right before them ("the pilot's name", "pilot names"), or after them and an
    "of" or the like ("the names and ages of all pilots"), with other properties between.
    """
    starts, ends = named_places(query)
    if first - 1 in ends:
        return ends[first - 1]
    if any(one.first <= first - 1 <= one.last for one in query.slots):
        return None
    joined = False
    for at in range(last + 1, min(last + _WITHIN, len(query.reading.tokens))):
        if at in starts and joined:
            return starts[at]
        joined = joined or query.reading.tokens[at].folded in query.reading.words.clauses["weak"]
        if not _may_stand_between(query, at, starts):
            return None
    return None


def named_places(query: QueryBuilder) -> tuple[dict[int, Place], dict[int, Place]]:
    """The places that words name well, by the first and by the last token of their names."""
    starts: dict[int, Place] = {}
    ends: dict[int, Place] = {}
    for place in query.draft.places:
        for link in query.draft.naming(place.node, place.edge):
            if link.score * link.quality >= _NAMED and link.kind is not Kind.VALUE:
                starts.setdefault(link.positions[0], place)
                ends.setdefault(link.positions[-1], place)
    return starts, ends


def _may_stand_between(query: QueryBuilder, at: int, starts: Mapping[int, Place]) -> bool:
    """Whether a word may part a property from its owner: one of function, or another property."""
    reading = query.reading
    if any(at in one.positions for one in query.frame.of(*_OWN_NOUN)):
        return False
    if reading.is_stop(at):
        return reading.tokens[at].folded not in reading.words.clauses["restrict"] or (
            reading.tokens[at].folded in reading.words.clauses["weak"]
        )
    if query.frame.mask >> at & 1 or reading.tokens[at].stem in reading.words.naming:
        return True
    said = {reading.tokens[first].stem for first in starts}
    if at + 1 in starts and reading.tokens[at].stem in said:  # "parties … of the party hosts"
        return True
    return any(one.first <= at <= one.last for one in query.slots)


def _is_taken(query: QueryBuilder, slot: Slot | None, place: Place) -> bool:
    """Whether the words are an operator's, or call a predicate of the thing by its name."""
    if slot is None:
        return False
    if not query.is_left(slot):
        return True
    reading = query.reading
    own = place.node.cls_link.positions if place.node.cls_link is not None else ()
    if any(
        at not in own
        and not reading.is_stop(at)
        and reading.tokens[at].stem not in reading.words.naming
        for at in range(slot.first, slot.last + 1)
    ):
        return True
    present = query.lookups.present(query.ids_at(place))
    return any(
        link.score * link.quality >= _FITS and query.schema.number(link.target) in present
        for link in slot.links
    )


def _names(query: QueryBuilder, place: Place) -> list[Variable]:
    """The thing itself if it has a label, its own names otherwise; none if it has no name."""
    schema, ids = query.schema, query.ids_at(place)
    labels = sorted(schema.naming & schema.hidden & query.lookups.present(ids))
    if labels and not _is_numbered(query, place, labels):
        return [query.named(place)]
    parts = _parts(query, place)
    if parts:
        return [query.draft.attach(place, number) for number in parts]
    own = schema.name_predicate(ids)
    if own is not None and _says_name(query, own, place):
        return [query.draft.attach(place, own)]
    return []


def _is_numbered(query: QueryBuilder, place: Place, labels: Sequence[int]) -> bool:
    """Whether the labels of things only number them: "visit 7" is no name of a visit."""
    schema, terms = query.schema, query.graph.terms
    ids = query.ids_at(place)[:_LOOKED_AT]
    kind = frozenset[str]().union(*map(schema.class_stems, schema.classes_of(int(ids[0]))))
    found = [at for number in labels for at in query.graph.step(ids, number).tolist()]
    texts = [name_tokens(terms.value(at)) for at in found if at < terms.first_iri]
    words = [{word for word in text if not word[0].isdigit()} for text in texts]
    return all(
        own <= kind and len(own) < len(set(text)) for own, text in zip(words, texts, strict=True)
    )


def _name_of_other(query: QueryBuilder, place: Place) -> list[Variable]:
    """The one thing with a label that each nameless thing is linked to, if there is such a one.

    A nominee that is a node without a name has the name of the person who was nominated. Only a
    thing that no other of the kind is linked to is the same but for its role.
    """
    schema, ids = query.schema, query.ids_at(place)
    found = []
    for number in sorted(schema.leading & query.lookups.present(ids)):
        if schema.is_functional(number) and schema.is_functional(number, inverse=True):
            other = query.graph.step(ids, number)
            if not schema.naming.isdisjoint(schema.hidden & query.lookups.present(other)):
                found.append(number)
    return [query.draft.attach(place, found[0])] if len(found) == 1 else []


def _says_name(query: QueryBuilder, predicate: int, place: Place) -> bool:
    """Whether a predicate is called a name, or as the class of what it names."""
    words = query.schema.words(predicate)
    classes = query.schema.classes_of(int(place.node.ids[0]))
    return not words.isdisjoint(NAME_WORDS) or any(
        words <= query.schema.class_stems(cls) for cls in classes
    )


def _parts(query: QueryBuilder, place: Place) -> tuple[int, ...]:
    """The predicates of the first and the last name of things without a whole one."""
    schema, ids = query.schema, query.ids_at(place)
    present = sorted(query.lookups.present(ids))
    first, last = (
        [number for number in present if number in schema.open and _is_called(query, number, part)]
        for part in ("first_names", "last_names")
    )
    return (first[0], last[0]) if first and last else ()


def _is_called(query: QueryBuilder, number: int, part: str) -> bool:
    """Whether a predicate's name ends in a word for a part of a name."""
    texts = ("".join(text.split()) for text in query.schema.texts(number))
    return any(text.endswith(ending) for text in texts for ending in shared_words().parts[part])


def value_asked(query: QueryBuilder) -> Spot | None:
    """Return where the value is that the question word asks for: a date of "when".

    Places and persons of which only the name is known, as text, are values as well.
    """
    if query.frame.asks in ("date", "year"):
        return query.only(DATED)
    asked = query.frame.asked_at
    kind = _TEXTS.get(asked[0]) if asked is not None else None
    for place in query.draft.places if kind is not None else ():
        if kind is None or not query.lookups.is_resource(place.node.ids):
            continue
        schema = query.schema
        own = schema.name_predicate(place.node.ids)
        fits = [
            number
            for number in query.predicates_at(place)
            if number in schema.open
            and number != own
            and schema.sort(number) is Sort.TEXT
            and kind in kinds_of_predicate(schema, number)
        ]
        found = place is query.root and not place.node.terms
        if found and kind in kinds_of_nodes(query.schema, place.node.ids):
            return None  # the answer itself
        if fits:
            generic = kind_words().generic[kind]
            plain = [number for number in fits if query.schema.words(number) & generic]
            query.unknown += Doubt.OTHER_FITS * (len(fits) - 1)
            return unnamed_spot(place, (plain or fits)[0])
    return None


def also_asked(query: QueryBuilder) -> Iterator[Variable]:
    """Yield what further question words ask for: "when and where was X launched".

    It is said of the thing that the value for the first word is said of, by the same words.
    """
    for name, at in query.frame.also_asked:
        links = links_asked(query.linked, query.schema, name, at) if name in KINDS else ()
        for link in sorted(links, key=lambda one: -one.quality):
            number = query.schema.number(link.target)
            if number is None:
                continue
            applies = query.lookups.applies
            bearing = (one for one in _things(query) if applies(query.ids_at(one), number, False))
            if (place := next(bearing, None)) is not None:
                yield query.draft.attach(place, number)
                query.shown_words |= 1 << at
                break


def _things(query: QueryBuilder) -> Iterator[Place]:
    """The places of a draft, and the named things that they are linked to."""
    for place in query.draft.places:
        yield place
        for _, child in place.node.edges:
            constant = query.draft.constant(child)
            if constant is not None:
                yield Place(constant, child)


def sorting_key(query: QueryBuilder, shown: Value) -> Value:
    """Return what rows of a column are sorted by: of things their labels, in one language."""
    labels = _labels_of(query, shown) if isinstance(shown, Variable) else None
    if labels is None or not isinstance(shown, Variable):
        return shown
    number, languages = labels
    label = query.draft.variable("label")
    parts: list[Element] = [pattern(shown, query.graph.iri_of(number), label)]
    if len(languages) > 1:
        own = (query.reading.language, "en", *sorted(languages))
        chosen = next(one for said in own for one in sorted(languages) if one.startswith(said))
        parts.append(Filter(Call("=", (Call("LANG", (label,)), Literal(chosen)))))
    query.draft.optional.append(Group(tuple(parts)))
    return label


def _labels_of(query: QueryBuilder, shown: Variable) -> tuple[int, set[str]] | None:
    """The predicate of the labels that the things of a column have, and their languages."""
    graph, schema = query.graph, query.schema
    ids = next((query.ids_at(one) for one in query.draft.places if one.end == shown), None)
    for (_, predicate, inverse), value in query.draft.attached.items() if ids is None else ():
        ids = graph.ends(predicate, inverse=not inverse) if value == shown else ids
    if ids is None or not query.lookups.is_resource(ids):
        return None
    present = query.lookups.present(ids)
    named = [n for n in present if standard_naming(graph.iri_of(n)) == "name"]
    if not named:
        return None
    number = max(named, key=lambda one: schema.predicates[one].triples)
    texts = (graph.terms.text(int(one)) for one in graph.step(spread(ids), number))
    return number, {split_literal(text)[2] or "" for text in texts if text.startswith('"')}
