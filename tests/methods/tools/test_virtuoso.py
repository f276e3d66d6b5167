"""The script that starts a Virtuoso: what it is asked for is checked before anything is started."""

import subprocess
from pathlib import Path

import pytest

TOOL = Path(__file__).parents[2] / "tools" / "virtuoso.sh"


def run(*arguments: str) -> tuple[int, str]:
    done = subprocess.run([TOOL, *arguments], capture_output=True, text=True)
    return done.returncode, done.stderr


def test_its_help_says_how_much_memory_it_takes() -> None:
    code, told = run("help")
    assert code == 2
    assert "start --buffers N" in told and "20000 are 180 MiB" in told
    assert told.endswith("virtuoso-opensource-7-bin.\n")


@pytest.mark.parametrize("buffers", ["many", "0", "-5", "1e6", ""])
def test_memory_that_is_no_number_of_pages_is_refused(buffers: str) -> None:
    code, told = run("start", "--buffers", buffers)
    assert code == 1
    assert "not a number of pages" in told


def test_another_option_is_refused() -> None:
    assert run("start", "--memory", "4000") == (1, "virtuoso.sh: start knows no --memory\n")
