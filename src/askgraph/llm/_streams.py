"""Streams of events: parse, assemble, limit and merge them."""

import asyncio
import contextlib
import json
import re
import time
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Hashable, Iterator, Sequence
from contextlib import aclosing
from dataclasses import dataclass, field, replace
from typing import Any

from askgraph import llm
from askgraph.errors import MalformedReply, SetupError, TimedOut
from askgraph.llm import estimate_usage

Stream = AsyncGenerator[llm.Event, None]


async def limit_time(
    stream: Stream, *, first_timeout: float, total_timeout: float, address: str
) -> Stream:
    """Relay a stream.

    Args:
        first_timeout: seconds until the first event.
        total_timeout: seconds until the end.

    Raises:
        TimedOut: the first event or the end is late.
    """
    started_at = time.monotonic()
    limit, expected_content = started_at + min(first_timeout, total_timeout), "nothing"
    async with aclosing(stream):
        while True:
            try:
                async with asyncio.timeout(max(0.0, limit - time.monotonic())):
                    event = await anext(stream)
            except StopAsyncIteration:
                return
            except TimeoutError as problem:
                seconds = limit - started_at
                setting = "first_timeout" if expected_content == "nothing" else "timeout"
                raise TimedOut(
                    f"{address} sent {expected_content} within {seconds:g} seconds; if the "
                    f"server is slow, raise the model's setting `{setting}`"
                ) from problem
            limit, expected_content = started_at + total_timeout, "no complete reply"
            yield event


async def request_all_choices(ask: Callable[[int, int], Stream], choice_count: int) -> Stream:
    """Send requests until there are enough choices.

    `ask(choices, already)` streams at most `choices` choices. The first request is for all of
    them; if fewer arrive, the rest is requested one by one, in parallel.
    """
    completion: llm.Completion | None = None
    async with aclosing(ask(choice_count, 0)) as stream:
        async for event in stream:
            if isinstance(event, llm.Completion):
                completion = event
            else:
                yield event
    if completion is None:
        return
    received_count = len(completion.choices)
    if received_count < choice_count:
        further_streams = [ask(1, already) for already in range(received_count, choice_count)]
        async with aclosing(merge_streams(further_streams, already=received_count)) as stream:
            async for event in stream:
                if not isinstance(event, llm.Completion):
                    yield event
                    continue
                completion = replace(
                    completion,
                    choices=completion.choices + event.choices,
                    usage=completion.usage + event.usage,
                )
    yield completion


async def merge_streams(streams: Sequence[Stream], *, already: int = 0) -> Stream:
    """Read streams of one choice each in parallel; their choices are numbered from `already` on."""
    queue: asyncio.Queue[tuple[int, llm.Event | None]] = asyncio.Queue()
    tasks = [
        asyncio.create_task(_enqueue_events(index, single_stream, queue))
        for index, single_stream in enumerate(streams)
    ]
    completions: dict[int, llm.Completion] = {}
    try:
        while len(completions) < len(streams):
            index, event = await queue.get()
            if event is None:
                await tasks[index]
            elif isinstance(event, llm.Completion):
                completions[index] = event
            else:
                yield (
                    event
                    if isinstance(event, llm.Restart)
                    else replace(event, choice=already + index)
                )
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
    ordered_completions = [completions[index] for index in range(len(streams))]
    choices = tuple(
        choice for single_stream in ordered_completions for choice in single_stream.choices[:1]
    )
    usage = sum((single_stream.usage for single_stream in ordered_completions), llm.TokenUsage())
    yield replace(ordered_completions[0], choices=choices, usage=usage)


async def _enqueue_events(
    index: int, stream: Stream, queue: asyncio.Queue[tuple[int, llm.Event | None]]
) -> None:
    """Put all events into the queue, and None once the stream ends, with or without an error."""
    try:
        async with aclosing(stream):
            async for event in stream:
                queue.put_nowait((index, event))
                if isinstance(event, llm.Completion):
                    return
        raise MalformedReply("the stream of a language model ended without a completion")
    finally:
        queue.put_nowait((index, None))


def build_beam_error(identity: llm.Identity, reason: str) -> SetupError:
    """Return the error for a missing beam search, with alternatives."""
    return SetupError(
        f"the model {identity.model!r} cannot do a beam search: {reason}. vLLM can; elsewhere take "
        "samples, or ask for several replies in words"
    )


def reject_beams(request: llm.Request, identity: llm.Identity) -> None:
    """Raise `SetupError` if a request to a provider without beam search requests beams."""
    if request.beams:
        raise build_beam_error(identity, "its provider offers none")


