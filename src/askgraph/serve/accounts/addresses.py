"""Addresses of callers: who is on this machine, who is a trusted proxy, and who is behind it."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from ipaddress import (
    IPv4Address,
    IPv4Network,
    IPv6Address,
    IPv6Network,
    ip_address,
    ip_network,
)

from askgraph.errors import SetupError

__all__ = [
    "Asking",
    "Network",
    "client_address",
    "counted_address",
    "is_loopback",
    "is_trusted",
    "networks",
]

Network = IPv4Network | IPv6Network
_FORWARDED = ("forwarded", "x-forwarded-for", "x-forwarded-host", "x-forwarded-proto", "x-real-ip")
_SITE = 64  # bits: who has an address of IPv6 has all with these in common


@dataclass(frozen=True)
class Asking:
    """What a request says of its caller: headers (lower case, or any case), cookies, address."""

    headers: Mapping[str, str] = field(default_factory=dict)
    cookies: Mapping[str, str] = field(default_factory=dict)
    host: str = ""

    @property
    def by_proxy(self) -> bool:
        """Whether a proxy says that it handed the request on."""
        return any(name in self.headers for name in _FORWARDED)


def networks(texts: Iterable[str]) -> tuple[Network, ...]:
    """Return networks written as `10.0.0.0/8` or `192.168.1.4`; `SetupError` where one is not."""
    found = []
    for text in texts:
        try:
            found.append(ip_network(text.strip(), strict=False))
        except ValueError as error:
            raise SetupError(
                f"{text!r} is no address or network of a trusted proxy; one is like 10.0.0.0/8"
            ) from error
    return tuple(found)


def is_loopback(host: str) -> bool:
    """Whether a server bound to this host is reached from this machine alone."""
    address = _address(host)
    return host == "localhost" if address is None else address.is_loopback


def client_address(asking: Asking, trusted: tuple[Network, ...]) -> str:
    """Return the address of the caller: behind trusted proxies the first that is none of them."""
    found = asking.host
    handed_on = asking.headers.get("x-forwarded-for", "").split(",")
    while _within(found, trusted) and handed_on:
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


def is_trusted(asking: Asking, trusted: tuple[Network, ...]) -> bool:
    """Whether the request comes from a trusted proxy."""
    return _within(asking.host, trusted)


def _within(host: str, trusted: tuple[Network, ...]) -> bool:
    address = _address(host)
    return address is not None and any(address in network for network in trusted)


def _address(text: str) -> IPv4Address | IPv6Address | None:
    try:
        read = ip_address(text.strip("[]").partition("%")[0])
    except ValueError:
        return None
    return read.ipv4_mapped or read if isinstance(read, IPv6Address) else read
