"""Abilities of a language model, found by asking it: what holds, how fast, and what to set.

Each is tried by a request whose right reply the model would not give by itself, so that a server
that ignores what it is asked for is found out. What a server says of itself (its software, its
context) is read from where llama.cpp, vLLM and Ollama say it.
"""

import json
import time
from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import aclosing, suppress
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any, Unpack

import httpx2

from askgraph.errors import ErrorReply, MalformedReply, PromptTooLong
from askgraph.llm import (
    CallPart,
    Completion,
    LanguageModel,
    Options,
    ReasoningPart,
    TextPart,
    ToolSchema,
    User,
)
from askgraph.llm._connection import Key
from askgraph.llm.openai import GRAMMARS, OpenAIModel
from askgraph.llm.structured import SoundCall, Structured, checked_call, read_structured

Make = Callable[["Watched", str | None], LanguageModel]
"""Makes the model over a transport, with the form in which it is asked for a grammar."""


@dataclass(frozen=True)
class Ability:
    """One thing that a model may do: whether it does, and how, in words."""

    name: str
    holds: bool
    how: str


@dataclass(frozen=True)
class About:
    """What a server says of itself: names, and numbers that are None if it does not say them."""

    software: str = ""
    models: tuple[str, ...] = ()
    context: int | None = None  # tokens of prompt and reply together
    at_once: int | None = None  # requests


@dataclass(frozen=True)
class Speed:
    """Seconds to the first piece of a short reply, tokens written and read in a second."""

    first: float
    written: float | None = None
    read: float | None = None


@dataclass(frozen=True)
class Checked:
    """The abilities of a model, and the settings of its table that follow from them."""

    model: str  # as the server names it
    about: About
    abilities: tuple[Ability, ...]
    speed: Speed
    settings: Mapping[str, object]
    advice: tuple[str, ...] = field(default=())

    def can(self, name: str) -> bool:
        """Return whether it has an ability."""
        return any(one.holds for one in self.abilities if one.name == name)


class Watched(httpx2.AsyncBaseTransport):
    """Passes requests on and keeps their bodies, with the status of each reply."""

    def __init__(self, inner: httpx2.AsyncBaseTransport | None = None) -> None:
        self._inner = inner or httpx2.AsyncHTTPTransport()
        self.offline = getattr(inner, "offline", False)
        self.seen: list[tuple[dict[str, Any], int]] = []

    async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
        """Send a request."""
        body = await request.aread()
        response = await self._inner.handle_async_request(request)
        self.seen.append((json.loads(body) if body else {}, response.status_code))
        return response

    async def aclose(self) -> None:
        """Close the connections."""
        await self._inner.aclose()


_COUNTING = "Count from 1 to 30. Write the numbers in digits, with a space between them."
_READING = "Read these numbers, then reply with the word done alone.\n"
_NUMBERS = 150  # some hundred tokens
_OTHERWISE = "Say hello to me in one friendly sentence."
_SCHEMA = {
    "type": "object",
    "properties": {"moon": {"type": "string", "enum": ["Callisto"]}, "rank": {"type": "integer"}},
    "required": ["moon", "rank"],
    "additionalProperties": False,
}
_GRAMMAR = 'root ::= "moon " [0-9] [0-9]? " of " ("Jupiter" | "Saturn")'
_FITS = {f"moon {number} of {planet}" for number in range(100) for planet in ("Jupiter", "Saturn")}
_ROOM = 128  # tokens of a reply that ends by itself; of a model that reasons, many more
_REASONING = 4_000
_REASONS = "{} characters before it spoke; `effort` may shorten that"
_LOOKING = "How many people live in Norway? Look it up with the tool."
_TOOL = ToolSchema(
    "population",
    "Look up how many people live in a country.",
    {
        "type": "object",
        "properties": {"country": {"type": "string"}},
        "required": ["country"],
    },
)
_CANNOT = (ErrorReply, MalformedReply, PromptTooLong)


