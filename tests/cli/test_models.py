"""`askgraph models`: the tables that are there, and a model that is tried out."""

import json
import tomllib
from pathlib import Path

import pytest
from tests.servers.llm import LlmServer, refused
from typer.testing import CliRunner, Result

from askgraph.cli import app


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("ASKGRAPH_WORKSPACE", str(tmp_path))
    for name in ("ASKGRAPH_MODEL", "ASKGRAPH_BASE_URL", "OPENAI_API_KEY"):
        monkeypatch.delenv(name, raising=False)
    return tmp_path


def run(*arguments: str) -> Result:
    return CliRunner().invoke(app, ["models", *arguments])


def test_tables_and_checks(folder: Path, llm_server: LlmServer) -> None:
    # Tables are listed.
    assert "no table [models.NAME]" in run("list").stdout
    (folder / "askgraph.toml").write_text(
        '[models.near]\nmodel = "qwen3:8b"\nbase_url = "http://localhost:11434/v1"\n'
        '[models.here]\nprovider = "transformers"\nmodel = "models/ours"\n'
    )
    rows = [line.split() for line in run("list").stdout.splitlines()]
    assert ["near", "qwen3:8b", "openai", "http://localhost:11434/v1"] in rows
    assert ["here", "models/ours", "transformers", "-"] in rows
    assert json.loads(run("list", "--json").stdout)[1] == {
        "name": "here", "model": "models/ours", "provider": "transformers",
    }  # fmt: skip
    # What a check says to set is a table that works.
    address = llm_server.base + "/v1"
    shown = run("check", "m", "--base-url", address)
    found = json.loads(run("check", "m", "--base-url", address, "--json").stdout)
    assert shown.exit_code == 0, shown.output
    assert "m answers as m-served" in shown.stdout and found["toml"] in shown.stdout
    (folder / "askgraph.toml").write_text(found["toml"])
    assert tomllib.loads(found["toml"])["models"]["m"]["base_url"] == address
    assert json.loads(run("check", "m", "--json").stdout)["model"] == "m-served"
    # A server that is down a key that is missing and a name nobody has are told.
    (folder / "askgraph.toml").write_text(
        '[models.near]\nmodel = "m"\nbase_url = "http://127.0.0.1:9/v1"\n'
        '[models.far]\nmodel = "m"\nprovider = "anthropic"\nkey_env = "NO_SUCH_KEY"\n'
    )
    down, unset, unknown = run("check", "near"), run("check", "far"), run("check", "neer")
    llm_server.knows = lambda asked: refused(401, "no")
    keyless = run("check", "m", "--base-url", llm_server.base + "/v1")
    assert down.exit_code == 4 and "does the server run?" in down.stderr
    assert unset.exit_code == 2 and "NO_SUCH_KEY" in unset.stderr
    assert unknown.exit_code == 2 and "is 'neer'; available: near, far" in unknown.stderr
    assert keyless.exit_code == 4 and "it requires a key" in keyless.stderr
