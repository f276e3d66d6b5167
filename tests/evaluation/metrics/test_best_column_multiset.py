"""The multiset measure counts rows, and finds nothing in an empty result."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from askgraph.evaluation import Score, Table
from askgraph.evaluation.metrics.sets import best_column, best_column_multiset

names = st.sampled_from(["Io", "Europa", "Ganymede", "Callisto"])
some = st.lists(names, min_size=1, max_size=8)


def column(*values: object) -> Table:
    return Table.of_json(["x"], [[value] for value in values])


def test_a_repeated_row_costs_precision() -> None:
    score = best_column_multiset(column("Io", "Io"), column("Io"))
    assert (score.precision, score.recall) == (0.5, 1.0)
    assert score.f1 == pytest.approx(2 / 3)


def test_a_repeated_gold_row_must_be_found_as_often() -> None:
    score = best_column_multiset(column("Io"), column("Io", "Io"))
    assert (score.precision, score.recall) == (1.0, 0.5)


def test_more_columns_cost_nothing() -> None:
    labelled = Table.of_json(["label", "x"], [["the moon Io", "Io"], ["the moon Europa", "Europa"]])
    assert best_column_multiset(labelled, column("Io", "Europa")) == Score(1.0, 1.0, 1.0)


def test_an_unbound_row_counts_and_is_never_right() -> None:
    score = best_column_multiset(column("Io", None), column("Io", None))
    assert (score.precision, score.recall, score.f1) == (0.5, 0.5, 0.5)


@pytest.mark.parametrize("gold", [column(), column("Io"), Table.of_boolean(False)])
def test_no_rows_score_0(gold: Table) -> None:
    assert best_column_multiset(column(), gold) == Score(0.0, 0.0, 0.0)


def test_several_gold_columns_are_averaged() -> None:
    gold = Table.of_json(["moon", "planet"], [["Io", "Jupiter"], ["Phobos", "Mars"]])
    assert best_column_multiset(column("Io", "Phobos"), gold).f1 == 0.5


@given(some, some)
def test_f1_is_the_harmonic_mean_over_one_column(predicted: list[str], gold: list[str]) -> None:
    score = best_column_multiset(column(*predicted), column(*gold))
    total = score.precision + score.recall
    assert score.f1 == pytest.approx(2 * score.precision * score.recall / total if total else 0.0)


@given(st.sets(names, min_size=1), st.sets(names, min_size=1))
def test_without_repeated_rows_it_is_the_measure_over_sets(one: set[str], other: set[str]) -> None:
    predicted, gold = column(*one), column(*other)
    assert best_column_multiset(predicted, gold) == best_column(predicted, gold)
