"""Requests to Google: names of its own for the same things."""

from collections.abc import AsyncIterator

import pytest
from tests.servers.llm import LlmServer, Turn

from askgraph.llm import Message, System, ToolResult, ToolSchema, User, completed
from askgraph.llm.google import GoogleModel

ASKED: list[Message] = [System("Be brief."), User("What orbits the Earth?")]
SEARCH = ToolSchema("search", "Search.", {"type": "object", "properties": {}})


@pytest.fixture
async def model(llm_server: LlmServer) -> AsyncIterator[GoogleModel]:
    made = GoogleModel("m", base_url=llm_server.base, key_env=None)
    yield made
    await made.close()


async def test_options_have_googles_names(model: GoogleModel, llm_server: LlmServer) -> None:
    schema = {"type": "object", "properties": {}}

    await completed(
        model.complete(ASKED, n=2, seed=4, max_tokens=50, temperature=0.5, schema=schema)
    )

    sent = llm_server.bodies[0]
    settings = sent["generationConfig"]
    assert sent["systemInstruction"]["parts"][0]["text"] == "Be brief."
    assert (settings["candidateCount"], settings["seed"], settings["maxOutputTokens"]) == (2, 4, 50)
    assert settings["responseJsonSchema"] == schema


async def test_a_calls_signature_goes_back_with_it(
    model: GoogleModel, llm_server: LlmServer
) -> None:
    llm_server.turns.append(Turn("", (("search", "{}"),)))
    first = (await completed(model.complete(ASKED, tools=[SEARCH]))).first
    result = ToolResult(first.calls[0].id, "search", "none")

    await completed(model.complete([*ASKED, first.message, result], tools=[SEARCH]))

    _, own, answer = llm_server.bodies[1]["contents"]
    assert own["parts"][0]["thoughtSignature"] == "c2lnbmVk"
    assert answer["parts"][0]["functionResponse"]["response"] == {"output": "none"}
