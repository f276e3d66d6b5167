"""Queries that compare the rows of a group with each other: percentiles, running totals, changes.

SPARQL has no window functions. These queries join rows with a renamed copy of themselves, and
count or add up what precedes each of them. Start reading at `parse_window`.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

from pyoxigraph import Literal, NamedNode, Variable

from askgraph.sparql import (
    Bind,
    Call,
    Element,
    Expression,
    Filter,
    Group,
    Nested,
    Query,
    Union,
    transform,
)
from askgraph.sparql.vocabulary import XSD_DECIMAL

Rename = Callable[[Any], Any]
"""Function that renames a variable; other nodes stay as they are."""

_ZERO, _ALL_PERCENT = Literal(0), Literal(100)
_HALF = Literal("0.5", datatype=NamedNode(XSD_DECIMAL))


@dataclass(frozen=True)
class Window:
    """What a query computes from the rows of each group."""

    kind: str  # percentile, running, change, top or share
    base: Query  # the query without it: the average, total or count of each group, or the rows
    keys: tuple[Variable, ...] = ()  # the keys of the groups of a top
    percent: str = ""  # the percentage of a percentile; empty for others
    total: Query | None = None  # the count of each group that a share is of


def build_ranks(
    where: Group,
    keys: tuple[Variable, ...],
    value: Expression,
    owner: Variable | None,
    rename: Rename,
) -> tuple[Query, Call, Call, Call]:
    """Build the query for each value of a group, which may be cast.

    Returns:
        The query, and how many owners have a lower value, a higher one, and any; without an owner,
        each value counts once.
    """
    variable = _find_variable(value)
    other, copy = rename(variable), transform(value, rename)
    counted = rename(owner) if owner is not None else other
    number = Variable(f"number_of_{counted.value}")
    values = Query("SELECT", where, columns=_list_columns(*keys, variable), distinct=True)
    counted_values = Query(
        "SELECT",
        transform(where, rename),
        columns=(*_list_columns(*keys, other), (number, Call("COUNT DISTINCT", (counted,)))),
        group_by=_list_columns(*keys, other),
    )
    ranks = Query(
        "SELECT",
        Group((values, counted_values)),
        columns=_list_columns(*keys, variable),
        group_by=_list_columns(*keys, variable),
    )
    lower, higher = (
        Call("SUM", (Call("IF", (Call(sign, (copy, value)), number, _ZERO)),)) for sign in "<>"
    )
    return ranks, lower, higher, Call("SUM", (number,))


def build_percentile(
    base: Query, percent: float, owner: Variable | None, rename: Rename, result: Variable
) -> Query:
    """Replace the average of each group by a percentile; the mean of two if two values are next."""
    keys, value = _get_keys(base), _get_aggregate(base)[1].arguments[0]
    ranks, lower, higher, every = build_ranks(base.where, keys, value, owner, rename)
    bounds = tuple(
        Call("<=", (Call("*", (number, _ALL_PERCENT)), Call("*", (every, share))))
        for number, share in (
            (lower, Literal(f"{percent:g}", datatype=NamedNode(XSD_DECIMAL))),
            (higher, Literal(f"{100 - percent:g}", datatype=NamedNode(XSD_DECIMAL))),
        )
    )
    lowest, highest = (
        Variable(f"{name}_{_find_variable(value).value}") for name in ("lowest", "highest")
    )
    extremes = ((lowest, Call("MIN", (value,))), (highest, Call("MAX", (value,))))
    ends = Query(
        "SELECT",
        Group((replace(ranks, having=bounds),)),
        columns=(*_list_columns(*keys), *extremes),
        group_by=base.group_by,
    )
    middle = Bind(Call("*", (Call("+", (lowest, highest)), _HALF)), result)
    columns = _list_columns(*keys, result)
    return Query("SELECT", Group((ends, middle)), columns=columns, order=base.order)


def build_running_total(base: Query, period: Variable, rename: Rename) -> tuple[Query, Call]:
    """Add up the numbers of all periods so far; return the query and its total."""
    keys, (alias, _) = _get_keys(base), _get_aggregate(base)
    periods = Query("SELECT", base.where, columns=_list_columns(*keys), distinct=True)
    other, total = rename(alias), Call("SUM", (rename(alias),))
    copy: Query = transform(replace(base, order=()), rename)
    where = Group((periods, copy, Filter(Call("<=", (rename(period), period)))))
    columns = (*_list_columns(*keys), (Variable(f"total_{other.value}"), total))
    order = ((period, False),)
    return Query("SELECT", where, columns=columns, group_by=base.group_by, order=order), total


def build_change(
    base: Query, period: Variable, years: int, create: Callable[[], Rename], change: Variable
) -> tuple[Query, Call]:
    """Subtract the number of the period before from that of each; return the query and the change.

    Periods without things count as 0, after the first and up to the last. Averages and extremes are
    only compared where both periods have one.
    """
    keys, (alias, call) = _get_keys(base), _get_aggregate(base)
    base, rename, rename_bounds = replace(base, order=()), create(), create()
    shifted = Bind(Call("+", (rename(period), Literal(years))), period)
    minus = Bind(Call("-", (_ZERO, rename(alias))), change)
    before = Group((transform(base, rename), shifted, minus))
    parts = Union((Group((base, Bind(alias, change))), before))
    elements: tuple[Element, ...] = (parts,)
    having: tuple[Call, ...] = (Call("=", (Call("COUNT", (change,)), Literal(2))),)
    if call.name.partition(" ")[0] in ("COUNT", "SUM"):
        inner = rename_bounds(period)
        first, last = (Variable(f"{name}_{inner.value}") for name in ("lowest", "highest"))
        other_keys = _list_columns(*(key for key in keys if key != period))
        span = Query(
            "SELECT",
            transform(base.where, rename_bounds),
            columns=(*other_keys, (first, Call("MIN", (inner,))), (last, Call("MAX", (inner,)))),
            group_by=other_keys,
        )
        is_inside = Call("&&", (Call(">", (period, first)), Call("<=", (period, last))))
        elements, having = (parts, span, Filter(is_inside)), ()
    total, order = Call("SUM", (change,)), ((period, False),)
    columns = (*_list_columns(*keys), (Variable(f"total_{change.value}"), total))
    where, groups = Group(elements), base.group_by
    query = Query("SELECT", where, columns=columns, group_by=groups, having=having, order=order)
    return query, total


def parse_window(query: Query) -> Window | None:
    """Return what a query computes if it is one of these, else None."""
    match query.where.elements:
        case (Query(where=Group((Query(having=(condition, _)) as ranks,))) as ends, Bind()):
            match condition, ranks.where.elements, ends.columns:
                case (
                    Call("<=", (_, Call("*", (Call("SUM"), Literal() as percent)))),
                    (Query() as values, Query()),
                    (*keys, (_, Call("MIN")), (name, Call("MAX") as highest)),
                ):
                    columns = (*keys, (name, replace(highest, name="AVG")))
                    base = Query("SELECT", values.where, columns=columns, group_by=ends.group_by)
                    return Window("percentile", base, percent=percent.value)
        case (Query(distinct=True), Query(group_by=(_, *_)) as base, Filter(Call("<="))):
            return Window("running", base)
        case (Union((Group((Query() as base, Bind())), Group((Query(), Bind(), Bind())))), *_):
            return Window("change", base)
        case (
            Query() as total,
            Nested("OPTIONAL", Group((Query() as part,))),
            Bind(Call("/", (Call("*", (_, Call("COALESCE"))), _))),
        ):
            return Window("share", part, total=total)
        case elements:
            for element in elements:
                match element:
                    case (
                        Query(having=(Call("<", (Call("SUM", (test,)), Literal() as rows)),)) as top
                    ):
                        return _parse_top(query, top, test, int(rows.value))
    return None


def _parse_top(query: Query, ranks: Query, test: Expression, limit: int) -> Window | None:
    match test:
        case Call("IF", (Call(sign, (_, value)), *_)):
            rows = Group(tuple(part for part in query.where.elements if part is not ranks))
            keys, is_descending = _get_keys(ranks)[:-1], sign == ">"
            base = replace(query, where=rows, order=((value, is_descending),), limit=limit)
            for counts in rows.elements:  # of the first things by their counts
                if isinstance(counts, Query) and counts.group_by:
                    owners = tuple(pair for pair in counts.group_by if pair[0] not in keys)
                    order = ((_get_aggregate(counts)[1], is_descending),)
                    base = replace(base, where=counts.where, order=order, group_by=owners)
            return Window("top", base, keys)
    return None


def _list_columns(*variables: Variable) -> tuple[tuple[Variable, None], ...]:
    return tuple((variable, None) for variable in variables)


def _get_keys(base: Query) -> tuple[Variable, ...]:
    return tuple(key for key, _ in base.group_by if isinstance(key, Variable))


def _get_aggregate(base: Query) -> tuple[Variable, Call]:
    return next((name, call) for name, call in base.columns if isinstance(call, Call))


def _find_variable(value: Expression) -> Variable:
    while isinstance(value, Call):
        value = value.arguments[0]
    assert isinstance(value, Variable)
    return value
