"""Queries as text: any part of a tree on one line, or a whole query laid out for a reader."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import groupby
from typing import cast, overload

from pyoxigraph import Literal, NamedNode, Variable

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
    Predicate,
    Query,
    QueryText,
    Term,
    Union,
    Values,
    by_subject,
    renamed,
)
from askgraph.sparql.prefixes import PrefixMap, words_of_local_name
from askgraph.sparql.vocabulary import (
    RDF_TYPE,
    XSD_BOOLEAN,
    XSD_DECIMAL,
    XSD_DOUBLE,
    XSD_INTEGER,
    XSD_STRING,
)

CAMEL = {
    name.lower(): name
    for name in ("isIRI", "isURI", "isLiteral", "isBlank", "isNumeric", "sameTerm", "true", "false")
}
_BARE = {
    XSD_INTEGER: re.compile(r"\d+"),
    XSD_DECIMAL: re.compile(r"\d*\.\d+"),
    XSD_DOUBLE: re.compile(r"(?:\d+\.?\d*|\.\d+)[eE][+-]?\d+"),
    XSD_BOOLEAN: re.compile(r"true|false"),
}
_LEVELS = {
    "||": 1,
    "&&": 2,
    **dict.fromkeys(["=", "!=", "<", ">", "<=", ">=", "IN", "NOT IN"], 3),
    "+": 4,
    "-": 4,
    "*": 5,
    "/": 5,
}
_UNARY, _OPERAND = 6, 7
_COMPARISON = 3
_PATH_LEVELS = {"|": 1, "/": 2, "^": 3, "!": 4, "*": 4, "+": 4, "?": 4}
WIDTH = 100
INLINE_WIDTH = 72
_LABEL_LENGTH = 60
_NAME = re.compile(r'"(?:\\.|[^"\\])*"|<[^<>\s]*>|[?$]?(?:[\w:%·‿⁀-]|\.(?=[\w:%-])|\\.)+')


class Written(QueryText):
    """The text of a query that the program wrote out of a tree.

    Nobody has to judge whether it may be run: no tree is an update, and its terms are sound, so
    that none of them can end before its place does.
    """


def tree_of(query: Query | str) -> Query:
    """Return the tree of a query, which comes as one or as text; raises as `read` does."""
    if isinstance(query, QueryText):
        return query.tree
    if isinstance(query, Query):
        return query
    from askgraph.sparql.parser import read  # what the program wrote is never read

    return read(query)


@overload
def text_of(part: Query) -> Written: ...
@overload
def text_of(part: Predicate | Expression | Element | None) -> str: ...
def text_of(part: Predicate | Expression | Element | None) -> str:
    """Return any part of a tree as SPARQL on one line, IRIs in full."""
    text = _ONE_LINE.part(part)
    return Written.of(part, text) if isinstance(part, Query) else text


def laid_out(query: Query, prefixes: PrefixMap, labels: Mapping[str, str] | None = None) -> Written:
    """Return a query as a careful person writes it: short names, one pattern a line.

    Only prefixes that are used are declared. Patterns with the same subject stand together; a
    pattern that comes twice in a run is written once. `labels` (IRI -> label) become comments if
    the IRI itself does not say the same.
    """
    names = Names(prefixes, labels or {})
    return Written.of(by_subject(query), names.finished(Lines(names).query(query)))


def render_query(
    query: Query, prefixes: PrefixMap, types: Iterable[tuple[str, str]] = ()
) -> Written:
    """Render a query with one pattern per line, using the graph's own predicates."""
    names = dict(types)
    body = "\n".join(_Plain(Names(prefixes, {})).query(renamed(query, names) if names else query))
    header = prefixes.header(body)
    return Written.of(query, f"{header}\n{body}" if header else body)


def expression_text(expression: Expression, prefixes: PrefixMap | None = None) -> str:
    """Return an expression as it stands in a query that is laid out."""
    return Lines(Names(prefixes or PrefixMap(), {})).part(expression)


