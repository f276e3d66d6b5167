"""Any server with OpenAI's Chat Completions: OpenAI, Azure, vLLM, Ollama, llama.cpp, and others.

Only the common part of the protocol is used, with fallbacks: a parameter that a server rejects is
omitted from then on, and a schema is requested in words. `model_habits` knows what some need.
"""

import json
import re
from collections.abc import AsyncGenerator, Callable, Iterator, Mapping, Sequence
from contextlib import aclosing
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, Unpack

import httpx2
from openai import APIError, APIStatusError, AsyncOpenAI, Omit

from askgraph import llm
from askgraph.errors import ErrorReply, MalformedReply, PromptTooLong, SetupError
from askgraph.llm import Event, Message, Options, Request
from askgraph.llm import _streams as streams
from askgraph.llm._connection import ModelServer
from askgraph.llm.model_habits import (
    REFUSAL_PHRASES,
    StreamCleaner,
    clean_choice,
    find_server_habits,
    list_missing_features,
)
from askgraph.llm.structured import reject_grammar, request_schema

__all__ = ["OpenAIModel"]

_OMITTED_HEADERS: Any = {"OpenAI-Organization": Omit(), "OpenAI-Project": Omit()}
_NO_KEY_HEADERS: Any = {"Authorization": Omit()}


@dataclass(eq=False, repr=False)
class OpenAIModel(ModelServer[AsyncOpenAI]):
    """Completes through the server at `base_url`; `key_env` is the environment variable of its key.

    `extra` are further fields of the request body, such as vLLM's `use_beam_search`. Times are
    in seconds: to connect, to the first part of text, reasoning or call, and for all of it. A
    reply of more than 8 MiB ends in `MalformedReply`, one of more than 400,000 characters is
    cut off. `grammar` is the form in which grammars are sent (one of `GRAMMAR_FIELDS`); there is no
    default, since servers ignore unknown fields. All requests are logged in the file `sent`.
    Errors are raised at once; `retried` repeats calls.
    """

    provider = "openai"

    base_url: str = "https://api.openai.com/v1"
    grammar: str | None = None

    def __post_init__(self) -> None:
        if self.grammar is not None and self.grammar not in GRAMMAR_FIELDS:
            known_forms = ", ".join(GRAMMAR_FIELDS)
            raise SetupError(
                f"no server accepts grammars of the form {self.grammar!r}; choose one of "
                f"{known_forms}"
            )
        super().__post_init__()
        self.identity = replace(self.identity, grammar=self.grammar is not None)
        self._key_header = find_server_habits(self._address).get("key_header")
        self._no_key = None if self._key.value and not self._key_header else _NO_KEY_HEADERS
        self._lacks = UnsupportedParameters(list_missing_features(self._address, self.model))
        self._lacks |= set() if "max_tokens" in self._lacks else {"max_completion_tokens"}
        self._renamed = False

    def complete(
        self, messages: Sequence[Message], **options: Unpack[Options]
    ) -> AsyncGenerator[Event, None]:
        """Send the messages and stream the reply."""
        request = Request.from_options(messages, options)
        reject_grammar(request, self.identity)

        def ask(choices: int, already: int) -> AsyncGenerator[Event, None]:
            return self._limit_time(self._request_choices(request, choices, already))

        if request.beams:
            return streams.check_beams(ask(request.n, 0), request.n, self.identity)
        return streams.request_all_choices(ask, request.n)

    async def _request_choices(
        self, request: Request, choices: int, already: int
    ) -> AsyncGenerator[Event, None]:
        seed = None if request.seed is None else request.seed + already
        while True:
            lacks = UnsupportedParameters(self._lacks)
            request_body = build_body(request, self.model, lacks, choices=choices, seed=seed)
            try:
                async with aclosing(self._send(request_body, request)) as stream:
                    async for event in stream:
                        yield event
                return
            except ErrorReply as problem:
                rejected = find_rejected_parameter(
                    str(problem), request_body | _build_beam_fields(request), lacks
                )
                if rejected is None or not _is_rejection(problem):
                    raise
                if rejected in _build_beam_fields(request):
                    raise streams.build_beam_error(
                        self.identity, f"its server says {str(problem)!r}"
                    ) from problem
                self._lacks.add(rejected)
                if rejected in LENGTH_PARAMETERS and not self._renamed:
                    self._renamed = True
                    self._lacks -= set(LENGTH_PARAMETERS) - {rejected}

    async def _send(
        self, request_body: streams.Json, request: Request
    ) -> AsyncGenerator[Event, None]:
        cleaner, clean = StreamCleaner(request.tools), partial(clean_choice, tools=request.tools)
        assembly = streams.ReplyAssembler(request, model=self.model, clean=clean)
        try:
            async with self.get_library().chat.completions.with_streaming_response.create(
                **request_body,
                extra_body=self._build_extra_fields(request),
                extra_headers=self._no_key,
            ) as reply:
                content_type = reply.headers.get("content-type", "")
                parts = reply.http_response.aiter_bytes()
                async with aclosing(self._read_reply(parts, content_type, assembly)) as stream:
                    async for event in stream:
                        for part in cleaner.clean(event):
                            yield part
        except APIStatusError as problem:
            raise self._build_status_error(
                problem.status_code, problem.body, problem.response.headers
            ) from problem
        except (APIError, httpx2.HTTPError) as problem:
            raise self._build_connection_error(problem) from problem
        for event in assembly.iterate_ending(cleaner.finish):
            yield event

    async def _read_reply(
        self,
        parts: AsyncGenerator[bytes, None],
        content_type: str,
        assembly: streams.ReplyAssembler,
    ) -> AsyncGenerator[Event, None]:
        if "json" in content_type:
            content = b"".join([part async for part in parts])
            reply = streams.parse_object(content, address=self._address)
            self._raise_reply_error(reply)
            for event in _parse_chunk(reply, assembly, "message"):
                yield event
            assembly.finish_choices()
        else:
            async with aclosing(streams.parse_json_events(parts, address=self._address)) as chunks:
                async for chunk in chunks:
                    if chunk is streams.DONE_EVENT:
                        assembly.finish_choices()
                        break
                    self._raise_reply_error(chunk)
                    for event in _parse_chunk(chunk, assembly, "delta"):
                        yield event
                    if assembly.is_full:
                        return
        self._check_end(assembly, "completion")

    def _build_extra_fields(self, request: Request) -> dict[str, object]:
        """Return the fields beyond OpenAI's own protocol."""
        grammar_fields = (
            GRAMMAR_FIELDS[self.grammar](request.grammar)
            if self.grammar and request.grammar
            else {}
        )
        return dict(self.extra) | _build_beam_fields(request) | grammar_fields

    def _raise_reply_error(self, reply: streams.Json) -> None:
        """Raise the error that some servers send with status 200."""
        error = reply.get("error")
        if not error:
            return
        code = error.get("code") if isinstance(error, dict) else None
        raise self._build_status_error(code if isinstance(code, int) else 200, reply)

    def _create_library(self, client: httpx2.AsyncClient) -> AsyncOpenAI:
        return AsyncOpenAI(
            api_key=self._key.value or "none",
            base_url=self._address,
            http_client=client,
            max_retries=0,
            default_headers=_OMITTED_HEADERS
            | ({self._key_header: self._key.value} if self._key_header else {}),
            default_query=dict(httpx2.URL(self.base_url).params),
        )


