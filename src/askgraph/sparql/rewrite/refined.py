"""Queries with their rows arranged otherwise: sorted, cut off, filtered, counted, fewer columns.

What a query matches stays as it is; a condition is added to it, or one of those taken away that
compare a column with a value.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Literal as Choice

from pyoxigraph import Literal, NamedNode, Variable

from askgraph.errors import QueryError
from askgraph.sparql import Call, Expression, Filter, Group, Query, variables_of

Comparison = Choice["=", "!=", "<", "<=", ">", ">=", "contains"]
_COMPARED: tuple[Comparison, ...] = ("=", "!=", "<", "<=", ">", ">=")


@dataclass(frozen=True)
class Condition:
    """That a column compares so with a value; `contains` is of texts, in whatever case."""

    column: str
    comparison: Comparison
    value: Literal


@dataclass(frozen=True)
class Arrangement:
    """How a SELECT query arranges its rows; `order` has columns or other variables, and whether
    they fall.
    """

    columns: tuple[str, ...]
    order: tuple[tuple[str, bool], ...]
    limit: int | None
    conditions: tuple[Condition, ...]
    is_aggregate: bool


def arrangement(query: Query) -> Arrangement | None:
    """Return how a query arranges its rows; None if it has none."""
    if query.form != "SELECT":
        return None
    names = _names(query)
    names |= {one: one.value for one, _ in query.order if isinstance(one, Variable)} | names
    order = ((names[expression], falls) for expression, falls in query.order if expression in names)
    conditions = tuple(condition for _, condition in _conditions(query))
    columns = tuple(name for name, _ in _expressions(query))
    return Arrangement(columns, tuple(order), query.limit, conditions, query.is_aggregate)


def sorted_by(query: Query, column: str | None, *, descending: bool = False) -> Query:
    """Return the query with its rows sorted by a column, or by none."""
    if column is None:
        return replace(query, order=())
    _expression(query, column)
    return replace(query, order=((Variable(column), descending),))


def limited(query: Query, limit: int | None) -> Query:
    """Return the query with at most so many rows, or with all."""
    return replace(query, limit=limit, offset=query.offset if limit else None)


def with_columns(query: Query, columns: Sequence[str]) -> Query:
    """Return the query with these of its columns, each row once."""
    kept = tuple((Variable(name), _column(query, name)) for name in columns)
    if not kept:
        raise QueryError("a query needs a column: keep one")
    return replace(query, columns=kept, distinct=query.distinct or not query.is_aggregate)


def with_condition(query: Query, condition: Condition) -> Query:
    """Return the query with only the rows that meet a condition."""
    what = _expression(query, condition.column)
    if condition.comparison == "contains":
        text = Literal(condition.value.value.lower())
        test = Call("CONTAINS", (Call("LCASE", (Call("STR", (what,)),)), text))
    else:
        test = Call(condition.comparison, (what, condition.value))
    if isinstance(what, Call) and what.is_aggregate:
        return replace(query, having=(*query.having, test))
    return replace(query, where=Group((*query.where.elements, Filter(test))))


def without_condition(query: Query, number: int) -> Query:
    """Return the query without one of the conditions of its arrangement, by its place there."""
    found = [test for test, _ in _conditions(query)]
    if not 0 <= number < len(found):
        raise QueryError(f"the query has no condition {number}: it has {len(found)}")
    gone = found[number]
    elements = tuple(one for one in query.where.elements if one is not gone)
    having = tuple(one for one in query.having if one is not gone)
    return replace(query, where=Group(elements), having=having)


def counted_by(query: Query, column: str) -> Query:
    """Return the query that counts, for each value of a column, the first of the others."""
    if query.is_aggregate:
        raise QueryError("the query counts already: count another one")
    others = [name for name, _ in _expressions(query) if name != column]
    by, what = _expression(query, column), Variable(others[0]) if others else None
    if not isinstance(by, Variable):
        raise QueryError(f"rows cannot be counted by {column!r}, which is computed")
    number = Variable(f"number_of_{others[0] if others else 'row'}")
    count = Call("COUNT DISTINCT", (what,)) if what else Call("COUNT", ())
    return replace(
        query,
        columns=((by, None), (number, count)),
        distinct=False,
        group_by=((by, None),),
        order=((number, True),),
        limit=None,
        offset=None,
    )


def _expressions(query: Query) -> Iterator[tuple[str, Expression]]:
    """The columns by name, each with what it stands for in conditions: a variable, or a call."""
    if query.columns:
        for variable, expression in query.columns:
            yield variable.value, expression or variable
        return
    for name in dict.fromkeys(one.value for one in variables_of(query.where)):
        if not name.startswith("__"):
            yield name, Variable(name)


def _names(query: Query) -> dict[Expression, str]:
    """The columns by what they stand for, and by their variables."""
    found = dict(_expressions(query))
    return {
        **{Variable(name): name for name in found},
        **{expression: name for name, expression in found.items()},
    }


def _expression(query: Query, column: str) -> Expression:
    found = dict(_expressions(query))
    if column not in found:
        raise QueryError(f"the query has no column {column!r}; it has {', '.join(found)}")
    return found[column]


def _column(query: Query, name: str) -> Expression | None:
    expression = _expression(query, name)
    return None if expression == Variable(name) else expression


def _conditions(query: Query) -> Iterator[tuple[object, Condition]]:
    """The conditions that compare a column with a value, each with the node that says so."""
    names = _names(query)
    filters = [(one, one.condition) for one in query.where.elements if isinstance(one, Filter)]
    for node, test in [*filters, *((one, one) for one in query.having)]:
        if not isinstance(test, Call) or len(test.arguments) != 2:
            continue
        what, value = test.arguments
        if not isinstance(value, Literal):
            continue
        comparison = next((one for one in _COMPARED if one == test.name), None)
        if test.name == "CONTAINS":
            comparison, what = "contains", _bare(what)
        if comparison and what in names:
            yield node, Condition(names[what], comparison, value)


def _bare(expression: Expression) -> Expression:
    while isinstance(expression, Call) and expression.name in ("LCASE", "STR"):
        expression = expression.arguments[0]
    return expression


def literal_of(text: str, datatype: str | None) -> Literal:
    """Return a value as it is compared: of a datatype, or a mere text."""
    return Literal(text, datatype=NamedNode(datatype)) if datatype else Literal(text)
