"""Hits@1 asks for one value of gold that stands first."""

from askgraph.evaluation import Score, Table
from askgraph.evaluation.metrics.sets import hits_at_1

RIGHT, WRONG = Score(1.0, 1.0, 1.0), Score(0.0, 0.0, 0.0)


def column(*values: object) -> Table:
    return Table.of_json(["x"], [[value] for value in values])


def test_it_looks_at_the_first_value_only() -> None:
    assert hits_at_1(column("Io", "Phobos"), column("Europa", "Io")) == RIGHT
    assert hits_at_1(column("Phobos", "Io"), column("Europa", "Io")) == WRONG


def test_it_skips_unbound_cells() -> None:
    labelled = Table.of_json(["planet", "moon"], [[None, "Io"]])
    assert hits_at_1(labelled, column("Io")) == RIGHT


def test_it_is_missed_by_labels_in_front() -> None:
    labelled = Table.of_json(["label", "moon"], [["the moon Io", "ex:Io"]])
    assert hits_at_1(labelled, column("ex:Io")) == WRONG


def test_an_empty_gold_wants_an_empty_answer() -> None:
    assert hits_at_1(column(), column()) == RIGHT
    assert hits_at_1(column("Io"), column()) == WRONG


def test_a_boolean_is_right_or_wrong() -> None:
    yes, no = Table.of_boolean(True), Table.of_boolean(False)
    assert (hits_at_1(no, no), hits_at_1(no, yes)) == (RIGHT, WRONG)
