"""Metrics: pure functions of a predicted and a gold table, see `Metric`.

The docstring of each metric lists what it punishes and what it ignores.

This module scores linking: the IRIs of a query against gold's, entities and predicates apart. It
punishes each missing or extra entity and predicate, but not how they are combined: a query with the
right IRIs in the wrong positions scores 1. Entities are the IRIs in subject or object position,
classes among them, and those in VALUES, BIND, FILTER and other expressions. Predicates are the IRIs
in predicate position, in property paths too, and those bound to a variable in predicate position.
IRIs of RDF, RDFS, OWL and XML Schema (`rdf:type`, `rdfs:label`) count as neither, as nearly every
query has them; nor do names of graphs and services, and the template of a CONSTRUCT query. IRIs are
compared as they are written. Alekseev et al. (NLDB 2025) score linking this way, sections 4.1 and
4.2, tables 2 and 3.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace

from pyoxigraph import NamedNode, Variable

from askgraph.errors import QueryError
from askgraph.evaluation import Score, score_sets
from askgraph.sparql import Bind, Call, Path, Pattern, Query, Values, walk
from askgraph.sparql import vocabulary as voc
from askgraph.sparql.parser import parse_tree

STANDARD_NAMESPACES = (voc.RDF, voc.RDFS, voc.OWL, voc.XSD)

IriRoles = Iterator[tuple[str, bool]]  # an IRI, and whether it is a predicate


@dataclass(frozen=True)
class QueryLinks:
    """The entities and predicates of a query, as IRIs."""

    entities: frozenset[str] = frozenset()
    predicates: frozenset[str] = frozenset()


@dataclass(frozen=True)
class LinkScores:
    """Scores of the entities and of the predicates against gold."""

    entities: Score
    predicates: Score


def score_linking(
    predicted: str | None, gold: str, *, prefixes: Mapping[str, str] | None = None
) -> LinkScores:
    """Compare the IRIs of two queries; if both have none the score is 1, if one has none 0."""
    return compare_links(
        extract_links(predicted, prefixes=prefixes), extract_links(gold, prefixes=prefixes)
    )


def compare_links(predicted: QueryLinks, gold: QueryLinks) -> LinkScores:
    """Compare predicted IRIs with gold's; see `score_linking`."""
    return LinkScores(
        score_sets(predicted.entities, gold.entities),
        score_sets(predicted.predicates, gold.predicates),
    )


def extract_links(query: str | None, *, prefixes: Mapping[str, str] | None = None) -> QueryLinks:
    """Return the IRIs of a query; empty without a query or if it cannot be parsed.

    The query may use `prefixes` without declaring them.
    """
    if query is None:
        return QueryLinks()
    lines = [f"PREFIX {prefix}: <{iri}>\n" for prefix, iri in (prefixes or {}).items()]
    try:
        tree = parse_tree("".join(lines) + query)
    except QueryError:
        return QueryLinks()
    parts = list(walk(replace(tree, template=())))
    variables = {
        part.predicate
        for part in parts
        if isinstance(part, Pattern) and isinstance(part.predicate, Variable)
    }
    iris = [
        (iri, is_predicate)
        for part in parts
        for iri, is_predicate in _iterate_iris(part, variables)
        if not iri.startswith(STANDARD_NAMESPACES)
    ]
    return QueryLinks(
        frozenset(iri for iri, is_predicate in iris if not is_predicate),
        frozenset(iri for iri, is_predicate in iris if is_predicate),
    )


def _iterate_iris(part: object, predicates: set[Variable]) -> IriRoles:
    """Yield the IRIs of a node itself; `predicates` are the variables in predicate position."""
    match part:
        case Pattern():
            yield from _iterate_named_nodes((part.subject, part.object), is_predicate=False)
            yield from _iterate_named_nodes(_flatten_path(part.predicate), is_predicate=True)
        case Values():
            for index, variable in enumerate(part.variables):
                column = tuple(row[index] for row in part.rows)
                yield from _iterate_named_nodes(column, is_predicate=variable in predicates)
        case Bind():
            yield from _iterate_named_nodes((part.value,), is_predicate=part.variable in predicates)
        case Call():
            is_predicate = any(isinstance(a, Variable) and a in predicates for a in part.arguments)
            yield from _iterate_named_nodes(part.arguments, is_predicate=is_predicate)
        case Query():
            yield from _iterate_named_nodes(part.resources, is_predicate=False)


def _flatten_path(predicate: object) -> tuple[object, ...]:
    if isinstance(predicate, Path):
        return tuple(step for part in predicate.parts for step in _flatten_path(part))
    return (predicate,)


def _iterate_named_nodes(terms: tuple[object, ...], *, is_predicate: bool) -> IriRoles:
    for term in terms:
        if isinstance(term, NamedNode):
            yield term.value, is_predicate
