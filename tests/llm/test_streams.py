"""Streams: beams come from a server that has them; characters that were split are mended."""

from collections.abc import AsyncIterator

import pytest
from tests.servers.llm import LlmServer, Turn

from askgraph import plugins
from askgraph.errors import SetupError
from askgraph.llm import Request, User, completed
from askgraph.llm._streams import Assembly
from askgraph.llm.openai import OpenAIModel

ASKED = [User("What orbits the Earth?")]


@pytest.fixture
async def model(llm_server: LlmServer) -> AsyncIterator[OpenAIModel]:
    made = OpenAIModel("m", base_url=llm_server.base + "/v1")
    yield made
    await made.close()


async def test_the_width_of_the_beam_is_the_number_of_choices(
    model: OpenAIModel, llm_server: LlmServer
) -> None:
    llm_server.turns.extend([Turn("The Moon."), Turn("A moon.")])

    found = await completed(model.complete(ASKED, n=2, beams=True))

    assert [choice.text for choice in found.choices] == ["The Moon.", "A moon."]
    [sent] = llm_server.bodies
    assert sent["use_beam_search"] is True and sent["n"] == 2


async def test_a_server_that_does_not_know_beams_is_named_and_not_asked_for_samples(
    model: OpenAIModel, llm_server: LlmServer
) -> None:
    llm_server.says.refuses = {"use_beam_search"}

    with pytest.raises(SetupError, match=r"'m' cannot do a beam search.*vLLM can"):
        await completed(model.complete(ASKED, n=2, beams=True))
    assert len(llm_server.bodies) == 1


@pytest.mark.parametrize("most", [1, 8])
async def test_a_server_that_passes_over_the_wish_is_noticed(
    model: OpenAIModel, llm_server: LlmServer, most: int
) -> None:
    llm_server.says.most_choices = most

    with pytest.raises(SetupError, match="3 beams were wanted, and 1 different replies came"):
        await completed(model.complete(ASKED, n=3, beams=True))


@pytest.mark.parametrize("provider", ["anthropic", "google"])
async def test_a_provider_without_beams_is_not_asked(llm_server: LlmServer, provider: str) -> None:
    pytest.importorskip({"anthropic": "anthropic", "google": "google.genai"}[provider])
    made = plugins.load("llm", provider)("m", base_url=llm_server.base, key_env=None)

    with pytest.raises(SetupError, match="its provider offers none"):
        await completed(made.complete(ASKED, n=2, beams=True))
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
    assembly = Assembly(Request.of(ASKED, {}), model="m")
    for piece in pieces:
        assembly.text(piece).text.encode()
        assembly.reasoning(piece).text.encode()
        assembly.call("1", name="execute", arguments=piece)

    [choice] = assembly.completion().choices

    assert (choice.text, choice.reasoning, choice.calls[0].arguments) == (whole,) * 3