async def check_beams(stream: Stream, beam_count: int, identity: llm.Identity) -> Stream:
    """Relay a stream; `SetupError` if the replies cannot be beams."""
    # A server that silently ignores beams returns fewer replies than requested, or, at temperature
    # 0, the same reply repeatedly; beams all differ.
    async with aclosing(stream):
        async for event in stream:
            if isinstance(event, llm.Completion):
                texts = {choice.text for choice in event.choices}
                if len(event.choices) < beam_count or (beam_count > 1 and len(texts) == 1):
                    raise build_beam_error(
                        identity,
                        f"{beam_count} beams were requested, but {len(texts)} different "
                        "replies came back",
                    )
            yield event


Json = dict[str, Any]
DONE_MARK = b"[DONE]"
DONE_EVENT: Json = {}  # stands for `[DONE]`; known by its identity
DRAIN_SECONDS = 1.0  # seconds


async def parse_json_events(
    parts: AsyncGenerator[bytes, None], *, address: str, last_type: str = ""
) -> AsyncGenerator[Json, None]:
    """Yield the JSON object of each event up to `DONE_EVENT`, an event of `last_type`, or the end.

    Lines only end at line feeds: U+2028 and the like may occur inside JSON. A cut-off last
    event is dropped; the caller notices the missing end.

    Raises:
        MalformedReply: data is not a JSON object.
    """
    async with aclosing(parts):
        async for data in _split_events(parts):
            if data.strip() == DONE_MARK:
                await _drain(parts)
                yield DONE_EVENT
                return
            event = parse_object(data, address=address)
            yield event
            if last_type and event.get("type") == last_type:
                await _drain(parts)
                return


def parse_object(text: bytes, *, address: str) -> Json:
    """Parse a JSON object that a server sent; `MalformedReply` for anything else."""
    try:
        value = json.loads(text)
    except (ValueError, RecursionError) as problem:
        raise MalformedReply(f"{address} did not send JSON: {_excerpt(text)}") from problem
    if not isinstance(value, dict):
        raise MalformedReply(f"{address} sent JSON that is not an object: {_excerpt(text)}")
    return value


UNREADABLE_KEY = "unreadable"


def parse_arguments(call: llm.ToolCall) -> Json:
    """Return the arguments of a call; text that is not a JSON object becomes a single argument."""
    try:
        value = json.loads(call.arguments, strict=False)
    except (ValueError, RecursionError):
        value = None
    return value if isinstance(value, dict) else {UNREADABLE_KEY: call.arguments}


async def _split_events(parts: AsyncIterator[bytes]) -> AsyncGenerator[bytes, None]:
    """Yield the data of each complete event."""
    buffer = bytearray()
    data: list[bytes] = []
    async for part in parts:
        buffer += part
        if b"\n" not in part:
            continue
        *lines, last = buffer.split(b"\n")
        buffer = bytearray(last)
        for line in lines:
            text = line.rstrip(b"\r")
            if text.startswith(b"data:"):
                data.append(bytes(text[5:]).removeprefix(b" "))
            elif not text and data:
                yield b"\n".join(data)
                data = []


async def _drain(parts: AsyncIterator[bytes]) -> None:
    """Read the remaining data for a short time, so that the connection can be reused."""
    with contextlib.suppress(TimeoutError):
        async with asyncio.timeout(DRAIN_SECONDS):
            async for _ in parts:
                pass


def _excerpt(text: bytes) -> str:
    return repr(text[:80].decode("utf-8", "replace"))


MAX_REPLY_CHARACTERS = 400_000  # of all choices; more is a model that does not stop


@dataclass
class _PartialCall:
    id: str = ""
    name: str = ""
    arguments: list[str] = field(default_factory=list)


@dataclass
class _PartialChoice:
    text: list[str] = field(default_factory=list)
    reasoning: list[str] = field(default_factory=list)
    refusal: list[str] = field(default_factory=list)
    calls: dict[Hashable, _PartialCall] = field(default_factory=dict)
    logprobs: list[llm.TokenLogprob] = field(default_factory=list)
    finish: llm.Finish | None = None
    opaque: str = ""