def _build_beam_fields(request: Request) -> dict[str, object]:
    """Return the fields for vLLM's beam search, whose width is `n`."""
    return {BEAM_PARAMETER: True} if request.beams else {}


def _is_rejection(problem: ErrorReply) -> bool:
    """Return whether a server rejected the request itself, before it generated text."""
    cause = problem.__cause__
    return (
        not isinstance(problem, PromptTooLong)
        and isinstance(cause, APIStatusError)
        and cause.status_code in (400, 404, 422, 500, 501)
    )


GRAMMAR_FIELDS: Mapping[str, Callable[[str], dict[str, object]]] = {
    "llama.cpp": lambda grammar: {"grammar": grammar},
    "vllm": lambda grammar: {"structured_outputs": {"grammar": grammar}},
}
"""The request fields that constrain a reply to a grammar, by server."""

LENGTH_PARAMETERS = ("max_tokens", "max_completion_tokens")
BEAM_PARAMETER = "use_beam_search"
_OPTIONAL_PARAMETERS = (
    BEAM_PARAMETER,
    "response_format", "stream_options", "logprobs", "seed", "temperature", "top_p", "stop",
    "reasoning_effort", "n", "max_completion_tokens", "max_tokens", "tool_choice",
)  # fmt: skip
_UNKNOWN_PARAMETER_PHRASES = (
    "support", "unknown", "unrecognized", "unexpected", "extra", "not permitted", "not allowed",
    "not implemented", "unavailable",
)  # fmt: skip


