"""Streams of events: read from bytes, put together, held to their time, several read as one."""

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
from askgraph.llm import estimated_usage

Stream = AsyncGenerator[llm.Event, None]


async def timed(stream: Stream, *, first: float, total: float, address: str) -> Stream:
    """Pass a stream on; `TimedOut` if its first event or its end comes too late (seconds)."""
    began = time.monotonic()
    limit, waited_for = began + min(first, total), "nothing"
    async with aclosing(stream):
        while True:
            try:
                async with asyncio.timeout(max(0.0, limit - time.monotonic())):
                    event = await anext(stream)
            except StopAsyncIteration:
                return
            except TimeoutError as problem:
                seconds = limit - began
                setting = "first_timeout" if waited_for == "nothing" else "timeout"
                raise TimedOut(
                    f"{address} sent {waited_for} within {seconds:g} seconds; a slow server gets "
                    f"more time with the model's setting `{setting}`"
                ) from problem
            limit, waited_for = began + total, "no complete reply"
            yield event


async def topped_up(ask: Callable[[int, int], Stream], wanted: int) -> Stream:
    """Ask until there are as many choices as wanted.

    `ask(choices, already)` streams so many choices at most. The first request is for all; if
    fewer come, the rest is asked for one by one, all at once.
    """
    whole: llm.Completion | None = None
    async with aclosing(ask(wanted, 0)) as stream:
        async for event in stream:
            if isinstance(event, llm.Completion):
                whole = event
            else:
                yield event
    if whole is None:
        return
    there = len(whole.choices)
    if there < wanted:
        others = [ask(1, already) for already in range(there, wanted)]
        async with aclosing(together(others, already=there)) as stream:
            async for event in stream:
                if not isinstance(event, llm.Completion):
                    yield event
                    continue
                whole = replace(
                    whole, choices=whole.choices + event.choices, usage=whole.usage + event.usage
                )
    yield whole


async def together(streams: Sequence[Stream], *, already: int = 0) -> Stream:
    """Read streams of one choice each at once; their choices are numbered from `already` on."""
    queue: asyncio.Queue[tuple[int, llm.Event | None]] = asyncio.Queue()
    tasks = [asyncio.create_task(_read(at, one, queue)) for at, one in enumerate(streams)]
    ends: dict[int, llm.Completion] = {}
    try:
        while len(ends) < len(streams):
            at, news = await queue.get()
            if news is None:
                await tasks[at]
            elif isinstance(news, llm.Completion):
                ends[at] = news
            else:
                yield news if isinstance(news, llm.Restart) else replace(news, choice=already + at)
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
    whole = [ends[at] for at in range(len(streams))]
    choices = tuple(choice for one in whole for choice in one.choices[:1])
    usage = sum((one.usage for one in whole), llm.TokenUsage())
    yield replace(whole[0], choices=choices, usage=usage)


async def _read(
    at: int, stream: Stream, queue: asyncio.Queue[tuple[int, llm.Event | None]]
) -> None:
    """Put all events into the queue, and None once the stream is over, well or not."""
    try:
        async with aclosing(stream):
            async for event in stream:
                queue.put_nowait((at, event))
                if isinstance(event, llm.Completion):
                    return
        raise MalformedReply("the stream of a language model ended without a completion")
    finally:
        queue.put_nowait((at, None))


def no_beams(identity: llm.Identity, why: str) -> SetupError:
    """Return the error, which names the way out."""
    return SetupError(
        f"the model {identity.model!r} cannot do a beam search: {why}. vLLM can; elsewhere take "
        "samples, or ask for several replies in words"
    )


def refuse_beams(request: llm.Request, identity: llm.Identity) -> None:
    """Raise `SetupError` if a request to a provider without beam search asks for beams."""
    if request.beams:
        raise no_beams(identity, "its provider offers none")


