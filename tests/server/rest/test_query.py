"""Queries that callers write: run, checked, laid out, read back in parts, one part swapped."""

import json
from pathlib import Path
from typing import Any

from tests.each import for_each
from tests.servers.served import Visitor

SPACE = "https://example.org/space/"
ONT = "https://example.org/space/ontology#"
MOONS = "SELECT ?moon WHERE { ?moon a ont:Moon ; ont:orbits space:Neptune }"


def sent(client: Visitor, path: str, query: str = MOONS, **more: object) -> Any:
    """What an operation of the graph replies to a query."""
    return client.post_json(f"graphs/space/{path}", query=query, **more)


def test_queries_and_their_results(client: Visitor) -> None:
    # A query gives a table with labels.
    told = sent(client, "query", language="de")
    assert (told["form"], told["columns"], told["total"]) == ("SELECT", ["moon"], 6)
    first = told["cells"][0][0]
    assert first["type"] == "iri"
    assert first["label"] in ("Triton", "Nereid", "Proteus", "Larissa", "Galatea", "Despina")
    assert told["truncated"] is None
    # Rows beyond the limit are counted but not sent.
    told = sent(client, "query", limit=2)
    assert (len(told["cells"]), told["total"]) == (2, 6)
    # An ask gives a boolean and a construct gives triples.
    ask = sent(client, "query", "ASK { space:Titan ont:orbits space:Saturn }")
    assert (ask["form"], ask["boolean"]) == ("ASK", True)
    graph = sent(client, "query", "DESCRIBE space:Mars", limit=3)
    assert graph["form"] == "CONSTRUCT" and len(graph["triples"]) == 3 and graph["total"] > 10
    assert graph["triples"][0][0]["value"] == SPACE + "Mars"
    # A syntax error has its line and column.
    body = {"query": "SELECT ?x WHERE {\n ?x ?y }"}
    told = client.post("/api/v1/graphs/space/query", json=body).json()
    assert (told["line"], told["column"]) == (2, 8)
    # The triples behind a row are told.
    query = MOONS + " ORDER BY ?moon"
    told = sent(client, "evidence", query, row=5)
    assert told["row"] == 5
    assert [f"<{SPACE}Triton>", f"<{ONT}orbits>", f"<{SPACE}Neptune>"] in told["triples"]
    assert "Triton · orbits · Neptune" in told["words"]
    assert told["labels"][SPACE + "Triton"] == "Triton"
    missing = client.post("/api/v1/graphs/space/evidence", json={"query": query, "row": 6})
    assert missing.status_code == 404


@for_each("path", ["query", "answer"])
@for_each(
    ("body", "status", "kind"),
    [
        ({"query": "DELETE WHERE { ?s ?p ?o }"}, 403, "query-forbidden"),
        (
            {"query": "SELECT * { SERVICE <http://169.254.169.254/> { ?s ?p ?o } }"},
            403,
            "query-forbidden",
        ),
        ({"query": "SELECT ?x WHERE {\n ?x ?y }"}, 400, "query-syntax"),
        ({"query": ""}, 422, "request"),
        ({"query": "SELECT * { ?s ?p ?o }" + " " * 100_000}, 422, "request"),
        ({"query": MOONS, "columns": ["a"] * 101}, 422, "request"),
        ({"query": MOONS, "timeout": 0}, 422, "request"),
    ],
)
def test_what_may_not_be_run_is_refused(
    client: Visitor, path: str, body: dict[str, object], status: int, kind: str
) -> None:
    response = client.post(f"/api/v1/graphs/space/{path}", json=body)
    assert (response.status_code, response.json()["type"].rpartition(":")[2]) == (status, kind)


