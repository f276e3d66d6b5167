"""What the server tells of a graph: summary, profile, instances, things, starters, examples."""

from pathlib import Path

import pytest
from tests.each import for_each
from tests.graphs import MOONS, store_of
from tests.servers.served import ServedThread, Visitor
from tests.servers.sparql import SparqlServer

from askgraph.workspace import Workspace

SPACE = "https://example.org/space/"
ONT = "https://example.org/space/ontology#"


def test_the_graphs_and_their_picture(client: Visitor) -> None:
    # The graphs are listed with their sizes and without their folders.
    listed = client.get("/api/v1/graphs").json()["graphs"]
    assert [one["name"] for one in listed] == ["space"] and listed == [
        client.get_json("graphs/space")
    ]
    assert (listed[0]["source"], listed[0]["remote"]) == ("space.ttl", False)
    assert listed[0]["triples"] > 5000 and {"en", "de", "es"} <= set(listed[0]["languages"])
    # A picture has the largest classes and their links.
    told = client.get_json("graphs/space/picture", language="de")
    classes = {one["iri"]: one for one in told["classes"]}
    assert len(classes) == 12
    assert (classes[ONT + "Astronaut"]["label"], classes[ONT + "Astronaut"]["instances"]) == (
        "Astronaut",
        169,
    )
    links = {(one["source"], one["target"]): one for one in told["links"]}
    found = links[ONT + "Astronaut", ONT + "Country"]
    assert (found["label"], found["triples"]) == ("Staatsangehörigkeit", 171)
    assert all({one["source"], one["target"]} <= classes.keys() for one in links.values())
    # A graph that is not there is missing everywhere.
    for path in (
        "",
        "/profile",
        "/picture",
        "/starters",
        "/board",
        "/examples",
        "/vocabulary",
        "/complete?q=mars",
    ):
        response = client.get(f"/api/v1/graphs/nowhere{path}")
        assert response.status_code == 404, path
        assert response.json()["detail"] == "there is no graph 'nowhere'; available: space"


def test_a_board_is_made_of_a_graph_and_kept_only_on_request(client: Visitor) -> None:
    board = client.get_json("graphs/space/board")
    questions = [pin["question"] for pin in board["content"]]
    assert (board["id"], board["total_classes"], len(board["classes"])) == ("", 23, 12)
    assert len({*questions, *board["questions"]}) == len(questions) + len(board["questions"])
    assert 4 <= len(questions) <= 6 and all(pin["answer"]["total"] for pin in board["content"])
    assert not any(pin["changes"] or pin["problem"] or pin["run"] for pin in board["content"])
    assert client.get_json("runs")["runs"] == client.get_json("boards")["boards"] == []
    kept = client.post_json("boards", title="Space", graph="space")
    assert [pin["question"] for pin in kept["content"]] == questions
    fresh = client.post_json(f"boards/{kept['id']}/refresh")
    assert not any(pin["changes"] or pin["problem"] for pin in fresh["content"])
    response = client.post("/api/v1/boards", json={"title": "None", "graph": "nowhere"})
    assert response.status_code == 404
    assert len(client.get_json("boards")["boards"]) == 1
    # The sample's board has the same questions, whether or not it is among the graphs.
    sample = client.get_json("sample/board", language="de")
    assert sample["content"] and sample["title"] == "space"


@for_each(
    ("language", "said"),
    [
        ("en", "Holds astronauts, robotic missions, crewed missions, scientists, moons and 17"),
        ("de", "Enthält Astronauten, unbemannte Missionen, bemannte Missionen, Wissenschaftler,"),
        ("fr", "Contient : astronauts, "),
        ("es", "Contiene: astronautas, "),
        ("ja", "Holds astronauts, "),
    ],
)
def test_a_graph_that_does_not_describe_itself_is_described_by_its_classes(
    client: Visitor, language: str, said: str
) -> None:
    told = client.get_json("graphs/space", language=language)["description"]
    assert isinstance(told, str) and told.startswith(said)
    listed = client.get("/api/v1/graphs", params={"language": language}).json()["graphs"]
    assert listed[0]["description"] == told


def test_a_graph_is_described_in_its_own_words(tmp_path: Path) -> None:
    data = tmp_path / "pets.ttl"
    data.write_text(
        "<x:o> a <http://www.w3.org/2002/07/owl#Ontology> ; "
        '<http://www.w3.org/2000/01/rdf-schema#comment> "Our pets"@en, "Unsere Haustiere"@de .'
    )
    workspace = Workspace(tmp_path)
    workspace.add("pets", [data])
    with ServedThread(workspace) as served, Visitor(served.url) as client:
        told = [
            client.get_json("graphs/pets", language=tag)["description"]
            for tag in ("en", "de", "es")
        ]
    assert told == ["Our pets", "Unsere Haustiere", "Our pets"]


