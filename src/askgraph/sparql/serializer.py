"""Write queries as text: any part of a tree on one line, or a whole query laid out for a reader."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import groupby
from typing import cast, overload

from pyoxigraph import Literal, NamedNode, Variable

from askgraph import sparql as ast
from askgraph.sparql import vocabulary as v
from askgraph.sparql.prefixes import PrefixMap, split_local_name

CAMEL_CASE_NAMES = {
    name.lower(): name
    for name in ("isIRI", "isURI", "isLiteral", "isBlank", "isNumeric", "sameTerm", "true", "false")
}
_UNQUOTED_LITERALS = {
    v.XSD_INTEGER: re.compile(r"\d+"),
    v.XSD_DECIMAL: re.compile(r"\d*\.\d+"),
    v.XSD_DOUBLE: re.compile(r"(?:\d+\.?\d*|\.\d+)[eE][+-]?\d+"),
    v.XSD_BOOLEAN: re.compile(r"true|false"),
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
_UNARY_LEVEL, _OPERAND_LEVEL = 6, 7
_COMPARISON_LEVEL = 3
_PATH_LEVELS = {"|": 1, "/": 2, "^": 3, "!": 4, "*": 4, "+": 4, "?": 4}
MAX_LINE_CHARACTERS = 100
MAX_INLINE_CHARACTERS = 72
_MAX_LABEL_CHARACTERS = 60
_NAME = re.compile(r'"(?:\\.|[^"\\])*"|<[^<>\s]*>|[?$]?(?:[\w:%·‿⁀-]|\.(?=[\w:%-])|\\.)+')


class SerializedQuery(ast.QueryText):
    """The text of a query that the program wrote from a tree.

    It needs no check before it runs: no tree is an update, and each of its terms is valid, so that
    it cannot break out of its position.
    """


def to_tree(query: ast.Query | str) -> ast.Query:
    """Return the tree of a query, given as tree or text; raises as `parse_tree` does."""
    if isinstance(query, ast.QueryText):
        return query.tree
    if isinstance(query, ast.Query):
        return query
    from askgraph.sparql.parser import parse_tree  # only for external queries

    return parse_tree(query)


@overload
def to_text(part: ast.Query) -> SerializedQuery: ...
@overload
def to_text(part: ast.Predicate | ast.Expression | ast.Element | None) -> str: ...
def to_text(part: ast.Predicate | ast.Expression | ast.Element | None) -> str:
    """Return any part of a tree as SPARQL on one line, IRIs in full."""
    text = _INLINE_WRITER.write(part)
    return SerializedQuery.from_tree(part, text) if isinstance(part, ast.Query) else text


def format_tree(
    query: ast.Query, prefixes: PrefixMap, labels: Mapping[str, str] | None = None
) -> SerializedQuery:
    """Return a query in a readable layout: short names, one pattern per line.

    Only used prefixes are declared. Patterns with the same subject stand together; duplicate
    patterns in a run are written once.

    Args:
        labels: labels by IRI; they become comments unless the IRI itself is readable.
    """
    names = ShortNames(prefixes, labels or {})
    return SerializedQuery.from_tree(
        ast.group_patterns_by_subject(query),
        names.build_text(QueryFormatter(names).write_query_lines(query)),
    )


def render_query(
    query: ast.Query, prefixes: PrefixMap, types: Iterable[tuple[str, str]] = ()
) -> SerializedQuery:
    """Render a query with one pattern per line, using the graph's own predicates."""
    names = dict(types)
    body = "\n".join(
        _PlainFormatter(ShortNames(prefixes, {})).write_query_lines(
            ast.rename_iris(query, names) if names else query
        )
    )
    header = prefixes.build_header(body)
    return SerializedQuery.from_tree(query, f"{header}\n{body}" if header else body)


def format_expression(expression: ast.Expression, prefixes: PrefixMap | None = None) -> str:
    """Return an expression as it appears in a formatted query."""
    return QueryFormatter(ShortNames(prefixes or PrefixMap(), {})).write(expression)


