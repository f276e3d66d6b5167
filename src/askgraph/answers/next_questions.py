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
    COORDINATE_NAMES,
    MAX_LISTED_ROWS,
    Starter,
    choose_language,
    is_noun,
    is_spoken,
    list_starters,
    name_highest,
    name_in_language,
    write_extreme_question,
    write_value_question,
)
from askgraph.answers.resource import list_classes
from askgraph.answers.verbalize import fetch_term_labels
from askgraph.answers.verbalize.labels import find_unit
from askgraph.answers.verbalize.phrases import is_uncounted, load_phrases
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

_MAX_QUESTIONS = 3
_MAX_TRIES_PER_KIND = 2  # attempts at a question of one kind
_MAX_TRIES = 10
_MAX_THINGS = 50  # things of a result whose classes are read
_MAX_NEIGHBOURS = 200  # things of a class to choose the best known ones from
_MIN_LONG_ROWS = 8  # fewest rows for which "only the first five" makes sense
_MAX_LABEL_WORDS = 3  # longest label of a property in "the … of"
_SCHEMA = (v.RDF, v.RDFS, v.OWL, v.SH, v.XSD)

Ask = Callable[[str], Awaitable[Outcome]]
Fits = Callable[[Answer], bool]


async def propose_next_questions(
    answer: Answer,
    question: str,
    graph: KnowledgeGraph,
    ask: Ask,
    *,
    language: str,
    seconds: float = 10.0,
) -> tuple[str, ...]:
    """Return up to three questions that may follow the answer to a question.

    `ask` answers each question with confidence and with another result. At least one question
    stands alone if the graph allows. No question is tried after `seconds`.
    """
    try:
        tree = await asyncio.to_thread(to_tree, answer.query)
    except QueryError:
        return ()
    iris = [node.value for node in walk(tree) if isinstance(node, NamedNode)]
    labels = {**await fetch_term_labels(iris, graph, [language]), **answer.labels}
    about = _AnswerSubject(answer, tree, graph, labels, language, question)
    neighbours = await asyncio.to_thread(about.find_neighbours)
    names = (await fetch_term_labels(neighbours, graph, [language])).values()
    following = await asyncio.to_thread(about.list_leaning_kinds, list(names))
    kinds = [(_MAX_QUESTIONS - 1, *kind) for kind in following]
    kinds += [
        (_MAX_QUESTIONS, kind, is_sure)
        for kind in await asyncio.to_thread(about.list_independent_kinds)
    ]
    end = asyncio.get_running_loop().time() + seconds
    answers: dict[str, Answer] = {}
    tries = 0
    for most, kind, fits in kinds:
        for text in kind[:_MAX_TRIES_PER_KIND] if len(answers) < most else ():
            late = tries == _MAX_TRIES or asyncio.get_running_loop().time() > end
            if late or text in answers:
                continue
            tries += 1
            outcome = await ask(text)
            earlier_answers = (answer, *answers.values())
            if (
                is_sure(outcome)
                and fits(outcome)
                and not any(_is_same(outcome, earlier) for earlier in earlier_answers)
            ):
                answers[text] = outcome
                break
    return tuple(answers)


def _is_same(first: Answer, second: Answer) -> bool:
    if first.query == second.query:
        return True
    if first.boolean is not None or first.result.rows != second.result.rows:
        return False
    return list_answer_iris(first.query) == list_answer_iris(second.query)


