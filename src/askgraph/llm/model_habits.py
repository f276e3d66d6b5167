"""Habits of model servers and model families, and the marks that they leave in replies.

The table is `model_habits.toml`.
"""

import json
import re
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from importlib.resources import files
from typing import Any
from urllib.parse import urlsplit

from askgraph.llm import Choice, Finish, ToolCall, ToolSchema
from askgraph.llm.structured import normalize_tool_name, parse_lenient_object

_HABITS: Mapping[str, Any] = tomllib.loads(
    files("askgraph.llm").joinpath("model_habits.toml").read_text(encoding="utf-8")
)
REFUSAL_PHRASES: Mapping[str, Sequence[str]] = _HABITS["refusals"]


def _join_alternatives(texts: Sequence[str]) -> str:
    return "|".join(re.escape(text) for text in texts)


_TOKENS = _HABITS["tokens"]
_END = re.compile(_join_alternatives(_TOKENS["end"]))
_CALL_MARK = re.compile(rf"(?:{_join_alternatives(_TOKENS['calls'])})\s*|```[\w-]*\s*\n?")
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
    text, reasoning = split_reasoning(choice.text)
    text = remove_end_tokens(text)
    calls = tuple(_repair_arguments(call) for call in choice.calls)
    finish = choice.finish
    if tools and not calls and finish in (Finish.STOP, Finish.CALLS, Finish.OTHER):
        text, calls = find_written_calls(text, tools)
        finish = Finish.CALLS if calls else finish
    parts = [part for part in (choice.reasoning, reasoning) if part]
    return replace(choice, text=text, calls=calls, finish=finish, reasoning="\n".join(parts))


def split_reasoning(text: str) -> tuple[str, str]:
    """Return a text without its reasoning, and the reasoning.

    The start tag may be missing (templates put it into the prompt), and so may the end tag.
    """
    reasoning: list[str] = []
    for start, end in _HABITS["reasoning"].items():
        if end in text:
            before, _, text = text.rpartition(end)
            lead, opened, thought = before.partition(start)
            if opened and lead.strip():
                reasoning.append(thought)
                text = lead + text
            else:
                reasoning.append(thought if opened else before)
        elif text.lstrip().startswith(start):
            reasoning.append(text.lstrip().removeprefix(start))
            text = ""
    return text.strip() if reasoning else text, "\n".join(part.strip() for part in reasoning)


def remove_end_tokens(text: str) -> str:
    """Return a text up to its first end token; tokens before the first word are skipped."""
    shortened = next((part for part in _END.split(text) if part.strip()), "")
    for token in _TOKENS["last"]:
        shortened = shortened.rstrip().removesuffix(token)
    return text if shortened.rstrip() == text.rstrip() else shortened.strip()


def find_written_calls(text: str, tools: Sequence[ToolSchema]) -> tuple[str, tuple[ToolCall, ...]]:
    """Return a text before its written calls, and the calls: JSON objects with a tool's name."""
    names = {normalize_tool_name(tool.name) for tool in tools}
    calls: list[ToolCall] = []
    start = len(text)
    for at, value in _iterate_objects(text):
        for entry in value if isinstance(value, list) else [value]:
            if (call := _to_call(entry, names, len(calls))) is not None:
                calls.append(call)
                start = min(start, at)
    return (_CALL_MARK.sub("", text[:start]).strip() if calls else text), tuple(calls)


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
    has_raw_breaks = any(ord(character) < 32 for character in call.arguments)
    if not has_raw_breaks or not isinstance(value, dict):
        return call
    return replace(call, arguments=json.dumps(value, ensure_ascii=False))
