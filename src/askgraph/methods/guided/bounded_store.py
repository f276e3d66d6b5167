"""Queries run on a few triples in memory, as long as they have few rows and take little time."""

import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from threading import Event

from pyoxigraph import DefaultGraph, Quad, QueryBoolean, QuerySolutions, Store, Triple

from askgraph.errors import QueryError
from askgraph.sparql import (
    Element,
    Filter,
    Group,
    Nested,
    Pattern,
    Query,
    Union,
    Values,
    variables_of,
    walk,
)
from askgraph.sparql.results import Row, SelectResult
from askgraph.sparql.write import text_of

_ROWS = 1_000
_JOINED = 2  # parts of a group that nothing joins: of more all the solutions are too many

Outcome = SelectResult | bool


class TooMuch(Exception):
    """A query has more rows, or takes longer, than is worth while."""


@dataclass(frozen=True)
class Runs:
    """Runs queries until a time (`time.perf_counter`), or until `stop` is set by another thread.

    Between two rows, that is: `admit` a query first, so that its next row is never far.
    """

    until: float
    stop: Event = field(default_factory=Event)

    def admit(self, tree: Query, triples: Sequence[Triple]) -> None:
        """Raise `TooMuch` if a query, or one inside it, has over 1,000 solutions on triples.

        What only takes solutions away is left out for that. On fewer triples there are no more.
        """
        store = _store(triples)
        queries = [part for part in walk(tree) if isinstance(part, Query)]
        for query in reversed(queries):  # those inside come first
            self._run(f"SELECT * WHERE {text_of(_unfiltered(query.where))}", store)

    def outcomes(self, queries: Sequence[str], triples: Sequence[Triple]) -> list[Outcome]:
        """Return what each of some queries gives on triples.

        Raises `TooMuch`, and `QueryError` for a query that is no SELECT or ASK query.
        """
        store = _store(triples)
        return [self._run(query, store) for query in queries]

    def _run(self, query: str, store: Store) -> Outcome:
        outcome = self._outcome(query, store)
        if outcome is None:
            raise TooMuch
        return outcome

    def _outcome(self, query: str, store: Store) -> Outcome | None:
        """What a query gives; None if that is too much.

        No error is raised while a result is held: it would take the result into another thread,
        if pyoxigraph cannot free it.
        """
        try:
            found = store.query(query)
        except SyntaxError as error:
            raise QueryError(f"the query cannot be run on a few triples: {error}") from error
        match found:
            case QueryBoolean():
                return bool(found)
            case QuerySolutions():
                rows = self._rows(found)
                return None if rows is None else SelectResult(_names(found), rows)
        del found
        raise QueryError("only SELECT and ASK queries have results to compare")

    def _rows(self, found: QuerySolutions) -> tuple[Row, ...] | None:
        names, rows = _names(found), []
        for number, solution in enumerate(found):
            if number >= _ROWS or self.stop.is_set() or time.perf_counter() > self.until:
                return None
            rows.append(tuple(solution[name] for name in names))
        return tuple(rows)


def is_joined(tree: Query) -> bool:
    """Return whether no group of a query has three parts that share no variable.

    Conditions join nothing here: they look at every solution of the product.
    """
    groups = (part for part in walk(tree) if isinstance(part, Group))
    return all(_blocks(group) <= _JOINED for group in groups)


def _store(triples: Sequence[Triple]) -> Store:
    store = Store()
    store.extend(Quad(one.subject, one.predicate, one.object, DefaultGraph()) for one in triples)
    return store


def _unfiltered(group: Group) -> Group:
    return Group(tuple(_element(one) for one in group.elements if not _takes_away(one)))


def _takes_away(element: Element) -> bool:
    return isinstance(element, Filter) or (isinstance(element, Nested) and element.word == "MINUS")


def _element(element: Element) -> Element:
    match element:
        case Nested():
            return Nested(element.word, _unfiltered(element.group), element.name, element.silent)
        case Union():
            return Union(tuple(map(_unfiltered, element.groups)))
        case _:
            return element


def _names(found: QuerySolutions) -> tuple[str, ...]:
    return tuple(variable.value for variable in found.variables)


def _blocks(group: Group) -> int:
    """How many parts of a group share no variable."""
    blocks: list[set[str]] = []
    for element in group.elements:
        if isinstance(element, Pattern | Values | Nested | Union | Query):
            names = {variable.value for variable in variables_of(element)}
            touching = [block for block in blocks if block & names]
            blocks = [block for block in blocks if not block & names]
            blocks.append(names.union(*touching))
    return sum(map(bool, blocks))
