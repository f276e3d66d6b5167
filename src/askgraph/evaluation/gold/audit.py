"""What is wrong or doubtful with the gold of a benchmark, question by question.

A figure is worth no more than the gold that it was measured against. Nothing here changes gold:
what is found is told, with what can be done about it.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import aclosing
from dataclasses import dataclass

from askgraph.endpoint import Endpoint
from askgraph.errors import (
    QueryError,
    QuerySyntaxError,
    ServiceError,
    TimedOut,
    Unauthorised,
    Unreachable,
)
from askgraph.evaluation.gold.finding import Finding, table_in_words
from askgraph.evaluation.gold.tables import query_table
from askgraph.evaluation.gold.ties import ties
from askgraph.evaluation.metrics.best_column import best_column
from askgraph.evaluation.metrics.exact_match import exact_match
from askgraph.evaluation.pool import completed
from askgraph.evaluation.questions import GoldQuestion
from askgraph.evaluation.values import Table
from askgraph.sparql.judge import checked
from askgraph.sparql.lexer import expanded, undeclared, with_declared
from askgraph.sparql.read import read
from askgraph.sparql.tree import Call, Expression

__all__ = ["Audited", "audit"]

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
    `Unreachable` and `Unauthorised`, where nothing can be said about gold.
    """
    auditor = _Auditor(endpoint, prefixes or {}, timeout)
    found: dict[int, list[Finding]] = {}
    results: dict[str, Table] = {}

    async def one(at: int) -> tuple[int, list[Finding], Table | None]:
        findings, table = await auditor.of(questions[at])
        return at, findings, table

    async with aclosing(completed(range(len(questions)), one, concurrency=concurrency)) as stream:
        async for at, findings, table in stream:
            found[at] = findings
            if table is not None:
                results[questions[at].id] = table
            if progress:
                progress(len(found), len(questions))
    return Audited(tuple(f for at in sorted(found) for f in found[at]), results)


@dataclass(frozen=True)
class _Auditor:
    endpoint: Endpoint | None
    prefixes: Prefixes
    timeout: float | None

    async def of(self, question: GoldQuestion) -> tuple[list[Finding], Table | None]:
        if question.sparql is None:
            return _without_query(question), None
        if self.endpoint is None:
            return _read_only(question, question.sparql, self.prefixes), None
        try:
            table = await query_table(
                question.sparql, self.endpoint, prefixes=self.prefixes, timeout=self.timeout
            )
        except (Unreachable, Unauthorised):
            raise
        except (QueryError, ServiceError) as error:
            return [_failed(question, error)], None
        found = [finding async for finding in self._of_result(question, question.sparql, table)]
        return found, table

    async def _of_result(
        self, question: GoldQuestion, query: str, table: Table
    ) -> AsyncIterator[Finding]:
        assert self.endpoint is not None
        try:
            _parse(query, self.prefixes)
        except QuerySyntaxError as error:
            yield Finding.of(question, "not portable", f"the engine takes it, but {error}")
        except QueryError as error:
            yield Finding.of(question, "not portable", str(error))
        if question.unanswerable and table.values():
            yield Finding.of(question, "contradiction", f"it gives {table_in_words(table)}")
        elif not question.unanswerable and not table.values():
            yield Finding.of(question, "empty", _nothing(table))
        elif _all_zero(table) and _counts(with_declared(query, self.prefixes)):
            yield Finding.of(question, "zero", f"it gives {table_in_words(table)}")
        tie = await ties(query, self.endpoint, prefixes=self.prefixes, timeout=self.timeout)
        if tie:
            yield Finding.of(question, "tie", tie)
        if question.answers is not None and not exact_match(table, question.answers).f1:
            yield Finding.of(question, "stored answer", _differ(table, question.answers))


def _without_query(question: GoldQuestion) -> list[Finding]:
    if not question.has_gold:
        return [Finding.of(question, "no gold", "neither a query nor a stored answer")]
    if question.answers is not None and not question.answers.values():
        return [
            Finding.of(question, "empty", f"the stored answer has {_nothing(question.answers)}")
        ]
    return []


def _read_only(question: GoldQuestion, query: str, prefixes: Prefixes) -> list[Finding]:
    """What can be said without a graph; prefixes that are not declared may be the graph's."""
    missing = [prefix for prefix in undeclared(query) if prefix not in prefixes]
    assumed = {prefix: f"urn:prefix:{prefix}:" for prefix in missing}
    try:
        _parse(query, {**assumed, **prefixes})
    except QueryError as error:
        return [_failed(question, error)]
    if missing:
        names = ", ".join(f"{prefix}:" for prefix in missing)
        return [Finding.of(question, "prefix", f"not declared: {names}")]
    return []


def _parse(query: str, prefixes: Prefixes) -> None:
    """Parse a query in full, by the grammar, whatever the engine takes."""
    checked(expanded(query), prefixes=prefixes)


def _failed(question: GoldQuestion, error: QueryError | ServiceError) -> Finding:
    seen = f"{type(error).__name__}: {error}"
    match error:
        case QuerySyntaxError():
            return Finding.of(question, "syntax", seen)
        case TimedOut():
            return Finding.of(question, "timeout", seen)
        case _:
            return Finding.of(question, "execution", seen)


def _nothing(table: Table) -> str:
    return "no rows" if not table.rows else f"{len(table.rows)} rows without any value"


def _counts(query: str) -> bool:
    """Whether all columns of a query are counts or sums."""
    try:
        columns = read(query).columns
    except QuerySyntaxError:
        return False
    return bool(columns) and all(_is_count(expression) for _, expression in columns)


def _is_count(expression: Expression | None) -> bool:
    return isinstance(expression, Call) and expression.name.split()[0] in ("COUNT", "SUM")


def _all_zero(table: Table) -> bool:
    return len(table.rows) == 1 and all(cell == ("number", 0) for cell in table.rows[0])


def _differ(now: Table, stored: Table) -> str:
    score = best_column(now, stored)
    return (
        f"the query gives {table_in_words(now)}; stored is {table_in_words(stored)}; "
        f"F1 of the best column {score.f1:.2f}"
    )
