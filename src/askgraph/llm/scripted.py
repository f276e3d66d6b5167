"""A language model with scripted replies: for tests, demonstrations and estimates."""

import asyncio
from collections.abc import AsyncGenerator, Callable, Sequence
from typing import Unpack

from askgraph import llm
from askgraph.errors import AskgraphError, SetupError
from askgraph.llm import estimate_usage

__all__ = ["ScriptedModel"]

ScriptedReply = (
    str | llm.ToolCall | llm.Choice | Sequence[llm.Choice] | llm.Completion | AskgraphError
)


class ScriptedModel:
    """Replies with the script in order, or with a function's reply to each request.

    A reply is a text, a tool call, one choice, several choices, a complete completion, or an
    error to raise. A single choice serves for all requested choices. `delay` is in seconds
    before each reply. `requests` are the received requests. Usage is estimated from the text.

    Raises:
        SetupError: the script is at its end.
    """

    def __init__(
        self,
        replies: Sequence[ScriptedReply] | Callable[[llm.Request], ScriptedReply],
        *,
        delay: float = 0.0,
        model: str = "scripted",
    ) -> None:
        self.requests: list[llm.Request] = []
        self._replies = replies
        self.delay = delay
        self.identity = llm.Identity("scripted", model)

    async def complete(
        self, messages: Sequence[llm.Message], **options: Unpack[llm.Options]
    ) -> AsyncGenerator[llm.Event, None]:
        """Stream the next reply, line by line."""
        request = llm.Request.from_options(messages, options)
        self.requests.append(request)
        number = len(self.requests)
        if callable(self._replies):
            reply = self._replies(request)
        elif number > len(self._replies):
            raise SetupError(f"the script has {len(self._replies)} replies; this is call {number}")
        else:
            reply = self._replies[number - 1]
        if self.delay:
            await asyncio.sleep(self.delay)
        completion = self._build_completion(reply, request)
        for part in completion.iterate_parts():
            yield part
        yield completion

    async def close(self) -> None:
        """Do nothing: there are no resources to release."""

    def _build_completion(self, reply: ScriptedReply, request: llm.Request) -> llm.Completion:
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
        return llm.Completion(choices, estimate_usage(request, choices), self.identity.model)
