"""A language model with a script: for tests, demonstrations and estimates."""

import asyncio
from collections.abc import AsyncGenerator, Callable, Sequence
from typing import Unpack

from askgraph import llm
from askgraph.errors import AskgraphError, SetupError
from askgraph.llm import estimated_usage

__all__ = ["ScriptedModel"]

Reply = str | llm.ToolCall | llm.Choice | Sequence[llm.Choice] | llm.Completion | AskgraphError


class ScriptedModel:
    """Replies with the script in order, or with the function's reply to each request.

    A reply is a text, a tool call, one choice, several choices, a whole completion, or an error to
    raise. One choice stands for all that a request wants. `delay` is in seconds before each reply.
    `requests` are those that came. Usage is estimated from the text. Raises `SetupError` if the
    script is at its end.
    """

    def __init__(
        self,
        replies: Sequence[Reply] | Callable[[llm.Request], Reply],
        *,
        delay: float = 0.0,
        model: str = "scripted",
    ) -> None:
        self.requests: list[llm.Request] = []
        self._replies = replies
        self.delay = delay
        self._identity = llm.Identity("scripted", model)

    @property
    def identity(self) -> llm.Identity:
        """The name it was given."""
        return self._identity

    async def complete(
        self, messages: Sequence[llm.Message], **options: Unpack[llm.Options]
    ) -> AsyncGenerator[llm.Event, None]:
        """Stream the next reply, line by line."""
        request = llm.Request.of(messages, options)
        self.requests.append(request)
        reply = self._reply(request, len(self.requests))
        if self.delay:
            await asyncio.sleep(self.delay)
        whole = self._whole(reply, request)
        for part in whole.parts():
            yield part
        yield whole

    async def close(self) -> None:
        """Do nothing: there is nothing to give back."""

    def _reply(self, request: llm.Request, number: int) -> Reply:
        if callable(self._replies):
            return self._replies(request)
        if number > len(self._replies):
            raise SetupError(f"the script has {len(self._replies)} replies; this is call {number}")
        return self._replies[number - 1]

    def _whole(self, reply: Reply, request: llm.Request) -> llm.Completion:
        match reply:
            case AskgraphError():
                raise reply
            case llm.Completion():
                return reply
            case str():
                choices = (llm.Choice(reply),) * request.n
            case llm.ToolCall():
                choices = (llm.Choice(calls=(reply,), finish=llm.Finish.CALLS),) * request.n
            case llm.Choice():
                choices = (reply,) * request.n
            case _:
                choices = tuple(reply)
        return llm.Completion(choices, estimated_usage(request, choices), self._identity.model)
