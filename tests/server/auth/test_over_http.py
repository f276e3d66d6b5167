"""Keys, cookies and limits as clients of the server meet them."""

import asyncio
from collections.abc import Iterator
from pathlib import Path

import httpx2
import pytest
from tests.servers.served import ServedThread

from askgraph.server.auth.api_keys import new_key
from askgraph.server.auth.identify import VISITOR
from askgraph.server.auth.principal import OwnLimits
from askgraph.server.store import KeyRow, Store
from askgraph.workspace import Workspace

QUESTION = {"question": "Which moons are larger than Mercury?", "graphs": ["space"]}


@pytest.fixture(scope="module")
def closed(
    sample_place: Workspace, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[tuple[str, Path]]:
    """A server that lets in only who has a key, and its database."""
    database = tmp_path_factory.mktemp("closed") / "serve.db"
    with ServedThread(sample_place, database=str(database), anonymous=()) as server:
        yield server.url, database


def kept(database: Path, *keys: KeyRow) -> None:
    async def keep() -> None:
        store = await Store.open(str(database))
        for key in keys:
            await store.add_key(key)
        await store.close()

    asyncio.run(keep())


def client(url: str, key: str = "") -> httpx2.Client:
    headers = {"Authorization": f"Bearer {key}"} if key else {}
    return httpx2.Client(base_url=url, headers=headers, timeout=30)


def test_keys_and_sharing_over_http(closed: tuple[str, Path]) -> None:
    # A server that is closed says how to come in.
    with client(closed[0]) as nobody:
        refused = nobody.post("/api/v1/ask", json=QUESTION)
    assert refused.status_code == 401
    assert refused.headers["content-type"] == "application/problem+json"
    assert refused.headers["www-authenticate"].startswith("Bearer")
    assert "API key" in refused.json()["detail"]
    # A key asks and keeps its own history.
    url, database = closed
    (ann, anns), (bob, bobs) = new_key("ann", ["ask"]), new_key("bob", ["ask"])
    kept(database, ann, bob)
    with client(url, anns) as first, client(url, bobs) as second:
        run = first.post("/api/v1/ask", json=QUESTION).json()
        assert run["state"] == "done"
        assert [one["id"] for one in first.get("/api/v1/runs").json()["runs"]] == [run["id"]]
        assert second.get("/api/v1/runs").json()["runs"] == []
        assert second.get(f"/api/v1/runs/{run['id']}").status_code == 404
        assert first.post(f"/api/v1/runs/{run['id']}/confirm", json={}).status_code == 403
    # A shared question is read by who may ask alone.
    url, database = closed
    ann, anns = new_key("ann", ["ask"])
    bob, bobs = new_key("bob", ["ask"])
    cid, cids = new_key("cid", ["query"])
    kept(database, ann, bob, cid)
    with client(url, anns) as first:
        id = first.post("/api/v1/ask", json=QUESTION).json()["id"]
        first.post(f"/api/v1/runs/{id}/share", json={"shared": True}).raise_for_status()
    for text, status in ((bobs, 200), (cids, 403), ("", 401)):
        with client(url, text) as other:
            for part in ("", "/trace", "/events"):
                assert other.get(f"/api/v1/runs/{id}{part}").status_code == status


def test_the_bounds_of_a_key_over_http(closed: tuple[str, Path]) -> None:
    # A graph that a key is not for is as if it were not there.
    url, database = closed
    key, text = new_key("rocks only", ["ask"], graphs=["rocks"])
    kept(database, key)
    with client(url, text) as caller:
        there = caller.post("/api/v1/ask", json=QUESTION)
        nowhere = caller.post("/api/v1/ask", json={**QUESTION, "graphs": ["nowhere"]})
    assert there.status_code == nowhere.status_code == 404
    assert there.json()["detail"].replace("space", "nowhere") == nowhere.json()["detail"]
    # An answer to a query of ones own needs the scope and the graph.
    url, database = closed
    asking, texts = new_key("asks", ["ask"])
    elsewhere, other = new_key("rocks only", ["query"], graphs=["rocks"])
    kept(database, asking)
    kept(database, elsewhere)
    for text, status in ((texts, 403), (other, 404)):
        with client(url, text) as caller:
            reply = caller.post("/api/v1/graphs/space/answer", json={"query": "ASK { ?s ?p ?o }"})
        assert reply.status_code == status
    # A key makes no more requests than it may.
    url, database = closed
    key, text = new_key("slow", ["ask"], limits=OwnLimits(requests_per_minute=3))
    kept(database, key)
    with client(url, text) as caller:
        ended = [caller.get("/api/v1/runs") for _ in range(8)]
    statuses = [one.status_code for one in ended]
    assert statuses[:3] == [200, 200, 200]
    assert 429 in statuses  # a new minute may have begun on the way
    refused = next(one for one in ended if one.status_code == 429)
    assert 1 <= int(refused.headers["retry-after"]) <= 60


def test_visitors_without_a_key(served: str) -> None:
    # Who says nothing sees nobodys history.
    with client(served) as first, client(served) as second:
        run = first.post("/api/v1/ask", json=QUESTION).json()
        assert second.get("/api/v1/runs").json()["runs"] == []
        assert second.delete("/api/v1/runs").json() == {"deleted": 0}
        assert first.get(f"/api/v1/runs/{run['id']}").status_code == 200
    # Browsers get a cookie with the page and programs none.
    page = {"Accept": "text/html,application/xhtml+xml"}
    with client(served) as browser:
        cookie = browser.get("/", headers=page).headers["set-cookie"]
        assert cookie.startswith(f"{VISITOR}=")
        assert "HttpOnly" in cookie and "SameSite=Lax" in cookie
        assert "set-cookie" not in browser.get("/", headers=page).headers  # it has one now
    with client(served) as program:
        assert "set-cookie" not in program.get("/api/v1/methods").headers


def test_users_whom_a_proxy_names_have_their_own_history(
    sample_place: Workspace, tmp_path: Path
) -> None:
    settings = {
        "proxy_header": "X-Forwarded-User",
        "proxy_scopes": ["ask"],
        "trusted_proxies": ["127.0.0.1"],
        "anonymous": (),
        "database": str(tmp_path / "serve.db"),
    }
    word = {"X-Forwarded-For": "203.0.113.9", "X-Forwarded-Proto": "https"}
    with ServedThread(sample_place, **settings) as server, client(server.url) as proxy:
        ann, bob = {**word, "X-Forwarded-User": "ann"}, {**word, "X-Forwarded-User": "bob"}
        run = proxy.post("/api/v1/ask", json=QUESTION, headers=ann).json()
        assert len(proxy.get("/api/v1/runs", headers=ann).json()["runs"]) == 1
        assert proxy.get("/api/v1/runs", headers=bob).json()["runs"] == []
        assert proxy.get(f"/api/v1/runs/{run['id']}", headers=bob).status_code == 404
        assert proxy.get("/api/v1/runs", headers=word).status_code == 401
        page = {**word, "Accept": "text/html"}
        assert proxy.get("/", headers=page).headers["set-cookie"].endswith("; Secure")


def test_a_key_that_is_revoked_asks_no_more_on_a_connection_that_is_open(
    closed: tuple[str, Path],
) -> None:
    url, database = closed
    row, key = new_key("cid", ["ask"])
    kept(database, row)
    with client(url, key) as caller:
        assert caller.get("/api/v1/me").json()["name"] == "cid"

        async def revoke() -> None:
            store = await Store.open(str(database))
            await store.revoke(row.id)
            await store.close()

        asyncio.run(revoke())
        refused = caller.post("/api/v1/ask", json=QUESTION)
    assert "revoked" in refused.json()["detail"]
