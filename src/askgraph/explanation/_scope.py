"""Scope of a group: its patterns, conditions and denials, sorted by kind."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from pyoxigraph import NamedNode, Variable

from askgraph.sparql.tree import (
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
    Values,
    variables_of,
)

LABEL_SERVICE = "http://wikiba.se/ontology#label"


@dataclass
class Scope:
    """One group, its plain groups and plain sub-selects taken in.

    Sequences and inverse steps of paths are plain patterns here, with variables between them whose
    names start with `__`. `aliases` leads from a name to the variable it is another name of.
    """

    patterns: list[Pattern] = field(default_factory=list)
    filters: list[Expression] = field(default_factory=list)
    optional: list[Scope] = field(default_factory=list)
    without: list[Scope] = field(default_factory=list)
    present: list[Scope] = field(default_factory=list)
    unions: list[list[Scope]] = field(default_factory=list)
    union_groups: list[tuple[Group, ...]] = field(default_factory=list)
    binds: dict[str, Expression] = field(default_factory=dict)
    values: list[Values] = field(default_factory=list)
    selects: list[Query] = field(default_factory=list)
    aliases: dict[str, Variable] = field(default_factory=dict)

    def resolved(self, variable: Variable) -> Variable:
        """The variable that a name stands for."""
        seen = set()
        while variable.value in self.aliases and variable.value not in seen:
            seen.add(variable.value)
            variable = self.aliases[variable.value]
        return variable

    def names(self) -> set[str]:
        """The names of all variables that its patterns, sub-selects and aliases bind."""
        bound = {variable.value for variable in variables_of(tuple(self.patterns))}
        for select in self.selects:
            bound |= {variable.value for variable in variables_of(select)}
        for scopes in (self.optional, self.present, *self.unions):
            for inner in scopes:
                bound |= inner.names()
        bound |= {variable.value for values in self.values for variable in values.variables}
        return bound | self.aliases.keys() | self.binds.keys()


def scope_of(group: Group) -> Scope:
    """Return a group sorted by kind."""
    scope = Scope()
    _gather(group.elements, scope)
    _rename(scope)
    scope.patterns = list(dict.fromkeys(scope.patterns))
    _turn_equations(scope)
    _turn_unbound_optionals(scope)
    return scope


def _gather(elements: tuple[Element, ...], scope: Scope) -> None:
    for element in elements:
        match element:
            case Pattern():
                scope.patterns += _steps(element, len(scope.patterns))
            case Filter():
                _gather_condition(element.condition, scope)
            case Bind():
                _gather_bind(element.value, element.variable, scope)
            case Values():
                scope.values.append(element)
            case Union():
                scope.unions.append([scope_of(group) for group in element.groups])
                scope.union_groups.append(element.groups)
            case _:
                _gather_inner(element, scope)


def _gather_inner(nested: Query | Nested, scope: Scope) -> None:
    if isinstance(nested, Query):
        _gather_select(nested, scope)
        return
    match nested.word:
        case "OPTIONAL":
            scope.optional.append(scope_of(nested.group))
        case "MINUS":
            scope.without.append(scope_of(nested.group))
        case _ if isinstance(nested.name, NamedNode) and nested.name.value == LABEL_SERVICE:
            return
        case _:
            _gather(nested.group.elements, scope)


def _gather_condition(condition: Expression, scope: Scope) -> None:
    match condition:
        case Call(name="&&"):
            for part in condition.arguments:
                _gather_condition(part, scope)
        case Call(name="NOT EXISTS", arguments=(Group() as group,)):
            scope.without.append(scope_of(group))
        case Call(name="!", arguments=(Call(name="EXISTS", arguments=(Group() as group,)),)):
            scope.without.append(scope_of(group))
        case Call(name="EXISTS", arguments=(Group() as group,)):
            scope.present.append(scope_of(group))
        case _:
            scope.filters.append(condition)


def _gather_bind(value: Expression, variable: Variable, scope: Scope) -> None:
    if isinstance(value, Variable):
        scope.aliases[variable.value] = value
    else:
        scope.binds[variable.value] = value


def _gather_select(select: Query, scope: Scope) -> None:
    """Take in a sub-select that only names and nests; keep one that counts, sorts or cuts."""
    if select.is_aggregate or select.limit is not None or select.having:
        scope.selects.append(select)
        return
    _gather(select.where.elements, scope)
    for variable, value in select.columns:
        if value is not None:
            _gather_bind(value, variable, scope)


def _steps(pattern: Pattern, number: int) -> Iterator[Pattern]:
    """A pattern with a path as patterns of its steps, as far as steps can be told apart."""
    match pattern.predicate:
        case Path(operator="^", parts=(inner,)):
            yield from _steps(Pattern(pattern.object, inner, pattern.subject), number)
        case Path(operator="/", parts=parts):
            ends: list[Term] = [Variable(f"__{number}_{at}") for at in range(1, len(parts))]
            for part, start, end in zip(
                parts, [pattern.subject, *ends], [*ends, pattern.object], strict=True
            ):
                yield from _steps(Pattern(start, part, end), number * 10)
        case _:
            yield pattern


def _rename(scope: Scope) -> None:
    """Put the variables themselves where their other names stand."""
    if scope.aliases:
        scope.patterns = [
            Pattern(_term(p.subject, scope), _predicate(p.predicate, scope), _term(p.object, scope))
            for p in scope.patterns
        ]
        scope.filters = [_expression(condition, scope) for condition in scope.filters]


def _term(term: Term, scope: Scope) -> Term:
    return scope.resolved(term) if isinstance(term, Variable) else term


def _predicate(predicate: Predicate, scope: Scope) -> Predicate:
    return scope.resolved(predicate) if isinstance(predicate, Variable) else predicate


def _expression(expression: Expression, scope: Scope) -> Expression:
    match expression:
        case Variable():
            return scope.resolved(expression)
        case Call():
            arguments = tuple(_expression(argument, scope) for argument in expression.arguments)
            return Call(expression.name, arguments, expression.separator)
        case _:
            return expression


def _turn_equations(scope: Scope) -> None:
    """`FILTER(?outer = ?inner)` as what `?inner` must be, which this group binds."""
    bound = {variable.value for variable in variables_of(tuple(scope.patterns))}
    for number, condition in enumerate(scope.filters):
        match condition:
            case Call(name="=" | "IN", arguments=(Variable() as left, Variable() as right)):
                if left.value not in bound and right.value in bound:
                    scope.filters[number] = Call("=", (right, left))
                else:
                    scope.filters[number] = Call("=", (left, right))


def _turn_unbound_optionals(scope: Scope) -> None:
    """`OPTIONAL { … ?x } FILTER(!BOUND(?x))` says that there is no such thing."""
    for condition in list(scope.filters):
        match condition:
            case Call(
                name="!", arguments=(Call(name="BOUND", arguments=(Variable() as missing,)),)
            ):
                for inner in list(scope.optional):
                    if missing.value in inner.names():
                        scope.optional.remove(inner)
                        scope.without.append(inner)
                        scope.filters.remove(condition)
                        break
