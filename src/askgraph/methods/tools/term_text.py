"""Terms in the text of queries: prefixed names, literals, the IRIs of a query."""

import re
from collections.abc import Iterable, Iterator, Mapping

from pyoxigraph import NamedNode

from askgraph.answers.validation.graph_knowledge import NameScope
from askgraph.errors import QuerySyntaxError
from askgraph.sparql import Nested, Pattern, get_children
from askgraph.sparql.parser import parse_tree
from askgraph.sparql.prefixes import WELL_KNOWN_PREFIXES, PrefixMap
from askgraph.sparql.vocabulary import RDF_TYPE

STANDARD_NAMESPACES = tuple(
    WELL_KNOWN_PREFIXES[prefix]
    for prefix in (
        "rdf rdfs owl xsd skos skosxl schema sdo foaf dc dcterms dcat void sh prov geo wgs84 time "
        "org vcard"
    ).split()
)
"""Namespaces of vocabularies that authors of queries know without seeing the graph."""


def is_absolute_iri(text: str) -> bool:
    """Return whether a text is a full IRI, as a query may contain it."""
    try:
        return not NamedNode(text).value.endswith(":")
    except ValueError:
        return False


def extract_iris(query: str, *, types: bool = False) -> Mapping[str, NameScope]:
    """Return the IRIs of a query's patterns and conditions, and whether each is a predicate.

    rdf:type, functions, datatypes, names of graphs and the contents of SERVICE are left out; with
    `types`, rdf:type is not. Empty if the query cannot be read.
    """
    try:
        tree = parse_tree(query)
    except QuerySyntaxError:
        return {}
    kind_by_iri: dict[str, NameScope] = {}
    for iri, sort in _find_iris(
        (tree.resources, tree.columns, tree.where, tree.having, tree.order)
    ):
        if types or iri != RDF_TYPE:
            kind_by_iri.setdefault(iri, sort)
    return kind_by_iri


def _find_iris(part: object, sort: NameScope = "entities") -> Iterator[tuple[str, NameScope]]:
    match part:
        case NamedNode():
            yield part.value, sort
        case Nested(word="SERVICE"):
            return
        case Pattern():
            yield from _find_iris((part.subject, part.object))
            yield from _find_iris(part.predicate, "properties")
        case _:
            for inner in _list_children(part):
                yield from _find_iris(inner, sort)


def _list_children(part: object) -> Iterable[object]:
    match part:
        case tuple():
            return part
        case Nested():
            return (part.group,)
        case _:
            return get_children(part)


def expand_name(name: str, prefixes: PrefixMap) -> str | None:
    """Return the IRI of a prefixed name, with or without SPARQL escapes; None if unknown."""
    prefix, colon, local = name.partition(":")
    namespace = prefixes.namespaces.get(prefix) if colon else None
    if namespace is None:
        return None
    iri = namespace + re.sub(r"\\(.)", r"\1", local)
    return iri if is_absolute_iri(iri) else None
