"""Conversations over a WebSocket."""

import json
from collections.abc import Callable, Iterator
from contextlib import ExitStack

import httpx2
import pytest
from websockets.sync.client import ClientConnection, connect

from askgraph.server.auth.identify import VISITOR, new_visitor

SOCKET = new_visitor()
LARGER = "Which moons are larger than Mercury?"
Connect = Callable[[str], ClientConnection]


@pytest.fixture
def connected(served: str) -> Iterator[Connect]:
    with ExitStack() as opened:

        def make(path: str) -> ClientConnection:
            head = {"Cookie": f"{VISITOR}={SOCKET}"}
            address = served.replace("http", "ws") + path
            return opened.enter_context(connect(address, additional_headers=head))

        yield make


def told(connection: ClientConnection, id: str | None = None) -> list[dict[str, object]]:
    """All messages up to the end of a question, of that question alone."""
    found = []
    while True:
        message = json.loads(connection.recv(timeout=30))
        if id is None or message.get("id") == id:
            found.append(message)
        if message["event"] in ("outcome", "problem", "cancelled") and found[-1] is message:
            return found


def test_a_question_is_answered_step_by_step(connected: Connect) -> None:
    connection = connected("/api/v1/socket")
    connection.send(json.dumps({"type": "ask", "question": LARGER}))
    events = told(connection)
    assert events[0]["event"] == "run"
    assert events[1]["step"]["step"] == "findings"  # type: ignore[index]
    assert events[-1]["run"]["answer"]["total"] == 2  # type: ignore[index]


def test_a_session_holds_what_is_asked_on_its_connection(connected: Connect, served: str) -> None:
    with httpx2.Client(base_url=served, cookies={VISITOR: SOCKET}, timeout=60) as client:
        session = client.post("/api/v1/sessions", json={"title": "Talk"}).json()["id"]
        connection = connected(f"/api/v1/sessions/{session}/socket")
        for question in (LARGER, "How many moons does Neptune have?"):
            connection.send(json.dumps({"type": "ask", "question": question}))
            told(connection)
        view = client.get(f"/api/v1/sessions/{session}").json()
    assert [one["question"] for one in view["questions"]][-1] == LARGER
    assert view["runs"] == 2


def test_two_questions_run_on_one_connection(connected: Connect) -> None:
    connection = connected("/api/v1/socket")
    for question in (LARGER, "How many moons does Neptune have?"):
        connection.send(json.dumps({"type": "ask", "question": question}))
    ends: list[str] = []
    while len(ends) < 2:
        message = json.loads(connection.recv(timeout=30))
        if message["event"] == "outcome":
            ends.append(message["run"]["question"])
    assert sorted(ends) == ["How many moons does Neptune have?", LARGER]


@pytest.mark.parametrize(
    ("message", "words"),
    [
        ("{", "no JSON"),
        ('{"question": "Hi"}', "a message is an object"),
        ('{"type": "shout"}', "no message of type 'shout'"),
        ('{"type": "ask"}', "question"),
        ('{"type": "cancel", "id": "none"}', "not yours"),
        ('{"type": "listen"}', 'needs an "id"'),
        ('{"type": "cancel", "id": "\\ud800"}', 'needs an "id"'),
        ('{"type": "ask", "question": "\\ud800?"}', "a text of whole characters"),
        (b'{"type": "ask", "question": "\xff"}', "no JSON"),
        (b'{"type": "shout"}', "no message of type 'shout'"),
        (b"", "no JSON"),
        ("[" * 100_000, "too deep"),
    ],
)
def test_what_makes_no_sense_is_answered_with_a_problem(
    connected: Connect, message: str | bytes, words: str
) -> None:
    connection = connected("/api/v1/socket")
    connection.send(message)
    (problem,) = told(connection)
    assert words in problem["problem"]["detail"]  # type: ignore[index]
    connection.send(json.dumps({"type": "ask", "question": LARGER}))
    assert told(connection)[-1]["event"] == "outcome"
