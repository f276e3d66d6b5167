"""Callers, their scopes and limits; beside this: keys, and how callers are identified."""

from dataclasses import asdict, dataclass, field, replace
from typing import Literal, get_args

from askgraph.errors import AskgraphError

Scope = Literal["ask", "query", "confirm", "manage", "admin"]
"""Ask questions, run queries, confirm answers, add and remove graphs, everything."""

SCOPES: tuple[Scope, ...] = get_args(Scope)

ANONYMOUS = "anonymous"
"""The id of all callers without credentials."""


class NotAllowed(AskgraphError):
    """The caller is unknown (`status` 401), or known and may not do it (403)."""

    def __init__(self, message: str, *, status: Literal[401, 403] = 403) -> None:
        super().__init__(message)
        self.status = status


class TooMany(AskgraphError):
    """The caller has reached a limit; in `retry_after` seconds another try has a chance."""

    status = 429

    def __init__(self, message: str, *, retry_after: float) -> None:
        super().__init__(message)
        self.retry_after = retry_after


@dataclass(frozen=True)
class Limits:
    """Limits of a caller: requests a minute, questions at once, tokens and money a day, graphs.

    `graphs` are those they added over the web that are there. 0 is no limit. Days are those of UTC.
    """

    requests_per_minute: int = 0
    parallel: int = 0
    tokens_per_day: int = 0
    money_per_day: float = 0.0
    graphs: int = 0


@dataclass(frozen=True)
class OwnLimits:
    """Limits of one caller, if they are other than the server's; None is as the server's."""

    requests_per_minute: int | None = None
    parallel: int | None = None
    tokens_per_day: int | None = None
    money_per_day: float | None = None

    def over(self, general: Limits) -> Limits:
        """Return the server's limits with these in place of its own."""
        own = {name: value for name, value in asdict(self).items() if value is not None}
        return replace(general, **own)


@dataclass(frozen=True)
class Principal:
    """A caller: `id` owns their runs and sessions, `name` is shown, `graphs` None means all.

    The id is `key:ID`, `user:NAME`, `visitor:ID` or `anonymous`. `counted_as` is the id whose
    limits their requests count against: for callers who can have any number of ids, the address.
    """

    id: str
    name: str
    scopes: frozenset[Scope]
    graphs: frozenset[str] | None = None
    limits: Limits = field(default_factory=Limits)
    counted_as: str = ""

    @property
    def has_history(self) -> bool:
        """Whether the id is one caller's; `anonymous` is many, who see no history."""
        return self.id != ANONYMOUS

    def may(self, scope: Scope) -> bool:
        """Whether the caller has a scope; `admin` includes all."""
        return scope in self.scopes or "admin" in self.scopes

    def sees(self, graph: str) -> bool:
        """Whether the graph exists for this caller."""
        return self.graphs is None or graph in self.graphs

    def check(self, scope: Scope) -> None:
        """Raise `NotAllowed` if the caller does not have a scope."""
        if self.may(scope):
            return
        if self.id == ANONYMOUS or self.id.startswith("visitor:"):
            raise NotAllowed(
                f"this needs the scope {scope!r}: send an API key that has it "
                "(Authorization: Bearer askgraph_…)",
                status=401,
            )
        raise NotAllowed(f"{self.name} may not do this: it needs the scope {scope!r}")
