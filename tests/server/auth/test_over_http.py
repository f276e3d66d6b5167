"""Keys, cookies and limits as clients of the server meet them."""

from pathlib import Path

import httpx2
from tests.servers.key_holders import Locked
from tests.servers.served import ServedThread

from askgraph.server.auth import LimitOverrides
from askgraph.server.auth.identify import VISITOR_COOKIE
from askgraph.workspace import Workspace

QUESTION = {"question": "Which moons are larger than Mercury?", "graphs": ["space"]}


def client(url: str) -> httpx2.Client:
    return httpx2.Client(base_url=url, timeout=30)


def test_keys_and_sharing_over_http(locked: Locked) -> None:
    # A server that is closed says how to come in.
    with client(locked.url) as nobody:
        refused = nobody.post("/api/v1/ask", json=QUESTION)
    assert refused.status_code == 401
    assert refused.headers["content-type"] == "application/problem+json"
    assert refused.headers["www-authenticate"].startswith("Bearer")
    assert "API key" in refused.json()["detail"]
    # A key asks and keeps its own history.
    with locked.client("ask") as first, locked.client("ask") as second:
        run = first.post("/api/v1/ask", json=QUESTION).json()
        assert run["state"] == "done"
        assert [one["id"] for one in first.get("/api/v1/runs").json()["runs"]] == [run["id"]]
        assert second.get("/api/v1/runs").json()["runs"] == []
        path = f"/api/v1/runs/{run['id']}"
        assert second.get(path).status_code == 404
        assert first.post(f"{path}/confirm", json={}).status_code == 403
        # A shared question is read by who may ask alone.
        first.post(f"{path}/share", json={"shared": True}).raise_for_status()
        with locked.client("query") as queries, client(locked.url) as nobody:
            for other, status in ((second, 200), (queries, 403), (nobody, 401)):
                for part in ("", "/trace", "/events"):
                    assert other.get(f"{path}{part}").status_code == status


def test_the_bounds_of_a_key_over_http(locked: Locked) -> None:
    # A graph that a key is not for is as if it were not there.
    with locked.client("ask", graphs=["rocks"]) as caller:
        there = caller.post("/api/v1/ask", json=QUESTION)
        nowhere = caller.post("/api/v1/ask", json={**QUESTION, "graphs": ["nowhere"]})
    assert there.status_code == nowhere.status_code == 404
    assert there.json()["detail"].replace("space", "nowhere") == nowhere.json()["detail"]
    # An answer to a query of ones own needs the scope and the graph.
    with locked.client("ask") as asks, locked.client("query", graphs=["rocks"]) as elsewhere:
        for caller, status in ((asks, 403), (elsewhere, 404)):
            reply = caller.post("/api/v1/graphs/space/answer", json={"query": "ASK { ?s ?p ?o }"})
            assert reply.status_code == status
    # A key makes no more requests than it may.
    with locked.client("ask", limits=LimitOverrides(requests_per_minute=3)) as caller:
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
        assert cookie.startswith(f"{VISITOR_COOKIE}=")
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


def test_a_key_that_is_revoked_asks_no_more_on_a_connection_that_is_open(locked: Locked) -> None:
    with locked.client("ask", name="cid") as caller:
        me = caller.get("/api/v1/me").json()
        assert me["name"] == "cid"
        locked.change(lambda store: store.revoke_key(me["id"].removeprefix("key:")))
        refused = caller.post("/api/v1/ask", json=QUESTION)
    assert "revoked" in refused.json()["detail"]
