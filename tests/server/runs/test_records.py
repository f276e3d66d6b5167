"""What is kept of a question: its steps, without secrets."""

import asyncio
import sqlite3
from collections.abc import AsyncIterator
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import httpx2
import pytest
from tests.servers.llm import LlmServer, Turn
from tests.servers.served import ServedThread, sample_workspace

from askgraph.errors import ServiceError
from askgraph.server.auth import Limits, Principal, TooMany
from askgraph.server.hub import Hub, open_hub
from askgraph.server.runs import AskBody
from askgraph.server.runs.replies import chosen
from askgraph.server.settings import ServeSettings
from askgraph.workspace import Workspace

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


ANN = Principal("user:ann", "ann", frozenset({"ask"}), limits=Limits(parallel=1))
QUESTION = AskBody(question="Which moons are larger than Mercury?")
BROKEN = (
    "CREATE TRIGGER broken BEFORE UPDATE OF finished ON runs BEGIN SELECT RAISE(ABORT, 'full'); END"
)


@pytest.fixture
async def hub(sample_place: Workspace, tmp_path: Path) -> AsyncIterator[Hub]:
    settings = ServeSettings(database=str(tmp_path / "serve.db"), per_graph=1, grace=0)
    async with open_hub(settings, sample_place) as hub:
        yield hub


def done(hub: Hub, statement: str) -> None:
    with closing(sqlite3.connect(hub.settings.database)) as connection:
        connection.execute(statement)
        connection.commit()


async def test_an_ending_that_the_database_did_not_take_is_kept_later(hub: Hub) -> None:
    done(hub, BROKEN)
    run = await hub.ask(QUESTION, ANN)
    events = [event async for event in hub.runs.read(run)]
    assert events[-1]["event"] == "problem"
    assert (await hub.records.view(run.id, ANN)).state == "running"
    done(hub, "DROP TRIGGER broken")
    await hub.records.beat()
    view = await hub.records.view(run.id, ANN)
    assert view.state == "done"
    assert view.answer
    assert (await hub.runs.outcome(await hub.ask(QUESTION, ANN))).state == "done"


async def test_a_reading_chosen_while_the_database_fails_does_not_run_for_ever(hub: Hub) -> None:
    back = AskBody(
        question="How many missions are there to Jupiter?", settings={"answer_from": 1.0}
    )
    run = await hub.runs.outcome(await hub.ask(back, ANN))
    done(hub, BROKEN)
    with pytest.raises(ServiceError):
        await chosen(hub, run.id, 1, ANN)
    assert await hub.store.under_way(ANN.id)
    done(hub, "DROP TRIGGER broken")
    await hub.records.beat()
    assert await hub.store.under_way(ANN.id) == []


async def test_a_question_that_is_refused_leaves_no_session(hub: Hub) -> None:
    run = await hub.ask(QUESTION, ANN)
    with pytest.raises(TooMany):
        await hub.ask(QUESTION, ANN)
    sessions = await hub.store.sessions(ANN.id)
    assert [session.id for session in sessions] == [run.asked.session]
    await hub.runs.outcome(run)


async def test_a_question_that_waits_for_its_graph_is_queued(hub: Hub) -> None:
    many = replace(ANN, limits=Limits())
    first, second = [await hub.ask(QUESTION, many) for _ in range(2)]
    assert (first.state, second.state) == ("running", "queued")
    assert (await hub.records.view(second.id, many)).state == "queued"
    views = await asyncio.gather(hub.runs.outcome(first), hub.runs.outcome(second))
    assert [view.state for view in views] == ["done", "done"]


async def test_a_question_that_ended_holds_its_steps_no_longer(hub: Hub) -> None:
    run = await hub.ask(QUESTION, ANN)
    await hub.runs.outcome(run)
    assert run.steps == []
