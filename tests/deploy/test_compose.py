"""The server in the environment of `compose.yaml`: open to the network, on PostgreSQL, by keys."""

import json
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import urlsplit

import httpx2
import pytest
import yaml
from tests.servers.postgres import PostgresServer
from tests.servers.served import ServedProcess, sample_workspace

ROOT = Path(__file__).parents[2]
VARIABLE = re.compile(r"\$\{(\w+)(?::-([^}]*)|:\?[^}]*)?\}")


def _environment(database: str) -> dict[str, str]:
    """The variables of the service, on a database of ours, and what the image sets besides."""
    given = {"ASKGRAPH_DATABASE_PASSWORD": urlsplit(database).password or ""}
    service = yaml.safe_load((ROOT / "compose.yaml").read_text(encoding="utf-8"))["services"]
    variables = {
        name: VARIABLE.sub(lambda found: given.get(found[1], found[2] or ""), value)
        for name, value in service["askgraph"]["environment"].items()
    }
    place = urlsplit(database)
    without_password = f"postgresql://{place.username}@{place.hostname}:{place.port}{place.path}"
    composed = variables["ASKGRAPH_SERVE_DATABASE"]
    assert urlsplit(composed).password is None, "the password would be in the list of processes"
    image = dict(
        re.findall(r"(ASKGRAPH_SERVE_\w+)=(\S+)", (ROOT / "Dockerfile").read_text(encoding="utf-8"))
    )
    return {**image, **variables, "ASKGRAPH_SERVE_DATABASE": without_password}


@pytest.fixture(scope="module")
def environment(postgres: PostgresServer) -> dict[str, str]:
    return _environment(postgres.database())


@pytest.fixture(scope="module")
def workspace(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return sample_workspace(tmp_path_factory.mktemp("workspace")).folder


@pytest.fixture(scope="module")
def server(environment: dict[str, str], workspace: Path) -> Iterator[ServedProcess]:
    with ServedProcess.start(workspace, env=environment) as started:
        yield started


def _ask(server: ServedProcess, key: str | None) -> httpx2.Response:
    headers = {"Authorization": f"Bearer {key}"} if key else {}
    question = {"question": "Which moons orbit Mars?"}
    return httpx2.post(f"{server.url}/api/v1/ask", json=question, headers=headers, timeout=600)


def test_nobody_may_ask_without_a_key_but_it_says_that_it_lives(
    server: ServedProcess, environment: dict[str, str], workspace: Path
) -> None:
    assert _ask(server, None).status_code == 401
    assert httpx2.get(f"{server.url}/healthz", timeout=600).status_code == 200
    assert "askgraph keys add" in server.log.read_text(encoding="utf-8")
    # A key that a command beside it made is enough to ask.
    command = ["keys", "add", "me", "--scope", "ask", "--json", "--workspace", str(workspace)]
    made = subprocess.run(
        [sys.executable, "-m", "askgraph", *command],
        env={**os.environ, **environment},
        capture_output=True,
        text=True,
        check=True,
    )
    assert _ask(server, json.loads(made.stdout)["key"]).json()["answer"]["total"] == 2
