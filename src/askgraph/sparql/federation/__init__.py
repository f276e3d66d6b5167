"""Queries over several endpoints: their SERVICE clauses, and the patterns around each.

This module splits groups of a query into parts, with their positions and variables.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import reduce
from itertools import groupby
from typing import TypeAlias, cast

from pyoxigraph import Variable

from askgraph import sparql

Part: TypeAlias = "tuple[sparql.Pattern, ...] | sparql.Element"
"""An element of a group; consecutive triple patterns with the same subject are one part."""


def split_group(group: sparql.Group) -> tuple[Part, ...]:
    """Return the parts of a group; a sub-select beside other parts is wrapped in its own group."""
    parts: list[Part] = []
    for statement, nodes in groupby(group.elements, lambda node: getattr(node, "statement", None)):
        if statement is not None:
            parts.append(tuple(cast("Iterable[sparql.Pattern]", nodes)))
            continue
        for node in nodes:
            if isinstance(node, sparql.Query) and node.span != group.span:
                parts.append(
                    sparql.Nested("", sparql.Group((node,), span=node.span), span=node.span)
                )
            else:
                parts.append(node)
    return tuple(parts)


def get_inner_groups(part: Part) -> tuple[sparql.Group, ...]:
    """Return the groups directly within a part; of a sub-select, its WHERE part first."""
    match part:
        case sparql.Nested(group=group):
            return (group,)
        case sparql.Union(groups=groups):
            return groups
        case sparql.Query(where=where):
            return (where, *get_modifier_groups(part))
        case sparql.Filter(condition=expression) | sparql.Bind(value=expression):
            return tuple(sparql.find_exists_groups(expression))
        case _:
            return ()


def get_modifier_groups(query: sparql.Query) -> tuple[sparql.Group, ...]:
    """Return the groups of EXISTS in a query's columns and modifiers."""
    return tuple(
        sparql.find_exists_groups((query.columns, query.group_by, query.having, query.order))
    )


def get_span(part: Part | sparql.Group) -> sparql.Span:
    """Return the position of a part; of a sub-select, without its braces."""
    if isinstance(part, tuple):
        return cast("sparql.Span", part[0].statement)
    assert not isinstance(part, sparql.Pattern)  # patterns are in tuples
    return cast("sparql.Span", part.inner if isinstance(part, sparql.Query) else part.span)


@dataclass(frozen=True)
class VariableScope:
    """Determines which variables parts bind; `names` are the variables without blank nodes."""

    names: frozenset[str]

    def get_certain_variables(self, part: Part | sparql.Group) -> frozenset[str]:
        """Return the variables that every solution of a part binds."""
        match part:
            case tuple():
                return frozenset(self._find_variables(part))
            case sparql.Group():
                return frozenset[str]().union(*map(self.get_certain_variables, split_group(part)))
            case sparql.Union(groups=groups):
                return reduce(frozenset.intersection, map(self.get_certain_variables, groups))
            case sparql.Nested(word="OPTIONAL" | "MINUS") | sparql.Nested(silent=True):
                return frozenset(_get_name_variable(part))
            case sparql.Nested(group=group):
                return self.get_certain_variables(group) | frozenset(_get_name_variable(part))
            case sparql.Query(where=where, values=values):
                inner = self.get_certain_variables(where) | (
                    self.get_certain_variables(values) if values else frozenset()
                )
                projected = {name.value for name, value in part.columns if value is None}
                return inner & projected if part.columns else inner
            case sparql.Values() if all(cell is not None for row in part.rows for cell in row):
                return frozenset(self.get_possible_variables(part))
            case _:
                return frozenset()

    def get_possible_variables(self, part: Part | sparql.Group) -> tuple[str, ...]:
        """Return the variables that a solution of a part may bind, in written order."""
        match part:
            case tuple():
                return _deduplicate(self._find_variables(part))
            case sparql.Group():
                parts = [
                    part_of_group
                    for part_of_group in split_group(part)
                    if getattr(part_of_group, "word", "") != "MINUS"
                ]
                return _deduplicate(
                    name
                    for part_of_group in parts
                    for name in self.get_possible_variables(part_of_group)
                )
            case sparql.Union(groups=groups):
                return _deduplicate(
                    name for group in groups for name in self.get_possible_variables(group)
                )
            case sparql.Nested(group=group):
                return _deduplicate(
                    [*_get_name_variable(part), *self.get_possible_variables(group)]
                )
            case sparql.Query(columns=columns) if columns:
                return _deduplicate(
                    name.value
                    for is_new in (False, True)
                    for name, value in columns
                    if (value is not None) == is_new
                )
            case sparql.Query(where=where, values=values):
                return _deduplicate(
                    [
                        *self.get_possible_variables(where),
                        *(self.get_possible_variables(values) if values else ()),
                    ]
                )
            case sparql.Values(variables=variables):
                return tuple(name.value for name in variables)
            case sparql.Bind(variable=variable):
                return (variable.value,)
            case _:
                return ()

    def get_used_variables(self, part: Part) -> frozenset[str]:
        """Return the variables that a filter or BIND reads outside of its EXISTS."""
        match part:
            case sparql.Filter(condition=expression) | sparql.Bind(value=expression):
                return frozenset(self._find_variables(expression)) - {
                    *self.get_possible_variables(part)
                }
            case _:
                return frozenset()

    def _find_variables(self, part: object) -> Iterator[str]:
        nodes = sparql.walk(part, into=sparql.get_children_outside_groups)
        return (
            node.value for node in nodes if isinstance(node, Variable) and node.value in self.names
        )


def _get_name_variable(nested: sparql.Nested) -> tuple[str, ...]:
    return (nested.name.value,) if isinstance(nested.name, Variable) else ()


def _deduplicate(names: Iterable[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(names))
