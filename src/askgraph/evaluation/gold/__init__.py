"""Gold checked, frozen and divided; a finding: which question, what is wrong, what to do."""

import tomllib
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from importlib.resources import files
from typing import Literal

from askgraph.evaluation import Table
from askgraph.evaluation.questions import GoldQuestion
from askgraph.sparql.comparison import Cell

Severity = Literal["error", "warning"]
ROWS, LONGEST = 3, 60  # shown of a table: rows, and characters of a value


@dataclass(frozen=True)
class Kind:
    """How bad a kind of finding is, what it means, and what to do about it."""

    severity: Severity
    means: str
    advice: str


KINDS: Mapping[str, Kind] = {
    name: Kind(**about)
    for name, about in tomllib.loads(
        files("askgraph.evaluation.gold").joinpath("kinds.toml").read_text("utf-8")
    ).items()
}
"""Every kind of finding, the gravest first."""


@dataclass(frozen=True)
class Finding:
    """What was seen at one question; `kind` is a key of `KINDS`.

    `benchmark` is the file, if several were looked at.
    """

    id: str
    kind: str
    seen: str
    benchmark: str = ""

    @classmethod
    def of(cls, question: GoldQuestion, kind: str, seen: str) -> "Finding":
        """Return a finding at a question."""
        return cls(question.id, kind, seen)

    @property
    def severity(self) -> Severity:
        """`error` or `warning`."""
        return KINDS[self.kind].severity

    @property
    def advice(self) -> str:
        """What to do."""
        return KINDS[self.kind].advice

    def json(self) -> dict[str, object]:
        """Return the finding as a JSON object."""
        return {**asdict(self), "severity": self.severity, "advice": self.advice}


def table_in_words(table: Table) -> str:
    """Return the size and the first rows of a table, in one line."""
    if table.boolean is not None:
        return str(table.boolean).lower()
    if not table.rows:
        return "no rows"
    rows = "; ".join(" | ".join(map(_cell_text, row)) for row in table.rows[:ROWS])
    more = "; …" if len(table.rows) > ROWS else ""
    count = "1 row" if len(table.rows) == 1 else f"{len(table.rows):,} rows"
    return f"{count} ({rows}{more})"


def _cell_text(cell: Cell | None) -> str:
    text = "unbound" if cell is None else str(cell[1])
    return text if len(text) <= LONGEST else text[: LONGEST - 1] + "…"
