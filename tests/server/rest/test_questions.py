"""Questions over HTTP: as JSON, as events, in a history, one after another, and as files."""

import csv
import io
import json
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import httpx2
import pytest
from pyoxigraph import RdfFormat, parse
from tests.each import for_each
from tests.servers.key_holders import Locked
from tests.servers.served import ServedThread, Visitor

from askgraph.server.auth import Scope
from askgraph.workspace import Workspace

LARGER = "Which moons are larger than Mercury?"


def events(response: httpx2.Response) -> list[dict[str, Any]]:
    return [json.loads(line[6:]) for line in response.iter_lines() if line.startswith("data: ")]


def test_a_question_its_events_and_history(client: Visitor, served: str) -> None:
    # A question is answered with cells and evidence.
    run = client.ask(LARGER)
    assert run["state"] == "done"
    answer = run["answer"]
    assert [row[0]["label"] for row in answer["cells"]] == ["Ganymede", "Titan"]
    assert answer["status"] == "answer" and "SELECT" in answer["sparql"]
    assert answer["evidence"][0]["words"] and answer["total"] == 2 and run["language"] == "en"
    # The steps come as events and the outcome last.
    head = {"Accept": "text/event-stream"}
    with client.stream("POST", "/api/v1/ask", json={"question": LARGER}, headers=head) as response:
        told = events(response)
    assert [one["seq"] for one in told] == list(range(len(told))) and told[0]["event"] == "run"
    assert {one["event"] for one in told[1:-1]} <= {"step", "queued"}
    assert told[1]["step"]["step"] == "findings"
    assert told[-1]["event"] == "outcome"
    assert told[-1]["run"] == client.get(f"/api/v1/runs/{told[0]['id']}").json()
    # Events are told again from any place.
    id = client.ask(LARGER)["id"]
    with client.stream("GET", f"/api/v1/runs/{id}/events", params={"after": 1}) as response:
        told = events(response)
    assert told[0]["seq"] == 2 and told[-1]["event"] == "outcome"
    # A shared question can be read but not changed by others.
    id = client.ask(LARGER)["id"]
    client.post(f"/api/v1/runs/{id}/share", json={"shared": True}).raise_for_status()
    with Visitor(served) as other:
        assert other.get(f"/api/v1/runs/{id}").json()["mine"] is False
        assert other.post(f"/api/v1/runs/{id}/share", json={"shared": False}).status_code == 404
    # A query that fails cannot be confirmed.
    id = client.ask(LARGER)["id"]
    refused = client.post(f"/api/v1/runs/{id}/confirm", json={"query": "SELECT * WHERE {"})
    assert refused.status_code == 400 and refused.json()["type"].endswith("query-syntax")
    assert client.get(f"/api/v1/runs/{id}").json()["verified"] is False


def test_the_history_has_what_this_visitor_asked_and_can_be_searched(client: Visitor) -> None:
    first, second = client.ask(LARGER), client.ask("How many moons does Neptune have?")
    runs = client.get("/api/v1/runs").json()["runs"]
    assert [run["id"] for run in runs] == [second["id"], first["id"]]
    assert [run["status"] for run in runs] == ["answer", "answer"]
    found = client.get("/api/v1/runs", params={"search": "NEPTUNE"}).json()["runs"]
    assert [run["id"] for run in found] == [second["id"]]


@for_each(
    ("refused", "alone"),
    ("What is the population of Jupiter?", LARGER),
    ("Welche Einwohnerzahl hat Zorbax?", "Welche Planeten haben Monde?"),
    ("Combien de zorbax ?", "Combien de moons ?"),
    ("¿Cuántos zorbax hay?", "¿Cuántas lunas tiene Saturno?"),
)
def test_after_a_refusal_a_question_of_its_own_is_answered_and_a_change_is_no_error(
    client: Visitor, refused: str, alone: str
) -> None:
    first = client.ask(refused)
    assert first["answer"]["status"] != "answer"
    assert client.ask(alone, after=first["id"])["answer"]["status"] == "answer"
    changed = client.ask("only the first two", after=first["id"])
    assert changed["answer"]["status"] in ("answer", "refusal")


