"""Audit of the gold of a benchmark: all errors and doubts, question by question.

Scores are only as good as the gold behind them. The audit changes no gold: it reports findings and
what to do about them.
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
from askgraph.evaluation import ResultTable
from askgraph.evaluation.executors import run_concurrently
from askgraph.evaluation.gold import GoldFinding, summarize_table
from askgraph.evaluation.metrics.sets import best_column, exact_match
from askgraph.evaluation.questions import GoldQuestion, run_query
from askgraph.sparql import Call, Expression, Nested, Query, find_variables, get_children, walk
from askgraph.sparql.comparison import Cell, to_comparable_value
from askgraph.sparql.judge import admit_query, check_query
from askgraph.sparql.lexer import declare_prefixes, tokenize
from askgraph.sparql.parser import parse_tree
from askgraph.sparql.results import Row, to_plain_value
from askgraph.sparql.serializer import to_text

Prefixes = Mapping[str, str]
Progress = Callable[[int, int], None]
"""Called after each question with the number of finished questions and of all questions."""


@dataclass(frozen=True)
class AuditResult:
    """The findings in the order of the questions, and the gold results by question id."""

    findings: tuple[GoldFinding, ...]
    results: Mapping[str, ResultTable]


async def audit_gold(
    questions: Sequence[GoldQuestion],
    endpoint: Endpoint | None,
    *,
    prefixes: Prefixes | None = None,
    timeout: float | None = None,
    concurrency: int = 1,
    progress: Progress | None = None,
) -> AuditResult:
    """Check the gold of each question; without an endpoint, queries are parsed but not run.

    Args:
        endpoint: Where gold queries run, or None.
        prefixes: Prefixes that gold queries may use without declaring them.
        timeout: Limit in seconds per query.
        concurrency: Number of queries that run at once.

    Raises:
        Unreachable: The endpoint is down, so gold cannot be judged.
        Unauthorised: The endpoint refused access.
    """
    findings_by_index: dict[int, list[GoldFinding]] = {}
    results: dict[str, ResultTable] = {}

    async def audit_one(index: int) -> tuple[int, list[GoldFinding], ResultTable | None]:
        return index, *await _audit_question(questions[index], endpoint, prefixes or {}, timeout)

    async with aclosing(
        run_concurrently(range(len(questions)), audit_one, concurrency=concurrency)
    ) as stream:
        async for index, findings, table in stream:
            findings_by_index[index] = findings
            if table is not None:
                results[questions[index].id] = table
            if progress:
                progress(len(findings_by_index), len(questions))
    return AuditResult(
        tuple(
            finding for index in sorted(findings_by_index) for finding in findings_by_index[index]
        ),
        results,
    )


async def _audit_question(
    question: GoldQuestion, endpoint: Endpoint | None, prefixes: Prefixes, timeout: float | None
) -> tuple[list[GoldFinding], ResultTable | None]:
    query = question.sparql
    if query is None:
        return _check_without_query(question), None
    if endpoint is None:
        return _check_without_endpoint(question, query, prefixes), None
    try:
        table = await run_query(query, endpoint, prefixes=prefixes, timeout=timeout)
    except (Unreachable, Unauthorised):
        raise
    except (QueryError, ServiceError) as error:
        return [_build_failure(question, error)], None
    tie = await find_tie(query, endpoint, prefixes=prefixes, timeout=timeout)
    return list(_check_result(question, query, table, prefixes, tie)), table


def _check_result(
    question: GoldQuestion, query: str, table: ResultTable, prefixes: Prefixes, tie: str | None
) -> Iterator[GoldFinding]:
    try:
        check_query(query, prefixes=prefixes)  # check the grammar, since engines may be lenient
    except QueryError as error:
        prologue = "the engine accepts it, but " if isinstance(error, QuerySyntaxError) else ""
        yield GoldFinding(question.id, "not portable", f"{prologue}{error}")
    if question.unanswerable and table.get_values():
        yield GoldFinding(question.id, "contradiction", f"it gives {summarize_table(table)}")
    elif not question.unanswerable and not table.get_values():
        yield GoldFinding(question.id, "empty", _describe_empty(table))
    elif (
        len(table.rows) == 1 and all(cell == ("number", 0) for cell in table.rows[0])
    ) and _has_only_counts(declare_prefixes(query, prefixes)):
        yield GoldFinding(question.id, "zero", f"it gives {summarize_table(table)}")
    if tie:
        yield GoldFinding(question.id, "tie", tie)
    if question.answers is not None and not exact_match(table, question.answers).f1:
        score = best_column(table, question.answers)
        details = (
            f"the query gives {summarize_table(table)}; stored is "
            f"{summarize_table(question.answers)}; F1 of the best column {score.f1:.2f}"
        )
        yield GoldFinding(question.id, "stored answer", details)


def _check_without_query(question: GoldQuestion) -> list[GoldFinding]:
    if not question.has_gold:
        kind, text = "no gold", "neither a query nor a stored answer"
    elif question.answers is not None and not question.answers.get_values():
        kind, text = "empty", f"the stored answer has {_describe_empty(question.answers)}"
    else:
        return []
    return [GoldFinding(question.id, kind, text)]


def _check_without_endpoint(
    question: GoldQuestion, query: str, prefixes: Prefixes
) -> list[GoldFinding]:
    """Check a query without an endpoint; undeclared prefixes may be those of the graph."""
    missing = [prefix for prefix in tokenize(query).undeclared_prefixes if prefix not in prefixes]
    assumed = {prefix: f"urn:prefix:{prefix}:" for prefix in missing}
    try:
        check_query(query, prefixes={**assumed, **prefixes})
    except QueryError as error:
        return [_build_failure(question, error)]
    if missing:
        names = ", ".join(f"{prefix}:" for prefix in missing)
        return [GoldFinding(question.id, "prefix", f"not declared: {names}")]
    return []


def _build_failure(question: GoldQuestion, error: QueryError | ServiceError) -> GoldFinding:
    kinds = {QuerySyntaxError: "syntax", TimedOut: "timeout"}
    kind = next((kind for cls, kind in kinds.items() if isinstance(error, cls)), "execution")
    return GoldFinding(question.id, kind, f"{type(error).__name__}: {error}")


def _describe_empty(table: ResultTable) -> str:
    return "no rows" if not table.rows else f"{len(table.rows)} rows without any value"


def _has_only_counts(query: str) -> bool:
    try:
        columns = parse_tree(query).columns
    except QuerySyntaxError:
        return False
    return bool(columns) and all(_is_count(expression) for _, expression in columns)


def _is_count(expression: Expression | None) -> bool:
    return isinstance(expression, Call) and expression.name.split()[0] in ("COUNT", "SUM")


EXTRA_ROWS = 100  # rows to read after the limit
MAX_PROBE_ROWS = 10_000  # maximum number of rows for a DISTINCT in this process
TIE_KEY_PREFIX = "tie_key_"


async def find_tie(
    query: str, endpoint: Endpoint, *, prefixes: Mapping[str, str] | None, timeout: float | None
) -> str | None:
    """Report how the result depends on the order of equal rows; None if it does not.

    If a LIMIT keeps some of several equally ranked rows, the result depends on the engine:
    SPARQL leaves the order of equal rows open (SPARQL 1.1, section 15.1), and the order of all
    rows without ORDER BY.

    Each SELECT with LIMIT or OFFSET, the outer one and subqueries, runs with the rows around its
    cut and with its sort keys as columns. If the check itself fails, the reason is returned.
    """
    if "LIMIT" not in query.upper() and "OFFSET" not in query.upper():
        return None
    try:
        tree = parse_tree(admit_query(query, prefixes=prefixes).text)
        for part in walk(tree, into=_get_same_graph_children):
            if isinstance(part, Query) and part.form == "SELECT" and (part.limit or part.offset):
                probe = _TieProbe.from_query(replace(part, datasets=tree.datasets))
                result = await endpoint.select(probe.text, timeout=timeout, limit=MAX_PROBE_ROWS)
                if tie := probe.find_tie(result.rows):
                    return tie
    except (QueryError, TimedOut) as error:
        return f"ties could not be checked: {type(error).__name__}: {error}"
    return None


def _get_same_graph_children(node: object) -> tuple[object, ...]:
    is_other_graph = isinstance(node, Nested) and node.word in ("GRAPH", "SERVICE")
    return () if is_other_graph else get_children(node)


@dataclass(frozen=True)
class _TieProbe:
    """A query for the rows around a cut: first the columns of the original, then its sort keys."""

    text: str
    width: int
    keys: tuple[int, ...]
    distinct: bool
    cuts: tuple[int, ...]  # positions at which the original divides its rows

    @classmethod
    def from_query(cls, query: Query) -> _TieProbe:
        columns = list(query.columns) or [
            (variable, None)
            for variable in dict.fromkeys(find_variables(query.where))
            if not variable.value.startswith("__")
        ]
        width = len(columns)
        keys = [_get_key_column(expression, columns) for expression, _ in query.order]
        start = query.offset or 0
        end = None if query.limit is None else start + query.limit
        has_hidden_keys = query.distinct and len(columns) > width
        probe_query = replace(
            query,
            columns=tuple(columns),
            limit=None if has_hidden_keys else (start if end is None else end) + EXTRA_ROWS,
            offset=None,
        )
        cuts = tuple(cut for cut in (start, end) if cut)
        return cls(to_text(probe_query), width, tuple(keys), query.distinct, cuts)

    def find_tie(self, rows: Sequence[Row]) -> str | None:
        if self.distinct:
            first_rows = {row[: self.width]: row for row in reversed(rows)}
            rows = [row for row in rows if first_rows[row[: self.width]] is row]
        for cut in self.cuts:
            if cut < len(rows) and (tie := self._find_tie_at(rows, cut)):
                return tie
        return None

    def _find_tie_at(self, rows: Sequence[Row], cut: int) -> str | None:
        """Describe equal rows on both sides of a cut; None if they are the same row."""
        key = self._get_key_cells(rows[cut])
        if self._get_key_cells(rows[cut - 1]) != key:
            return None
        equal = [row for row in rows if self._get_key_cells(row) == key]
        if len({row[: self.width] for row in equal}) == 1:
            return None
        if not self.keys:
            return f"without ORDER BY it is open which {cut} rows come before the cut"
        key_values = ", ".join(to_plain_value(rows[cut][index]) or "unbound" for index in self.keys)
        qualifier = "at least " if len(rows) >= cut + EXTRA_ROWS and equal[-1] is rows[-1] else ""
        return (
            f"the cut after row {cut} goes through {qualifier}{len(equal)} rows that are "
            "equal in what "
            f"the query sorts by ({key_values})"
        )

    def _get_key_cells(self, row: Row) -> tuple[Cell | None, ...]:
        return tuple(to_comparable_value(row[index]) for index in self.keys)


def _get_key_column(
    expression: Expression, columns: list[tuple[Variable, Expression | None]]
) -> int:
    """Return the index of the column that a query sorts by; a hidden key is added as a column."""
    names = [variable for variable, _ in columns]
    if isinstance(expression, Variable) and expression in names:
        return names.index(expression)
    if isinstance(expression, Variable):
        columns.append((expression, None))
    else:
        columns.append((Variable(f"{TIE_KEY_PREFIX}{len(columns)}"), expression))
    return len(columns) - 1
