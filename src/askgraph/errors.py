"""All errors of askgraph, sorted by who can fix them.

    AskgraphError
    ├── SetupError             the operator: a file, a name, a missing package
    │   ├── NoModel            no language model is configured
    │   └── NoSpace            the disk is full
    ├── QueryError             the author of the query, person or model
    │   ├── QuerySyntaxError   the query does not parse
    │   └── ForbiddenQuery     the query would write, or use a forbidden graph
    ├── ServiceError           nobody here: the endpoint, or the server of a language model
    │   ├── Unreachable        no connection, or an unknown host
    │   │   └── NotPublic      a private address where only public ones are allowed
    │   ├── Unauthorised       401, 403
    │   ├── Overloaded         429, 502, 503, 504 after all retries
    │   ├── TimedOut           no complete answer within the timeout
    │   ├── ErrorReply         an error message, whatever the HTTP status
    │   │   └── PromptTooLong  the messages exceed the context of the language model
    │   └── MalformedReply     not a result: cut off, HTML, other bytes
    └── BudgetSpent            intended: the run has used up its budget

A result cut off by a row cap is not an error: see `SelectResult.truncated`.
"""

__all__ = [
    "AskgraphError", "BudgetSpent", "ErrorReply", "ForbiddenQuery", "MalformedReply", "NoModel",
    "NoSpace", "NotPublic", "Overloaded", "PromptTooLong", "QueryError", "QuerySyntaxError",
    "ServiceError", "SetupError", "TimedOut", "Unauthorised", "Unreachable",
]  # fmt: skip


class AskgraphError(Exception):
    """Base class of all askgraph errors; the message names the fault and the remedy.

    Attributes:
        reply: The error message of the service in its own words; empty if it sent none.
    """

    reply: str = ""


class SetupError(AskgraphError):
    """The operator can fix it: a missing file, an unknown name, a missing package."""


class NoModel(SetupError):
    """No language model is given, and the workspace has no default."""


class NoSpace(SetupError):
    """The disk is full; existing files are unchanged."""


class QueryError(AskgraphError):
    """The author of the query can fix it."""


class QuerySyntaxError(QueryError):
    """The query does not parse.

    Attributes:
        line: Line of the fault, counted from 1; None if unknown.
        column: Column of the fault, counted from 1; None if unknown.
    """

    def __init__(self, message: str, *, line: int | None = None, column: int | None = None) -> None:
        super().__init__(message)
        self.line = line
        self.column = column


class ForbiddenQuery(QueryError):
    """The query would write, or use a service outside the allow-list; it was not sent."""


class ServiceError(AskgraphError):
    """The endpoint or model server failed; the same request may work later or elsewhere."""


class Unreachable(ServiceError):
    """No connection could be made."""


class NotPublic(Unreachable):
    """The address is private, and this graph may use public ones only; nothing was sent."""


class Unauthorised(ServiceError):
    """The service requires credentials or rejected the given ones."""


class Overloaded(ServiceError):
    """The service is still too busy after all retries.

    Attributes:
        retry_after: Seconds to wait, as the service suggests; None if it does not.
    """

    def __init__(self, message: str, *, retry_after: float | None = None) -> None:
        super().__init__(message)
        self.retry_after = retry_after


class TimedOut(ServiceError):
    """No complete answer came within the timeout."""


class ErrorReply(ServiceError):
    """The service answered with an error message, whatever its HTTP status."""


class PromptTooLong(ErrorReply):
    """The messages and tools exceed the context of the language model."""


class MalformedReply(ServiceError):
    """The reply is not a valid result: cut off, an HTML page, other bytes."""


TRANSIENT_ERRORS = (MalformedReply, Overloaded, TimedOut, Unreachable)
"""Errors that a retry may resolve; a wrong key or name needs its operator."""

WITHOUT_MODEL_PREFIX = "without the model: "
"""Prefix of an answer's text when the language model failed but an answer was found."""

COOLDOWN_PHRASE = "it is not called again for"
"""Phrase in the message of a repeated failure: the service was not called again."""


class BudgetSpent(AskgraphError):
    """The next call of a language model would exceed the budget.

    The call was skipped or stopped. A method then ends with its best attempt.

    Attributes:
        limit: The exhausted limit: calls, tokens, money or seconds.
        scope: The account of the limit: question or run.
    """

    def __init__(self, message: str, *, limit: str, scope: str) -> None:
        super().__init__(message)
        self.limit = limit
        self.scope = scope
