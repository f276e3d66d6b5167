"""The parser of SPARQL 1.1 queries: text to a tree whose nodes know where they stand.

It follows the grammar (https://www.w3.org/TR/sparql11-query/#grammar) rule by rule. Everything that
reads a query works on its tree: checks, rewriting, explanation, layout and federation.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache
from typing import NoReturn, TypeVar
from urllib.parse import quote, urljoin

from pyoxigraph import Literal, NamedNode, Variable

from askgraph.errors import QuerySyntaxError
from askgraph.sparql import (
    AGGREGATES,
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
    Span,
    Term,
    Union,
    Values,
    calls_in,
)
from askgraph.sparql.lexer import Token, fail, lexed, number_type, unquoted
from askgraph.sparql.prefixes import WELL_KNOWN
from askgraph.sparql.vocabulary import RDF_FIRST, RDF_NIL, RDF_REST, RDF_TYPE, XSD_BOOLEAN

Part = TypeVar("Part")

_ANY_NUMBER = 10**6
FUNCTIONS: Mapping[str, tuple[int, int]] = {
    **dict.fromkeys(("RAND", "NOW", "UUID", "STRUUID"), (0, 0)),
    **dict.fromkeys(
        "STR LANG DATATYPE IRI URI ABS CEIL FLOOR ROUND STRLEN UCASE LCASE ENCODE_FOR_URI YEAR"
        " MONTH DAY HOURS MINUTES SECONDS TIMEZONE TZ MD5 SHA1 SHA256 SHA384 SHA512 ISIRI ISURI"
        " ISBLANK ISLITERAL ISNUMERIC BOUND".split(),
        (1, 1),
    ),
    **dict.fromkeys(
        "LANGMATCHES CONTAINS STRSTARTS STRENDS STRBEFORE STRAFTER STRLANG STRDT SAMETERM".split(),
        (2, 2),
    ),
    **dict.fromkeys(("REGEX", "SUBSTR"), (2, 3)),
    "BNODE": (0, 1),
    "IF": (3, 3),
    "REPLACE": (3, 4),
    **dict.fromkeys(("CONCAT", "COALESCE"), (0, _ANY_NUMBER)),
}
"""The built-in functions, with the least and the largest number of their arguments."""

_ELEMENTS = ("{", "OPTIONAL", "MINUS", "GRAPH", "SERVICE", "FILTER", "BIND", "VALUES")
_COMPARISON = 3
_LEVELS = {
    "||": 1,
    "&&": 2,
    **dict.fromkeys(["=", "!=", "<", ">", "<=", ">=", "IN", "NOT"], _COMPARISON),
    **dict.fromkeys("+-", 4),
    **dict.fromkeys("*/", 5),
}
_LANGUAGE_TAG = re.compile(r"@[A-Za-z]+(?:-[A-Za-z0-9]+)*")
_A_TERM = "a variable, an IRI or a value"


@dataclass(frozen=True)
class WrittenTerm:
    """A term and where it stands: characters from `start` to before `end`.

    `value_end` is where the quoted text of a literal with a language or datatype ends, else `end`.
    """

    term: NamedNode | Literal
    start: int
    end: int
    value_end: int


@dataclass(frozen=True)
class Parsed:
    """A query's tree as it is written, with VALUES after it in `values`.

    `labels` are the labels of its blank nodes by the names of their variables. `flaw` says where
    its first IRI or language tag stands that has no full form (one that is relative to no BASE,
    say), and why. `terms` are its IRIs and literals in the order written, without declarations,
    datatypes, separators, names with an unknown prefix, and the numbers of LIMIT and OFFSET.
    """

    tree: Query
    labels: Mapping[str, str]
    terms: tuple[WrittenTerm, ...]
    flaw: tuple[int, str] | None = None


def parse_query(text: str, prefixes: Mapping[str, str] | None = None) -> Parsed:
    """Return a query as its author wrote it; it is parsed once while it is among the last ones.

    Prefixes that it does not declare are taken from `prefixes`, without any given from the
    well-known ones; an unknown one is kept as if it were a scheme.
    Raises `QuerySyntaxError` with line and column for what is no query, an update among others.
    """
    return _parse(str(text), _needed(text, prefixes))


def read(query: str, prefixes: Mapping[str, str] | None = None) -> Query:
    """Return the tree of a query, VALUES after it joined with what the rest gives.

    As `parse_query`; raises `QuerySyntaxError` for an IRI that has no full form, too.
    """
    return _read(str(query), _needed(query, prefixes))


def _needed(text: str, prefixes: Mapping[str, str] | None) -> tuple[tuple[str, str], ...]:
    """Return the prefixes that a text leaves open: trees are kept by these, not by all known."""
    known = WELL_KNOWN if prefixes is None else prefixes
    return tuple((name, known[name]) for name in lexed(text).undeclared if name in known)


@lru_cache(maxsize=1024)
def _parse(text: str, prefixes: tuple[tuple[str, str], ...]) -> Parsed:
    try:
        return _Parser(text, dict(prefixes)).parsed()
    except RecursionError as problem:
        raise QuerySyntaxError("the query is nested too deeply to be parsed") from problem


@lru_cache(maxsize=1024)
def _read(text: str, prefixes: tuple[tuple[str, str], ...]) -> Query:
    parsed = _parse(text, prefixes)
    if parsed.flaw is not None:
        fail(text, *parsed.flaw)
    return _join_values(parsed.tree)


def _join_values(query: Query) -> Query:
    """Return a query with the VALUES after it joined to what it gives, groups and all."""
    rows = query.values
    if rows is None:
        return query
    query = replace(query, values=None)
    where = query.where
    if query.is_aggregate or query.having:
        if any(call.is_aggregate for call in calls_in(query.order)):
            raise QuerySyntaxError("VALUES after groups in the order of a sum: put it into WHERE")
        inner = replace(query, order=(), limit=None, offset=None, distinct=False, datasets=())
        names = tuple((name, None) for name, _ in query.columns)
        outer = replace(query, columns=names, group_by=(), having=())
        return replace(outer, where=Group((inner, rows)))
    if any(isinstance(one, Filter) for one in where.elements):  # which does not see these rows
        return replace(query, where=Group((Nested("", where), rows)))
    return replace(query, where=Group((*where.elements, rows)))


@dataclass
class _Parser:
    """A recursive-descent parser; each method consumes what it is named for and returns it."""

    text: str
    prefixes: dict[str, str]
    at: int = 0
    base: str = ""
    flaw: tuple[int, str] | None = None
    number_of_blanks: int = 0
    is_template: bool = False  # triples without paths come
    terms: list[WrittenTerm] = field(default_factory=list)
    extra: list[Pattern] = field(default_factory=list)  # patterns inside nodes, `[ … ]` and `( … )`
    labelled: dict[str, Variable] = field(default_factory=dict)  # variables for blank nodes

    def __post_init__(self) -> None:
        """Cut the text into tokens, with one more that stands for its end."""
        given = lexed(self.text).given
        self.tokens = (*given, Token("end", "", len(self.text.rstrip())))
        self.words = [
            token.text.upper() if token.kind in ("word", "mark") else "" for token in self.tokens
        ]
        self.taken = set(lexed(self.text).variables)

    # Tokens

    @property
    def token(self) -> Token:
        """The token that comes."""
        return self.tokens[self.at]

    @property
    def start(self) -> int:
        """Where the token that comes starts."""
        return self.tokens[self.at].start

    @property
    def end(self) -> int:
        """Where the token before this place ends."""
        return self.tokens[self.at - 1].end

    def comes(self, *words: str) -> bool:
        """Return whether one of these keywords or marks comes, in whatever case."""
        return self.words[self.at] in words

    def skip(self, word: str) -> bool:
        """Take a keyword or mark if it comes next; return whether it did."""
        came = bool(word) and self.words[self.at] == word
        self.at += came
        return came

    def take(self, *expected: str) -> str:
        """Take one of these and return it; words in capitals."""
        word = self.words[self.at]
        if word not in expected:
            self.fail(" or ".join(f"'{one}'" for one in expected))
        self.at += 1
        return word

    def take_kind(self, kind: str, expected: str) -> str:
        token = self.token
        if token.kind != kind:
            self.fail(expected)
        self.at += 1
        return token.text

    def fail(self, expected: str = "") -> NoReturn:
        """Raise for the token that comes, in place of what is expected."""
        at, message = _find_fault(self.text, self.tokens, self.at, expected)
        fail(self.text, at, message)

    # Queries

    def parsed(self) -> Parsed:
        while self.comes("PREFIX", "BASE"):
            if self.take("PREFIX", "BASE") == "BASE":
                self.base = self.resolved(self.take_kind("iri", "an IRI")[1:-1])
                continue
            name = self.take_kind("pname", "the name of a prefix, as in 'PREFIX ex: <http://…>'")
            if not name.endswith(":"):
                self.at -= 1
                self.fail("a name that ends with ':'")
            self.prefixes[name[:-1]] = self.resolved(self.take_kind("iri", "an IRI")[1:-1])
        start = self.start
        match self.take("SELECT", "ASK", "CONSTRUCT", "DESCRIBE"):
            case "SELECT":
                query = self.select(start)
            case "CONSTRUCT":
                query = self.construct(start)
            case "DESCRIBE":
                query = self.describe(start)
            case _:
                query = self.rest(Query("ASK", Group()), start)
        if self.token.kind != "end":
            self.fail("the end of the query")
        labels = {variable.value: label for label, variable in self.labelled.items()}
        return Parsed(query, labels, tuple(self.terms), self.flaw)

    def select(self, start: int) -> Query:
        modifier = self.take("DISTINCT", "REDUCED") if self.comes("DISTINCT", "REDUCED") else ""
        columns: list[tuple[Variable, Expression | None]] = []
        if not self.skip("*"):
            while not columns or self.comes("(") or self.token.kind == "variable":
                if self.skip("("):
                    value, name = self.named()
                    columns.append((name, value))
                else:
                    columns.append((self.variable("a variable, '*' or '(… AS ?name)'"), None))
        distinct, reduced = modifier == "DISTINCT", modifier == "REDUCED"
        query = Query("SELECT", Group(), tuple(columns), distinct, reduced=reduced)
        return self.rest(query, start)

    def construct(self, start: int) -> Query:
        query = Query("CONSTRUCT", Group())
        if self.comes("{"):
            query = replace(query, template=self.template())
            return self.rest(query, start)
        query = self.rest(query, start, where=lambda: Group(self.template()))
        template = tuple(one for one in query.where.elements if isinstance(one, Pattern))
        return replace(query, template=template)

    def template(self) -> tuple[Pattern, ...]:
        """Triples without paths or anything else between braces."""
        self.take("{")
        self.is_template = True
        found: list[Pattern] = []
        while not self.comes("}"):
            found += self.statement()
            if not self.skip("."):
                break
        self.take("}")
        self.is_template = False
        return tuple(found)

    def describe(self, start: int) -> Query:
        resources: list[Term] = []
        if not self.skip("*"):
            while not resources or self.token.kind in ("variable", "iri", "pname"):
                resources.append(self.variable_or_iri())
        query = Query("DESCRIBE", Group(), resources=tuple(resources))
        return self.rest(query, start, needs_where=False)

    def rest(
        self,
        query: Query,
        start: int,
        *,
        where: Callable[[], Group] | None = None,
        needs_where: bool = True,
    ) -> Query:
        """The datasets, the WHERE group and the modifiers."""
        datasets: list[str] = []
        first = self.start
        while self.skip("FROM"):
            words = "FROM NAMED " if self.skip("NAMED") else "FROM "
            datasets.append(words + str(self.iri()))
        dataset_span = (first, self.end) if datasets else None
        found = Group()
        if self.skip("WHERE") or needs_where or self.comes("{"):
            at = self.start
            found = replace((where or self.group)(), span=(at, self.end))
        group_by: tuple[tuple[Expression, Variable | None], ...] = ()
        if self.skip("GROUP"):
            self.take("BY")
            group_by = self.several(self.group_key, "(")
        having = self.several(self.constraint, "(") if self.skip("HAVING") else ()
        order: tuple[tuple[Expression, bool], ...] = ()
        if self.skip("ORDER"):
            self.take("BY")
            order = self.several(self.order_key, "(", "ASC", "DESC")
        numbers: dict[str, int] = {}
        while self.comes("LIMIT", "OFFSET") and self.words[self.at] not in numbers:
            word = self.take("LIMIT", "OFFSET")
            if not self.token.text.isascii() or not self.token.text.isdigit():
                self.fail("a whole number")
            numbers[word] = int(self.take_kind("number", "a whole number"))
        values = self.values() if self.comes("VALUES") else None
        return replace(
            query,
            where=found,
            group_by=group_by,
            having=having,
            order=order,
            limit=numbers.get("LIMIT"),
            offset=numbers.get("OFFSET"),
            datasets=tuple(datasets),
            values=values,
            inner=(start, self.end),
            span=(start, self.end),
            dataset_span=dataset_span,
        )

    def several(self, part: Callable[[], Part], *opening: str) -> tuple[Part, ...]:
        """One or more parts that begin with a variable, a function or one of some words."""
        found = [part()]
        while (
            self.comes(*opening)
            or self.token.kind in ("variable", "iri", "pname")
            or self.words[self.at] in FUNCTIONS
            or self.words[self.at] in AGGREGATES
            or self.comes("NOT", "EXISTS")
        ):
            found.append(part())
        return tuple(found)

    def group_key(self) -> tuple[Expression, Variable | None]:
        if self.token.kind == "variable" or not self.comes("("):
            return self.variable_or_constraint(), None
        self.at += 1
        value = self.expression()
        name = self.variable() if self.skip("AS") else None
        self.take(")")
        return value, name

    def order_key(self) -> tuple[Expression, bool]:
        if self.comes("ASC", "DESC"):
            descends = self.take("ASC", "DESC") == "DESC"
            if not self.comes("("):
                self.fail("'('")
            return self.primary(), descends
        return self.variable_or_constraint(), False

    def variable_or_constraint(self) -> Expression:
        return self.variable() if self.token.kind == "variable" else self.constraint()

    def constraint(self) -> Expression:
        """An expression in parentheses, or a call."""
        start = self.at
        found = self.primary()
        if self.words[start] != "(" and not isinstance(found, Call):
            self.at = start
            self.fail("'(' or a function")
        return found

    # Groups

    def group(self) -> Group:
        start = self.start
        self.take("{")
        elements: list[Element] = []
        at = self.start
        if self.skip("SELECT"):
            query = self.select(at)
            if place := query.dataset_span:
                fail(self.text, place[0], "a FROM stands where none can: put it outside")
            self.take("}")
            span = (start, self.end)
            return Group((replace(query, span=span),), span=span)
        while not self.comes("}"):
            if self.comes(*_ELEMENTS):
                elements.append(self.element())
                self.skip(".")
                continue
            elements += self.statement()
            if not self.skip(".") and not self.comes("}", *_ELEMENTS):
                self.fail("'.', ';', ',' or '}'")
        self.take("}")
        return Group(tuple(elements), span=(start, self.end))

    def element(self) -> Element:
        """One element of a group other than triples."""
        start = self.start
        match self.words[self.at]:
            case "{":
                return self.groups()
            case "FILTER":
                self.at += 1
                return Filter(self.constraint(), (start, self.end))
            case "BIND":
                self.at += 1
                self.take("(")
                return Bind(*self.named(), span=(start, self.end))
            case "VALUES":
                return self.values()
            case word:
                self.at += 1
                silent = word == "SERVICE" and self.skip("SILENT")
                name = self.variable_or_iri() if word in ("GRAPH", "SERVICE") else None
                group = self.group()
                return Nested(word, group, name, silent, span=(start, self.end))

    def groups(self) -> Element:
        """One group, or several with UNION between them; a mere sub-select as itself."""
        start = self.start
        found = [self.group()]
        while self.skip("UNION"):
            found.append(self.group())
        if len(found) > 1:
            return Union(tuple(found), span=(start, self.end))
        match found[0].elements:
            case (Query() as select,) if select.span == found[0].span:
                return select
            case _:
                return Nested("", found[0], span=(start, self.end))

    def values(self) -> Values:
        start = self.start
        self.take("VALUES")
        several = self.skip("(")
        variables = [] if several else [self.variable()]
        while several and not self.skip(")"):
            variables.append(self.variable())
        self.take("{")
        rows: list[tuple[Term | None, ...]] = []
        while not self.skip("}"):
            if not several:
                rows.append((self.cell(),))
                continue
            place, row = self.start, list[Term | None]()
            self.take("(")
            while not self.skip(")"):
                row.append(self.cell())
            if len(row) != len(variables):
                wanted = f"{len(row)} values for {len(variables)} variables"
                fail(self.text, place, f"a row of VALUES has {wanted}")
            rows.append(tuple(row))
        return Values(tuple(variables), tuple(rows), span=(start, self.end))

    def cell(self) -> Term | None:
        if self.skip("UNDEF"):
            return None
        term = self.term("an IRI, a value or UNDEF") if self.token.kind != "blank" else None
        if term is None or isinstance(term, Variable):
            self.at -= term is not None
            self.fail("an IRI, a value or UNDEF")
        return term

    # Triples

    def statement(self) -> list[Pattern]:
        """A subject with its predicates and objects."""
        self.extra = []
        first = self.at
        start = self.start
        subject = self.node()
        says_all = self.words[first] in ("[", "(") and self.words[first + 1] not in ("]", ")")
        if not says_all or not self.comes(".", "}", *_ELEMENTS):
            self.pairs(subject, (start, self.end))
        found, self.extra = self.extra, []
        span = (start, self.end)
        return [Pattern(p.subject, p.predicate, p.object, p.spans, span) for p in found]

    def pairs(self, subject: Term, place: Span) -> None:
        """Predicates and objects after a subject that stands at a place."""
        while True:
            start = self.start
            predicate: Predicate
            if self.token.kind == "variable":
                predicate = self.variable()
            else:
                predicate = self.predicate() if self.is_template else self.path()
            middle = (start, self.end)
            while True:
                at = len(self.extra)
                start = self.start
                value = self.node()
                spans = (place, middle, (start, self.end))
                self.extra.insert(at, Pattern(subject, predicate, value, spans))
                if not self.skip(","):
                    break
            if not self.comes(";"):
                return
            while self.skip(";"):
                pass
            if self.comes(".", "}", "]", *_ELEMENTS):
                return

    def node(self) -> Term:
        """A term, or the variable for a blank node or a collection."""
        if self.comes("["):
            start = self.start
            self.at += 1
            blank = self.blank("")
            if not self.comes("]"):
                self.pairs(blank, (start, self.end))
            self.take("]")
            return blank
        return self.collection() if self.skip("(") else self.term()

    def collection(self) -> Term:
        if self.skip(")"):
            return NamedNode(RDF_NIL)
        first = head = self.blank("")
        while True:
            self.extra.append(Pattern(head, NamedNode(RDF_FIRST), self.node()))
            rest = NamedNode(RDF_NIL) if self.skip(")") else self.blank("")
            self.extra.append(Pattern(head, NamedNode(RDF_REST), rest))
            if not isinstance(rest, Variable):
                return first
            head = rest

    def blank(self, label: str) -> Variable:
        """The variable for a blank node, by its label if it has one; no other has its name."""
        if label and label in self.labelled:
            return self.labelled[label]
        stem = f"__{re.sub(r'[^A-Za-z0-9_]', '_', label)}"
        name = stem if label else ""
        while not name or name in self.taken:
            self.number_of_blanks += 1
            number = self.number_of_blanks
            name = f"{stem}_{number}" if label else f"__{number}"
        self.taken.add(name)
        return self.labelled.setdefault(label, Variable(name)) if label else Variable(name)

    def path(self) -> Predicate:
        """Alternatives of sequences of steps."""
        return self.joined("|", lambda: self.joined("/", lambda: self.turned(self.step)))

    def joined(self, mark: str, part: Callable[[], Predicate]) -> Predicate:
        """One part of a path, or several with a mark between them."""
        start, parts = self.start, [part()]
        while self.skip(mark):
            parts.append(part())
        return parts[0] if len(parts) == 1 else Path(mark, tuple(parts), span=(start, self.end))

    def turned(self, part: Callable[[], Predicate]) -> Predicate:
        """A part of a path, turned round or not."""
        start = self.start
        return Path("^", (part(),), span=(start, self.end)) if self.skip("^") else part()

    def step(self) -> Predicate:
        start = self.start
        found: Predicate
        if self.skip("!"):
            found = Path("!", self.excluded(), span=(start, self.end))
        elif self.skip("("):
            found = self.path()
            self.take(")")
            if isinstance(found, Path):
                found = replace(found, bracketed=True, span=(start, self.end))
        else:
            found = self.predicate()
        if self.comes("*", "+", "?") and not self.is_signed_number():
            return Path(self.take("*", "+", "?"), (found,), span=(start, self.end))
        return found

    def predicate(self) -> NamedNode:
        """An IRI, or the word `a`, which only counts in small letters."""
        if self.token.text != "a" or self.token.kind != "word":
            return self.iri("a predicate")
        self.at += 1
        return NamedNode(RDF_TYPE)

    def excluded(self) -> tuple[Predicate, ...]:
        """What follows `!`: a predicate, turned round or not, or several in parentheses."""
        if not self.skip("("):
            return (self.turned(self.predicate),)
        found: list[Predicate] = []
        while not self.skip(")"):
            if found:
                self.take("|")
            found.append(self.turned(self.predicate))
        return tuple(found)

    # Terms

    def variable(self, expected: str = "a variable") -> Variable:
        start, text = self.start, self.take_kind("variable", expected)
        try:
            return Variable(text[1:])
        except ValueError:
            fail(self.text, start, f"{text!r} is no name of a variable")

    def variable_or_iri(self) -> Term:
        is_variable = self.token.kind == "variable"
        return self.variable() if is_variable else self.iri("a variable or an IRI")

    def iri(self, expected: str = "an IRI") -> NamedNode:
        token = self.token
        if token.kind == "iri":
            iri = self.resolved(token.text[1:-1])
        elif token.kind == "pname":
            prefix, _, local = token.text.partition(":")
            namespace = self.prefixes.get(prefix, prefix + ":")
            iri = namespace + (re.sub(r"\\(.)", r"\1", local) if "\\" in local else local)
        else:
            self.fail(expected)
        self.at += 1
        try:
            node = NamedNode(iri)
            if token.kind == "iri" or prefix in self.prefixes:
                self.terms.append(WrittenTerm(node, token.start, token.end, token.end))
            return node
        except ValueError as problem:
            self.note(token, f"<{iri}> is no IRI in full ({problem})")
            return NamedNode("relative:" + quote(iri))

    def note(self, token: Token, why: str) -> None:
        self.flaw = self.flaw or (token.start, why)

    def resolved(self, iri: str) -> str:
        """An IRI in full, if the query has a base."""
        return iri if ":" in iri or not self.base else urljoin(self.base, iri)

    def is_signed_number(self) -> bool:
        """Return whether a sign comes with a number right behind it."""
        if not self.comes("-", "+"):
            return False
        after = self.tokens[self.at + 1]
        return after.kind == "number" and after.start == self.token.end

    def term(self, expected: str = _A_TERM) -> Term:
        """A variable, blank node, IRI or literal."""
        start = self.start
        sign = self.take("-", "+") if self.is_signed_number() else ""
        token = self.token
        match token.kind:
            case "variable":
                return self.variable()
            case "blank":
                self.at += 1
                return self.blank(token.text[2:])
            case "string":
                return self.literal()
            case "number":
                datatype = NamedNode(number_type(token.text))
                return self.plain(Literal(sign + token.text, datatype=datatype), start)
            case "word" if self.comes("TRUE", "FALSE"):
                datatype = NamedNode(XSD_BOOLEAN)
                return self.plain(Literal(token.text.lower(), datatype=datatype), start)
            case _:
                return self.iri(expected)

    def plain(self, literal: Literal, start: int) -> Literal:
        """A literal without quotation marks, which is one token."""
        self.at += 1
        self.terms.append(WrittenTerm(literal, start, self.end, self.end))
        return literal

    def literal(self) -> Literal:
        """A text in quotation marks, with its language or datatype."""
        quoted = self.token
        found = Literal(unquoted(quoted.text))
        self.at += 1
        token = self.token
        if token.kind == "language":
            if not _LANGUAGE_TAG.fullmatch(token.text):
                self.fail("a language tag like '@en'")
            self.at += 1
            try:
                found = Literal(found.value, language=token.text[1:])
            except ValueError as problem:
                self.note(token, f"{token.text!r} is no language tag ({problem})")
        elif self.skip("^^"):
            number_of_terms = len(self.terms)
            found = Literal(found.value, datatype=self.iri())
            del self.terms[number_of_terms:]
        self.terms.append(WrittenTerm(found, quoted.start, self.end, quoted.end))
        return found

    # Expressions

    def expression(self, level: int = 1) -> Expression:
        """Operands with operators that bind at least as strongly as a level, by precedence."""
        start = self.start
        left = self.unary()
        is_compared = False
        while (own := _LEVELS.get(self.words[self.at], 0)) >= level:
            name = self.words[self.at]
            if own == _COMPARISON and is_compared:
                self.fail("'&&', '||' or ')'")
            is_compared = own == _COMPARISON
            self.at += 1
            if name == "NOT":
                name += " " + self.take("IN")
            listed = self.arguments() if own == _COMPARISON and name.endswith("IN") else None
            others = (self.expression(own + 1),) if listed is None else listed
            left = Call(name, (left, *others), span=(start, self.end))
        return left

    def named(self) -> tuple[Expression, Variable]:
        """`expression AS ?name`, and the parenthesis that closes it."""
        value = self.expression()
        self.take("AS")
        variable = self.variable()
        self.take(")")
        return value, variable

    def unary(self) -> Expression:
        signs: list[tuple[int, str]] = []
        while self.comes("!", "-", "+") and not self.is_signed_number():
            signs.append((self.start, self.take("!", "-", "+")))
        found = self.primary()
        for start, sign in reversed(signs):
            found = Call(sign, (found,), span=(start, self.end))
        return found

    def primary(self) -> Expression:
        """A term, a call, [NOT] EXISTS, or an expression in parentheses."""
        start = self.start
        if self.skip("("):
            inner = self.expression()
            self.take(")")
            if isinstance(inner, Call):
                return replace(inner, bracketed=True, span=(start, self.end))
            return inner
        if self.comes("NOT", "EXISTS"):
            name = "NOT EXISTS" if self.skip("NOT") else "EXISTS"
            self.take("EXISTS")
            return Call(name, (self.group(),), span=(start, self.end))
        if self.token.kind == "word" and not self.comes("TRUE", "FALSE"):
            return self.call()
        if self.token.kind == "blank":
            self.fail("a value or a variable")
        term = self.term("a value, a variable or a function")
        if isinstance(term, NamedNode) and self.comes("("):
            word = "DISTINCT" if self.words[self.at + 1] == "DISTINCT" else ""
            name = f"{term} {word}".rstrip()  # an aggregate that is none of the standard's
            return Call(name, self.arguments(word), span=(start, self.end))
        return term

    def call(self) -> Call:
        """A function or an aggregate."""
        at, start, name = self.at, self.start, self.words[self.at]
        if name in AGGREGATES:
            return self.aggregate()
        if name not in FUNCTIONS:
            self.fail("a function of SPARQL" if self.words[at + 1] == "(" else "a value")
        self.at += 1
        if name == "BOUND":
            self.take("(")
            arguments: tuple[Expression, ...] = (self.variable(),)
            self.take(")")
        else:
            arguments = self.arguments()
        least, most = FUNCTIONS[name]
        if not least <= len(arguments) <= most:
            wanted = f"{least}" if least == most else f"{least} to {most}"
            fail(self.text, start, f"{name} takes {wanted} arguments, not {len(arguments)}")
        return Call(name, arguments, span=(start, self.end))

    def aggregate(self) -> Call:
        start, name = self.start, self.words[self.at]
        self.at += 1
        self.take("(")
        is_count, is_list = name == "COUNT", name == "GROUP_CONCAT"
        name += " DISTINCT" if self.skip("DISTINCT") else ""
        arguments = () if is_count and self.skip("*") else (self.expression(),)
        separator = None
        if is_list and self.skip(";"):
            self.take("SEPARATOR")
            self.take("=")
            separator = unquoted(self.take_kind("string", "a string"))
        self.take(")")
        return Call(name, arguments, separator, span=(start, self.end))

    def arguments(self, word: str = "") -> tuple[Expression, ...]:
        """Expressions with commas between them, in parentheses, after a word if one is named."""
        self.take("(")
        if not self.skip(word) and self.skip(")"):
            return ()
        found = [self.expression()]
        while self.take(",", ")") == ",":
            found.append(self.expression())
        return tuple(found)


def _find_fault(text: str, tokens: Sequence[Token], at: int, expected: str) -> tuple[int, str]:
    """Return where a text goes wrong whose token at `at` does not fit, and why."""
    token = tokens[at]
    if len(tokens) == 1:
        return 0, "the query is empty"
    for each in tokens:
        if each.kind == "mark" and each.text in "\"'":
            return each.start, "a string starts here and does not end"
    bracket = _find_open_bracket(tokens)
    if bracket and (token.kind == "end" or bracket[0] <= token.start):
        return bracket
    hint = f": expected {expected}" if expected else ""
    if token.kind == "end":
        return token.start, f"the query ends too early{hint}"
    shown = token.text if len(token.text) <= 40 else token.text[:39] + "…"
    return token.start, f"{shown!r} was not expected here{hint}"


def _find_open_bracket(tokens: Sequence[Token]) -> tuple[int, str] | None:
    """Return the first bracket without its partner, and what is wrong with it."""
    partner = {")": "(", "]": "[", "}": "{"}
    opened: list[Token] = []
    for token in tokens:
        if token.kind != "mark":
            continue
        if token.text in "([{":
            opened.append(token)
        elif token.text in partner:
            if not opened or opened[-1].text != partner[token.text]:
                return token.start, f"{token.text!r} closes nothing"
            opened.pop()
    return (opened[-1].start, f"{opened[-1].text!r} is never closed") if opened else None
