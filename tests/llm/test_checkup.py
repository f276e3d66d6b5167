"""Models that are tried out: servers each with their own gaps, and one that is down."""

import os
from pathlib import Path
from typing import Any

import pytest
from tests.servers.llm import LlmServer, Says, Turn, refused

from askgraph.errors import ErrorReply, Unreachable
from askgraph.llm import LanguageModel
from askgraph.llm.capability_probe import CapabilityReport, WatchingTransport, probe_model
from askgraph.llm.openai import OpenAIModel
from askgraph.llm.recorded import ReplayTransport

Json = dict[str, Any]
FITS = '{"moon": "Callisto", "rank": 4}'
CALL = Turn(calls=(("population", '{"country": "Norway"}'),), finish="calls")
COUNTED = Turn(" ".join(map(str, range(1, 31))))


async def of_server(base: str, model: str = "m") -> CapabilityReport:
    def make(transport: WatchingTransport, grammar: str | None) -> LanguageModel:
        return OpenAIModel(model, base_url=base + "/v1", transport=transport, grammar=grammar)

    return await probe_model(make)


def ollama(asked: Json) -> Any:
    """Ollama: schemas and calls; one choice, no probabilities, and no word about either."""
    if asked["model"] != "qwen3:8b":
        return refused(404, f'model "{asked["model"]}" not found, try pulling it first')
    if "tools" in asked:
        return [CALL]
    return [Turn(FITS) if "response_format" in asked else COUNTED]


def vllm(asked: Json) -> Any:
    """vLLM without a parser of calls: they come only if they are required."""
    if "tools" in asked and "tool_choice" not in asked:
        return refused(400, '"auto" tool choice requires --enable-auto-tool-choice')
    if "tools" in asked:
        return [CALL]
    if "structured_outputs" in asked:
        return [Turn("moon 4 of Jupiter")]
    if "logprobs" in asked:
        return [Turn("Hello", logprobs=(("Hello", -0.25),))]
    return [Turn(FITS) if "response_format" in asked else COUNTED] * asked.get("n", 1)


def _is_llama_with_all_but_calls(found: CapabilityReport) -> None:
    """SmolLM2's template knows no tools, so that it calls none, required or not."""
    can = {one.name: one.holds for one in found.abilities}
    assert can == {
        "streams": True, "JSON schemas": True, "grammars": True, "several choices": True,
        "log-probabilities": True, "tool calls": False,
    }  # fmt: skip
    assert found.about.software.startswith("llama.cpp ")
    assert found.about.context
    assert found.settings["grammar"] == "llama.cpp"
    assert found.settings["parallel"] == found.about.at_once


async def test_a_recorded_llama_cpp_server_holds_smollm2_to_schemas_and_grammars() -> None:
    recording = Path(__file__).parent / "recordings" / "llama_cpp.jsonl"

    def make(transport: WatchingTransport, grammar: str | None) -> LanguageModel:
        base = "http://127.0.0.1:8190/v1"
        return OpenAIModel("smollm2", base_url=base, transport=transport, grammar=grammar)

    found = await probe_model(make, transport=ReplayTransport(recording))

    _is_llama_with_all_but_calls(found)
    assert (found.about.context, found.about.at_once) == (8192, 2)
    assert found.model == "smollm2"


@pytest.mark.skipif(
    "ASKGRAPH_TEST_LLAMA" not in os.environ,
    reason="ASKGRAPH_TEST_LLAMA names no llama.cpp server of SmolLM2, as http://127.0.0.1:8080/v1",
)
async def test_a_real_llama_cpp_server_does_as_the_recorded_one() -> None:
    def make(transport: WatchingTransport, grammar: str | None) -> LanguageModel:
        base = os.environ["ASKGRAPH_TEST_LLAMA"]
        return OpenAIModel("smollm2", base_url=base, transport=transport, grammar=grammar)

    _is_llama_with_all_but_calls(await probe_model(make))


@pytest.fixture
def as_ollama(llm_server: LlmServer) -> LlmServer:
    llm_server.knows = ollama
    llm_server.about = {
        "/v1/models": {
            "object": "list",
            "data": [{"id": name, "owned_by": "library"} for name in ("qwen3:8b", "gemma3:270m")],
        },
        "/api/version": {"version": "0.12.6"},
        "/api/ps": {"models": [{"name": "qwen3:8b", "context_length": 4096}]},
    }
    return llm_server


@pytest.fixture
def as_vllm(llm_server: LlmServer) -> LlmServer:
    llm_server.knows = vllm
    known = {"id": "m", "object": "model", "owned_by": "vllm", "max_model_len": 32768}
    llm_server.about = {
        "/v1/models": {"object": "list", "data": [known]},
        "/version": {"version": "0.11.0"},
    }
    return llm_server


async def test_ollama_has_schemas_calls_and_the_context_it_loaded(as_ollama: LlmServer) -> None:
    found = await of_server(as_ollama.base, "qwen3:8b")

    can = {one.name: one.holds for one in found.abilities}
    assert can == {
        "streams": True, "JSON schemas": True, "grammars": False, "several choices": False,
        "log-probabilities": False, "tool calls": True,
    }  # fmt: skip
    assert (found.about.software, found.about.context) == ("Ollama 0.12.6", 4096)
    assert found.settings == {"temperature": 0.0, "max_tokens": 1000}
    assert "4,096 tokens is a small context" in found.advice[0]


async def test_a_model_that_is_not_there_is_told_with_those_that_are(as_ollama: LlmServer) -> None:
    with pytest.raises(ErrorReply, match=r"not found.*the server has: qwen3:8b, gemma3:270m"):
        await of_server(as_ollama.base, "llama4")


async def test_vllm_is_asked_for_grammars_and_calls_in_its_form(as_vllm: LlmServer) -> None:
    found = await of_server(as_vllm.base)

    how = {one.name: one.how for one in found.abilities if one.holds}
    assert how["tool calls"] == "only if one is required"
    assert how["several choices"] == "in one request"
    assert how["log-probabilities"] == "of each token"
    assert (found.about.software, found.about.context) == ("vLLM 0.11.0", 32768)
    assert found.settings == {"temperature": 0.0, "max_tokens": 1000, "grammar": "vllm"}
    assert found.advice == ()


async def test_what_a_server_ignores_refuses_or_cannot_do_is_found(llm_server: LlmServer) -> None:
    ignoring = await of_server(llm_server.base)
    llm_server.says = Says(refuses={"response_format"})
    refusing = await of_server(llm_server.base)
    llm_server.says = Says(streams=False)
    whole = await of_server(llm_server.base)

    said = {one.name: one.how for one in ignoring.abilities if not one.holds}
    assert said["JSON schemas"] == "the server accepts them, but does not follow them"
    assert said["grammars"] == "the server ignores or refuses them"
    assert said["tool calls"] == "no: the model called none"
    assert "grasp" in ignoring.advice[0]
    schemas = next(one for one in refusing.abilities if one.name == "JSON schemas")
    assert schemas.how == "the server has none; asked in words, the reply did not follow one"
    assert not whole.has_ability("streams") and whole.speed.written is None


async def test_a_server_that_is_down_cannot_be_reached() -> None:
    with pytest.raises(Unreachable, match="does the server run"):
        await of_server("http://127.0.0.1:9")