class _OneLine:
    """Parts of a tree on one line: IRIs in full, each operation in parentheses."""

    def part(self, part: Predicate | Expression | Element | None) -> str:
        match part:
            case Path():
                return self.path(part)
            case Call():
                return self.call(part)
            case Group():
                return self.group(part)
            case Query():
                return self.query_text(part)
            case Pattern() | Filter() | Bind() | Values() | Nested() | Union():
                return self.element(part)
            case _:
                return self.term(part)

    def name(self, iri: NamedNode) -> str:
        return str(iri)

    def term(self, term: Term | None) -> str:
        if isinstance(term, NamedNode):
            return self.name(term)
        if isinstance(term, Literal):
            return self.literal(term)
        return "UNDEF" if term is None else str(term)

    def literal(self, literal: Literal) -> str:
        """A literal; whole numbers, decimals and booleans without quotation marks."""
        pattern = _BARE.get(literal.datatype.value)
        return literal.value if pattern and pattern.fullmatch(literal.value) else str(literal)

    def group(self, group: Group) -> str:
        return "{ " + " ".join(map(self.element, group.elements)) + " }"

    def element(self, element: Element) -> str:
        match element:
            case Pattern(subject=subject, predicate=predicate, object=value):
                return f"{self.term(subject)} {self.path(predicate)} {self.term(value)} ."
            case Filter():
                return self.filter(element.condition)
            case Bind():
                return f"BIND({self.part(element.value)} AS {element.variable})"
            case Values():
                head, rows = self.table(element)
                return f"VALUES {head} {{ {' '.join(rows)} }}"
            case Nested():
                return f"{self.words(element)} {self.group(element.group)}".lstrip()
            case Union():
                return " UNION ".join(map(self.group, element.groups))
            case Query():
                return f"{{ {self.query_text(element)} }}"

    def table(self, values: Values) -> tuple[str, list[str]]:
        """The head and the rows of VALUES."""
        rows = [f"({' '.join(map(self.term, row))})" for row in values.rows]
        return f"({' '.join(map(str, values.variables))})", rows

    def filter(self, condition: Expression) -> str:
        if isinstance(condition, Call) and condition.name in ("EXISTS", "NOT EXISTS"):
            return f"FILTER {self.call(condition)}"
        return f"FILTER{self.parenthesised(condition)}"

    def words(self, nested: Nested) -> str:
        """The words before a group."""
        name = "" if nested.name is None else self.term(nested.name)
        return " ".join(filter(None, [nested.word, "SILENT" if nested.silent else "", name]))

    def path(self, path: Predicate) -> str:
        if not isinstance(path, Path):
            return self.term(path)
        inner = [
            self.name(part) if isinstance(part, NamedNode) else f"({self.path(part)})"
            for part in path.parts
        ]
        match path.operator:
            case "/" | "|":
                return path.operator.join(inner)
            case "^":
                return "^" + inner[0]
            case "!":
                return f"!({'|'.join(map(self.path, path.parts))})"
            case _:
                return inner[0] + path.operator

    def call(self, call: Call) -> str:
        texts = [self.part(argument) for argument in call.arguments]
        if _is_infix(call):
            return f"({self.operation(call.name, texts)})"
        if call.name in ("!", "-", "+"):
            return f"{call.name}({texts[0]})"
        if call.name in ("EXISTS", "NOT EXISTS"):
            return f"{call.name} {texts[0]}"
        return self.function(call, texts)

    def operation(self, name: str, texts: list[str]) -> str:
        if name in ("IN", "NOT IN"):
            return f"{texts[0]} {name} ({', '.join(texts[1:])})"
        return f"{texts[0]} {name} {texts[1]}"

    def function(self, call: Call, texts: list[str]) -> str:
        """A call of a function or an aggregate."""
        name, _, distinct = call.name.partition(" ")
        inner = ", ".join(texts) if texts or name != "COUNT" else "*"
        ending = "" if call.separator is None else f"; SEPARATOR={Literal(call.separator)}"
        name = self.function_name(name)
        return f"{name}({distinct} {inner}{ending})" if distinct else f"{name}({inner}{ending})"

    def function_name(self, name: str) -> str:
        return name

    def parenthesised(self, expression: Expression) -> str:
        """An expression in parentheses, once."""
        text = self.part(expression)
        return text if isinstance(expression, Call) and text.startswith("(") else f"({text})"

    def key(self, expression: Expression, *, descending: bool = False) -> str:
        """What is grouped or ordered by, or a condition on groups."""
        if descending:
            return f"DESC({self.part(expression)})"
        is_name = isinstance(expression, Variable)
        return str(expression) if is_name else self.parenthesised(expression)

    def ordered(self, expression: Expression, *, descending: bool) -> str:
        return self.key(expression, descending=descending)

    def query_text(self, query: Query) -> str:
        where = "WHERE " + self.group(query.where)
        return " ".join([self.head(query), *query.datasets, where, *self.modifiers(query)])

    def head(self, query: Query) -> str:
        match query.form:
            case "SELECT" | "DESCRIBE":
                return " ".join(self.items(query))
            case "CONSTRUCT":
                return f"CONSTRUCT {{ {' '.join(map(self.element, query.template))} }}"
            case form:
                return form

    def items(self, query: Query) -> list[str]:
        """The keyword of a SELECT or DESCRIBE, and what it asks for."""
        if query.form == "DESCRIBE":
            return ["DESCRIBE", *(map(self.term, query.resources) if query.resources else "*")]
        names = [
            str(name) if value is None else f"({self.part(value)} AS {name})"
            for name, value in query.columns
        ]
        modifier = " DISTINCT" if query.distinct else " REDUCED" if query.reduced else ""
        return ["SELECT" + modifier, *(names or ["*"])]

    def modifiers(self, query: Query) -> list[str]:
        lines = []
        if query.group_by:
            keys = [
                f"({self.part(value)} AS {name})" if name else self.key(value)
                for value, name in query.group_by
            ]
            lines.append(f"GROUP BY {' '.join(keys)}")
        if query.having:
            lines.append(f"HAVING {' '.join(map(self.parenthesised, query.having))}")
        if query.order:
            keys = [self.ordered(value, descending=down) for value, down in query.order]
            lines.append(f"ORDER BY {' '.join(keys)}")
        if query.limit is not None:
            lines.append(f"LIMIT {query.limit}")
        if query.offset:
            lines.append(f"OFFSET {query.offset}")
        return lines + (self.rows(query.values) if query.values else [])

    def rows(self, values: Values) -> list[str]:
        return [self.element(values)]


