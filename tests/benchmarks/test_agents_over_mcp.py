"""One agent over three MCP servers: it sees what they offer, and each answer is judged."""

import asyncio
import json
from pathlib import Path

import pytest

import agents_over_mcp as agents
from askgraph.llm import Request, System, ToolCall, ToolResult
from askgraph.llm.scripted import ScriptedModel
from askgraph.workspace import Workspace


def reply(request: Request) -> ToolCall | str:
    """Call the last tool first; then answer, rightly only where a tool gave rows."""
    results = [message for message in request.messages if isinstance(message, ToolResult)]
    tool = request.tools[-1]
    if not results:
        names = tool.parameters.get("required", [])
        assert isinstance(names, list)
        arguments = dict.fromkeys(names, "SELECT ?p { ?s ?p ?o } LIMIT 60")
        return ToolCall("1", tool.name, json.dumps(arguments))
    query = None if "EXTRA a {" in results[-1].text else "SELECT ?x { ?x a <http://x/Moon> }"
    return f"Here it is: {json.dumps({'query': query})}"


def test_the_agent_answers_over_each_server_and_a_killed_run_goes_on(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "kg").mkdir()
    triples = '<http://x/io> a <http://x/Moon> ; <http://x/name> "Io" .'
    (tmp_path / "kg" / "sky.ttl").write_text(triples)
    gold = {"id": "1", "kg": "sky.ttl", "question": "Which moons are there?"}
    item = {**gold, "sparql": "SELECT ?m { ?m a <http://x/Moon> }"}
    (tmp_path / "questions.jsonl").write_text(json.dumps(item))
    questions = [q for q in agents.read_questions(tmp_path, 2, 0) if q.id == "1"]
    workspace, path = Workspace(tmp_path / "workspace"), tmp_path / "runs.jsonl"
    workspace.add("sky", [tmp_path / "kg" / "sky.ttl"])
    model = ScriptedModel(reply)
    pairs = [(server, question) for question in questions for server in agents.SERVERS]

    asyncio.run(agents.run_missing(pairs, model, workspace, path, 3))
    with path.open("a") as file:
        file.write('{"id": "2", "serv')
    runs = agents.read_runs(path, "scripted")
    judged = list(agents.judge_runs(questions, runs, workspace))

    assert [run["server"] for run in judged] == ["askgraph", "sparql", "schema"]
    runs_of_one = {pair: run for pair, run in runs.items() if pair[0] == "sparql"}
    judged_of_one = agents.judge_runs(questions, runs_of_one, workspace)
    assert [run["server"] for run in judged_of_one] == ["sparql"]
    assert {run["server"]: run["right"] for run in judged} == {
        "askgraph": True, "sparql": True, "schema": False
    }  # fmt: skip
    assert all(sum(run["calls"].values()) == 1 and run["input"] > run["output"] for run in judged)
    assert "3/3" in capsys.readouterr().err
    [system, *_] = model.requests[0].messages
    assert isinstance(system, System) and agents.PROMPT in system.text
    rows = list(agents.build_rows(judged))
    assert [row[:3] for row in rows][1:] == [
        ("sparql", "1 of 1", "1.0"),
        ("schema", "0 of 1", "1.0"),
    ]


def test_questions_are_spread_over_the_graphs_and_a_reply_is_read() -> None:
    assert len(agents.read_questions(None, 30, 0)) == 30
    assert agents.read_questions(None, 9, 1) != agents.read_questions(None, 9, 2)
    assert agents.parse_reply('So: {"query": "ASK {}"}') == ("ASK {}", "")
    assert agents.parse_reply('{"query": null}') == (None, "")
    assert agents.parse_reply("```sparql\nASK {}\n```") == ("ASK {}\n", "")
    assert agents.parse_reply("It is Io.")[1] == "the last message is no JSON object"
