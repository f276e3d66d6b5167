"""The metrics: what each promises, and where they differ."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pyoxigraph import Literal, NamedNode
from tests.each import for_each

from askgraph.evaluation import Metric, ResultTable, Score
from askgraph.evaluation.metrics import sets
from askgraph.plugins import list_names, load
from askgraph.sparql.results import SelectResult, Term
from askgraph.sparql.vocabulary import XSD_DATE, XSD_DECIMAL, XSD_INTEGER

METRICS = [sets.best_column, sets.dfsl, sets.exact_match, sets.flattened]
SYMMETRIC = [sets.dfsl, sets.flattened]

values = st.one_of(
    st.none(),
    st.integers(-3, 3),
    st.sampled_from([0.5, 0.5000001, 1e7, 1e7 + 1, 1e7 + 0.5]),
    st.sampled_from(["Io", "Europa", "true", "1.0", "2020-01-01"]),
    st.booleans(),
)


@st.composite
def tables(draw: st.DrawFn, max_columns: int = 3) -> ResultTable:
    width = draw(st.integers(1, max_columns))
    rows = draw(st.lists(st.lists(values, min_size=width, max_size=width), max_size=6))
    return ResultTable.from_json([f"v{at}" for at in range(width)], rows)


@st.composite
def shuffled(draw: st.DrawFn, table: ResultTable) -> ResultTable:
    columns = draw(st.permutations(range(len(table.variables))))
    rows = draw(st.permutations(table.rows))
    return ResultTable(
        tuple(f"w{at}" for at in columns), tuple(tuple(row[at] for at in columns) for row in rows)
    )


def table(*rows: list[object]) -> ResultTable:
    width = len(rows[0]) if rows else 1
    return ResultTable.from_json([f"v{at}" for at in range(width)], rows)


every_metric = pytest.mark.parametrize("metric", METRICS)


def test_what_the_metrics_tell_apart() -> None:
    # Each metric is found by name.
    assert set(list_names("metric")) >= {"best_column", "exact_match", "flattened"}
    assert load("metric", "best-column") is sets.best_column
    # A column of labels costs only the flattened score.
    gold = table(["ex:Io"], ["ex:Europa"])
    predicted = table(["ex:Io", "Io"], ["ex:Europa", "Europa"])
    assert sets.best_column(predicted, gold).f1 == sets.exact_match(predicted, gold).f1 == 1
    assert sets.flattened(predicted, gold).precision == 0.5
    # Values in the wrong rows fail only the exact match.
    gold = table(["Io", 1], ["Europa", 2])
    predicted = table(["Io", 2], ["Europa", 1])
    assert sets.best_column(predicted, gold).f1 == sets.flattened(predicted, gold).f1 == 1
    assert sets.exact_match(predicted, gold).f1 == 0
    # Several gold columns are averaged.
    gold = table(["Io", 1], ["Europa", 2])
    assert sets.best_column(table(["Io"], ["Europa"]), gold).f1 == 0.5
    # Precision and recall of the best column.
    score = sets.best_column(
        table(["Io", "x"], ["Europa", "y"], ["Mars", "z"], ["Venus", "z"]),
        table(["Io"], ["Europa"], ["Callisto"]),
    )
    assert score.precision == 0.5 and score.recall == pytest.approx(2 / 3)
    assert score.f1 == pytest.approx(4 / 7)
    # Columns with equal values are told apart by their rows.
    gold = table(["a", "b"], ["b", "a"], ["a", "a"], ["c", "c"])
    predicted = table(["b", "a"], ["a", "b"], ["a", "a"], ["c", "c"])
    assert sets.exact_match(predicted, gold).f1 == 1
    assert sets.exact_match(table(["a", "a"], ["b", "b"], ["c", "c"]), gold).f1 == 0


@every_metric
@given(tables())
def test_gold_itself_scores_1(metric: Metric, gold: ResultTable) -> None:
    assert metric(gold, gold).f1 == 1


@every_metric
@given(st.data(), tables(), tables())
def test_order_of_rows_and_columns_and_names_do_not_count(
    metric: Metric, data: st.DataObject, predicted: ResultTable, gold: ResultTable
) -> None:
    other = metric(data.draw(shuffled(predicted)), data.draw(shuffled(gold)))
    assert other.f1 == pytest.approx(metric(predicted, gold).f1)


@every_metric
@given(tables(), tables())
def test_repeats_do_not_count(metric: Metric, predicted: ResultTable, gold: ResultTable) -> None:
    doubled = ResultTable(predicted.variables, predicted.rows * 2)
    assert metric(doubled, gold) == metric(predicted, gold)


@pytest.mark.parametrize("metric", SYMMETRIC)
@given(tables(), tables())
def test_f1_is_symmetric(metric: Metric, one: ResultTable, other: ResultTable) -> None:
    assert metric(one, other).f1 == metric(other, one).f1


@every_metric
@given(tables(max_columns=1), tables(max_columns=1))
def test_f1_is_symmetric_over_one_column(
    metric: Metric, one: ResultTable, other: ResultTable
) -> None:
    assert metric(one, other).f1 == metric(other, one).f1


@given(tables(), tables())
def test_an_exact_match_is_a_best_column_match(predicted: ResultTable, gold: ResultTable) -> None:
    if sets.exact_match(predicted, gold).f1:
        assert sets.best_column(predicted, gold).f1 == 1


@given(tables(), tables(), values)
def test_a_column_more_never_costs_the_best_column(
    predicted: ResultTable, gold: ResultTable, value: object
) -> None:
    (extra,) = table([value]).rows[0]
    wider = ResultTable(
        (*predicted.variables, "extra"), tuple((*row, extra) for row in predicted.rows)
    )
    if extra is None or extra[0] == "text":  # a number may join two classes of equal numbers
        assert sets.best_column(wider, gold).f1 >= sets.best_column(predicted, gold).f1


@every_metric
def test_both_empty_is_1_and_one_empty_is_0(metric: Metric) -> None:
    assert metric(table(), table()).f1 == 1 and metric(table(["Io"]), table()).f1 == 0
    assert metric(table(), table(["Io"])).f1 == 0


@every_metric
def test_a_boolean_is_right_or_wrong(metric: Metric) -> None:
    assert metric(ResultTable.from_boolean(False), ResultTable.from_boolean(False)).f1 == 1
    assert metric(ResultTable.from_boolean(True), ResultTable.from_boolean(False)).f1 == 0


RIGHT, WRONG = Score(1.0, 1.0, 1.0), Score(0.0, 0.0, 0.0)


def column(*values: object) -> ResultTable:
    return ResultTable.from_json(["x"], [[value] for value in values])


names_best_column_multiset = st.sampled_from(["Io", "Europa", "Ganymede", "Callisto"])
some = st.lists(names_best_column_multiset, min_size=1, max_size=8)


def test_rows_that_repeat() -> None:
    # A repeated row costs precision.
    score = sets.best_column_multiset(column("Io", "Io"), column("Io"))
    assert (score.precision, score.recall) == (0.5, 1.0) and score.f1 == pytest.approx(2 / 3)
    # A repeated gold row must be found as often.
    score = sets.best_column_multiset(column("Io"), column("Io", "Io"))
    assert (score.precision, score.recall) == (1.0, 0.5)
    assert sets.best_column_multiset(column("Io", "Io"), column("Io", "Io")).f1 == 1.0
    # More columns cost nothing.
    labelled = ResultTable.from_json(
        ["label", "x"], [["the moon Io", "Io"], ["the moon Europa", "Europa"]]
    )
    assert sets.best_column_multiset(labelled, column("Io", "Europa")) == Score(1.0, 1.0, 1.0)
    # An unbound row counts and is never right.
    score = sets.best_column_multiset(column("Io", None), column("Io", None))
    assert (score.precision, score.recall, score.f1) == (0.5, 0.5, 0.5)
    # Several gold columns are averaged.
    gold = ResultTable.from_json(["moon", "planet"], [["Io", "Jupiter"], ["Phobos", "Mars"]])
    assert sets.best_column_multiset(column("Io", "Phobos"), gold).f1 == 0.5


@for_each("gold", [column(), column("Io"), ResultTable.from_boolean(False)])
def test_no_rows_score_0(gold: ResultTable) -> None:
    assert sets.best_column_multiset(column(), gold) == Score(0.0, 0.0, 0.0)


@given(some, some)
def test_f1_is_the_harmonic_mean_over_one_column(predicted: list[str], gold: list[str]) -> None:
    score = sets.best_column_multiset(column(*predicted), column(*gold))
    total = score.precision + score.recall
    assert score.f1 == pytest.approx(2 * score.precision * score.recall / total if total else 0.0)


@given(
    st.sets(names_best_column_multiset, min_size=1), st.sets(names_best_column_multiset, min_size=1)
)
def test_without_repeated_rows_it_is_the_measure_over_sets(one: set[str], other: set[str]) -> None:
    predicted, gold = column(*one), column(*other)
    assert sets.best_column_multiset(predicted, gold) == sets.best_column(predicted, gold)


YES, NO = ResultTable.from_boolean(True), ResultTable.from_boolean(False)
EMPTY = ResultTable(("x",), ())


def row(*cells: Term | None) -> ResultTable:
    return ResultTable.from_result(SelectResult(tuple("xyz"[: len(cells)]), (cells,)))


def terms(*values: Term) -> ResultTable:
    return ResultTable.from_result(SelectResult(("x",), tuple((value,) for value in values)))


def number(text: str, datatype: str = XSD_INTEGER) -> Literal:
    return Literal(text, datatype=NamedNode(datatype))


MARS = NamedNode("https://example.org/space/Mars")
STORED = ResultTable.from_json(["x"], [["https://example.org/space/Mars"], ["1969-07-20"], ["8"]])
DAY = Literal("1969-07-20", datatype=NamedNode(XSD_DATE))


@for_each(
    ("metric", "predicted", "gold", "score"),
    # Accuracy at 1 wants all of gold and forgives what is too much.
    (sets.accuracy_at_1, column("Io", "Europa"), column("Io"), RIGHT),
    (sets.accuracy_at_1, column("Io"), column("Io", "Europa"), WRONG),
    (sets.accuracy_at_1, column(), column(), RIGHT),
    (sets.accuracy_at_1, column("Io"), column(), WRONG),
    (sets.accuracy_at_1, NO, NO, RIGHT),
    (sets.accuracy_at_1, NO, YES, WRONG),
    # Hits at 1 looks at the first value only.
    (sets.hits_at_1, column("Io", "Phobos"), column("Europa", "Io"), RIGHT),
    (sets.hits_at_1, column("Phobos", "Io"), column("Europa", "Io"), WRONG),
    # It skips unbound cells, and is missed by labels in front.
    (sets.hits_at_1, ResultTable.from_json(["a", "b"], [[None, "Io"]]), column("Io"), RIGHT),
    (sets.hits_at_1, ResultTable.from_json(["a", "b"], [["Io!", "Io"]]), column("Io"), WRONG),
    (sets.hits_at_1, column(), column(), RIGHT),
    (sets.hits_at_1, column("Io"), column(), WRONG),
    (sets.hits_at_1, column(), column("Io"), WRONG),
    (sets.hits_at_1, NO, NO, RIGHT),
    (sets.hits_at_1, NO, YES, WRONG),
    # By TEXT2SPARQL, a right no scores 0, a wrong no 1, and a right empty result 0.
    (sets.text2sparql, NO, NO, WRONG),
    (sets.text2sparql, NO, YES, RIGHT),
    (sets.text2sparql, YES, NO, WRONG),
    (sets.text2sparql, YES, YES, RIGHT),
    (sets.text2sparql, EMPTY, EMPTY, WRONG),
    (sets.text2sparql, terms(Literal("true")), YES, RIGHT),
    # Values are compared by their characters.
    (sets.text2sparql, terms(number("8.0", XSD_DECIMAL)), terms(number("8")), WRONG),
    (sets.text2sparql, terms(Literal("8")), terms(number("8")), RIGHT),
    (sets.text2sparql, terms(Literal("Mars", language="de")), terms(Literal("Mars")), RIGHT),
    # All columns count and unbound cells do not.
    (sets.text2sparql, row(MARS, Literal("Mars"), None), row(MARS), Score(0.5, 1.0, 2 / 3)),
    # Stored answers without terms are compared by value.
    (sets.text2sparql, terms(MARS, DAY, number("8.0", XSD_DECIMAL)), STORED, RIGHT),
)
def test_what_the_metrics_of_challenges_count_as_right(
    metric: Metric, predicted: ResultTable, gold: ResultTable, score: Score
) -> None:
    assert metric(predicted, gold) == score
