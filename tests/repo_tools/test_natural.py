"""Natural questions are judged as people would, and each way to fail is counted once."""

import json
import sys
from dataclasses import replace
from pathlib import Path
from unittest.mock import patch

import pytest
from tools import natural
from tools.natural import format_comparison, format_table
from tools.natural_cases import GraphTask, JudgedOutcome, prepare_workspace, read_questions

from askgraph.methods.graph_search import GraphSearch

GRAPH = """@prefix : <http://example.org/> .
@prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .
:Boat rdfs:label "boat" .
:length rdfs:label "length" .
:a a :Boat ; rdfs:label "Albatross" ; :length 12.0 .
:b a :Boat ; rdfs:label "Bittern" ; :length 20 .
"""
NAMES = (
    "PREFIX rdfs: <http://www.w3.org/2000/01/rdf-schema#> PREFIX : <http://example.org/> "
    "SELECT ?n { ?b a :Boat ; rdfs:label ?n }"
)
LENGTH = "SELECT (12 AS ?l) {}"
WRONG = "SELECT (13 AS ?l) {}"
QUESTIONS: list[dict[str, object]] = [
    {"id": "boats", "question": "Which boats are there?", "sparql": NAMES, "tags": ["list"]},
    {
        "id": "length",
        "question": "What is the length of the Albatross?",
        "sparql": WRONG,
        "also": [LENGTH],
        "tags": ["fact"],
    },
    {"id": "crew", "question": "Who qwertzuiops asdfgh?", "sparql": None, "tags": ["unanswerable"]},
]


@pytest.fixture
def data(tmp_path: Path) -> Path:
    """A graph of boats with three questions, one of them reworded."""
    lines = [json.dumps({**item, "kg": "boats.ttl", "lang": "en"}) for item in QUESTIONS]
    for name in ("natural", "spider-graphs"):
        (tmp_path / "data" / name / "kg").mkdir(parents=True)
        (tmp_path / "data" / name / "kg" / "boats.ttl").write_text(GRAPH)
        (tmp_path / "data" / name / "questions.jsonl").write_text("\n".join(lines))
    reworded = {"id": "boats", "question": "Welche Boote gibt es?", "lang": "de"}
    (tmp_path / "data" / "spider-graphs" / "paraphrases.jsonl").write_text(json.dumps(reworded))
    return tmp_path / "data"


def run_task(data: Path, *, places: bool = False) -> dict[str, JudgedOutcome]:
    questions = tuple(read_questions(data, "natural"))
    workspace = prepare_workspace(data / "build")
    path = data / "natural" / "kg" / "boats.ttl"
    task = GraphTask(path, questions, workspace, "graph-search", places=places)
    return {outcome.id: outcome for outcome in task.run()}


def test_names_numbers_other_readings_and_refusals_are_right(data: Path) -> None:
    outcomes = run_task(data)

    assert {name: one.is_right for name, one in outcomes.items()} == dict.fromkeys(outcomes, True)
    assert [outcomes[name].status for name in ("boats", "crew")] == ["answer", "refusal"]
    assert "Boat" in outcomes["boats"].query
    assert outcomes["boats"].confidence_word == "sure"


def test_a_crash_is_wrong_even_where_no_answer_is_right(data: Path) -> None:
    with patch.object(GraphSearch, "_answer", side_effect=ZeroDivisionError("of zero")):
        outcomes = run_task(data)

    assert not any(one.is_right for one in outcomes.values())
    assert {one.error for one in outcomes.values()} == {"ZeroDivisionError('of zero')"}
    assert format_table(list(outcomes.values())).splitlines()[-1].split()[-3] == "3"


def test_the_right_candidate_of_a_refused_question_has_its_place(data: Path) -> None:
    with patch("askgraph.answers.search_run.choose_outcome", return_value="refuse"):
        outcomes = run_task(data, places=True)

    assert [outcomes[name].place for name in ("boats", "length", "crew")] == [1, 1, None]
    assert [outcomes["boats"].attempt_f1, outcomes["boats"].f1] == [1.0, 0.0]


def test_reworded_questions_keep_gold_and_tell_their_language(data: Path) -> None:
    [reworded] = read_questions(data, "paraphrases")
    [original] = read_questions(data, "originals")

    assert [reworded.text, original.text] == ["Welche Boote gibt es?", "Which boats are there?"]
    assert reworded.gold == original.gold == (NAMES,)
    assert [reworded.tags, original.tags] == [("list", "language:de"), ("list",)]


def test_a_workspace_is_emptied_when_the_code_of_the_index_changes(tmp_path: Path) -> None:
    kept = prepare_workspace(tmp_path) / "data"
    kept.mkdir(parents=True)

    assert prepare_workspace(tmp_path) == kept.parent
    assert kept.exists()
    (tmp_path / "code.sha256").write_text("of other code")
    prepare_workspace(tmp_path)
    assert not kept.exists()


def outcome(name: str, graph: str, f1: float, confidence: float = 0.9) -> JudgedOutcome:
    return JudgedOutcome(name, graph, (), "?", ("gold",), "answer", f1, confidence)


def test_two_runs_stand_side_by_side() -> None:
    before = [outcome("a", "north", 1.0), outcome("b", "south", 0.5)]
    after = [before[0], replace(before[1], attempt_f1=1.0)]

    *_, last = format_comparison(before, after).splitlines()

    assert "0.500 → 1.000" in last
    assert "+50.0" in last
    assert "0.750 → 1.000" in last


def test_the_command_writes_json_that_it_can_compare_with(
    data: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    common = ["natural.py", "--data", str(data), "--build", str(data / "build"), "--jobs", "1"]
    with patch.object(sys, "argv", [*common, "--json"]):
        natural.main()
    (data / "before.json").write_text(capsys.readouterr().out)
    bad = data / "bad.jsonl"
    more = ["--compare", str(data / "before.json"), "--bad", str(bad), "--as-it-is"]
    with patch.object(sys, "argv", [*common, *more]):
        natural.main()

    printed = capsys.readouterr().out
    assert "1.000 → 1.000" in printed
    assert "ranking, without the graph for 0 of 1 graphs" in printed
    assert bad.read_text() == ""
