"""Questions to start with and that may follow an answer, each checked to have one itself.

"Hello" and "what can I ask?" are answered by some to start with; others are made of an answer:

Which moons does Jupiter have?   Which of them has the highest mass? · And Saturn? ·
                                 How many moons are there per year of discovery?
"""

import asyncio
from collections import Counter
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import chain, islice
from typing import TypeGuard

import numpy as np
from pyoxigraph import NamedNode

from askgraph.answers.example_questions import (
    LISTED,
    PLACE,
    Starter,
    called_in,
    is_noun,
    is_spoken,
    language_of,
    most_in_words,
    starters_of,
)
from askgraph.answers.resource import list_classes
from askgraph.answers.verbalize import labels_of
from askgraph.answers.verbalize.phrases import is_uncounted, phrases_in
from askgraph.answers.verbalize.schema_facts import find_unit
from askgraph.errors import QueryError
from askgraph.graph import KnowledgeGraph
from askgraph.graph.examples import is_same_language
from askgraph.graph.profile import ClassProfile, PredicateProfile
from askgraph.search.tokenize import tokenize
from askgraph.search.tokenize.word_lists import detect_greeting, is_thanks
from askgraph.sparql import Pattern, Query, walk
from askgraph.sparql import vocabulary as v
from askgraph.sparql.prefixes import split_local_name
from askgraph.sparql.serializer import to_tree
from askgraph.trace import Answer, Clarification, Option, Outcome, Question, Refusal

_MOST = 3
_OF_A_KIND = 2  # tries for a question of one kind
_TRIED = 10
_LOOKED_AT = 50  # things of a result whose classes are read
_NEAR = 200  # things of a class, of which the best known are taken
_LONG = 8  # rows from which on "only the first five" is worth asking
_WORDS = 3  # of a property that can be asked for as "the … of"
_SCHEMA = (v.RDF, v.RDFS, v.OWL, v.SH, v.XSD)

Ask = Callable[[str], Awaitable[Outcome]]
Fits = Callable[[Answer], bool]


async def next_questions(
    answer: Answer,
    asked: str,
    graph: KnowledgeGraph,
    ask: Ask,
    *,
    language: str,
    seconds: float = 10.0,
) -> tuple[str, ...]:
    """Return up to three questions that may follow the answer to a question.

    Each is one that `ask` answers surely, as one that follows it, with another result; one at least
    stands alone if the graph has any such. After so many seconds none is tried any more.
    """
    try:
        tree = await asyncio.to_thread(to_tree, answer.query)
    except QueryError:
        return ()
    iris = [one.value for one in walk(tree) if isinstance(one, NamedNode)]
    labels = {**await labels_of(iris, graph, [language]), **answer.labels}
    about = _About(answer, tree, graph, labels, language, asked)
    near = await asyncio.to_thread(about.neighbours)
    called = (await labels_of(near, graph, [language])).values()
    following = await asyncio.to_thread(about.following, list(called))
    kinds = [(_MOST - 1, *kind) for kind in following]
    kinds += [(_MOST, kind, _any) for kind in await asyncio.to_thread(about.alone)]
    end = asyncio.get_running_loop().time() + seconds
    found: dict[str, Answer] = {}
    tried = 0
    for most, kind, fits in kinds:
        for text in kind[:_OF_A_KIND] if len(found) < most else ():
            late = tried == _TRIED or asyncio.get_running_loop().time() > end
            if late or text in found:
                continue
            tried += 1
            outcome = await ask(text)
            known = (answer, *found.values())
            if (
                is_sure(outcome)
                and fits(outcome)
                and not any(_is_same(outcome, one) for one in known)
            ):
                found[text] = outcome
                break
    return tuple(found)


def _any(answer: Answer) -> bool:
    return True


def _is_same(one: Answer, other: Answer) -> bool:
    """Whether two answers are one, in other words perhaps."""
    if one.query == other.query:
        return True
    if one.boolean is not None or one.result.rows != other.result.rows:
        return False
    return iris_of(one.query) == iris_of(other.query)