def test_sharing_forgetting_and_confirming(client: Visitor, served: str) -> None:
    # Who shares a follow up does not share what was asked before.
    first = client.ask("Which moons has Mars?")
    second = client.ask("And Jupiter?", after=first["id"])
    path = f"/api/v1/runs/{second['id']}"
    client.post(f"{path}/share", json={"shared": True}).raise_for_status()
    assert client.get(path).json()["before"] == [{"question": "Which moons has Mars?"}]
    with Visitor(served) as other:
        assert other.get(path).json()["before"] == []
        assert other.get(f"{path}/trace").status_code == 404
        assert "Mars" not in other.get(f"{path}/events").text
        third = other.ask("And Saturn?", after=second["id"])
        assert third["before"] == [{"question": "And Jupiter?"}]
        assert "Which moons has Mars" not in other.get(f"/api/v1/runs/{third['id']}/trace").text
        assert other.get("/api/v1/runs").json()["runs"][0]["follows"] is None
    assert "Mars" in client.get(f"{path}/trace").text
    listed = client.get("/api/v1/runs").json()["runs"]
    followed = {one["id"]: one["follows"] for one in listed}
    assert (followed[second["id"]], followed[first["id"]]) == ("Which moons has Mars?", None)
    # A question forgotten is gone.
    id = client.ask(LARGER)["id"]
    assert client.delete(f"/api/v1/runs/{id}").status_code == 204
    assert client.get(f"/api/v1/runs/{id}").status_code == 404
    # The trace is one that the command line reads.
    from askgraph.trace.codec import parse_trace

    id = client.ask(LARGER)["id"]
    trace, head = parse_trace(client.get(f"/api/v1/runs/{id}/trace").text, "there")
    assert trace.question.text == LARGER and trace.method == "graph-search"
    assert [graph.name for graph in head.graphs] == ["space"] and len(trace.steps) > 2
    # An answer confirmed is given at once and after withdrawal no more.
    question = "How many moons has the planet Neptune?"
    id = client.ask(question)["id"]
    assert client.post(f"/api/v1/runs/{id}/confirm", json={}).json()["verified"] is True
    assert client.ask(question)["answer"]["confirmed"]["question"] == question
    assert client.ask(question, anew=True)["answer"]["confirmed"] is None
    assert client.delete(f"/api/v1/runs/{id}/confirm").json()["verified"] is False
    assert client.ask(question)["answer"]["confirmed"] is None


