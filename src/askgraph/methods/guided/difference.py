"""The difference between two answers to one question, in few words: by rows, else by an example.

The example is a few triples on which the queries differ: what one of them counts and the other does
not.
"""

import asyncio
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain, islice

from pyoxigraph import BlankNode, Literal, NamedNode, Triple, Variable

from askgraph.endpoint import Endpoint
from askgraph.errors import ErrorReply, MalformedReply, Overloaded, QueryError, TimedOut
from askgraph.methods.guided.bounded_store import Outcome, Runs, TooMuch, is_joined
from askgraph.sparql import Nested, Path, Pattern, Query, walk
from askgraph.sparql.comparison import (
    Differing,
    alike,
    cell_of_term,
    differing,
    is_blank,
    of_columns,
)
from askgraph.sparql.judge import admitted
from askgraph.sparql.read import read
from askgraph.sparql.results import Row, SelectResult
from askgraph.sparql.write import text_of
from askgraph.tools import Context
from askgraph.tools.shown import Writer
from askgraph.trace import Answer

_SOLUTIONS = 40  # of each query, whose triples are looked at
_WAY = 20  # triples that are looked at, of each way that they are found
_SHOWN = 6  # triples; an example of more says nothing
_SHRINKING, _LONGEST = 2.0, 3.0  # of shrinking, and of all work on them
_ROWS = 3  # of each side
_CELLS = 3  # of a row
_SECONDS = 4.0  # of an example, which is worth no more


@dataclass(frozen=True)
class SmallestExample:
    """Triples of the graph, and what the two queries give if there is nothing else."""

    triples: tuple[Triple, ...]
    first: Outcome
    second: Outcome


@dataclass(frozen=True)
class Asked:
    """A query, and the columns of its result that are compared."""

    query: str
    columns: tuple[str, ...]


async def smallest_example(
    endpoint: Endpoint, first: Asked, second: Asked, *, prefixes: Mapping[str, str], timeout: float
) -> SmallestExample | None:
    """Return at most six triples of the graph on which the two queries give different results.

    The triples are at most 100 in and around the first 40 solutions of either query, as far as
    their predicates are those of a query; of them as many are left out as can be (Zeller and
    Hildebrandt, "Simplifying and isolating failure-inducing input", 2002), for two seconds at most.
    `timeout` is that of all requests together. None if that leads to nothing: if the queries
    do not differ on these triples or need more than six, if a query has more than 1,000
    solutions on them or three parts that nothing joins, and where it names its graphs or reaches a
    service. `prefixes` need not be declared. Raises `QueryError` if a query cannot be read, and
    what the endpoint raises.
    """
    full = [
        replace(one, query=admitted(one.query, prefixes=prefixes).text) for one in (first, second)
    ]
    trees = [read(one.query) for one in full]
    if any(_leaves_the_graph(tree) or not is_joined(tree) for tree in trees):
        return None
    triples = await _around(endpoint, trees, until=time.perf_counter() + timeout)
    runs = Runs(time.perf_counter() + _LONGEST)
    try:
        return await asyncio.to_thread(_smallest, runs, triples, full, trees)
    finally:
        runs.stop.set()


