"""Terms by how queries and texts write them: prefixed names, literals, the IRIs of a query."""

import re
from collections.abc import Iterable, Iterator, Mapping

from pyoxigraph import NamedNode

from askgraph.answers.validation.graph_knowledge import Sort
from askgraph.errors import QuerySyntaxError
from askgraph.sparql import Nested, Pattern, children
from askgraph.sparql.parser import read
from askgraph.sparql.prefixes import WELL_KNOWN, PrefixMap
from askgraph.sparql.vocabulary import RDF_TYPE

STANDARD = tuple(
    WELL_KNOWN[prefix]
    for prefix in (
        "rdf rdfs owl xsd skos skosxl schema sdo foaf dc dcterms dcat void sh prov geo wgs84 time "
        "org vcard"
    ).split()
)
"""Namespaces of vocabularies that a query's author knows without having seen the graph."""

ABSOLUTE_IRI = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*:[^<>\"{}|^`\\\x00-\x20]+")
"""The form of an IRI in full."""
_ESCAPED = re.compile(r"\\(.)", re.DOTALL)
_MEANT = {"n": "\n", "t": "\t", "r": "\r", "b": "\b", "f": "\f"}


def named_iris(query: str) -> Mapping[str, Sort]:
    """Return the IRIs of a query's patterns and conditions, and whether each is a predicate.

    Left out are rdf:type, functions, datatypes, the names of graphs, and what is asked of another
    endpoint. Empty if the query cannot be read.
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


def unescaped_text(text: str) -> str:
    """Return what stands within the quotes of a literal, its escapes read."""
    return _ESCAPED.sub(lambda match: _MEANT.get(match[1], match[1]), text)


def expanded_name(name: str, prefixes: PrefixMap) -> str | None:
    """Return the IRI of a prefixed name, escaped as SPARQL wants it or not; None if unknown."""
    prefix, colon, local = name.partition(":")
    namespace = prefixes.namespaces.get(prefix) if colon else None
    if namespace is None:
        return None
    iri = namespace + re.sub(r"\\(.)", r"\1", local)
    return iri if ABSOLUTE_IRI.fullmatch(iri) else None
