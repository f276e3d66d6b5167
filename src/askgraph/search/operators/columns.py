"""Names and values that are asked for: whose they are, and what carries them.

A question word asks for a value that no other word names: the date, the place, the person.
"""

from collections.abc import Iterator, Mapping, Sequence

from pyoxigraph import Literal, Variable

from askgraph.index.names import Kind, name_tokens
from askgraph.metadata.names import NAME_WORDS, standard_naming
from askgraph.search.expand import DOUBT_OTHER_FITS, WORTH_NAMING
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
from askgraph.traversal.literals import Sort, split_literal

_WITHIN = 9
"""Words between a property and the noun that it is said of: "name and date of birth of the …"."""
_NAMED = 0.8
"""A place is named so well, or nothing is said of it."""
_LOOKED_AT = 5
"""So many things say whether the labels of all are numbers."""
_OWN_NOUN = ("count", "average", "sum", "minimum", "maximum", "most", "fewest", "superlative")
"""Operators that have a noun of their own: "the name and the number of reservations"."""
_FITS = 0.9
"""A predicate called so well by the words for a name is what they mean."""
_TEXTS = {"place": "places", "person": "persons"}
"""The kind of thing whose name stands in a text, by what the question word asks for."""


def show_names(work: QueryBuilder) -> None:
    """Show the names that words ask for: of a thing that has a label, the thing itself.

    "The names and ages of the pilots" shows the pilots. Of persons whose first and last names are
    two predicates both are shown. If a predicate at the thing is called by the very words, these
    are left to it.
    """
    for at in work.lookups.naming:
        if work.reading.tokens[at].quote is not None:
            continue
        if work.used >> at & 1 or not work.zones.is_head(at):
            continue
        slot = next((one for one in work.slots if one.first <= at <= one.last), None)
        if _is_named_itself(work, at) and (slot is None or slot.first == slot.last):
            work.take(1 << at, work.weights[at] * WORTH_NAMING)
            work.done |= set() if slot is None else {slot}
            continue
        place = owner_of(work, at, at)
        if place is None or not isinstance(place.end, Variable) or _is_taken(work, slot, place):
            continue
        names = _names(work, place) or (_name_of_other(work, place) if slot is None else [])
        if not names:
            continue
        work.projected += [(at, shown) for shown in names]
        work.take(1 << at, work.weights[at] * WORTH_NAMING)
        work.shown_words |= 1 << at
        if slot is not None:
            work.done.add(slot)


def _is_named_itself(work: QueryBuilder, at: int) -> bool:
    """ "Director names": the texts of a property, named right before, are names themselves."""
    spots = (work.spot(one) for one in work.slots if one.last == at - 1)
    return any(
        spot is not None and not spot.inverse and work.schema.sort(spot.predicate) is Sort.TEXT
        for spot in spots
    )


def owner_of(work: QueryBuilder, first: int, last: int) -> Place | None:
    """Return the place of the pattern whose property the words from `first` to `last` name.

    Its words stand right before them ("the pilot's name", "pilot names"), or after them and an
    "of" or the like ("the names and ages of all pilots"), with other properties between.
    """
    starts, ends = named_places(work)
    if first - 1 in ends:
        return ends[first - 1]
    if any(one.first <= first - 1 <= one.last for one in work.slots):
        return None
    joined = False
    for at in range(last + 1, min(last + _WITHIN, len(work.reading.tokens))):
        if at in starts and joined:
            return starts[at]
        joined = joined or work.reading.tokens[at].folded in work.reading.words.clauses["weak"]
        if not _may_stand_between(work, at, starts):
            return None
    return None


def named_places(work: QueryBuilder) -> tuple[dict[int, Place], dict[int, Place]]:
    """The places that words name well, by the first and by the last token of their names."""
    starts: dict[int, Place] = {}
    ends: dict[int, Place] = {}
    for place in work.draft.places:
        for link in work.draft.naming(place.node, place.edge):
            if link.score * link.quality >= _NAMED and link.kind is not Kind.VALUE:
                starts.setdefault(link.positions[0], place)
                ends.setdefault(link.positions[-1], place)
    return starts, ends


