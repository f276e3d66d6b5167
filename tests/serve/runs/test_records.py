"""What is kept of a question: its steps, without secrets."""

from pathlib import Path

import httpx2
import pytest
from tests.servers.llm import LlmServer, Turn
from tests.servers.served import ServedThread, sample_workspace

SECRET = "s3cr3t-that-nobody-may-read"


@pytest.fixture
def place(tmp_path: Path, llm_server: LlmServer, monkeypatch: pytest.MonkeyPatch) -> ServedThread:
    workspace = sample_workspace(tmp_path)
    table = (
        f'[models.default]\nmodel = "m"\nbase_url = "{llm_server.url}/v1"\nkey_env = "THE_KEY"\n'
    )
    path = tmp_path / "askgraph.toml"
    path.write_text(path.read_text() + table)
    monkeypatch.setenv("THE_KEY", SECRET)
    return ServedThread(workspace)


def test_a_secret_that_a_model_repeats_is_in_no_trace(
    place: ServedThread, llm_server: LlmServer
) -> None:
    llm_server.turns.append(Turn(f"I was sent {SECRET} and password=hunter2hunter2."))
    llm_server.turns.append(Turn("I give up."))
    with place, httpx2.Client(base_url=place.url, timeout=60) as client:
        body = {"question": "Which moons has Mars?", "method": "grasp"}
        head = {"Accept": "text/event-stream"}
        told = client.post("/api/v1/ask", json=body, headers=head).text
        id = told.partition('"id": "')[2].partition('"')[0]
        trace = client.get(f"/api/v1/runs/{id}/trace").text
    assert "I was sent ***" in trace
    assert SECRET not in trace + told
    assert "hunter2hunter2" not in trace + told


def test_a_secret_is_in_no_answer_and_other_data_stays_as_it_is(
    place: ServedThread, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("THE_KEY", "Ganymede")  # as if a graph held it
    with place, httpx2.Client(base_url=place.url, timeout=60) as client:
        asked = {"question": "Which moons are larger than Mercury?"}
        answer = client.post("/api/v1/ask", json=asked).json()["answer"]
    assert [row[0]["label"] for row in answer["cells"]] == ["***", "Titan"]
    assert "Ganymede" not in str(answer)
