"""Reading questions from lines of JSON and from SHACL examples."""

import gzip
import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.each import for_each

from askgraph.errors import SetupError
from askgraph.evaluation import ResultTable
from askgraph.evaluation.benchmarks.formats import read_questions
from askgraph.evaluation.questions import (
    GoldQuestion,
    filter_by_graph,
    to_question_object,
    write_questions,
)
from askgraph.sample import questions_path


def write(folder: Path, *lines: object, name: str = "questions.jsonl") -> Path:
    path = folder / name
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))
    return path


def test_reading_questions(tmp_path: Path) -> None:
    # A line with everything.
    line = {
        "id": "q1",
        "question": "How many moons?",
        "lang": "en",
        "sparql": "SELECT …",
        "answers": {"vars": ["n"], "rows": [["2"]]},
        "tags": ["count"],
        "kg": "moons.ttl",
        "n_rows": 1,
    }
    (question,) = read_questions(write(tmp_path, line), need_gold=True)
    assert question == GoldQuestion(
        id="q1",
        text="How many moons?",
        language="en",
        sparql="SELECT …",
        answers=ResultTable.from_json(["n"], [[2]]),
        tags=("count",),
        graph="moons.ttl",
    )
    # A plain question has no gold.
    path = write(tmp_path, {"id": 7, "question": ""})
    (question,) = read_questions(path)
    assert (question.id, question.has_gold, question.unanswerable) == ("7", False, False)
    with pytest.raises(SetupError, match=r"questions\.jsonl, line 1: question '7' has no gold"):
        read_questions(path, need_gold=True)
    # An empty query is missing and not a graph without an answer.
    (question,) = read_questions(write(tmp_path, {"id": "q", "question": "?", "sparql": ""}))
    assert not question.unanswerable and not question.has_gold
    # A packed file and the split of a question are read.
    line = {"id": "q", "question": "?", "sparql": "ASK {}", "split": "dev"}
    path = tmp_path / "questions.jsonl.gz"
    path.write_bytes(gzip.compress(json.dumps(line).encode()))
    (question,) = read_questions(path)
    assert question.split == "dev"


@pytest.mark.parametrize(
    "more", [{"sparql": None}, {"sparql": "SELECT …", "tags": ["unanswerable", "en"]}]
)
def test_an_unanswerable_question(tmp_path: Path, more: dict[str, object]) -> None:
    (question,) = read_questions(write(tmp_path, {"id": "q", "question": "?", **more}))
    assert question.unanswerable and question.has_gold


def test_files_and_answers(tmp_path: Path) -> None:
    # Stored answers without a query are gold.
    line = {"id": "q", "question": "?", "sparql": None, "answers": {"boolean": False}}
    (question,) = read_questions(write(tmp_path, line), need_gold=True)
    assert question.answers == ResultTable.from_boolean(False) and not question.unanswerable
    # Blank lines and a byte order mark are passed over.
    path = tmp_path / "questions.jsonl"
    path.write_bytes('\ufeff\n{"id": "a", "question": "A\u2028B?"}\r\n\n'.encode())
    assert [q.text for q in read_questions(path)] == ["A\u2028B?"]
    # A file that cannot be read.
    with pytest.raises(SetupError, match=r"no file or folder .*absent\.jsonl"):
        read_questions(tmp_path / "absent.jsonl")
    (tmp_path / "latin.jsonl").write_bytes(b'{"id": "\xe9"}')
    with pytest.raises(SetupError, match="not UTF-8"):
        read_questions(tmp_path / "latin.jsonl")
    # Shacl examples.
    path = tmp_path / "examples.ttl"
    path.write_text(EXAMPLES)
    moons, *others = read_questions(path, need_gold=True)
    assert moons == GoldQuestion(
        id="http://example.org/q1",
        text="Moons of Mars",
        language="en",
        sparql="PREFIX ex: <http://example.org/>\nSELECT ?m { ?m ex:orbits ex:Mars }",
        tags=("moon", "mars"),
    )
    assert {(q.id, q.language) for q in others} == {
        ("http://example.org/q2@de", "de"),
        ("http://example.org/q2@en", "en"),
    }
    assert others[0].sparql == "PREFIX ex: <http://example.net/> ASK { ?m ex:orbits ex:Mars }"
    # Two wordings in one language are two questions.
    path = tmp_path / "examples.ttl"
    path.write_text(EXAMPLES.replace('"Moons of Mars"@en', '"Moons of Mars"@en, "Mars moons"@en'))
    first, second, *_ = read_questions(path)
    assert {first.id, second.id} == {"http://example.org/q1#1", "http://example.org/q1#2"}
    assert first.sparql == second.sparql