class _InlineWriter:
    """Writes parts of a tree on one line: full IRIs, each operation in parentheses."""

    def write(self, part: ast.Predicate | ast.Expression | ast.Element | None) -> str:
        match part:
            case ast.Path():
                return self.write_path(part)
            case ast.Call():
                return self.write_call(part)
            case ast.Group():
                return self.write_group(part)
            case ast.Query():
                return self.write_query(part)
            case (
                ast.Pattern()
                | ast.Filter()
                | ast.Bind()
                | ast.Values()
                | ast.Nested()
                | ast.Union()
            ):
                return self.write_element(part)
            case _:
                return self.write_term(part)

    def write_name(self, iri: NamedNode) -> str:
        return str(iri)

    def write_term(self, term: ast.Term | None) -> str:
        if isinstance(term, NamedNode):
            return self.write_name(term)
        if isinstance(term, Literal):
            return self.write_literal(term)
        return "UNDEF" if term is None else str(term)

    def write_literal(self, literal: Literal) -> str:
        """Return a literal; whole numbers, decimals and booleans without quotation marks."""
        pattern = _UNQUOTED_LITERALS.get(literal.datatype.value)
        return literal.value if pattern and pattern.fullmatch(literal.value) else str(literal)

    def write_group(self, group: ast.Group) -> str:
        return "{ " + " ".join(map(self.write_element, group.elements)) + " }"

    def write_element(self, element: ast.Element) -> str:
        match element:
            case ast.Pattern(subject=subject, predicate=predicate, object=value):
                return (
                    f"{self.write_term(subject)} {self.write_path(predicate)} "
                    f"{self.write_term(value)} ."
                )
            case ast.Filter(condition=ast.Call(name="EXISTS" | "NOT EXISTS") as call):
                return f"FILTER {self.write_call(call)}"
            case ast.Filter():
                return f"FILTER{self.parenthesize(element.condition)}"
            case ast.Bind():
                return f"BIND({self.write(element.value)} AS {element.variable})"
            case ast.Values():
                head, rows = self.write_table(element)
                return f"VALUES {head} {{ {' '.join(rows)} }}"
            case ast.Nested():
                return f"{self.write_keywords(element)} {self.write_group(element.group)}".lstrip()
            case ast.Union():
                return " UNION ".join(map(self.write_group, element.groups))
            case ast.Query():
                return f"{{ {self.write_query(element)} }}"

    def write_table(self, values: ast.Values) -> tuple[str, list[str]]:
        """Return the head and the rows of VALUES."""
        rows = [f"({' '.join(map(self.write_term, row))})" for row in values.rows]
        return f"({' '.join(map(str, values.variables))})", rows

    def write_keywords(self, nested: ast.Nested) -> str:
        """Return the words before a group."""
        name = "" if nested.name is None else self.write_term(nested.name)
        return " ".join(filter(None, [nested.word, "SILENT" if nested.silent else "", name]))

    def write_path(self, path: ast.Predicate) -> str:
        if not isinstance(path, ast.Path):
            return self.write_term(path)
        parts = [
            self.write_name(part) if isinstance(part, NamedNode) else f"({self.write_path(part)})"
            for part in path.parts
        ]
        match path.operator:
            case "/" | "|":
                return path.operator.join(parts)
            case "^":
                return "^" + parts[0]
            case "!":
                return f"!({'|'.join(map(self.write_path, path.parts))})"
            case _:
                return parts[0] + path.operator

    def write_call(self, call: ast.Call) -> str:
        texts = [self.write(argument) for argument in call.arguments]
        if _is_infix(call):
            return f"({self.write_operation(call.name, texts)})"
        if call.name in ("!", "-", "+"):
            return f"{call.name}({texts[0]})"
        if call.name in ("EXISTS", "NOT EXISTS"):
            return f"{call.name} {texts[0]}"
        return self.write_function(call, texts)

    def write_operation(self, name: str, texts: list[str]) -> str:
        if name in ("IN", "NOT IN"):
            return f"{texts[0]} {name} ({', '.join(texts[1:])})"
        return f"{texts[0]} {name} {texts[1]}"

    def write_function(self, call: ast.Call, texts: list[str]) -> str:
        """Return a call of a function or an aggregate."""
        name, _, distinct = call.name.partition(" ")
        argument_text = ", ".join(texts) if texts or name != "COUNT" else "*"
        ending = "" if call.separator is None else f"; SEPARATOR={Literal(call.separator)}"
        name = self.write_function_name(name)
        return (
            f"{name}({distinct} {argument_text}{ending})"
            if distinct
            else f"{name}({argument_text}{ending})"
        )

    def write_function_name(self, name: str) -> str:
        return name

    def parenthesize(self, expression: ast.Expression) -> str:
        """Return an expression in one pair of parentheses."""
        text = self.write(expression)
        return text if isinstance(expression, ast.Call) and text.startswith("(") else f"({text})"

    def write_key(self, expression: ast.Expression, *, descending: bool = False) -> str:
        """Return a grouping or sort key, or a condition on groups."""
        if descending:
            return f"DESC({self.write(expression)})"
        is_name = isinstance(expression, Variable)
        return str(expression) if is_name else self.parenthesize(expression)

    def write_order_key(self, expression: ast.Expression, *, descending: bool) -> str:
        return self.write_key(expression, descending=descending)

    def write_query(self, query: ast.Query) -> str:
        where = "WHERE " + self.write_group(query.where)
        return " ".join(
            [self.write_head(query), *query.datasets, where, *self.write_modifiers(query)]
        )

    def write_head(self, query: ast.Query) -> str:
        match query.form:
            case "SELECT" | "DESCRIBE":
                return " ".join(self.write_projection(query))
            case "CONSTRUCT":
                return f"CONSTRUCT {{ {' '.join(map(self.write_element, query.template))} }}"
            case form:
                return form

    def write_projection(self, query: ast.Query) -> list[str]:
        """Return the keyword of a SELECT or DESCRIBE, and its columns or resources."""
        if query.form == "DESCRIBE":
            return [
                "DESCRIBE",
                *(map(self.write_term, query.resources) if query.resources else "*"),
            ]
        names = [
            str(name) if value is None else f"({self.write(value)} AS {name})"
            for name, value in query.columns
        ]
        modifier = " DISTINCT" if query.distinct else " REDUCED" if query.reduced else ""
        return ["SELECT" + modifier, *(names or ["*"])]

    def write_modifiers(self, query: ast.Query) -> list[str]:
        lines = []
        if query.group_by:
            keys = [
                f"({self.write(value)} AS {name})" if name else self.write_key(value)
                for value, name in query.group_by
            ]
            lines.append(f"GROUP BY {' '.join(keys)}")
        if query.having:
            lines.append(f"HAVING {' '.join(map(self.parenthesize, query.having))}")
        if query.order:
            keys = [
                self.write_order_key(value, descending=is_descending)
                for value, is_descending in query.order
            ]
            lines.append(f"ORDER BY {' '.join(keys)}")
        if query.limit is not None:
            lines.append(f"LIMIT {query.limit}")
        if query.offset:
            lines.append(f"OFFSET {query.offset}")
        return lines + (self.write_values_lines(query.values) if query.values else [])

    def write_values_lines(self, values: ast.Values) -> list[str]:
        return [self.write_element(values)]


