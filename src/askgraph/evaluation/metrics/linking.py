"""IRIs that a query is about, and how many of gold's it has: entities and predicates apart.

Punishes each entity and predicate too many or too few. Does not punish how they are put together:
a query with the right IRIs in the wrong places has full marks.

Entities are the IRIs in the place of a subject or object, classes among them, and those in VALUES,
BIND, FILTER and other expressions. Predicates are those in the place of a predicate, in property
paths too, and those given to a variable that stands there. IRIs of RDF, RDFS, OWL and XML Schema
(`rdf:type`, `rdfs:label`) count as neither, as nearly any query has them; nor do names of graphs
and services, and the template of a CONSTRUCT query. IRIs are compared as they are written.

Linking is scored this way by Alekseev et al. (NLDB 2025), sections 4.1 and 4.2, tables 2 and 3.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace

from pyoxigraph import NamedNode, Variable

from askgraph.errors import QueryError
from askgraph.evaluation import Score, set_score
from askgraph.sparql import Bind, Call, Path, Pattern, Query, Values, walk
from askgraph.sparql import vocabulary as voc
from askgraph.sparql.parser import read

STANDARD = (voc.RDF, voc.RDFS, voc.OWL, voc.XSD)

Found = Iterator[tuple[str, bool]]  # an IRI, and whether it is a predicate


@dataclass(frozen=True)
class Links:
    """The IRIs of a query, by what they are in it."""

    entities: frozenset[str] = frozenset()
    predicates: frozenset[str] = frozenset()


@dataclass(frozen=True)
class LinkScores:
    """How well the entities, and how well the predicates, agree with gold's."""

    entities: Score
    predicates: Score


def linking(
    predicted: str | None, gold: str, *, prefixes: Mapping[str, str] | None = None
) -> LinkScores:
    """Compare the IRIs of two queries; if both have none it is 1, if one has none 0."""
    return compared(links(predicted, prefixes=prefixes), links(gold, prefixes=prefixes))


def compared(found: Links, wanted: Links) -> LinkScores:
    """Compare the IRIs that were found with gold's; see `linking`."""
    return LinkScores(
        set_score(found.entities, wanted.entities), set_score(found.predicates, wanted.predicates)
    )


def links(query: str | None, *, prefixes: Mapping[str, str] | None = None) -> Links:
    """Return the IRIs of a query; none for no query and for one that cannot be read.

    `prefixes` are those that the query may use without declaring them.
    """
    if query is None:
        return Links()
    lines = [f"PREFIX {prefix}: <{iri}>\n" for prefix, iri in (prefixes or {}).items()]
    try:
        tree = read("".join(lines) + query)
    except QueryError:
        return Links()
    parts = list(walk(replace(tree, template=())))
    variables = {
        part.predicate
        for part in parts
        if isinstance(part, Pattern) and isinstance(part.predicate, Variable)
    }
    found = [
        (iri, is_predicate)
        for part in parts
        for iri, is_predicate in _iris(part, variables)
        if not iri.startswith(STANDARD)
    ]
    return Links(
        frozenset(iri for iri, is_predicate in found if not is_predicate),
        frozenset(iri for iri, is_predicate in found if is_predicate),
    )


def _iris(part: object, predicates: set[Variable]) -> Found:
    """The IRIs that stand in a part itself; `predicates` are the variables for predicates."""
    match part:
        case Pattern():
            yield from _named((part.subject, part.object), is_predicate=False)
            yield from _named(_steps(part.predicate), is_predicate=True)
        case Values():
            for at, variable in enumerate(part.variables):
                column = tuple(row[at] for row in part.rows)
                yield from _named(column, is_predicate=variable in predicates)
        case Bind():
            yield from _named((part.value,), is_predicate=part.variable in predicates)
        case Call():
            about = any(isinstance(a, Variable) and a in predicates for a in part.arguments)
            yield from _named(part.arguments, is_predicate=about)
        case Query():
            yield from _named(part.resources, is_predicate=False)


def _steps(predicate: object) -> tuple[object, ...]:
    if isinstance(predicate, Path):
        return tuple(step for inner in predicate.parts for step in _steps(inner))
    return (predicate,)


def _named(terms: tuple[object, ...], *, is_predicate: bool) -> Found:
    for term in terms:
        if isinstance(term, NamedNode):
            yield term.value, is_predicate
