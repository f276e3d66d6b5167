"""The SERVICE clauses of a query: what they ask, where they stand, and what stands around them."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import cast

from askgraph.errors import ForbiddenQuery, QueryError
from askgraph.sparql import Bind, Filter, Group, Nested, Query, Span, Union, Values
from askgraph.sparql.federation.scope import (
    Part,
    Scope,
    groups_around,
    groups_of,
    parts_of,
    span_of,
)
from askgraph.sparql.judge import named_services
from askgraph.sparql.lexer import lexed
from askgraph.sparql.parser import parse_query


@dataclass(frozen=True)
class Level:
    """What one group has around a clause, or around the group with it.

    Every solution that the clause helps to make satisfies the required ones of `elements`. If
    the clause is `joined`, with nothing optional or negated between, a filter of the group also
    holds for its own solutions. `graph` is what names the GRAPH that holds the levels within.
    """

    elements: tuple[Part, ...]
    joined: bool = True
    graph: str = ""


@dataclass(frozen=True)
class Clause:
    """A part of a query, from `start` to `end`, that another endpoint evaluates.

    That is `SERVICE <target> { body }`, or a whole sub-select in which there is nothing else.
    `names` are the variables of its solutions, `certain` those that each of them binds, `leading`
    those that a VALUES in front of `body`, in the same group, may restrict. `around` are the levels
    around it, innermost first; `graph` is what names the GRAPH that holds the outermost.
    `alternative` says whether the clause is within a UNION.
    """

    target: str
    silent: bool
    body: str
    start: int
    end: int
    names: tuple[str, ...]
    certain: frozenset[str]
    leading: frozenset[str]
    around: tuple[Level, ...]
    graph: str = ""
    alternative: bool = False


def clauses(text: str) -> tuple[Clause, ...]:
    """Return the clauses of a checked query in order.

    Raises `ForbiddenQuery` for one that names no address in full, and `QueryError` for one within
    an EXISTS that would have to be evaluated for each solution of the rest.
    """
    query, reader = parse_query(text).tree, _Reader(text, Scope(lexed(text).variables))
    found = list(reader.in_group(query.where, _Place()))
    for group in groups_around(query):
        found += reader.in_group(group, _Place(exists=True))
    named = named_services(text)
    if part := next((each.target for each in found if each.target not in named), None):
        raise ForbiddenQuery(
            f"a SERVICE needs its address in full: only a part of <{part}> is there"
        )
    return tuple(sorted(found, key=lambda clause: clause.start))


def sole_clause(text: str) -> tuple[Clause, str] | None:
    """Return the clause of a checked query in which there is nothing else, and what it asks.

    The query that it asks has the solution modifiers of the whole. None for a query with more in
    it, for DESCRIBE, which describes what its own endpoint holds, and if SILENT would let the
    rest go on.
    """
    query = parse_query(text).tree
    if query.form == "DESCRIBE" or groups_around(query):
        return None
    match parts_of(query.where):
        case (Nested(word="SERVICE", silent=False, group=group),):
            start, end = span_of(query.where)
            first, last = query.dataset_span or (start, start)
            pieces = text[:first], text[last:start], text[slice(*span_of(group))], text[end:]
            return clauses(text)[0], "".join(pieces)
    return None


def called_services(text: str) -> tuple[str, ...]:
    """Return the addresses that a query calls by SERVICE, in order, none twice; no variables."""
    return tuple(dict.fromkeys(one for one in named_services(text) if not one.startswith("?")))


def prologue(text: str) -> str:
    """Return the PREFIX and BASE lines of a query."""
    return text[: cast("Span", parse_query(text).tree.inner)[0]]


@dataclass(frozen=True)
class _Place:
    """Where a group stands: the levels around it, and the GRAPH in force within.

    `outermost` is the GRAPH in force for the outermost level. An EXISTS puts the values of outer
    solutions into the patterns within.
    """

    around: tuple[Level, ...] = ()
    graph: str = ""
    outermost: str = ""
    exists: bool = False
    alternative: bool = False

    def joined(
        self, others: tuple[Part, ...], *, graph: str = "", alternative: bool = False
    ) -> "_Place":
        """Return the place of a group that is joined with what is beside it."""
        return replace(
            self,
            around=(Level(others, graph=graph), *self.around),
            graph=graph or self.graph,
            alternative=alternative or self.alternative,
        )

    def apart(self, before: tuple[Part, ...] = (), *, exists: bool = False) -> "_Place":
        """Return the place of a group that is optional, negated or a sub-select.

        Further out nothing may restrict it: in `?a … OPTIONAL { ?b … OPTIONAL { SERVICE … } }` a
        solution left out of the innermost group would let a wrong one of the middle group pass.
        """
        around = (Level(before, joined=False),) if before else ()
        exists = exists or self.exists
        return _Place(around, self.graph, self.graph, exists, self.alternative)


@dataclass(frozen=True)
class _Reader:
    """Finds the clauses of one query."""

    text: str
    scope: Scope

    def in_group(self, group: Group, place: _Place) -> Iterator[Clause]:
        parts = parts_of(group)
        for at, part in enumerate(parts):
            before = parts[:at]
            others = (*before, *parts[at + 1 :])
            match part:
                case Nested(word="SERVICE"):
                    yield self.clause(part, place.joined(others))
                    continue
                case Query():
                    yield from self.in_select(part, place)
                    continue
                case Nested(word="" | "GRAPH", name=name):
                    inside = place.joined(others, graph="" if name is None else str(name))
                case Union():
                    inside = place.joined(others, alternative=True)
                case Filter():
                    inside = place.apart(others, exists=True)
                case _:
                    inside = place.apart(before, exists=isinstance(part, Bind))
            for inner in groups_of(part):
                yield from self.in_group(inner, inside)

    def in_select(self, select: Query, place: _Place) -> Iterator[Clause]:
        """Yield a sub-select around one clause alone as a whole, else the clauses within."""
        where, *others = groups_of(select)
        match parts_of(where), others:
            case (Nested(word="SERVICE", silent=False, group=inner) as sole,), []:
                (start, end), (first, last) = span_of(select), span_of(where)
                asked = self.text[slice(*span_of(inner))]
                body = f"{{ {self.text[start:first]}{asked}{self.text[last:end]} }}"
                yield self.made(sole, select, body, frozenset(), place)
            case _:
                yield from self.in_group(where, place.apart())
                for group in others:
                    yield from self.in_group(group, place.apart(exists=True))

    def clause(self, service: Nested, place: _Place) -> Clause:
        leading = frozenset[str]()
        for part in parts_of(service.group):
            if not isinstance(part, tuple | Filter | Values | Union | Nested):
                break
            if isinstance(part, Nested) and part.word not in ("", "GRAPH"):
                break
            leading |= self.scope.certain(part)
        start, end = span_of(service.group)
        body = self.text[start + 1 : end - 1].strip()
        return self.made(service, service.group, body, leading, place)

    def made(
        self,
        service: Nested,
        binding: Group | Query,
        body: str,
        leading: frozenset[str],
        place: _Place,
    ) -> Clause:
        """The clause of a SERVICE; its solutions are those of `binding`."""
        target = str(service.name)
        if not target.startswith("<"):
            raise ForbiddenQuery("a SERVICE to a variable is not run: name the graph")
        clause = Clause(
            target[1:-1],
            service.silent,
            body,
            *span_of(binding if isinstance(binding, Query) else service),
            self.scope.possible(binding),
            self.scope.certain(binding),
            leading,
            place.around,
            place.outermost,
            place.alternative,
        )
        if place.exists:
            self.refuse_correlated(clause, service.group)
        return clause

    def refuse_correlated(self, clause: Clause, body: Group) -> None:
        """Refuse a clause whose solutions depend on values that an EXISTS around it puts in."""
        before, after = self.text[: clause.start], self.text[clause.end :]
        outside = lexed(before).variables | lexed(after).variables
        free = (lexed(clause.body).variables - clause.certain) | self.out_of_scope(body)
        if depends := free & outside:
            raise QueryError(
                f"the SERVICE <{clause.target}> within EXISTS reads ?{min(depends)} of the query"
                " around it: bind it within by a pattern, or write the condition outside of the"
                " SERVICE"
            )

    def out_of_scope(self, group: Group) -> frozenset[str]:
        """Return the variables that filters and expressions read and their group does not bind."""
        found, bound = frozenset[str](), {*self.scope.possible(group)}
        for part in parts_of(group):
            found |= self.scope.used(part) - bound
            for inner in groups_of(part):
                found |= self.out_of_scope(inner)
        return found
