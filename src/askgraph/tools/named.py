"""The IRIs that a query names, by what the graph must hold for it to match."""

from collections.abc import Iterable, Iterator, Mapping

from pyoxigraph import NamedNode

from askgraph.errors import QuerySyntaxError
from askgraph.rdf.prefixes import WELL_KNOWN
from askgraph.rdf.vocabulary import RDF_TYPE
from askgraph.sparql.read import read
from askgraph.sparql.tree import Nested, Pattern, children
from askgraph.tools._nearest import Sort

__all__ = ["STANDARD", "named_iris"]

STANDARD = tuple(
    WELL_KNOWN[prefix]
    for prefix in (
        "rdf rdfs owl xsd skos skosxl schema sdo foaf dc dcterms dcat void sh prov geo wgs84 time "
        "org vcard"
    ).split()
)
"""Namespaces of vocabularies that a query's author knows without having seen the graph."""


def named_iris(query: str) -> Mapping[str, Sort]:
    """Return the IRIs of a query's patterns and conditions, and whether each is a predicate.

    Left out are rdf:type, functions, datatypes, the names of graphs, and what is asked of another
    endpoint. Empty where the query cannot be read.
    """
    try:
        tree = read(query)
    except QuerySyntaxError:
        return {}
    found: dict[str, Sort] = {}
    for iri, sort in _iris((tree.resources, tree.columns, tree.where, tree.having, tree.order)):
        if iri != RDF_TYPE:
            found.setdefault(iri, sort)
    return found


def _iris(part: object, sort: Sort = "entities") -> Iterator[tuple[str, Sort]]:
    match part:
        case NamedNode():
            yield part.value, sort
        case Nested(word="SERVICE"):
            return
        case Pattern():
            yield from _iris((part.subject, part.object))
            yield from _iris(part.predicate, "properties")
        case _:
            for inner in _inside(part):
                yield from _iris(inner, sort)


def _inside(part: object) -> Iterable[object]:
    match part:
        case tuple():
            return part
        case Nested():
            return (part.group,)
        case _:
            return children(part)
