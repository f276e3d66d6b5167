"""Messages kept within a number of tokens: old results are shortened, the question never is."""

from collections.abc import Collection, Sequence
from dataclasses import replace

from askgraph.llm import Assistant, Message, ToolResult, User
from askgraph.llm.estimate import estimated_tokens
from askgraph.tools.shown import clipped

__all__ = ["shortened", "tokens_of"]

_KEPT = 240  # characters that are left of a result
_REST = 0.75  # of what is allowed: shortening at every turn would spoil the prompt cache


def tokens_of(messages: Sequence[Message]) -> int:
    """Guess the tokens of messages."""
    return sum(estimated_tokens(str(message)) for message in messages)


def shortened(
    messages: Sequence[Message], most: int, *, results: Collection[int] = ()
) -> list[Message]:
    """Return messages with at most so many tokens, as far as shortening old results can do it.

    `results` are the places of messages that hold results without being a `ToolResult`. Results are
    shortened from the oldest on; those of the last turn stay whole, and so does everything that is
    no result. Messages that fit are returned as they are.
    """
    kept = list(messages)
    total = tokens_of(kept)
    if total <= most:
        return kept
    last = max((at for at, one in enumerate(kept) if isinstance(one, Assistant)), default=0)
    for at, message in enumerate(kept[:last]):
        if total <= most * _REST:
            break
        is_result = isinstance(message, ToolResult) or (isinstance(message, User) and at in results)
        if is_result and len(message.text) > _KEPT:
            text = f"{clipped(message.text, _KEPT)} (shortened; ask again to see all)"
            kept[at] = replace(message, text=text)
            total -= estimated_tokens(message.text) - estimated_tokens(text)
    return kept
