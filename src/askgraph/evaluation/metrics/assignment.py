"""Metrics that assign rows or columns one to one, as the Hungarian method does."""

from collections import Counter
from collections.abc import Hashable, Iterable, Sequence

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import linear_sum_assignment
from scipy.sparse import csr_array

from askgraph.evaluation import Score, Table, aligned, set_score

ASSIGNED = 1024  # rows; more on either side are compared as tuples

BoundRow = tuple[Hashable, ...]


def row_assignment(predicted: Table, gold: Table) -> Score:
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
        value = float(_holds(predicted) == _holds(gold))
        return Score.of(value)
    if not predicted.rows or not gold.rows:
        value = float(not predicted.rows and not gold.rows)
        return Score.of(value)
    tables: Iterable[Sequence[Sequence[Hashable]]] = (
        (predicted.terms, gold.terms)
        if predicted.terms and gold.terms
        else (predicted.rows, gold.rows)
    )
    have, wanted = ([tuple(cell for cell in row if cell is not None) for row in t] for t in tables)
    if max(len(have), len(wanted)) > ASSIGNED:
        right = float((Counter(have) & Counter(wanted)).total())
        return _score(right, len(have), len(wanted))
    numbers: dict[tuple[Hashable, int], int] = {}
    common = _incidence(have, numbers), _incidence(wanted, numbers)
    width = len(numbers)
    one, other = (
        csr_array((np.ones(len(cells)), cells, starts), shape=(len(starts) - 1, width))
        for cells, starts in common
    )
    sizes = np.array([max(1, len(row)) for row in wanted])
    similarity: NDArray[np.float64] = (one @ other.T).toarray() / sizes
    right = float(similarity[linear_sum_assignment(similarity, maximize=True)].sum())
    superfluous = max(0, len(have) - len(wanted))
    return _score(right, right + superfluous, len(wanted))


def _holds(table: Table) -> bool:
    return bool(table.rows) if table.boolean is None else table.boolean


def _score(right: float, of_predicted: float, of_gold: float) -> Score:
    if not right:
        return Score.of(0.0)
    return Score(right / of_predicted, right / of_gold, 2 * right / (of_predicted + of_gold))


def _incidence(
    rows: list[BoundRow], numbers: dict[tuple[Hashable, int], int]
) -> tuple[list[int], list[int]]:
    """Return the numbers of the cells of all rows, and where each row starts and the last ends.

    The second "Io" of a row has another number than the first, so that sets of numbers meet as
    multisets of cells do.
    """
    cells: list[int] = []
    starts = [0]
    for row in rows:
        seen: Counter[Hashable] = Counter()
        for cell in row:
            cells.append(numbers.setdefault((cell, seen[cell]), len(numbers)))
            seen[cell] += 1
        starts.append(len(cells))
    return cells, starts


LESS = 1e-6  # what precision weighs beside F1: it decides between mappings of equal F1


def column_mapping(predicted: Table, gold: Table) -> Score:
    """Set precision, recall and F1 under the best one-to-one mapping of gold to predicted columns.

    Punishes wrong and missing values in each gold column, and a missing column: no predicted column
    stands for two of gold.

    Does not punish extra columns, the names and order of columns, a wrong order, wrong duplicates,
    or values paired in the wrong rows.

    Ours. `best_column` lets one predicted column serve several gold columns, `exact_match` wants
    whole rows.

    Map each gold column to a predicted column of its own, so that F1 summed is highest.

    The score is the mean over the gold columns, one without a partner counts 0; with several, F1 is
    not the harmonic mean of the other two. No values on both sides is 1, on one side 0.
    """
    predicted, gold = aligned(predicted, gold)
    if not (predicted.values() and gold.values()):
        return set_score(predicted.values(), gold.values())
    missing = max(0, len(gold.variables) - len(predicted.variables))
    columns = [*predicted.columns(), *[frozenset()] * missing]
    scores = [[set_score(column, wanted) for column in columns] for wanted in gold.columns()]
    weights = [[score.f1 + LESS * score.precision for score in line] for line in scores]
    mapped = [scores[at][to] for at, to in zip(*linear_sum_assignment(weights, True), strict=True)]
    return Score.mean(mapped)
