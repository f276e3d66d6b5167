"""A query as a skeleton: symbols of a small closed vocabulary, and pointers to listed terms.

`skeleton_of` and `form_of` turn a form into its skeleton and back. Equal queries have equal
skeletons, whatever their variables are numbered and in whatever order their patterns stand: a model
that learns to write them has one right answer to learn.
"""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from askgraph.rdf.vocabulary import RDF_TYPE
from askgraph.search.form import (
    Aggregate,
    Average,
    Filter,
    Form,
    Having,
    Key,
    Pattern,
)
from askgraph.writing.pointer.pieces import DIGITS, FUNCTIONS, STOP, VARIABLES, Piece, parsed

Skeleton = tuple[Piece, ...]
_NUMBER = re.compile(r'"?([+-]?\d+(?:\.\d+)?)"?(?:\^\^<[^>]+>)?')


class Inexpressible(ValueError):
    """A query that the vocabulary has no words for, or that names what is not listed."""


def skeleton_of(form: Form, places: Mapping[str, int]) -> Skeleton:
    """Return the skeleton of a form; `places` are those of its terms, as `terms_of` gives them.

    Raises `Inexpressible` if a term has no place, or if the form needs more variables.
    """
    if form.optional or form.given or form.computed:
        raise Inexpressible("what may be missing, is given in rows or is computed")
    writer = _Writer(places)
    return (*writer.query(form), STOP)


def form_of(skeleton: Sequence[Piece], terms: Sequence[str]) -> Form:
    """Return the form of a skeleton; raises `ValueError` if it is none.

    `terms` are IRIs in angle brackets and literals, by their places.
    """
    return parsed(skeleton, lambda at: terms[at])


def terms_of(form: Form) -> list[str]:
    """Return what a form names, each once: IRIs in angle brackets, literals; not `rdf:type`.

    Whole numbers of one digit are written as they are, and are not among them.
    """
    found: dict[str, None] = {}
    groups = [(form.patterns, form.filters), *form.either, *form.without]
    for patterns, filters in groups:
        averages = [v for one in filters for v in one.values if isinstance(v, Average)]
        inner = [pattern for one in averages for pattern in one.patterns]
        for pattern in (*patterns, *inner):
            ends = [end for end in (pattern.subject, pattern.object) if isinstance(end, str)]
            step = [] if pattern.predicate == RDF_TYPE else [f"<{pattern.predicate}>"]
            found.update(dict.fromkeys(step + ends))
        for one in filters:
            found.update(dict.fromkeys(v for v in one.values if isinstance(v, str)))
    found.update(dict.fromkeys(one.value for one in form.having))
    found.update(dict.fromkeys(str(n) for n in (form.limit, form.offset or None) if n is not None))
    return [term for term in found if term not in DIGITS]


def number_of(term: str) -> float | None:
    """Return the number that a literal is, None if it is none."""
    found = _NUMBER.fullmatch(term)
    return float(found.group(1)) if found else None


