"""Any server that speaks OpenAI's Chat Completions: OpenAI, vLLM, Ollama, llama.cpp, Mistral, ….

Only the part of the protocol that these share is used, and a server that lacks some of it is asked
without: a parameter that it refuses is left out from then on, a schema is asked for in words.
"""

import json
import re
from collections.abc import AsyncGenerator, Callable, Iterator, Mapping, Sequence
from contextlib import aclosing
from dataclasses import dataclass, replace
from typing import Any, Unpack
from urllib.parse import urlsplit

import httpx2
from openai import APIError, APIStatusError, AsyncOpenAI, Omit

from askgraph import llm
from askgraph.errors import ErrorReply, MalformedReply, PromptTooLong, SetupError
from askgraph.llm import Event, Message, Options, Request
from askgraph.llm._connection import ModelServer
from askgraph.llm._streams import (
    UNREADABLE,
    Assembly,
    Json,
    beams_of,
    json_events,
    no_beams,
    read_arguments,
    read_object,
    topped_up,
)
from askgraph.llm.structured import asking_for, refuse_grammar

__all__ = ["OpenAIModel"]

_NOT_FROM_THE_ENVIRONMENT: Any = {"OpenAI-Organization": Omit(), "OpenAI-Project": Omit()}
_NO_KEY: Any = {"Authorization": Omit()}


@dataclass(eq=False, repr=False)
class OpenAIModel(ModelServer[AsyncOpenAI]):
    """Completes through the server at `base_url`; `key_env` names the variable with its key.

    `extra` are further fields of the request's body, such as vLLM's `use_beam_search`. The times
    are in seconds: to connect, to the first piece of text, reasoning or call, and for all of it.
    A reply of more than 8 MiB ends in `MalformedReply`, one of more than 400,000 characters is cut.
    `grammar` is the form in which the server is asked for grammars (one of `GRAMMARS`): servers
    ignore fields that they do not know, so that it is none by default.
    All that is sent is logged in the file `sent`. Fails at once; `retried` tries again.
    """

    provider = "openai"

    base_url: str = "https://api.openai.com/v1"
    grammar: str | None = None

    def __post_init__(self) -> None:
        if self.grammar is not None and self.grammar not in GRAMMARS:
            known = ", ".join(GRAMMARS)
            raise SetupError(f"no server takes grammars in the form {self.grammar!r}; take {known}")
        super().__post_init__()
        self._identity = replace(self._identity, grammar=self.grammar is not None)
        self._no_key = None if self._key.value else _NO_KEY
        self._lacks = length_name_for(self._address)
        self._renamed = False

    def complete(
        self, messages: Sequence[Message], **options: Unpack[Options]
    ) -> AsyncGenerator[Event, None]:
        """Send the messages and stream the reply."""
        request = Request.of(messages, options)
        refuse_grammar(request, self.identity)

        def ask(choices: int, already: int) -> AsyncGenerator[Event, None]:
            return self._timed(self._one(request, choices, already))

        if request.beams:
            return beams_of(ask(request.n, 0), request.n, self._identity)
        return topped_up(ask, request.n)

    async def _one(
        self, request: Request, choices: int, already: int
    ) -> AsyncGenerator[Event, None]:
        seed = None if request.seed is None else request.seed + already
        while True:
            lacks = Lacks(self._lacks)
            sent = body(request, self.model, lacks, choices=choices, seed=seed)
            try:
                async with aclosing(self._sent(sent, request)) as stream:
                    async for event in stream:
                        yield event
                return
            except ErrorReply as problem:
                refused = refused_parameter(str(problem), sent | _further(request), lacks)
                if refused is None or not _complaint(problem):
                    raise
                if refused in _further(request):
                    raise no_beams(self._identity, f"its server says {str(problem)!r}") from problem
                self._lacks.add(refused)
                if refused in LENGTH_NAMES and not self._renamed:
                    self._renamed = True
                    self._lacks -= set(LENGTH_NAMES) - {refused}

    async def _sent(self, sent: Json, request: Request) -> AsyncGenerator[Event, None]:
        assembly = Assembly(request, model=self.model)
        try:
            async with self.library().chat.completions.with_streaming_response.create(
                **sent, extra_body=self._extra(request), extra_headers=self._no_key
            ) as reply:
                kind = reply.headers.get("content-type", "")
                parts = reply.http_response.aiter_bytes()
                async with aclosing(self._read(parts, kind, assembly)) as stream:
                    async for event in stream:
                        yield event
        except APIStatusError as problem:
            raise self._status_failure(
                problem.status_code, problem.body, problem.response.headers
            ) from problem
        except (APIError, httpx2.HTTPError) as problem:
            raise self._connection_failure(problem) from problem
        for event in assembly.ending():
            yield event

    async def _read(
        self, parts: AsyncGenerator[bytes, None], kind: str, assembly: Assembly
    ) -> AsyncGenerator[Event, None]:
        if "json" in kind:
            whole = b"".join([part async for part in parts])
            reply = read_object(whole, address=self._address)
            self._raise_error_in(reply)
            for event in _read(reply, assembly, "message"):
                yield event
        else:
            async with aclosing(json_events(parts, address=self._address)) as chunks:
                async for chunk in chunks:
                    self._raise_error_in(chunk)
                    for event in _read(chunk, assembly, "delta"):
                        yield event
                    if assembly.full:
                        return
        self._check_end(assembly, "completion")

    def _extra(self, request: Request) -> dict[str, object]:
        """Return the fields beyond OpenAI's own protocol."""
        held = GRAMMARS[self.grammar](request.grammar) if self.grammar and request.grammar else {}
        return dict(self.extra) | _further(request) | held

    def _raise_error_in(self, reply: Json) -> None:
        """Raise the error that some servers send with status 200."""
        error = reply.get("error")
        if not error:
            return
        code = error.get("code") if isinstance(error, dict) else None
        status = code if isinstance(code, int) else 200
        raise self._status_failure(status, reply)

    def _library(self, client: httpx2.AsyncClient) -> AsyncOpenAI:
        return AsyncOpenAI(
            api_key=self._key.value or "none",
            base_url=self._address,
            http_client=client,
            max_retries=0,
            default_headers=_NOT_FROM_THE_ENVIRONMENT,
        )


