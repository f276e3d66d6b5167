"""The sample graph: large enough, reproducible, and every question answered as it promises.

`ASKGRAPH_SAMPLE=write` writes the answers of questions that were changed by hand.
"""

import json
import os
import re
from collections.abc import Mapping
from functools import cache
from typing import Any

import pyoxigraph as ox
from tests.each import for_each

from askgraph.sample import graph_path, questions_path

OPERATORS = """
    fact|two hops|class|count|sum|average|minimum|maximum|superlative|superlative over counts|date|
    comparison|comparison with an entity|ask|per each|having|top n|nth|order|negation|both|or|
    either|columns|interval|transitive|n-ary|alternative name|partial name|typo|unanswerable
"""
PREFIXES = """
    PREFIX ont: <https://example.org/space/ontology#>
    PREFIX owl: <http://www.w3.org/2002/07/owl#>
    PREFIX rdfs: <http://www.w3.org/2000/01/rdf-schema#>
"""
LISTED = """
    PREFIX sh: <http://www.w3.org/ns/shacl#>
    PREFIX schema: <https://schema.org/>
    PREFIX rdfs: <http://www.w3.org/2000/01/rdf-schema#>
    SELECT ?id ?question ?query (GROUP_CONCAT(?tag; separator="|") AS ?tags) WHERE {
      ?id a sh:SPARQLExecutable ; rdfs:comment ?question .
      ?id schema:keywords ?tag .
      OPTIONAL { ?id sh:select|sh:ask ?query }
    } GROUP BY ?id ?question ?query ORDER BY ?id
"""
CUT = re.compile(r"ORDER BY (.+)\n(?:OFFSET (\d+)\n)?LIMIT (\d+)$")

Question = Mapping[str, Any]


@cache
def sample() -> ox.Store:
    store = ox.Store()
    store.load(path=graph_path(), format=ox.RdfFormat.TURTLE)
    return store


def rows(query: str) -> list[list[str]]:
    found = sample().query(query)
    assert isinstance(found, ox.QuerySolutions)
    names = [variable.value for variable in found.variables]
    return [[getattr(row[name], "value", "") for name in names] for row in found]


QUESTIONS: list[Question] = [
    json.loads(line)
    for line in questions_path().with_suffix(".jsonl").read_text(encoding="utf-8").splitlines()
]
ANSWERABLE = [question for question in QUESTIONS if question["sparql"]]
CUT_OFF = [question for question in ANSWERABLE if CUT.search(question["sparql"])]


def test_the_answers_are_those_of_the_graph() -> None:
    # The answers are what the graph gives.
    questions = questions_path().read_text(encoding="utf-8")
    answers = questions_path().with_suffix(".jsonl").read_text(encoding="utf-8")
    answered_anew = answered(questions, graph_path().read_text(encoding="utf-8"))
    if os.environ.get("ASKGRAPH_SAMPLE") == "write":
        questions_path().write_text(answered_anew, encoding="utf-8")
    assert answers == answered_anew
    # The graph has thousands of triples.
    assert len(sample()) >= 3000
    # Every entity but a crew membership has an english label.
    query = """SELECT ?entity WHERE {
      ?entity a ?class . FILTER(?class != ont:CrewMembership)
      FILTER NOT EXISTS { ?entity rdfs:label ?label . FILTER(LANG(?label) = "en") }
    }"""
    assert rows(PREFIXES + query) == []
    # Crew memberships have no labels.
    assert rows(PREFIXES + "SELECT ?c WHERE { ?c a ont:CrewMembership ; rdfs:label ?l }") == []
    # Classes and predicates are named in three languages.
    query = """SELECT ?term WHERE {
      VALUES ?kind { owl:Class owl:ObjectProperty owl:DatatypeProperty }
      ?term a ?kind ; rdfs:label ?label .
    } GROUP BY ?term HAVING(COUNT(DISTINCT LANG(?label)) != 3)"""
    assert rows(PREFIXES + query) == []
    # Every predicate of the data is declared.
    query = """SELECT DISTINCT ?predicate WHERE {
      ?s ?predicate ?o . FILTER(STRSTARTS(STR(?predicate), STR(ont:)))
      FILTER NOT EXISTS { ?predicate rdfs:label ?label }
    }"""
    assert rows(PREFIXES + query) == []
    # Types are spelled out up to the root.
    query = """SELECT ?s ?parent WHERE {
      ?s a ?class . ?class rdfs:subClassOf+ ?parent . FILTER NOT EXISTS { ?s a ?parent }
    }"""
    assert rows(PREFIXES + query) == []
    # Only one direction of the inverse pair is asserted.
    assert rows(PREFIXES + "SELECT ?p WHERE { ?p owl:inverseOf ?q }") == [
        ["https://example.org/space/ontology#operates"]
    ]
    assert rows(PREFIXES + "SELECT ?s WHERE { ?s ont:operates ?o }") == []


