"""What a query names: its entities, classes, predicates and values, as they would be listed."""

from collections.abc import Iterator
from dataclasses import fields, is_dataclass

from pyoxigraph import Literal, NamedNode

from askgraph.index.names import Kind
from askgraph.rdf.vocabulary import RDF_TYPE
from askgraph.sparql.read import read
from askgraph.sparql.tree import Pattern, Term
from askgraph.writing._terms import Change, changed
from askgraph.writing.references import needs_listing

__all__ = ["gold_terms", "gold_values"]


def gold_terms(query: str) -> tuple[tuple[Kind, str], ...]:
    """Return what must be listed for a query to have references, each once, in order.

    A target is an IRI, or a literal as N-Triples text. What stands behind `rdf:type` is a class.
    Raises `QuerySyntaxError` for a query that cannot be read.
    """
    tree = read(query)
    patterns = tuple(_patterns(tree))
    typed = {each.object for each in patterns if each.predicate == NamedNode(RDF_TYPE)}
    objects = {each.object for each in patterns}
    found: dict[tuple[Kind, str], None] = {}

    def predicate(iri: NamedNode) -> NamedNode:
        if needs_listing(iri):
            found[Kind.PREDICATE, iri.value] = None
        return iri

    def term(given: Term) -> Term:
        match given:
            case NamedNode(value=iri) if needs_listing(given):
                found[Kind.CLASS if given in typed else Kind.ENTITY, iri] = None
            case Literal() if needs_listing(given, as_object=given in objects):
                found[Kind.VALUE, str(given)] = None
        return given

    changed(tree, Change(predicate, term))
    return tuple(found)


def gold_values(query: str) -> frozenset[str]:
    """Return the IRIs and listed values that a query names, whatever their kinds."""
    return frozenset(target for _, target in gold_terms(query))


def _patterns(part: object) -> Iterator[Pattern]:
    match part:
        case Pattern():
            yield part
        case tuple():
            for piece in part:
                yield from _patterns(piece)
        case _ if is_dataclass(part) and not isinstance(part, type):
            for each in fields(part):
                yield from _patterns(getattr(part, each.name))
