"""The quirks of the official TEXT2SPARQL measure, one by one."""

from pyoxigraph import Literal, NamedNode

from askgraph.evaluation import Score, Table
from askgraph.evaluation.metrics.sets import text2sparql
from askgraph.sparql.results import SelectResult, Term
from askgraph.sparql.vocabulary import XSD_DATE, XSD_DECIMAL, XSD_INTEGER

YES, NO = Table.of_boolean(True), Table.of_boolean(False)
EMPTY = Table(("x",), ())
RIGHT, WRONG = Score(1.0, 1.0, 1.0), Score(0.0, 0.0, 0.0)


def table(*rows: tuple[Term | None, ...]) -> Table:
    return Table.of_result(SelectResult(tuple("xyz"[: len(rows[0])]), rows))


def number(text: str, datatype: str = XSD_INTEGER) -> Literal:
    return Literal(text, datatype=NamedNode(datatype))


def test_a_right_no_scores_0_and_a_wrong_no_scores_1() -> None:
    assert text2sparql(NO, NO) == WRONG
    assert text2sparql(NO, YES) == RIGHT
    assert text2sparql(YES, NO) == WRONG


def test_a_right_yes_scores_1() -> None:
    assert text2sparql(YES, YES) == RIGHT


def test_a_right_empty_result_scores_0() -> None:
    assert text2sparql(EMPTY, EMPTY) == WRONG


def test_a_row_that_says_true_agrees_with_yes() -> None:
    assert text2sparql(table((Literal("true"),)), YES) == RIGHT


def test_values_are_compared_by_their_characters() -> None:
    assert text2sparql(table((number("8.0", XSD_DECIMAL),)), table((number("8"),))) == WRONG
    assert text2sparql(table((Literal("8"),)), table((number("8"),))) == RIGHT
    assert text2sparql(table((Literal("Mars", language="de"),)), table((Literal("Mars"),))) == RIGHT


def test_all_columns_count_and_unbound_cells_do_not() -> None:
    mars = NamedNode("https://example.org/space/Mars")
    score = text2sparql(table((mars, Literal("Mars"), None)), table((mars,)))
    assert (score.precision, score.recall, score.f1) == (0.5, 1.0, 2 / 3)


def test_stored_answers_without_terms_are_compared_by_value() -> None:
    stored = Table.of_json(["x"], [["https://example.org/space/Mars"], ["1969-07-20"], ["8"]])
    day = Literal("1969-07-20", datatype=NamedNode(XSD_DATE))
    mars, eight = NamedNode("https://example.org/space/Mars"), number("8.0", XSD_DECIMAL)
    assert text2sparql(table((mars,), (day,), (eight,)), stored) == RIGHT