@dataclass(frozen=True)
class _AnswerSubject:
    answer: Answer
    tree: Query
    graph: KnowledgeGraph
    labels: dict[str, str]
    language: str
    question: str

    def list_leaning_kinds(self, neighbour_names: Sequence[str]) -> list[tuple[list[str], Fits]]:
        """Return questions that depend on the answer, best first, with a test of their answers."""
        classes = self.graph.profile.classes
        class_names = {text.casefold() for cls in classes for text, _ in cls.names}
        neighbours = [
            self.say("next other", name)
            for name in neighbour_names
            if is_spoken(name) and name.casefold() not in class_names
        ]
        kinds: list[tuple[list[str], Fits]] = [(neighbours, self.is_alike)]
        if len(self.things) > 1:
            phrases, arrays = load_phrases(self.language), self.graph.arrays
            highest = [
                self.say("next highest", label, name_highest(label, phrases, find_unit(p, arrays)))
                for p, label in self.measures
                if not self.tree.limit and p.iri not in self.query_iris and self.is_bare(label)
            ]
            kinds = [(highest, self.is_among), (self.list_map_requests(), is_sure), *kinds]
            if len(self.answer.result.rows) > _MIN_LONG_ROWS:
                kinds.append(([self.say("next first")], is_sure))
        return kinds

    def is_alike(self, other: Answer) -> bool:
        schema = {p.iri for p in self.graph.profile.predicates}
        schema |= {cls.iri for cls in self.graph.profile.classes}
        return list_answer_iris(other.query) & schema == self.query_iris & schema

    def is_among(self, other: Answer) -> bool:
        iris = {row[0].value for row in other.result.rows if isinstance(row[0], NamedNode)}
        return bool(iris) and iris <= set(self.things)

    def list_independent_kinds(self) -> list[list[str]]:
        """Return questions that stand alone, best first in each kind."""
        cls = self.cls
        noun = self.name_item(cls) if cls else ""
        is_counted = not is_uncounted(noun)
        phrases = load_phrases(self.language)
        many = phrases.pluralize(noun)
        values = [
            write_value_question(phrases, label, name)
            for name in self.names[:1]
            for p, label in self.properties
            if p.iri not in self.query_iris and len(label.split()) <= _MAX_LABEL_WORDS
        ]
        # Count things by a property that several share.
        counts = [
            self.say("next per", many, label)
            for p, label in self.properties
            if noun and is_counted and p.object_classes and 1 < p.objects <= p.subjects / 2
        ]
        highest = [
            write_extreme_question(phrases, noun, label, find_unit(p, self.graph.arrays))
            for p, label in self.measures
            if noun
        ]
        few = cls is not None and 1 < cls.instances <= MAX_LISTED_ROWS and is_counted
        every = [self.say("start list", many)] if few else []
        kinds = [counts, values, highest] if len(self.things) > 1 else [values, highest, counts]
        kinds.insert(1, every)
        kinds += [values[1:], highest[1:]]
        if choose_language(self.graph.profile, [self.language]) == self.language:
            first = list_starters(self.graph.profile, self.graph.arrays, self.language)
            kinds += [[starter.text] for starter in islice(first, _MAX_QUESTIONS)]
        return kinds

    def list_map_requests(self) -> list[str]:
        """Return a request for a map if things have coordinates and the question wants no map."""
        if tokenize(self.question, self.language).is_map_request:
            return []
        names = {_name_predicate(p) for p, _ in self.properties}
        return [self.say("next map")] * all(names & words for words in COORDINATE_NAMES)

    def is_bare(self, label: str) -> bool:
        """Return whether "by" can precede a label as it is: German needs a noun in front."""
        return self.language != "de" or label[:1].isupper()

    def say(self, key: str, *parts: str) -> str:
        phrases = load_phrases(self.language)
        return phrases.capitalize(phrases.say(key, *parts))

    @cached_property
    def query_iris(self) -> set[str]:
        return {node.value for node in walk(self.tree) if isinstance(node, NamedNode)}

    @cached_property
    def things(self) -> list[str]:
        """The things of the first column with things, else the first constant of the query."""
        columns = self.answer.answer_columns
        for name in self.answer.result.variables:
            column = self.answer.result.get_column(name) if name in columns else ()
            if iris := [term.value for term in column if isinstance(term, NamedNode)]:
                return list(dict.fromkeys(iris))
        return self.constants[:1]

    @cached_property
    def names(self) -> list[str]:
        """Pronounceable names of the first things, best linked first."""
        first, arrays = self.things[:_MAX_THINGS], self.graph.arrays
        if arrays is not None:
            nodes = {iri: arrays.terms.find_iri(iri) for iri in first}
            degrees = {iri: arrays.get_degree(at) for iri, at in nodes.items() if at is not None}
            first = sorted(first, key=lambda iri: -degrees.get(iri, 0))
        names = (self.labels.get(iri, "") for iri in first)
        return [name for name in names if name and is_spoken(name)]

    @cached_property
    def constants(self) -> list[str]:
        """IRIs of the query at ends of patterns, without classes."""
        classes = {cls.iri for cls in self.graph.profile.classes}
        ends = chain.from_iterable(
            (p.subject, p.object) for p in walk(self.tree) if isinstance(p, Pattern)
        )
        iris = dict.fromkeys(end.value for end in ends if isinstance(end, NamedNode))
        return [iri for iri in iris if iri not in classes and not iri.startswith(_SCHEMA)]

    @cached_property
    def cls(self) -> ClassProfile | None:
        """The smallest class that contains nearly all things."""
        counted = Counter(
            cls.iri for iri in self.things[:_MAX_THINGS] for cls in list_classes(iri, self.graph)
        )
        enough = 0.9 * min(len(self.things), _MAX_THINGS)
        classes = {c.iri: c for c in self.graph.profile.classes if not c.iri.startswith(_SCHEMA)}
        fitting = [classes[i] for i, number in counted.items() if i in classes and number >= enough]
        if not counted:
            fitting = [classes[iri] for iri in self.query_iris if iri in classes]
        return min(fitting, key=lambda cls: (cls.instances, cls.iri), default=None)

    def name_item(self, item: ClassProfile | PredicateProfile) -> str:
        """Return the noun of a class or predicate in the asker's language; empty without any."""
        label, phrases = name_in_language(item, self.language), load_phrases(self.language)
        return phrases.singularize(label) if isinstance(item, ClassProfile) else label

    @cached_property
    def properties(self) -> list[tuple[PredicateProfile, str]]:
        """Properties of the class whose labels are nouns, most frequent first."""
        if self.cls is None:
            return []
        cls, rows = self.cls.iri, list[tuple[int, PredicateProfile, str]]()
        for p in self.graph.profile.predicates:
            number, label = dict(p.subject_classes).get(cls, 0), self.name_item(p)
            is_excluded = p.naming or p.bookkeeping or p.iri.startswith(_SCHEMA)
            if number and label and not is_excluded and is_noun(label, self.language):
                rows.append((number, p, label))
        rows.sort(key=lambda row: (-row[0], row[1].iri))
        return [(p, label) for _, p, label in rows]

    @property
    def measures(self) -> list[tuple[PredicateProfile, str]]:
        return [
            (p, label)
            for p, label in self.properties
            if p.functional
            and v.NUMERIC_DATATYPES & dict(p.datatypes).keys()
            and not any(_name_predicate(p) in names for names in COORDINATE_NAMES)
        ]

    def find_neighbours(self) -> list[str]:
        for iri in self.constants if self.graph.arrays else ():
            classes = list_classes(iri, self.graph)
            name = self.labels.get(iri, "").casefold()
            if classes and name and name in self.question.casefold():
                return self.find_similar(iri, classes[0].iri)
        return []

    def find_similar(self, subject: str, cls: str) -> list[str]:
        """Return instances of a class that match the patterns on `subject`, best linked first."""
        arrays = self.graph.arrays
        assert arrays is not None
        kind, class_node = arrays.get_predicate_number(v.RDF_TYPE), arrays.terms.find_iri(cls)
        if kind is None or class_node is None:
            return []
        members = arrays.step(np.array([class_node], dtype=np.int32), kind, inverse=True)
        for pattern in walk(self.tree):
            if not isinstance(pattern, Pattern) or not isinstance(pattern.predicate, NamedNode):
                continue
            number = arrays.get_predicate_number(pattern.predicate.value)
            if number is not None and NamedNode(subject) in (pattern.subject, pattern.object):
                inverse = pattern.subject != NamedNode(subject)
                members = arrays.select_sources(members, number, inverse=inverse)
        nodes = sorted(
            map(int, members[:_MAX_NEIGHBOURS]), key=lambda node: (-arrays.get_degree(node), node)
        )
        iris = [arrays.terms.get_value(node) for node in nodes[: 2 * _MAX_TRIES_PER_KIND]]
        return [iri for iri in iris if iri not in self.query_iris]


