"""A graph is taught over REST, and the next question is answered by it."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx2
import pytest
from tests.fleet import FLEET, ONTO
from tests.servers.served import ServedThread

from askgraph.workspace import Workspace

PATH = "/api/v1/graphs/fleet/glossary"
VEHICLES = {"word": "vehicles", "means": ["car", "lorry"]}


@pytest.fixture
def place(tmp_path: Path) -> Workspace:
    (tmp_path / "fleet.ttl").write_text(FLEET)
    workspace = Workspace(tmp_path / "workspace")
    workspace.add("fleet", [tmp_path / "fleet.ttl"])
    return workspace


@pytest.fixture
def fleet(place: Workspace) -> Iterator[httpx2.Client]:
    with ServedThread(place) as server, server.client() as client:
        yield client


def words_of(client: httpx2.Client, question: str) -> str:
    reply = client.post("/api/v1/ask", json={"question": question, "graphs": ["fleet"]})
    assert reply.status_code == 200, reply.text
    return str(reply.json()["answer"]["words"])


def test_teaching_over_http(fleet: httpx2.Client, place: Workspace) -> None:
    # What is taught answers the next question and is forgotten again.
    question = "How many vehicles are there?"
    assert "taught" not in words_of(fleet, question)
    told = fleet.post(PATH, json={"entries": [VEHICLES], "instructions": "Weights are in kg."})
    assert told.status_code == 200
    assert told.json() == {
        "instructions": "Weights are in kg.",
        "entries": [
            {
                "word": "vehicles",
                "means": [
                    {"iri": f"{ONTO}Car", "label": "car"},
                    {"iri": f"{ONTO}Lorry", "label": "lorry"},
                ],
                "same_as": "",
                "query": "",
                "wording": {},
                **{"kind": "", "description": "", "definition": {}},
            }
        ],
    }
    assert "“vehicles” means cars and lorries (taught)" in words_of(fleet, question)
    assert fleet.get(PATH).json() == told.json()
    left = fleet.delete(PATH, params={"word": "vehicle"})
    assert left.json() == {"instructions": "Weights are in kg.", "entries": []}
    assert "taught" not in words_of(fleet, question)


def test_a_correction_over_http_proposes_a_word_with_its_effect(fleet: httpx2.Client) -> None:
    fleet.cookies.set("askgraph_visitor", "m" * 32)

    def post(path: str, **body: object) -> dict[str, Any]:
        reply = fleet.post(f"/api/v1/{path}", json=body)
        assert reply.status_code == 200, reply.text
        return dict(reply.json())

    ids = [
        post("ask", question=f"What is the zork of the {name}?")["id"] for name in ("Dart", "Mule")
    ]
    right = "SELECT ?x { <http://fleet.example/%s> o:weight ?x }"
    post(f"runs/{ids[0]}/confirm", query=right % "c2")
    # A changed reading is a correction of the question that was asked.
    changed = post(f"runs/{ids[1]}/edit", query=right % "l1")["id"]
    told = post(f"runs/{changed}/lessons")
    word, example = told["lessons"]
    assert told["run"] == ids[1] and example["word"] is None
    assert (word["word"], word["means"]) == ("zork", [f"{ONTO}weight"])
    effect = word["effect"]
    assert effect["corrects"] and effect["improved"] == ["What is the zork of the Dart?"]
    assert fleet.get(PATH).json()["entries"] == []
    # Words before a class mean all that no other word says of it.
    run = post("ask", question="How many tiny cars are there?")["id"]
    light = "SELECT (COUNT(?c) AS ?n) { ?c a o:Car ; o:weight ?w FILTER(?w < 1000) }"
    condition, _ = post(f"runs/{run}/lessons", query=light)["lessons"]
    assert (condition["word"], condition["means"]) == ("tiny cars", [])
    assert condition["definition"]["of"] == f"{ONTO}Car"
    assert condition["label"] == condition["definition"]["pattern"]
    assert "FILTER(?w < 1000)" in condition["label"] and condition["effect"]["corrects"]
    post("graphs/fleet/glossary", entries=[{k: condition[k] for k in ("word", "definition")}])
    assert "as defined" in words_of(fleet, "Which tiny cars are there?")


def test_what_another_process_taught_is_known_with_the_next_question(
    fleet: httpx2.Client, place: Workspace
) -> None:
    assert "taught" not in words_of(fleet, "How many vehicles are there?")
    file = place.get_glossary_file("fleet")
    file.parent.mkdir()
    file.write_text(f'[[entry]]\nword = "vehicles"\nmeans = ["{ONTO}Lorry"]\n')
    assert "“vehicles” means lorries (taught)" in words_of(fleet, "How many vehicles are there?")


def test_a_definition_goes_over_http_and_back(fleet: httpx2.Client) -> None:
    table = {
        **{"of": f"{ONTO}Car", "pattern": "?this o:weight 1200", "description": "A car of 1.2 t."},
        "synonyms": {"de": ["schweres Auto"]},
    }
    body = {"entries": [{"word": "heavy car", "definition": table}]}
    (entry,) = fleet.post(PATH, json=body).json()["entries"]
    assert (entry["kind"], entry["description"]) == ("condition", "A car of 1.2 t.")
    assert entry["definition"] == table
    assert "“heavy car”, as defined: A car of 1.2 t" in words_of(fleet, "Which heavy cars exist?")
    assert fleet.delete(PATH, params={"word": "heavy cars"}).json()["entries"] == []


def test_only_who_may_manage_may_teach(place: Workspace) -> None:
    with ServedThread(place, anonymous=("ask",)) as server, server.client() as client:
        assert client.get(PATH).status_code == 200
        assert client.post(PATH, json={"entries": [VEHICLES]}).status_code == 401
        assert client.delete(PATH, params={"word": "vehicles"}).status_code == 401
        assert client.get("/api/v1/graphs/none/glossary").status_code == 404
    assert not place.load_glossary("fleet")


REFUSED = (
    ({"word": "x1", "means": ["cra"]}, "nothing in the graph 'fleet'"),
    ({"word": "x1"}, "say what 'x1' means by one of means, same_as, query"),
    ({"word": "x1", "query": "SELECT {"}, "the query of 'x1' cannot be used"),
    ({"word": "x1", "thing": "y"}, "thing"),
    ({"word": "", "means": ["car"]}, "word"),
)


def test_what_cannot_be_taught_is_refused(fleet: httpx2.Client) -> None:
    for entry, said in REFUSED:
        reply = fleet.post(PATH, json={"entries": [entry]})
        assert reply.status_code == 422 and said in reply.text
    assert fleet.get(PATH).json()["entries"] == []
