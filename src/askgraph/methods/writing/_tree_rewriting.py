"""Rewriting of query trees: fix the use of variables, and map terms.

A context-free grammar cannot express that a variable is bound only once, or that a variable beside
an aggregate must be a key of the groups. Violations are fixed with the smallest change: a name that
is in use is replaced by a new one, and a missing key is added.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, fields, is_dataclass, replace
from itertools import count
from typing import Any, TypeVar

from pyoxigraph import BlankNode, Literal, NamedNode, Variable

from askgraph.errors import QuerySyntaxError
from askgraph.sparql import (
    Bind,
    Call,
    Element,
    Expression,
    Filter,
    Group,
    Nested,
    Path,
    Pattern,
    Query,
    Term,
    Union,
    Values,
    find_calls,
    find_variables,
    transform,
)

_Part = TypeVar("_Part")


def fix_variables(tree: Query) -> Query:
    """Return a SELECT or ASK query that any processor accepts, with the fewest changes.

    `SELECT *` is replaced by the names of its variables.

    Raises:
        QuerySyntaxError: the query cannot be fixed: another form of query, a named graph or
            service, a literal as a subject, no columns.
    """
    if tree.form not in ("SELECT", "ASK") or tree.datasets:
        raise QuerySyntaxError("only SELECT and ASK queries without FROM are written")
    names = {variable.value for variable in find_variables(tree.where)}
    return _VariableFixer(names | {variable.value for variable, _ in tree.columns}).fix_query(tree)


def list_visible_variables(part: Element) -> tuple[Variable, ...]:
    """Return the variables that an element of a group may bind, in order and without duplicates."""
    match part:
        case Query(columns=columns) if columns:
            variables: Iterable[Variable] = (variable for variable, _ in columns)
        case Query(where=where):
            variables = list_visible_variables(Nested("", where))
        case Filter() | Nested(word="MINUS"):
            variables = ()
        case Bind(variable=variable):
            variables = (variable,)
        case Nested(group=group):
            variables = (
                name for element in group.elements for name in list_visible_variables(element)
            )
        case Union(groups=groups):
            variables = (
                name for group in groups for name in list_visible_variables(Nested("", group))
            )
        case _:
            variables = find_variables(part)
    return tuple(dict.fromkeys(variables))


@dataclass
class _VariableFixer:
    """Fixes the parts of a query; each method returns its argument, fixed."""

    used_names: set[str]
    numbers: count[int] = field(default_factory=count)

    def fix_query(self, tree: Query) -> Query:
        where = self.fix_group(tree.where)
        if tree.form == "ASK":
            return Query("ASK", where)
        scope = list_visible_variables(Nested("", where))
        columns = tree.columns or tuple((name, None) for name in _expand_star(tree, scope))
        keys = tuple(
            (self.fix_expression(value), None if alias in scope else alias)
            for value, alias in tree.group_by
        )
        columns = self.fix_columns(columns, {*scope, *_get_key_variables(keys)})
        if not columns:
            raise QuerySyntaxError("the query asks for nothing: it has no variable")
        having = tuple(self.fix_expression(condition) for condition in tree.having)
        order = tuple((self.fix_expression(condition), down) for condition, down in tree.order)
        result = replace(
            tree, where=where, columns=columns, group_by=keys, having=having, order=order
        )
        outside = find_calls((result.order, result.having))
        if result.is_aggregate or any(call.is_aggregate for call in outside):
            return _fix_grouping(result, self.create_variable)
        return replace(result, having=())

    def fix_columns(
        self, columns: tuple[tuple[Variable, Expression | None], ...], scope: set[Variable]
    ) -> tuple[tuple[Variable, Expression | None], ...]:
        """Keep each name once, and choose a new name for a value whose name is in use."""
        unique_columns: dict[Variable, Expression | None] = {}
        for name, value in columns:
            if value is None:
                unique_columns.setdefault(name, None)
            else:
                clash = name in unique_columns or name in scope
                unique_columns[self.create_variable() if clash else name] = self.fix_expression(
                    value
                )
        return tuple(unique_columns.items())

    def fix_group(self, group: Group) -> Group:
        elements: list[Element] = []
        scope = set[Variable]()
        for element in group.elements:
            fixed_element = self.fix_element(element, scope)
            scope.update(list_visible_variables(fixed_element))
            elements.append(fixed_element)
        return Group(tuple(elements))

    def fix_element(self, element: Element, scope: set[Variable]) -> Element:
        match element:
            case Filter(condition=condition):
                return Filter(self.fix_expression(condition))
            case Bind(value=value, variable=name):
                return Bind(
                    self.fix_expression(value), self.create_variable() if name in scope else name
                )
            case Nested():
                return self.fix_nested(element)
            case Union(groups=groups):
                return Union(tuple(map(self.fix_group, groups)))
            case Query():
                return self.fix_query(element)
            case Values() | Pattern():
                # A valid pattern, or VALUES rows with each variable in one column.
                if isinstance(element, Pattern):
                    if isinstance(element.subject, Literal):
                        raise QuerySyntaxError(f"a value has no properties: {element.subject}")
                    return element
                names = element.variables
                if any(len(row) != len(names) for row in element.rows):
                    raise QuerySyntaxError(
                        "a row of VALUES is longer or shorter than its variables"
                    )
                if any(isinstance(term, Variable) for row in element.rows for term in row):
                    raise QuerySyntaxError("a row of VALUES may hold no variable")
                indices = [at for at, name in enumerate(names) if names.index(name) == at]
                rows = tuple(tuple(row[at] for at in indices) for row in element.rows)
                return Values(tuple(names[at] for at in indices), rows)

    def fix_nested(self, element: Nested) -> Nested:
        if element.name is not None:
            raise QuerySyntaxError(f"a query may not have {element.word} {element.name}")
        return replace(element, group=self.fix_group(element.group))

    def fix_expression(self, value: Expression) -> Expression:
        match value:
            case Group():
                return self.fix_group(value)
            case Call(arguments=arguments):
                return replace(value, arguments=tuple(map(self.fix_expression, arguments)))
            case _:
                return value

    def create_variable(self) -> Variable:
        """Return a variable with an unused name."""
        name = next(f"w{n}" for n in self.numbers if f"w{n}" not in self.used_names)
        self.used_names.add(name)
        return Variable(name)


def _expand_star(tree: Query, scope: tuple[Variable, ...]) -> tuple[Variable, ...]:
    """Return the variables that `SELECT *` stands for; with groups, their keys."""
    if not tree.group_by:
        return tuple(name for name in scope if not name.value.startswith("__"))
    return _get_key_variables(tree.group_by)


def _get_key_variables(keys: Iterable[tuple[Expression, Variable | None]]) -> tuple[Variable, ...]:
    """Return the variables that are keys of groups, or that name such keys."""
    terms = (alias or value for value, alias in keys)
    return tuple(key for key in terms if isinstance(key, Variable))


def _fix_grouping(tree: Query, create_variable: Callable[[], Variable]) -> Query:
    """Group a query so that all variables outside of aggregates are keys.

    A key that is also a named column gets the name of that column. A column that uses the name of
    another one gets the definition of that name instead, since processors reject the name there. If
    a name was used before its definition, it becomes a key and its definition gets a name from
    `create_variable`.
    """
    keys = dict(tree.group_by)
    columns: list[tuple[Variable, Expression | None]] = []
    definitions: dict[Variable, Expression] = {}
    for name, value in tree.columns:
        if value is None:
            columns.append((name, None))
        elif value in keys and keys[value] is None and not isinstance(value, Variable):
            keys[value] = name
            columns.append((name, None))
        else:
            spelled_out: Expression = transform(
                value,
                lambda node: definitions.get(node, node) if isinstance(node, Variable) else node,
                enter=lambda node: not isinstance(node, Group),
            )
            definitions[name] = spelled_out
            columns.append((name, spelled_out))
    key_terms = {alias or value for value, alias in keys.items()}
    needed_variables = [
        variable
        for name, value in columns
        for variable in ([name] if value is None else _list_variables_outside_aggregates(value))
    ]
    missing: dict[Expression, Variable | None] = {
        variable: None for variable in needed_variables if variable not in key_terms
    }
    new_columns = tuple(
        (create_variable() if value is not None and name in missing else name, value)
        for name, value in columns
    )
    return replace(tree, columns=new_columns, group_by=tuple((keys | missing).items()))


def _list_variables_outside_aggregates(value: Expression) -> list[Variable]:
    match value:
        case Variable():
            return [value]
        case Call(arguments=arguments) if not value.is_aggregate:
            return [
                variable
                for argument in arguments
                for variable in _list_variables_outside_aggregates(argument)
            ]
        case _:
            return []


@dataclass(frozen=True)
class TermMapping:
    """Functions that map each term: a predicate, any other term, and the name of a cast."""

    map_predicate: Callable[[NamedNode], NamedNode] = lambda iri: iri
    map_term: Callable[[Term], Term] = lambda term: term
    map_cast: Callable[[str], str] = lambda name: name


def map_terms(part: _Part, mapping: TermMapping) -> _Part:
    """Return a part of a tree with all its terms mapped, including those in nested groups."""
    result: _Part = _map_part(part, mapping)
    return result


def _map_part(part: Any, mapping: TermMapping) -> Any:
    match part:
        case NamedNode() | Literal() | BlankNode() | Variable():
            return mapping.map_term(part)
        case tuple():
            return tuple(_map_part(piece, mapping) for piece in part)
        case Path(operator=operator, parts=parts):
            return Path(operator, tuple(_map_predicate(piece, mapping) for piece in parts))
        case Pattern():
            subject = mapping.map_term(part.subject)
            predicate = _map_predicate(part.predicate, mapping)
            return Pattern(subject, predicate, mapping.map_term(part.object))
        case Call(name=name, arguments=arguments, separator=separator):
            new_name = mapping.map_cast(name) if ":" in name else name
            return Call(new_name, _map_part(arguments, mapping), separator)
    if not is_dataclass(part) or isinstance(part, type):
        return part
    new_fields = {
        part_field.name: _map_part(getattr(part, part_field.name), mapping)
        for part_field in fields(part)
    }
    return replace(part, **new_fields)


def _map_predicate(part: Any, mapping: TermMapping) -> Any:
    match part:
        case NamedNode():
            return mapping.map_predicate(part)
        case Path():
            return _map_part(part, mapping)
    return mapping.map_term(part)
