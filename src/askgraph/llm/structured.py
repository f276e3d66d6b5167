"""Replies that shall be a JSON object of a schema, read whether or not the server saw to it."""

import re
from collections.abc import Mapping
from dataclasses import dataclass

from askgraph.llm import Choice
from askgraph.llm._lenient_json import lenient_object
from askgraph.llm._schema import faults, fitted

__all__ = ["Structured", "Unfit", "read_structured"]

_FENCED = re.compile(r"```[\w-]*\s*\n(.*?)```", re.DOTALL)


@dataclass(frozen=True)
class Structured:
    """The object, which fulfils the schema."""

    value: Mapping[str, object]


@dataclass(frozen=True)
class Unfit:
    """A reply that is no such object; `feedback` is what the model is told."""

    feedback: str


def read_structured(choice: Choice, schema: Mapping[str, object]) -> Structured | Unfit:
    """Read the object in a reply; words and code fences around it are forgiven."""
    try:
        value = fitted(_object(choice.text), schema)
    except ValueError as problem:
        return Unfit(f"Your reply holds no JSON object: {problem}. Reply with the object alone.")
    assert isinstance(value, dict)
    if wrong := faults(value, schema):
        return Unfit(f"Your JSON does not fulfil the schema: {'; '.join(wrong[:5])}.")
    return Structured(value)


def _object(text: str) -> dict[str, object]:
    """The whole text, else the last fence, else what stands between the outer braces."""
    try:
        return lenient_object(text)
    except ValueError as problem:
        start, end = text.find("{"), text.rfind("}")
        inner = [*_FENCED.findall(text)[-1:], text[start : end + 1] if 0 <= start < end else ""]
        for part in inner:
            try:
                return lenient_object(part)
            except ValueError:
                continue
        raise problem
