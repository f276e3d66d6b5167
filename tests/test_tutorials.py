"""What the tutorial and the how-tos print is what their commands print."""

import os
import re
import shlex
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest
from tests.each import for_each
from tests.servers.clients import smollm2
from tests.servers.served import ServedThread, sample_workspace
from typer.testing import CliRunner

from askgraph import sample
from askgraph.cli import app

ROOT = Path(__file__).parent.parent
PAGES = (
    "docs/tutorial.md",
    "docs/how-to/my-graph.md",
    "docs/how-to/public-endpoint.md",
    "docs/how-to/definitions.md",
    "docs/how-to/annotate.md",
)
OWN_MODEL = "docs/how-to/own-model.md"
LEFT_OUT = "…"
SERVER = "http://127.0.0.1:8000"


def _files(page: str) -> Iterator[tuple[str, str]]:
    """The files that a page shows: blocks whose first line is a comment with a name."""
    text = (ROOT / page).read_text(encoding="utf-8")
    for block in re.findall(r"^```[a-z]+\n(# [\w.-]+\.\w+\n.*?)^```", text, re.M | re.S):
        yield block.split("\n", 1)[0].removeprefix("# "), block


def _sessions(page: str) -> Iterator[tuple[str, list[str]]]:
    """The commands of a page with the lines that it shows below each."""
    text = (ROOT / page).read_text(encoding="utf-8")
    for block in re.findall(r"^```console\n(.*?)^```", text, re.M | re.S):
        for session in re.split(r"^\$ askgraph ", block, flags=re.M)[1:]:
            command, *shown = session.rstrip("\n").split("\n")
            yield command, shown


def _like(shown: list[str]) -> str:
    """A pattern for the lines of a page, in which a line `…` stands for any lines."""
    pieces = [".*\n" if line == LEFT_OUT else f"{re.escape(line)}\n" for line in shown]
    return "".join(pieces)


@pytest.fixture(scope="module")
def address(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """Where a server on the sample graph listens."""
    with ServedThread(sample_workspace(tmp_path_factory.mktemp("served"))) as server:
        yield server.url


@for_each("page", PAGES)
def test_the_commands_of_a_page_print_what_it_shows(
    page: str, address: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "src").symlink_to(ROOT / "src")
    for name, text in _files(page):
        (tmp_path / name).write_text(text, encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("ASKGRAPH_WORKSPACE", os.fspath(tmp_path / "workspace"))
    wrong = []

    for command, shown in _sessions(page):
        printed = CliRunner().invoke(app, shlex.split(command.replace(SERVER, address))).output
        if not re.fullmatch(_like(shown), printed, re.DOTALL):
            wrong.append(f"$ askgraph {command}\n{printed}")

    assert list(_sessions(page)) and not wrong, "\n".join(wrong)


@pytest.mark.slow
@pytest.mark.timeout(1500)
@pytest.mark.filterwarnings("ignore:.*is_gradient_checkpointing:FutureWarning")  # of peft
def test_each_step_to_a_model_of_ones_own_does_what_its_page_shows(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    import gguf
    from safetensors.numpy import load_file, save_file

    for name in ("GGUFReader", "get_tensor_name_map"):  # called three and 397 times for one file
        monkeypatch.setattr(gguf, name, cache(getattr(gguf, name)))
    (tmp_path / "smollm2.gguf").symlink_to(smollm2())
    (tmp_path / "src").symlink_to(ROOT / "src")
    questions = sample.questions_path().with_suffix(".jsonl").read_text("utf-8").splitlines()
    (tmp_path / "questions.jsonl").write_text("\n".join(questions[:2]) + "\n", "utf-8")
    for name, text in _files(OWN_MODEL):
        (tmp_path / name).write_text(text, "utf-8")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("ASKGRAPH_WORKSPACE", str(tmp_path))
    monkeypatch.setenv("COLUMNS", "200")
    sessions = list(_sessions(OWN_MODEL))

    assert len(sessions) == 9
    for command, shown in sessions:
        done = CliRunner().invoke(app, shlex.split(command))
        allowed = (0, 1) if command.startswith("ask ") else (0,)  # so little training, no answer
        assert done.exit_code in allowed, f"{command}: {done.output}"
        text = "".join(f"{line.rstrip()}\n" for line in done.output.splitlines())
        assert re.fullmatch(_like(shown), text, re.DOTALL), f"{command} printed:\n{text}"
        if command == "models check small":  # the steps behind it can do with 4 of its 30 blocks
            config = Path("models", "smollm2", "config.json")
            config.write_text(re.sub(r'(?<="num_hidden_layers": )30', "4", config.read_text()))
            weights = config.with_name("model.safetensors")
            saved = load_file(weights)
            first = {key: saved[key] for key in saved if not re.search(r"\.([4-9]|\d\d)\.", key)}
            save_file(first, weights, metadata={"format": "pt"})
