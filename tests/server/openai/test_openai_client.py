"""OpenAI's own client works against the server, unchanged."""

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx2
import openai
import pytest
from openai import OpenAI
from openai.types.chat import ChatCompletionMessage, ChatCompletionMessageParam
from tests.each import for_each
from tests.servers.served import ServedThread, sample_workspace

from askgraph.server.openai.answers import escape_markdown

KEY = "none is needed on this machine"


@pytest.fixture(scope="module")
def chat(served: str) -> Iterator[OpenAI]:
    with OpenAI(base_url=f"{served}/v1", api_key=KEY, max_retries=0) as client:
        yield client


def asked(*texts: str) -> list[ChatCompletionMessageParam]:
    """A conversation, the user first."""
    return [
        {"role": "assistant", "content": text} if at % 2 else {"role": "user", "content": text}
        for at, text in enumerate(texts)
    ]


def ask(chat: OpenAI, *texts: str, model: str = "askgraph") -> ChatCompletionMessage:
    """The reply to a conversation."""
    return chat.chat.completions.create(model=model, messages=asked(*texts)).choices[0].message


def extra(value: Any) -> dict[str, Any]:
    """What a message holds that the protocol does not name."""
    held: dict[str, Any] = value.model_extra["askgraph"]
    return held


def test_models_and_answers(chat: OpenAI) -> None:
    # Methods are listed as models.
    ids = [model.id for model in chat.models.list()]
    assert ids[0] == "askgraph" and "graph-search" in ids
    assert "grasp" not in ids  # no language model is set up here
    assert chat.models.retrieve("graph-search@space").id == "graph-search@space"
    # A question is answered with its sources.
    reply = chat.chat.completions.create(
        model="askgraph", messages=asked("Which moons are larger than Mercury?")
    )
    [choice] = reply.choices
    text = choice.message.content or ""
    assert choice.finish_reason == "stop"
    assert "| [Ganymede](<https://example.org/space/Ganymede>) |" in text
    assert "**Read as:** Moons whose diameter is more than that of Mercury." in text
    assert "**Confidence:** sure (0.96)" in text and "```sparql\nPREFIX ont:" in text
    assert "- row 1: Ganymede · diameter · 5268.2" in text
    assert reply.usage is not None and reply.usage.total_tokens == 0
    # The answer is there for programs too.
    answer = extra(ask(chat, "Who discovered Titan?", model="graph-search@space"))["answer"]
    assert answer["status"] == "answer"
    assert answer["rows"] == [["https://example.org/space/Christiaan_Huygens"]]
    assert answer["cells"][0][0]["label"] == "Christiaan Huygens"


