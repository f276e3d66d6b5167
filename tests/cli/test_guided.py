"""The guided method from the command line, with a model server on loopback."""

import json
from pathlib import Path

import pytest
from tests.cli.running import on_terminal
from tests.each import for_each
from tests.graphs import MOONS, PETS
from tests.methods.guiding import reply
from tests.servers.llm import LlmServer, Turn
from typer.testing import CliRunner, Result

from askgraph.cli import app
from askgraph.trace import Clarification, ModelTurn
from askgraph.trace.codec import read_trace

ASKED = "Which moons orbit Mars?"
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


def run(*arguments: object) -> Result:
    return CliRunner().invoke(app, [str(argument) for argument in arguments])


def by(server: LlmServer, settings: str = "") -> tuple[str, ...]:
    """The options that ask this server."""
    method = f"guided:{settings}" if settings else "guided"
    return ("--method", method, "--model", "m", "--base-url", f"{server.base}/v1")


def test_how_guided_answers(llm_server: LlmServer) -> None:
    # A chosen candidate is the answer after one call.
    llm_server.turns.append(Turn(reply(choose=1)))
    result = run("ask", ASKED, "--json", *by(llm_server))
    assert result.exit_code == 0, result.stderr
    answer = json.loads(result.stdout)
    assert answer["rows"] == PHOBOS
    assert (answer["usage"]["llm_calls"], answer["usage"]["input_tokens"]) == (1, 100)
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
    assert answer["rows"] == PHOBOS
    assert {body["model"] for body in llm_server.bodies} == {"m", "other"}
    trace, head = read_trace(Path("1.jsonl"))
    turns = [step for step in trace.steps if isinstance(step, ModelTurn)]
    spent = sum(turn.usage.output_tokens for turn in turns)
    assert answer["usage"]["output_tokens"] == spent
    assert sorted(head.settings["others"]) == ["graph-search", "sparql-llm"]  # type: ignore[call-overload]


def test_a_budget_holds_for_all_who_are_asked(llm_server: LlmServer) -> None:
    llm_server.turns.extend(Turn(reply(choose=1)) for _ in range(6))

    result = run("ask", ASKED, "--json", *by(llm_server, "tokens=1,consult=sparql-llm+dfsl"))

    assert llm_server.requests == []
    assert json.loads(result.stdout)["rows"] == PHOBOS, "graph search needs no model"


@for_each(
    ("settings", "said"),
    [
        ("consult=guided", "cannot consult itself"),
        ("consult=dsfl", "no method named 'dsfl'; did you mean 'dfsl'"),
        ("consult=dfsl+", "without a name"),
    ],
)
def test_who_cannot_be_consulted_is_told_before_anything_is_asked(
    llm_server: LlmServer, settings: str, said: str
) -> None:
    result = run("ask", ASKED, *by(llm_server, settings))

    assert (result.exit_code, result.stdout) == (2, "") and said in result.stderr
    assert llm_server.requests == []


def test_a_batch_is_asked_of_several_graphs(llm_server: LlmServer, tmp_path: Path) -> None:
    run("add", "pets", "pets.ttl")
    llm_server.turns.extend(Turn(reply(choose=1)) for _ in range(2))
    lines = [{"id": "1", "question": ASKED}, {"id": "2", "question": "Who is the owner of Rex?"}]
    (tmp_path / "asked.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    where = ("-g", "moons", "-g", "pets", "--out", "out.jsonl", "--concurrency", 1)

    result = run("batch", "asked.jsonl", *where, *by(llm_server))

    assert result.exit_code == 0, result.stderr
    answers = [json.loads(line) for line in (tmp_path / "out.jsonl").read_text().splitlines()]
    assert [answer["graph"] for answer in answers] == ["moons", "pets"]


@pytest.mark.parametrize("where", [(), ("--on", "processes", "--workers", 1)], ids=["here", "away"])
def test_an_evaluation_scores_it_and_a_comparison_takes_it(
    llm_server: LlmServer, tmp_path: Path, where: tuple[object, ...]
) -> None:
    llm_server.turns.append(Turn(reply(choose=1)))
    line = {"id": "1", "question": ASKED, "sparql": MARS}
    (tmp_path / "questions.jsonl").write_text(json.dumps(line) + "\n")
    model = f"model=m,base_url={llm_server.base}/v1"
    methods = (f"guided:{model},consult=graph-search", "graph-search")
    named = [word for method in methods for word in ("--method", method)]

    done = run("evaluate", "questions.jsonl", "-g", "moons", *named, "--out", "run", *where)

    assert done.exit_code == 0, done.stderr
    records = [
        json.loads(line) for line in (tmp_path / "run" / "records.jsonl").read_text().splitlines()
    ]
    assert {record["method"].partition(":")[0] for record in records} == {"guided", "graph-search"}
    assert [record["scores"]["best_column"][2] for record in records] == [1, 1]
    assert sorted(record["usage"]["llm_calls"] for record in records) == [0, 1]
    settings = json.loads((tmp_path / "run" / "run.json").read_text())["methods"]
    assert "GraphSearch(" in settings[0]["settings"], "those who are consulted are told, too"
    label = next(r["method"] for r in records if r["method"].startswith("guided"))
    compared = run("compare", "run:graph-search", f"run:{label}", "--json")
    assert compared.exit_code == 0, compared.stderr


def test_on_a_terminal_a_reply_is_read_out_and_costs_are_told(llm_server: LlmServer) -> None:
    llm_server.turns.append(Turn(reply(choose=1, thought="It says\nso.")))

    _, seen = on_terminal("ask", ASKED, *by(llm_server))

    assert "thought: It says so. · choose: 1 · sure: 0.9" in seen
    assert "The moons that orbit Mars." in seen
    assert "1 call of a model, 100 tokens in (40 cached), 20 out" in seen
    assert "model m-served" not in seen, "there is but one"


def test_on_a_terminal_it_is_seen_which_model_says_what(llm_server: LlmServer) -> None:
    llm_server.turns.extend([Turn(reply(choose=1)), Turn("[1] is no object")])

    _, seen = on_terminal("ask", ASKED, *by(llm_server, "models=other"))

    assert "model m-served" in seen and "[1] is no object" in seen
