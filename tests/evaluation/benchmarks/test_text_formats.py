"""QALD and the formats of plain text."""

import json
from pathlib import Path

import pytest
from pyoxigraph import Literal, NamedNode
from tests.each import for_each

from askgraph.errors import SetupError
from askgraph.evaluation import ResultTable
from askgraph.evaluation.benchmarks import BenchmarkContents
from askgraph.evaluation.benchmarks.json_records import Qald
from askgraph.evaluation.benchmarks.text2sparql import Text2Sparql
from askgraph.evaluation.benchmarks.text_records import N3Corpus, SimpleQuestions
from askgraph.sparql.judge import check_query


def write(folder: Path, name: str, text: str) -> Path:
    (folder / name).write_text(text)
    return folder / name


def test_facts_become_queries(tmp_path: Path) -> None:
    # A fact of wikidata becomes a query and r its inverse.
    path = write(
        tmp_path, "annotated_wd_data_valid.txt", "Q1\tP19\tQ2\twhere?\n\nQ2\tR19\tQ1\twho?\n"
    )
    contents = SimpleQuestions().read(path)
    assert [(q.id, q.sparql, q.split) for q in contents.questions] == [
        ("1", "SELECT DISTINCT ?x WHERE { wd:Q1 wdt:P19 ?x }", "valid"),
        ("3", "SELECT DISTINCT ?x WHERE { ?x wdt:P19 wd:Q2 }", "valid"),
    ]
    assert contents.questions[1].predicates == ("http://www.wikidata.org/prop/direct/P19",)
    # A fact of freebase becomes a query.
    line = "www.freebase.com/m/04x\twww.freebase.com/book/work/subjects\twww.freebase.com/m/01c\ta?"
    path = write(tmp_path, "a.txt", f"{line}\r\nQ1\tP1\tQ2\n{line.replace('/m/04x', '')}\n")
    contents = SimpleQuestions().read(path)
    (question,) = contents.questions
    assert question.text == "a?" and contents.graph == "freebase"
    assert question.sparql == "SELECT DISTINCT ?x WHERE { ns:m.04x ns:book.work.subjects ?x }"
    assert question.entities == (contents.prefixes["ns"] + "m.04x",)
    assert [item.reason for item in contents.unreadable] == [
        "it has 3 columns; expected subject, predicate, object, question",
        "'www.freebase.com' is neither a Wikidata nor a Freebase identifier",
    ]
    # Yaml questions get the ids of the official client.
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
        "'question' must have a text for each language",
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


def test_ids_and_graphs(tmp_path: Path) -> None:
    # An id does not depend on the languages asked for.
    (question,) = Text2Sparql().read(write(tmp_path, "q.yml", YAML), language="no").questions
    assert question.id == "ex25:1-no"
    # A quoted graph becomes a query.
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
        check_query(str(question.sparql))
    assert [item.reason for item in contents.unreadable] == [
        "it has 0 quoted graphs (rdf:value); expected one",
        "it has no text",
    ]