async def checked(make: Make, *, transport: httpx2.AsyncBaseTransport | None = None) -> Checked:
    """Ask a model what shows its abilities, some ten short requests one after the other.

    Raises as the model does if it cannot be reached, does not take the key, or says nothing at all
    to a plain question: then the models that its server has are named.
    """
    watched = Watched(transport)
    model = make(watched, None)
    try:
        try:
            await _heard(model, _OTHERWISE)
            heard = await _heard(model, _COUNTING)
        except ErrorReply as problem:
            there = (await _about(model, watched)).models
            name = model.identity.model
            if not there or name in there:
                raise
            raise ErrorReply(f"{problem}; the server has: {', '.join(there)}") from problem
        choice = heard.completion.first
        room = _REASONING if choice.reasoning else _ROOM
        abilities = [
            Ability("streams", heard.pieces > 1, f"{heard.pieces} pieces"),
            await _tried("JSON schemas", _schemas(model, watched, room)),
            await _tried("several choices", _choices(model, watched)),
            await _tried("log-probabilities", _logprobs(model)),
            await _calls(model, room),
        ]
        read = await _heard(model, _READING + " ".join(map(str, range(1000, 1000 + _NUMBERS))))
        about = await _about(model, watched)
    finally:
        await model.close()
    grammar, form = await _grammars(make, watched, about)
    if choice.reasoning:
        abilities.insert(1, Ability("reasons", True, _REASONS.format(len(choice.reasoning))))
    abilities.insert(2, grammar)
    usage = heard.completion.usage
    written = None
    if heard.pieces > 2 and usage.output > 1 and heard.whole > heard.first:
        written = (usage.output - 1) / (heard.whole - heard.first)
    long = read.completion.usage
    new = long.input - long.cached
    speed = Speed(heard.first, written, new / read.first if new >= _NUMBERS else None)
    endless = not choice.reasoning
    settings: dict[str, object] = {"temperature": 0.0}
    if about.software and endless:  # servers of one's own let a reply fill the context
        settings["max_tokens"] = _ENOUGH
    if form is not None:
        settings["grammar"] = form
    if about.at_once:
        settings["parallel"] = about.at_once
    longest = min(about.context or _LONG, _LONG)
    if speed.read and longest / speed.read > 60:
        settings["first_timeout"] = round(2 * longest / speed.read)
    found = Checked(heard.completion.model, about, tuple(abilities), speed, settings)
    told = []
    context = found.about.context
    if context is not None and context < _LONG:
        told.append(
            f"{context:,} tokens are few: guided:detail=brief and multi-stage:writer=model fit, "
            "methods that tell a model more may not"
        )
    if not found.can("tool calls"):
        told.append("grasp and other methods that let the model call tools will not work")
    if not found.can("JSON schemas"):
        told.append("replies in JSON are read as far as they can be; guided asks least of it")
    return replace(found, advice=tuple(told))


@dataclass(frozen=True)
class _Heard:
    completion: Completion
    pieces: int
    first: float  # seconds
    whole: float


async def _heard(model: LanguageModel, text: str, **options: Unpack[Options]) -> _Heard:
    """Ask once, and once more if the reply breaks off: a server may close a kept connection."""
    with suppress(MalformedReply):
        return await _once(model, text, **options)
    return await _once(model, text, **options)


async def _once(model: LanguageModel, text: str, **options: Unpack[Options]) -> _Heard:
    began = time.perf_counter()
    first, pieces = None, 0
    completion: Completion | None = None
    options = Options(max_tokens=48, temperature=0.0) | options
    async with aclosing(model.complete([User(text)], **options)) as stream:
        async for event in stream:
            if isinstance(event, TextPart | ReasoningPart | CallPart):
                pieces += 1
                first = first or time.perf_counter() - began
            elif isinstance(event, Completion):
                completion = event
    if completion is None:
        raise MalformedReply("the stream of a language model ended without a completion")
    whole = time.perf_counter() - began
    return _Heard(completion, pieces, first or whole, whole)


async def _tried(name: str, try_out: Awaitable[Ability]) -> Ability:
    """Return the ability that is tried out; one that the server refuses does not hold."""
    try:
        return await try_out
    except _CANNOT as problem:
        return Ability(name, False, f"no: {problem}")


async def _schemas(model: LanguageModel, watched: Watched, room: int) -> Ability:
    name = "JSON schemas"
    heard = await _heard(model, _OTHERWISE, schema=_SCHEMA, max_tokens=room)
    fits = isinstance(read_structured(heard.completion.first, _SCHEMA), Structured)
    last = watched.seen[-1][0] if watched.seen else {}
    if "messages" in last and "schema" not in json.dumps(last.get("response_format", "")):
        told = "it fulfilled one" if fits else "it did not fulfil one"
        return Ability(name, fits, f"the server has none; asked in words, {told}")
    does = "replies are held to them" if fits else "the server takes them and does not hold to them"
    return Ability(name, fits, does)


async def _choices(model: LanguageModel, watched: Watched) -> Ability:
    before = len(watched.seen)
    heard = await _heard(model, _OTHERWISE, n=2, temperature=1.0, max_tokens=24)
    at_once = len(heard.completion.choices) == 2 and len(watched.seen) - before <= 1
    how = "in one request" if at_once else "asked for one by one"
    return Ability("several choices", at_once, how)


