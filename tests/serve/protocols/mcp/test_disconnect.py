"""A question that an agent asks ends with the request that asked it."""

import threading
from collections.abc import Iterator
from typing import Any

import httpx2
import pytest
from tests.servers.served import ServedThread
from tests.servers.stuck import becomes, stuck_server

HEADERS = {"Accept": "application/json, text/event-stream", "Content-Type": "application/json"}
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
    began = threading.Event()

    def call() -> None:
        with httpx2.Client(timeout=5) as client:
            began.set()
            with pytest.raises(httpx2.TimeoutException):
                client.post(f"{server.url}/mcp", json=CALL, headers=HEADERS)

    thread = threading.Thread(target=call)
    thread.start()
    assert began.wait(10) and becomes(server, running=True)

    thread.join(30)

    assert becomes(server, running=False)
