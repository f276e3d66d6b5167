"""Who a request is from."""

from collections.abc import Mapping
from dataclasses import dataclass

from starlette.requests import HTTPConnection

from askgraph.serve.accounts.principal import ANONYMOUS, Limits, Principal
from askgraph.serve.settings import ServeSettings
from askgraph.serve.store import Store

__all__ = ["VISITOR", "Accounts", "Asking", "asking_of"]

VISITOR = "askgraph_visitor"
"""The cookie that tells one anonymous browser from another."""


@dataclass(frozen=True)
class Asking:
    """What a request says of who sent it: headers in lower case, cookies, the client's address.

    `key` is an API key that came another way than by a header.
    """

    headers: Mapping[str, str]
    cookies: Mapping[str, str]
    client: str
    key: str | None = None


def asking_of(connection: HTTPConnection, *, key: str | None = None) -> Asking:
    """Return what a request or WebSocket says of who sent it."""
    client = connection.client.host if connection.client else ""
    return Asking(dict(connection.headers), connection.cookies, client, key)


class Accounts:
    """Tells who asks, counts what they use, and stops those who use too much."""

    def __init__(self, settings: ServeSettings, store: Store) -> None:
        self._settings = settings
        self._store = store

    async def identify(self, asking: Asking) -> Principal:
        """Return who asks; `NotAllowed` (401) for a key that is none."""
        visitor = asking.cookies.get(VISITOR)
        id = f"visitor:{visitor}" if visitor else ANONYMOUS
        limits = Limits(self._settings.requests_per_minute)
        return Principal(id, "anonymous", frozenset(self._settings.anonymous_scopes), None, limits)

    async def admit(self, caller: Principal) -> None:
        """Count a request; `TooMany` where the caller has made too many."""

    async def spent(self, caller: Principal, *, tokens: int, money: float) -> None:
        """Count what a question of a caller cost."""
