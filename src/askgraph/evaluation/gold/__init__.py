"""Audits, frozen results and splits of gold.

A finding names a question, the problem and the remedy.
"""

import tomllib
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from importlib.resources import files
from typing import Literal

from askgraph.evaluation import ResultTable
from askgraph.sparql.comparison import Cell

Severity = Literal["error", "warning"]
MAX_ROWS, MAX_CELL_CHARACTERS = 3, 60  # shown of a table: rows, and characters of a value


@dataclass(frozen=True)
class FindingKind:
    """The severity of a kind of finding, its meaning, and advice on it."""

    severity: Severity
    means: str
    advice: str


FINDING_KINDS: Mapping[str, FindingKind] = {
    name: FindingKind(**about)
    for name, about in tomllib.loads(
        files("askgraph.evaluation.gold").joinpath("kinds.toml").read_text("utf-8")
    ).items()
}
"""All kinds of findings, the most severe first."""


@dataclass(frozen=True)
class GoldFinding:
    """A problem of one question."""

    id: str
    kind: str  # a key of `FINDING_KINDS`
    seen: str  # details of the problem
    benchmark: str = ""  # the file, if several were checked

    @property
    def severity(self) -> Severity:
        """`error` or `warning`."""
        return FINDING_KINDS[self.kind].severity

    @property
    def advice(self) -> str:
        """How to solve the problem."""
        return FINDING_KINDS[self.kind].advice

    def to_json(self) -> dict[str, object]:
        """Return the finding as a JSON object."""
        return {**asdict(self), "severity": self.severity, "advice": self.advice}


def summarize_table(table: ResultTable) -> str:
    """Return the size and the first rows of a table, in one line."""
    if table.boolean is not None:
        return str(table.boolean).lower()
    if not table.rows:
        return "no rows"
    rows = "; ".join(" | ".join(map(_format_cell, row)) for row in table.rows[:MAX_ROWS])
    ellipsis = "; …" if len(table.rows) > MAX_ROWS else ""
    count = "1 row" if len(table.rows) == 1 else f"{len(table.rows):,} rows"
    return f"{count} ({rows}{ellipsis})"


def _format_cell(cell: Cell | None) -> str:
    text = "unbound" if cell is None else str(cell[1])
    return text if len(text) <= MAX_CELL_CHARACTERS else text[: MAX_CELL_CHARACTERS - 1] + "…"
