"""Groups of a query as their parts, where these stand in its text, and what they bind."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import reduce
from itertools import groupby
from typing import TypeAlias, cast

from pyoxigraph import Variable

from askgraph.sparql import (
    Bind,
    Element,
    Filter,
    Group,
    Nested,
    Pattern,
    Query,
    Span,
    Union,
    Values,
    groups_in,
    outside_groups,
    walk,
)

Part: TypeAlias = "tuple[Pattern, ...] | Element"
"""An element of a group; the triple patterns of one subject are one part."""


def parts_of(group: Group) -> tuple[Part, ...]:
    """Return the parts of a group; a sub-select beside others is within a group of its own."""
    parts: list[Part] = []
    for statement, nodes in groupby(group.elements, lambda node: getattr(node, "statement", None)):
        if statement is not None:
            parts.append(tuple(cast("Iterable[Pattern]", nodes)))
            continue
        for node in nodes:
            if isinstance(node, Query) and node.span != group.span:
                parts.append(Nested("", Group((node,), span=node.span), span=node.span))
            else:
                parts.append(node)
    return tuple(parts)


def groups_of(part: Part) -> tuple[Group, ...]:
    """Return the groups directly within a part; of a sub-select its WHERE part first."""
    match part:
        case Nested(group=group):
            return (group,)
        case Union(groups=groups):
            return groups
        case Query(where=where):
            return (where, *groups_around(part))
        case Filter(condition=read) | Bind(value=read):
            return tuple(groups_in(read))
        case _:
            return ()


def groups_around(query: Query) -> tuple[Group, ...]:
    """Return the groups of EXISTS in a query's columns and modifiers."""
    return tuple(groups_in((query.columns, query.group_by, query.having, query.order)))


def span_of(part: Part | Group) -> Span:
    """Return where a part stands; a sub-select without its braces."""
    if isinstance(part, tuple):
        return cast("Span", part[0].statement)
    assert not isinstance(part, Pattern)  # those are in tuples
    return cast("Span", part.inner if isinstance(part, Query) else part.span)


@dataclass(frozen=True)
class Scope:
    """Tells what parts bind; `names` are the variables that the text has, without blank nodes."""

    names: frozenset[str]

    def certain(self, part: Part | Group) -> frozenset[str]:
        """Return the variables that every solution of a part binds."""
        match part:
            case tuple():
                return frozenset(self._variables(part))
            case Group():
                return frozenset[str]().union(*map(self.certain, parts_of(part)))
            case Union(groups=groups):
                return reduce(frozenset.intersection, map(self.certain, groups))
            case Nested(word="OPTIONAL" | "MINUS") | Nested(silent=True):
                return frozenset(_named(part))
            case Nested(group=group):
                return self.certain(group) | frozenset(_named(part))
            case Query(where=where, values=rows):
                inside = self.certain(where) | (self.certain(rows) if rows else frozenset())
                plain = {name.value for name, value in part.columns if value is None}
                return inside & plain if part.columns else inside
            case Values() if all(cell is not None for row in part.rows for cell in row):
                return frozenset(self.possible(part))
            case _:
                return frozenset()

    def possible(self, part: Part | Group) -> tuple[str, ...]:
        """Return the variables that a solution of a part may bind, in the order written."""
        match part:
            case tuple():
                return _once(self._variables(part))
            case Group():
                inner = [one for one in parts_of(part) if getattr(one, "word", "") != "MINUS"]
                return _once(name for one in inner for name in self.possible(one))
            case Union(groups=groups):
                return _once(name for group in groups for name in self.possible(group))
            case Nested(group=group):
                return _once([*_named(part), *self.possible(group)])
            case Query(columns=columns) if columns:
                return _once(
                    name.value
                    for is_new in (False, True)
                    for name, value in columns
                    if (value is not None) == is_new
                )
            case Query(where=where, values=rows):
                return _once([*self.possible(where), *(self.possible(rows) if rows else ())])
            case Values(variables=variables):
                return tuple(name.value for name in variables)
            case Bind(variable=variable):
                return (variable.value,)
            case _:
                return ()

    def used(self, part: Part) -> frozenset[str]:
        """Return the variables that a filter or BIND reads outside of its EXISTS."""
        match part:
            case Filter(condition=read) | Bind(value=read):
                return frozenset(self._variables(read)) - {*self.possible(part)}
            case _:
                return frozenset()

    def _variables(self, part: object) -> Iterator[str]:
        nodes = walk(part, into=outside_groups)
        return (one.value for one in nodes if isinstance(one, Variable) and one.value in self.names)


def _named(nested: Nested) -> tuple[str, ...]:
    return (nested.name.value,) if isinstance(nested.name, Variable) else ()


def _once(names: Iterable[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(names))
