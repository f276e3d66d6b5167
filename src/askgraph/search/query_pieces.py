"""The pieces of a candidate's query: build them, find them again in its tree, and name them.

While a candidate is built its variables are numbered (`v0`, `v1`, …), so that equal candidates have
equal trees; `named` gives a tree the names that a person reads.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from functools import lru_cache
from typing import NamedTuple, TypeAlias

from pyoxigraph import BlankNode, Literal, NamedNode, Variable

from askgraph.graph.literals import split_literal
from askgraph.index.names import folded
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
from askgraph.sparql.lexer import number_type
from askgraph.sparql.vocabulary import (
    RDF_TYPE,
    RDFS_SUB_CLASS_OF,
    XSD_BOOLEAN,
    XSD_DECIMAL,
    XSD_INTEGER,
)

Value: TypeAlias = Variable | Call
"""What a column holds or a row is ordered by: a variable, or an aggregate of one."""

INTEGER, DECIMAL, TEXT = f"<{XSD_INTEGER}>", f"<{XSD_DECIMAL}>", "STR"
"""The casts of what is compared: text as a whole number, and as the number it is; to text."""

_ALIASES = {
    "COUNT": "number_of",
    "SUM": "total",
    "AVG": "average",
    "MIN": "lowest",
    "MAX": "highest",
}
_TYPE = NamedNode(RDF_TYPE)
_TYPE_OR_BELOW = Path("/", (_TYPE, Path("*", (NamedNode(RDFS_SUB_CLASS_OF),))))


@lru_cache(maxsize=256)
def variable(number: int) -> Variable:
    """Return a variable by its number."""
    return Variable(f"v{number}")


def place_of(numbered: Variable) -> int:
    """Return the number of a variable."""
    return int(numbered.value[1:])


@lru_cache(maxsize=4096)
def term_of(text: str) -> Term:
    """Return a constant: an N-Triples term, or a number or truth value as SPARQL writes it."""
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
        datatype = XSD_BOOLEAN if text in ("true", "false") else number_type(text)
    return Literal(value, datatype=NamedNode(datatype))


def plain(value: float) -> str:
    """Return a number as SPARQL, whole numbers without a point unless they are very large."""
    return str(int(value)) if float(value).is_integer() and abs(value) < 1e15 else repr(value)


def number_term(value: float) -> Term:
    """Return a number as a term; see `plain`."""
    return term_of(plain(value))


@lru_cache(maxsize=4096)
def _predicate(iri: str, walked: bool, either: bool) -> Predicate:
    if walked and iri == RDF_TYPE:
        return _TYPE_OR_BELOW
    step: Predicate = NamedNode(iri)
    if either:
        step = Path("|", (step, Path("^", (step,))))
    return Path("+", (step,)) if walked else step


def pattern(
    subject: Term, predicate: str, object_: Term, *, walked: bool = False, either: bool = False
) -> Pattern:
    """Return a pattern; one that is `walked` goes along its predicate once or more.

    Of `rdf:type` that is to a class or one above it. `either` goes there or back.
    """
    return Pattern(subject, _predicate(predicate, walked, either), object_)


def predicate_of(one: Pattern) -> str:
    """Return the IRI of a pattern's predicate."""
    step = one.predicate
    while isinstance(step, Path):
        step = step.parts[0]
    return step.value


def aggregate(function: str, of: Variable, *, distinct: bool = False) -> Call:
    """Return an aggregate over a variable: COUNT, SUM, AVG, MIN or MAX."""
    return Call(f"{function} DISTINCT" if distinct else function, (of,))


def function_of(value: Call) -> str:
    """Return the function of an aggregate, without DISTINCT."""
    return value.name.partition(" ")[0]


def variable_of(value: Expression) -> Variable:
    """Return the variable that a column or key holds, or that it is computed of."""
    while isinstance(value, Call):
        value = value.arguments[0]
    assert isinstance(value, Variable)
    return value


def aggregate_of(
    of: Variable,
    elements: Iterable[Element],
    function: str,
    groups: Iterable[Variable] = (),
    *,
    cast: str = "",
) -> Query:
    """Return the sub-query of an aggregate over all that fits, or of each group; see `alias_of`."""
    alias = Variable(f"{_ALIASES[function].removesuffix('_of')}_{of.value}")
    keys = tuple(groups)
    call = Call(function, (Call(cast, (of,)) if cast else of,))
    columns: tuple[tuple[Variable, Expression | None], ...] = (
        (alias, call),
        *((one, None) for one in keys),
    )
    group_by = tuple((one, None) for one in keys)
    return Query("SELECT", Group(tuple(elements)), columns=columns, group_by=group_by)


