"""What every language model promises, whatever stands behind it, from a server that misbehaves."""

import asyncio
import json
import logging
from collections.abc import AsyncIterator, Callable
from contextlib import aclosing
from pathlib import Path

import pytest
from tests.each import for_each
from tests.late import anthropic, google
from tests.servers import faults
from tests.servers.llm import LlmServer, Turn
from tests.servers.sparql import Fault, becomes_true

from askgraph import errors, llm
from askgraph.llm.budget import BudgetAccount, BudgetedModel, ModelBudget
from askgraph.llm.cached import CachedModel
from askgraph.llm.limited import LimitedModel
from askgraph.llm.openai import OpenAIModel
from askgraph.llm.recorded import RecordedModel
from askgraph.llm.retried import RetriedModel
from askgraph.llm.structured import InvalidCall, check_call
from askgraph.llm.telemetry import TelemetryModel

KEY = "sk-of-the-test-0123456789"
SEARCH = llm.ToolSchema(
    "search_entity",
    "Find entities by name.",
    {"type": "object", "properties": {"text": {"type": "string"}}, "required": ["text"]},
)
ASKED: list[llm.Message] = [llm.System("Be brief."), llm.User("What orbits the Earth?")]


def _openai(server: LlmServer, timeout: float = 30.0) -> OpenAIModel:
    return OpenAIModel("m", base_url=server.base + "/v1", key_env="TEST_KEY", first_timeout=timeout)


def _wrapped(server: LlmServer, timeout: float, folder: Path) -> llm.LanguageModel:
    """Everything at once, none of it in the way."""
    retried = RetriedModel(LimitedModel(_openai(server, timeout), at_once=50), retries=0, pause=0)
    spending = BudgetedModel(retried, BudgetAccount(ModelBudget(tokens=1_000_000)))
    return TelemetryModel(CachedModel(spending, folder / "cache"))


def _recording(server: LlmServer, timeout: float, folder: Path) -> llm.LanguageModel:
    return RecordedModel(
        folder / "recording.jsonl",
        lambda transport: OpenAIModel(
            "m",
            base_url=server.base + "/v1",
            key_env="TEST_KEY",
            first_timeout=timeout,
            transport=transport,
        ),
        record=True,
    )


Maker = Callable[[LlmServer, float, Path], llm.LanguageModel]
MAKERS: dict[str, Maker] = {
    "openai": lambda server, timeout, folder: _openai(server, timeout),
    "anthropic": lambda server, timeout, folder: anthropic.AnthropicModel(
        "m", base_url=server.base, key_env="TEST_KEY", first_timeout=timeout
    ),
    "google": lambda server, timeout, folder: google.GoogleModel(
        "m", base_url=server.base, key_env="TEST_KEY", first_timeout=timeout
    ),
    "recorded": _recording,
    "wrapped": _wrapped,
}


