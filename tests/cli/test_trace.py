"""Runs with a language model on the command line: seen, kept, read, run again."""

import asyncio
import json
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from tests.cli.running import askgraph, on_terminal
from tests.cli.running import cli as run
from tests.each import for_each
from tests.servers import faults
from tests.servers.llm import LlmServer, Turn
from tests.servers.sparql import Fault, Request, SparqlServer
from typer.testing import Result

from askgraph.trace import Thought, ToolUse
from askgraph.trace.codec import read_trace, write_trace

QUERY = "SELECT ?moon { ?moon :orbits :Jupiter }"
ASKED = ("ask", "Which moons orbit Jupiter?", "--method", "grasp", "--model", "m")
TURNS = (
    Turn("I try a query.\nThen I answer.", (("execute", json.dumps({"query": QUERY})),)),
    Turn("", (("answer", json.dumps({"query": QUERY, "columns": ["moon"]})),)),
)


@pytest.fixture(autouse=True)
def workspace(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, moons: Path) -> None:
    monkeypatch.setenv("ASKGRAPH_WORKSPACE", str(moons))
    monkeypatch.setenv("COLUMNS", "200")
    monkeypatch.chdir(tmp_path)
    for name in ("ASKGRAPH_MODEL", "ASKGRAPH_BASE_URL", "ASKGRAPH_API_KEY"):
        monkeypatch.delenv(name, raising=False)


def ask(server: LlmServer, *more: object) -> Result:
    return run(*ASKED, "--base-url", f"{server.base}/v1", *more)


async def honestly(server: SparqlServer, request: Request, writer: asyncio.StreamWriter) -> None:
    reply = server.honest(request)
    writer.write(reply.head + reply.body)
    await writer.drain()


@pytest.fixture
def kept(llm_server: LlmServer, tmp_path: Path) -> Path:
    llm_server.turns.extend(TURNS)
    assert ask(llm_server, "--trace", "run.jsonl").exit_code == 0
    return tmp_path / "run.jsonl"


def test_asking_a_model(
    llm_server: LlmServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, moons: Path
) -> None:
    # A question is answered by a model.
    llm_server.turns.extend(TURNS)
    result = ask(llm_server, "--json")
    answer = json.loads(result.stdout)
    assert {row[0].rpartition("/")[2] for row in answer["rows"]} == {"Io", "Europa"}
    assert (answer["usage"]["llm_calls"], answer["usage"]["input_tokens"]) == (2, 200)
    assert result.stderr == ""
    # A trace says what was asked of what and holds no key.
    monkeypatch.setenv("ASKGRAPH_API_KEY", "abc-123")
    llm_server.turns.extend(TURNS)
    ask(llm_server, "--trace", "run.jsonl")
    trace, head = read_trace(tmp_path / "run.jsonl")
    assert (trace.question.text, trace.method) == (ASKED[1], "grasp")
    model = {"provider": "openai", "model": "m", "address": f"{llm_server.base}/v1", "settings": ""}
    assert head.settings["model"] == model
    assert head.graphs[0].name == "moons" and head.graphs[0].snapshot
    assert "abc-123" not in (tmp_path / "run.jsonl").read_text()
    # A run with a price table is run again too.
    place = tmp_path / "priced"
    run("--workspace", place, "add", "moons", moons / "moons.ttl")
    (place / "prices.toml").write_text("[models.m]\ninput = 2000\noutput = 1000\n")
    with (place / "askgraph.toml").open("a") as file:
        file.write(f'\n[models.default]\nmodel = "m"\nbase_url = "{llm_server.base}/v1"\n')
        file.write('prices = "prices.toml"\n[methods.grasp]\nmoney = 5.0\n')
    llm_server.turns.extend(TURNS)
    asked = run("--workspace", place, *ASKED[:4], "--json", "--trace", "run.jsonl")
    assert json.loads(asked.stdout)["usage"]["money"] == pytest.approx(0.44)
    assert "The same answer" in run("trace", "replay", "run.jsonl").stdout
    assert "cost 0.4400" in run("trace", "show", "run.jsonl").stdout


