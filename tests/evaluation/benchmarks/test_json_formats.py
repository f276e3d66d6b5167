"""What is particular to the formats that are lists of JSON objects, beyond the contract."""

import json
from pathlib import Path

from askgraph.evaluation import ResultTable
from askgraph.evaluation.benchmarks import Benchmark, BenchmarkContents, json_records

WD = "http://www.wikidata.org/entity/"
WDT = "http://www.wikidata.org/prop/direct/"


def read(
    reader: Benchmark, folder: Path, content: object, *, language: str | None = None
) -> BenchmarkContents:
    (folder / "file.json").write_text(json.dumps(content))
    return reader.read(folder / "file.json", language=language)


def reasons(contents: BenchmarkContents) -> list[str]:
    return [item.reason for item in contents.unreadable]


def test_lcquad_and_others(tmp_path: Path) -> None:
    # Lcquad takes the query under either of its names.
    records = [
        {"_id": "a", "corrected_question": "A?", "sparql_query": "ASK {}", "sparql_template_id": 2},
        {"_id": "b", "corrected_question": "B?", "query": "ASK { }", "id": 3},
    ]
    contents = read(json_records.LcQuad(), tmp_path, records)
    assert [q.sparql for q in contents.questions] == ["ASK {}", "ASK { }"]
    assert [q.tags for q in contents.questions] == [("template 2",), ("template 3",)]
    assert contents.graph == "dbpedia"
    # Lcquad2 asks the paraphrase of a null question.
    records = [LCQUAD2, {**LCQUAD2, "question": None}, {**LCQUAD2, "question": "n/a"}]
    contents = read(json_records.LcQuad2(), tmp_path, records)
    assert [(q.text, q.paraphrases) for q in contents.questions] == [
        ("What is x?", ("Tell me x",)),
        ("Tell me x", ()),
        ("Tell me x", ()),
    ]
    assert contents.questions[0].tags == ("boolean", "ask")
    # Lcquad2 lists a question without any wording.
    record = {**LCQUAD2, "question": None, "paraphrased_question": []}
    assert reasons(read(json_records.LcQuad2(), tmp_path, [record])) == ["it has no text"]
    # Lcquad2 has queries over two graphs.
    contents = read(json_records.LcQuad2(graph="dbpedia"), tmp_path, [LCQUAD2])
    assert contents.graph == "dbpedia" and contents.questions[0].sparql == "ASK { ?dbpedia ?p ?o }"
    # Spinach leaves prefixes to wikidata.
    record = {"id": "dev_1", "question": "A?", "sparql": "#defaultView:Map\nSELECT ?a {}"}
    contents = read(json_records.Spinach(), tmp_path, [record])
    assert contents.questions[0].sparql == record["sparql"]
    assert contents.prefixes["psv"] == "http://www.wikidata.org/prop/statement/value/"
    # Pat questions are scored by their stored answers.
    plain = {**PAT, "answer annotations": [], "relations": ["P108"], "uniq_id": 10}
    empty = {**plain, "text answers": []}
    contents = read(json_records.PatQuestions(), tmp_path, {"a": PAT, "b": plain, "c": empty})
    two, one = contents.questions
    assert two.answers == ResultTable.from_json(["answer"], [[WD + "Q2"], ["1 May"]])
    assert one.answers == ResultTable.from_json(["answer"], [["Bob"]])
    assert (two.tags[0], one.tags[0]) == ("multi-hop", "single-hop")
    assert (two.entities, two.predicates) == ((WD + "Q1",), (WDT + "P108", WDT + "P488"))
    assert reasons(contents) == ["it has neither a query nor answers"]


LCQUAD2 = {
    "uid": 7,
    "NNQT_question": "What is {x}?",
    "question": "What is x?",
    "paraphrased_question": "Tell me x",
    "sparql_wikidata": "ASK { ?wikidata ?p ?o }",
    "sparql_dbpedia18": "ASK { ?dbpedia ?p ?o }",
    "subgraph": "boolean",
    "template": ["ask"],
}


