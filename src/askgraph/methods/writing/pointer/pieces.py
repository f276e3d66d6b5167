"""Pieces of a query's skeleton: one reader for checking, for decoding, and for the query.

A skeleton is a sequence of pieces: symbols of a closed vocabulary, and numbers that point at listed
terms. The same generator says which pieces may come next and builds the query of those that came,
so that nothing can be written that is not read.
"""

from collections.abc import Callable, Generator, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any

from pyoxigraph import Literal, Variable

from askgraph.search.query_pieces import (
    INTEGER,
    Value,
    aggregate_of,
    alias_of,
    condition,
    denied,
    pattern,
    place_of,
    query_of,
    term_of,
    variable,
)
from askgraph.sparql import Call, Element, Filter, Group, Nested, Path, Pattern, Query, Term, Union
from askgraph.sparql.vocabulary import RDF_TYPE

Piece = str | int
"""A symbol, or the place of a listed term."""

Roles = frozenset[str]
"""What a listed term can stand as: predicate, class, term, number."""

MOST_VARIABLES = 10
VARIABLES = tuple(f"?{number}" for number in range(MOST_VARIABLES))
DIGITS = tuple(str(number) for number in range(10))
FUNCTIONS = ("COUNT", "COUNT DISTINCT", "SUM", "AVG", "MIN", "MAX")
COMPARED = ("=", "!=", "<", ">", "<=", ">=")
_TESTS = (*COMPARED, "IN", "CONTAINS", "STRSTARTS", "STRENDS", "YEAR", "TEXT")
STOP = "STOP"
_WORDS = ("ASK", "SELECT", "CONTEXT", "WHERE", "a", "a+", "+", "FILTER", "INTEGER", "AVERAGE")
_PARTS = ("EITHER", "NOT", "END", "GROUP", "HAVING", "ORDER", "DESC", "LIMIT", "OFFSET")
SYMBOLS = (STOP, *_WORDS, *_PARTS, *_TESTS, *FUNCTIONS, *DIGITS, *VARIABLES)
"""The closed vocabulary, in the order of its numbers."""

STAGES = (
    "head", "column", "pattern", "predicate", "object", "filter", "test", "value", "average",
    "group", "having", "order", "number", "end",
)  # fmt: skip
"""What a piece is read as; told to the model along with the pieces."""


@dataclass(frozen=True)
class Next:
    """What may come next: symbols, and listed terms in one of the roles."""

    stage: str
    symbols: frozenset[str]
    roles: Roles = frozenset()


@dataclass
class _Seen:
    """The variables met so far; those shown have to be bound by a pattern.

    `plain` are shown as they are, `mixed` says that there are aggregates beside them, `groups` are
    those that solutions are grouped by.
    """

    known: int = 0
    shown: set[int] = field(default_factory=set)
    bound: set[int] = field(default_factory=set)
    plain: set[int] = field(default_factory=set)
    groups: set[int] = field(default_factory=set)
    mixed: bool = False

    def any(self) -> frozenset[str]:
        """Every variable met, and one new one."""
        return frozenset(VARIABLES[: self.known + 1])

    def usable(self) -> frozenset[str]:
        return frozenset(VARIABLES[number] for number in self.bound)

    def met(self, variable: int, *, bound: bool = True) -> int:
        self.known = max(self.known, variable + 1)
        (self.bound if bound else self.shown).add(variable)
        return variable

    @property
    def closed(self) -> bool:
        return self.shown <= self.bound

    @property
    def countable(self) -> bool:
        """Whether aggregates can stand here: all that is shown as it is, is grouped by."""
        return self.plain <= self.groups

    def keys(self) -> frozenset[str]:
        """What solutions can be ordered by."""
        alike = self.groups or self.mixed
        return frozenset(VARIABLES[n] for n in (self.groups if alike else self.bound))


@lru_cache(maxsize=65_536)
def awaited(pieces: tuple[Piece, ...]) -> tuple[Next, ...]:
    """Return what was expected in the place of each piece, and after the last of unfinished ones.

    Raises `ValueError` for a wrong one.
    """
    found: list[Next] = []
    following, _ = _run(pieces, Literal, found)
    return tuple(found) if following is None else (*found, following)


