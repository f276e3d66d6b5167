"""Responses on the wire (OpenAI's Responses API): requests, replies and the events of a stream.

The steps of a run are the summary of a `reasoning` item, its outcome is a `message`. A response's
id is that of its run, so that `previous_response_id` goes on from what is kept of it. Fields of a
request that are not named here are ignored, as those of a chat are.
"""

import time
from collections.abc import AsyncGenerator, Iterator, Sequence
from contextlib import aclosing
from dataclasses import dataclass, field
from itertools import count
from typing import Literal

from pydantic import BaseModel, Field, TypeAdapter

from askgraph.errors import AskgraphError
from askgraph.server.openai import ChatAnswer, ChatMessage, ChatPart
from askgraph.server.openai.answers import Follows, chat_answer, message_parts, read_to_end
from askgraph.server.problems import problem_of
from askgraph.server.runs import LANGUAGE_TAG
from askgraph.server.runs.events import words_of
from askgraph.trace import Answer, Clarification, Outcome, Refusal, Step

_PREFIX = "resp_"
_JSON: TypeAdapter[object] = TypeAdapter(object)
Status = Literal["in_progress", "completed", "failed"]


class ResponseInput(BaseModel):
    """An item of the input; only messages are read."""

    type: str = "message"
    role: Literal["system", "developer", "user", "assistant"] | None = None
    content: str | list[ChatPart] | None = None


class ResponseBody(BaseModel):
    """A question, or a conversation whose last message is one."""

    model: str = Field(max_length=300, description="`askgraph`, METHOD or METHOD@GRAPH.")
    input: str | list[ResponseInput] = Field(description="The question, or the conversation.")
    instructions: str | None = Field(None, description="Sent back; it means nothing to a graph.")
    previous_response_id: str | None = Field(
        None, max_length=100, description="The response that the question goes on from."
    )
    stream: bool | None = False
    background: bool | None = Field(False, description="Not here.")
    metadata: dict[str, str] | None = Field(None, max_length=16, description="Sent back.")
    graph: str | None = Field(None, max_length=200, description="The graph to ask.")
    graphs: list[str] | None = Field(None, max_length=20, description="The graphs to ask as one.")
    language: str | None = Field(None, pattern=LANGUAGE_TAG, description="A BCP 47 tag.")

    @property
    def messages(self) -> list[ChatMessage]:
        """The input as a conversation."""
        if isinstance(self.input, str):
            return [ChatMessage(role="user", content=self.input)]
        spoken = (one for one in self.input if one.role and one.type == "message")
        return [ChatMessage.model_validate(one.model_dump(exclude={"type"})) for one in spoken]


class OutputText(BaseModel):
    """The text of a message, in Markdown."""

    type: Literal["output_text"] = "output_text"
    text: str = ""
    annotations: list[str] = []
    logprobs: list[str] = []


class OutputMessage(BaseModel):
    """The answer as a message."""

    type: Literal["message"] = "message"
    id: str
    role: Literal["assistant"] = "assistant"
    status: Literal["in_progress", "completed"]
    content: list[OutputText]


class SummaryText(BaseModel):
    """What was done, line by line."""

    type: Literal["summary_text"] = "summary_text"
    text: str = ""


class OutputReasoning(BaseModel):
    """How the answer was found."""

    type: Literal["reasoning"] = "reasoning"
    id: str
    status: Literal["in_progress", "completed"]
    summary: list[SummaryText]


class CachedTokens(BaseModel):
    """How many of the tokens came from a cache, and went to one."""

    cached_tokens: int
    cache_write_tokens: int = 0


class OutputDetails(BaseModel):
    """How many of the tokens were no answer."""

    reasoning_tokens: int = 0


class ResponseUsage(BaseModel):
    """The tokens of language models that were asked; all 0 if none was."""

    input_tokens: int
    input_tokens_details: CachedTokens
    output_tokens: int
    output_tokens_details: OutputDetails = OutputDetails()
    total_tokens: int


class ResponseFault(BaseModel):
    """Why a response failed after its stream began."""

    code: str
    message: str


class ResponseView(BaseModel):
    """A response, complete or under way."""

    id: str
    object: Literal["response"] = "response"
    created_at: int = Field(description="Seconds since 1970.")
    completed_at: int | None = None
    status: Status
    model: str
    output: list[OutputReasoning | OutputMessage] = []
    error: ResponseFault | None = None
    incomplete_details: None = None
    instructions: str | None = None
    previous_response_id: str | None = None
    metadata: dict[str, str] = {}
    usage: ResponseUsage | None = None
    parallel_tool_calls: bool = False
    tool_choice: Literal["none"] = "none"
    tools: list[str] = []
    temperature: None = None
    top_p: None = None
    store: bool = True
    askgraph: ChatAnswer | None = Field(None, description="The answer for programs.")


def run_of(response: str) -> str:
    """Return the run of a response by its id."""
    return response.removeprefix(_PREFIX)


