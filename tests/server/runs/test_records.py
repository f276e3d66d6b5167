"""Runs: kept whatever fails, told in short lines, and in turns on each graph."""

import asyncio
import sqlite3
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from mcp import Client
from tests.each import for_each
from tests.methods.guiding import reply
from tests.servers.llm import LlmServer, Turn
from tests.servers.served import ServedThread, sample_workspace, set_model

from askgraph.errors import ServiceError
from askgraph.llm import Choice, ToolCall
from askgraph.server.auth import CallerLimits, LimitExceededError, Principal
from askgraph.server.hub import Hub, open_hub
from askgraph.server.rest.queries import PartsBody, list_parts
from askgraph.server.rest.questions import export_result
from askgraph.server.runs import AskBody, RunView
from askgraph.server.runs.events import clip_line, describe_step
from askgraph.server.runs.replies import choose_interpretation, confirm_answer
from askgraph.server.settings import ServeSettings
from askgraph.trace import (
    Draft,
    Findings,
    Mention,
    ModelTurn,
    Observation,
    Prompt,
    Refusal,
    Step,
    Thought,
    ToolUse,
    Usage,
)
from askgraph.workspace import Workspace

SECRET = "s3cr3t-that-nobody-may-read"


@pytest.fixture
def place(tmp_path: Path, llm_server: LlmServer, monkeypatch: pytest.MonkeyPatch) -> ServedThread:
    workspace = sample_workspace(tmp_path)
    set_model(tmp_path, f"{llm_server.url}/v1", 'key_env = "THE_KEY"')
    monkeypatch.setenv("THE_KEY", SECRET)
    return ServedThread(workspace)


def test_a_secret_that_a_model_repeats_is_in_no_trace(
    place: ServedThread, llm_server: LlmServer
) -> None:
    llm_server.turns.append(Turn(f"I was sent {SECRET} and password=hunter2hunter2."))
    llm_server.turns.append(Turn("I give up."))
    with place, place.client() as client:
        body = {"question": "Which moons has Mars?", "method": "grasp"}
        head = {"Accept": "text/event-stream"}
        told = client.post("/api/v1/ask", json=body, headers=head).text
        id = told.partition('"id": "')[2].partition('"')[0]
        trace = client.get(f"/api/v1/runs/{id}/trace").text
    assert "I was sent ***" in trace and SECRET not in trace + told
    assert "hunter2hunter2" not in trace + told


