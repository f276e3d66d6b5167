"""Canonical text: one for all queries that differ only in names, prefixes, layout and order.

Two queries with the same canonical text have the same solutions on every graph. The reverse does
not hold: queries can say the same in ways that are not told here.
"""

import re
from collections.abc import Mapping
from dataclasses import replace

from pyoxigraph import Literal, NamedNode

from askgraph.errors import QuerySyntaxError
from askgraph.rdf.vocabulary import RDF_TYPE
from askgraph.sparql import Element, Filter, Group, Path, Pattern, Query, transform
from askgraph.sparql.lexer import edited, lexed, with_declared
from askgraph.sparql.read import read
from askgraph.sparql.write import text_of

VARIABLE = re.compile(r"[?$]\w+")


def canonical_query(query: str, *, prefixes: Mapping[str, str] | None = None) -> str:
    """Return the query with full IRIs, numbered variables, and patterns and filters in order.

    Patterns are put in order within each run of them, filters at the end of their group. Of a query
    that cannot be read, what is returned is its text without comments and layout.
    """
    try:
        return canonical_text(read(with_declared(query, prefixes or {})))
    except QuerySyntaxError:
        return " ".join(token.text for token in lexed(query).given)


def canonical_text(tree: Query) -> str:
    """Return the same of a query that is read already."""
    return _numbered(text_of(transform(tree, _in_order)))


def _in_order(node: object) -> object:
    """A group with its elements in order; all else as it is."""
    return Group(_elements_in_order(node)) if isinstance(node, Group) else node


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
    return edited(
        text,
        (
            (token.start, token.end, names.setdefault(token.text[1:], f"?v{len(names)}"))
            for token in lexed(text).all
            if token.kind == "variable"
        ),
    )


_NAME = NamedNode("urn:name")
_VALUE = Literal("value")


def skeleton(query: str, *, prefixes: Mapping[str, str] | None = None) -> str:
    """Return one text for all queries that are put together alike, whatever they ask about.

    One placeholder stands for every IRI but `rdf:type`, one for every literal and for the numbers
    of LIMIT and OFFSET; variables are numbered, and the order and repetition of patterns, prefixes
    and layout are gone. Kept are the form, DISTINCT, the patterns and how variables join them,
    functions, groups, and the direction of an order. `prefixes` may be used without declaring them.
    Raises `QuerySyntaxError` if the query cannot be read.
    """
    tree = read(with_declared(query, prefixes or {}))
    return canonical_text(transform(transform(tree, _once), _unnamed))


def _once(node: object) -> object:
    """A group without the triples that are written again: they add nothing, as a path might."""
    if not isinstance(node, Group):
        return node
    kept: dict[Element | int, Element] = {}
    for at, element in enumerate(node.elements):
        plain = isinstance(element, Pattern) and not isinstance(element.predicate, Path)
        kept.setdefault(element if plain else at, element)
    return Group(tuple(kept.values()))


def _unnamed(node: object) -> object:
    """A placeholder for what names something; a query without its numbers and graphs."""
    match node:
        case NamedNode():
            return node if node.value == RDF_TYPE else _NAME
        case Literal():
            return _VALUE
        case Query():
            limit = None if node.limit is None else 1
            return replace(node, limit=limit, offset=1 if node.offset else None, datasets=())
        case _:
            return node