def _is_infix(call: ast.Call) -> bool:
    return call.name in ("IN", "NOT IN") or (call.name in _LEVELS and len(call.arguments) == 2)


_INLINE_WRITER = _InlineWriter()


class QueryFormatter(_InlineWriter):
    """Writes parts of a tree in a readable layout: short names, few parentheses, several lines."""

    def __init__(self, names: ShortNames) -> None:
        self.names = names

    def write_name(self, iri: NamedNode) -> str:
        """Return the short name of an IRI."""
        return self.names.get_name(iri.value)

    def write_literal(self, literal: Literal) -> str:
        """Return a literal; numbers and booleans unquoted, a datatype by its short name."""
        datatype = literal.datatype.value
        pattern = _UNQUOTED_LITERALS.get(datatype)
        if pattern and pattern.fullmatch(literal.value.lstrip("+-")):
            return literal.value
        if literal.language or datatype == v.XSD_STRING:
            return str(literal)
        return f"{Literal(literal.value)}^^{self.names.get_name(datatype)}"

    def write_path(self, path: ast.Predicate, level: int = 0) -> str:
        """Return a path, in parentheses if its surroundings bind as strongly."""
        if not isinstance(path, ast.Path):
            is_type = isinstance(path, NamedNode) and path.value == v.RDF_TYPE
            return "a" if is_type else self.write_term(path)
        operator = path.operator
        own_level = _PATH_LEVELS[operator]
        match operator:
            case "/" | "|":
                text = operator.join(self.write_path(part, own_level + 1) for part in path.parts)
            case "^":
                text = "^" + self.write_path(path.parts[0], own_level + 1)
            case "!":
                text = f"!({'|'.join(map(self.write_path, path.parts))})"
            case _:
                text = self.write_path(path.parts[0], own_level + 1) + operator
        return f"({text})" if own_level < level or (level and path.bracketed) else text

    def write_call(self, call: ast.Call, level: int = 0) -> str:
        """Return a call, in parentheses if its surroundings bind as strongly."""
        if _is_infix(call):
            own_level = _LEVELS[call.name]
            text = self.write_operation(call.name, self.write_operands(call, own_level))
            return f"({text})" if own_level < level or (level and call.bracketed) else text
        match call:
            case ast.Call(name="!" | "-" | "+", arguments=(operand,)):
                value = self.write_operand(operand, _OPERAND_LEVEL)
                text = call.name + (f"({value})" if isinstance(operand, Literal) else value)
                return f"({text})" if level > _UNARY_LEVEL else text
            case ast.Call(name="EXISTS" | "NOT EXISTS", arguments=(ast.Group() as group,)):
                return "\n".join(enclose_in_braces(f"{call.name} ", self.write_body(group)))
        return self.write_function(call, [self.write(argument) for argument in call.arguments])

    def write_operands(self, call: ast.Call, own_level: int) -> list[str]:
        """Return the operands of an operator; AND within OR keeps its parentheses."""
        first, *further = call.arguments
        if call.name in ("IN", "NOT IN"):
            return [self.write_operand(first, own_level + 1), *map(self.write, further)]
        inner_level = own_level + (own_level == _COMPARISON_LEVEL)
        write = self.write_alternative if call.name == "||" else self.write_operand
        return [
            write(first, inner_level),
            *(write(argument, own_level + 1) for argument in further),
        ]

    def write_alternative(self, expression: ast.Expression, level: int) -> str:
        """Return an operand of `||`; `&&` within it gets parentheses."""
        is_joined = isinstance(expression, ast.Call) and expression.name == "&&"
        return self.write_operand(expression, _LEVELS["&&"] + 1 if is_joined else level)

    def write_operand(self, expression: ast.Expression, level: int) -> str:
        """Return an operand of an operator with the given level."""
        return (
            self.write_call(expression, level)
            if isinstance(expression, ast.Call)
            else self.write(expression)
        )

    def write_function_name(self, name: str) -> str:
        """Return the name of a function in its usual spelling."""
        if name.startswith("<"):
            return self.names.get_name(name[1:-1])
        return CAMEL_CASE_NAMES.get(name.lower(), name)

    def parenthesize(self, expression: ast.Expression) -> str:
        """Return an expression in parentheses."""
        return f"({self.write(expression)})"

    def write_order_key(self, expression: ast.Expression, *, descending: bool) -> str:
        """Return a key of ORDER BY."""
        if isinstance(expression, Variable) and not descending:
            return str(expression)
        return f"{'DESC' if descending else 'ASC'}({self.write(expression)})"

    def write_query_lines(self, query: ast.Query) -> list[str]:
        """Return the lines of a query, or of a sub-select."""
        lines = self.write_head_lines(query)
        for clause in query.datasets:
            words, _, iri = clause.rpartition(" ")
            lines.append(f"{words} {self.names.get_name(iri[1:-1])}")
        if query.form == "DESCRIBE" and not query.where.elements:
            return lines + self.write_modifiers(query)
        opening = "{" if query.form == "ASK" else "WHERE {"
        if len(lines) == 1 or lines[-1] == "}":
            opening = f"{lines.pop()} {opening}"
        return [
            *lines,
            opening,
            *indent(self.write_body(query.where)),
            "}",
            *self.write_modifiers(query),
        ]

    def write_head_lines(self, query: ast.Query) -> list[str]:
        """Return the lines before the datasets and the WHERE group."""
        match query.form:
            case "SELECT":
                items = self.write_projection(query)
                line = " ".join(items)
                fits = len(line) <= MAX_LINE_CHARACTERS - len(" WHERE {")
                return [line] if fits else [items[0], *indent(items[1:])]
            case "CONSTRUCT":
                return ["CONSTRUCT {", *indent(self.write_body(ast.Group(query.template))), "}"]
            case _:
                return [self.write_head(query)]

    def write_body(self, group: ast.Group) -> list[str]:
        """Return the lines between the braces of a group."""
        if len(group.elements) == 1 and isinstance(group.elements[0], ast.Query):
            return self.write_query_lines(group.elements[0])
        lines: list[str] = []
        for is_triples, run in groupby(
            group.elements, lambda element: isinstance(element, ast.Pattern)
        ):
            if is_triples:
                lines += self.write_triples(cast("list[ast.Pattern]", list(run)))
            else:
                lines += [line for element in run for line in self.write_element_lines(element)]
        return lines

    def write_triples(self, patterns: Sequence[ast.Pattern]) -> list[str]:
        """Return the lines of consecutive patterns."""
        block = TripleBlock()
        for pattern in patterns:
            pair = (self.write_path(pattern.predicate), self.write_term(pattern.object))
            block.add(
                self.write_term(pattern.subject), [(*pair, isinstance(pattern.predicate, ast.Path))]
            )
        return block.write_lines()

    def write_values_lines(self, values: ast.Values) -> list[str]:
        """Return the lines of VALUES."""
        head, rows = self.write_table(values)
        line = f"VALUES {head} {{ {' '.join(rows)} }}"
        if len(line) <= MAX_LINE_CHARACTERS - 8 and (not head.startswith("(") or len(rows) < 3):
            return [line]
        return [f"VALUES {head} {{", *indent(rows), "}"]

    def write_element_lines(self, element: ast.Element) -> list[str]:
        """Return the lines of an element other than triples."""
        match element:
            case ast.Nested(word=""):
                return write_union([self.write_body(element.group)])
            case ast.Nested():
                return enclose_in_braces(
                    self.write_keywords(element) + " ", self.write_body(element.group)
                )
            case ast.Union():
                return write_union([self.write_body(group) for group in element.groups])
            case ast.Query():
                return write_union([self.write_query_lines(element)])
            case ast.Values():
                return self.write_values_lines(element)
            case _:
                return self.write_element(element).split("\n")


