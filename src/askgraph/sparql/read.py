"""Reader of queries: text to tree, in a fraction of a millisecond; no judge of its syntax."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import lru_cache
from urllib.parse import urljoin

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
from askgraph.sparql.lexer import Cursor, lexed, number_type, unquoted
from askgraph.sparql.prefixes import WELL_KNOWN
from askgraph.sparql.vocabulary import RDF_FIRST, RDF_NIL, RDF_REST, RDF_TYPE, XSD_BOOLEAN

_ELEMENTS = ("{", "OPTIONAL", "MINUS", "GRAPH", "SERVICE", "FILTER", "BIND", "VALUES")
_MODIFIERS = ("GROUP", "HAVING", "ORDER", "LIMIT", "OFFSET", "VALUES")
_LEVELS = (
    frozenset(["||"]),
    frozenset(["&&"]),
    frozenset(["=", "!=", "<", ">", "<=", ">=", "IN", "NOT"]),
    frozenset(["+", "-"]),
    frozenset(["*", "/"]),
)


def read(query: str, prefixes: Mapping[str, str] | None = None) -> Query:
    """Return the tree of a query; a prefix that it does not declare is the known one, or kept.

    Known are those in `prefixes`, and without any given the well-known ones.
    Raises `QuerySyntaxError` if it cannot be read, an update among others. Not every fault is
    found: `askgraph.sparql.judge.checked` is the judge of that.
    """
    return _read(query, None if prefixes is None else tuple(prefixes.items()))


@lru_cache(maxsize=1024)
def _read(query: str, prefixes: tuple[tuple[str, str], ...] | None) -> Query:
    known = WELL_KNOWN if prefixes is None else dict(prefixes)
    text = lexed(query)
    try:
        reader = _Reader(text.given, {**known, **text.declared}, taken=set(text.variables))
        return reader.query()
    except (IndexError, ValueError, RecursionError) as problem:
        raise QuerySyntaxError(f"the query cannot be read: {problem}") from problem


def _joined(query: Query, rows: Values) -> Query:
    """A query with the VALUES that stand after it: joined to what it gives, groups and all."""
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
class _Reader(Cursor):
    """Each method returns a part of the tree."""

    prefixes: dict[str, str]
    base: str = ""
    blanks: int = 0
    extra: list[Pattern] = field(default_factory=list)  # patterns inside nodes, `[ … ]` and `( … )`
    labelled: dict[str, Variable] = field(default_factory=dict)  # variables for blank nodes
    taken: set[str] = field(default_factory=set)  # names of variables

    def query(self) -> Query:
        while self.says("PREFIX", "BASE"):
            if self.says("BASE"):
                self.base = self.given[self.at + 1].text[1:-1]
            self.at += 3 if self.says("PREFIX") else 2
        form = self.take("SELECT", "ASK", "CONSTRUCT", "DESCRIBE")
        query = self.select() if form == "SELECT" else self.other(form)
        if self.at < len(self.given):
            raise QuerySyntaxError(f"{self.here.text!r} comes after the end of the query")
        return query

    def select(self) -> Query:
        distinct = self.skip("DISTINCT")
        self.skip("REDUCED")
        columns: list[tuple[Variable, Expression | None]] = []
        while not self.says("WHERE", "{", "FROM"):
            if self.skip("("):
                value = self.expression()
                self.take("AS")
                columns.append((self.variable(), value))
                self.take(")")
            elif not self.skip("*"):
                columns.append((self.variable(), None))
        return self.rest("SELECT", columns=tuple(columns), distinct=distinct)

    def other(self, form: str) -> Query:
        if form == "CONSTRUCT" and self.says("{"):
            template = tuple(e for e in self.group().elements if isinstance(e, Pattern))
            return self.rest(form, template=template)
        resources = []
        while form == "DESCRIBE" and self.more() and not self.says("WHERE", "{", "FROM"):
            if not self.skip("*"):
                resources.append(self.term())
        query = self.rest(form, resources=tuple(resources))
        if form != "CONSTRUCT":
            return query
        template = tuple(e for e in query.where.elements if isinstance(e, Pattern))
        return replace(query, template=template)

    def rest(
        self,
        form: str,
        *,
        columns: tuple[tuple[Variable, Expression | None], ...] = (),
        distinct: bool = False,
        template: tuple[Pattern, ...] = (),
        resources: tuple[Term, ...] = (),
    ) -> Query:
        """The WHERE group and the modifiers."""
        datasets = []
        while self.skip("FROM"):
            words = "FROM NAMED " if self.skip("NAMED") else "FROM "
            datasets.append(words + str(self.term()))
        self.skip("WHERE")
        where = self.group() if self.says("{") else Group()
        group_by = self.keys() if self.skip("GROUP") else ()
        having = self.conditions() if self.skip("HAVING") else ()
        order = self.ordering() if self.skip("ORDER") else ()
        numbers: dict[str, int] = {}
        while self.says("LIMIT", "OFFSET"):
            word = self.take()
            numbers[word] = int(self.take())
        query = Query(
            form,
            where,
            columns=columns,
            distinct=distinct,
            group_by=group_by,
            having=having,
            order=order,
            limit=numbers.get("LIMIT"),
            offset=numbers.get("OFFSET"),
            template=template,
            resources=resources,
            datasets=tuple(datasets),
        )
        return _joined(query, self.values()) if self.skip("VALUES") else query

    def keys(self) -> tuple[tuple[Expression, Variable | None], ...]:
        """What follows GROUP."""
        self.take("BY")
        found: list[tuple[Expression, Variable | None]] = []
        while self.more():
            if self.skip("("):
                value = self.expression()
                found.append((value, self.variable() if self.skip("AS") else None))
                self.take(")")
            else:
                found.append((self.primary(), None))
        return tuple(found)

    def conditions(self) -> tuple[Expression, ...]:
        found = []
        while self.more():
            found.append(self.primary())
        return tuple(found)

    def ordering(self) -> tuple[tuple[Expression, bool], ...]:
        """What follows ORDER."""
        self.take("BY")
        found = []
        while self.more():
            down = self.says("DESC")
            self.skip("ASC", "DESC")
            found.append((self.primary(), down))
        return tuple(found)

    def more(self) -> bool:
        return self.at < len(self.given) and not self.says("}", *_MODIFIERS)

    def group(self) -> Group:
        self.take("{")
        elements: list[Element] = []
        if self.skip("SELECT"):
            elements.append(self.select())
        while not self.skip("}"):
            if not self.skip("."):
                elements += self.element()
        return Group(tuple(elements))

    def element(self) -> list[Element]:
        """One element of a group, or the patterns of one subject."""
        if self.says("{"):
            return [self.groups()]
        if self.says("OPTIONAL", "MINUS", "GRAPH", "SERVICE"):
            word = self.take()
            silent = self.skip("SILENT")
            name = None if self.says("{") else self.term()
            return [Nested(word, self.group(), name, silent)]
        if self.says("FILTER"):
            start = self.here.start
            self.take()
            return [Filter(self.primary(), (start, self.end))]
        if self.skip("BIND"):
            self.take("(")
            value = self.expression()
            self.take("AS")
            bind = Bind(value, self.variable())
            self.take(")")
            return [bind]
        if self.skip("VALUES"):
            return [self.values()]
        return list(self.statement())

    def groups(self) -> Element:
        """One group, or several with UNION between them; a mere sub-select as itself."""
        found = [self.group()]
        while self.skip("UNION"):
            found.append(self.group())
        if len(found) > 1:
            return Union(tuple(found))
        match found[0].elements:
            case (Query() as select,):
                return select
            case _:
                return Nested("", found[0])

    def values(self) -> Values:
        """What follows VALUES."""
        several = self.says("(")
        variables = self.listed() if several else (self.term(),)
        self.take("{")
        rows = []
        while not self.skip("}"):
            rows.append(self.listed() if several else (self.cell(),))
        names = tuple(name for name in variables if isinstance(name, Variable))
        return Values(names, tuple(rows))

    def listed(self) -> tuple[Term | None, ...]:
        self.take("(")
        cells = []
        while not self.skip(")"):
            cells.append(self.cell())
        return tuple(cells)

    def cell(self) -> Term | None:
        return None if self.skip("UNDEF") else self.term()

    def statement(self) -> list[Pattern]:
        """A subject with its predicates and objects."""
        self.extra = []
        start = self.here.start
        subject = self.node()
        if not self.says(".", "}", *_ELEMENTS):
            self.pairs(subject, (start, self.end))
        found, self.extra = self.extra, []
        return found

    def pairs(self, subject: Term, place: Span) -> None:
        """Predicates and objects after a subject that stands at a place."""
        while not self.says(".", "}", "]"):
            start = self.here.start
            predicate = self.variable() if self.here.kind == "variable" else self.path()
            middle = (start, self.end)
            while True:
                at = len(self.extra)
                start = self.here.start
                value = self.node()
                spans = (place, middle, (start, self.end))
                self.extra.insert(at, Pattern(subject, predicate, value, spans))
                if not self.skip(","):
                    break
            if not self.says(";"):
                return
            while self.skip(";"):
                pass
            if self.says(*_ELEMENTS):
                return

    def node(self) -> Term:
        """A term, or the variable for a blank node or a collection."""
        if self.says("["):
            start = self.here.start
            self.take()
            blank = self.blank()
            self.pairs(blank, (start, self.end))
            self.take("]")
            return blank
        if self.skip("("):
            return self.collection()
        return self.term()

    def collection(self) -> Term:
        if self.skip(")"):
            return NamedNode(RDF_NIL)
        first = head = self.blank()
        while True:
            self.extra.append(Pattern(head, NamedNode(RDF_FIRST), self.node()))
            rest = NamedNode(RDF_NIL) if self.skip(")") else self.blank()
            self.extra.append(Pattern(head, NamedNode(RDF_REST), rest))
            if not isinstance(rest, Variable):
                return first
            head = rest

    def blank(self) -> Variable:
        return self.unwritten("")

    def unwritten(self, label: str) -> Variable:
        """The variable for a blank node, by its label if it has one; no other has its name."""
        if label and label in self.labelled:
            return self.labelled[label]
        stem = f"__{re.sub(r'[^A-Za-z0-9_]', '_', label)}"
        name = stem if label else ""
        while not name or name in self.taken:
            self.blanks += 1
            name = f"{stem}_{self.blanks}" if label else f"__{self.blanks}"
        self.taken.add(name)
        return self.labelled.setdefault(label or name, Variable(name))

    def path(self) -> Predicate:
        """Alternatives of sequences of steps."""
        found = [self.sequence()]
        while self.skip("|"):
            found.append(self.sequence())
        return found[0] if len(found) == 1 else Path("|", tuple(found))

    def sequence(self) -> Predicate:
        found = [self.step()]
        while self.skip("/"):
            found.append(self.step())
        return found[0] if len(found) == 1 else Path("/", tuple(found))

    def step(self) -> Predicate:
        if self.skip("^"):
            return Path("^", (self.step(),))
        found: Predicate
        if self.skip("!"):
            found = Path("!", self.excluded())
        elif self.skip("("):
            found = self.path()
            self.take(")")
            found = replace(found, bracketed=True) if isinstance(found, Path) else found
        elif self.skip("A"):
            found = NamedNode(RDF_TYPE)
        else:
            found = self.iri()
        if self.says("*", "+", "?"):
            return Path(self.take(), (found,))
        return found

    def excluded(self) -> tuple[Predicate, ...]:
        """What follows `!`: a predicate, turned round or not, or several in parentheses."""
        several = self.skip("(")
        found: list[Predicate] = []
        while not (several and self.skip(")")):
            inverse = self.skip("^")
            one = NamedNode(RDF_TYPE) if self.skip("A") else self.iri()
            found.append(Path("^", (one,)) if inverse else one)
            if not several:
                break
            self.skip("|")
        return tuple(found)

    def variable(self) -> Variable:
        token = self.here
        if token.kind != "variable":
            raise QuerySyntaxError(f"{token.text!r} stands where a variable should")
        self.at += 1
        return Variable(token.text[1:])

    def iri(self) -> NamedNode:
        token = self.here
        self.at += 1
        if token.kind == "iri":
            return NamedNode(self.resolved(token.text[1:-1]))
        prefix, colon, local = token.text.partition(":")
        if token.kind != "pname" or not colon:
            raise QuerySyntaxError(f"{token.text!r} stands where an IRI should")
        namespace = self.prefixes.get(prefix, prefix + ":")
        return NamedNode(self.resolved(namespace) + re.sub(r"\\(.)", r"\1", local))

    def resolved(self, iri: str) -> str:
        """An IRI in full, if the query has a base."""
        return iri if ":" in iri or not self.base else urljoin(self.base, iri)

    def term(self) -> Term:
        """A variable, blank node, IRI or literal."""
        sign = self.take() if self.says("-", "+") else ""
        token = self.here
        match token.kind:
            case "variable":
                return self.variable()
            case "blank":
                self.at += 1
                return self.unwritten(token.text[2:])
            case "string":
                return self.literal()
            case "number":
                self.at += 1
                return Literal(sign + token.text, datatype=NamedNode(number_type(token.text)))
        if self.says("TRUE", "FALSE"):
            return Literal(self.take().lower(), datatype=NamedNode(XSD_BOOLEAN))
        return self.iri()

    def literal(self) -> Literal:
        text = unquoted(self.here.text)
        self.at += 1
        if self.at < len(self.given) and self.here.kind == "language":
            self.at += 1
            return Literal(text, language=self.given[self.at - 1].text[1:])
        return Literal(text, datatype=self.iri()) if self.skip("^^") else Literal(text)

    def expression(self, level: int = 0) -> Expression:
        """Operators by their precedence, the weakest first."""
        if level == len(_LEVELS):
            return self.unary()
        left = self.expression(level + 1)
        while self.says(*_LEVELS[level]):
            name = self.take()
            if name == "NOT":
                name += " " + self.take("IN")
            if name in ("IN", "NOT IN"):
                left = Call(name, (left, *self.arguments()))
            else:
                left = Call(name, (left, self.expression(level + 1)))
        return left

    def unary(self) -> Expression:
        if self.says("-", "+") and self.given[self.at + 1].kind == "number":
            return self.term()
        if self.says("!", "-", "+"):
            return Call(self.take(), (self.unary(),))
        return self.primary()

    def primary(self) -> Expression:
        """A term, a call, [NOT] EXISTS, or an expression in parentheses."""
        if self.skip("("):
            inner = self.expression()
            self.take(")")
            return replace(inner, bracketed=True) if isinstance(inner, Call) else inner
        if self.says("NOT", "EXISTS"):
            name = "NOT EXISTS" if self.skip("NOT") else "EXISTS"
            self.take("EXISTS")
            return Call(name, (self.group(),))
        if self.here.kind == "word" and not self.says("TRUE", "FALSE"):
            return self.call()
        term = self.term()
        if isinstance(term, NamedNode) and self.says("("):
            return Call(str(term), self.arguments())
        return term

    def call(self) -> Call:
        """A function or an aggregate."""
        name = self.take()
        if name not in AGGREGATES:
            return Call(name, self.arguments())
        self.take("(")
        name += " DISTINCT" if self.skip("DISTINCT") else ""
        arguments = () if self.skip("*") else (self.expression(),)
        separator = None
        if self.skip(";"):
            self.take("SEPARATOR")
            self.take("=")
            separator = self.literal().value
        self.take(")")
        return Call(name, arguments, separator)

    def arguments(self) -> tuple[Expression, ...]:
        self.take("(")
        found: list[Expression] = []
        while not self.skip(")"):
            found.append(self.expression())
            self.skip(",")
        return tuple(found)
