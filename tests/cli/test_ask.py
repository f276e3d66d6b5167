"""`askgraph ask` over several graphs, after an earlier question, and before there are indices."""

import json
from pathlib import Path

import pytest
from tests.cli.running import cli as run
from tests.cli.running import on_terminal
from tests.deaf import installed
from tests.graphs import MOONS
from tests.servers.llm import LlmServer, Turn
from typer.testing import Result

from askgraph.sample import graph_path
from askgraph.trace import Question, Refusal, Trace
from askgraph.trace.codec import read_trace, write_trace

PETS = """
@prefix pet: <http://pets.example/> .
@prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .
pet:Rex a pet:Dog ; rdfs:label "Rex" ; pet:owner pet:Ann .
pet:Tom a pet:Cat ; rdfs:label "Tom" ; pet:owner pet:Bob .
pet:Ann a pet:Person ; rdfs:label "Ann" .
"""
JUPITER = "SELECT ?moon { ?moon onto:orbits :Jupiter }"
MARS = "SELECT ?moon { ?moon onto:orbits :Mars }"
OWNERS = "SELECT ?pet ?owner { ?pet pet:owner ?owner }"


@pytest.fixture(autouse=True)
def workspace(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("ASKGRAPH_WORKSPACE", str(tmp_path / "workspace"))
    monkeypatch.setenv("COLUMNS", "200")
    monkeypatch.chdir(tmp_path)
    (tmp_path / "moons.ttl").write_text(MOONS)
    (tmp_path / "pets.ttl").write_text(PETS)
    for name in ("moons", "pets"):
        assert run("add", name, f"{name}.ttl").exit_code == 0
    return tmp_path / "workspace"


def by_model(server: LlmServer, *arguments: object) -> Result:
    return run(
        *arguments, *("--method", "grasp", "--model", "m", "--base-url", f"{server.base}/v1")
    )


def answers(query: str, *columns: str, **graph: str) -> Turn:
    return Turn("", (("answer", json.dumps({"query": query, "columns": list(columns), **graph})),))


def first_prompt(server: LlmServer) -> str:
    """What the model was told before its last first turn."""
    text: str = server.bodies[-1]["messages"][1]["content"]
    return text


@pytest.mark.parametrize(
    ("question", "graph", "value"),
    [
        ("Who is the owner of Rex?", "pets", "http://pets.example/Ann"),
        ("Which moons orbit Mars?", "moons", "http://example.org/Phobos"),
    ],
)
def test_graph_search_answers_from_the_graph_that_knows(
    question: str, graph: str, value: str
) -> None:
    answer = json.loads(run("ask", question, "-g", "moons", "-g", "pets", "--json").stdout)
    assert answer["graph"] == graph and value in answer["rows"][0]


def test_graphs_and_follow_ups(llm_server: LlmServer) -> None:
    # A model chooses the graph and the answer is shown with its prefixes.
    llm_server.turns.append(answers(OWNERS, "pet", "owner", graph="pets"))
    result = by_model(llm_server, "ask", "Who owns whom?", "-g", "moons", "-g", "pets")
    assert result.exit_code == 0, result.stderr
    assert "graph moons" in first_prompt(llm_server) and "graph pets" in first_prompt(llm_server)
    assert "Ann pet:Ann" in result.stdout and "http://pets.example/Tom" not in result.stdout
    # A graph named twice is a clear error.
    result = run("ask", "Which moons orbit Mars?", "-g", "moons", "-g", "moons")
    assert (result.exit_code, result.stdout) == (2, "")
    assert "two of the graphs have the name 'moons'" in result.stderr
    # A question follows another one on the same graphs.
    llm_server.turns.extend(
        [answers(JUPITER, "moon"), answers(MARS, "moon"), answers(MARS, "moon")]
    )
    first = ("ask", "Which moons orbit Jupiter?", "-g", "moons", "--trace", "1.jsonl")
    assert by_model(llm_server, *first).exit_code == 0
    second = by_model(llm_server, "ask", "And Mars?", "--after", "1.jsonl", "--trace", "2.jsonl")
    assert second.exit_code == 0, second.stderr
    said = first_prompt(llm_server)
    by_model(llm_server, "ask", "How many?", "--after", "2.jsonl", "--trace", "3.jsonl")
    assert "Which moons orbit Jupiter?" in said and "onto:orbits :Jupiter" in said
    trace, head = read_trace(Path("3.jsonl"))
    assert [earlier.question for earlier in trace.question.before] == [
        "Which moons orbit Jupiter?",
        "And Mars?",
    ]
    assert [one.name for one in head.graphs] == ["moons"]
    assert "The same answer" in run("trace", "replay", "3.jsonl").stdout
    # After a cancelled run its best attempt counts.
    cancel = json.dumps({"reason": "No idea.", "query": JUPITER})
    llm_server.turns.append(Turn("", (("cancel", cancel),)))
    llm_server.turns.append(Turn('{"status": "done", "feedback": "So be it."}'))
    question = ("ask", "Which moons orbit Jupiter?", "-g", "moons", "--trace", "1.jsonl")
    assert by_model(llm_server, *question).exit_code == 1
    llm_server.turns.append(answers(MARS, "moon"))
    by_model(llm_server, "ask", "And Mars?", "--after", "1.jsonl", "--trace", "2.jsonl")
    [earlier] = read_trace(Path("2.jsonl"))[0].question.before
    assert "onto:orbits :Jupiter" in earlier.query


def test_settings_and_batches(tmp_path: Path, llm_server: LlmServer, workspace: Path) -> None:
    # Settings of a method follow its name.
    (tmp_path / "asked.jsonl").write_text(
        '{"id": "1", "question": "How many moons orbit Jupiter?"}\n'
    )
    plain = run("ask", "How many moons orbit Jupiter?", "-g", "moons", "--json")
    without = ("--method", "graph-search:operators=false")
    listed = run("ask", "How many moons orbit Jupiter?", "-g", "moons", "--json", *without)
    batch = run("batch", "asked.jsonl", "-g", "moons", "--out", "out.jsonl", *without)
    wrong = run("ask", "Who?", "-g", "moons", "--method", "graph-search:operator=false")
    assert "COUNT" in plain.stdout and "COUNT" not in listed.stdout and "SELECT" in listed.stdout
    assert batch.exit_code == 0 and "COUNT" not in (tmp_path / "out.jsonl").read_text()
    assert wrong.exit_code == 2 and "operators" in wrong.output
    # Nothing follows a run without an end.
    write_trace(Path("1.jsonl"), Trace(Question("Zebras?"), "grasp", ()))
    result = run("ask", "And Mars?", "--after", "1.jsonl", "-g", "moons")
    assert (result.exit_code, result.stdout) == (2, "")
    assert "ended without an answer" in result.stderr
    # A refusal is passed over by the question after it.
    refused = Trace(Question("Zebras?"), "graph-search", (Refusal("Not here."),))
    write_trace(Path("1.jsonl"), refused)
    result = run("ask", "Which moons orbit Mars?", "--after", "1.jsonl", "-g", "moons", "--csv")
    assert result.exit_code == 0 and "http://example.org/Phobos" in result.stdout
    # An evaluation leaves the indices that it built.
    line = {"id": "1", "question": "Which moons orbit Mars?", "sparql": MARS}
    (tmp_path / "questions.jsonl").write_text(json.dumps(line) + "\n")
    method = f"grasp:model=m,tools=B,propose=false,base_url={llm_server.base}/v1"
    llm_server.turns.append(answers(MARS, "moon"))
    result = run("evaluate", "questions.jsonl", "-g", "moons", "--method", method)
    assert result.exit_code == 0, result.stderr
    assert run("index", "info", "moons").exit_code == 0


def test_a_batch_is_asked_of_several_graphs(tmp_path: Path) -> None:
    (tmp_path / "questions.jsonl").write_text(
        '{"id": "1", "question": "Who is the owner of Rex?"}\n'
        '{"id": "2", "question": "Which moons orbit Mars?"}\n'
    )

    done = run("batch", "questions.jsonl", "--out", "out.jsonl", "-g", "moons", "-g", "pets")

    assert done.exit_code == 0, done.stderr
    lines = [json.loads(line) for line in (tmp_path / "out.jsonl").read_text().splitlines()]
    assert [line["graph"] for line in lines] == ["pets", "moons"]


def test_graph_search_completes_what_a_question_leaves_out() -> None:
    run("ask", "Which moons orbit Jupiter?", "-g", "moons", "--trace", "1.jsonl")

    result = run("ask", "And Mars?", "--after", "1.jsonl", "--csv")
    assert "http://example.org/Phobos" in result.stdout and result.stderr == ""


def test_a_method_that_does_not_converse_says_so_and_answers(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    installed(tmp_path, monkeypatch)
    run("ask", "Which moons orbit Jupiter?", "-g", "moons", "--trace", "1.jsonl")

    asked_on = ("ask", "Which moons orbit Mars?", "--after", "1.jsonl", "--csv")
    result = run(*asked_on, "--method", "deaf")

    assert result.exit_code == 0 and "http://example.org/Phobos" in result.stdout
    [line] = result.stderr.splitlines()
    assert "'deaf' does not use earlier questions" in line


@pytest.mark.parametrize("command", ["ask", "batch", "evaluate"])
def test_indices_are_there_before_a_model_is_asked(
    llm_server: LlmServer, workspace: Path, tmp_path: Path, command: str
) -> None:
    settings = workspace / "askgraph.toml"
    text = settings.read_text()
    settings.write_text(text.replace("[graphs.moons]", '[graphs.moons]\nentities = "no.tsv"'))
    line = {"id": "1", "question": "Which moons orbit Mars?", "sparql": MARS}
    (tmp_path / "questions.jsonl").write_text(json.dumps(line) + "\n")
    method = f"grasp:model=m,base_url={llm_server.base}/v1"

    match command:
        case "ask":
            result = by_model(llm_server, "ask", "Which moons orbit Mars?", "-g", "moons")
        case "batch":
            asked = ("batch", "questions.jsonl", "--out", "out.jsonl", "-g", "moons")
            result = by_model(llm_server, *asked)
        case _:
            result = run("evaluate", "questions.jsonl", "-g", "moons", "--method", method)

    assert result.exit_code == 2 and "no.tsv" in result.stderr and llm_server.requests == []


def test_csv_has_the_columns_that_answer_and_with_context_all(llm_server: LlmServer) -> None:
    llm_server.turns.extend([answers(OWNERS, "owner")] * 4)  # each is asked to confirm once
    asked = ("ask", "Who owns a pet?", "-g", "pets", "--csv")

    alone, beside = by_model(llm_server, *asked), by_model(llm_server, *asked, "--context")

    assert alone.stdout.split() == "owner http://pets.example/Ann http://pets.example/Bob".split()
    assert beside.stdout.splitlines() == [
        "pet,owner",
        "http://pets.example/Rex,http://pets.example/Ann",
        "http://pets.example/Tom,http://pets.example/Bob",
    ]


def test_next_questions(tmp_path: Path) -> None:
    # Next questions stand behind an answer for people and in json.
    run("add", "space", graph_path())
    question = ("ask", "Which moons does Jupiter have?", "-g", "space")
    piped = run(*question).stdout
    told = json.loads(run(*question, "--json").stdout)["next"]
    _, seen = on_terminal(*question, printing=True)
    assert "Ask next" not in piped and piped.strip() and 1 <= len(told) <= 3
    assert [line.strip() for line in seen.split("Ask next")[1].splitlines()[1:]] == told
    run(*question, "--trace", "1.jsonl")
    for following in told:
        result = json.loads(run("ask", following, "--after", "1.jsonl", "--json").stdout)
        assert result["status"] == "answer" and result["rows"], following
    # Nothing follows a refusal but the names that are near.
    told = json.loads(run("ask", "Which mooons orbit Mars?", "-g", "moons", "--json").stdout)
    assert told["next"] == [] or told["status"] == "answer"
    refused = json.loads(
        run("ask", "What is the colour of Zorbax?", "-g", "moons", "--json").stdout
    )
    assert (refused["status"], refused["next"]) == ("refusal", [])
    assert {one["words"] for one in refused["missing"]} & {"Zorbax", "zorbax"}


def test_files_after_the_question_are_asked_without_a_name(tmp_path: Path) -> None:
    asked = run("ask", "Who is the owner of Rex?", "moons.ttl", str(tmp_path / "pets.ttl"), "--csv")
    unquoted = run("ask", *"Which moons orbit Jupiter.ttl moons.ttl --json".split())
    missing = run("ask", "Which moons?", "missing.ttl")

    assert asked.exit_code == 0 and "http://pets.example/Ann" in asked.stdout
    assert json.loads(unquoted.stdout)["graph"] == "moons"
    assert missing.exit_code == 2 and "there is no file or folder 'missing.ttl'" in missing.stderr
    assert run("graphs").stdout.count("ttl") == 2  # nothing was added
