"""What a request says of who sent it."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from starlette.requests import HTTPConnection

__all__ = ["PEER", "Asking", "asking_of"]

PEER = "askgraph.peer"
"""Where a request's scope says who is connected to this server."""

_FORWARDED = ("forwarded", "x-forwarded-for", "x-forwarded-host", "x-forwarded-proto", "x-real-ip")


@dataclass(frozen=True)
class Asking:
    """What a request says of who sent it: headers in lower case, cookies, the client's address.

    `peer` is who is connected to this server, where a proxy stands between. `key` is an API key
    that came another way than by a header.
    """

    headers: Mapping[str, str] = field(default_factory=dict)
    cookies: Mapping[str, str] = field(default_factory=dict)
    client: str = ""
    key: str | None = None
    peer: str = ""

    @property
    def token(self) -> str:
        """The API key, or what stands in its place; empty where there is none."""
        kind, _, given = self.headers.get("authorization", "").strip().partition(" ")
        token = given if kind.lower() == "bearer" else ""
        return (self.key or token or self.headers.get("x-api-key", "")).strip()

    @property
    def by_proxy(self) -> bool:
        """Whether a proxy says that it handed the request on."""
        return any(name in self.headers for name in _FORWARDED)


def asking_of(connection: HTTPConnection, *, key: str | None = None) -> Asking:
    """Return what a request or WebSocket says of who sent it."""
    client = connection.client.host if connection.client else ""
    peer = connection.scope.get(PEER, client)
    given = connection.headers
    headers = {name: ", ".join(given.getlist(name)) for name in set(given)}
    return Asking(headers, connection.cookies, client, key, peer)
