"""Metrics that assign rows or columns one to one with the Hungarian method."""

from collections import Counter
from collections.abc import Hashable, Iterable, Sequence

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import linear_sum_assignment
from scipy.sparse import csr_array

from askgraph.evaluation import ResultTable, Score

MAX_ASSIGNED_ROWS = 1024  # rows; more on either side are compared as tuples

BoundRow = tuple[Hashable, ...]


def row_assignment(predicted: ResultTable, gold: ResultTable) -> Score:
    """Row-assignment F1: each gold row against one predicted row, columns without names.

    Punishes missing and superfluous rows, missing values, and any difference in how a term is
    written: `"1"^^xsd:int` is not `"1"^^xsd:integer`, "Io" is not "Io"@en. Does not punish a wrong
    order of rows or columns, or anything that a row holds beside the gold values. Known quirks,
    kept as they are:

    - Extra columns are free: a row that lists fifty values, the right one among them, is right.
    - Values may stand in any column: (Io, Jupiter) equals (Jupiter, Io).
    - Above 1,024 rows on either side, rows must be equal as tuples, in order and number of columns:
      one row more, and a column of labels beside the right IRIs takes the score from 1 to 0.
    - A matched row costs no precision, however little of it is right.
    - An ASK result against a SELECT result asks only whether there are rows.
    - Duplicates count, and rows with no bound value never match.

    The measure of Walter & Bast, "GRASP" (arXiv 2507.08107), section 4.1, who take it from SPINACH
    (Liu et al., 2024). `rows` measures the same intent without these quirks.

    Compare RDF terms, or values if either table came without terms; both empty is 1.
    """
    if predicted.boolean is not None or gold.boolean is not None:
        value = float(_is_true(predicted) == _is_true(gold))
        return Score.from_value(value)
    if not predicted.rows or not gold.rows:
        value = float(not predicted.rows and not gold.rows)
        return Score.from_value(value)
    tables: Iterable[Sequence[Sequence[Hashable]]] = (
        (predicted.terms, gold.terms)
        if predicted.terms and gold.terms
        else (predicted.rows, gold.rows)
    )
    predicted_rows, gold_rows = (
        [tuple(cell for cell in row if cell is not None) for row in table] for table in tables
    )
    if max(len(predicted_rows), len(gold_rows)) > MAX_ASSIGNED_ROWS:
        matched = float((Counter(predicted_rows) & Counter(gold_rows)).total())
        return _build_score(matched, len(predicted_rows), len(gold_rows))
    numbers: dict[tuple[Hashable, int], int] = {}
    incidence = _build_incidence(predicted_rows, numbers), _build_incidence(gold_rows, numbers)
    width = len(numbers)
    predicted_matrix, gold_matrix = (
        csr_array((np.ones(len(cells)), cells, starts), shape=(len(starts) - 1, width))
        for cells, starts in incidence
    )
    sizes = np.array([max(1, len(row)) for row in gold_rows])
    similarity: NDArray[np.float64] = (predicted_matrix @ gold_matrix.T).toarray() / sizes
    matched = float(similarity[linear_sum_assignment(similarity, maximize=True)].sum())
    superfluous = max(0, len(predicted_rows) - len(gold_rows))
    return _build_score(matched, matched + superfluous, len(gold_rows))


def _is_true(table: ResultTable) -> bool:
    return bool(table.rows) if table.boolean is None else table.boolean


def _build_score(matched: float, predicted_total: float, gold_total: float) -> Score:
    if not matched:
        return Score.from_value(0.0)
    return Score(
        matched / predicted_total,
        matched / gold_total,
        2 * matched / (predicted_total + gold_total),
    )


def _build_incidence(
    rows: list[BoundRow], cell_numbers: dict[tuple[Hashable, int], int]
) -> tuple[list[int], list[int]]:
    """Return the numbers of the cells of all rows, and the offsets of the rows and of their end."""
    # The second "Io" of a row gets another number than the first, so that intersections of numbers
    # are intersections of multisets of cells.
    cells: list[int] = []
    starts = [0]
    for row in rows:
        counts: Counter[Hashable] = Counter()
        for cell in row:
            cells.append(cell_numbers.setdefault((cell, counts[cell]), len(cell_numbers)))
            counts[cell] += 1
        starts.append(len(cells))
    return cells, starts
