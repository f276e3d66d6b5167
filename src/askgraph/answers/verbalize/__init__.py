"""Queries read back in plain words, without a model: by their trees and by templates.

Resources have their labels in the asker's language: from the arrays if they lie here, else asked.
"""

from __future__ import annotations

import contextlib
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from textwrap import shorten

import numpy as np
from pyoxigraph import BlankNode, Literal, NamedNode, Variable

from askgraph.answers.verbalize._nouns import Nouns
from askgraph.answers.verbalize._sentence import Sentence
from askgraph.answers.verbalize.phrases import Names, phrases_in, scope_of
from askgraph.errors import (
    ErrorReply,
    MalformedReply,
    QueryError,
    QuerySyntaxError,
    ServiceError,
    TimedOut,
)
from askgraph.graph import KnowledgeGraph
from askgraph.graph.arrays import GraphArrays
from askgraph.graph.literals import split_literal
from askgraph.graph.profile import ClassProfile, PredicateProfile
from askgraph.sparql import Call, Group, Pattern, Query, Values, walk
from askgraph.sparql import vocabulary as v
from askgraph.sparql.prefixes import choose_label, split_local_name
from askgraph.sparql.results import to_plain_value
from askgraph.sparql.serializer import to_text, to_tree
from askgraph.sparql.vocabulary import RDF_TYPE

_NAMESAKES = 20  # things of one name that are told apart by what differs
_MOST = 10_000  # characters: the time grows with the square of the patterns


def in_words(
    query: Query | str, labels: Mapping[str, str], *, language: str = "en", nouns: str | None = None
) -> str:
    """Return a query in one or two sentences of plain words.

    `labels` (IRI -> label) name what stands in the query; see `iris_of`. An IRI without a label is
    named by the words in it. English, German, Spanish and French; English for other languages.
    `nouns` is the language of the labels if it is another one, empty if nobody knows. A
    text that cannot be read, or has more than 10,000 characters, gives a phrase that says that it
    cannot be put into words; nothing is raised.

    >>> in_words("SELECT ?s { ?s a <http://x/Singer> ; <http://x/country> 'France' }", {})
    'The singers whose country is “France”.'
    """
    return written_out(query, Names(labels, phrases_in(language, nouns)))


def written_out(query: Query | str, names: Names) -> str:
    """Return a query in words by these names for its terms, in their language."""
    text = names.phrases.say("unreadable")
    if isinstance(query, Query) or len(query) <= _MOST:
        with contextlib.suppress(QuerySyntaxError, RecursionError):
            text = Sentence(to_tree(query), names).text()
    return names.phrases.punctuated(text)


def iris_of(query: Query | str) -> tuple[str, ...]:
    """Return the IRIs in a query that `in_words` names, each once, in order; none if unreadable."""
    try:
        return iris_in(to_tree(query))
    except QuerySyntaxError:
        return ()


def iris_in(part: object) -> tuple[str, ...]:
    """Return the IRIs in a part of a query's tree that words name, each once, in order."""
    found: dict[str, None] = {}
    for node in walk(part):
        if isinstance(node, NamedNode):
            found[node.value] = None
        elif isinstance(node, Call) and node.name[0] == "<" and node.name[-1] == ">":
            found[node.name[1:-1]] = None
    found.pop(RDF_TYPE, None)
    return tuple(found)


class Statements:
    """Reads patterns out by label, in English; labels keep their case."""

    def __init__(self, labels: Mapping[str, str], where: Group | None = None) -> None:
        self._names = Names(labels, phrases_in("en"), own_case=True)
        self._nouns = Nouns(scope_of(where or Group()), self._names)

    def of(self, pattern: Pattern) -> str:
        """Return `subject · predicate · object`; a variable is `something`, or its name."""
        if pattern.predicate == NamedNode(RDF_TYPE):
            relation = "is a"
        else:
            found = self._names.relation(pattern.predicate)
            relation = found.text.strip("“”")
            if found.steps:
                relation = self._names.phrases.say("path " + found.steps, relation)
        return " · ".join([self.term(pattern.subject), relation, self.term(pattern.object)])

    def term(self, term: object) -> str:
        """Return a term in words; values as they are written."""
        match term:
            case Variable():
                noun = self.noun(term)
                return "something" if noun == "thing" else f"some {noun}"
            case Literal():
                return term.value
            case NamedNode():
                return self._names.iri(term.value)
            case BlankNode():
                return "a node without a name"
            case _:
                return str(term)

    def noun(self, variable: Variable) -> str:
        """Return what a variable is called: by its class, by its predicate, else by its name."""
        noun = self._nouns.noun(variable)
        is_name = len(variable.value) > 2 and not variable.value.startswith("__")
        return (
            " ".join(variable.value.replace("_", " ").split())
            if noun == "thing" and is_name
            else noun
        )


_WORDS = ((0.85, "sure"), (0.6, "fairly sure"), (0.35, "unsure"), (0.0, "a guess"))