class ReplyAssembler:
    """Collects the pieces of all choices of a reply.

    `is_full` becomes true at the size limit of replies: the reader stops there, and the choices
    count as cut off. `model`, `id` and `usage` are set when the server sends them.
    """

    def __init__(
        self,
        request: llm.Request,
        *,
        model: str,
        clean: Callable[[llm.Choice], llm.Choice] = lambda choice: choice,
    ) -> None:
        self.model = model
        self.id = ""
        self.usage: llm.TokenUsage | None = None
        self._request = request
        self._clean = clean
        self._drafts: dict[int, _PartialChoice] = {}
        self._size = 0

    @property
    def is_full(self) -> bool:
        """Whether no further parts should be read."""
        return self._size > MAX_REPLY_CHARACTERS

    @property
    def is_complete(self) -> bool:
        """Whether every choice has ended; false without choices."""
        drafts = self._drafts.values()
        return bool(drafts) and all(draft.finish is not None for draft in drafts)

    def add_text(self, text: str, choice: int = 0) -> llm.TextPart:
        """Add text."""
        self._get_partial_choice(choice, text).text.append(text)
        return llm.TextPart(_join_text([text]), choice)

    def add_reasoning(self, text: str, choice: int = 0) -> llm.ReasoningPart:
        """Add reasoning."""
        self._get_partial_choice(choice, text).reasoning.append(text)
        return llm.ReasoningPart(_join_text([text]), choice)

    def add_refusal(self, text: str, choice: int = 0) -> None:
        """Add the text of a refusal."""
        self._get_partial_choice(choice, text).refusal.append(text)

    def add_call(
        self, key: Hashable, *, id: str = "", name: str = "", arguments: str = "", choice: int = 0
    ) -> None:
        """Add to the tool call with this key."""
        # A new id under an existing key starts a new call: some servers number all their calls 0.
        calls = self._get_partial_choice(choice, arguments).calls
        while (existing := calls.get(key)) and id and existing.id and existing.id != id:
            key = ("after", key)
        call = calls.setdefault(key, _PartialCall())
        call.id = call.id or id
        call.name = call.name or name
        call.arguments.append(arguments)

    def add_logprob(self, token: str, logprob: float, choice: int = 0) -> None:
        """Add the log-probability of a token."""
        self._get_partial_choice(choice, "").logprobs.append(
            llm.TokenLogprob(_join_text([token]), logprob)
        )

    def set_opaque(self, text: str) -> None:
        """Set the data that the provider expects back."""
        self._get_partial_choice(0, text).opaque = text

    def add_signature(self, call: str, signature: str, choice: int = 0) -> None:
        """Add the signature of a call to the data that the provider expects back."""
        draft = self._get_partial_choice(choice, signature)
        signatures = json.loads(draft.opaque) if draft.opaque else {}
        draft.opaque = json.dumps(signatures | {call: signature})

    def set_finish(self, finish: llm.Finish, choice: int = 0) -> None:
        """Set the reason why a choice ended."""
        self._get_partial_choice(choice, "").finish = finish

    def finish_choices(self) -> None:
        """End the choices that have content but no finish reason; some servers send none."""
        for draft in self._drafts.values():
            if draft.finish is None and (draft.text or draft.calls):
                draft.finish = llm.Finish.STOP

    def count_calls(self, choice: int) -> int:
        """Return the number of tool calls of a choice so far."""
        return len(self._get_partial_choice(choice, "").calls)

    def iterate_ending(
        self, finish: Callable[[int, llm.Choice], Iterator[llm.Event]] = lambda *_: iter(())
    ) -> Iterator[llm.Event]:
        """Yield the end of a stream: the last parts of choices, tool calls, then the completion."""
        completion = self.build_completion()
        for number, choice in zip(sorted(self._drafts), completion.choices, strict=True):
            yield from finish(number, choice)
            yield from (llm.CallPart(call, number) for call in choice.calls)
        yield completion

    def build_completion(self) -> llm.Completion:
        """Return the completion."""
        choices = tuple(self._build_choice(number) for number in sorted(self._drafts))
        usage = self.usage or estimate_usage(self._request, choices)
        return llm.Completion(choices, usage, self.model, self.id)

    def _get_partial_choice(self, choice: int, text: str) -> _PartialChoice:
        self._size += len(text)
        return self._drafts.setdefault(choice, _PartialChoice())

    def _build_choice(self, number: int) -> llm.Choice:
        draft = self._drafts[number]
        calls = tuple(
            llm.ToolCall(
                _join_text([call.id]) or f"call_{number}_{index}",
                _join_text([call.name]),
                _join_text(call.arguments),
            )
            for index, call in enumerate(draft.calls.values())
        )
        finish = draft.finish or llm.Finish.LENGTH
        if calls and finish in (llm.Finish.STOP, llm.Finish.OTHER):
            finish = llm.Finish.CALLS
        if finish is llm.Finish.STOP and draft.refusal:
            finish = llm.Finish.REFUSED
        choice = llm.Choice(
            _join_text(draft.text),
            calls,
            finish,
            _join_text(draft.reasoning),
            _join_text(draft.refusal),
            tuple(draft.logprobs),
            _join_text([draft.opaque]),
        )
        return self._clean(choice)


def _join_text(pieces: Sequence[str]) -> str:
    """Join pieces of a text, and combine halves of a character that JSON split."""
    # A single half becomes U+FFFD, since neither a file nor HTTP can represent it.
    text = "".join(pieces)
    if not _SURROGATE.search(text):
        return text
    return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")


_SURROGATE = re.compile("[\ud800-\udfff]")
