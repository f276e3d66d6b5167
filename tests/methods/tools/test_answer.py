"""Answers, and the ends of a run that give none."""

import pytest
from tests.graphs import MOONS
from tests.tool_graphs import called, served, toolbox

from askgraph.graph import KnowledgeGraph

SPACE = "https://example.org/space/"
MARS = "SELECT ?m ?r { ?m ont:orbits space:Mars ; ont:diameter ?r }"
SHOWING = "SELECT * { ?m ont:orbits ?p ; ont:diameter ?d ; a ?c } LIMIT 4"


def test_an_answer_has_all_that_a_person_needs(local: KnowledgeGraph) -> None:
    box = toolbox(local, guarded=False)
    found = called(box, "answer", query=MARS, columns=["?m"], certainty=0.9)
    assert found.ends == "answer" and not found.failed and found.rows == 2
    answer = found.answer
    assert answer is not None
    assert answer.answer_columns == ("m",)
    assert [row[0] for row in answer.result.rows] == sorted(
        answer.result.get_column("m"), key=lambda term: getattr(term, "value", "")
    )
    assert answer.query.startswith("PREFIX ont: ") and "space:Mars" in answer.query
    assert answer.words and answer.labels[f"{SPACE}Phobos"] == "Phobos"
    assert len(answer.evidence) == 2
    assert (answer.confidence, answer.ordered, answer.boolean) == (0.9, False, None)


def test_an_order_in_the_query_is_kept_and_yes_or_no_needs_no_column(local: KnowledgeGraph) -> None:
    query = f"{MARS} ORDER BY DESC(?r)"
    answer = called(toolbox(local, guarded=False), "answer", query=query, columns=["m"]).answer
    assert answer is not None and answer.ordered
    moons = [getattr(term, "value", "") for term in answer.result.get_column("m")]
    assert moons == [f"{SPACE}Phobos", f"{SPACE}Deimos"]

    query = "ASK { space:Titan ont:orbits space:Mars }"
    found = called(toolbox(local, guarded=False), "answer", query=query, columns=[])
    assert found.ends == "answer" and found.rows == 1
    assert found.answer is not None and found.answer.boolean is False


def test_a_column_must_be_in_the_result_and_told_if_there_are_many(local: KnowledgeGraph) -> None:
    box = toolbox(local, guarded=False)
    wrong = called(box, "answer", query=MARS, columns=["moon"])
    none = called(box, "answer", query=MARS, columns=[])
    assert wrong.failed and "no column ?moon: the columns are ?m, ?r" in wrong.text
    assert none.failed and "which of ?m, ?r answer the question" in none.text
    assert wrong.ends == none.ends == ""


def test_an_empty_result_is_taken_when_it_comes_again(local: KnowledgeGraph) -> None:
    box = toolbox(local, guarded=False)
    query = "SELECT ?m { ?m ont:orbits space:Apollo_11 }"
    first = called(box, "answer", query=query, columns=["m"], certainty=0.8)
    again = called(box, "answer", query=query + "  # indeed", columns=["m"], certainty=0.8)
    assert first.failed and "it has no rows" in first.text and first.ends == ""
    assert again.ends == "answer" and again.answer is not None
    assert again.answer.confidence == 0.4 and again.answer.why_empty


def test_unshown_iris_are_told_once_and_lacking_ones_always(local: KnowledgeGraph) -> None:
    box = toolbox(local)
    query = "SELECT ?m { ?m ont:discoverer space:Galileo_Galilei }"
    first = called(box, "answer", query=query, columns=["m"])
    again = called(box, "answer", query=query, columns=["m"])
    assert first.failed
    assert "these IRIs so far: space:Galileo_Galilei (ont:Scientist, ont:Person)" in first.text
    assert again.ends == "answer"

    box, query = toolbox(local), query.replace("discoverer", "discoveredBy")
    found = [called(box, "answer", query=query, columns=["m"]) for _ in range(3)]
    assert all(one.failed for one in found)
    assert "the graph has no ont:discoveredBy; nearest: ont:discoverer" in found[0].text