class _PlainFormatter(QueryFormatter):
    """Writes one pattern per line, without grouping by subject."""

    def write_query_lines(self, query: ast.Query) -> list[str]:
        head = self.write_head(query) + (" {" if query.form == "ASK" else " WHERE {")
        return [head, *indent(self.write_body(query.where)), "}", *self.write_modifiers(query)]

    def write_body(self, group: ast.Group) -> list[str]:
        return [line for element in group.elements for line in self.write_plain_lines(element)]

    def write_plain_lines(self, element: ast.Element) -> list[str]:
        match element:
            case ast.Nested(word="OPTIONAL"):
                return [f"OPTIONAL {{ {' '.join(self.write_body(element.group))} }}"]
            case ast.Nested():
                return [
                    f"{self.write_keywords(element)} {{".lstrip(),
                    *self.write_braced_body(element.group),
                ]
            case ast.Union(groups=(first_group, *further_groups)):
                return ["{", *self.write_braced_body(first_group)] + [
                    line
                    for group in further_groups
                    for line in ["UNION {", *self.write_braced_body(group)]
                ]
            case ast.Query():
                head, *body, last = self.write_query_lines(element)
                return [f"{{ {head}", *body, f"{last} }}"]
            case ast.Filter(
                condition=ast.Call(name="NOT EXISTS", arguments=(ast.Group() as group,))
            ):
                return ["FILTER NOT EXISTS {", *self.write_braced_body(group)]
            case _:
                return [self.write_element(element)]

    def write_braced_body(self, group: ast.Group) -> list[str]:
        return [*indent(self.write_body(group)), "}"]