def _is_infix(call: Call) -> bool:
    return call.name in ("IN", "NOT IN") or (call.name in _LEVELS and len(call.arguments) == 2)


_ONE_LINE = _OneLine()


class Lines(_OneLine):
    """Parts of a tree as a careful person writes them: short names, few parentheses, lines."""

    def __init__(self, names: Names) -> None:
        self.names = names

    def name(self, iri: NamedNode) -> str:
        """Return the short name of an IRI."""
        return self.names.of(iri.value)

    def literal(self, literal: Literal) -> str:
        """A literal; numbers and booleans without quotation marks, a datatype by its name."""
        datatype = literal.datatype.value
        pattern = _BARE.get(datatype)
        if pattern and pattern.fullmatch(literal.value.lstrip("+-")):
            return literal.value
        if literal.language or datatype == XSD_STRING:
            return str(literal)
        return f"{Literal(literal.value)}^^{self.names.of(datatype)}"

    def path(self, path: Predicate, level: int = 0) -> str:
        """Return a path, in parentheses if what stands around it binds as strongly."""
        if not isinstance(path, Path):
            is_type = isinstance(path, NamedNode) and path.value == RDF_TYPE
            return "a" if is_type else self.term(path)
        operator = path.operator
        own = _PATH_LEVELS[operator]
        match operator:
            case "/" | "|":
                text = operator.join(self.path(part, own + 1) for part in path.parts)
            case "^":
                text = "^" + self.path(path.parts[0], own + 1)
            case "!":
                text = f"!({'|'.join(map(self.path, path.parts))})"
            case _:
                text = self.path(path.parts[0], own + 1) + operator
        return f"({text})" if own < level or (level and path.bracketed) else text

    def call(self, call: Call, level: int = 0) -> str:
        """A call, in parentheses if what stands around it binds as strongly."""
        if _is_infix(call):
            own = _LEVELS[call.name]
            text = self.operation(call.name, self.operands(call, own))
            return f"({text})" if own < level or (level and call.bracketed) else text
        match call:
            case Call(name="!" | "-" | "+", arguments=(inner,)):
                value = self.operand(inner, _OPERAND)
                text = call.name + (f"({value})" if isinstance(inner, Literal) else value)
                return f"({text})" if level > _UNARY else text
            case Call(name="EXISTS" | "NOT EXISTS", arguments=(Group() as group,)):
                return "\n".join(braced(f"{call.name} ", self.body(group)))
        return self.function(call, [self.part(argument) for argument in call.arguments])

    def operands(self, call: Call, own: int) -> list[str]:
        """What stands on the two sides of an operator; AND within OR keeps its parentheses."""
        first, *rest = call.arguments
        if call.name in ("IN", "NOT IN"):
            return [self.operand(first, own + 1), *map(self.part, rest)]
        inner = own + (own == _COMPARISON)
        if call.name == "||":
            return [self.alternative(first, own), *(self.alternative(one, own + 1) for one in rest)]
        return [self.operand(first, inner), *(self.operand(one, own + 1) for one in rest)]

    def alternative(self, expression: Expression, level: int) -> str:
        """Return an operand of `||`; `&&` within it gets parentheses."""
        is_joined = isinstance(expression, Call) and expression.name == "&&"
        return self.operand(expression, _LEVELS["&&"] + 1 if is_joined else level)

    def operand(self, expression: Expression, level: int) -> str:
        """Return an operand of an operator of some level."""
        return (
            self.call(expression, level) if isinstance(expression, Call) else self.part(expression)
        )

    def function_name(self, name: str) -> str:
        """Return the name of a function as people write it."""
        if name.startswith("<"):
            return self.names.of(name[1:-1])
        return CAMEL.get(name.lower(), name)

    def parenthesised(self, expression: Expression) -> str:
        """Return an expression in parentheses."""
        return f"({self.part(expression)})"

    def ordered(self, expression: Expression, *, descending: bool) -> str:
        """Return a key of ORDER BY."""
        if isinstance(expression, Variable) and not descending:
            return str(expression)
        return f"{'DESC' if descending else 'ASC'}({self.part(expression)})"

    def query(self, query: Query) -> list[str]:
        """The lines of a query, or of one inside another."""
        lines = self.heads(query)
        for clause in query.datasets:
            words, _, iri = clause.rpartition(" ")
            lines.append(f"{words} {self.names.of(iri[1:-1])}")
        if query.form == "DESCRIBE" and not query.where.elements:
            return lines + self.modifiers(query)
        opening = "{" if query.form == "ASK" else "WHERE {"
        if len(lines) == 1 or lines[-1] == "}":
            opening = f"{lines.pop()} {opening}"
        return [*lines, opening, *indented(self.body(query.where)), "}", *self.modifiers(query)]

    def heads(self, query: Query) -> list[str]:
        """The lines before the datasets and the WHERE group."""
        match query.form:
            case "SELECT":
                items = self.items(query)
                line = " ".join(items)
                fits = len(line) <= WIDTH - len(" WHERE {")
                return [line] if fits else [items[0], *indented(items[1:])]
            case "CONSTRUCT":
                return ["CONSTRUCT {", *indented(self.body(Group(query.template))), "}"]
            case _:
                return [self.head(query)]

    def body(self, group: Group) -> list[str]:
        """The lines between the braces of a group."""
        if len(group.elements) == 1 and isinstance(group.elements[0], Query):
            return self.query(group.elements[0])
        lines: list[str] = []
        for is_triples, run in groupby(group.elements, lambda one: isinstance(one, Pattern)):
            if is_triples:
                lines += self.triples(cast("list[Pattern]", list(run)))
            else:
                lines += [line for element in run for line in self.element_lines(element)]
        return lines

    def triples(self, patterns: Sequence[Pattern]) -> list[str]:
        """The lines of patterns in a row."""
        block = Triples()
        for one in patterns:
            pair = (self.path(one.predicate), self.term(one.object))
            block.add(self.term(one.subject), [(*pair, isinstance(one.predicate, Path))])
        return block.lines()

    def rows(self, values: Values) -> list[str]:
        """Return the lines of VALUES."""
        head, rows = self.table(values)
        line = f"VALUES {head} {{ {' '.join(rows)} }}"
        if len(line) <= WIDTH - 8 and (not head.startswith("(") or len(rows) < 3):
            return [line]
        return [f"VALUES {head} {{", *indented(rows), "}"]

    def element_lines(self, element: Element) -> list[str]:
        """Return the lines of an element other than triples."""
        match element:
            case Nested(word=""):
                return union_lines([self.body(element.group)])
            case Nested():
                return braced(self.words(element) + " ", self.body(element.group))
            case Union():
                return union_lines([self.body(group) for group in element.groups])
            case Query():
                return union_lines([self.query(element)])
            case Values():
                return self.rows(element)
            case _:
                return self.element(element).split("\n")


