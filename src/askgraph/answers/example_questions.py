"""Examples out of a graph: a value of each predicate, and questions to start with."""

import re
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import islice
from math import log2

import numpy as np
from pyoxigraph import NamedNode

from askgraph.answers.headline import unit_of
from askgraph.answers.verbalize.phrases import (
    Names,
    Phrases,
    is_keyword,
    is_uncounted,
    is_vague,
    phrases_in,
)
from askgraph.graph.arrays import GraphArrays, Ids, tally_ids
from askgraph.graph.examples.drafts import is_identifier_list, is_measurable
from askgraph.graph.measures import Unit
from askgraph.graph.profile import (
    ClassProfile,
    PredicateProfile,
    Profile,
    is_schema_term,
    select_largest_classes,
)
from askgraph.sparql import vocabulary as v
from askgraph.sparql.prefixes import (
    PrefixMap,
    choose_label,
    is_plural,
    lower_first_letter,
    split_local_name,
)

PLACE = (frozenset(["lat", "latitude"]), frozenset(["long", "lon", "lng", "longitude"]))
"""What a latitude and a longitude are called."""
SIZES = {"length": "greatest", "mass": "greatest", "area": "greatest", "time": "longest"}
"""What the most of a measure is called in English, by its dimension; else it is the highest."""

LISTED = 30
"""Things that people would read as a list."""

_LONGEST = 40
_TOLD = 5  # classes that a sentence names
_SHORT = 4  # capitals that may be an abbreviation
_CODE = re.compile(r"\d{3}|[_/#:@]|^\W|[A-Za-z]\d|\d[A-Za-z]|\d\.\d|[.?!]$")
"""What a name has that is a key, a number, an address or a question."""


@dataclass(frozen=True)
class Examples:
    """Labels of classes and predicates by IRI, a value of each predicate, questions."""

    labels: Mapping[str, str]
    values: Mapping[str, str]
    questions: tuple[str, ...]


@dataclass(frozen=True)
class Starter:
    """A question to start with, the term that its query must have, and the rows worth showing.

    Questions that differ only in what they are about are of one kind.
    """

    text: str
    kind: str
    about: str
    least: int = 1
    most: int = 1_000


def examples_of(
    profile: Profile,
    arrays: GraphArrays | None,
    prefixes: PrefixMap,
    languages: Sequence[str],
    *,
    most: int = 3,
) -> Examples:
    """Return examples, with at most `most` questions, which nobody has asked yet.

    There are no values of a remote graph, whose triples are not here. Labels are in the languages
    wanted, questions in that of `starters_of`.
    """
    reader = _Reader(profile, arrays, languages)
    labels = {item.iri: reader.label(item) for item in profile.classes}
    labels |= {item.iri: reader.label(item) for item in profile.predicates}
    values = values_of([p.iri for p in profile.predicates], profile, arrays, prefixes, languages)
    first = islice(starters_of(profile, arrays, language_of(profile, languages)), most)
    return Examples(labels, values, tuple(one.text for one in first))


def values_of(
    predicates: Sequence[str],
    profile: Profile,
    arrays: GraphArrays | None,
    prefixes: PrefixMap,
    languages: Sequence[str],
) -> dict[str, str]:
    """Return a value of each of some predicates, by name and shortened; none of a remote graph."""
    reader = _Reader(profile, arrays, languages)
    return {iri: value for iri in predicates if (value := reader.value(iri, prefixes))}


def in_a_sentence(profile: Profile, language: str) -> str:
    """Return what a graph holds, by its largest classes; empty if it has none.

    "Holds moons, missions, astronauts and 12 more kinds of things."
    """
    classes = [one for one in select_largest_classes(profile) if not one.nary]
    tongues = (one for one in (language, "en") if any(called_in(c, one) for c in classes[:_TOLD]))
    phrases = phrases_in(language, next(tongues, ""))
    labels = (choose_label(one.names, [language]) for one in classes)
    nouns = [
        phrases.plural(label or split_local_name(one.iri))
        for one, label in zip(classes, labels, strict=True)
    ]
    told = list(dict.fromkeys(nouns))[:_TOLD]
    rest = [phrases.say("about more", len(classes) - len(told))] if len(classes) > _TOLD + 1 else []
    return phrases.punctuated(phrases.say("about", phrases.listed([*told, *rest]))) if told else ""


