"""Stages of the method multi-stage, measured in each configuration; numbers of an index, tuned."""

import tomllib
from pathlib import Path

import pytest
from tests.graphs import MOONS

from askgraph.errors import SetupError
from askgraph.evaluation.questions import GoldQuestion, write_questions
from askgraph.evaluation.studies.stages import CONFIGURATIONS
from askgraph.workspace import Workspace
from askgraph.workspace.evaluation import ExecutorOptions
from askgraph.workspace.plans import BenchmarkQuestions
from askgraph.workspace.run_sync import run_coroutine
from askgraph.workspace.selection import Selection, select_benchmarks
from askgraph.workspace.stages import evaluate_stages, store_tuned, tune_bm25

PREFIXES = "PREFIX : <http://example.org/> PREFIX onto: <http://example.org/onto#> "


def question(identity: str, text: str, planet: str) -> GoldQuestion:
    query = f"{PREFIXES}SELECT ?moon {{ ?moon onto:orbits :{planet} }}"
    return GoldQuestion(identity, text, "en", query)


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Workspace:
    folder = tmp_path_factory.mktemp("stages")
    (folder / "moons.ttl").write_text(MOONS)
    workspace = Workspace(folder / "workspace")
    workspace.add("moons", [folder / "moons.ttl"])
    return workspace


def asked(place: Workspace, *questions: GoldQuestion) -> tuple[BenchmarkQuestions, ...]:
    path = place.folder / f"{questions[0].id}.jsonl"
    write_questions(path, questions)
    return select_benchmarks(place, [str(path)], Selection())


def test_each_configuration_has_a_case_and_each_index_a_recall(place: Workspace) -> None:
    given = asked(place, question("mars", "Which moons orbit Mars?", "Mars"))

    work = evaluate_stages(
        place,
        given,
        Selection(),
        settings={},
        metric="best_column",
        executor_options=ExecutorOptions(),
    )
    found = run_coroutine(work)

    assert [case.record.method for case in found.cases] == list(CONFIGURATIONS)
    assert all(case.gold.entities == {"http://example.org/Mars"} for case in found.cases)
    told = {case.record.method: case for case in found.cases}["gold entities and predicates"]
    assert told.linked == told.gold
    assert [one.target for one in found.recalls["mars"]] == ["entities", "predicates"]
    assert found.run.is_complete


def test_numbers_are_searched_tested_and_kept(place: Workspace) -> None:
    training = asked(place, question("mars", "Which moons orbit Mars?", "Mars"))
    test = asked(place, question("jupiter", "Which moons orbit Jupiter?", "Jupiter"))
    told: list[str] = []

    work = tune_bm25(place, training, test, progress=lambda what, done, total: told.append(what))
    found = run_coroutine(work)
    store_tuned(place, found)

    assert [one.what for one in found] == ["entities", "predicates"]
    assert all(
        one.tuned.recall_after.shares_by_limit >= one.tuned.recall_before.shares_by_limit
        for one in found
    )
    assert all(one.tested is not None and one.tested[1].questions == 1 for one in found)
    assert told
    settings = tomllib.loads(Path(place.folder / "askgraph.toml").read_text())["methods"]
    assert set(next(iter(settings.values()))) == {"bm25_entities", "bm25_predicates"}


def test_a_test_question_may_not_be_learnt_from(place: Workspace) -> None:
    given = asked(place, question("mars", "Which moons orbit Mars?", "Mars"))
    with pytest.raises(SetupError, match="a test question and a training question"):
        run_coroutine(tune_bm25(place, given, given))
