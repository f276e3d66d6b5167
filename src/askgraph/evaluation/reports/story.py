"""The story of one question, in full, as text: to see why it failed."""

import re
import textwrap
from collections.abc import Mapping, Sequence
from typing import Any

from askgraph.evaluation.runs.record import Detail, Record

Json = Mapping[str, object]

MENTIONS = 12  # of the things that words were taken to mean, the likeliest


def failed(record: Record) -> bool:
    """Return whether anything of the answer is wrong or missing."""
    return min(record.f1, record.f1_flattened) < 1


def headline(record: Record) -> str:
    """Report in one line how a question went: all right (✓), in part (~), not at all (✗)."""
    mark = "✗" if record.f1 == 0 else "~" if failed(record) else "✓"
    return (
        f"{mark} {record.id}   F1 {100 * record.f1:.0f}   flat {100 * record.f1_flattened:.0f}   "
        f"EM {record.em:.0f}   {record.status}   confidence {record.confidence:.2f}   "
        f"{record.failure or 'right'}   {record.method}"
    )


def story(record: Record, detail: Detail | None, *, drafts: int = 3, rows: int = 5) -> str:
    """Report the question, how it was understood, both queries, and the heads of both results.

    Of the trace, its findings and the best `drafts` are told, with the F1 that each would have
    given if the run scored them; of each result the first `rows`.
    """
    lines = [
        f"{headline(record)}   [{', '.join(record.tags)}]",
        f"  {record.question}",
        *([f"  error: {record.error}"] if record.error else []),
        *([f"  gold error: {record.gold_error}"] if record.gold_error else []),
        *(_understood(detail) if detail else []),
        *(_drafts(record, detail, drafts) if detail else []),
        "  predicted",
        indented(record.sparql or "(no query)"),
        *_head(detail.predicted if detail else None, rows),
        "  gold",
        indented(record.gold_sparql or "(no query)"),
        *_head(detail.gold if detail else None, rows),
    ]
    return "\n".join(lines)


def indented(query: str) -> str:
    """Return a query without its PREFIX lines, four spaces in."""
    return textwrap.indent(re.sub(r"(?<=\S)[ \t]{2,}", "  ", _bare(query)).strip(), "    ")


def _understood(detail: Detail) -> list[str]:
    """Report what the words were taken to mean."""
    lines: list[str] = []
    for step in (step for step in detail.steps if step["step"] == "findings"):
        lines += [
            f"    {m['words']!r} → {m['kind']} {m['label']!r} {m['score']:.2f} <{m['target']}>"
            for m in _objects(step["mentions"])[:MENTIONS]
        ]
        if unused := _objects(step["unused_words"]):
            lines.append(f"    unused: {' '.join(map(str, unused))}")
    return ["  understood", *lines] if lines else []


def _drafts(record: Record, detail: Detail, most: int) -> list[str]:
    found = [step for step in detail.steps if step["step"] == "draft"]
    best = sorted(found, key=lambda step: -float(str(step["score"])))[:most]
    lines = []
    for at, step in enumerate(best):
        f1 = f"   F1 {100 * record.drafts[at]:3.0f}" if at < len(record.drafts) else ""
        told = step["words"] or _flat(str(step["query"]))
        lines.append(f"    {float(str(step['score'])):8.3f}{f1}   {told}")
    return ["  drafts", *lines] if lines else []


def _head(result: Json | None, rows: int) -> list[str]:
    if result is None:
        return []
    number, columns = result["n"], ", ".join(map(str, _objects(result["columns"])))
    return [
        f"    → {number} {'row' if number == 1 else 'rows'} of {columns}",
        *(f"      {_row(row)}" for row in _objects(result["rows"])[:rows]),
    ]


def _row(row: Sequence[object]) -> str:
    return " | ".join("-" if cell is None else str(cell)[:60] for cell in row)


def _objects(value: object) -> Sequence[Any]:
    return value if isinstance(value, list | tuple) else ()


def _flat(query: str) -> str:
    return re.sub(r"\s+", " ", _bare(query))[:200]


def _bare(query: str) -> str:
    return re.sub(r"(?im)^\s*PREFIX\s+\S*\s*<[^>]*>\s*", "", query)
