"""One text for all queries that differ in nothing but names, prefixes, layout and order.

Two queries with the same canonical text have the same solutions on every graph. The reverse does
not hold: queries can say the same in ways that are not told here.
"""

import re
from collections.abc import Mapping
from dataclasses import fields, is_dataclass, replace
from typing import Any

from pyoxigraph import Literal, NamedNode, Variable

from askgraph.errors import QuerySyntaxError
from askgraph.rdf.vocabulary import RDF_TYPE
from askgraph.sparql.lexer import tokens, with_declared
from askgraph.sparql.read import read
from askgraph.sparql.tree import Element, Filter, Group, Pattern, Query
from askgraph.sparql.write import text_of

__all__ = [
    "canonical_query",
    "canonical_text",
    "skeleton",
]

VARIABLE = re.compile(r"[?$]\w+")


def canonical_query(query: str, *, prefixes: Mapping[str, str] | None = None) -> str:
    """Return the query with full IRIs, numbered variables, and patterns and filters in order.

    Patterns are put in order within each run of them, filters at the end of their group. Of a query
    that cannot be read, what is returned is its text without comments and layout.
    """
    try:
        return canonical_text(read(with_declared(query, prefixes or {})))
    except QuerySyntaxError:
        return " ".join(token.text for token in tokens(query) if token.kind != "comment")


def canonical_text(tree: Query) -> str:
    """Return the same of a query that is read already."""
    return _numbered(text_of(_in_order(tree)))


def _in_order(part: Any) -> Any:
    """Return a part of a tree with the elements of each group in order, from the inside out."""
    if isinstance(part, tuple):
        return tuple(_in_order(piece) for piece in part)
    if not is_dataclass(part) or isinstance(part, type):
        return part
    inner = {field.name: _in_order(getattr(part, field.name)) for field in fields(part)}
    whole = replace(part, **inner)
    return Group(_elements_in_order(whole)) if isinstance(whole, Group) else whole


def _elements_in_order(group: Group) -> tuple[Element, ...]:
    found: list[Element] = []
    run: list[Element] = []
    for element in group.elements:
        if isinstance(element, Pattern):
            run.append(element)
        elif not isinstance(element, Filter):
            found += [*sorted(run, key=_nameless), element]
            run = []
    filters = [element for element in group.elements if isinstance(element, Filter)]
    return (*found, *sorted(run, key=_nameless), *sorted(filters, key=_nameless))


def _nameless(element: Element) -> str:
    """The text of an element, every variable alike."""
    return VARIABLE.sub("?", text_of(element))


def _numbered(text: str) -> str:
    names: dict[str, str] = {}
    pieces, at = [], 0
    for token in tokens(text):
        if token.kind == "variable":
            name = names.setdefault(token.text[1:], f"?v{len(names)}")
            pieces += [text[at : token.start], name]
            at = token.start + len(token.text)
    return "".join(pieces) + text[at:]


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
    return canonical_text(_unnamed(read(with_declared(query, prefixes or {}))))


def _unnamed(part: Any) -> Any:
    """A part of a tree with placeholders for what it names, from the inside out."""
    match part:
        case NamedNode():
            return part if part.value == RDF_TYPE else _NAME
        case Literal():
            return _VALUE
        case tuple():
            return tuple(_unnamed(piece) for piece in part)
        case Group():
            return Group(tuple(_unnamed(element) for element in _once(part)))
    if not is_dataclass(part) or isinstance(part, type):
        return part
    whole = replace(part, **{f.name: _unnamed(getattr(part, f.name)) for f in fields(part)})
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
