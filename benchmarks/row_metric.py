"""How long the row metric takes and how much memory, by rows and columns; where its peer jumps.

    python benchmarks/row_metric.py [--rows 1000 10000 100000]

Aim: 100,000 rows against 100,000 within 10 s and 2 GiB. Each line is a process of its own; seconds
are those of the metric alone, memory is the peak of the process, with Python and both tables. The
second table scores the gold rows with a column of labels more.
"""

import argparse
import json
import resource
import subprocess
import sys
import time
from collections.abc import Callable
from random import Random

from _measure import print_table
from askgraph.evaluation import Metric, Table
from askgraph.plugins import load

COLUMNS = (1, 2, 3, 4)
AROUND_THE_LIMIT = (1000, 1024, 1025)
PEER = "row_assignment"
LABELS = "labels"
Rows = list[list[str]]


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, nargs="+", default=[1_000, 10_000, 100_000])
    parser.add_argument("--one", help="measure one case in this process: metric, case, rows, width")
    options = parser.parse_args()
    if options.one:
        measure(*json.loads(options.one))
        return
    lines = [
        (case, width, *apart("rows", case, rows, width))
        for case in CASES
        for width in COLUMNS
        for rows in options.rows
    ]
    print_table(("case", "columns", "rows", "F1", "seconds", "peak MiB"), *lines)
    peers = [
        (metric, *apart(metric, LABELS, rows, 2))
        for metric in (PEER, "rows")
        for rows in AROUND_THE_LIMIT
    ]
    print()
    print_table(("metric", "rows", "F1", "seconds", "peak MiB"), *peers)


def apart(metric: str, case: str, rows: int, width: int) -> list[str]:
    """Measure one case in a new process; returns rows, F1, seconds and peak."""
    order = json.dumps([metric, case, rows, width])
    command = [sys.executable, __file__, "--one", order]
    done = subprocess.run(command, check=True, capture_output=True, text=True)
    return [f"{rows:,}", *json.loads(done.stdout)]


def measure(metric: str, case: str, rows: int, width: int) -> None:
    """Score one case and print F1, seconds and the peak of memory in MiB as JSON."""
    score: Metric = load("metric", metric)
    predicted, gold = (
        Table.of_json(list("abcde")[: len(t[0])], t) for t in tables(case, rows, width)
    )
    start = time.perf_counter()
    f1 = score(predicted, gold).f1
    seconds = time.perf_counter() - start
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024  # Linux counts in KiB
    print(json.dumps([f"{f1:.4f}", f"{seconds:.2f}", f"{peak:.0f}"]))


def tables(case: str, rows: int, width: int) -> tuple[Rows, Rows]:
    """The predicted and the gold rows of a case, the same ones at each call."""
    chance = Random(f"{case} {rows} {width}")
    gold = [[f"ex:{at}-{column}" for column in range(width)] for at in range(rows)]
    predicted, gold = {**CASES, LABELS: with_labels}[case](gold, chance)
    chance.shuffle(predicted)
    return predicted, gold


def identical(gold: Rows, _: Random) -> tuple[Rows, Rows]:
    """The rows themselves."""
    return list(gold), gold


def tenth_wrong(gold: Rows, chance: Random) -> tuple[Rows, Rows]:
    """A tenth of the rows has one wrong cell, in any column."""
    predicted = [list(row) for row in gold]
    for row in chance.sample(predicted, len(gold) // 10):
        row[chance.randrange(len(row))] += "-wrong"
    return predicted, gold


def one_value(gold: Rows, _: Random) -> tuple[Rows, Rows]:
    """The first column has one value in all rows, all others are wrong."""
    classes = [["ex:Class", *row[1:]] for row in gold]
    return [["ex:Class", *wrong(row[1:])] for row in gold], classes


def half_right(gold: Rows, _: Random) -> tuple[Rows, Rows]:
    """The first half of the columns is right, rounded down."""
    return [[*row[: len(row) // 2], *wrong(row[len(row) // 2 :])] for row in gold], gold


def nothing(gold: Rows, _: Random) -> tuple[Rows, Rows]:
    """All cells are wrong."""
    return [wrong(row) for row in gold], gold


def alike(gold: Rows, chance: Random) -> tuple[Rows, Rows]:
    """All columns of both tables have the same thousand values, at random."""
    one, other = ([[f"ex:{chance.randrange(1000)}" for _ in row] for row in gold] for _ in "ab")
    return one, other


def with_labels(gold: Rows, _: Random) -> tuple[Rows, Rows]:
    """The rows themselves and a column of labels."""
    return [[*row, f"label of {row[0]}"] for row in gold], gold


def wrong(cells: list[str]) -> list[str]:
    """Values that gold does not have."""
    return [f"{cell}-wrong" for cell in cells]


CASES: dict[str, Callable[[Rows, Random], tuple[Rows, Rows]]] = {
    "identical, shuffled": identical,
    "one row in ten wrong in one cell": tenth_wrong,
    "a column with one value, the rest wrong": one_value,
    "each row half right": half_right,
    "nothing in common": nothing,
    "columns alike, of 1,000 values, at random": alike,
}

if __name__ == "__main__":
    main()