def test_checking_queries(client: Visitor) -> None:
    # A query is checked without being run.
    query = "SELECT ?m WHERE {\n  ?m a ont:Mooon ; ont:orbits space:Neptune }"
    told = sent(client, "validate", query)
    findings = {one["check"]: one for one in told["findings"]}
    finding = findings["unknown class"]
    assert "missing prefix" not in findings  # as running it needs none declared
    assert (finding["check"], finding["severity"], finding["line"]) == ("unknown class", "error", 2)
    assert finding["message"].startswith("the graph has no instances of ont:Mooon: ont:Moon")
    assert query[finding["start"] : finding["end"]] == "ont:Mooon"
    assert finding["repair"] == "ont:Moon" and "ont:Moon ;" in str(told["repaired"])
    declared = f"PREFIX ont: <{ONT}> PREFIX space: <{SPACE}> {MOONS}"
    fine = sent(client, "validate", declared, language="de")
    assert (fine["findings"], fine["repaired"]) == ([], None)
    assert fine["words"] == "Monde, die Neptun umkreisen."
    # A query that takes too long to parse is refused at once.
    long = f"SELECT * {{ ?s ?p '{'x' * 50_000}' }}"
    service = long.replace("{ ?s", "{ SERVICE <askgraph:space> { ?s", 1) + " }"
    for path, query in (("validate", long), ("query", service)):
        response = client.post(f"/api/v1/graphs/space/{path}", json={"query": query})
        assert (response.status_code, "characters" in response.text) == (400, True)
    assert sent(client, "query", long)["total"] == 0
    # Any text can be checked.
    for text in ("nonsense", "SELECT", "{", "DROP ALL"):
        told = sent(client, "validate", text)
        assert told["findings"], text
    # A query is laid out.
    told = sent(client, "format", "select ?m {?m a ont:Moon;ont:orbits space:Neptune}")
    assert told["query"] == (
        f"PREFIX ont: <{ONT}>\nPREFIX space: <{SPACE}>\n"
        "SELECT ?m WHERE {\n  ?m a ont:Moon ;\n      ont:orbits space:Neptune .\n}"
    )
    assert sent(client, "format", "no query")["query"] == "no query"


def test_telling_queries_in_pieces(client: Visitor) -> None:
    # A query is told in pieces with alternatives.
    told = sent(client, "parts", question="Which moons has Neptune?")
    pieces, parts = told["pieces"], told["parts"]
    assert isinstance(pieces, list) and isinstance(parts, list)
    assert "".join(piece["text"] for piece in pieces) == "Moons that orbit Neptune."
    kinds = [parts[piece["part"]]["kind"] for piece in pieces if piece["part"] is not None]
    assert kinds == ["class", "predicate", "entity"]
    words = {piece["text"]: piece["parts"] for piece in told["question"]}
    assert words == {"Which ": [], "moons": [0, 1], " has ": [], "Neptune": [2], "?": []}
    neptune = parts[2]
    assert (neptune["iri"], neptune["label"]) == (SPACE + "Neptune", "Neptune")
    planets = {one["label"]: one["rows"] for one in neptune["alternatives"]}
    assert (planets["Saturn"], planets["Mars"]) == (18, 2)
    quick = sent(client, "parts", alternatives=False)
    assert [part["alternatives"] for part in quick["parts"]] == [[], [], []]
    assert quick["question"] == []
    # An alternative put in gives the rows it promised.
    told = sent(client, "swap", part=2, to=SPACE + "Saturn")
    assert told["words"] == "Moons that orbit Saturn."
    assert sent(client, "query", told["query"])["total"] == 18
    # A pattern adds a column, a condition or groups.
    for more, total in (
        ({"pattern": f"?moon <{ONT}diameter> ?d"}, 6),
        ({"pattern": f"?moon <{ONT}discoverer> <{SPACE}William_Lassell>"}, 1),
        ({"pattern": f"?moon <{ONT}discoverer> ?who", "count_by": "who"}, 2),
    ):
        refined = sent(client, "refine", **more)
        assert sent(client, "query", refined["query"])["total"] == total
    # Names are sorted in the query, in the language that the graph has.
    query = "SELECT DISTINCT ?m { VALUES ?m { space:Venus space:Moon space:Earth } ?m a ?c }"
    for language, names in (
        ("en", ["Earth", "Moon", "Venus"]),
        ("de", ["Erde", "Mond", "Venus"]),
        ("fr", ["Earth", "Moon", "Venus"]),
    ):
        asked = {"query": query, "language": language, "sort_by": "m", "by_name": True}
        refined = client.post_json("graphs/space/refine", **asked)
        told = sent(client, "query", refined["query"], language=language)
        assert [row[0]["label"] for row in told["cells"]] == names
    for wrong in ("?moon", "?moon <x:y> ?z . ?z <x:y> ?moon", "} UNION {", "?z <x:y> ?z"):
        body = {"query": MOONS, "pattern": wrong}
        reply = client.post("/api/v1/graphs/space/refine", json=body)
        assert reply.status_code == 400
    # A part may be named by what it is.
    query = "SELECT ?m { ?m a ont:Moon ; ont:diameter ?d FILTER(?d > 2000) }"
    by_value = sent(client, "swap", query, part="2000", to="5000")
    assert by_value["query"] == query.replace("2000", "5000")
    by_iri = sent(client, "swap", query, part=ONT + "diameter", to=ONT + "mass")
    assert "ont:mass ?d" in str(by_iri["query"])
    # Lines count in the query as it was written.
    text = "SELECT ?m WHERE {\n  ?m a ont:Moon ; ont:orbits space:Saturn .\n  ?m ?x }"
    assert client.post("/api/v1/graphs/space/query", json={"query": text}).json()["line"] == 3


