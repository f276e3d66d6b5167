"""The row metric: what it promises, against its definition by trial of everything."""

from collections.abc import Iterator
from itertools import permutations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pyoxigraph import Literal, NamedNode

from askgraph.evaluation import Metric, Score, Table
from askgraph.evaluation.metrics.assignment import row_assignment
from askgraph.evaluation.metrics.rows import rows
from askgraph.evaluation.metrics.sets import exact_match
from askgraph.sparql import vocabulary as voc
from askgraph.sparql.results import Row as TermRow
from askgraph.sparql.results import SelectResult

Row = tuple[object, ...]

values = st.one_of(
    st.none(), st.integers(-2, 2), st.sampled_from([0.5, 0.5000001, "Io", "Europa", "2020-01-01"])
)


@st.composite
def tables(draw: st.DrawFn, *, widths: tuple[int, int] = (1, 3), most: int = 4) -> Table:
    width = draw(st.integers(*widths))
    cells = st.lists(values, min_size=width, max_size=width)
    return Table.of_json([f"v{at}" for at in range(width)], draw(st.lists(cells, max_size=most)))


moons = st.tuples(st.sampled_from(["Io", "Europa", "Mars", "Deimos"]), st.integers(1, 3))
some_moons = st.lists(moons, max_size=6)


def table(*found: Row) -> Table:
    width = len(found[0]) if found else 1
    return Table.of_json([f"v{at}" for at in range(width)], found)


def solutions(*found: TermRow) -> Table:
    return Table.of_result(SelectResult(tuple(f"v{at}" for at in range(len(found[0]))), found))


def charged(predicted: Table, gold: Table) -> Score:
    return rows(predicted, gold, extra_columns="charged")


def chosen(width: int, columns: int) -> Iterator[tuple[int | None, ...]]:
    """Every way to give each of so many gold columns a predicted column of its own, or none."""
    nothing = [None] * max(0, columns - width)
    yield from set(permutations([*range(width), *nothing], columns))


def f1_by_trial(predicted: Table, gold: Table, *, charge: bool) -> float:
    """The definition: all mappings of columns, all assignments of rows."""
    width = len(gold.variables)
    have, wanted = list(dict.fromkeys(predicted.rows)), list(dict.fromkeys(gold.rows))
    if not have or not wanted:
        return float(have == wanted)
    best = 0.0
    for mapping in chosen(len(predicted.variables), width):
        mapped = [tuple(None if at is None else (row[at],) for at in mapping) for row in have]
        if not charge and len(predicted.variables) > width:
            mapped = list(dict.fromkeys(mapped))
        similar = [
            [sum(c == (d,) for c, d in zip(p, g, strict=True)) for g in wanted] for p in mapped
        ]
        side = similar if len(mapped) <= len(wanted) else list(zip(*similar, strict=True))
        equal = max(
            sum(line[to] for line, to in zip(side, order, strict=True))
            for order in permutations(range(len(side[0])), len(side))
        )
        cells = len(mapped) * (len(predicted.variables) if charge else width)
        best = max(best, 2 * equal / (cells + len(wanted) * width))
    return best


@settings(deadline=None)
@given(tables(), tables(), st.booleans())
def test_it_is_the_best_of_all_mappings_and_assignments(
    predicted: Table, gold: Table, charge: bool
) -> None:
    numbers = {cell for cell in predicted.values() | gold.values() if cell[1] in (0.5, 0.5000001)}
    if len(numbers) < 2:  # those two count as equal, which trial does not know
        score = rows(predicted, gold, extra_columns="charged" if charge else "free")
        assert score.f1 == pytest.approx(f1_by_trial(predicted, gold, charge=charge))


@pytest.mark.parametrize("metric", [rows, charged])
@settings(deadline=None)
@given(tables(), tables())
def test_parts_lie_between_0_and_1_and_f1_is_their_harmonic_mean(
    metric: Metric, predicted: Table, gold: Table
) -> None:
    score = metric(predicted, gold)
    total = score.precision + score.recall
    assert all(0 <= part <= 1 for part in (score.precision, score.recall, score.f1))
    harmonic = 2 * score.precision * score.recall / total if total else 0
    assert score.f1 == pytest.approx(harmonic)


