"""A problem as an HTTP response."""

from starlette.responses import JSONResponse

from askgraph.serve.problems import Problem

__all__ = ["problem_response"]


def problem_response(problem: Problem) -> JSONResponse:
    """Return a problem as a response."""
    headers = {}
    if problem.retry_after is not None:
        headers["Retry-After"] = str(max(1, round(problem.retry_after)))
    if problem.status == 401:
        headers["WWW-Authenticate"] = 'Bearer realm="askgraph"'
    return JSONResponse(
        problem.model_dump(exclude_none=True),
        problem.status,
        headers,
        media_type="application/problem+json",
    )
