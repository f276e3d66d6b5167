"""Questions that are answered in processes of their own are answered as in the server's."""

import asyncio
import os
import pickle
import signal
import threading
import time
from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import pytest
from tests.each import for_each
from tests.servers.faults import slow_first_byte
from tests.servers.llm import LlmServer
from tests.servers.served import sample_workspace, set_model
from tests.servers.sparql import Reply, Request, SparqlServer

from askgraph import errors
from askgraph.errors import AskgraphError, ServiceError
from askgraph.server.auth import Principal
from askgraph.server.hub import Hub, open_hub
from askgraph.server.runs import AskBody, RunView
from askgraph.server.runs.lifecycle import ActiveRun
from askgraph.server.runs.replies import confirm_answer
from askgraph.server.runs.worker_pool import frame_message, to_picklable
from askgraph.server.settings import ServeSettings
from askgraph.workspace import Workspace

ANN = Principal("user:ann", "ann", frozenset({"ask", "query", "confirm", "manage"}))
QUESTIONS = (
    "Which moons are larger than Mercury?",
    "How many missions are there to Jupiter?",
    "What is the airspeed of an unladen swallow?",
    "Who discovered Titan?",
)


@pytest.fixture
def place(sample_endpoint: SparqlServer, tmp_path: Path) -> Iterator[Workspace]:
    workspace = sample_workspace(tmp_path / "workspace")
    workspace.add("slow", [sample_endpoint.url], settings={"cache_mb": 0, "timeout": 120.0})
    yield workspace
    sample_endpoint.always = None


def two_processes(folder: Path) -> ServeSettings:
    database = str(folder / "serve.db")
    return ServeSettings(database=database, processes=2, grace=0, patience=60.0)


@pytest.fixture
async def hub(place: Workspace, tmp_path: Path) -> AsyncIterator[Hub]:
    async with open_hub(two_processes(tmp_path), place) as hub:
        yield hub


async def asked(hub: Hub, question: str, graph: str = "space", **more: object) -> RunView:
    body = AskBody.model_validate({"question": question, "graphs": [graph], **more})
    return await hub.runs.wait_for_outcome(await hub.ask(body, ANN))


async def waiting(hub: Hub, server: SparqlServer) -> ActiveRun:
    """Begin a question, and wait until its process waits for a graph that is silent."""
    server.always = slow_first_byte(60)
    before = len(server.requests)
    run = await hub.ask(AskBody(question=QUESTIONS[0], graphs=["slow"]), ANN)
    end = time.monotonic() + 60
    while len(server.requests) <= before:
        assert time.monotonic() < end
        await asyncio.sleep(0.02)
    return run


def processes() -> set[int]:
    """The processes that answer, of this one."""
    found = set[int]()
    for status in Path("/proc").glob("[0-9]*/status"):
        try:
            is_child = f"PPid:\t{os.getpid()}\n" in status.read_text()
            command = (status.parent / "cmdline").read_bytes()
            if is_child and b"askgraph.server.runs.worker_pool" in command:
                found.add(int(status.parent.name))
        except OSError:
            continue
    return found


async def test_many_questions_and_changed_graphs(
    hub: Hub, place: Workspace, tmp_path: Path
) -> None:
    # Many at once are answered as in one process.
    before = processes()
    found = await asyncio.gather(*(asked(hub, one) for one in QUESTIONS))
    assert len(processes() - before) == 2
    own = ServeSettings(database=str(tmp_path / "own.db"), processes=0, grace=0)
    async with open_hub(own, place) as alone:
        expected = [await asked(alone, one) for one in QUESTIONS]
    for one, other in zip(found, expected, strict=True):
        assert one.answer and other.answer and one.answer.status == other.answer.status
        assert one.answer.sparql == other.answer.sparql
        assert one.answer.confidence == other.answer.confidence
    # None is left when the server ends.
    async with open_hub(two_processes(tmp_path), place) as hub:
        before = processes()
        await asked(hub, QUESTIONS[0])
        assert processes() - before
    assert processes() == before
    # A limit of a model holds for all processes.
    server = _OneAtATime()
    with server:
        set_model(place.folder, f"{server.base}/v1", "parallel = 1")
        async with open_hub(two_processes(tmp_path), place) as hub:
            found = await asyncio.gather(*(asked(hub, one, method="guided") for one in QUESTIONS))
    assert [one.state for one in found] == ["done"] * 4 and server.at_once == 1
    assert len(server.requests) >= 2


async def test_processes_that_die_or_are_told(hub: Hub, sample_endpoint: SparqlServer) -> None:
    # A process that dies fails its question and is replaced.
    run = await waiting(hub, sample_endpoint)
    for one in processes():
        os.kill(one, signal.SIGKILL)
    view = await hub.runs.wait_for_outcome(run)
    assert view.state == "failed" and view.problem and "ask it again" in view.problem.detail
    again = await asked(hub, QUESTIONS[0])
    assert again.answer and again.answer.status == "answer"
    # A question that is stopped ends in its process.
    run = await waiting(hub, sample_endpoint)
    began = time.monotonic()
    await hub.runs.cancel(run.id)
    assert (await hub.runs.wait_for_outcome(run)).state == "cancelled"
    await hub.stop()
    assert time.monotonic() - began < 30


async def test_a_confirmed_answer_is_known_in_all_processes(hub: Hub) -> None:
    first = await asked(hub, QUESTIONS[1])
    await asyncio.gather(*(asked(hub, one) for one in QUESTIONS))
    await confirm_answer(hub, first.id, None, ANN)
    again = await asyncio.gather(*(asked(hub, QUESTIONS[1]) for _ in range(4)))
    assert all(one.answer and one.answer.confirmed for one in again)


async def test_a_graph_that_was_replaced_is_opened_anew(
    hub: Hub, place: Workspace, tmp_path: Path
) -> None:
    graph = tmp_path / "boats.ttl"
    text = '@prefix : <http://example.org/> . :{0} a :Boat ; :label "{0}" . :Boat :label "boat" .'
    graph.write_text(text.format("Anna"), encoding="utf-8")
    place.add("boats", [graph], settings={"added_by": ANN.id})
    assert "Anna" in str((await asked(hub, "boats", "boats")).answer)
    await hub.jobs.remove("boats", ANN)
    graph.write_text(text.format("Berta"), encoding="utf-8")
    place.add("boats", [graph])
    again = await asyncio.gather(*(asked(hub, "boats", "boats") for _ in range(2)))
    assert all("Berta" in str(one.answer) and "Anna" not in str(one.answer) for one in again)


class _OneAtATime(LlmServer):
    """A model that counts how many ask it at once."""

    def __init__(self) -> None:
        super().__init__()
        self.at_once = self._inside = 0
        self._lock = threading.Lock()

    def honest(self, request: Request) -> Reply:
        with self._lock:
            self._inside += 1
            self.at_once = max(self.at_once, self._inside)
        time.sleep(0.2)
        with self._lock:
            self._inside -= 1
        return super().honest(request)


ERRORS = [one for one in errors.__all__ if issubclass(getattr(errors, one, object), AskgraphError)]


@for_each("name", ERRORS)
def test_an_error_is_told_with_its_words(name: str) -> None:
    kind = getattr(errors, name)
    more = {"limit": "tokens", "scope": "run"} if kind is errors.BudgetSpent else {}
    again = pickle.loads(frame_message(to_picklable(kind("the fault of 7", **more)))[8:])
    assert str(again) == "the fault of 7" and isinstance(again, kind | ServiceError)