def test_what_a_result_showed_and_standard_vocabularies_may_be_used(local: KnowledgeGraph) -> None:
    box = toolbox(local)
    query = 'SELECT ?m { ?m <http://www.w3.org/2000/01/rdf-schema#label> "Titan"@en }'
    assert called(box, "answer", query=query, columns=["m"], certainty=1.0).ends == "answer"
    called(box, "execute", query=SHOWING)
    called(box, "execute", query="SELECT * { space:Mars a ?c }")
    assert called(box, "answer", query=MARS, columns=["m"], certainty=1.0).ends == "answer"


def test_a_result_that_nobody_has_seen_is_shown_once(local: KnowledgeGraph) -> None:
    box = toolbox(local)
    called(box, "execute", query=SHOWING)
    called(box, "execute", query="SELECT * { space:Mars a ?c }")

    first = called(box, "answer", query=MARS, columns=["m"], certainty=0.6)
    again = called(box, "answer", query=f"{MARS} # indeed", columns=["m"], certainty=0.6)

    assert first.failed and not first.ends and "2 rows" in first.text
    assert "space:Phobos" in first.text and "answer with the same query again" in first.text
    assert again.ends == "answer"


def test_a_result_of_another_query_or_of_a_proposed_one_is_no_news(local: KnowledgeGraph) -> None:
    box, other = toolbox(local), toolbox(local)
    called(box, "execute", query=MARS)
    query = "SELECT DISTINCT ?moon { ?moon ont:orbits space:Mars }"
    assert called(box, "answer", query=query, columns=["moon"], certainty=0.6).ends == "answer"

    proposed = called(other, "propose_queries", question="Which moons orbit Mars?").answer
    assert proposed is not None
    columns = list(proposed.answer_columns)
    found = called(other, "answer", query=proposed.query, columns=columns, certainty=0.6)
    assert found.ends == "answer"


def test_an_empty_result_is_told_even_where_its_iris_were_doubted(local: KnowledgeGraph) -> None:
    box = toolbox(local)
    query = "SELECT ?m { ?m ont:orbits space:Apollo_11 }"
    texts = [called(box, "answer", query=query, columns=["m"]).text for _ in range(2)]
    assert "nothing has shown" in texts[0] and "it has no rows" in texts[1]
    assert called(box, "answer", query=query, columns=["m"]).ends == "answer"


@pytest.mark.parametrize(
    ("query", "told"),
    [
        ("SELECT ?m { ?m a }", "'}' was not expected here"),
        ("DESCRIBE space:Titan", "a SELECT or an ASK"),
        ("", "the query is empty"),
    ],
)
def test_a_query_without_answer_is_refused(local: KnowledgeGraph, query: str, told: str) -> None:
    found = called(toolbox(local, guarded=False), "answer", query=query, columns=["m"])
    assert found.failed and told in found.text and found.answer is None


def test_a_remote_graph_answers_the_same() -> None:
    with served(MOONS, PREFIXES) as (_, graph):
        box = toolbox(graph)
        query = "SELECT ?m { ?m onto:orbits :Jupiter }"
        first = called(box, "answer", query=query, columns=["m"])
        again = called(box, "answer", query=query, columns=["m"])
    assert ":Jupiter (onto:Planet)" in first.text
    assert again.answer is not None and len(again.answer.result.rows) == 2


PREFIXES = {"": "http://example.org/", "onto": "http://example.org/onto#"}


def test_a_cancellation_keeps_its_reason_and_runs_the_best_attempt() -> None:
    with served(MOONS, PREFIXES) as (_, graph):
        alone = called(toolbox(graph), "cancel", reason="Nothing on comets.")
        query = "SELECT ?m { ?m onto:orbits :Jupiter }"
        found = called(toolbox(graph), "cancel", reason="Only moons.", query=query)
        failed = called(toolbox(graph), "cancel", reason="No.", query="SELECT ?m { ?m }")
    assert (alone.text, alone.ends, alone.answer) == ("Nothing on comets.", "cancel", None)
    assert found.ends == failed.ends == "cancel" and found.rows == 2
    assert found.answer is not None and found.answer.confidence == 0.1
    assert failed.answer is None and "The best attempt failed" in failed.text
