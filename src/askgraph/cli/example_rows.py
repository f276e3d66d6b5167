"""Kept examples as the command line shows them: rows of tables, JSON objects, counts."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rich.console import RenderableType

    from askgraph.metadata.examples import Collection, QueryExample
    from askgraph.metadata.examples.folder import Stored
    from askgraph.workspace.examples import Checked

__all__ = [
    "as_table",
    "converted_object",
    "counted",
    "example_object",
    "in_numbers",
    "result_cells",
    "verdict_object",
]


def as_table(heads: Sequence[str], rows: Sequence[Sequence[str]]) -> "list[RenderableType]":
    """Return a table of texts that fits the screen."""
    from askgraph.cli.tables import room
    from askgraph.evaluation.reports.render import Column, Sheet
    from askgraph.evaluation.reports.render.terminal import as_tables

    sheet = Sheet("", tuple(map(Column, heads)), tuple(map(tuple, rows)))
    return as_tables(sheet, width=room())


def example_object(graph: str, one: "Stored") -> dict[str, object]:
    """Return an example with its graph, id and file."""
    stored = asdict(one.example)
    return {"graph": graph, "id": one.id, "file": str(one.path), "form": one.example.form} | stored


def verdict_object(one: "Checked") -> dict[str, object]:
    """Return what became of an example."""
    return {
        "graph": one.graph,
        "id": one.stored.id,
        "question": one.stored.example.question,
        "status": one.status,
        "detail": one.detail,
    }


def converted_object(found: "Collection", faults: list[tuple[str, str]]) -> dict[str, object]:
    """Return how many examples were written, and what was wrong in their source."""
    listed = [{"place": place, "reason": reason} for place, reason in faults]
    return {"examples": len(found.examples), "faults": listed}


def result_cells(example: "QueryExample") -> tuple[str, str]:
    """Return how many rows a query gave, and on which day."""
    confirmation = example.confirmation
    return (f"{confirmation.rows:,}", confirmation.when[:10]) if confirmation else ("", "")


def in_numbers(found: "list[Checked]") -> str:
    """Return how many examples each verdict has."""
    counts = Counter(one.status for one in found)
    return ", ".join(f"{count} {status}" for status, count in counts.items()) or "nothing to check"


def counted(number: int, noun: str) -> str:
    """Return a number with its noun."""
    return f"{number:,} {noun}{'' if number == 1 else 's'}"
