"""Build the pieces of a candidate's query, find them in its tree, and name its variables.

A candidate under construction has numbered variables (`v0`, `v1`, …), so that equal candidates have
equal trees; `rename_variables` gives a tree readable names.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from typing import NamedTuple, TypeAlias, TypeVar

from pyoxigraph import BlankNode, Literal, NamedNode, Variable

from askgraph.graph.literals import DAY_PATTERN, split_literal
from askgraph.index.names import fold_word
from askgraph.sparql import (
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
    rename_variables,
    walk,
)
from askgraph.sparql import vocabulary as v
from askgraph.sparql.lexer import get_number_datatype

_T = TypeVar("_T")

Value: TypeAlias = Variable | Call
"""The value of a column or sort key: a variable, or an aggregate of one."""

INTEGER, DECIMAL, TEXT = f"<{v.XSD_INTEGER}>", f"<{v.XSD_DECIMAL}>", "STR"
"""Casts for comparisons: text to an integer, text to a decimal, any term to text."""
NUMBER = f"<{v.XSD_DOUBLE}>"
"""Cast for numbers, years and texts that one predicate mixes."""

_ALIAS_PREFIXES = {
    "COUNT": "number_of",
    "SUM": "total",
    "AVG": "average",
    "MIN": "lowest",
    "MAX": "highest",
}
_TYPE = NamedNode(v.RDF_TYPE)
_TYPE_OR_BELOW = Path("/", (_TYPE, Path("*", (NamedNode(v.RDFS_SUB_CLASS_OF),))))


def is_aggregate(value: object) -> bool:
    """Return whether a value is an aggregate."""
    return isinstance(value, Call) and value.is_aggregate


def connect_variables(start: set[_T], variable_sets: Sequence[set[_T]]) -> set[_T]:
    """Return the variables that sets with common variables connect to some, including these."""
    reached, size = start, -1
    while len(reached) > size:
        size = len(reached)
        reached = reached.union(*(variables for variables in variable_sets if variables & reached))
    return reached


@lru_cache(maxsize=256)
def get_variable(number: int) -> Variable:
    """Return a variable by its number."""
    return Variable(f"v{number}")


def get_variable_number(variable: Variable) -> int:
    """Return the number of a variable."""
    return int(variable.value[1:])


@lru_cache(maxsize=4096)
def parse_term(text: str) -> Term:
    """Parse a constant: an N-Triples term, or a number or truth value in SPARQL syntax."""
    if text.startswith("<"):
        return NamedNode(text[1:-1])
    if text.startswith("_:"):
        return BlankNode(text[2:])
    if text.startswith('"'):
        value, datatype, language = split_literal(text)
        if language:
            return Literal(value, language=language)
    else:
        value = text
        datatype = v.XSD_BOOLEAN if text in ("true", "false") else get_number_datatype(text)
    return Literal(value, datatype=NamedNode(datatype))


def format_number(value: float) -> str:
    """Format a number for SPARQL, integers without a point unless they are very large."""
    return str(int(value)) if float(value).is_integer() and abs(value) < 1e15 else repr(value)


def to_number_term(value: float) -> Term:
    """Convert a number to a term; see `format_number`."""
    return parse_term(format_number(value))


@lru_cache(maxsize=4096)
def _build_predicate(iri: str, is_transitive: bool) -> Predicate:
    if is_transitive and iri == v.RDF_TYPE:
        return _TYPE_OR_BELOW
    step: Predicate = NamedNode(iri)
    return Path("+", (step,)) if is_transitive else step


def build_pattern(
    subject: Term, predicate: str, object_: Term, *, is_transitive: bool = False
) -> Pattern:
    """Build a pattern.

    Args:
        predicate: the IRI of the predicate.
        is_transitive: whether it follows the predicate once or more; `rdf:type` then leads to a
            class or one above it.
    """
    return Pattern(subject, _build_predicate(predicate, is_transitive), object_)


def get_predicate(part: Pattern) -> str:
    """Return the IRI of a pattern's predicate."""
    step = part.predicate
    while isinstance(step, Path):
        step = step.parts[0]
    return step.value


def build_aggregate(function: str, variable: Variable, *, distinct: bool = False) -> Call:
    """Build an aggregate of a variable: COUNT, SUM, AVG, MIN or MAX."""
    return Call(f"{function} DISTINCT" if distinct else function, (variable,))


def get_function(value: Call) -> str:
    """Return the function of an aggregate, without DISTINCT."""
    return value.name.partition(" ")[0]


def get_value_variable(value: Expression) -> Variable:
    """Return the variable of a column or key, inside of any calls."""
    while isinstance(value, Call):
        value = value.arguments[0]
    assert isinstance(value, Variable)
    return value


def build_cast(cast: str, operand: Expression) -> Expression:
    """Build the cast of a value; nothing is cast if `cast` is empty.

    An order of days such as "$3-$2-$1" writes a date as 1999-12-31; see `Schema.get_day_order`.
    """
    if not cast:
        return operand
    if cast.startswith("$"):
        return Call("REPLACE", (Call(TEXT, (operand,)), *(Literal(DAY_PATTERN), Literal(cast))))
    return Call(cast, (Call(TEXT, (operand,)) if cast in (INTEGER, NUMBER) else operand,))