async def _logprobs(model: LanguageModel) -> Ability:
    heard = await _heard(model, _OTHERWISE, logprobs=True, max_tokens=8)
    given = len(heard.completion.first.logprobs)
    return Ability("log-probabilities", given > 0, "of each token" if given else "none came")


async def _calls(model: LanguageModel, room: int) -> Ability:
    name, said = "tool calls", "the model called none"
    for choice, how in (("auto", "as it sees fit"), ("required", "only if one is required")):
        try:
            heard = await _heard(
                model, _LOOKING, tools=[_TOOL], tool_choice=choice, max_tokens=room
            )
        except _CANNOT as problem:
            said = str(problem)
            continue
        calls = heard.completion.first.calls
        if calls and isinstance(checked_call(calls[0], [_TOOL]), SoundCall):
            return Ability(name, True, how)
        said = "its calls cannot be run" if calls else said
    return Ability(name, False, f"no: {said}")


async def _grammars(make: Make, watched: Watched, about: About) -> tuple[Ability, str | None]:
    """Try the forms in which a server may be asked; return the one that it obeys, too."""
    model = make(watched, None)
    await model.close()
    if not isinstance(model, OpenAIModel):
        has = model.identity.provider == "transformers"
        return Ability("grammars", has, "by xgrammar" if has else "the provider has none"), None
    forms = sorted(GRAMMARS, key=lambda form: not about.software.lower().startswith(form))
    for form in forms:
        tried = make(watched, form)
        try:
            heard = await _heard(tried, _OTHERWISE, grammar=_GRAMMAR, max_tokens=24)
        except _CANNOT:
            continue
        finally:
            await tried.close()
        if heard.completion.first.text.strip() in _FITS:
            return Ability("grammars", True, f"in the form of {form}"), form
    return Ability("grammars", False, "the server ignores or refuses them"), None


_ENOUGH = 1_000  # tokens of a reply without reasoning; a small model may not find its end
_LONG = 6_000  # tokens of a long prompt of `guided`


async def _about(model: LanguageModel, watched: Watched) -> About:
    """Read what a server says of itself; nothing of a provider that says nothing."""
    if not isinstance(model, OpenAIModel):
        return About(context=getattr(model, "context", None))
    read = partial(_read_json, model, watched)
    listed = [one for one in _list(await read("/models"), "data") if isinstance(one, dict)]
    names = tuple(str(one["id"]) for one in listed if "id" in one)
    own = next((one for one in listed if one.get("id") == model.model), listed[0] if listed else {})
    about = About(models=names, context=_number(own.get("max_model_len")))
    match own.get("owned_by"):
        case "llamacpp":
            said = await read("/props", above=True)
            settings = said.get("default_generation_settings")
            context = _number(settings.get("n_ctx")) if isinstance(settings, dict) else None
            software = f"llama.cpp {said.get('build_info', '')}".strip()
            return replace(
                about, software=software, context=context, at_once=_number(said.get("total_slots"))
            )
        case "vllm":
            said = await read("/version", above=True)
            return replace(about, software=f"vLLM {said.get('version', '')}".strip())
        case "library":
            said = await read("/api/version", above=True)
            loaded = _list(await read("/api/ps", above=True), "models")
            lengths = [one.get("context_length") for one in loaded if isinstance(one, dict)]
            software = f"Ollama {said.get('version', '')}".strip()
            return replace(about, software=software, context=_number((lengths or [None])[0]))
    return about


def _list(said: Mapping[str, object], name: str) -> Sequence[object]:
    found = said.get(name)
    return found if isinstance(found, list) else []


def _number(value: object) -> int | None:
    return value if isinstance(value, int) and value > 0 else None


async def _read_json(
    model: OpenAIModel, watched: Watched, path: str, *, above: bool = False
) -> Mapping[str, Any]:
    """Return the object at a path, below the base URL or `above` its version; empty if none."""
    address = model.identity.address
    root = address.removesuffix("/v1") if above else address
    key = Key.of(None if watched.offline else model.key_env)
    headers = {"Authorization": f"Bearer {key.value}"} if key.value else {}
    try:
        request = httpx2.Request("GET", root + path, headers=headers)
        response = await watched.handle_async_request(request)
        said = json.loads(await response.aread()) if response.status_code == 200 else {}
    except (httpx2.HTTPError, ValueError):
        return {}
    return said if isinstance(said, dict) else {}