@dataclass
class _Writer:
    """Writes one form; `names` are the new numbers of its variables, in the order of their use."""

    places: Mapping[str, int]
    names: dict[int, str] = field(default_factory=dict)

    def query(self, form: Form) -> Iterator[Piece]:
        yield "ASK" if form.ask else "SELECT"
        for column in form.columns if not form.ask else ():
            yield from () if column.answer else ("CONTEXT",)
            yield from self.value(column.value)
        yield "WHERE"
        yield from self.group(form.patterns, form.filters)
        for word, groups in (("EITHER", form.either), ("NOT", form.without)):
            for patterns, filters in groups:
                yield word
                yield from self.group(patterns, filters)
                yield "END"
        yield from self.modifiers(form)

    def modifiers(self, form: Form) -> Iterator[Piece]:
        if form.group:
            yield "GROUP"
            yield from sorted(set(map(self.variable, form.group)))
        for one in form.having:
            yield from self.having(one)
        for key in form.order:
            yield from self.key(key)
        if form.limit is not None:
            yield from ("LIMIT", self.number(str(form.limit)))
        if form.offset:
            yield from ("OFFSET", self.number(str(form.offset)))

    def group(self, patterns: Sequence[Pattern], filters: Sequence[Filter]) -> Iterator[Piece]:
        for pattern in self.ordered(patterns):
            yield from self.pattern(pattern)
        for one in sorted(filters, key=lambda f: (self.names.get(f.variable, ""), f.operator)):
            yield from self.filter(one)

    def ordered(self, patterns: Sequence[Pattern]) -> Iterator[Pattern]:
        """Patterns, those next to the variables met first, first; classes before the rest."""
        left = list(dict.fromkeys(patterns))
        while left:
            chosen = min(left, key=self.rank)
            left.remove(chosen)
            yield chosen

    def rank(self, pattern: Pattern) -> tuple[object, ...]:
        ends = (pattern.subject, pattern.object)
        order = list(self.names)
        met = [order.index(end) for end in ends if isinstance(end, int) and end in self.names]
        named = [self.places.get(end, -1) for end in ends if isinstance(end, str)]
        step = self.places.get(f"<{pattern.predicate}>", -1)
        kind = pattern.predicate != RDF_TYPE
        last = [end for end in ends if isinstance(end, int)]
        return min(met, default=99), kind, step, not named, named, pattern.plus, sorted(met), last

    def pattern(self, pattern: Pattern) -> Iterator[Piece]:
        yield self.end(pattern.subject)
        if pattern.predicate == RDF_TYPE:
            yield "a+" if pattern.plus else "a"
        else:
            yield self.place(f"<{pattern.predicate}>")
            yield from ("+",) if pattern.plus else ()
        yield self.end(pattern.object)

    def filter(self, one: Filter) -> Iterator[Piece]:
        yield "FILTER"
        yield from ("INTEGER",) if one.as_integer else ()
        yield self.variable(one.variable)
        yield one.operator
        for value in one.values:
            match value:
                case Average():
                    yield from self.average(value)
                case int():
                    yield self.variable(value)
                case _:
                    yield self.number(value)

    def average(self, one: Average) -> Iterator[Piece]:
        yield "AVERAGE"
        yield one.function
        yield self.variable(one.variable)
        for pattern in self.ordered(one.patterns):
            if pattern.plus and pattern.predicate != RDF_TYPE:
                raise Inexpressible("a path within an average")
            yield from self.pattern(pattern)
        yield "END"

    def having(self, one: Having) -> Iterator[Piece]:
        yield "HAVING"
        yield from self.value(one.aggregate)
        yield one.operator
        yield self.number(one.value)

    def key(self, key: Key) -> Iterator[Piece]:
        yield "ORDER"
        yield from ("DESC",) if key.descending else ()
        yield from self.value(key.value)

    def value(self, value: int | Aggregate) -> Iterator[Piece]:
        if isinstance(value, Aggregate):
            function = value.function + (" DISTINCT" if value.distinct else "")
            if function not in FUNCTIONS:
                raise Inexpressible(function)
            yield function
            value = value.variable
        yield self.variable(value)

    def end(self, end: int | str) -> Piece:
        return self.variable(end) if isinstance(end, int) else self.place(end)

    def variable(self, number: int) -> str:
        if number not in self.names:
            if len(self.names) == len(VARIABLES):
                raise Inexpressible("more variables than the vocabulary has")
            self.names[number] = VARIABLES[len(self.names)]
        return self.names[number]

    def number(self, text: str) -> Piece:
        """A listed number before a digit: the question says it."""
        return text if text not in self.places and text in DIGITS else self.place(text)

    def place(self, term: str) -> int:
        if term not in self.places:
            raise Inexpressible(f"{term} is not listed")
        return self.places[term]


def canonical(form: Form, terms: Iterable[str]) -> Form:
    """Return the form that the skeleton of a form gives back."""
    listed = list(terms)
    return form_of(skeleton_of(form, {term: at for at, term in enumerate(listed)}), listed)
