"""A question ends as soon as the client that asked it goes away, by whatever protocol."""

from typing import Any

from openai import OpenAI
from openai.types.chat import ChatCompletionMessageParam
from tests.each import for_each
from tests.servers.served import ServedThread
from tests.servers.stuck import assert_given_up, becomes

QUESTION: list[ChatCompletionMessageParam] = [{"role": "user", "content": "Which moons are there?"}]
CALL = {"name": "ask", "arguments": {"question": "Which moons are there?"}}


def test_a_stream_that_is_closed_ends_its_question(stuck: ServedThread) -> None:
    with OpenAI(base_url=f"{stuck.url}/v1", api_key="-", max_retries=0) as chat:
        stream = chat.chat.completions.create(model="askgraph", messages=QUESTION, stream=True)
        next(iter(stream))
        assert becomes(stuck, running=True)
        stream.close()
        assert becomes(stuck, running=False)


@for_each(
    ("path", "body"),
    ("/api/v1/ask", {"question": "Which moons are there?"}),
    ("/v1/chat/completions", {"model": "askgraph", "messages": QUESTION}),
    ("/mcp", {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": CALL}),
)
def test_a_reply_that_nobody_waits_for_ends_its_question(
    stuck: ServedThread, path: str, body: dict[str, Any]
) -> None:
    assert_given_up(stuck, path, body)
