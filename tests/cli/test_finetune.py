"""What a command says that it has cost."""

import re
import sys

import pytest

from askgraph.cli.finetune import Spent


def test_time_on_the_clock_and_of_a_core_are_told_from_the_start() -> None:
    now = Spent()
    early = Spent(clock=now.clock - 125, core=now.core - 61)
    assert re.match(r"2:\d\d min, 1:\d\d min of a core", early.told())


@pytest.mark.skipif(sys.platform == "win32", reason="the system does not say it")
def test_the_memory_is_that_of_a_python_process() -> None:
    found = re.search(r", (\d+) MiB at most$", Spent().told())
    assert found and 5 < int(found.group(1)) < 1_000_000