def _further(request: Request) -> dict[str, object]:
    """Return the fields beyond OpenAI's own protocol: vLLM's beam search, whose width is `n`."""
    return {BEAMS: True} if request.beams else {}


def _complaint(problem: ErrorReply) -> bool:
    """Return whether a server found fault with the request itself, before it wrote anything."""
    cause = problem.__cause__
    return (
        not isinstance(problem, PromptTooLong)
        and isinstance(cause, APIStatusError)
        and cause.status_code in (400, 404, 422, 500, 501)
    )


GRAMMARS: Mapping[str, Callable[[str], dict[str, object]]] = {
    "llama.cpp": lambda grammar: {"grammar": grammar},
    "vllm": lambda grammar: {"structured_outputs": {"grammar": grammar}},
}
"""The fields of a request that hold a reply to a grammar, by the server that knows them."""

LENGTH_NAMES = ("max_tokens", "max_completion_tokens")
BEAMS = "use_beam_search"
_WITHOUT = (
    BEAMS,
    "response_format", "stream_options", "logprobs", "seed", "temperature", "top_p", "stop",
    "reasoning_effort", "n", "max_completion_tokens", "max_tokens", "tool_choice",
)  # fmt: skip
_UNKNOWN = (
    "support", "unknown", "unrecognized", "unexpected", "extra", "not permitted", "not allowed",
    "not implemented", "unavailable",
)  # fmt: skip


_TOO_MANY = re.compile(r"(?<!\w)n\W+(value )?must be\b|(?<!\w)n\W+is too large")


class Lacks(set[str]):
    """Names of parameters that a server refused; `schema` is a schema in `response_format`."""


