"""A JSON Schema asked for in words, for servers that cannot hold a model to it."""

import json
from collections.abc import Mapping

from askgraph.llm import Message, User

__all__ = ["ASKING", "asking_for"]

ASKING = (
    "Reply with one JSON object and nothing else: no explanation, no code fence."
    " It must fulfil this JSON Schema:\n"
)


def asking_for(schema: Mapping[str, object], messages: tuple[Message, ...]) -> tuple[Message, ...]:
    """Return the messages with the schema asked for at their end."""
    return (*messages, User(ASKING + json.dumps(schema, ensure_ascii=False)))
