"""Probe a language model for its capabilities, its speed, and the settings that suit it.

Each capability is tested by a request whose right reply the model would not give by itself, which
detects servers that ignore parameters. Facts about a server (its software, its context) come from
the endpoints of llama.cpp, vLLM and Ollama.
"""

import json
import time
from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import aclosing, suppress
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any, Unpack

import httpx2

from askgraph import llm
from askgraph.errors import ErrorReply, MalformedReply, PromptTooLong
from askgraph.llm._connection import ApiKey
from askgraph.llm.openai import GRAMMAR_FIELDS, OpenAIModel
from askgraph.llm.structured import StructuredReply, ValidCall, check_call, parse_structured

ModelFactory = Callable[["WatchingTransport", str | None], llm.LanguageModel]
"""Creates the model over a transport, with the form in which grammars are sent."""


@dataclass(frozen=True)
class Ability:
    """A capability of a model: whether it has it, and an explanation."""

    name: str
    holds: bool
    how: str


@dataclass(frozen=True)
class ServerInfo:
    """Facts that a server reports about itself; numbers are None if it does not report them."""

    software: str = ""
    models: tuple[str, ...] = ()
    context: int | None = None  # tokens of prompt and reply together
    at_once: int | None = None  # requests


@dataclass(frozen=True)
class Speed:
    """Seconds to the first part of a short reply; tokens written and read per second."""

    first: float
    written: float | None = None
    read: float | None = None


@dataclass(frozen=True)
class CapabilityReport:
    """The capabilities of a model, and the settings that follow from them."""

    model: str  # as the server names it
    about: ServerInfo
    abilities: tuple[Ability, ...]
    speed: Speed
    settings: Mapping[str, object]
    advice: tuple[str, ...] = field(default=())

    def has_ability(self, name: str) -> bool:
        """Return whether the model has a capability."""
        return any(ability.holds for ability in self.abilities if ability.name == name)


class WatchingTransport(httpx2.AsyncBaseTransport):
    """Relays requests and records their bodies, with the status of each reply."""

    def __init__(self, inner: httpx2.AsyncBaseTransport | None = None) -> None:
        self._inner = inner or httpx2.AsyncHTTPTransport()
        self.offline = getattr(inner, "offline", False)
        self.exchanges: list[tuple[dict[str, Any], int]] = []

    async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
        """Send a request."""
        body = await request.aread()
        response = await self._inner.handle_async_request(request)
        self.exchanges.append((json.loads(body) if body else {}, response.status_code))
        return response

    async def aclose(self) -> None:
        """Close the connections."""
        await self._inner.aclose()


_COUNTING_PROMPT = "Count from 1 to 30. Write the numbers in digits, with a space between them."
_READING_PROMPT = "Read these numbers, then reply with the word done alone.\n"
_PROMPT_NUMBER_COUNT = 150  # some hundred tokens
_GREETING_PROMPT = "Say hello to me in one friendly sentence."
_TEST_SCHEMA = {
    "type": "object",
    "properties": {"moon": {"type": "string", "enum": ["Callisto"]}, "rank": {"type": "integer"}},
    "required": ["moon", "rank"],
    "additionalProperties": False,
}
_TEST_GRAMMAR = 'root ::= "moon " [0-9] [0-9]? " of " ("Jupiter" | "Saturn")'
_GRAMMATICAL_TEXTS = {
    f"moon {number} of {planet}" for number in range(100) for planet in ("Jupiter", "Saturn")
}
# Tokens of a reply that ends by itself; of a model that reasons, many more.
_MAX_SHORT_REPLY_TOKENS = 128
_MAX_REASONING_REPLY_TOKENS = 4_000
_REASONING_NOTE = "{} characters before it spoke; `effort` may shorten that"
_TOOL_PROMPT = "How many people live in Norway? Look it up with the tool."
_TEST_TOOL = llm.ToolSchema(
    "population",
    "Look up how many people live in a country.",
    {"type": "object", "properties": {"country": {"type": "string"}}, "required": ["country"]},
)
_REJECTION_ERRORS = (ErrorReply, MalformedReply, PromptTooLong)


