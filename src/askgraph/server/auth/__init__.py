"""Callers, their scopes and limits; the submodules handle API keys and identify callers."""

from dataclasses import asdict, dataclass, field, replace
from typing import Literal, get_args

from askgraph.errors import AskgraphError

Scope = Literal["ask", "query", "confirm", "manage", "admin"]
"""The right to ask questions, run queries, confirm answers, manage graphs, or do everything."""

SCOPES: tuple[Scope, ...] = get_args(Scope)

ANONYMOUS = "anonymous"
"""The id of all callers without credentials."""


class NotAllowedError(AskgraphError):
    """The caller is unknown (`status` 401), or lacks a scope (403)."""

    def __init__(self, message: str, *, status: Literal[401, 403] = 403) -> None:
        super().__init__(message)
        self.status = status


class LimitExceededError(AskgraphError):
    """The caller has reached a limit; a retry may succeed after `retry_after` seconds."""

    status = 429

    def __init__(self, message: str, *, retry_after: float) -> None:
        super().__init__(message)
        self.retry_after = retry_after


@dataclass(frozen=True)
class CallerLimits:
    """Limits of a caller; 0 means no limit, and days are UTC days."""

    requests_per_minute: int = 0
    parallel: int = 0
    tokens_per_day: int = 0
    money_per_day: float = 0.0
    graphs: int = 0  # graphs that the caller may have added over the web at a time


@dataclass(frozen=True)
class LimitOverrides:
    """Limits of one caller that replace those of the server; None keeps the server's limit."""

    requests_per_minute: int | None = None
    parallel: int | None = None
    tokens_per_day: int | None = None
    money_per_day: float | None = None

    def apply_to(self, general: CallerLimits) -> CallerLimits:
        """Return the server's limits with these overrides."""
        overrides = {name: value for name, value in asdict(self).items() if value is not None}
        return replace(general, **overrides)


@dataclass(frozen=True)
class Principal:
    """A caller of the server.

    Attributes:
        id: the owner of their runs and sessions: `key:ID`, `user:NAME`, `visitor:ID` or
            `anonymous`.
        graphs: the visible graphs; None: all.
        counted_as: the id whose limits the requests count against: the address, for callers who
            can obtain any number of ids.
    """

    id: str
    name: str
    scopes: frozenset[Scope]
    graphs: frozenset[str] | None = None
    limits: CallerLimits = field(default_factory=CallerLimits)
    counted_as: str = ""

    @property
    def has_history(self) -> bool:
        """Whether the id belongs to a single caller; `anonymous` is shared and has no history."""
        return self.id != ANONYMOUS

    def has_scope(self, scope: Scope) -> bool:
        """Return whether the caller has a scope; `admin` includes all."""
        return scope in self.scopes or "admin" in self.scopes

    def can_see(self, graph: str) -> bool:
        """Return whether the caller may see a graph."""
        return self.graphs is None or graph in self.graphs

    def require_scope(self, scope: Scope) -> None:
        """Raise `NotAllowedError` if the caller lacks a scope."""
        if self.has_scope(scope):
            return
        if self.id == ANONYMOUS or self.id.startswith("visitor:"):
            raise NotAllowedError(
                f"this needs the scope {scope!r}: send an API key that has it "
                "(Authorization: Bearer askgraph_…)",
                status=401,
            )
        raise NotAllowedError(f"{self.name} may not do this: it needs the scope {scope!r}")
