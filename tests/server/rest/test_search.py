"""Names found, completed and listed."""

from typing import Any

from tests.each import for_each
from tests.servers.served import Visitor

SPACE = "https://example.org/space/"
ONT = "https://example.org/space/ontology#"


def hits(client: Visitor, **parameters: object) -> Any:
    return client.get_json("graphs/space/search", **parameters)["hits"]


def completed(client: Visitor, q: str, **more: object) -> Any:
    return client.get_json("graphs/space/complete", q=q, **more)["completions"]


@for_each(
    ("q", "kind", "iri"),
    ("red planet", "entity", SPACE + "Mars"),
    ("mond", "class", ONT + "Moon"),
    ("Umlaufzeit", "property", ONT + "orbitalPeriod"),
)
def test_things_are_found_by_any_of_their_names(
    client: Visitor, q: str, kind: str, iri: str
) -> None:
    found = hits(client, q=q, kind=kind, limit=5)
    assert found[0]["iri"] == iri and found[0]["kind"] == kind


def test_hits_and_completions(client: Visitor) -> None:
    # A hit has the asker s label and the name that matched.
    first = hits(client, q="red planet", language="de", limit=1)[0]
    assert (first["label"], first["name"]) == ("Mars", "Red Planet") and hits(client, q="…") == []
    # The last words typed are completed.
    found = completed(client, "Which moons orbit Sat")
    assert (found[0]["text"], found[0]["iri"]) == ("Saturn", SPACE + "Saturn")
    assert found[0]["start"] == len("Which moons orbit ") and found[0]["kind"] == "entity"
    # Names in the asker s language come first.
    assert completed(client, "apol", language="es")[0]["text"].startswith("Apolo")
    assert completed(client, "apol", language="en")[0]["text"].startswith("Apollo")
    # A name of several words is completed as one.
    found = completed(client, "When was Kennedy Space C")
    assert (found[0]["text"], found[0]["start"]) == ("Kennedy Space Center", 9)
    # The vocabulary has the graph s terms and prefixes.
    told = client.get("/api/v1/graphs/space/vocabulary", params={"language": "de"}).json()
    assert told["prefixes"]["ont"] == ONT and "rdfs" in told["prefixes"]
    terms = {one["iri"]: one for one in (*told["classes"], *told["predicates"])}
    assert terms[ONT + "Moon"]["label"] == "Mond" and terms[ONT + "Moon"]["count"] == 55
    # What completes says of which class it is.
    found = client.get("/api/v1/graphs/space/complete", params={"q": "Ganym"}).json()
    assert found["completions"][0]["of"] == "moon"
    german = client.get(
        "/api/v1/graphs/space/complete", params={"q": "Ganym", "language": "de"}
    ).json()
    assert german["completions"][0]["of"] == "Mond"


@for_each("parameters", [{"q": ""}, {"q": "a", "limit": 1000}, {"q": "a", "kind": "person"}, {}])
def test_a_search_beyond_its_bounds_is_refused(client: Visitor, parameters: dict[str, Any]) -> None:
    assert client.get("/api/v1/graphs/space/search", params=parameters).status_code == 422


@for_each("q", ["", "a", "Which ", "?!", "qqqqzzz"])
def test_what_begins_no_name_is_not_completed(client: Visitor, q: str) -> None:
    assert completed(client, q) == []
