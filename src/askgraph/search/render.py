"""A candidate query as SPARQL text, its variables named from labels."""

import re
from collections.abc import Iterable, Iterator, Mapping

from askgraph.index.tokens import folded
from askgraph.rdf.prefixes import PrefixMap
from askgraph.rdf.vocabulary import RDF_TYPE, RDFS_SUB_CLASS_OF, XSD_DECIMAL, XSD_INTEGER
from askgraph.search.form import (
    Aggregate,
    Average,
    Column,
    Computed,
    Filter,
    Form,
    Key,
    Pattern,
)
from askgraph.sparql.elapsed import Elapsed, elapsed_text

__all__ = ["answer_columns", "rendered"]

_FUNCTIONS = {
    "COUNT": "number",
    "SUM": "total",
    "AVG": "average",
    "MIN": "lowest",
    "MAX": "highest",
}


def rendered(form: Form, prefixes: PrefixMap) -> str:
    """Return the SPARQL of a form, one pattern a line, with the PREFIX lines it needs."""
    writer = _Writer(form, prefixes)
    body = "\n".join(writer.lines())
    header = prefixes.header(body)
    return f"{header}\n{body}" if header else body


def answer_columns(form: Form, prefixes: PrefixMap) -> tuple[str, ...]:
    """Return the names of the variables that answer the question."""
    writer = _Writer(form, prefixes)
    return tuple(writer.column_name(column) for column in form.columns if column.answer)