def test_feedback_readings_and_edited_queries(client: Visitor) -> None:
    # What is said of an answer is kept.
    id = client.ask(LARGER)["id"]
    said = {"verdict": "wrong", "comment": "Callisto is missing"}
    client.post(f"/api/v1/runs/{id}/feedback", json=said).raise_for_status()
    assert client.get(f"/api/v1/runs/{id}").json()["feedback"] == said
    # A reading that was offered can be chosen.
    run = client.ask("How many missions are there to Jupiter?", settings={"answer_from": 1.0})
    answer = run["answer"]
    assert answer["status"] == "clarification"
    chosen = client.post(f"/api/v1/runs/{run['id']}/choose", json={"option": 1}).json()
    assert chosen["answer"]["status"] == "answer"
    assert chosen["answer"]["sparql"] == answer["options"][1]["query"] and chosen["id"] != run["id"]
    assert chosen["changes"] == run["id"]
    assert client.post(f"/api/v1/runs/{run['id']}/choose", json={"option": 99}).status_code == 422
    # A query of ones own is a run that can be followed and downloaded.
    run = client.ask(LARGER)
    query = "SELECT ?planet WHERE { ?planet a ont:Planet } ORDER BY ?planet"
    edited = client.post(f"/api/v1/runs/{run['id']}/edit", json={"query": query}).json()
    assert edited["question"] == "Planets, sorted by planet" and edited["changes"] == run["id"]
    assert edited["changed_from"] == LARGER
    assert edited["session"] == run["session"] and edited["answer"]["sparql"] == query
    assert edited["answer"]["total"] == 8
    assert client.get(f"/api/v1/runs/{edited['id']}").json()["answer"] == edited["answer"]
    rows = client.get(f"/api/v1/runs/{edited['id']}/result").text.splitlines()
    assert rows[0] == "planet" and len(rows) == 9
    lines = client.get("/api/v1/runs").json()["runs"]
    (line,) = (line for line in lines if line["id"] == edited["id"])
    assert (line["changes"], line["changed_from"]) == (run["id"], LARGER)
    found = client.get("/api/v1/runs", params={"search": "Mercury"}).json()["runs"]
    assert edited["id"] in {one["id"] for one in found}
    # The trace, another change and a follow-up have its words, too; the same query changes none.
    assert (
        f"changed the query of '{LARGER}'" in client.get(f"/api/v1/runs/{edited['id']}/trace").text
    )
    same = client.post(f"/api/v1/runs/{edited['id']}/edit", json={"query": query}).json()
    assert (same["question"], same["changed_from"]) == (edited["question"], LARGER)
    after = client.ask("And which of them have rings?", after=edited["id"])
    moons = client.post(
        f"/api/v1/runs/{after['id']}/edit", json={"query": "SELECT ?moon { ?moon a ont:Moon }"}
    ).json()
    assert [one["question"] for one in moons["before"]] == [edited["question"]]
    # It is confirmed in its own words, although the question that it was changed from follows one.
    assert client.post(f"/api/v1/runs/{moons['id']}/confirm", json={}).json()["verified"] is True
    (one,) = client.get(HERE).json()["verified"]
    assert (one["question"], one["shared"]) == (moons["question"], False)
    assert client.delete(f"/api/v1/runs/{moons['id']}/confirm").json()["verified"] is False


@pytest.mark.parametrize("query", ["SELECT ?x WHERE {", "DELETE WHERE { ?s ?p ?o }"])
def test_a_query_that_cannot_be_run_changes_nothing(client: Visitor, query: str) -> None:
    run = client.ask(LARGER)
    before = len(client.get("/api/v1/runs").json()["runs"])
    refused = client.post(f"/api/v1/runs/{run['id']}/edit", json={"query": query})
    assert refused.status_code in (400, 403)
    assert len(client.get("/api/v1/runs").json()["runs"]) == before


@for_each(
    ("path", "body"),
    ("/sessions", {"title": "a\0"}),
    ("/runs/any/feedback", {"verdict": "right", "comment": "a\0"}),
    ("/runs/any/confirm", {"query": "ASK {}\0"}),
    ("/graphs", {"name": "a\0", "url": "http://example.org/"}),
    ("/runs/a%00/cancel", {}),
    ("/sessions?limit=1&x=%00", {"title": "a"}),
)
def test_text_with_a_nul_is_kept_nowhere(
    client: Visitor, path: str, body: dict[str, object]
) -> None:
    response = client.post(f"/api/v1{path}", json=body)
    assert response.status_code == 422, response.text
    assert "NUL" in response.json()["detail"]


def test_sessions_hold_their_questions(client: Visitor) -> None:
    session = client.post("/api/v1/sessions", json={"title": "Moons"}).json()["id"]
    client.ask(LARGER, session=session)
    client.ask("How many moons does Neptune have?", session=session)
    view = client.get(f"/api/v1/sessions/{session}").json()
    assert view["title"] == "Moons" and [one["question"] for one in view["questions"]][1] == LARGER
    client.patch(f"/api/v1/sessions/{session}", json={"title": "Big moons"}).raise_for_status()
    assert client.get("/api/v1/sessions").json()["sessions"][0]["title"] == "Big moons"
    assert client.delete(f"/api/v1/sessions/{session}").status_code == 204
    assert client.get("/api/v1/runs").json()["runs"] == []


