"""Kinds of what a graph's classes and predicates hold: persons, bodies, places, times.

Words in their names tell, those of the classes above, and predicates that only one kind has. A
question word says what the head of a predicate's name would: "where … launched" names a launch
site, "where" a location. The other words of that name are then all of it.
"""

from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import TypeVar

import numpy as np

from askgraph.index import stem, tokens
from askgraph.index.names import Kind
from askgraph.rdf import words_of_local_name
from askgraph.rdf.vocabulary import GEO
from askgraph.search.grow.schema import Schema
from askgraph.search.linking.link import Link, Linked, alikeness
from askgraph.search.linking.operators import Frame
from askgraph.search.linking.word_lists import (
    NONE,
    Kinds,
    kind_words,
    kinds_of_names,
    kinds_of_word,
    shared_words,
    signs_in,
)
from askgraph.traversal import Ids
from askgraph.traversal.literals import Sort

_LOOKED_AT = 20
"""So many nodes tell the classes of all."""
_CLASSES = 4
"""So many classes of what a predicate leads to, the most frequent ones."""

_FIRST, _LAST = 1000, 2100
"""Whole numbers between these may all be years."""

_Key = TypeVar("_Key", bound=Hashable)
_Value = TypeVar("_Value")
KINDS: Mapping[str, tuple[str, ...]] = {
    "person": ("persons", "bodies"),
    "place": ("places",),
    "date": ("times",),
    "year": ("times",),
}
"""The kinds of things that each question word asks for."""
_SIMILARITY = 0.9
"""The share of a name that a question word and the other words hold together."""
_BARE = 0.6
"""The same if the question word alone stands for the name."""
_HINT = 0.1
"""The quality of a question word: it brings next to nothing, but the step is no guess."""
_SYNONYM = 0.75
"""The quality of a synonym, and of a word that only begins alike: "lanzado", "lanzamiento"."""
_BEGINNING = 5
"""So many letters that words of one root begin with: the kind tells the rest."""
_AKIN = 0.7
"""Words at least so alike stand for each other."""
_DATES = (Sort.DATE, Sort.YEAR, Sort.TEXT_DATE)


def _kept(schema: Schema, name: str, key: _Key, find: Callable[[Schema, _Key], _Value]) -> _Value:
    """What a function finds in a schema, looked up once."""
    known = schema.found[name]
    if key not in known:
        known[key] = find(schema, key)
    found: _Value = known[key]
    return found


def kinds_of_class(schema: Schema, cls: str) -> Kinds:
    """Return the kinds of a class's instances; none if nothing tells."""
    return _kept(schema, "kinds_of_class", cls, _of_class)


def _of_class(schema: Schema, cls: str) -> Kinds:
    found: Kinds = NONE
    listed = [cls]
    for one in listed:
        profile = schema.classes.get(one)
        if profile is not None:
            found |= kinds_of_names(profile.names or ((words_of_local_name(one), ""),))
            listed += [above for above in profile.parents if above not in listed]
    signs = _signs(schema)
    told = NONE.union(*(signs.get(one, NONE) for one in listed))
    return found or (told if len(told) == 1 else NONE)


def _signs(schema: Schema) -> dict[str, Kinds]:
    """The kinds that a class's predicates tell of."""
    known = schema.found["signs_of_classes"]
    if not known:
        known[""] = NONE
        for number, profile in schema.predicates.items():
            told = signs_in(schema.words(number))
            if any(name.startswith(GEO) for name, _ in profile.datatypes):
                told |= {"places"}
            for cls, _ in profile.subject_classes if told else ():
                known[cls] = known.get(cls, NONE) | told
    return known


def kinds_of_predicate(schema: Schema, number: int) -> Kinds:
    """Return the kinds that a predicate's own names tell of: place for "birth place"."""
    return _kept(schema, "kinds_of_predicate", number, _of_predicate)


def _of_predicate(schema: Schema, number: int) -> Kinds:
    profile = schema.predicates[number]
    return kinds_of_names((*profile.names, (words_of_local_name(profile.iri), "")))


def kinds_of_objects(schema: Schema, number: int) -> Kinds:
    """Return the kinds of what a predicate leads to, by its names and by the classes."""
    return _kept(schema, "kinds_of_objects", number, _of_objects)


def _of_objects(schema: Schema, number: int) -> Kinds:
    classes = schema.predicates[number].object_classes[:_CLASSES]
    own = kinds_of_predicate(schema, number)
    return own.union(*(kinds_of_class(schema, cls) for cls, _ in classes))


