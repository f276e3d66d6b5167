"""A model server on loopback that speaks three protocols and says what its turns say.

Chat Completions at /v1/chat/completions, Anthropic's Messages at /v1/messages, Google's
generateContent at /v1beta/models/…:streamGenerateContent; all streamed as server-sent events.
"""

import json
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from pyoxigraph import Store
from tests.servers.sparql import Reply, Request, SparqlServer

__all__ = ["LlmServer", "Turn", "refused"]

Json = dict[str, Any]


@dataclass(frozen=True)
class Turn:
    """What the model says: text, reasoning, calls as (name, arguments), and why it ends.

    `finish` is stop, calls, length or refused. Usage: 100 tokens in, 40 of them cached, 20 out.
    """

    text: str = ""
    calls: tuple[tuple[str, str], ...] = ()
    reasoning: str = ""
    finish: str = "stop"
    logprobs: tuple[tuple[str, float], ...] = ()
    usage: bool = True


@dataclass
class Says:
    """How an honest server is told to differ: it gives at most so many choices at once."""

    most_choices: int = 8
    refuses: set[str] = field(default_factory=set)  # parameters that it does not know
    streams: bool = True
    ends: bool = True  # with a finish reason
    errors: dict[str, str] = field(default_factory=dict)  # for the role `system` and for `stream`


class LlmServer(SparqlServer):
    """Gives the next of its turns to each request; without one, `CheckedTurn("The Moon.")`."""

    def __init__(self) -> None:
        super().__init__(Store())
        self.turns: deque[Turn] = deque()
        self.says = Says()
        self.about: dict[str, Json] = {}  # what it says of itself, by path
        self.knows: Callable[[Json], list[Turn] | Json | Reply] | None = None

    @property
    def base(self) -> str:
        """The address without a path."""
        return self.url.removesuffix("/sparql")

    @property
    def bodies(self) -> list[Json]:
        """The JSON of all requests."""
        return [json.loads(request.body) for request in self.requests if request.body]

    def honest(self, request: Request) -> Reply:
        """What the model says next, in the protocol of the request."""
        if not request.body:
            known = self.about.get(request.target)
            return refused(404, "not found") if known is None else _json(known, 200)
        asked = json.loads(request.body)
        if self.knows:
            return _known(self.knows(asked))
        if unknown := self.says.refuses & asked.keys():
            error = {"error": {"message": f"Unsupported parameter: '{min(unknown)}'"}}
            return _json(error, 400)
        roles = {message.get("role") for message in asked.get("messages", ())}
        for habit, message in self.says.errors.items():
            if habit in roles or asked.get(habit):
                return refused(400, message)
        wanted = min(asked.get("n", 1), self.says.most_choices)
        if "generateContent" in request.target or "streamGenerate" in request.target:
            wanted = asked.get("generationConfig", {}).get("candidateCount", 1)
            return _stream(_google(self._next(wanted)), silent=True)
        if request.target.partition("?")[0].endswith("/messages"):
            return _stream(_anthropic(self._next(1)[0]), named=True)
        if not self.says.streams or not asked.get("stream"):
            return _json(_whole(self._next(wanted)), 200)
        events = _openai(self._next(wanted))
        for event in [] if self.says.ends else events:
            for choice in event["choices"]:
                choice["finish_reason"] = None
        return _stream(events, done=True)

    def _next(self, number: int) -> list[Turn]:
        return [self.turns.popleft() if self.turns else Turn("The Moon.") for _ in range(number)]


def _known(said: list[Turn] | Json | Reply) -> Reply:
    """What the model says to a request, the JSON of another service, or a reply as it stands."""
    if isinstance(said, Reply):
        return said
    return _json(said, 200) if isinstance(said, dict) else _stream(_openai(said), done=True)


def refused(status: int, message: str) -> Reply:
    """An error in the form that servers of this kind have."""
    return _json({"error": {"message": message}}, status)


def _json(value: Json, status: int) -> Reply:
    return Reply(status, {"Content-Type": "application/json"}, json.dumps(value).encode())


def _stream(
    events: list[Json], *, named: bool = False, done: bool = False, silent: bool = False
) -> Reply:
    lines = [] if silent else [": keep alive\n\n"]
    for event in events:
        head = f"event: {event['type']}\n" if named else ""
        lines.append(f"{head}data: {json.dumps(event)}\n\n")
    if done:
        lines.append("data: [DONE]\n\n")
    return Reply(200, {"Content-Type": "text/event-stream"}, "".join(lines).encode())