@for_each(
    ("lines", "message"),
    ("", "contains no questions"),
    ("\n\n", "contains no questions"),
    ('{"id": "a", "question": "A?"}\n{"id": "b"', "line 2: not JSON"),
    ('["a"]', "line 1: expected an object"),
    ('{"question": "A?"}', "line 1: no 'id'"),
    ('{"id": true, "question": "A?"}', "line 1: no 'id'"),
    ('{"id": "a"}', "line 1: question 'a' has no 'question'"),
    ('{"id": "a", "question": "A?", "sparql": 1}', "line 1: 'sparql' must be text"),
    ('{"id": "a", "question": "A?", "tags": 1}', "line 1: 'tags' must be a text or a list"),
    (
        '{"id": "a", "question": "A?", "answers": {"vars": ["x"], "rows": [[1, 2]]}}',
        "line 1: 'answers' must be",
    ),
    (
        '{"id": "a", "question": "A?"}\n\n{"id": "a", "question": "B?"}',
        "line 3: the id 'a' is already used by .*line 1",
    ),
)
def test_a_bad_file_names_the_line(tmp_path: Path, lines: str, message: str) -> None:
    path = tmp_path / "questions.jsonl"
    path.write_text(lines)
    with pytest.raises(SetupError, match=message):
        read_questions(path)


EXAMPLES = """
prefix : <http://example.org/> prefix sh: <http://www.w3.org/ns/shacl#>
prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> prefix schema: <https://schema.org/>
_:prefixes sh:declare [ sh:prefix "ex" ; sh:namespace "http://example.org/" ] ,
                      [ sh:prefix "other" ; sh:namespace "http://example.com/" ] .
:q1 a sh:SPARQLExecutable, sh:SPARQLSelectExecutable ;
  sh:prefixes _:prefixes ; rdfs:comment "Moons of Mars"@en ; schema:keywords "moon", "mars" ;
  sh:select "SELECT ?m { ?m ex:orbits ex:Mars }" .
:q2 a sh:SPARQLExecutable, sh:SPARQLAskExecutable ;
  rdfs:comment "Hat Mars Monde?"@de, "Has Mars moons?"@en ;
  sh:ask "PREFIX ex: <http://example.net/> ASK { ?m ex:orbits ex:Mars }" .
"""


def test_prefixes_and_graphs(tmp_path: Path) -> None:
    # Prefixes are taken from the file beside.
    head, _, body = EXAMPLES.partition(":q1 a")
    (tmp_path / "prefixes.ttl").write_text(head)
    no_prefixes = head.partition("_:prefixes")[0]
    (tmp_path / "1.ttl").write_text(no_prefixes + ":q1 a" + body.partition(":q2")[0])
    (moons,) = read_questions(tmp_path / "1.ttl")
    assert str(moons.sparql).startswith("PREFIX ex: <http://example.org/>\n")
    # An example without a query can say that the graph has no answer.
    path = tmp_path / "examples.ttl"
    path.write_text(
        EXAMPLES.partition("_:prefixes")[0].replace("\n", " ")
        + ":q a sh:SPARQLExecutable ; rdfs:comment 'Who won?'@en ; "
        "<https://schema.org/keywords> 'unanswerable' ."
    )
    (question,) = read_questions(path, need_gold=True)
    assert question.unanswerable and question.sparql is None and question.language == "en"
    # The sample questions are the same in both forms.
    examples = read_questions(questions_path(), need_gold=True)
    lines = read_questions(questions_path().with_suffix(".jsonl"), need_gold=True)
    assert [q.text for q in examples] == [q.text for q in lines]
    assert [q.unanswerable for q in examples] == [q.unanswerable for q in lines]
    # A question that names no graph is not one about a graph that is required.
    chosen = filter_by_graph(about("cars.ttl", "pets.ttl", None), "cars", required=True)
    assert [question.id for question in chosen] == ["0"]
    with pytest.raises(SetupError, match="no question is about 'cars'; none has a 'kg'"):
        filter_by_graph(about(None, None), "cars", required=True)
    # Questions over one graph are asked whatever its name.
    assert len(filter_by_graph(about("cars.ttl", None), "mine")) == 2
    with pytest.raises(SetupError, match=r"about 'mine'; their 'kg' names cars\.ttl"):
        filter_by_graph(about("cars.ttl"), "mine", required=True)
    with pytest.raises(SetupError, match=r"names cars\.ttl, pets\.ttl"):
        filter_by_graph(about("cars.ttl", "pets.ttl"), "mine")
    # Open prefixes are declared.
    question = GoldQuestion("q", "?", sparql="ASK { ex:Io a ex:Moon }")
    line = to_question_object(question, prefixes={"ex": "http://example.org/"})
    assert line["sparql"] == "PREFIX ex: <http://example.org/>\nASK { ex:Io a ex:Moon }"


