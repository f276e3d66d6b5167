"""A query as a tree that keeps the order in which it was written, and the tree as text again."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import TypeAlias

from pyoxigraph import BlankNode, Literal, NamedNode, Variable

from askgraph.rdf.vocabulary import XSD_BOOLEAN, XSD_DECIMAL, XSD_DOUBLE, XSD_INTEGER

__all__ = [
    "Bind",
    "Call",
    "Element",
    "Expression",
    "Filter",
    "Group",
    "Nested",
    "Path",
    "Pattern",
    "Predicate",
    "Query",
    "Span",
    "Term",
    "Union",
    "Values",
    "text_of",
    "variables_of",
]

Term: TypeAlias = NamedNode | Literal | BlankNode | Variable


@dataclass(frozen=True)
class Path:
    """A property path: `/`, `|`, `^`, `*`, `+`, `?` or `!` over its parts."""

    operator: str
    parts: tuple[Predicate, ...]


Predicate: TypeAlias = "Path | NamedNode | Variable"


@dataclass(frozen=True)
class Call:
    """An operator, function or aggregate on its arguments, by its name in capitals.

    `COUNT(*)` has no arguments; `COUNT DISTINCT` is a name of its own. `IN` has what is looked for
    first. `EXISTS` and `NOT EXISTS` have one group. A cast is named by its IRI.
    """

    name: str
    arguments: tuple[Expression, ...] = ()
    separator: str | None = None


Expression: TypeAlias = "Term | Call | Group"


Span: TypeAlias = tuple[int, int]
"""Where a piece of a query's text starts and ends, in characters."""


@dataclass(frozen=True)
class Pattern:
    """A triple pattern, or a path between its ends.

    `spans` are the places of the three in the text, and no part of what the pattern is; empty for
    one that was not read from a text.
    """

    subject: Term
    predicate: Predicate
    object: Term
    spans: tuple[Span, ...] = field(default=(), compare=False, repr=False)


@dataclass(frozen=True)
class Filter:
    """A condition on the whole group it stands in, and its place in the text where it has one."""

    condition: Expression
    span: Span | None = field(default=None, compare=False, repr=False)


@dataclass(frozen=True)
class Bind:
    """A new name for what an expression gives."""

    value: Expression
    variable: Variable


@dataclass(frozen=True)
class Values:
    """Rows given in the query; None is UNDEF."""

    variables: tuple[Variable, ...]
    rows: tuple[tuple[Term | None, ...], ...]


@dataclass(frozen=True)
class Nested:
    """A group after OPTIONAL, MINUS, GRAPH or SERVICE, or with no word at all.

    `silent` is of a SERVICE that may fail.
    """

    word: str
    group: Group
    name: Term | None = None
    silent: bool = False


@dataclass(frozen=True)
class Union:
    """Groups of which any may match."""

    groups: tuple[Group, ...]


Element: TypeAlias = "Pattern | Filter | Bind | Values | Nested | Union | Query"


@dataclass(frozen=True)
class Group:
    """What stands between braces, in order."""

    elements: tuple[Element, ...] = ()


@dataclass(frozen=True)
class Query:
    """A SELECT, ASK, CONSTRUCT or DESCRIBE query, or a SELECT inside one.

    `columns` are the variables asked for, with their expressions; empty for `*`. Blank nodes of the
    WHERE part are variables whose names start with `__`, as they act so.
    """

    form: str
    where: Group
    columns: tuple[tuple[Variable, Expression | None], ...] = ()
    distinct: bool = False
    group_by: tuple[tuple[Expression, Variable | None], ...] = ()
    having: tuple[Expression, ...] = ()
    order: tuple[tuple[Expression, bool], ...] = ()  # expression, descending
    limit: int | None = None
    offset: int | None = None
    template: tuple[Pattern, ...] = ()
    resources: tuple[Term, ...] = ()
    datasets: tuple[str, ...] = field(default=())

    @property
    def is_aggregate(self) -> bool:
        """Whether its solutions are groups."""
        return bool(self.group_by) or any(_aggregates(expr) for _, expr in self.columns if expr)


AGGREGATES = frozenset(["COUNT", "SUM", "AVG", "MIN", "MAX", "SAMPLE", "GROUP_CONCAT"])
_BARE = {
    XSD_INTEGER: re.compile(r"\d+"),
    XSD_DECIMAL: re.compile(r"\d*\.\d+"),
    XSD_DOUBLE: re.compile(r"(?:\d+\.?\d*|\.\d+)[eE][+-]?\d+"),
    XSD_BOOLEAN: re.compile(r"true|false"),
}
_INFIX = frozenset(["||", "&&", "=", "!=", "<", ">", "<=", ">=", "+", "-", "*", "/"])


def _aggregates(expression: Expression) -> bool:
    if not isinstance(expression, Call):
        return False
    return expression.name.split()[0] in AGGREGATES or any(map(_aggregates, expression.arguments))


def variables_of(part: object) -> Iterator[Variable]:
    """Yield the variables of any part of a tree, in order, as often as they stand there.

    Of a sub-select those are its columns.
    """
    match part:
        case Variable():
            yield part
        case Query(columns=columns) if columns:
            yield from (variable for variable, _ in columns)
        case Query(where=where):
            yield from variables_of(where)
        case tuple():
            for inner in part:
                yield from variables_of(inner)
        case (
            Path()
            | Call()
            | Pattern()
            | Filter()
            | Bind()
            | Values()
            | Nested()
            | Union()
            | Group()
        ):
            for name in part.__dataclass_fields__:
                yield from variables_of(getattr(part, name))


