"""Labels of resources in the asker's language: from the arrays if they lie here, else asked."""

import contextlib
from collections import defaultdict
from collections.abc import Iterable, Sequence

import numpy as np
from pyoxigraph import Literal, NamedNode, Variable

from askgraph.errors import ErrorReply, MalformedReply, QueryError, ServiceError, TimedOut
from askgraph.graph import KnowledgeGraph
from askgraph.metadata import ClassProfile, PredicateProfile
from askgraph.rdf import vocabulary as v
from askgraph.rdf.labels import best_label
from askgraph.sparql import Group, Pattern, Query, Values
from askgraph.sparql.write import text_of
from askgraph.traversal import GraphArrays
from askgraph.traversal.literals import split_literal

_MOST = 500
_EACH = 20  # names or descriptions of one thing


async def labels_of(
    iris: Iterable[str],
    graph: KnowledgeGraph,
    languages: Sequence[str],
    *,
    timeout: float | None = None,
) -> dict[str, str]:
    """Return the best label of each IRI that has one, for the first 500 of them.

    A remote graph is asked in one query of at most `timeout` seconds; if it does not answer,
    only what the profile knows is returned: labels are a courtesy, not the answer.
    """
    wanted = list(dict.fromkeys(iris))[:_MOST]
    found: dict[str, list[tuple[str, str | None]]] = {}
    known: list[ClassProfile | PredicateProfile] = [*graph.profile.classes]
    for item in [*known, *graph.profile.predicates]:
        if item.names:
            found[item.iri] = [(text, language or None) for text, language in item.names]
    missing = [iri for iri in wanted if iri not in found]
    if graph.arrays is not None and missing:
        numbers = [graph.arrays.number(iri) for iri in _naming(graph)]
        naming = [number for number in numbers if number is not None]
        found |= {iri: _own(iri, graph.arrays, naming) for iri in missing}
    elif missing:
        with contextlib.suppress(QueryError, ServiceError, ValueError):
            found |= await _told(missing, _naming(graph), graph, timeout)
    labels = {iri: best_label(found.get(iri, ()), languages) for iri in wanted}
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


def _own(iri: str, arrays: GraphArrays, naming: Sequence[int]) -> list[tuple[str, str | None]]:
    at = arrays.terms.iri(iri)
    if at is None:
        return []
    for number in naming:
        literals = arrays.step(np.array([at], dtype=np.int32), number).tolist()
        texts = [
            split_literal(arrays.terms.text(one))
            for one in literals
            if arrays.terms.is_literal(one)
        ]
        if texts:
            return [(text, language) for text, _, language in texts]
    return []


async def _told(
    things: Sequence[str], predicates: Sequence[str], graph: KnowledgeGraph, timeout: float | None
) -> dict[str, list[tuple[str, str | None]]]:
    """The texts that some predicates give some things, in one query."""
    found = defaultdict[str, list[tuple[str, str | None]]](list)
    if not things or not predicates:
        return found
    thing, predicate, text = (Variable(name) for name in ("thing", "predicate", "text"))
    given = (
        Values((name,), tuple((NamedNode(iri),) for iri in iris))
        for name, iris in ((thing, things), (predicate, predicates))
    )
    where, columns = Group((*given, Pattern(thing, predicate, text))), ((thing, None), (text, None))
    query = Query("SELECT", where, columns, limit=_EACH * len(things))
    result = await graph.endpoint.select(text_of(query), timeout=timeout)
    for one, words in result.rows:
        if isinstance(one, NamedNode) and isinstance(words, Literal):
            found[one.value].append((words.value, words.language))
    return found


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
    wanted = list(dict.fromkeys(iris))[:_MOST]
    try:
        found = await _told(wanted, predicates, graph, timeout)
    except (TimedOut, ErrorReply, MalformedReply, ValueError):
        return {}
    best = {iri: best_label(texts, languages) for iri, texts in found.items()}
    return {iri: text for iri, text in best.items() if text is not None}
