"""Reading what other systems answered."""

import json
from pathlib import Path

import pytest

from askgraph.answers.codec import answer_object
from askgraph.errors import SetupError
from askgraph.evaluation.runs.predictions import Prediction, read_predictions
from askgraph.evaluation.values import Table
from askgraph.sparql.results import SelectResult, Truncation
from askgraph.trace import Answer, Clarification, Outcome, Refusal, Usage

QUERY = "SELECT ?m { ?m <urn:orbits> <urn:Mars> }"
MOONS = Table.of_json(["m"], [["urn:Phobos"], ["urn:Deimos"]])


def lines(folder: Path, *records: object) -> Path:
    path = folder / "predictions.jsonl"
    path.write_text("".join(json.dumps(record) + "\n" for record in records))
    return path


def whole(folder: Path, content: object) -> Path:
    path = folder / "predictions.json"
    path.write_text(json.dumps(content, indent=1))
    return path


def test_a_line_with_everything(tmp_path: Path) -> None:
    line = {
        "id": 7,
        "query": QUERY,
        "answers": {"vars": ["m"], "rows": [["urn:Phobos"], ["urn:Deimos"]]},
        "confidence": 0.8,
        "seconds": 1.5,
        "usage": {"llm_calls": 2, "output_tokens": 60},
        "method": "theirs",
        "repeat": 1,
    }

    (prediction,) = read_predictions(lines(tmp_path, line))

    assert prediction == Prediction(
        "7",
        QUERY,
        MOONS,
        confidence=0.8,
        usage=Usage(seconds=1.5, llm_calls=2, output_tokens=60),
        method="theirs",
        repeat=1,
    )


@pytest.mark.parametrize(
    ("line", "prediction"),
    [
        ({"sparql": QUERY}, Prediction("q", QUERY)),
        ({"query": {"sparql": QUERY}}, Prediction("q", QUERY)),
        ({"sparql": None}, Prediction("q", status="refusal")),
        ({"sparql": " "}, Prediction("q", status="refusal")),
        ({"error": "too slow"}, Prediction("q", status="error", error="too slow")),
        ({"sparql": QUERY, "status": "refusal"}, Prediction("q", QUERY, status="refusal")),
        ({"answers": {"boolean": False}}, Prediction("q", answers=Table.of_boolean(False))),
        ({"answers": {"vars": ["m"], "rows": []}}, Prediction("q", answers=Table(("m",), ()))),
    ],
)
def test_forms_of_a_line(line: dict[str, object], prediction: Prediction, tmp_path: Path) -> None:
    assert read_predictions(lines(tmp_path, {"id": "q", **line})) == (prediction,)


BINDINGS = {
    "head": {"vars": ["m"]},
    "results": {
        "bindings": [
            {"m": {"type": "uri", "value": f"urn:{name}"}} for name in ("Phobos", "Deimos")
        ]
    },
}


def test_sparql_results_keep_their_terms(tmp_path: Path) -> None:
    (prediction,) = read_predictions(lines(tmp_path, {"id": "q", "answers": BINDINGS}))
    assert prediction.answers == MOONS
    assert len(prediction.answers.terms) == 2


def test_a_qald_file(tmp_path: Path) -> None:
    path = whole(
        tmp_path,
        {
            "dataset": {"id": "made-up"},
            "questions": [
                {"id": 1, "query": {"sparql": QUERY}, "answers": [BINDINGS]},
                {"id": "2", "question": [], "answers": [{"head": {}, "boolean": True}]},
                {"id": "3", "query": {}, "answers": []},
            ],
        },
    )

    assert read_predictions(path) == (
        Prediction("1", QUERY, MOONS),
        Prediction("2", answers=Table.of_boolean(True)),
        Prediction("3", status="refusal"),
    )


