"""Addresses of callers: trusted proxies, and the clients behind them."""

from collections.abc import Iterable
from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network, ip_address, ip_network
from typing import Any

from starlette.datastructures import Headers
from starlette.types import ASGIApp, Receive, Scope, Send

from askgraph.errors import SetupError
from askgraph.serve.settings import ServeSettings

Network = IPv4Network | IPv6Network
_SITE = 64  # bits: who has an address of IPv6 has all with these in common
PEER = "askgraph.peer"


"""The key of a request's scope for the address that is connected to this server."""


def networks(texts: Iterable[str]) -> tuple[Network, ...]:
    """Return networks written as `10.0.0.0/8` or `192.168.1.4`; `SetupError` if one is not."""
    found = []
    for text in texts:
        try:
            found.append(ip_network(text.strip(), strict=False))
        except ValueError as error:
            raise SetupError(
                f"{text!r} is no address or network of a trusted proxy; one is like 10.0.0.0/8"
            ) from error
    return tuple(found)


def is_trusted(peer: str, trusted: tuple[Network, ...]) -> bool:
    """Whether the address is a trusted proxy's."""
    address = _address(peer)
    return address is not None and any(address in network for network in trusted)


def client_address(peer: str, forwarded_for: str, trusted: tuple[Network, ...]) -> str:
    """Return the address of a caller: behind trusted proxies the first that is none of them.

    `peer` is the address that is connected, `forwarded_for` its header on those before it.
    """
    found = peer
    handed_on = forwarded_for.split(",")
    while is_trusted(found, trusted) and handed_on:
        before = handed_on.pop().strip()
        if _address(before) is None:
            break
        found = before
    return found


def counted_address(address: str) -> str:
    """Return an address as limits count it: all of one site of IPv6 are one."""
    read = _address(address)
    if isinstance(read, IPv6Address):
        return str(IPv6Network((int(read) >> _SITE << _SITE, _SITE)))
    return address


def _address(text: str) -> IPv4Address | IPv6Address | None:
    try:
        read = ip_address(text.strip("[]").partition("%")[0])
    except ValueError:
        return None
    return read.ipv4_mapped or read if isinstance(read, IPv6Address) else read


class BehindProxy:
    """Makes `client` and `scheme` of a request those that its proxy was asked by.

    Whoever is no trusted proxy is taken to be the caller, whatever their headers say. Who is
    connected to this server stands in the scope as `PEER`.
    """

    def __init__(self, app: ASGIApp, settings: ServeSettings) -> None:
        self._app = app
        self._trusted = networks(settings.trusted_proxies)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Hand the request on, with its caller."""
        if scope["type"] in ("http", "websocket"):
            scope = {**scope, **self._asked_by(scope)}
        await self._app(scope, receive, send)

    def _asked_by(self, scope: Scope) -> dict[str, Any]:
        peer, port = scope["client"] or ("", 0)
        if not is_trusted(peer, self._trusted):
            return {PEER: peer}
        headers = Headers(scope=scope)
        # Some proxies write a line of their own below what the caller sent.
        forwarded = ",".join(headers.getlist("x-forwarded-for"))
        caller = client_address(peer, forwarded, self._trusted)
        found: dict[str, Any] = {PEER: peer, "client": (caller, port if caller == peer else 0)}
        if headers.get("x-forwarded-proto", "").strip().lower() == "https":
            found["scheme"] = "wss" if scope["type"] == "websocket" else "https"
        return found
