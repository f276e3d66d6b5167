"""A run that is killed at any moments ends with the same report as one that was not."""

import os
import random
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from askgraph.evaluation.runs import read_run

DATA = Path(os.environ.get("ASKGRAPH_DATA") or Path(__file__).parents[3] / "shared" / "data")
QUESTIONS = DATA / "spider4sparql" / "questions.jsonl"
COMMAND = [sys.executable, "-m", "askgraph"]
NUMBER, KILLS = 200, 5


@pytest.mark.data
@pytest.mark.slow
@pytest.mark.timeout(1800)
@pytest.mark.skipif(not QUESTIONS.is_file(), reason=f"no {QUESTIONS}; ASKGRAPH_DATA names the data")
def test_killed_five_times_it_ends_with_the_same_report(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("ASKGRAPH_WORKSPACE", str(tmp_path / "workspace"))
    evaluate = ["evaluate", QUESTIONS, "--limit", NUMBER, "--drafts", 3]
    evaluate += ["--on", "processes", "--workers", 2]
    # Time enough, so that a busy machine does not change an answer.
    evaluate += ["--method", "graph-search", "--set", "timeout=300", "--set", "seconds=600"]
    askgraph(*evaluate, "--out", "whole")
    for target in sorted(random.Random(4).sample(range(5, NUMBER - 5), KILLS)):
        killed_at(target, *evaluate, "--out", "killed")
    before = read_run(tmp_path / "killed")
    askgraph(*evaluate, "--out", "killed")
    after = read_run(tmp_path / "killed")

    assert NUMBER / 2 < len(before.records) < before.planned_count == NUMBER
    kept = {record.key: record.seconds for record in before.records}
    assert kept.items() <= {record.key: record.seconds for record in after.records}.items()
    for name in ("killed", "whole"):
        (tmp_path / name).rename(tmp_path / "run")
        askgraph("report", "run", "--html", f"{name}.html", "--no-times", "--out", f"{name}.txt")
        (tmp_path / "run").rename(tmp_path / name)
    for kind in ("txt", "html"):
        pages = [(tmp_path / f"{name}.{kind}").read_bytes() for name in ("killed", "whole")]
        assert len(pages[0]) > 1000
        # Line by line: a difference of two large texts takes pytest many minutes to show.
        lines = zip(*(page.splitlines() for page in pages), strict=True)
        assert not [pair for pair in lines if pair[0] != pair[1]]


def askgraph(*arguments: object) -> None:
    command = [*COMMAND, *map(str, arguments)]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=400)
    assert done.returncode == 0, done.stderr


def killed_at(records: int, *arguments: object) -> None:
    """Run a command, and kill it with -9 as soon as there are so many records."""
    lines, quiet = Path("killed", "records.jsonl"), subprocess.DEVNULL
    process = subprocess.Popen([*COMMAND, *map(str, arguments)], stdout=quiet, stderr=quiet)
    until = time.monotonic() + 120
    while process.poll() is None and time.monotonic() < until:
        if lines.exists() and lines.read_bytes().count(b"\n") >= records:
            break
        time.sleep(0.003)
    process.send_signal(signal.SIGKILL)
    assert process.wait() == -signal.SIGKILL, "it ended before it was killed"
