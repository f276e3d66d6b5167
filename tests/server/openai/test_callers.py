"""Who may not ask is told so in the words that OpenAI's clients understand."""

import openai
import pytest
from openai import OpenAI
from openai.types.chat import ChatCompletionMessageParam
from tests.servers.key_holders import Locked

from askgraph.server.auth import LimitOverrides

QUESTION: list[ChatCompletionMessageParam] = [{"role": "user", "content": "Who found Titan?"}]


def client(server: Locked, key: str) -> OpenAI:
    return OpenAI(base_url=f"{server.url}/v1", api_key=key, max_retries=0)


def test_who_is_answered(locked: Locked) -> None:
    # Who has a key is answered.
    with client(locked, locked.add_key("ask", "query")) as chat:
        reply = chat.chat.completions.create(model="askgraph", messages=QUESTION)
    assert "Huygens" in (reply.choices[0].message.content or "")
    # A key that is none is an authentication error.
    with (
        client(locked, "askgraph_aaaaaaaaaaaa_nothing") as chat,
        pytest.raises(openai.AuthenticationError) as caught,
    ):
        chat.models.list()
    assert caught.value.code == "invalid_api_key"
    # A graph that is not theirs is as one that is not there.
    with client(locked, locked.add_key("ask", graphs=[])) as chat:
        with pytest.raises(openai.NotFoundError) as hidden:
            chat.chat.completions.create(model="askgraph@space", messages=QUESTION)
        with pytest.raises(openai.NotFoundError) as absent:
            chat.chat.completions.create(model="askgraph@nope", messages=QUESTION)
    assert str(hidden.value).replace("space", "X") == str(absent.value).replace("nope", "X")
    # A question with a nul is refused with words.
    with (
        client(locked, locked.add_key("ask", "query")) as chat,
        pytest.raises(openai.APIStatusError, match="NUL") as no,
    ):
        chat.chat.completions.create(
            model="askgraph", messages=[{"role": "user", "content": "Who found Titan?\0"}]
        )
    assert no.value.status_code in (400, 422)
    # Who asks too often is told when to come back.
    hasty = locked.add_key("ask", limits=LimitOverrides(requests_per_minute=2))
    with client(locked, hasty) as chat, pytest.raises(openai.RateLimitError) as limited:
        for _ in range(12):  # in whichever minutes they come
            chat.models.list()
    assert limited.value.code == "rate_limit_exceeded"
    assert int(limited.value.response.headers["retry-after"]) >= 1