def confidence_in_words(confidence: float) -> str:
    """Return a confidence between 0 and 1 as words and a number."""
    words = next(words for least, words in _WORDS if confidence >= least)
    return f"{words} ({confidence:.2f})"


_DESCRIBED = 60  # characters of what tells namesakes apart
MOST_LABELS = 500
"""Things whose labels are asked for at once."""
_EACH = 20  # names or descriptions of one thing


def merged_in_words(merged: Mapping[str, str], language: str) -> list[str]:
    """Return a sentence for each name of a thing that was merged into another, by its label."""
    say = phrases_in(language)
    return [say.say("merged", *map(say.quoted, pair)) for pair in merged.items()]


async def taught_in_words(
    meant: Mapping[str, Sequence[str]],
    graph: KnowledgeGraph,
    language: str,
    *,
    near: GraphArrays | None = None,
) -> list[str]:
    """Return a sentence for each word that was taught, by the labels of the IRIs that it means."""
    labels = await labels_of(
        {iri for iris in meant.values() for iri in iris}, graph, [language], near=near
    )
    classes = {one.iri for one in graph.profile.classes}
    say = phrases_in(language, language_of_labels(graph, language))

    def nouns(iris: Sequence[str]) -> list[str]:
        called = {labels.get(iri) or split_local_name(iri): iri for iri in reversed(iris)}
        return [say.plural(name) if called[name] in classes else name for name in [*called][::-1]]

    return [
        say.say("taught", say.quoted(word), say.listed(nouns(iris))) for word, iris in meant.items()
    ]


async def labels_of(
    iris: Iterable[str],
    graph: KnowledgeGraph,
    languages: Sequence[str],
    *,
    timeout: float | None = None,
    near: GraphArrays | None = None,
) -> dict[str, str]:
    """Return the best label of each IRI that has one, for the first 500 of them.

    A remote graph is asked in one query of at most `timeout` seconds, but not for what stands in
    the arrays `near`; if it does not answer, only what is known is returned: labels are a courtesy,
    not the answer.
    """
    wanted = list(dict.fromkeys(iris))[:MOST_LABELS]
    asked = set(wanted)
    found: dict[str, list[tuple[str, str | None]]] = {}
    known: list[ClassProfile | PredicateProfile] = [*graph.profile.classes]
    for item in [*known, *graph.profile.predicates]:
        if item.iri in asked and item.names:
            found[item.iri] = [(text, language or None) for text, language in item.names]
    missing = [iri for iri in wanted if iri not in found]
    arrays = near if graph.arrays is None else graph.arrays
    if arrays is not None and missing:
        numbers = [arrays.get_predicate_number(iri) for iri in _naming(graph)]
        naming = [number for number in numbers if number is not None]
        found |= {iri: own_texts(iri, arrays, naming) for iri in missing}
        missing = [iri for iri in missing if not found[iri]]
    if graph.arrays is None and missing:
        with contextlib.suppress(QueryError, ServiceError, ValueError):
            found |= await _told(missing, _naming(graph), graph, timeout)
    labels = {iri: choose_label(found.get(iri, ()), languages) for iri in wanted}
    return {iri: label for iri, label in labels.items() if label is not None}


def language_of_labels(graph: KnowledgeGraph, language: str) -> str | None:
    """Return the language of a graph's labels for an asker if it is another one.

    It is that of most labels in English, empty if nothing says which it is; None if it is the
    asker's own.
    """
    base = language.lower().partition("-")[0]
    tags = {tag.lower().partition("-")[0] for tag, _ in graph.profile.languages}
    if base in tags or base == "en":
        return None
    return "en" if "en" in tags else ""


def _naming(graph: KnowledgeGraph) -> tuple[str, ...]:
    """The predicates that carry names, standard ones first."""
    own = [p.iri for p in graph.profile.predicates if p.naming == "name"]
    standard = [iri for iri in v.LABEL_PREDICATES if iri in own]
    return (*standard, *(iri for iri in own if iri not in standard))


def own_texts(iri: str, arrays: GraphArrays, naming: Sequence[int]) -> list[tuple[str, str | None]]:
    """Return the texts, with their languages, that the first of some predicates gives a thing."""
    at = arrays.terms.find_iri(iri)
    if at is None:
        return []
    for number in naming:
        literals = arrays.step(np.array([at], dtype=np.int32), number).tolist()
        texts = [
            split_literal(arrays.terms.get_text(one))
            for one in literals
            if arrays.terms.is_literal(one)
        ]
        if texts:
            return [(text, language) for text, _, language in texts]
    return []


