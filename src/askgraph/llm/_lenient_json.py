"""JSON as models write it: in a code fence, encoded twice, in Python's spelling, or nothing."""

import ast
import json
import re

__all__ = ["lenient_object"]

_FENCE = re.compile(r"\A\s*```[\w-]*\s*\n(.*?)\n?\s*```\s*\Z", re.DOTALL)


def lenient_object(text: str) -> dict[str, object]:
    """Read an object; `ValueError` says what is wrong with the text and where."""
    fenced = _FENCE.match(text)
    plain = (fenced[1] if fenced else text).strip()
    try:
        value = json.loads(plain)
        if isinstance(value, str):
            value = json.loads(value)
    except RecursionError as problem:
        raise ValueError("it is nested too deeply") from problem
    except ValueError as problem:
        value = _python_literal(plain)
        if value is None:
            raise ValueError(_said(problem, plain)) from problem
    if not isinstance(value, dict):
        raise ValueError(f"it is {type(value).__name__} and no object")
    return {str(key): part for key, part in value.items()}


def _python_literal(text: str) -> object:
    if len(text) > 20_000 or not text.startswith("{"):
        return None
    try:
        return ast.literal_eval(text)
    except (ValueError, SyntaxError, MemoryError, RecursionError, TypeError):
        return None


def _said(problem: ValueError, text: str) -> str:
    if isinstance(problem, json.JSONDecodeError):
        if problem.pos >= len(text):
            return "it ends too early"
        near = text[max(0, problem.pos - 20) : problem.pos + 20]
        return f"{problem.msg}, near {near!r}"
    return str(problem)