class _Plain(Lines):
    """Parts of a tree with one pattern a line, and the rest spread out as it comes."""

    def query(self, query: Query) -> list[str]:
        head = self.head(query) + (" {" if query.form == "ASK" else " WHERE {")
        return [head, *indented(self.body(query.where)), "}", *self.modifiers(query)]

    def body(self, group: Group) -> list[str]:
        return [line for element in group.elements for line in self.spread(element)]

    def spread(self, element: Element) -> list[str]:
        match element:
            case Pattern():
                return [self.element(element)]
            case Nested(word="OPTIONAL"):
                return [f"OPTIONAL {{ {' '.join(self.body(element.group))} }}"]
            case Nested():
                return [f"{self.words(element)} {{".lstrip(), *self.braces(element.group)]
            case Union(groups=(first, *others)):
                lines = ["{", *self.braces(first)]
                return lines + [line for one in others for line in ["UNION {", *self.braces(one)]]
            case Query():
                head, *body, last = self.query(element)
                return [f"{{ {head}", *body, f"{last} }}"]
            case Filter(condition=Call(name="NOT EXISTS", arguments=(Group() as group,))):
                return ["FILTER NOT EXISTS {", *self.braces(group)]
            case Values():
                head, rows = self.table(element)
                return [f"VALUES {head} {{ {' '.join(rows)} }}"]
            case _:
                return [self.element(element)]

    def braces(self, group: Group) -> list[str]:
        return [*indented(self.body(group)), "}"]


