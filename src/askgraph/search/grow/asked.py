"""Links that a question word adds: "where … launched" names a launch site, "where" a location.

A question word says what the head of a predicate's name would: the place, the person, the time. The
other words of that name are then all of it.
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace

from askgraph.index.names import Kind
from askgraph.index.tokens import stem, tokens
from askgraph.rdf.labels import words_of_local_name
from askgraph.search.grow.kinds import (
    holds_years,
    kinds_of_objects,
    kinds_of_predicate,
)
from askgraph.search.grow.schema import Schema
from askgraph.search.linking.kind_words import kind_words, kinds_of_word
from askgraph.search.linking.link import Link, Linked, alikeness
from askgraph.search.linking.operators import Frame
from askgraph.traversal.literals import Sort

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
        for named in predicates_asked(schema, name)
        for one in _links(named, linked, at)
        if one.score > known.get((one.target, one.positions), 0.0)
    ]
    if not found:
        return linked
    best = dict.fromkeys((one.target, one.positions) for one in found)
    kept = [one for one in linked.links if (one.target, one.positions) not in best]
    every = sorted([*kept, *_best(found)], key=lambda one: -one.score)
    return replace(linked, links=tuple(every))


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
