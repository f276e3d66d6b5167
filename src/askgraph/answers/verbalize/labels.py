"""Labels and descriptions of terms, from the arrays if they lie here, else from the endpoint."""

from __future__ import annotations

import contextlib
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from textwrap import shorten

import numpy as np
from pyoxigraph import Literal, NamedNode, Variable

from askgraph.errors import (
    ErrorReply,
    MalformedReply,
    QueryError,
    ServiceError,
    TimedOut,
)
from askgraph.graph import KnowledgeGraph
from askgraph.graph.arrays import GraphArrays
from askgraph.graph.literals import split_literal
from askgraph.graph.profile import ClassProfile, PredicateProfile
from askgraph.sparql import Group, Pattern, Query, Values
from askgraph.sparql import vocabulary as v
from askgraph.sparql.prefixes import choose_label
from askgraph.sparql.results import to_plain_value
from askgraph.sparql.serializer import to_text
from askgraph.sparql.vocabulary import RDF_TYPE

MAX_LABELS = 500
"""Things whose labels one query asks for."""
_MAX_NAMESAKES = 20
"""Things of one name that a difference tells apart."""
_MAX_CHARACTERS = 60
"""Characters of what tells namesakes apart."""
_MAX_TEXTS = 20
"""Names or descriptions of one thing."""


async def fetch_term_labels(
    iris: Iterable[str],
    graph: KnowledgeGraph,
    languages: Sequence[str],
    *,
    timeout: float | None = None,
    near: GraphArrays | None = None,
) -> dict[str, str]:
    """Return the best label of each IRI that has one, for the first 500 of them.

    A remote graph gets one query of at most `timeout` seconds, without the terms in the arrays
    `near`. If it does not answer, only the labels known before come back: they are a courtesy.
    """
    distinct = list(dict.fromkeys(iris))[:MAX_LABELS]
    every = set(distinct)
    texts: dict[str, list[tuple[str, str | None]]] = {}
    schema: list[ClassProfile | PredicateProfile] = [*graph.profile.classes]
    for item in [*schema, *graph.profile.predicates]:
        if item.iri in every and item.names:
            texts[item.iri] = [(text, language or None) for text, language in item.names]
    missing = [iri for iri in distinct if iri not in texts]
    arrays = near if graph.arrays is None else graph.arrays
    if arrays is not None and missing:
        naming = _list_naming(graph)
        texts |= {iri: list_texts(iri, arrays, naming) for iri in missing}
        missing = [iri for iri in missing if not texts[iri]]
    if graph.arrays is None and missing:
        with contextlib.suppress(QueryError, ServiceError, ValueError):
            texts |= await _fetch_texts(missing, _list_naming(graph), graph, timeout)
    labels = {iri: choose_label(texts.get(iri, ()), languages) for iri in distinct}
    return {iri: label for iri, label in labels.items() if label is not None}


def detect_label_language(graph: KnowledgeGraph, language: str) -> str | None:
    """Return the language of a graph's labels for an asker if it is another one.

    English if the graph has any English labels, empty if its labels have other tags or none; None
    if it has labels in the asker's own language.
    """
    base = language.lower().partition("-")[0]
    tags = {tag.lower().partition("-")[0] for tag, _ in graph.profile.languages}
    if base in tags or base == "en":
        return None
    return "en" if "en" in tags else ""


def _list_naming(graph: KnowledgeGraph) -> tuple[str, ...]:
    """Return the predicates that carry names, standard ones first."""
    own = [p.iri for p in graph.profile.predicates if p.naming == "name"]
    standard = [iri for iri in v.LABEL_PREDICATES if iri in own]
    return (*standard, *(iri for iri in own if iri not in standard))


def list_texts(
    iri: str, arrays: GraphArrays, predicates: Sequence[str]
) -> list[tuple[str, str | None]]:
    """Return the texts, with their languages, that the first of some predicates gives a thing."""
    node = arrays.terms.find_iri(iri)
    if node is None:
        return []
    for predicate in predicates:
        if (number := arrays.get_predicate_number(predicate)) is None:
            continue
        values = arrays.step(np.array([node], dtype=np.int32), number).tolist()
        texts = [
            split_literal(arrays.terms.get_text(value))
            for value in values
            if arrays.terms.is_literal(value)
        ]
        if texts:
            return [(text, language) for text, _, language in texts]
    return []


