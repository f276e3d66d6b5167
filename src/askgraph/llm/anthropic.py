"""Anthropic's Messages: the system text and the tools are marked for its prompt cache.

It has no seeds, no log-probabilities and one choice a request: more are asked for at once.
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
    Assembly,
    Json,
    json_events,
    read_arguments,
    refuse_beams,
    together,
)
from askgraph.llm.structured import asking_for, refuse_grammar

__all__ = ["AnthropicModel"]


@dataclass(eq=False, repr=False)
class AnthropicModel(ModelServer[AsyncAnthropic]):
    """Completes through Anthropic's server or one like it; `key_env` names its key's variable.

    `max_tokens` is for requests that set none, as the server wants one. `extra` are further fields
    of the request's body, such as `thinking`. Times are in seconds: to connect, to the first piece
    of the reply, for all of it. All that is sent is logged in the file `sent`. Fails at once;
    `retried` tries again.
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
        request = llm.Request.of(messages, options)
        refuse_beams(request, self.identity)
        refuse_grammar(request, self.identity)
        return together([self._timed(self._one(request)) for _ in range(request.n)])

    def _settings(self) -> str:
        return json.dumps([self.max_tokens, self.extra], sort_keys=True)

    async def _one(self, request: llm.Request) -> AsyncGenerator[llm.Event, None]:
        while True:
            try:
                async with aclosing(self._sent(request)) as stream:
                    async for event in stream:
                        yield event
                return
            except PromptTooLong:
                raise
            except ErrorReply as problem:
                refused = "output_config" in str(problem) or "schema" in str(problem)
                if request.schema is None or self._in_words or not refused:
                    raise
                self._in_words = True

    async def _sent(self, request: llm.Request) -> AsyncGenerator[llm.Event, None]:
        assembly = Assembly(request, model=self.model)
        sent = body(request, self.model, in_words=self._in_words, max_tokens=self.max_tokens)
        try:
            async with (
                self.library().messages.with_streaming_response.create(
                    **sent, extra_body=self.extra
                ) as reply,
                aclosing(self._read(reply.http_response.aiter_bytes(), assembly)) as stream,
            ):
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
        self, parts: AsyncGenerator[bytes, None], assembly: Assembly
    ) -> AsyncGenerator[llm.Event, None]:
        blocks: dict[int, Json] = {}
        async with aclosing(
            json_events(parts, address=self._address, last_type="message_stop")
        ) as events:
            async for event in events:
                if event.get("type") == "error":
                    raise self._status_failure(200, event)
                for part in read_event(event, blocks, assembly):
                    yield part
                if assembly.full:
                    return
        self._check_end(assembly, "message")

    def _library(self, client: httpx2.AsyncClient) -> AsyncAnthropic:
        headers: dict[str, Any] = {} if self._key.value else {"Authorization": Omit()}
        return AsyncAnthropic(
            api_key=self._key.value or "none",
            base_url=self._address,
            http_client=client,
            max_retries=0,
            default_headers=headers,
        )


_CACHED = {"cache_control": {"type": "ephemeral"}}

_FINISH = {
    "end_turn": llm.Finish.STOP,
    "stop_sequence": llm.Finish.STOP,
    "tool_use": llm.Finish.CALLS,
    "max_tokens": llm.Finish.LENGTH,
    "model_context_window_exceeded": llm.Finish.LENGTH,
    "refusal": llm.Finish.REFUSED,
}


def body(request: llm.Request, model: str, *, in_words: bool, max_tokens: int) -> Any:
    """Return the JSON of a streamed request; a schema goes into the text if `in_words`."""
    messages = request.messages
    if request.schema is not None and in_words:
        messages = asking_for(request.schema, messages)
    system = "\n\n".join(message.text for message in messages if isinstance(message, llm.System))
    wanted: dict[str, Any] = {
        "model": model,
        "stream": True,
        "max_tokens": request.max_tokens or max_tokens,
        "system": [{"type": "text", "text": system} | _CACHED] if system else None,
        "messages": _turns(messages),
        "temperature": request.temperature,
        "top_p": request.top_p,
        "stop_sequences": list(request.stop) or None,
        "output_config": _output(request, in_words=in_words),
    }
    if request.tools:
        wanted["tools"] = [
            {"name": tool.name, "description": tool.description, "input_schema": tool.parameters}
            for tool in request.tools
        ]
        wanted["tools"][-1] |= _CACHED
        choice = request.tool_choice
        known = {"auto": "auto", "none": "none", "required": "any"}
        wanted["tool_choice"] = (
            {"type": known[choice]} if choice in known else {"type": "tool", "name": choice}
        )
    return {key: value for key, value in wanted.items() if value is not None}


