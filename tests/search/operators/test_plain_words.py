"""Plain words about properties: what costs the most, the second floor, what people work in."""

from pathlib import Path

import pytest
from tests.each import for_each

import askgraph

GRAPH = """
@prefix : <https://clinic.example/> .
@prefix c: <https://clinic.example/terms#> .
@prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .
@prefix xsd: <http://www.w3.org/2001/XMLSchema#> .

c:Operation rdfs:label "operation" . c:by rdfs:label "done by" . c:born rdfs:label "birth date" .
c:stayMinutes rdfs:label "stay minutes" . c:stock rdfs:label "in stock" .
c:ofWard rdfs:label "of ward" . c:year rdfs:label "year" .
c:Doctor rdfs:label "doctor" . c:Ward rdfs:label "ward" . c:Drug rdfs:label "drug" .
c:Disease rdfs:label "disease" . c:price rdfs:label "price" . c:floor rdfs:label "floor" .
c:works rdfs:label "works on" . c:field rdfs:label "field" . c:contagious rdfs:label "contagious" .
c:salary rdfs:label "salary" . c:beds rdfs:label "beds" . c:treats rdfs:label "treats" .

:north a c:Ward ; rdfs:label "North" ; c:floor 2 ; c:beds 20 .
:south a c:Ward ; rdfs:label "South" ; c:floor 2 ; c:beds 12 .
:west a c:Ward ; rdfs:label "West" ; c:floor 3 ; c:beds 31 .
:ann a c:Doctor ; rdfs:label "Ann Berg" ; c:works :north ; c:field "surgery" ; c:salary 70 .
:bob a c:Doctor ; rdfs:label "Bob Huber" ; c:works :west ; c:field "surgery" ; c:salary 90 .
:eve a c:Doctor ; rdfs:label "Eve Moser" ; c:works :west ; c:field "dermatology" ; c:salary 60 .
:ann c:born "1970-02-01"^^xsd:date . :bob c:born "1985-07-09"^^xsd:date .
:eve c:born "1962-11-30"^^xsd:date .
:o1 a c:Operation ; rdfs:label "first bypass" ; c:by :ann ; c:stayMinutes 150 ; c:ofWard :north ;
    c:year 2023 .
:o2 a c:Operation ; rdfs:label "second bypass" ; c:by :eve ; c:stayMinutes 90 ; c:ofWard :west ;
    c:year 2024 .
:cough a c:Disease ; rdfs:label "whooping cough" ; c:contagious true .
:gout a c:Disease ; rdfs:label "gout" ; c:contagious false .
:cold a c:Disease ; rdfs:label "common cold" ; c:contagious true .
:syrup a c:Drug ; rdfs:label "syrup" ; c:stock true ; c:price 4.5 ; c:treats :cough , :cold .
:pill a c:Drug ; rdfs:label "pill" ; c:stock false ; c:price 12.0 ; c:treats :gout .
"""

ASKED = [
    ("Which drug costs the most?", {"pill"}, "The drug with the highest price."),
    ("Which doctor earns the least?", {"Eve Moser"}, "The doctor with the lowest salary."),
    ("Which wards are on the second floor?", {"North", "South"}, "The wards whose floor is 2."),
    ("Which doctors work in surgery?", {"Ann Berg", "Bob Huber"}, None),
    (
        "Which diseases are contagious?",
        {"whooping cough", "common cold"},
        "The diseases that are contagious.",
    ),
    ("Which diseases are not contagious?", {"gout"}, "The diseases that are not contagious."),
    ("Which drugs are in stock?", {"syrup"}, "The drugs that are in stock."),
    (
        "Which operations took longer than two hours?",
        {"first bypass"},
        "The operations whose stay in minutes is more than 120.",
    ),
    ("Which operations are of ward West?", {"second bypass"}, "The operations whose ward is West."),
    ("Is gout contagious?", {"false"}, "Is it true that gout is contagious?"),
]


@pytest.fixture(scope="module")
def workspace(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A workspace whose one graph is a clinic."""
    folder = tmp_path_factory.mktemp("clinic")
    (folder / "clinic.ttl").write_text(GRAPH, encoding="utf-8")
    return folder


@for_each(("question", "names", "words"), ASKED)
def test_plain_words_about_properties_are_understood(
    workspace: Path, question: str, names: set[str], words: str | None
) -> None:
    answer = askgraph.ask(question, workspace / "clinic.ttl", workspace=workspace).json()

    labels, rows = answer["labels"], answer["rows"]
    assert isinstance(labels, dict)
    assert isinstance(rows, list)
    assert answer["status"] == "answer"
    assert {labels.get(row[0], str(row[0]).lower()) for row in rows} == names
    assert words is None or answer["words"] == words
