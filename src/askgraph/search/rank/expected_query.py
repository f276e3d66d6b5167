"""Columns of any query and their sources: variables, predicates, things, aggregates."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property, lru_cache

from pyoxigraph import NamedNode, Variable

from askgraph.rdf.vocabulary import RDF_TYPE
from askgraph.sparql.tree import (
    AGGREGATES,
    Bind,
    Call,
    Element,
    Expression,
    Filter,
    Group,
    Nested,
    Path,
    Pattern,
    Predicate,
    Query,
    Term,
    Union,
    variables_of,
)
from askgraph.sparql.write import tree_of

_KEEPING = frozenset(["MIN", "MAX", "SAMPLE", "GROUP_CONCAT", "STR", "COALESCE", "LCASE", "UCASE"])


@dataclass(frozen=True)
class Step:
    """One predicate from a thing to a value or another thing, whichever way it was written."""

    source: Term
    predicate: str
    target: Term


@dataclass(frozen=True)
class Made:
    """What a column is made of: variables of patterns, and whether something is computed of them.

    `aggregate` is the aggregate that gives it, empty for none.
    """

    variables: frozenset[str]
    aggregate: str = ""
    computed: bool = False


@dataclass(frozen=True)
class QueryColumns:
    """A query read for its columns; `steps` are those of all its groups but what it rules out."""

    query: Query
    steps: tuple[Step, ...]
    bound: tuple[tuple[str, Expression], ...]

    def made(self, column: str) -> Made:
        """What a column is made of, through BIND and sub-selects."""
        return self._made(Variable(column), {})

    @cached_property
    def _expressions(self) -> dict[str, Expression]:
        return dict(self.bound)

    def _made(self, value: Expression, known: dict[str, Made]) -> Made:
        """What an expression is made of; of each variable that is asked only once."""
        if isinstance(value, Variable):
            name = value.value
            if name not in known:
                known[name] = Made(frozenset([name]))  # ends a name that leads to itself
                if (inner := self._expressions.get(name)) is not None:
                    known[name] = self._made(inner, known)
            return known[name]
        if not isinstance(value, Call):
            return Made(frozenset(), computed=True)
        called = value.name.split()[0]
        parts = [
            self._made(part, known) for part in value.arguments if isinstance(part, Variable | Call)
        ]
        variables = frozenset(name for part in parts for name in part.variables)
        within = next((part.aggregate for part in parts if part.aggregate), "")
        computed = called not in _KEEPING or any(part.computed for part in parts)
        return Made(variables, called if called in AGGREGATES else within, computed)

    def into(self, variable: str) -> Iterator[Step]:
        """The steps that end in a variable."""
        return (step for step in self.steps if step.target == Variable(variable))

    def classes(self, variable: str) -> frozenset[str]:
        """The classes that a variable is said to be of."""
        return frozenset(
            step.target.value
            for step in self.steps
            if step.predicate == RDF_TYPE
            and step.source == Variable(variable)
            and isinstance(step.target, NamedNode)
        )

    @cached_property
    def chooses_extreme(self) -> bool:
        """Whether anything in it can keep the first or the greatest: LIMIT, MIN, MAX, negation."""
        return any(_chooses(part) for part in _parts(self.query))

    @cached_property
    def has_alternatives(self) -> bool:
        """Whether one column can hold several sorts of things."""
        return any(
            isinstance(part, Union)
            or (
                isinstance(part, Pattern)
                and (isinstance(part.predicate, Variable) or _has_alternatives(part.predicate))
            )
            or (isinstance(part, Call) and part.name in ("GROUP_CONCAT", "CONCAT", "COALESCE"))
            for part in _parts(self.query)
        )

    @cached_property
    def kept_for(self) -> frozenset[str]:
        """The variables by which it sorts, or which its conditions name."""
        conditions = [p.condition for p in _parts(self.query) if isinstance(p, Filter)]
        used = (*(value for value, _ in self.query.order), *self.query.having, *conditions)
        return frozenset(name.value for value in used for name in variables_of(value))


@lru_cache(maxsize=256)
def columns_of(query: str) -> QueryColumns:
    """Read a query for its columns; raises `QuerySyntaxError` if it cannot be read."""
    tree = tree_of(query)
    parts = list(_parts(tree))
    bound = [(part.variable.value, part.value) for part in parts if isinstance(part, Bind)]
    for part in parts:
        if isinstance(part, Query):
            bound += [(name.value, value) for name, value in part.columns if value is not None]
            bound += [(name.value, value) for value, name in part.group_by if name is not None]
    steps = [
        step
        for number, part in enumerate(_said(tree.where))
        for step in _steps(part.subject, part.predicate, part.object, f"__{number}")
    ]
    return QueryColumns(tree, tuple(steps), tuple(bound))


def _parts(part: Query | Group | Element | Expression | None) -> Iterator[object]:
    """A part of a query and all that is inside it."""
    if part is None:
        return
    yield part
    for inner in _inside(part):
        yield from _parts(inner)


def _inside(
    part: Query | Group | Element | Expression,
) -> tuple[Query | Group | Element | Expression | None, ...]:
    match part:
        case Query():
            columns = (value for _, value in part.columns)
            keys = (value for value, _ in (*part.group_by, *part.order))
            return (part.where, *columns, *keys, *part.having)
        case Group():
            return part.elements
        case Nested():
            return (part.group,)
        case Union():
            return part.groups
        case Filter():
            return (part.condition,)
        case Bind():
            return (part.value,)
        case Call():
            return part.arguments
        case _:
            return ()


def _said(group: Group) -> Iterator[Pattern]:
    """The patterns that hold of a solution."""
    for element in group.elements:
        match element:
            case Pattern():
                yield element
            case Nested(word="MINUS"):
                continue
            case Nested():
                yield from _said(element.group)
            case Union():
                for inner in element.groups:
                    yield from _said(inner)
            case Query():
                yield from _said(element.where)
            case _:
                continue


def _steps(source: Term, predicate: Predicate, target: Term, name: str) -> Iterator[Step]:
    match predicate:
        case NamedNode():
            yield Step(source, predicate.value, target)
        case Path(operator="^"):
            yield from _steps(target, predicate.parts[0], source, name)
        case Path(operator="/"):
            ends = [Variable(f"{name}_{at}") for at in range(len(predicate.parts) - 1)]
            places = [source, *ends, target]
            for at, part in enumerate(predicate.parts):
                yield from _steps(places[at], part, places[at + 1], f"{name}_{at}")
        case Path(operator="!"):
            return
        case Path():
            for at, part in enumerate(predicate.parts):
                yield from _steps(source, part, target, f"{name}_{at}")
        case _:
            return


def _has_alternatives(predicate: Predicate) -> bool:
    return isinstance(predicate, Path) and (
        predicate.operator == "|" or any(map(_has_alternatives, predicate.parts))
    )


def _chooses(part: object) -> bool:
    match part:
        case Query():
            return part.limit is not None
        case Nested():
            return part.word == "MINUS"
        case Call():
            return part.name.split()[0] in ("MIN", "MAX") or part.name in ("NOT EXISTS", "EXISTS")
        case _:
            return False
