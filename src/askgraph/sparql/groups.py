"""The groups of a query and their elements: where each stands in the text, and what it binds.

`askgraph.sparql.tree` tells what a query means; this tells where its pieces stand, for those who
put others in their places and must leave the rest as it was written.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal as Choice

__all__ = ["Braces", "Element", "Kind", "Outline", "once"]

Kind = Choice[
    "triples",
    "filter",
    "bind",
    "values",
    "optional",
    "minus",
    "graph",
    "service",
    "groups",
    "select",
]


@dataclass(frozen=True)
class Element:
    """One element of a group, from `start` to `end` in the text.

    `groups` are the groups directly within: one of OPTIONAL, MINUS, GRAPH, SERVICE or braces alone,
    several of a UNION, those of EXISTS in a filter or BIND, and of a sub-select its WHERE part
    first. The triple patterns of one subject are one element. `name` is what GRAPH and SERVICE
    name, as written. `certain` are the variables that each of its solutions binds, `possible` those
    that one may bind, in the order written. `used` are those that a filter or BIND reads outside of
    its EXISTS.
    """

    kind: Kind
    start: int
    end: int
    groups: tuple[Braces, ...] = ()
    name: str = ""
    silent: bool = False
    certain: frozenset[str] = frozenset()
    possible: tuple[str, ...] = ()
    used: frozenset[str] = frozenset()


@dataclass(frozen=True)
class Braces:
    """A group, from its opening brace to behind its closing one."""

    start: int
    end: int
    elements: tuple[Element, ...]

    @property
    def certain(self) -> frozenset[str]:
        """The variables that every solution binds."""
        return frozenset[str]().union(*(each.certain for each in self.elements))

    @property
    def possible(self) -> tuple[str, ...]:
        """The variables that a solution may bind, in the order written."""
        return once(n for each in self.elements if each.kind != "minus" for n in each.possible)


@dataclass(frozen=True)
class Outline:
    """A whole query: its form, where it begins behind the prologue, and its WHERE part.

    `datasets` are its FROM clauses as written, `dataset_place` where they stand. `others` are the
    groups outside the WHERE part: those of EXISTS in its head and its modifiers.
    """

    form: str
    start: int
    datasets: str
    dataset_place: tuple[int, int]
    where: Braces
    others: tuple[Braces, ...]


def once(names: Iterable[str]) -> tuple[str, ...]:
    """Return the names in their order, none twice."""
    return tuple(dict.fromkeys(names))
