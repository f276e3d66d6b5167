"""A query that keeps the rules on what a variable may be used for, whatever its author forgot.

A grammar without context cannot say that a name is given once, or that what stands beside an
aggregate must be a key of its groups. What breaks these rules is mended in the smallest way: a
name that is taken is replaced by a new one, and a missing key is added.
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
    calls_in,
    transform,
    variables_of,
)

_Part = TypeVar("_Part")


def sound(tree: Query) -> Query:
    """Return a SELECT or ASK query that any processor takes, as near to the one given as can be.

    `SELECT *` names its variables. Raises `QuerySyntaxError` if nothing can be mended: another
    form of query, a named graph or service, a literal that has properties, nothing asked for.
    """
    if tree.form not in ("SELECT", "ASK") or tree.datasets:
        raise QuerySyntaxError("only SELECT and ASK queries without FROM are written")
    every = {variable.value for variable in variables_of(tree.where)}
    return _Mended(every | {variable.value for variable, _ in tree.columns}).query(tree)


def visible(part: Element) -> tuple[Variable, ...]:
    """Return the variables that an element of a group may bind, in order, each once."""
    match part:
        case Query(columns=columns) if columns:
            found: Iterable[Variable] = (variable for variable, _ in columns)
        case Query(where=where):
            found = visible(Nested("", where))
        case Filter() | Nested(word="MINUS"):
            found = ()
        case Bind(variable=variable):
            found = (variable,)
        case Nested(group=group):
            found = (name for each in group.elements for name in visible(each))
        case Union(groups=groups):
            found = (name for group in groups for name in visible(Nested("", group)))
        case _:
            found = variables_of(part)
    return tuple(dict.fromkeys(found))


@dataclass
class _Mended:
    """Each method returns its argument, mended."""

    taken: set[str]
    numbers: count[int] = field(default_factory=count)

    def query(self, tree: Query) -> Query:
        where = self.group(tree.where)
        if tree.form == "ASK":
            return Query("ASK", where)
        scope = visible(Nested("", where))
        columns = tree.columns or tuple((name, None) for name in _starred(tree, scope))
        keys = tuple(
            (self.expression(value), None if alias in scope else alias)
            for value, alias in tree.group_by
        )
        columns = self.columns(columns, {*scope, *_variables(keys)})
        if not columns:
            raise QuerySyntaxError("the query asks for nothing: it has no variable")
        having = tuple(self.expression(each) for each in tree.having)
        order = tuple((self.expression(each), down) for each, down in tree.order)
        whole = replace(
            tree, where=where, columns=columns, group_by=keys, having=having, order=order
        )
        outside = calls_in((whole.order, whole.having))
        if whole.is_aggregate or any(call.is_aggregate for call in outside):
            return _grouped(whole, self.fresh)
        return replace(whole, having=())

    def columns(
        self, given: tuple[tuple[Variable, Expression | None], ...], scope: set[Variable]
    ) -> tuple[tuple[Variable, Expression | None], ...]:
        """Each name once, and a new name only for what has none yet."""
        found: dict[Variable, Expression | None] = {}
        for name, value in given:
            if value is None:
                found.setdefault(name, None)
            else:
                clash = name in found or name in scope
                found[self.fresh() if clash else name] = self.expression(value)
        return tuple(found.items())

    def group(self, group: Group) -> Group:
        elements: list[Element] = []
        scope = set[Variable]()
        for element in group.elements:
            whole = self.element(element, scope)
            scope.update(visible(whole))
            elements.append(whole)
        return Group(tuple(elements))

    def element(self, element: Element, scope: set[Variable]) -> Element:
        match element:
            case Filter(condition=condition):
                return Filter(self.expression(condition))
            case Bind(value=value, variable=name):
                return Bind(self.expression(value), self.fresh() if name in scope else name)
            case Nested():
                return self.nested(element)
            case Union(groups=groups):
                return Union(tuple(map(self.group, groups)))
            case Query():
                return self.query(element)
            case Values() | Pattern():
                return _allowed(element)

    def nested(self, element: Nested) -> Nested:
        if element.name is not None:
            raise QuerySyntaxError(f"a query may not have {element.word} {element.name}")
        return replace(element, group=self.group(element.group))

    def expression(self, value: Expression) -> Expression:
        match value:
            case Group():
                return self.group(value)
            case Call(arguments=arguments):
                return replace(value, arguments=tuple(map(self.expression, arguments)))
            case _:
                return value

    def fresh(self) -> Variable:
        """A variable of a name that no other has."""
        name = next(f"w{n}" for n in self.numbers if f"w{n}" not in self.taken)
        self.taken.add(name)
        return Variable(name)


def _starred(tree: Query, scope: tuple[Variable, ...]) -> tuple[Variable, ...]:
    """What a star stands for: of groups, their keys."""
    if not tree.group_by:
        return tuple(name for name in scope if not name.value.startswith("__"))
    return _variables(tree.group_by)


def _variables(keys: Iterable[tuple[Expression, Variable | None]]) -> tuple[Variable, ...]:
    """The variables that keys of groups are, or are given."""
    found = (alias or value for value, alias in keys)
    return tuple(key for key in found if isinstance(key, Variable))


def _allowed(element: Values | Pattern) -> Values | Pattern:
    """A pattern that is one, or rows in which each variable has one place."""
    if isinstance(element, Pattern):
        if isinstance(element.subject, Literal):
            raise QuerySyntaxError(f"a value has no properties: {element.subject}")
        return element
    names = element.variables
    if any(len(row) != len(names) for row in element.rows):
        raise QuerySyntaxError("a row of VALUES is longer or shorter than its variables")
    if any(isinstance(term, Variable) for row in element.rows for term in row):
        raise QuerySyntaxError("a row of VALUES may hold no variable")
    keep = [at for at, name in enumerate(names) if names.index(name) == at]
    rows = tuple(tuple(row[at] for at in keep) for row in element.rows)
    return Values(tuple(names[at] for at in keep), rows)


def _grouped(tree: Query, fresh: Callable[[], Variable]) -> Query:
    """Groups whose keys are all that stands outside of aggregates.

    A key that is asked for under a name gets this name; a name that is given within the head is
    spelled out, as no processor lets it be used there. One that was used before is a key, and what
    is given it later gets a `fresh` one.
    """
    keys = dict(tree.group_by)
    columns: list[tuple[Variable, Expression | None]] = []
    given: dict[Variable, Expression] = {}
    for name, value in tree.columns:
        if value is None:
            columns.append((name, None))
        elif value in keys and keys[value] is None and not isinstance(value, Variable):
            keys[value] = name
            columns.append((name, None))
        else:
            spelled_out: Expression = transform(
                value,
                lambda node: given.get(node, node) if isinstance(node, Variable) else node,
                enter=lambda node: not isinstance(node, Group),
            )
            given[name] = spelled_out
            columns.append((name, spelled_out))
    there = {alias or value for value, alias in keys.items()}
    wanted = [
        variable
        for name, value in columns
        for variable in ([name] if value is None else _outside_aggregates(value))
    ]
    missing: dict[Expression, Variable | None] = {
        variable: None for variable in wanted if variable not in there
    }
    renamed = tuple(
        (fresh() if value is not None and name in missing else name, value)
        for name, value in columns
    )
    return replace(tree, columns=renamed, group_by=tuple((keys | missing).items()))


def _outside_aggregates(value: Expression) -> list[Variable]:
    match value:
        case Variable():
            return [value]
        case Call(arguments=arguments) if not value.is_aggregate:
            return [found for each in arguments for found in _outside_aggregates(each)]
        case _:
            return []


@dataclass(frozen=True)
class Change:
    """What becomes of each term: of one in the place of a predicate, of any other, of a cast."""

    predicate: Callable[[NamedNode], NamedNode] = lambda iri: iri
    term: Callable[[Term], Term] = lambda term: term
    cast: Callable[[str], str] = lambda name: name


def changed(part: _Part, change: Change) -> _Part:
    """Return a part of a tree with all its terms changed, those of groups within it too."""
    new: _Part = _changed(part, change)
    return new


def _changed(part: Any, change: Change) -> Any:
    match part:
        case NamedNode() | Literal() | BlankNode() | Variable():
            return change.term(part)
        case tuple():
            return tuple(_changed(piece, change) for piece in part)
        case Path(operator=operator, parts=parts):
            return Path(operator, tuple(_predicate(piece, change) for piece in parts))
        case Pattern():
            subject, predicate = change.term(part.subject), _predicate(part.predicate, change)
            return Pattern(subject, predicate, change.term(part.object))
        case Call(name=name, arguments=arguments, separator=separator):
            named = change.cast(name) if ":" in name else name
            return Call(named, _changed(arguments, change), separator)
    if not is_dataclass(part) or isinstance(part, type):
        return part
    inner = {each.name: _changed(getattr(part, each.name), change) for each in fields(part)}
    return replace(part, **inner)


def _predicate(part: Any, change: Change) -> Any:
    match part:
        case NamedNode():
            return change.predicate(part)
        case Path():
            return _changed(part, change)
    return change.term(part)
