"""`askgraph batch`, run as a command."""

import signal
import subprocess
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from tests.cli.lookup import JUPITER, MARS, VENUS, install, questions, read
from tests.cli.running import Run


def test_batches_and_repetitions(
    run: Run, tmp_path: Path, command: Callable[..., tuple[list[str], dict[str, Any]]]
) -> None:
    # Batch writes an answer line for each question.
    install(tmp_path, {"Jupiter?": JUPITER, "Venus?": VENUS})
    path = questions(
        tmp_path,
        {"id": "a", "question": "Jupiter?"},
        {"id": "b", "question": "Nothing?"},
        {"id": "c", "question": "Venus?"},
    )
    done = run("batch", path, "-g", "moons", "--out", "out.jsonl", "--limit", 1)
    assert (done.returncode, done.stdout) == (0, "")
    assert "3 answers in out.jsonl, 0 failed" in done.stderr
    a, b, c = read(tmp_path / "out.jsonl")
    assert [line["id"] for line in (a, b, c)] == ["a", "b", "c"]
    assert (a["status"], a["columns"], len(a["rows"])) == ("answer", ["moon"], 1)
    assert a["truncated"]["reason"] == "the first 1 of 2 rows"
    assert (b["status"], b["reason"]) == ("refusal", "not in the file")
    assert (c["columns"], c["rows"], c["boolean"]) == (["answer"], [[False]], False)


def test_batch_stopped_with_ctrl_c_leaves_whole_lines_and_goes_on(
    run: Run, tmp_path: Path, command: Callable[..., tuple[list[str], dict[str, Any]]]
) -> None:
    install(tmp_path, {"Mars?": MARS, "slow?": "slow"})
    path = questions(tmp_path, {"id": "a", "question": "Mars?"}, {"id": "b", "question": "slow?"})
    out = tmp_path / "out.jsonl"
    words, how = command("batch", path, "-g", "moons", "--out", out)
    with subprocess.Popen(words, stderr=subprocess.PIPE, **how) as process:
        until = time.monotonic() + 120
        while not (out.exists() and out.read_text()) and time.monotonic() < until:
            time.sleep(0.02)
        process.send_signal(signal.SIGINT)
        _, said = process.communicate(timeout=600)
    assert process.returncode == 130 and "Traceback" not in said
    assert [line["id"] for line in read(out)] == ["a"]
    install(tmp_path, {"slow?": JUPITER})
    assert run("batch", path, "-g", "moons", "--out", out).returncode == 0
    assert [(line["id"], len(line["rows"])) for line in read(out)] == [("a", 1), ("b", 2)]


def test_batch_says_that_questions_failed_and_tries_them_again(run: Run, tmp_path: Path) -> None:
    install(tmp_path, {"Mars?": "bug", "Jupiter?": JUPITER})
    path = questions(
        tmp_path, {"id": "a", "question": "Mars?"}, {"id": "b", "question": "Jupiter?"}
    )
    failed = run("batch", path, "-g", "moons", "--out", "out.jsonl")
    install(tmp_path, {"Mars?": MARS})
    mended = run("batch", path, "-g", "moons", "--out", "out.jsonl")
    assert (failed.returncode, mended.returncode) == (4, 0) and "1 failed" in failed.stderr
    assert [line["status"] for line in read(tmp_path / "out.jsonl")] == ["answer", "answer"]
