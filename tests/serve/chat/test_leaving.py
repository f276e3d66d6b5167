"""A question ends as soon as the client that asked it goes away."""

import time
from collections.abc import Iterator

import openai
import pytest
from openai import OpenAI
from openai.types.chat import ChatCompletionMessageParam
from pyoxigraph import RdfFormat, Store
from tests.servers.faults import slow_first_byte
from tests.servers.served import ServedThread
from tests.servers.sparql import SparqlServer

from askgraph.sample import graph_path
from askgraph.workspace import Workspace

QUESTION: list[ChatCompletionMessageParam] = [{"role": "user", "content": "Which moons are there?"}]


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ServedThread]:
    """A server on an endpoint that does not answer, which waits long for readers to come back."""
    folder = tmp_path_factory.mktemp("leaving")
    store = Store()
    store.load(graph_path().read_bytes(), RdfFormat.TURTLE)
    with SparqlServer(store) as endpoint:
        workspace = Workspace(folder)
        workspace.add("slow", [endpoint.url], settings={"cache_mb": 0, "timeout": 120.0})
        endpoint.always = slow_first_byte(60)
        with ServedThread(workspace, database=str(folder / "serve.db"), patience=60.0) as served:
            yield served
        endpoint.always = None


@pytest.fixture
def chat(server: ServedThread) -> Iterator[OpenAI]:
    with OpenAI(base_url=f"{server.url}/v1", api_key="-", max_retries=0) as client:
        yield client


def becomes(server: ServedThread, *, running: bool) -> bool:
    """Whether a question is under way, or none is any more, within some seconds."""
    runs = server.app.state.hub.runs
    end = time.monotonic() + 20
    while bool(runs.running) != running and time.monotonic() < end:
        time.sleep(0.05)
    return bool(runs.running) == running


def test_a_stream_that_is_closed_ends_its_question(server: ServedThread, chat: OpenAI) -> None:
    stream = chat.chat.completions.create(model="askgraph", messages=QUESTION, stream=True)
    next(iter(stream))
    assert becomes(server, running=True)

    stream.close()

    assert becomes(server, running=False)


def test_a_reply_that_nobody_waits_for_ends_its_question(
    server: ServedThread, chat: OpenAI
) -> None:
    with pytest.raises(openai.APITimeoutError):
        chat.with_options(timeout=1.0).chat.completions.create(model="askgraph", messages=QUESTION)

    assert becomes(server, running=False)
