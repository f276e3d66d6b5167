"""Kinds of what a graph's classes and predicates hold, and what else their schema does not say.

Words in their names tell whether they hold persons, bodies, places or times, those of the classes
above, and predicates that only one kind has. A question word says what the head of a predicate's
name would: "where … launched" names a launch site, "where" a location. The other words of that name
are then all of it.

Codes are texts for true and false, and for words of a closed table. A symmetric relation that is
stated in one direction holds in both. What words come from is an origin, what they go to is a
destination.
"""

import re
from collections import defaultdict
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final, TypeVar

import numpy as np

from askgraph.deadline import in_time
from askgraph.graph.arrays import Ids
from askgraph.graph.literals import Sort, split_literal
from askgraph.graph.names import objects_of
from askgraph.index import folded, stem, tokens
from askgraph.index.names import Kind
from askgraph.search.grow import DOUBT_MISDIRECTED, Node
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
from askgraph.sparql import vocabulary as v
from askgraph.sparql.prefixes import words_of_local_name
from askgraph.sparql.vocabulary import GEO

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
_SHARE = 0.3
"""All predicates are read until this share of the time is gone; a later question tries anew."""
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
        found: dict[str, Kinds] = {"": NONE}
        for number, profile in (read := in_time(schema.predicates.items(), share=_SHARE)):
            told = signs_in(schema.words(number))
            if any(name.startswith(GEO) for name, _ in profile.datatypes):
                told |= {"places"}
            for cls, _ in profile.subject_classes if told else ():
                found[cls] = found.get(cls, NONE) | told
        if read.cut:
            return found
        known |= found
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
    if asked in known:
        told: list[_Named] = known[asked]
        return told
    read = in_time(schema.open, share=_SHARE)
    found = [one for number in read for one in _named(schema, number, asked)]
    if not read.cut:
        known[asked] = found
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


Truths = tuple[str, str]
"""What says yes and what says no, as terms; empty if the data have none."""

_FEW: Final = 6
"""Codes of one predicate at most: how each of two is written differs little."""
_MIRRORED: Final = 0.6
"""The share of links that also lead back from which on the others are taken to do so as well."""
_FEWEST = 4
"""So many links at least say anything about their share."""
_WITHIN = 4
"""Words from a preposition to the name that it is about: "from the airport of"."""


def truths_of(schema: Schema, predicate: int) -> Truths | None:
    """Return the values of a predicate that mean true and false, None if others occur, too."""
    known = schema.found["truths_of"]
    if predicate not in known:
        known[predicate] = _truths_of(schema, predicate)
    found: Truths | None = known[predicate]
    return found


def _truths_of(schema: Schema, predicate: int) -> Truths | None:
    sort = schema.sort(predicate)
    if sort is Sort.BOOLEAN:
        return "true", "false"
    values = _values(schema, predicate)
    words = shared_words().truths
    if sort is Sort.NUMBER:
        name = tokens(words_of_local_name(schema.graph.iri_of(predicate)))
        if words["asking"].isdisjoint(name[:1]) and words["flags"].isdisjoint(name[-1:]):
            return None
    yes = [term for text, term in values if text in words["yes"]]
    no = [term for text, term in values if text in words["no"]]
    if len(yes) != 1 or len(no) > 1 or len(values) > len(yes) + len(no):
        return None
    return yes[0], no[0] if no else ""


_CODE = 4
"""Signs of a code at most that a description explains."""
_MOST_CODES = 40
"""So many codes of one predicate, at most, may be explained."""
_EXPLAINS = re.compile(r"(?<![\w-])\w{1,4}['\"]?(\)|\s*[=:–-]\s*[^\W\d])")
"""What only descriptions that may explain a code have; the values of others are not looked at."""
_LONGEST_INITIALS = 5
"""Initials are so many at most."""


def holds_codes(schema: Schema, predicate: int, table: str) -> bool:
    """Whether all values of a predicate are codes of one table."""
    known, key = schema.found["holds_codes"], (predicate, table)
    if key not in known:
        values = _values(schema, predicate)
        held = shared_words().held[table]
        known[key] = bool(values) and all(text in held for text, _ in values)
    return bool(known[key])


def shortened_values(schema: Schema, predicate: int, word: str) -> list[str]:
    """Return the values of a predicate, as terms, whose initials a word is: "LA", "Los Angeles"."""
    if not 1 < len(word) <= _LONGEST_INITIALS or not word.isupper():
        return []
    parts = ((text.split(), term) for text, term in _values(schema, predicate))
    return [term for words, term in parts if "".join(w[0] for w in words) == folded(word)]


def explained_codes(schema: Schema) -> Mapping[str, Sequence[tuple[str, str]]]:
    """Return the codes that descriptions of predicates explain, by the stems of the words for them.

    "G: goalie, D: defender" or "goalie (G), defender (D)": each code as a term, with the predicate.
    """
    known = schema.found["explained_codes"]
    if not known:
        known[None] = found = defaultdict[str, list[tuple[str, str]]](list)
        for number, text in _descriptions(schema).items():
            explains = _EXPLAINS.search(text) is not None
            for value, term in _values(schema, number, _MOST_CODES) if explains else ():
                for word in _explained(value, text):
                    found[word].append((term, schema.graph.iri_of(number)))
    codes: Mapping[str, Sequence[tuple[str, str]]] = known[None]
    return codes