_TOO_MANY_CHOICES = re.compile(r"(?<!\w)n\W+(value )?must be\b|(?<!\w)n\W+is too large")


class UnsupportedParameters(set[str]):
    """Names of parameters that a server rejected; `schema` is a schema in `response_format`."""


def build_body(
    request: llm.Request,
    model: str,
    lacks: UnsupportedParameters,
    *,
    choices: int,
    seed: int | None,
) -> Any:
    """Return the JSON of a streamed request for `choices` choices."""
    name = "max_completion_tokens" if "max_tokens" in lacks else "max_tokens"
    messages = request.messages
    if request.schema is not None and lacks & {"schema", "response_format"}:
        messages = request_schema(request.schema, messages)
    if "system" in lacks:
        messages = _merge_system_messages(messages)
    fields: dict[str, Any] = {
        "model": model, "stream": "stream" not in lacks,
        "messages": [_encode_message(message) for message in messages],
        "stream_options": None if "stream" in lacks else {"include_usage": True},
        "n": choices if choices > 1 else None, "seed": seed, "temperature": request.temperature,
        "top_p": request.top_p, name: request.max_tokens, "stop": list(request.stop) or None,
        "logprobs": True if request.logprobs else None, "reasoning_effort": request.effort,
        "response_format": _build_response_format(request, lacks),
    }  # fmt: skip
    if request.tools:
        fields["tools"] = [{"type": "function", "function": vars(tool)} for tool in request.tools]
        choice = request.tool_choice
        if choice in ("auto", "none", "required"):
            fields["tool_choice"] = None if choice == "auto" else choice
        else:
            fields["tool_choice"] = {"type": "function", "function": {"name": choice}}
    return {
        key: value
        for key, value in fields.items()
        if value is not None and (key not in lacks or key == "stream")
    }


def find_rejected_parameter(
    message: str, sent: Mapping[str, object], lacks: UnsupportedParameters
) -> str | None:
    """Return the parameter that a server does not know, if the request can do without it."""
    # A rejected `json_schema` is `schema` at first: plain JSON output may still work. If a server
    # returns fewer choices at once (llama.cpp: as many as it has slots), they are requested singly.
    lowered = message.lower()
    for feature, phrases in REFUSAL_PHRASES.items():
        if feature not in lacks and any(phrase in lowered for phrase in phrases):
            return feature
    if "n" in sent and _TOO_MANY_CHOICES.search(lowered):
        return "n"
    if not any(phrase in lowered for phrase in _UNKNOWN_PARAMETER_PHRASES):
        return None
    format_parameter = "schema" if "schema" not in lacks else "response_format"
    for name in _OPTIONAL_PARAMETERS:
        if name in sent and re.search(rf"(?<!\w){name}(?!\w)", lowered):
            return format_parameter if name == "response_format" else name
    if "response_format" in sent and re.search("json_schema|json_object", lowered):
        return format_parameter
    return None


def _merge_system_messages(messages: tuple[llm.Message, ...]) -> tuple[llm.Message, ...]:
    """Return the messages with the text of system messages at the start of the first question."""
    # Messages of the user in succession become one, since the same servers demand turns.
    texts = [message.text for message in messages if isinstance(message, llm.System)]
    merged: list[llm.Message] = [llm.User("\n\n".join(texts))] if texts else []
    for message in messages:
        if isinstance(message, llm.User) and merged and isinstance(merged[-1], llm.User):
            merged[-1] = llm.User(f"{merged[-1].text}\n\n{message.text}")
        elif not isinstance(message, llm.System):
            merged.append(message)
    return tuple(merged)


def _encode_call(call: llm.ToolCall) -> streams.Json:
    """Return a call as JSON with valid arguments, since several servers fail on others."""
    parsed = streams.parse_arguments(call)
    arguments = json.dumps(parsed) if streams.UNREADABLE_KEY in parsed else call.arguments
    function = {"name": call.name, "arguments": arguments}
    return {"id": call.id, "type": "function", "function": function}


def _encode_message(message: llm.Message) -> dict[str, object]:
    match message:
        case llm.System(text):
            return {"role": "system", "content": text}
        case llm.User(text):
            return {"role": "user", "content": text}
        case llm.ToolResult(call, _, text):
            return {"role": "tool", "tool_call_id": call, "content": text}
        case llm.Assistant(text, calls, _, opaque):
            content: dict[str, object] = {"role": "assistant", "content": text or None}
            if calls:
                content["tool_calls"] = [_encode_call(call) for call in calls]
            elif not text:
                content["content"] = ""
            return content | (json.loads(opaque) if opaque else {})