def alias_of(part: Value | Query) -> Variable:
    """Return the name of a column, or of the one column of a sub-query."""
    if isinstance(part, Query):
        return part.columns[0][0]
    if isinstance(part, Variable):
        return part
    return Variable(f"{_ALIASES[function_of(part)]}_{variable_of(part).value}")


def query_of(
    elements: Iterable[Element],
    columns: Iterable[Value] | None,
    *,
    group: Iterable[Variable] = (),
    having: Iterable[Call] = (),
    order: Iterable[tuple[Expression, bool]] = (),
    limit: int | None = None,
    offset: int = 0,
) -> Query:
    """Return the query that shows some columns of what fits all elements; an ASK without them."""
    shown = list(dict.fromkeys(columns or ()))
    return Query(
        "ASK" if columns is None else "SELECT",
        Group(tuple(elements)),
        columns=tuple((alias_of(one), one if isinstance(one, Call) else None) for one in shown),
        distinct=columns is not None and not any(isinstance(one, Call) for one in shown),
        group_by=tuple((one, None) for one in dict.fromkeys(group)),
        having=tuple(having),
        order=tuple(order),
        limit=limit,
        offset=offset or None,
    )


class Condition(NamedTuple):
    """A comparison of a variable with constants, with other variables or with an average.

    `operator` is one of = != < > <= >= IN CONTAINS STRSTARTS STRENDS TEXT (equal, whatever the
    case) YEAR; `cast` is `INTEGER`, since not every engine orders years before 1, `DECIMAL`,
    `TEXT`, or empty.
    """

    variable: Variable
    operator: str
    values: tuple[Term, ...]
    cast: str = ""

    def filter(self) -> Filter:
        """Return the filter that says so."""
        left: Expression = self.variable
        text = Call("LCASE", (Call("STR", (left,)),))
        if self.cast:
            left = Call(self.cast, (Call("STR", (left,)) if self.cast == INTEGER else left,))
        match self.operator:
            case "CONTAINS" | "STRSTARTS" | "STRENDS" | "TEXT":
                operator = "=" if self.operator == "TEXT" else self.operator
                return Filter(Call(operator, (text, Call("LCASE", self.values))))
            case "YEAR":
                return Filter(Call("=", (Call("YEAR", (left,)), *self.values)))
            case operator:
                return Filter(Call(operator, (left, *self.values)))


def condition(of: Variable, operator: str, *values: Term, cast: str = "") -> Filter:
    """Return a filter on a variable; see `Condition`."""
    return Condition(of, operator, values, cast).filter()


def conditions_in(group: Group) -> list[Condition]:
    """Return the comparisons of a group that have to hold."""
    return [
        _read(one.condition)
        for one in group.elements
        if isinstance(one, Filter) and not _denied(one) and not _joins(one.condition)
    ]


def alternatives_in(group: Group) -> list[Condition]:
    """Return the comparisons of a group of which one has to hold, or some together."""
    joined = [
        one.condition for one in group.elements if isinstance(one, Filter) and _joins(one.condition)
    ]
    found = []
    while joined:
        one = joined.pop()
        if isinstance(one, Call) and _joins(one):
            joined += reversed(one.arguments)
        else:
            found.append(_read(one))
    return found


def _joins(condition: Expression) -> bool:
    return isinstance(condition, Call) and condition.name in ("||", "&&")


def _read(comparison: Expression) -> Condition:
    assert isinstance(comparison, Call)
    operator, (left, *values) = comparison.name, comparison.arguments
    cast = ""
    match left:
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
    return Condition(variable_of(left), operator, terms, cast)


def operands_of(value: Expression) -> list[Term]:
    """Return what is computed with: of the time between two dates only these."""
    from askgraph.sparql.elapsed import elapsed_in  # few queries compute a time

    between = elapsed_in(value)
    parts = value if between is None else (between.start, between.end)
    return [one for one in walk(parts) if isinstance(one, Variable | Literal | NamedNode)]


def patterns_in(group: Group) -> list[Pattern]:
    """Return the patterns of a group, without those of groups within it."""
    return [one for one in group.elements if isinstance(one, Pattern)]


