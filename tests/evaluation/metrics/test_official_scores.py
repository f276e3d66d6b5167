"""Our metrics against the official scores of seven systems at TEXT2SPARQL 2025."""

import gzip
import json
import os
from pathlib import Path
from typing import Any

import pytest
from pyoxigraph import Literal

from askgraph.evaluation import Table
from askgraph.evaluation.metrics.sets import flattened, text2sparql
from askgraph.sparql.results import SelectResult

DATA = Path(os.environ.get("ASKGRAPH_DATA") or Path(__file__).parents[4] / "shared" / "data")
FOLDER = DATA / "db25-scoring"

pytestmark = [
    pytest.mark.data,
    pytest.mark.skipif(not FOLDER.is_dir(), reason=f"no {FOLDER}; ASKGRAPH_DATA names the data"),
]


def read(path: Path) -> dict[str, Any]:
    opener = gzip.open if path.suffix == ".gz" else open
    with opener(path, "rt", encoding="utf-8") as file:
        content: dict[str, Any] = json.load(file)
    return content


def table(values: dict[str, int] | None) -> Table:
    """A stored result, whose keys are its values; an ASK query gives the key "true" either way."""
    return Table.of_json(["value"], [[value] for value in values or {}])


def test_it_differs_only_where_a_right_no_or_a_right_empty_result_gets_0_officially() -> None:
    truth = read(FOLDER / "truth.json.gz")
    compared = corrected = 0
    for system in sorted(path for path in FOLDER.iterdir() if path.is_dir()):
        results, official = read(system / "result_set.json.gz"), read(system / "eval.json")
        for question, gold in truth.items():
            predicted, score = table(results.get(question)), official[question]
            ours = flattened(predicted, table(gold))
            compared += 1
            if predicted == table(gold) and gold in ({}, {"true": 0}):
                assert (ours.f1, score["set_F"]) == (1, 0)
                corrected += 1
            else:
                assert ours.f1 == pytest.approx(score["set_F"]), question
                assert ours.recall == pytest.approx(score["set_recall"]), question
    assert (compared, corrected) == (1400, 39)


def stored(values: dict[str, int] | None) -> Table:
    """A stored result as the endpoint gave it: an ASK query's has its answer as a number."""
    if values and set(values) == {"true"}:
        return Table.of_boolean(bool(values["true"]))
    return Table.of_result(SelectResult(("value",), tuple((Literal(v),) for v in values or {})))


def test_the_official_scores_of_all_systems_come_out_exactly() -> None:
    truth = read(FOLDER / "truth.json.gz")
    compared = 0
    for system in sorted(path for path in FOLDER.iterdir() if path.is_dir()):
        results, official = read(system / "result_set.json.gz"), read(system / "eval.json")
        for question, gold in truth.items():
            score = text2sparql(stored(results.get(question)), stored(gold))
            theirs = official[question]
            assert score.precision == theirs["set_P"], (system.name, question)
            assert score.recall == theirs["set_recall"], (system.name, question)
            assert score.f1 == theirs["set_F"], (system.name, question)
            compared += 1
    assert compared == 7 * 200
