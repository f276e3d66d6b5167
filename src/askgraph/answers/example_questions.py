"""Make examples from a graph: a value of each predicate, and questions to start with."""

import re
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import islice
from math import log2

import numpy as np
from pyoxigraph import NamedNode

from askgraph.answers.verbalize.labels import find_unit
from askgraph.answers.verbalize.lexicon import LexicalEntry
from askgraph.answers.verbalize.names import Names
from askgraph.answers.verbalize.phrases import (
    Phrases,
    is_keyword,
    is_uncounted,
    is_vague,
    load_phrases,
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
from askgraph.sparql.english import is_plural, lower_first_letter
from askgraph.sparql.prefixes import PrefixMap, choose_label, split_local_name

COORDINATE_NAMES = (frozenset(["lat", "latitude"]), frozenset(["long", "lon", "lng", "longitude"]))
"""Local names of properties for a latitude and for a longitude."""
_MAX_DEGREES = (90.0, 180.0)
_POINT = re.compile(r"\s*(?:<[^<>]*>\s*)?POINT\s*Z?\s*\(", re.IGNORECASE)
"""Match at the start of a point in well-known text."""
SIZES = {"length": "greatest", "mass": "greatest", "area": "greatest", "time": "longest"}
"""English adjectives of the highest value of a measure by dimension; `highest` if missing."""

MAX_LISTED_ROWS = 30
"""Largest number of things that people read as a list."""

_MAX_NAME_CHARACTERS = 40
_MAX_NAMED_CLASSES = 5  # classes that a sentence names
_MAX_ABBREVIATION_CHARACTERS = 4  # maximum length of an abbreviation in capitals
_CODE = re.compile(r"\d{3}|[_/#:@]|^\W|[A-Za-z]\d|\d[A-Za-z]|\b[A-Z]+ \d|\d\.\d|[.?!]$")
"""Match in names that are keys, numbers, addresses or questions."""
_CAPITAL = re.compile(r"\b[A-Z](?=[a-z])")
"""Match the capitals of a name that is made of an IRI: "Zone Temperature Sensor"."""


@dataclass(frozen=True)
class Examples:
    """Labels of classes and predicates by IRI, a value of each predicate, questions."""

    labels: Mapping[str, str]
    values: Mapping[str, str]
    questions: tuple[str, ...]


@dataclass(frozen=True)
class Starter:
    """A question to start with, whose query must contain the IRI `about`.

    Questions of one `kind` differ only in their subject. Show results of `least` to `most` rows.
    """

    text: str
    kind: str
    about: str
    least: int = 1
    most: int = 1_000


def make_examples(
    profile: Profile,
    arrays: GraphArrays | None,
    prefixes: PrefixMap,
    languages: Sequence[str],
    *,
    most: int = 3,
) -> Examples:
    """Return labels, values and at most `most` questions.

    A remote graph has no values. Labels are in `languages`, questions in the language of
    `choose_language`.
    """
    reader = _ArrayReader(profile, arrays, languages)
    labels = {item.iri: reader.find_label(item) for item in profile.classes}
    labels |= {item.iri: reader.find_label(item) for item in profile.predicates}
    values = list_values([p.iri for p in profile.predicates], profile, arrays, prefixes, languages)
    starters = islice(list_starters(profile, arrays, choose_language(profile, languages)), most)
    return Examples(labels, values, tuple(starter.text for starter in starters))


def list_values(
    predicates: Sequence[str],
    profile: Profile,
    arrays: GraphArrays | None,
    prefixes: PrefixMap,
    languages: Sequence[str],
) -> dict[str, str]:
    """Return one shortened value per predicate; none for a remote graph."""
    reader = _ArrayReader(profile, arrays, languages)
    return {iri: value for iri in predicates if (value := reader.find_value(iri, prefixes))}


def describe_content(profile: Profile, language: str, key: str = "about") -> str:
    """Describe a graph's largest classes in a sentence; empty if it has none.

    "Holds moons, missions, astronauts and 12 more kinds of things."
    """
    classes = [cls for cls in select_largest_classes(profile) if not cls.nary]
    languages_of_names = (
        tag
        for tag in (language, "en")
        if any(name_in_language(cls, tag) for cls in classes[:_MAX_NAMED_CLASSES])
    )
    phrases = load_phrases(language, next(languages_of_names, ""))
    labels = (choose_label(cls.names, [language]) for cls in classes)
    nouns = [
        phrases.pluralize(label or split_local_name(cls.iri))
        for cls, label in zip(classes, labels, strict=True)
    ]
    named_nouns = list(dict.fromkeys(nouns))[:_MAX_NAMED_CLASSES]
    remainder = (
        [phrases.say("about more", len(classes) - len(named_nouns))]
        if len(classes) > _MAX_NAMED_CLASSES + 1
        else []
    )
    return (
        phrases.punctuate(phrases.say(key, phrases.join_list([*named_nouns, *remainder])))
        if named_nouns
        else ""
    )


def choose_language(profile: Profile, languages: Sequence[str]) -> str:
    """Return the language for questions on a graph: the first of `languages`, else English.

    German, Spanish and French need classes with names in that language.
    """
    language = load_phrases(languages[0] if languages else "en").language
    classes = [cls for cls in profile.classes if not is_schema_term(cls.iri)]
    return language if any(name_in_language(cls, language) for cls in classes[:3]) else "en"


def list_starters(profile: Profile, arrays: GraphArrays | None, language: str) -> Iterator[Starter]:
    """Yield questions about the central classes of a graph, alternating between kinds.

    They mention the things with the most links; questions on a remote graph mention none.
    """
    about = _list_central_classes(profile, _ArrayReader(profile, arrays, [language]), language)
    questions = [[iter(kind(subject)) for subject in about] for kind in _KINDS]
    famous = {at: -subject.fame for at, subject in enumerate(about)}
    used, texts = Counter[int](), set[str]()
    while sum(map(len, questions)):
        for kind, kind_function in zip(questions, _KINDS, strict=True):
            rank = famous if kind_function is _ClassSubject.ask_fact else {}
            for at in sorted(range(len(kind)), key=lambda at: (used[at], rank.get(at, at))):
                starter = next((s for s in kind[at] if s.text not in texts), None)
                if starter is not None:
                    used[at] += 1
                    texts.add(starter.text)
                    yield starter
                    break
            else:
                kind.clear()


class _ArrayReader:
    def __init__(
        self, profile: Profile, arrays: GraphArrays | None, languages: Sequence[str]
    ) -> None:
        self.arrays = arrays
        self._languages = languages
        self._kind = dict(profile.types).get(v.RDF_TYPE, v.RDF_TYPE)
        self._naming = [p.iri for p in profile.predicates if p.naming == "name"]
        self._named = {cls.iri: cls.name_predicate for cls in profile.classes}

    def find_label(self, item: ClassProfile | PredicateProfile) -> str:
        return choose_label(item.names, self._languages) or split_local_name(item.iri)

    def find_value(self, predicate: str, prefixes: PrefixMap) -> str | None:
        number = self.arrays.get_predicate_number(predicate) if self.arrays else None
        if self.arrays is None or number is None:
            return None
        node = int(self.arrays.objects[int(self.arrays.predicate_offsets[number])])
        text = self.arrays.terms.get_value(node)
        if self.arrays.terms.is_iri(node):
            text = self.find_name(node) or prefixes.shorten(text)
        return text if len(text) <= _MAX_NAME_CHARACTERS else text[: _MAX_NAME_CHARACTERS - 1] + "…"

    def list_members(self, cls: str) -> Ids:
        """Return the instances of a class; none for a remote graph."""
        number = self.arrays.get_predicate_number(self._kind) if self.arrays else None
        class_node = self.arrays.terms.find_iri(cls) if self.arrays else None
        if self.arrays is None or number is None or class_node is None:
            return np.zeros(0, dtype=np.int32)
        return self.arrays.step(np.array([class_node], dtype=np.int32), number, inverse=True)

    def count_classes(self, nodes: Ids) -> Mapping[str, float]:
        """Return the share of the nodes in each of their classes."""
        class_nodes, counts = tally_ids(self.list_pairs(nodes, self._kind)[1])
        iris = self.arrays.terms.iterate_values(class_nodes) if self.arrays else ()
        return {iri: int(n) / len(nodes) for iri, n in zip(iris, counts, strict=False)}

    def sort_by_links(self, nodes: Ids) -> list[int]:
        if self.arrays is None:
            return []
        leaving, entering = self.arrays.out_offsets, self.arrays.in_offsets
        degrees = leaving[nodes + 1] - leaving[nodes] + entering[nodes + 1] - entering[nodes]
        return [int(node) for node in nodes[np.argsort(-degrees, kind="stable")]]

    def list_pairs(self, subjects: Ids, predicate: str) -> tuple[Ids, Ids]:
        """Return the edges of a predicate that start at some subjects, as subjects and objects."""
        number = self.arrays.get_predicate_number(predicate) if self.arrays else None
        if self.arrays is None or number is None:
            return subjects[:0], subjects[:0]
        return self.arrays.get_edges(subjects, number)

    def count_places(self, nodes: Ids, predicates: Iterable[tuple[int, PredicateProfile]]) -> int:
        """Return how many nodes have a point, or a latitude and a longitude."""
        located: list[set[int]] = [set(), set()]
        for _, p in predicates:
            name = split_local_name(p.iri).lower()
            subjects, values = self.list_pairs(nodes, p.iri)
            texts = [*self.arrays.terms.iterate_values(values)] if self.arrays else []
            for nodes_with, words, limit in zip(
                located, COORDINATE_NAMES, _MAX_DEGREES, strict=True
            ):
                for subject, text in zip(subjects, texts, strict=True):
                    if _POINT.match(text) or (name in words and _is_degree(text, limit)):
                        nodes_with.add(int(subject))
        return len(set.intersection(*located))

    def find_name(self, node: int, cls: str = "") -> str | None:
        """Return the name of a node; prefer the name predicate of `cls`."""
        if self.arrays is None or self.arrays.terms.is_literal(node):
            return None
        names = []
        for predicate in filter(None, (self._named.get(cls), *self._naming)):
            for text in self.list_pairs(np.array([node], dtype=np.int32), predicate)[1]:
                literal = self.arrays.terms.get_term(int(text))
                names.append((literal.value, getattr(literal, "language", None)))
            if names:
                break
        return choose_label(names, self._languages)


_MAX_CLASSES = 8  # classes with questions
_MIN_SHARED_RATIO = 0.8  # classes that share this part of their instances get one question
_SAMPLE_SIZE = 500
_MAX_NAMED_THINGS = 30  # candidates for names in questions
_MAX_TIES = 3  # rows that share the first rank


def _list_central_classes(
    profile: Profile, reader: _ArrayReader, language: str
) -> list["_ClassSubject"]:
    """Return the classes with the most statements and links, without overlapping ones."""
    # Subclasses that cover a class replace it.
    predicates, leading = defaultdict[str, list[tuple[int, PredicateProfile]]](list), Counter[str]()
    for p in profile.predicates:
        is_excluded = p.naming or p.bookkeeping or is_schema_term(p.iri)
        for iri, number in () if is_excluded else p.subject_classes:
            predicates[iri].append((number, p))
        leading.update(dict(p.object_classes))
    member_counts = Counter[str]()
    for cls in profile.classes:
        member_counts.update(dict.fromkeys(cls.parents, cls.instances))
    nouns = frozenset(reader.find_label(cls).casefold() for cls in profile.classes)
    subjects = [
        _ClassSubject(
            cls, predicates[cls.iri], leading[cls.iri], nouns, reader, load_phrases(language)
        )
        for cls in profile.classes
        if not (
            cls.nary
            or is_schema_term(cls.iri)
            or member_counts[cls.iri] >= _MIN_SHARED_RATIO * cls.instances
        )
    ]
    subjects.sort(key=lambda about: (-about.weight, about.cls.iri))
    chosen: list[_ClassSubject] = []
    for about in (*filter(lambda subject: subject.is_known, subjects), *subjects):
        if len(chosen) == _MAX_CLASSES:
            break
        if about.noun and not any(about.is_alike(other) for other in chosen):
            chosen.append(about)
    return chosen


@dataclass(frozen=True)
class _ClassSubject:
    cls: ClassProfile
    predicates: Sequence[tuple[int, PredicateProfile]]
    leading: int
    class_nouns: frozenset[str]  # of all classes of the graph
    reader: _ArrayReader
    phrases: Phrases

    def ask_highest(self) -> Iterator[Starter]:
        nouns = () if self._is_plural(self.noun) else self.nouns
        measures = [
            (find_unit(p, self.reader.arrays), p, label)
            for p, label in nouns
            if self._is_measure(p, label)
        ]
        for unit, p, label in sorted(measures, key=lambda measure: measure[0] is None):
            text = write_extreme_question(self.phrases, self.noun, label, unit)
            yield Starter(text, "next class highest", p.iri, most=_MAX_TIES)

    def ask_verbs(self) -> Iterator[Starter]:
        for p in self._links:
            for name in self._list_hubs(p) if (verb := self._find_verb(p)) else ():
                verb, name = self.phrases.agree(verb), add_the(name, self.phrases)
                yield self._make_starter("start verb", self.many, verb, name, of=p.iri, least=2)

    def ask_links(self) -> Iterator[Starter]:
        for p in self._links:
            for name in self._list_hubs(p) if (label := dict(self.nouns).get(p, "")) else ():
                name = name.removeprefix(f"{label[:1].upper()}{label[1:]} ")
                yield self._make_starter("start with", self.many, label, name, of=p.iri, least=2)

    def ask_fact(self) -> Iterator[Starter]:
        properties = [(p, label) for p, label in self.nouns if p.object_classes or _is_dated(p)]
        properties.sort(key=lambda pair: not pair[0].object_classes)
        for name, node in self.named_things:
            for at, (p, label) in enumerate(properties):
                values = self.reader.list_pairs(np.array([node], dtype=np.int32), p.iri)[1]
                if len(values) and all(self._is_telling(int(n), p, name) for n in values):
                    text = write_value_question(self.phrases, label, name)
                    yield Starter(text, "next value", p.iri, most=_MAX_TIES)
                    properties.append(properties.pop(at))
                    break

    def ask_counts(self) -> Iterator[Starter]:
        for p, label in self.nouns if self.many else ():
            shared = p.object_classes and 1 < p.objects <= p.subjects / 2
            if shared and (next(self._list_hubs(p), "") or not self.reader.arrays):
                yield self._make_starter("next per", self.many, label, of=p.iri, least=2)

    def ask_map(self) -> Iterator[Starter]:
        """Ask for a map of things that mostly have coordinates, which the page draws of arrays."""
        sample = self.members[:: max(1, len(self.members) // _SAMPLE_SIZE)]
        if self.many and 0 < len(sample) <= 2 * self.reader.count_places(sample, self.predicates):
            yield self._make_starter("start map", self.many, least=max(2, self.cls.instances // 2))

    def ask_years(self) -> Iterator[Starter]:
        dated = any(_is_dated(p) and n >= self.cls.instances / 2 for n, p in self.predicates)
        if dated and self.many and self.cls.instances > _MAX_TIES**2:
            yield self._make_starter("start year", self.many, least=2)

    def ask_all(self) -> Iterator[Starter]:
        if self.many and 1 < self.cls.instances <= MAX_LISTED_ROWS:
            yield self._make_starter("start list", self.many, least=2)

    def ask_number(self) -> Iterator[Starter]:
        if self.many and self.cls.instances > 1:
            yield self._make_starter("start number", self.many)

    @property
    def weight(self) -> float:
        """A score that grows with instances, common properties and incoming links."""
        number = max(1, self.cls.instances)
        common_count = sum(n >= number / 2 for n, p in self.predicates if self._name_predicate(p))
        return common_count * log2(1 + number) * (1 + log2(1 + self.leading / number))

    @property
    def is_known(self) -> bool:
        """Whether instances have pronounceable names; true for a remote graph."""
        return self.reader.arrays is None or bool(self.named_things)

    @property
    def fame(self) -> int:
        arrays = self.reader.arrays
        return arrays.get_degree(self.named_things[0][1]) if arrays and self.named_things else 0

    def is_alike(self, other: "_ClassSubject") -> bool:
        ours, theirs = (self.shares.get(other.cls.iri, 0), other.shares.get(self.cls.iri, 0))
        return max(ours, theirs) >= _MIN_SHARED_RATIO or other.noun == self.noun

    def _make_starter(
        self, key: str, *parts: str, of: str = "", least: int = 1, most: int = 1_000
    ) -> Starter:
        text = self.phrases.finish_question(self.phrases.say(key, *parts))
        return Starter(text, key, of or self.cls.iri, least, most)

    @cached_property
    def noun(self) -> str:
        """The singular noun of the class; empty if it is unpronounceable."""
        name = name_in_language(self.cls, self.phrases.language) or self.reader.find_label(self.cls)
        noun = self.phrases.singularize(name)
        return noun if is_spoken(noun) and not is_keyword(noun) and not is_vague(noun) else ""

    @cached_property
    def many(self) -> str:
        """The plural noun of the class; empty if it is uncountable."""
        return "" if is_uncounted(self.noun) else self.phrases.pluralize(self.noun)

    @cached_property
    def nouns(self) -> list[tuple[PredicateProfile, str]]:
        """Properties whose labels are singular nouns, most frequent first."""
        ordered = sorted(self.predicates, key=lambda pair: (-pair[0], pair[1].iri))
        frequent = (p for n, p in ordered if n >= self.cls.instances / 3)
        labels = ((p, self._name_predicate(p)) for p in frequent)
        language = self.phrases.language
        return [(p, n) for p, n in labels if is_noun(n, language) and not self._is_plural(n)]

    def _is_plural(self, noun: str) -> bool:
        return self.phrases.language == "en" and is_plural(noun.split(" ")[-1])

    @cached_property
    def members(self) -> Ids:
        return self.reader.list_members(self.cls.iri)

    @cached_property
    def shares(self) -> Mapping[str, float]:
        """The share of a sample of instances in each of their classes."""
        return self.reader.count_classes(self.members[:: max(1, len(self.members) // _SAMPLE_SIZE)])

    @cached_property
    def named_things(self) -> list[tuple[str, int]]:
        """Names and nodes of the instances with the most links, proper names first."""
        arrays = self.reader.arrays
        if (
            not self.noun
            or arrays is None
            or np.isin(self.members[:_SAMPLE_SIZE], arrays.predicates).any()
        ):
            return []  # questions about predicates are useless
        first = self.reader.sort_by_links(self.members)[:_MAX_NAMED_THINGS]
        pairs = [(name, node) for node in first if (name := self._find_name(node, self.cls.iri))]
        return sorted(pairs, key=lambda pair: not pair[0][:1].isupper())

    @property
    def _links(self) -> list[PredicateProfile]:
        """Predicates to other things, most frequent first; empty for an uncountable noun."""
        links = [(-n, p.iri, p) for n, p in self.predicates if p.object_classes and self.many]
        return [p for _, _, p in sorted(links)]

    def _list_hubs(self, p: PredicateProfile) -> Iterator[str]:
        """Yield names of objects that a few instances share, most links first."""
        objects, counts = tally_ids(self.reader.list_pairs(self.members, p.iri)[1])
        hubs = objects[(counts > 1) & (counts <= MAX_LISTED_ROWS)]
        for node in self.reader.sort_by_links(hubs)[:_MAX_NAMED_THINGS]:
            if name := self._find_name(node, p.object_classes[0][0]):
                yield name

    def _find_name(self, node: int, cls: str) -> str:
        name = self.reader.find_name(node, cls) or ""
        has_noun = name.casefold().startswith(self.noun.casefold())
        return name if is_spoken(name) and not has_noun else ""

    def _name_predicate(self, p: PredicateProfile) -> str:
        name = name_in_language(p, self.phrases.language)
        if not name and self.phrases.language == "en":
            name = self.reader.find_label(p)
        words = name.split(" ")
        links = [word for word in words if not (p.object_classes and is_keyword(word))]
        name = " ".join(links or words)
        return lower_first_letter(name) if self.phrases.language == "en" else name

    def _find_verb(self, p: PredicateProfile) -> str:
        name = self._name_predicate(p)
        relation = Names({p.iri: name}, self.phrases).find_entry(NamedNode(p.iri))
        if relation.kind != "verb":
            return ""
        return name if relation.object_noun else relation.text

    def _is_telling(self, node: int, p: PredicateProfile, of: str) -> bool:
        """Return whether a value is informative: a date or another pronounceable name."""
        if not p.object_classes:
            return True
        name = self.reader.find_name(node, p.object_classes[0][0]) or ""
        return is_spoken(name) and name.casefold() not in ("", of.casefold())

    def _is_measure(self, p: PredicateProfile, label: str) -> bool:
        """Return whether a predicate is a measure, not a coordinate, key, code or year."""
        if label.casefold() in self.class_nouns:
            return False
        if not p.functional or not v.NUMERIC_DATATYPES & dict(p.datatypes).keys():
            return False
        if any(split_local_name(p.iri).lower() in names for names in COORDINATE_NAMES):
            return False
        terms = self.reader.list_pairs(self.members, p.iri)[1][:_SAMPLE_SIZE]
        if self.reader.arrays is None or not len(terms):
            return self.reader.arrays is None
        values = [self.reader.arrays.terms.get_term(int(node)) for node in terms]
        return is_measurable(values) and not is_identifier_list(values, p)


_KINDS: tuple[Callable[[_ClassSubject], Iterable[Starter]], ...] = (
    _ClassSubject.ask_highest, _ClassSubject.ask_verbs, _ClassSubject.ask_fact,
    _ClassSubject.ask_counts, _ClassSubject.ask_map, _ClassSubject.ask_links, _ClassSubject.ask_all,
    _ClassSubject.ask_years, _ClassSubject.ask_number,
)  # fmt: skip


def name_in_language(item: ClassProfile | PredicateProfile, language: str) -> str:
    """Return the name of a class or predicate in a language; empty without any."""
    texts = [text for text, tag in item.names if tag.split("-")[0].lower() == language]
    bare = [text for text, tag in item.names if not tag]
    if not texts and (language != "en" or (item.names and not bare)):
        return ""
    label = choose_label([(text, None) for text in texts or bare], [language])
    name = label or split_local_name(item.iri)
    if name.isupper() and len(name) > _MAX_ABBREVIATION_CHARACTERS:
        name = name.lower()
    if language == "en" and not item.names:
        return _CAPITAL.sub(lambda letter: letter[0].lower(), name)
    return lower_first_letter(name) if language == "en" else name


def write_extreme_question(phrases: Phrases, noun: str, label: str, unit: Unit | None) -> str:
    """Ask for the thing with the highest value: "Which song is the longest?"."""
    entry = _find_entry(label, phrases)
    if phrases.is_english and entry.most and entry.is_exact:
        text = phrases.say("start most", noun, entry.most)
    else:
        text = phrases.say("next class highest", noun, label, name_highest(label, phrases, unit))
    return phrases.finish_question(text)


def write_value_question(phrases: Phrases, label: str, name: str) -> str:
    """Ask for a property of a thing: "Who discovered Pluto?"."""
    past, name = _find_entry(label, phrases).past, add_the(name, phrases)
    key, verb = ("start who", past) if phrases.is_english and past else ("next value", label)
    return phrases.finish_question(phrases.say(key, verb, name))


def add_the(name: str, phrases: Phrases) -> str:
    """Return the name of a thing, in English with the article that some have: "the Sun"."""
    return Names({"x:thing": name}, phrases).name_thing("x:thing")


def name_highest(label: str, phrases: Phrases, unit: Unit | None) -> str:
    """Return the English adjective of the highest value of a measure, such as `greatest`."""
    adjective = _find_entry(label, phrases).high
    return SIZES.get(unit.dimension, adjective) if unit else adjective


def _find_entry(label: str, phrases: Phrases) -> LexicalEntry:
    return Names({"x:predicate": label}, phrases).find_entry(NamedNode("x:predicate"))


def _is_degree(text: str, limit: float) -> bool:
    try:
        return abs(float(text)) <= limit
    except ValueError:
        return False


def _is_dated(p: PredicateProfile) -> bool:
    return p.functional and bool(v.DATE_DATATYPES & dict(p.datatypes).keys())


def is_spoken(name: str) -> bool:
    """Return whether a name is pronounceable: short, and no key, number or address."""
    return len(name) <= _MAX_NAME_CHARACTERS and not _CODE.search(name)


def is_noun(label: str, language: str) -> bool:
    """Return whether a label fits in "the … of": "mass" does, "has part" and "orbits" do not."""
    entry = _find_entry(label, load_phrases(language))
    is_same = entry.kind == "noun" and entry.text.casefold() == label.casefold()
    return is_same and is_spoken(label) and not is_keyword(label)