def _may_stand_between(work: QueryBuilder, at: int, starts: Mapping[int, Place]) -> bool:
    """Whether a word may part a property from its owner: one of function, or another property."""
    reading = work.reading
    if any(at in one.positions for one in work.frame.of(*_OWN_NOUN)):
        return False
    if reading.is_stop(at):
        return reading.tokens[at].folded not in reading.words.clauses["restrict"] or (
            reading.tokens[at].folded in reading.words.clauses["weak"]
        )
    if work.frame.mask >> at & 1 or reading.tokens[at].stem in reading.words.naming:
        return True
    said = {reading.tokens[first].stem for first in starts}
    if at + 1 in starts and reading.tokens[at].stem in said:  # "parties … of the party hosts"
        return True
    return any(one.first <= at <= one.last for one in work.slots)


def _is_taken(work: QueryBuilder, slot: Slot | None, place: Place) -> bool:
    """Whether the words are an operator's, or call a predicate of the thing by its name."""
    if slot is None:
        return False
    if not work.is_left(slot):
        return True
    reading = work.reading
    own = place.node.cls_link.positions if place.node.cls_link is not None else ()
    if any(
        at not in own
        and not reading.is_stop(at)
        and reading.tokens[at].stem not in reading.words.naming
        for at in range(slot.first, slot.last + 1)
    ):
        return True
    present = work.lookups.present(work.ids_at(place))
    return any(
        link.score * link.quality >= _FITS and work.schema.number(link.target) in present
        for link in slot.links
    )


def _names(work: QueryBuilder, place: Place) -> list[Variable]:
    """The thing itself if it has a label, its own names otherwise; none if it has no name."""
    schema, ids = work.schema, work.ids_at(place)
    labels = sorted(schema.naming & schema.hidden & work.lookups.present(ids))
    if labels and not _is_numbered(work, place, labels):
        return [work.named(place)]
    parts = _parts(work, place)
    if parts:
        return [work.draft.attach(place, number) for number in parts]
    own = schema.name_predicate(ids)
    if own is not None and _says_name(work, own, place):
        return [work.draft.attach(place, own)]
    return []


def _is_numbered(work: QueryBuilder, place: Place, labels: Sequence[int]) -> bool:
    """Whether the labels of things only number them: "visit 7" is no name of a visit."""
    schema, terms = work.schema, work.graph.terms
    ids = work.ids_at(place)[:_LOOKED_AT]
    kind = frozenset[str]().union(*map(schema.class_stems, schema.classes_of(int(ids[0]))))
    found = [at for number in labels for at in work.graph.step(ids, number).tolist()]
    texts = [name_tokens(terms.value(at)) for at in found if at < terms.first_iri]
    words = [{word for word in text if not word[0].isdigit()} for text in texts]
    return all(
        own <= kind and len(own) < len(set(text)) for own, text in zip(words, texts, strict=True)
    )


def _name_of_other(work: QueryBuilder, place: Place) -> list[Variable]:
    """The one thing with a label that each nameless thing is linked to, if there is such a one.

    A nominee that is a node without a name has the name of the person who was nominated. Only a
    thing that no other of the kind is linked to is the same but for its role.
    """
    schema, ids = work.schema, work.ids_at(place)
    found = []
    for number in sorted(schema.leading & work.lookups.present(ids)):
        if schema.is_functional(number) and schema.is_functional(number, inverse=True):
            other = work.graph.step(ids, number)
            if not schema.naming.isdisjoint(schema.hidden & work.lookups.present(other)):
                found.append(number)
    return [work.draft.attach(place, found[0])] if len(found) == 1 else []


def _says_name(work: QueryBuilder, predicate: int, place: Place) -> bool:
    """Whether a predicate is called a name, or as the class of what it names."""
    words = work.schema.words(predicate)
    classes = work.schema.classes_of(int(place.node.ids[0]))
    return not words.isdisjoint(NAME_WORDS) or any(
        words <= work.schema.class_stems(cls) for cls in classes
    )