def test_a_secret_is_in_no_answer_and_other_data_stays_as_it_is(
    place: ServedThread, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("THE_KEY", "Ganymede")  # as if a graph held it
    with place, place.client() as client:
        asked = {"question": "Which moons are larger than Mercury?"}
        answer = client.post("/api/v1/ask", json=asked).json()["answer"]
    assert [row[0]["label"] for row in answer["cells"]] == ["***", "Titan"]
    assert "Ganymede" not in str(answer)


ANN = Principal("user:ann", "ann", frozenset({"ask"}), limits=CallerLimits(parallel=1))
QUESTION = AskBody(question="Which moons are larger than Mercury?")
ASKED = AskBody(question="How many missions are there to Jupiter?", settings={"answer_from": 1.0})
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


async def test_runs_whose_database_fails(hub: Hub) -> None:
    # An ending that the database did not take is kept later.
    done(hub, BROKEN)
    run = await hub.ask(QUESTION, ANN)
    assert [event async for event in hub.runs.read(run)][-1]["event"] == "problem"
    assert (await hub.records.load_view(run.id, ANN)).state == "running"
    done(hub, "DROP TRIGGER broken")
    await hub.records.send_heartbeat()
    view = await hub.records.load_view(run.id, ANN)
    assert view.state == "done" and view.answer
    assert (await hub.runs.wait_for_outcome(await hub.ask(QUESTION, ANN))).state == "done"
    # A reading chosen while the database fails does not run for ever.
    view = await hub.runs.wait_for_outcome(await hub.ask(ASKED, ANN))
    done(hub, BROKEN)
    with pytest.raises(ServiceError):
        await choose_interpretation(hub, view.id, 1, ANN)
    assert await hub.store.list_active_runs(ANN.id)
    done(hub, "DROP TRIGGER broken")
    await hub.records.send_heartbeat()
    assert await hub.store.list_active_runs(ANN.id) == []
    # A question that ended holds its steps no longer.
    run = await hub.ask(QUESTION, ANN)
    await hub.runs.wait_for_outcome(run)
    assert run.steps == []


async def test_a_question_that_is_refused_leaves_no_session(hub: Hub) -> None:
    run = await hub.ask(QUESTION, ANN)
    with pytest.raises(LimitExceededError):
        await hub.ask(QUESTION, ANN)
    sessions = await hub.store.list_sessions(ANN.id)
    assert [session.id for session in sessions] == [run.request.session]
    await hub.runs.wait_for_outcome(run)


async def test_a_question_that_waits_for_its_graph_is_queued(hub: Hub) -> None:
    many = replace(ANN, limits=CallerLimits())
    first, second = [await hub.ask(QUESTION, many) for _ in range(2)]
    assert (first.state, second.state) == ("running", "queued")
    assert (await hub.records.load_view(second.id, many)).state == "queued"
    views = await asyncio.gather(
        hub.runs.wait_for_outcome(first), hub.runs.wait_for_outcome(second)
    )
    assert [view.state for view in views] == ["done", "done"]


MARS = Mention("Mars", "entity", "http://example.org/Mars", "Mars", 1.0)
CALLS = Choice("", calls=(ToolCall("1", "search_entity", "{}"),))


@for_each(
    ("step", "words"),
    [
        (Findings((MARS,)), "'Mars' is the entity 'Mars'"),
        (Findings(()), "no word of the question is known"),
        (Draft("PREFIX : <x>\nASK {\n}", 1.0), "considers: ASK { }"),
        (Draft("ASK {}", 1.0, "Is it?"), "considers: Is it?"),
        (Thought("two\nlines", sent="Mend it"), "two lines"),
        (Prompt("write", ()), "prompts a model (write)"),
        (ModelTurn(CALLS, Usage()), "the model: calls search_entity"),
        (ModelTurn(Choice("It is Io."), Usage()), "the model: It is Io."),
        (ToolUse("search", {"q": "Io"}, Observation("found")), 'search("Io"): found'),
        (
            ToolUse("a", {}, Observation("Mend it", failed=True)),
            "a() failed; the model is shown: Mend it",
        ),
        (Refusal("nothing"), ""),
    ],
)
def test_each_kind_of_step_says_what_it_does(step: Step, words: str) -> None:
    assert describe_step(step) == words


@given(st.text())
def test_a_line_is_one_line_and_short(text: str) -> None:
    line = clip_line(text)

    assert len(line) <= 160 and (line.isprintable() or not line)


ANN_turns = Principal("user:ann", "ann", frozenset({"ask", "query", "confirm"}))

Work = Callable[[Hub, RunView], Awaitable[object]]


@pytest.fixture
async def hub_turns(sample_place: Workspace, tmp_path: Path) -> AsyncIterator[Hub]:
    settings = ServeSettings(database=str(tmp_path / "serve.db"), per_graph=1, queue=0, grace=0)
    async with open_hub(settings, sample_place) as hub_turns:
        yield hub_turns


def read_back(hub: Hub, run: RunView) -> Awaitable[object]:
    assert run.answer and run.answer.sparql
    return list_parts("space", PartsBody(query=run.answer.sparql, language="en"), hub, ANN_turns)


@pytest.mark.parametrize("work", [
    read_back, lambda hub, run: confirm_answer(hub, run.id, None, ANN_turns),
    lambda hub, run: choose_interpretation(hub, run.id, 0, ANN_turns),
    lambda hub, run: export_result(hub, run.id, "nt", ANN_turns),
])  # fmt: skip
async def test_work_on_a_graph_waits_for_its_turn(hub_turns: Hub, work: Work) -> None:
    run = await hub_turns.runs.wait_for_outcome(await hub_turns.ask(ASKED, ANN_turns))
    async with hub_turns.queries.wait_turn("space"):
        with pytest.raises(LimitExceededError):
            await work(hub_turns, run)
    await work(hub_turns, run)


def test_every_door_asks_the_model_only_where_graph_search_is_unsure(
    tmp_path: Path, llm_server: LlmServer
) -> None:
    place = sample_workspace(tmp_path)
    set_model(tmp_path, f"{llm_server.base}/v1")
    llm_server.turns.extend([Turn(reply(choose=1))] * 3)
    sure, unsure = {"question": "Which moons orbit Mars?"}, {"question": "What did Galileo find?"}
    chat = {"model": "askgraph", "messages": [{"role": "user", "content": unsure["question"]}]}

    async def ask_agent(url: str) -> Any:
        async with Client(f"{url}/mcp") as agent:
            return (await agent.call_tool("ask", {**unsure, "detail": True})).structured_content

    with ServedThread(place) as server, server.client() as client:
        free = client.post("/api/v1/ask", json=sure).json()
        assert (free["method"], llm_server.requests) == ("auto", [])
        assert free["answer"]["answered_by"] == {
            "method": "graph-search", "model": "", "failed": False,
        }  # fmt: skip
        paid = client.post("/api/v1/ask", json=unsure).json()["answer"]
        assert paid["answered_by"]["model"] == "m-served" and paid["usage"]["llm_calls"] == 1
        told = client.post("/v1/chat/completions", json=chat).json()["choices"][0]["message"]
        assert "**Answered by:** guided with m-served: 1 call of a model" in told["content"]
        result = asyncio.run(ask_agent(server.url))
        assert result["answered_by"]["model"] == "m-served" and result["usage"]["llm_calls"] == 1
        methods = client.get("/api/v1/methods").json()["methods"]
        assert [one["needs_model"] for one in methods if one["name"] == "auto"] == [True]
    assert len(llm_server.requests) == 3


@pytest.mark.parametrize("processes", [0, 1])
def test_a_model_whose_server_has_failed_is_left_alone_and_counted(
    tmp_path: Path, processes: int
) -> None:
    place = sample_workspace(tmp_path)
    set_model(tmp_path, "http://127.0.0.1:9/v1", "retries = 0")
    with ServedThread(place, processes=processes) as server, server.client() as client:
        assert "askgraph_models_left_alone 0.0" in client.get("/metrics").text
        asked = {"question": "Which moons does Jupiter have?", "method": "guided"}
        for _ in range(5):  # on a busy machine the seconds may be over before it is read
            assert client.post("/api/v1/ask", json=asked).status_code == 200
            if "askgraph_models_left_alone 1.0" in client.get("/metrics").text:
                return
    pytest.fail("no model is said to be left alone")
