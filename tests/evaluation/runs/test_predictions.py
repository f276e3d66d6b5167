"""Reading what other systems answered."""

import json
from pathlib import Path
from typing import Any

import pytest
from tests.each import for_each
from tests.evaluation.conftest import StoreEndpoint

from askgraph.answers.codec import to_json_object
from askgraph.errors import SetupError
from askgraph.evaluation import ResultTable
from askgraph.evaluation.questions import GoldQuestion
from askgraph.evaluation.runs import EvaluationOptions, Record, Task
from askgraph.evaluation.runs.predictions import Prediction, read_predictions, score_prediction
from askgraph.sparql.results import SelectResult, Truncation
from askgraph.trace import Answer, Clarification, Outcome, Refusal, Usage

QUERY = "SELECT ?m { ?m <urn:orbits> <urn:Mars> }"
MOONS = ResultTable.from_json(["m"], [["urn:Phobos"], ["urn:Deimos"]])


def lines(folder: Path, *records: object) -> Path:
    path = folder / "predictions.jsonl"
    path.write_text("".join(json.dumps(record) + "\n" for record in records))
    return path


def whole(folder: Path, content: object) -> Path:
    path = folder / "predictions.json"
    path.write_text(json.dumps(content, indent=1))
    return path


def test_lines_of_predictions(tmp_path: Path) -> None:
    # A line with everything.
    answers = {"vars": ["m"], "rows": [["urn:Phobos"], ["urn:Deimos"]]}
    more: dict[str, Any] = {"confidence": 0.8, "method": "theirs", "repeat": 1}
    cost = {"llm_calls": 2, "output_tokens": 60}
    line = {"id": 7, "query": QUERY, "answers": answers, "seconds": 1.5, "usage": cost, **more}
    (prediction,) = read_predictions(lines(tmp_path, line))
    assert prediction == Prediction("7", QUERY, MOONS, usage=Usage(seconds=1.5, **cost), **more)
    # Sparql results keep their terms.
    (prediction,) = read_predictions(lines(tmp_path, {"id": "q", "answers": BINDINGS}))
    assert prediction.answers == MOONS and len(prediction.answers.terms) == 2
    # An empty file and a broken line are refused.
    path = tmp_path / "predictions.jsonl"
    path.write_text("\n")
    with pytest.raises(SetupError, match="contains no predictions"):
        read_predictions(path)
    path.write_text('{"id": "q", "sparql": null}\n{"id": ')
    with pytest.raises(SetupError, match="line 2: not JSON"):
        read_predictions(path)


