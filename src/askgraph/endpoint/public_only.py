"""Guard of requests to endpoints that users may name: only public addresses are reached.

A name is resolved here, every address it has is judged, and the connection goes to the very address
that was judged: a name that changes its mind in between (DNS rebinding) gains nothing. Redirects to
other hosts are refused if they are followed (`_http_exchange`, `documents`).
"""

import asyncio
import ipaddress
import socket
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field

import httpx2

from askgraph.errors import NotPublic, SetupError, Unreachable

Address = ipaddress.IPv4Address | ipaddress.IPv6Address
Resolver = Callable[[str, int], Awaitable[Sequence[str]]]
"""Returns the addresses of a host; `OSError` if it has none."""

# What `is_global` of some Python versions, or the registries of IANA, let pass.
_REFUSED = tuple(
    ipaddress.ip_network(text)
    for text in (
        "0.0.0.0/8",  # this network
        "100.64.0.0/10",  # carrier-grade NAT
        "168.63.129.16/32",  # the host of virtual machines at Azure
        "192.0.0.0/24",  # protocol assignments
        "192.88.99.0/24",  # relays of 6to4
        "198.18.0.0/15",  # benchmarks
        "224.0.0.0/3",  # multicast, reserved, broadcast
        "::/96",  # unspecified, loopback, embedded IPv4
        "64:ff9b:1::/48",  # local NAT64
        "100::/64",  # discarded
        "2001::/23",  # protocol assignments, Teredo
        "2001:db8::/32",  # documentation
        "2002::/16",  # 6to4
        "3fff::/20",  # documentation
        "5f00::/16",  # segment routing
        "fc00::/7",  # unique local
        "fe80::/9",  # link-local, site-local
        "ff00::/8",  # multicast
    )
)
_NAT64 = ipaddress.ip_network("64:ff9b::/96")


def is_public(address: str) -> bool:
    """Return whether an IP address is public, also if it embeds an IPv4 address."""
    return _public(ipaddress.ip_address(address.partition("%")[0]))


def own_origin(source: httpx2.URL, target: httpx2.URL) -> bool:
    """Return whether a redirect stays with its server: one origin, or one host over https."""
    upgraded = (source.scheme, target.scheme) == ("http", "https") and target.port is None
    same = (target.scheme, target.port) == (source.scheme, source.port)
    return target.host == source.host and (same or upgraded)


async def _resolved(host: str, port: int) -> Sequence[str]:
    found = await asyncio.get_running_loop().getaddrinfo(host, port, type=socket.SOCK_STREAM)
    return list(dict.fromkeys(str(address[0]) for *_, address in found))


@dataclass(frozen=True)
class Guard:
    """The hosts that may be reached: public ones, and the `allowed` names, addresses, networks.

    `resolve` asks the system unless it is given. Raises `SetupError` for an `allowed` that is
    none of these.
    """

    allowed: tuple[str, ...] = ()
    resolve: Resolver = field(default=_resolved, repr=False, compare=False)

    def __post_init__(self) -> None:
        for entry in self.allowed:
            if "/" in entry and _network(entry) is None:
                raise SetupError(
                    f"{entry!r} is no network: write it as 10.1.0.0/16, or name a host instead"
                )

    async def addresses(self, url: str | httpx2.URL) -> tuple[str, ...]:
        """Return the addresses that a URL may be reached at.

        Raises `NotPublic` if one of them is not for users, `Unreachable` if there is none.
        """
        parsed = httpx2.URL(url)
        host = parsed.host.rstrip(".").lower()
        port = parsed.port or (443 if parsed.scheme == "https" else 80)
        try:
            found = tuple(await self.resolve(parsed.host, port))
        except (OSError, UnicodeError) as problem:
            raise Unreachable(f"the name {host!r} is unknown") from problem
        if not found:
            raise Unreachable(f"the name {host!r} is unknown")
        if host not in self.allowed and not all(map(self._admits, found)):
            raise NotPublic(
                f"{host} is not a public address, and graphs that were added over the web may reach"
                " no other; an operator can allow it with private_addresses"
            )
        return found

    def transport(self) -> httpx2.AsyncBaseTransport:
        """Return a transport that reaches only what is allowed, and never through a proxy."""
        return _GuardedTransport(self)

    def _admits(self, address: str) -> bool:
        ip = ipaddress.ip_address(address.partition("%")[0])
        ip = getattr(ip, "ipv4_mapped", None) or ip
        listed = (network for entry in self.allowed if (network := _network(entry)))
        return _public(ip) or any(ip in network for network in listed)


class _GuardedTransport(httpx2.AsyncBaseTransport):
    """Sends a request to an address that its guard has judged; the host stays in its headers."""

    def __init__(self, guard: Guard) -> None:
        self._guard = guard
        self._inner = httpx2.AsyncHTTPTransport()

    async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
        addresses = await self._guard.addresses(request.url)
        for address in addresses[:-1]:
            try:
                return await self._sent(request, address)
            except (httpx2.ConnectError, httpx2.ConnectTimeout):
                continue
        return await self._sent(request, addresses[-1])

    async def aclose(self) -> None:
        await self._inner.aclose()

    async def _sent(self, request: httpx2.Request, address: str) -> httpx2.Response:
        named = httpx2.Request(
            request.method,
            request.url.copy_with(host=address),
            headers=request.headers,
            stream=request.stream,
            extensions={**request.extensions, "sni_hostname": request.url.host},
        )
        return await self._inner.handle_async_request(named)


def _public(ip: Address) -> bool:
    if isinstance(ip, ipaddress.IPv6Address):
        if ip.ipv4_mapped:
            return _public(ip.ipv4_mapped)
        if ip in _NAT64:
            return _public(ipaddress.IPv4Address(int(ip) & 0xFFFFFFFF))
    refused = any(ip in network for network in _REFUSED if network.version == ip.version)
    return ip.is_global and not refused


def _network(entry: str) -> ipaddress.IPv4Network | ipaddress.IPv6Network | None:
    try:
        return ipaddress.ip_network(entry.strip("[]"), strict=False)
    except ValueError:
        return None
