"""A conversation as the one text that a local model continues: by its own template, or a plain one.

Training and asking go through here, so that both use the same text.
"""

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from askgraph.llm import Assistant, Message, System, ToolCall, ToolResult, ToolSchema, User


class ChatTokenizer(Protocol):
    """The needed part of a tokenizer of transformers."""

    chat_template: str | None

    def apply_chat_template(
        self, conversation: list[dict[str, str]], **options: Any
    ) -> str:  # `tokenize=False` is always given
        """Return the conversation as one text."""
        ...


def chat_text(messages: Sequence[Message], tokenizer: ChatTokenizer) -> str:
    """Return the text that ends where the model's reply begins.

    A model without a template of its own is shown the messages one after the other, each ended by
    an empty line, and `Reply:` at the end. Templates that know no system message get it as part of
    the first message.
    """
    turns = [_turn(message) for message in messages]
    if not tokenizer.chat_template:
        return "\n\n".join([*(turn["content"] for turn in turns), "Reply:\n"])
    if turns[0]["role"] == "system" and "system" not in tokenizer.chat_template:
        first, *rest = turns[1:] or [{"role": "user", "content": ""}]
        turns = [{**first, "content": f"{turns[0]['content']}\n\n{first['content']}"}, *rest]
    options: Mapping[str, object] = {"tokenize": False, "add_generation_prompt": True}
    if "enable_thinking" in tokenizer.chat_template:
        options = {**options, "enable_thinking": False}
    return tokenizer.apply_chat_template(turns, **options)


def _turn(message: Message) -> dict[str, str]:
    match message:
        case System(text=text):
            return {"role": "system", "content": text}
        case Assistant(text=text):
            return {"role": "assistant", "content": text}
        case ToolResult(tool=tool, text=text):
            return {"role": "user", "content": f"{tool} gave:\n{text}"}
        case User(text=text):
            return {"role": "user", "content": text}


_CALL = re.compile(r"<tool_call>\s*(.*?)\s*(?:</tool_call>|\Z)", re.DOTALL)

_TOLD = """\
You can call tools. To call one, write an object in JSON between tags, and nothing behind it:
<tool_call>{"name": "NAME", "arguments": {…}}</tool_call>
The tools:"""


@dataclass(frozen=True)
class Called:
    """The words of a reply, and the calls among them."""

    text: str
    calls: tuple[ToolCall, ...]


def told_tools(tools: Sequence[ToolSchema]) -> str:
    """Return the description of tools for a model, in the form that most models know."""
    lines = [
        json.dumps({"name": t.name, "description": t.description, "parameters": dict(t.parameters)})
        for t in tools
    ]
    return "\n".join([_TOLD, *lines])


def calls_in(text: str) -> Called:
    """Return the calls that a reply makes; arguments are kept as written if they are no JSON."""
    calls = [_call(found[1], number) for number, found in enumerate(_CALL.finditer(text))]
    return Called(_CALL.sub("", text).strip(), tuple(calls))


def _call(written: str, number: int) -> ToolCall:
    try:
        given = json.loads(written)
    except ValueError:
        given = None
    if not isinstance(given, dict):
        return ToolCall(f"call-{number}", "", written)
    arguments = given.get("arguments", {})
    return ToolCall(f"call-{number}", str(given.get("name", "")), json.dumps(arguments))