def body(request: llm.Request, model: str, lacks: Lacks, *, choices: int, seed: int | None) -> Any:
    """Return the JSON of a streamed request for so many choices."""
    name = "max_completion_tokens" if "max_tokens" in lacks else "max_tokens"
    wanted: dict[str, Any] = {
        "model": model,
        "stream": True,
        "messages": [_message(message) for message in _told(request, lacks)],
        "stream_options": {"include_usage": True},
        "n": choices if choices > 1 else None,
        "seed": seed,
        "temperature": request.temperature,
        "top_p": request.top_p,
        name: request.max_tokens,
        "stop": list(request.stop) or None,
        "logprobs": True if request.logprobs else None,
        "reasoning_effort": request.effort,
        "response_format": _format(request, lacks),
    }
    if request.tools:
        tools = (
            {"name": one.name, "description": one.description, "parameters": one.parameters}
            for one in request.tools
        )
        wanted["tools"] = [{"type": "function", "function": tool} for tool in tools]
        choice = request.tool_choice
        if choice in ("auto", "none", "required"):
            wanted["tool_choice"] = None if choice == "auto" else choice
        else:
            wanted["tool_choice"] = {"type": "function", "function": {"name": choice}}
    return {key: value for key, value in wanted.items() if value is not None and key not in lacks}


def refused_parameter(message: str, sent: Mapping[str, object], lacks: Lacks) -> str | None:
    """Name the parameter that a server does not know, if the request can do without it.

    A refused `json_schema` is `schema` at first: plain JSON output may still be had. Choices of
    which a server gives fewer at once (llama.cpp: as many as it has slots) are asked for singly.
    """
    said = message.lower()
    if "n" in sent and _TOO_MANY.search(said):
        return "n"
    if not any(mark in said for mark in _UNKNOWN):
        return None
    format_ = "schema" if "schema" not in lacks else "response_format"
    for name in _WITHOUT:
        if name in sent and re.search(rf"(?<!\w){name}(?!\w)", said):
            return format_ if name == "response_format" else name
    if "response_format" in sent and re.search("json_schema|json_object", said):
        return format_
    return None


def length_name_for(base_url: str) -> Lacks:
    """Return the names a server lacks from the start: only OpenAI itself takes the newer one."""
    own = (urlsplit(base_url).hostname or "").endswith("api.openai.com")
    return Lacks({"max_tokens"} if own else {"max_completion_tokens"})


def _told(request: llm.Request, lacks: Lacks) -> tuple[llm.Message, ...]:
    """Return the messages, with the schema in words if the server cannot enforce it."""
    if request.schema is None or not lacks & {"schema", "response_format"}:
        return request.messages
    return asking_for(request.schema, request.messages)


def _call(call: llm.ToolCall) -> Json:
    """A call as JSON: several servers fail on a conversation whose arguments are anything else."""
    read = read_arguments(call)
    arguments = json.dumps(read) if UNREADABLE in read else call.arguments
    function = {"name": call.name, "arguments": arguments}
    return {"id": call.id, "type": "function", "function": function}


def _message(message: llm.Message) -> dict[str, object]:
    match message:
        case llm.System(text):
            return {"role": "system", "content": text}
        case llm.User(text):
            return {"role": "user", "content": text}
        case llm.ToolResult(call, _, text):
            return {"role": "tool", "tool_call_id": call, "content": text}
        case llm.Assistant(text, calls, _, opaque):
            said: dict[str, object] = {"role": "assistant", "content": text or None}
            if calls:
                said["tool_calls"] = [_call(call) for call in calls]
            elif not text:
                said["content"] = ""
            return said | (json.loads(opaque) if opaque else {})


def _format(request: llm.Request, lacks: Lacks) -> object:
    if request.schema is None:
        return None
    if "schema" in lacks:
        return {"type": "json_object"}
    named = {"name": "reply", "schema": request.schema, "strict": _is_strict(request.schema)}
    return {"type": "json_schema", "json_schema": named}


