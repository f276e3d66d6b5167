"""Whether a query would notice that one of its rows comes twice."""

from collections.abc import Iterator
from dataclasses import fields, is_dataclass

from askgraph.sparql.tree import AGGREGATES, Call, Group, Query

__all__ = ["counts_all", "counts_rows"]

_OF_A_SET = frozenset(["MIN", "MAX", "SAMPLE"])


def counts_rows(part: object) -> bool:
    """Return whether a query, or a part of one, gives something else where a row comes twice."""
    if isinstance(part, Query) and _notices(part):
        return True
    return any(counts_rows(one) for one in _inside(part))


def counts_all(query: Query) -> bool:
    """Return whether a query has a `COUNT(DISTINCT *)` of its own, which sees all variables."""
    return Call("COUNT DISTINCT") in _aggregates((query.columns, query.having, query.order))


def _notices(query: Query) -> bool:
    called = list(_aggregates((query.columns, query.having, query.order)))
    if query.is_aggregate or called:
        return not all(map(_of_a_set, called))
    if query.form == "SELECT":
        return not query.distinct
    return query.limit is not None or bool(query.offset)


def _of_a_set(call: Call) -> bool:
    if call.name == "COUNT DISTINCT":
        return bool(call.arguments)
    return call.name in _OF_A_SET or call.name.endswith(" DISTINCT")


def _aggregates(part: object) -> Iterator[Call]:
    """The aggregates of expressions, but not those of a query inside of EXISTS."""
    if isinstance(part, Group):
        return
    if isinstance(part, Call) and part.name.split()[0] in AGGREGATES:
        yield part
        return
    for one in _inside(part):
        yield from _aggregates(one)


def _inside(part: object) -> Iterator[object]:
    if isinstance(part, tuple):
        yield from part
    elif is_dataclass(part):
        yield from (getattr(part, one.name) for one in fields(part))