@dataclass(frozen=True)
class _About:
    """What an answer is about, and what its graph knows of that: questions come in kinds."""

    answer: Answer
    tree: Query
    graph: KnowledgeGraph
    labels: dict[str, str]
    language: str
    asked: str

    def following(self, others: Sequence[str]) -> list[tuple[list[str], Fits]]:
        """Questions that lean on the answer, best first in each kind, and which answers fit.

        `others` names neighbours.
        """
        own = {text.casefold() for cls in self.graph.profile.classes for text, _ in cls.names}
        said = [name for name in others if is_spoken(name) and name.casefold() not in own]
        kinds: list[tuple[list[str], Fits]]
        kinds = [([self.say("next other", name) for name in said], self.is_alike)]
        if len(self.things) > 1:
            highest = [
                self.say("next highest", label, self.size(one))
                for one, label in self.measures
                if not self.tree.limit and one.iri not in self.used and self.is_bare(label)
            ]
            shown = [(one, _any) for one in self.maps()]
            kinds = [(highest, self.is_among), *shown, *kinds]
            if len(self.answer.result.rows) > _LONG:
                kinds.append(([self.say("next first")], _any))
        return kinds

    def is_alike(self, other: Answer) -> bool:
        """Whether an answer is of the same classes and properties: only things are other ones."""
        schema = {one.iri for one in self.graph.profile.predicates}
        schema |= {one.iri for one in self.graph.profile.classes}
        return iris_of(other.query) & schema == self.used & schema

    def is_among(self, other: Answer) -> bool:
        """Whether an answer is one of the things of this one."""
        found = {row[0].value for row in other.result.rows if isinstance(row[0], NamedNode)}
        return bool(found) and found <= set(self.things)

    def alone(self) -> list[list[str]]:
        """Questions that stand alone, best first in each kind."""
        cls = self.cls
        noun = self.noun(cls) if cls else ""
        is_counted = not is_uncounted(noun)
        many = phrases_in(self.language).pluralize(noun)
        values = [
            self.say("next value", label, name)
            for name in self.names[:1]
            for one, label in self.properties
            if one.iri not in self.used and len(label.split()) <= _WORDS
        ]
        # By what several things have in common, they can be counted.
        counts = [
            self.say("next per", many, label)
            for one, label in self.properties
            if noun and is_counted and one.object_classes and 1 < one.objects <= one.subjects / 2
        ]
        highest = [
            self.say("next class highest", noun, label, self.size(one))
            for one, label in self.measures
            if noun
        ]
        few = cls is not None and 1 < cls.instances <= LISTED and is_counted
        every = [self.say("start list", many)] if few else []
        kinds = [counts, values, highest] if len(self.things) > 1 else [values, highest, counts]
        kinds.insert(1, every)
        kinds += [values[1:], highest[1:]]
        if language_of(self.graph.profile, [self.language]) == self.language:
            first = starters_of(self.graph.profile, self.graph.arrays, self.language)
            kinds += [[one.text] for one in islice(first, _MOST)]
        return kinds

    def maps(self) -> list[list[str]]:
        """The wish for a map, if things of the class have coordinates and none was asked for."""
        if tokenize(self.asked, self.language).is_map_request:
            return []
        own = {_said(one) for one, _ in self.properties}
        return [[self.say("next map")]] if all(own & place for place in PLACE) else []

    def size(self, measure: PredicateProfile) -> str:
        """What the most of a measure is called in English."""
        return most_in_words(find_unit(measure, self.graph.arrays))

    def is_bare(self, label: str) -> bool:
        """Whether a noun stands as it is behind "by": no German adjective is before it."""
        return self.language != "de" or label[:1].isupper()

    def say(self, key: str, *parts: str) -> str:
        """A question, with a capital at its start."""
        phrases = phrases_in(self.language)
        return phrases.capitalize(phrases.say(key, *parts))

    @cached_property
    def used(self) -> set[str]:
        """The IRIs of the query."""
        return {one.value for one in walk(self.tree) if isinstance(one, NamedNode)}

    @cached_property
    def things(self) -> list[str]:
        """The things of the first column of things, else those that the query names."""
        wanted = self.answer.answer_columns
        for name in self.answer.result.variables:
            column = self.answer.result.get_column(name) if name in wanted else ()
            if found := [term.value for term in column if isinstance(term, NamedNode)]:
                return list(dict.fromkeys(found))
        return self.constants[:1]

    @cached_property
    def names(self) -> list[str]:
        """The names of the first things, as far as people say them, best known first."""
        first, arrays = self.things[:_LOOKED_AT], self.graph.arrays
        if arrays is not None:
            nodes = {iri: arrays.terms.find_iri(iri) for iri in first}
            degrees = {iri: arrays.get_degree(at) for iri, at in nodes.items() if at is not None}
            first = sorted(first, key=lambda iri: -degrees.get(iri, 0))
        found = (self.labels.get(iri, "") for iri in first)
        return [name for name in found if name and is_spoken(name)]

    @cached_property
    def constants(self) -> list[str]:
        """The things that the query names: no classes, no predicates."""
        classes = {one.iri for one in self.graph.profile.classes}
        ends = chain.from_iterable(
            (one.subject, one.object) for one in walk(self.tree) if isinstance(one, Pattern)
        )
        found = dict.fromkeys(end.value for end in ends if isinstance(end, NamedNode))
        return [iri for iri in found if iri not in classes and not iri.startswith(_SCHEMA)]

    @cached_property
    def cls(self) -> ClassProfile | None:
        """The class that the things are of: the smallest that has nearly all of them."""
        counted = Counter(
            one.iri for thing in self.things[:_LOOKED_AT] for one in list_classes(thing, self.graph)
        )
        enough = 0.9 * min(len(self.things), _LOOKED_AT)
        known = {one.iri: one for one in self.graph.profile.classes if not _is_schema(one.iri)}
        fitting = [known[i] for i, number in counted.items() if i in known and number >= enough]
        if not counted:
            fitting = [known[iri] for iri in self.used if iri in known]
        return min(fitting, key=lambda one: (one.instances, one.iri), default=None)

    def noun(self, item: ClassProfile | PredicateProfile) -> str:
        """What a class or predicate is called in the asker's language; empty if it is in none."""
        said = called_in(item, self.language)
        return (
            phrases_in(self.language).singularize(said) if isinstance(item, ClassProfile) else said
        )

    @cached_property
    def properties(self) -> list[tuple[PredicateProfile, str]]:
        """What things of the class are said to have, by nouns, what most have first."""
        if self.cls is None:
            return []
        cls, found = self.cls.iri, list[tuple[int, PredicateProfile, str]]()
        for one in self.graph.profile.predicates:
            number, label = dict(one.subject_classes).get(cls, 0), self.noun(one)
            if one.naming or _is_schema(one.iri) or not number or not label:
                continue
            if is_noun(label, self.language):
                found.append((number, one, label))
        found.sort(key=lambda item: (-item[0], item[1].iri))
        return [(one, label) for _, one, label in found]

    @property
    def measures(self) -> list[tuple[PredicateProfile, str]]:
        """Those that are numbers, of which a thing has one."""
        return [
            (one, label)
            for one, label in self.properties
            if one.functional
            and v.NUMERIC_DATATYPES & dict(one.datatypes).keys()
            and not any(_said(one) in place for place in PLACE)
        ]

    def neighbours(self) -> list[str]:
        """Well-known things of the same class as one that the question names."""
        arrays = self.graph.arrays
        for thing in self.constants if arrays else ():
            own = list_classes(thing, self.graph)
            name = self.labels.get(thing, "").casefold()
            if own and name and name in self.asked.casefold():
                return self.like(thing, own[0].iri)
        return []

    def like(self, thing: str, cls: str) -> list[str]:
        """Things of a class that have what the query asks of one, best known first."""
        arrays = self.graph.arrays
        assert arrays is not None
        kind, at = arrays.get_predicate_number(v.RDF_TYPE), arrays.terms.find_iri(cls)
        if kind is None or at is None:
            return []
        found = arrays.step(np.array([at], dtype=np.int32), kind, inverse=True)
        for one in walk(self.tree):
            match one:
                case Pattern(NamedNode(value=iri), NamedNode(value=predicate), _) if iri == thing:
                    inverse = False
                case Pattern(_, NamedNode(value=predicate), NamedNode(value=iri)) if iri == thing:
                    inverse = True
                case _:
                    continue
            if (number := arrays.get_predicate_number(predicate)) is not None:
                found = arrays.select_sources(found, number, inverse=inverse)
        nodes = sorted(map(int, found[:_NEAR]), key=lambda node: (-arrays.get_degree(node), node))
        iris = [arrays.terms.get_value(node) for node in nodes[: 2 * _OF_A_KIND]]
        return [iri for iri in iris if iri not in self.used]


