"""The guided method from the command line, with a model server on loopback."""

import json
from pathlib import Path

import pytest
from tests.cli.running import cli as run
from tests.cli.running import on_terminal
from tests.each import for_each
from tests.graphs import MOONS, PETS
from tests.methods.guiding import reply
from tests.servers.llm import LlmServer, Turn

import askgraph
from askgraph.trace import Clarification, ModelTurn
from askgraph.trace.codec import read_trace

ASKED, UNSURE = "Which moons orbit Mars?", "What flies around the red one?"
PREFIXES = "PREFIX : <http://example.org/> PREFIX onto: <http://example.org/onto#> "
MARS = PREFIXES + "SELECT ?moon { ?moon onto:orbits :Mars }"
PHOBOS = [["http://example.org/Phobos"]]


@pytest.fixture(autouse=True)
def moons(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ASKGRAPH_WORKSPACE", str(tmp_path / "workspace"))
    monkeypatch.delenv("ASKGRAPH_MODEL", raising=False)
    monkeypatch.chdir(tmp_path)
    (tmp_path / "moons.ttl").write_text(MOONS)
    (tmp_path / "pets.ttl").write_text(PETS)
    assert run("add", "moons", "moons.ttl").exit_code == 0


def by(server: LlmServer, settings: str = "") -> tuple[str, ...]:
    """The options that ask this server."""
    method = f"guided:{settings}" if settings else "guided"
    return ("--method", method, "--model", "m", "--base-url", f"{server.base}/v1")


def test_how_guided_answers(llm_server: LlmServer) -> None:
    # People see the answer and how sure it is.
    llm_server.turns.append(Turn(reply(query=MARS, answer=["moon"])))
    result = run("ask", ASKED, *by(llm_server))
    assert "Phobos" in result.stdout and "Confidence" in result.stdout
    # A question back has options and is no answer.
    llm_server.turns.append(Turn(reply(ask="All of them?", between=[1, 2])))
    result = run("ask", "Which moons orbit a planet?", *by(llm_server), "--trace", "1.jsonl")
    assert "All of them?" in result.stdout
    clarification = read_trace(Path("1.jsonl"))[0].outcome
    assert isinstance(clarification, Clarification) and len(clarification.options) == 2
    # Without a model it is said how to name one.
    result = run("ask", ASKED, "--method", "guided")
    assert (result.exit_code, result.stdout) == (2, "")
    assert "--model M" in result.stderr and "ASKGRAPH_MODEL" in result.stderr
    # Several models and methods have a vote and each call is counted.
    llm_server.turns.extend(Turn(reply(choose=1)) for _ in range(6))
    settings = "n=2,models=other,consult=sparql-llm+graph-search"
    result = run("ask", ASKED, "--json", "--trace", "1.jsonl", *by(llm_server, settings))
    assert result.exit_code == 0, result.stderr
    answer = json.loads(result.stdout)
    assert [row[:1] for row in answer["rows"]] == PHOBOS
    assert {body["model"] for body in llm_server.bodies} == {"m", "other"}
    trace, head = read_trace(Path("1.jsonl"))
    turns = [step for step in trace.steps if isinstance(step, ModelTurn)]
    spent = sum(turn.usage.output_tokens for turn in turns)
    assert answer["usage"]["output_tokens"] == spent
    assert sorted(head.settings["others"]) == ["graph-search", "sparql-llm"]  # type: ignore[call-overload]


def test_by_default_it_is_asked_where_graph_search_is_unsure(
    llm_server: LlmServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ASKGRAPH_MODEL", "m")
    monkeypatch.setenv("ASKGRAPH_BASE_URL", f"{llm_server.base}/v1")
    llm_server.turns.extend([Turn(reply(query=MARS))] * 2)
    assert "Answered by  graph search\n" in run("ask", ASKED).stdout and not llm_server.requests
    told = "Answered by  guided with m-served: 1 call of a model, 100 tokens in"
    assert told in run("ask", UNSURE).stdout
    by = {"method": "guided", "model": "m-served", "failed": False}
    assert askgraph.ask(UNSURE).json()["answered_by"] == by and len(llm_server.requests) == 2


@for_each(
    ("settings", "said"),
    ("consult=guided", "cannot consult itself"),
    ("consult=dsfl", "no method named 'dsfl'; did you mean 'dfsl'"),
    ("consult=dfsl+", "without a name"),
)
def test_who_cannot_be_consulted_is_told_before_anything_is_asked(
    llm_server: LlmServer, settings: str, said: str
) -> None:
    result = run("ask", ASKED, *by(llm_server, settings))
    assert (result.exit_code, result.stdout) == (2, "") and said in result.stderr
    assert llm_server.requests == []


def test_on_a_terminal_a_reply_is_read_out_and_costs_are_told(llm_server: LlmServer) -> None:
    llm_server.turns.extend([Turn("No."), Turn(reply(choose=1, thought="It says\nso."))])

    _, seen = on_terminal("ask", ASKED, *by(llm_server))

    assert "The model's reply cannot be used." in seen and "Your reply" not in seen

    assert "thought: It says so. · choose: 1 · sure: 0.9" in seen
    assert "Moons that orbit Mars." in seen
    assert "2 calls of a model, 200 tokens in (80 cached), 40 out" in seen
    assert "model m-served" not in seen, "there is but one"


def test_on_a_terminal_it_is_seen_which_model_says_what(llm_server: LlmServer) -> None:
    llm_server.turns.extend([Turn(reply(choose=1)), Turn("[1] is no object")])

    _, seen = on_terminal("ask", ASKED, *by(llm_server, "models=other"))
    assert "model m-served" in seen and "[1] is no object" in seen
