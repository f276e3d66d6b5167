"""Find the groups of a query and their elements in its text."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import lru_cache, reduce
from itertools import groupby
from typing import Literal as Choice
from typing import cast

from pyoxigraph import Variable

from askgraph.sparql import (
    Bind,
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
from askgraph.sparql.lexer import lexed
from askgraph.sparql.parser import parse_query

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
    name. `certain` are the variables that each of its solutions binds, `possible` those that one
    may bind, in the order written. `used` are those that a filter or BIND reads outside of its
    EXISTS.
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

    `datasets` are its FROM clauses, `dataset_place` where they stand. `others` are the groups
    outside the WHERE part: those of EXISTS in its head and its modifiers.
    """

    form: str
    start: int
    datasets: str
    dataset_place: Span
    where: Braces
    others: tuple[Braces, ...]


def once(names: Iterable[str]) -> tuple[str, ...]:
    """Return the names in their order, none twice."""
    return tuple(dict.fromkeys(names))


@lru_cache(maxsize=16)
def outline(text: str) -> Outline:
    """Return the outline of a query; raises `QuerySyntaxError` if it cannot be parsed."""
    query = parse_query(text).tree
    finder = _Finder(lexed(text).variables)
    at = query.where.span or (len(text), len(text))
    return Outline(
        query.form,
        cast("Span", query.inner)[0],
        " ".join(query.datasets),
        query.dataset_span or (at[0], at[0]),
        finder.braces(query.where) if query.where.span else Braces(*at, ()),
        finder.groups_around(query),
    )


@dataclass(frozen=True)
class _Finder:
    """Makes elements of the nodes of a tree; `names` are the variables that its text has."""

    names: frozenset[str]

    def braces(self, group: Group) -> Braces:
        return Braces(*cast("Span", group.span), tuple(self.elements(group)))

    def elements(self, group: Group) -> Iterator[Element]:
        for statement, nodes in groupby(group.elements, _statement):
            if statement is not None:
                names = once(self.variables(tuple(nodes)))
                yield Element("triples", *statement, certain=frozenset(names), possible=names)
                continue
            for node in nodes:
                found = self.element(node)
                if isinstance(node, Query) and node.span and node.span != group.span:
                    yield self.union(node.span, [Braces(*node.span, (found,))])
                else:
                    yield found

    def element(self, node: object) -> Element:
        match node:
            case Nested(word="", group=group):
                return self.union(cast("Span", group.span), [self.braces(group)])
            case Union():
                return self.union(cast("Span", node.span), list(map(self.braces, node.groups)))
            case Nested():
                return self.nested(node)
            case Query():
                return self.select(node)
            case Values():
                return self.values(node)
            case Filter(condition=read) | Bind(value=read):
                bound = (node.variable.value,) if isinstance(node, Bind) else ()
                return Element(
                    "bind" if bound else "filter",
                    *cast("Span", node.span),
                    self.groups_in(read),
                    possible=bound,
                    used=frozenset(self.variables(read)) - frozenset(bound),
                )
        raise TypeError(f"{node!r} is no element of a group")

    def union(self, span: Span, groups: list[Braces]) -> Element:
        """One group in braces of its own, or several with UNION between them."""
        certain = reduce(frozenset.intersection, (group.certain for group in groups))
        possible = once(name for group in groups for name in group.possible)
        return Element("groups", *span, tuple(groups), certain=certain, possible=possible)

    def nested(self, node: Nested) -> Element:
        group = self.braces(node.group)
        named = (node.name.value,) if isinstance(node.name, Variable) else ()
        unsure = node.word in ("OPTIONAL", "MINUS") or node.silent
        return Element(
            cast("Kind", node.word.lower()),
            *cast("Span", node.span),
            (group,),
            "" if node.name is None else str(node.name),
            node.silent,
            (frozenset() if unsure else group.certain) | frozenset(named),
            once([*named, *group.possible]),
        )

    def select(self, query: Query) -> Element:
        where = self.braces(query.where)
        after = (self.values(query.values),) if query.values else ()
        start, end = cast("Span", query.inner)
        everything = Braces(start, end, (*where.elements, *after))
        certain, possible = everything.certain, everything.possible
        if query.columns:
            plain = [name.value for name, value in query.columns if value is None]
            new = [name.value for name, value in query.columns if value is not None]
            certain, possible = certain & frozenset(plain), once([*plain, *new])
        groups = (where, *self.groups_around(query))
        return Element("select", start, end, groups, certain=certain, possible=possible)

    def values(self, node: Values) -> Element:
        names = tuple(name.value for name in node.variables)
        full = all(cell is not None for row in node.rows for cell in row)
        certain = frozenset(names if full else ())
        return Element("values", *cast("Span", node.span), certain=certain, possible=names)

    def groups_around(self, query: Query) -> tuple[Braces, ...]:
        """The groups of EXISTS in a query's columns and modifiers."""
        return self.groups_in((query.columns, query.group_by, query.having, query.order))

    def groups_in(self, part: object) -> tuple[Braces, ...]:
        """The groups of EXISTS in expressions."""
        return tuple(map(self.braces, groups_in(part)))

    def variables(self, part: object) -> Iterator[str]:
        """The variables of a part that its text has, but those of groups in it."""
        nodes = walk(part, into=outside_groups)
        return (one.value for one in nodes if isinstance(one, Variable) and one.value in self.names)


def _statement(node: object) -> Span | None:
    return node.statement if isinstance(node, Pattern) else None
