"""Which questions are asked: chosen, split by graph, left out."""

from pathlib import Path

import pytest
from tests.each import for_each
from tests.graphs import MOONS

from askgraph.errors import SetupError
from askgraph.evaluation import ResultTable
from askgraph.evaluation.benchmarks import BenchmarkContents
from askgraph.evaluation.benchmarks.formats import read_questions
from askgraph.evaluation.questions import GoldQuestion, write_questions
from askgraph.workspace import Workspace
from askgraph.workspace.selection import (
    Selection,
    SplitOptions,
    resolve_graph,
    select_benchmarks,
    write_splits,
)


@pytest.fixture
def benchmark(tmp_path: Path) -> Path:
    (tmp_path / "data" / "kg").mkdir(parents=True)
    (tmp_path / "data" / "beside.ttl").write_text(MOONS)
    (tmp_path / "data" / "kg" / "within.ttl").write_text(MOONS)
    return tmp_path / "data" / "questions.jsonl"


def about(graph: str | None) -> GoldQuestion:
    return GoldQuestion("q", "?", graph=graph)


@for_each(
    ("graph", "named", "found"),
    (None, None, "moons"),
    ("cars.ttl", "moons", "moons"),
    ("moons", None, "moons"),
    ("moons.ttl", None, "moons"),
    ("https://example.org/sparql", None, "https://example.org/sparql"),
    ("beside.ttl", None, "beside.ttl"),
    ("within.ttl", None, "kg/within.ttl"),
    ("within", None, "kg/within.ttl"),
)
def test_a_graph_is_found(
    graph: str | None, named: str | None, found: str, workspace: Workspace, benchmark: Path
) -> None:
    source = resolve_graph(workspace, about(graph), benchmark, named)
    assert source == (benchmark.parent / found if found.endswith(".ttl") else found)


def test_what_is_nowhere_is_said_with_where_it_was_looked_for(
    workspace: Workspace, benchmark: Path
) -> None:
    with pytest.raises(
        SetupError, match=r"no graph 'cars\.ttl' for question 'q'.*askgraph add cars"
    ):
        resolve_graph(workspace, about("cars.ttl"), benchmark)


def test_of_several_graphs_one_has_to_be_named(
    workspace: Workspace, benchmark: Path, tmp_path: Path
) -> None:
    workspace.add("again", [tmp_path / "moons.ttl"])
    with pytest.raises(SetupError, match=r"which graph it is about: .*available: moons, again"):
        resolve_graph(workspace, about(None), benchmark)


def test_questions_without_rows_are_left_out_before_a_sample(
    workspace: Workspace, tmp_path: Path
) -> None:
    full, empty = ResultTable.from_json(["x"], [["Io"]]), ResultTable.from_json(["x"], [])
    questions = [
        GoldQuestion(f"q{n}", f"Moon {n}?", answers=full if n % 4 == 0 else empty)
        for n in range(40)
    ]
    path = tmp_path / "questions.jsonl"
    write_questions(path, questions)

    (asked,) = select_benchmarks(workspace, [str(path)], Selection(sample=10, with_rows=True))
    (some,) = select_benchmarks(workspace, [str(path)], Selection(sample=10))

    assert [one.id for one in asked.questions] == [f"q{n}" for n in range(0, 40, 4)]
    assert any(one.answers == empty for one in some.questions)


def test_with_rows_needs_known_answers(workspace: Workspace, tmp_path: Path) -> None:
    path = tmp_path / "questions.jsonl"
    write_questions(path, [GoldQuestion("q", "Moons?", sparql="SELECT * {}")])
    with pytest.raises(
        SetupError, match=r"1 questions have no known result, such as 'q': .*benchmark freeze"
    ):
        select_benchmarks(workspace, [str(path)], Selection(with_rows=True))


CARS = GoldQuestion(
    "1", "How many cars are red?", sparql="ASK { ex:a ex:b ex:c }", graph="cars.ttl"
)
DOGS = GoldQuestion("2", "Which dogs are old?", unanswerable=True, graph="dogs.ttl")


def test_each_graph_is_left_out_once(tmp_path: Path) -> None:
    contents = BenchmarkContents((CARS, DOGS), prefixes={"ex": "http://example.org/"})

    entries = write_splits(
        {tmp_path / "all.jsonl": contents}, SplitOptions(leave_out="graph"), tmp_path / "parts"
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
        tmp_path / "one" / "questions.jsonl": BenchmarkContents((CARS,)),
        tmp_path / "other.jsonl": BenchmarkContents((GoldQuestion("1", "how many cars are red"),)),
    }

    entries = write_splits(both, SplitOptions(leave_out="dataset"), tmp_path / "parts")

    assert [(entry["name"], entry["repeated"]) for entry in entries] == [("one", 1), ("other", 1)]
    (tested,) = read_questions(tmp_path / "parts" / "one-test.jsonl")
    assert tested.id == "one/1"


@pytest.mark.parametrize("division", [SplitOptions(), SplitOptions(folds=2, leave_out="graph")])
def test_one_way_to_divide_has_to_be_named(division: SplitOptions, tmp_path: Path) -> None:
    with pytest.raises(SetupError, match="either a number of folds, or 'graph' or 'dataset'"):
        write_splits(
            {tmp_path / "a.jsonl": BenchmarkContents((CARS, DOGS))}, division, tmp_path / "parts"
        )
    assert list(tmp_path.iterdir()) == []
