"""A server that cannot start says why, as a sentence."""

import subprocess
import sys
from pathlib import Path

import pytest


def started(place: Path, **settings: str) -> tuple[int, str]:
    """The status of `askgraph serve` with some settings, and what it said on standard error."""
    options = [word for name, value in settings.items() for word in (f"--{name}", value)]
    command = [sys.executable, "-m", "askgraph", "--workspace", str(place), "serve", "--port", "0"]
    ended = subprocess.run([*command, *options], capture_output=True, text=True, timeout=180)
    return ended.returncode, ended.stderr


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ({"database": "{place}/askgraph.toml"}, "not a database"),
        ({"anonymous": "admin"}, "cannot be administrators"),
    ],
)
def test_a_server_that_cannot_start_says_why(
    tmp_path: Path, settings: dict[str, str], words: str
) -> None:
    (tmp_path / "askgraph.toml").write_text("# a workspace without graphs\n" * 100)
    given = {name: value.format(place=tmp_path) for name, value in settings.items()}
    status, said = started(tmp_path, **given)
    assert status > 0
    assert said.startswith("askgraph: ")
    assert words in said
    assert "Traceback" not in said