def language_of(profile: Profile, languages: Sequence[str]) -> str:
    """Return the language of questions on a graph: the first one wanted, or else English.

    It is German, Spanish or French only if the graph's classes are called something in it.
    """
    wanted = phrases_in(languages[0] if languages else "en").language
    own = [cls for cls in profile.classes if not is_schema_term(cls.iri)]
    return wanted if any(called_in(cls, wanted) for cls in own[:3]) else "en"


def starters_of(profile: Profile, arrays: GraphArrays | None, language: str) -> Iterator[Starter]:
    """Yield questions of many kinds in turns, about the classes that a graph is most about.

    The things in them are those with the most links. Of a remote graph there are only questions
    that name none.
    """
    reader = _Reader(profile, arrays, [language])
    about = _central(profile, reader, language)
    asked = [[iter(kind(one)) for one in about] for kind in _KINDS]
    famous = {at: -one.fame for at, one in enumerate(about)}
    used, said = Counter[int](), set[str]()
    while sum(map(len, asked)):
        for kind, each in zip(asked, _KINDS, strict=True):
            rank = famous if each is _About.fact else {}
            for at in sorted(range(len(kind)), key=lambda at: (used[at], rank.get(at, at))):
                starter = next((one for one in kind[at] if one.text not in said), None)
                if starter is not None:
                    used[at] += 1
                    said.add(starter.text)
                    yield starter
                    break
            else:
                kind.clear()


class _Reader:
    """Reads names and values out of the arrays, if there are any."""

    def __init__(
        self, profile: Profile, arrays: GraphArrays | None, languages: Sequence[str]
    ) -> None:
        self.arrays = arrays
        self._languages = languages
        self._kind = dict(profile.types).get(v.RDF_TYPE, v.RDF_TYPE)
        self._naming = [p.iri for p in profile.predicates if p.naming == "name"]
        self._named = {cls.iri: cls.name_predicate for cls in profile.classes}

    def label(self, item: ClassProfile | PredicateProfile) -> str:
        return choose_label(item.names, self._languages) or split_local_name(item.iri)

    def value(self, predicate: str, prefixes: PrefixMap) -> str | None:
        """An object of a predicate, by name, shortened."""
        number = self.arrays.get_predicate_number(predicate) if self.arrays else None
        if self.arrays is None or number is None:
            return None
        found = int(self.arrays.objects[int(self.arrays.predicate_offsets[number])])
        text = self.arrays.terms.get_value(found)
        if self.arrays.terms.is_iri(found):
            text = self.name(found) or prefixes.shorten(text)
        return text if len(text) <= _LONGEST else text[: _LONGEST - 1] + "…"

    def members(self, cls: str) -> Ids:
        """The things of a class; none of a remote graph."""
        number = self.arrays.get_predicate_number(self._kind) if self.arrays else None
        at = self.arrays.terms.find_iri(cls) if self.arrays else None
        if self.arrays is None or number is None or at is None:
            return np.zeros(0, dtype=np.int32)
        return self.arrays.step(np.array([at], dtype=np.int32), number, inverse=True)

    def classes(self, things: Ids) -> Mapping[str, float]:
        """The classes of things, each with the share of them that it has."""
        found, counts = tally_ids(self.pairs(things, self._kind)[1])
        iris = self.arrays.terms.iterate_values(found) if self.arrays else ()
        return {iri: int(n) / len(things) for iri, n in zip(iris, counts, strict=False)}

    def linked(self, things: Ids) -> list[int]:
        """Things, those with the most links first."""
        if self.arrays is None:
            return []
        leaving, entering = self.arrays.out_offsets, self.arrays.in_offsets
        degrees = leaving[things + 1] - leaving[things] + entering[things + 1] - entering[things]
        return [int(one) for one in things[np.argsort(-degrees, kind="stable")]]

    def pairs(self, things: Ids, predicate: str) -> tuple[Ids, Ids]:
        """Things and what a predicate says of them."""
        number = self.arrays.get_predicate_number(predicate) if self.arrays else None
        if self.arrays is None or number is None:
            return things[:0], things[:0]
        return self.arrays.get_edges(things, number)

    def name(self, node: int, cls: str = "") -> str | None:
        """What a thing is called, as those of a class are if it is one of them."""
        if self.arrays is None or self.arrays.terms.is_literal(node):
            return None
        names = []
        for predicate in filter(None, (self._named.get(cls), *self._naming)):
            for text in self.pairs(np.array([node], dtype=np.int32), predicate)[1]:
                literal = self.arrays.terms.get_term(int(text))
                names.append((literal.value, getattr(literal, "language", None)))
            if names:
                break
        return choose_label(names, self._languages)