async def probe_model(
    make: ModelFactory, *, transport: httpx2.AsyncBaseTransport | None = None
) -> CapabilityReport:
    """Test the capabilities of a model with some ten short requests, one after the other.

    Raises the model's errors if it cannot be reached, rejects the key, or does not answer a plain
    question; then the message lists the models of the server.
    """
    watched = WatchingTransport(transport)
    model = make(watched, None)
    try:
        try:
            await _request_reply(model, _GREETING_PROMPT)
            reply = await _request_reply(model, _COUNTING_PROMPT)
        except ErrorReply as problem:
            server_models = (await _get_server_info(model, watched)).models
            if not server_models or model.identity.model in server_models:
                raise
            raise ErrorReply(f"{problem}; the server has: {', '.join(server_models)}") from problem
        choice = reply.completion.first
        max_tokens = _MAX_REASONING_REPLY_TOKENS if choice.reasoning else _MAX_SHORT_REPLY_TOKENS
        abilities = [
            Ability("streams", reply.pieces > 1, f"{reply.pieces} pieces"),
            await _try_ability("JSON schemas", _test_schemas(model, watched, max_tokens)),
            await _try_ability("several choices", _test_choices(model, watched)),
            await _try_ability("log-probabilities", _test_logprobs(model)),
            await _test_tool_calls(model, max_tokens),
        ]
        long_reply = await _request_reply(
            model, _READING_PROMPT + " ".join(map(str, range(1000, 1000 + _PROMPT_NUMBER_COUNT)))
        )
        about = await _get_server_info(model, watched)
    finally:
        await model.close()
    grammar, grammar_form = await _test_grammars(make, watched, about)
    if choice.reasoning:
        abilities.insert(1, Ability("reasons", True, _REASONING_NOTE.format(len(choice.reasoning))))
    abilities.insert(2, grammar)
    usage = reply.completion.usage
    tokens_per_second = None
    if reply.pieces > 2 and usage.output > 1 and reply.total_seconds > reply.first_part_seconds:
        tokens_per_second = (usage.output - 1) / (reply.total_seconds - reply.first_part_seconds)
    long_usage = long_reply.completion.usage
    new_tokens = long_usage.input - long_usage.cached
    speed = Speed(
        reply.first_part_seconds,
        tokens_per_second,
        new_tokens / long_reply.first_part_seconds if new_tokens >= _PROMPT_NUMBER_COUNT else None,
    )
    needs_limit = not choice.reasoning
    settings: dict[str, object] = {"temperature": 0.0}
    if about.software and needs_limit:  # local servers let a reply fill the context
        settings["max_tokens"] = _MAX_PLAIN_REPLY_TOKENS
    if grammar_form is not None:
        settings["grammar"] = grammar_form
    if about.at_once:
        settings["parallel"] = about.at_once
    prompt_tokens = min(about.context or _LONG_PROMPT_TOKENS, _LONG_PROMPT_TOKENS)
    if speed.read and prompt_tokens / speed.read > 60:
        settings["first_timeout"] = round(2 * prompt_tokens / speed.read)
    report = CapabilityReport(reply.completion.model, about, tuple(abilities), speed, settings)
    advice = []
    context = report.about.context
    if context is not None and context < _LONG_PROMPT_TOKENS:
        advice.append(
            f"{context:,} tokens is a small context: guided:detail=brief and "
            "multi-stage:writer=model fit, other methods may not"
        )
    if not report.has_ability("tool calls"):
        advice.append("grasp and other methods that let the model call tools will not work")
    if not report.has_ability("JSON schemas"):
        advice.append("replies in JSON are read as far as possible; guided needs the least JSON")
    return replace(report, advice=tuple(advice))


@dataclass(frozen=True)
class _MeasuredReply:
    completion: llm.Completion
    pieces: int
    first_part_seconds: float  # seconds
    total_seconds: float


