"""Who may not ask is told so in the words that OpenAI's clients understand."""

from collections.abc import Iterator

import openai
import pytest
from openai import OpenAI
from openai.types.chat import ChatCompletionMessageParam
from tests.servers.key_holders import Locked, locked_server

from askgraph.workspace import Workspace

QUESTION: list[ChatCompletionMessageParam] = [{"role": "user", "content": "Who found Titan?"}]


@pytest.fixture(scope="module")
def locked(sample_place: Workspace, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Locked]:
    with locked_server(sample_place, tmp_path_factory.mktemp("locked")) as server:
        yield server


def client(server: Locked, key: str) -> OpenAI:
    return OpenAI(base_url=f"{server.url}/v1", api_key=key, max_retries=0)


def test_who_has_a_key_is_answered(locked: Locked) -> None:
    with client(locked, locked.key) as chat:
        reply = chat.chat.completions.create(model="askgraph", messages=QUESTION)
    assert "Huygens" in (reply.choices[0].message.content or "")


def test_a_key_that_is_none_is_an_authentication_error(locked: Locked) -> None:
    with (
        client(locked, "askgraph_aaaaaaaaaaaa_nothing") as chat,
        pytest.raises(openai.AuthenticationError) as caught,
    ):
        chat.models.list()
    assert caught.value.code == "invalid_api_key"


def test_a_graph_that_is_not_theirs_is_as_one_that_is_not_there(locked: Locked) -> None:
    with client(locked, locked.blind) as chat:
        with pytest.raises(openai.NotFoundError) as hidden:
            chat.chat.completions.create(model="askgraph@space", messages=QUESTION)
        with pytest.raises(openai.NotFoundError) as absent:
            chat.chat.completions.create(model="askgraph@nope", messages=QUESTION)
    assert str(hidden.value).replace("space", "X") == str(absent.value).replace("nope", "X")


def test_a_question_with_a_nul_is_refused_with_words(locked: Locked) -> None:
    with (
        client(locked, locked.key) as chat,
        pytest.raises(openai.APIStatusError, match="NUL") as no,
    ):
        chat.chat.completions.create(
            model="askgraph", messages=[{"role": "user", "content": "Who found Titan?\0"}]
        )
    assert no.value.status_code in (400, 422)


def test_who_asks_too_often_is_told_when_to_come_back(locked: Locked) -> None:
    with client(locked, locked.hasty) as chat, pytest.raises(openai.RateLimitError) as caught:
        for _ in range(12):  # in whichever minutes they come
            chat.models.list()
    assert caught.value.code == "rate_limit_exceeded"
    assert int(caught.value.response.headers["retry-after"]) >= 1