@dataclass(frozen=True)
class ShortNames:
    """The short names of a query's IRIs, and the comments that explain them."""

    prefixes: PrefixMap
    labels: Mapping[str, str]
    comments: dict[str, str] = field(default_factory=dict)
    name_by_iri: dict[str, str] = field(default_factory=dict)

    def get_name(self, iri: str) -> str:
        """Return the shortest name of an IRI."""
        if iri in self.name_by_iri:
            return self.name_by_iri[iri]
        name = self.name_by_iri[iri] = self.prefixes.shorten(iri)
        label = self.labels.get(iri)
        if label and _is_informative_label(label, iri):
            text = " ".join(label.split())
            shortened = text[: _MAX_LABEL_CHARACTERS - 1].rstrip() + "…"
            self.comments[name] = text if len(text) <= _MAX_LABEL_CHARACTERS else shortened
        return name

    def build_text(self, lines: Iterable[str]) -> str:
        """Return the lines as one text, with the declarations and comments that they need."""
        lines = list(lines)
        body = "\n".join(map(self._add_comment, lines)) if self.comments else "\n".join(lines)
        return self.prefixes.build_header("\n".join(lines)) + body

    def _add_comment(self, line: str) -> str:
        """Return a line with its opaque names explained at the end."""
        if not any(name in line for name in self.comments):
            return line
        opaque_names = dict.fromkeys(name for name in _NAME.findall(line) if name in self.comments)
        return (
            f"{line}  # {', '.join(self.comments[name] for name in opaque_names)}"
            if opaque_names
            else line
        )