def _is_strict(schema: object) -> bool:
    """Return whether every object in a schema is closed and needs all it has.

    OpenAI enforces a schema to the letter only then, and refuses to promise it otherwise.
    """
    if isinstance(schema, list):
        return all(_is_strict(part) for part in schema)
    if not isinstance(schema, Mapping):
        return True
    parts = schema.get("properties")
    if schema.get("type") == "object" or isinstance(parts, Mapping):
        names = set(parts) if isinstance(parts, Mapping) else set()
        is_closed = schema.get("additionalProperties") is False
        if not is_closed or set(schema.get("required", ())) != names:
            return False
    return all(_is_strict(part) for part in schema.values())


_FINISH = {
    "stop": llm.Finish.STOP,
    "eos": llm.Finish.STOP,
    "tool_calls": llm.Finish.CALLS,
    "function_call": llm.Finish.CALLS,
    "length": llm.Finish.LENGTH,
    "content_filter": llm.Finish.REFUSED,
}

_REASONING = ("reasoning_content", "reasoning")


def _read(chunk: Json, assembly: Assembly, place: str) -> Iterator[llm.Event]:
    """Add a chunk, or a reply that came at once, to the assembly and yield its parts.

    Raises `MalformedReply` for other JSON.
    """
    assembly.model = _string(chunk.get("model")) or assembly.model
    assembly.id = _string(chunk.get("id")) or assembly.id
    if isinstance(usage := chunk.get("usage"), dict):
        input_, output = usage.get("prompt_tokens"), usage.get("completion_tokens")
        assembly.usage = None
        if isinstance(input_, int) and isinstance(output, int):
            cached = _count(usage.get("prompt_tokens_details"), "cached_tokens")
            thought = _count(usage.get("completion_tokens_details"), "reasoning_tokens")
            assembly.usage = llm.TokenUsage(
                input=input_, cached=cached, output=output, reasoning=thought
            )
    choices = [] if chunk.get("choices") is None else chunk["choices"]
    if not isinstance(choices, list):
        raise MalformedReply("the reply's `choices` are no list")
    for at, choice in enumerate(choices):
        if not isinstance(choice, dict):
            raise MalformedReply("a choice of the reply is no object")
        number = choice.get("index")
        yield from _choice(choice, place, assembly, number if isinstance(number, int) else at)


def _choice(choice: Json, place: str, assembly: Assembly, number: int) -> Iterator[llm.Event]:
    said = choice.get(place)
    said = said if isinstance(said, dict) else {}
    for name in _REASONING:
        if thought := _string(said.get(name)):
            yield assembly.reasoning(thought, number)
            break
    if text := _string(said.get("content")):
        yield assembly.text(text, number)
    if refusal := _string(said.get("refusal")):
        assembly.refusal(refusal, number)
    calls = said.get("tool_calls")
    for at, call in enumerate(calls if isinstance(calls, list) else []):
        if not isinstance(call, dict):
            raise MalformedReply("a tool call of the reply is no object")
        function = call.get("function")
        function = function if isinstance(function, dict) else {}
        arguments = function.get("arguments")
        if isinstance(arguments, dict):
            arguments = json.dumps(arguments, ensure_ascii=False)
        key = call.get("index")
        assembly.call(
            key if isinstance(key, int) else at,
            id=_string(call.get("id")),
            name=_string(function.get("name")),
            arguments=_string(arguments),
            choice=number,
        )
    _logprobs(choice.get("logprobs"), assembly, number)
    if finish := _string(choice.get("finish_reason")):
        assembly.finish(_FINISH.get(finish, llm.Finish.OTHER), number)


def _logprobs(logprobs: object, assembly: Assembly, number: int) -> None:
    match logprobs:
        case {"content": [*tokens]}:
            for token in tokens:
                match token:
                    case {"token": str(text), "logprob": float() | int() as value}:
                        assembly.logprob(text, float(value), number)


def _count(details: object, name: str) -> int:
    value = details.get(name) if isinstance(details, dict) else 0
    return value if isinstance(value, int) else 0


def _string(value: object) -> str:
    return value if isinstance(value, str) else ""