_CLASSES = 8  # that are asked about
_ALIKE = 0.8  # of the things of a class that another one has too: one of the two is asked about
_SAMPLE = 500
_NAMED = 30  # things that are looked at for names to ask for
_TIES = 3  # things that may share the first place


def _central(profile: Profile, reader: _Reader, language: str) -> list["_About"]:
    """The classes of which most is said and to which most leads; none with the things of another.

    Of a class and those below it, which have all its things, it is those below.
    """
    said, leading = defaultdict[str, list[tuple[int, PredicateProfile]]](list), Counter[str]()
    for p in profile.predicates:
        for cls, number in () if p.naming or is_schema_term(p.iri) else p.subject_classes:
            said[cls].append((number, p))
        leading.update(dict(p.object_classes))
    below = Counter[str]()
    for one in profile.classes:
        below.update(dict.fromkeys(one.parents, one.instances))
    nouns = frozenset(reader.label(one).casefold() for one in profile.classes)
    found = [
        _About(one, said[one.iri], leading[one.iri], nouns, reader, phrases_in(language))
        for one in profile.classes
        if not (one.nary or is_schema_term(one.iri) or below[one.iri] >= _ALIKE * one.instances)
    ]
    found.sort(key=lambda about: (-about.weight, about.cls.iri))
    kept: list[_About] = []
    for about in (*filter(lambda one: one.is_known, found), *found):
        if len(kept) == _CLASSES:
            break
        if about.noun and not any(about.is_alike(other) for other in kept):
            kept.append(about)
    return kept


