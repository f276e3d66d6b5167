"""Plain words about properties: what costs the most, the second floor, what people work in."""

from pathlib import Path

import pytest

import askgraph

GRAPH = """
@prefix : <https://clinic.example/> .
@prefix c: <https://clinic.example/terms#> .
@prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .

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
:cough a c:Disease ; rdfs:label "whooping cough" ; c:contagious true .
:gout a c:Disease ; rdfs:label "gout" ; c:contagious false .
:cold a c:Disease ; rdfs:label "common cold" ; c:contagious true .
:syrup a c:Drug ; rdfs:label "syrup" ; c:price 4.5 ; c:treats :cough , :cold .
:pill a c:Drug ; rdfs:label "pill" ; c:price 12.0 ; c:treats :gout .
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
    ("Is gout contagious?", {"false"}, "Is it true that gout is contagious?"),
]


@pytest.fixture(scope="module")
def workspace(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A workspace whose one graph is a clinic."""
    folder = tmp_path_factory.mktemp("clinic")
    (folder / "clinic.ttl").write_text(GRAPH, encoding="utf-8")
    return folder


@pytest.mark.parametrize(("question", "names", "words"), ASKED)
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
