"""Any server that speaks OpenAI's Chat Completions: OpenAI, vLLM, Ollama, llama.cpp, Mistral, ….

Only the part of the protocol that these share is used, and a server that lacks some of it is asked
without: a parameter that it refuses is left out from then on, a schema is asked for in words.
"""

from collections.abc import AsyncGenerator, Sequence
from contextlib import aclosing
from dataclasses import dataclass
from typing import Any, Unpack

import httpx2
from openai import APIError, APIStatusError, AsyncOpenAI, Omit

from askgraph.errors import ErrorReply, MalformedReply, PromptTooLong
from askgraph.llm import Event, Message, Options, Request
from askgraph.llm._connection import ModelServer
from askgraph.llm._openai_wire import (
    BEAMS,
    LENGTH_NAMES,
    Lacks,
    body,
    length_name_for,
    read_chunk,
    read_whole,
    refused_parameter,
)
from askgraph.llm._streams import (
    Assembly,
    Json,
    beams_of,
    json_events,
    no_beams,
    read_object,
    topped_up,
)
from askgraph.llm.structured import refuse_grammar

__all__ = ["OpenAIModel"]


_NOT_FROM_THE_ENVIRONMENT: Any = {"OpenAI-Organization": Omit(), "OpenAI-Project": Omit()}
_NO_KEY: Any = {"Authorization": Omit()}


@dataclass(eq=False, repr=False)
class OpenAIModel(ModelServer[AsyncOpenAI]):
    """Completes through the server at `base_url`; `key_env` names the variable with its key.

    `extra` are further fields of the request's body, such as vLLM's `use_beam_search`. The times
    are in seconds: to connect, to the first piece of text, reasoning or call, and for all of it.
    A reply of more than 8 MiB ends in `MalformedReply`, one of more than 400,000 characters is cut.
    All that is sent is logged in the file `sent`. Fails at once; `retried` tries again.
    """

    provider = "openai"

    base_url: str = "https://api.openai.com/v1"

    def __post_init__(self) -> None:
        super().__post_init__()
        self._no_key = None if self._key.value else _NO_KEY
        self._lacks = length_name_for(self._address)
        self._renamed = False

    async def complete(
        self, messages: Sequence[Message], **options: Unpack[Options]
    ) -> AsyncGenerator[Event, None]:
        """Send the messages and stream the reply."""
        request = Request.of(messages, options)
        refuse_grammar(request, self.identity)

        def ask(choices: int, already: int) -> AsyncGenerator[Event, None]:
            return self._timed(self._one(request, choices, already))

        choices = (
            beams_of(ask(request.n, 0), request.n, self._identity)
            if request.beams
            else topped_up(ask, request.n)
        )
        async with aclosing(choices) as stream:
            async for event in stream:
                yield event

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
                self._lack(refused)

    def _lack(self, name: str) -> None:
        """Remember a refused parameter; the length has a second name to be tried."""
        self._lacks.add(name)
        if name in LENGTH_NAMES and not self._renamed:
            self._renamed = True
            self._lacks -= set(LENGTH_NAMES) - {name}

    async def _sent(self, sent: Json, request: Request) -> AsyncGenerator[Event, None]:
        assembly = Assembly(request, model=self.model)
        try:
            async with self._connection.library().chat.completions.with_streaming_response.create(
                **sent, extra_body=dict(self.extra) | _further(request), extra_headers=self._no_key
            ) as reply:
                kind = reply.headers.get("content-type", "")
                async with aclosing(
                    self._read(reply.http_response.aiter_bytes(), kind, assembly)
                ) as stream:
                    async for event in stream:
                        yield event
        except APIStatusError as problem:
            raise self._status_failure(
                problem.status_code, problem.body, problem.response.headers
            ) from problem
        except (APIError, httpx2.HTTPError) as problem:
            raise self._connection_failure(problem) from problem
        for call in assembly.calls():
            yield call
        yield assembly.completion()

    async def _read(
        self, parts: AsyncGenerator[bytes, None], kind: str, assembly: Assembly
    ) -> AsyncGenerator[Event, None]:
        if "json" in kind:
            whole = b"".join([part async for part in parts])
            reply = read_object(whole, address=self._address)
            self._raise_error_in(reply)
            for event in read_whole(reply, assembly):
                yield event
        else:
            async with aclosing(json_events(parts, address=self._address)) as chunks:
                async for chunk in chunks:
                    self._raise_error_in(chunk)
                    for event in read_chunk(chunk, assembly):
                        yield event
                    if assembly.full:
                        return
        if not assembly.ended:
            raise MalformedReply(f"the reply of {self._address} is cut off, or is no completion")

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
