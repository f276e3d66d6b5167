"""Problems as JSON (RFC 9457), and faults of what a caller sent, in words.

The status of a problem says whether caller, operator or nobody can mend it. Bodies, parameters and
settings are read by models; what those report is put in our words here, so that all interfaces say
the same of the same fault.
"""

import json
import re
from collections.abc import Mapping, Sequence
from typing import Any

from fastapi.exceptions import RequestValidationError
from pydantic import BaseModel, Field, ValidationError
from starlette.responses import JSONResponse

from askgraph.errors import (
    AskgraphError,
    BudgetSpent,
    ForbiddenQuery,
    NoSpace,
    NotPublic,
    Overloaded,
    QueryError,
    QuerySyntaxError,
    ServiceError,
    SetupError,
    TimedOut,
)
from askgraph.server.auth import NotAllowed, TooMany


class Missing(AskgraphError):
    """There is no such thing, or none that the caller may know of."""


class TooLarge(AskgraphError):
    """The request is larger than the server takes."""


class Problem(BaseModel):
    """Why a request failed."""

    type: str = Field(description="Which kind of problem: `urn:askgraph:problem:…`.")
    title: str = Field(description="The kind in words.")
    status: int = Field(description="The HTTP status.")
    detail: str = Field(description="What is wrong, and what to do.")
    line: int | None = Field(None, description="The line at which a query is wrong, from 1.")
    column: int | None = Field(None, description="The column at which a query is wrong.")
    retry_after: float | None = Field(None, description="Seconds until another try has a chance.")
    run: str | None = Field(None, description="The question that failed, as it is kept.")

    @classmethod
    def unexpected(cls) -> "Problem":
        """Return the problem of a bug, of which the caller learns nothing more."""
        detail = "askgraph failed by a bug of its own; the server's log says where"
        return cls(type="urn:askgraph:problem:bug", title="A bug", status=500, detail=detail)

    @classmethod
    def stopped(cls) -> "Problem":
        """Return the problem of a question that was stopped before it came to an end."""
        detail = "the question was stopped before it came to an end: ask it again"
        kind = "urn:askgraph:problem:stopped"
        return cls(type=kind, title="It was stopped", status=503, detail=detail, retry_after=2.0)


class Failed(AskgraphError):
    """A question came to no end; `problem` says why."""

    def __init__(self, problem: Problem) -> None:
        super().__init__(problem.detail)
        self.problem = problem


_KINDS: tuple[tuple[type[AskgraphError], int, str, str], ...] = (
    (NotAllowed, 403, "not-allowed", "Not allowed"),
    (Missing, 404, "missing", "There is no such thing"),
    (TooLarge, 413, "too-large", "Too large"),
    (TooMany, 429, "too-many", "Too many requests"),
    (QuerySyntaxError, 400, "query-syntax", "The query cannot be read"),
    (ForbiddenQuery, 403, "query-forbidden", "The query is not allowed"),
    (QueryError, 400, "query", "The query is wrong"),
    (NotPublic, 422, "not-public", "Not a public address"),
    (TimedOut, 504, "timed-out", "It took too long"),
    (Overloaded, 503, "overloaded", "A service is too busy"),
    (ServiceError, 502, "service", "A service failed"),
    (BudgetSpent, 429, "budget-spent", "The budget is spent"),
    (NoSpace, 507, "no-space", "The disk is full"),
    (SetupError, 422, "setup", "This cannot be done as asked"),
    (AskgraphError, 422, "other", "It failed"),
)


def problem_of(error: AskgraphError) -> Problem:
    """Return an error of ours as a problem."""
    if isinstance(error, Failed):
        return error.problem
    for kind_of, status, kind, title in _KINDS:  # noqa: B007 - the last is of all errors
        if isinstance(error, kind_of):
            break
    if isinstance(error, NotAllowed) and error.status == 401:
        status, kind, title = 401, "unknown-caller", "Who are you?"
    detail = " ".join(str(error).split())
    kind = f"urn:askgraph:problem:{kind}"
    problem = Problem(type=kind, title=title, status=status, detail=detail)
    match error:
        case QuerySyntaxError():
            problem.line, problem.column = error.line, error.column
        case TooMany() | Overloaded():
            problem.retry_after = error.retry_after
    return problem


def problem_response(problem: Problem) -> JSONResponse:
    """Return a problem as a response."""
    content = problem.model_dump(exclude_none=True)
    headers = problem_headers(problem)
    return JSONResponse(content, problem.status, headers, media_type="application/problem+json")


def problem_headers(problem: Problem) -> dict[str, str]:
    """Return the headers of a response with a problem: when to try again, how to authenticate."""
    headers = {}
    if problem.retry_after is not None:
        headers["Retry-After"] = str(max(1, round(problem.retry_after)))
    if problem.status == 401:
        headers["WWW-Authenticate"] = 'Bearer realm="askgraph"'
    return headers


Fault = Mapping[str, Any]

_WHERE = {"query": "parameter ", "path": "address: ", "header": "header "}
_BRANCH = re.compile(
    r"(str|int|float|bool|none|bytes|list|dict|tuple|set)"
    r"|(list|dict|tuple|set|function|constrained|nullable|union|lax|json)[-\[].*|[A-Z]\w+"
)
_VALUES = (
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
    kept = [
        part
        for at, part in enumerate(loc)
        # Parts that name which of several types was tried are no fields.
        if at == 0 or not (isinstance(part, str) and _BRANCH.fullmatch(part))
    ]
    place = "".join(f"[{part}]" if isinstance(part, int) else f".{part}" for part in kept)
    return place.lstrip(".")


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
            said = str(first.get("ctx", {}).get("error", "it cannot be read"))
            at = f", at character {first['loc'][-1]}" if isinstance(first["loc"][-1], int) else ""
            return f"the body is no JSON: {said[:1].lower()}{said[1:]}{at}"
        case "value_error" | "assertion_error":
            return f"{name} {first.get('ctx', {}).get('error', 'does not fit')}"
    if first["type"] in ("string_too_short", "too_short") and first["ctx"]["min_length"] == 1:
        return f"{name} is empty"
    *others, last = dict.fromkeys(_wanted(one) for one in faults)
    wanted = f"{', '.join(others)} or {last}" if others else last
    return f"{name} has to be {wanted}{_given(first)}"


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
    return next((words for start, words in _VALUES if kind.startswith(start)), "something else")


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