def read_event(event: Json, blocks: dict[int, Json], assembly: Assembly) -> Iterator[llm.Event]:
    """Add an event to the assembly and yield its parts.

    `blocks` holds the content blocks so far. Raises `MalformedReply` for an event without its
    fields.
    """
    try:
        match event.get("type"):
            case "message_start":
                message = event["message"]
                assembly.model, assembly.id = message["model"], message["id"]
                assembly.usage = _usage(message["usage"], Tokens())
            case "content_block_start":
                block = blocks[event["index"]] = dict(event["content_block"])
                at = event["index"]
                if block["type"] == "tool_use":
                    assembly.call(at, id=block["id"], name=block["name"])
            case "content_block_delta":
                yield from _delta(event["index"], event["delta"], blocks, assembly)
            case "message_delta":
                if reason := event["delta"].get("stop_reason"):
                    assembly.finish(_FINISH.get(reason, llm.Finish.OTHER))
                assembly.usage = _usage(event["usage"], assembly.usage or Tokens())
            case "message_stop":
                kept = [blocks[at] for at in sorted(blocks) if "thinking" in blocks[at]["type"]]
                if kept:
                    assembly.opaque(json.dumps(kept))
    except (KeyError, TypeError, AttributeError, ValueError) as problem:
        raise MalformedReply(f"an event of the reply lacks its fields: {problem!r}") from problem


def _delta(
    at: int, delta: Json, blocks: dict[int, Json], assembly: Assembly
) -> Iterator[llm.Event]:
    match delta["type"]:
        case "text_delta":
            yield assembly.text(delta["text"])
        case "thinking_delta":
            blocks[at]["thinking"] = blocks[at].get("thinking", "") + delta["thinking"]
            yield assembly.reasoning(delta["thinking"])
        case "signature_delta":
            blocks[at]["signature"] = delta["signature"]
        case "input_json_delta":
            assembly.call(at, arguments=delta["partial_json"])


def _usage(usage: Json, before: Tokens) -> Tokens:
    """Add up the parts of the input, which the server counts apart."""
    fresh = usage.get("input_tokens")
    cached = usage.get("cache_read_input_tokens") or before.cached
    written = usage.get("cache_creation_input_tokens") or before.cache_written
    if fresh is None:
        fresh = before.input - before.cached - before.cache_written
    details = usage.get("output_tokens_details") or {}
    return Tokens(
        input=fresh + cached + written,
        cached=cached,
        cache_written=written,
        output=usage.get("output_tokens") or before.output,
        reasoning=details.get("reasoning_tokens") or before.reasoning,
    )


def _turns(messages: tuple[llm.Message, ...]) -> list[Json]:
    """Return the messages as turns of user and assistant; the cached part ends with the last."""
    turns: list[Json] = []
    spoken = [message for message in messages if not isinstance(message, llm.System)]
    for own, group in groupby(spoken, key=lambda message: isinstance(message, llm.Assistant)):
        content = [block for message in group for block in _blocks(message)]
        turns.append({"role": "assistant" if own else "user", "content": content})
    if turns and turns[-1]["role"] == "user":
        turns[-1]["content"][-1] |= _CACHED
    return turns


def _blocks(message: llm.Message) -> list[Json]:
    match message:
        case llm.ToolResult(call, _, text):
            return [{"type": "tool_result", "tool_use_id": call, "content": text}]
        case llm.Assistant(text, calls, _, opaque):
            blocks: list[Json] = json.loads(opaque) if opaque else []
            if text or not calls:
                blocks.append({"type": "text", "text": text or "(nothing)"})
            return blocks + [_call(call) for call in calls]
        case llm.User(text) | llm.System(text):
            return [{"type": "text", "text": text}]


def _call(call: llm.ToolCall) -> Json:
    return {"type": "tool_use", "id": call.id, "name": call.name, "input": read_arguments(call)}


def _output(request: llm.Request, *, in_words: bool) -> Json | None:
    config: Json = {}
    if request.schema is not None and not in_words:
        config["format"] = {"type": "json_schema", "schema": request.schema}
    if request.effort:
        config["effort"] = request.effort
    return config or None
