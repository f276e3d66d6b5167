"""Audit of the gold of a benchmark: all that is wrong or doubtful, question by question.

A figure is worth no more than the gold that it was measured against. Nothing here changes gold:
what is found is told, with what can be done about it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import aclosing
from dataclasses import dataclass, replace

from pyoxigraph import Variable

from askgraph.endpoint import Endpoint
from askgraph.errors import (
    QueryError,
    QuerySyntaxError,
    ServiceError,
    TimedOut,
    Unauthorised,
    Unreachable,
)
from askgraph.evaluation import Table
from askgraph.evaluation.executors import completed
from askgraph.evaluation.gold import Finding, table_in_words
from askgraph.evaluation.metrics.sets import best_column, exact_match
from askgraph.evaluation.questions import GoldQuestion, query_table
from askgraph.sparql import Call, Expression, Nested, Query, children, variables_of, walk
from askgraph.sparql.comparison import Cell, cell_of_term
from askgraph.sparql.judge import admitted, checked
from askgraph.sparql.lexer import lexed, with_declared
from askgraph.sparql.parser import read
from askgraph.sparql.results import Row, value_of
from askgraph.sparql.serializer import text_of

Prefixes = Mapping[str, str]
Progress = Callable[[int, int], None]
"""Told after each question: how many are done, and of how many."""


@dataclass(frozen=True)
class Audited:
    """The findings, in the order of the questions, and the gold results that came, by id."""

    findings: tuple[Finding, ...]
    results: Mapping[str, Table]


async def audit(
    questions: Sequence[GoldQuestion],
    endpoint: Endpoint | None,
    *,
    prefixes: Prefixes | None = None,
    timeout: float | None = None,
    concurrency: int = 1,
    progress: Progress | None = None,
) -> Audited:
    """Check the gold of each question; without an endpoint nothing is run, only read.

    Gold queries may use `prefixes` without declaring them. `timeout` is in seconds a query. Raises
    `Unreachable` and `Unauthorised`: then nothing can be said about gold.
    """
    found: dict[int, list[Finding]] = {}
    results: dict[str, Table] = {}

    async def one(at: int) -> tuple[int, list[Finding], Table | None]:
        return at, *await _audit_question(questions[at], endpoint, prefixes or {}, timeout)

    async with aclosing(completed(range(len(questions)), one, concurrency=concurrency)) as stream:
        async for at, findings, table in stream:
            found[at] = findings
            if table is not None:
                results[questions[at].id] = table
            if progress:
                progress(len(found), len(questions))
    return Audited(tuple(f for at in sorted(found) for f in found[at]), results)


async def _audit_question(
    question: GoldQuestion, endpoint: Endpoint | None, prefixes: Prefixes, timeout: float | None
) -> tuple[list[Finding], Table | None]:
    query = question.sparql
    if query is None:
        return _without_query(question), None
    if endpoint is None:
        return _read_only(question, query, prefixes), None
    try:
        table = await query_table(query, endpoint, prefixes=prefixes, timeout=timeout)
    except (Unreachable, Unauthorised):
        raise
    except (QueryError, ServiceError) as error:
        return [_failed(question, error)], None
    tie = await ties(query, endpoint, prefixes=prefixes, timeout=timeout)
    return list(_judge_result(question, query, table, prefixes, tie)), table


def _judge_result(
    question: GoldQuestion, query: str, table: Table, prefixes: Prefixes, tie: str | None
) -> Iterator[Finding]:
    try:
        checked(query, prefixes=prefixes)  # by the grammar, whatever the engine takes
    except QueryError as error:
        prologue = "the engine takes it, but " if isinstance(error, QuerySyntaxError) else ""
        yield Finding.of(question, "not portable", f"{prologue}{error}")
    if question.unanswerable and table.values():
        yield Finding.of(question, "contradiction", f"it gives {table_in_words(table)}")
    elif not question.unanswerable and not table.values():
        yield Finding.of(question, "empty", _nothing(table))
    elif _all_zero(table) and _counts(with_declared(query, prefixes)):
        yield Finding.of(question, "zero", f"it gives {table_in_words(table)}")
    if tie:
        yield Finding.of(question, "tie", tie)
    if question.answers is not None and not exact_match(table, question.answers).f1:
        score = best_column(table, question.answers)
        seen = (
            f"the query gives {table_in_words(table)}; stored is "
            f"{table_in_words(question.answers)}; F1 of the best column {score.f1:.2f}"
        )
        yield Finding.of(question, "stored answer", seen)


def _without_query(question: GoldQuestion) -> list[Finding]:
    if not question.has_gold:
        return [Finding.of(question, "no gold", "neither a query nor a stored answer")]
    if question.answers is not None and not question.answers.values():
        return [
            Finding.of(question, "empty", f"the stored answer has {_nothing(question.answers)}")
        ]
    return []


def _read_only(question: GoldQuestion, query: str, prefixes: Prefixes) -> list[Finding]:
    """Yield what can be said without a graph; prefixes that are not declared may be the graph's."""
    missing = [prefix for prefix in lexed(query).undeclared if prefix not in prefixes]
    assumed = {prefix: f"urn:prefix:{prefix}:" for prefix in missing}
    try:
        checked(query, prefixes={**assumed, **prefixes})
    except QueryError as error:
        return [_failed(question, error)]
    if missing:
        names = ", ".join(f"{prefix}:" for prefix in missing)
        return [Finding.of(question, "prefix", f"not declared: {names}")]
    return []


