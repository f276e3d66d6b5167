"""Convert errors to problem JSON (RFC 9457), and validation faults to sentences.

The status of a problem depends on whether the caller or the operator can fix it. Pydantic
validates bodies, parameters and settings; this module words its errors, so that all interfaces
report a fault in the same words.
"""

import json
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from fastapi.exceptions import RequestValidationError
from pydantic import BaseModel, Field, ValidationError
from starlette.responses import JSONResponse

from askgraph import errors
from askgraph.server.auth import LimitExceededError, NotAllowedError


class NotFound(errors.AskgraphError):
    """The object does not exist, or the caller may not know of it."""


class TooLarge(errors.AskgraphError):
    """The request is larger than the server accepts."""


class Problem(BaseModel):
    """Why a request failed."""

    type: str = Field(description="The kind of problem: `urn:askgraph:problem:…`.")
    title: str = Field(description="The kind of problem in words.")
    status: int = Field(description="The HTTP status.")
    detail: str = Field(description="What went wrong, and what to do.")
    line: int | None = Field(None, description="The line of the error in a query, from 1.")
    column: int | None = Field(None, description="The column of the error in a query.")
    retry_after: float | None = Field(None, description="Seconds to wait before trying again.")
    run: str | None = Field(None, description="The id of the run of the question that failed.")

    @classmethod
    def for_bug(cls) -> "Problem":
        """Return the problem of a bug; it reveals no details."""
        detail = "askgraph failed because of a bug; the server's log has the details"
        return cls(
            type="urn:askgraph:problem:bug", title="Internal error", status=500, detail=detail
        )

    @classmethod
    def for_stop(cls) -> "Problem":
        """Return the problem of a question that was stopped before its outcome."""
        return cls(
            type="urn:askgraph:problem:stopped",
            title="The question was stopped",
            status=503,
            detail="the question was stopped before it was answered: ask it again",
            retry_after=2.0,
        )


class RunFailed(errors.AskgraphError):
    """A run ended without an outcome; `problem` has the reason."""

    def __init__(self, problem: Problem) -> None:
        super().__init__(problem.detail)
        self.problem = problem


_PROBLEM_KINDS: tuple[tuple[type[errors.AskgraphError], int, str, str], ...] = (
    (NotAllowedError, 403, "not-allowed", "Not allowed"),
    (NotFound, 404, "missing", "Not found"),
    (TooLarge, 413, "too-large", "Too large"),
    (LimitExceededError, 429, "too-many", "Too many requests"),
    (errors.QuerySyntaxError, 400, "query-syntax", "The query has a syntax error"),
    (errors.ForbiddenQuery, 403, "query-forbidden", "The query is not allowed"),
    (errors.QueryError, 400, "query", "The query is not valid"),
    (errors.NotPublic, 422, "not-public", "Not a public address"),
    (errors.TimedOut, 504, "timed-out", "Time limit exceeded"),
    (errors.Overloaded, 503, "overloaded", "A service is overloaded"),
    (errors.ServiceError, 502, "service", "A service failed"),
    (errors.BudgetSpent, 429, "budget-spent", "The budget is used up"),
    (errors.NoSpace, 507, "no-space", "The disk is full"),
    (errors.SetupError, 422, "setup", "Not possible with this setup"),
    (errors.AskgraphError, 422, "other", "An error occurred"),
)


def to_problem(error: errors.AskgraphError) -> Problem:
    """Convert an error of askgraph to a problem."""
    if isinstance(error, RunFailed):
        return error.problem
    for error_type, status, problem_kind, title in _PROBLEM_KINDS:  # noqa: B007 - the last matches every error
        if isinstance(error, error_type):
            break
    if isinstance(error, NotAllowedError) and error.status == 401:
        status, problem_kind, title = 401, "unknown-caller", "Authentication required"
    detail = " ".join(str(error).split())
    problem_kind = f"urn:askgraph:problem:{problem_kind}"
    problem = Problem(type=problem_kind, title=title, status=status, detail=detail)
    match error:
        case errors.QuerySyntaxError():
            problem.line, problem.column = error.line, error.column
        case LimitExceededError() | errors.Overloaded():
            problem.retry_after = error.retry_after
    return problem


def to_problem_response(problem: Problem) -> JSONResponse:
    """Convert a problem to a response."""
    content = problem.model_dump(exclude_none=True)
    headers = build_problem_headers(problem)
    return JSONResponse(content, problem.status, headers, media_type="application/problem+json")


def build_problem_headers(problem: Problem) -> dict[str, str]:
    """Return the headers of a problem response: when to retry, how to authenticate."""
    headers = {}
    if problem.retry_after is not None:
        headers["Retry-After"] = str(max(1, round(problem.retry_after)))
    if problem.status == 401:
        headers["WWW-Authenticate"] = 'Bearer realm="askgraph"'
    return headers


ErrorDetails = Mapping[str, Any]

_UNION_BRANCH = re.compile(
    r"(str|int|float|bool|none|bytes|list|dict|tuple|set)"
    r"|(list|dict|tuple|set|function|constrained|nullable|union|lax|json)[-\[].*|[A-Z]\w+"
)
_WORDS: dict[str, dict[str, str]] = json.loads(
    Path(__file__).with_name("problems.json").read_text("utf-8")
)
"""Words by pydantic's places, starts of error types, and bounds."""
_LANGUAGE_TAG_START = "[A-Za-z]{2,8}"
_MAX_MESSAGE_CHARACTERS = 2_000
_MAX_VALUE_CHARACTERS = 60


