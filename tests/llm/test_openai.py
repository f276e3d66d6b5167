"""Servers that speak Chat Completions each in their own way, and a client that copes with them."""

import asyncio
import json
from collections.abc import AsyncIterator

import pytest
from tests.each import for_each
from tests.servers import faults
from tests.servers.llm import LlmServer, Says, Turn, refused
from tests.servers.sparql import Fault

from askgraph import llm, plugins
from askgraph.errors import ErrorReply, Overloaded, SetupError, TimedOut
from askgraph.llm._streams import ReplyAssembler
from askgraph.llm.openai import OpenAIModel

ASKED: list[llm.Message] = [llm.User("What orbits the Earth?")]
SCHEMA = {"type": "object", "properties": {"iri": {"type": "string"}}, "required": ["iri"]}
SEARCH = llm.ToolSchema("search", "Search.", {"type": "object", "properties": {}})


@pytest.fixture
async def model(llm_server: LlmServer) -> AsyncIterator[OpenAIModel]:
    made = OpenAIModel("m", base_url=llm_server.base + "/v1")
    yield made
    await made.close()


def _events(*chunks: object, done: bool = True) -> Fault:
    lines = [f"data: {json.dumps(chunk)}\n\n" for chunk in chunks]
    return faults.body("".join(lines) + "data: [DONE]\n\n" * done, kind="text/event-stream")


def _said(finish: str | None = "stop", **delta: object) -> dict[str, object]:
    return {"choices": [{"index": 0, "delta": delta, "finish_reason": finish}]}


async def test_options_are_sent_under_the_names_all_servers_know(
    model: OpenAIModel, llm_server: LlmServer
) -> None:
    await llm.read_completion(
        model.complete(
            ASKED, tools=[SEARCH], tool_choice="search", seed=3, max_tokens=50, temperature=0.0
        )
    )

    sent = llm_server.bodies[0]
    assert sent["tools"][0]["function"]["name"] == "search"
    assert sent["tool_choice"] == {"type": "function", "function": {"name": "search"}}
    assert (sent["seed"], sent["max_tokens"], sent["temperature"]) == (3, 50, 0.0)
    assert "n" not in sent