def _descriptions(schema: Schema) -> dict[int, str]:
    """What the graph says of predicates in a sentence or more, folded, by their numbers."""
    graph, told = schema.graph, defaultdict[int, list[str]](list)
    for described in v.DESCRIPTION_PREDICATES:
        number = graph.number(described)
        if number is not None:
            for node, at in zip(*graph.pairs(np.sort(graph.predicates), number), strict=True):
                text = split_literal(graph.terms.text(int(at)))[0]
                told[graph.numbers[int(node)]].append(folded(text))
    return {number: "; ".join(told[number]) for number in schema.predicates if number in told}


def _explained(code: str, text: str) -> set[str]:
    """The stems of the words that a description explains a short code by."""
    if not 0 < len(code) <= _CODE:
        return set()
    own = re.escape(code)
    after = re.search(rf"(?<![\w-]){own}['\"]?\s*[=:–-]\s*([^\W\d]{{3,}})(?! [^\W\d])", text)
    before = re.search(rf"([^\W\d]{{3,}})\s*\(['\"]?{own}['\"]?\)", text)
    words = [one[1] for one in (after, before) if one is not None]
    return {stem(form) for word in words for form in (word, f"{word}s")}


def _values(schema: Schema, predicate: int, most: int = _FEW) -> list[tuple[str, str]]:
    """The literals of a predicate, each as its folded text and as a term; none if of many."""
    objects = schema.graph.ends(predicate, inverse=True)
    if not 0 < len(objects) <= most or int(objects[-1]) >= schema.graph.terms.first_iri:
        return []
    terms = [schema.graph.terms.text(int(at)) for at in objects]
    return [(folded(split_literal(term)[0].strip()), term) for term in terms]


def is_mirrored(schema: Schema, predicate: int) -> bool:
    """Whether a relation is symmetric, and some of its links are stated one way only.

    It is if its schema says so, if its name does ("sibling", "borders") and it links things of
    one class, or if most of its links lead back as well.
    """
    known = schema.found["is_mirrored"]
    if predicate not in known:
        known[predicate] = _is_mirrored(schema, predicate)
    return bool(known[predicate])


def _is_mirrored(schema: Schema, predicate: int) -> bool:
    profile = schema.predicates.get(predicate)
    if profile is None or predicate == schema.kind or not schema.leads_on(predicate):
        return False
    own = {cls for cls, _ in profile.subject_classes}
    if own and own.isdisjoint(cls for cls, _ in profile.object_classes):
        return False
    back = _leading_back(schema, predicate)
    if back == 1.0:
        return False
    if v.OWL_SYMMETRIC_PROPERTY in objects_of(schema.graph, profile.iri, v.RDF_TYPE):
        return True
    if not schema.words(predicate).isdisjoint(shared_words().names["symmetric"]):
        return not schema.names_subject(predicate)
    return back >= _MIRRORED and profile.triples >= _FEWEST


def _leading_back(schema: Schema, predicate: int) -> float:
    """The share of a predicate's links whose objects have their subjects for objects."""
    graph = schema.graph
    subjects, objects = graph.pairs(graph.ends(predicate), predicate)
    size = len(graph.terms)
    there = subjects.astype(np.int64) * size + objects
    back = objects.astype(np.int64) * size + subjects
    return float(np.isin(back, there).mean()) if len(there) else 0.0


def stepped(schema: Schema, nodes: Ids, predicate: int, *, inverse: bool = False) -> Ids:
    """Return the nodes that one edge of a predicate away from a set: of a mirrored one any edge."""
    found = schema.graph.step(nodes, predicate, inverse=inverse)
    if not is_mirrored(schema, predicate):
        return found
    return np.union1d(found, schema.graph.step(nodes, predicate, inverse=not inverse))


def leaving(schema: Schema, nodes: Ids, predicate: int, *, inverse: bool = False) -> Ids:
    """Return those of the nodes that an edge of a predicate leaves, or of a mirrored one any."""
    found = schema.graph.bearers(nodes, predicate, inverse=inverse)
    if not is_mirrored(schema, predicate):
        return found
    return np.union1d(found, schema.graph.bearers(nodes, predicate, inverse=not inverse))


def misdirected(linked: Linked, schema: Schema, node: Node, predicate: int) -> float:
    """Return the doubt that a predicate leads to what words come from, or the other way round."""
    if predicate not in schema.predicates:
        return 0.0
    held = schema.words(predicate)
    ways = {name: not held.isdisjoint(way.held) for name, way in shared_words().directions.items()}
    if not any(ways.values()) or all(ways.values()):
        return 0.0
    link = _ending(node)
    said = _said_before(linked, link) if link is not None else ""
    return DOUBT_MISDIRECTED if said and not ways[said] else 0.0


def _ending(node: Node) -> Link | None:
    """The link of the thing or value at the end of a chain."""
    while node.link is None and len(node.edges) == 1:
        node = node.edges[0][1]
    return node.link


def _said_before(linked: Linked, link: Link) -> str:
    """The direction that words before a name say, "" if none do."""
    tokens, first = linked.reading.tokens, link.positions[0]
    for at in range(first - 1, max(-1, first - 1 - _WITHIN), -1):
        for name, way in shared_words().directions.items():
            if tokens[at].folded in way.said:
                return name
        if tokens[at].quote is not None or tokens[at].capital:
            return ""
    return ""