def _is_informative_label(label: str, iri: str) -> bool:
    local = split_local_name(iri).casefold()
    local_words = set(re.findall(r"\w+", local))
    words = re.findall(r"\w+", label.casefold())
    return not set(words) <= local_words and "".join(words) != "".join(re.findall(r"\w+", local))


@dataclass
class TripleBlock:
    """Consecutive triple patterns, grouped by subject."""

    subjects: dict[str, list[tuple[str, str]]] = field(default_factory=dict)

    def add(self, subject: str, pairs: Iterable[tuple[str, str, bool]]) -> None:
        """Add predicates and objects of a subject; a duplicate pattern is dropped.

        The third item of a pair marks a path, which must stay, since it may match more than once.
        """
        key = f"{subject}\n{len(self.subjects)}" if subject[0] in "[(" else subject
        known_pairs = self.subjects.setdefault(key, [])
        for verb, objects, is_path in pairs:
            if is_path or objects[0] in "[(" or (verb, objects) not in known_pairs:
                known_pairs.append((verb, objects))

    def write_lines(self) -> list[str]:
        """Return one line per pattern, the class of a subject first."""
        block_lines: list[str] = []
        for key, pairs in self.subjects.items():
            pairs.sort(key=lambda pair: pair[0] != "a")
            texts = [" ".join(pair) for pair in pairs]
            lines = [" ".join([key.partition("\n")[0], *texts[:1]])]
            lines += ["    " + text for text in texts[1:]]
            block_lines += [line + " ;" for line in lines[:-1]] + [lines[-1] + " ."]
        return block_lines


def indent(lines: Iterable[str]) -> list[str]:
    """Return the lines indented by one level."""
    return ["  " + line for line in lines]


def enclose_in_braces(head: str, body: list[str]) -> list[str]:
    """Return a group after its keywords, on one line if it is short."""
    if len(body) == 1 and len(head) + len(body[0]) <= MAX_INLINE_CHARACTERS:
        return [f"{head}{{ {body[0]} }}"]
    return [f"{head}{{", *indent(body), "}"]


def write_union(parts: list[list[str]]) -> list[str]:
    """Return groups joined by UNION."""
    if all(len(part) == 1 for part in parts):
        line = " UNION ".join(f"{{ {part[0]} }}" for part in parts)
        if len(line) <= MAX_LINE_CHARACTERS - 8:
            return [line]
    lines: list[str] = []
    for part in parts:
        lines[-1:] = ["} UNION {"] if lines else ["{"]
        lines += [*indent(part), "}"]
    return lines