@pytest.fixture(params=MAKERS)
async def model(
    request: pytest.FixtureRequest,
    llm_server: LlmServer,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> AsyncIterator[llm.LanguageModel]:
    monkeypatch.setenv("TEST_KEY", KEY)
    made = MAKERS[request.param](llm_server, 30.0, tmp_path)
    yield made
    await made.close()
    await made.close()


def test_it_fulfils_the_protocol(model: llm.LanguageModel) -> None:
    assert isinstance(model, llm.LanguageModel)
    assert model.identity.model == "m"


async def test_text_comes_in_pieces_and_then_as_a_whole(
    model: llm.LanguageModel, llm_server: LlmServer
) -> None:
    text = "The Moon, the ISS\u2028and 東京's satellites. " * 20
    llm_server.turns.append(Turn(text))

    events = [event async for event in model.complete(ASKED)]

    pieces = [event.text for event in events if isinstance(event, llm.TextPart)]
    assert len(pieces) > 1
    assert "".join(pieces) == text
    last = events[-1]
    assert isinstance(last, llm.Completion)
    assert (last.first.text, last.first.finish, last.model) == (text, llm.Finish.STOP, "m-served")


async def test_usage_counts_the_cached_tokens_as_part_of_the_input(
    model: llm.LanguageModel,
) -> None:
    usage = (await llm.read_completion(model.complete(ASKED))).usage

    assert (usage.input, usage.cached, usage.output, usage.estimated) == (100, 40, 20, False)


async def test_several_calls_come_at_once(model: llm.LanguageModel, llm_server: LlmServer) -> None:
    calls = (("search_entity", '{"text": "Moon"}'), ("search_entity", '{"text": "Earth"}'))
    llm_server.turns.append(Turn("Two searches.", calls, finish="calls"))

    events = [event async for event in model.complete(ASKED, tools=[SEARCH])]

    last = events[-1]
    assert isinstance(last, llm.Completion)
    said = [(call.name, json.loads(call.arguments)) for call in last.first.calls]
    assert said == [(name, json.loads(arguments)) for name, arguments in calls]
    assert len({call.id for call in last.first.calls}) == 2
    assert last.first.finish is llm.Finish.CALLS
    assert [part.call for part in events if isinstance(part, llm.CallPart)] == [*last.first.calls]


async def test_a_conversation_goes_on_with_reasoning_calls_and_results(
    model: llm.LanguageModel, llm_server: LlmServer
) -> None:
    turn = Turn("", (("search_entity", '{"text": "Moon"}'),), reasoning="Hm, the Moon?")
    llm_server.turns.append(turn)
    first = (await llm.read_completion(model.complete(ASKED, tools=[SEARCH]))).first

    answer = await llm.read_completion(
        model.complete(
            [
                *ASKED,
                first.message,
                llm.ToolResult(first.calls[0].id, "search_entity", "wd:Q405 Moon"),
                llm.User("So?"),
            ],
            tools=[SEARCH],
        )
    )

    assert first.reasoning == "Hm, the Moon?"
    assert answer.first.text == "The Moon."
    sent = llm_server.requests[1].body.decode()
    assert first.calls[0].id in sent
    assert "wd:Q405 Moon" in sent


async def test_arguments_that_are_no_json_can_be_sent_back(model: llm.LanguageModel) -> None:
    bad = llm.Assistant("", (llm.ToolCall("c9", "search_entity", '{"text": "Mo'),))

    answer = await llm.read_completion(
        model.complete(
            [*ASKED, bad, llm.ToolResult("c9", "search_entity", "no JSON")], tools=[SEARCH]
        )
    )

    assert answer.first.text == "The Moon."


async def test_as_many_choices_come_as_are_wanted(
    model: llm.LanguageModel, llm_server: LlmServer
) -> None:
    llm_server.says.most_choices = 2
    llm_server.turns.extend([Turn("a"), Turn("b"), Turn("c"), Turn("d"), Turn("e")])

    events = [event async for event in model.complete(ASKED, n=5, seed=7)]

    last = events[-1]
    assert isinstance(last, llm.Completion)
    assert sorted(choice.text for choice in last.choices) == ["a", "b", "c", "d", "e"]
    for number, choice in enumerate(last.choices):
        parts = [e.text for e in events if isinstance(e, llm.TextPart) and e.choice == number]
        assert "".join(parts) == choice.text


@for_each(
    ("finish", "told"),
    [("length", llm.Finish.LENGTH), ("refused", llm.Finish.REFUSED), ("stop", llm.Finish.STOP)],
)
async def test_the_finish_reason_is_told(
    model: llm.LanguageModel, llm_server: LlmServer, finish: str, told: llm.Finish
) -> None:
    llm_server.turns.append(Turn("The M", finish=finish))
    asked: list[llm.Message] = [
        llm.User(f"What ends with {finish}?")
    ]  # another for each row: replies may be cached

    assert (await llm.read_completion(model.complete(asked))).first.finish is told


async def test_an_empty_reply_is_a_completion(
    model: llm.LanguageModel, llm_server: LlmServer
) -> None:
    llm_server.turns.append(Turn(""))

    choice = (await llm.read_completion(model.complete(ASKED))).first

    assert (choice.text, choice.calls, choice.finish) == ("", (), llm.Finish.STOP)


async def test_an_unknown_tool_is_passed_on_and_told_apart(
    model: llm.LanguageModel, llm_server: LlmServer
) -> None:
    llm_server.turns.append(Turn("", (("find_entities", "{}"),), finish="calls"))

    choice = (await llm.read_completion(model.complete(ASKED, tools=[SEARCH]))).first

    checked = check_call(choice.calls[0], [SEARCH])
    assert isinstance(checked, InvalidCall)
    assert "There is no tool" in checked.feedback


FAULTS: dict[str, tuple[Fault, type[errors.AskgraphError]]] = {
    "429": (faults.status(429, "slow down", retry_after="7"), errors.Overloaded),
    "500": (faults.status(500, "oops"), errors.Overloaded),
    "503": (faults.status(503, "<html>busy</html>"), errors.Overloaded),
    "401": (faults.status(401, f"no such key: {KEY}"), errors.Unauthorised),
    "404": (faults.status(404, "no such model"), errors.ErrorReply),
    "too long": (
        faults.body('{"error": {"message": "prompt is too long: 9 > 8 tokens"}}', code=400),
        errors.PromptTooLong,
    ),
    "cut": (faults.cut(), errors.MalformedReply),
    "cut chunk": (faults.chunked_and_cut(), errors.MalformedReply),
    "reset": (faults.reset(), errors.AskgraphError),
    "bad JSON": (
        faults.body('data: {"choices": [{]\n\n', kind="text/event-stream"),
        errors.MalformedReply,
    ),
    "a list": (faults.body("data: [1, 2]\n\n", kind="text/event-stream"), errors.MalformedReply),
    "nothing": (faults.body("", kind="text/event-stream"), errors.MalformedReply),
    "a page": (faults.body("<html>hello</html>", kind="text/html"), errors.MalformedReply),
    "one line of 10 MB": (
        faults.body("data: " + "x" * 10_000_000, kind="text/event-stream"),
        errors.MalformedReply,
    ),
}


@for_each("fault", FAULTS)
async def test_each_failure_has_its_error_and_the_next_call_works(
    model: llm.LanguageModel, llm_server: LlmServer, fault: str
) -> None:
    act, error = FAULTS[fault]
    llm_server.acts.append(act)
    asked: list[llm.Message] = [llm.User(f"What orbits the Earth after {fault}?")]

    with pytest.raises(error) as caught:
        await llm.read_completion(model.complete(asked))

    assert KEY not in str(caught.value)
    assert (await llm.read_completion(model.complete(asked))).first.text == "The Moon."


async def test_retry_after_is_kept_for_who_tries_again(
    model: llm.LanguageModel, llm_server: LlmServer
) -> None:
    llm_server.acts.append(faults.status(429, "slow down", retry_after="7"))

    with pytest.raises(errors.Overloaded) as caught:
        await llm.read_completion(model.complete(ASKED))

    assert caught.value.retry_after == 7.0


@for_each("make", MAKERS.values())
async def test_silence_ends_in_a_time_out(
    make: Maker, llm_server: LlmServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TEST_KEY", KEY)
    llm_server.acts.append(faults.silence())
    hasty = make(llm_server, 0.2, tmp_path)

    with pytest.raises(errors.TimedOut, match=r"sent nothing within 0\.2 seconds"):
        await llm.read_completion(hasty.complete(ASKED))
    await hasty.close()


@for_each("make", MAKERS.values())
async def test_a_server_that_is_not_there_is_unreachable(
    make: Maker, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TEST_KEY", KEY)
    with LlmServer() as gone:
        pass
    model = make(gone, 30.0, tmp_path)

    with pytest.raises(errors.Unreachable):
        await llm.read_completion(model.complete(ASKED))

    await model.close()


async def test_a_reply_of_ten_megabytes_is_cut_off(
    model: llm.LanguageModel, llm_server: LlmServer
) -> None:
    llm_server.turns.append(Turn("and the Moon " * 800_000))

    choice = (await llm.read_completion(model.complete(ASKED))).first

    assert choice.finish is llm.Finish.LENGTH
    assert len(choice.text) < 1_000_000


async def test_a_stream_that_is_closed_early_leaves_no_task(
    model: llm.LanguageModel, llm_server: LlmServer
) -> None:
    llm_server.turns.extend([Turn("the Moon " * 10_000)] * 3)
    before = asyncio.all_tasks()

    async with aclosing(model.complete(ASKED, n=3)) as stream:
        async for event in stream:
            if isinstance(event, llm.TextPart):
                break

    await becomes_true(
        lambda: asyncio.all_tasks() == before
    )  # its own streams close a moment later
    assert asyncio.all_tasks() == before


def _written(folder: Path) -> list[bytes]:
    return [file.read_bytes() for file in folder.rglob("*") if file.is_file()]


async def test_the_key_appears_nowhere(
    model: llm.LanguageModel,
    llm_server: LlmServer,
    tmp_path: Path,
    caplog: pytest.LogCaptureFixture,
) -> None:
    caplog.set_level(logging.DEBUG)
    echo = json.dumps({"error": {"message": f"key {KEY} is unknown, {KEY}!"}})
    llm_server.acts.append(faults.body(echo, code=403, kind="application/json"))

    with pytest.raises(errors.Unauthorised) as caught:
        await llm.read_completion(model.complete(ASKED))
    await llm.read_completion(model.complete(ASKED))

    files = _written(tmp_path)
    assert any(KEY in str(request.headers) for request in llm_server.requests)
    assert KEY not in repr(model) + repr(vars(model)) + repr(caught.value) + caplog.text
    assert [data for data in files if KEY.encode() in data] == []


async def test_no_part_of_a_failed_call_is_left_after_a_restart(
    model: llm.LanguageModel, llm_server: LlmServer
) -> None:
    llm_server.acts.append(faults.chunked_and_cut(0.6))
    again = RetriedModel(model, retries=1, first_wait=0.01)
    text = ""

    async for event in again.complete(ASKED):
        if isinstance(event, llm.Restart):
            text = ""
        elif isinstance(event, llm.TextPart):
            text += event.text

    assert text == "The Moon."
