"""Anthropic's Messages: the system text and the tools are marked for its prompt cache.

It has no seeds, no log-probabilities and one choice per request: several are sent in parallel.
"""

import json
from collections.abc import AsyncGenerator, Iterator, Sequence
from contextlib import aclosing
from dataclasses import dataclass, field
from itertools import groupby
from typing import Any, Unpack

import httpx2
from anthropic import APIError, APIStatusError, AsyncAnthropic, Omit

from askgraph import llm
from askgraph.errors import ErrorReply, MalformedReply, PromptTooLong
from askgraph.llm import TokenUsage as Tokens
from askgraph.llm._connection import ModelServer
from askgraph.llm._streams import (
    Json,
    ReplyAssembler,
    merge_streams,
    parse_arguments,
    parse_json_events,
    reject_beams,
)
from askgraph.llm.structured import reject_grammar, request_schema

__all__ = ["AnthropicModel"]


@dataclass(eq=False, repr=False)
class AnthropicModel(ModelServer[AsyncAnthropic]):
    """Completes through Anthropic's server or a compatible one; `key_env` names its key's variable.

    `max_tokens` applies to requests without it, since the server requires it. `extra` are further
    fields of the request body, such as `thinking`. Times are in seconds: to connect, to the first
    part of the reply, for all of it. All requests are logged in the file `sent`. Errors are raised
    at once; `retried` repeats calls.
    """

    provider = "anthropic"

    base_url: str = "https://api.anthropic.com"
    key_env: str | None = "ANTHROPIC_API_KEY"
    max_tokens: int = 8_192
    _in_words: bool = field(default=False, init=False)

    def complete(
        self, messages: Sequence[llm.Message], **options: Unpack[llm.Options]
    ) -> AsyncGenerator[llm.Event, None]:
        """Send the messages and stream the reply."""
        request = llm.Request.from_options(messages, options)
        reject_beams(request, self.identity)
        reject_grammar(request, self.identity)
        return merge_streams(
            [self._limit_time(self._request_choice(request)) for _ in range(request.n)]
        )

    def _serialize_settings(self) -> str:
        return json.dumps([self.max_tokens, self.extra], sort_keys=True)

    async def _request_choice(self, request: llm.Request) -> AsyncGenerator[llm.Event, None]:
        while True:
            try:
                async with aclosing(self._send(request)) as stream:
                    async for event in stream:
                        yield event
                return
            except PromptTooLong:
                raise
            except ErrorReply as problem:
                is_schema_rejected = "output_config" in str(problem) or "schema" in str(problem)
                if request.schema is None or self._in_words or not is_schema_rejected:
                    raise
                self._in_words = True

    async def _send(self, request: llm.Request) -> AsyncGenerator[llm.Event, None]:
        assembly = ReplyAssembler(request, model=self.model)
        request_body = build_body(
            request, self.model, in_words=self._in_words, max_tokens=self.max_tokens
        )
        try:
            async with (
                self.get_library().messages.with_streaming_response.create(
                    **request_body, extra_body=self.extra
                ) as reply,
                aclosing(self._read_reply(reply.http_response.aiter_bytes(), assembly)) as stream,
            ):
                async for event in stream:
                    yield event
        except APIStatusError as problem:
            raise self._build_status_error(
                problem.status_code, problem.body, problem.response.headers
            ) from problem
        except (APIError, httpx2.HTTPError) as problem:
            raise self._build_connection_error(problem) from problem
        for event in assembly.iterate_ending():
            yield event

    async def _read_reply(
        self, parts: AsyncGenerator[bytes, None], assembly: ReplyAssembler
    ) -> AsyncGenerator[llm.Event, None]:
        blocks: dict[int, Json] = {}
        async with aclosing(
            parse_json_events(parts, address=self._address, last_type="message_stop")
        ) as events:
            async for event in events:
                if event.get("type") == "error":
                    raise self._build_status_error(200, event)
                for part in parse_event(event, blocks, assembly):
                    yield part
                if assembly.is_full:
                    return
        self._check_end(assembly, "message")

    def _create_library(self, client: httpx2.AsyncClient) -> AsyncAnthropic:
        headers: dict[str, Any] = {} if self._key.value else {"Authorization": Omit()}
        return AsyncAnthropic(
            api_key=self._key.value or "none",
            base_url=self._address,
            http_client=client,
            max_retries=0,
            default_headers=headers,
            default_query=dict(httpx2.URL(self.base_url).params),
        )


_CACHE_MARK = {"cache_control": {"type": "ephemeral"}}

_FINISH = {
    "end_turn": llm.Finish.STOP,
    "stop_sequence": llm.Finish.STOP,
    "tool_use": llm.Finish.CALLS,
    "max_tokens": llm.Finish.LENGTH,
    "model_context_window_exceeded": llm.Finish.LENGTH,
    "refusal": llm.Finish.REFUSED,
}


