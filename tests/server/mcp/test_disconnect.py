"""A question that an agent asks ends with the request that asked it."""

from collections.abc import Iterator
from typing import Any

import pytest
from tests.servers.served import ServedThread
from tests.servers.stuck import assert_given_up, stuck_server

CALL: dict[str, Any] = {
    "jsonrpc": "2.0",
    "id": 1,
    "method": "tools/call",
    "params": {"name": "ask", "arguments": {"question": "Which moons are there?"}},
}


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ServedThread]:
    with stuck_server(tmp_path_factory.mktemp("leaving")) as served:
        yield served


def test_a_call_that_is_given_up_ends_its_question(server: ServedThread) -> None:
    assert_given_up(server, "/mcp", CALL)