def shrunk(
    triples: Sequence[Triple], tells: Callable[[Sequence[Triple]], bool], *, seconds: float
) -> Sequence[Triple]:
    """Leave out as many triples as can be, in ever smaller parts, while the rest still `tells`.

    Ends after so many seconds with what there is then. Of what stays none can be left out alone.
    """
    until = time.perf_counter() + seconds
    left, parts = list(triples), 2
    while len(left) > 1 and time.perf_counter() < until:
        size = -(-len(left) // parts)
        for start in range(0, len(left), size):
            rest = left[:start] + left[start + size :]
            if tells(rest):
                left, parts = rest, max(2, parts - 1)
                break
            if time.perf_counter() > until:
                return left
        else:
            if size == 1:
                break
            parts = min(len(left), 2 * parts)
    return left


def _leaves_the_graph(tree: Query) -> bool:
    return any(
        (isinstance(part, Nested) and part.word in ("GRAPH", "SERVICE"))
        or (isinstance(part, Query) and bool(part.datasets))
        for part in walk(tree)
    )


async def _around(
    endpoint: Endpoint, trees: Sequence[Query], *, until: float
) -> tuple[Triple, ...]:
    """The triples with a predicate of a query, whose subject or object is in a solution."""

    async def asked(query: str, limit: int) -> SelectResult:
        left = until - time.perf_counter()
        if left <= 0:
            raise TimedOut("there was no time left to look for an example")
        return await endpoint.select(query, timeout=left, limit=limit)

    solutions = [await asked(_opened(tree), _SOLUTIONS) for tree in trees]
    own = (islice(_instances(*both), _WAY) for both in zip(trees, solutions, strict=True))
    within = tuple(chain.from_iterable(own))
    rows = [row for result in solutions for row in result.rows]
    nodes = dict.fromkeys(term for row in rows for term in row if isinstance(term, NamedNode))
    if not nodes:
        return tuple(dict.fromkeys(_triples(within)))
    named = (part for tree in trees for part in walk(tree.where) if isinstance(part, NamedNode))
    found = await asked(_neighbourhood(list(nodes), list(dict.fromkeys(named))), 3 * _WAY)
    return tuple(dict.fromkeys(_triples((*within, *found.rows))))


def _opened(tree: Query) -> str:
    """The solutions behind the rows of a query, whatever it counts or shows of them."""
    return f"SELECT * WHERE {text_of(tree.where)} LIMIT {_SOLUTIONS}"


def _instances(tree: Query, found: SelectResult) -> Iterator[Row]:
    """What the patterns that every solution must meet are in each solution."""
    patterns = [
        (part.subject, part.predicate, part.object)
        for part in tree.where.elements
        if isinstance(part, Pattern) and not isinstance(part.predicate, Path)
    ]
    for row in found.rows:
        known = dict(zip(found.variables, row, strict=True))
        for one in patterns:
            yield tuple(known.get(t.value) if isinstance(t, Variable) else t for t in one)


def _neighbourhood(nodes: Sequence[NamedNode], predicates: Sequence[NamedNode]) -> str:
    """Triples out of nodes, into nodes, and out of the blank nodes beside them."""
    known = f"VALUES ?p {{ {' '.join(map(str, predicates))} }}" if predicates else ""
    values = " ".join(map(str, nodes))
    ways = (
        f"VALUES ?s {{ {values} }} ?s ?p ?o",
        f"VALUES ?o {{ {values} }} ?s ?p ?o",
        f"VALUES ?n {{ {values} }} ?n ?q ?s . FILTER(isBlank(?s)) ?s ?p ?o",
    )
    parts = [f"{{ SELECT ?s ?p ?o {{ {known} {way} }} LIMIT {_WAY} }}" for way in ways]
    return f"SELECT ?s ?p ?o WHERE {{ {' UNION '.join(parts)} }}"


def _triples(rows: Iterable[Row]) -> Iterator[Triple]:
    for subject, predicate, value in rows:
        if (
            isinstance(subject, NamedNode | BlankNode)
            and isinstance(predicate, NamedNode)
            and isinstance(value, NamedNode | BlankNode | Literal)
        ):
            yield Triple(subject, predicate, value)


def _smallest(
    runs: Runs, triples: Sequence[Triple], asked: Sequence[Asked], trees: Sequence[Query]
) -> SmallestExample | None:
    queries = [one.query for one in asked]

    def outcomes(of: Sequence[Triple]) -> list[Outcome]:
        both = zip(asked, runs.outcomes(queries, of), strict=True)
        return [o if isinstance(o, bool) else of_columns(o, one.columns) for one, o in both]

    def tells(of: Sequence[Triple]) -> bool:
        return len(set(alike(outcomes(of)))) > 1

    try:
        for tree in trees:
            runs.admit(tree, triples)
        if not triples or not tells(triples):
            return None
        left = shrunk(triples, tells, seconds=_SHRINKING)
        return SmallestExample(tuple(left), *outcomes(left)) if len(left) <= _SHOWN else None
    except TooMuch:
        return None


@dataclass(frozen=True)
class Apart:
    """What tells two answers apart.

    `text` is for a language model, at most about 150 tokens. `only_first` and `only_second` count
    rows that the other does not have, `common` those that both have; `example` has triples of the
    graph such that the queries differ if there are only these, if the text names any.
    """

    text: str
    only_first: int
    only_second: int
    common: int
    example: tuple[Triple, ...] = ()


async def told_apart(
    context: Context, first: Answer, second: Answer, *, names: tuple[str, str] = ("1", "2")
) -> Apart | None:
    """Return how two answers on the context's graph differ; None if they give the same.

    Some rows that only one of them has, by their answer columns; the answers are called by
    `names`. If rows do not say why, as they are numbers or yes or no, or if a result is
    truncated, a small example from the graph is added (see `smallest_example`), if one is found
    within four seconds. Raises `Unreachable` and `Unauthorised`.
    """
    one, other = _given(first), _given(second)
    if alike([one, other]) == [0, 0]:
        return None
    difference = differing(_as_rows(one), _as_rows(other))
    example = None
    if _says_little(one) or _says_little(other):
        example = await _example(context, first, second)
    writer = await Writer.knowing(context, _iris(difference, example))
    said = _Said(writer, names)
    lines = said.by_rows(one, other, difference)
    if example is not None:
        lines.append(said.by_example(example))
    return Apart(
        "\n".join(lines),
        len(difference.only_first),
        len(difference.only_second),
        difference.common,
        example.triples if example else (),
    )


def _given(answer: Answer) -> SelectResult | bool:
    if answer.boolean is not None:
        return answer.boolean
    return of_columns(answer.result, answer.answer_columns)


def _as_rows(given: SelectResult | bool) -> SelectResult:
    if isinstance(given, bool):
        return SelectResult(("answer",), ((Literal(given),),))
    return given


def _says_little(given: SelectResult | bool) -> bool:
    """Whether nobody can tell from what is given why it is not something else."""
    if isinstance(given, bool) or given.truncated is not None:
        return True
    cells = [cell_of_term(term) for row in given.rows[:_ROWS] for term in row]
    return len(given.rows) == 1 and all(cell is None or cell[0] != "text" for cell in cells)


async def _example(context: Context, first: Answer, second: Answer) -> SmallestExample | None:
    """None also if the endpoint is too slow for it, or does not take what is asked for it."""
    one, other = (Asked(answer.query, answer.answer_columns) for answer in (first, second))
    graph, timeout = context.graph, min(_SECONDS, context.limits.timeout)
    try:
        return await smallest_example(
            graph.endpoint, one, other, prefixes=graph.prefixes.namespaces, timeout=timeout
        )
    except (QueryError, TimedOut, Overloaded, ErrorReply, MalformedReply):
        return None


def _iris(difference: Differing, example: SmallestExample | None) -> list[str]:
    rows = [*difference.only_first[:_ROWS], *difference.only_second[:_ROWS]]
    terms = [term for row in rows for term in row[:_CELLS]]
    terms += [term for triple in (example.triples if example else ()) for term in triple]
    return [term.value for term in terms if isinstance(term, NamedNode)]


@dataclass(frozen=True)
class _Said:
    """Puts a difference into words."""

    writer: Writer
    names: tuple[str, str]

    def by_rows(
        self, one: SelectResult | bool, other: SelectResult | bool, difference: Differing
    ) -> list[str]:
        if all(isinstance(given, bool) or _is_one_value(given) for given in (one, other)):
            return [f"{self.outcomes(one, other)}."]
        first, second = self.names
        lines = [
            f"{first} has {self.size(one)}, {second} has {self.size(other)}; "
            f"{difference.common:,} in common."
        ]
        for name, rows in ((first, difference.only_first), (second, difference.only_second)):
            if rows:
                lines.append(f"Only {name}: {self.rows(rows)}")
        widths = {len(given.variables) for given in (one, other) if isinstance(given, SelectResult)}
        if not (difference.only_first or difference.only_second) and len(widths) > 1:
            lines.append("They differ in the number of columns.")
        return lines

    def by_example(self, example: SmallestExample) -> str:
        facts = "; ".join(
            " ".join(self.writer.term(term) for term in triple) for triple in example.triples
        )
        outcomes = self.outcomes(example.first, example.second)
        return f"For example, on these triples alone: {facts} – {outcomes}."

    def outcomes(self, one: SelectResult | bool, other: SelectResult | bool) -> str:
        first, second = self.names
        return f"{first} gives {self.outcome(one)}, {second} gives {self.outcome(other)}"

    def outcome(self, given: SelectResult | bool) -> str:
        if isinstance(given, bool):
            return "yes" if given else "no"
        return self.rows(given.rows) if not is_blank(given) else "nothing"

    def size(self, given: SelectResult | bool) -> str:
        if isinstance(given, bool):
            return "a yes or no"
        many = len(set(given.rows))
        cut = "the first " if given.truncated else ""
        only = "different " if many < len(given.rows) else ""
        return f"{cut}{many:,} {only}{'row' if many == 1 else 'rows'}"

    def rows(self, rows: Sequence[Row]) -> str:
        shown = "; ".join(self.row(row) for row in rows[:_ROWS])
        left = len(rows) - _ROWS
        return f"{shown} and {left:,} more" if left > 0 else shown

    def row(self, row: Row) -> str:
        shown = ", ".join(self.writer.term(term) for term in row[:_CELLS])
        return f"{shown}, …" if len(row) > _CELLS else shown


def _is_one_value(given: SelectResult) -> bool:
    return len(given.rows) == 1 and len(given.variables) == 1