@settings(deadline=None)
@given(tables(widths=(1, 4), most=8))
def test_gold_itself_scores_1(gold: Table) -> None:
    assert rows(gold, gold) == charged(gold, gold) == Score(1, 1, 1)


@settings(deadline=None)
@given(st.data(), tables(), tables())
def test_order_and_names_do_not_count(data: st.DataObject, predicted: Table, gold: Table) -> None:
    def shuffled(given: Table) -> Table:
        columns = data.draw(st.permutations(range(len(given.variables))))
        lines = data.draw(st.permutations(given.rows))
        return Table(
            tuple(f"w{at}" for at in columns),
            tuple(tuple(row[at] for at in columns) for row in lines),
        )

    assert rows(shuffled(predicted), shuffled(gold)) == rows(predicted, gold)


@settings(deadline=None)
@given(tables(), tables())
def test_duplicates_do_not_count(predicted: Table, gold: Table) -> None:
    doubled = Table(predicted.variables, predicted.rows * 2)
    assert rows(doubled, gold) == rows(predicted, gold)


@settings(deadline=None)
@given(tables(), tables())
def test_the_sides_are_alike_where_columns_are_charged_or_as_many(one: Table, other: Table) -> None:
    metrics = [charged, rows] if len(one.variables) == len(other.variables) else [charged]
    for metric in metrics:
        forth, back = metric(one, other), metric(other, one)
        assert (forth.f1, forth.precision, forth.recall) == (back.f1, back.recall, back.precision)


@settings(deadline=None)
@given(tables(), tables())
def test_full_marks_are_an_exact_match(predicted: Table, gold: Table) -> None:
    assert (rows(predicted, gold).f1 == 1) == (exact_match(predicted, gold).f1 == 1)


@settings(deadline=None)
@given(st.data(), tables(widths=(2, 3)), tables(widths=(1, 2)))
def test_an_extra_column_is_free_by_default(
    data: st.DataObject, predicted: Table, gold: Table
) -> None:
    extra = [
        data.draw(st.sampled_from([("text", "x"), ("text", "Io"), None])) for _ in predicted.rows
    ]
    wider = Table(
        (*predicted.variables, "extra"),
        tuple((*row, cell) for row, cell in zip(predicted.rows, extra, strict=True)),
    )
    assert rows(wider, gold).f1 >= rows(predicted, gold).f1


@settings(deadline=None)
@given(some_moons, some_moons, st.data())
def test_a_right_row_never_costs(
    predicted: list[Row], gold: list[Row], data: st.DataObject
) -> None:
    if gold:
        right = data.draw(st.sampled_from(gold))
        more = rows(table(*predicted, right), table(*gold)).f1
        assert more >= rows(table(*predicted), table(*gold)).f1


@settings(deadline=None)
@given(some_moons, st.lists(moons, min_size=1, max_size=6), st.data())
def test_a_wrong_row_never_brings(
    predicted: list[Row], gold: list[Row], data: st.DataObject
) -> None:
    right = data.draw(st.sampled_from(gold))
    with_wrong = rows(table(*predicted, ("Ceres", 9)), table(*gold)).f1
    assert rows(table(*predicted), table(*gold)).f1 >= with_wrong
    assert rows(table(*predicted, right), table(*gold)).f1 >= with_wrong


def test_beside_the_right_row_one_that_is_almost_right_is_superfluous() -> None:
    gold = table(("Io", "Jupiter", 1610, "Galilei"))
    almost = ("Io", "Jupiter", 1610, "Marius")
    assert rows(table(almost), gold).f1 == 0.75
    assert rows(table(almost, ("Io", "Jupiter", 1610, "Galilei")), gold).f1 == pytest.approx(2 / 3)


def test_a_half_right_row_is_half_of_precision_and_of_recall() -> None:
    score = rows(table(("Io", "x"), ("Europa", "y")), table(("Io", 1), ("Europa", 2)))
    assert score == Score(0.5, 0.5, 0.5)


def test_values_in_the_wrong_rows_are_half_wrong() -> None:
    assert rows(table(("Io", 2), ("Europa", 1)), table(("Io", 1), ("Europa", 2))).f1 == 0.5


