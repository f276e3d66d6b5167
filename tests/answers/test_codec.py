"""The answer object: the stable form that scripts read."""

import json
from dataclasses import replace

from pyoxigraph import BlankNode, Literal, NamedNode
from tests.each import for_each

from askgraph.answers.codec import answer_object, plain_value
from askgraph.sparql import vocabulary as voc
from askgraph.sparql.results import SelectResult, Truncation
from askgraph.trace import Answer, Clarification, Evidence, Option, Outcome, Refusal, Usage

IO = NamedNode("http://example.org/Io")
ANSWER = Answer(
    query="SELECT ?moon ?radius { … }",
    graph="moons",
    result=SelectResult(("moon", "radius"), ((IO, Literal(1821.6)), (IO, None))),
    answer_columns=("moon",),
    words="moons with their radius",
    confidence=0.8,
    labels={IO.value: "Io"},
    evidence=(Evidence(0, (("<s>", "<p>", "<o>"),), ("Io orbits Jupiter",)),),
    usage=Usage(seconds=0.25, requests=3),
)


def test_an_answer() -> None:
    assert answer_object(ANSWER) == {
        "status": "answer",
        "sparql": "SELECT ?moon ?radius { … }",
        "graph": "moons",
        "columns": ["moon", "radius"],
        "rows": [["http://example.org/Io", 1821.6], ["http://example.org/Io", None]],
        "boolean": None,
        "answer_columns": ["moon"],
        "ordered": False,
        "confidence": 0.8,
        "chosen": False,
        "words": "moons with their radius",
        "sentence": "",
        "unused_words": [],
        "interpretation": None,
        "labels": {"http://example.org/Io": "Io"},
        "evidence": [
            {"row": 0, "triples": [["<s>", "<p>", "<o>"]], "words": ["Io orbits Jupiter"]}
        ],
        "why_empty": None,
        "truncated": None,
        "cut_short": None,
        "confirmed": None,
        "clarification": None,
        "options": [],
        "reason": None,
        "missing": [],
        "seconds": 0.25,
        "usage": {
            "requests": 3,
            "llm_calls": 0,
            "input_tokens": 0,
            "cached_tokens": 0,
            "output_tokens": 0,
            "money": 0.0,
        },
    }


def test_a_boolean_answer_reads_like_a_table() -> None:
    answer = Answer("ASK {}", "moons", SelectResult((), ()), (), "", 1.0, boolean=False)
    found = answer_object(answer)
    assert (found["boolean"], found["columns"], found["rows"]) == (False, ["answer"], [[False]])
    assert found["answer_columns"] == ["answer"]


def test_a_question_back_carries_its_options_and_the_best_attempt() -> None:
    option = Option("the moon", 2, "SELECT …")
    found = answer_object(Clarification("Which one?", (option,), ANSWER, Usage(seconds=1.0)))
    assert found["status"] == "clarification"
    assert found["clarification"] == "Which one?"
    assert found["options"] == [{"words": "the moon", "count": 2, "query": "SELECT …"}]
    assert found["sparql"] == ANSWER.query
    assert found["seconds"] == 1.0


def test_a_refusal_without_an_attempt() -> None:
    found = answer_object(Refusal("no word of it is in the graph"))
    assert found["status"] == "refusal"
    assert found["reason"] == "no word of it is in the graph"
    assert (found["sparql"], found["rows"], found["confidence"]) == (None, [], 0.0)


@for_each("outcome", [ANSWER, Clarification("?", (), None), Refusal("no"), Refusal("no", ANSWER)])
def test_the_keys_are_always_the_same(outcome: Outcome) -> None:
    found = answer_object(outcome)
    assert list(found) == list(answer_object(ANSWER))
    json.dumps(found, allow_nan=False)


def test_a_cut_off_result_says_by_whom() -> None:
    cut = SelectResult(("x",), (), Truncation("server", "10,000 rows"))
    answer = Answer("SELECT …", "moons", cut, ("x",), "", 0.5)
    assert answer_object(answer)["truncated"] == {"by": "server", "reason": "10,000 rows"}


@for_each(
    ("text", "datatype", "value"),
    [
        ("7", voc.XSD_INTEGER, 7),
        ("007", voc.XSD_BYTE, 7),
        ("1.10", voc.XSD_DECIMAL, 1.1),
        ("1E3", voc.XSD_DOUBLE, 1000.0),
        ("INF", voc.XSD_DOUBLE, "INF"),
        ("NaN", voc.XSD_DOUBLE, "NaN"),
        ("many", voc.XSD_INTEGER, "many"),
        ("1" * 5000, voc.XSD_INTEGER, "1" * 5000),
        ("true", voc.XSD_BOOLEAN, True),
        ("0", voc.XSD_BOOLEAN, False),
        ("maybe", voc.XSD_BOOLEAN, "maybe"),
        ("7", voc.XSD_STRING, "7"),
        ("2020-01-01", voc.XSD_DATE, "2020-01-01"),
    ],
)
def test_plain_values_of_literals(text: str, datatype: str, value: object) -> None:
    found = plain_value(Literal(text, datatype=NamedNode(datatype)))
    assert (found, type(found)) == (value, type(value))


def test_plain_values_of_other_terms() -> None:
    assert plain_value(IO) == "http://example.org/Io"
    assert plain_value(BlankNode("b")) == "_:b"
    assert plain_value(Literal("Mond", language="de")) == "Mond"
    assert plain_value(None) is None


def test_rows_beyond_a_limit_are_left_out_and_that_is_said() -> None:
    found = answer_object(ANSWER, limit=1)
    assert found["rows"] == [["http://example.org/Io", 1821.6]]
    assert found["truncated"] == {"by": "askgraph", "reason": "the first 1 of 2 rows"}
    assert answer_object(ANSWER, limit=2) == answer_object(ANSWER)


def test_rows_left_out_of_a_result_that_was_cut_off_are_not_its_only_ones() -> None:
    cut = replace(ANSWER.result, truncated=Truncation("server", "10,000 rows"))
    found = answer_object(replace(ANSWER, result=cut), limit=1)
    reason = "the first 1 of 2 rows, and these are not all: 10,000 rows"
    assert found["truncated"] == {"by": "askgraph", "reason": reason}