def test_showing_and_replaying_a_trace(kept: Path, tmp_path: Path) -> None:
    # A trace is shown turn by turn.
    shown = run("trace", "show", kept).stdout
    for part in (
        "Which moons orbit Jupiter?", "grasp, openai m, on moons", "I try a query.", "2 rows",
        'execute(query="SELECT ?moon { ?moon :orbits :Jupiter }")', "Confidence",
        "100 tokens in (40 cached), 20 out", "2 calls of a model, 200 tokens in (80 cached)",
    ):  # fmt: skip
        assert part in shown
    assert "more lines" in shown
    # In full nothing is left out.
    shown = run("trace", "show", kept, "--full").stdout
    assert "more line" not in shown and "If the graph cannot answer" in shown
    # A trace as json has all its steps.
    shown = json.loads(run("trace", "show", kept, "--json").stdout)
    assert shown["question"]["text"] == ASKED[1]
    assert [step["step"] for step in shown["steps"]].count("model_turn") == 2
    # A trace is run again without model and graph.
    done = askgraph("trace", "replay", kept, workspace=tmp_path / "nowhere", folder=tmp_path)
    steps = len(read_trace(kept)[0].steps)
    assert done.stdout == f"The same answer, after the same {steps} steps.\n", done.stderr
    # A trace that was changed comes to another end.
    trace, head = read_trace(kept)
    thought = Thought("A doubt.", sent="Mend it.")
    write_trace(tmp_path / "doubt", type(trace)(trace.question, trace.method, (thought,)), head)
    shown = run("trace", "show", tmp_path / "doubt").stdout
    assert re.search(r"A doubt\.\s+sent to the model:\s+Mend it\.", shown)
    left = [step for step in trace.steps if not (isinstance(step, ToolUse) and step.call)]
    write_trace(kept, type(trace)(trace.question, trace.method, tuple(left)), head)
    result = run("trace", "replay", kept)
    assert result.exit_code == 2 and "differs from its trace" in result.stderr
    # Graph search needs no replay.
    run("ask", "Which moons orbit Jupiter?", "--trace", "run.jsonl")
    listed, replayed = run("trace", "show", "run.jsonl"), run("trace", "replay", "run.jsonl")
    assert "findings" in listed.stdout and "Europa" in listed.stdout and replayed.exit_code == 2
    assert "same steps for the same question" in replayed.stderr


@for_each(
    "method", ["sparql-llm", "dfsl", "guided", "multi-stage:writer=sparql"], share_folder=True
)
def test_a_method_that_is_no_agent_is_run_again_without_model_and_graph(
    llm_server: LlmServer, tmp_path: Path, method: str
) -> None:
    llm_server.turns.extend([Turn(f"```sparql\n{QUERY}\n```")] * 2)
    model = ("--base-url", f"{llm_server.base}/v1", "--trace", "run.jsonl")
    assert run(*ASKED[:2], "--method", method, *ASKED[4:], *model).exit_code == 0

    done = askgraph("trace", "replay", "run.jsonl", workspace=tmp_path / "none", folder=tmp_path)

    steps = len(read_trace(tmp_path / "run.jsonl")[0].steps)
    assert done.stdout == f"The same answer, after the same {steps} steps.\n", done.stderr
    assert "replies of the graphs, for a replay" in run("trace", "show", "run.jsonl").stdout


def test_runs_that_fail_or_are_watched(llm_server: LlmServer, tmp_path: Path) -> None:
    # A run that fails is kept as far as it came.
    llm_server.always = faults.slow_first_byte(30)
    result = ask(llm_server, "--trace", "run.jsonl", "--timeout", "1.5")
    assert result.exit_code == 4 and "no answer within 1.5 seconds" in result.stderr
    shown = run("trace", "show", "run.jsonl").stdout
    assert "prompt (question)" in shown and "ended here without an outcome" in shown