def _name_predicate(predicate: PredicateProfile) -> str:
    return split_local_name(predicate.iri).lower()


ORIGIN_RANKS = {"confirmed": 0, "written": 1, "generated": 2}
"""Ranks of questions of a graph by origin, best first."""

_MAX_OFFERED_QUESTIONS = 3
_MAX_TRIES_PER_QUESTION = 3
_MIN_CONFIDENCE = 0.7  # of an answer

AskOver = Callable[[Question, KnowledgeGraph], Awaitable[Outcome]]


async def answer_greeting(
    question: Question, graphs: Sequence[KnowledgeGraph], ask: AskOver
) -> Clarification | Refusal:
    """Return questions to start with that `ask` answers, as options; else a refusal."""
    language = question.language or detect_greeting(question.text) or "en"
    for graph in graphs:
        questions = list_known_questions(graph, language, most=_MAX_OFFERED_QUESTIONS)
        outcomes = [(text, await ask(Question(text, language), graph)) for text in questions]
        answers = [(text, outcome) for text, outcome in outcomes if is_sure(outcome)]
        starters = await find_starters(
            graph, language, ask, most=_MAX_OFFERED_QUESTIONS - len(answers)
        )
        answers += [(starter.text, answer) for starter, answer in starters]
        if answers:
            options = [Option(text, len(a.result.rows), a.query) for text, a in answers]
            message = load_phrases(language).say("welcome" if is_thanks(question.text) else "greet")
            return Clarification(message, tuple(options), None)
    return Refusal(load_phrases(language).say("refuse nothing"))


