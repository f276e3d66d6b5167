"""The training of a ranker as a user starts it, made small: gathered, trained, killed, resumed."""

import json
import os
import signal
import subprocess
import sys
import time
from dataclasses import asdict, replace
from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("torch", reason="needs the extra 'local'")

import torch
from tests.tiny_models import tiny_bert, tiny_qwen

from askgraph import sample
from askgraph.answers.ranker import EncoderRanker, LanguageRanker, Say
from askgraph.errors import SetupError
from askgraph.training.pairs import Lesson, Reading
from askgraph.training.ranker import Plan, trained
from askgraph.workspace import Workspace
from askgraph.workspace.ranker import Wished, say_of, train_ranker, worth_of

SHORT = Plan(layers=2, epochs=2, batch=2, rate=1e-3)


def lesson(number: int, worths: tuple[float, ...], confidence: float = 0.4) -> Lesson:
    """A question whose candidates say what they are worth."""
    readings = [
        Reading(f"the {'right' if worth else 'wrong'} moons {at}", "", 1.0 - at / 10, worth, False)
        for at, worth in enumerate(worths)
    ]
    return Lesson(f"q{number}", f"which moons {number}?", "", confidence, tuple(readings))


LESSONS = [lesson(n, ((0.0, 1.0, 0.0), (0.0, 0.0, 1.0))[n % 2]) for n in range(12)]


@pytest.fixture(scope="module")
def base(tmp_path_factory: pytest.TempPathFactory) -> Path:
    words = "which moons the right wrong planets does have that orbit"
    return tiny_bert(tmp_path_factory.mktemp("bert"), [words])


