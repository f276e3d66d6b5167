"""Greetings, and questions for what can be asked, over the sample graph and a small one."""

import os
import re
from collections.abc import Sequence
from pathlib import Path

import pytest
from tests.each import for_each

from askgraph import api
from askgraph.answers.example_questions import make_examples
from askgraph.answers.next_questions import find_starters, list_answer_iris
from askgraph.graph import KnowledgeGraph
from askgraph.sample import graph_path
from askgraph.sparql.prefixes import PrefixMap
from askgraph.trace import Answer, Outcome, Question
from askgraph.workspace import Workspace
from askgraph.workspace.run_sync import ask_method

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


@for_each(
    ("text", "language", "said"),
    [
        ("Hello!", None, "Hello! This can be asked, for example:"),
        ("what can I ask?", None, "Hello! This can be asked, for example:"),
        ("Hallo", None, "Hallo! Fragen lässt sich zum Beispiel:"),
        ("¿Qué puedo preguntar?", "es", "¡Hola! Se puede preguntar, por ejemplo:"),
        ("thank you!", None, "You are welcome. This can be asked, too:"),
        ("Danke", None, "Gern. Fragen lässt sich zum Beispiel noch:"),
        ("gracias", None, "De nada. También se puede preguntar:"),
        ("merci", None, "Avec plaisir. On peut aussi demander :"),
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
    profile, arrays = place.load_content("ships")
    prefixes = PrefixMap(dict(profile.prefixes))
    asked = {
        tag: make_examples(profile, arrays, prefixes, [tag], most=9).questions
        for tag in ("es", "fr")
    }

    assert {tag: questions[:4] for tag, questions in asked.items()} == {
        "es": (
            "¿Armador de Étoile?",
            "¿Qué barcos tienen armador Acme?",
            "¿Qué barcos hay?",
            "¿Número de barcos?",
        ),
        "fr": (
            "Armateur d’Étoile ?",
            "Navires avec armateur Acme ?",
            "Liste des navires",
            "Nombre de navires ?",
        ),
    }


def test_a_question_that_begins_with_a_greeting_is_a_question(tmp_path: Path) -> None:
    found = api.ask("Hello, who discovered Titan?", graph_path(), workspace=tmp_path).json()
    assert found["status"] == "answer"


DATA = Path(os.environ.get("ASKGRAPH_DATA") or Path(__file__).parents[3] / "shared" / "data")
OTHERS = {
    "supply": ["supply-kgrep/kg/a-box-default.ttl", "supply-kgrep/kg/t-box-default-comments.ttl"],
    "ships": ["spider-graphs/kg/ship_1.ttl"],
    "institutes": ["spider-graphs/kg/protein_institute.ttl"],
    "dogs": ["spider4sparql/kg/dog_kennels.ttl"],
}
BAD = re.compile(
    r"\b(?:the|highest|per|have the) (?:has|have|is|ref)\b"  # a verb or a link for a noun
    r"|\b(?:IDs?|id|identifier|code|key|uri|no)\b|[_/#:]|\d{3}|\w\d"  # keys
    r"|\b(?:equipments|informations|datas|softwares|staffs)\b"  # plurals of what is not counted
    r"|\b(?:things|classes|objects|entities|resources|properties)\b"  # that say nothing
)

CLASS = re.compile("[/#][A-Z][A-Za-z]+$")


async def started(files: Sequence[Path], folder: Path, language: str) -> list[tuple[str, Answer]]:
    """Questions to start with on a graph of some files, and their answers."""
    place = Workspace(folder)
    place.add("graph", files)
    graph, method = place.graph("graph"), place.method()

    async def ask(question: Question, asked: KnowledgeGraph) -> Outcome:
        return await ask_method(question, method, [asked])

    try:
        starters = await find_starters(graph, language, ask, most=8)
        return [(starter.text, answer) for starter, answer in starters]
    finally:
        await graph.endpoint.close()


KINDS = {
    "en": {
        "highest": r"^Which .+ is the \w+est\?$",
        "list": r"^Which .+ are there\?$|^Which .+ (?:orbit the|have the) ",
        "fact": r"^Who discovered |^What is the .+ of ",
        "group": r"^How many .+ are there per ",
        "count": r"^How many .+ are there\?$",
    },
    "de": {
        "highest": " mit höchstem Wert für ",
        "list": r"^Welche .+ gibt es\?$|^Welche .+ umkreisen ",
        "fact": r"^\w+ von ",
        "group": r"^Wie viele .+ gibt es pro ",
        "count": r"^Wie viele .+ gibt es\?$",
    },
    "es": {
        "highest": " tiene mayor ",
        "list": r"^¿Qué .+ hay\?$|^¿Qué .+ orbitan ",
        "fact": r"^¿[\w ]+ de ",
        "group": r"^¿Número de .+ por ",
        "count": r"^¿Número de [^,]+\?$",
    },
}


@pytest.mark.parametrize("language", KINDS)
async def test_starters_are_of_many_kinds_and_each_is_answered_surely(
    tmp_path: Path, language: str
) -> None:
    found = await started([graph_path()], tmp_path, language)

    assert len(found) == len(dict(found)) == 8
    for kind, pattern in KINDS[language].items():
        assert any(re.search(pattern, text) for text, _ in found), kind
    assert all(one.confidence >= 0.6 and not one.unused_words for _, one in found)
    assert not BAD.search(" ".join(text for text, _ in found))
    classes = {iri for _, one in found for iri in list_answer_iris(one.query) if CLASS.search(iri)}
    assert len(classes) >= 4


@for_each("name", OTHERS)
async def test_starters_of_any_graph_are_asked_as_people_ask(tmp_path: Path, name: str) -> None:
    files = [DATA / file for file in OTHERS[name]]
    if not all(file.is_file() for file in files):
        pytest.skip(f"needs {files[0]}; ASKGRAPH_DATA names the data")

    found = await started(files, tmp_path, "en")

    assert len(found) >= 6
    for text, answer in found:
        assert not BAD.search(text), text
        assert not answer.is_empty and answer.confidence >= 0.6


def test_starters_have_no_verbs_for_nouns_no_keys_and_no_plural_of_what_is_not_counted(
    tmp_path: Path,
) -> None:
    file = tmp_path / "plant.ttl"
    file.write_text(PLANT)
    place = Workspace(tmp_path / "workspace")
    place.add("plant", [file])
    profile, arrays = place.load_content("plant")
    questions = make_examples(
        profile, arrays, PrefixMap(dict(profile.prefixes)), ["en"], most=9
    ).questions

    assert questions == ("What is the maker of main pump?",)
    assert not re.search("equipments|has part|located|X-12345", " ".join(questions))


KEYS = """
@prefix : <http://k.example/> .
@prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .
:Race a rdfs:Class ; rdfs:label "race" . :Driver a rdfs:Class ; rdfs:label "driver" .
:raceId rdfs:label "race ID" . :year rdfs:label "year" . :rank rdfs:label "rank" .
:length rdfs:label "length" . :ref_driver rdfs:label "ref driver" .
:r1 a :Race ; rdfs:label "Monza" ; :raceId 1 ; :year 1999 ; :rank 2 ; :length 5.8 ; :ref_driver :d .
:r2 a :Race ; rdfs:label "Spa" ; :raceId 2 ; :year 2003 ; :rank 3 ; :length 7.0 ; :ref_driver :d .
:r3 a :Race ; rdfs:label "Imola" ; :raceId 3 ; :year 2004 ; :rank 1 ; :length 4.9 ; :ref_driver :e .
:d a :Driver ; rdfs:label "Ayrton" . :e a :Driver ; rdfs:label "Niki" .
"""


async def test_starters_ask_for_no_key_and_no_highest_number_of_what_only_numbers(
    tmp_path: Path,
) -> None:
    file = tmp_path / "keys.ttl"
    file.write_text(KEYS)
    said = " ".join(text for text, _ in await started([file], tmp_path / "workspace", "en"))

    assert "Which race is the longest?" in said
    assert "Which races have the driver Ayrton?" in said
    assert not re.search("ID|ref|highest year|highest rank", said)


@for_each("located", [2, 1])
def test_a_map_is_proposed_for_things_that_mostly_have_coordinates(
    located: int, tmp_path: Path
) -> None:
    rows = [
        f"Depot {n},{10.5 + n if n < located else ''},{n if n < located else ''}" for n in range(4)
    ]
    file = tmp_path / "depots.csv"
    file.write_text("name,lat,lon\n" + "\n".join(rows))
    place = Workspace(tmp_path / "workspace")
    place.add("depots", [file])
    profile, arrays = place.load_content("depots")
    prefixes = PrefixMap(dict(profile.prefixes))
    questions = make_examples(profile, arrays, prefixes, ["en"], most=9).questions

    assert ("Show the depots on a map" in questions) is (located == 2)
