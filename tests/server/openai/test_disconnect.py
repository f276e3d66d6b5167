"""A question ends as soon as the client that asked it goes away."""

from collections.abc import Iterator

import pytest
from openai import OpenAI
from openai.types.chat import ChatCompletionMessageParam
from tests.servers.served import ServedThread
from tests.servers.stuck import assert_given_up, becomes, stuck_server

QUESTION: list[ChatCompletionMessageParam] = [{"role": "user", "content": "Which moons are there?"}]


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ServedThread]:
    with stuck_server(tmp_path_factory.mktemp("leaving")) as served:
        yield served


@pytest.fixture
def chat(server: ServedThread) -> Iterator[OpenAI]:
    with OpenAI(base_url=f"{server.url}/v1", api_key="-", max_retries=0) as client:
        yield client


def test_a_stream_that_is_closed_ends_its_question(server: ServedThread, chat: OpenAI) -> None:
    stream = chat.chat.completions.create(model="askgraph", messages=QUESTION, stream=True)
    next(iter(stream))
    assert becomes(server, running=True)

    stream.close()

    assert becomes(server, running=False)


def test_a_reply_that_nobody_waits_for_ends_its_question(server: ServedThread) -> None:
    assert_given_up(server, "/v1/chat/completions", {"model": "askgraph", "messages": QUESTION})
