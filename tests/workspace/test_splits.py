"""Training and test parts on the disk."""

from pathlib import Path

import pytest

from askgraph.errors import SetupError
from askgraph.evaluation.benchmarks import Contents
from askgraph.evaluation.benchmarks.formats import read_questions
from askgraph.evaluation.questions import GoldQuestion
from askgraph.workspace.selection import Division, write_splits

CARS = GoldQuestion(
    "1", "How many cars are red?", sparql="ASK { ex:a ex:b ex:c }", graph="cars.ttl"
)
DOGS = GoldQuestion("2", "Which dogs are old?", unanswerable=True, graph="dogs.ttl")


def test_each_graph_is_left_out_once(tmp_path: Path) -> None:
    contents = Contents((CARS, DOGS), prefixes={"ex": "http://example.org/"})

    entries = write_splits(
        {tmp_path / "all.jsonl": contents}, Division(leave_out="graph"), tmp_path / "parts"
    )

    assert entries == (
        {"name": "cars", "train": 1, "test": 1, "repeated": 0},
        {"name": "dogs", "train": 1, "test": 1, "repeated": 0},
    )
    (cars,) = read_questions(tmp_path / "parts" / "cars-test.jsonl")
    assert cars.sparql == "PREFIX ex: <http://example.org/>\nASK { ex:a ex:b ex:c }"
    assert read_questions(tmp_path / "parts" / "cars-train.jsonl") == (DOGS,)


def test_ids_that_two_benchmarks_share_get_their_names(tmp_path: Path) -> None:
    both = {
        tmp_path / "one" / "questions.jsonl": Contents((CARS,)),
        tmp_path / "other.jsonl": Contents((GoldQuestion("1", "how many cars are red"),)),
    }

    entries = write_splits(both, Division(leave_out="dataset"), tmp_path / "parts")

    assert [(entry["name"], entry["repeated"]) for entry in entries] == [("one", 1), ("other", 1)]
    (tested,) = read_questions(tmp_path / "parts" / "one-test.jsonl")
    assert tested.id == "one/1"


@pytest.mark.parametrize("division", [Division(), Division(folds=2, leave_out="graph")])
def test_one_way_to_divide_has_to_be_named(division: Division, tmp_path: Path) -> None:
    with pytest.raises(SetupError, match="either into how many folds, or to leave out"):
        write_splits({tmp_path / "a.jsonl": Contents((CARS, DOGS))}, division, tmp_path / "parts")
    assert list(tmp_path.iterdir()) == []
