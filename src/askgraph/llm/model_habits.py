"""Habits of model servers and model families, and the marks that they leave in replies.

The table is `model_habits.toml`.
"""

import json
import re
import tomllib
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from importlib.resources import files
from typing import Any
from urllib.parse import urlsplit

from askgraph.llm import Choice, Event, Finish, ReasoningPart, TextPart, ToolCall, ToolSchema
from askgraph.llm.structured import normalize_tool_name, parse_lenient_object

_HABITS: Mapping[str, Any] = tomllib.loads(
    files("askgraph.llm").joinpath("model_habits.toml").read_text(encoding="utf-8")
)
REFUSAL_PHRASES: Mapping[str, Sequence[str]] = _HABITS["refusals"]


def _join_alternatives(texts: Sequence[str]) -> str:
    return "|".join(re.escape(text) for text in texts)


def _list_starts(texts: Sequence[str]) -> frozenset[str]:
    """Return the beginnings of texts that may continue as one of them."""
    return frozenset(text[:size] for text in texts for size in range(1, len(text)))


_TOKENS = _HABITS["tokens"]
_END = re.compile(_join_alternatives(_TOKENS["end"]))
_REASONING: Mapping[str, str] = _HABITS["reasoning"]
_TAG_TEXTS = (*_REASONING, *_REASONING.values(), *_TOKENS["end"], *_TOKENS["last"])
_TAGS = {"": re.compile(_join_alternatives(_TAG_TEXTS))} | {
    start: re.compile(re.escape(end)) for start, end in _REASONING.items()
}
_TAG_STARTS = _list_starts(_TAG_TEXTS)
_CALL_MARK = re.compile(rf"(?:{_join_alternatives(_TOKENS['calls'])})\s*|```[\w-]*\s*\n?")
_CALL_START = re.compile(rf"{_CALL_MARK.pattern}|[\[{{]\s*(?:[\"'{{]|(\Z))")
_CALL_MARK_STARTS = _list_starts((*_TOKENS["calls"], "```"))
_MAX_CALL_STARTS = 50  # braces of a text that are tried as starts of calls
_NAME_KEYS = ("name", "tool", "tool_name", "function")
_ARGUMENT_KEYS = ("arguments", "parameters", "args", "input")


def list_missing_features(base_url: str, model: str) -> set[str]:
    """Return the parameters that a server or a model family is known to reject."""
    lacks = set(find_server_habits(base_url).get("lacks", ()))
    for family in _HABITS["families"]:
        if re.search(family["model"], model.lower()):
            lacks |= set(family["lacks"])
    return lacks


def find_server_habits(base_url: str) -> Mapping[str, Any]:
    """Return the row of the table for a server; empty for one that is not in it."""
    host = urlsplit(base_url).hostname or ""
    return next((row for row in _HABITS["servers"] if host.endswith(row["host"])), {})


def clean_choice(choice: Choice, tools: Sequence[ToolSchema]) -> Choice:
    """Return a choice without reasoning and end tokens in its text, and with its written calls."""
    cleaner = TextCleaner()
    cleaner.add(choice.text)
    text = cleaner.finish()
    calls = tuple(_repair_arguments(call) for call in choice.calls)
    finish = choice.finish
    if tools and not calls and finish in (Finish.STOP, Finish.CALLS, Finish.OTHER):
        names = {normalize_tool_name(tool.name) for tool in tools}
        start = len(text)
        for at, value in _iterate_objects(text):
            for entry in value if isinstance(value, list) else [value]:
                if (call := _to_call(entry, names, len(calls))) is not None:
                    calls = (*calls, call)
                    start = min(start, at)
        if calls:
            text, finish = _CALL_MARK.sub("", text[:start]).rstrip(), Finish.CALLS
    parts = [part for part in (choice.reasoning, *map(str.strip, cleaner.reasoning)) if part]
    return replace(choice, text=text, calls=calls, finish=finish, reasoning="\n".join(parts))


class TextCleaner:
    """Takes reasoning and end tokens out of a text that arrives in pieces.

    The start tag of reasoning may be missing (templates put it into the prompt): its text counts as
    reasoning once the end tag comes. The end tag may be missing if the text starts with reasoning.
    Nothing after an end token counts, but tokens before the first word are skipped. Spaces beside
    removed parts are removed too.

    Attributes:
        reasoning: the reasoning, by block.
        restarts: how often all text so far became reasoning.
    """

    def __init__(self) -> None:
        self.reasoning: list[str] = []
        self.restarts = 0
        self._text: list[str] = []
        self._tail: list[str] = []  # spaces and tokens that are removed at the end of the text
        self._pending = ""  # may be the start of a tag
        self._start_tag = ""  # of the block of reasoning that is not closed
        self._block: list[str] = []
        self._has_removed = self._has_ended = False

    def add(self, piece: str) -> list[TextPart | ReasoningPart]:
        """Add a piece and return the parts that are certain."""
        parts: list[TextPart | ReasoningPart] = []
        text, start, settled = self._pending + piece, 0, 0
        size = len(text) - _measure_start(text, _TAG_STARTS)
        while not self._has_ended:
            match = _TAGS[self._start_tag].search(text, start)
            body = text[start : match.start() if match else max(start, size)]
            start += len(body) + (len(match[0]) if match else 0)
            if self._start_tag:
                self._block.append(body)
                parts += [ReasoningPart(body)] if body else ()
            elif certain := self._append(body):
                parts.append(TextPart(certain))
            if match is None:
                break
            if not self._start_tag and match[0] in _REASONING.values():
                self.restarts += 1
                parts[settled:] = [ReasoningPart(part.text) for part in parts[settled:]]
                settled = len(parts)
            self._pass_tag(match[0])
        self._pending = "" if self._has_ended else text[start:]
        return parts

    def finish(self) -> str:
        """End the text and return all of it."""
        body = self._pending
        if self._start_tag:
            block = "".join([*self._block, body])
            if self._text:
                body = self._start_tag + _END.split(block)[0]
            else:
                self.reasoning.append(block)
                body = ""
        self._append(body)
        keeps_tail = not self._has_removed and not set(self._tail) & set(_TOKENS["last"])
        return "".join([*self._text, *(self._tail if keeps_tail else ())])

    def _append(self, body: str) -> str:
        """Add text, and return what is certain: all but the spaces at its end."""
        if not self._text and self._has_removed:
            body = body.lstrip()
        if not body.strip():
            self._tail.append(body)
            return ""
        certain = "".join([*self._tail, body.rstrip()])
        self._text.append(certain)
        self._tail = [body[len(body.rstrip()) :]]
        return certain

    def _pass_tag(self, tag: str) -> None:
        if self._start_tag:
            self.reasoning.append("".join(self._block))
            self._start_tag, self._block = "", []
        elif tag in _TOKENS["last"]:
            self._tail.append(tag)
            return
        elif tag in _REASONING:
            self._start_tag = tag
        elif tag in _REASONING.values():
            self.reasoning.append("".join([*self._text, *self._tail]))
            self._text = []
        else:
            self._has_ended = bool(self._text)
        self._has_removed |= not self._start_tag or not self._text
        self._tail = self._tail if self._text else []