async def _request_reply(
    model: llm.LanguageModel, text: str, **options: Unpack[llm.Options]
) -> _MeasuredReply:
    """Send a request, and repeat it once if the reply breaks off on a reused connection."""
    with suppress(MalformedReply):
        return await _request_once(model, text, **options)
    return await _request_once(model, text, **options)


async def _request_once(
    model: llm.LanguageModel, text: str, **options: Unpack[llm.Options]
) -> _MeasuredReply:
    started_at = time.perf_counter()
    first_part_seconds, pieces = None, 0
    completion: llm.Completion | None = None
    options = llm.Options(max_tokens=48, temperature=0.0) | options
    async with aclosing(model.complete([llm.User(text)], **options)) as stream:
        async for event in stream:
            if isinstance(event, llm.TextPart | llm.ReasoningPart | llm.CallPart):
                pieces += 1
                first_part_seconds = first_part_seconds or time.perf_counter() - started_at
            elif isinstance(event, llm.Completion):
                completion = event
    if completion is None:
        raise MalformedReply("the stream of a language model ended without a completion")
    total_seconds = time.perf_counter() - started_at
    return _MeasuredReply(completion, pieces, first_part_seconds or total_seconds, total_seconds)


async def _try_ability(name: str, try_out: Awaitable[Ability]) -> Ability:
    """Return the result of a test; a capability whose request the server rejects is absent."""
    try:
        return await try_out
    except _REJECTION_ERRORS as problem:
        return Ability(name, False, f"no: {problem}")


async def _test_schemas(
    model: llm.LanguageModel, watched: WatchingTransport, max_tokens: int
) -> Ability:
    name = "JSON schemas"
    reply = await _request_reply(
        model, _GREETING_PROMPT, schema=_TEST_SCHEMA, max_tokens=max_tokens
    )
    fits = isinstance(parse_structured(reply.completion.first, _TEST_SCHEMA), StructuredReply)
    last_body = watched.exchanges[-1][0] if watched.exchanges else {}
    if "messages" in last_body and "schema" not in json.dumps(last_body.get("response_format", "")):
        outcome = "the reply followed one" if fits else "the reply did not follow one"
        return Ability(name, fits, f"the server has none; asked in words, {outcome}")
    explanation = (
        "replies follow them" if fits else "the server accepts them, but does not follow them"
    )
    return Ability(name, fits, explanation)


async def _test_choices(model: llm.LanguageModel, watched: WatchingTransport) -> Ability:
    exchange_count = len(watched.exchanges)
    reply = await _request_reply(model, _GREETING_PROMPT, n=2, temperature=1.0, max_tokens=24)
    at_once = len(reply.completion.choices) == 2 and len(watched.exchanges) - exchange_count <= 1
    explanation = "in one request" if at_once else "asked for one by one"
    return Ability("several choices", at_once, explanation)


async def _test_logprobs(model: llm.LanguageModel) -> Ability:
    reply = await _request_reply(model, _GREETING_PROMPT, logprobs=True, max_tokens=8)
    token_count = len(reply.completion.first.logprobs)
    return Ability(
        "log-probabilities", token_count > 0, "of each token" if token_count else "none came"
    )


async def _test_tool_calls(model: llm.LanguageModel, max_tokens: int) -> Ability:
    name, problem_text = "tool calls", "the model called none"
    for choice, explanation in (
        ("auto", "as it sees fit"),
        ("required", "only if one is required"),
    ):
        try:
            reply = await _request_reply(
                model, _TOOL_PROMPT, tools=[_TEST_TOOL], tool_choice=choice, max_tokens=max_tokens
            )
        except _REJECTION_ERRORS as problem:
            problem_text = str(problem)
            continue
        calls = reply.completion.first.calls
        if calls and isinstance(check_call(calls[0], [_TEST_TOOL]), ValidCall):
            return Ability(name, True, explanation)
        problem_text = "its calls are invalid" if calls else problem_text
    return Ability(name, False, f"no: {problem_text}")


