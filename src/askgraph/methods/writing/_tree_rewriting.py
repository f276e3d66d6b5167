"""Rewriting of query trees: fix the use of variables.

A context-free grammar cannot express that a variable is bound only once, or that a variable beside
an aggregate must be a key of the groups. Violations are fixed with the smallest change: a name that
is in use is replaced by a new one, and a missing key is added.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace
from functools import partial
from itertools import count
from typing import Any

from pyoxigraph import Literal, Variable

from askgraph import sparql
from askgraph.errors import QuerySyntaxError


def fix_variables(tree: sparql.Query) -> sparql.Query:
    """Return a SELECT or ASK query that any processor accepts, with the fewest changes.

    `SELECT *` is replaced by the names of its variables.

    Raises:
        QuerySyntaxError: the query cannot be fixed: another form of query, a named graph or
            service, a literal as a subject, no columns.
    """
    if tree.form not in ("SELECT", "ASK") or tree.datasets:
        raise QuerySyntaxError("only SELECT and ASK queries without FROM are written")
    used_names = {node.value for node in sparql.walk(tree) if isinstance(node, Variable)}
    new_variables = (Variable(f"w{n}") for n in count() if f"w{n}" not in used_names)
    fixed: sparql.Query = sparql.transform(tree, partial(_fix_part, new_variables=new_variables))
    return fixed


def list_visible_variables(part: sparql.Element | sparql.Group) -> tuple[Variable, ...]:
    """Return the variables that an element of a group may bind, in order and without duplicates."""
    match part:
        case sparql.Filter() | sparql.Nested(word="MINUS"):
            return ()
        case sparql.Bind(variable=variable):
            return (variable,)
        case sparql.Query(columns=columns) if columns:
            variables: Iterable[Variable] = (variable for variable, _ in columns)
        case sparql.Query(where=group) | sparql.Nested(group=group):
            return list_visible_variables(group)
        case sparql.Group(elements=parts) | sparql.Union(groups=parts):
            variables = (name for inner in parts for name in list_visible_variables(inner))
        case _:
            variables = sparql.find_variables(part)
    return tuple(dict.fromkeys(variables))


def _fix_part(part: Any, new_variables: Iterator[Variable]) -> Any:
    """Return a node whose parts are fixed, fixed itself."""
    match part:
        case sparql.Pattern(subject=Literal()):
            raise QuerySyntaxError(f"a value has no properties: {part.subject}")
        case sparql.Nested(name=name) if name is not None:
            raise QuerySyntaxError(f"a query may not have {part.word} {name}")
        case sparql.Values(variables=names, rows=rows):
            if any(len(row) != len(names) for row in rows):
                raise QuerySyntaxError("a row of VALUES is longer or shorter than its variables")
            if any(isinstance(term, Variable) for row in rows for term in row):
                raise QuerySyntaxError("a row of VALUES may hold no variable")
            indices = [at for at, name in enumerate(names) if names.index(name) == at]
            rows = tuple(tuple(row[at] for at in indices) for row in rows)
            return sparql.Values(tuple(names[at] for at in indices), rows)
        case sparql.Group():
            elements: list[sparql.Element] = []
            for element in part.elements:
                visible = list_visible_variables(sparql.Group(tuple(elements)))
                if isinstance(element, sparql.Bind) and element.variable in visible:
                    element = sparql.Bind(element.value, next(new_variables))
                elements.append(element)
            return sparql.Group(tuple(elements))
        case sparql.Query():
            return _fix_query(part, new_variables)
    return part


def _fix_query(tree: sparql.Query, new_variables: Iterator[Variable]) -> sparql.Query:
    if tree.form == "ASK":
        return sparql.Query("ASK", tree.where)
    scope = list_visible_variables(tree.where)
    columns = tree.columns
    if not columns:  # `SELECT *` stands for the keys of groups, else for the variables
        visible = (name for name in scope if not name.value.startswith("__"))
        names = _get_key_variables(tree.group_by) if tree.group_by else visible
        columns = tuple((name, None) for name in names)
    keys = tuple((value, None if alias in scope else alias) for value, alias in tree.group_by)
    names_in_use = {*scope, *_get_key_variables(keys)}
    unique_columns: dict[Variable, sparql.Expression | None] = {}
    for name, value in columns:
        if value is None:
            unique_columns.setdefault(name, None)
        else:
            clash = name in unique_columns or name in names_in_use
            unique_columns[next(new_variables) if clash else name] = value
    if not unique_columns:
        raise QuerySyntaxError("the query asks for nothing: it has no variable")
    result = replace(tree, columns=tuple(unique_columns.items()), group_by=keys)
    outside = sparql.find_calls((result.order, result.having))
    if result.is_aggregate or any(call.is_aggregate for call in outside):
        return _fix_grouping(result, new_variables)
    return replace(result, having=())


def _get_key_variables(
    keys: Iterable[tuple[sparql.Expression, Variable | None]],
) -> tuple[Variable, ...]:
    """Return the variables that are keys of groups, or that name such keys."""
    terms = (alias or value for value, alias in keys)
    return tuple(key for key in terms if isinstance(key, Variable))


def _fix_grouping(tree: sparql.Query, new_variables: Iterator[Variable]) -> sparql.Query:
    """Group a query so that all variables outside of aggregates are keys."""
    # A key that is also a named column gets the name of that column. A column that uses the name of
    # another one gets the definition of that name instead, since processors reject the name there.
    # If a name was used before its definition, it becomes a key and its definition gets a name from
    # `new_variables`.
    keys = dict(tree.group_by)
    columns: list[tuple[Variable, sparql.Expression | None]] = []
    definitions: dict[Variable, sparql.Expression] = {}
    for name, value in tree.columns:
        if value is None:
            columns.append((name, None))
        elif value in keys and keys[value] is None and not isinstance(value, Variable):
            keys[value] = name
            columns.append((name, None))
        else:
            spelled_out: sparql.Expression = sparql.transform(
                value,
                lambda node: definitions.get(node, node) if isinstance(node, Variable) else node,
                enter=lambda node: not isinstance(node, sparql.Group),
            )
            definitions[name] = spelled_out
            columns.append((name, spelled_out))
    key_terms = {alias or value for value, alias in keys.items()}
    needed_variables = [
        variable
        for name, value in columns
        for variable in ([name] if value is None else _list_variables_outside_aggregates(value))
    ]
    missing: dict[sparql.Expression, Variable | None] = {
        variable: None for variable in needed_variables if variable not in key_terms
    }
    new_columns = tuple(
        (next(new_variables) if value is not None and name in missing else name, value)
        for name, value in columns
    )
    return replace(tree, columns=new_columns, group_by=tuple((keys | missing).items()))


def _list_variables_outside_aggregates(value: sparql.Expression) -> list[Variable]:
    match value:
        case Variable():
            return [value]
        case sparql.Call(arguments=arguments) if not value.is_aggregate:
            return [
                variable
                for argument in arguments
                for variable in _list_variables_outside_aggregates(argument)
            ]
        case _:
            return []
