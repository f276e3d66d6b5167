"""The metrics of rows: what they promise, against their definitions by trial of everything."""

from collections import Counter
from collections.abc import Iterator
from itertools import permutations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pyoxigraph import BlankNode, Literal, NamedNode
from scipy.optimize import linear_sum_assignment
from tests.each import for_each

from askgraph.evaluation import ResultTable, Score
from askgraph.evaluation.metrics.assignment import row_assignment
from askgraph.evaluation.metrics.rows import Numbers, count_equal_cells, rows
from askgraph.evaluation.metrics.sets import exact_match
from askgraph.sparql import vocabulary as voc
from askgraph.sparql.results import Row as TermRow
from askgraph.sparql.results import SelectResult

Row = tuple[object, ...]

values = st.one_of(
    st.none(), st.integers(-2, 2), st.sampled_from([0.5, 0.5000001, "Io", "Europa", "2020-01-01"])
)


@st.composite
def tables(draw: st.DrawFn, *, widths: tuple[int, int] = (1, 3), most: int = 4) -> ResultTable:
    width = draw(st.integers(*widths))
    cells = st.lists(values, min_size=width, max_size=width)
    return ResultTable.from_json(
        [f"v{at}" for at in range(width)], draw(st.lists(cells, max_size=most))
    )


def table(*found: Row) -> ResultTable:
    width = len(found[0]) if found else 1
    return ResultTable.from_json([f"v{at}" for at in range(width)], found)


def solutions(*found: TermRow) -> ResultTable:
    width = len(found[0]) if found else 1
    return ResultTable.from_result(SelectResult(tuple(f"v{at}" for at in range(width)), found))


def chosen(width: int, columns: int) -> Iterator[tuple[int | None, ...]]:
    """Every way to give each of so many gold columns a predicted column of its own, or none."""
    nothing = [None] * max(0, columns - width)
    yield from set(permutations([*range(width), *nothing], columns))


def f1_by_trial(predicted: ResultTable, gold: ResultTable) -> float:
    """The definition: all mappings of columns, all assignments of rows."""
    width = len(gold.variables)
    have, wanted = list(dict.fromkeys(predicted.rows)), list(dict.fromkeys(gold.rows))
    if not have or not wanted:
        return float(have == wanted)
    best = 0.0
    for mapping in chosen(len(predicted.variables), width):
        mapped = [tuple(None if at is None else (row[at],) for at in mapping) for row in have]
        if len(predicted.variables) > width:
            mapped = list(dict.fromkeys(mapped))
        similar = [
            [sum(c == (d,) for c, d in zip(p, g, strict=True)) for g in wanted] for p in mapped
        ]
        side = similar if len(mapped) <= len(wanted) else list(zip(*similar, strict=True))
        equal = max(
            sum(line[to] for line, to in zip(side, order, strict=True))
            for order in permutations(range(len(side[0])), len(side))
        )
        best = max(best, 2 * equal / ((len(mapped) + len(wanted)) * width))
    return best


@settings(deadline=None)
@given(tables(), tables())
def test_it_is_the_best_of_all_assignments(predicted: ResultTable, gold: ResultTable) -> None:
    numbers = {
        cell for cell in predicted.get_values() | gold.get_values() if cell[1] in (0.5, 0.5000001)
    }
    if len(numbers) < 2:  # those two count as equal, which trial does not know
        assert rows(predicted, gold).f1 == pytest.approx(f1_by_trial(predicted, gold))


@settings(deadline=None)
@given(tables(), tables())
def test_parts_lie_between_0_and_1_and_f1_is_their_harmonic_mean(
    predicted: ResultTable, gold: ResultTable
) -> None:
    score = rows(predicted, gold)
    total = score.precision + score.recall
    assert all(0 <= part <= 1 for part in (score.precision, score.recall, score.f1))
    harmonic = 2 * score.precision * score.recall / total if total else 0
    assert score.f1 == pytest.approx(harmonic)


@settings(deadline=None)
@given(tables(), tables())
def test_full_marks_are_an_exact_match(predicted: ResultTable, gold: ResultTable) -> None:
    assert (rows(predicted, gold).f1 == 1) == (exact_match(predicted, gold).f1 == 1)


