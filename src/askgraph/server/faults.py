"""Faults of what a caller sent, in words: where, what has to stand there, and what did.

Bodies, parameters and settings are read by models that know their types; what those report is put
in our words here, so that all interfaces say the same of the same fault.
"""

import json
import re
from collections.abc import Mapping, Sequence
from typing import Any

from fastapi.exceptions import RequestValidationError
from pydantic import ValidationError

Fault = Mapping[str, Any]

_WHERE = {"query": "parameter ", "path": "address: ", "header": "header "}
_BRANCH = re.compile(
    r"(str|int|float|bool|none|bytes|list|dict|tuple|set)"
    r"|(list|dict|tuple|set|function|constrained|nullable|union|lax|json)[-\[].*|[A-Z]\w+"
)
_KINDS = (
    ("none", "nothing"),
    ("bool", "true or false"),
    ("int", "a whole number"),
    ("float", "a number"),
    ("decimal", "a number"),
    ("string_unicode", "a text of whole characters"),
    ("string", "a text"),
    ("datetime", "a time, as 2026-01-31T12:00:00Z"),
    ("date", "a date, as 2026-01-31"),
    ("timezone", "a time with its zone, as 2026-01-31T12:00:00Z"),
    ("list", "a list"),
    ("tuple", "a list"),
    ("set", "a list"),
    ("dict", "an object"),
    ("mapping", "an object"),
    ("model", "an object"),
    ("finite", "a finite number"),
    ("bytes", "a file"),
    ("url", "an address"),
)
_BOUNDS = {
    "min_length": "at least",
    "max_length": "at most",
    "ge": "at least",
    "gt": "more than",
    "le": "at most",
    "lt": "less than",
}
_TAG = "[A-Za-z]{2,8}"
_MOST = 2_000
_SHOWN = 60


def faults_in_words(
    error: ValidationError | RequestValidationError,
    fields: Sequence[str] = (),
    *,
    noun: str = "field",
) -> str:
    """Return all faults of a request or value in a line.

    `fields` are those that there are, which the words call `noun`.
    """
    found: dict[str, list[Fault]] = {}
    for one in _faults(error):
        found.setdefault(_place(one), []).append(one)
    told = "; ".join(_told(place, ones, fields, noun) for place, ones in found.items())[:_MOST]
    return told.encode("utf-8", "backslashreplace").decode()  # of halves of characters, too


def first_place(error: RequestValidationError) -> str:
    """Return where the first fault is, as `messages[0].content`; empty for the whole."""
    return _place(_faults(error)[0])


def _faults(error: ValidationError | RequestValidationError) -> list[Fault]:
    """The faults, whose places begin with the part of a request: a value alone is a body."""
    if isinstance(error, RequestValidationError):
        return list(error.errors())
    return [{**one, "loc": ("body", *one["loc"])} for one in error.errors()]


def _place(fault: Fault) -> str:
    loc = fault["loc"][1:]
    if fault["type"] == "json_invalid":
        return ""
    kept = [part for at, part in enumerate(loc) if at == 0 or not _is_branch(part)]
    place = "".join(f"[{part}]" if isinstance(part, int) else f".{part}" for part in kept)
    return place.lstrip(".")


def _is_branch(part: object) -> bool:
    """Whether a part of a place is no field: which of several types was tried."""
    return isinstance(part, str) and _BRANCH.fullmatch(part) is not None


def _told(place: str, faults: Sequence[Fault], fields: Sequence[str], noun: str) -> str:
    first = faults[0]
    name = f"{_WHERE.get(first['loc'][0], '')}{place!r}" if place else "the body"
    match first["type"]:
        case "missing" | "missing_argument" | "missing_keyword_only_argument":
            return f"{name} is missing" if place else "the body is missing: send a JSON object"
        case "extra_forbidden" | "unexpected_keyword_argument":
            there = f"; there are {', '.join(fields)}" if fields and "." not in place else ""
            return f"there is no {noun} {place!r} here{there}"
        case "json_invalid":
            return f"the body is no JSON: {_json_fault(first)}"
        case "value_error" | "assertion_error":
            return f"{name} {first.get('ctx', {}).get('error', 'does not fit')}"
    if first["type"] in ("string_too_short", "too_short") and first["ctx"]["min_length"] == 1:
        return f"{name} is empty"
    *others, last = dict.fromkeys(_wanted(one) for one in faults)
    wanted = f"{', '.join(others)} or {last}" if others else last
    return f"{name} has to be {wanted}{_given(first)}"


def _json_fault(fault: Fault) -> str:
    said = str(fault.get("ctx", {}).get("error", "it cannot be read"))
    at = fault["loc"][-1] if fault["loc"] else None
    return f"{said[:1].lower()}{said[1:]}" + (f", at character {at}" if isinstance(at, int) else "")


def _wanted(fault: Fault) -> str:
    """What has to stand there."""
    kind, more = str(fault["type"]), fault.get("ctx", {})
    match kind:
        case "literal_error" | "enum":
            return f"one of {more['expected']}".replace(" or ", ", ")
        case "string_too_short" | "string_too_long":
            return f"{_bound(more)} characters long"
        case "too_short" | "too_long":
            return f"{_bound(more)} entries long"
        case "string_pattern_mismatch" if more["pattern"].startswith(f"^{_TAG}"):
            return "a tag of a language, as en or de-AT"
        case "string_pattern_mismatch" if "x00" in more["pattern"]:
            return "a text without NUL (U+0000)"
        case "string_pattern_mismatch":
            return f"of the form {more['pattern']}"
        case "greater_than" | "greater_than_equal" | "less_than" | "less_than_equal":
            return _bound(more)
    return next((words for start, words in _KINDS if kind.startswith(start)), "something else")


def _bound(more: Mapping[str, Any]) -> str:
    """The bound of a number or a length."""
    return next(f"{words} {more[key]:,.10g}" for key, words in _BOUNDS.items() if key in more)


def _given(fault: Fault) -> str:
    """What stands there instead, if it is short."""
    given, kind = fault.get("input"), str(fault["type"])
    if kind.endswith(("too_long", "too_short")) and isinstance(given, str | list | tuple):
        return f", not {len(given):,}"
    if isinstance(given, bytes):
        return ""
    if isinstance(given, dict | list):
        return f", not {'an object' if isinstance(given, dict) else 'a list'}"
    text = json.dumps(given, ensure_ascii=False, default=str)
    return f", not {text if len(text) <= _SHOWN else text[:_SHOWN] + '…'}"