@pytest.fixture(scope="module")
def benchmark(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Eight questions of the sample, as if over two graphs in two styles."""
    folder = tmp_path_factory.mktemp("benchmark")
    lines = sample.questions_path().with_suffix(".jsonl").read_text("utf-8").splitlines()[:8]
    for name in ("one", "two"):
        (folder / f"{name}.ttl").write_bytes(sample.graph_path().read_bytes())
    names = ["one" if at % 2 else "two" for at in range(8)]
    records = [
        json.loads(line) | {"kg": f"{name}.ttl", "tags": [f"style:{name}"]}
        for name, line in zip(names, lines, strict=True)
    ]
    path = folder / "questions.jsonl"
    path.write_text("".join(json.dumps(one) + "\n" for one in records), "utf-8")
    return path


def test_what_is_right_is_learned_from_its_words(base: Path, tmp_path: Path) -> None:
    plan = replace(SHORT, epochs=12)

    made = trained(base, LESSONS, plan, tmp_path / "kept.pt")

    assert made.loss < 0.2
    assert made.sizes.layers == 2
    assert not (tmp_path / "kept.pt").exists() or (tmp_path / "kept.pt").stat().st_size


def test_a_training_that_was_stopped_gives_what_it_would_have_given(
    base: Path, tmp_path: Path
) -> None:
    plan = replace(SHORT, epochs=6)  # 36 steps, kept after 25
    whole = trained(base, LESSONS, plan, tmp_path / "whole.pt")

    def stop(done: int, planned: int, loss: float) -> None:
        if done == 27:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        trained(base, LESSONS, plan, tmp_path / "kept.pt", told=stop)
    steps: list[int] = []
    again = trained(
        base, LESSONS, plan, tmp_path / "kept.pt", told=lambda done, *_: steps.append(done)
    )

    assert steps[0] == 26
    assert again.loss == whole.loss
    assert all(np.array_equal(again.weights[name], whole.weights[name]) for name in whole.weights)


def test_a_say_is_given_only_for_what_is_gained() -> None:
    good = [[1.0 if r.worth else 0.0 for r in one.readings] for one in LESSONS]
    bad = [[-one for one in own] for own in good]

    say = say_of(LESSONS, good)

    assert say.weight > 0
    assert all(worth_of(one, own, say) == 1 for one, own in zip(LESSONS, good, strict=True))
    assert say_of(LESSONS, bad) == Say()
    sure = [replace(one, confidence=0.99) for one in LESSONS]
    assert say_of(sure, good) == Say()


def test_folds_are_measured_where_nothing_was_learned_from(
    base: Path, benchmark: Path, tmp_path: Path
) -> None:
    wished = Wished(base, ((benchmark, None),), folds=2, by="style:", plan=SHORT)

    found = train_ranker(Workspace(tmp_path / "workspace"), wished, tmp_path / "out")

    *folds, whole = found
    assert [one.held for one in folds] == [("one",), ("two",)]
    assert [EncoderRanker.load(one.path).about["graphs"] for one in folds] == [["two"], ["one"]]
    assert all(one.gain is not None and one.gain.n == 4 for one in folds)
    assert whole.path.name == "ranker.npz"
    assert EncoderRanker.load(whole.path).about["graphs"] == ["one", "two"]
    left = sorted(path.name for path in (tmp_path / "out").iterdir())
    assert left == ["fold1.npz", "fold2.npz", "lessons", "ranker.npz", "training.json"]

    times = {path: path.stat().st_mtime_ns for path in (tmp_path / "out").glob("*.npz")}
    again = train_ranker(Workspace(tmp_path / "workspace"), wished, tmp_path / "out")
    assert again == found
    assert times == {path: path.stat().st_mtime_ns for path in times}


def test_a_folder_of_something_else_or_of_other_wishes_stays_as_it_is(
    base: Path, benchmark: Path, tmp_path: Path
) -> None:
    wished = Wished(base, ((benchmark, None),), plan=SHORT)
    (tmp_path / "other").mkdir()
    (tmp_path / "other" / "mine.txt").write_text("mine")
    with pytest.raises(SetupError, match="something else"):
        train_ranker(Workspace(tmp_path / "workspace"), wished, tmp_path / "other")

    train_ranker(Workspace(tmp_path / "workspace"), wished, tmp_path / "out")
    with pytest.raises(SetupError, match="another seed"):
        train_ranker(
            Workspace(tmp_path / "workspace"), replace(wished, plan=replace(SHORT, seed=1)),
            tmp_path / "out",
        )  # fmt: skip


def test_what_cannot_be_trained_on_is_told_before_the_work(
    base: Path, benchmark: Path, tmp_path: Path
) -> None:
    workspace = Workspace(tmp_path / "workspace")
    none = Wished(tmp_path / "none", ((benchmark, None),), plan=SHORT)
    with pytest.raises(SetupError, match="none holds no"):
        train_ranker(workspace, none, tmp_path / "out")
    missing = Wished(base, ((tmp_path / "none.jsonl", None),), plan=SHORT)
    with pytest.raises(SetupError, match=r"none\.jsonl cannot be read"):
        train_ranker(workspace, missing, tmp_path / "out")
    many = Wished(base, ((benchmark, None),), folds=3, plan=SHORT)
    with pytest.raises(SetupError, match="3 folds"):
        train_ranker(workspace, many, tmp_path / "many")
    with pytest.raises(SetupError, match="'float16' is none of"):
        Plan(dtype="float16")
    tags = Wished(base, ((benchmark, None),), folds=2, by="kind:", plan=SHORT)
    with pytest.raises(SetupError, match="0 tags that start with 'kind:'"):
        train_ranker(workspace, tags, tmp_path / "tags")


@pytest.mark.slow
@pytest.mark.timeout(600)
@pytest.mark.skipif(sys.platform == "win32", reason="processes are killed by a signal")
def test_killed_twice_the_same_command_comes_to_the_same_end(
    base: Path, benchmark: Path, tmp_path: Path
) -> None:
    out = tmp_path / "out"
    command = [
        sys.executable, "-m", "askgraph", "finetune", "ranker", str(base),
        "--benchmark", str(benchmark), "--layers", "2", "--epochs", "20", "--batch", "1",
        "--rate", "0.001", "--out", str(out), "--workspace", str(tmp_path / "ws"), "--json",
    ]  # fmt: skip

    alone = {**os.environ, "OMP_NUM_THREADS": "1"}  # sums of several threads differ in the last bit
    for wait_for in ("lessons/*.gz", "*.pt"):
        running = subprocess.Popen(
            command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, env=alone
        )
        while not any(out.glob(wait_for)) and running.poll() is None:
            time.sleep(0.02)
        os.kill(running.pid, signal.SIGKILL)
        running.wait()
        assert "result" not in json.loads((out / "training.json").read_text())
    ended = subprocess.run(command, capture_output=True, text=True, check=True, env=alone)

    plan = replace(SHORT, epochs=20, batch=1)
    wished = Wished(base, ((benchmark, None),), plan=plan)
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    [whole] = train_ranker(Workspace(tmp_path / "ws"), wished, tmp_path / "whole")
    torch.set_num_threads(threads)
    [found] = json.loads(ended.stdout)
    assert {**found, "path": ""} == json.loads(json.dumps({**whole.record(), "path": ""}))
    with np.load(out / "ranker.npz") as one, np.load(whole.path) as other:
        assert all(np.array_equal(one[name], other[name]) for name in one.files)


def test_a_language_model_is_only_given_a_say(benchmark: Path, tmp_path: Path) -> None:
    model = tiny_qwen(tmp_path / "writer", ["SELECT ?v0 WHERE { ?v0 rdf:type C1 . }", "single-hop"])
    wished = Wished(model, ((benchmark, None),), plan=SHORT)
    workspace = Workspace(tmp_path / "workspace")

    [found] = train_ranker(workspace, wished, tmp_path / "out")

    assert found.path == tmp_path / "out" / "ranker.json"
    record = json.loads(found.path.read_text())
    assert record["model"] == "../writer" and record["say"] == asdict(found.say)
    assert found.gain is not None and found.gain.n == found.lessons == 8
    assert LanguageRanker.load(found.path).say == found.say
    assert train_ranker(workspace, wished, tmp_path / "out") == [found]
    with pytest.raises(SetupError, match="leave out the folds"):
        train_ranker(workspace, replace(wished, folds=2), tmp_path / "folds")