@for_each(
    ("line", "prediction"),
    ({"sparql": QUERY}, Prediction("q", QUERY)),
    ({"query": {"sparql": QUERY}}, Prediction("q", QUERY)),
    ({"sparql": None}, Prediction("q", status="refusal")),
    ({"sparql": " "}, Prediction("q", status="refusal")),
    ({"error": "too slow"}, Prediction("q", status="error", error="too slow")),
    ({"sparql": QUERY, "status": "refusal"}, Prediction("q", QUERY, status="refusal")),
    ({"answers": {"boolean": False}}, Prediction("q", answers=ResultTable.from_boolean(False))),
    ({"answers": {"vars": ["m"], "rows": []}}, Prediction("q", answers=ResultTable(("m",), ()))),
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


def test_formats_of_predictions(tmp_path: Path) -> None:
    # A qald file.
    questions = [
        {"id": 1, "query": {"sparql": QUERY}, "answers": [BINDINGS]},
        {"id": "2", "question": [], "answers": [{"head": {}, "boolean": True}]},
        {"id": "3", "query": {}, "answers": []},
    ]
    path = whole(tmp_path, {"dataset": {"id": "made-up"}, "questions": questions})
    assert read_predictions(path) == (
        Prediction("1", QUERY, MOONS),
        Prediction("2", answers=ResultTable.from_boolean(True)),
        Prediction("3", status="refusal"),
    )
    # A text2sparql result set.
    moons = ResultTable.from_json(["value"], [["urn:Phobos"], ["urn:Deimos"]])
    first = {"a:1-en": {"urn:Phobos": 1, "urn:Deimos": 1}, "a:2-en": {"true": 0}}
    assert read_predictions(whole(tmp_path, {**first, "a:3-en": None, "a:4": {}})) == (
        Prediction("a:1-en", answers=moons),
        Prediction("a:2-en", answers=ResultTable.from_boolean(False)),
        Prediction("a:3-en", status="refusal"),
        Prediction("a:4", answers=ResultTable(("value",), ())),
    )


def test_files_of_peers_are_predictions(tmp_path: Path) -> None:
    # As GRASP writes them: an answer with its trace, an older line, a cancelled and a failed run.
    grasp = Path(__file__).with_name("grasp")
    first, *more = read_predictions(grasp / "outputs.jsonl")
    assert (first.sparql, first.usage) == (QUERY, Usage(seconds=2.5, llm_calls=2))
    assert [(one.sparql, one.status, one.error) for one in more] == [
        (QUERY, "answer", None), (None, "refusal", None), (None, "error", "LLM API timed out"),
    ]  # fmt: skip
    named = ("step", "text", "tool", "arguments", "output", "failed", "seconds")
    said = [[tuple(step[name] for name in named if name in step) for step in one.steps]
            for one in (first, *more)]  # fmt: skip
    assert said == [
        [("thought", "I look for Mars."),
         ("tool_use", "search_entity", {"kg": "k", "query": "Mars"}, "1. Mars", False, 0.5),
         ("tool_use", "list", {"kg": "k"}, "no such graph", True, 0.1),
         ("tool_use", "answer", {"sparql": QUERY, "answer": "Two."}, "Stop", False, 0)],
        [("thought", "I try."),
         ("tool_use", "execute", {"kg": "k", "sparql": QUERY}, "2 rows", False, 0)],
        [], [],
    ]  # fmt: skip
    assert first.steps[-1]["query"] == QUERY
    scored = read_predictions(grasp / "outputs.evaluation.json")
    assert [(one.sparql, one.published) for one in scored] == [
        (QUERY, 0.5), (QUERY, None), (None, None),
    ]  # fmt: skip
    assert [(one.method, one.published) for one in read_predictions(grasp)] == [
        ("outputs", figure) for figure in (0.5, None, None, None)
    ]
    # Answers and results of TEXT2SPARQL's client; LC-QuAD 1 and 2.
    answers = [{"dataset": "urn:d", "question": "?", "query": QUERY, "qname": "a:1-en"}]
    assert read_predictions(whole(tmp_path, answers)) == (Prediction("a:1-en", QUERY),)
    team = tmp_path / "sets" / "TEAM"
    team.mkdir(parents=True)
    whole(team, {"a:1-en": {"urn:Io": 1}}).rename(team / "a_system_result_set.json")
    whole(team, {"a:1-en": {"set_F": 0.25}, "average": {"set_F": 1.0}}).rename(team / "a_eval.json")
    [one] = read_predictions(tmp_path / "sets")
    assert (one.method, one.id, one.published) == ("TEAM", "a:1-en", 0.25)
    (team / "a_answers.json").write_text(json.dumps(answers))
    [one] = read_predictions(tmp_path / "sets" / "*" / "a_answers.json")
    assert (one.method, one.sparql, one.published) == ("TEAM", QUERY, 0.25)
    quad = [{"_id": "1", "sparql_query": QUERY}, {"uid": 2, "sparql_wikidata": QUERY}]
    for path in (whole(tmp_path, quad), lines(tmp_path, *quad), lines(tmp_path, quad[1])):
        assert [one.id for one in read_predictions(path)][-1:] == ["2"]


def test_batches_as_predictions(tmp_path: Path) -> None:
    # Lines of a batch.
    result = SelectResult(("m",), ())
    answer = Answer(QUERY, "moons", result, ("m",), "", 0.9, usage=Usage(seconds=2.0, requests=3))
    part = SelectResult(("m",), (), Truncation("askgraph", "1 of 2"))
    cut = Answer(QUERY, "moons", part, (), "", 1)
    asked = Answer("ASK {}", "moons", SelectResult((), ()), (), "", 0.5, boolean=True)
    back = Clarification("Which?", (), answer)
    outcomes: tuple[Outcome, ...] = (answer, cut, asked, back, Refusal("none"))
    records = [{"id": str(at), **to_json_object(found)} for at, found in enumerate(outcomes)]
    failed = {"id": "5", **to_json_object(Refusal("no answer within 1 s")), "error": "no answer"}
    read = read_predictions(lines(tmp_path, *records, failed))
    assert [(one.status, one.sparql, one.answers) for one in read] == [
        ("answer", QUERY, ResultTable(("m",), ())),
        ("answer", QUERY, None),
        ("answer", "ASK {}", ResultTable.from_boolean(True)),
        ("clarification", QUERY, ResultTable(("m",), ())),
        ("refusal", None, None),
        ("error", None, None),
    ]
    assert read[0].confidence == 0.9 and read[0].answers is not None
    assert read[0].answers.answer_columns == ("m",) and read[0].usage == Usage(
        seconds=2.0, requests=3
    )
    # One question may have several predictions that are told apart.
    one = {"id": "q", "sparql": QUERY}
    several = [one, {**one, "repeat": 1}, {**one, "method": "theirs"}]
    assert len(read_predictions(lines(tmp_path, *several))) == 3
    with pytest.raises(SetupError, match=r"line 2: 'q' has a prediction already, at .* line 1"):
        read_predictions(lines(tmp_path, one, one))


@for_each(
    ("line", "message"),
    ({"sparql": QUERY}, "line 1: no 'id'"),
    ({"id": "q"}, "line 1: it has none of 'sparql', 'query' and 'answers'"),
    ({"id": "q", "sparql": 7}, "line 1: 'sparql' must be text"),
    ({"id": "q", "sparql": QUERY, "confidence": 80}, "between 0 and 1, not 80"),
    ({"id": "q", "sparql": QUERY, "status": "done"}, "'status' must be one of answer, "),
    (
        {"id": "q", "sparql": QUERY, "usage": {"tokens": 1}},
        "'usage' must be an object with some of",
    ),
    ({"id": "q", "sparql": QUERY, "usage": {"money": -1}}, "'money' must be 0 or more, not -1"),
    ({"id": "q", "sparql": QUERY, "seconds": float("nan")}, "'seconds' must be 0 or more"),
    ({"id": "q", "answers": {"vars": ["a"], "rows": [[]]}}, "each row as long as vars"),
    ({"id": "q", "answers": ["urn:Phobos"]}, "neither solutions nor a boolean"),
    ("text", "line 1: expected an object"),
)
def test_lines_without_prediction_are_named(line: object, message: str, tmp_path: Path) -> None:
    with pytest.raises(SetupError, match=message):
        read_predictions(lines(tmp_path, line, {"id": "r", "sparql": QUERY}))


EX = {"": "http://example.org/"}
JUPITER = "SELECT ?moon { ?moon :orbits :Jupiter }"
IO = ResultTable.from_json(["m"], [["http://example.org/Io"]])
BOTH = ResultTable.from_json(["m"], [["http://example.org/Io"], ["http://example.org/Europa"]])
QUESTION = GoldQuestion("q", "Which moons has Jupiter?", sparql=JUPITER, answers=BOTH)


def task(question: GoldQuestion = QUESTION, **options: bool) -> Task:
    return Task(question, "moons", "moons", "theirs", options=EvaluationOptions(**options))  # type: ignore[arg-type]


async def record(
    prediction: Prediction | None,
    endpoint: StoreEndpoint | None,
    question: GoldQuestion = QUESTION,
    **options: bool,
) -> Record:
    return (
        await score_prediction(task(question, **options), prediction, endpoint, prefixes=EX)
    ).record


async def test_scoring_predictions(endpoint: StoreEndpoint) -> None:
    # A predicted query is run.
    found = await record(Prediction("q", JUPITER, confidence=0.7), endpoint)
    assert (found.f1, found.em, found.executed, found.failure) == (1, 1, True, None)
    assert (found.form, found.patterns, found.confidence) == ("SELECT", 1, 0.7)
    # A question without a prediction scores 0 and says so.
    found = await record(None, endpoint)
    assert (found.status, found.error) == ("error", "no prediction")
    assert (found.f1, found.confidence) == (0, 0)
    # A query that fails scores 0 with its reason.
    found = await record(Prediction("q", "SELECT ?moon { ?moon :orbits }"), endpoint)
    assert (found.f1, found.executed, found.failure) == (0, False, "unreadable query")
    assert found.error is not None and found.error.startswith("QuerySyntaxError: ")
    # A refusal with an answer counts unless it may not.
    said = Prediction("q", answers=BOTH, status="refusal")
    assert (await record(said, endpoint)).f1 == 1
    assert (await record(said, endpoint, abstain=True)).f1 == 0
    # A query that is not there or may not count links nothing.
    refused = Prediction("q", JUPITER, status="refusal")
    assert (await record(refused, endpoint)).get_score("linked_entities").f1 == 1
    assert (await record(refused, endpoint, abstain=True)).scores["linked_entities"].f1 == 0
    assert (await record(None, endpoint)).scores["linked_entities"].f1 == 0
    assert "linked_entities" not in (await record(Prediction("q", answers=BOTH), endpoint)).scores
    # Stored answers need no endpoint.
    assert (await record(Prediction("q", answers=BOTH), None)).em == 1
    with pytest.raises(SetupError, match="prediction for 'q' is a query without an answer"):
        await record(Prediction("q", JUPITER), None)
    # Gold that fails is told and what is stored counts.
    broken = GoldQuestion("q", "?", sparql="SELECT ?moon { ?moon :orbits }", answers=BOTH)
    found = await record(Prediction("q", answers=BOTH), endpoint, broken)
    assert found.f1 == 1 and found.gold_error is not None and "QuerySyntaxError" in found.gold_error
    # The detail shows what is missing.
    done = await score_prediction(task(), Prediction("q", answers=IO), endpoint, prefixes=EX)
    assert done.detail.missing == (("http://example.org/Europa",),)
    assert done.detail.key == done.record.key
    # It has the trace, too.
    step: dict[str, object] = {"step": "thought", "text": "I look."}
    said = Prediction("q", answers=IO, steps=(step,))
    assert (await score_prediction(task(), said, endpoint, prefixes=EX)).detail.steps == (step,)


async def test_a_predicted_answer_counts_before_its_query(endpoint: StoreEndpoint) -> None:
    assert (await record(Prediction("q", JUPITER, IO), endpoint)).get_score(
        "best_column"
    ).recall == 0.5
    assert endpoint.asked == ["PREFIX : <http://example.org/>\n" + JUPITER]


@for_each(("status", "score"), [("refusal", 1), ("answer", 0), ("error", 0)])
async def test_refusing_may_be_right(status: str, score: float, endpoint: StoreEndpoint) -> None:
    question = GoldQuestion("q", "Which moons has the Sun?", unanswerable=True)
    found = await record(Prediction("q", status=status), endpoint, question)
    assert (found.f1, found.em) == (score, score)
