"""Pieces of a query's skeleton: one reader for checking, for decoding, and for the query.

A skeleton is a sequence of pieces: symbols of a closed vocabulary, and numbers that point at listed
terms. The same generator says which pieces may come next and builds the query of those that came,
so that nothing can be written that is not read.
"""

from collections.abc import Callable, Generator, Sequence
from dataclasses import dataclass, field
from functools import lru_cache

from askgraph.rdf.vocabulary import RDF_TYPE
from askgraph.search.form import (
    Aggregate,
    Average,
    Column,
    Filter,
    Form,
    Having,
    Key,
    Pattern,
)

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
    following, _ = _run(pieces, str, found)
    return tuple(found) if following is None else (*found, following)


def parsed(pieces: Sequence[Piece], terms: Callable[[int], str]) -> Form:
    """Return the query of a whole skeleton, with `terms` in the place of what it points at.

    Raises `ValueError` if the pieces are no skeleton.
    """
    found, form = _run(pieces, terms)
    if form is None:
        raise ValueError(f"a skeleton that stops short: {found}")
    return form


def _run(
    pieces: Sequence[Piece], terms: Callable[[int], str], met: list[Next] | None = None
) -> tuple[Next | None, Form | None]:
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
            form: Form = stop.value
            return None, form
    return following, None


