"""The chunks of a Chat Completions reply, read with mistrust: servers differ in all details."""

import json
from collections.abc import Iterator

from askgraph.errors import MalformedReply
from askgraph.llm import Event, Finish, TokenUsage
from askgraph.llm._assembly import Assembly
from askgraph.llm._events import Json

__all__ = ["read_chunk", "read_whole"]

_FINISH = {
    "stop": Finish.STOP,
    "eos": Finish.STOP,
    "tool_calls": Finish.CALLS,
    "function_call": Finish.CALLS,
    "length": Finish.LENGTH,
    "content_filter": Finish.REFUSED,
}
_REASONING = ("reasoning_content", "reasoning")


def read_chunk(chunk: Json, assembly: Assembly) -> Iterator[Event]:
    """Add a chunk to what came before and give its parts; `MalformedReply` for other JSON."""
    yield from _read(chunk, assembly, "delta")


def read_whole(reply: Json, assembly: Assembly) -> Iterator[Event]:
    """Do the same with a reply that a server without streaming sends at once."""
    yield from _read(reply, assembly, "message")


def _read(chunk: Json, assembly: Assembly, place: str) -> Iterator[Event]:
    assembly.model = _string(chunk.get("model")) or assembly.model
    assembly.id = _string(chunk.get("id")) or assembly.id
    if isinstance(chunk.get("usage"), dict):
        assembly.usage = _usage(chunk["usage"])
    choices = chunk.get("choices")
    if choices is None:
        choices = []
    if not isinstance(choices, list):
        raise MalformedReply("the reply's `choices` are no list")
    for at, choice in enumerate(choices):
        if not isinstance(choice, dict):
            raise MalformedReply("a choice of the reply is no object")
        number = choice.get("index")
        yield from _choice(choice, place, assembly, number if isinstance(number, int) else at)


def _choice(choice: Json, place: str, assembly: Assembly, number: int) -> Iterator[Event]:
    said = choice.get(place)
    said = said if isinstance(said, dict) else {}
    for name in _REASONING:
        if thought := _string(said.get(name)):
            yield assembly.reasoning(thought, number)
            break
    if text := _string(said.get("content")):
        yield assembly.text(text, number)
    if refusal := _string(said.get("refusal")):
        assembly.refusal(refusal, number)
    _calls(said.get("tool_calls"), assembly, number)
    _logprobs(choice.get("logprobs"), assembly, number)
    if finish := _string(choice.get("finish_reason")):
        assembly.finish(_FINISH.get(finish, Finish.OTHER), number)


def _calls(calls: object, assembly: Assembly, number: int) -> None:
    for at, call in enumerate(calls if isinstance(calls, list) else []):
        if not isinstance(call, dict):
            raise MalformedReply("a tool call of the reply is no object")
        function = call.get("function")
        function = function if isinstance(function, dict) else {}
        arguments = function.get("arguments")
        if isinstance(arguments, dict):
            arguments = json.dumps(arguments, ensure_ascii=False)
        key = call.get("index")
        assembly.call(
            key if isinstance(key, int) else at,
            id=_string(call.get("id")),
            name=_string(function.get("name")),
            arguments=_string(arguments),
            choice=number,
        )


def _logprobs(logprobs: object, assembly: Assembly, number: int) -> None:
    match logprobs:
        case {"content": [*tokens]}:
            for token in tokens:
                match token:
                    case {"token": str(text), "logprob": float() | int() as value}:
                        assembly.logprob(text, float(value), number)


def _usage(usage: Json) -> TokenUsage | None:
    input_, output = usage.get("prompt_tokens"), usage.get("completion_tokens")
    if not isinstance(input_, int) or not isinstance(output, int):
        return None
    return TokenUsage(
        input=input_,
        cached=_count(usage.get("prompt_tokens_details"), "cached_tokens"),
        output=output,
        reasoning=_count(usage.get("completion_tokens_details"), "reasoning_tokens"),
    )


def _count(details: object, name: str) -> int:
    value = details.get(name) if isinstance(details, dict) else 0
    return value if isinstance(value, int) else 0


def _string(value: object) -> str:
    return value if isinstance(value, str) else ""