def test_charged_columns_cost_precision_only() -> None:
    score = charged(table(("Io", "label"), ("Europa", "label")), table(("Io",), ("Europa",)))
    assert (score.precision, score.recall) == (0.5, 1)
    assert score.f1 == pytest.approx(2 / 3)


def test_rows_that_differ_only_in_an_extra_column_are_one_row() -> None:
    assert rows(table(("Io", "Io"), ("Io", "Jo")), table(("Io",))).precision == 1


def test_a_missing_column_costs_its_share() -> None:
    score = rows(table(("Io",), ("Europa",)), table(("Io", 1), ("Europa", 2)))
    assert score == Score(0.5, 0.5, 0.5)


def test_values_in_another_column_are_wrong_if_columns_do_not_agree() -> None:
    gold = table(("Io", "Jupiter"), ("Phobos", "Mars"))
    mixed = table(("Io", "Jupiter"), ("Mars", "Phobos"))
    assert rows(mixed, gold).f1 == 0.5
    assert row_assignment(mixed, gold).f1 == 1


def test_values_are_equal_whatever_their_datatype() -> None:
    one, other = (NamedNode(voc.XSD + name) for name in ("int", "double"))
    predicted = solutions((Literal("1", datatype=one),), (Literal("0.33333333"),))
    gold = solutions((Literal("1.0", datatype=other),), (Literal("0.33333334"),))
    assert rows(predicted, gold).f1 == 1
    assert row_assignment(predicted, gold).f1 == 0


def test_language_tags_count_only_where_they_are_kept() -> None:
    predicted, gold = (solutions((Literal("Mond", language=tag),)) for tag in ("de", "en"))
    assert rows(predicted, gold).f1 == 1
    assert rows(predicted, gold, languages="kept").f1 == 0
    assert rows(gold, gold, languages="kept").f1 == 1
    assert rows(predicted, table(("Mond",)), languages="kept").f1 == 1


def test_unbound_agrees_with_unbound_and_nothing_else() -> None:
    gold = table(("Io", None), ("Europa", 1))
    assert rows(gold, gold).f1 == 1
    assert rows(table(("Io", 1), ("Europa", 1)), gold).f1 == 0.75


def test_an_ask_result_is_right_or_wrong() -> None:
    yes, no = Table.of_boolean(True), Table.of_boolean(False)
    assert rows(yes, yes).f1 == rows(table((True,)), yes).f1 == 1
    assert rows(no, yes).f1 == rows(table(("Io",)), yes).f1 == rows(table(), no).f1 == 0
    assert rows(table((True,), (False,)), yes).f1 == 0


def test_both_empty_is_1_and_one_empty_is_0() -> None:
    assert rows(table(), table()).f1 == 1
    assert rows(table(("Io",)), table()).f1 == rows(table(), table(("Io",))).f1 == 0


def test_a_query_without_variables_asks_whether_there_is_a_row() -> None:
    nothing = Table((), ((),))
    assert rows(nothing, nothing).f1 == rows(table(("Io",)), nothing).f1 == 1
    assert rows(nothing, table(("Io",))).f1 == charged(table(("Io",)), nothing).f1 == 0


@pytest.mark.parametrize("width", [3, 5, 8])
def test_columns_of_the_same_values_are_told_apart_by_their_rows(width: int) -> None:
    square = [tuple((line + column) % width for column in range(width)) for line in range(width)]
    for shift in range(width):
        order = sorted(range(width), key=lambda at: (at * (shift + 2) + shift) % (2 * width + 1))
        turned = [tuple(row[at] for at in order) for row in square]
        assert rows(table(*turned), table(*square)).f1 == 1


@pytest.mark.parametrize("size", [199, 200, 201, 1024, 1025])
def test_no_rule_changes_with_size(size: int) -> None:
    gold = [(f"moon {at}", f"planet {at}") for at in range(size)]
    labelled = [(planet, moon, f"label {moon}") for moon, planet in gold]
    half = [(moon, f"not {planet}") for moon, planet in gold]
    assert rows(table(*labelled), table(*gold)).f1 == 1
    assert rows(table(*half), table(*gold)).f1 == 0.5
    assert rows(table(*half[1:], gold[0]), table(*gold)).f1 == pytest.approx(0.5 + 0.5 / size)