async def _fetch_texts(
    things: Sequence[str], predicates: Sequence[str], graph: KnowledgeGraph, timeout: float | None
) -> dict[str, list[tuple[str, str | None]]]:
    """Return the texts that the first of some predicates gives each thing, by one query."""
    texts = defaultdict[str, dict[str, list[tuple[str, str | None]]]](
        lambda: {iri: [] for iri in predicates}
    )
    if not things or not predicates:
        return {}
    thing, predicate, text = (Variable(name) for name in ("thing", "predicate", "text"))
    values = (
        Values((name,), tuple((NamedNode(iri),) for iri in iris))
        for name, iris in ((thing, things), (predicate, predicates))
    )
    where = Group((*values, Pattern(thing, predicate, text)))
    columns = tuple((name, None) for name in (thing, predicate, text))
    query = Query("SELECT", where, columns, limit=_MAX_TEXTS * len(things))
    result = await graph.endpoint.select(to_text(query), timeout=timeout)
    for subject, by, literal in result.rows:
        if isinstance(literal, Literal):
            pair = (literal.value, literal.language)
            texts[str(to_plain_value(subject))][str(to_plain_value(by))].append(pair)
    return {iri: next(filter(None, by.values()), []) for iri, by in texts.items()}


async def fetch_term_descriptions(
    iris: Iterable[str],
    graph: KnowledgeGraph,
    languages: Sequence[str],
    *,
    timeout: float | None = None,
) -> dict[str, str]:
    """Return the best description of each IRI that has one, for the first 500 of them.

    One query of at most `timeout` seconds; without an answer nothing has a description.

    Raises:
        ServiceError: The graph cannot be reached at all.
    """
    carrying = {p.iri for p in graph.profile.predicates}
    predicates = [iri for iri in v.DESCRIPTION_PREDICATES if iri in carrying]
    distinct = list(dict.fromkeys(iris))[:MAX_LABELS]
    try:
        texts = await _fetch_texts(distinct, predicates, graph, timeout)
    except (TimedOut, ErrorReply, MalformedReply, ValueError):
        return {}
    best = {iri: choose_label(options, languages) for iri, options in texts.items()}
    return {iri: text for iri, text in best.items() if text is not None}


async def distinguish_labels(
    labels: Mapping[str, str],
    graph: KnowledgeGraph,
    languages: Sequence[str],
    *,
    timeout: float | None = None,
    near: GraphArrays | None = None,
) -> dict[str, str]:
    """Return labels, with a description where several things share one.

    Without descriptions they get a value by which all of them differ, from the graph's arrays or
    those `near`. Classes and predicates stay. Nothing is fetched if no label is shared.

    Raises:
        ServiceError: The graph cannot be reached at all.
    """
    schema = {p.iri for p in graph.profile.predicates}
    schema.update(cls.iri for cls in graph.profile.classes)
    things = {iri: text.casefold() for iri, text in labels.items() if iri not in schema}
    counts = Counter(things.values())
    shared = [iri for iri, text in things.items() if counts[text] > 1]
    if len(shared) < 2:
        return dict(labels)
    descriptions = await fetch_term_descriptions(shared, graph, languages, timeout=timeout)
    changed = {
        iri: f"{labels[iri]} ({shorten(text, _MAX_CHARACTERS, placeholder='…')})"
        for iri, text in descriptions.items()
    }
    arrays = near if graph.arrays is None else graph.arrays
    if arrays is not None and len(descriptions) < len(shared):
        groups: dict[str, list[str]] = defaultdict(list)
        for iri in shared:
            groups[things[iri]].append(iri)
        for namesakes in groups.values():
            if not descriptions.keys() & namesakes and len(namesakes) <= _MAX_NAMESAKES:
                values = _find_differing(namesakes, graph, arrays, languages)
                changed |= {iri: f"{labels[iri]} ({value})" for iri, value in values.items()}
    return {**labels, **changed}


def _find_differing(
    namesakes: Sequence[str], graph: KnowledgeGraph, arrays: GraphArrays, languages: Sequence[str]
) -> Mapping[str, str]:
    """Return a value of one predicate for each of some things, if they differ by it.

    Links go before literals, and predicates that more of the things have before others.
    """
    naming = _list_naming(graph)
    ignored = {RDF_TYPE, v.OWL_SAME_AS, *v.DESCRIPTION_PREDICATES}
    ignored.update(p.iri for p in graph.profile.predicates if p.naming)
    values: dict[int, dict[str, str]] = defaultdict(dict)
    links: set[int] = set()
    for iri in namesakes:
        if (number := arrays.terms.find_iri(iri)) is None:
            continue
        node = np.array([number], dtype=np.int32)
        for predicate in arrays.get_predicates(node):
            ends = arrays.step(node, predicate).tolist()
            if len(ends) != 1 or arrays.get_predicate_iri(predicate) in ignored:
                continue
            text: str | None = arrays.terms.get_value(ends[0])
            if arrays.terms.is_iri(ends[0]):
                text = choose_label(list_texts(text or "", arrays, naming), languages)
                links.add(predicate)
            if text and len(text) <= _MAX_CHARACTERS and ends[0] < arrays.terms.first_blank:
                values[predicate][iri] = text
    differing = [
        (len(texts), predicate in links, -predicate)
        for predicate, texts in values.items()
        if len(texts) == len({*texts.values()}) > 1
    ]
    return values[-max(differing)[2]] if differing else {}
