"""Each gold column gets a predicted column of its own, and the best mapping is found."""

from itertools import permutations
from statistics import fmean

import pytest
from hypothesis import given
from hypothesis import strategies as st

from askgraph.evaluation import Score, Table
from askgraph.evaluation.metrics.assignment import column_mapping
from askgraph.evaluation.metrics.sets import best_column

names = st.sampled_from(["Io", "Europa", "Ganymede"])


@st.composite
def tables(draw: st.DrawFn) -> Table:
    width = draw(st.integers(1, 4))
    rows = draw(st.lists(st.lists(names, min_size=width, max_size=width), min_size=1, max_size=4))
    return Table.of_json([f"v{at}" for at in range(width)], rows)


def test_one_predicted_column_does_not_stand_for_two() -> None:
    gold = Table.of_json(["one", "other"], [["Io", "Europa"], ["Europa", "Io"]])
    predicted = Table.of_json(["one"], [["Io"], ["Europa"]])
    assert best_column(predicted, gold).f1 == 1
    assert column_mapping(predicted, gold) == Score(0.5, 0.5, 0.5)


def test_the_best_mapping_is_not_the_greedy_one() -> None:
    gold = Table.of_json(["a", "b"], [["Io", "Io"], ["Europa", "Europa"], [None, "Ganymede"]])
    predicted = Table.of_json(["x", "y"], [["Io", "Io"], ["Europa", None], ["Ganymede", None]])
    assert column_mapping(predicted, gold).f1 == pytest.approx((2 / 3 + 1) / 2)  # a to y, b to x


def test_a_column_that_is_unbound_in_gold_may_be_missing() -> None:
    gold = Table.of_json(["moon", "ring"], [["Io", None], ["Europa", None]])
    predicted = Table.of_json(["moon"], [["Io"], ["Europa"]])
    assert column_mapping(predicted, gold).f1 == 1


def test_an_unbound_column_is_no_answer_to_an_empty_gold() -> None:
    predicted = Table.of_json(["moon", "ring"], [["Io", None]])
    assert column_mapping(predicted, Table(("moon",), ())).f1 == 0


@given(tables(), tables())
def test_no_mapping_is_better(predicted: Table, gold: Table) -> None:
    width = max(len(predicted.variables), len(gold.variables))
    columns = [*predicted.columns(), *[frozenset()] * (width - len(predicted.variables))]
    best = max(
        fmean(
            2 * len(columns[to] & wanted) / (len(columns[to]) + len(wanted))
            for to, wanted in zip(chosen, gold.columns(), strict=True)
        )
        for chosen in permutations(range(width), len(gold.variables))
    )
    assert column_mapping(predicted, gold).f1 == pytest.approx(best)
