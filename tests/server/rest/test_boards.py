"""Boards over HTTP: pinned, brought up to date, compared, shared to be read, and nobody else's."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx2
import pytest
from tests.servers.harbours import BEFORE, NOW, QUESTION, put_harbours
from tests.servers.key_holders import Locked
from tests.servers.served import ServedThread, Visitor

from askgraph.server.auth import LimitOverrides
from askgraph.workspace import Workspace

Reply = dict[str, Any]


@pytest.fixture
def place(tmp_path: Path) -> Workspace:
    workspace = Workspace(tmp_path)
    put_harbours(workspace, BEFORE)
    return workspace


@pytest.fixture
def address(place: Workspace) -> Iterator[str]:
    with ServedThread(place, database=str(place.folder / "serve.db")) as server:
        yield f"{server.url}/api/v1"


@pytest.fixture
def ann(address: str) -> Iterator[Visitor]:
    with Visitor(address) as client:
        yield client


@pytest.fixture
def bob(address: str) -> Iterator[Visitor]:
    with Visitor(address) as client:
        yield client


def done(response: httpx2.Response) -> Reply:
    assert response.status_code in (200, 201), response.text
    told: Reply = response.json()
    return told


def asked(client: httpx2.Client, question: str = QUESTION, **more: object) -> str:
    return str(done(client.post("/ask", json={"question": question, **more}))["id"])


def board_of(client: httpx2.Client, *questions: str) -> Reply:
    """A board with a pin for each question."""
    board = done(client.post("/boards", json={"title": "Harbours"}))
    for question in questions:
        pin = {"run": asked(client, question, graphs=["harbours"])}
        board = done(client.post(f"/boards/{board['id']}/pins", json=pin))
    return board


def test_pinning_and_refreshing(ann: httpx2.Client, place: Workspace) -> None:
    # An answer is pinned as it was.
    board = done(ann.post("/boards", json={"title": "Harbours"}))
    run = asked(ann)
    shown = {"view": "chart", "chart": "bars berths"}
    board = done(ann.post(f"/boards/{board['id']}/pins", json={"run": run, "shown": shown}))
    (pin,) = board["content"]
    assert (pin["question"], pin["graph"], pin["run"]) == (QUESTION, "harbours", run)
    assert pin["shown"] == shown and pin["answer"] == done(ann.get(f"/runs/{run}"))["answer"]
    assert (pin["changes"], pin["problem"], board["mine"]) == (None, None, True)
    assert done(ann.get("/boards"))["boards"][0]["pins"] == 1
    # A refresh says what came what went and what changed.
    board = board_of(ann, QUESTION)
    path = f"/boards/{board['id']}"
    (same,) = done(ann.post(f"{path}/refresh"))["content"]
    assert same["changes"] is None
    put_harbours(place, NOW)
    (pin,) = done(ann.post(f"{path}/refresh"))["content"]
    changes = pin["changes"]
    assert (changes["added"], changes["gone"], changes["changed"]) == (1, 1, 1)
    new = {
        pin["answer"]["cells"][one["row"]][0]["label"]: one["was"] and one["was"][1]["value"]
        for one in changes["rows"]
    }
    assert new == {"Brix": "7", "Dory": None}
    assert [row[0]["label"] for row in changes["lost"]] == ["Cove"]
    assert "Dory (1)" in pin["answer"]["sentence"] and pin["checked"] > pin["seen"]
    (kept,) = done(ann.get(path))["content"]
    assert (kept["answer"], kept["changes"]) == (pin["answer"], changes)
    (seen,) = done(ann.post(f"{path}/seen"))["content"]
    assert (seen["changes"], seen["seen"], seen["answer"]) == (None, pin["checked"], pin["answer"])
    assert done(ann.post(f"{path}/refresh"))["content"][0]["changes"] is None


def test_changes_of_pins(ann: httpx2.Client, place: Workspace) -> None:
    # A number and a yes that changed are changes.
    board = board_of(ann, "How many harbours are there?", "Does Cove have 2 berths?")
    counted, decided = (pin["answer"] for pin in board["content"])
    assert (counted["rows"], decided["boolean"]) == ([[3]], True)
    put_harbours(place, {**NOW, "Elm": 3})
    number, truth = done(ann.post(f"/boards/{board['id']}/refresh"))["content"]
    assert (number["changes"]["changed"], number["changes"]["rows"][0]["was"][0]["value"]) == (
        1,
        "3",
    )
    assert (truth["answer"]["boolean"], truth["changes"]["changed"]) == (False, 1)
    assert truth["changes"]["boolean"] is True
    # A pin that fails does not lose the others.
    put_harbours(place, BEFORE)
    other = place.folder / "other.ttl"
    other.write_text((place.folder / "harbours.ttl").read_text(), encoding="utf-8")
    place.add("other", [other])
    board = board_of(ann, QUESTION)
    path = f"/boards/{board['id']}"
    pin = {"run": asked(ann, graphs=["other"]), "title": "Elsewhere"}
    done(ann.post(f"{path}/pins", json=pin))
    place.remove("other")
    put_harbours(place, NOW)
    first, second = done(ann.post(f"{path}/refresh"))["content"]
    assert (first["problem"], first["changes"]["added"]) == (None, 1)
    assert second["problem"]["status"] == 404 and "'other'" in second["problem"]["detail"]
    assert (second["title"], len(second["answer"]["rows"])) == ("Elsewhere", 3)


def test_arranging_pins(ann: httpx2.Client) -> None:
    # Pins are moved renamed shown otherwise and removed.
    board = board_of(ann, "How many harbours are there?", QUESTION)
    path = f"/boards/{board['id']}"
    count, each = (pin["id"] for pin in board["content"])
    change = {"place": 0, "title": "Berths", "shown": {"view": "table"}}
    moved = done(ann.patch(f"{path}/pins/{each}", json=change))
    assert [pin["id"] for pin in moved["content"]] == [each, count]
    assert (moved["content"][0]["title"], moved["content"][0]["shown"]["view"]) == (
        "Berths",
        "table",
    )
    assert ann.delete(f"{path}/pins/{each}").status_code == 204
    assert ann.delete(f"{path}/pins/{each}").status_code == 404
    assert ann.patch(f"{path}/pins/{each}", json={"title": "x"}).status_code == 404
    renamed = done(ann.patch(path, json={"title": "All harbours"}))
    assert (renamed["title"], [pin["id"] for pin in renamed["content"]]) == (
        "All harbours",
        [count],
    )
    assert ann.delete(path).status_code == 204 and ann.get(path).status_code == 404
    # What came to no query cannot be pinned.
    board = board_of(ann)
    run = asked(ann, "hello")
    refused = ann.post(f"/boards/{board['id']}/pins", json={"run": run})
    assert refused.status_code == 422 and "nothing to pin" in refused.json()["detail"]


def every_change(board: Reply, run: str) -> list[tuple[str, str, object]]:
    path, pin = f"/boards/{board['id']}", board["content"][0]["id"]
    return [
        ("PATCH", path, {"title": "taken"}),
        ("DELETE", path, None),
        ("POST", f"{path}/share", {"shared": True}),
        ("POST", f"{path}/seen", None),
        ("POST", f"{path}/pins", {"run": run}),
        ("PATCH", f"{path}/pins/{pin}", {"title": "taken"}),
        ("DELETE", f"{path}/pins/{pin}", None),
    ]


def test_boards_of_others(ann: httpx2.Client, bob: httpx2.Client, place: Workspace) -> None:
    # A board of another does not exist.
    board, path = board_of(ann, QUESTION), ""
    path = f"/boards/{board['id']}"
    for method, where, body in [
        ("GET", path, None),
        ("POST", f"{path}/refresh", None),
        *every_change(board, asked(bob)),
    ]:
        response = bob.request(method, where, json=body)
        assert response.status_code == 404, (method, where)
        assert response.json()["detail"] == ann.get("/boards/none").json()["detail"].replace(
            "none", board["id"]
        )
    assert done(bob.get("/boards"))["boards"] == [] and done(ann.get(path)) == board
    # A shared board is read and brought up to date but not changed by others.
    board = board_of(ann, QUESTION)
    path = f"/boards/{board['id']}"
    done(ann.post(f"{path}/share", json={"shared": True}))
    read = done(bob.get(path))
    assert (read["mine"], read["content"][0]["run"]) == (False, None)
    put_harbours(place, NOW)
    assert done(bob.post(f"{path}/refresh"))["content"][0]["changes"]["added"] == 1
    assert done(ann.get(path))["content"][0]["changes"] is None, "a reader's look was kept"
    for method, where, body in every_change(board, asked(bob)):
        assert bob.request(method, where, json=body).status_code == 404, (method, where)
    assert done(bob.get("/boards"))["boards"] == []
    done(ann.post(f"{path}/share", json={"shared": False}))
    assert bob.get(path).status_code == 404
    # An answer of another cannot be pinned.
    board = board_of(ann)
    assert ann.post(f"/boards/{board['id']}/pins", json={"run": asked(bob)}).status_code == 404


def test_what_a_board_hides_and_counts(address: str, place: Workspace) -> None:
    # A board hides what a reader may not ask.
    keys = Locked(address, place.folder / "serve.db")
    with keys.client("ask") as ann, keys.client("ask", graphs=["other"]) as other:
        path = f"/boards/{board_of(ann, QUESTION)['id']}"
        done(ann.post(f"{path}/share", json={"shared": True}))
        for read in (done(other.get(path)), done(other.post(f"{path}/refresh"))):
            assert (read["hidden"], read["content"]) == (1, [])
    # A caller without key and cookie has no boards.
    with httpx2.Client(base_url=address, timeout=600) as nobody:
        refused = nobody.post("/boards", json={"title": "Everybody's"})
        assert refused.status_code == 422 and "cookie" in refused.json()["detail"]
        assert done(nobody.get("/boards"))["boards"] == []
    # Each pin counts as a request.
    with keys.client("ask", limits=LimitOverrides(requests_per_minute=20)) as caller:
        board = board_of(caller, QUESTION, QUESTION, QUESTION)
        statuses: list[int] = []
        while len(statuses) < 30 and 429 not in statuses:
            response = caller.post(f"/boards/{board['id']}/refresh")
            if response.status_code == 429:
                break
            pins = done(response)["content"]
            statuses += [pin["problem"]["status"] if pin["problem"] else 200 for pin in pins]
        assert len(statuses) <= 15
