"""Examples out of a graph: a value of each predicate, and questions to start with."""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import zip_longest

import numpy as np
from pyoxigraph import NamedNode

from askgraph.explanation._names import Names, is_uncounted, phrases_in
from askgraph.metadata import ClassProfile, PredicateProfile, Profile
from askgraph.rdf import PrefixMap, best_label, english_plural, within_sentence, words_of_local_name
from askgraph.rdf import vocabulary as v
from askgraph.traversal import GraphArrays

_LONGEST = 40
_TRIED = 30  # things of a class, in search of one that has a name to ask for
_CODE = re.compile(r"\d{3}|[_/#:@]|^\W|[A-Za-z]\d|\d[A-Za-z]")
"""What a name has that is a key, a number or an address."""
_SCHEMA = (v.RDF, v.RDFS, v.OWL, v.SH, v.XSD)


@dataclass(frozen=True)
class Examples:
    """Labels of classes and predicates by IRI, a value of each predicate, questions.

    `language` is that of the questions.
    """

    labels: Mapping[str, str]
    values: Mapping[str, str]
    questions: tuple[str, ...]
    language: str = "en"


def examples_of(
    profile: Profile,
    arrays: GraphArrays | None,
    prefixes: PrefixMap,
    languages: Sequence[str],
    *,
    most: int = 3,
) -> Examples:
    """Return examples, with at most `most` questions.

    There are no values of a remote graph, whose triples are not here. Labels are in the languages
    wanted. So are the questions if the first of them is German, Spanish or French and the graph's
    classes are called something in it; else they are in English.
    """
    reader = _Reader(profile, arrays, prefixes, languages)
    labels = {item.iri: reader.label(item) for item in profile.classes}
    labels |= {item.iri: reader.label(item) for item in profile.predicates}
    values = {p.iri: value for p in profile.predicates if (value := reader.value(p.iri))}
    wording = _wording(profile, languages)
    asked = _Reader(profile, arrays, prefixes, [wording.language])
    words = {item.iri: wording.within(asked.label(item)) for item in profile.classes}
    words |= {item.iri: wording.within(asked.label(item)) for item in profile.predicates}
    phrases = phrases_in(wording.language)
    found = (phrases.asked(text) for text in _questions(profile, words, asked, wording))
    return Examples(labels, values, tuple(dict.fromkeys(found))[:most], wording.language)


def values_of(
    predicates: Sequence[str],
    profile: Profile,
    arrays: GraphArrays | None,
    prefixes: PrefixMap,
    languages: Sequence[str],
) -> dict[str, str]:
    """Return a value of each of some predicates, by name and shortened; none of a remote graph."""
    reader = _Reader(profile, arrays, prefixes, languages)
    return {iri: value for iri in predicates if (value := reader.value(iri))}


@dataclass(frozen=True)
class _Wording:
    """Questions in one language: a value of a thing, the highest value, how many there are."""

    language: str
    value: str
    highest: str
    number: str
    within: Callable[[str], str]
    plural: Callable[[str], str]


_ENGLISH = _Wording(
    "en",
    "What is the {0} of {1}?",
    "Which {0} has the highest {1}?",
    "How many {0} are there?",
    within_sentence,
    english_plural,
)
_OTHERS = {
    "de": ("{0} von {1}?", "{0} mit höchstem Wert für {1}?", "Anzahl: {0}?"),
    "es": ("¿{0} de {1}?", "¿{0} con el mayor valor de {1}?", "¿Número de {0}?"),
    "fr": ("{0} de {1} ?", "{0} avec la plus grande valeur de {1} ?", "Nombre de {0} ?"),
}
"""Without articles, whose gender no graph tells."""


def _wording(profile: Profile, languages: Sequence[str]) -> _Wording:
    wanted = languages[0].lower().split("-")[0] if languages else ""
    named = {tag.lower().split("-")[0] for cls in profile.classes[:3] for _, tag in cls.names}
    if wanted not in _OTHERS or wanted not in named:
        return _ENGLISH
    plural = str if wanted == "de" else phrases_in(wanted).plural
    return _Wording(wanted, *_OTHERS[wanted], str, plural)


