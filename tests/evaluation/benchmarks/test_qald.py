"""QALD: languages, strings, stored answers, and the graph told from the queries."""

import json
from pathlib import Path

from pyoxigraph import Literal, NamedNode

from askgraph.evaluation import Table
from askgraph.evaluation.benchmarks import Contents
from askgraph.evaluation.benchmarks.json_records import Qald

QUERY = "PREFIX wdt: <http://www.wikidata.org/prop/direct/> SELECT ?x { ?x wdt:P31 ?y }"


def item(**fields: object) -> dict[str, object]:
    question = [{"language": "en", "string": "Which moons has Mars?"}]
    return {"id": 1, "question": question, "query": {"sparql": QUERY}, "answers": [], **fields}


def read(
    folder: Path, *items: object, name: str = "x.json", language: str | None = None
) -> Contents:
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


def test_english_is_asked_where_there_is_english(tmp_path: Path) -> None:
    contents = read(tmp_path, item(question=SEVERAL))
    assert [q.id for q in contents.questions] == ["1@en", "1@en-GB"]


def test_else_the_first_language_is_asked_with_all_its_strings(tmp_path: Path) -> None:
    contents = read(tmp_path, item(question=SEVERAL[:2]))
    assert [(q.id, q.language) for q in contents.questions] == [("1#1", "de"), ("1#2", "de")]


def test_all_languages_are_questions_of_their_own(tmp_path: Path) -> None:
    contents = read(tmp_path, item(question=SEVERAL), language="*")
    assert [q.id for q in contents.questions] == ["1@de#1", "1@de#2", "1@en", "1@en-GB"]


def test_an_item_without_the_language_is_listed(tmp_path: Path) -> None:
    contents = read(tmp_path, item(), item(id=2, question=SEVERAL), language="de")
    assert [q.id for q in contents.questions] == ["2#1", "2#2"]
    assert [item.reason for item in contents.unreadable] == ["no text in 'de'; it has en"]
    assert contents.unreadable[0].place.endswith("x.json, item 1")


def test_solutions_keep_their_terms(tmp_path: Path) -> None:
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


def test_a_value_that_is_no_valid_rdf_leaves_the_plain_values(tmp_path: Path) -> None:
    solutions = [{"x": {"type": "uri", "value": 'http://example.org/The "Moon"'}}]
    answers = [{"head": {"vars": ["x"]}, "results": {"bindings": solutions}}]
    (question,) = read(tmp_path, item(answers=answers)).questions
    assert question.answers == Table.of_json(["x"], [['http://example.org/The "Moon"']])
    assert question.answers.terms == ()


def test_a_boolean_is_the_answer_of_an_ask_query(tmp_path: Path) -> None:
    contents = read(
        tmp_path,
        item(answers=[{"head": {}, "boolean": False}]),
        item(id=2, answers=[{"head": {}, "boolean": "True"}]),
    )
    assert [q.answers and q.answers.boolean for q in contents.questions] == [False, True]


def test_an_item_without_query_and_answers_is_listed(tmp_path: Path) -> None:
    contents = read(
        tmp_path, item(query={"sparql": ""}), item(id=2, query={}), item(id=3, query=None)
    )
    assert not contents.questions
    reasons = {found.reason for found in contents.unreadable}
    assert reasons == {"it has neither a query nor answers"}


def test_stored_answers_alone_are_enough(tmp_path: Path) -> None:
    answers = [{"head": {"vars": ["x"]}, "results": {"bindings": []}}]
    (question,) = read(tmp_path, item(query={}, answers=answers)).questions
    assert question.sparql is None and question.answers == Table(("x",), ())


def test_a_question_out_of_scope_is_unanswerable(tmp_path: Path) -> None:
    (question,) = read(tmp_path, item(query={"sparql": "OUT OF SCOPE"})).questions
    assert question.unanswerable and question.sparql is None


def test_what_cannot_be_scored_as_rows_is_listed(tmp_path: Path) -> None:
    prologue = "# all\nPREFIX e: <http://e.org/#>\nBASE <http://e.org/>\n"
    query = prologue + "construct { ?s ?p ?o } { ?s ?p ?o }"
    contents = read(tmp_path, item(query={"sparql": query}))
    assert [found.reason for found in contents.unreadable] == [
        "a CONSTRUCT query gives triples, which cannot be scored as rows"
    ]


def test_a_query_that_does_not_parse_is_read(tmp_path: Path) -> None:
    (question,) = read(tmp_path, item(query={"sparql": "SELEC ?x"})).questions
    assert question.sparql == "SELEC ?x"


def test_half_a_character_is_no_text(tmp_path: Path) -> None:
    contents = read(tmp_path, item(question=[{"language": "en", "string": "\ud83d?"}]))
    assert contents.unreadable[0].reason.startswith("its text holds half a surrogate pair")


def test_repeated_ids_are_made_unique(tmp_path: Path) -> None:
    contents = read(tmp_path, item(), item(), item(id="1~2"), item())
    assert [q.id for q in contents.questions] == ["1", "1~2", "1~2~2", "1~3"]


def test_the_graph_is_told_from_the_queries(tmp_path: Path) -> None:
    dbpedia = {"sparql": "SELECT ?x { ?x dbo:country dbr:Moon }"}
    wikidata = read(tmp_path, item())
    assert wikidata.graph == "wikidata"
    assert wikidata.prefixes["wdt"] == "http://www.wikidata.org/prop/direct/"
    other = read(tmp_path, item(query=dbpedia))
    assert other.graph == "dbpedia" and other.prefixes["dbr"] == "http://dbpedia.org/resource/"
    assert read(tmp_path, item(query={"sparql": "SELECT * { ?s ?p ?o }"})).graph is None


def test_the_split_is_told_from_the_name(tmp_path: Path) -> None:
    (question,) = read(tmp_path, item(), name="qald_9_plus_train_wikidata.json").questions
    assert question.split == "train"
    (tmp_path / "test").mkdir()
    (question,) = read(tmp_path / "test", item()).questions
    assert question.split == "test"
