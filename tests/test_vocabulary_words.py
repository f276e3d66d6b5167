"""People use their own words for the terms of published vocabularies."""

import json
from pathlib import Path
from typing import Any

import pytest

import askgraph
from askgraph.errors import SetupError
from askgraph.workspace import Workspace

GRAPHS = Path(__file__).with_name("vocabulary_words")
MUSEUM = (GRAPHS / "museum.ttl").read_text("utf-8")
CATALOGUE = (GRAPHS / "catalogue.ttl").read_text("utf-8")
PREFIXES = """
@prefix crm: <http://www.cidoc-crm.org/cidoc-crm/> .
@prefix dcat: <http://www.w3.org/ns/dcat#> .
@prefix dct: <http://purl.org/dc/terms/> .
@prefix foaf: <http://xmlns.com/foaf/0.1/> .
@prefix owl: <http://www.w3.org/2002/07/owl#> .
@prefix prov: <http://www.w3.org/ns/prov#> .
@prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .
@prefix skos: <http://www.w3.org/2004/02/skos/core#> .
@prefix void: <http://rdfs.org/ns/void#> .
@prefix xsd: <http://www.w3.org/2001/XMLSchema#> .
"""

THESAURUS = """
@prefix : <http://example.org/crafts/> .
:crafts a skos:ConceptScheme ; skos:prefLabel "Crafts"@en ; skos:hasTopConcept :textile, :metal .
:textile a skos:Concept ; skos:prefLabel "Textile work"@en ; skos:narrower :weaving, :felting ;
    skos:inScheme :crafts ; skos:topConceptOf :crafts .
:metal a skos:Concept ; skos:prefLabel "Metal work"@en ; skos:narrower :forging ;
    skos:inScheme :crafts ; skos:topConceptOf :crafts .
:weaving a skos:Concept ; skos:prefLabel "Weaving"@en, "Weberei"@de ;
    skos:altLabel "Loom work"@en, "Cloth making"@en ; skos:broader :textile ;
    skos:notation "T12" ; skos:definition "Making cloth on a loom."@en ; skos:related :dyeing ;
    skos:inScheme :crafts .
:felting a skos:Concept ; skos:prefLabel "Felting"@en ; skos:broader :textile ;
    skos:notation "T15" ; owl:deprecated true ; skos:inScheme :crafts .
:forging a skos:Concept ; skos:prefLabel "Forging"@en ; skos:broader :metal ;
    skos:notation "M20" ; skos:altLabel "Smithing"@en ;
    skos:definition "Shaping metal with a hammer."@en ; skos:inScheme :crafts .
:dyeing a skos:Concept ; skos:prefLabel "Dyeing"@en ; skos:broader :textile ;
    skos:notation "T30" ; skos:inScheme :crafts .
"""

LABORATORY = """
@prefix : <http://example.org/lab/> .
:sift a prov:Activity ; rdfs:label "Sifting" ;
    prov:startedAtTime "2021-04-02T08:00:00Z"^^xsd:dateTime ;
    prov:endedAtTime "2021-04-02T09:30:00Z"^^xsd:dateTime ; prov:wasAssociatedWith :mara ;
    prov:used :raw .
:plot a prov:Activity ; rdfs:label "Plotting" ;
    prov:startedAtTime "2021-04-03T10:00:00Z"^^xsd:dateTime ;
    prov:endedAtTime "2021-04-03T10:20:00Z"^^xsd:dateTime ; prov:wasAssociatedWith :otto ;
    prov:used :clean .
:raw a prov:Entity ; rdfs:label "Raw Readings" ; prov:wasAttributedTo :otto .
:clean a prov:Entity ; rdfs:label "Clean Readings" ; prov:wasGeneratedBy :sift ;
    prov:wasDerivedFrom :raw .
:chart a prov:Entity ; rdfs:label "Tide Chart" ; prov:wasGeneratedBy :plot ;
    prov:wasDerivedFrom :clean .
:mara a prov:Person ; rdfs:label "Mara Quist" . :otto a prov:Person ; rdfs:label "Otto Lind" .
"""


def check(folder: Path, turtle: str, expected: dict[str, set[str]]) -> None:
    """Ask the questions over a graph, and compare the texts of the last column."""
    source = folder / "graph.ttl"
    source.write_text(PREFIXES + turtle, "utf-8")
    Workspace(folder / "workspace").add("graph", [source])
    answers = {}
    for question in expected:
        result: dict[str, Any] = askgraph.ask(
            question, "graph", workspace=folder / "workspace"
        ).json()
        rows = result.get("rows") or [] if result["status"] == "answer" else []
        answers[question] = {str(row[-1]).rsplit("/", 1)[-1] for row in rows}
    assert answers == expected


