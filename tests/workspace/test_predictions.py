"""Predictions of other systems as a run."""

import json
from pathlib import Path

import pytest
from tests.each import for_each

from askgraph.errors import SetupError
from askgraph.evaluation import ResultTable
from askgraph.evaluation.benchmarks import BenchmarkContents
from askgraph.evaluation.questions import GoldQuestion
from askgraph.evaluation.runs import EvaluationOptions, EvaluationRun, read_run
from askgraph.evaluation.runs.predictions import Prediction
from askgraph.workspace import Workspace
from askgraph.workspace.evaluation import is_graph_required, score_predictions
from askgraph.workspace.plans import BenchmarkQuestions

MARS = "SELECT ?m { ?m <http://example.org/onto#orbits> <http://example.org/Mars> }"
PHOBOS = ResultTable.from_json(["m"], [["http://example.org/Phobos"]])
QUESTION = GoldQuestion("mars", "Which moons has Mars?", sparql=MARS)


def asked(
    folder: Path, *questions: GoldQuestion, graphs: tuple[str, ...] = ("moons",)
) -> BenchmarkQuestions:
    path = folder / "questions.jsonl"
    path.write_text("")
    return BenchmarkQuestions(
        "made-up", path, "questions_jsonl", BenchmarkContents(questions), questions, graphs
    )


async def run(workspace: Workspace, folder: Path, *predictions: Prediction) -> EvaluationRun:
    source = folder / "theirs.jsonl"
    source.write_text("")
    return await score_predictions(
        workspace,
        asked(folder, QUESTION),
        predictions,
        source=source,
        options=EvaluationOptions(),
        folder=folder / "run",
    )


async def test_the_run_says_what_was_scored_and_on_what(
    workspace: Workspace, tmp_path: Path
) -> None:
    await run(workspace, tmp_path, Prediction("mars", MARS), Prediction("mars", MARS, repeat=1))

    kept = read_run(tmp_path / "run")
    assert [(r.method, r.repeat, r.graph, r.f1) for r in kept.records] == [
        ("theirs", 0, "moons", 1),
        ("theirs", 1, "moons", 1),
    ]
    settings = json.loads((tmp_path / "run" / "run.json").read_text())
    assert settings["planned"] == 2
    assert settings["graphs"][0]["name"] == "moons"
    assert settings["methods"][0]["name"] == "theirs"
    assert settings["methods"][0]["settings"].startswith("predictions in theirs.jsonl, sha256 ")


async def test_other_predictions_do_not_mix_with_a_run_that_is_there(
    workspace: Workspace, tmp_path: Path
) -> None:
    await run(workspace, tmp_path, Prediction("mars", MARS))
    await run(workspace, tmp_path, Prediction("mars", MARS))
    with pytest.raises(SetupError, match="another"):
        await run(workspace, tmp_path, Prediction("mars", answers=PHOBOS))


async def test_predictions_for_unknown_questions_are_named(
    workspace: Workspace, tmp_path: Path
) -> None:
    with pytest.raises(SetupError, match="has no question 'venus', 'sun', 'moon' and 1 more"):
        await run(
            workspace,
            tmp_path,
            *(Prediction(name, MARS) for name in ("venus", "mars", "sun", "moon", "earth")),
        )


@for_each(
    ("question", "prediction", "stored_gold", "needed"),
    (QUESTION, Prediction("mars", answers=PHOBOS), False, True),
    (QUESTION, Prediction("mars", answers=PHOBOS), True, False),
    (QUESTION, Prediction("mars", MARS), True, True),
    (GoldQuestion("mars", "?", answers=PHOBOS), Prediction("mars", answers=PHOBOS), False, False),
    (GoldQuestion("mars", "?", unanswerable=True), Prediction("mars"), False, False),
)
def test_a_graph_is_needed_only_where_something_is_run(
    question: GoldQuestion, prediction: Prediction, stored_gold: bool, needed: bool, tmp_path: Path
) -> None:
    one = asked(tmp_path, question, graphs=())
    assert is_graph_required(one, [prediction], stored_gold=stored_gold) is needed
