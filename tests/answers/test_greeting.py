"""Greetings, and questions for what can be asked, over the sample graph and a small one."""

import re
from pathlib import Path

import pytest

from askgraph import api
from askgraph.explanation.starters import examples_of
from askgraph.rdf import PrefixMap
from askgraph.sample import graph_path
from askgraph.workspace import Workspace

PLANT = """
@prefix : <http://p.example/> .
@prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .
:Equipment a rdfs:Class ; rdfs:label "equipment" .
:hasPart rdfs:label "has part" .
:locatedIn rdfs:label "located in" .
:maker rdfs:label "maker" .
:e1 a :Equipment ; rdfs:label "X-12345" ; :hasPart :e2 ; :locatedIn :h ; :maker :a .
:e2 a :Equipment ; rdfs:label "main pump" ; :hasPart :e1 ; :locatedIn :h ; :maker :a .
:h rdfs:label "hall" . :a rdfs:label "Acme" .
"""

SHIPS = """
@prefix : <http://s.example/> .
@prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .
:Ship a rdfs:Class ; rdfs:label "ship"@en, "barco"@es, "navire"@fr .
:owner rdfs:label "owner"@en, "armador"@es, "armateur"@fr .
:s1 a :Ship ; rdfs:label "Étoile" ; :owner :o .
:s2 a :Ship ; rdfs:label "Sirène" ; :owner :o .
:o rdfs:label "Acme" .
"""


@pytest.mark.parametrize(
    ("text", "language", "said"),
    [
        ("Hello!", None, "Hello! This can be asked, for example:"),
        ("what can I ask?", None, "Hello! This can be asked, for example:"),
        ("Hallo", None, "Hallo! Fragen lässt sich zum Beispiel:"),
        ("¿Qué puedo preguntar?", "es", "¡Hola! Se puede preguntar, por ejemplo:"),
    ],
)
def test_a_greeting_is_answered_with_questions_that_have_answers(
    tmp_path_factory: pytest.TempPathFactory, text: str, language: str | None, said: str
) -> None:
    place = tmp_path_factory.getbasetemp() / "greeted"
    found = api.ask(text, graph_path(), language=language, workspace=place).json()

    assert (found["status"], found["clarification"]) == ("clarification", said)
    options = found["options"]
    assert isinstance(options, list) and len(options) == 3
    assert all(one["count"] > 0 and one["query"].startswith("PREFIX") for one in options)


def test_questions_to_start_with_are_in_the_language_of_a_graphs_names(tmp_path: Path) -> None:
    file = tmp_path / "ships.ttl"
    file.write_text(SHIPS, encoding="utf-8")
    place = Workspace(tmp_path / "workspace")
    place.add("ships", [file])
    profile, arrays = place.known("ships")
    prefixes = PrefixMap(dict(profile.prefixes))
    asked = {
        tag: examples_of(profile, arrays, prefixes, [tag], most=9).questions for tag in ("es", "fr")
    }

    assert asked == {
        "es": ("¿Armador de Étoile?", "¿Número de barcos?"),
        "fr": ("Armateur d’Étoile ?", "Nombre de navires ?"),
    }


def test_a_question_that_begins_with_a_greeting_is_a_question(tmp_path: Path) -> None:
    found = api.ask("Hello, who discovered Titan?", graph_path(), workspace=tmp_path).json()
    assert found["status"] == "answer"


def test_starters_have_no_verbs_for_nouns_no_keys_and_no_plural_of_what_is_not_counted(
    tmp_path: Path,
) -> None:
    file = tmp_path / "plant.ttl"
    file.write_text(PLANT)
    place = Workspace(tmp_path / "workspace")
    place.add("plant", [file])
    profile, arrays = place.known("plant")
    questions = examples_of(
        profile, arrays, PrefixMap(dict(profile.prefixes)), ["en"], most=9
    ).questions

    assert questions == ("What is the maker of main pump?",)
    assert not re.search("equipments|has part|located|X-12345", " ".join(questions))