def build_body(request: llm.Request, model: str, *, in_words: bool, max_tokens: int) -> Any:
    """Return the JSON of a streamed request; with `in_words` the schema is part of the text."""
    messages = request.messages
    if request.schema is not None and in_words:
        messages = request_schema(request.schema, messages)
    system = "\n\n".join(message.text for message in messages if isinstance(message, llm.System))
    output_config: Json = {}
    if request.schema is not None and not in_words:
        output_config["format"] = {"type": "json_schema", "schema": request.schema}
    if request.effort:
        output_config["effort"] = request.effort
    turns: list[Json] = []
    turn_messages = [message for message in messages if not isinstance(message, llm.System)]
    for is_assistant, group in groupby(
        turn_messages, key=lambda message: isinstance(message, llm.Assistant)
    ):
        content = [block for message in group for block in _build_blocks(message)]
        turns.append({"role": "assistant" if is_assistant else "user", "content": content})
    if turns and turns[-1]["role"] == "user":
        turns[-1]["content"][-1] |= _CACHE_MARK
    fields: dict[str, Any] = {
        "model": model,
        "stream": True,
        "max_tokens": request.max_tokens or max_tokens,
        "system": [{"type": "text", "text": system} | _CACHE_MARK] if system else None,
        "messages": turns,
        "temperature": request.temperature,
        "top_p": request.top_p,
        "stop_sequences": list(request.stop) or None,
        "output_config": output_config or None,
    }
    if request.tools:
        fields["tools"] = [
            {"name": tool.name, "description": tool.description, "input_schema": tool.parameters}
            for tool in request.tools
        ]
        fields["tools"][-1] |= _CACHE_MARK
        choice = request.tool_choice
        choice_types = {"auto": "auto", "none": "none", "required": "any"}
        fields["tool_choice"] = (
            {"type": choice_types[choice]}
            if choice in choice_types
            else {"type": "tool", "name": choice}
        )
    return {key: value for key, value in fields.items() if value is not None}


def parse_event(
    event: Json, blocks: dict[int, Json], assembly: ReplyAssembler
) -> Iterator[llm.Event]:
    """Add an event to the assembly and yield its parts.

    Args:
        blocks: the content blocks so far, by index.

    Raises:
        MalformedReply: the event lacks required fields.
    """
    try:
        match event.get("type"):
            case "message_start":
                message = event["message"]
                assembly.model, assembly.id = message["model"], message["id"]
                assembly.usage = _parse_usage(message["usage"], Tokens())
            case "content_block_start":
                block = blocks[event["index"]] = dict(event["content_block"])
                index = event["index"]
                if block["type"] == "tool_use":
                    assembly.add_call(index, id=block["id"], name=block["name"])
            case "content_block_delta":
                yield from _parse_delta(event["index"], event["delta"], blocks, assembly)
            case "message_delta":
                if reason := event["delta"].get("stop_reason"):
                    assembly.set_finish(_FINISH.get(reason, llm.Finish.OTHER))
                assembly.usage = _parse_usage(event["usage"], assembly.usage or Tokens())
            case "message_stop":
                thinking_blocks = [
                    blocks[index] for index in sorted(blocks) if "thinking" in blocks[index]["type"]
                ]
                if thinking_blocks:
                    assembly.set_opaque(json.dumps(thinking_blocks))
    except (KeyError, TypeError, AttributeError, ValueError) as problem:
        raise MalformedReply(f"an event of the reply lacks its fields: {problem!r}") from problem


def _parse_delta(
    index: int, delta: Json, blocks: dict[int, Json], assembly: ReplyAssembler
) -> Iterator[llm.Event]:
    match delta["type"]:
        case "text_delta":
            yield assembly.add_text(delta["text"])
        case "thinking_delta":
            blocks[index]["thinking"] = blocks[index].get("thinking", "") + delta["thinking"]
            yield assembly.add_reasoning(delta["thinking"])
        case "signature_delta":
            blocks[index]["signature"] = delta["signature"]
        case "input_json_delta":
            assembly.add_call(index, arguments=delta["partial_json"])


def _parse_usage(usage: Json, previous: Tokens) -> Tokens:
    """Add up the parts of the input, which the server counts separately."""
    uncached = usage.get("input_tokens")
    cached = usage.get("cache_read_input_tokens") or previous.cached
    written = usage.get("cache_creation_input_tokens") or previous.cache_written
    if uncached is None:
        uncached = previous.input - previous.cached - previous.cache_written
    details = usage.get("output_tokens_details") or {}
    return Tokens(
        input=uncached + cached + written,
        cached=cached,
        cache_written=written,
        output=usage.get("output_tokens") or previous.output,
        reasoning=details.get("reasoning_tokens") or previous.reasoning,
    )


def _build_blocks(message: llm.Message) -> list[Json]:
    match message:
        case llm.ToolResult(call, _, text):
            return [{"type": "tool_result", "tool_use_id": call, "content": text}]
        case llm.Assistant(text, calls, _, opaque):
            blocks: list[Json] = json.loads(opaque) if opaque else []
            if text or not calls:
                blocks.append({"type": "text", "text": text or "(nothing)"})
            return blocks + [_encode_call(call) for call in calls]
        case llm.User(text) | llm.System(text):
            return [{"type": "text", "text": text}]


def _encode_call(call: llm.ToolCall) -> Json:
    return {"type": "tool_use", "id": call.id, "name": call.name, "input": parse_arguments(call)}