def test_the_methods_say_what_they_need_and_cost(client: Visitor) -> None:
    client.ask(LARGER)
    told = client.get("/api/v1/methods").json()
    methods = {one["name"]: one for one in told["methods"]}
    assert told["default"] == "auto" and methods["auto"]["usable"]
    assert not methods["auto"]["needs_model"] and methods["graph-search"]["usable"]
    assert methods["graph-search"]["questions"] >= 1 and methods["graph-search"]["money"] == 0
    assert methods["grasp"]["needs_model"]
    assert "no language model is configured" in methods["grasp"]["missing"]


QUESTION = "Which moons are larger than Mercury?"


@pytest.fixture
def run(client: Visitor) -> str:
    id: str = client.ask(QUESTION)["id"]
    return id


def test_downloads_and_next_questions(client: Visitor, run: str) -> None:
    # All rows come as csv.
    file = client.get(f"/api/v1/runs/{run}/result")
    assert file.headers["content-type"].startswith("text/csv")
    assert file.headers["content-disposition"].startswith("attachment")
    rows = list(csv.reader(io.StringIO(file.text)))
    assert rows == [
        ["moon"],
        ["https://example.org/space/Ganymede"],
        ["https://example.org/space/Titan"],
    ]
    # The triples behind the rows come as turtle.
    file = client.get(f"/api/v1/runs/{run}/result", params={"format": "ttl"})
    triples = {str(quad.triple.subject) for quad in parse(file.content, RdfFormat.TURTLE)}
    assert "<https://example.org/space/Ganymede>" in triples
    assert "<https://example.org/space/Mercury>" in triples and "@prefix space:" in file.text
    # A result that is not there is said.
    id = client.post("/api/v1/ask", json={"question": "Colourless green ideas?"}).json()["id"]
    assert client.get("/api/v1/runs/nothing/result").status_code == 404
    assert client.get(f"/api/v1/runs/{id}/result", params={"format": "exe"}).status_code == 422
    # An answer has questions that may follow it.
    neptune = client.ask("Which moons does Neptune have?")
    found = client.get(f"/api/v1/runs/{neptune['id']}/next").json()["questions"]
    assert len(found) == 3 and "And Mars?" in found
    told = client.ask("And Mars?", after=neptune["id"], session=neptune["session"])["answer"]
    assert told["total"] == 2
    refused = client.ask("Who won the 2010 World Cup?")
    assert client.get(f"/api/v1/runs/{refused['id']}/next").json() == {"questions": []}


ASKED = {"question": "Which moons are larger than Mercury?", "graphs": ["space"]}
HERE = "/api/v1/graphs/space/verified"


@pytest.fixture
def clients(locked: Locked) -> Iterator[dict[str, httpx2.Client]]:
    """Four callers of a server that lets in keys alone."""
    scopes: dict[str, tuple[Scope, ...]] = {
        "ann": ("ask", "confirm"),
        "bob": ("ask", "confirm"),
        "boss": ("admin",),
        "guest": ("ask",),
    }
    with ExitStack() as stack:
        yield {
            name: stack.enter_context(locked.client(*may, name=name))
            for name, may in scopes.items()
        }


