"""`--sent FILE` and the setting `sent`: what a run sent to its models, on the disk."""

import json
from pathlib import Path

import pytest
from tests.cli.running import cli as run
from tests.each import for_each
from tests.graphs import MOONS
from tests.servers.llm import LlmServer, Turn

MARS = "SELECT DISTINCT ?moon WHERE { ?moon onto:orbits :Mars }"
ASKED = "Which moons orbit Mars?"


@pytest.fixture
def workspace(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("ASKGRAPH_WORKSPACE", str(tmp_path / "workspace"))
    monkeypatch.delenv("ASKGRAPH_MODEL", raising=False)
    monkeypatch.chdir(tmp_path)
    (tmp_path / "moons.ttl").write_text(MOONS)
    assert run("add", "moons", "moons.ttl").exit_code == 0
    return tmp_path / "workspace"


def bodies(log: Path) -> list[object]:
    return [json.loads(json.loads(line)["body"]) for line in log.read_text().splitlines()]


@for_each("command", ["ask", "batch", "evaluate"], share_folder=True)
def test_a_command_logs_what_it_sends(
    llm_server: LlmServer, workspace: Path, tmp_path: Path, command: str
) -> None:
    arguments = json.dumps({"query": MARS, "columns": ["moon"]})
    llm_server.turns.append(Turn("", (("answer", arguments),)))
    line = {"id": "1", "question": ASKED, "sparql": MARS}
    (tmp_path / "questions.jsonl").write_text(json.dumps(line) + "\n")
    method = f"grasp:model=m,tools=B,propose=false,base_url={llm_server.base}/v1"
    asked = {
        "ask": ("ask", ASKED),
        "batch": ("batch", "questions.jsonl", "--out", "out.jsonl"),
        "evaluate": ("evaluate", "questions.jsonl"),
    }[command]

    run(*asked, "--method", method, "--sent", "sent.jsonl")

    assert bodies(tmp_path / "sent.jsonl") == llm_server.bodies != []


def test_the_log_of_what_is_sent(llm_server: LlmServer, workspace: Path, tmp_path: Path) -> None:
    # A table names a log beside it.
    with (workspace / "askgraph.toml").open("a") as settings:
        settings.write(
            f'\n[models.ours]\nmodel = "m"\nbase_url = "{llm_server.base}/v1"\n'
            'sent = "logs/sent.jsonl"\n'
        )
    run("ask", ASKED, "--method", "grasp", "--model", "ours", "--json")
    assert bodies(workspace / "logs" / "sent.jsonl") == llm_server.bodies != []
    # A method without a model sends nothing.
    result = run("ask", ASKED, "--sent", "sent.jsonl")
    assert result.exit_code == 0, result.stderr
    assert not (tmp_path / "sent.jsonl").exists()


def test_models_of_consulted_methods_and_further_ones_are_logged(
    llm_server: LlmServer, workspace: Path, tmp_path: Path
) -> None:
    with (workspace / "askgraph.toml").open("a") as settings:
        settings.write(f'\n[models.other]\nmodel = "o"\nbase_url = "{llm_server.base}/v1"\n')
        settings.write('\n[methods.grasp]\nmodel = "other"\n')
    method = f"guided:model=m,models=other,consult=grasp,base_url={llm_server.base}/v1"

    run("ask", ASKED, "--method", method, "--sent", "sent.jsonl")

    logged = bodies(tmp_path / "sent.jsonl")
    assert sorted(map(json.dumps, logged)) == sorted(map(json.dumps, llm_server.bodies))
    assert {body["model"] for body in llm_server.bodies} == {"m", "o"}
