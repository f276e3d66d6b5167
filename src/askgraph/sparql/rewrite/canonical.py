"""Equivalent texts of a query: a canonical one, and one with stepwise existence conditions.

The canonical text is the same for all queries that differ only in names, prefixes, layout and
order. Two queries with the same one have the same solutions on every graph. The reverse does not
hold: queries can be equivalent in ways that are not detected here.

Stepwise existence conditions help engines that plan each group as a whole.

    FILTER NOT EXISTS { ?t :student ?s . ?t :course ?c . ?c :department :Biology }
    FILTER NOT EXISTS { ?t :student ?s FILTER EXISTS { ?t :course ?c FILTER EXISTS { … } } }

An engine that orders the patterns of such a group without knowing that `?s` is bound, as Oxigraph
does, visits all courses for each student, which takes minutes for some ten thousand; with one
pattern after the other it only reads matching triples.
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
    find_variables,
    transform,
)
from askgraph.sparql.lexer import apply_edits, declare_prefixes, tokenize
from askgraph.sparql.parser import parse_tree
from askgraph.sparql.serializer import to_text, to_tree
from askgraph.sparql.vocabulary import RDF_TYPE

VARIABLE_PATTERN = re.compile(r"[?$]\w+")


def canonicalize_query(query: str, *, prefixes: Mapping[str, str] | None = None) -> str:
    """Return the query with full IRIs, numbered variables, and patterns and filters in order.

    Patterns are sorted within each run of them, filters at the end of their group. For a query
    that cannot be parsed, the result is its text without comments and layout.
    """
    try:
        return canonicalize_tree(parse_tree(declare_prefixes(query, prefixes or {})))
    except QuerySyntaxError:
        return " ".join(token.text for token in tokenize(query).tokens)


def canonicalize_tree(tree: Query) -> str:
    """Return the canonical text of a query that is already parsed."""
    text = to_text(
        transform(tree, lambda one: Group(_sort_elements(one)) if isinstance(one, Group) else one)
    )
    names: dict[str, str] = {}
    return apply_edits(
        text,
        (
            (token.start, token.end, names.setdefault(token.text[1:], f"?v{len(names)}"))
            for token in tokenize(text).all_tokens
            if token.kind == "variable"
        ),
    )


def _sort_elements(group: Group) -> tuple[Element, ...]:
    sorted_elements: list[Element] = []
    run: list[Element] = []
    for element in group.elements:
        if isinstance(element, Pattern):
            run.append(element)
        elif not isinstance(element, Filter):
            sorted_elements += [*sorted(run, key=_mask_variables), element]
            run = []
    filters = [element for element in group.elements if isinstance(element, Filter)]
    return (
        *sorted_elements,
        *sorted(run, key=_mask_variables),
        *sorted(filters, key=_mask_variables),
    )


def _mask_variables(element: Element) -> str:
    return VARIABLE_PATTERN.sub("?", to_text(element))


_IRI_PLACEHOLDER = NamedNode("urn:name")
_LITERAL_PLACEHOLDER = Literal("value")


def build_skeleton(query: str, *, prefixes: Mapping[str, str] | None = None) -> str:
    """Return one text for all queries with the same structure, whatever they ask about.

    One placeholder replaces every IRI except `rdf:type`, another one every literal and the numbers
    of LIMIT and OFFSET. Variables are numbered; the order and repetition of patterns, prefixes and
    layout are removed. The form, DISTINCT, patterns with their joins, functions, groups and the
    direction of an order are kept.

    Args:
        prefixes: namespaces of prefixes that the query uses without declaring them.

    Raises:
        QuerySyntaxError: the query cannot be parsed.
    """
    tree = parse_tree(declare_prefixes(query, prefixes or {}))
    return canonicalize_tree(
        transform(transform(tree, _remove_duplicate_triples), _replace_by_placeholder)
    )


def _remove_duplicate_triples(node: object) -> object:
    """Return a group without duplicate triples, which add nothing, unlike duplicate paths."""
    if not isinstance(node, Group):
        return node
    unique_elements: dict[Element | int, Element] = {}
    for index, element in enumerate(node.elements):
        is_triple = isinstance(element, Pattern) and not isinstance(element.predicate, Path)
        unique_elements.setdefault(element if is_triple else index, element)
    return Group(tuple(unique_elements.values()))


def _replace_by_placeholder(node: object) -> object:
    """Return a placeholder for an IRI or literal; a query without its numbers and graphs."""
    match node:
        case NamedNode():
            return node if node.value == RDF_TYPE else _IRI_PLACEHOLDER
        case Literal():
            return _LITERAL_PLACEHOLDER
        case Query():
            limit = None if node.limit is None else 1
            return replace(node, limit=limit, offset=1 if node.offset else None, datasets=())
        case _:
            return node


_EXISTS_NAMES = ("EXISTS", "NOT EXISTS")
_RDF_TYPE_NODE = NamedNode(RDF_TYPE)


def nest_existence_conditions(query: str) -> str:
    """Return a SELECT or ASK query with stepwise existence conditions.

    The text is returned unchanged if it cannot be parsed, or has no such condition with several
    patterns.
    """
    try:
        tree = to_tree(query)
    except QueryError:
        return query
    if tree.form == "SELECT" and not tree.columns:  # the star would expand to more columns
        return query
    nested: Query = transform(
        tree, lambda part: _nest_in_group(part) if type(part) is Group else part
    )
    return str(query if nested is tree else to_text(nested))


def _nest_in_group(group: Group) -> Group:
    """Return a group with its conditions nested that share a variable with the rest of it."""
    elements = tuple(_nest_element(element, group) for element in group.elements)
    is_changed = any(
        new_element is not old_element
        for new_element, old_element in zip(elements, group.elements, strict=True)
    )
    return Group(elements) if is_changed else group


def _nest_element(element: Element, group: Group) -> Element:
    match element:
        case Filter(condition=Call(name=name, arguments=(Group() as condition_group,))) if (
            name in _EXISTS_NAMES
        ):
            outer_variables = {
                variable
                for other_element in group.elements
                if other_element is not element
                for variable in find_variables(other_element)
            }
            steps = _build_steps(condition_group, outer_variables)
            return Filter(Call(name, (steps,))) if steps is not None else element
        case _:
            return element


def _build_steps(inner: Group, bound: Set[Variable]) -> Group | None:
    """Return patterns nested in each other, each with a bound variable; None if impossible."""
    patterns = [element for element in inner.elements if isinstance(element, Pattern)]
    filters = [element for element in inner.elements if not isinstance(element, Pattern)]
    if len(patterns) < 2 or not all(isinstance(element, Filter) for element in filters):
        return None
    ordered: list[Pattern] = []
    while patterns:
        best = max(patterns, key=lambda element: _rank_pattern(element, bound))
        if not set(find_variables(best)) & bound:
            return None
        ordered.append(best)
        patterns.remove(best)
        bound = {*bound, *find_variables(best)}
    return _nest_patterns(ordered, filters)


def _rank_pattern(pattern: Pattern, bound: Set[Variable]) -> tuple[int, bool]:
    """Return the sort key of a pattern: few unbound ends first, joins before mere classes."""
    open_ends = sum(variable not in bound for variable in set(find_variables(pattern)))
    joins = bool(set(find_variables(pattern)) & bound)
    return (-open_ends if joins else -9), pattern.predicate != _RDF_TYPE_NODE


def _nest_patterns(ordered: Sequence[Pattern], filters: Sequence[Element]) -> Group:
    pattern, *further_patterns = ordered
    if not further_patterns:
        return Group((pattern, *filters))
    return Group((pattern, Filter(Call("EXISTS", (_nest_patterns(further_patterns, filters),)))))
