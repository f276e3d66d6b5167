"""Scripts: the fault table, the path of a question, a Virtuoso."""

import subprocess
from pathlib import Path

import pytest
from tests.each import for_each
from tools.fault_table import TIMEOUT, lines
from tools.question_path import trace_question


@pytest.mark.slow
async def test_every_fault_ends_in_time_with_a_clear_outcome() -> None:
    found = await lines()
    assert len(found) > 30
    for line in found:
        assert line.seconds < TIMEOUT + 0.5, line
        assert " rows" in line.seen or ": " in line.seen, line


# The parser reads the tokens of two texts: a reply, and the same with its prefixes declared.
@for_each(("way", "files", "pairs", "texts"), [("cli", 66, 8, 0), ("guided", 101, 11, 2)])
def test_a_question_passes_few_files_and_no_query_of_ours_is_read(
    way: str, files: int, pairs: int, texts: int
) -> None:
    functions, calls = trace_question(way)

    passed = {name.partition(":")[0] for name in functions}
    methods = {name for name in passed if name.startswith("methods/") and name.count("/") == 1}
    assert way == "guided" or methods == {"methods/__init__.py", "methods/graph_search.py"}
    assert not any(name.startswith("server/") for name in passed)
    assert len(passed) <= files
    assert sum(caller < called and (called, caller) in calls for caller, called in calls) <= pairs
    assert functions.get("sparql/lexer.py:tokens", 0) == texts


TOOL = Path(__file__).parents[2] / "tools" / "virtuoso.sh"


def run(*arguments: str) -> tuple[int, str]:
    done = subprocess.run([TOOL, *arguments], capture_output=True, text=True)
    return done.returncode, done.stderr


def test_its_help_says_how_much_memory_it_takes() -> None:
    code, told = run("help")
    assert code == 2
    assert "start --buffers N" in told and "20000 are 180 MiB" in told
    assert told.endswith("virtuoso-opensource-7-bin.\n")


@for_each("buffers", ["many", "0", "-5", "1e6", ""])
def test_memory_that_is_no_number_of_pages_is_refused(buffers: str) -> None:
    code, told = run("start", "--buffers", buffers)
    assert code == 1
    assert "not a number of pages" in told


def test_another_option_is_refused() -> None:
    assert run("start", "--memory", "4000") == (1, "virtuoso.sh: start knows no --memory\n")
