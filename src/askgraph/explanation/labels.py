"""Labels of resources in the asker's language: from the arrays if they lie here, else asked."""

from collections import defaultdict
from collections.abc import Iterable, Sequence

import numpy as np
from pyoxigraph import Literal, NamedNode, Variable

from askgraph.errors import ErrorReply, MalformedReply, QueryError, ServiceError, TimedOut
from askgraph.graph import KnowledgeGraph
from askgraph.metadata import ClassProfile, PredicateProfile
from askgraph.rdf import vocabulary as v
from askgraph.rdf.labels import best_label
from askgraph.sparql.tree import Group, Pattern, Query, Values
from askgraph.sparql.write import Written, text_of
from askgraph.traversal.arrays import GraphArrays
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
    known: list[ClassProfile | PredicateProfile] = [
        *graph.profile.classes,
        *graph.profile.predicates,
    ]
    for item in known:
        if item.names:
            found[item.iri] = [(text, language or None) for text, language in item.names]
    missing = [iri for iri in wanted if iri not in found]
    if graph.arrays is not None and missing:
        numbers = [graph.arrays.number(iri) for iri in _naming(graph)]
        naming = [number for number in numbers if number is not None]
        found |= {iri: _own(iri, graph.arrays, naming) for iri in missing}
    elif missing:
        found |= await _asked(missing, graph, timeout)
    labels = {iri: best_label(found.get(iri, ()), languages) for iri in wanted}
    return {iri: label for iri, label in labels.items() if label is not None}


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


async def _asked(
    iris: Sequence[str], graph: KnowledgeGraph, timeout: float | None
) -> dict[str, list[tuple[str, str | None]]]:
    naming = _naming(graph)
    if not naming:
        return {}
    query = _texts(iris, naming)
    found: dict[str, list[tuple[str, str | None]]] = {}
    try:
        result = await graph.endpoint.select(query, timeout=timeout, limit=_EACH * len(iris))
    except (QueryError, ServiceError):
        return found
    for thing, name in result.rows:
        text = getattr(name, "value", "")
        language = getattr(name, "language", None)
        found.setdefault(getattr(thing, "value", ""), []).append((text, language))
    return found


def _texts(things: Sequence[str], predicates: Sequence[str]) -> Written:
    """The query for what some predicates say of some things."""
    thing, predicate, text = (Variable(name) for name in ("thing", "predicate", "text"))
    given = (
        Values((name,), tuple((NamedNode(iri),) for iri in iris))
        for name, iris in ((thing, things), (predicate, predicates))
    )
    where = Group((*given, Pattern(thing, predicate, text)))
    columns = ((thing, None), (text, None))
    return text_of(Query("SELECT", where, columns, limit=_EACH * len(things)))


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
    if not wanted or not predicates:
        return {}
    try:
        result = await graph.endpoint.select(_texts(wanted, predicates), timeout=timeout)
    except (TimedOut, ErrorReply, MalformedReply):
        return {}
    found: dict[str, list[tuple[str, str | None]]] = defaultdict(list)
    for thing, text in result.rows:
        if isinstance(thing, NamedNode) and isinstance(text, Literal):
            found[thing.value].append((text.value, text.language))
    best = {iri: best_label(texts, languages) for iri, texts in found.items()}
    return {iri: text for iri, text in best.items() if text is not None}
