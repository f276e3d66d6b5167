"""Scripts: the fault table, modules that a question imports, and a Virtuoso."""

import subprocess
from pathlib import Path

import pytest
from tests.each import for_each
from tools.fault_table import TIMEOUT, lines
from tools.modules_used import BOUNDS, Used, used


@pytest.mark.slow
async def test_every_fault_ends_in_time_with_a_clear_outcome() -> None:
    found = await lines()
    assert len(found) > 30
    for line in found:
        assert line.seconds < TIMEOUT + 0.5, line
        assert " rows" in line.seen or ": " in line.seen, line


def test_a_question_imports_its_method_and_no_other_and_reads_no_query_of_ours() -> None:
    found = used("graph-search")

    methods = {name.split(".")[2] for name in found.modules if name.startswith("askgraph.methods.")}
    assert methods == {"graph_search"}
    assert "askgraph.cli.ask" in found.modules
    assert not any(
        name.startswith(("askgraph.server", "askgraph.llm.sc")) for name in found.modules
    )
    assert found.fine, f"{len(found.modules)} modules"


def test_a_query_of_a_model_is_cut_into_tokens_once() -> None:
    found = used("guided")

    assert [text[:6] for text in found.passes] == ["SELECT"]
    assert found.fine, f"{len(found.modules)} modules"


def test_more_modules_or_passes_than_the_bounds_are_not_fine() -> None:
    many = tuple(map(str, range(BOUNDS["guided"] + 1)))

    assert Used("guided", many[1:], ("SELECT",)).fine
    assert not Used("guided", many, ()).fine
    assert not Used("guided", (), ("SELECT", "SELECT")).fine
    assert not Used("graph-search", (), ("SELECT",)).fine


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