def _parts(work: QueryBuilder, place: Place) -> tuple[int, ...]:
    """The predicates of the first and the last name of things without a whole one."""
    schema, ids = work.schema, work.ids_at(place)
    present = sorted(work.lookups.present(ids))
    first, last = (
        [number for number in present if number in schema.open and _is_called(work, number, part)]
        for part in ("first_names", "last_names")
    )
    return (first[0], last[0]) if first and last else ()


def _is_called(work: QueryBuilder, number: int, part: str) -> bool:
    """Whether a predicate's name ends in a word for a part of a name."""
    texts = ("".join(text.split()) for text in work.schema.texts(number))
    return any(text.endswith(ending) for text in texts for ending in shared_words().parts[part])


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
        schema = work.schema
        own = schema.name_predicate(place.node.ids)
        fits = [
            number
            for number in work.predicates_at(place)
            if number in schema.open
            and number != own
            and schema.sort(number) is Sort.TEXT
            and kind in kinds_of_predicate(schema, number)
        ]
        found = place is work.root and not place.node.terms
        if found and kind in kinds_of_nodes(work.schema, place.node.ids):
            return None  # the answer itself
        if fits:
            generic = kind_words().generic[kind]
            plain = [number for number in fits if work.schema.words(number) & generic]
            work.unknown += DOUBT_OTHER_FITS * (len(fits) - 1)
            return unnamed_spot(place, (plain or fits)[0])
    return None


def also_asked(work: QueryBuilder) -> Iterator[Variable]:
    """Yield what further question words ask for: "when and where was X launched".

    It is said of the thing that the value for the first word is said of, by the same words.
    """
    for name, at in work.frame.also_asked:
        links = links_asked(work.linked, work.schema, name, at) if name in KINDS else ()
        for link in sorted(links, key=lambda one: -one.quality):
            number = work.schema.number(link.target)
            place = next((one for one in _things(work) if _bears(work, one, number)), None)
            if place is not None and number is not None:
                yield work.draft.attach(place, number)
                work.shown_words |= 1 << at
                break


def _things(work: QueryBuilder) -> Iterator[Place]:
    """The places of a draft, and the named things that they are linked to."""
    for place in work.draft.places:
        yield place
        for _, child in place.node.edges:
            constant = work.draft.constant(child)
            if constant is not None:
                yield Place(constant, child)


def _bears(work: QueryBuilder, place: Place, predicate: int | None) -> bool:
    return predicate is not None and work.lookups.applies(work.ids_at(place), predicate, False)


def sorting_key(work: QueryBuilder, shown: Value) -> Value:
    """Return what rows of a column are sorted by: of things their labels, in one language."""
    labels = _labels_of(work, shown) if isinstance(shown, Variable) else None
    if labels is None or not isinstance(shown, Variable):
        return shown
    number, languages = labels
    label = work.draft.variable("label")
    parts: list[Element] = [pattern(shown, work.graph.iri_of(number), label)]
    if len(languages) > 1:
        own = (work.reading.language, "en", *sorted(languages))
        chosen = next(one for said in own for one in sorted(languages) if one.startswith(said))
        parts.append(Filter(Call("=", (Call("LANG", (label,)), Literal(chosen)))))
    work.draft.optional.append(Group(tuple(parts)))
    return label


def _labels_of(work: QueryBuilder, shown: Variable) -> tuple[int, set[str]] | None:
    """The predicate of the labels that the things of a column have, and their languages."""
    graph, schema = work.graph, work.schema
    ids = next((work.ids_at(one) for one in work.draft.places if one.end == shown), None)
    for (_, predicate, inverse), value in work.draft.attached.items() if ids is None else ():
        ids = graph.ends(predicate, inverse=not inverse) if value == shown else ids
    if ids is None or not work.lookups.is_resource(ids):
        return None
    present = work.lookups.present(ids)
    named = [n for n in present if standard_naming(graph.iri_of(n)) == "name"]
    if not named:
        return None
    number = max(named, key=lambda one: schema.predicates[one].triples)
    texts = (graph.terms.text(int(one)) for one in graph.step(spread(ids), number))
    return number, {split_literal(text)[2] or "" for text in texts if text.startswith('"')}
