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

from askgraph import sparql as ast
from askgraph.errors import QueryError, QuerySyntaxError
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


def canonicalize_tree(tree: ast.Query) -> str:
    """Return the canonical text of a query that is already parsed."""
    text = to_text(
        ast.transform(
            tree, lambda one: ast.Group(_sort_elements(one)) if isinstance(one, ast.Group) else one
        )
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


def _sort_elements(group: ast.Group) -> tuple[ast.Element, ...]:
    sorted_elements: list[ast.Element] = []
    run: list[ast.Element] = []
    for element in group.elements:
        if isinstance(element, ast.Pattern):
            run.append(element)
        elif not isinstance(element, ast.Filter):
            sorted_elements += [*sorted(run, key=_mask_variables), element]
            run = []
    filters = [element for element in group.elements if isinstance(element, ast.Filter)]
    return (
        *sorted_elements,
        *sorted(run, key=_mask_variables),
        *sorted(filters, key=_mask_variables),
    )


def _mask_variables(element: ast.Element) -> str:
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
        ast.transform(ast.transform(tree, _remove_duplicate_triples), _replace_by_placeholder)
    )


def _remove_duplicate_triples(node: object) -> object:
    """Return a group without duplicate triples, which add nothing, unlike duplicate paths."""
    if not isinstance(node, ast.Group):
        return node
    unique_elements: dict[ast.Element | int, ast.Element] = {}
    for index, element in enumerate(node.elements):
        is_triple = isinstance(element, ast.Pattern) and not isinstance(element.predicate, ast.Path)
        unique_elements.setdefault(element if is_triple else index, element)
    return ast.Group(tuple(unique_elements.values()))


def _replace_by_placeholder(node: object) -> object:
    """Return a placeholder for an IRI or literal; a query without its numbers and graphs."""
    match node:
        case NamedNode():
            return node if node.value == RDF_TYPE else _IRI_PLACEHOLDER
        case Literal():
            return _LITERAL_PLACEHOLDER
        case ast.Query():
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
    nested: ast.Query = ast.transform(
        tree, lambda part: _nest_in_group(part) if type(part) is ast.Group else part
    )
    return str(query if nested is tree else to_text(nested))


def _nest_in_group(group: ast.Group) -> ast.Group:
    """Return a group with its conditions nested that share a variable with the rest of it."""
    elements = tuple(_nest_element(element, group) for element in group.elements)
    is_changed = any(
        new_element is not old_element
        for new_element, old_element in zip(elements, group.elements, strict=True)
    )
    return ast.Group(elements) if is_changed else group


def _nest_element(element: ast.Element, group: ast.Group) -> ast.Element:
    match element:
        case ast.Filter(
            condition=ast.Call(name=name, arguments=(ast.Group() as condition_group,))
        ) if name in _EXISTS_NAMES:
            outer_variables = {
                variable
                for other_element in group.elements
                if other_element is not element
                for variable in ast.find_variables(other_element)
            }
            steps = _build_steps(condition_group, outer_variables)
            return ast.Filter(ast.Call(name, (steps,))) if steps is not None else element
        case _:
            return element


def _build_steps(inner: ast.Group, bound: Set[Variable]) -> ast.Group | None:
    """Return patterns nested in each other, each with a bound variable; None if impossible."""
    patterns = [element for element in inner.elements if isinstance(element, ast.Pattern)]
    filters = [element for element in inner.elements if not isinstance(element, ast.Pattern)]
    if len(patterns) < 2 or not all(isinstance(element, ast.Filter) for element in filters):
        return None
    ordered: list[ast.Pattern] = []
    while patterns:
        best = max(patterns, key=lambda element: _rank_pattern(element, bound))
        if not set(ast.find_variables(best)) & bound:
            return None
        ordered.append(best)
        patterns.remove(best)
        bound = {*bound, *ast.find_variables(best)}
    return _nest_patterns(ordered, filters)


def _rank_pattern(pattern: ast.Pattern, bound: Set[Variable]) -> tuple[int, bool]:
    """Return the sort key of a pattern: few unbound ends first, joins before mere classes."""
    open_ends = sum(variable not in bound for variable in set(ast.find_variables(pattern)))
    joins = bool(set(ast.find_variables(pattern)) & bound)
    return (-open_ends if joins else -9), pattern.predicate != _RDF_TYPE_NODE


def _nest_patterns(ordered: Sequence[ast.Pattern], filters: Sequence[ast.Element]) -> ast.Group:
    pattern, *further_patterns = ordered
    if not further_patterns:
        return ast.Group((pattern, *filters))
    return ast.Group(
        (pattern, ast.Filter(ast.Call("EXISTS", (_nest_patterns(further_patterns, filters),))))
    )
