"""Texts that say the same as a query: a canonical one, and one that is asked step by step.

The canonical text is one for all queries that differ only in names, prefixes, layout and order. Two
queries with the same one have the same solutions on every graph. The reverse does not hold: queries
can say the same in ways that are not told here.

Conditions of existence in steps are for an engine that looks at each group as a whole.

    FILTER NOT EXISTS { ?t :student ?s . ?t :course ?c . ?c :department :Biology }
    FILTER NOT EXISTS { ?t :student ?s FILTER EXISTS { ?t :course ?c FILTER EXISTS { … } } }

An engine that orders the patterns of such a group without knowing that `?s` is bound, as Oxigraph
does, goes through all courses for each student, which takes minutes for some ten thousand; of one
pattern after the other it reads what is at hand.
"""

import re
from collections.abc import Mapping, Sequence, Set
from dataclasses import replace

from pyoxigraph import Literal, NamedNode, Variable

from askgraph.errors import QueryError, QuerySyntaxError
from askgraph.sparql import (
    Call,
    Element,
    Filter,
    Group,
    Path,
    Pattern,
    Query,
    transform,
    variables_of,
)
from askgraph.sparql.lexer import edited, lexed, with_declared
from askgraph.sparql.parser import read
from askgraph.sparql.serializer import text_of, tree_of
from askgraph.sparql.vocabulary import RDF_TYPE

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


_EXISTENCE = ("EXISTS", "NOT EXISTS")
_TYPE = NamedNode(RDF_TYPE)


def stepwise(query: str) -> str:
    """Return a SELECT or ASK query with its conditions of existence step by step.

    What cannot be read, or has none with several patterns, stays the very same text.
    """
    try:
        tree = tree_of(query)
    except QueryError:
        return query
    if tree.form == "SELECT" and not tree.columns:  # what a star stands for would have more columns
        return query
    changed: Query = transform(tree, lambda part: _group(part) if type(part) is Group else part)
    return str(query if changed is tree else text_of(changed))


def _group(group: Group) -> Group:
    """A group with those conditions in steps that share a variable with what else is in it."""
    elements = tuple(_element(one, group) for one in group.elements)
    changed = any(new is not old for new, old in zip(elements, group.elements, strict=True))
    return Group(elements) if changed else group


def _element(element: Element, group: Group) -> Element:
    match element:
        case Filter(condition=Call(name=name, arguments=(Group() as inner,))) if name in _EXISTENCE:
            outside = {v for one in group.elements if one is not element for v in variables_of(one)}
            steps = _steps(inner, outside)
            return Filter(Call(name, (steps,))) if steps is not None else element
        case _:
            return element


def _steps(inner: Group, known: Set[Variable]) -> Group | None:
    """Patterns one within the other, each on from what is known by then; None if they are not."""
    left = [one for one in inner.elements if isinstance(one, Pattern)]
    rest = [one for one in inner.elements if not isinstance(one, Pattern)]
    if len(left) < 2 or not all(isinstance(one, Filter) for one in rest):
        return None
    ordered: list[Pattern] = []
    while left:
        best = max(left, key=lambda one: _held(one, known))
        if not set(variables_of(best)) & known:
            return None
        ordered.append(best)
        left.remove(best)
        known = {*known, *variables_of(best)}
    return _within(ordered, rest)


def _held(pattern: Pattern, known: Set[Variable]) -> tuple[int, bool]:
    """How many ends of a pattern are known; first what joins, before what only has a class."""
    open_ends = sum(variable not in known for variable in set(variables_of(pattern)))
    joins = bool(set(variables_of(pattern)) & known)
    return (-open_ends if joins else -9), pattern.predicate != _TYPE


def _within(ordered: Sequence[Pattern], rest: Sequence[Element]) -> Group:
    first, *others = ordered
    if not others:
        return Group((first, *rest))
    return Group((first, Filter(Call("EXISTS", (_within(others, rest),)))))
