"""Requests to Anthropic: what is cached, what goes back, what it lacks."""

import json
from collections.abc import AsyncIterator

import pytest
from tests.late import anthropic, google
from tests.servers.llm import LlmServer, Says, Turn

from askgraph.llm import LanguageModel as Model
from askgraph.llm import Message, System, ToolResult, ToolSchema, User, read_completion

ASKED: list[Message] = [System("Be brief."), User("What orbits the Earth?")]
SEARCH = ToolSchema("search", "Search.", {"type": "object", "properties": {}})


@pytest.fixture
async def model(llm_server: LlmServer) -> AsyncIterator[Model]:
    made = anthropic.AnthropicModel("m", base_url=llm_server.base, key_env=None)
    yield made
    await made.close()


async def test_system_tools_and_last_turn_are_cached(model: Model, llm_server: LlmServer) -> None:
    await read_completion(model.complete(ASKED, tools=[SEARCH, SEARCH]))

    sent = llm_server.bodies[0]
    assert "cache_control" in sent["system"][0]
    assert ["cache_control" in tool for tool in sent["tools"]] == [False, True]
    assert "cache_control" in sent["messages"][-1]["content"][-1]


async def test_signed_reasoning_precedes_its_call(model: Model, llm_server: LlmServer) -> None:
    llm_server.turns.append(Turn("", (("search", "{}"), ("search", "{}")), reasoning="Hm."))
    first = (await read_completion(model.complete(ASKED, tools=[SEARCH]))).first
    results = [ToolResult(call.id, call.name, "none") for call in first.calls]

    await read_completion(model.complete([*ASKED, first.message, *results], tools=[SEARCH]))

    asked, own, answer = llm_server.bodies[1]["messages"]
    assert own["content"][0] == {"type": "thinking", "thinking": "Hm.", "signature": "signed"}
    assert [block["type"] for block in own["content"]] == ["thinking", "tool_use", "tool_use"]
    assert [block["type"] for block in answer["content"]] == ["tool_result", "tool_result"]
    assert asked["role"] == "user"


async def test_a_schema_may_be_asked_for_in_words(model: Model, llm_server: LlmServer) -> None:
    llm_server.says = Says(refuses={"output_config"})
    schema = {"type": "object", "properties": {}}

    await read_completion(model.complete(ASKED, schema=schema))

    first, second = llm_server.bodies
    assert first["output_config"]["format"]["schema"] == schema
    assert json.dumps(schema) in second["messages"][-1]["content"][-1]["text"]


async def test_usage_of_several_choices_adds_up(model: Model) -> None:
    done = await read_completion(model.complete(ASKED, n=3))

    assert (len(done.choices), done.usage.input, done.usage.output) == (3, 300, 60)


@pytest.fixture
async def google_model(llm_server: LlmServer) -> AsyncIterator[Model]:
    made = google.GoogleModel("m", base_url=llm_server.base, key_env=None)
    yield made
    await made.close()


async def test_options_have_googles_names(google_model: Model, llm_server: LlmServer) -> None:
    schema = {"type": "object", "properties": {}}

    await read_completion(
        google_model.complete(ASKED, n=2, seed=4, max_tokens=50, temperature=0.5, schema=schema)
    )

    sent = llm_server.bodies[0]
    settings = sent["generationConfig"]
    assert sent["systemInstruction"]["parts"][0]["text"] == "Be brief."
    assert (settings["candidateCount"], settings["seed"], settings["maxOutputTokens"]) == (2, 4, 50)
    assert settings["responseJsonSchema"] == schema


async def test_a_call_s_signature_goes_back(google_model: Model, llm_server: LlmServer) -> None:
    llm_server.turns.append(Turn("", (("search", "{}"),)))
    first = (await read_completion(google_model.complete(ASKED, tools=[SEARCH]))).first
    result = ToolResult(first.calls[0].id, "search", "none")

    await read_completion(google_model.complete([*ASKED, first.message, result], tools=[SEARCH]))

    _, own, answer = llm_server.bodies[1]["contents"]
    assert own["parts"][0]["thoughtSignature"] == "c2lnbmVk"
    assert answer["parts"][0]["functionResponse"]["response"] == {"output": "none"}


async def test_the_limit_of_a_reply_is_part_of_who_answers(llm_server: LlmServer) -> None:
    models = [anthropic.AnthropicModel("m", base_url=llm_server.base, key_env=None, max_tokens=n)
              for n in (100, 200)]  # fmt: skip
    assert models[0].identity != models[1].identity