@for_each(("part", "to", "words"), [
    (7, SPACE + "Mars", "no part 7"), (-1, SPACE + "Mars", "no part -1"),
    ("Neptune", SPACE + "Mars", "no part 'Neptune'"), (2, "Mars", "'Mars' is not an IRI"),
    (2, "http://x/> . ?s ?p <http://y", "is not an IRI"),
])  # fmt: skip
def test_a_swap_that_cannot_be_made_is_refused(
    client: Visitor, part: int | str, to: str, words: str
) -> None:
    body = {"query": MOONS, "part": part, "to": to}
    response = client.post("/api/v1/graphs/space/swap", json=body)
    assert response.status_code == 400 and words in response.json()["detail"]


WIRE = Path(__file__).parents[2] / "answers" / "wire" / "edited.txt"


def test_the_answers_of_queries(client: Visitor) -> None:
    # The answer of a query has all that a questions has.
    told = sent(client, "answer", f"{MOONS} ORDER BY ?moon", limit=2)
    of_a_question = client.post("/api/v1/ask", json={"question": "Which moons orbit Mars?"})
    assert set(told) == {*of_a_question.json()["answer"], "form"}
    assert (told["status"], told["confidence"], told["form"]) == ("edited", None, "SELECT")
    assert told["words"] == "Moons that orbit Neptune, sorted by moon." and told["total"] == 6
    assert told["ordered"] is True
    assert [row[0]["label"] for row in told["cells"]] == ["Despina", "Galatea"]
    first = told["evidence"][0]
    assert [f"<{SPACE}Despina>", f"<{ONT}orbits>", f"<{SPACE}Neptune>"] in first["triples"]
    # The wire format is that of the file.
    query = "SELECT ?size ?moon { ?moon ont:orbits space:Mars ; ont:diameter ?size } ORDER BY ?moon"
    told = sent(client, "answer", query, columns=["moon", "gone"], limit=1)
    told["seconds"] = 0.0
    assert json.dumps(told, ensure_ascii=False, indent=2) + "\n" == WIRE.read_text(encoding="utf-8")
    # The query stays as it was written and is read back in its language.
    told = sent(client, "answer", language="de")
    assert (told["sparql"], told["words"]) == (MOONS, "Monde, die Neptun umkreisen.")
    # An empty result has a reason.
    told = sent(client, "answer", "SELECT ?m { ?m ont:orbits space:Venus }")
    assert (told["total"], told["evidence"]) == (0, []) and "Venus" in str(told["why_empty"])
    nothing = "SELECT ?m { ?m a ont:Moon ; ont:orbits space:Venus }"
    told = sent(client, "answer", nothing, language="de")
    assert told["why_empty"] == (
        "Alles andere hat Ergebnisse, aber „etwas (Mond) · umkreist · Venus“ trifft auf keines zu."
    )
    # A result without columns is an answer of rows that hold nothing.
    told = sent(client, "answer", "SELECT * { VALUES () { () () } }")
    assert (told["columns"], told["total"], told["cells"]) == ([], 2, [[], []])
    # A yes and triples are answers too.
    yes = sent(client, "answer", "ASK { space:Titan ont:orbits space:Saturn }")
    assert (yes["form"], yes["boolean"], yes["rows"]) == ("ASK", True, [[True]])
    facts = sent(client, "answer", "DESCRIBE space:Mars", limit=3)
    assert (facts["form"], facts["columns"]) == ("CONSTRUCT", ["subject", "predicate", "object"])
    assert len(facts["cells"]) == 3 and facts["total"] > 10
    # A graph that the caller may not see is missing.
    assert client.post("/api/v1/graphs/secret/answer", json={"query": MOONS}).status_code == 404
