"""The answer of a query that a person wrote: as a question's, in one reply."""

import json
from pathlib import Path

import httpx2
import pytest
from tests.serve.protocols.rest.test_query import MOONS, ONT, SPACE, posted

WIRE = Path(__file__).parents[3] / "answers" / "wire" / "edited.txt"


def test_the_answer_of_a_query_has_all_that_a_questions_has(client: httpx2.Client) -> None:
    told = posted(client, "answer", query=f"{MOONS} ORDER BY ?moon", limit=2)
    of_a_question = client.post("/api/v1/ask", json={"question": "Which moons orbit Mars?"})

    assert set(told) == {*of_a_question.json()["answer"], "form"}
    assert (told["status"], told["confidence"], told["form"]) == ("edited", 1.0, "SELECT")
    assert (told["words"], told["total"], told["ordered"]) == (
        "The moons that orbit Neptune, sorted by moon.",
        6,
        True,
    )
    assert [row[0]["label"] for row in told["cells"]] == ["Despina", "Galatea"]  # type: ignore[attr-defined]
    first = told["evidence"][0]  # type: ignore[index]
    assert [f"<{SPACE}Despina>", f"<{ONT}orbits>", f"<{SPACE}Neptune>"] in first["triples"]


def test_the_wire_format_is_that_of_the_file(client: httpx2.Client) -> None:
    query = "SELECT ?size ?moon { ?moon ont:orbits space:Mars ; ont:diameter ?size } ORDER BY ?moon"
    told = posted(client, "answer", query=query, columns=["moon", "gone"], limit=1)
    told["seconds"] = 0.0
    assert json.dumps(told, ensure_ascii=False, indent=2) + "\n" == WIRE.read_text(encoding="utf-8")


def test_the_query_stays_as_it_was_written_and_is_read_back_in_its_language(
    client: httpx2.Client,
) -> None:
    told = posted(client, "answer", query=MOONS, language="de")
    assert (told["sparql"], told["words"]) == (MOONS, "Mond mit „umkreist“: Neptun.")


def test_an_empty_result_has_a_reason(client: httpx2.Client) -> None:
    told = posted(client, "answer", query="SELECT ?m { ?m ont:orbits space:Venus }")
    assert (told["total"], told["evidence"]) == (0, [])
    assert "Venus" in str(told["why_empty"])


def test_a_yes_and_triples_are_answers_too(client: httpx2.Client) -> None:
    yes = posted(client, "answer", query="ASK { space:Titan ont:orbits space:Saturn }")
    assert (yes["form"], yes["boolean"], yes["rows"]) == ("ASK", True, [[True]])
    facts = posted(client, "answer", query="DESCRIBE space:Mars", limit=3)
    assert (facts["form"], facts["columns"]) == ("CONSTRUCT", ["subject", "predicate", "object"])
    assert len(facts["cells"]) == 3  # type: ignore[arg-type]
    assert facts["total"] > 10  # type: ignore[operator]


@pytest.mark.parametrize(
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
        ({"query": MOONS, "columns": ["a"] * 101}, 422, "request"),
        ({"query": MOONS, "timeout": 0}, 422, "request"),
    ],
)
def test_what_may_not_be_run_is_refused(
    client: httpx2.Client, body: dict[str, object], status: int, kind: str
) -> None:
    response = client.post("/api/v1/graphs/space/answer", json=body)
    assert (response.status_code, response.json()["type"].rpartition(":")[2]) == (status, kind)


def test_a_graph_that_the_caller_may_not_see_is_missing(client: httpx2.Client) -> None:
    response = client.post("/api/v1/graphs/secret/answer", json={"query": MOONS})
    assert response.status_code == 404
