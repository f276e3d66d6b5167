"""OpenAI's Responses API: requests, replies and the events of a stream.

The steps of a run are the summary of a `reasoning` item, its outcome is a `message`. The id of a
response contains the id of its run, so `previous_response_id` identifies the earlier question.
Unknown fields of a request are ignored, as in chat requests.
"""

import time
from collections.abc import AsyncGenerator, Iterator, Sequence
from contextlib import aclosing
from dataclasses import dataclass, field
from itertools import count
from typing import Literal

from pydantic import BaseModel, Field, TypeAdapter

from askgraph.errors import AskgraphError
from askgraph.server.openai import ChatAnswer, ChatMessage, ChatPart, answers
from askgraph.server.problems import to_problem
from askgraph.server.runs import LANGUAGE_TAG_PATTERN
from askgraph.server.runs.events import describe_step
from askgraph.trace import Answer, Clarification, Outcome, Refusal, Step

_ID_PREFIX = "resp_"
_JSON: TypeAdapter[object] = TypeAdapter(object)
ResponseStatus = Literal["in_progress", "completed", "failed"]


class ResponseInput(BaseModel):
    """An item of the input; only messages are read."""

    type: str = "message"
    role: Literal["system", "developer", "user", "assistant"] | None = None
    content: str | list[ChatPart] | None = None


class ResponseBody(BaseModel):
    """A question, or a conversation that ends with one."""

    model: str = Field(max_length=300, description="`askgraph`, METHOD or METHOD@GRAPH.")
    input: str | list[ResponseInput] = Field(description="The question, or the conversation.")
    instructions: str | None = Field(None, description="Returned unchanged, without effect.")
    previous_response_id: str | None = Field(
        None, max_length=100, description="The response that this question follows."
    )
    stream: bool | None = False
    background: bool | None = Field(False, description="Not here.")
    metadata: dict[str, str] | None = Field(None, max_length=16, description="Sent back.")
    graph: str | None = Field(None, max_length=200, description="The graph to ask.")
    graphs: list[str] | None = Field(None, max_length=20, description="The graphs to ask as one.")
    language: str | None = Field(None, pattern=LANGUAGE_TAG_PATTERN, description="A BCP 47 tag.")

    @property
    def messages(self) -> list[ChatMessage]:
        """The input as a conversation."""
        if isinstance(self.input, str):
            return [ChatMessage(role="user", content=self.input)]
        messages = (message for message in self.input if message.role and message.type == "message")
        return [
            ChatMessage.model_validate(message.model_dump(exclude={"type"})) for message in messages
        ]


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
    """The steps of the run, one per line."""

    type: Literal["summary_text"] = "summary_text"
    text: str = ""


class OutputReasoning(BaseModel):
    """The steps that led to the answer."""

    type: Literal["reasoning"] = "reasoning"
    id: str
    status: Literal["in_progress", "completed"]
    summary: list[SummaryText]


class ResponseInputDetails(BaseModel):
    """The number of input tokens read from a cache and written to it."""

    cached_tokens: int
    cache_write_tokens: int = 0


class ResponseOutputDetails(BaseModel):
    """The number of reasoning tokens in the output."""

    reasoning_tokens: int = 0


class ResponseUsage(BaseModel):
    """Token usage of language models; all 0 if no model was used."""

    input_tokens: int
    input_tokens_details: ResponseInputDetails
    output_tokens: int
    output_tokens_details: ResponseOutputDetails = ResponseOutputDetails()
    total_tokens: int


class ResponseFault(BaseModel):
    """The reason that a response failed after its stream began."""

    code: str
    message: str


class ResponseView(BaseModel):
    """A response, complete or in progress."""

    id: str
    object: Literal["response"] = "response"
    created_at: int = Field(description="Seconds since 1970.")
    completed_at: int | None = None
    status: ResponseStatus
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


def parse_run_id(response_id: str) -> str:
    """Return the id of the run of a response."""
    return response_id.removeprefix(_ID_PREFIX)