def _said(predicate: PredicateProfile) -> str:
    return split_local_name(predicate.iri).lower()


def _is_schema(iri: str) -> bool:
    return iri.startswith(_SCHEMA)


FIRST = {"confirmed": 0, "written": 1, "generated": 2}
"""Which questions of a graph come before others, by their origin."""

_OFFERED = 3
_TRIES = 3  # for each question that is wanted
_SURE = 0.7  # confidence from which an answer counts

AskOver = Callable[[Question, KnowledgeGraph], Awaitable[Outcome]]


async def greeting(
    question: Question, graphs: Sequence[KnowledgeGraph], ask: AskOver
) -> Clarification | Refusal:
    """Return questions to start with that `ask` answers, as options with their queries.

    A refusal if it answers none.
    """
    language = question.language or detect_greeting(question.text) or "en"
    for graph in graphs:
        known = known_questions(graph, language, most=_OFFERED)
        outcomes = [(text, await ask(Question(text, language), graph)) for text in known]
        found = [(text, one) for text, one in outcomes if is_sure(one)]
        found += await starters(graph, language, ask, most=_OFFERED - len(found))
        if found:
            options = [Option(text, len(one.result.rows), one.query) for text, one in found]
            said = phrases_in(language).say("welcome" if is_thanks(question.text) else "greet")
            return Clarification(said, tuple(options), None)
    return Refusal(phrases_in(language).say("refuse nothing"))