def optional_in(group: Group) -> list[Pattern]:
    """Return the patterns that need not hold."""
    return [
        one
        for part in group.elements
        if isinstance(part, Nested) and part.word
        for one in patterns_in(part.group)
    ]


def averages_in(group: Group) -> list[Query]:
    """Return the sub-queries of a group."""
    return [one for one in group.elements if isinstance(one, Query)]


def denied(*elements: Element) -> Filter:
    """Return the filter that nothing fits some elements together."""
    return Filter(Call("NOT EXISTS", (Group(elements),)))


def denied_in(group: Group) -> list[Group]:
    """Return the groups that nothing may fit."""
    found = (_denied(one) for one in group.elements if isinstance(one, Filter))
    return [one for one in found if one is not None]


def _denied(one: Filter) -> Group | None:
    match one.condition:
        case Call("NOT EXISTS", (Group() as group,)):
            return group
        case _:
            return None


def either_in(group: Group) -> list[Group]:
    """Return the groups of which one has to fit."""
    found: list[Group] = []
    for one in group.elements:
        if isinstance(one, Union):
            found += one.groups
        elif isinstance(one, Nested) and not one.word:
            found.append(one.group)
    return found


def values_of(query: Query) -> list[Value]:
    """Return what the columns of a query hold."""
    return [name if value is None else _value(value) for name, value in query.columns]


def keys_of(query: Query) -> list[tuple[Value, bool]]:
    """Return what the rows are ordered by, and whether it descends; text without its cast."""
    return [(_value(key), descending) for key, descending in query.order]


def _value(key: Expression) -> Value:
    return key if isinstance(key, Call) and key.is_aggregate else variable_of(key)


def groups_of(query: Query) -> list[Variable]:
    """Return the variables that the rows are grouped by."""
    return [variable_of(key) for key, _ in query.group_by]


def having_of(query: Query) -> list[tuple[Call, str, Literal]]:
    """Return the conditions on aggregates: each with its sign and its number."""
    found = []
    for one in query.having:
        match one:
            case Call(sign, (Call() as call, Literal() as number)):
                found.append((call, sign, number))
    return found


def aggregates_of(query: Query) -> Iterator[Call]:
    """Yield the aggregates of the columns, the order and the conditions on groups."""
    shown = (*values_of(query), *(key for key, _ in keys_of(query)))
    yield from (one for one in shown if isinstance(one, Call))
    yield from (call for call, _, _ in having_of(query))


_NUMBER = re.compile(r"[+-]?\d+(\.\d+)?([eE][+-]?\d+)?|true|false")


def text_of(term: Term) -> str:
    """Return a constant as `term_of` reads it, numbers and truth values without quotation marks."""
    is_bare = isinstance(term, Literal) and _NUMBER.fullmatch(term.value)
    return term.value if is_bare and term_of(term.value) == term else str(term)


def names_of(hints: Mapping[Variable, str]) -> dict[Variable, Variable]:
    """Return a name for each variable, made of the words that hint at what it stands for."""
    taken: dict[str, int] = {}
    names = {}
    for numbered, hint in hints.items():
        base = _name(hint)
        taken[base] = taken.get(base, 0) + 1
        names[numbered] = Variable(base if taken[base] == 1 else f"{base}_{taken[base]}")
    return names


def named(query: Query, names: Mapping[Variable, Variable]) -> Query:
    """Return a query with its variables named, aggregates after what they are of."""
    known = dict(names)
    made = {
        alias: variable_of(value)
        for node in walk(query)
        if isinstance(node, Query)
        for alias, value in node.columns
        if value is not None
    }
    for alias, of in made.items():
        while of in made:  # the highest of some numbers
            of = made[of]
        known[alias] = title(alias, of, names)
    return rename_variables(query, known)


def title(alias: Variable, of: Variable, names: Mapping[Variable, Variable]) -> Variable:
    """Return what a column is called if the variable that it is of is named."""
    return Variable(alias.value.removesuffix(of.value) + names.get(of, of).value)


@lru_cache(maxsize=4096)
def _name(hint: str) -> str:
    kept = "".join(c if _is_name_char(c) else "_" for c in folded(hint))
    base = re.sub("_+", "_", kept).strip("_")[:40].strip("_") or "thing"
    return base if base[0].isalpha() else "n" + base


def _is_name_char(character: str) -> bool:
    """Whether a variable's name may hold it: letters and digits, but not ² or ª."""
    if character.isascii():
        return character.isalnum()
    return character >= "\u00c0" and (character.isalpha() or character.isdecimal())