@for_each(
    ("text", "message"),
    ("\n\noops", "examples.ttl, line 3"),
    (":q a sh:SPARQLExecutable ; rdfs:comment 'x' .", "neither sh:select nor sh:ask"),
    (":q a sh:SPARQLExecutable ; sh:select 'SELECT * {}' .", "no rdfs:comment"),
    ("", "contains no questions"),
)
def test_a_bad_shacl_file(tmp_path: Path, text: str, message: str) -> None:
    path = tmp_path / "examples.ttl"
    head = EXAMPLES.partition("_:prefixes")[0].replace("\n", " ") if ":q" in text else ""
    path.write_text(head + text)
    with pytest.raises(SetupError, match=message):
        read_questions(path)


def about(*graphs: str | None) -> list[GoldQuestion]:
    return [GoldQuestion(str(at), "?", graph=graph) for at, graph in enumerate(graphs)]


@for_each("name", ["cars", "cars.ttl", "/data/kg/cars.ttl"])
def test_of_questions_over_several_graphs_those_of_one_are_taken(name: str) -> None:
    chosen = filter_by_graph(about("cars.ttl", "pets.ttl", None), name)
    assert [question.id for question in chosen] == ["0", "2"]


PLAIN = GoldQuestion("a", "Which?")
FULL = GoldQuestion(
    "b",
    "Wie viele?",
    language="de",
    sparql="SELECT ?n {}",
    answers=ResultTable.from_json(["n", "m"], [[2, "2020-01-01"], [None, True], [0.5, "007"]]),
    tags=("count",),
    graph="space.ttl",
    split="test",
)


@for_each(
    "question",
    PLAIN,
    FULL,
    GoldQuestion("c", "?", unanswerable=True),
    GoldQuestion("d", "?", sparql="ASK {}", tags=("unanswerable",), unanswerable=True),
    GoldQuestion("e", "?", answers=ResultTable.from_boolean(False)),
    GoldQuestion("f", "?", answers=ResultTable.from_json(["n"], [])),
)
def test_what_is_read_back_is_the_same_question(question: GoldQuestion, tmp_path: Path) -> None:
    write_questions(tmp_path / "questions.jsonl", [question])
    assert read_questions(tmp_path / "questions.jsonl") == (question,)


VALUES = st.one_of(
    st.none(), st.booleans(), st.integers(), st.floats(allow_nan=False), st.text(max_size=8)
)


@given(st.lists(st.tuples(VALUES, VALUES), max_size=4))
def test_stored_answers_keep_their_values(rows: list[tuple[object, object]]) -> None:
    answers = ResultTable.from_json(["a", "b"], rows)
    written = to_question_object(GoldQuestion("q", "?", answers=answers))["answers"]
    assert (
        isinstance(written, dict)
        and ResultTable.from_json(written["vars"], written["rows"]) == answers
    )


def test_a_file_that_cannot_be_written_leaves_the_old_one(tmp_path: Path) -> None:
    path = tmp_path / "questions.jsonl"
    write_questions(path, [PLAIN])
    unfit = GoldQuestion("x", "?", answers=ResultTable(("n",), ((("number", float("nan")),),)))

    with pytest.raises(ValueError, match="not JSON compliant"):
        write_questions(path, [unfit])

    assert read_questions(path) == (PLAIN,)
    assert [file.name for file in tmp_path.iterdir()] == ["questions.jsonl"]
