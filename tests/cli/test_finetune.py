"""Models trained on one data set and asked about others."""

import json
from pathlib import Path

import pytest
from tests.late import training
from tests.tiny_models import tiny_qwen
from typer.testing import CliRunner

from askgraph import sample
from askgraph.cli import app
from askgraph.training import build_settings
from askgraph.workspace import Workspace
from askgraph.workspace.stages import CrossTrainingStudy, DataSet, run_cross_training


@pytest.fixture
def place(tmp_path: Path) -> Path:
    """A workspace with two data sets, each of three questions to train on and one to test on."""
    Workspace(tmp_path).add("space", [sample.graph_path()])
    lines = sample.questions_path().with_suffix(".jsonl").read_text("utf-8").splitlines()
    records = [one for one in map(json.loads, lines) if one.get("sparql")]
    for number, name in enumerate(("one", "two")):
        own = records[4 * number : 4 * number + 4]
        split = [{**one, "split": "train" if at < 3 else "test"} for at, one in enumerate(own)]
        (tmp_path / f"{name}.jsonl").write_text("".join(json.dumps(one) + "\n" for one in split))
    tiny_qwen(tmp_path / "tiny", [json.dumps(one) for one in records[:8]])
    return tmp_path


@pytest.mark.slow
@pytest.mark.timeout(1800)
def test_models_are_trained_on_each_data_set_and_asked_about_all(place: Path) -> None:
    out = place / "cross"
    arguments = [
        "finetune", "cross", str(place / "tiny"), f"A={place / 'one.jsonl'}@space",
        str(place / "two.jsonl"), "--out", str(out), "--preset", "quick", "--epochs", "2",
        "--questions", "1", "--questions", "9", "--plain", "--device", "cpu", "--json",
        "--set", "entities=given", "--set", "predicates=given", "--workspace", str(place),
    ]  # fmt: skip

    first = CliRunner().invoke(app, arguments)
    trained = {path: path.stat().st_mtime_ns for path in out.rglob("training.json")}
    again = CliRunner().invoke(app, arguments)

    assert first.exit_code == 0, first.output
    rows = json.loads(first.stdout)["rows"]
    assert [(one["trained on"], one["questions"]) for one in rows] == [
        ("A", "1"), ("A", "9"), ("two", "1"), ("two", "9"),
    ]  # fmt: skip
    assert all(0 <= one[name] <= 1 for one in rows for name in ("A", "two"))
    counts = [json.loads(path.read_text())["result"]["pairs"] for path in sorted(trained)]
    assert len(counts) == 4 and counts[0] < counts[1] and counts[2] < counts[3]
    assert json.loads(again.stdout)["rows"] == rows
    assert "entities='given', predicates='given'" in (out / "answers/A-9/run.json").read_text()
    assert {path: path.stat().st_mtime_ns for path in out.rglob("training.json")} == trained


@pytest.mark.slow
@pytest.mark.timeout(1800)
def test_a_stopped_study_goes_on_with_the_model_that_is_missing(place: Path) -> None:
    files = [place / "one.jsonl", place / "two.jsonl"]
    sets = tuple(DataSet(path.stem, path, path, "space") for path in files)
    settings = build_settings("quick", epochs=1.0)
    study = CrossTrainingStudy(
        str(place / "tiny"), sets, place / "out", settings, leave_one_out=True, device="cpu"
    )
    ended: list[str] = []

    def stopping(base: str, pairs: object, folder: Path, **more: object) -> object:
        if ended:
            raise KeyboardInterrupt
        ended.append(folder.name)
        return training.train(base, pairs, folder, **more)  # type: ignore[arg-type]

    def counting(base: str, pairs: object, folder: Path, **more: object) -> object:
        found = training.train(base, pairs, folder, **more)  # type: ignore[arg-type]
        ended.append(f"{folder.name} {'kept' if found.ended else 'new'}")
        return found

    with pytest.raises(KeyboardInterrupt):
        run_cross_training(Workspace(place), study, stopping)
    rows, formats = run_cross_training(Workspace(place), study, counting)

    assert ended == ["two", "two kept", "one new"]
    assert [row.trained for row in rows] == [("two",), ("one",)]
    assert all(set(row.f1) == set(formats) == {"one", "two"} for row in rows)
