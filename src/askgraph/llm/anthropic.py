"""Anthropic's Messages: the system text and the tools are marked for its prompt cache.

It has no seeds, no log-probabilities and one choice a request: more are asked for at once.
"""

import json
from collections.abc import AsyncGenerator, Mapping, Sequence
from contextlib import aclosing
from pathlib import Path
from typing import Any, Unpack

import httpx2
from anthropic import APIError, APIStatusError, AsyncAnthropic, Omit

from askgraph.errors import ErrorReply, MalformedReply, PromptTooLong
from askgraph.llm import Event, Identity, Message, Options, Request
from askgraph.llm._anthropic_wire import body, read_event
from askgraph.llm._assembly import Assembly
from askgraph.llm._beams import refuse_beams
from askgraph.llm._connection import Connection, checked_url
from askgraph.llm._credentials import Key
from askgraph.llm._events import Json, json_events
from askgraph.llm._failures import connection_failure, status_failure
from askgraph.llm._streams import timed, together
from askgraph.llm.grammars import refuse_grammar

__all__ = ["AnthropicModel"]


class AnthropicModel:
    """Completes through Anthropic's server or one like it; `key_env` names its key's variable.

    `max_tokens` is for requests that set none, as the server wants one. `extra` are further fields
    of the request's body, such as `thinking`. Times are in seconds: to connect, to the first piece
    of the reply, for all of it. All that is sent is logged in the file `sent`. Fails at once;
    `retried` tries again.
    """

    def __init__(
        self,
        model: str,
        *,
        base_url: str = "https://api.anthropic.com",
        key_env: str | None = "ANTHROPIC_API_KEY",
        max_tokens: int = 8_192,
        extra: Mapping[str, object] | None = None,
        connect_timeout: float = 10.0,
        first_timeout: float = 120.0,
        timeout: float = 600.0,
        sent: Path | None = None,
        transport: httpx2.AsyncBaseTransport | None = None,
    ) -> None:
        self._address = checked_url(base_url)
        self._key = Key.of(None if getattr(transport, "offline", False) else key_env)
        self._max_tokens = max_tokens
        self._extra = dict(extra or {})
        settings = json.dumps([max_tokens, self._extra], sort_keys=True)
        self._identity = Identity("anthropic", model, self._address, settings)
        self._first, self._total = first_timeout, timeout
        self._connection = Connection(
            self._library, connect_timeout=connect_timeout, transport=transport, sent=sent
        )
        self._in_words = False

    def __repr__(self) -> str:
        return f"AnthropicModel({self._identity.model!r}, base_url={self._address!r})"

    @property
    def identity(self) -> Identity:
        """Which model answers."""
        return self._identity

    async def complete(
        self, messages: Sequence[Message], **options: Unpack[Options]
    ) -> AsyncGenerator[Event, None]:
        """Send the messages and give the reply as it arrives."""
        request = Request.of(messages, options)
        refuse_beams(request, self.identity)
        refuse_grammar(request, self.identity)
        streams = [
            timed(self._one(request), first=self._first, total=self._total, address=self._address)
            for _ in range(request.n)
        ]
        async with aclosing(together(streams)) as stream:
            async for event in stream:
                yield event

    async def close(self) -> None:
        """Close the connections."""
        await self._connection.close()

    async def _one(self, request: Request) -> AsyncGenerator[Event, None]:
        try:
            async with aclosing(self._sent(request)) as stream:
                async for event in stream:
                    yield event
            return
        except ErrorReply as problem:
            refused = "output_config" in str(problem) or "schema" in str(problem)
            if request.schema is None or self._in_words or not refused:
                raise
            if isinstance(problem, PromptTooLong):
                raise
            self._in_words = True
        async with aclosing(self._sent(request)) as stream:
            async for event in stream:
                yield event

    async def _sent(self, request: Request) -> AsyncGenerator[Event, None]:
        assembly = Assembly(request, model=self._identity.model)
        sent = body(
            request, self._identity.model, in_words=self._in_words, max_tokens=self._max_tokens
        )
        try:
            async with (
                self._connection.library().messages.with_streaming_response.create(
                    **sent, extra_body=self._extra
                ) as reply,
                aclosing(self._read(reply.http_response.aiter_bytes(), assembly)) as stream,
            ):
                async for event in stream:
                    yield event
        except APIStatusError as problem:
            raise status_failure(
                problem.status_code,
                problem.body,
                problem.response.headers,
                address=self._address,
                key=self._key,
            ) from problem
        except (APIError, httpx2.HTTPError) as problem:
            raise connection_failure(problem, self._address, self._key) from problem
        for call in assembly.calls():
            yield call
        yield assembly.completion()

    async def _read(
        self, parts: AsyncGenerator[bytes, None], assembly: Assembly
    ) -> AsyncGenerator[Event, None]:
        blocks: dict[int, Json] = {}
        async with aclosing(
            json_events(parts, address=self._address, last_type="message_stop")
        ) as events:
            async for event in events:
                if event.get("type") == "error":
                    raise status_failure(200, event, {}, address=self._address, key=self._key)
                for part in read_event(event, blocks, assembly):
                    yield part
                if assembly.full:
                    return
        if not assembly.ended:
            raise MalformedReply(f"the reply of {self._address} is cut off, or is no message")

    def _library(self, client: httpx2.AsyncClient) -> AsyncAnthropic:
        headers: dict[str, Any] = {}
        if not self._key.value:
            headers["Authorization"] = Omit()
        return AsyncAnthropic(
            api_key=self._key.value or "none",
            base_url=self._address,
            http_client=client,
            max_retries=0,
            default_headers=headers,
        )