def _failed(question: GoldQuestion, error: QueryError | ServiceError) -> Finding:
    kinds = {QuerySyntaxError: "syntax", TimedOut: "timeout"}
    kind = next((kind for cls, kind in kinds.items() if isinstance(error, cls)), "execution")
    return Finding.of(question, kind, f"{type(error).__name__}: {error}")


def _nothing(table: Table) -> str:
    return "no rows" if not table.rows else f"{len(table.rows)} rows without any value"


def _counts(query: str) -> bool:
    """Return whether all columns of a query are counts or sums."""
    try:
        columns = read(query).columns
    except QuerySyntaxError:
        return False
    return bool(columns) and all(_is_count(expression) for _, expression in columns)


def _is_count(expression: Expression | None) -> bool:
    return isinstance(expression, Call) and expression.name.split()[0] in ("COUNT", "SUM")


def _all_zero(table: Table) -> bool:
    return len(table.rows) == 1 and all(cell == ("number", 0) for cell in table.rows[0])


BEYOND = 100  # rows looked at after the cut
MOST = 10_000  # rows looked at at all, if DISTINCT has to be applied here
KEY = "tie_key_"


async def ties(
    query: str, endpoint: Endpoint, *, prefixes: Mapping[str, str] | None, timeout: float | None
) -> str | None:
    """Report how the result depends on the order of equal rows, or return None if it does not.

    If a LIMIT keeps some of several rows that are equally good, the result depends on the engine:
    SPARQL leaves the order of equal rows open (SPARQL 1.1, section 15.1), and that of all rows if
    there is no ORDER BY.

    Each SELECT with LIMIT or OFFSET, the outer one and those within it, is run with the rows around
    its cut and with what it sorts by as columns. What cannot be checked is said, too.
    """
    if "LIMIT" not in query.upper() and "OFFSET" not in query.upper():
        return None
    try:
        tree = read(admitted(query, prefixes=prefixes).text)
        for select in walk(tree, into=_of_same_graph):
            if (
                isinstance(select, Query)
                and select.form == "SELECT"
                and (select.limit or select.offset)
            ):
                probe = _Probe.of(replace(select, datasets=tree.datasets))
                result = await endpoint.select(probe.text, timeout=timeout, limit=MOST)
                if found := probe.tie(result.rows):
                    return found
    except (QueryError, TimedOut) as error:
        return f"ties could not be looked for: {type(error).__name__}: {error}"
    return None


def _of_same_graph(node: object) -> tuple[object, ...]:
    is_other = isinstance(node, Nested) and node.word in ("GRAPH", "SERVICE")
    return () if is_other else children(node)


@dataclass(frozen=True)
class _Probe:
    """A query that shows the rows around a cut: first the columns of the original, then its keys.

    `cuts` are the places where the original divides its rows.
    """

    text: str
    width: int
    keys: tuple[int, ...]
    distinct: bool
    cuts: tuple[int, ...]

    @classmethod
    def of(cls, query: Query) -> _Probe:
        columns = list(query.columns) or [
            (variable, None)
            for variable in dict.fromkeys(variables_of(query.where))
            if not variable.value.startswith("__")
        ]
        width = len(columns)
        keys = [_key(expression, columns) for expression, _ in query.order]
        start = query.offset or 0
        end = None if query.limit is None else start + query.limit
        hidden = query.distinct and len(columns) > width
        shown = replace(
            query,
            columns=tuple(columns),
            limit=None if hidden else (start if end is None else end) + BEYOND,
            offset=None,
        )
        cuts = tuple(cut for cut in (start, end) if cut)
        return cls(text_of(shown), width, tuple(keys), query.distinct, cuts)

    def tie(self, rows: Sequence[Row]) -> str | None:
        if self.distinct:
            first = {row[: self.width]: row for row in reversed(rows)}
            rows = [row for row in rows if first[row[: self.width]] is row]
        for cut in self.cuts:
            if cut < len(rows) and (found := self._at(rows, cut)):
                return found
        return None

    def _at(self, rows: Sequence[Row], cut: int) -> str | None:
        """Report what is equal on both sides of a cut; nothing if equal rows are the same rows."""
        key = self._cells(rows[cut])
        if self._cells(rows[cut - 1]) != key:
            return None
        equal = [row for row in rows if self._cells(row) == key]
        if len({row[: self.width] for row in equal}) == 1:
            return None
        if not self.keys:
            return f"without ORDER BY it is open which {cut} rows come before the cut"
        shown = ", ".join(value_of(rows[cut][at]) or "unbound" for at in self.keys)
        more = "at least " if len(rows) >= cut + BEYOND and equal[-1] is rows[-1] else ""
        return (
            f"the cut after row {cut} goes through {more}{len(equal)} rows that are equal in what "
            f"the query sorts by ({shown})"
        )

    def _cells(self, row: Row) -> tuple[Cell | None, ...]:
        return tuple(cell_of_term(row[at]) for at in self.keys)


def _key(expression: Expression, columns: list[tuple[Variable, Expression | None]]) -> int:
    """Return the column that a query sorts by; one that it does not show is added."""
    names = [variable for variable, _ in columns]
    if isinstance(expression, Variable) and expression in names:
        return names.index(expression)
    if isinstance(expression, Variable):
        columns.append((expression, None))
    else:
        columns.append((Variable(f"{KEY}{len(columns)}"), expression))
    return len(columns) - 1
