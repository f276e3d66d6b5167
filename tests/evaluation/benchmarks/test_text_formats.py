"""What is particular to the formats that are not JSON, beyond the contract."""

from pathlib import Path

import pytest
from tests.each import each

from askgraph.errors import SetupError
from askgraph.evaluation.benchmarks.n3_corpus import N3Corpus
from askgraph.evaluation.benchmarks.simplequestions import SimpleQuestions
from askgraph.evaluation.benchmarks.text2sparql import Text2Sparql
from askgraph.sparql.judge import checked


def write(folder: Path, name: str, text: str) -> Path:
    (folder / name).write_text(text)
    return folder / name


def test_a_fact_of_wikidata_becomes_a_query_and_r_its_inverse(tmp_path: Path) -> None:
    path = write(
        tmp_path, "annotated_wd_data_valid.txt", "Q1\tP19\tQ2\twhere?\n\nQ2\tR19\tQ1\twho?\n"
    )
    contents = SimpleQuestions().read(path)
    assert [(q.id, q.sparql, q.split) for q in contents.questions] == [
        ("1", "SELECT DISTINCT ?x WHERE { wd:Q1 wdt:P19 ?x }", "valid"),
        ("3", "SELECT DISTINCT ?x WHERE { ?x wdt:P19 wd:Q2 }", "valid"),
    ]
    assert contents.questions[1].predicates == ("http://www.wikidata.org/prop/direct/P19",)


def test_a_fact_of_freebase_becomes_a_query(tmp_path: Path) -> None:
    line = "www.freebase.com/m/04x\twww.freebase.com/book/work/subjects\twww.freebase.com/m/01c\ta?"
    path = write(tmp_path, "a.txt", f"{line}\r\nQ1\tP1\tQ2\n{line.replace('/m/04x', '')}\n")
    contents = SimpleQuestions().read(path)
    (question,) = contents.questions
    assert question.text == "a?" and contents.graph == "freebase"
    assert question.sparql == "SELECT DISTINCT ?x WHERE { ns:m.04x ns:book.work.subjects ?x }"
    assert question.entities == (contents.prefixes["ns"] + "m.04x",)
    assert [item.reason for item in contents.unreadable] == [
        "it has 3 columns; expected subject, predicate, object, question",
        "'www.freebase.com' is an identifier neither of Wikidata nor of Freebase",
    ]


YAML = """
dataset:
  id: https://example.org/2025/
  prefix: ex25
  defaultNamespace: http://example.org/vocab/
questions:
  - question:
      de: Wer?
      no: Hvem?
    query: {sparql: "SELECT ?x { ?x :knows ?y }"}
    features: [SELECT]
    properties: [":knows"]
  - id: b
    question: {en: "Who?"}
  - id: c
    question: Who?
"""


def test_yaml_questions_get_the_ids_of_the_official_client(tmp_path: Path) -> None:
    contents = Text2Sparql().read(write(tmp_path, "q.yml", YAML), language="*")
    assert [(q.id, q.language) for q in contents.questions] == [
        ("ex25:1-de", "de"),
        ("ex25:1-no", "no"),
    ]
    first = contents.questions[0]
    assert (first.tags, first.predicates) == (("SELECT",), ("http://example.org/vocab/knows",))
    assert (contents.graph, contents.prefixes) == (
        "https://example.org/2025/",
        {"": "http://example.org/vocab/"},
    )
    assert [item.reason for item in contents.unreadable] == [
        "it has neither a query nor answers",
        "'question' must hold a text for each language",
    ]


def test_an_id_does_not_depend_on_the_languages_asked_for(tmp_path: Path) -> None:
    (question,) = Text2Sparql().read(write(tmp_path, "q.yml", YAML), language="no").questions
    assert question.id == "ex25:1-no"


@each(
    ("text", "message"),
    [("a: [", "not YAML"), ("- a", "expected an object"), ("questions: []", "expected a data set")],
)
def test_yaml_of_another_form_is_a_setup_error(tmp_path: Path, text: str, message: str) -> None:
    with pytest.raises(SetupError, match=rf"q\.yml: {message}"):
        Text2Sparql().read(write(tmp_path, "q.yml", text))


N3 = """@prefix rdf: <http://www.w3.org/1999/02/22-rdf-syntax-ns#> .
@prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .
@prefix dc: <http://purl.org/dc/elements/1.1/> .
@prefix ex: <https://example.org/> .
@prefix : <#> .
# { a comment
[] rdfs:label "Moons } of Mars"@en, "Monde des Mars"@de ; dc:subject "one", "moons" ;
rdf:value { ?x ex:partOf__plus <https://example.org/{Mars}> . ?x ex:note "a \\"b\\" { c" . } .
[] rdfs:label "Has Mars a moon?"@en ; rdf:value { ex:Phobos ex:orbits _:y . } .
[] rdfs:label "Nothing"@en .
[] rdf:value { ?x ex:p ?y . } .
"""


def test_a_quoted_graph_becomes_a_query(tmp_path: Path) -> None:
    contents = N3Corpus().read(write(tmp_path, "q.n3", N3.replace("{Mars}", "Mars")))
    moons, ask = contents.questions
    assert (moons.id, moons.text, moons.tags) == (
        "moons-of-mars",
        "Moons } of Mars",
        ("one", "moons"),
    )
    assert moons.sparql == (
        "PREFIX ex: <https://example.org/>\nSELECT DISTINCT ?x WHERE {\n"
        '?x ex:partOf+ <https://example.org/Mars> . ?x ex:note "a \\"b\\" { c" .\n}'
    )
    assert str(ask.sparql).endswith("ASK {\nex:Phobos ex:orbits _:y .\n}")
    for question in contents.questions:
        checked(str(question.sparql))
    assert [item.reason for item in contents.unreadable] == [
        "it has 0 quoted graphs (rdf:value); expected one",
        "it has no text",
    ]


@each(("text", "line"), [("\n\n{ <a> <b> <c> .", 3), ("\n} .", 2), ("\n\n\n<a> <b> .", 4)])
def test_n3_that_cannot_be_read_names_the_line(tmp_path: Path, text: str, line: int) -> None:
    with pytest.raises(SetupError, match=rf"q\.n3, line {line}: "):
        N3Corpus().read(write(tmp_path, "q.n3", text))
