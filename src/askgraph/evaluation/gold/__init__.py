"""Gold checked, frozen and divided; a finding: which question, what is wrong, what to do."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass
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
    "unreadable": Kind(
        "error", "an item that is no question", "mend the item, or take it out of the file"
    ),
    "no gold": Kind(
        "error",
        "neither a query nor a stored answer",
        "give it one, or say that the graph has no answer",
    ),
    "syntax": Kind("error", "the gold query does not parse", "mend the query"),
    "execution": Kind(
        "error", "the gold query fails", "mend the query, or freeze its result where it runs"
    ),
    "timeout": Kind(
        "error",
        "the gold query takes longer than allowed",
        "allow more with --timeout, or freeze the result once",
    ),
    "contradiction": Kind(
        "error",
        "said to be unanswerable, but the gold query gives a result",
        "take away the query or the mark",
    ),
    "stored answer": Kind(
        "error",
        "the gold query and the stored answer disagree",
        "the graph or the query changed: choose one of the two, and say which",
    ),
    "drift": Kind(
        "error",
        "the gold result is not the frozen one",
        "score against the frozen result, or freeze anew and say so",
    ),
    "leak": Kind(
        "error", "the question is in the training questions, word by word", "take it out of one"
    ),
    "near leak": Kind(
        "warning",
        "a training question has the same query or nearly the same words",
        "report figures without it, too",
    ),
    "empty": Kind(
        "warning",
        "the gold result is empty",
        "check it: every query without a result scores 1 on it",
    ),
    "zero": Kind("warning", "a count or sum is 0", "check it: a wrong name gives 0, too"),
    "tie": Kind(
        "warning",
        "LIMIT or OFFSET cuts through equally good rows, so that the result depends on the engine",
        "sort by more, or freeze the result",
    ),
    "not portable": Kind(
        "warning", "another engine may refuse the query", "write it in standard SPARQL 1.1"
    ),
    "prefix": Kind(
        "warning",
        "prefixes are used and not declared",
        "declare them, or check with -g",
    ),
    "same question": Kind(
        "warning", "the same words twice", "keep one; two right answers make one of them wrong"
    ),
    "same query": Kind(
        "warning",
        "other words, the same query",
        "fine for paraphrases; keep them on one side of a split",
    ),
    "similar question": Kind(
        "warning", "nearly the same words", "check that they are different questions"
    ),
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
