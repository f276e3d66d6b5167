"""A query as a skeleton: symbols of a small closed vocabulary, and pointers to listed terms.

`skeleton_of` and `query_of` turn a query into its skeleton and back. Equal queries have equal
skeletons, whatever their variables are numbered and in whatever order their patterns stand: a model
that learns to write them has one right answer to learn.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from pyoxigraph import Variable

from askgraph.methods.writing.pointer.pieces import (
    DIGITS,
    FUNCTIONS,
    STOP,
    VARIABLES,
    Piece,
    parsed,
)
from askgraph.search.query_pieces import (
    INTEGER,
    Condition,
    Value,
    averages_in,
    conditions_in,
    denied_in,
    either_in,
    groups_of,
    having_of,
    keys_of,
    patterns_in,
    place_of,
    predicate_of,
    text_of,
    values_of,
    variable_of,
)
from askgraph.sparql import Bind, Call, Group, Nested, Path, Pattern, Query, Term, Values
from askgraph.sparql.vocabulary import RDF_TYPE

Skeleton = tuple[Piece, ...]
_NUMBER = re.compile(r'"?([+-]?\d+(?:\.\d+)?)"?(?:\^\^<[^>]+>)?')


class Inexpressible(ValueError):
    """A query that the vocabulary has no words for, or that names what is not listed."""


def skeleton_of(
    query: Query, places: Mapping[str, int], shown: Sequence[Value] | None = None
) -> Skeleton:
    """Return the skeleton of a query with numbered variables, as candidates have it.

    `places` are those of its terms, as `terms_of` gives them; columns that are not `shown` are
    context, none if that is not said. Raises `Inexpressible` if a term has no place, or if the
    query needs more variables.
    """
    for one in query.where.elements:
        if isinstance(one, Values | Bind) or (isinstance(one, Nested) and one.word):
            raise Inexpressible("what may be missing, is given in rows or is computed")
    writer = _Writer(places)
    return (*writer.query(query, values_of(query) if shown is None else shown), STOP)


def query_of(skeleton: Sequence[Piece], terms: Sequence[str]) -> Query:
    """Return the query of a skeleton; raises `ValueError` if it is none.

    `terms` are IRIs in angle brackets and literals, by their places.
    """
    return parsed(skeleton, lambda at: terms[at])


def terms_of(query: Query) -> list[str]:
    """Return what a query names, each once: IRIs in angle brackets, literals; not `rdf:type`.

    Whole numbers of one digit are written as they are, and are not among them.
    """
    found: dict[str, None] = {}
    where = query.where
    for group in (where, *either_in(where), *denied_in(where)):
        inner = [one for average in averages_in(group) for one in patterns_in(average.where)]
        for pattern in (*patterns_in(group), *inner):
            iri = predicate_of(pattern)
            ends = [one for one in (pattern.subject, pattern.object) if not _is_variable(one)]
            found.update(dict.fromkeys([] if iri == RDF_TYPE else [f"<{iri}>"]))
            found.update(dict.fromkeys(map(str, ends)))
        for one in conditions_in(group):
            constants = [value for value in one.values if not _is_variable(value)]
            found.update(dict.fromkeys(map(text_of, constants)))
    found.update(dict.fromkeys(text_of(number) for _, _, number in having_of(query)))
    cut = (query.limit, query.offset or None)
    found.update(dict.fromkeys(str(number) for number in cut if number is not None))
    return [term for term in found if term not in DIGITS]


def _is_variable(term: Term) -> bool:
    return isinstance(term, Variable)


def number_of(term: str) -> float | None:
    """Return the number that a literal is, None if it is none."""
    found = _NUMBER.fullmatch(term)
    return float(found.group(1)) if found else None


@dataclass
class _Writer:
    """Writes one query; `names` are the new numbers of its variables, in the order of their use."""

    places: Mapping[str, int]
    names: dict[Variable, str] = field(default_factory=dict)

    def query(self, query: Query, shown: Sequence[Value]) -> Iterator[Piece]:
        yield query.form
        for value in values_of(query):
            yield from () if value in shown else ("CONTEXT",)
            yield from self.value(value)
        yield "WHERE"
        yield from self.group(query.where)
        for word, groups in (("EITHER", either_in), ("NOT", denied_in)):
            for group in groups(query.where):
                yield word
                yield from self.group(group)
                yield "END"
        yield from self.modifiers(query)

    def modifiers(self, query: Query) -> Iterator[Piece]:
        if query.group_by:
            yield "GROUP"
            yield from sorted(set(map(self.variable, groups_of(query))))
        for value, sign, number in having_of(query):
            yield "HAVING"
            yield from self.value(value)
            yield sign
            yield self.number(text_of(number))
        for key, descending in keys_of(query):
            yield "ORDER"
            yield from ("DESC",) if descending else ()
            yield from self.value(key)
        if query.limit is not None:
            yield from ("LIMIT", self.number(str(query.limit)))
        if query.offset:
            yield from ("OFFSET", self.number(str(query.offset)))

    def group(self, group: Group) -> Iterator[Piece]:
        averages = {one.columns[0][0]: one for one in averages_in(group)}
        for pattern in self.ordered(patterns_in(group)):
            yield from self.pattern(pattern)
        conditions = conditions_in(group)
        for one in sorted(conditions, key=lambda c: (self.names.get(c.variable, ""), c.operator)):
            yield from self.filter(one, averages)

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
        variables = [end for end in ends if isinstance(end, Variable)]
        met = [order.index(end) for end in variables if end in self.names]
        named = [self.places.get(self.text(end), -1) for end in ends if not _is_variable(end)]
        iri, walked = predicate_of(pattern), isinstance(pattern.predicate, Path)
        step, last = self.places.get(f"<{iri}>", -1), [place_of(end) for end in variables]
        return (
            min(met, default=99),
            iri != RDF_TYPE,
            step,
            not named,
            named,
            walked,
            sorted(met),
            last,
        )

    def pattern(self, pattern: Pattern) -> Iterator[Piece]:
        yield self.end(pattern.subject)
        iri, walked = predicate_of(pattern), isinstance(pattern.predicate, Path)
        if iri == RDF_TYPE:
            yield "a+" if walked else "a"
        else:
            yield self.place(f"<{iri}>")
            yield from ("+",) if walked else ()
        yield self.end(pattern.object)

    def filter(self, one: Condition, averages: Mapping[Any, Query]) -> Iterator[Piece]:
        yield "FILTER"
        yield from ("INTEGER",) if one.cast == INTEGER else ()
        yield self.variable(one.variable)
        yield one.operator
        for value in one.values:
            if value in averages:
                yield from self.average(averages[value])
            elif isinstance(value, Variable):
                yield self.variable(value)
            else:
                yield self.number(text_of(value))

    def average(self, query: Query) -> Iterator[Piece]:
        yield "AVERAGE"
        yield from self.value(values_of(query)[0])
        for pattern in self.ordered(patterns_in(query.where)):
            if isinstance(pattern.predicate, Path) and predicate_of(pattern) != RDF_TYPE:
                raise Inexpressible("a path within an average")
            yield from self.pattern(pattern)
        yield "END"

    def value(self, value: Value) -> Iterator[Piece]:
        if isinstance(value, Call):
            if value.name not in FUNCTIONS:
                raise Inexpressible(value.name)
            yield value.name
        yield self.variable(variable_of(value))

    def end(self, end: Term) -> Piece:
        return self.variable(end) if isinstance(end, Variable) else self.place(self.text(end))

    def variable(self, variable: Variable) -> str:
        if variable not in self.names:
            if len(self.names) == len(VARIABLES):
                raise Inexpressible("more variables than the vocabulary has")
            self.names[variable] = VARIABLES[len(self.names)]
        return self.names[variable]

    def text(self, constant: Term) -> str:
        """A constant as it is listed: a number may be so with its datatype, or without."""
        text = str(constant)
        return text if text in self.places else text_of(constant)

    def number(self, text: str) -> Piece:
        """A listed number before a digit: the question says it."""
        return text if text not in self.places and text in DIGITS else self.place(text)

    def place(self, term: str) -> int:
        if term not in self.places:
            raise Inexpressible(f"{term} is not listed")
        return self.places[term]
