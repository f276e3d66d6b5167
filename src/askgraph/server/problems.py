"""Problems as JSON (RFC 9457): the status says whether caller, operator or nobody can mend it."""

from pydantic import BaseModel, Field
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
from askgraph.server.auth.principal import NotAllowed, TooMany


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
)


def problem_of(error: AskgraphError) -> Problem:
    """Return an error of ours as a problem."""
    if isinstance(error, Failed):
        return error.problem
    detail = " ".join(str(error).split())
    if isinstance(error, NotAllowed):
        title = "Who are you?" if error.status == 401 else "Not allowed"
        kind = "unknown-caller" if error.status == 401 else "not-allowed"
        return _problem(kind, title, error.status, detail)
    for kind_of, status, kind, title in _KINDS:
        if isinstance(error, kind_of):
            problem = _problem(kind, title, status, detail)
            return problem.model_copy(update=_more(error))
    return _problem("other", "It failed", 422, detail)


def _problem(kind: str, title: str, status: int, detail: str) -> Problem:
    return Problem(type=f"urn:askgraph:problem:{kind}", title=title, status=status, detail=detail)


def _more(error: AskgraphError) -> dict[str, object]:
    match error:
        case QuerySyntaxError():
            return {"line": error.line, "column": error.column}
        case TooMany() | Overloaded():
            return {"retry_after": error.retry_after}
        case _:
            return {}


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