def test_results_and_languages(tmp_path: Path) -> None:
    # Wikiwebquestions keeps results.
    record = {"id": "a", "utterance": "a?", "sparql": "SELECT ?x {}"}
    mars = {"x": {"type": "uri", "value": WD + "Q111"}}
    contents = read(
        json_records.WikiWebQuestions(),
        tmp_path,
        [
            {**record, "results": [mars]},
            {**record, "results": []},
            {**record, "results": True},
            {**record, "results": "Mars"},
        ],
    )
    stored = [question.answers for question in contents.questions]
    assert stored == [
        ResultTable.from_json(["x"], [[WD + "Q111"]]),
        ResultTable((), ()),
        ResultTable.from_boolean(True),
    ]
    assert reasons(contents) == ["'results' must be a list of solutions or a boolean"]
    # Rubq asks in russian unless told otherwise.
    (russian,) = read(json_records.Rubq(), tmp_path, [RUBQ]).questions
    (english,) = read(json_records.Rubq(), tmp_path, [RUBQ], language="en").questions
    assert (russian.text, russian.id) == ("Чей это остров?", "4")
    assert (english.text, english.id) == ("Whose island is it?", "4")
    assert russian.answers == ResultTable.from_json(["answer"], [[WD + "Q298"]])
    assert (russian.entities, russian.predicates) == ((WD + "Q14452",), (WDT + "P17",))
    # Rubq tells unanswerable questions from broken ones.
    bare = {**RUBQ, "query": "", "answers": []}
    contents = read(json_records.Rubq(), tmp_path, [{**bare, "tags": ["no_answer"]}, bare])
    assert [question.unanswerable for question in contents.questions] == [True]
    assert reasons(contents) == ["it has neither a query nor answers"]


RUBQ = {
    "uid": 4,
    "question_text": "Чей это остров?",
    "question_eng": "Whose island is it?",
    "query": "SELECT ?a { wd:Q14452 wdt:P17 ?a }",
    "question_uris": [WD + "Q14452"],
    "question_props": ["wdt:P17"],
    "answers": [{"type": "uri", "label": "Чили", "value": WD + "Q298"}],
    "tags": ["1-hop"],
}


PAT = {
    "question": "Who is the chair of the employer of Ada?",
    "subject": {"subject": "Q1", "subLabel": "Ada"},
    "text answers": ["Bob"],
    "answer annotations": [{"ID": "Q2", "Label": "Bob"}, {"ID": "1 May", "Label": "1 May"}],
    "relations": ["P108", "P488"],
    "template": "Who is the chair of the employer of {subject}?",
    "uniq_id": 9,
}


def test_dblp_and_sciqa(tmp_path: Path) -> None:
    # Dblp quad undoes escapes and names what it is about.
    record = {
        "id": "Q1",
        "query_type": "COUNT",
        "question": {"string": "Papers of Jos\\u00E9?"},
        "paraphrased_question": {"string": "What did Jos\\u00E9 write?"},
        "query": {"sparql": "ASK {}"},
        "template_id": "TC01",
        "entities": ["<https://dblp.org/pid/1>"],
        "relations": ["<https://dblp.org/rdf/schema#authoredBy>"],
    }
    (question,) = read(json_records.DblpQuad(), tmp_path, {"questions": [record]}).questions
    assert (question.text, question.paraphrases) == ("Papers of José?", ("What did José write?",))
    assert question.tags == ("COUNT", "TC01") and question.entities == ("https://dblp.org/pid/1",)
    assert question.predicates == ("https://dblp.org/rdf/schema#authoredBy",)
    # Sciqa has many paraphrases or none.
    record = {"id": "AQ1", "question": {"string": "A?"}, "query": {"sparql": "ASK {}"}}
    contents = read(
        json_records.SciQa(),
        tmp_path,
        {"questions": [{**record, "paraphrased_question": ["B?", "C?"]}, {**record, "id": "AQ2"}]},
    )
    assert [question.paraphrases for question in contents.questions] == [("B?", "C?"), ()]
    assert contents.prefixes["orkgp"] == "http://orkg.org/orkg/predicate/"