def test_who_may_withdraw_and_confirm(clients: dict[str, httpx2.Client]) -> None:
    # An answer is withdrawn by who confirmed it after its run is gone.
    ann, bob = clients["ann"], clients["bob"]
    (one,) = _confirmed(ann)
    assert (one["question"], one["rows"], one["mine"]) == (ASKED["question"], 2, True)
    assert [(other["id"], other["mine"]) for other in _listed(bob)] == [(one["id"], False)]
    assert ann.delete("/api/v1/runs").json()["deleted"] >= 1
    assert bob.delete(f"{HERE}/{one['id']}").status_code == 403
    assert ann.delete(f"{HERE}/{one['id']}").status_code == 204 and _listed(bob) == []
    assert ann.delete(f"{HERE}/{one['id']}").status_code == 404
    # An administrator withdraws what anybody confirmed.
    (one,) = _confirmed(clients["bob"])
    assert clients["boss"].delete(f"{HERE}/{one['id']}").status_code == 204
    assert _listed(clients["bob"]) == []
    # Who may not confirm does not see them.
    assert clients["guest"].get(HERE).status_code == 403
    assert clients["ann"].get("/api/v1/graphs/nowhere/verified").status_code == 404
    # Who may run no queries confirms none of their own.
    ann, boss = clients["ann"], clients["boss"]
    run = ann.post("/api/v1/ask", json=ASKED).json()
    here = f"/api/v1/runs/{run['id']}/confirm"
    refused = ann.post(here, json={"query": "SELECT * WHERE { ?s ?p ?o } LIMIT 1"})
    assert refused.status_code == 403 and "'query'" in refused.json()["detail"]
    assert ann.post(here, json={"query": run["answer"]["sparql"]}).status_code == 200
    assert ann.delete(here).status_code == 200
    assert boss.post(here, json={"query": "SELECT * WHERE { ?s ?p ?o } LIMIT 1"}).status_code == 200
    assert boss.delete(here).status_code == 200


def test_who_gets_a_confirmed_answer(clients: dict[str, httpx2.Client]) -> None:
    ann, bob = clients["ann"], clients["bob"]

    def standing() -> tuple[Any, ...]:
        given = [
            clients[name].post("/api/v1/ask", json=ASKED).json()["answer"]["confirmed"] is not None
            for name in ("ann", "bob", "boss", "guest")
        ]
        one = next(one for one in _listed(ann) if not one["disputed"])
        return (*given, one["confirmations"], one["disputes"], one["shared"])

    def judge(name: str, verdict: str) -> None:
        response = clients[name].post(f"{HERE}/{first['id']}", json={"verdict": verdict})
        assert response.status_code == 200, response.text

    # The person who confirmed it does, everybody after a second confirmation, ...
    (first,) = _confirmed(ann)
    assert standing() == (True, False, False, False, 1, 0, False)
    _confirmed(bob)
    assert standing() == (True, True, True, True, 2, 0, True)
    # ... nobody but those who confirmed it while it is disputed, ...
    judge("boss", "wrong")
    assert standing() == (True, True, False, False, 2, 1, False)
    # ... and a person has one opinion.
    judge("boss", "right")
    judge("bob", "wrong")
    assert standing() == (True, False, True, False, 2, 1, False)
    # An administrator withdraws all of them.
    for one in _listed(ann):
        assert clients["boss"].delete(f"{HERE}/{one['id']}").status_code == 204
    assert clients["guest"].post(f"{HERE}/x", json={"verdict": "wrong"}).status_code == 403
    assert ann.post(f"{HERE}/x", json={"verdict": "wrong"}).status_code == 404


@for_each(("confirmations", "is_given"), [(1, True), (2, False)])
def test_an_operator_may_let_one_confirmation_count_for_all(
    sample_place: Workspace, tmp_path: Path, confirmations: int, is_given: bool
) -> None:
    database = str(tmp_path / "serve.db")
    with (
        ServedThread(sample_place, database=database, confirmations=confirmations) as server,
        httpx2.Client(base_url=server.url, timeout=600) as anybody,
        Visitor(server.url) as visitor,
    ):
        run = anybody.post("/api/v1/ask", json=ASKED).json()
        assert anybody.post(f"/api/v1/runs/{run['id']}/confirm", json={}).json()["verified"] is True
        # Callers without a key or cookie cannot be told apart: it is nobody's own.
        again = anybody.post("/api/v1/ask", json=ASKED).json()["answer"]["confirmed"]
        other = visitor.ask(LARGER)["answer"]["confirmed"]
        assert (again is not None, other is not None) == (is_given, is_given)


def _confirmed(caller: httpx2.Client) -> list[dict[str, Any]]:
    run = caller.post("/api/v1/ask", json=ASKED).json()
    assert caller.post(f"/api/v1/runs/{run['id']}/confirm", json={}).status_code == 200
    return _listed(caller)


def _listed(caller: httpx2.Client) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = caller.get(HERE).json()["verified"]
    return found