async def beams_of(stream: Stream, wanted: int, identity: llm.Identity) -> Stream:
    """Pass a stream on; `SetupError` if what came cannot be beams.

    A server that silently ignores beams gives fewer replies than wanted, or, at
    temperature 0, the same one again; beams all differ.
    """
    async with aclosing(stream):
        async for event in stream:
            if isinstance(event, llm.Completion):
                texts = {choice.text for choice in event.choices}
                if len(event.choices) < wanted or (wanted > 1 and len(texts) == 1):
                    raise no_beams(
                        identity,
                        f"{wanted} beams were wanted, and {len(texts)} different replies came",
                    )
            yield event


Json = dict[str, Any]
DONE = b"[DONE]"
DRAINING = 1.0  # seconds


async def json_events(
    parts: AsyncGenerator[bytes, None], *, address: str, last_type: str = ""
) -> AsyncGenerator[Json, None]:
    """Yield the JSON object of each event up to `[DONE]`, one of `last_type`, or the end.

    Lines end only at line feeds: U+2028 and the like may stand inside JSON. A last event that is
    cut off is left out; what it was part of lacks its end, which the reader of it sees. Raises
    `MalformedReply` for data that is no JSON object.
    """
    async with aclosing(parts):
        async for whole in _data(parts):
            if whole.strip() == DONE:
                await _drained(parts)
                return
            event = read_object(whole, address=address)
            yield event
            if last_type and event.get("type") == last_type:
                await _drained(parts)
                return


def read_object(text: bytes, *, address: str) -> Json:
    """Read a JSON object that a server sent; `MalformedReply` for anything else."""
    try:
        value = json.loads(text)
    except (ValueError, RecursionError) as problem:
        raise MalformedReply(f"{address} sent what is no JSON: {_shown(text)}") from problem
    if not isinstance(value, dict):
        raise MalformedReply(f"{address} sent JSON that is no object: {_shown(text)}")
    return value


UNREADABLE = "unreadable"


def read_arguments(call: llm.ToolCall) -> Json:
    """Return the arguments of a call; text that is no JSON object becomes the one argument."""
    try:
        value = json.loads(call.arguments)
    except (ValueError, RecursionError):
        value = None
    return value if isinstance(value, dict) else {UNREADABLE: call.arguments}


async def _data(parts: AsyncIterator[bytes]) -> AsyncGenerator[bytes, None]:
    """Yield the data of each event that is complete."""
    rest = bytearray()
    data: list[bytes] = []
    async for part in parts:
        rest += part
        if b"\n" not in part:
            continue
        *lines, last = rest.split(b"\n")
        rest = bytearray(last)
        for line in lines:
            text = line.rstrip(b"\r")
            if text.startswith(b"data:"):
                data.append(bytes(text[5:]).removeprefix(b" "))
            elif not text and data:
                yield b"\n".join(data)
                data = []


async def _drained(parts: AsyncIterator[bytes]) -> None:
    """Read the rest, so that the connection can be used again; but do not wait for it."""
    with contextlib.suppress(TimeoutError):
        async with asyncio.timeout(DRAINING):
            async for _ in parts:
                pass


def _shown(text: bytes) -> str:
    return repr(text[:80].decode("utf-8", "replace"))


MAX_CHARACTERS = 400_000  # of all choices; more is a model that does not stop


@dataclass
class _Call:
    id: str = ""
    name: str = ""
    arguments: list[str] = field(default_factory=list)


@dataclass
class _Draft:
    text: list[str] = field(default_factory=list)
    reasoning: list[str] = field(default_factory=list)
    refusal: list[str] = field(default_factory=list)
    calls: dict[Hashable, _Call] = field(default_factory=dict)
    logprobs: list[llm.TokenLogprob] = field(default_factory=list)
    finish: llm.Finish | None = None
    opaque: str = ""


