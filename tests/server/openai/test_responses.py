"""OpenAI's own client asks by the Responses API, streamed and not, and goes on from an answer."""

import json
from collections.abc import Iterator
from typing import Any

import httpx2
import openai
import pytest
from openai import OpenAI
from openai.types.responses import Response
from tests.each import for_each
from tests.servers.served import ServedThread

MOONS = "Which moons are larger than Mercury?"
BACK = "What is the population of Mars?"


@pytest.fixture(scope="module")
def client(served: str) -> Iterator[OpenAI]:
    with OpenAI(base_url=f"{served}/v1", api_key="none", max_retries=0) as client:
        yield client


def answer(response: Response) -> dict[str, Any]:
    """What a response holds that the protocol does not name."""
    held: dict[str, Any] = (response.model_extra or {})["askgraph"]["answer"]
    return held


def test_responses_and_readings(client: OpenAI) -> None:
    # A question is answered.
    response = client.responses.create(
        model="askgraph", input=MOONS, instructions="You are a pirate.", metadata={"ticket": "7"},
        temperature=0.3, max_output_tokens=20,
    )  # fmt: skip
    assert (response.status, response.error, response.object) == ("completed", None, "response")
    assert [item.type for item in response.output] == ["reasoning", "message"]
    assert "[Ganymede](<https://example.org/space/Ganymede>)" in response.output_text
    assert response.instructions == "You are a pirate." and response.metadata == {"ticket": "7"}
    assert "**Ask next:**\n\n- " in response.output_text
    assert (response.model_extra or {})["askgraph"]["next"]
    assert response.usage is not None and response.usage.total_tokens == 0
    assert answer(response)["total"] == 2
    # A question back is answered by a number.
    back = client.responses.create(model="askgraph", input=BACK)
    assert "Answer with a number" in back.output_text
    reply = client.responses.create(model="askgraph", input="2", previous_response_id=back.id)
    assert answer(reply)["words"] == "Things that orbit Mars."
    with pytest.raises(openai.BadRequestError, match="answer with a number from 1 to"):
        client.responses.create(model="askgraph", input="99", previous_response_id=back.id)
    # What a response gave can be sent back as input.
    back = client.responses.create(model="askgraph", input=BACK)
    items: list[Any] = [
        {"role": "developer", "content": "Be brief."},
        {"role": "user", "content": [{"type": "input_text", "text": BACK}]},
        *(item.model_dump(exclude_none=True) for item in back.output),
        {"type": "function_call_output", "call_id": "x", "output": "nothing to us"},
        {"role": "user", "content": "2"},
    ]
    reply = client.responses.create(model="askgraph", input=items)
    assert answer(reply)["words"] == "Things that orbit Mars."


def test_every_field_that_the_client_needs_is_there_and_of_its_type(served: str) -> None:
    body = {"model": "askgraph", "input": MOONS}
    told = httpx2.post(f"{served}/v1/responses", json=body, timeout=600).json()

    Response.model_validate(told, strict=False)


def test_streams_and_further_responses(client: OpenAI, served: str) -> None:
    # A stream has the events of the protocol in their order.
    events = list(client.responses.create(model="askgraph", input=MOONS, stream=True))
    assert [event.sequence_number for event in events] == list(range(len(events)))
    kinds = [event.type.removeprefix("response.") for event in events]
    steps = kinds.count("reasoning_summary_text.delta")
    parts = kinds.count("output_text.delta")
    assert steps > 2 and parts > 3
    assert kinds == [
        "created", "in_progress", "output_item.added", "reasoning_summary_part.added",
        *["reasoning_summary_text.delta"] * steps, "reasoning_summary_text.done",
        "reasoning_summary_part.done", "output_item.done", "output_item.added",
        "content_part.added", *["output_text.delta"] * parts, "output_text.done",
        "content_part.done", "output_item.done", "completed",
    ]  # fmt: skip
    # The client puts the pieces of a stream together.
    with client.responses.stream(model="askgraph", input=MOONS) as stream:
        deltas = [one.delta for one in stream if one.type == "response.output_text.delta"]
        final = stream.get_final_response()
    assert "".join(deltas) == final.output_text
    whole = client.responses.create(model="askgraph", input=MOONS).output_text
    # The sentence and the table; what could be asked next is what was found in time.
    assert final.output_text.split("\n\n")[:2] == whole.split("\n\n")[:2]
    # A question goes on from a response.
    first = client.responses.create(model="askgraph", input="Which moons orbit Mars?")
    then = client.responses.create(
        model="askgraph", input="Who discovered Titan?", previous_response_id=first.id
    )
    run = then.id.removeprefix("resp_")
    trace = httpx2.get(f"{served}/api/v1/runs/{run}/trace", timeout=600).text
    [earlier] = json.loads(trace.splitlines()[0])["question"]["before"]
    assert earlier["question"] == "Which moons orbit Mars?"
    assert then.previous_response_id == first.id


@for_each("stream", [False, True])
@for_each(
    ("body", "kind", "words"),
    (
        {"model": "gpt-5"},
        openai.NotFoundError,
        "there is no model 'gpt-5'; available models: askgr",
    ),
    ({"model": "askgraph@sky"}, openai.NotFoundError, "available graphs: space"),
    ({"model": "grasp"}, openai.BadRequestError, "no language model is configured"),
    ({"input": ""}, openai.BadRequestError, "the last message must be the user's question"),
    ({"input": []}, openai.BadRequestError, "the last message must be the user's question"),
    ({"input": 7}, openai.BadRequestError, "'input' must be text or a list, not 7"),
    ({"background": True}, openai.BadRequestError, "leave out 'background'"),
    (
        {"previous_response_id": "resp_none"},
        openai.BadRequestError,
        "there is no response 'resp_none' to go on from",
    ),
)
def test_what_cannot_be_answered_is_an_error_of_the_protocol(
    client: OpenAI,
    monkeypatch: pytest.MonkeyPatch,
    stream: bool,
    body: dict[str, Any],
    kind: type[openai.APIStatusError],
    words: str,
) -> None:
    monkeypatch.delenv("ASKGRAPH_MODEL", raising=False)
    with pytest.raises(kind, match=words) as caught:
        client.responses.create(model="askgraph", input="Moons?", stream=stream, extra_body=body)

    assert caught.value.type in ("not_found_error", "invalid_request_error")


def test_a_question_that_is_stopped_fails_within_its_stream(stuck: ServedThread) -> None:
    with OpenAI(base_url=f"{stuck.url}/v1", api_key="-", max_retries=0) as client:
        stream = client.responses.create(model="askgraph", input="Which moons?", stream=True)
        first = next(iter(stream))
        assert first.type == "response.created"
        run = first.response.id.removeprefix("resp_")
        httpx2.post(f"{stuck.url}/api/v1/runs/{run}/cancel", timeout=600).raise_for_status()
        *_, last = stream
    assert last.type == "response.failed"
    assert last.response.error is not None and "was stopped" in last.response.error.message
