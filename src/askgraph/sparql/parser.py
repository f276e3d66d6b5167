"""The parser of SPARQL 1.1 queries: from text to a tree whose nodes know their positions.

It follows the grammar (https://www.w3.org/TR/sparql11-query/#grammar) rule by rule. Everything that
reads a query works on its tree: checks, rewriting, explanation, layout and federation.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache
from importlib.resources import files
from typing import NoReturn, TypeVar
from urllib.parse import quote, urljoin

from pyoxigraph import Literal, NamedNode, Variable

from askgraph import sparql as ast
from askgraph.errors import QuerySyntaxError
from askgraph.sparql import lexer
from askgraph.sparql.prefixes import WELL_KNOWN_PREFIXES
from askgraph.sparql.vocabulary import RDF_FIRST, RDF_NIL, RDF_REST, RDF_TYPE, XSD_BOOLEAN

Part = TypeVar("Part")

_FUNCTIONS = json.loads(files("askgraph.sparql").joinpath("functions.json").read_text("utf-8"))
FUNCTION_ARITIES: Mapping[str, Sequence[int]] = {
    name: tuple(map(int, counts.split()))
    for counts, names in _FUNCTIONS.items()
    for name in names.split()
}
"""The built-in functions, with the minimum and maximum number of arguments."""

_ELEMENT_KEYWORDS = ("{", "OPTIONAL", "MINUS", "GRAPH", "SERVICE", "FILTER", "BIND", "VALUES")
_COMPARISON_LEVEL = 3
_OPERATOR_LEVELS = {
    "||": 1,
    "&&": 2,
    **dict.fromkeys(["=", "!=", "<", ">", "<=", ">=", "IN", "NOT"], _COMPARISON_LEVEL),
    **dict.fromkeys("+-", 4),
    **dict.fromkeys("*/", 5),
}
_LANGUAGE_TAG = re.compile(r"@[A-Za-z]+(?:-[A-Za-z0-9]+)*")
_TERM_DESCRIPTION = "a variable, an IRI or a value"


@dataclass(frozen=True)
class TermOccurrence:
    """A term and its position: characters from `start` to before `end`.

    `value_end` is the end of the quoted text of a literal with a language or datatype, else `end`.
    """

    term: NamedNode | Literal
    start: int
    end: int
    value_end: int


@dataclass(frozen=True)
class ParsedSparql:
    """A query's tree as it is written, with VALUES after it in `values`.

    Attributes:
        terms: its IRIs and literals in written order, without declarations, datatypes, separators,
            names with an unknown prefix, and the numbers of LIMIT and OFFSET.
        flaw: offset and description of the first IRI or language tag that cannot be expanded, such
            as a relative IRI without BASE.
    """

    tree: ast.Query
    labels: Mapping[str, str]  # of blank nodes, by the names of their variables
    terms: tuple[TermOccurrence, ...]
    flaw: tuple[int, str] | None = None


def parse_query(text: str, prefixes: Mapping[str, str] | None = None) -> ParsedSparql:
    """Parse a query as its author wrote it; recent results are cached.

    Args:
        prefixes: namespaces of prefixes that the query does not declare; by default the well-known
            ones. An unknown prefix is kept as if it were a scheme.

    Raises:
        QuerySyntaxError: the text is not a query, or is an update; with line and column.
    """
    return _parse_cached(str(text), _select_prefixes(text, prefixes))


def parse_tree(query: str, prefixes: Mapping[str, str] | None = None) -> ast.Query:
    """Return the tree of a query, with VALUES after it joined to the rest.

    Otherwise as `parse_query`; also raises `QuerySyntaxError` for an IRI that cannot be expanded.
    """
    return _parse_tree_cached(str(query), _select_prefixes(query, prefixes))


def _select_prefixes(text: str, prefixes: Mapping[str, str] | None) -> tuple[tuple[str, str], ...]:
    """Return the undeclared prefixes that a text uses: they are part of the cache key."""
    namespaces = WELL_KNOWN_PREFIXES if prefixes is None else prefixes
    return tuple(
        (name, namespaces[name])
        for name in lexer.tokenize(text).undeclared_prefixes
        if name in namespaces
    )


@lru_cache(maxsize=1024)
def _parse_cached(text: str, prefixes: tuple[tuple[str, str], ...]) -> ParsedSparql:
    try:
        return _QueryParser(text, dict(prefixes)).parse()
    except RecursionError as problem:
        raise QuerySyntaxError("the query is nested too deeply to be parsed") from problem


@lru_cache(maxsize=1024)
def _parse_tree_cached(text: str, prefixes: tuple[tuple[str, str], ...]) -> ast.Query:
    parsed = _parse_cached(text, prefixes)
    if parsed.flaw is not None:
        lexer.raise_syntax_error(text, *parsed.flaw)
    query: ast.Query = parsed.tree
    rows = query.values
    if rows is None:
        return query
    query = replace(query, values=None)
    where = query.where
    if query.is_aggregate or query.having:
        if any(call.is_aggregate for call in ast.find_calls(query.order)):
            raise QuerySyntaxError(
                "VALUES after a query that groups and orders by an aggregate is not supported: "
                "move it into WHERE"
            )
        subquery = replace(query, order=(), limit=None, offset=None, distinct=False, datasets=())
        names = tuple((name, None) for name, _ in query.columns)
        wrapper = replace(query, columns=names, group_by=(), having=())
        return replace(wrapper, where=ast.Group((subquery, rows)))
    if any(
        isinstance(element, ast.Filter) for element in where.elements
    ):  # a filter does not see these rows
        return replace(query, where=ast.Group((ast.Nested("", where), rows)))
    return replace(query, where=ast.Group((*where.elements, rows)))


@dataclass
class _QueryParser:
    """A recursive-descent parser; each method consumes one construct and returns it."""

    text: str
    prefixes: dict[str, str]
    index: int = 0
    base: str = ""
    flaw: tuple[int, str] | None = None
    blank_count: int = 0
    is_template: bool = False  # triples without paths come
    terms: list[TermOccurrence] = field(default_factory=list)
    # Patterns inside nodes, `[ … ]` and `( … )`.
    nested_patterns: list[ast.Pattern] = field(default_factory=list)
    blank_variables: dict[str, Variable] = field(default_factory=dict)  # variables for blank nodes

    def __post_init__(self) -> None:
        """Split the text into tokens, with an extra one for its end."""
        tokens = lexer.tokenize(self.text).tokens
        self.tokens = (*tokens, lexer.Token("end", "", len(self.text.rstrip())))
        self.words = [
            token.text.upper() if token.kind in ("word", "mark") else "" for token in self.tokens
        ]
        self.used_names = set(lexer.tokenize(self.text).variable_names)

    # Tokens

    @property
    def token(self) -> lexer.Token:
        """The next token."""
        return self.tokens[self.index]

    @property
    def start(self) -> int:
        """The start of the next token."""
        return self.tokens[self.index].start

    @property
    def end(self) -> int:
        """The end of the previous token."""
        return self.tokens[self.index - 1].end

    def is_next(self, *words: str) -> bool:
        """Return whether one of some keywords or marks comes next, in any case."""
        return self.words[self.index] in words

    def skip(self, word: str) -> bool:
        """Consume a keyword or mark if it comes next; return whether it did."""
        is_match = bool(word) and self.words[self.index] == word
        self.index += is_match
        return is_match

    def take(self, *expected: str) -> str:
        """Consume one of some keywords or marks and return it, in capitals."""
        word = self.words[self.index]
        if word not in expected:
            self.fail(" or ".join(f"'{item}'" for item in expected))
        self.index += 1
        return word

    def take_kind(self, kind: str, expected: str) -> str:
        token = self.token
        if token.kind != kind:
            self.fail(expected)
        self.index += 1
        return token.text

    def fail(self, expected: str = "") -> NoReturn:
        """Raise an error for the next token, naming the expected one."""
        offset, message = _find_fault(self.tokens, self.index, expected)
        lexer.raise_syntax_error(self.text, offset, message)

    # Queries

    def parse(self) -> ParsedSparql:
        while self.is_next("PREFIX", "BASE"):
            if self.take("PREFIX", "BASE") == "BASE":
                self.base = self.resolve_iri(self.take_kind("iri", "an IRI")[1:-1])
                continue
            name = self.take_kind("pname", "the name of a prefix, as in 'PREFIX ex: <http://…>'")
            if not name.endswith(":"):
                self.index -= 1
                self.fail("a name that ends with ':'")
            self.prefixes[name[:-1]] = self.resolve_iri(self.take_kind("iri", "an IRI")[1:-1])
        start = self.start
        match self.take("SELECT", "ASK", "CONSTRUCT", "DESCRIBE"):
            case "SELECT":
                query = self.parse_select(start)
            case "CONSTRUCT":
                query = self.parse_construct(start)
            case "DESCRIBE":
                resources: list[ast.Term] = []
                if not self.skip("*"):
                    while not resources or self.token.kind in ("variable", "iri", "pname"):
                        resources.append(self.parse_variable_or_iri())
                query = ast.Query("DESCRIBE", ast.Group(), resources=tuple(resources))
                query = self.parse_remainder(query, start, needs_where=False)
            case _:
                query = self.parse_remainder(ast.Query("ASK", ast.Group()), start)
        if self.token.kind != "end":
            self.fail("the end of the query")
        labels = {variable.value: label for label, variable in self.blank_variables.items()}
        return ParsedSparql(query, labels, tuple(self.terms), self.flaw)

    def parse_select(self, start: int) -> ast.Query:
        modifier = self.take("DISTINCT", "REDUCED") if self.is_next("DISTINCT", "REDUCED") else ""
        columns: list[tuple[Variable, ast.Expression | None]] = []
        if not self.skip("*"):
            while not columns or self.is_next("(") or self.token.kind == "variable":
                if self.skip("("):
                    value, name = self.parse_named_expression()
                    columns.append((name, value))
                else:
                    columns.append((self.parse_variable("a variable, '*' or '(… AS ?name)'"), None))
        distinct, reduced = modifier == "DISTINCT", modifier == "REDUCED"
        query = ast.Query("SELECT", ast.Group(), tuple(columns), distinct, reduced=reduced)
        return self.parse_remainder(query, start)

    def parse_construct(self, start: int) -> ast.Query:
        query = ast.Query("CONSTRUCT", ast.Group())
        if self.is_next("{"):
            query = replace(query, template=self.parse_template())
            return self.parse_remainder(query, start)
        query = self.parse_remainder(query, start, where=lambda: ast.Group(self.parse_template()))
        template = tuple(
            element for element in query.where.elements if isinstance(element, ast.Pattern)
        )
        return replace(query, template=template)

    def parse_template(self) -> tuple[ast.Pattern, ...]:
        """Parse triples without paths between braces."""
        self.take("{")
        self.is_template = True
        patterns: list[ast.Pattern] = []
        while not self.is_next("}"):
            patterns += self.parse_statement()
            if not self.skip("."):
                break
        self.take("}")
        self.is_template = False
        return tuple(patterns)

    def parse_remainder(
        self,
        query: ast.Query,
        start: int,
        *,
        where: Callable[[], ast.Group] | None = None,
        needs_where: bool = True,
    ) -> ast.Query:
        """Parse the datasets, the WHERE group and the modifiers."""
        datasets: list[str] = []
        dataset_start = self.start
        while self.skip("FROM"):
            words = "FROM NAMED " if self.skip("NAMED") else "FROM "
            datasets.append(words + str(self.parse_iri()))
        dataset_span = (dataset_start, self.end) if datasets else None
        group = ast.Group()
        if self.skip("WHERE") or needs_where or self.is_next("{"):
            group_start = self.start
            group = replace((where or self.parse_group)(), span=(group_start, self.end))
        group_by: tuple[tuple[ast.Expression, Variable | None], ...] = ()
        if self.skip("GROUP"):
            self.take("BY")
            group_by = self.parse_list(self.parse_group_key, "(")
        having = self.parse_list(self.parse_constraint, "(") if self.skip("HAVING") else ()
        order: tuple[tuple[ast.Expression, bool], ...] = ()
        if self.skip("ORDER"):
            self.take("BY")
            order = self.parse_list(self.parse_order_key, "(", "ASC", "DESC")
        numbers: dict[str, int] = {}
        while self.is_next("LIMIT", "OFFSET") and self.words[self.index] not in numbers:
            word = self.take("LIMIT", "OFFSET")
            if not self.token.text.isascii() or not self.token.text.isdigit():
                self.fail("a whole number")
            numbers[word] = int(self.take_kind("number", "a whole number"))
        return replace(
            query,
            where=group,
            group_by=group_by,
            having=having,
            order=order,
            limit=numbers.get("LIMIT"),
            offset=numbers.get("OFFSET"),
            datasets=tuple(datasets),
            values=self.parse_values() if self.is_next("VALUES") else None,
            inner=(start, self.end),
            span=(start, self.end),
            dataset_span=dataset_span,
        )

    def parse_list(self, part: Callable[[], Part], *opening: str) -> tuple[Part, ...]:
        """Parse one or more parts that begin with a variable, a function or one of some words."""
        items = [part()]
        while (
            self.is_next(*opening)
            or self.token.kind in ("variable", "iri", "pname")
            or self.words[self.index] in FUNCTION_ARITIES
            or self.words[self.index] in ast.AGGREGATE_NAMES
            or self.is_next("NOT", "EXISTS")
        ):
            items.append(part())
        return tuple(items)

    def parse_group_key(self) -> tuple[ast.Expression, Variable | None]:
        if self.token.kind == "variable" or not self.is_next("("):
            return self.parse_variable_or_constraint(), None
        self.index += 1
        value = self.parse_expression()
        name = self.parse_variable() if self.skip("AS") else None
        self.take(")")
        return value, name

    def parse_order_key(self) -> tuple[ast.Expression, bool]:
        if self.is_next("ASC", "DESC"):
            is_descending = self.take("ASC", "DESC") == "DESC"
            if not self.is_next("("):
                self.fail("'('")
            return self.parse_primary(), is_descending
        return self.parse_variable_or_constraint(), False

    def parse_variable_or_constraint(self) -> ast.Expression:
        return self.parse_variable() if self.token.kind == "variable" else self.parse_constraint()

    def parse_constraint(self) -> ast.Expression:
        """Parse an expression in parentheses, or a call."""
        start = self.index
        expression = self.parse_primary()
        if self.words[start] != "(" and not isinstance(expression, ast.Call):
            self.index = start
            self.fail("'(' or a function")
        return expression

    # Groups

    def parse_group(self) -> ast.Group:
        start = self.start
        self.take("{")
        elements: list[ast.Element] = []
        inner_start = self.start
        if self.skip("SELECT"):
            query = self.parse_select(inner_start)
            if dataset_span := query.dataset_span:
                lexer.raise_syntax_error(
                    self.text,
                    dataset_span[0],
                    "FROM is not allowed here: move it out of the subquery",
                )
            self.take("}")
            span = (start, self.end)
            return ast.Group((replace(query, span=span),), span=span)
        while not self.is_next("}"):
            if self.is_next(*_ELEMENT_KEYWORDS):
                elements.append(self.parse_element())
                self.skip(".")
                continue
            elements += self.parse_statement()
            if not self.skip(".") and not self.is_next("}", *_ELEMENT_KEYWORDS):
                self.fail("'.', ';', ',' or '}'")
        self.take("}")
        return ast.Group(tuple(elements), span=(start, self.end))

    def parse_element(self) -> ast.Element:
        """Parse an element of a group other than triples."""
        start = self.start
        match self.words[self.index]:
            case "{":
                return self.parse_groups()
            case "FILTER":
                self.index += 1
                return ast.Filter(self.parse_constraint(), (start, self.end))
            case "BIND":
                self.index += 1
                self.take("(")
                return ast.Bind(*self.parse_named_expression(), span=(start, self.end))
            case "VALUES":
                return self.parse_values()
            case word:
                self.index += 1
                silent = word == "SERVICE" and self.skip("SILENT")
                name = self.parse_variable_or_iri() if word in ("GRAPH", "SERVICE") else None
                return ast.Nested(word, self.parse_group(), name, silent, span=(start, self.end))

    def parse_groups(self) -> ast.Element:
        """Parse a group, or several joined by UNION; a lone sub-select is returned itself."""
        start = self.start
        groups = [self.parse_group()]
        while self.skip("UNION"):
            groups.append(self.parse_group())
        if len(groups) > 1:
            return ast.Union(tuple(groups), span=(start, self.end))
        match groups[0].elements:
            case (ast.Query() as select,) if select.span == groups[0].span:
                return select
            case _:
                return ast.Nested("", groups[0], span=(start, self.end))

    def parse_values(self) -> ast.Values:
        start = self.start
        self.take("VALUES")
        is_tuple = self.skip("(")
        variables = [] if is_tuple else [self.parse_variable()]
        while is_tuple and not self.skip(")"):
            variables.append(self.parse_variable())
        self.take("{")
        rows: list[tuple[ast.Term | None, ...]] = []
        while not self.skip("}"):
            if not is_tuple:
                rows.append((self.parse_cell(),))
                continue
            row_start, row = self.start, list[ast.Term | None]()
            self.take("(")
            while not self.skip(")"):
                row.append(self.parse_cell())
            if len(row) != len(variables):
                counts = f"{len(row)} values for {len(variables)} variables"
                lexer.raise_syntax_error(self.text, row_start, f"a row of VALUES has {counts}")
            rows.append(tuple(row))
        return ast.Values(tuple(variables), tuple(rows), span=(start, self.end))

    def parse_cell(self) -> ast.Term | None:
        if self.skip("UNDEF"):
            return None
        term = self.parse_term("an IRI, a value or UNDEF") if self.token.kind != "blank" else None
        if term is None or isinstance(term, Variable):
            self.index -= term is not None
            self.fail("an IRI, a value or UNDEF")
        return term

    # Triples

    def parse_statement(self) -> list[ast.Pattern]:
        """Parse a subject with its predicates and objects."""
        self.nested_patterns = []
        first_index = self.index
        start = self.start
        subject = self.parse_node()
        has_pairs = self.words[first_index] in ("[", "(") and self.words[first_index + 1] not in (
            "]",
            ")",
        )
        if not has_pairs or not self.is_next(".", "}", *_ELEMENT_KEYWORDS):
            self.parse_pairs(subject, (start, self.end))
        patterns, self.nested_patterns = self.nested_patterns, []
        span = (start, self.end)
        return [
            ast.Pattern(pattern.subject, pattern.predicate, pattern.object, pattern.spans, span)
            for pattern in patterns
        ]

    def parse_pairs(self, subject: ast.Term, subject_span: ast.Span) -> None:
        """Parse predicates and objects after a subject with the given position."""
        while True:
            start = self.start
            predicate: ast.Predicate
            if self.token.kind == "variable":
                predicate = self.parse_variable()
            else:
                predicate = self.parse_predicate() if self.is_template else self.parse_path()
            predicate_span = (start, self.end)
            while True:
                position = len(self.nested_patterns)
                start = self.start
                value = self.parse_node()
                spans = (subject_span, predicate_span, (start, self.end))
                self.nested_patterns.insert(position, ast.Pattern(subject, predicate, value, spans))
                if not self.skip(","):
                    break
            if not self.is_next(";"):
                return
            while self.skip(";"):
                pass
            if self.is_next(".", "}", "]", *_ELEMENT_KEYWORDS):
                return

    def parse_node(self) -> ast.Term:
        """Parse a term, or return the variable for a blank node or a collection."""
        if self.is_next("["):
            start = self.start
            self.index += 1
            blank = self.get_blank_variable("")
            if not self.is_next("]"):
                self.parse_pairs(blank, (start, self.end))
            self.take("]")
            return blank
        return self.parse_collection() if self.skip("(") else self.parse_term()

    def parse_collection(self) -> ast.Term:
        if self.skip(")"):
            return NamedNode(RDF_NIL)
        first_node = head = self.get_blank_variable("")
        while True:
            self.nested_patterns.append(ast.Pattern(head, NamedNode(RDF_FIRST), self.parse_node()))
            next_node = NamedNode(RDF_NIL) if self.skip(")") else self.get_blank_variable("")
            self.nested_patterns.append(ast.Pattern(head, NamedNode(RDF_REST), next_node))
            if not isinstance(next_node, Variable):
                return first_node
            head = next_node

    def get_blank_variable(self, label: str) -> Variable:
        """Return the variable for a blank node, by its label, if any; its name is unique."""
        if label and label in self.blank_variables:
            return self.blank_variables[label]
        stem = f"__{re.sub(r'[^A-Za-z0-9_]', '_', label)}"
        name = stem if label else ""
        while not name or name in self.used_names:
            self.blank_count += 1
            number = self.blank_count
            name = f"{stem}_{number}" if label else f"__{number}"
        self.used_names.add(name)
        return self.blank_variables.setdefault(label, Variable(name)) if label else Variable(name)

    def parse_path(self) -> ast.Predicate:
        """Parse alternatives of sequences of steps."""
        return self.parse_joined(
            "|", lambda: self.parse_joined("/", lambda: self.parse_inverse(self.parse_step))
        )

    def parse_joined(self, mark: str, part: Callable[[], ast.Predicate]) -> ast.Predicate:
        """Parse one part of a path, or several joined by a mark."""
        start, parts = self.start, [part()]
        while self.skip(mark):
            parts.append(part())
        return parts[0] if len(parts) == 1 else ast.Path(mark, tuple(parts), span=(start, self.end))

    def parse_inverse(self, part: Callable[[], ast.Predicate]) -> ast.Predicate:
        """Parse a part of a path, inverse or not."""
        start = self.start
        return ast.Path("^", (part(),), span=(start, self.end)) if self.skip("^") else part()

    def parse_step(self) -> ast.Predicate:
        start = self.start
        path: ast.Predicate
        if self.skip("!"):
            path = ast.Path("!", self.parse_negated_set(), span=(start, self.end))
        elif self.skip("("):
            path = self.parse_path()
            self.take(")")
            if isinstance(path, ast.Path):
                path = replace(path, bracketed=True, span=(start, self.end))
        else:
            path = self.parse_predicate()
        if self.is_next("*", "+", "?") and not self.is_signed_number():
            return ast.Path(self.take("*", "+", "?"), (path,), span=(start, self.end))
        return path

    def parse_predicate(self) -> NamedNode:
        """Parse an IRI, or the word `a`, which must be in lower case."""
        if self.token.text != "a" or self.token.kind != "word":
            return self.parse_iri("a predicate")
        self.index += 1
        return NamedNode(RDF_TYPE)

    def parse_negated_set(self) -> tuple[ast.Predicate, ...]:
        """Parse the part after `!`: a predicate, inverse or not, or several in parentheses."""
        if not self.skip("("):
            return (self.parse_inverse(self.parse_predicate),)
        predicates: list[ast.Predicate] = []
        while not self.skip(")"):
            if predicates:
                self.take("|")
            predicates.append(self.parse_inverse(self.parse_predicate))
        return tuple(predicates)

    # Terms

    def parse_variable(self, expected: str = "a variable") -> Variable:
        start, text = self.start, self.take_kind("variable", expected)
        try:
            return Variable(text[1:])
        except ValueError:
            lexer.raise_syntax_error(self.text, start, f"{text!r} is not a variable name")

    def parse_variable_or_iri(self) -> ast.Term:
        is_variable = self.token.kind == "variable"
        return self.parse_variable() if is_variable else self.parse_iri("a variable or an IRI")

    def parse_iri(self, expected: str = "an IRI") -> NamedNode:
        token = self.token
        if token.kind == "iri":
            iri = self.resolve_iri(token.text[1:-1])
        elif token.kind == "pname":
            prefix, _, local = token.text.partition(":")
            namespace = self.prefixes.get(prefix, prefix + ":")
            iri = namespace + (re.sub(r"\\(.)", r"\1", local) if "\\" in local else local)
        else:
            self.fail(expected)
        self.index += 1
        try:
            node = NamedNode(iri)
            if token.kind == "iri" or prefix in self.prefixes:
                self.terms.append(TermOccurrence(node, token.start, token.end, token.end))
            return node
        except ValueError as problem:
            self.note_flaw(token, f"<{iri}> is not a full IRI ({problem})")
            return NamedNode("relative:" + quote(iri))

    def note_flaw(self, token: lexer.Token, reason: str) -> None:
        self.flaw = self.flaw or (token.start, reason)

    def resolve_iri(self, iri: str) -> str:
        """Return a full IRI, if the query has a base."""
        return iri if ":" in iri or not self.base else urljoin(self.base, iri)

    def is_signed_number(self) -> bool:
        """Return whether a sign comes next, with a number directly after it."""
        if not self.is_next("-", "+"):
            return False
        following = self.tokens[self.index + 1]
        return following.kind == "number" and following.start == self.token.end

    def parse_term(self, expected: str = _TERM_DESCRIPTION) -> ast.Term:
        """Parse a variable, blank node, IRI or literal."""
        start = self.start
        sign = self.take("-", "+") if self.is_signed_number() else ""
        token = self.token
        match token.kind:
            case "variable":
                return self.parse_variable()
            case "blank":
                self.index += 1
                return self.get_blank_variable(token.text[2:])
            case "string":
                return self.parse_literal()
            case "number":
                datatype = NamedNode(lexer.get_number_datatype(token.text))
                return self.add_unquoted_literal(
                    Literal(sign + token.text, datatype=datatype), start
                )
            case "word" if self.is_next("TRUE", "FALSE"):
                datatype = NamedNode(XSD_BOOLEAN)
                return self.add_unquoted_literal(
                    Literal(token.text.lower(), datatype=datatype), start
                )
            case _:
                return self.parse_iri(expected)

    def add_unquoted_literal(self, literal: Literal, start: int) -> Literal:
        """Consume a literal without quotation marks, which is a single token."""
        self.index += 1
        self.terms.append(TermOccurrence(literal, start, self.end, self.end))
        return literal

    def parse_literal(self) -> Literal:
        """Parse a quoted text, with its language or datatype."""
        quoted = self.token
        literal = Literal(lexer.unquote_string(quoted.text))
        self.index += 1
        token = self.token
        if token.kind == "language":
            if not _LANGUAGE_TAG.fullmatch(token.text):
                self.fail("a language tag like '@en'")
            self.index += 1
            try:
                literal = Literal(literal.value, language=token.text[1:])
            except ValueError as problem:
                self.note_flaw(token, f"{token.text!r} is not a language tag ({problem})")
        elif self.skip("^^"):
            term_count = len(self.terms)
            literal = Literal(literal.value, datatype=self.parse_iri())
            del self.terms[term_count:]
        self.terms.append(TermOccurrence(literal, quoted.start, self.end, quoted.end))
        return literal

    # Expressions

    def parse_expression(self, level: int = 1) -> ast.Expression:
        """Parse operands and operators that bind at least as strongly as `level`."""
        start = self.start
        result = self.parse_unary()
        is_compared = False
        while (own_level := _OPERATOR_LEVELS.get(self.words[self.index], 0)) >= level:
            name = self.words[self.index]
            if own_level == _COMPARISON_LEVEL and is_compared:
                self.fail("'&&', '||' or ')'")
            is_compared = own_level == _COMPARISON_LEVEL
            self.index += 1
            if name == "NOT":
                name += " " + self.take("IN")
            further_operands = (
                self.parse_arguments()
                if own_level == _COMPARISON_LEVEL and name.endswith("IN")
                else (self.parse_expression(own_level + 1),)
            )
            result = ast.Call(name, (result, *further_operands), span=(start, self.end))
        return result

    def parse_named_expression(self) -> tuple[ast.Expression, Variable]:
        """Parse `expression AS ?name`, and the closing parenthesis."""
        value = self.parse_expression()
        self.take("AS")
        variable = self.parse_variable()
        self.take(")")
        return value, variable

    def parse_unary(self) -> ast.Expression:
        signs: list[tuple[int, str]] = []
        while self.is_next("!", "-", "+") and not self.is_signed_number():
            signs.append((self.start, self.take("!", "-", "+")))
        operand = self.parse_primary()
        for start, sign in reversed(signs):
            operand = ast.Call(sign, (operand,), span=(start, self.end))
        return operand

    def parse_primary(self) -> ast.Expression:
        """Parse a term, a call, [NOT] EXISTS, or an expression in parentheses."""
        start = self.start
        if self.skip("("):
            inner = self.parse_expression()
            self.take(")")
            if isinstance(inner, ast.Call):
                return replace(inner, bracketed=True, span=(start, self.end))
            return inner
        if self.is_next("NOT", "EXISTS"):
            name = "NOT EXISTS" if self.skip("NOT") else "EXISTS"
            self.take("EXISTS")
            return ast.Call(name, (self.parse_group(),), span=(start, self.end))
        if self.token.kind == "word" and not self.is_next("TRUE", "FALSE"):
            return self.parse_call()
        if self.token.kind == "blank":
            self.fail("a value or a variable")
        term = self.parse_term("a value, a variable or a function")
        if isinstance(term, NamedNode) and self.is_next("("):
            word = "DISTINCT" if self.words[self.index + 1] == "DISTINCT" else ""
            name = f"{term} {word}".rstrip()  # a non-standard aggregate
            return ast.Call(name, self.parse_arguments(word), span=(start, self.end))
        return term

    def parse_call(self) -> ast.Call:
        """Parse a function or an aggregate."""
        index, start, name = self.index, self.start, self.words[self.index]
        if name in ast.AGGREGATE_NAMES:
            return self.parse_aggregate()
        if name not in FUNCTION_ARITIES:
            self.fail("a function of SPARQL" if self.words[index + 1] == "(" else "a value")
        self.index += 1
        if name == "BOUND":
            self.take("(")
            arguments: tuple[ast.Expression, ...] = (self.parse_variable(),)
            self.take(")")
        else:
            arguments = self.parse_arguments()
        min_count, max_count = FUNCTION_ARITIES[name]
        if not min_count <= len(arguments) <= max_count:
            expected_count = (
                f"{min_count}" if min_count == max_count else f"{min_count} to {max_count}"
            )
            lexer.raise_syntax_error(
                self.text, start, f"{name} takes {expected_count} arguments, not {len(arguments)}"
            )
        return ast.Call(name, arguments, span=(start, self.end))

    def parse_aggregate(self) -> ast.Call:
        start, name = self.start, self.words[self.index]
        self.index += 1
        self.take("(")
        is_count, is_list = name == "COUNT", name == "GROUP_CONCAT"
        name += " DISTINCT" if self.skip("DISTINCT") else ""
        arguments = () if is_count and self.skip("*") else (self.parse_expression(),)
        separator = None
        if is_list and self.skip(";"):
            self.take("SEPARATOR")
            self.take("=")
            separator = lexer.unquote_string(self.take_kind("string", "a string"))
        self.take(")")
        return ast.Call(name, arguments, separator, span=(start, self.end))

    def parse_arguments(self, word: str = "") -> tuple[ast.Expression, ...]:
        """Parse comma-separated expressions in parentheses, after an optional word."""
        self.take("(")
        if not self.skip(word) and self.skip(")"):
            return ()
        expressions = [self.parse_expression()]
        while self.take(",", ")") == ",":
            expressions.append(self.parse_expression())
        return tuple(expressions)


def _find_fault(tokens: Sequence[lexer.Token], index: int, expected: str) -> tuple[int, str]:
    """Return offset and description of an error, given that the token at `index` does not fit."""
    token = tokens[index]
    if len(tokens) == 1:
        return 0, "the query is empty"
    for candidate in tokens:
        if candidate.kind == "mark" and candidate.text in "\"'":
            return candidate.start, "a string starts here and does not end"
    bracket = _find_open_bracket(tokens)
    if bracket and (token.kind == "end" or bracket[0] <= token.start):
        return bracket
    hint = f": expected {expected}" if expected else ""
    if token.kind == "end":
        return token.start, f"the query ends too early{hint}"
    token_text = token.text if len(token.text) <= 40 else token.text[:39] + "…"
    return token.start, f"{token_text!r} was not expected here{hint}"


def _find_open_bracket(tokens: Sequence[lexer.Token]) -> tuple[int, str] | None:
    opening_by_closing = {")": "(", "]": "[", "}": "{"}
    open_brackets: list[lexer.Token] = []
    for token in tokens:
        if token.kind != "mark":
            continue
        if token.text in "([{":
            open_brackets.append(token)
        elif token.text in opening_by_closing:
            if not open_brackets or open_brackets[-1].text != opening_by_closing[token.text]:
                return token.start, f"{token.text!r} has no opening bracket"
            open_brackets.pop()
    return (
        (open_brackets[-1].start, f"{open_brackets[-1].text!r} is never closed")
        if open_brackets
        else None
    )