@for_each(
    ("text", "message"),
    ("a: [", "cannot be read as YAML"),
    ("- a", "expected an object"),
    ("questions: []", "expected a data set"),
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


@for_each(("text", "line"), [("\n\n{ <a> <b> <c> .", 3), ("\n} .", 2), ("\n\n\n<a> <b> .", 4)])
def test_n3_that_cannot_be_read_names_the_line(tmp_path: Path, text: str, line: int) -> None:
    with pytest.raises(SetupError, match=rf"q\.n3, line {line}: "):
        N3Corpus().read(write(tmp_path, "q.n3", text))


QUERY = "PREFIX wdt: <http://www.wikidata.org/prop/direct/> SELECT ?x { ?x wdt:P31 ?y }"


def item(**fields: object) -> dict[str, object]:
    question = [{"language": "en", "string": "Which moons has Mars?"}]
    return {"id": 1, "question": question, "query": {"sparql": QUERY}, "answers": [], **fields}


def read(
    folder: Path, *items: object, name: str = "x.json", language: str | None = None
) -> BenchmarkContents:
    path = folder / name
    path.write_text(json.dumps({"questions": items}))
    return Qald().read(path, language=language)


SEVERAL = [
    {"language": "de", "string": "Monde des Mars?"},
    {"language": "de", "string": "Welche Monde hat der Mars?"},
    {"language": "en", "string": "Which moons has Mars?"},
    {"language": "en-GB", "string": "Which moons does Mars have?"},
    {"language": "fr", "string": ""},
]


def test_languages_and_values(tmp_path: Path) -> None:
    # English is asked where there is english.
    contents = read(tmp_path, item(question=SEVERAL))
    assert [q.id for q in contents.questions] == ["1@en", "1@en-GB"]
    # Else the first language is asked with all its strings.
    contents = read(tmp_path, item(question=SEVERAL[:2]))
    assert [(q.id, q.language) for q in contents.questions] == [("1#1", "de"), ("1#2", "de")]
    # All languages are questions of their own.
    contents = read(tmp_path, item(question=SEVERAL), language="*")
    assert [q.id for q in contents.questions] == ["1@de#1", "1@de#2", "1@en", "1@en-GB"]
    # An item without the language is listed.
    contents = read(tmp_path, item(), item(id=2, question=SEVERAL), language="de")
    assert [q.id for q in contents.questions] == ["2#1", "2#2"]
    assert [item.reason for item in contents.unreadable] == ["no text in 'de'; it has en"]
    assert contents.unreadable[0].location.endswith("x.json, item 1")
    # Solutions keep their terms.
    integer = "http://www.w3.org/2001/XMLSchema#integer"
    solutions = [
        {"x": {"type": "uri", "value": "http://example.org/Mars"}},
        {"y": {"type": "typed-literal", "value": "2", "datatype": integer}},
        {"x": {"type": "literal", "value": "Mars", "xml:lang": "en"}},
    ]
    answers = [{"head": {"vars": ["x", "y"]}, "results": {"bindings": solutions}}]
    (question,) = read(tmp_path, item(answers=answers)).questions
    assert question.answers is not None
    assert question.answers.terms == (
        (NamedNode("http://example.org/Mars"), None),
        (None, Literal("2", datatype=NamedNode(integer))),
        (Literal("Mars", language="en"), None),
    )
    assert question.answers.rows[1] == (None, ("number", 2))
    # A value that is no valid rdf leaves the plain values.
    solutions = [{"x": {"type": "uri", "value": 'http://example.org/The "Moon"'}}]
    answers = [{"head": {"vars": ["x"]}, "results": {"bindings": solutions}}]
    (question,) = read(tmp_path, item(answers=answers)).questions
    assert question.answers == ResultTable.from_json(["x"], [['http://example.org/The "Moon"']])
    assert question.answers.terms == ()


def test_items_that_are_odd(tmp_path: Path) -> None:
    # A boolean is the answer of an ask query.
    contents = read(
        tmp_path,
        item(answers=[{"head": {}, "boolean": False}]),
        item(id=2, answers=[{"head": {}, "boolean": "True"}]),
    )
    assert [q.answers and q.answers.boolean for q in contents.questions] == [False, True]
    # An item without query and answers is listed.
    contents = read(
        tmp_path, item(query={"sparql": ""}), item(id=2, query={}), item(id=3, query=None)
    )
    assert not contents.questions
    assert {found.reason for found in contents.unreadable} == {"it has neither a query nor answers"}
    # Stored answers alone are enough.
    answers = [{"head": {"vars": ["x"]}, "results": {"bindings": []}}]
    (question,) = read(tmp_path, item(query={}, answers=answers)).questions
    assert question.sparql is None and question.answers == ResultTable(("x",), ())
    # A question out of scope is unanswerable.
    (question,) = read(tmp_path, item(query={"sparql": "OUT OF SCOPE"})).questions
    assert question.unanswerable and question.sparql is None
    # What cannot be scored as rows is listed.
    prologue = "# all\nPREFIX e: <http://e.org/#>\nBASE <http://e.org/>\n"
    query = prologue + "construct { ?s ?p ?o } { ?s ?p ?o }"
    contents = read(tmp_path, item(query={"sparql": query}))
    assert [found.reason for found in contents.unreadable] == [
        "a CONSTRUCT query returns triples, which cannot be scored as rows"
    ]
    # A query that does not parse is read.
    (question,) = read(tmp_path, item(query={"sparql": "SELEC ?x"})).questions
    assert question.sparql == "SELEC ?x"
    # Half a character is no text.
    contents = read(tmp_path, item(question=[{"language": "en", "string": "\ud83d?"}]))
    assert contents.unreadable[0].reason.startswith("its text contains half of a surrogate pair")
    # Repeated ids are made unique.
    contents = read(tmp_path, item(), item(), item(id="1~2"), item())
    assert [q.id for q in contents.questions] == ["1", "1~2", "1~2~2", "1~3"]


def test_graph_and_split(tmp_path: Path) -> None:
    # The graph is told from the queries.
    dbpedia = {"sparql": "SELECT ?x { ?x dbo:country dbr:Moon }"}
    wikidata = read(tmp_path, item())
    assert wikidata.graph == "wikidata"
    assert wikidata.prefixes["wdt"] == "http://www.wikidata.org/prop/direct/"
    other = read(tmp_path, item(query=dbpedia))
    assert other.graph == "dbpedia" and other.prefixes["dbr"] == "http://dbpedia.org/resource/"
    assert read(tmp_path, item(query={"sparql": "SELECT * { ?s ?p ?o }"})).graph is None
    # The split is told from the name.
    (question,) = read(tmp_path, item(), name="qald_9_plus_train_wikidata.json").questions
    assert question.split == "train"
    (tmp_path / "test").mkdir()
    (question,) = read(tmp_path / "test", item()).questions
    assert question.split == "test"
