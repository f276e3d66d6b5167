"""Every error askgraph raises, sorted by who can mend it.

    AskgraphError
    ├── SetupError             the operator: a file, a name, a missing package
    │   ├── NoModel            no language model is named
    │   └── NoSpace            the disk is full
    ├── QueryError             the query's author, person or model
    │   ├── QuerySyntaxError   it does not parse
    │   └── ForbiddenQuery     it would write, or reach a graph that is not allowed
    ├── ServiceError           nobody here: the endpoint, or the server of a language model
    │   ├── Unreachable        no connection, or the name is unknown
    │   │   └── NotPublic      it lies in a private network, and only public ones are allowed
    │   ├── Unauthorised       401, 403
    │   ├── Overloaded         429, 502, 503, 504, still after the retries
    │   ├── TimedOut           no complete answer within the time allowed
    │   ├── ErrorReply         it answered with an error, whatever its HTTP status
    │   │   └── PromptTooLong  the messages do not fit the language model
    │   └── MalformedReply     what came is no result: cut off, HTML, other bytes
    └── BudgetSpent            nobody, for it is wanted: the run may cost no more

A result that was cut off by a row cap is no error: `SelectResult.truncated` says by whom.
"""

__all__ = [
    "AskgraphError",
    "BudgetSpent",
    "ErrorReply",
    "ForbiddenQuery",
    "MalformedReply",
    "NoModel",
    "NoSpace",
    "NotPublic",
    "Overloaded",
    "PromptTooLong",
    "QueryError",
    "QuerySyntaxError",
    "ServiceError",
    "SetupError",
    "TimedOut",
    "Unauthorised",
    "Unreachable",
]


class AskgraphError(Exception):
    """Base of all errors of askgraph; its text names the fault and the remedy."""


class SetupError(AskgraphError):
    """The operator can mend it: a missing file, an unknown name, a package not installed."""


class NoModel(SetupError):
    """No language model is named, and the workspace has none."""


class NoSpace(SetupError):
    """The disk is full; what was there before stays as it was."""


class QueryError(AskgraphError):
    """The author of the query can mend it."""


class QuerySyntaxError(QueryError):
    """The query does not parse; `line` and `column` count from 1, `None` if unknown."""

    def __init__(self, message: str, *, line: int | None = None, column: int | None = None) -> None:
        super().__init__(message)
        self.line = line
        self.column = column


class ForbiddenQuery(QueryError):
    """The query would write, or reach a service outside the allow-list; nothing was sent."""


class ServiceError(AskgraphError):
    """The endpoint or model server failed; the same request may work later or elsewhere."""


class Unreachable(ServiceError):
    """No connection could be made."""


class NotPublic(Unreachable):
    """The address lies in a private network, closed to this graph; nothing was sent."""


class Unauthorised(ServiceError):
    """The service refused the credentials, or wants some."""


class Overloaded(ServiceError):
    """The service is too busy, still after the retries; `retry_after` is in seconds."""

    def __init__(self, message: str, *, retry_after: float | None = None) -> None:
        super().__init__(message)
        self.retry_after = retry_after


class TimedOut(ServiceError):
    """No complete answer came within the time allowed."""


class ErrorReply(ServiceError):
    """The service answered with an error message, whatever its HTTP status."""


class PromptTooLong(ErrorReply):
    """The messages and tools have more tokens than the language model takes."""


class MalformedReply(ServiceError):
    """The reply is not what was asked for: cut in the middle, an HTML page, other bytes."""


MAY_PASS = (MalformedReply, Overloaded, TimedOut, Unreachable)
"""What may be over when a service is asked again; a wrong key or name is for its operator."""

WITHOUT_MODEL = "without the model: "
"""What begins the words of an answer that was given although the language model failed."""

LEFT_ALONE = "it is left alone for"
"""What is in the words of a failure that is a former one: the service was not asked."""


class BudgetSpent(AskgraphError):
    """The next call of a language model would cost more than allowed; it was not made, or ended.

    `limit` is what is used up: calls, tokens, money or seconds. `scope` is whose limit it is, as
    its account is named: question or run. A method ends with its best attempt.
    """

    def __init__(self, message: str, *, limit: str, scope: str) -> None:
        super().__init__(message)
        self.limit = limit
        self.scope = scope