def test_what_rows_and_columns_cost() -> None:
    # Beside the right row one that is almost right is superfluous.
    gold = table(("Io", "Jupiter", 1610, "Galilei"))
    almost = ("Io", "Jupiter", 1610, "Marius")
    assert rows(table(almost), gold).f1 == 0.75
    assert rows(table(almost, ("Io", "Jupiter", 1610, "Galilei")), gold).f1 == pytest.approx(2 / 3)
    # A half right row is half of precision and of recall.
    score = rows(table(("Io", "x"), ("Europa", "y")), table(("Io", 1), ("Europa", 2)))
    assert score == Score(0.5, 0.5, 0.5)
    # Values in the wrong rows are half wrong.
    assert rows(table(("Io", 2), ("Europa", 1)), table(("Io", 1), ("Europa", 2))).f1 == 0.5
    # Rows that differ only in an extra column are one row.
    assert rows(table(("Io", "Io"), ("Io", "Jo")), table(("Io",))).precision == 1
    # A missing column costs its share.
    score = rows(table(("Io",), ("Europa",)), table(("Io", 1), ("Europa", 2)))
    assert score == Score(0.5, 0.5, 0.5)
    # Values in another column are wrong if columns do not agree.
    gold = table(("Io", "Jupiter"), ("Phobos", "Mars"))
    mixed = table(("Io", "Jupiter"), ("Mars", "Phobos"))
    assert rows(mixed, gold).f1 == 0.5 and row_assignment(mixed, gold).f1 == 1
    # Values are equal whatever their datatype.
    one, other = (NamedNode(voc.XSD + name) for name in ("int", "double"))
    predicted = solutions((Literal("1", datatype=one),), (Literal("0.33333333"),))
    gold = solutions((Literal("1.0", datatype=other),), (Literal("0.33333334"),))
    assert rows(predicted, gold).f1 == 1 and row_assignment(predicted, gold).f1 == 0
    # Language tags do not count.
    predicted, gold = (solutions((Literal("Mond", language=tag),)) for tag in ("de", "en"))
    assert rows(predicted, gold).f1 == 1
    # Unbound agrees with unbound and nothing else.
    gold = table(("Io", None), ("Europa", 1))
    assert rows(gold, gold).f1 == 1 and rows(table(("Io", 1), ("Europa", 1)), gold).f1 == 0.75


def test_special_results() -> None:
    # An ask result is right or wrong.
    yes, no = ResultTable.from_boolean(True), ResultTable.from_boolean(False)
    assert rows(yes, yes).f1 == rows(table((True,)), yes).f1 == 1
    assert rows(no, yes).f1 == rows(table(("Io",)), yes).f1 == rows(table(), no).f1 == 0
    assert rows(table((True,), (False,)), yes).f1 == 0
    # Both empty is 1 and one empty is 0.
    assert rows(table(), table()).f1 == 1
    assert rows(table(("Io",)), table()).f1 == rows(table(), table(("Io",))).f1 == 0
    # A query without variables asks whether there is a row.
    nothing = ResultTable((), ((),))
    assert rows(nothing, nothing).f1 == rows(table(("Io",)), nothing).f1 == 1
    assert rows(nothing, table(("Io",))).f1 == 0


@for_each("width", [3, 5, 8])
def test_columns_of_the_same_values_are_told_apart_by_their_rows(width: int) -> None:
    square = [tuple((line + column) % width for column in range(width)) for line in range(width)]
    for shift in range(width):
        order = sorted(range(width), key=lambda at: (at * (shift + 2) + shift) % (2 * width + 1))
        turned = [tuple(row[at] for at in order) for row in square]
        assert rows(table(*turned), table(*square)).f1 == 1


@for_each("size", [199, 200, 201, 1024, 1025])
def test_no_rule_changes_with_size(size: int) -> None:
    gold = [(f"moon {at}", f"planet {at}") for at in range(size)]
    labelled = [(planet, moon, f"label {moon}") for moon, planet in gold]
    half = [(moon, f"not {planet}") for moon, planet in gold]
    assert rows(table(*labelled), table(*gold)).f1 == 1
    assert rows(table(*half), table(*gold)).f1 == 0.5
    assert rows(table(*half[1:], gold[0]), table(*gold)).f1 == pytest.approx(0.5 + 0.5 / size)


seeds = st.integers(0, 10_000)


def by_all_pairs(predicted: Numbers, gold: Numbers) -> int:
    similarity = (predicted[:, None, :] == gold[None, :, :]).sum(axis=2)
    return int(similarity[linear_sum_assignment(similarity, maximize=True)].sum())


def random_tables(seed: int, width: int, values: int, *, most: int = 40) -> tuple[Numbers, Numbers]:
    """Two tables of which the second is at times the first with some cells changed."""
    chance = np.random.default_rng(seed)
    have, wanted = chance.integers(1, most, 2)
    predicted = chance.integers(0, values, (have, width))
    if seed % 2:
        return predicted, chance.integers(0, values, (wanted, width))
    gold = chance.permutation(predicted)
    wrong = chance.random(gold.shape) < chance.random()
    gold[wrong] = chance.integers(0, 2 * values, int(wrong.sum()))
    return predicted, gold