def build_aggregate_query(
    variable: Variable,
    elements: Iterable[Element],
    function: str,
    groups: Iterable[Variable] = (),
    *,
    cast: str = "",
) -> Query:
    """Build the sub-query of an aggregate over all matches, or for each group; see `get_alias`."""
    alias = Variable(f"{_ALIAS_PREFIXES[function].removesuffix('_of')}_{variable.value}")
    keys = tuple(groups)
    columns: tuple[tuple[Variable, Expression | None], ...] = (
        (alias, Call(function, (build_cast(cast, variable),))),
        *((key, None) for key in keys),
    )
    group_by = tuple((key, None) for key in keys)
    return Query("SELECT", Group(tuple(elements)), columns=columns, group_by=group_by)


def get_alias(part: Value | Query) -> Variable:
    """Return the name of a column, or of the only column of a sub-query."""
    if isinstance(part, Query):
        return part.columns[0][0]
    if isinstance(part, Variable):
        return part
    return Variable(f"{_ALIAS_PREFIXES[get_function(part)]}_{get_value_variable(part).value}")


def build_query(
    elements: Iterable[Element],
    columns: Iterable[Value] | None,
    *,
    group: Iterable[Variable] = (),
    having: Iterable[Call] = (),
    order: Iterable[tuple[Expression, bool]] = (),
    limit: int | None = None,
    offset: int = 0,
) -> Query:
    """Build the query for some columns of all matches; an ASK query without columns."""
    values = list(dict.fromkeys(columns or ()))
    return Query(
        "ASK" if columns is None else "SELECT",
        Group(tuple(elements)),
        columns=tuple(
            (get_alias(value), value if isinstance(value, Call) else None) for value in values
        ),
        distinct=columns is not None and not any(isinstance(value, Call) for value in values),
        group_by=tuple((value, None) for value in dict.fromkeys(group)),
        having=tuple(having),
        order=tuple(order),
        limit=limit,
        offset=offset or None,
    )


class ValueCondition(NamedTuple):
    """A comparison of a variable with constants, with other variables or with an average.

    Attributes:
        operator: one of = != < > <= >= IN CONTAINS STRSTARTS STRENDS TEXT (equal, ignoring case)
            YEAR.
        values: the terms to compare with.
        cast: `INTEGER` (not every engine orders years before 1), `DECIMAL`, `NUMBER`,
            `TEXT`, or empty.
    """

    variable: Variable
    operator: str
    values: tuple[Term, ...]
    cast: str = ""

    def to_filter(self) -> Filter:
        """Convert the condition to a filter."""
        operand = build_cast(self.cast, self.variable)
        text = Call("LCASE", (Call("STR", (self.variable,)),))
        match self.operator:
            case "CONTAINS" | "STRSTARTS" | "STRENDS" | "TEXT":
                operator = "=" if self.operator == "TEXT" else self.operator
                return Filter(Call(operator, (text, Call("LCASE", self.values))))
            case "YEAR":
                return Filter(Call("=", (Call("YEAR", (operand,)), *self.values)))
            case operator:
                return Filter(Call(operator, (operand, *self.values)))


def build_filter(variable: Variable, operator: str, *values: Term, cast: str = "") -> Filter:
    """Build a filter on a variable; see `ValueCondition`."""
    return ValueCondition(variable, operator, values, cast).to_filter()


def list_conditions(group: Group) -> list[ValueCondition]:
    """Return the comparisons of a group that must all hold."""
    return [
        _parse_condition(element.condition)
        for element in group.elements
        if isinstance(element, Filter)
        and not _get_negated_group(element)
        and not _is_junction(element.condition)
    ]


def list_alternatives(group: Group) -> list[ValueCondition]:
    """Return the comparisons of a group joined by "or" or "and"."""
    joined = [
        part.condition
        for part in group.elements
        if isinstance(part, Filter) and _is_junction(part.condition)
    ]
    conditions = []
    while joined:
        part = joined.pop()
        if isinstance(part, Call) and _is_junction(part):
            joined += reversed(part.arguments)
        else:
            conditions.append(_parse_condition(part))
    return conditions


def _is_junction(condition: Expression) -> bool:
    return isinstance(condition, Call) and condition.name in ("||", "&&")


def _parse_condition(comparison: Expression) -> ValueCondition:
    assert isinstance(comparison, Call)
    operator, (operand, *values) = comparison.name, comparison.arguments
    cast = ""
    match operand:
        case Call("LCASE"):
            operator = "TEXT" if operator == "=" else operator
            values = [
                value for call in values if isinstance(call, Call) for value in call.arguments
            ]
        case Call("YEAR", (Call(cast), *_)):
            operator = "YEAR"
        case Call("YEAR"):
            operator = "YEAR"
        case Call(cast):
            pass
    terms = tuple(value for value in values if not isinstance(value, Call | Group))
    return ValueCondition(get_value_variable(operand), operator, terms, cast)