def _pieces(text: str) -> list[str]:
    size = max(3, len(text) // 50)
    return [text[at : at + size] for at in range(0, len(text), size)]


_OPENAI = {"stop": "stop", "calls": "tool_calls", "length": "length", "refused": "content_filter"}


def _openai(turns: list[Turn]) -> list[Json]:
    chunks = [chunk for at, turn in enumerate(turns) for chunk in _openai_turn(at, turn)]
    if all(turn.usage for turn in turns):
        usage = {
            "prompt_tokens": 100,
            "completion_tokens": 20 * len(turns),
            "prompt_tokens_details": {"cached_tokens": 40},
        }
        chunks.append(_chunk(usage=usage))
    return chunks


def _openai_turn(at: int, turn: Turn) -> list[Json]:
    said = [_delta(at, role="assistant", content="")]
    said += [_delta(at, reasoning_content=piece) for piece in _pieces(turn.reasoning)]
    if turn.logprobs:
        for token, logprob in turn.logprobs:
            chunk = _delta(at, content=token)
            tokens = [{"token": token, "logprob": logprob}]
            chunk["choices"][0]["logprobs"] = {"content": tokens}
            said.append(chunk)
    else:
        said += [_delta(at, content=piece) for piece in _pieces(turn.text)]
    for number, (name, arguments) in enumerate(turn.calls):
        call = {"index": number, "id": f"c{number}", "type": "function"}
        said.append(_delta(at, tool_calls=[call | {"function": {"name": name}}]))
        said += [
            _delta(at, tool_calls=[{"index": number, "function": {"arguments": piece}}])
            for piece in _pieces(arguments)
        ]
    end = _delta(at)
    end["choices"][0]["finish_reason"] = _OPENAI[turn.finish]
    return [*said, end]


def _delta(at: int, **delta: Any) -> Json:
    return _chunk(choices=[{"index": at, "delta": delta, "finish_reason": None}])


def _chunk(**parts: Any) -> Json:
    return {"id": "r1", "model": "m-served", "choices": []} | parts


def _whole(turns: list[Turn]) -> Json:
    choices = [
        {
            "index": at,
            "message": {"role": "assistant", "content": turn.text},
            "finish_reason": _OPENAI[turn.finish],
        }
        for at, turn in enumerate(turns)
    ]
    return {"id": "r1", "model": "m-served", "choices": choices}


_ANTHROPIC = {"stop": "end_turn", "calls": "tool_use", "length": "max_tokens", "refused": "refusal"}


def _anthropic(turn: Turn) -> list[Json]:
    usage = {"input_tokens": 60, "cache_read_input_tokens": 40, "output_tokens": 1}
    events: list[Json] = [
        {"type": "message_start", "message": {"id": "r1", "model": "m-served", "usage": usage}}
    ]
    blocks: list[tuple[Json, list[Json]]] = []
    if turn.reasoning:
        deltas: list[Json] = [
            {"type": "thinking_delta", "thinking": piece} for piece in _pieces(turn.reasoning)
        ]
        signature = {"type": "signature_delta", "signature": "signed"}
        blocks.append(({"type": "thinking", "thinking": ""}, [*deltas, signature]))
    if turn.text:
        texts = [{"type": "text_delta", "text": piece} for piece in _pieces(turn.text)]
        blocks.append(({"type": "text", "text": ""}, texts))
    for number, (name, arguments) in enumerate(turn.calls):
        block = {"type": "tool_use", "id": f"c{number}", "name": name, "input": {}}
        parts = [
            {"type": "input_json_delta", "partial_json": piece} for piece in _pieces(arguments)
        ]
        blocks.append((block, parts))
    for at, (block, deltas) in enumerate(blocks):
        events.append({"type": "content_block_start", "index": at, "content_block": block})
        events += [{"type": "content_block_delta", "index": at, "delta": one} for one in deltas]
        events.append({"type": "content_block_stop", "index": at})
    end = {"stop_reason": _ANTHROPIC[turn.finish], "stop_sequence": None}
    events.append({"type": "message_delta", "delta": end, "usage": {"output_tokens": 20}})
    return [*events, {"type": "message_stop"}]


_GOOGLE = {"stop": "STOP", "calls": "STOP", "length": "MAX_TOKENS", "refused": "SAFETY"}


def _google(turns: list[Turn]) -> list[Json]:
    events: list[Json] = []
    for at, turn in enumerate(turns):
        parts: list[Json] = [{"text": turn.reasoning, "thought": True}] if turn.reasoning else []
        parts += [{"text": piece} for piece in _pieces(turn.text)]
        for number, (name, arguments) in enumerate(turn.calls):
            call = {"id": f"c{number}", "name": name, "args": json.loads(arguments)}
            parts.append({"functionCall": call, "thoughtSignature": "c2lnbmVk"})
        events += [
            {"candidates": [{"index": at, "content": {"role": "model", "parts": [part]}}]}
            for part in parts
        ]
        events.append({"candidates": [{"index": at, "finishReason": _GOOGLE[turn.finish]}]})
    events[-1]["usageMetadata"] = {
        "promptTokenCount": 100,
        "cachedContentTokenCount": 40,
        "candidatesTokenCount": 20 * len(turns),
    }
    return [event | {"modelVersion": "m-served", "responseId": "r1"} for event in events]