async def _told(
    things: Sequence[str], predicates: Sequence[str], graph: KnowledgeGraph, timeout: float | None
) -> dict[str, list[tuple[str, str | None]]]:
    """The texts that the first of some predicates gives each of some things, in one query."""
    found = defaultdict[str, dict[str, list[tuple[str, str | None]]]](
        lambda: {iri: [] for iri in predicates}
    )
    if not things or not predicates:
        return {}
    thing, predicate, text = (Variable(name) for name in ("thing", "predicate", "text"))
    given = (
        Values((name,), tuple((NamedNode(iri),) for iri in iris))
        for name, iris in ((thing, things), (predicate, predicates))
    )
    where = Group((*given, Pattern(thing, predicate, text)))
    columns = tuple((name, None) for name in (thing, predicate, text))
    query = Query("SELECT", where, columns, limit=_EACH * len(things))
    result = await graph.endpoint.select(to_text(query), timeout=timeout)
    for one, by, words in result.rows:
        if isinstance(words, Literal):
            found[str(to_plain_value(one))][str(to_plain_value(by))].append(
                (words.value, words.language)
            )
    return {iri: next(filter(None, told.values()), []) for iri, told in found.items()}


async def descriptions_of(
    iris: Iterable[str],
    graph: KnowledgeGraph,
    languages: Sequence[str],
    *,
    timeout: float | None = None,
) -> dict[str, str]:
    """Return the best description of each IRI that has one, for the first 500 of them.

    One query of at most `timeout` seconds. None has a description if that fails: they are a
    courtesy. Raises `ServiceError` if the graph cannot be reached at all.
    """
    carrying = {p.iri for p in graph.profile.predicates}
    predicates = [iri for iri in v.DESCRIPTION_PREDICATES if iri in carrying]
    wanted = list(dict.fromkeys(iris))[:MOST_LABELS]
    try:
        found = await _told(wanted, predicates, graph, timeout)
    except (TimedOut, ErrorReply, MalformedReply, ValueError):
        return {}
    best = {iri: choose_label(texts, languages) for iri, texts in found.items()}
    return {iri: text for iri, text in best.items() if text is not None}


async def told_apart(
    labels: Mapping[str, str],
    graph: KnowledgeGraph,
    languages: Sequence[str],
    *,
    timeout: float | None = None,
    near: GraphArrays | None = None,
) -> dict[str, str]:
    """Return labels, those that several things share with the things' descriptions.

    Without descriptions they have a value by which all of them differ, of the graph's arrays or of
    those `near`. Classes and predicates are known by how they are used. Nothing is asked if none is
    shared. Raises `ServiceError` as `descriptions_of` does.
    """
    used = {one.iri for one in graph.profile.predicates}
    used.update(one.iri for one in graph.profile.classes)
    things = {iri: text.casefold() for iri, text in labels.items() if iri not in used}
    times = Counter(things.values())
    shared = [iri for iri, text in things.items() if times[text] > 1]
    if len(shared) < 2:
        return dict(labels)
    more = await descriptions_of(shared, graph, languages, timeout=timeout)
    said = {
        iri: f"{labels[iri]} ({shorten(text, _DESCRIBED, placeholder='…')})"
        for iri, text in more.items()
    }
    arrays = near if graph.arrays is None else graph.arrays
    if arrays is not None and len(more) < len(shared):
        alike: dict[str, list[str]] = defaultdict(list)
        for iri in shared:
            alike[things[iri]].append(iri)
        for namesakes in alike.values():
            if not more.keys() & namesakes and len(namesakes) <= _NAMESAKES:
                facts = _differing(namesakes, graph, arrays, languages)
                said |= {iri: f"{labels[iri]} ({fact})" for iri, fact in facts.items()}
    return {**labels, **said}


def _differing(
    namesakes: Sequence[str], graph: KnowledgeGraph, arrays: GraphArrays, languages: Sequence[str]
) -> Mapping[str, str]:
    """Return a value for each of some things by which they differ, of one predicate; none if none.

    What a thing leads to goes before a literal, and what more of them have before the rest.
    """
    naming = [
        number for iri in _naming(graph) if (number := arrays.get_predicate_number(iri)) is not None
    ]
    passed = {RDF_TYPE, v.OWL_SAME_AS, *v.DESCRIPTION_PREDICATES}
    passed.update(one.iri for one in graph.profile.predicates if one.naming)
    values: dict[int, dict[str, str]] = defaultdict(dict)
    linking: set[int] = set()
    for iri in namesakes:
        if (at := arrays.terms.find_iri(iri)) is None:
            continue
        node = np.array([at], dtype=np.int32)
        for predicate in arrays.get_predicates(node):
            ends = arrays.step(node, predicate).tolist()
            if len(ends) != 1 or arrays.get_predicate_iri(predicate) in passed:
                continue
            text: str | None = arrays.terms.get_value(ends[0])
            if arrays.terms.is_iri(ends[0]):
                text = choose_label(own_texts(text or "", arrays, naming), languages)
                linking.add(predicate)
            if text and len(text) <= _DESCRIBED and ends[0] < arrays.terms.first_blank:
                values[predicate][iri] = text
    differing = [
        (len(told), predicate in linking, -predicate)
        for predicate, told in values.items()
        if len(told) == len({*told.values()}) > 1
    ]
    return values[-max(differing)[2]] if differing else {}