@dataclass(frozen=True)
class Names:
    """The short names of one query's IRIs, and the comments that explain them."""

    prefixes: PrefixMap
    labels: Mapping[str, str]
    comments: dict[str, str] = field(default_factory=dict)
    known: dict[str, str] = field(default_factory=dict)

    def of(self, iri: str) -> str:
        """Return the shortest name that an IRI has."""
        if iri in self.known:
            return self.known[iri]
        name = self.known[iri] = self.prefixes.shorten(iri)
        label = self.labels.get(iri)
        if label and _adds(label, iri):
            text = " ".join(label.split())
            cut = text[: _LABEL_LENGTH - 1].rstrip() + "…"
            self.comments[name] = text if len(text) <= _LABEL_LENGTH else cut
        return name

    def finished(self, lines: Iterable[str]) -> str:
        """Return the lines as one text, with the declarations and comments that they need."""
        lines = list(lines)
        body = "\n".join(map(self._with_comment, lines)) if self.comments else "\n".join(lines)
        return self.prefixes.header("\n".join(lines)) + body

    def _with_comment(self, line: str) -> str:
        """The line, its opaque names explained at its end."""
        if not any(name in line for name in self.comments):
            return line
        named = dict.fromkeys(name for name in _NAME.findall(line) if name in self.comments)
        return f"{line}  # {', '.join(self.comments[name] for name in named)}" if named else line


def _adds(label: str, iri: str) -> bool:
    """Whether a label says more than the local name of its IRI does."""
    local = words_of_local_name(iri).casefold()
    said = set(re.findall(r"\w+", local))
    words = re.findall(r"\w+", label.casefold())
    return not set(words) <= said and "".join(words) != "".join(re.findall(r"\w+", local))


@dataclass
class Triples:
    """Triple patterns in a row, gathered by subject."""

    subjects: dict[str, list[tuple[str, str]]] = field(default_factory=dict)

    def add(self, subject: str, pairs: Iterable[tuple[str, str, bool]]) -> None:
        """Add predicates and objects of one subject; a pattern already there is dropped.

        The third of each says that the pattern must stay, as a path may match more than once.
        """
        key = f"{subject}\n{len(self.subjects)}" if subject[0] in "[(" else subject
        there = self.subjects.setdefault(key, [])
        for verb, objects, stays in pairs:
            if stays or objects[0] in "[(" or (verb, objects) not in there:
                there.append((verb, objects))

    def lines(self) -> list[str]:
        """Return one line a pattern, the class of a subject first."""
        found: list[str] = []
        for key, pairs in self.subjects.items():
            pairs.sort(key=lambda pair: pair[0] != "a")
            texts = [" ".join(pair) for pair in pairs]
            lines = [" ".join([key.partition("\n")[0], *texts[:1]])]
            lines += ["    " + text for text in texts[1:]]
            found += [line + " ;" for line in lines[:-1]] + [lines[-1] + " ."]
        return found


def indented(lines: Iterable[str]) -> list[str]:
    """Return the lines as the body of what stands around them."""
    return ["  " + line for line in lines]


def braced(head: str, body: list[str]) -> list[str]:
    """Return a group after its words, on one line if it is short."""
    if len(body) == 1 and len(head) + len(body[0]) <= INLINE_WIDTH:
        return [f"{head}{{ {body[0]} }}"]
    return [f"{head}{{", *indented(body), "}"]


def union_lines(parts: list[list[str]]) -> list[str]:
    """Return groups with UNION between them."""
    if all(len(part) == 1 for part in parts):
        line = " UNION ".join(f"{{ {part[0]} }}" for part in parts)
        if len(line) <= WIDTH - 8:
            return [line]
    lines: list[str] = []
    for part in parts:
        lines[-1:] = ["} UNION {"] if lines else ["{"]
        lines += [*indented(part), "}"]
    return lines
