"""What is left of a query when what it is about is taken away: how it is put together."""

from collections.abc import Mapping
from dataclasses import fields, is_dataclass, replace
from typing import Any

from pyoxigraph import Literal, NamedNode, Variable

from askgraph.rdf.vocabulary import RDF_TYPE
from askgraph.sparql.canonical import canonical_text
from askgraph.sparql.declared import with_declared
from askgraph.sparql.reader import read
from askgraph.sparql.tree import Element, Group, Pattern, Query

__all__ = ["skeleton"]

_NAME = NamedNode("urn:name")
_VALUE = Literal("value")


def skeleton(query: str, *, prefixes: Mapping[str, str] | None = None) -> str:
    """Return one text for all queries that are put together alike, whatever they ask about.

    One placeholder stands for every IRI but `rdf:type`, one for every literal and for the numbers
    of LIMIT and OFFSET; variables are numbered, and the order and repetition of patterns, prefixes
    and layout are gone. Kept are the form, DISTINCT, the patterns and how variables join them,
    functions, groups, and the direction of an order. `prefixes` may be used without declaring them.
    Raises `QuerySyntaxError` where the query cannot be read.
    """
    return canonical_text(_nameless(read(with_declared(query, prefixes or {}))))


def _nameless(part: Any) -> Any:
    """A part of a tree with placeholders for what it names, from the inside out."""
    match part:
        case NamedNode():
            return part if part.value == RDF_TYPE else _NAME
        case Literal():
            return _VALUE
        case tuple():
            return tuple(_nameless(piece) for piece in part)
        case Group():
            return Group(tuple(_nameless(element) for element in _once(part)))
    if not is_dataclass(part) or isinstance(part, type):
        return part
    whole = replace(part, **{f.name: _nameless(getattr(part, f.name)) for f in fields(part)})
    return _unnumbered(whole) if isinstance(whole, Query) else whole


def _once(group: Group) -> tuple[Element, ...]:
    """The elements of a group; a triple that is written again adds nothing, a path might."""
    return tuple(
        element
        for at, element in enumerate(group.elements)
        if not (
            isinstance(element, Pattern)
            and isinstance(element.predicate, NamedNode | Variable)
            and element in group.elements[:at]
        )
    )


def _unnumbered(query: Query) -> Query:
    """A query that keeps the fact of a LIMIT or OFFSET, without its number or its named graphs."""
    return replace(
        query,
        limit=None if query.limit is None else 1,
        offset=1 if query.offset else None,
        datasets=(),
    )
