"""Google's Gemini through its own library, with several choices, seeds and log-probabilities."""

import json
from collections.abc import AsyncGenerator, Mapping, Sequence
from contextlib import aclosing
from pathlib import Path
from typing import Unpack

import httpx2
from google.genai import Client, errors, types

from askgraph.errors import MalformedReply
from askgraph.llm import Event, Identity, Message, Options, Request
from askgraph.llm._assembly import Assembly
from askgraph.llm._beams import refuse_beams
from askgraph.llm._connection import Connection, checked_url
from askgraph.llm._credentials import Key
from askgraph.llm._failures import connection_failure, status_failure
from askgraph.llm._google_wire import config, contents, read_response
from askgraph.llm._streams import timed, topped_up
from askgraph.llm.grammars import refuse_grammar

__all__ = ["GoogleModel"]


class GoogleModel:
    """Completes through Google's server or one like it; `key_env` names its key's variable.

    `extra` are further fields of the request's configuration, such as `thinking_config`. Times are
    in seconds: to connect, to the first piece of the reply, for all of it. All that is sent is
    logged in the file `sent`. Fails at once; `retried` tries again.
    """

    def __init__(
        self,
        model: str,
        *,
        base_url: str = "https://generativelanguage.googleapis.com",
        key_env: str | None = "GEMINI_API_KEY",
        extra: Mapping[str, object] | None = None,
        connect_timeout: float = 10.0,
        first_timeout: float = 120.0,
        timeout: float = 600.0,
        sent: Path | None = None,
        transport: httpx2.AsyncBaseTransport | None = None,
    ) -> None:
        self._address = checked_url(base_url)
        self._key = Key.of(None if getattr(transport, "offline", False) else key_env)
        self._extra = dict(extra or {})
        settings = json.dumps(self._extra, sort_keys=True) if self._extra else ""
        self._identity = Identity("gcp.gemini", model, self._address, settings)
        self._first, self._total = first_timeout, timeout
        self._connection = Connection(
            self._library, connect_timeout=connect_timeout, transport=transport, sent=sent
        )

    def __repr__(self) -> str:
        return f"GoogleModel({self._identity.model!r}, base_url={self._address!r})"

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

        def ask(choices: int, already: int) -> AsyncGenerator[Event, None]:
            return timed(
                self._one(request, choices, already),
                first=self._first,
                total=self._total,
                address=self._address,
            )

        async with aclosing(topped_up(ask, request.n)) as stream:
            async for event in stream:
                yield event

    async def close(self) -> None:
        """Close the connections."""
        await self._connection.close()

    async def _one(
        self, request: Request, choices: int, already: int
    ) -> AsyncGenerator[Event, None]:
        assembly = Assembly(request, model=self._identity.model)
        settings = config(request, choices=choices, already=already) | self._extra
        client = self._connection.library()
        try:
            replies = await client.aio.models.generate_content_stream(
                model=self._identity.model,
                contents=contents(request.messages),
                config=types.GenerateContentConfig.model_validate(settings),
            )
            assert isinstance(replies, AsyncGenerator)
            async with aclosing(replies):
                async for reply in replies:
                    for event in read_response(reply, assembly):
                        yield event
                    if assembly.full:
                        break
        except errors.APIError as problem:
            headers = getattr(problem.response, "headers", None) or {}
            raise status_failure(
                problem.code, problem.details, headers, address=self._address, key=self._key
            ) from problem
        except (httpx2.HTTPError, errors.UnknownApiResponseError, ValueError) as problem:
            raise connection_failure(problem, self._address, self._key) from problem
        if not assembly.full and not assembly.ended:
            raise MalformedReply(f"the reply of {self._address} is cut off, or is no content")
        for call in assembly.calls():
            yield call
        yield assembly.completion()

    def _library(self, client: httpx2.AsyncClient) -> Client:
        return Client(
            api_key=self._key.value or "none",
            vertexai=False,
            http_options=types.HttpOptions(
                base_url=self._address,
                httpx_async_client=client,
                retry_options=types.HttpRetryOptions(attempts=1),
            ),
        )
