"""Questions with gold queries: run, score, report. A metric compares two tables of values.

Adding a metric is adding a function that fits `Metric` to a module of `metrics/`, and its name to
the table of `askgraph.plugins`; or one file whose `__all__` names it.

What lives here: `benchmarks` (readers of published files), `metrics`, `runs`, `reports`, `gold`
(audits of gold queries), `studies` (tables of papers) and `executors`. May import: `methods` and
the rooms below it. Start reading at `runs/run.py`.
"""

from collections.abc import Iterable, Sequence, Set
from dataclasses import dataclass, field, replace
from statistics import fmean
from typing import Protocol

from askgraph.sparql.comparison import Cell, cell_of_json, cell_of_term, same_numbers
from askgraph.sparql.results import Row, SelectResult


@dataclass(frozen=True)
class Table:
    """A result in comparable values; a boolean is one row with one value, unbound is `None`.

    `boolean` is the answer of an ASK query. `terms` has the shape of `rows` and holds the RDF terms
    as they came, for metrics that compare otherwise; it is empty if only plain values are known.
    `answering` are the columns that answer, if others are only context; empty for all. None of
    these takes part in equality.
    """

    variables: tuple[str, ...]
    rows: tuple[tuple[Cell | None, ...], ...]
    boolean: bool | None = field(default=None, compare=False)
    terms: tuple[Row, ...] = field(default=(), compare=False, repr=False)
    answering: tuple[str, ...] = field(default=(), compare=False)

    @classmethod
    def of_result(cls, result: SelectResult) -> "Table":
        """Return the solutions of a SELECT query as a table."""
        rows = tuple(tuple(cell_of_term(term) for term in row) for row in result.rows)
        return cls(result.variables, rows, terms=result.rows)

    @classmethod
    def of_boolean(cls, value: bool) -> "Table":
        """Return the answer of an ASK query as a table."""
        return cls(("answer",), ((("boolean", str(value).lower()),),), value)

    @classmethod
    def of_json(cls, variables: Sequence[str], rows: Iterable[Sequence[object]]) -> "Table":
        """Return stored rows of plain values as a table."""
        return cls(tuple(variables), tuple(tuple(map(cell_of_json, row)) for row in rows))

    def columns(self) -> tuple[frozenset[Cell], ...]:
        """Return the set of bound values of each column."""
        return tuple(
            frozenset(cell for row in self.rows if (cell := row[at]) is not None)
            for at in range(len(self.variables))
        )

    def values(self) -> frozenset[Cell]:
        """Return the set of bound values of all columns together."""
        return frozenset(cell for row in self.rows for cell in row if cell is not None)

    def answers(self) -> frozenset[Cell]:
        """Return the set of bound values of the columns that answer."""
        pairs = zip(self.variables, self.columns(), strict=True)
        kept = [cells for name, cells in pairs if name in self.answering or not self.answering]
        return frozenset().union(*kept)


def aligned(predicted: Table, gold: Table) -> tuple[Table, Table]:
    """Return both tables with numbers that count as equal made equal."""
    numbers = {
        cell[1] for cell in predicted.values() | gold.values() if not isinstance(cell[1], str)
    }
    same = same_numbers(numbers)
    return _renamed(predicted, same), _renamed(gold, same)


def _renamed(table: Table, same: dict[int | float, int | float]) -> Table:
    def rename(cell: Cell | None) -> Cell | None:
        if cell is None or isinstance(cell[1], str):
            return cell
        return (cell[0], same[cell[1]])

    return replace(table, rows=tuple(tuple(map(rename, row)) for row in table.rows))


@dataclass(frozen=True)
class Score:
    """Precision, recall and F1, each between 0 and 1."""

    precision: float
    recall: float
    f1: float

    @classmethod
    def of(cls, value: float) -> "Score":
        """Return a score whose three numbers are the same."""
        return cls(value, value, value)

    @classmethod
    def mean(cls, scores: Sequence["Score"]) -> "Score":
        """Return the mean of each number; F1 need not be the harmonic mean of the other two."""
        return cls(
            fmean(score.precision for score in scores),
            fmean(score.recall for score in scores),
            fmean(score.f1 for score in scores),
        )


class Metric(Protocol):
    """A pure function that says how well a predicted table agrees with the gold table."""

    def __call__(self, predicted: Table, gold: Table) -> Score:
        """Compare by value; both empty is 1, unless the metric says otherwise."""
        ...


def set_score(predicted: Set[object], gold: Set[object]) -> Score:
    """Compare two sets; both empty is 1, one of them empty is 0."""
    if not predicted and not gold:
        return Score.of(1.0)
    common = len(predicted & gold)
    if not common:
        return Score.of(0.0)
    precision, recall = common / len(predicted), common / len(gold)
    return Score(precision, recall, 2 * common / (len(predicted) + len(gold)))
