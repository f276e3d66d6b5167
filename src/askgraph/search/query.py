"""The query of a candidate as a tree: built from its form, the variables named from hints."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping

from pyoxigraph import Literal, NamedNode, Variable

from askgraph.index.tokens import folded
from askgraph.rdf.vocabulary import (
    RDF_TYPE,
    RDFS_SUB_CLASS_OF,
    XSD_BOOLEAN,
    XSD_DECIMAL,
    XSD_INTEGER,
)
from askgraph.search.form import Aggregate, Average, Column, Computed, Filter, Form, Given, Key
from askgraph.search.form import Pattern as Triple
from askgraph.sparql.elapsed import elapsed
from askgraph.sparql.lexer import number_type
from askgraph.sparql.tree import (
    Bind,
    Call,
    Element,
    Expression,
    Group,
    Nested,
    Path,
    Pattern,
    Predicate,
    Query,
    Term,
    Union,
    Values,
)
from askgraph.sparql.tree import Filter as Condition
from askgraph.traversal.literals import split_literal

_FUNCTIONS = {
    "COUNT": "number",
    "SUM": "total",
    "AVG": "average",
    "MIN": "lowest",
    "MAX": "highest",
}
_TYPE = NamedNode(RDF_TYPE)
_TYPE_OR_BELOW = Path("/", (_TYPE, Path("*", (NamedNode(RDFS_SUB_CLASS_OF),))))


def query_of(form: Form) -> Query:
    """Return the query of a form."""
    return _Builder(form).query()


def answer_columns(form: Form) -> tuple[str, ...]:
    """Return the names of the variables that answer the question."""
    builder = _Builder(form)
    return tuple(builder.column(one)[0].value for one in form.columns if one.answer)


class _Builder:
    def __init__(self, form: Form) -> None:
        self.form = form
        self.names = _names(form.hints)

    def query(self) -> Query:
        form = self.form
        aggregates = any(isinstance(one.value, Aggregate) for one in form.columns)
        return Query(
            "ASK" if form.ask else "SELECT",
            Group(tuple(self.where())),
            columns=() if form.ask else tuple(map(self.column, form.columns)),
            distinct=not (form.ask or aggregates),
            group_by=tuple((self.name(one), None) for one in form.group),
            having=tuple(
                Call(one.operator, (self.value(one.aggregate), _term(one.value)))
                for one in form.having
            ),
            order=tuple((self.key(one), one.descending) for one in form.order),
            limit=form.limit,
            offset=form.offset or None,
        )

    def where(self) -> Iterator[Element]:
        form = self.form
        yield from self.group(form.patterns, form.filters, self.made())
        either = tuple(Group(tuple(self.group(*block))) for block in form.either)
        if either:
            yield Union(either) if len(either) > 1 else Nested("", either[0])
        for block in form.without:
            yield Condition(Call("NOT EXISTS", (Group(tuple(self.group(*block))),)))

    def group(
        self, patterns: Iterable[Triple], filters: Iterable[Filter], made: Iterable[Element] = ()
    ) -> Iterator[Element]:
        yield from map(self.pattern, patterns)
        yield from made
        for one in filters:
            yield from (self.average(value) for value in one.values if isinstance(value, Average))
        yield from (Condition(self.condition(one)) for one in filters)

    def made(self) -> Iterator[Element]:
        """What may be missing, what is given, and what is computed of it all."""
        for pattern in self.form.optional:
            yield Nested("OPTIONAL", Group((self.pattern(pattern),)))
        yield from map(self.given, self.form.given)
        for one in self.form.computed:
            yield Bind(self.operation(one), self.name(one.variable))

    def given(self, given: Given) -> Values:
        rows = tuple(tuple(map(_term, row)) for row in given.rows)
        return Values(tuple(map(self.name, given.variables)), rows)

    def operation(self, one: Computed) -> Expression:
        first, second, *rest = map(self.operand, one.operands)
        if one.operation == "else":
            return Call("COALESCE", (first, second))
        if one.operation == "scaled":
            scaled = Call("*", (first, second))
            return Call("+", (scaled, *rest)) if rest else scaled
        return elapsed(one.operation, first, second)

    def average(self, average: Average) -> Query:
        aggregate = Call(average.function, (self.name(average.variable),))
        return Query(
            "SELECT",
            Group(tuple(map(self.pattern, average.patterns))),
            columns=((self.averaged(average), aggregate),),
        )

    def averaged(self, average: Average) -> Variable:
        return Variable(f"{_FUNCTIONS[average.function]}_{self.name(average.variable).value}")

    def pattern(self, one: Triple) -> Pattern:
        predicate: Predicate = NamedNode(one.predicate)
        if one.plus:
            predicate = _TYPE_OR_BELOW if one.predicate == RDF_TYPE else Path("+", (predicate,))
        return Pattern(self.end(one.subject), predicate, self.end(one.object))

    def condition(self, one: Filter) -> Expression:
        name: Expression = self.name(one.variable)
        text = Call("LCASE", (Call("STR", (name,)),))
        if one.as_integer:
            name = Call(f"<{XSD_INTEGER}>", (Call("STR", (name,)),))
        elif one.as_number:
            name = Call(f"<{XSD_DECIMAL}>", (name,))
        first, *rest = map(self.operand, one.values)
        match one.operator:
            case "CONTAINS" | "STRSTARTS" | "STRENDS":
                return Call(one.operator, (text, Call("LCASE", (first,))))
            case "TEXT":
                return Call("=", (text, Call("LCASE", (first,))))
            case "YEAR":
                return Call("=", (Call("YEAR", (name,)), first))
            case _:
                return Call(one.operator, (name, first, *rest))

    def operand(self, value: str | int | Average) -> Term:
        return self.averaged(value) if isinstance(value, Average) else self.end(value)

    def key(self, key: Key) -> Expression:
        value = self.value(key.value)
        return Call(f"<{XSD_DECIMAL}>", (value,)) if key.as_number else value

    def column(self, column: Column) -> tuple[Variable, Expression | None]:
        if isinstance(column.value, int):
            return self.name(column.value), None
        aggregate = column.value
        joint = "of_" if aggregate.function == "COUNT" else ""
        of = self.name(aggregate.variable).value
        return Variable(f"{_FUNCTIONS[aggregate.function]}_{joint}{of}"), self.value(aggregate)

    def value(self, value: int | Aggregate) -> Expression:
        if isinstance(value, int):
            return self.name(value)
        name = f"{value.function} DISTINCT" if value.distinct else value.function
        return Call(name, (self.name(value.variable),))

    def end(self, end: int | str) -> Term:
        return self.name(end) if isinstance(end, int) else _term(end)

    def name(self, variable: int) -> Variable:
        return Variable(self.names.get(variable, f"v{variable}"))


def _term(text: str) -> Term:
    """A constant, from N-Triples or from a number or truth value as SPARQL writes it."""
    if text.startswith("<"):
        return NamedNode(text[1:-1])
    if text.startswith("_:"):
        return Variable(f"__{re.sub('[^A-Za-z0-9_]', '_', text[2:])}")
    if text.startswith('"'):
        value, datatype, language = split_literal(text)
        return Literal(value, language=language) if language else _typed(value, datatype)
    return _typed(text, XSD_BOOLEAN if text in ("true", "false") else number_type(text))


def _typed(value: str, datatype: str) -> Literal:
    return Literal(value, datatype=NamedNode(datatype))


def _is_name_char(character: str) -> bool:
    """Whether a variable's name may hold it: letters and digits, but not ² or ª."""
    if character.isascii():
        return character.isalnum()
    return character >= "\u00c0" and (character.isalpha() or character.isdecimal())


def _names(hints: Mapping[int, str]) -> dict[int, str]:
    taken: dict[str, int] = {}
    names = {}
    for variable, hint in hints.items():
        kept = "".join(c if _is_name_char(c) else "_" for c in folded(hint))
        base = re.sub("_+", "_", kept).strip("_")[:40].strip("_") or "thing"
        if not base[0].isalpha():
            base = "n" + base
        taken[base] = taken.get(base, 0) + 1
        names[variable] = base if taken[base] == 1 else f"{base}_{taken[base]}"
    return names