@dataclass(frozen=True)
class _About:
    """A class and what is said of its things: what can be asked of them, by kinds."""

    cls: ClassProfile
    said: Sequence[tuple[int, PredicateProfile]]
    leading: int
    others: frozenset[str]  # nouns of the classes of the graph
    reader: _Reader
    phrases: Phrases

    def highest(self) -> Iterator[Starter]:
        """The first one by a measure."""
        own = () if self._is_plural(self.noun) else self.nouns
        measures = [
            (unit_of(p, self.reader.arrays), p, label)
            for p, label in own
            if self._is_measure(p, label)
        ]
        for unit, p, label in sorted(measures, key=lambda one: one[0] is None):
            size = most_in_words(unit)
            yield self._say("next class highest", self.noun, label, size, of=p.iri, most=_TIES)

    def acting(self) -> Iterator[Starter]:
        """Those that do something to one thing, of which much is said."""
        for p in self._links:
            for name in self._hubs(p) if (verb := self._verb(p)) else ():
                said = self.phrases.verb(verb, many=True)
                yield self._say("start verb", self.many, said, name, of=p.iri, least=2)

    def having(self) -> Iterator[Starter]:
        """Those that have one thing in common, of which much is said."""
        for p in self._links:
            for name in self._hubs(p) if (label := dict(self.nouns).get(p, "")) else ():
                yield self._say("start with", self.many, label, name, of=p.iri, least=2)

    def fact(self) -> Iterator[Starter]:
        """A property of a thing of which much is said."""
        told = [(p, label) for p, label in self.nouns if p.object_classes or _is_dated(p)]
        told.sort(key=lambda one: not one[0].object_classes)
        for name, node in self.known:
            for at, (p, label) in enumerate(told):
                values = self.reader.pairs(np.array([node], dtype=np.int32), p.iri)[1]
                if len(values) and all(self._is_told(int(one), p, name) for one in values):
                    yield self._say("next value", label, name, of=p.iri, most=_TIES)
                    told.append(told.pop(at))
                    break

    def per(self) -> Iterator[Starter]:
        """How many there are by what several have in common."""
        for p, label in self.nouns if self.many else ():
            shared = p.object_classes and 1 < p.objects <= p.subjects / 2
            if shared and (next(self._hubs(p), "") or not self.reader.arrays):
                yield self._say("next per", self.many, label, of=p.iri, least=2)

    def places(self) -> Iterator[Starter]:
        """Those that have coordinates."""
        said = {split_local_name(p.iri).lower() for _, p in self.said}
        if self.many and all(said & words for words in PLACE):
            yield self._say("start map", self.many, least=2)

    def years(self) -> Iterator[Starter]:
        """How many there are in each year."""
        dated = any(_is_dated(p) and n >= self.cls.instances / 2 for n, p in self.said)
        if dated and self.many and self.cls.instances > _TIES**2:
            yield self._say("start year", self.many, least=2)

    def all(self) -> Iterator[Starter]:
        """All, if they are few."""
        if self.many and 1 < self.cls.instances <= LISTED:
            yield self._say("start list", self.many, least=2)

    def number(self) -> Iterator[Starter]:
        """How many there are."""
        if self.many and self.cls.instances > 1:
            yield self._say("start number", self.many)

    @property
    def weight(self) -> float:
        """How much is said of its things, and how much leads to them."""
        number = max(1, self.cls.instances)
        told = sum(n >= number / 2 for n, p in self.said if self._called(p))
        return told * log2(1 + number) * (1 + log2(1 + self.leading / number))

    @property
    def is_known(self) -> bool:
        """Whether things of it have names that people say; of a remote graph nobody knows."""
        return self.reader.arrays is None or bool(self.known)

    @property
    def fame(self) -> int:
        """The number of links of the thing of which most is said."""
        arrays = self.reader.arrays
        return arrays.get_degree(self.known[0][1]) if arrays and self.known else 0

    def is_alike(self, other: "_About") -> bool:
        """Whether most of its things are those of another class, or the other way round."""
        ours, theirs = (self.shares.get(other.cls.iri, 0), other.shares.get(self.cls.iri, 0))
        return max(ours, theirs) >= _ALIKE or other.noun == self.noun

    def _say(
        self, key: str, *parts: str, of: str = "", least: int = 1, most: int = 1_000
    ) -> Starter:
        text = self.phrases.asked(self.phrases.say(key, *parts))
        return Starter(text, key, of or self.cls.iri, least, most)

    @cached_property
    def noun(self) -> str:
        """What a thing of the class is called; empty if nobody would say it."""
        said = called_in(self.cls, self.phrases.language) or self.reader.label(self.cls)
        noun = self.phrases.singular(said)
        return noun if is_spoken(noun) and not is_keyword(noun) and not is_vague(noun) else ""

    @cached_property
    def many(self) -> str:
        """What the things of the class are called; empty if they are not counted."""
        return "" if is_uncounted(self.noun) else self.phrases.plural(self.noun)

    @cached_property
    def nouns(self) -> list[tuple[PredicateProfile, str]]:
        """What things of the class have, by nouns, what most have first."""
        ordered = sorted(self.said, key=lambda one: (-one[0], one[1].iri))
        found = ((p, self._called(p)) for n, p in ordered if n >= self.cls.instances / 3)
        said = ((p, label) for p, label in found if is_noun(label, self.phrases.language))
        return [(p, label) for p, label in said if not self._is_plural(label)]

    def _is_plural(self, noun: str) -> bool:
        return self.phrases.language == "en" and is_plural(noun.split(" ")[-1])

    @cached_property
    def members(self) -> Ids:
        return self.reader.members(self.cls.iri)

    @cached_property
    def shares(self) -> Mapping[str, float]:
        """The classes of its things, with their shares of these."""
        return self.reader.classes(self.members[:: max(1, len(self.members) // _SAMPLE)])

    @cached_property
    def known(self) -> list[tuple[str, int]]:
        """Names of things of the class, of which most is said."""
        arrays = self.reader.arrays
        if (
            not self.noun
            or arrays is None
            or np.isin(self.members[:_SAMPLE], arrays.predicates).any()
        ):
            return []  # of predicates nobody asks
        first = self.reader.linked(self.members)[:_NAMED]
        found = [(name, one) for one in first if (name := self._named(one, self.cls.iri))]
        return sorted(found, key=lambda one: not one[0][:1].isupper())

    @property
    def _links(self) -> list[PredicateProfile]:
        """What leads from its things to others, what most have first; none if nobody counts it."""
        found = [(-n, p.iri, p) for n, p in self.said if p.object_classes and self.many]
        return [p for _, _, p in sorted(found)]

    def _hubs(self, p: PredicateProfile) -> Iterator[str]:
        """What a few of its things share, by name, what most is said of first."""
        found, counts = tally_ids(self.reader.pairs(self.members, p.iri)[1])
        for one in self.reader.linked(found[(counts > 1) & (counts <= LISTED)])[:_NAMED]:
            if name := self._named(one, p.object_classes[0][0]):
                yield name

    def _named(self, node: int, cls: str) -> str:
        """The name of a thing of a class, if it is not that of this class with a number."""
        name = self.reader.name(node, cls) or ""
        own = name.casefold().startswith(self.noun.casefold())
        return name if is_spoken(name) and not own else ""

    def _called(self, p: PredicateProfile) -> str:
        """What a predicate is called; one that leads to things is called without "ID" and "ref"."""
        said = called_in(p, self.phrases.language)
        if not said and self.phrases.language == "en":
            said = self.reader.label(p)
        words = said.split(" ")
        links = [word for word in words if not (p.object_classes and is_keyword(word))]
        said = " ".join(links or words)
        return lower_first_letter(said) if self.phrases.language == "en" else said

    def _verb(self, p: PredicateProfile) -> str:
        said = self._called(p)
        relation = Names({p.iri: said}, self.phrases).relation(NamedNode(p.iri))
        return said if relation.kind == "verb" else ""

    def _is_told(self, node: int, p: PredicateProfile, of: str) -> bool:
        """Whether a value tells something: a date, or another name that is spoken."""
        if not p.object_classes:
            return True
        name = self.reader.name(node, p.object_classes[0][0]) or ""
        return is_spoken(name) and name.casefold() not in ("", of.casefold())

    def _is_measure(self, p: PredicateProfile, label: str) -> bool:
        """Whether a predicate measures: a thing has one number, no place, key, code or year."""
        if label.casefold() in self.others:
            return False
        if not p.functional or not v.NUMERIC_DATATYPES & dict(p.datatypes).keys():
            return False
        if any(split_local_name(p.iri).lower() in place for place in PLACE):
            return False
        terms = self.reader.pairs(self.members, p.iri)[1][:_SAMPLE]
        if self.reader.arrays is None or not len(terms):
            return self.reader.arrays is None
        values = [self.reader.arrays.terms.get_term(int(one)) for one in terms]
        return is_measurable(values) and not is_identifier_list(values, p)


_KINDS: tuple[Callable[[_About], Iterable[Starter]], ...] = (
    _About.highest,
    _About.acting,
    _About.fact,
    _About.per,
    _About.places,
    _About.having,
    _About.all,
    _About.years,
    _About.number,
)


def called_in(item: ClassProfile | PredicateProfile, language: str) -> str:
    """Return what a class or predicate is called in a language; empty if it is in none."""
    own = [text for text, tag in item.names if tag.split("-")[0].lower() == language]
    bare = [text for text, tag in item.names if not tag]
    if not own and (language != "en" or (item.names and not bare)):
        return ""
    label = choose_label([(text, None) for text in own or bare], [language])
    said = label or split_local_name(item.iri)
    if said.isupper() and len(said) > _SHORT:
        said = said.lower()
    return lower_first_letter(said) if language == "en" else said


def most_in_words(unit: Unit | None) -> str:
    """Return what the most of a measure is called in English: a diameter is great, a time long."""
    return SIZES.get(unit.dimension, "highest") if unit else "highest"


def _is_dated(p: PredicateProfile) -> bool:
    return p.functional and bool(v.DATE_DATATYPES & dict(p.datatypes).keys())


def is_spoken(name: str) -> bool:
    """Whether people would say a name: it is short, and no key, number or address."""
    return len(name) <= _LONGEST and not _CODE.search(name)


def is_noun(label: str, language: str) -> bool:
    """Whether a label can stand in "the … of": "mass" can, "has part" and "orbits" cannot."""
    iri = "x:predicate"
    said = Names({iri: label}, phrases_in(language)).relation(NamedNode(iri))
    is_said = said.kind == "noun" and said.text.casefold() == label.casefold()
    return is_said and is_spoken(label) and not is_keyword(label)