class StreamCleaner:
    """Cleans the parts of a stream as `clean_choice` cleans its choices.

    Where tools may be called, text from the start of a written call on waits for the end.
    """

    def __init__(self, tools: Sequence[ToolSchema]) -> None:
        self._has_tools = bool(tools)
        self._cleaners: dict[int, TextCleaner] = {}
        self._sent_lengths: dict[int, int] = {}
        self._held: dict[int, str | None] = {}  # may start a call; None for a call

    def clean(self, event: Event) -> Iterator[Event]:
        """Yield the certain parts of an event; an empty one shows that the server sends."""
        if not isinstance(event, TextPart):
            yield event
            return
        number = event.choice
        cleaner = self._cleaners.setdefault(number, TextCleaner())
        restarts = cleaner.restarts
        parts = cleaner.add(event.text)
        if cleaner.restarts > restarts or number not in self._held:
            self._sent_lengths[number], self._held[number] = 0, ""
        for part in parts:
            text = self._hold_call(number, part.text) if isinstance(part, TextPart) else part.text
            if isinstance(part, TextPart):
                self._sent_lengths[number] += len(text)
            yield replace(part, text=text, choice=number)
        if not parts:
            yield TextPart("", number)

    def finish(self, number: int, choice: Choice) -> Iterator[Event]:
        """Yield the text of a complete choice that has not been sent."""
        if text := choice.text[self._sent_lengths.get(number, 0) :]:
            yield TextPart(text, number)

    def _hold_call(self, number: int, text: str) -> str:
        """Return the text up to what may be a call."""
        waiting_text = self._held[number]
        if waiting_text is None or not self._has_tools:
            return "" if self._has_tools else text
        waiting_text += text
        match = _CALL_START.search(waiting_text)
        end = (
            match.start()
            if match
            else len(waiting_text) - _measure_start(waiting_text, _CALL_MARK_STARTS)
        )
        certain = waiting_text[:end].rstrip()
        self._held[number] = None if match and match[1] is None else waiting_text[len(certain) :]
        return certain


def _measure_start(text: str, starts: Collection[str]) -> int:
    """Return the number of characters at the end of a text that may be the start of a tag."""
    sizes = range(min(len(text), max(map(len, starts))), 0, -1)
    return next((size for size in sizes if text[-size:] in starts), 0)


def _iterate_objects(text: str) -> Iterator[tuple[int, Any]]:
    """Yield each object or list of a text, in JSON or Python syntax, with its position."""
    decoder = json.JSONDecoder(strict=False)
    end = 0
    for number, match in enumerate(re.finditer(r"[\[{]\s*[\"'{]", text)):
        if number >= _MAX_CALL_STARTS:
            return
        if match.start() < end:
            continue
        try:
            value, end = decoder.raw_decode(text, match.start())
        except (ValueError, RecursionError):
            part = _CALL_MARK.split(text[match.start() :])[0]
            try:
                value, end = parse_lenient_object(part), match.start() + len(part)
            except ValueError:
                continue
        yield match.start(), value


def _to_call(value: object, names: set[str], number: int) -> ToolCall | None:
    """Return the call that an object stands for; None if it has no name of a tool."""
    if isinstance(value, dict) and isinstance(value.get("function"), dict):
        value = value["function"]
    if not isinstance(value, dict):
        return None
    name = next((value[key] for key in _NAME_KEYS if isinstance(value.get(key), str)), "")
    if normalize_tool_name(name) not in names:
        return None
    arguments: object = next((value[key] for key in _ARGUMENT_KEYS if key in value), {})
    text = arguments if isinstance(arguments, str) else json.dumps(arguments, ensure_ascii=False)
    return ToolCall(f"call_0_{number}", name, text)


def _repair_arguments(call: ToolCall) -> ToolCall:
    """Return a call whose arguments have their line breaks escaped, as JSON requires."""
    try:
        value = json.loads(call.arguments, strict=False)
    except (ValueError, RecursionError):
        return call
    if not any(ord(character) < 32 for character in call.arguments) or not isinstance(value, dict):
        return call
    return replace(call, arguments=json.dumps(value, ensure_ascii=False))