class Assembly:
    """Collects the pieces of all choices of one reply.

    `full` becomes true at the cap on a reply's length: the reader stops there, and the choices
    count as cut off. `model`, `id` and `usage` are set as the server tells them.
    """

    def __init__(self, request: llm.Request, *, model: str) -> None:
        self.model = model
        self.id = ""
        self.usage: llm.TokenUsage | None = None
        self._request = request
        self._drafts: dict[int, _Draft] = {}
        self._size = 0

    @property
    def full(self) -> bool:
        """Whether no more is to be read."""
        return self._size > MAX_CHARACTERS

    @property
    def ended(self) -> bool:
        """Whether every choice is known to have ended; false as long as there is none."""
        drafts = self._drafts.values()
        return bool(drafts) and all(draft.finish is not None for draft in drafts)

    def text(self, text: str, choice: int = 0) -> llm.TextPart:
        """Add text."""
        self._draft(choice, text).text.append(text)
        return llm.TextPart(_whole([text]), choice)

    def reasoning(self, text: str, choice: int = 0) -> llm.ReasoningPart:
        """Add reasoning."""
        self._draft(choice, text).reasoning.append(text)
        return llm.ReasoningPart(_whole([text]), choice)

    def refusal(self, text: str, choice: int = 0) -> None:
        """Add words of refusal."""
        self._draft(choice, text).refusal.append(text)

    def call(
        self, key: Hashable, *, id: str = "", name: str = "", arguments: str = "", choice: int = 0
    ) -> None:
        """Add to the tool call with this key.

        A new id under a known key is a new call: some servers number all their calls 0.
        """
        calls = self._draft(choice, arguments).calls
        while (known := calls.get(key)) and id and known.id and known.id != id:
            key = ("after", key)
        call = calls.setdefault(key, _Call())
        call.id = call.id or id
        call.name = call.name or name
        call.arguments.append(arguments)

    def logprob(self, token: str, logprob: float, choice: int = 0) -> None:
        """Add a token's log-probability."""
        self._draft(choice, "").logprobs.append(llm.TokenLogprob(_whole([token]), logprob))

    def opaque(self, text: str, choice: int = 0) -> None:
        """Set the text that the provider wants back."""
        self._draft(choice, text).opaque = text

    def sign(self, call: str, signature: str, choice: int = 0) -> None:
        """Add a call's signature to the text that the provider wants back."""
        draft = self._draft(choice, signature)
        known = json.loads(draft.opaque) if draft.opaque else {}
        draft.opaque = json.dumps(known | {call: signature})

    def finish(self, finish: llm.Finish, choice: int = 0) -> None:
        """Set why a choice ended."""
        self._draft(choice, "").finish = finish

    def number_of_calls(self, choice: int) -> int:
        """Return how many tool calls a choice has so far."""
        return len(self._draft(choice, "").calls)

    def ending(self) -> Iterator[llm.Event]:
        """Yield the end of a stream: all tool calls, then the reply as a whole."""
        whole = self.completion()
        for number, choice in zip(sorted(self._drafts), whole.choices, strict=True):
            yield from (llm.CallPart(call, number) for call in choice.calls)
        yield whole

    def completion(self) -> llm.Completion:
        """Return the reply as a whole."""
        choices = tuple(self._choice(number) for number in sorted(self._drafts))
        usage = self.usage or estimated_usage(self._request, choices)
        return llm.Completion(choices, usage, self.model, self.id)

    def _draft(self, choice: int, text: str) -> _Draft:
        self._size += len(text)
        return self._drafts.setdefault(choice, _Draft())

    def _choice(self, number: int) -> llm.Choice:
        draft = self._drafts[number]
        calls = tuple(
            llm.ToolCall(
                _whole([call.id]) or f"call_{number}_{at}",
                _whole([call.name]),
                _whole(call.arguments),
            )
            for at, call in enumerate(draft.calls.values())
        )
        finish = draft.finish or llm.Finish.LENGTH
        if calls and finish in (llm.Finish.STOP, llm.Finish.OTHER):
            finish = llm.Finish.CALLS
        if finish is llm.Finish.STOP and draft.refusal:
            finish = llm.Finish.REFUSED
        return llm.Choice(
            _whole(draft.text),
            calls,
            finish,
            _whole(draft.reasoning),
            _whole(draft.refusal),
            tuple(draft.logprobs),
            _whole([draft.opaque]),
        )


def _whole(pieces: Sequence[str]) -> str:
    """Join pieces of a text: halves of a character that JSON split are put together.

    One that is alone becomes U+FFFD: nothing could write it, a file or an answer over HTTP.
    """
    text = "".join(pieces)
    if not _HALF.search(text):
        return text
    return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")


_HALF = re.compile("[\ud800-\udfff]")
