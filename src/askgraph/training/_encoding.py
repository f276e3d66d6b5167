"""Pairs as numbers: what is read, and what is to be written behind it."""

from collections.abc import Iterable, Sequence
from typing import Any

import torch

from askgraph.errors import SetupError
from askgraph.llm.chat_text import chat_text
from askgraph.training.pairs import Pair
from askgraph.writing.prompt import messages
from askgraph.writing.references import References

__all__ = ["Collated", "encoded"]

_IGNORED = -100  # a label that no loss is taken of


def encoded(
    pairs: Iterable[Pair], tokenizer: Any, *, length: int, encoder_decoder: bool
) -> tuple[list[dict[str, list[int]]], int]:
    """Return the examples that fit into `length` tokens, and how many do not.

    The loss is of the reply and its end alone; the prompt is the very text that asks. Raises
    `SetupError` where nothing is left of a prompt.
    """
    found: list[dict[str, list[int]]] = []
    long = 0
    plain = not tokenizer.chat_template
    for pair in pairs:
        text = chat_text(messages(pair.question, References(pair.listed)), tokenizer)
        prompt = tokenizer(text, add_special_tokens=plain)["input_ids"]
        if not prompt:
            raise SetupError("the tokenizer makes nothing of the prompt: its template is empty")
        reply = tokenizer(pair.target, add_special_tokens=False)["input_ids"]
        reply = [*reply, tokenizer.eos_token_id]
        if len(prompt) + len(reply) > length:
            long += 1
        elif encoder_decoder:
            found.append({"input_ids": prompt, "labels": reply})
        else:
            labels = [_IGNORED] * len(prompt) + reply
            found.append({"input_ids": [*prompt, *reply], "labels": labels})
    return found, long


class Collated:
    """Puts examples into one batch: shorter ones are filled up on the right."""

    def __init__(self, padding: int) -> None:
        self._padding = padding

    def __call__(self, examples: Sequence[dict[str, list[int]]]) -> dict[str, Any]:
        """Return the tensors of a batch."""
        ids = _filled([one["input_ids"] for one in examples], self._padding)
        mask = _filled([[1] * len(one["input_ids"]) for one in examples], 0)
        labels = _filled([one["labels"] for one in examples], _IGNORED)
        return {"input_ids": ids, "attention_mask": mask, "labels": labels}


def _filled(rows: Sequence[list[int]], filling: int) -> Any:
    width = max(map(len, rows))
    return torch.tensor([[*row, *[filling] * (width - len(row))] for row in rows])