def test_a_thesaurus_is_asked_in_words_of_librarians(tmp_path: Path) -> None:
    check(
        tmp_path,
        THESAURUS,
        {
            "What are the synonyms of Weaving?": {"Loom work", "Cloth making"},
            "What is the code of Forging?": {"M20"},
            "Which term has the code T30?": {"dyeing"},
            "How is Weaving defined?": {"Making cloth on a loom."},
            "What is the parent term of Dyeing?": {"textile"},
            "What are the more specific terms of Textile work?": {"weaving", "felting", "dyeing"},
            "What are the top terms of Crafts?": {"textile", "metal"},
            "Which terms are obsolete?": {"felting"},
            "How many concepts are deprecated?": {"1"},
            "Was ist der Oberbegriff von Weberei?": {"textile"},
        },
    )


def test_events_of_a_museum_have_a_time_a_place_and_a_person(tmp_path: Path) -> None:
    check(
        tmp_path,
        MUSEUM,
        {
            "When was Ada Moor born?": {"1871-03-02"},
            "When did Ada Moor die?": {"1940-11-20"},
            "Where was Ada Moor born?": {"ghent"},
            "Who was born in Turin?": {"ines"},
            "Who made the Blue Vase?": {"ada"},
            "When was the Salt Bowl made?": {"1911-01-01"},
            "Which objects are made of clay?": {"vase"},
            "Who owns the Salt Bowl?": {"club"},
            "How many objects are there?": {"2"},
            "Wann wurde Ada Moor geboren?": {"1871-03-02"},
        },
    )


def test_the_history_of_data_is_asked_in_plain_words(tmp_path: Path) -> None:
    check(
        tmp_path,
        LABORATORY,
        {
            "Who performed the Sifting?": {"mara"},
            "When did Plotting end?": {"2021-04-03T10:20:00Z"},
            "What was the input of Plotting?": {"clean"},
            "What is the Tide Chart based on?": {"clean"},
            "Which process produced the Tide Chart?": {"plot"},
            "How many processes are there?": {"2"},
            "Wer hat das Plotting durchgeführt?": {"otto"},
        },
    )


def test_a_catalogue_of_data_is_asked_in_four_languages(tmp_path: Path) -> None:
    check(
        tmp_path,
        CATALOGUE,
        {
            "Who published Park Trees?": {"parks"},
            "When was Street Noise published?": {"2019-05-01"},
            "When was Street Noise last updated?": {"2022-02-03"},
            "Which datasets were published in 2020?": {"trees"},
            "Which datasets have the tag traffic?": {"noise", "bikes"},
            "Which datasets are about Environment?": {"noise", "trees"},
            "What is the licence of Bike Counts?": {"by"},
            "How many files does Park Trees have?": {"2"},
            "How many triples does Bike Counts have?": {"840"},
            "Wer hat Bike Counts veröffentlicht?": {"city"},
            "¿Quién publicó Street Noise?": {"city"},
            "Qui a publié Bike Counts ?": {"city"},
        },
    )


def test_a_vocabulary_of_a_user_is_taken_up_when_it_changes(tmp_path: Path) -> None:
    source, words = tmp_path / "graph.ttl", tmp_path / "words.toml"
    lines = (f"<http://e.org/{name}> a :Kiln ; rdfs:label '{name}'; :zq7 {at} ." for at, name in
             enumerate(("Tova", "Berg", "Lund"), 5))  # fmt: skip
    head = "@prefix : <http://example.org/works#> .\n"
    source.write_text(PREFIXES + head + "\n".join(lines), "utf-8")
    workspace = Workspace(tmp_path)
    workspace.add("works", [source])
    settings = tmp_path / "askgraph.toml"
    settings.write_text(settings.read_text("utf-8") + 'vocabularies = ["words.toml"]\n', "utf-8")
    with pytest.raises(SetupError, match=r"there is no vocabulary file .*words\.toml"):
        askgraph.ask("Which ovens are there?", "works", workspace=tmp_path)
    for class_name, name in (("oven", "chambers"), ("furnace", "doors")):
        words.write_text(
            'title = "Works"\nnamespaces = ["http://example.org/works#"]\n'
            f'[classes.Kiln]\nen = ["{class_name}"]\n[properties.zq7]\nen = ["{name}"]\n',
            "utf-8",
        )
        question = f"Which {class_name} has the most {name}?"
        answer = askgraph.ask(question, "works", workspace=tmp_path).json()
        assert answer["rows"] == [["http://e.org/Lund"]]
    built = json.loads((workspace.get_data_folder("works") / "built.json").read_text("utf-8"))
    before = workspace.get_data_folder("works").stat().st_ino
    assert built["vocabularies"]
    askgraph.ask(question, "works", workspace=tmp_path)
    assert workspace.get_data_folder("works").stat().st_ino == before
