"""Find the groups of a query and their elements in its text."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import reduce
from typing import Literal as Choice
from typing import cast

from askgraph.errors import QuerySyntaxError
from askgraph.sparql.lexer import Cursor, Token, lexed

Kind = Choice[
    "triples",
    "filter",
    "bind",
    "values",
    "optional",
    "minus",
    "graph",
    "service",
    "groups",
    "select",
]


@dataclass(frozen=True)
class Element:
    """One element of a group, from `start` to `end` in the text.

    `groups` are the groups directly within: one of OPTIONAL, MINUS, GRAPH, SERVICE or braces alone,
    several of a UNION, those of EXISTS in a filter or BIND, and of a sub-select its WHERE part
    first. The triple patterns of one subject are one element. `name` is what GRAPH and SERVICE
    name, as written. `certain` are the variables that each of its solutions binds, `possible` those
    that one may bind, in the order written. `used` are those that a filter or BIND reads outside of
    its EXISTS.
    """

    kind: Kind
    start: int
    end: int
    groups: tuple[Braces, ...] = ()
    name: str = ""
    silent: bool = False
    certain: frozenset[str] = frozenset()
    possible: tuple[str, ...] = ()
    used: frozenset[str] = frozenset()


@dataclass(frozen=True)
class Braces:
    """A group, from its opening brace to behind its closing one."""

    start: int
    end: int
    elements: tuple[Element, ...]

    @property
    def certain(self) -> frozenset[str]:
        """The variables that every solution binds."""
        return frozenset[str]().union(*(each.certain for each in self.elements))

    @property
    def possible(self) -> tuple[str, ...]:
        """The variables that a solution may bind, in the order written."""
        return once(n for each in self.elements if each.kind != "minus" for n in each.possible)


@dataclass(frozen=True)
class Outline:
    """A whole query: its form, where it begins behind the prologue, and its WHERE part.

    `datasets` are its FROM clauses as written, `dataset_place` where they stand. `others` are the
    groups outside the WHERE part: those of EXISTS in its head and its modifiers.
    """

    form: str
    start: int
    datasets: str
    dataset_place: tuple[int, int]
    where: Braces
    others: tuple[Braces, ...]


def once(names: Iterable[str]) -> tuple[str, ...]:
    """Return the names in their order, none twice."""
    return tuple(dict.fromkeys(names))


_FORMS = ("SELECT", "ASK", "CONSTRUCT", "DESCRIBE")
_KEYWORDS = frozenset("OPTIONAL MINUS GRAPH SERVICE FILTER BIND VALUES SELECT UNION".split())
_OPENING = frozenset("([{")
_CLOSING = frozenset(")]}")


def outline(text: str) -> Outline:
    """Return the outline of a query that `askgraph.sparql.judge.checked` has let pass."""
    try:
        return _Scanner(lexed(text).given, text).query()
    except IndexError as problem:
        raise QuerySyntaxError("the query ends too early") from problem


@dataclass
class _Scanner(Cursor):
    """Each method returns an element or a group with its place."""

    text: str

    def query(self) -> Outline:
        while not self.says(*_FORMS):
            self.at += 1
        start, form = self.here.start, self.here.text.upper()
        self.at += 1
        if form == "CONSTRUCT" and self.says("{"):
            self.balanced()
        _, others = self.head()
        place = self.datasets()
        self.skip("WHERE")
        where = Braces(self.end, self.end, ())
        if self.at < len(self.given) and self.says("{"):
            where = self.group()
        _, behind = self.tail()
        datasets = self.text[place[0] : place[1]]
        return Outline(form, start, datasets, place, where, (*others, *behind))

    def head(self) -> tuple[tuple[Token, ...], tuple[Braces, ...]]:
        """What stands between the form and its dataset or WHERE part."""
        first, groups = self.at, list[Braces]()
        while self.at < len(self.given) and not self.says("FROM", "WHERE", "{"):
            groups += self.balanced()
        return tuple(self.given[first : self.at]), tuple(groups)

    def datasets(self) -> tuple[int, int]:
        start = self.here.start if self.says("FROM") else self.end
        while self.skip("FROM"):
            self.skip("NAMED")
            self.at += 1
        return start, self.end if self.end > start else start

    def tail(self) -> tuple[tuple[Element, ...], tuple[Braces, ...]]:
        """What follows the WHERE part: the rows of a last VALUES, and groups in modifiers."""
        groups, values = list[Braces](), list[Element]()
        while self.at < len(self.given) and not self.says("}"):
            if self.says("VALUES"):
                values.append(self.values())
            else:
                groups += self.balanced()
        return tuple(values), tuple(groups)

    def balanced(self) -> list[Braces]:
        """One token, or all between brackets; the groups of EXISTS within."""
        groups, depth = list[Braces](), 0
        while True:
            if self.skip("EXISTS"):
                groups.append(self.group())
            else:
                depth += _depth(self.here)
                self.at += 1
            if depth == 0:
                return groups

    def group(self) -> Braces:
        start = self.here.start
        self.at += 1
        elements: list[Element] = []
        while not self.says("}"):
            if not self.skip("."):
                elements.append(self.element())
        self.at += 1
        return Braces(start, self.end, tuple(elements))

    def element(self) -> Element:
        if self.says("SELECT"):
            return self.select()
        if self.says("OPTIONAL", "MINUS", "GRAPH", "SERVICE"):
            return self.nested()
        if self.says("FILTER"):
            return self.filter()
        if self.says("BIND"):
            return self.bind()
        if self.says("VALUES"):
            return self.values()
        return self.groups() if self.says("{") else self.triples()

    def select(self) -> Element:
        start = self.here.start
        self.at += 1
        head, before = self.head()
        self.datasets()
        self.skip("WHERE")
        where = self.group()
        values, behind = self.tail()
        everything = Braces(start, self.end, (*where.elements, *values))
        certain, possible = _projected(head, everything)
        groups = (where, *before, *behind)
        return Element("select", start, self.end, groups, certain=certain, possible=possible)

    def nested(self) -> Element:
        start, word = self.here.start, self.here.text.lower()
        self.at += 1
        silent = self.skip("SILENT")
        name = ""
        if not self.says("{"):
            name = self.here.text
            self.at += 1
        group = self.group()
        named = (name[1:],) if name.startswith(("?", "$")) else ()
        certain = frozenset() if word in ("optional", "minus") or silent else group.certain
        return Element(
            cast("Kind", word),
            start,
            self.end,
            (group,),
            name,
            silent,
            certain | frozenset(named),
            once([*named, *group.possible]),
        )

    def filter(self) -> Element:
        first = self.at
        self.at += 1
        self.skip("NOT")
        while self.here.text != "(" and not self.says("EXISTS"):
            self.at += 1
        groups = self.balanced()
        return self._outside("filter", first, groups)

    def bind(self) -> Element:
        first = self.at
        self.at += 1
        groups = self.balanced()
        name = self.given[self.at - 2].text[1:]
        return self._outside("bind", first, groups, possible=(name,))

    def _outside(
        self, kind: Kind, first: int, groups: list[Braces], possible: tuple[str, ...] = ()
    ) -> Element:
        """An element that reads the variables outside of its groups."""
        outside = [
            token
            for token in self.given[first : self.at]
            if not any(group.start <= token.start < group.end for group in groups)
        ]
        used = frozenset(_variables(outside)) - frozenset(possible)
        start = self.given[first].start
        return Element(kind, start, self.end, tuple(groups), possible=possible, used=used)

    def values(self) -> Element:
        first = self.at
        self.at += 1
        self.balanced()
        behind = self.at
        self.balanced()
        names = once(_variables(self.given[first:behind]))
        full = not any(_says(token, "UNDEF") for token in self.given[behind : self.at])
        certain = frozenset(names) if full else frozenset[str]()
        start = self.given[first].start
        return Element("values", start, self.end, certain=certain, possible=names)

    def groups(self) -> Element:
        found = [self.group()]
        while self.skip("UNION"):
            found.append(self.group())
        certain = reduce(frozenset.intersection, (group.certain for group in found))
        possible = once(name for group in found for name in group.possible)
        start = found[0].start
        return Element("groups", start, self.end, tuple(found), certain=certain, possible=possible)

    def triples(self) -> Element:
        """The patterns of one subject, to the dot behind them."""
        first, depth = self.at, 0
        while self.here.text not in ("{", "}") and not self.says(*_KEYWORDS):
            depth += _depth(self.here)
            self.at += 1
            if depth == 0 and self.given[self.at - 1].text == ".":
                break
        if self.at == first:
            raise QuerySyntaxError(f"{self.here.text!r} was not expected here")
        names = once(_variables(self.given[first : self.at]))
        start = self.given[first].start
        return Element("triples", start, self.end, certain=frozenset(names), possible=names)


def _projected(head: tuple[Token, ...], where: Braces) -> tuple[frozenset[str], tuple[str, ...]]:
    """Return what a sub-select binds for sure, and what it may bind."""
    depth, plain, new = 0, list[str](), list[str]()
    for before, token in zip((None, *head), head, strict=False):
        depth += _depth(token)
        if token.kind == "mark" and token.text == "*" and depth == 0:
            return where.certain, where.possible
        if token.kind == "variable" and depth == 0:
            plain.append(token.text[1:])
        elif token.kind == "variable" and depth == 1 and before and _says(before, "AS"):
            new.append(token.text[1:])
    return where.certain & frozenset(plain), once([*plain, *new])


def _variables(given: Sequence[Token]) -> Iterator[str]:
    return (token.text[1:] for token in given if token.kind == "variable")


def _depth(token: Token) -> int:
    if token.kind != "mark":
        return 0
    return (token.text in _OPENING) - (token.text in _CLOSING)


def _says(token: Token, *words: str) -> bool:
    return token.kind == "word" and token.text.upper() in words