async def _test_grammars(
    make: ModelFactory, watched: WatchingTransport, about: ServerInfo
) -> tuple[Ability, str | None]:
    """Try the grammar forms of servers; also return the form that the server obeys."""
    model = make(watched, None)
    await model.close()
    if not isinstance(model, OpenAIModel):
        is_supported = model.identity.provider == "transformers"
        return Ability(
            "grammars", is_supported, "by xgrammar" if is_supported else "the provider has none"
        ), None
    forms = sorted(GRAMMAR_FIELDS, key=lambda form: not about.software.lower().startswith(form))
    for form in forms:
        grammar_model = make(watched, form)
        try:
            reply = await _request_reply(
                grammar_model, _GREETING_PROMPT, grammar=_TEST_GRAMMAR, max_tokens=24
            )
        except _REJECTION_ERRORS:
            continue
        finally:
            await grammar_model.close()
        if reply.completion.first.text.strip() in _GRAMMATICAL_TEXTS:
            return Ability("grammars", True, f"in the form of {form}"), form
    return Ability("grammars", False, "the server ignores or refuses them"), None


_MAX_PLAIN_REPLY_TOKENS = 1_000  # tokens of a reply without reasoning; a small model may not stop
_LONG_PROMPT_TOKENS = 6_000  # tokens of a long prompt of `guided`


async def _get_server_info(model: llm.LanguageModel, watched: WatchingTransport) -> ServerInfo:
    """Query a server for facts about itself; empty for providers without such endpoints."""
    if not isinstance(model, OpenAIModel):
        return ServerInfo(context=getattr(model, "context", None))
    get_json = partial(_fetch_json, model, watched)
    models = [
        entry for entry in _get_list(await get_json("/models"), "data") if isinstance(entry, dict)
    ]
    names = tuple(str(entry["id"]) for entry in models if "id" in entry)
    own_entry = next(
        (entry for entry in models if entry.get("id") == model.model), models[0] if models else {}
    )
    about = ServerInfo(models=names, context=_to_positive_integer(own_entry.get("max_model_len")))
    match own_entry.get("owned_by"):
        case "llamacpp":
            data = await get_json("/props", above=True)
            settings = data.get("default_generation_settings")
            context = (
                _to_positive_integer(settings.get("n_ctx")) if isinstance(settings, dict) else None
            )
            software = f"llama.cpp {data.get('build_info', '')}".strip()
            return replace(
                about,
                software=software,
                context=context,
                at_once=_to_positive_integer(data.get("total_slots")),
            )
        case "vllm":
            data = await get_json("/version", above=True)
            return replace(about, software=f"vLLM {data.get('version', '')}".strip())
        case "library":
            data = await get_json("/api/version", above=True)
            loaded = _get_list(await get_json("/api/ps", above=True), "models")
            lengths = [entry.get("context_length") for entry in loaded if isinstance(entry, dict)]
            software = f"Ollama {data.get('version', '')}".strip()
            return replace(
                about, software=software, context=_to_positive_integer((lengths or [None])[0])
            )
    return about


def _get_list(data: Mapping[str, object], name: str) -> Sequence[object]:
    value = data.get(name)
    return value if isinstance(value, list) else []


def _to_positive_integer(value: object) -> int | None:
    return value if isinstance(value, int) and value > 0 else None


async def _fetch_json(
    model: OpenAIModel, watched: WatchingTransport, path: str, *, above: bool = False
) -> Mapping[str, Any]:
    """Return the object at a path below the base URL, or `above` its version; empty if missing."""
    address = model.identity.address
    root = address.removesuffix("/v1") if above else address
    key = ApiKey.from_environment(None if watched.offline else model.key_env)
    headers = {"Authorization": f"Bearer {key.value}"} if key.value else {}
    try:
        request = httpx2.Request("GET", root + path, headers=headers)
        response = await watched.handle_async_request(request)
        data = json.loads(await response.aread()) if response.status_code == 200 else {}
    except (httpx2.HTTPError, ValueError):
        return {}
    return data if isinstance(data, dict) else {}