def list_operands(value: Expression) -> list[Term]:
    """Return the operands of an expression; of the time between two dates only these."""
    from askgraph.sparql.elapsed import parse_elapsed_time  # few queries compute a time

    elapsed = parse_elapsed_time(value)
    parts = value if elapsed is None else (elapsed.start, elapsed.end)
    return [node for node in walk(parts) if isinstance(node, Variable | Literal | NamedNode)]


def list_patterns(group: Group) -> list[Pattern]:
    """Return the patterns of a group, without those of nested groups."""
    return [element for element in group.elements if isinstance(element, Pattern)]


def list_optional_patterns(group: Group) -> list[Pattern]:
    """Return the optional patterns of a group."""
    return [
        element
        for part in group.elements
        if isinstance(part, Nested) and part.word
        for element in list_patterns(part.group)
    ]


def list_subqueries(group: Group) -> list[Query]:
    """Return the sub-queries of a group."""
    return [element for element in group.elements if isinstance(element, Query)]


def build_not_exists(*elements: Element) -> Filter:
    """Build the filter that requires that these elements have no match together."""
    return Filter(Call("NOT EXISTS", (Group(elements),)))


def list_negated_groups(group: Group) -> list[Group]:
    """Return the groups that must have no match."""
    groups = (_get_negated_group(item) for item in group.elements if isinstance(item, Filter))
    return [item for item in groups if item is not None]


def _get_negated_group(filter_: Filter) -> Group | None:
    match filter_.condition:
        case Call("NOT EXISTS", (Group() as group,)):
            return group
        case _:
            return None


def list_union_groups(group: Group) -> list[Group]:
    """Return the groups that are alternatives."""
    groups: list[Group] = []
    for element in group.elements:
        if isinstance(element, Union):
            groups += element.groups
        elif isinstance(element, Nested) and not element.word:
            groups.append(element.group)
    return groups


def list_column_values(query: Query) -> list[Value]:
    """Return the values of a query's columns."""
    return [name if value is None else _to_value(value) for name, value in query.columns]


def list_sort_keys(query: Query) -> list[tuple[Value, bool]]:
    """Return the sort keys of a query, without casts, and whether each descends."""
    return [(_to_value(key), descending) for key, descending in query.order]


def _to_value(key: Expression) -> Value:
    return key if isinstance(key, Call) and key.is_aggregate else get_value_variable(key)


def list_group_variables(query: Query) -> list[Variable]:
    """Return the variables by which the rows are grouped."""
    return [get_value_variable(key) for key, _ in query.group_by]


def list_having(query: Query) -> list[tuple[Call, str, Literal]]:
    """Return the conditions on aggregates, each as (aggregate, sign, number)."""
    conditions = []
    for condition in query.having:
        match condition:
            case Call(sign, (Call() as call, Literal() as number)):
                conditions.append((call, sign, number))
    return conditions


def find_aggregates(query: Query) -> Iterator[Call]:
    """Yield the aggregates of the columns, the order and the conditions on groups."""
    values = (*list_column_values(query), *(key for key, _ in list_sort_keys(query)))
    yield from (value for value in values if isinstance(value, Call))
    yield from (call for call, _, _ in list_having(query))


_NUMBER = re.compile(r"[+-]?\d+(\.\d+)?([eE][+-]?\d+)?|true|false")


def format_term(term: Term) -> str:
    """Format a constant for `parse_term`, numbers and truth values without quotation marks."""
    is_bare = isinstance(term, Literal) and _NUMBER.fullmatch(term.value)
    return term.value if is_bare and parse_term(term.value) == term else str(term)


def build_variable_names(hints: Mapping[Variable, str]) -> dict[Variable, Variable]:
    """Return a name for each variable, built from words that describe its value."""
    counts: dict[str, int] = {}
    names = {}
    for variable, hint in hints.items():
        base = _to_variable_name(hint)
        counts[base] = counts.get(base, 0) + 1
        names[variable] = Variable(base if counts[base] == 1 else f"{base}_{counts[base]}")
    return names


def name_variables(query: Query, names: Mapping[Variable, Variable]) -> Query:
    """Return a query with its variables renamed, aggregates after the variable they aggregate."""
    new_names = dict(names)
    sources = {
        alias: get_value_variable(value)
        for node in walk(query)
        if isinstance(node, Query)
        for alias, value in node.columns
        if value is not None
    }
    for alias, source in sources.items():
        while source in sources:  # the highest of some numbers
            source = sources[source]
        function = alias.value.removesuffix(source.value)
        new_names[alias] = Variable(function + names.get(source, source).value)
    return rename_variables(query, new_names)


@lru_cache(maxsize=4096)
def _to_variable_name(hint: str) -> str:
    cleaned = "".join(c if _is_name_char(c) else "_" for c in fold_word(hint))
    base = re.sub("_+", "_", cleaned).strip("_")[:40].strip("_") or "thing"
    return base if base[0].isalpha() else "n" + base


def _is_name_char(character: str) -> bool:
    """Return whether a variable's name may contain a character: letters and digits, not ² or ª."""
    if character.isascii():
        return character.isalnum()
    return character >= "\u00c0" and (character.isalpha() or character.isdecimal())
