"""Kept examples as the command line shows them: rows of tables, JSON objects, counts."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import asdict

from rich.console import RenderableType

from askgraph.cli.tables import room
from askgraph.evaluation.reports.sheet import Column, Sheet
from askgraph.evaluation.reports.terminal import as_tables
from askgraph.metadata.examples import Collection, QueryExample
from askgraph.metadata.examples.folder import Stored
from askgraph.workspace.examples import Checked
from askgraph.workspace.generating import Generated

__all__ = [
    "as_table",
    "converted_object",
    "counted",
    "example_object",
    "generated_lines",
    "generated_object",
    "in_numbers",
    "result_cells",
    "verdict_object",
]


def as_table(heads: Sequence[str], rows: Sequence[Sequence[str]]) -> list[RenderableType]:
    """Return a table of texts that fits the screen."""

    sheet = Sheet("", tuple(map(Column, heads)), tuple(map(tuple, rows)))
    return as_tables(sheet, width=room())


def example_object(graph: str, one: Stored) -> dict[str, object]:
    """Return an example with its graph, id and file."""
    stored = asdict(one.example)
    return {"graph": graph, "id": one.id, "file": str(one.path), "form": one.example.form} | stored


def verdict_object(one: Checked) -> dict[str, object]:
    """Return what became of an example."""
    return {
        "graph": one.graph,
        "id": one.stored.id,
        "question": one.stored.example.question,
        "status": one.status,
        "detail": one.detail,
    }


def converted_object(found: Collection, faults: list[tuple[str, str]]) -> dict[str, object]:
    """Return how many examples were written, and what was wrong in their source."""
    listed = [{"place": place, "reason": reason} for place, reason in faults]
    return {"examples": len(found.examples), "faults": listed}


def generated_object(made: Generated) -> dict[str, object]:
    """Return the examples that were made, of how many drafts, and why no more."""
    examples = [
        {
            "question": one.question,
            "language": one.language,
            "others": [asdict(wording) for wording in one.others],
            "sparql": one.query,
            "by": one.confirmation.by if one.confirmation else None,
        }
        for one in made.examples
    ]
    return {
        "graph": made.graph, "drafts": made.drafted, "ended": made.ended, "examples": examples,
    }  # fmt: skip


def generated_lines(made: Generated) -> tuple[str, str]:
    """Return the questions, all wordings of one on one line, and what is said of them."""
    lines = [" / ".join(wording.text for wording in one.wordings) for one in made.examples]
    worded = sum(1 for one in made.examples if one.confirmation and one.confirmation.by)
    kept = f"kept {len(made.examples)} of {counted(made.drafted, 'draft')}"
    by_model = f", {worded} in a model's words" if worded else ""
    return "".join(f"{line}\n" for line in lines), f"{made.graph}: {kept}{by_model}; {made.ended}"


def result_cells(example: QueryExample) -> tuple[str, str]:
    """Return how many rows a query gave, and on which day."""
    confirmation = example.confirmation
    return (f"{confirmation.rows:,}", confirmation.when[:10]) if confirmation else ("", "")


def in_numbers(found: list[Checked]) -> str:
    """Return how many examples each verdict has."""
    counts = Counter(one.status for one in found)
    return ", ".join(f"{count} {status}" for status, count in counts.items()) or "nothing to check"


def counted(number: int, noun: str) -> str:
    """Return a number with its noun."""
    return f"{number:,} {noun}{'' if number == 1 else 's'}"