def test_the_places_lie_in_each_other_more_than_two_levels_deep() -> None:
    query = """SELECT ?site WHERE {
      ?site a ont:LaunchSite ; ont:locatedIn/ont:locatedIn/ont:locatedIn ?place .
    }"""
    assert rows(PREFIXES + query)
    # There are questions in three languages.
    languages = [question["lang"] for question in QUESTIONS]
    assert len(QUESTIONS) >= 70
    assert languages.count("en") >= 42
    assert languages.count("de") >= 9
    assert languages.count("es") >= 9
    # No question is asked twice.
    assert len({question["question"] for question in QUESTIONS}) == len(QUESTIONS)
    # The questions cover every operator.
    operators = {operator.strip() for operator in OPERATORS.split("|")}
    assert operators <= {tag for question in QUESTIONS for tag in question["tags"]}
    # Exactly ten questions have no answer.
    unanswerable = [question for question in QUESTIONS if question["tags"] == ["unanswerable"]]
    assert len(unanswerable) == 10
    assert [q for q in QUESTIONS if q["sparql"] is None] == unanswerable
    # Some questions are answered yes and some no.
    assert {q["answers"].get("boolean") for q in ANSWERABLE} == {None, True, False}


@for_each("question", ANSWERABLE)
def test_a_gold_query_has_an_answer_and_no_row_twice(question: Question) -> None:
    if "boolean" not in question["answers"]:
        found = question["answers"]["rows"]
        assert found
        assert all(all(row) for row in found)
        assert len({tuple(row) for row in found}) == len(found)


@for_each("question", CUT_OFF)
def test_no_tie_decides_what_a_limit_keeps(question: Question) -> None:
    query = question["sparql"]
    order, offset, limit = CUT.findall(query)[0]
    key = re.sub(r"^(?:DESC|ASC)\((.*)\)$", r"\1", order)
    shown = key if key.startswith("?") else f"({key} AS ?key)"
    ranked = CUT.sub(f"ORDER BY {order}", query).replace(" WHERE", f" {shown} WHERE", 1)

    keys = [row[-1] for row in rows(ranked)][: int(offset or 0) + int(limit) + 1]

    assert len(set(keys)) == len(keys)


def answered(questions: str, graph: str) -> str:
    """Return the text of `questions.jsonl`: one question a line, with the answers of its query."""
    examples, store = ox.Store(), ox.Store()
    examples.load(questions.encode(), format=ox.RdfFormat.TURTLE)
    store.load(graph.encode(), format=ox.RdfFormat.TURTLE)
    found = examples.query(LISTED)
    assert isinstance(found, ox.QuerySolutions)
    return "".join(json.dumps(record(row, store), ensure_ascii=False) + "\n" for row in found)


def record(row: ox.QuerySolution, store: ox.Store) -> dict[str, object]:
    """Return one line of `questions.jsonl`."""
    question, sparql = row["question"], plain(row["query"]) or None
    return {
        "id": plain(row["id"]).rsplit("/", 1)[-1],
        "question": plain(question),
        "lang": question.language if isinstance(question, ox.Literal) else None,
        "sparql": sparql,
        "tags": sorted(plain(row["tags"]).split("|")),
        "answers": answers(sparql, store) if sparql else None,
    }


def answers(query: str, store: ox.Store) -> dict[str, object]:
    """Return the answer as plain strings; rows are sorted where the query does not order."""
    result = store.query(query)
    if isinstance(result, ox.QueryBoolean):
        return {"boolean": bool(result)}
    assert isinstance(result, ox.QuerySolutions)
    names = [variable.value for variable in result.variables]
    table = [[plain(row[name]) for name in names] for row in result]
    return {"vars": names, "rows": table if "ORDER BY" in query else sorted(table)}


def plain(term: ox.NamedNode | ox.BlankNode | ox.Literal | ox.Triple | None) -> str:
    """Return a term's IRI or lexical form; "" for a value that is missing."""
    return "" if term is None or isinstance(term, ox.Triple) else term.value