def list_known_questions(graph: KnowledgeGraph, language: str, *, most: int) -> list[str]:
    """Return some questions in a language that were asked of a graph, spread over all."""
    examples = sorted(graph.examples, key=lambda example: ORIGIN_RANKS[example.origin])
    texts = [
        wording.text
        for example in examples
        for wording in example.wordings
        if is_same_language(wording.language, language)
    ]
    return texts[:: max(1, len(texts) // most)][:most]


async def find_starters(
    graph: KnowledgeGraph, language: str, ask: AskOver, *, most: int, seconds: float = 10.0
) -> list[tuple[Starter, Answer]]:
    """Return up to `most` questions to start with and their confident answers.

    They are in the language if the graph has names in it, else in English. No question is tried
    after `seconds`.
    """
    language_of_names = choose_language(graph.profile, [language])
    candidates = list_starters(graph.profile, graph.arrays, language_of_names)
    waiting = await asyncio.to_thread(list, islice(candidates, _MAX_TRIES_PER_QUESTION * most))
    end = asyncio.get_running_loop().time() + seconds
    answers: list[tuple[Starter, Answer]] = []
    again = False
    while waiting and len(answers) < most and asyncio.get_running_loop().time() < end:
        starter = waiting.pop(0)
        outcome = await ask(Question(starter.text, language_of_names), graph)
        if (
            is_sure(outcome)
            and starter.about in list_answer_iris(outcome.query)
            and starter.least <= len(outcome.result.rows) <= starter.most
        ):
            answers.append((starter, outcome))
            again = False
        elif not again:  # try another question of this kind once
            same_kind = [other for other in waiting if other.kind == starter.kind][:1]
            waiting = [*same_kind, *(other for other in waiting if other not in same_kind)]
            again = bool(same_kind)
        else:
            again = False
    return answers


def is_sure(outcome: Outcome) -> TypeGuard[Answer]:
    """Return whether an outcome is a confident answer with rows that uses all words."""
    if not isinstance(outcome, Answer) or outcome.is_empty or outcome.unused_words:
        return False
    return outcome.confidence >= _MIN_CONFIDENCE


def list_answer_iris(query: str) -> set[str]:
    """Return the IRIs of a query; raise `QueryError` if it cannot be parsed."""
    return {node.value for node in walk(to_tree(query)) if isinstance(node, NamedNode)}