@pytest.mark.parametrize(
    ("fault", "told"),
    [
        (
            faults.status(401, "Incorrect key: abc-123"),
            "status 401: Incorrect key: ***; it rejects the key",
        ),
        (faults.status(404, "model 'm' not found"), "the model's name, and at the base_url"),
    ],
    ids=["a wrong key", "a wrong name"],
)
def test_where_the_model_never_said_anything_nothing_passes_for_its_answer(
    llm_server: LlmServer, monkeypatch: pytest.MonkeyPatch, fault: Fault, told: str
) -> None:
    monkeypatch.setenv("ASKGRAPH_API_KEY", "abc-123")
    llm_server.always = fault

    result = ask(llm_server, "--trace", "run.jsonl")
    replayed = run("trace", "replay", "run.jsonl")

    assert (result.exit_code, result.stdout) == (4, "")
    assert told in result.stderr and len(result.stderr.splitlines()) == 1
    assert "abc-123" not in result.stderr + Path("run.jsonl").read_text()
    assert "ended here without an outcome" in run("trace", "show", "run.jsonl").stdout
    assert replayed.exit_code == 2 and "failed before its outcome" in replayed.stderr


@for_each("form", ["people", "--json", "--csv"], share_folder=True)
def test_a_run_that_was_cut_short_says_so_and_why(
    llm_server: LlmServer, tmp_path: Path, form: str
) -> None:
    llm_server.turns.append(TURNS[0])
    llm_server.acts.extend([honestly, faults.status(400, "out of order")])

    result = ask(llm_server, "--trace", "run.jsonl", *([] if form == "people" else [form]))

    assert result.exit_code == 0
    if form == "--json":
        answer = json.loads(result.stdout)
        assert answer["status"] == "answer" and "out of order" in answer["cut_short"]
    else:
        said = result.stderr if form == "--csv" else result.stdout
        assert "ut short" in said and "out of order; this is the best answer so far" in said
    assert "same answer, after the same" in run("trace", "replay", "run.jsonl").stdout


def test_stopped_with_ctrl_c_it_leaves_the_trace_and_no_traceback(
    llm_server: LlmServer, tmp_path: Path
) -> None:
    llm_server.always = faults.slow_first_byte(60)
    more = ("--base-url", f"{llm_server.base}/v1", "--trace", "run.jsonl")
    process = subprocess.Popen(
        [sys.executable, "-m", "askgraph", *ASKED, *more], stderr=subprocess.PIPE, text=True
    )
    deadline = time.monotonic() + 120
    while not llm_server.requests and time.monotonic() < deadline:
        time.sleep(0.05)

    process.send_signal(signal.SIGINT)
    _, errors = process.communicate(timeout=600)

    assert (process.returncode, errors) == (130, "askgraph: stopped\n")
    assert "prompt (question)" in run("trace", "show", "run.jsonl").stdout


@pytest.mark.parametrize(
    ("trace", "told"), [("none/run.jsonl", "no folder 'none'"), (".", "'.' is a folder: name")]
)
def test_a_trace_has_a_place_before_anything_is_paid_for(
    llm_server: LlmServer, trace: str, told: str
) -> None:
    result = ask(llm_server, "--trace", trace)
    assert result.exit_code == 2 and told in result.stderr and not llm_server.requests


@for_each("content", [b"", b"{}\n", b"[1]\n", b"\x90\xff", b"@prefix : <x:> ."], share_folder=True)
def test_what_is_no_trace_is_refused(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "run.jsonl").write_bytes(content)

    result = run("trace", "show", "run.jsonl")
    assert result.exit_code == 2 and "is not a trace" in result.stderr


def test_on_a_terminal_the_steps_are_seen_and_the_answer_is_not_mixed_with_them(
    llm_server: LlmServer,
) -> None:
    llm_server.turns.extend([Turn("A \x1b[31mtrick.", TURNS[0].calls), TURNS[1]])

    printed, seen = on_terminal(*ASKED, "--base-url", f"{llm_server.base}/v1", "--csv")
    assert printed.split() == ["moon", "http://example.org/Europa", "http://example.org/Io"]
    for part in ("A  [31mtrick.", "execute(query=", "2 rows", "2 calls of a model, 200 tokens in"):
        assert part in seen


@pytest.mark.parametrize("how", ["quiet", "without a model"])
def test_nothing_is_seen_where_it_is_not_wanted_or_answers_at_once(
    llm_server: LlmServer, how: str
) -> None:
    llm_server.turns.extend(TURNS)
    asked = (*ASKED, "--base-url", f"{llm_server.base}/v1", "--quiet")
    _, seen = on_terminal(*(asked if how == "quiet" else ASKED[:2]), "--csv")
    assert seen == ""