def _build_response_format(request: llm.Request, lacks: UnsupportedParameters) -> object:
    if request.schema is None:
        return None
    if "schema" in lacks:
        return {"type": "json_object"}
    schema_object = {
        "name": "reply",
        "schema": request.schema,
        "strict": _is_strict(request.schema),
    }
    return {"type": "json_schema", "json_schema": schema_object}


def _is_strict(schema: object) -> bool:
    """Return whether every object in a schema is closed and requires all its properties."""
    # OpenAI enforces a schema strictly only then, and rejects `strict` otherwise.
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
    "stop": llm.Finish.STOP, "eos": llm.Finish.STOP, "tool_calls": llm.Finish.CALLS,
    "function_call": llm.Finish.CALLS, "length": llm.Finish.LENGTH,
    "content_filter": llm.Finish.REFUSED,
}  # fmt: skip

_REASONING = ("reasoning_content", "reasoning")


def _parse_chunk(
    chunk: streams.Json, assembly: streams.ReplyAssembler, field: str
) -> Iterator[llm.Event]:
    """Add a chunk, or a reply, to the assembly; raise `MalformedReply` for other JSON."""
    assembly.model = _to_string(chunk.get("model")) or assembly.model
    assembly.id = _to_string(chunk.get("id")) or assembly.id
    if isinstance(usage := chunk.get("usage"), dict):
        input_, output = usage.get("prompt_tokens"), usage.get("completion_tokens")
        assembly.usage = None
        if isinstance(input_, int) and isinstance(output, int):
            cached = _get_count(usage.get("prompt_tokens_details"), "cached_tokens")
            reasoning_tokens = _get_count(
                usage.get("completion_tokens_details"), "reasoning_tokens"
            )
            assembly.usage = llm.TokenUsage(
                input=input_, cached=cached, output=output, reasoning=reasoning_tokens
            )
    choices = [] if chunk.get("choices") is None else chunk["choices"]
    if not isinstance(choices, list):
        raise MalformedReply("the reply's `choices` are not a list")
    for position, choice in enumerate(choices):
        if not isinstance(choice, dict):
            raise MalformedReply("a choice of the reply is not an object")
        number = choice.get("index")
        yield from _parse_choice(
            choice, field, assembly, number if isinstance(number, int) else position
        )


def _parse_choice(
    choice: streams.Json, field: str, assembly: streams.ReplyAssembler, number: int
) -> Iterator[llm.Event]:
    content = choice.get(field)
    content = content if isinstance(content, dict) else {}
    for name in _REASONING:
        if reasoning := _to_string(content.get(name)):
            yield assembly.add_reasoning(reasoning, number)
            break
    if text := _to_string(content.get("content")):
        yield assembly.add_text(text, number)
    if refusal := _to_string(content.get("refusal")):
        assembly.add_refusal(refusal, number)
    calls = content.get("tool_calls")
    for position, call in enumerate(calls if isinstance(calls, list) else []):
        if not isinstance(call, dict):
            raise MalformedReply("a tool call of the reply is not an object")
        function = call.get("function")
        function = function if isinstance(function, dict) else {}
        arguments = function.get("arguments")
        if isinstance(arguments, dict):
            arguments = json.dumps(arguments, ensure_ascii=False)
        key = call.get("index")
        assembly.add_call(
            key if isinstance(key, int) else position,
            id=_to_string(call.get("id")),
            name=_to_string(function.get("name")),
            arguments=_to_string(arguments),
            choice=number,
        )
    _parse_logprobs(choice.get("logprobs"), assembly, number)
    if finish := _to_string(choice.get("finish_reason")):
        assembly.set_finish(_FINISH.get(finish, llm.Finish.OTHER), number)


def _parse_logprobs(logprobs: object, assembly: streams.ReplyAssembler, number: int) -> None:
    match logprobs:
        case {"content": [*tokens]}:
            for token in tokens:
                match token:
                    case {"token": str(text), "logprob": float() | int() as value}:
                        assembly.add_logprob(text, float(value), number)


def _get_count(details: object, name: str) -> int:
    value = details.get(name) if isinstance(details, dict) else 0
    return value if isinstance(value, int) else 0


def _to_string(value: object) -> str:
    return value if isinstance(value, str) else ""
