"""A conversation as the one text that a local model continues: by its own template, or a plain one.

What trains a model and what asks it go through here, so that both are the same text.
"""

from collections.abc import Mapping, Sequence
from typing import Any, Protocol

from askgraph.llm import Assistant, Message, System, ToolResult, User

__all__ = ["ChatTokenizer", "chat_text"]


class ChatTokenizer(Protocol):
    """What is needed of a tokenizer of transformers."""

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