class _Reader:
    """Reads names and values out of the arrays, if there are any."""

    def __init__(
        self,
        profile: Profile,
        arrays: GraphArrays | None,
        prefixes: PrefixMap,
        languages: Sequence[str],
    ) -> None:
        self._arrays = arrays
        self._prefixes = prefixes
        self._languages = languages
        self._naming = [p.iri for p in profile.predicates if p.naming == "name"]

    def label(self, item: ClassProfile | PredicateProfile) -> str:
        named = best_label(item.names, self._languages)
        return named or words_of_local_name(item.iri)

    def value(self, predicate: str) -> str | None:
        """An object of a predicate, by name, shortened."""
        found = self._first(predicate)
        if self._arrays is None or found is None:
            return None
        text = self._arrays.terms.value(found[1])
        if self._arrays.terms.is_iri(found[1]):
            text = self._name(found[1]) or self._prefixes.shorten(text)
        return text if len(text) <= _LONGEST else text[: _LONGEST - 1] + "…"

    def subject(self, predicate: str, cls: str) -> str | None:
        """The name of something of a class that has a predicate."""
        if self._arrays is None or not predicate:
            return None
        kind, number = self._arrays.number(v.RDF_TYPE), self._arrays.number(predicate)
        at = self._arrays.terms.iri(cls)
        if kind is None or number is None or at is None:
            return None
        members = self._arrays.step(np.array([at], dtype=np.int32), kind, inverse=True)[:500]
        bearers = np.unique(self._arrays.pairs(members, number)[0])[:_TRIED]
        names = (self._name(int(one)) for one in bearers)
        return next((name for name in names if name and is_spoken(name)), None)

    def _first(self, predicate: str) -> tuple[int, int] | None:
        number = self._arrays.number(predicate) if self._arrays else None
        if self._arrays is None or number is None:
            return None
        at = int(self._arrays.predicate_offsets[number])
        return int(self._arrays.subjects[at]), int(self._arrays.objects[at])

    def _name(self, node: int) -> str | None:
        if self._arrays is None or self._arrays.terms.is_literal(node):
            return None
        names = []
        for predicate in self._naming:
            number = self._arrays.number(predicate)
            if number is None:
                continue
            for text in self._arrays.step(np.array([node], dtype=np.int32), number):
                literal = self._arrays.terms.term(int(text))
                names.append((literal.value, getattr(literal, "language", None)))
            if names:
                break
        return best_label(names, self._languages)


def _questions(
    profile: Profile, labels: Mapping[str, str], reader: _Reader, wording: _Wording
) -> Iterator[str]:
    """Questions of three kinds about the biggest classes whose things have names, in turns."""
    classes = [c for c in profile.classes if c.name_predicate and not c.nary and not _schema(c.iri)]
    found = [_of_class(cls, profile, labels, reader, wording) for cls in classes[:3]]
    for turn in zip_longest(*found):
        yield from (question for question in turn if question is not None)


def _of_class(
    cls: ClassProfile,
    profile: Profile,
    labels: Mapping[str, str],
    reader: _Reader,
    wording: _Wording,
) -> Iterator[str]:
    label = labels[cls.iri]
    own = [
        p
        for p in profile.predicates
        if not p.naming
        and not _schema(p.iri)
        and cls.iri in dict(p.subject_classes)
        and is_noun(labels[p.iri], wording.language)
    ]
    yield from _about_one(cls, [p for p in own if p.object_classes], labels, reader, wording)
    numeric = [p for p in own if p.functional and v.NUMERIC_DATATYPES & dict(p.datatypes).keys()]
    if numeric:
        yield wording.highest.format(label, labels[numeric[0].iri])
    else:
        yield from _about_one(cls, [p for p in own if p.datatypes], labels, reader, wording)
    if not is_uncounted(label) and is_spoken(label):
        yield wording.number.format(wording.plural(label))


def _about_one(
    cls: ClassProfile,
    predicates: Sequence[PredicateProfile],
    labels: Mapping[str, str],
    reader: _Reader,
    wording: _Wording,
) -> Iterator[str]:
    for predicate in predicates[:1]:
        name = reader.subject(predicate.iri, cls.iri)
        if name:
            yield wording.value.format(labels[predicate.iri], name)


def is_spoken(name: str) -> bool:
    """Whether people would say a name: it is short, and no key, number or address."""
    return len(name) <= _LONGEST and not _CODE.search(name)


def is_noun(label: str, language: str) -> bool:
    """Whether a label can stand in "the … of": "mass" can, "has part" and "orbits" cannot."""
    iri = "x:predicate"
    said = Names({iri: label}, phrases_in(language)).relation(NamedNode(iri))
    return said.kind == "noun" and said.text.casefold() == label.casefold() and is_spoken(label)


def _schema(iri: str) -> bool:
    return iri.startswith(_SCHEMA)