def test_profiles_and_instances(client: Visitor) -> None:
    # A profile has labels counts and examples.
    told = client.get_json("graphs/space/profile", language="de")
    classes = {one["iri"]: one for one in told["classes"]}
    predicates = {one["iri"]: one for one in told["predicates"]}
    planet = classes[ONT + "Planet"]
    assert (planet["label"], planet["instances"]) == ("Planet", 8)
    assert planet["parents"] == [ONT + "CelestialBody"] and planet["examples"][0]["label"] == "Erde"
    orbits = predicates[ONT + "orbits"]
    assert orbits["label"] == "umkreist" and orbits["object_classes"][0]["count"] > 10
    assert predicates[ONT + "discoverer"]["example"]
    # A profile comes in pages and can be searched.
    whole = client.get_json("graphs/space/profile")
    page = client.get_json("graphs/space/profile", offset=1, limit=2)
    found = client.get_json("graphs/space/profile", search="LAUNCH")
    assert page["classes"] == whole["classes"][1:3]
    assert page["total_classes"] == whole["total_classes"] == len(whole["classes"])
    labels = [one["label"] for one in found["predicates"]]
    assert "launch date" in labels
    assert found["total_predicates"] == len(labels) < len(whole["predicates"])
    # Instances come in pages.
    first = client.get_json("graphs/space/instances", **{"class": ONT + "Planet", "limit": 5})
    rest = client.get_json(
        "graphs/space/instances", **{"class": ONT + "Planet", "limit": 5, "offset": 5}
    )
    names = [one["label"] for page in (first, rest) for one in page["instances"]]
    assert len(names) == len(set(names)) == first["total"] == 8
    assert first["class"]["label"] == "planet"


def test_things_and_their_values(client: Visitor) -> None:
    # A thing is told with what points at it.
    mars = client.get_json("graphs/space/resource", iri=SPACE + "Mars", language="es")
    facts = {one["predicate"]["value"]: one for one in mars["outgoing"]}
    pointing = {one["predicate"]["value"]: one for one in mars["incoming"]}
    assert mars["label"] == "Marte"
    assert "planeta" in [one["label"] for one in mars["types"]]
    assert facts[ONT + "orbits"]["values"][0]["label"] == "Sol"
    assert facts[ONT + "diameter"]["values"][0]["datatype"].endswith("#decimal")
    assert {one["value"] for one in pointing[ONT + "orbits"]["values"]} == {
        SPACE + "Phobos",
        SPACE + "Deimos",
    }
    assert pointing[ONT + "destination"]["total"] == 21
    assert len(pointing[ONT + "destination"]["values"]) == 20
    # The values of one predicate come in pages.
    page = client.get_json(
        "graphs/space/resource", iri=SPACE + "Mars", predicate=ONT + "destination", offset=20
    )
    assert page["outgoing"] == []
    assert [len(one["values"]) for one in page["incoming"]] == [1]
    # A nameless thing that links others has their names.
    (crew,) = client.get_json("graphs/space/resource", iri=SPACE + "Apollo_11")["incoming"]
    assert "commander, Neil Armstrong" in [value["label"] for value in crew["values"]]
    # Of an iri that is not there nothing is told.
    told = client.get_json("graphs/space/resource", iri="http://nowhere/x")
    assert (told["outgoing"], told["incoming"], told["label"]) == ([], [], "x")
    # There are questions to start with that have answers.
    for language in ("en", "de", "es"):
        questions = client.get_json("graphs/space/starters", language=language)["questions"]
        assert isinstance(questions, list) and 3 <= len(questions) <= 8
        body = {"question": questions[0], "language": language}
        answer = client.post("/api/v1/ask", json=body).json()["answer"]
        assert (answer["status"], answer["total"] > 0) == ("answer", True), questions[0]


@for_each(
    ("iri", "status", "words"),
    [
        ("Mars", 400, "is not an IRI"),
        ("http://x/> ?p ?o } #", 400, "is not an IRI"),
        ("http://x/a b", 400, "is not an IRI"),
        ("\x00", 422, "NUL"),
    ],
)
def test_what_is_no_iri_is_refused(client: Visitor, iri: str, status: int, words: str) -> None:
    response = client.get("/api/v1/graphs/space/resource", params={"iri": iri})
    assert (response.status_code, words in response.text) == (status, True)


def test_a_confirmed_question_becomes_an_example_and_a_starter(client: Visitor) -> None:
    question = "Which planets are wider than the Earth?"
    run = client.post("/api/v1/ask", json={"question": question, "language": "en"}).json()["id"]
    client.post(f"/api/v1/runs/{run}/confirm", json={}).raise_for_status()
    try:
        told = client.get_json("graphs/space/examples", search="wider")
        assert told["total"] == 1
        example = told["examples"][0]
        assert (example["question"], example["origin"]) == (question, "confirmed")
        assert example["query"].startswith("PREFIX ")
        assert client.get_json("graphs/space/starters")["questions"][0] == question
    finally:
        client.delete(f"/api/v1/runs/{run}/confirm").raise_for_status()
    assert client.get_json("graphs/space/examples", search="wider")["total"] == 0


def test_a_remote_graph_is_asked_for_what_it_says(tmp_path_factory: pytest.TempPathFactory) -> None:
    folder = tmp_path_factory.mktemp("remote")
    with SparqlServer(store_of(MOONS)) as remote:
        workspace = Workspace(folder)
        workspace.add("moons", [f"{remote.url}?key=secret"])
        with ServedThread(workspace) as server, Visitor(server.url) as client:
            summary = client.get_json("graphs/moons")
            jupiter = client.get_json(
                "graphs/moons/resource", iri="http://example.org/Jupiter", limit=1
            )
            moons = client.get_json(
                "graphs/moons/instances", **{"class": "http://example.org/onto#Moon"}
            )
            starters = client.get_json("graphs/moons/starters")

    assert (summary["remote"], summary["source"]) == (True, remote.url)
    assert jupiter["label"] == "Jupiter"
    orbits = jupiter["incoming"][0]
    assert (orbits["total"], len(orbits["values"])) == (2, 1) and moons["total"] == 3
    assert starters["questions"]