def kinds_of_nodes(schema: Schema, ids: Ids) -> Kinds:
    """Return the kinds of some nodes, by the classes of a few of them."""
    first = schema.graph.terms.first_iri
    sample = ids[:: len(ids) // _LOOKED_AT + 1].tolist()
    classes = {cls for at in sample if at >= first for cls in schema.classes_of(at)}
    return NONE.union(*(kinds_of_class(schema, cls) for cls in classes))


def has_kind(schema: Schema, kind: str) -> bool:
    """Return whether instances of any class of the graph are of a kind."""
    return _kept(schema, "has_kind", kind, _has_kind)


def _has_kind(schema: Schema, kind: str) -> bool:
    return any(kind in kinds_of_class(schema, cls) for cls in schema.classes)


def holds_years(schema: Schema, number: int) -> bool:
    """Return whether a predicate's numbers may be years, by their size or by its names."""
    return _kept(schema, "holds_years", number, _holds_years)


def _holds_years(schema: Schema, number: int) -> bool:
    if not schema.words(number).isdisjoint(shared_words().names["times"]):
        return True
    objects = schema.graph.ends(number, inverse=True)
    values = schema.graph.values[objects[objects < schema.graph.terms.first_iri]]
    whole = values == np.floor(values)
    return bool(len(values)) and bool((whole & (values > _FIRST) & (values < _LAST)).all())


@dataclass(frozen=True)
class _Named:
    """A predicate that leads to what is asked for, and the words left of one of its names."""

    iri: str
    name: str
    left: frozenset[str]


def with_asked(linked: Linked, frame: Frame, schema: Schema) -> Linked:
    """Return the links of a question, and those that its question word makes of its other words."""
    asked = frame.asked_at
    if asked is None or asked[0] not in KINDS:
        return linked
    name, at = asked
    known = {(one.target, one.positions): one.score for one in linked.of(Kind.PREDICATE)}
    found = [
        one
        for one in links_asked(linked, schema, name, at)
        if one.score > known.get((one.target, one.positions), 0.0)
    ]
    if not found:
        return linked
    best = dict.fromkeys((one.target, one.positions) for one in found)
    kept = [one for one in linked.links if (one.target, one.positions) not in best]
    every = sorted([*kept, *_best(found)], key=lambda one: -one.score)
    return replace(linked, links=tuple(every))


def links_asked(linked: Linked, schema: Schema, asked: str, at: int) -> Iterator[Link]:
    """Yield predicates that lead to what a question word at a token asks for, by other words."""
    for named in predicates_asked(schema, asked):
        yield from _links(named, linked, at)


def _best(found: Iterable[Link]) -> Iterator[Link]:
    best: dict[tuple[str, tuple[int, ...]], Link] = {}
    for one in found:
        key = one.target, one.positions
        if key not in best or one.quality > best[key].quality:
            best[key] = one
    yield from best.values()


def _links(named: _Named, linked: Linked, asked: int) -> Iterator[Link]:
    """The link of a predicate to the words that its name has besides the kind's."""
    if not named.left:
        yield Link(Kind.PREDICATE, named.iri, named.name, _BARE, (asked,), (_HINT,))
        return
    reading, said = linked.reading, {}
    for word in sorted(named.left):
        best = max(
            (
                (_fit(token.stem, word, reading.words.synonyms), -at)
                for at, token in enumerate(reading.tokens)
                if linked.weights[at] and token.quote is None
            ),
            default=(0.0, 0),
        )
        if best[0] < _AKIN:
            return
        said[-best[1]] = best[0]
    places = tuple(sorted(said))
    if places[-1] - places[0] < 2 * len(places):
        qualities = tuple(said[at] for at in places)
        yield Link(Kind.PREDICATE, named.iri, named.name, _SIMILARITY, places, qualities)


def _fit(own: str, word: str, synonyms: Mapping[str, frozenset[str]]) -> float:
    if own == word:
        return 1.0
    begin = own[:_BEGINNING] == word[:_BEGINNING] and min(len(own), len(word)) >= _BEGINNING
    akin = begin or word in synonyms.get(own, ())
    return max(alikeness(own, word), _SYNONYM * akin)


def predicates_asked(schema: Schema, asked: str) -> list[_Named]:
    """Return the predicates that lead to what a question word asks for, by what names leave."""
    known = schema.found["predicates_asked"]
    if asked not in known:
        known[asked] = [one for number in schema.open for one in _named(schema, number, asked)]
    found: list[_Named] = known[asked]
    return found


def _named(schema: Schema, number: int, asked: str) -> Iterator[_Named]:
    profile = schema.predicates.get(number)
    if profile is None or number in schema.naming or not _leads_to(schema, number, asked):
        return
    words, kinds = kind_words(), set(KINDS[asked])
    seen = set()
    for text in (*(name for name, _ in profile.names), words_of_local_name(profile.iri)):
        stems = frozenset(map(stem, tokens(text))) - words.parting - words.keys
        left = frozenset(one for one in stems if not kinds & kinds_of_word(one))
        generic = any(stems <= words.generic.get(kind, stems - stems) for kind in kinds)
        if left not in seen and (left or (stems and generic)):
            seen.add(left)
            yield _Named(profile.iri, text, left)


def _leads_to(schema: Schema, number: int, asked: str) -> bool:
    kinds, sort = set(KINDS[asked]), schema.sort(number)
    if asked in ("date", "year"):
        return sort in _DATES or (sort is Sort.NUMBER and holds_years(schema, number))
    if sort is Sort.NONE:
        return bool(kinds & kinds_of_objects(schema, number))
    return sort is Sort.TEXT and bool(kinds & kinds_of_predicate(schema, number))