@settings(deadline=None)
@given(seeds, st.integers(1, 6), st.integers(1, 12))
def test_rows_are_matched_at_best_or_not_much_worse(seed: int, width: int, values: int) -> None:
    predicted, gold = random_tables(seed, width, values)
    best = by_all_pairs(predicted, gold)
    greedy = count_equal_cells(predicted, gold, max_pairs=0)
    assert count_equal_cells(predicted, gold) == best
    assert best / 2 <= greedy <= best


def test_a_value_that_all_rows_share_costs_no_more_than_others() -> None:
    predicted = np.column_stack((np.zeros(20_000, np.int64), np.arange(1, 20_001)))
    gold = np.column_stack((np.zeros(20_000, np.int64), np.arange(30_000, 50_000)))
    assert count_equal_cells(predicted, gold) == 20_000


XSD_INT = NamedNode(voc.XSD + "int")
XSD_INTEGER = NamedNode(voc.XSD + "integer")
IO = NamedNode("http://example.org/Io")

small_rows = st.lists(st.lists(st.sampled_from("abcd"), min_size=1, max_size=3), max_size=4)


def stored(rows: list[list[str]]) -> ResultTable:
    """A table of plain values; rows may differ in length, as they do without unbound cells."""
    return ResultTable.from_json(["a", "b", "c"], rows)


def best_sum(predicted: list[list[str]], gold: list[list[str]]) -> float:
    """The highest sum of similarities over all assignments, by trying them."""
    size = max(len(predicted), len(gold))
    padded = predicted + [[] for _ in range(size - len(predicted))]
    return max(
        sum(
            (Counter(padded[to]) & Counter(row)).total() / len(row)
            for row, to in zip(gold, order, strict=False)
        )
        for order in permutations(range(size))
    )


@settings(deadline=None)
@given(small_rows, small_rows)
def test_it_is_the_f1_of_the_best_of_all_assignments(
    predicted: list[list[str]], gold: list[list[str]]
) -> None:
    score = row_assignment(stored(predicted), stored(gold))
    if not predicted or not gold:
        assert score.f1 == float(predicted == gold)
        return
    right = best_sum(predicted, gold)
    superfluous = max(0, len(predicted) - len(gold))
    assert score.f1 == pytest.approx(2 * right / (right + superfluous + len(gold)))
    assert score.recall == pytest.approx(right / len(gold))


def test_assigning_rows() -> None:
    # A row that is half right costs recall only.
    score = row_assignment(stored([["Io", "x"]]), stored([["Io", "Jupiter"]]))
    assert (score.precision, score.recall) == (1, 0.5) and score.f1 == pytest.approx(2 / 3)
    # Extra values and the order of columns are free.
    gold = stored([["Io", "Jupiter"]])
    assert row_assignment(stored([["Jupiter", "Io", "Mars"]]), gold).f1 == 1
    # A value that gold has twice must be there twice.
    assert row_assignment(stored([["Io", "x"]]), stored([["Io", "Io"]])).recall == 0.5
    # Terms must be written alike.
    gold = solutions((Literal("1", datatype=XSD_INTEGER),))
    assert row_assignment(solutions((Literal("1", datatype=XSD_INTEGER),)), gold).f1 == 1
    assert row_assignment(solutions((Literal("1", datatype=XSD_INT),)), gold).f1 == 0
    named = solutions((Literal("Io"),))
    assert row_assignment(solutions((Literal("Io", language="en"),)), named).f1 == 0
    # Values are compared where a table has no terms.
    predicted = solutions((Literal("1", datatype=XSD_INT),))
    assert row_assignment(predicted, ResultTable.from_json(["n"], [[1]])).f1 == 1
    # Unbound cells are left out.
    gold = solutions((IO, None))
    assert row_assignment(solutions((None, IO)), gold).f1 == 1
    assert row_assignment(solutions((None,)), solutions((None,))).f1 == 0
    # A select result against an ask result is whether there are rows.
    yes, no = ResultTable.from_boolean(True), ResultTable.from_boolean(False)
    assert row_assignment(yes, solutions((IO,))).f1 == 1
    assert row_assignment(solutions((IO,)), no).f1 == 0 and row_assignment(solutions(), no).f1 == 1
    assert row_assignment(yes, no).f1 == 0
    # From 1025 rows on a row must be equal as a tuple.
    names = [f"moon {at}" for at in range(1025)]
    gold = stored([[name] for name in names])
    labelled = [[name, "label"] for name in names]
    assert row_assignment(stored(labelled[:1024]), stored([[n] for n in names[:1024]])).f1 == 1
    assert row_assignment(stored(labelled), gold).f1 == 0 and row_assignment(gold, gold).f1 == 1
    doubled = row_assignment(stored([[name] for name in names * 2]), gold)
    assert (doubled.precision, doubled.recall) == (0.5, 1)
    # Blank nodes are equal by name.
    assert row_assignment(solutions((BlankNode("x"),)), solutions((BlankNode("y"),))).f1 == 0
