"""Show things beside their names: a name neither drops the things without one nor merges things."""

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from typing import Any, cast

from pyoxigraph import Variable

from askgraph.search.query_pieces import get_predicate
from askgraph.sparql import Group, Nested, Pattern, Query, Union, transform, walk


def make_names_optional(query: Query, names: Mapping[Variable, Variable]) -> Query:
    """Return a query whose name patterns are optional, with a column for each named thing.

    A name that is compared stays required; a name that is counted, or that of a counted thing, is
    left as it is.

    Args:
        names: The thing that each name variable names.
    """
    for name, thing in names.items() if query.form == "SELECT" else ():
        query = _make_name_optional(query, name, thing)
    return query


def _make_name_optional(query: Query, name: Variable, thing: Variable) -> Query:
    own = [
        element
        for element in query.where.elements
        if isinstance(element, Pattern) and (element.subject, element.object) == (thing, name)
    ]
    others = tuple(element for element in query.where.elements if element not in own)
    binding = [
        index
        for index, element in enumerate(others)
        if (isinstance(element, Pattern | Union) and thing in walk(element))
    ]
    computed = ([value for _, value in query.columns], query.having, query.order)
    is_counted = any(thing in walk(tuple(part)) for part in computed)
    if len(own) != 1 or not binding or is_counted or (name, None) not in query.columns:
        return query
    where = query.where
    if name not in walk(others):
        others = transform(others, lambda node: _drop_unused_names(node, get_predicate(own[0])))
        optional = Nested("OPTIONAL", Group((own[0],)))
        kinds = Pattern | Union | Query
        after = max((at for at, x in enumerate(others, 1) if isinstance(x, kinds)), default=0)
        where = Group((*others[:after], optional, *others[after:]))
    columns, group_by = query.columns, query.group_by
    if (thing, None) not in columns:
        position = columns.index((name, None))
        columns = (*columns[:position], (thing, None), *columns[position:])
    if group_by and (thing, None) not in group_by:
        group_by = ((thing, None), *group_by)
    return replace(query, where=where, columns=columns, group_by=group_by)


def add_node_values(query: Query, values: Mapping[Variable, Sequence[Pattern]]) -> Query:
    """Return a query with optional columns for the values of the blank nodes that it shows."""
    where, columns = query.where.elements, query.columns
    for node, patterns in values.items():
        where = (*where, *(Nested("OPTIONAL", Group((pattern,))) for pattern in patterns))
        at = columns.index((node, None)) + 1
        objects = (pattern.object for pattern in patterns)
        added = tuple((value, None) for value in objects if isinstance(value, Variable))
        columns = (*columns[:at], *added, *columns[at:])
    return replace(query, where=Group(where), columns=columns)


def identify_by_name(query: Query, names: Collection[Pattern]) -> Query:
    """Return a query in which names stand for blank nodes, so that two with one name are one.

    Args:
        names: patterns from a new variable for the nodes to the one that stood for them.
    """
    nodes = {pattern.object: pattern.subject for pattern in names}

    def change(part: Any) -> Any:
        if not isinstance(part, Group):
            return part
        elements = tuple(
            transform(item, lambda term: nodes.get(term, term))
            if isinstance(item, Pattern)
            else item
            for item in part.elements
        )
        patterns = (item for item in elements if isinstance(item, Pattern))
        bound = {term for pattern in patterns for term in (pattern.subject, pattern.object)}
        return Group((*elements, *(pattern for pattern in names if pattern.subject in bound)))

    return cast(Query, transform(query, change))


def drop_optional_columns(query: Query, kept: Collection[str]) -> Query:
    """Return a query without optional groups that only bind columns beside the `kept` things."""
    for element in query.where.elements:
        if not isinstance(element, Nested) or element.word != "OPTIONAL":
            continue
        elements = tuple(item for item in query.where.elements if item is not element)
        variables = {part for part in walk(element) if isinstance(part, Variable)}
        order = tuple(item for item in query.order if item[0] not in variables or item[1])
        used = set(walk((elements, query.having, order)))
        dropped = {(variable, None) for variable in variables - used}
        shown = {variable.value for variable in variables if (variable, None) in query.columns}
        if dropped and dropped <= {*query.columns} and not shown <= {*kept}:
            query = replace(
                query,
                where=Group(elements),
                columns=tuple(item for item in query.columns if item not in dropped),
                group_by=tuple(item for item in query.group_by if item not in dropped),
                order=tuple(item for item in query.order if (item[0], None) not in dropped),
            )
    return query


def _drop_unused_names(node: object, predicate: str) -> object:
    """Return a sub-query without names that only its own pattern mentions."""
    if not isinstance(node, Query):
        return node
    counts = Counter(part for part in walk(node) if isinstance(part, Variable))
    kept = tuple(
        element
        for element in node.where.elements
        if not isinstance(element, Pattern)
        or counts[element.object] > 1  # type: ignore[index]
        or get_predicate(element) != predicate
    )
    return replace(node, where=Group(kept)) if kept else node