def text_of(part: Predicate | Expression | Element | None) -> str:
    """Return any part of a tree as SPARQL, IRIs in full."""
    match part:
        case None:
            return "UNDEF"
        case Path():
            return _path_text(part)
        case Call():
            return _call_text(part)
        case Group():
            return "{ " + " ".join(_element_text(element) for element in part.elements) + " }"
        case Query():
            return _query_text(part)
        case Literal():
            return _literal_text(part)
        case Pattern() | Filter() | Bind() | Values() | Nested() | Union():
            return _element_text(part)
        case _:
            return str(part)


def _literal_text(literal: Literal) -> str:
    """A literal; whole numbers, decimals and booleans without quotation marks."""
    pattern = _BARE.get(literal.datatype.value)
    return literal.value if pattern and pattern.fullmatch(literal.value) else str(literal)


def _element_text(element: Element) -> str:
    match element:
        case Pattern(subject=subject, predicate=predicate, object=value):
            return " ".join([text_of(subject), text_of(predicate), text_of(value), "."])
        case Filter():
            return "FILTER" + _condition_text(element.condition)
        case Bind():
            return f"BIND({text_of(element.value)} AS {element.variable})"
        case Values():
            rows = " ".join(f"({' '.join(map(text_of, row))})" for row in element.rows)
            return f"VALUES ({' '.join(map(str, element.variables))}) {{ {rows} }}"
        case Nested():
            name = "" if element.name is None else f"{element.name} "
            name = f"SILENT {name}" if element.silent else name
            return f"{element.word} {name}{text_of(element.group)}".lstrip()
        case Union():
            return " UNION ".join(text_of(group) for group in element.groups)
        case Query():
            return f"{{ {_query_text(element)} }}"


def _condition_text(condition: Expression) -> str:
    if isinstance(condition, Call) and condition.name in ("EXISTS", "NOT EXISTS"):
        return " " + text_of(condition)
    return _in_parentheses(condition, variables=True)


def _path_text(path: Path) -> str:
    inner = [
        text_of(part) if isinstance(part, NamedNode) else f"({text_of(part)})"
        for part in path.parts
    ]
    match path.operator:
        case "/" | "|":
            return path.operator.join(inner)
        case "^":
            return "^" + inner[0]
        case "!":
            plain = [text_of(part) for part in path.parts]
            return f"!({'|'.join(plain)})"
        case _:
            return inner[0] + path.operator


def _call_text(call: Call) -> str:
    texts = [text_of(argument) for argument in call.arguments]
    if call.name in _INFIX and len(texts) == 2:
        return f"({texts[0]} {call.name} {texts[1]})"
    match call.name:
        case "!" | "-" | "+":
            return f"{call.name}({texts[0]})"
        case "IN" | "NOT IN":
            return f"({texts[0]} {call.name} ({', '.join(texts[1:])}))"
        case "EXISTS" | "NOT EXISTS":
            return f"{call.name} {texts[0]}"
    name, _, distinct = call.name.partition(" ")
    inner = ", ".join(texts) if texts or name != "COUNT" else "*"
    ending = "" if call.separator is None else f"; SEPARATOR={Literal(call.separator)}"
    return f"{name}({distinct} {inner}{ending})" if distinct else f"{name}({inner}{ending})"


def _query_text(query: Query) -> str:
    words = [_head_text(query), *query.datasets, "WHERE " + text_of(query.where)]
    if query.group_by:
        words.append("GROUP BY")
        words += [
            f"({text_of(value)} AS {name})" if name else _in_parentheses(value)
            for value, name in query.group_by
        ]
    if query.having:
        words += ["HAVING", *(_in_parentheses(condition) for condition in query.having)]
    if query.order:
        words.append("ORDER BY")
        words += [
            f"DESC({text_of(value)})" if down else _in_parentheses(value)
            for value, down in query.order
        ]
    if query.limit is not None:
        words.append(f"LIMIT {query.limit}")
    if query.offset:
        words.append(f"OFFSET {query.offset}")
    return " ".join(words)


def _head_text(query: Query) -> str:
    match query.form:
        case "SELECT":
            names = [
                f"({text_of(e)} AS {v})" if e is not None else str(v) for v, e in query.columns
            ]
            return " ".join(
                ["SELECT", *(["DISTINCT"] if query.distinct else []), *(names or ["*"])]
            )
        case "CONSTRUCT":
            return f"CONSTRUCT {{ {' '.join(text_of(pattern) for pattern in query.template)} }}"
        case "DESCRIBE":
            return " ".join(["DESCRIBE", *(str(term) for term in query.resources)])
        case form:
            return form


def _in_parentheses(expression: Expression, *, variables: bool = False) -> str:
    """An expression in parentheses where it is not in its own, variables too if asked."""
    text = text_of(expression)
    is_operation = isinstance(expression, Call) and text.startswith("(")
    is_plain = isinstance(expression, Variable) and not variables
    return text if is_operation or is_plain else f"({text})"
