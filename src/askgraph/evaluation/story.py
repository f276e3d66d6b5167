"""How one question went, in full, for whoever wants to know why it failed."""

import re
import textwrap
from collections.abc import Mapping, Sequence
from dataclasses import replace

from askgraph.endpoint import Endpoint
from askgraph.errors import AskgraphError
from askgraph.evaluation.metrics.best_column import best_column
from askgraph.evaluation.questions import GoldQuestion
from askgraph.evaluation.report import Record
from askgraph.evaluation.run import gold_table
from askgraph.evaluation.values import Cell, Table
from askgraph.trace import Draft, Findings, Trace

__all__ = ["failed", "headline", "indented", "scored_drafts", "story"]


def failed(record: Record) -> bool:
    """Whether anything of the answer is wrong or missing."""
    return min(record.f1, record.f1_flattened) < 1


def headline(record: Record) -> str:
    """Tell in one line how a question went: all right (✓), in part (~), not at all (✗)."""
    mark = "✗" if record.f1 == 0 else "~" if failed(record) else "✓"
    return (
        f"{mark} {record.id}   F1 {100 * record.f1:.0f}   flat {100 * record.f1_flattened:.0f}   "
        f"EM {record.em:.0f}   {record.status}   confidence {record.confidence:.2f}   "
        f"{1000 * record.seconds:.0f} ms"
    )


async def scored_drafts(
    question: GoldQuestion,
    trace: Trace | None,
    endpoint: Endpoint,
    *,
    prefixes: Mapping[str, str] | None = None,
    most: int = 10,
) -> list[tuple[Draft, float]]:
    """Return the best drafts of a trace, each with the F1 (best column) that it would have given.

    It tells whether an answer was not found, or found and ranked too low. A draft that fails
    scores 0; a question without gold has none.
    """
    drafts = [step for step in trace.steps if isinstance(step, Draft)] if trace else []
    try:
        gold = await gold_table(question, endpoint, prefixes=prefixes, timeout=60)
    except AskgraphError:
        return []
    scored = []
    for draft in sorted(drafts, key=lambda draft: -draft.score)[:most]:
        asked = replace(question, sparql=draft.query, answers=None)
        try:
            table = await gold_table(asked, endpoint, prefixes=prefixes, timeout=10)
        except AskgraphError:
            scored.append((draft, 0.0))
        else:
            scored.append((draft, best_column(table, gold).f1))
    return scored


async def story(
    question: GoldQuestion,
    record: Record,
    trace: Trace | None,
    endpoint: Endpoint,
    *,
    prefixes: Mapping[str, str] | None = None,
    drafts: int = 3,
    rows: int = 5,
) -> str:
    """Tell the question, how it was understood, both queries, and the heads of both results.

    Of the trace, its findings and the best `drafts` are told, with the F1 that each would have
    given; of each result the first `rows`.
    """
    scored = await scored_drafts(question, trace, endpoint, prefixes=prefixes, most=drafts)
    predicted = replace(question, sparql=record.sparql, answers=None)
    lines = [
        f"{headline(record)}   [{', '.join(record.tags)}]",
        f"  {question.text}",
        *([f"  error: {record.error}"] if record.error else []),
        *(_understood(trace) if trace else []),
        *(["  drafts"] if scored else []),
        *(_draft(draft, f1) for draft, f1 in scored),
        "  predicted",
        indented(record.sparql or "(no query)"),
        *await _head(predicted, endpoint, prefixes, rows),
        "  gold",
        indented(question.sparql or "(no query)"),
        *await _head(question, endpoint, prefixes, rows),
    ]
    return "\n".join(lines)


def indented(query: str) -> str:
    """Return a query without its PREFIX lines, four spaces in."""
    return textwrap.indent(re.sub(r"(?<=\S)[ \t]{2,}", "  ", _bare(query)).strip(), "    ")


async def _head(
    question: GoldQuestion, endpoint: Endpoint, prefixes: Mapping[str, str] | None, rows: int
) -> list[str]:
    if question.sparql is None and question.answers is None:
        return []
    try:
        table = await gold_table(question, endpoint, prefixes=prefixes, timeout=60)
    except AskgraphError as error:
        return [f"    → {type(error).__name__}: {error}"]
    return [
        f"    → {len(table.rows)} {_rows(table)} of {', '.join(table.variables)}",
        *(f"      {_row(row)}" for row in table.rows[:rows]),
    ]


def _rows(table: Table) -> str:
    return "row" if len(table.rows) == 1 else "rows"


def _row(row: Sequence[Cell | None]) -> str:
    return " | ".join("-" if cell is None else str(cell[1])[:60] for cell in row)


def _understood(trace: Trace) -> list[str]:
    """What the words were taken to mean."""
    lines: list[str] = []
    for findings in (step for step in trace.steps if isinstance(step, Findings)):
        lines += [
            f"    {m.words!r} → {m.kind} {m.label!r} {m.score:.2f} <{m.target}>"
            for m in findings.mentions
        ]
        if findings.unused_words:
            lines.append(f"    unused: {' '.join(findings.unused_words)}")
    return ["  understood", *lines] if lines else []


def _draft(draft: Draft, f1: float) -> str:
    return f"    {draft.score:8.3f}   F1 {100 * f1:3.0f}   {draft.words or _flat(draft.query)}"


def _flat(query: str) -> str:
    return re.sub(r"\s+", " ", _bare(query))[:200]


def _bare(query: str) -> str:
    return re.sub(r"(?im)^\s*PREFIX\s+\S*\s*<[^>]*>\s*", "", query)