def test_a_text2sparql_result_set(tmp_path: Path) -> None:
    path = whole(
        tmp_path,
        {
            "a:1-en": {"urn:Phobos": 1, "urn:Deimos": 1},
            "a:2-en": {"true": 0},
            "a:3-en": None,
            "a:4": {},
        },
    )

    assert read_predictions(path) == (
        Prediction("a:1-en", answers=Table.of_json(["value"], [["urn:Phobos"], ["urn:Deimos"]])),
        Prediction("a:2-en", answers=Table.of_boolean(False)),
        Prediction("a:3-en", status="refusal"),
        Prediction("a:4", answers=Table(("value",), ())),
    )


def test_lines_of_a_batch(tmp_path: Path) -> None:
    result = SelectResult(("m",), ())
    answer = Answer(QUERY, "moons", result, ("m",), "", 0.9, usage=Usage(seconds=2.0, requests=3))
    cut = Answer(
        QUERY, "moons", SelectResult(("m",), (), Truncation("askgraph", "1 of 2")), (), "", 1
    )
    asked = Answer("ASK {}", "moons", SelectResult((), ()), (), "", 0.5, boolean=True)
    outcomes: tuple[Outcome, ...] = (
        answer,
        cut,
        asked,
        Clarification("Which?", (), answer),
        Refusal("none"),
    )
    records = [{"id": str(at), **answer_object(found)} for at, found in enumerate(outcomes)]
    failed = {"id": "5", **answer_object(Refusal("no answer within 1 s")), "error": "no answer"}

    read = read_predictions(lines(tmp_path, *records, failed))

    assert [(one.status, one.sparql, one.answers) for one in read] == [
        ("answer", QUERY, Table(("m",), ())),
        ("answer", QUERY, None),
        ("answer", "ASK {}", Table.of_boolean(True)),
        ("clarification", QUERY, Table(("m",), ())),
        ("refusal", None, None),
        ("error", None, None),
    ]
    assert read[0].confidence == 0.9
    assert read[0].answers is not None
    assert read[0].answers.answering == ("m",)
    assert read[0].usage == Usage(seconds=2.0, requests=3)


def test_one_question_may_have_several_predictions_that_are_told_apart(tmp_path: Path) -> None:
    one = {"id": "q", "sparql": QUERY}
    several = [one, {**one, "repeat": 1}, {**one, "method": "theirs"}]
    assert len(read_predictions(lines(tmp_path, *several))) == 3
    with pytest.raises(
        SetupError, match=r"line 2: there is a prediction for 'q' already, .* line 1"
    ):
        read_predictions(lines(tmp_path, one, one))


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ({"sparql": QUERY}, "line 1: no 'id'"),
        ({"id": "q"}, "line 1: it has none of 'sparql', 'query' and 'answers'"),
        ({"id": "q", "sparql": 7}, "line 1: 'sparql' must be text or null"),
        ({"id": "q", "sparql": QUERY, "confidence": 80}, "between 0 and 1, not 80"),
        ({"id": "q", "sparql": QUERY, "status": "done"}, "'status' is one of answer, "),
        ({"id": "q", "sparql": QUERY, "usage": {"tokens": 1}}, "'usage' is an object with some of"),
        ({"id": "q", "sparql": QUERY, "usage": {"money": -1}}, "'money' must be 0 or more, not -1"),
        ({"id": "q", "sparql": QUERY, "seconds": float("nan")}, "'seconds' must be 0 or more"),
        ({"id": "q", "answers": {"vars": ["a"], "rows": [[]]}}, "each row as long as 'vars'"),
        ({"id": "q", "answers": ["urn:Phobos"]}, "neither solutions nor a boolean"),
        ("text", "line 1: expected an object"),
    ],
)
def test_what_is_no_prediction_is_named_with_its_line(
    line: object, message: str, tmp_path: Path
) -> None:
    with pytest.raises(SetupError, match=message):
        read_predictions(lines(tmp_path, line, {"id": "r", "sparql": QUERY}))


def test_an_empty_file_and_a_broken_line_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "predictions.jsonl"
    path.write_text("\n")
    with pytest.raises(SetupError, match="holds no predictions"):
        read_predictions(path)
    path.write_text('{"id": "q", "sparql": null}\n{"id": ')
    with pytest.raises(SetupError, match="line 2: not JSON"):
        read_predictions(path)
