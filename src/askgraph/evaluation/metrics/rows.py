"""Row F1: rows matched one to one under the best mapping of columns, with credit for right cells.

Punishes missing and superfluous rows, wrong and missing values, values paired in the wrong rows,
and missing columns, each by its share of a row: a row with one of two values right is half right.
With `extra_columns="charged"`, columns that gold does not have as well.

Does not punish the names and order of columns, the order of rows, duplicates, another datatype of
the same value, and by default extra columns and language tags. Duplicates do not count because
gold queries often lack a DISTINCT; so a query that must count duplicates is not told from one that
drops them. As credit is for cells, a column with one value throughout, such as a class, is worth
its share of every row. As one gold row answers for one predicted row, a predicted row that is
almost right is superfluous beside the right one: with three columns or more it may then cost more
than the right one brings.

Ours; the intent is that of `row_assignment`, with named columns, values instead of terms, one rule
for all sizes, and precision for no more of a row than is right.
"""

from collections import defaultdict
from dataclasses import replace
from itertools import chain, count
from typing import Literal as Choice

import numpy as np
from pyoxigraph import Literal

from askgraph.evaluation import Score, Table, aligned
from askgraph.evaluation.metrics._best_rows import best_row_score
from askgraph.evaluation.metrics._row_matching import Numbers
from askgraph.sparql.comparison import Cell
from askgraph.sparql.results import Term

__all__ = ["rows"]


def rows(
    predicted: Table,
    gold: Table,
    *,
    extra_columns: Choice["free", "charged"] = "free",
    languages: Choice["dropped", "kept"] = "dropped",
) -> Score:
    """Compare rows as sets; both empty is 1, one empty is 0.

    Gold columns are mapped to predicted columns one to one, and rows of one table to rows of the
    other, so that F1 is highest. The similarity of two rows is the share of gold columns in which
    they agree; unbound agrees with unbound. Precision is the sum of similarities over the distinct
    predicted rows without extra columns, recall over the distinct gold rows. If extra columns
    are charged, precision is the share of predicted cells that agree, and recall that of gold
    cells. Language tags are kept only if both tables have terms. The answer of an ASK query is
    right or wrong; right is the same boolean, also as the only value of a SELECT result.

    Exact for up to three columns on both sides, whatever the number of rows; with more, exact
    within the limits that `equal_cells` and `best_row_score` state.
    """
    if predicted.boolean is not None or gold.boolean is not None:
        return Score.of(float(frozenset(predicted.rows) == frozenset(gold.rows)))
    if not predicted.rows or not gold.rows:
        return Score.of(float(not predicted.rows and not gold.rows))
    if languages == "kept" and predicted.terms and gold.terms:
        predicted, gold = _with_languages(predicted), _with_languages(gold)
    charged = extra_columns == "charged"
    if not predicted.variables or not gold.variables:
        nothing_asked = not gold.variables and not charged
        return Score.of(float(nothing_asked or predicted.variables == gold.variables))
    return best_row_score(*_numbered(*aligned(predicted, gold)), charged=charged)


def _with_languages(table: Table) -> Table:
    cells = (
        tuple(_with_language(cell, term) for cell, term in zip(row, terms, strict=True))
        for row, terms in zip(table.rows, table.terms, strict=True)
    )
    return replace(table, rows=tuple(cells))


def _with_language(cell: Cell | None, term: Term | None) -> Cell | None:
    if cell is None or not isinstance(term, Literal) or not term.language:
        return cell
    return (f"{cell[0]}@{term.language.lower()}", cell[1])


def _numbered(predicted: Table, gold: Table) -> tuple[Numbers, Numbers]:
    """Return a matrix of numbers for each table, equal if the values are equal."""
    numbers: defaultdict[Cell | None, int] = defaultdict(count().__next__)

    def matrix(table: Table) -> Numbers:
        shape = len(table.rows), len(table.variables)
        cells = map(numbers.__getitem__, chain.from_iterable(table.rows))
        return np.fromiter(cells, np.int64, shape[0] * shape[1]).reshape(shape)

    return matrix(predicted), matrix(gold)
