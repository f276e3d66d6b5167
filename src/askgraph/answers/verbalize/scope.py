"""The scope of a group: its patterns, filters and inner groups, sorted by kind."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from pyoxigraph import NamedNode, Variable

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
    find_variables,
    transform,
)
from askgraph.sparql.vocabulary import RDF_TYPE, RDFS_SUB_CLASS_OF

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

    def resolve(self, variable: Variable) -> Variable:
        """The variable that a name stands for."""
        seen = set()
        while variable.value in self.aliases and variable.value not in seen:
            seen.add(variable.value)
            variable = self.aliases[variable.value]
        return variable

    def list_names(self) -> set[str]:
        """The names of all variables that its patterns, sub-selects and aliases bind."""
        bound = {variable.value for variable in find_variables(tuple(self.patterns))}
        for select in self.selects:
            bound |= {variable.value for variable in find_variables(select)}
        for scopes in (self.optional, self.present, *self.unions):
            for inner in scopes:
                bound |= inner.list_names()
        bound |= {variable.value for values in self.values for variable in values.variables}
        return bound | self.aliases.keys() | self.binds.keys()


def make_scope(group: Group) -> Scope:
    """Return a group sorted by kind."""
    scope = Scope()
    _gather(group.elements, scope)
    _rename(scope)
    scope.patterns = list(dict.fromkeys(scope.patterns))
    # `FILTER(?outer = ?inner)` as what `?inner` must be, which this group binds.
    bound = {variable.value for variable in find_variables(tuple(scope.patterns))}
    for number, condition in enumerate(scope.filters):
        match condition:
            case Call(name="=" | "IN", arguments=(Variable() as left, Variable() as right)):
                if left.value not in bound and right.value in bound:
                    scope.filters[number] = Call("=", (right, left))
                else:
                    scope.filters[number] = Call("=", (left, right))
    _turn_unbound_optionals(scope)
    return scope


def _gather(elements: tuple[Element, ...], scope: Scope) -> None:
    for element in elements:
        match element:
            case Pattern():
                scope.patterns += _split_steps(element, len(scope.patterns))
            case Filter():
                _gather_condition(element.condition, scope)
            case Bind():
                _gather_bind(element.value, element.variable, scope)
            case Values():
                scope.values.append(element)
            case Union():
                scope.unions.append([make_scope(group) for group in element.groups])
                scope.union_groups.append(element.groups)
            case Query():
                _gather_select(element, scope)
            case Nested(word="OPTIONAL"):
                scope.optional.append(make_scope(element.group))
            case Nested(word="MINUS"):
                scope.without.append(make_scope(element.group))
            case Nested() if element.name != NamedNode(LABEL_SERVICE):
                _gather(element.group.elements, scope)


def _gather_condition(condition: Expression, scope: Scope) -> None:
    match condition:
        case Call(name="&&"):
            for part in condition.arguments:
                _gather_condition(part, scope)
        case Call("NOT EXISTS", (Group() as group,)) | Call(
            "!", (Call("EXISTS", (Group() as group,)),)
        ):
            scope.without.append(make_scope(group))
        case Call(name="EXISTS", arguments=(Group() as group,)):
            scope.present.append(make_scope(group))
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


_KINDS = (NamedNode(RDF_TYPE), NamedNode(RDFS_SUB_CLASS_OF))
"""The steps from a thing to its class, and on to those above it: what it is, in words."""


def _split_steps(pattern: Pattern, number: int) -> Iterator[Pattern]:
    """Split a pattern with a path into patterns of single steps where possible."""
    match pattern.predicate:
        case Path(operator="^", parts=(inner,)):
            yield from _split_steps(Pattern(pattern.object, inner, pattern.subject), number)
        case Path(operator="/", parts=(first, Path("*" | "+", (up,)))) if (first, up) == _KINDS:
            yield Pattern(pattern.subject, NamedNode(RDF_TYPE), pattern.object)
        case Path(operator="/", parts=parts):
            ends: list[Term] = [Variable(f"__{number}_{at}") for at in range(1, len(parts))]
            for part, start, end in zip(
                parts, [pattern.subject, *ends], [*ends, pattern.object], strict=True
            ):
                yield from _split_steps(Pattern(start, part, end), number * 10)
        case _:
            yield pattern


def _rename(scope: Scope) -> None:
    """Put the variables themselves where their other names stand."""

    def rename(part: Any) -> Any:
        return transform(part, find_original, enter=lambda node: not isinstance(node, Group))

    def find_original(node: object) -> object:
        return scope.resolve(node) if isinstance(node, Variable) else node

    if scope.aliases:
        scope.patterns = list(map(rename, scope.patterns))
        scope.filters = list(map(rename, scope.filters))


def _turn_unbound_optionals(scope: Scope) -> None:
    """`OPTIONAL { … ?x } FILTER(!BOUND(?x))` means absence."""
    for condition in list(scope.filters):
        match condition:
            case Call(
                name="!", arguments=(Call(name="BOUND", arguments=(Variable() as missing,)),)
            ):
                for inner in list(scope.optional):
                    if missing.value in inner.list_names():
                        scope.optional.remove(inner)
                        scope.without.append(inner)
                        scope.filters.remove(condition)
                        break
