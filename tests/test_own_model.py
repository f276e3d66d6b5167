"""Each step from weights to a model of one's own is run as its page has it, with SmolLM2."""

import re
import shlex
from pathlib import Path

import pytest
from tests.servers.clients import smollm2
from tests.test_tutorials import ROOT, _files, _like, _sessions
from typer.testing import CliRunner

from askgraph import sample
from askgraph.cli import app

PAGE = "docs/how-to/own-model.md"


@pytest.mark.slow
@pytest.mark.timeout(1500)
@pytest.mark.filterwarnings("ignore:.*is_gradient_checkpointing:FutureWarning")  # of peft
def test_each_step_of_the_page_does_what_it_shows(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "smollm2.gguf").symlink_to(smollm2())
    (tmp_path / "src").symlink_to(ROOT / "src")
    questions = sample.questions_path().with_suffix(".jsonl").read_text("utf-8").splitlines()
    (tmp_path / "questions.jsonl").write_text("\n".join(questions[:2]) + "\n", "utf-8")
    for name, text in _files(PAGE):
        (tmp_path / name).write_text(text, "utf-8")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("ASKGRAPH_WORKSPACE", str(tmp_path))
    monkeypatch.setenv("COLUMNS", "200")
    sessions = list(_sessions(PAGE))

    assert len(sessions) == 9
    for command, shown in sessions:
        done = CliRunner().invoke(app, shlex.split(command))
        allowed = (0, 1) if command.startswith("ask ") else (0,)  # so little training, no answer
        assert done.exit_code in allowed, f"{command}: {done.output}"
        text = "".join(f"{line.rstrip()}\n" for line in done.output.splitlines())
        assert re.fullmatch(_like(shown), text, re.DOTALL), f"{command} printed:\n{text}"
