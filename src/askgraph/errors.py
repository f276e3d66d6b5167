"""Every error askgraph raises, sorted by who can mend it.

    AskgraphError
    ├── SetupError             the operator: a file, a name, a missing package
    ├── QueryError             the query's author, person or model
    │   ├── QuerySyntaxError   it does not parse
    │   └── ForbiddenQuery     it would write, or reach a graph that is not allowed
    └── ServiceError           nobody here: the endpoint
        ├── Unreachable        no connection, or the name is unknown
        ├── Unauthorised       401, 403
        ├── Overloaded         429, 502, 503, 504, still after the retries
        ├── TimedOut           no complete answer within the time allowed
        ├── ErrorReply         the endpoint answered with an error, whatever its HTTP status
        └── MalformedReply     what came is no SPARQL result: cut off, HTML, other bytes

A result that was cut off by a row cap is no error: `SelectResult.truncated` says by whom.
"""

__all__ = [
    "AskgraphError",
    "ErrorReply",
    "ForbiddenQuery",
    "MalformedReply",
    "Overloaded",
    "QueryError",
    "QuerySyntaxError",
    "ServiceError",
    "SetupError",
    "TimedOut",
    "Unauthorised",
    "Unreachable",
]


class AskgraphError(Exception):
    """Base of all errors of askgraph; its text says what is wrong and what to do."""


class SetupError(AskgraphError):
    """The operator can mend it: a missing file, an unknown name, a package not installed."""


class QueryError(AskgraphError):
    """The author of the query can mend it."""


class QuerySyntaxError(QueryError):
    """The query does not parse; `line` and `column` count from 1, `None` where unknown."""

    def __init__(self, message: str, *, line: int | None = None, column: int | None = None) -> None:
        super().__init__(message)
        self.line = line
        self.column = column


class ForbiddenQuery(QueryError):
    """The query would write, or reach a service outside the allow-list; nothing was sent."""


class ServiceError(AskgraphError):
    """The endpoint failed; the same query may work later or elsewhere."""


class Unreachable(ServiceError):
    """No connection could be made."""


class Unauthorised(ServiceError):
    """The endpoint refused the credentials, or wants some."""


class Overloaded(ServiceError):
    """The endpoint is too busy, still after the retries."""

    def __init__(self, message: str, *, retry_after: float | None = None) -> None:
        super().__init__(message)
        self.retry_after = retry_after


class TimedOut(ServiceError):
    """No complete answer came within the time allowed."""


class ErrorReply(ServiceError):
    """The endpoint answered with an error message, whatever its HTTP status."""


class MalformedReply(ServiceError):
    """The reply is not a SPARQL result: cut in the middle, an HTML page, other bytes."""
