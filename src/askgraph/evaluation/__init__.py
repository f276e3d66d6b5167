"""Evaluation: run questions with gold queries, score the answers and report the results.

To add a metric, add a function that fits `Metric` to a module of `metrics/` and its name to the
table of `askgraph.plugins`, or add one file whose `__all__` names it.

What lives here: `benchmarks` (readers of published files), `metrics`, `runs`, `reports`, `gold`
(audits of gold queries), `studies` (tables of papers) and `executors`. May import: `methods` and
the rooms below it. Start reading at `runs/run.py`.
"""

from collections.abc import Iterable, Sequence, Set
from dataclasses import dataclass, field, replace
from statistics import fmean
from typing import Protocol

from askgraph.sparql.comparison import (
    Cell,
    map_equal_numbers,
    parse_json_value,
    to_comparable_value,
)
from askgraph.sparql.results import Row, SelectResult


@dataclass(frozen=True)
class ResultTable:
    """A query result as comparable values.

    A boolean is one row with one value; an unbound variable is `None`. `boolean`, `terms` and
    `answering` take no part in equality.

    Attributes:
        terms: The RDF terms behind `rows`, in the same shape, for metrics that compare terms; empty
            if only plain values are known.
        answering: The columns that answer the question; empty if all do.
    """

    variables: tuple[str, ...]  # names of the columns
    rows: tuple[tuple[Cell | None, ...], ...]  # values of each row, one per variable
    boolean: bool | None = field(default=None, compare=False)  # of an ASK query
    terms: tuple[Row, ...] = field(default=(), compare=False, repr=False)
    answer_columns: tuple[str, ...] = field(default=(), compare=False)

    @classmethod
    def from_result(cls, result: SelectResult) -> "ResultTable":
        """Build a table from the solutions of a SELECT query."""
        rows = tuple(tuple(to_comparable_value(term) for term in row) for row in result.rows)
        return cls(result.variables, rows, terms=result.rows)

    @classmethod
    def from_boolean(cls, value: bool) -> "ResultTable":
        """Build a table from the answer of an ASK query."""
        return cls(("answer",), ((("boolean", str(value).lower()),),), value)

    @classmethod
    def from_json(cls, variables: Sequence[str], rows: Iterable[Sequence[object]]) -> "ResultTable":
        """Build a table from stored rows of plain values."""
        return cls(tuple(variables), tuple(tuple(map(parse_json_value, row)) for row in rows))

    def get_column_values(self) -> tuple[frozenset[Cell], ...]:
        """Return the set of bound values of each column."""
        return tuple(
            frozenset(cell for row in self.rows if (cell := row[index]) is not None)
            for index in range(len(self.variables))
        )

    def get_values(self) -> frozenset[Cell]:
        """Return the set of bound values of all columns."""
        return frozenset(cell for row in self.rows for cell in row if cell is not None)

    def get_answer_values(self) -> frozenset[Cell]:
        """Return the set of bound values of the columns that answer the question."""
        pairs = zip(self.variables, self.get_column_values(), strict=True)
        columns = [
            cells for name, cells in pairs if name in self.answer_columns or not self.answer_columns
        ]
        return frozenset().union(*columns)


def align_numbers(predicted: ResultTable, gold: ResultTable) -> tuple[ResultTable, ResultTable]:
    """Return both tables with equal numbers in the same form."""
    numbers = {
        cell[1]
        for cell in predicted.get_values() | gold.get_values()
        if not isinstance(cell[1], str)
    }
    replacements = map_equal_numbers(numbers)
    return _replace_numbers(predicted, replacements), _replace_numbers(gold, replacements)


def _replace_numbers(
    table: ResultTable, replacements: dict[int | float, int | float]
) -> ResultTable:
    def replace_number(cell: Cell | None) -> Cell | None:
        if cell is None or isinstance(cell[1], str):
            return cell
        return (cell[0], replacements[cell[1]])

    return replace(table, rows=tuple(tuple(map(replace_number, row)) for row in table.rows))


@dataclass(frozen=True)
class Score:
    """Precision, recall and F1, each between 0 and 1."""

    precision: float
    recall: float
    f1: float

    @classmethod
    def from_value(cls, value: float) -> "Score":
        """Build a score whose three numbers are the same."""
        return cls(value, value, value)

    @classmethod
    def compute_mean(cls, scores: Sequence["Score"]) -> "Score":
        """Return the mean of each number; F1 need not be the harmonic mean of the other two."""
        return cls(
            fmean(score.precision for score in scores),
            fmean(score.recall for score in scores),
            fmean(score.f1 for score in scores),
        )


class Metric(Protocol):
    """A pure function that measures how well a predicted table agrees with the gold table."""

    def __call__(self, predicted: ResultTable, gold: ResultTable) -> Score:
        """Compare by value; two empty tables score 1 unless the metric states otherwise."""
        ...


def score_sets(predicted: Set[object], gold: Set[object]) -> Score:
    """Compare two sets; both empty is 1, one of them empty is 0."""
    if not predicted and not gold:
        return Score.from_value(1.0)
    common = len(predicted & gold)
    if not common:
        return Score.from_value(0.0)
    precision, recall = common / len(predicted), common / len(gold)
    return Score(precision, recall, 2 * common / (len(predicted) + len(gold)))