@dataclass(frozen=True)
class ResponseBuilder:
    """The reply to one request; `created` is in seconds since 1970."""

    run: str
    body: ResponseBody
    suggest_following: answers.FollowingSuggester
    created: int = field(default_factory=lambda: int(time.time()))

    async def build_response(self, steps: AsyncGenerator[Step, None]) -> ResponseView:
        """Read all steps and return the response."""
        outcome, lines = await answers.read_to_end(steps)
        return self._build_completed(outcome, lines, await self.suggest_following(outcome))

    async def stream_events(self, steps: AsyncGenerator[Step, None]) -> AsyncGenerator[str, None]:
        """Yield the response as server-sent events, step by step; an error is the last event."""
        numbers = count()

        def format_next(kind: str, **content: object) -> str:
            return _format_event(f"response.{kind}", next(numbers), content)

        yield format_next("created", response=self._build_view("in_progress"))
        yield format_next("in_progress", response=self._build_view("in_progress"))
        lines: list[str] = []
        reasoning = {"item_id": self._build_reasoning([]).id, "output_index": 0, "summary_index": 0}
        try:
            async with aclosing(steps):
                async for step in steps:
                    if isinstance(step, Answer | Clarification | Refusal):
                        following = await self.suggest_following(step)
                        for kind, content in self._end_events(step, lines, following):
                            yield format_next(kind, **content)
                        break
                    if not lines:
                        item = self._build_reasoning([], "in_progress")
                        yield format_next("output_item.added", output_index=0, item=item)
                        part = SummaryText()
                        yield format_next("reasoning_summary_part.added", **reasoning, part=part)
                    lines.append(describe_step(step))
                    delta = f"{lines[-1]}\n"
                    yield format_next("reasoning_summary_text.delta", **reasoning, delta=delta)
        except AskgraphError as error:
            problem = to_problem(error)
            code = "rate_limit_exceeded" if problem.status == 429 else "server_error"
            fault = ResponseFault(code=code, message=problem.detail)
            failed = self._build_view("failed").model_copy(update={"error": fault})
            yield format_next("failed", response=failed)

    def _end_events(
        self, outcome: Outcome, lines: list[str], following: Sequence[str]
    ) -> Iterator[tuple[str, dict[str, object]]]:
        index = int(bool(lines))
        if lines:
            reasoning = self._build_reasoning(lines)
            position = {"item_id": reasoning.id, "output_index": 0, "summary_index": 0}
            yield "reasoning_summary_text.done", {**position, "text": reasoning.summary[0].text}
            yield "reasoning_summary_part.done", {**position, "part": reasoning.summary[0]}
            yield "output_item.done", {"output_index": 0, "item": reasoning}
        message = self._build_message(outcome, following)
        empty = message.model_copy(update={"status": "in_progress", "content": []})
        yield "output_item.added", {"output_index": index, "item": empty}
        position = {"item_id": message.id, "output_index": index, "content_index": 0}
        yield "content_part.added", {**position, "part": OutputText()}
        for number, part in enumerate(answers.format_message(outcome, following)):
            delta = f"\n\n{part}" if number else part
            yield "output_text.delta", {**position, "delta": delta, "logprobs": []}
        [text] = message.content
        yield "output_text.done", {**position, "text": text.text, "logprobs": []}
        yield "content_part.done", {**position, "part": text}
        yield "output_item.done", {"output_index": index, "item": message}
        yield "completed", {"response": self._build_completed(outcome, lines, following)}

    def _build_completed(
        self, outcome: Outcome, lines: list[str], following: Sequence[str]
    ) -> ResponseView:
        reasoning, usage = [self._build_reasoning(lines)] if lines else [], outcome.usage
        return self._build_view("completed").model_copy(
            update={
                "output": [*reasoning, self._build_message(outcome, following)],
                "completed_at": int(time.time()),
                "usage": ResponseUsage(
                    input_tokens=usage.input_tokens,
                    input_tokens_details=ResponseInputDetails(cached_tokens=usage.cached_tokens),
                    output_tokens=usage.output_tokens,
                    total_tokens=usage.input_tokens + usage.output_tokens,
                ),
                "askgraph": answers.create_chat_answer(self.run, outcome, following),
            }
        )

    def _build_reasoning(
        self, lines: list[str], status: Literal["in_progress", "completed"] = "completed"
    ) -> OutputReasoning:
        summary = [SummaryText(text="".join(f"{line}\n" for line in lines))] if lines else []
        return OutputReasoning(id=f"rs_{self.run}", status=status, summary=summary)

    def _build_message(self, outcome: Outcome, following: Sequence[str]) -> OutputMessage:
        text = OutputText(text="\n\n".join(answers.format_message(outcome, following)))
        return OutputMessage(id=f"msg_{self.run}", status="completed", content=[text])

    def _build_view(self, status: ResponseStatus) -> ResponseView:
        return ResponseView(
            id=f"{_ID_PREFIX}{self.run}",
            created_at=self.created,
            status=status,
            model=self.body.model,
            instructions=self.body.instructions,
            previous_response_id=self.body.previous_response_id,
            metadata=self.body.metadata or {},
        )


def _format_event(kind: str, number: int, content: dict[str, object]) -> str:
    data = _JSON.dump_json({"type": kind, "sequence_number": number, **content}).decode()
    return f"event: {kind}\ndata: {data}\n\n"