class _Writer:
    def __init__(self, form: Form, prefixes: PrefixMap) -> None:
        self.form, self.prefixes = form, prefixes
        self.names = _names(form.hints)

    def lines(self) -> Iterator[str]:
        form = self.form
        if form.ask:
            yield "ASK {"
        else:
            distinct = (
                "" if any(isinstance(c.value, Aggregate) for c in form.columns) else "DISTINCT "
            )
            yield f"SELECT {distinct}{' '.join(map(self.projected, form.columns))} WHERE {{"
        yield from self.group(form.patterns, form.filters, self.computed())
        for number, (patterns, filters) in enumerate(form.either):
            yield "  {" if not number else "  UNION {"
            yield from ("  " + line for line in self.group(patterns, filters))
            yield "  }"
        for patterns, filters in form.without:
            yield "  FILTER NOT EXISTS {"
            yield from ("  " + line for line in self.group(patterns, filters))
            yield "  }"
        yield "}"
        yield from self.modifiers()

    def group(
        self,
        patterns: tuple[Pattern, ...],
        filters: tuple[Filter, ...],
        computed: Iterable[str] = (),
    ) -> Iterator[str]:
        for pattern in patterns:
            yield "  " + self.pattern(pattern)
        yield from computed
        for one in filters:
            for value in one.values:
                if isinstance(value, Average):
                    yield from self.average(value)
        for one in filters:
            yield f"  FILTER({self.condition(one)})"

    def computed(self) -> Iterator[str]:
        """What may be missing, what is given, and what is computed of it all."""
        for pattern in self.form.optional:
            yield f"  OPTIONAL {{ {self.pattern(pattern)} }}"
        for given in self.form.given:
            names = " ".join(map(self.name, given.variables))
            rows = " ".join(f"({' '.join(map(self.constant, row))})" for row in given.rows)
            yield f"  VALUES ({names}) {{ {rows} }}"
        for one in self.form.computed:
            yield f"  BIND({self.operation(one)} AS {self.name(one.variable)})"

    def operation(self, one: Computed) -> str:
        first, second, *rest = [self.value(operand) for operand in one.operands]
        if one.operation == "else":
            return f"COALESCE({first}, {second})"
        if one.operation == "scaled":
            return " + ".join([f"{first} * {second}", *rest])
        return elapsed_text(Elapsed(one.operation, first, second))

    def average(self, average: Average) -> Iterator[str]:
        name = self.name(average.variable)
        yield f"  {{ SELECT ({average.function}({name}) AS {self.averaged(average)}) WHERE {{"
        yield from (f"    {self.pattern(pattern)}" for pattern in average.patterns)
        yield "  } }"

    def averaged(self, average: Average) -> str:
        return f"?{_FUNCTIONS[average.function]}_{self.name(average.variable)[1:]}"

    def pattern(self, pattern: Pattern) -> str:
        predicate = "a" if pattern.predicate == RDF_TYPE else self.iri(pattern.predicate)
        path = predicate + ("+" if pattern.plus else "")
        if pattern.plus and predicate == "a":
            path = f"a/{self.iri(RDFS_SUB_CLASS_OF)}*"
        return f"{self.end(pattern.subject)} {path} {self.end(pattern.object)} ."

    def condition(self, one: Filter) -> str:
        name = self.name(one.variable)
        if one.as_integer:
            name = f"{self.iri(XSD_INTEGER)}(STR({name}))"
        elif one.as_number:
            name = f"{self.iri(XSD_DECIMAL)}({name})"
        values = [self.value(value) for value in one.values]
        if one.operator == "IN":
            return f"{name} IN ({', '.join(values)})"
        if one.operator in ("CONTAINS", "STRSTARTS", "STRENDS"):
            return f"{one.operator}(LCASE(STR({name})), LCASE({values[0]}))"
        if one.operator == "YEAR":
            return f"YEAR({name}) = {values[0]}"
        if one.operator == "TEXT":
            return f"LCASE(STR({name})) = LCASE({values[0]})"
        return f"{name} {one.operator} {values[0]}"

    def value(self, value: str | int | Average) -> str:
        if isinstance(value, Average):
            return self.averaged(value)
        return self.name(value) if isinstance(value, int) else self.constant(value)

    def constant(self, text: str) -> str:
        if text.startswith("<"):
            return self.iri(text[1:-1])
        typed = re.fullmatch(r'("(?:[^"\\]|\\.)*")\^\^<([^>]+)>', text, re.DOTALL)
        if typed is None:
            return text
        value, datatype = typed.groups()
        if datatype.endswith("XMLSchema#integer") and re.fullmatch(r'"[+-]?\d+"', value):
            return value[1:-1]
        return f"{value}^^{self.iri(datatype)}"

    def modifiers(self) -> Iterator[str]:
        form = self.form
        if form.group:
            yield "GROUP BY " + " ".join(self.name(variable) for variable in form.group)
        if form.having:
            conditions = (
                f"{self.aggregate(h.aggregate)} {h.operator} {h.value}" for h in form.having
            )
            yield f"HAVING ({' && '.join(conditions)})"
        if form.order:
            yield "ORDER BY " + " ".join(self.key(key) for key in form.order)
        if form.limit is not None:
            yield f"LIMIT {form.limit}"
        if form.offset:
            yield f"OFFSET {form.offset}"

    def key(self, key: Key) -> str:
        value = self.name(key.value) if isinstance(key.value, int) else self.aggregate(key.value)
        if key.as_number:
            value = f"{self.iri(XSD_DECIMAL)}({value})"
        if key.descending:
            return f"DESC({value})"
        return value if value.startswith("?") else f"ASC({value})"

    def projected(self, column: Column) -> str:
        if isinstance(column.value, int):
            return self.name(column.value)
        return f"({self.aggregate(column.value)} AS ?{self.column_name(column)})"

    def column_name(self, column: Column) -> str:
        if isinstance(column.value, int):
            return self.name(column.value)[1:]
        of = self.name(column.value.variable)[1:]
        joint = "of_" if column.value.function == "COUNT" else ""
        return f"{_FUNCTIONS[column.value.function]}_{joint}{of}"

    def aggregate(self, aggregate: Aggregate) -> str:
        distinct = "DISTINCT " if aggregate.distinct else ""
        return f"{aggregate.function}({distinct}{self.name(aggregate.variable)})"

    def end(self, end: int | str) -> str:
        return self.name(end) if isinstance(end, int) else self.constant(end)

    def name(self, variable: int) -> str:
        return "?" + self.names.get(variable, f"v{variable}")

    def iri(self, iri: str) -> str:
        return self.prefixes.shorten(iri)


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
