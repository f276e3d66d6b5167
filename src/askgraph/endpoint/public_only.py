"""Guard of requests to endpoints that users may name: only public addresses are reached.

A host is resolved here, all of its addresses are checked, and the connection goes to a checked
address: a name that changes in between (DNS rebinding) has no effect. Redirects to other hosts are
rejected where they are followed (`_http_exchange`, `documents`).
"""

import asyncio
import ipaddress
import socket
import ssl
import tomllib
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path

import httpx2

from askgraph.errors import NotPublic, SetupError, Unreachable

Address = ipaddress.IPv4Address | ipaddress.IPv6Address
IpNetwork = ipaddress.IPv4Network | ipaddress.IPv6Network
ResolveHost = Callable[[str, int], Awaitable[Sequence[str]]]
"""Returns the addresses of a host; raises `OSError` if there is none."""

_NAT64_NETWORK = ipaddress.ip_network("64:ff9b::/96")


@cache
def _load_networks(kind: str) -> Sequence[IpNetwork]:
    text = Path(__file__).with_name("networks.toml").read_text("utf-8")
    return tuple(map(ipaddress.ip_network, tomllib.loads(text)[kind]))


def list_own_addresses(url: str) -> tuple[str, ...]:
    """Return the addresses of a URL's host that surely lie on this machine or its own network.

    Other names than `localhost` have none: whoever controls a name chooses its addresses. Nor have
    link-local, unique local and shared networks, where clouds serve metadata and credentials.
    """
    host = httpx2.URL(url).host.rstrip(".").lower()
    if host == "localhost":
        return ("127.0.0.1", "::1")
    try:
        ip = ipaddress.ip_address(host)
    except ValueError:
        return ()
    return (str(ip),) if any(ip in network for network in _load_networks("own")) else ()


def has_same_origin(source: httpx2.URL, target: httpx2.URL) -> bool:
    """Return whether a redirect stays on its server: same origin, or same host over https."""
    is_upgrade = (source.scheme, target.scheme) == ("http", "https") and target.port is None
    is_same = (target.scheme, target.port) == (source.scheme, source.port)
    return target.host == source.host and (is_same or is_upgrade)


async def _resolve_host(host: str, port: int) -> Sequence[str]:
    results = await asyncio.get_running_loop().getaddrinfo(host, port, type=socket.SOCK_STREAM)
    return list(dict.fromkeys(str(address[0]) for *_, address in results))


@dataclass(frozen=True)
class AddressGuard:
    """Restricts hosts to public ones and the `allowed` names, addresses and networks.

    `resolve` is the system's resolver by default.

    Raises:
        SetupError: an entry of `allowed` is invalid.
    """

    allowed: tuple[str, ...] = ()
    resolve: ResolveHost = field(default=_resolve_host, repr=False, compare=False)

    def __post_init__(self) -> None:
        for entry in self.allowed:
            if "/" in entry and _parse_network(entry) is None:
                raise SetupError(
                    f"{entry!r} is not a network: write it as 10.1.0.0/16, or name a host instead"
                )

    async def resolve_addresses(self, url: str | httpx2.URL) -> tuple[str, ...]:
        """Return the permitted addresses of a URL's host.

        Raises:
            NotPublic: an address is neither public nor allowed.
            Unreachable: there is no address.
        """
        parsed = httpx2.URL(url)
        host = parsed.host.rstrip(".").lower()
        port = parsed.port or (443 if parsed.scheme == "https" else 80)
        try:
            addresses = tuple(await self.resolve(parsed.host, port))
        except (OSError, UnicodeError) as problem:
            raise Unreachable(f"the name {host!r} is unknown") from problem
        if not addresses:
            raise Unreachable(f"the name {host!r} is unknown")
        if host not in self.allowed and not all(map(self._is_allowed, addresses)):
            raise NotPublic(
                f"{host} is not a public address, and graphs that were added over the web may only "
                "reach public ones; an operator can allow it with private_addresses"
            )
        return addresses

    def create_transport(self, verify: ssl.SSLContext | bool = True) -> httpx2.AsyncBaseTransport:
        """Return a transport that reaches permitted addresses only, and never uses a proxy."""
        return _GuardedTransport(self, verify)

    def _is_allowed(self, address: str) -> bool:
        ip = ipaddress.ip_address(address.partition("%")[0])
        ip = getattr(ip, "ipv4_mapped", None) or ip
        allowed_networks = (network for entry in self.allowed if (network := _parse_network(entry)))
        return is_public(ip) or any(ip in network for network in allowed_networks)


class _GuardedTransport(httpx2.AsyncBaseTransport):
    """Sends requests to an address that its guard has checked, with the host in the headers."""

    def __init__(self, guard: AddressGuard, verify: ssl.SSLContext | bool) -> None:
        self._guard = guard
        self._inner = httpx2.AsyncHTTPTransport(verify=verify)

    async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
        addresses = await self._guard.resolve_addresses(request.url)
        for address in addresses[:-1]:
            try:
                return await self._send(request, address)
            except (httpx2.ConnectError, httpx2.ConnectTimeout):
                continue
        return await self._send(request, addresses[-1])

    async def aclose(self) -> None:
        await self._inner.aclose()

    async def _send(self, request: httpx2.Request, address: str) -> httpx2.Response:
        addressed_request = httpx2.Request(
            request.method,
            request.url.copy_with(host=address),
            headers=request.headers,
            stream=request.stream,
            extensions={**request.extensions, "sni_hostname": request.url.host},
        )
        return await self._inner.handle_async_request(addressed_request)


def is_public(ip: Address) -> bool:
    """Return whether an IP address is public, including the IPv4 address it may embed."""
    if isinstance(ip, ipaddress.IPv6Address):
        if ip.ipv4_mapped:
            return is_public(ip.ipv4_mapped)
        if ip in _NAT64_NETWORK:
            return is_public(ipaddress.IPv4Address(int(ip) & 0xFFFFFFFF))
    is_blocked = any(
        ip in network for network in _load_networks("blocked") if network.version == ip.version
    )
    return ip.is_global and not is_blocked


def _parse_network(entry: str) -> IpNetwork | None:
    try:
        return ipaddress.ip_network(entry.strip("[]"), strict=False)
    except ValueError:
        return None
