"""The fault table: each fault has an outcome with a name, none lasts beyond its timeout."""

import pytest
from tools.fault_table import TIMEOUT, lines


@pytest.mark.slow
async def test_every_fault_ends_in_time_with_a_clear_outcome() -> None:
    found = await lines()
    assert len(found) > 30
    for line in found:
        assert line.seconds < TIMEOUT + 0.5, line
        assert " rows" in line.seen or ": " in line.seen, line
