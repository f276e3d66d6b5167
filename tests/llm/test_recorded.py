"""Recordings: the same stream again without a server and without a key, failures included."""

import json
from collections.abc import Callable
from pathlib import Path

import httpx2
import pytest
from tests.servers import faults
from tests.servers.llm import LlmServer, Turn

from askgraph import plugins
from askgraph.errors import MalformedReply, Overloaded, SetupError, Unauthorised
from askgraph.llm import LanguageModel, Message, User, read_completion
from askgraph.llm.recorded import RecordedModel

KEY = "sk-of-the-test-0123456789"
ASKED: list[Message] = [User("What orbits the Earth?")]
Make = Callable[[httpx2.AsyncBaseTransport], LanguageModel]


@pytest.fixture(params=["openai", "anthropic", "google"])
def make(request: pytest.FixtureRequest, llm_server: LlmServer) -> Make:
    base = llm_server.base + {"openai": "/v1"}.get(request.param, "")
    plugin = plugins.load("llm", request.param)
    return lambda transport: plugin("m", base_url=base, key_env="TEST_KEY", transport=transport)


async def test_a_stream_is_played_again_event_by_event(
    make: Make, llm_server: LlmServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    llm_server.turns.append(Turn("東京 is not a moon. " * 30, (("search", '{"a": 1}'),)))
    monkeypatch.setenv("TEST_KEY", KEY)
    recording = RecordedModel(tmp_path / "r.jsonl", make, record=True)
    first = [event async for event in recording.complete(ASKED)]
    await recording.close()
    monkeypatch.delenv("TEST_KEY")

    replayed = RecordedModel(tmp_path / "r.jsonl", make)
    again = [event async for event in replayed.complete(ASKED)]

    assert again == first
    assert len(llm_server.requests) == 1


async def test_failures_are_played_again(
    make: Make, llm_server: LlmServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TEST_KEY", KEY)
    llm_server.acts.extend([faults.status(429, "slow", retry_after="9"), faults.chunked_and_cut()])
    recording = RecordedModel(tmp_path / "r.jsonl", make, record=True)
    for error in (Overloaded, MalformedReply):
        with pytest.raises(error):
            await read_completion(recording.complete(ASKED))
    await read_completion(recording.complete(ASKED))
    await recording.close()

    replayed = RecordedModel(tmp_path / "r.jsonl", make)

    with pytest.raises(Overloaded) as caught:
        await read_completion(replayed.complete(ASKED))
    assert caught.value.retry_after == 9
    with pytest.raises(MalformedReply):
        await read_completion(replayed.complete(ASKED))
    assert (await read_completion(replayed.complete(ASKED))).first.text == "The Moon."


async def test_a_key_that_the_server_sends_back_is_blotted_out(
    make: Make, llm_server: LlmServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TEST_KEY", KEY)
    told = json.dumps({"error": {"message": f"the key {KEY} is unknown"}})
    llm_server.acts.append(faults.body(told, code=401, kind="application/json"))
    recording = RecordedModel(tmp_path / "r.jsonl", make, record=True)

    with pytest.raises(Unauthorised):
        await read_completion(recording.complete(ASKED))

    await recording.close()
    text = (tmp_path / "r.jsonl").read_text()
    assert "the key *** is unknown" in text
    assert KEY not in text


async def test_a_request_that_was_not_recorded_is_a_fault_of_the_setup(
    make: Make, llm_server: LlmServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TEST_KEY", KEY)
    recording = RecordedModel(tmp_path / "r.jsonl", make, record=True)
    await read_completion(recording.complete(ASKED))
    await recording.close()

    with pytest.raises(SetupError, match="record it again"):
        await read_completion(
            RecordedModel(tmp_path / "r.jsonl", make).complete([User("What orbits Mars?")])
        )


@pytest.mark.parametrize("text", ["{", '{"request": 1}', "[]"])
def test_a_damaged_recording_says_where(text: str, make: Make, tmp_path: Path) -> None:
    (tmp_path / "r.jsonl").write_text(text)

    with pytest.raises(SetupError, match="line 1"):
        RecordedModel(tmp_path / "r.jsonl", make)


def test_a_recording_that_is_not_there_is_a_fault_of_the_setup(make: Make, tmp_path: Path) -> None:
    with pytest.raises(SetupError, match="cannot be read"):
        RecordedModel(tmp_path / "none.jsonl", make)
