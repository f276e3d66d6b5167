"""The triples that definitions add to a graph: what they say of terms, and what follows of things.

Inverse and shortcut properties are those of Henselmann et al. (2025), sections 4.2 and 4.3.
"""

from collections.abc import Iterator

import numpy as np
from pyoxigraph import Literal, NamedNode, Triple

from askgraph.errors import SetupError
from askgraph.metadata.definitions import DefinedProperty, Definitions, NodeName, virtual_paths
from askgraph.metadata.profile import names_of
from askgraph.rdf import vocabulary as v
from askgraph.rdf.labels import words_of_local_name
from askgraph.sparql.tree import text_of
from askgraph.traversal.arrays import GraphArrays
from askgraph.traversal.paths import path_pairs

__all__ = ["links", "statements", "told_names"]

_MOST = 1_000_000
_TIMES = 20


def statements(definitions: Definitions) -> Iterator[Triple]:
    """What is said of the terms: kinds, labels, comments, inverses."""
    for one in definitions.properties:
        yield from _of_property(one)
    for comment in definitions.comments:
        text = Literal(comment.text, language=comment.language)
        yield _triple(comment.term, v.RDFS_COMMENT, text)


def links(definitions: Definitions, graph: GraphArrays) -> Iterator[Triple]:
    """What inverse and shortcut properties say of the things of a graph.

    Raises `SetupError` for a property that the graph has already, for a path that leads from a
    literal, which cannot be a subject, and for one that links too many pairs: more than a million
    and more than twenty times the triples of the graph.
    """
    limit = max(_MOST, _TIMES * len(graph))
    for iri, path in virtual_paths(definitions).items():
        predicate = NamedNode(iri)
        if graph.number(iri) is not None:
            raise SetupError(f"the graph has <{iri}> already: define a property that it lacks")
        sources, targets = path_pairs(graph, path, limit=limit)
        for source, target in zip(sources.tolist(), targets.tolist(), strict=True):
            subject = graph.terms.term(source)
            if isinstance(subject, Literal):
                raise SetupError(
                    f"<{iri}> would lead from {subject}: the path {text_of(path)} begins at "
                    "literals, and these are no subjects"
                )
            yield Triple(subject, predicate, graph.terms.term(target))


def told_names(definitions: Definitions, graph: GraphArrays) -> Iterator[Triple]:
    """The labels of instances that have none, made of the names of what they link."""
    for name in definitions.names:
        yield from _names(name, graph)


def _of_property(one: DefinedProperty) -> Iterator[Triple]:
    yield _triple(one.iri, v.RDF_TYPE, NamedNode(v.OWL_OBJECT_PROPERTY))
    label = one.label or words_of_local_name(one.iri)
    yield _triple(one.iri, v.RDFS_LABEL, Literal(label, language=one.language))
    if one.comment:
        yield _triple(one.iri, v.RDFS_COMMENT, Literal(one.comment, language=one.language))
    if one.inverse_of is not None:
        yield _triple(one.iri, v.OWL_INVERSE_OF, NamedNode(one.inverse_of))


def _names(name: NodeName, graph: GraphArrays) -> Iterator[Triple]:
    cls, kind = graph.terms.iri(name.cls), graph.number(v.RDF_TYPE)
    if cls is None or kind is None:
        return
    numbers = [graph.number(iri) for iri in name.predicates]
    for node in graph.step(np.array([cls], dtype=np.int32), kind, inverse=True).tolist():
        at = np.array([node], dtype=np.int32)
        ends = [graph.step(at, number).tolist() for number in numbers if number is not None]
        told = [_called(graph, end[0]) for end in ends if end]
        subject = graph.terms.term(node)
        if told and not isinstance(subject, Literal):
            yield Triple(subject, NamedNode(v.RDFS_LABEL), Literal(" – ".join(told)))


def _called(graph: GraphArrays, node: int) -> str:
    if graph.terms.is_literal(node):
        return graph.terms.value(node)
    value = graph.terms.value(node)
    return next((text for text, _ in names_of(graph, value)), words_of_local_name(value))


def _triple(subject: str, predicate: str, value: NamedNode | Literal) -> Triple:
    return Triple(NamedNode(subject), NamedNode(predicate), value)