def test_every_model_that_is_listed_answers_and_no_other_is_there(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("ASKGRAPH_MODEL", raising=False)
    place = sample_workspace(tmp_path / "workspace")
    (tmp_path / "towns.ttl").write_text("@prefix : <http://e.org/> . :Ulm a :Town ; :on :Danube .")
    place.add("towns", [tmp_path / "towns.ttl"])
    with (
        ServedThread(place) as server,
        OpenAI(base_url=f"{server.url}/v1", api_key=KEY, max_retries=0) as chat,
    ):
        ids = [model.id for model in chat.models.list()]
        assert {"askgraph@space", "askgraph@towns"} < set(ids)
        for model in ids:
            assert chat.models.retrieve(model).id == model
            assert ask(chat, "What is there?", model=model).content, model
        with pytest.raises(openai.NotFoundError, match="there is no model 'grasp'"):
            chat.models.retrieve("grasp")


def test_next_questions_and_readings(chat: OpenAI) -> None:
    # Next questions end an answer and near names a refusal.
    question = "Which moons does Jupiter have?"
    message = ask(chat, question)
    text = message.content or ""
    following = extra(message)["next"]
    lines = [f"- {escape_markdown(one)}" for one in following]
    assert 1 <= len(following) <= 3
    assert text.endswith("\n\n".join(("**Ask next:**", "\n".join(lines))))
    stream = chat.chat.completions.create(model="askgraph", messages=asked(question), stream=True)
    assert "".join(chunk.choices[0].delta.content or "" for chunk in stream) == text
    for one in following:
        assert extra(ask(chat, question, text, one))["answer"]["status"] == "answer", one
    text = ask(chat, "What is the population of Jupiter?").content or ""
    assert re.search("^Instead of “population”: .*mass", text, re.MULTILINE), text
    assert "Ask next" not in text
    # A question back is answered by a number.
    question = "What is the population of Mars?"
    text = ask(chat, question).content or ""
    assert text.startswith(
        "The graph records no 'population' of Mars. For Mars there is: diameter, orbital period, "
        "mass and surface gravity. Which of these do you mean?\n\n"
        "1. The celestial body that Mars orbits. (1 row)"
    )
    answer = extra(ask(chat, question, text, "2"))["answer"]
    assert answer["words"] == "Things that orbit Mars."
    assert (answer["total"], answer["confidence"], answer["chosen"]) == (2, None, True)
    spaced = " ".join(text.split())  # as a client may send it back
    assert extra(ask(chat, question, spaced, "#2"))["answer"]["words"] == answer["words"]
    with pytest.raises(openai.BadRequestError, match="answer with a number from 1 to"):
        ask(chat, question, text, "99")


def test_a_stream_says_what_is_done_and_then_the_answer(chat: OpenAI) -> None:
    stream = chat.chat.completions.create(
        model="askgraph",
        messages=asked("Which moons are larger than Mercury?"),
        stream=True,
        stream_options={"include_usage": True},
    )

    held: dict[str, Any] = {}
    thoughts, text, usage, ends = [], "", None, []
    for chunk in stream:
        usage = chunk.usage or usage
        for choice in chunk.choices:
            more = choice.delta.model_extra or {}
            thoughts += [more["reasoning_content"]] if "reasoning_content" in more else []
            held = more.get("askgraph", held)
            text += choice.delta.content or ""
            ends += [choice.finish_reason] if choice.finish_reason else []
    whole = ask(chat, "Which moons are larger than Mercury?")
    assert "'Mercury' is the entity 'Mercury'" in thoughts[0]
    assert text.splitlines()[:-1] == (whole.content or "").splitlines()[:-1]
    assert held["answer"]["total"] == 2 and usage is not None and usage.completion_tokens == 0
    assert ends == ["stop"]


def test_refusals_and_conversations(chat: OpenAI, served: str) -> None:
    # A refusal is said in words.
    assert (ask(chat, "What is the capital of Mongolia?").content or "").startswith("No answer.")
    # Fields that mean nothing here are taken.
    reply = chat.chat.completions.create(
        model="askgraph",
        messages=[
            {"role": "system", "content": "You are a pirate."},
            {"role": "user", "content": [{"type": "text", "text": "Wer entdeckte Titan?"}]},
        ],
        temperature=0.7,
        max_tokens=10,
        extra_body={"graph": "space", "language": "de"},
    )
    assert "Christiaan Huygens" in (reply.choices[0].message.content or "")
    # A conversation goes on from what was answered.
    text = ask(chat, "Which moons orbit Mars?").content or ""
    run = extra(ask(chat, "Which moons orbit Mars?", text, "Who discovered Titan?"))["run"]
    trace = httpx2.get(f"{served}/api/v1/runs/{run}/trace", timeout=600).text
    [earlier] = json.loads(trace.splitlines()[0])["question"]["before"]
    assert earlier["question"] == "Which moons orbit Mars?"
    assert "ont:orbits space:Mars" in earlier["query"]


@for_each(
    ("model", "body", "kind", "words"),
    ("gpt-4o", {}, openai.NotFoundError, "there is no model 'gpt-4o'; available models: askgraph"),
    ("askgraph@nope", {}, openai.NotFoundError, "available graphs: space"),
    ("askgraph", {"graph": "nope"}, openai.NotFoundError, "there is no graph 'nope'"),
    ("askgraph", {"n": 2}, openai.BadRequestError, "only one answer is available"),
    ("askgraph", {"language": "!"}, openai.BadRequestError, "language"),
    ("askgraph", {"messages": []}, openai.BadRequestError, "messages"),
)
def test_what_is_wrong_with_a_request_is_said_as_clients_expect(
    chat: OpenAI, model: str, body: dict[str, Any], kind: type[openai.APIStatusError], words: str
) -> None:
    with pytest.raises(kind, match=words) as caught:
        chat.chat.completions.create(model=model, messages=asked("Moons?"), extra_body=body)

    assert isinstance(caught.value.body, dict)
    assert caught.value.type in ("not_found_error", "invalid_request_error")