class _Parser:
    def __init__(self, terms: Callable[[int], str]) -> None:
        self.terms, self.seen = terms, _Seen()

    def query(self) -> Generator[Next, Piece, Form]:
        head = yield Next("head", frozenset(["ASK", "SELECT"]))
        columns: tuple[Column, ...] = ()
        if head == "SELECT":
            columns, piece = yield from self.columns()
        else:
            piece = yield Next("head", frozenset(["WHERE"]))
        patterns, filters, piece = yield from self.group(outer=True)
        either: list[tuple[tuple[Pattern, ...], tuple[Filter, ...]]] = []
        without: list[tuple[tuple[Pattern, ...], tuple[Filter, ...]]] = []
        while piece in ("EITHER", "NOT"):
            before = set(self.seen.bound)
            inner, conditions, _ = yield from self.group(outer=False)
            self.seen.bound = before if piece == "NOT" else self.seen.bound
            (either if piece == "EITHER" else without).append((inner, conditions))
            piece = yield Next("end", self.after(either=piece == "EITHER"))
        group, piece = yield from self.grouped(piece)
        having, piece = yield from self.having(piece)
        order, piece = yield from self.ordered(piece)
        limit, piece = yield from self.number(piece, "LIMIT", ("OFFSET",))
        offset, piece = yield from self.number(piece, "OFFSET", ())
        return Form(
            patterns,
            columns,
            filters,
            tuple(without),
            tuple(either),
            group=group,
            having=having,
            order=order,
            limit=limit,
            offset=offset or 0,
            ask=head == "ASK",
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

    def columns(self) -> Generator[Next, Piece, tuple[tuple[Column, ...], Piece]]:
        found: list[Column] = []
        while True:
            words = frozenset(FUNCTIONS) | self.seen.any() | {"CONTEXT"}
            piece = yield Next("column", words | {"WHERE"} if found else words)
            if piece == "WHERE":
                return tuple(found), piece
            answer = piece != "CONTEXT"
            if not answer:
                piece = yield Next("column", frozenset(FUNCTIONS) | self.seen.any())
            value = yield from self.value(piece, bound=False)
            found.append(Column(value, answer))
            self.seen.mixed = self.seen.mixed or isinstance(value, Aggregate)
            self.seen.plain |= {value} if isinstance(value, int) else set[int]()

    def value(self, piece: Piece, *, bound: bool) -> Generator[Next, Piece, int | Aggregate]:
        """A variable, or a function of one."""
        function = piece if piece in FUNCTIONS else None
        allowed = self.seen.usable() if bound else self.seen.any()
        if function is not None:
            piece = yield Next("column", allowed)
        variable = self.seen.met(_variable(piece), bound=bound)
        if function is None:
            return variable
        name, _, distinct = str(function).partition(" ")
        return Aggregate(name, variable, bool(distinct))

    def group(
        self, *, outer: bool
    ) -> Generator[Next, Piece, tuple[tuple[Pattern, ...], tuple[Filter, ...], Piece]]:
        """Patterns, then filters, and the piece that ends them."""
        patterns: list[Pattern] = []
        filters: list[Filter] = []
        ends = frozenset(["END"])
        piece = yield Next("pattern", self.seen.any(), frozenset(["term"]))
        while isinstance(piece, int) or piece in VARIABLES:
            subject = self.end(piece)
            pattern, piece = yield from self.pattern(subject, outer=outer)
            patterns.append(pattern)
        while piece == "FILTER":
            one, piece = yield from self.filter(outer=outer)
            filters.append(one)
        if not outer and piece not in ends:
            raise ValueError("a group without its end")
        return tuple(patterns), tuple(filters), piece

    def follows(self, *, outer: bool) -> frozenset[str]:
        """What may stand after a pattern or filter of a group, but for another pattern."""
        test = frozenset(["FILTER"] if self.seen.bound else [])
        return self.after() | test if outer else test | {"END"}

    def pattern(
        self, subject: int | str, *, outer: bool
    ) -> Generator[Next, Piece, tuple[Pattern, Piece]]:
        step = yield Next("predicate", frozenset(["a", "a+"]), frozenset(["predicate"]))
        kind, plus = step in ("a", "a+"), step == "a+"
        role = "class" if kind else "term"
        words = self.seen.any() if kind else self.seen.any() | {"+"}
        piece = yield Next("object", words, frozenset([role]))
        if piece == "+":
            plus = True
            piece = yield Next("object", self.seen.any(), frozenset([role]))
        predicate = RDF_TYPE if kind else _inner(self.terms(int(step)))
        found = Pattern(subject, predicate, self.end(piece), plus)
        more = self.seen.any() | self.follows(outer=outer)
        return found, (yield Next("pattern", more, frozenset(["term"])))

    def end(self, piece: Piece) -> int | str:
        return self.terms(piece) if isinstance(piece, int) else self.seen.met(_variable(piece))

    def filter(self, *, outer: bool) -> Generator[Next, Piece, tuple[Filter, Piece]]:
        piece = yield Next("filter", self.seen.usable() | {"INTEGER"})
        whole = piece == "INTEGER"
        if whole:
            piece = yield Next("filter", self.seen.usable())
        variable = _variable(piece)
        test = str((yield Next("test", frozenset(_TESTS))))
        words = frozenset(DIGITS) | self.seen.usable() | {"AVERAGE"}
        values: list[str | int | Average] = []
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
        return Filter(variable, test, tuple(values), whole), piece

    def constant(self, piece: Piece) -> Generator[Next, Piece, str | int | Average]:
        if isinstance(piece, int):
            return self.terms(piece)
        if piece == "AVERAGE":
            return (yield from self.average())
        return piece if piece in DIGITS else _variable(piece)

    def average(self) -> Generator[Next, Piece, Average]:
        """A sub-query: a function, its variable, patterns, END."""
        function = str((yield Next("average", frozenset(FUNCTIONS) - {"COUNT DISTINCT"})))
        before, self.seen.bound = self.seen.bound, set()
        variable = _variable((yield Next("average", self.seen.any())))
        self.seen.known = max(self.seen.known, variable + 1)
        patterns: list[Pattern] = []
        piece = yield Next("pattern", self.seen.any(), frozenset(["term"]))
        while piece != "END":
            subject = self.end(piece)
            pattern, piece = yield from self.inner(subject, variable)
            patterns.append(pattern)
        self.seen.bound = before
        return Average(variable, tuple(patterns), function)

    def inner(
        self, subject: int | str, variable: int
    ) -> Generator[Next, Piece, tuple[Pattern, Piece]]:
        step = yield Next("predicate", frozenset(["a", "a+"]), frozenset(["predicate"]))
        kind = step in ("a", "a+")
        role = "class" if kind else "term"
        piece = yield Next("object", self.seen.any(), frozenset([role]))
        predicate = RDF_TYPE if kind else _inner(self.terms(int(step)))
        found = Pattern(subject, predicate, self.end(piece), step == "a+")
        ends = frozenset(["END"] if variable in self.seen.bound else [])
        return found, (yield Next("pattern", self.seen.any() | ends, frozenset(["term"])))

    def grouped(self, piece: Piece) -> Generator[Next, Piece, tuple[tuple[int, ...], Piece]]:
        if piece != "GROUP":
            return (), piece
        found: list[int] = []
        piece = yield Next("group", self.seen.usable())
        while piece in VARIABLES:
            found.append(_variable(piece))
            self.seen.groups.add(found[-1])
            short = self.seen.mixed and not self.seen.countable
            ends = frozenset[str]() if short else self.endings()
            left = frozenset(VARIABLES[n] for n in self.seen.bound - self.seen.groups)
            piece = yield Next("group", left | ends)
        return tuple(found), piece

    def having(self, piece: Piece) -> Generator[Next, Piece, tuple[tuple[Having, ...], Piece]]:
        found: list[Having] = []
        while piece == "HAVING":
            function = yield Next("having", frozenset(FUNCTIONS))
            value = yield from self.value(function, bound=True)
            sign = str((yield Next("test", frozenset(COMPARED))))
            number = yield Next("number", frozenset(DIGITS), frozenset(["number"]))
            text = self.terms(number) if isinstance(number, int) else number
            assert isinstance(value, Aggregate)
            found.append(Having(value, sign, text))
            self.seen.mixed = True
            piece = yield Next("having", self.endings())
        return tuple(found), piece

    def ordered(self, piece: Piece) -> Generator[Next, Piece, tuple[tuple[Key, ...], Piece]]:
        found: list[Key] = []
        while piece == "ORDER":
            counts = frozenset(FUNCTIONS if self.seen.countable else [])
            values = counts | self.seen.keys()
            piece = yield Next("order", values | {"DESC"})
            down = piece == "DESC"
            if down:
                piece = yield Next("order", values)
            found.append(Key((yield from self.value(piece, bound=True)), down))
            piece = yield Next("order", frozenset(["ORDER", "LIMIT", "OFFSET", STOP]))
        return tuple(found), piece

    def number(
        self, piece: Piece, word: str, after: tuple[str, ...]
    ) -> Generator[Next, Piece, tuple[int | None, Piece]]:
        if piece != word:
            return None, piece
        number = yield Next("number", frozenset(DIGITS), frozenset(["number"]))
        text = self.terms(number) if isinstance(number, int) else number
        return int(float(text)), (yield Next("end", frozenset([*after, STOP])))


def _variable(piece: Piece) -> int:
    return int(str(piece)[1:])


def _inner(term: str) -> str:
    """A predicate as forms have it: its IRI without brackets."""
    return term.removeprefix("<").removesuffix(">")
