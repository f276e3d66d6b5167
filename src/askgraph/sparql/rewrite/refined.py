"""Rearrange the rows of a query: sort, limit, filter or count them, or select columns.

The patterns of a query stay as they are; a condition is added, or a condition that compares a
column with a value is removed.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Literal as Choice

from pyoxigraph import Literal, NamedNode, Variable

from askgraph.errors import QueryError
from askgraph.sparql import Call, Expression, Filter, Group, Query, find_variables

Comparison = Choice["=", "!=", "<", "<=", ">", ">=", "contains"]
_COMPARISON_OPERATORS: tuple[Comparison, ...] = ("=", "!=", "<", "<=", ">", ">=")


@dataclass(frozen=True)
class ColumnCondition:
    """A comparison of a column with a value; `contains` compares texts and ignores case."""

    column: str
    comparison: Comparison
    value: Literal


@dataclass(frozen=True)
class RowArrangement:
    """How a SELECT query arranges its rows.

    `order` has pairs of a column or other variable, and whether it is descending.
    """

    columns: tuple[str, ...]
    order: tuple[tuple[str, bool], ...]
    limit: int | None
    conditions: tuple[ColumnCondition, ...]
    is_aggregate: bool


def get_arrangement(query: Query) -> RowArrangement | None:
    """Return the arrangement of a query's rows; None if it is not a SELECT query."""
    if query.form != "SELECT":
        return None
    names = _map_names(query)
    names |= {
        variable: variable.value for variable, _ in query.order if isinstance(variable, Variable)
    } | names
    order = (
        (names[expression], is_descending)
        for expression, is_descending in query.order
        if expression in names
    )
    conditions = tuple(condition for _, condition in _find_conditions(query))
    columns = tuple(name for name, _ in _list_columns(query))
    return RowArrangement(columns, tuple(order), query.limit, conditions, query.is_aggregate)


def sort_by(query: Query, column: str | None, *, descending: bool = False) -> Query:
    """Return the query with its rows sorted by a column, or unsorted for None."""
    if column is None:
        return replace(query, order=())
    _get_expression(query, column)
    return replace(query, order=((Variable(column), descending),))


def set_limit(query: Query, limit: int | None) -> Query:
    """Return the query with a maximum number of rows, or all rows for None."""
    return replace(query, limit=limit, offset=query.offset if limit else None)


def select_query_columns(query: Query, columns: Sequence[str]) -> Query:
    """Return the query with some of its columns only, and distinct rows."""
    selected_columns = tuple((Variable(name), _get_column(query, name)) for name in columns)
    if not selected_columns:
        raise QueryError("a query needs at least one column: keep one")
    return replace(
        query, columns=selected_columns, distinct=query.distinct or not query.is_aggregate
    )


def add_condition(query: Query, condition: ColumnCondition) -> Query:
    """Return the query with only the rows that meet a condition."""
    expression = _get_expression(query, condition.column)
    if condition.comparison == "contains":
        text = Literal(condition.value.value.lower())
        test = Call("CONTAINS", (Call("LCASE", (Call("STR", (expression,)),)), text))
    else:
        test = Call(condition.comparison, (expression, condition.value))
    if isinstance(expression, Call) and expression.is_aggregate:
        return replace(query, having=(*query.having, test))
    return replace(query, where=Group((*query.where.elements, Filter(test))))


def remove_condition(query: Query, number: int) -> Query:
    """Return the query without one of the conditions of its arrangement, given by index."""
    tests = [test for test, _ in _find_conditions(query)]
    if not 0 <= number < len(tests):
        raise QueryError(f"the query has no condition {number}: it has {len(tests)}")
    removed = tests[number]
    elements = tuple(node for node in query.where.elements if node is not removed)
    having = tuple(node for node in query.having if node is not removed)
    return replace(query, where=Group(elements), having=having)


def count_by(query: Query, column: str) -> Query:
    """Return a query that counts, for each value of a column, the first other column."""
    if query.is_aggregate:
        raise QueryError("the query counts already: choose a query without a count")
    other_columns = [name for name, _ in _list_columns(query) if name != column]
    key, counted_variable = (
        _get_expression(query, column),
        Variable(other_columns[0]) if other_columns else None,
    )
    if not isinstance(key, Variable):
        raise QueryError(f"rows cannot be counted by {column!r}, which is computed")
    number = Variable(f"number_of_{other_columns[0] if other_columns else 'row'}")
    count = Call("COUNT DISTINCT", (counted_variable,)) if counted_variable else Call("COUNT", ())
    return replace(
        query,
        columns=((key, None), (number, count)),
        distinct=False,
        group_by=((key, None),),
        order=((number, True),),
        limit=None,
        offset=None,
    )


def _list_columns(query: Query) -> Iterator[tuple[str, Expression]]:
    """Return the columns by name, each with its expression in conditions: a variable or a call."""
    if query.columns:
        for variable, expression in query.columns:
            yield variable.value, expression or variable
        return
    for name in dict.fromkeys(variable.value for variable in find_variables(query.where)):
        if not name.startswith("__"):
            yield name, Variable(name)


def _map_names(query: Query) -> dict[Expression, str]:
    """Return the column names by expression, and by variable."""
    columns = dict(_list_columns(query))
    return {
        **{Variable(name): name for name in columns},
        **{expression: name for name, expression in columns.items()},
    }


def _get_expression(query: Query, column: str) -> Expression:
    columns = dict(_list_columns(query))
    if column not in columns:
        raise QueryError(f"the query has no column {column!r}; it has {', '.join(columns)}")
    return columns[column]


def _get_column(query: Query, name: str) -> Expression | None:
    expression = _get_expression(query, name)
    return None if expression == Variable(name) else expression


def _find_conditions(query: Query) -> Iterator[tuple[object, ColumnCondition]]:
    """Yield the conditions that compare a column with a value, each with its node."""
    names = _map_names(query)
    filters = [(node, node.condition) for node in query.where.elements if isinstance(node, Filter)]
    for node, test in [*filters, *((node, node) for node in query.having)]:
        if not isinstance(test, Call) or len(test.arguments) != 2:
            continue
        compared, value = test.arguments
        if not isinstance(value, Literal):
            continue
        comparison = next((node for node in _COMPARISON_OPERATORS if node == test.name), None)
        if test.name == "CONTAINS":
            expression: Expression = compared
            while isinstance(expression, Call) and expression.name in ("LCASE", "STR"):
                expression = expression.arguments[0]
            comparison, compared = "contains", expression
        if comparison and compared in names:
            yield node, ColumnCondition(names[compared], comparison, value)


def create_literal(text: str, datatype: str | None) -> Literal:
    """Return a value for a comparison: a literal with a datatype, or plain text."""
    return Literal(text, datatype=NamedNode(datatype)) if datatype else Literal(text)
