"""Verified answers are listed and withdrawn, also those whose run is forgotten."""

import asyncio
from collections.abc import Iterator

import httpx2
import pytest
from tests.servers.served import ServedThread

from askgraph.serve.identity.api_keys import new_key
from askgraph.serve.identity.principal import Scope
from askgraph.serve.store import Store
from askgraph.workspace import Workspace

QUESTION = {"question": "Which moons are larger than Mercury?", "graphs": ["space"]}
HERE = "/api/v1/graphs/space/verified"


@pytest.fixture(scope="module")
def clients(
    sample_place: Workspace, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[dict[str, httpx2.Client]]:
    """Four callers of a server that lets in keys alone."""
    database = str(tmp_path_factory.mktemp("verified") / "serve.db")
    scopes: dict[str, tuple[Scope, ...]] = {
        "ann": ("ask", "confirm"),
        "bob": ("ask", "confirm"),
        "boss": ("admin",),
        "guest": ("ask",),
    }
    texts = asyncio.run(_keys(database, scopes))
    with ServedThread(sample_place, database=database, anonymous=()) as server:
        callers = {
            name: httpx2.Client(base_url=server.url, headers={"X-API-Key": text}, timeout=30)
            for name, text in texts.items()
        }
        yield callers
        for caller in callers.values():
            caller.close()


def test_an_answer_is_withdrawn_by_who_confirmed_it_after_its_run_is_gone(
    clients: dict[str, httpx2.Client],
) -> None:
    ann, bob = clients["ann"], clients["bob"]
    (one,) = _confirmed(ann)
    assert (one["question"], one["rows"], one["mine"]) == (QUESTION["question"], 2, True)
    assert [(other["id"], other["mine"]) for other in _listed(bob)] == [(one["id"], False)]
    assert ann.delete("/api/v1/runs").json()["deleted"] >= 1
    assert bob.delete(f"{HERE}/{one['id']}").status_code == 403
    assert ann.delete(f"{HERE}/{one['id']}").status_code == 204
    assert _listed(bob) == []
    assert ann.delete(f"{HERE}/{one['id']}").status_code == 404


def test_an_administrator_withdraws_what_anybody_confirmed(
    clients: dict[str, httpx2.Client],
) -> None:
    (one,) = _confirmed(clients["bob"])
    assert clients["boss"].delete(f"{HERE}/{one['id']}").status_code == 204
    assert _listed(clients["bob"]) == []


def test_who_may_not_confirm_does_not_see_them(clients: dict[str, httpx2.Client]) -> None:
    assert clients["guest"].get(HERE).status_code == 403
    assert clients["ann"].get("/api/v1/graphs/nowhere/verified").status_code == 404


def test_who_may_run_no_queries_confirms_none_of_their_own(
    clients: dict[str, httpx2.Client],
) -> None:
    ann, boss = clients["ann"], clients["boss"]
    run = ann.post("/api/v1/ask", json=QUESTION).json()
    here = f"/api/v1/runs/{run['id']}/confirm"
    refused = ann.post(here, json={"query": "SELECT * WHERE { ?s ?p ?o } LIMIT 1"})
    assert refused.status_code == 403
    assert "'query'" in refused.json()["detail"]
    assert ann.post(here, json={"query": run["answer"]["sparql"]}).status_code == 200
    assert ann.delete(here).status_code == 200
    shared = boss.post(here, json={"query": "SELECT * WHERE { ?s ?p ?o } LIMIT 1"})
    assert shared.status_code == 200
    assert boss.delete(here).status_code == 200


def _confirmed(caller: httpx2.Client) -> list[dict[str, object]]:
    run = caller.post("/api/v1/ask", json=QUESTION).json()
    assert caller.post(f"/api/v1/runs/{run['id']}/confirm", json={}).status_code == 200
    return _listed(caller)


def _listed(caller: httpx2.Client) -> list[dict[str, object]]:
    found: list[dict[str, object]] = caller.get(HERE).json()["verified"]
    return found


async def _keys(database: str, scopes: dict[str, tuple[Scope, ...]]) -> dict[str, str]:
    store = await Store.open(database)
    texts = {}
    for name, may in scopes.items():
        key, texts[name] = new_key(name, may)
        await store.add_key(key)
    await store.close()
    return texts
