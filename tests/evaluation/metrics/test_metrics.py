"""What the metrics over sets promise, and where they differ."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from askgraph.evaluation import Metric, Table
from askgraph.evaluation.metrics.assignment import column_mapping
from askgraph.evaluation.metrics.sets import best_column, dfsl, exact_match, flattened
from askgraph.plugins import load, names

METRICS = [best_column, column_mapping, dfsl, exact_match, flattened]
SYMMETRIC = [dfsl, flattened]

values = st.one_of(
    st.none(),
    st.integers(-3, 3),
    st.sampled_from([0.5, 0.5000001, 1e7, 1e7 + 1, 1e7 + 0.5]),
    st.sampled_from(["Io", "Europa", "true", "1.0", "2020-01-01"]),
    st.booleans(),
)


@st.composite
def tables(draw: st.DrawFn, max_columns: int = 3) -> Table:
    width = draw(st.integers(1, max_columns))
    rows = draw(st.lists(st.lists(values, min_size=width, max_size=width), max_size=6))
    return Table.of_json([f"v{at}" for at in range(width)], rows)


@st.composite
def shuffled(draw: st.DrawFn, table: Table) -> Table:
    columns = draw(st.permutations(range(len(table.variables))))
    rows = draw(st.permutations(table.rows))
    return Table(
        tuple(f"w{at}" for at in columns),
        tuple(tuple(row[at] for at in columns) for row in rows),
    )


def table(*rows: list[object]) -> Table:
    width = len(rows[0]) if rows else 1
    return Table.of_json([f"v{at}" for at in range(width)], rows)


every_metric = pytest.mark.parametrize("metric", METRICS)


def test_each_metric_is_found_by_name() -> None:
    assert set(names("metric")) >= {"best_column", "exact_match", "flattened"}
    assert load("metric", "best-column") is best_column


@every_metric
@given(tables(), tables())
def test_scores_lie_between_0_and_1(metric: Metric, predicted: Table, gold: Table) -> None:
    score = metric(predicted, gold)
    assert all(0 <= part <= 1 for part in (score.precision, score.recall, score.f1))


@every_metric
@given(tables())
def test_gold_itself_scores_1(metric: Metric, gold: Table) -> None:
    assert metric(gold, gold).f1 == 1


@every_metric
@given(st.data(), tables(), tables())
def test_order_of_rows_and_columns_and_names_do_not_count(
    metric: Metric, data: st.DataObject, predicted: Table, gold: Table
) -> None:
    other = metric(data.draw(shuffled(predicted)), data.draw(shuffled(gold)))
    assert other.f1 == pytest.approx(metric(predicted, gold).f1)


@every_metric
@given(tables(), tables())
def test_duplicate_rows_do_not_count(metric: Metric, predicted: Table, gold: Table) -> None:
    doubled = Table(predicted.variables, predicted.rows * 2)
    assert metric(doubled, gold) == metric(predicted, gold)


@pytest.mark.parametrize("metric", SYMMETRIC)
@given(tables(), tables())
def test_f1_is_symmetric(metric: Metric, one: Table, other: Table) -> None:
    assert metric(one, other).f1 == metric(other, one).f1


@every_metric
@given(tables(max_columns=1), tables(max_columns=1))
def test_f1_is_symmetric_over_one_column(metric: Metric, one: Table, other: Table) -> None:
    assert metric(one, other).f1 == metric(other, one).f1


@given(tables(), tables())
def test_an_exact_match_has_full_marks_on_the_best_column(predicted: Table, gold: Table) -> None:
    if exact_match(predicted, gold).f1:
        assert best_column(predicted, gold).f1 == 1


@given(tables(), tables(), values)
def test_a_column_more_never_costs_the_best_column(
    predicted: Table, gold: Table, value: object
) -> None:
    (extra,) = table([value]).rows[0]
    wider = Table((*predicted.variables, "extra"), tuple((*row, extra) for row in predicted.rows))
    if extra is None or extra[0] == "text":  # a number may join two classes of equal numbers
        assert best_column(wider, gold).f1 >= best_column(predicted, gold).f1


@every_metric
def test_both_empty_is_1_and_one_empty_is_0(metric: Metric) -> None:
    assert metric(table(), table()).f1 == 1
    assert metric(table(["Io"]), table()).f1 == 0
    assert metric(table(), table(["Io"])).f1 == 0


@every_metric
def test_a_boolean_is_right_or_wrong(metric: Metric) -> None:
    assert metric(Table.of_boolean(False), Table.of_boolean(False)).f1 == 1
    assert metric(Table.of_boolean(True), Table.of_boolean(False)).f1 == 0


def test_a_column_of_labels_costs_only_the_flattened_score() -> None:
    gold = table(["ex:Io"], ["ex:Europa"])
    predicted = table(["ex:Io", "Io"], ["ex:Europa", "Europa"])
    assert best_column(predicted, gold).f1 == exact_match(predicted, gold).f1 == 1
    assert flattened(predicted, gold).precision == 0.5


def test_values_in_the_wrong_rows_fail_only_the_exact_match() -> None:
    gold = table(["Io", 1], ["Europa", 2])
    predicted = table(["Io", 2], ["Europa", 1])
    assert best_column(predicted, gold).f1 == flattened(predicted, gold).f1 == 1
    assert exact_match(predicted, gold).f1 == 0


def test_several_gold_columns_are_averaged() -> None:
    gold = table(["Io", 1], ["Europa", 2])
    assert best_column(table(["Io"], ["Europa"]), gold).f1 == 0.5


def test_precision_and_recall_of_the_best_column() -> None:
    score = best_column(
        table(["Io", "x"], ["Europa", "y"], ["Mars", "z"], ["Venus", "z"]),
        table(["Io"], ["Europa"], ["Callisto"]),
    )
    assert score.precision == 0.5
    assert score.recall == pytest.approx(2 / 3)
    assert score.f1 == pytest.approx(4 / 7)


def test_columns_with_equal_values_are_told_apart_by_their_rows() -> None:
    gold = table(["a", "b"], ["b", "a"], ["a", "a"], ["c", "c"])
    predicted = table(["b", "a"], ["a", "b"], ["a", "a"], ["c", "c"])
    assert exact_match(predicted, gold).f1 == 1
    wrong = table(["a", "a"], ["b", "b"], ["c", "c"])
    assert exact_match(wrong, gold).f1 == 0