@dataclass(frozen=True)
class ResponseReply:
    """The reply to one request: its run, and when it began."""

    run: str
    body: ResponseBody
    follows: Follows
    created: int = field(default_factory=lambda: int(time.time()))

    async def whole(self, steps: AsyncGenerator[Step, None]) -> ResponseView:
        """Read the steps to the end and return the response."""
        outcome, lines = await read_to_end(steps)
        return self._completed(outcome, lines, await self.follows(outcome))

    async def events(self, steps: AsyncGenerator[Step, None]) -> AsyncGenerator[str, None]:
        """Yield the response as server-sent events, step by step; an error is the last of them."""
        numbers = count()

        def told(kind: str, **content: object) -> str:
            return _event(f"response.{kind}", next(numbers), content)

        yield told("created", response=self._view("in_progress"))
        yield told("in_progress", response=self._view("in_progress"))
        lines: list[str] = []
        reasoning = {"item_id": self._reasoning([]).id, "output_index": 0, "summary_index": 0}
        try:
            async with aclosing(steps):
                async for step in steps:
                    if isinstance(step, Answer | Clarification | Refusal):
                        following = await self.follows(step)
                        for kind, content in self._ended(step, lines, following):
                            yield told(kind, **content)
                        break
                    if not lines:
                        item = self._reasoning([], "in_progress")
                        yield told("output_item.added", output_index=0, item=item)
                        part = SummaryText()
                        yield told("reasoning_summary_part.added", **reasoning, part=part)
                    lines.append(words_of(step))
                    delta = f"{lines[-1]}\n"
                    yield told("reasoning_summary_text.delta", **reasoning, delta=delta)
        except AskgraphError as error:
            problem = problem_of(error)
            code = "rate_limit_exceeded" if problem.status == 429 else "server_error"
            fault = ResponseFault(code=code, message=problem.detail)
            failed = self._view("failed").model_copy(update={"error": fault})
            yield told("failed", response=failed)

    def _ended(
        self, outcome: Outcome, lines: list[str], following: Sequence[str]
    ) -> Iterator[tuple[str, dict[str, object]]]:
        """The events of an outcome: the summary ends, the message comes, then all is complete."""
        at = int(bool(lines))
        if lines:
            thought = self._reasoning(lines)
            place = {"item_id": thought.id, "output_index": 0, "summary_index": 0}
            yield "reasoning_summary_text.done", {**place, "text": thought.summary[0].text}
            yield "reasoning_summary_part.done", {**place, "part": thought.summary[0]}
            yield "output_item.done", {"output_index": 0, "item": thought}
        message = self._message(outcome, following)
        empty = message.model_copy(update={"status": "in_progress", "content": []})
        yield "output_item.added", {"output_index": at, "item": empty}
        place = {"item_id": message.id, "output_index": at, "content_index": 0}
        yield "content_part.added", {**place, "part": OutputText()}
        for number, part in enumerate(message_parts(outcome, following)):
            delta = f"\n\n{part}" if number else part
            yield "output_text.delta", {**place, "delta": delta, "logprobs": []}
        [text] = message.content
        yield "output_text.done", {**place, "text": text.text, "logprobs": []}
        yield "content_part.done", {**place, "part": text}
        yield "output_item.done", {"output_index": at, "item": message}
        yield "completed", {"response": self._completed(outcome, lines, following)}

    def _completed(
        self, outcome: Outcome, lines: list[str], following: Sequence[str]
    ) -> ResponseView:
        thought, usage = [self._reasoning(lines)] if lines else [], outcome.usage
        return self._view("completed").model_copy(
            update={
                "output": [*thought, self._message(outcome, following)],
                "completed_at": int(time.time()),
                "usage": ResponseUsage(
                    input_tokens=usage.input_tokens,
                    input_tokens_details=CachedTokens(cached_tokens=usage.cached_tokens),
                    output_tokens=usage.output_tokens,
                    total_tokens=usage.input_tokens + usage.output_tokens,
                ),
                "askgraph": chat_answer(self.run, outcome, following),
            }
        )

    def _reasoning(
        self, lines: list[str], status: Literal["in_progress", "completed"] = "completed"
    ) -> OutputReasoning:
        summary = [SummaryText(text="".join(f"{line}\n" for line in lines))] if lines else []
        return OutputReasoning(id=f"rs_{self.run}", status=status, summary=summary)

    def _message(self, outcome: Outcome, following: Sequence[str]) -> OutputMessage:
        text = OutputText(text="\n\n".join(message_parts(outcome, following)))
        return OutputMessage(id=f"msg_{self.run}", status="completed", content=[text])

    def _view(self, status: Status) -> ResponseView:
        return ResponseView(
            id=f"{_PREFIX}{self.run}",
            created_at=self.created,
            status=status,
            model=self.body.model,
            instructions=self.body.instructions,
            previous_response_id=self.body.previous_response_id,
            metadata=self.body.metadata or {},
        )


def _event(kind: str, number: int, content: dict[str, object]) -> str:
    data = _JSON.dump_json({"type": kind, "sequence_number": number, **content}).decode()
    return f"event: {kind}\ndata: {data}\n\n"