def test_grasp_and_cwq(tmp_path: Path) -> None:
    # Grasp lines marked invalid are read with a tag.
    line = {
        "id": "t0",
        "question": "A?",
        "sparql": "ASK { wd:Q1 wdt:P1 ?o }",
        "paraphrases": ["B?"],
    }
    path = tmp_path / "x_test.jsonl"
    path.write_text(
        "\n".join(
            [
                json.dumps({**line, "info": {"invalid": True}}),
                json.dumps({**line, "info": {"invalid": False}, "sparql": None}),
                "[]",
            ]
        )
    )
    contents = json_records.GraspLines().read(path)
    (question,) = contents.questions
    assert (question.tags, question.paraphrases, question.split) == (("invalid",), ("B?",), "test")
    assert [item.location.rpartition(", ")[2] for item in contents.unreadable] == [
        "line 2",
        "line 3",
    ]
    # Cwq keeps the wording of the program beside that of people.
    record = {
        "ID": "a_1",
        "webqsp_ID": "a",
        "question": "A?",
        "machine_question": "a of b",
        "compositionality_type": "conjunction",
        "sparql": "SELECT ?x {}",
    }
    named = {"answer_id": "m.01428y", "answer": "Creole", "aliases": []}
    said = {"answer_id": "1962", "answer": "1962"}
    contents = read(
        json_records.ComplexWebQuestions(), tmp_path, [{**record, "answers": [named, said]}]
    )
    (question,) = contents.questions
    assert (question.text, question.paraphrases) == ("A?", ("a of b",))
    assert question.tags == ("conjunction",)
    assert question.answers == ResultTable.from_json(["x"], [[FB + "m.01428y"], ["1962"]])
    wrong = read(json_records.ComplexWebQuestions(), tmp_path, [{**record, "answers": [{}]}])
    assert reasons(wrong) == ["an answer must be an object with 'answer_id' or 'answer', a text"]


FB = "http://rdf.freebase.com/ns/"


def test_webqsp_takes_the_first_parse_that_says_something(tmp_path: Path) -> None:
    named = {"AnswerType": "Entity", "AnswerArgument": "m.01428y", "EntityName": "Creole"}
    plain = {"AnswerType": "Value", "AnswerArgument": "1962-08-06"}
    chain = {"TopicEntityMid": "m.03_r3", "InferentialChain": ["location.country.languages"]}
    parses = [
        {"ParseId": "a.P0", "Sparql": "", "Answers": [], "InferentialChain": None},
        {"ParseId": "a.P1", "Sparql": "SELECT ?x {}", "Answers": [named, plain], **chain},
        {"ParseId": "a.P2", "Sparql": "SELECT ?y {}", "Answers": [plain]},
    ]
    asked = {"QuestionId": "a", "RawQuestion": "A?"}
    contents = read(
        json_records.WebQsp(),
        tmp_path,
        {
            "Questions": [
                {**asked, "Parses": parses},
                {**asked, "QuestionId": "b", "Parses": []},
                {**asked, "QuestionId": "c", "Parses": [{"Answers": ["m.1"]}]},
            ]
        },
    )
    (question,) = contents.questions
    assert (question.id, question.sparql, contents.graph) == ("a", "SELECT ?x {}", "freebase")
    assert question.answers == ResultTable.from_json(["x"], [[FB + "m.01428y"], ["1962-08-06"]])
    assert question.entities == (FB + "m.03_r3",)
    assert question.predicates == (FB + "location.country.languages",)
    assert contents.prefixes["ns"] == FB
    assert reasons(contents) == [
        "it has neither a query nor answers",
        "'Answers' must be a list of objects",
    ]


def test_simpledbpediaqa_takes_what_any_of_its_predicates_gives(tmp_path: Path) -> None:
    dbo, thing = "http://dbpedia.org/ontology/", "http://dbpedia.org/resource/A"
    author = {"Predicate": dbo + "author", "Direction": "forward", "Constraint": None}
    notable = {"Predicate": dbo + "work", "Direction": "backward", "Constraint": dbo + "Person"}
    asked = {"ID": "a", "Query": "who wrote a", "Subject": thing}
    contents = read(
        json_records.SimpleDbpediaQa(),
        tmp_path,
        {
            "Questions": [
                {**asked, "PredicateList": [author, notable]},
                {**asked, "PredicateList": []},
                {**asked, "PredicateList": [{**author, "Direction": "up"}]},
                {**asked, "PredicateList": [{**author, "Predicate": "> } #"}]},
            ]
        },
    )
    (question,) = contents.questions
    assert question.sparql == (
        f"SELECT DISTINCT ?x WHERE {{ {{ <{thing}> <{dbo}author> ?x . }} UNION "
        f"{{ ?x <{dbo}work> <{thing}> . ?x a <{dbo}Person> . }} }}"
    )
    assert question.entities == (thing,) and question.predicates == (dbo + "author", dbo + "work")
    assert reasons(contents) == [
        "it needs 'Subject', an IRI, and 'PredicateList', a list that is not empty",
        "'Direction' must be forward or backward, not 'up'",
        "'Predicate' must be an IRI, not '> } #'",
    ]