def parsed(pieces: Sequence[Piece], terms: Callable[[int], str]) -> Query:
    """Return the query of a whole skeleton, with `terms` in the place of what it points at.

    Raises `ValueError` if the pieces are no skeleton.
    """
    found, query = _run(pieces, lambda at: term_of(terms(at)))
    if query is None:
        raise ValueError(f"a skeleton that stops short: {found}")
    return query


def _run(
    pieces: Sequence[Piece], terms: Callable[[int], Any], met: list[Next] | None = None
) -> tuple[Next | None, Query | None]:
    reader = _Parser(terms).query()
    following = next(reader)
    for at, piece in enumerate(pieces):
        if met is not None:
            met.append(following)
        if not (following.roles if isinstance(piece, int) else piece in following.symbols):
            raise ValueError(f"{piece!r} cannot stand at place {at} of a skeleton")
        try:
            following = reader.send(piece)
        except StopIteration as stop:
            if at + 1 < len(pieces):
                raise ValueError("a skeleton that goes on after its end") from None
            query: Query = stop.value
            return None, query
    return following, None


_Key = tuple[Value, bool]
"""What rows are ordered by, and whether it descends."""


class _Parser:
    """Reads one query; `terms` gives what a place stands for."""

    def __init__(self, terms: Callable[[int], Any]) -> None:
        self.terms, self.seen = terms, _Seen()

    def query(self) -> Generator[Next, Piece, Query]:
        head = yield Next("head", frozenset(["ASK", "SELECT"]))
        columns: list[Value] = []
        if head == "SELECT":
            columns, piece = yield from self.columns()
        else:
            piece = yield Next("head", frozenset(["WHERE"]))
        where, piece = yield from self.group(outer=True)
        either: list[Group] = []
        without: list[Filter] = []
        while piece in ("EITHER", "NOT"):
            before = set(self.seen.bound)
            inner, _ = yield from self.group(outer=False)
            if piece == "NOT":
                self.seen.bound = before
                without.append(denied(*inner))
            else:
                either.append(Group(tuple(inner)))
            piece = yield Next("end", self.after(either=piece == "EITHER"))
        if either:
            where.append(Union(tuple(either)) if len(either) > 1 else Nested("", either[0]))
        group, piece = yield from self.grouped(piece)
        having, piece = yield from self.having(piece)
        order, piece = yield from self.ordered(piece)
        limit, piece = yield from self.number(piece, "LIMIT", ("OFFSET",))
        offset, piece = yield from self.number(piece, "OFFSET", ())
        return query_of(
            (*where, *without),
            columns if head == "SELECT" else None,
            group=group,
            having=having,
            order=order,
            limit=limit,
            offset=offset or 0,
        )

    def after(self, *, either: bool = True) -> frozenset[str]:
        """What may stand after the patterns; nothing but more of them while one is missing."""
        more = frozenset(["EITHER", "NOT"] if either else ["NOT"])
        if not self.seen.closed:
            return frozenset(["EITHER"]) if either else frozenset()
        if not self.seen.bound:
            return more | {STOP}
        if self.seen.mixed and self.seen.plain:
            return more | {"GROUP"}
        return more | {"GROUP"} | self.endings()

    def endings(self) -> frozenset[str]:
        """What may stand after the groups: aggregates if nothing else is shown beside them."""
        last = {"LIMIT", "OFFSET", STOP}
        last |= {"HAVING"} if self.seen.countable else set[str]()
        return frozenset(last | {"ORDER"} if self.seen.keys() or self.seen.countable else last)

    def columns(self) -> Generator[Next, Piece, tuple[list[Value], Piece]]:
        found: list[Value] = []
        while True:
            words = frozenset(FUNCTIONS) | self.seen.any() | {"CONTEXT"}
            piece = yield Next("column", words | {"WHERE"} if found else words)
            if piece == "WHERE":
                return found, piece
            if piece == "CONTEXT":
                piece = yield Next("column", frozenset(FUNCTIONS) | self.seen.any())
            value = yield from self.value(piece, bound=False)
            found.append(value)
            self.seen.mixed = self.seen.mixed or isinstance(value, Call)
            self.seen.plain |= {place_of(value)} if isinstance(value, Variable) else set[int]()

    def value(self, piece: Piece, *, bound: bool) -> Generator[Next, Piece, Value]:
        """A variable, or a function of one."""
        function = piece if piece in FUNCTIONS else None
        allowed = self.seen.usable() if bound else self.seen.any()
        if function is not None:
            piece = yield Next("column", allowed)
        of = variable(self.seen.met(_number(piece), bound=bound))
        return of if function is None else Call(str(function), (of,))

    def group(self, *, outer: bool) -> Generator[Next, Piece, tuple[list[Element], Piece]]:
        """Patterns, then filters, and the piece that ends them."""
        patterns: list[Pattern] = []
        averages: list[Query] = []
        filters: list[Filter] = []
        piece = yield Next("pattern", self.seen.any(), frozenset(["term"]))
        while isinstance(piece, int) or piece in VARIABLES:
            subject = self.end(piece)
            found, piece = yield from self.pattern(subject, outer=outer)
            patterns.append(found)
        while piece == "FILTER":
            one, means, piece = yield from self.filter(outer=outer)
            filters.append(one)
            averages += means
        if not outer and piece != "END":
            raise ValueError("a group without its end")
        return [*patterns, *averages, *filters], piece

    def follows(self, *, outer: bool) -> frozenset[str]:
        """What may stand after a pattern or filter of a group, but for another pattern."""
        test = frozenset(["FILTER"] if self.seen.bound else [])
        return self.after() | test if outer else test | {"END"}

    def pattern(
        self, subject: Term, *, outer: bool
    ) -> Generator[Next, Piece, tuple[Pattern, Piece]]:
        step = yield Next("predicate", frozenset(["a", "a+"]), frozenset(["predicate"]))
        kind, plus = step in ("a", "a+"), step == "a+"
        role = "class" if kind else "term"
        words = self.seen.any() if kind else self.seen.any() | {"+"}
        piece = yield Next("object", words, frozenset([role]))
        if piece == "+":
            plus = True
            piece = yield Next("object", self.seen.any(), frozenset([role]))
        found = self.triple(subject, step, self.end(piece), walked=plus)
        more = self.seen.any() | self.follows(outer=outer)
        return found, (yield Next("pattern", more, frozenset(["term"])))

    def triple(self, subject: Term, step: Piece, end: Term, *, walked: bool) -> Pattern:
        if not isinstance(step, int):
            return pattern(subject, RDF_TYPE, end, walked=walked)
        predicate = self.terms(step)
        return Pattern(subject, Path("+", (predicate,)) if walked else predicate, end)

    def end(self, piece: Piece) -> Term:
        if isinstance(piece, int):
            term: Term = self.terms(piece)
            return term
        return variable(self.seen.met(_number(piece)))

    def filter(self, *, outer: bool) -> Generator[Next, Piece, tuple[Filter, list[Query], Piece]]:
        piece = yield Next("filter", self.seen.usable() | {"INTEGER"})
        whole = piece == "INTEGER"
        if whole:
            piece = yield Next("filter", self.seen.usable())
        compared = variable(_number(piece))
        test = str((yield Next("test", frozenset(_TESTS))))
        words = frozenset(DIGITS) | self.seen.usable() | {"AVERAGE"}
        values: list[Term | Query] = []
        piece = yield Next("value", words, frozenset(["term", "number"]))
        while True:
            values.append((yield from self.constant(piece)))
            if test != "IN":
                piece = yield Next("filter", self.follows(outer=outer))
                break
            more = self.follows(outer=outer) | frozenset(DIGITS)
            piece = yield Next("value", more, frozenset(["term", "number"]))
            if not isinstance(piece, int) and piece not in DIGITS:
                break
        averages = [value for value in values if isinstance(value, Query)]
        terms = [alias_of(value) if isinstance(value, Query) else value for value in values]
        cast = INTEGER if whole else ""
        return condition(compared, test, *terms, cast=cast), averages, piece

    def constant(self, piece: Piece) -> Generator[Next, Piece, Term | Query]:
        if isinstance(piece, int):
            term: Term = self.terms(piece)
            return term
        if piece == "AVERAGE":
            return (yield from self.average())
        return term_of(piece) if piece in DIGITS else variable(_number(piece))

    def average(self) -> Generator[Next, Piece, Query]:
        """A sub-query: a function, its variable, patterns, END."""
        function = str((yield Next("average", frozenset(FUNCTIONS) - {"COUNT DISTINCT"})))
        before, self.seen.bound = self.seen.bound, set()
        number = _number((yield Next("average", self.seen.any())))
        self.seen.known = max(self.seen.known, number + 1)
        patterns: list[Pattern] = []
        piece = yield Next("pattern", self.seen.any(), frozenset(["term"]))
        while piece != "END":
            subject = self.end(piece)
            found, piece = yield from self.inner(subject, number)
            patterns.append(found)
        self.seen.bound = before
        return aggregate_of(variable(number), patterns, function)

    def inner(self, subject: Term, averaged: int) -> Generator[Next, Piece, tuple[Pattern, Piece]]:
        step = yield Next("predicate", frozenset(["a", "a+"]), frozenset(["predicate"]))
        kind = step in ("a", "a+")
        role = "class" if kind else "term"
        piece = yield Next("object", self.seen.any(), frozenset([role]))
        found = self.triple(subject, step, self.end(piece), walked=step == "a+")
        ends = frozenset(["END"] if averaged in self.seen.bound else [])
        return found, (yield Next("pattern", self.seen.any() | ends, frozenset(["term"])))

    def grouped(self, piece: Piece) -> Generator[Next, Piece, tuple[list[Variable], Piece]]:
        found: list[Variable] = []
        if piece != "GROUP":
            return found, piece
        piece = yield Next("group", self.seen.usable())
        while piece in VARIABLES:
            self.seen.groups.add(_number(piece))
            found.append(variable(_number(piece)))
            short = self.seen.mixed and not self.seen.countable
            ends = frozenset[str]() if short else self.endings()
            left = frozenset(VARIABLES[n] for n in self.seen.bound - self.seen.groups)
            piece = yield Next("group", left | ends)
        return found, piece

    def having(self, piece: Piece) -> Generator[Next, Piece, tuple[list[Call], Piece]]:
        found: list[Call] = []
        while piece == "HAVING":
            function = yield Next("having", frozenset(FUNCTIONS))
            value = yield from self.value(function, bound=True)
            sign = str((yield Next("test", frozenset(COMPARED))))
            number = yield Next("number", frozenset(DIGITS), frozenset(["number"]))
            limit = self.terms(number) if isinstance(number, int) else term_of(number)
            found.append(Call(sign, (value, limit)))
            self.seen.mixed = True
            piece = yield Next("having", self.endings())
        return found, piece

    def ordered(self, piece: Piece) -> Generator[Next, Piece, tuple[list[_Key], Piece]]:
        found: list[_Key] = []
        while piece == "ORDER":
            counts = frozenset(FUNCTIONS if self.seen.countable else [])
            values = counts | self.seen.keys()
            piece = yield Next("order", values | {"DESC"})
            down = piece == "DESC"
            if down:
                piece = yield Next("order", values)
            found.append(((yield from self.value(piece, bound=True)), down))
            piece = yield Next("order", frozenset(["ORDER", "LIMIT", "OFFSET", STOP]))
        return found, piece

    def number(
        self, piece: Piece, word: str, after: tuple[str, ...]
    ) -> Generator[Next, Piece, tuple[int | None, Piece]]:
        if piece != word:
            return None, piece
        number = yield Next("number", frozenset(DIGITS), frozenset(["number"]))
        text = self.terms(number).value if isinstance(number, int) else number
        return int(float(text)), (yield Next("end", frozenset([*after, STOP])))


def _number(piece: Piece) -> int:
    return int(str(piece)[1:])