def describe_faults(
    error: ValidationError | RequestValidationError,
    fields: Sequence[str] = (),
    *,
    noun: str = "field",
) -> str:
    """Describe all faults of a request or value in one line.

    Args:
        noun: what the message calls a field.
    """
    faults_by_path: dict[str, list[ErrorDetails]] = {}
    for fault in _list_faults(error):
        faults_by_path.setdefault(_format_place(fault), []).append(fault)
    message = "; ".join(
        _describe_place(field_path, faults, fields, noun)
        for field_path, faults in faults_by_path.items()
    )[:_MAX_MESSAGE_CHARACTERS]
    return message.encode("utf-8", "backslashreplace").decode()  # it may have lone surrogates


def locate_first_fault(error: RequestValidationError) -> str:
    """Return the place of the first fault, for example `messages[0].content`; "" for the body."""
    return _format_place(_list_faults(error)[0])


def _list_faults(error: ValidationError | RequestValidationError) -> list[ErrorDetails]:
    """List the faults; each location starts with a part of the request, for values `body`."""
    if isinstance(error, RequestValidationError):
        return list(error.errors())
    return [{**fault, "loc": ("body", *fault["loc"])} for fault in error.errors()]


def _format_place(fault: ErrorDetails) -> str:
    loc = fault["loc"][1:]
    if fault["type"] == "json_invalid":
        return ""
    parts = [
        part
        for index, part in enumerate(loc)
        # Skip parts that name the branch of a union: they are not fields.
        if index == 0 or not (isinstance(part, str) and _UNION_BRANCH.fullmatch(part))
    ]
    field_path = "".join(f"[{part}]" if isinstance(part, int) else f".{part}" for part in parts)
    return field_path.lstrip(".")


def _describe_place(
    field_path: str, faults: Sequence[ErrorDetails], fields: Sequence[str], noun: str
) -> str:
    first_fault = faults[0]
    name = (
        f"{_WORDS['locations'].get(first_fault['loc'][0], '')}{field_path!r}"
        if field_path
        else "the body"
    )
    match first_fault["type"]:
        case "missing" | "missing_argument" | "missing_keyword_only_argument":
            return f"{name} is missing" if field_path else "the body is missing: send a JSON object"
        case "extra_forbidden" | "unexpected_keyword_argument":
            known_fields = (
                f"; the {noun}s are {', '.join(fields)}" if fields and "." not in field_path else ""
            )
            return f"there is no {noun} {field_path!r}{known_fields}"
        case "json_invalid":
            reason = str(first_fault.get("ctx", {}).get("error", "it cannot be read"))
            position = (
                f", at character {first_fault['loc'][-1]}"
                if isinstance(first_fault["loc"][-1], int)
                else ""
            )
            return f"the body is not JSON: {reason[:1].lower()}{reason[1:]}{position}"
        case "value_error" | "assertion_error":
            return f"{name} {first_fault.get('ctx', {}).get('error', 'is not valid')}"
    if (
        first_fault["type"] in ("string_too_short", "too_short")
        and first_fault["ctx"]["min_length"] == 1
    ):
        return f"{name} is empty"
    *alternatives, last_expected = dict.fromkeys(_describe_expected(fault) for fault in faults)
    expected = f"{', '.join(alternatives)} or {last_expected}" if alternatives else last_expected
    return f"{name} must be {expected}{_describe_actual(first_fault)}"


def _describe_expected(fault: ErrorDetails) -> str:
    fault_type, constraints = str(fault["type"]), fault.get("ctx", {})
    match fault_type:
        case "literal_error" | "enum":
            return f"one of {constraints['expected']}".replace(" or ", ", ")
        case "string_too_short" | "string_too_long":
            return f"{_describe_bound(constraints)} characters long"
        case "too_short" | "too_long":
            return f"{_describe_bound(constraints)} entries long"
        case "string_pattern_mismatch" if constraints["pattern"].startswith(
            f"^{_LANGUAGE_TAG_START}"
        ):
            return "a language tag such as en or de-AT"
        case "string_pattern_mismatch" if "x00" in constraints["pattern"]:
            return "text without NUL (U+0000)"
        case "string_pattern_mismatch":
            return f"of the form {constraints['pattern']}"
        case "greater_than" | "greater_than_equal" | "less_than" | "less_than_equal":
            return _describe_bound(constraints)
    return next(
        (
            description
            for start, description in _WORDS["expected"].items()
            if fault_type.startswith(start)
        ),
        "something else",
    )


def _describe_bound(constraints: Mapping[str, Any]) -> str:
    return next(
        f"{words} {constraints[key]:,.10g}"
        for key, words in _WORDS["bounds"].items()
        if key in constraints
    )


def _describe_actual(fault: ErrorDetails) -> str:
    value, fault_type = fault.get("input"), str(fault["type"])
    if fault_type.endswith(("too_long", "too_short")) and isinstance(value, str | list | tuple):
        return f", not {len(value):,}"
    if isinstance(value, bytes):
        return ""
    if isinstance(value, dict | list):
        return f", not {'an object' if isinstance(value, dict) else 'a list'}"
    text = json.dumps(value, ensure_ascii=False, default=str)
    return (
        ", not "
        f"{text if len(text) <= _MAX_VALUE_CHARACTERS else text[:_MAX_VALUE_CHARACTERS] + '…'}"
    )
