"""Acc@1 asks for all of gold, and forgives what is too much."""

from askgraph.evaluation import Score, Table
from askgraph.evaluation.metrics.sets import accuracy_at_1

RIGHT, WRONG = Score(1.0, 1.0, 1.0), Score(0.0, 0.0, 0.0)


def column(*values: object) -> Table:
    return Table.of_json(["x"], [[value] for value in values])


def test_it_wants_all_of_gold_and_forgives_what_is_too_much() -> None:
    assert accuracy_at_1(column("Io", "Europa"), column("Io")) == RIGHT
    assert accuracy_at_1(column("Io"), column("Io", "Europa")) == WRONG


def test_an_empty_gold_wants_an_empty_answer() -> None:
    assert accuracy_at_1(column(), column()) == RIGHT
    assert accuracy_at_1(column("Io"), column()) == WRONG


def test_a_boolean_is_right_or_wrong() -> None:
    yes, no = Table.of_boolean(True), Table.of_boolean(False)
    assert (accuracy_at_1(no, no), accuracy_at_1(no, yes)) == (RIGHT, WRONG)