def known_questions(graph: KnowledgeGraph, language: str, *, most: int) -> list[str]:
    """Return some of the questions in a language that were asked of a graph, spread over all."""
    listed = sorted(graph.examples, key=lambda one: FIRST[one.origin])
    own = [
        wording.text
        for one in listed
        for wording in one.wordings
        if is_same_language(wording.language, language)
    ]
    return own[:: max(1, len(own) // most)][:most]


async def starters(
    graph: KnowledgeGraph, language: str, ask: AskOver, *, most: int, seconds: float = 10.0
) -> list[tuple[str, Answer]]:
    """Return up to `most` questions to start with and their answers, of which `ask` is sure.

    They are in the language if the graph has names in it, else in English. After so many seconds
    none is tried any more.
    """
    spoken = language_of(graph.profile, [language])
    made = starters_of(graph.profile, graph.arrays, spoken)
    waiting = await asyncio.to_thread(list, islice(made, _TRIES * most))
    end = asyncio.get_running_loop().time() + seconds
    found: list[tuple[str, Answer]] = []
    again = False
    while waiting and len(found) < most and asyncio.get_running_loop().time() < end:
        one = waiting.pop(0)
        outcome = await ask(Question(one.text, spoken), graph)
        if is_sure(outcome) and _fits(outcome, one):
            found.append((one.text, outcome))
            again = False
        elif not again:  # another one of its kind, once
            alike = [other for other in waiting if other.kind == one.kind][:1]
            waiting = [*alike, *(other for other in waiting if other not in alike)]
            again = bool(alike)
        else:
            again = False
    return found


def _fits(answer: Answer, starter: Starter) -> bool:
    """Whether an answer is about what was asked, and worth showing."""
    right = starter.about in iris_of(answer.query)
    return right and starter.least <= len(answer.result.rows) <= starter.most


def is_sure(outcome: Outcome) -> TypeGuard[Answer]:
    """Whether an outcome is an answer: sure, of all words, and not empty."""
    if not isinstance(outcome, Answer) or outcome.is_empty or outcome.unused_words:
        return False
    return outcome.confidence >= _SURE


def iris_of(query: str) -> set[str]:
    """Return the IRIs of a query; `QueryError` if it is none."""
    return {one.value for one in walk(to_tree(query)) if isinstance(one, NamedNode)}
