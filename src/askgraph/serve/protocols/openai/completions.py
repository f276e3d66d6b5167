"""A question's steps as a chat completion: in chunks as they come, or whole at the end."""

import json
import time
from collections.abc import AsyncGenerator, Iterator
from contextlib import aclosing
from dataclasses import dataclass, field

from askgraph.errors import AskgraphError
from askgraph.serve.problems import problem_of
from askgraph.serve.protocols.openai.answers import message_parts
from askgraph.serve.protocols.openai.views import (
    ChatAnswer,
    ChatChoice,
    ChatCompletion,
    ChatReply,
    ChatUsage,
    InputDetails,
    error_of,
)
from askgraph.serve.protocols.step_words import words_of
from askgraph.serve.runs.views import answer_view
from askgraph.trace import Answer, Clarification, Outcome, Refusal, Step, Usage

_ROWS = 100  # in what programs get of the answer


@dataclass(frozen=True)
class Completion:
    """The reply to one request: its run, model and time."""

    run: str
    model: str
    usage: bool = False
    created: int = field(default_factory=lambda: int(time.time()))

    async def whole(self, steps: AsyncGenerator[Step, None]) -> ChatCompletion:
        """Read the steps to the end and return the reply."""
        lines: list[str] = []
        async with aclosing(steps):
            async for step in steps:
                if isinstance(step, Answer | Clarification | Refusal):
                    return self._reply(step, lines)
                lines.append(words_of(step))
        raise AssertionError("steps end with an outcome")

    async def chunks(self, steps: AsyncGenerator[Step, None]) -> AsyncGenerator[str, None]:
        """Yield the reply as server-sent events, step by step; errors are said within."""
        yield self._chunk(ChatReply(role="assistant", content=""))
        try:
            async with aclosing(steps):
                async for step in steps:
                    if isinstance(step, Answer | Clarification | Refusal):
                        for chunk in self._last(step):
                            yield chunk
                    else:
                        yield self._chunk(ChatReply(reasoning_content=f"{words_of(step)}\n"))
        except AskgraphError as error:
            yield _event(error_of(problem_of(error)).model_dump_json())
        yield _event("[DONE]")

    def _reply(self, outcome: Outcome, lines: list[str]) -> ChatCompletion:
        message = ChatReply(
            role="assistant",
            content="\n\n".join(message_parts(outcome, self.run)),
            reasoning_content="\n".join(lines) or None,
            askgraph=self._answer(outcome),
        )
        choice = ChatChoice(message=message, finish_reason="stop")
        view = self._view([choice], _usage(outcome.usage))
        return view.model_copy(update={"object": "chat.completion"})

    def _last(self, outcome: Outcome) -> Iterator[str]:
        """The answer, paragraph by paragraph, then the object for programs, then the costs."""
        for at, part in enumerate(message_parts(outcome, self.run)):
            yield self._chunk(ChatReply(content=f"\n\n{part}" if at else part))
        yield self._chunk(ChatReply(askgraph=self._answer(outcome)))
        yield self._chunk(ChatReply(), finished=True)
        if self.usage:
            yield _event(self._view([], _usage(outcome.usage)).model_dump_json())

    def _answer(self, outcome: Outcome) -> ChatAnswer:
        return ChatAnswer(run=self.run, answer=answer_view(outcome, limit=_ROWS))

    def _chunk(self, delta: ChatReply, *, finished: bool = False) -> str:
        choice = ChatChoice(delta=delta, finish_reason="stop" if finished else None)
        view = self._view([choice], None).model_dump(mode="json")
        [told] = view["choices"]
        del told["message"]
        told["delta"] = delta.model_dump(mode="json", exclude_none=True)
        if delta.askgraph is not None:
            told["delta"]["askgraph"] = delta.askgraph.model_dump(mode="json")
        return _event(json.dumps(view, ensure_ascii=False))

    def _view(self, choices: list[ChatChoice], usage: ChatUsage | None) -> ChatCompletion:
        return ChatCompletion(
            id=f"chatcmpl-{self.run}",
            object="chat.completion.chunk",
            created=self.created,
            model=self.model,
            choices=choices,
            usage=usage,
        )


def _usage(usage: Usage) -> ChatUsage:
    return ChatUsage(
        prompt_tokens=usage.input_tokens,
        completion_tokens=usage.output_tokens,
        total_tokens=usage.input_tokens + usage.output_tokens,
        prompt_tokens_details=InputDetails(cached_tokens=usage.cached_tokens),
    )


def _event(data: str) -> str:
    return f"data: {data}\n\n"