async def test_without_a_key_no_authorization_is_sent(
    model: OpenAIModel, llm_server: LlmServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-not-for-this-server")
    monkeypatch.setenv("OPENAI_ORG_ID", "org-not-for-this-server")

    await llm.read_completion(model.complete(ASKED))

    assert "not-for-this-server" not in str(llm_server.requests[0].headers)
    assert "authorization" not in llm_server.requests[0].headers


async def test_a_parameter_that_the_server_does_not_know_is_left_out_from_then_on(
    model: OpenAIModel, llm_server: LlmServer
) -> None:
    llm_server.says = Says(refuses={"seed", "stream_options"})

    for _ in range(2):
        await llm.read_completion(model.complete(ASKED, seed=1, temperature=0.5))

    assert [sorted({"seed", "stream_options"} & body.keys()) for body in llm_server.bodies] == [
        ["seed", "stream_options"],
        ["stream_options"],
        [],
        [],
    ]
    assert llm_server.bodies[-1]["temperature"] == 0.5


async def test_choices_that_are_more_than_a_server_gives_at_once_are_asked_for_singly(
    model: OpenAIModel, llm_server: LlmServer
) -> None:
    llm_server.says = Says(most_choices=1)
    done = await llm.read_completion(model.complete(ASKED, n=3, seed=10))
    assert len(done.choices) == 3
    assert sorted(body["seed"] for body in llm_server.bodies) == [10, 11, 12]

    llm_server.requests.clear()
    bound = "Field 'n': Value must be between 1 <= value <= 2, but got 5"
    llm_server.knows = lambda asked: (
        refused(400, bound) if asked.get("n", 1) > 2 else [Turn("The Moon.")]
    )
    done = await llm.read_completion(model.complete(ASKED, n=5, seed=3))
    assert [choice.text for choice in done.choices] == ["The Moon."] * 5
    assert sorted(body["seed"] for body in llm_server.bodies[1:]) == [3, 4, 5, 6, 7]


async def test_a_server_that_takes_neither_name_is_asked_without_a_length(
    model: OpenAIModel, llm_server: LlmServer
) -> None:
    llm_server.says = Says(refuses={"max_tokens", "max_completion_tokens"})

    done = await llm.read_completion(model.complete(ASKED, max_tokens=9))

    assert done.first.text == "The Moon."
    names = [{"max_tokens", "max_completion_tokens"} & body.keys() for body in llm_server.bodies]
    assert names == [{"max_tokens"}, {"max_completion_tokens"}, set()]


@pytest.mark.parametrize(
    ("schema", "strict"),
    [
        (SCHEMA, False),
        (SCHEMA | {"additionalProperties": False}, True),
        (SCHEMA | {"additionalProperties": False, "required": []}, False),
    ],
)
async def test_a_schema_is_strict_where_it_is_closed(
    schema: dict[str, object], strict: bool, model: OpenAIModel, llm_server: LlmServer
) -> None:
    await llm.read_completion(model.complete(ASKED, schema=schema))

    assert llm_server.bodies[0]["response_format"]["json_schema"]["strict"] is strict


async def test_a_schema_is_asked_for_in_words_where_the_server_cannot_hold_to_it(
    model: OpenAIModel, llm_server: LlmServer
) -> None:
    llm_server.says = Says(refuses={"response_format"})

    await llm.read_completion(model.complete(ASKED, schema=SCHEMA))

    first, second, last = llm_server.bodies
    assert first["response_format"]["json_schema"]["schema"] == SCHEMA
    assert second["response_format"] == {"type": "json_object"}
    assert "response_format" not in last
    assert json.dumps(SCHEMA) in last["messages"][-1]["content"]


async def test_a_refused_value_is_not_left_out(model: OpenAIModel, llm_server: LlmServer) -> None:
    llm_server.acts.append(faults.status(400, "temperature must be at most 2"))

    with pytest.raises(ErrorReply, match="at most 2"):
        await llm.read_completion(model.complete(ASKED, temperature=9.0))

    assert len(llm_server.requests) == 1


async def test_servers_without_streams_are_read(model: OpenAIModel, llm_server: LlmServer) -> None:
    llm_server.says = Says(streams=False)

    done = await llm.read_completion(model.complete(ASKED, n=2))

    assert [choice.text for choice in done.choices] == ["The Moon.", "The Moon."]
    assert done.usage.estimated
    assert done.usage.total > 0


async def test_calls_that_are_all_numbered_zero_or_have_no_id_are_told_apart(
    model: OpenAIModel, llm_server: LlmServer
) -> None:
    def call(id_: str, arguments: object) -> dict[str, object]:
        return {"index": 0, "id": id_, "function": {"name": "search", "arguments": arguments}}

    whole = [call("a", '{"text": 1}'), call("b", {"text": 2})]
    bare = {"function": {"name": "search", "arguments": "{}"}}
    llm_server.acts.append(_events(_said(None, tool_calls=whole), _said("stop")))
    llm_server.acts.append(_events(_said("tool_calls", tool_calls=[bare, bare])))

    first, second = [(await llm.read_completion(model.complete(ASKED))).first for _ in range(2)]

    assert [(one.id, one.arguments) for one in first.calls] == [
        ("a", '{"text": 1}'),
        ("b", '{"text": 2}'),
    ]
    assert first.finish is llm.Finish.CALLS
    assert len({call.id for call in second.calls}) == 2


async def test_words_of_refusal_make_a_refusal_and_an_error_in_a_good_reply_is_an_error(
    model: OpenAIModel, llm_server: LlmServer
) -> None:
    error = {"error": {"message": "the engine is overloaded"}}
    llm_server.acts.append(_events(_said("stop", refusal="I would rather not.")))
    llm_server.acts.append(_events(_said(None, content="The"), error))

    first = (await llm.read_completion(model.complete(ASKED))).first

    assert (first.finish, first.refusal) == (llm.Finish.REFUSED, "I would rather not.")
    with pytest.raises(Overloaded, match="overloaded"):
        await llm.read_completion(model.complete(ASKED))


async def test_log_probabilities_add_up(model: OpenAIModel, llm_server: LlmServer) -> None:
    llm_server.turns.append(Turn(logprobs=(("The ", -0.5), ("Moon", -0.25))))

    first = (await llm.read_completion(model.complete(ASKED, logprobs=True))).first

    assert first.logprobs == (llm.TokenLogprob("The ", -0.5), llm.TokenLogprob("Moon", -0.25))
    assert first.logprob == -0.75
    assert llm_server.bodies[0]["logprobs"] is True


@pytest.mark.parametrize(
    ("start", "settings", "words"),
    [
        ([], {"first_timeout": 0.3}, "first"),
        ([f"data: {json.dumps(_said(None, content='The'))}\n\n"], {"timeout": 0.5}, "no complete"),
    ],
)
async def test_signs_of_life_are_no_first_word_and_no_reply_lasts_beyond_the_total_time(
    llm_server: LlmServer, start: list[str], settings: dict[str, float], words: str
) -> None:
    llm_server.acts.append(faults.breathing(*start))
    model = OpenAIModel("m", base_url=llm_server.base + "/v1", **settings)  # type: ignore[arg-type]

    with pytest.raises(TimedOut, match=words):
        await llm.read_completion(model.complete(ASKED))

    await model.close()


async def test_ten_mb_of_arguments_are_cut_off(model: OpenAIModel, llm_server: LlmServer) -> None:
    llm_server.turns.append(Turn("", (("search", '{"text": "' + "x" * 7_000_000 + '"}'),)))

    first = (await llm.read_completion(model.complete(ASKED))).first

    assert first.finish is llm.Finish.LENGTH
    assert len(first.calls[0].arguments) < 1_000_000


def test_one_model_serves_one_event_loop_after_the_other(llm_server: LlmServer) -> None:
    model = OpenAIModel("m", base_url=llm_server.base + "/v1")

    async def once() -> llm.Completion:
        done = await llm.read_completion(model.complete(ASKED))
        await model.close()
        return done

    assert [asyncio.run(once()).first.text for _ in range(2)] == ["The Moon.", "The Moon."]


@for_each("url", ["ftp://h/v1", "h/v1", "http://me:word@h/v1", "http://h/v1?key=1", "http://[::1"])
def test_an_address_that_will_not_do_or_a_key_that_is_not_set_is_a_fault_of_the_setup(
    monkeypatch: pytest.MonkeyPatch, url: str
) -> None:
    monkeypatch.delenv("NO_SUCH_KEY", raising=False)
    with pytest.raises(SetupError, match="base_url"):
        OpenAIModel("m", base_url=url)
    with pytest.raises(SetupError, match="NO_SUCH_KEY"):
        OpenAIModel("m", key_env="NO_SUCH_KEY")


async def test_the_width_of_the_beam_is_the_number_of_choices_on_servers_that_know_beams(
    model: OpenAIModel, llm_server: LlmServer
) -> None:
    llm_server.turns.extend([Turn("The Moon."), Turn("A moon.")])

    found = await llm.read_completion(model.complete(ASKED, n=2, beams=True))

    assert [choice.text for choice in found.choices] == ["The Moon.", "A moon."]
    [sent] = llm_server.bodies
    assert sent["use_beam_search"] is True and sent["n"] == 2
    llm_server.turns.clear()
    for most in (1, 8):
        llm_server.says.most_choices = most
        with pytest.raises(SetupError, match="3 beams were requested, but 1 different replies"):
            await llm.read_completion(model.complete(ASKED, n=3, beams=True))
    llm_server.requests.clear()
    llm_server.says.refuses = {"use_beam_search"}
    with pytest.raises(SetupError, match=r"'m' cannot do a beam search.*vLLM can"):
        await llm.read_completion(model.complete(ASKED, n=2, beams=True))
    assert len(llm_server.bodies) == 1, "no samples are asked for instead"


@pytest.mark.parametrize("provider", ["anthropic", "google"])
async def test_a_provider_without_beams_is_not_asked(llm_server: LlmServer, provider: str) -> None:
    pytest.importorskip({"anthropic": "anthropic", "google": "google.genai"}[provider])
    made = plugins.load("llm", provider)("m", base_url=llm_server.base, key_env=None)

    with pytest.raises(SetupError, match="its provider offers none"):
        await llm.read_completion(made.complete(ASKED, n=2, beams=True))
    await made.close()
    assert llm_server.bodies == []


@pytest.mark.parametrize(
    ("pieces", "whole"),
    [
        (["A ", "moon"], "A moon"),
        (["\ud83d", "\ude00!"], "😀!"),
        (["\ude00", "x\ud83d"], "\ufffdx\ufffd"),
    ],
)
def test_halves_of_a_character_are_put_together(pieces: list[str], whole: str) -> None:
    assembly = ReplyAssembler(llm.Request.from_options(ASKED, {}), model="m")
    for piece in pieces:
        assembly.add_text(piece).text.encode()
        assembly.add_reasoning(piece).text.encode()
        assembly.add_call("1", name="execute", arguments=piece)

    [choice] = assembly.build_completion().choices

    assert (choice.text, choice.reasoning, choice.calls[0].arguments) == (whole,) * 3
