"""Callers identified by key, proxy, cookie or address, and kept within their limits."""

import hashlib
import math
import re
import secrets
import time
from collections import OrderedDict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network, ip_address, ip_network
from typing import Any

from starlette.datastructures import Headers, MutableHeaders
from starlette.requests import HTTPConnection
from starlette.types import ASGIApp, Message, Receive, Send
from starlette.types import Scope as AsgiScope

from askgraph.errors import SetupError
from askgraph.server.auth import ANONYMOUS, Limits, NotAllowed, Principal, Scope, TooMany
from askgraph.server.auth.api_keys import PREFIX, given_parts, is_of
from askgraph.server.settings import ServeSettings
from askgraph.server.store import Store
from askgraph.server.store.tables import now

_FORWARDED = ("forwarded", "x-forwarded-for", "x-forwarded-host", "x-forwarded-proto", "x-real-ip")
_LONGEST_NAME = 200
_STEPS = 20  # how often in using up its limit a caller is counted in the database
_REMEMBERED = 10_000  # callers
_WINDOW = 60.0  # seconds
_SITE = 64  # bits: who has an address of IPv6 has all with these in common
_ADDRESSES = 10_000  # addresses; a server under attack forgets the oldest
_BYTES = 24  # of a visitor's cookie
_TOKEN = re.compile(r"[\w-]{32}", re.ASCII)
_KEPT = 400 * 24 * 3600  # seconds; browsers keep no cookie longer


@dataclass
class _Minute:
    """A caller's requests in a minute: those that the database knew of, and those since."""

    name: str
    known: int
    since: int = 0


class KeyThrottle:
    """Wrong keys of the last minute: after `allowed` of them no more are looked at.

    They are counted by address and by what was guessed at: a caller with a good key is not stopped
    by a neighbour's bad one. Each process counts for itself.
    """

    def __init__(self, allowed: int = 10, *, clock: Callable[[], float] = time.monotonic) -> None:
        self._allowed = allowed
        self._clock = clock
        self._failed: OrderedDict[tuple[str, str], list[float]] = OrderedDict()

    def check(self, address: str, key: str) -> None:
        """Raise `TooMany` if so many attempts failed that this one is not looked at."""
        since = self._clock() - _WINDOW
        failed = [when for when in self._failed.get((address, key), ()) if when > since]
        if len(failed) >= self._allowed:
            raise TooMany(
                "too many wrong API keys came from this address: wait a minute, and check the key",
                retry_after=max(failed[0] - since, 1.0),
            )

    def failed(self, address: str, key: str) -> None:
        """Count a wrong key."""
        failed = self._failed.setdefault((address, key), [])
        failed.append(self._clock())
        del failed[: -self._allowed]
        self._failed.move_to_end((address, key))
        if len(self._failed) > _ADDRESSES:
            self._failed.popitem(last=False)


@dataclass(frozen=True)
class Credentials:
    """Credentials of a request: headers in lower case, cookies, the client's address.

    `peer` is the address that is connected to this server, which may be a proxy's.
    """

    headers: Mapping[str, str] = field(default_factory=dict)
    cookies: Mapping[str, str] = field(default_factory=dict)
    client: str = ""
    peer: str = ""

    @property
    def token(self) -> str:
        """The API key, or the text in its place; empty if there is none."""
        kind, _, given = self.headers.get("authorization", "").strip().partition(" ")
        token = given if kind.lower() == "bearer" else ""
        return (token or self.headers.get("x-api-key", "")).strip()

    @property
    def by_proxy(self) -> bool:
        """Whether a proxy handed the request on, by its own account."""
        return any(name in self.headers for name in _FORWARDED)


def credentials_of(connection: HTTPConnection) -> Credentials:
    """Return the credentials of a request."""
    client = connection.client.host if connection.client else ""
    peer = connection.scope.get(PEER, client)
    given = connection.headers
    headers = {name: ", ".join(given.getlist(name)) for name in set(given)}
    return Credentials(headers, connection.cookies, client, peer)


class Accounts:
    """Identifies callers, counts their use, and stops those who use too much.

    Use is counted for all processes together: requests are reported to the database by twentieths
    of the limit, so that a process may let through that many too many; tokens and money are those
    of runs that ended. Callers without a limit are not counted. `Store.begin_run` counts the
    questions of a caller that run at once, `Store.finish_run` their costs.
    """

    def __init__(self, settings: ServeSettings, store: Store) -> None:
        check_rules(settings)
        self._settings = settings
        self._proxies = networks(settings.trusted_proxies)
        self._header = settings.proxy_header.strip().lower()
        self._limits = Limits(
            settings.requests_per_minute,
            settings.parallel_per_caller,
            settings.tokens_per_day,
            settings.money_per_day,
            settings.graphs_per_caller,
        )
        self._store = store
        self._minutes: OrderedDict[str, _Minute] = OrderedDict()
        self._throttle = KeyThrottle()

    async def identify(self, credentials: Credentials) -> Principal:
        """Return the caller.

        Raises `NotAllowed` (401) if a key is not valid, `TooMany` if too many were not. A
        token that does not begin as our keys do is for another service, and ignored.
        """
        if credentials.token.startswith(PREFIX):
            address = counted_address(credentials.client)
            parts = given_parts(credentials.token)
            key = await self._store.key(parts[0]) if parts else None
            guessed_at = key.id if key else ""
            self._throttle.check(address, guessed_at)
            if parts is None or key is None or not is_of(key, parts[1]):
                self._throttle.failed(address, guessed_at)
                raise NotAllowed("this API key is not known here: is it copied whole?", status=401)
            if key.revoked is not None:
                raise NotAllowed("this API key was revoked: ask for another", status=401)
            if key.expires is not None and key.expires <= now():
                raise NotAllowed(
                    f"this API key has expired ({key.expires}): ask for another", status=401
                )
            await self._store.touch(key)
            limits = key.limits.over(self._limits)
            return Principal(f"key:{key.id}", key.name, key.scopes, key.graphs, limits)
        if name := self._named_by_proxy(credentials):
            scopes = frozenset(self._settings.proxy_scopes)
            return Principal(f"user:{name}", name, scopes, limits=self._limits)
        return self._anonymous(credentials)

    async def admit(self, caller: Principal) -> None:
        """Count a request; `TooMany` if it is one too many for this minute."""
        limit = caller.limits.requests_per_minute
        if not limit:
            return
        who, time = caller.counted_as or caller.id, datetime.now(UTC)
        name = f"{time:%H:%M}"
        minute = self._minutes.get(who)
        if minute is None or minute.name != name:
            minute = self._minutes[who] = _Minute(name, 0)
        self._minutes.move_to_end(who)
        if len(self._minutes) > _REMEMBERED:
            self._minutes.popitem(last=False)
        minute.since += 1
        if minute.since >= max(1, limit // _STEPS):
            told, minute.since = minute.since, 0
            minute.known = (await self._store.count(who, told)).minute_requests
        if minute.known + minute.since > limit:
            raise TooMany(
                f"{limit} requests a minute are allowed, and they are used up",
                retry_after=60.0 - time.second,
            )

    async def check_budget(self, caller: Principal) -> None:
        """Raise `TooMany` if the caller has used up the tokens or the money of this day."""
        limits = caller.limits
        if not limits.tokens_per_day and not limits.money_per_day:
            return
        used = await self._store.used(caller.counted_as or caller.id)
        time = datetime.now(UTC)
        midnight = time.replace(hour=0, minute=0, second=0, microsecond=0) + timedelta(days=1)
        left = float(math.ceil((midnight - time).total_seconds()))
        if limits.tokens_per_day and used.day_tokens >= limits.tokens_per_day:
            raise TooMany(
                f"the {limits.tokens_per_day} tokens of this day are used up "
                "(methods without a language model use none)",
                retry_after=left,
            )
        if limits.money_per_day and used.day_money >= limits.money_per_day:
            raise TooMany(
                f"the money for language models of this day ({limits.money_per_day:g}) is used up",
                retry_after=left,
            )

    def _named_by_proxy(self, credentials: Credentials) -> str | None:
        header = self._header
        if not header or not is_trusted(credentials.peer, self._proxies):
            return None
        try:
            # Headers are read as Latin-1; proxies write names in UTF-8.
            name = credentials.headers.get(header, "").encode("latin-1").decode().strip()
        except UnicodeError as error:
            raise NotAllowed(f"the proxy's header {header!r} is not UTF-8", status=401) from error
        if len(name) > _LONGEST_NAME or not name.isprintable():
            raise NotAllowed(f"the proxy's header {header!r} is no user's name", status=401)
        return name or None

    def _anonymous(self, credentials: Credentials) -> Principal:
        settings = self._settings
        # Bound to this machine, but handed on by a proxy: then everybody may be there.
        by_default = settings.on_loopback and settings.anonymous is None
        scopes: Sequence[Scope] = settings.anonymous_scopes
        if by_default and credentials.by_proxy:
            scopes = ()
        unlimited = settings.on_loopback and not credentials.by_proxy
        return Principal(
            visitor_id(credentials.cookies.get(VISITOR, "")) or ANONYMOUS,
            "anonymous",
            frozenset(scopes),
            limits=Limits() if unlimited else self._limits,
            counted_as=f"address:{counted_address(credentials.client)}",
        )


def check_rules(settings: ServeSettings) -> None:
    """Raise `SetupError` if settings give callers too much, or trust a name that anyone takes."""
    if "admin" in settings.anonymous_scopes:
        raise SetupError(
            "callers without a key cannot be administrators: take 'admin' out of anonymous, and "
            "make a key for it: askgraph keys add NAME --scope admin"
        )
    if settings.proxy_header and not settings.trusted_proxies:
        raise SetupError(
            "proxy_header needs trusted_proxies, the addresses of the proxies that set it: "
            "else anybody could say to be anyone"
        )
    networks(settings.trusted_proxies)


Network = IPv4Network | IPv6Network
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

    async def __call__(self, scope: AsgiScope, receive: Receive, send: Send) -> None:
        """Hand the request on, with its caller."""
        if scope["type"] == "http":
            scope = {**scope, **self._asked_by(scope)}
        await self._app(scope, receive, send)

    def _asked_by(self, scope: AsgiScope) -> dict[str, Any]:
        peer, port = scope["client"] or ("", 0)
        if not is_trusted(peer, self._trusted):
            return {PEER: peer}
        headers = Headers(scope=scope)
        # Some proxies write a line of their own below what the caller sent.
        forwarded = ",".join(headers.getlist("x-forwarded-for"))
        caller = client_address(peer, forwarded, self._trusted)
        found: dict[str, Any] = {PEER: peer, "client": (caller, port if caller == peer else 0)}
        if headers.get("x-forwarded-proto", "").strip().lower() == "https":
            found["scheme"] = "https"
        return found


VISITOR = "askgraph_visitor"
"""The name of the cookie; it is set HttpOnly and SameSite=Lax."""


def new_visitor() -> str:
    """Return the cookie's value for a browser that has none."""
    return secrets.token_urlsafe(_BYTES)


def visitor_id(token: str) -> str | None:
    """Return the id of the visitor with this cookie, None if no such cookie is ever set.

    Who reads the id in a log or in a database cannot make the cookie of it.
    """
    if not _TOKEN.fullmatch(token):
        return None
    return f"visitor:{hashlib.sha256(token.encode()).hexdigest()[:32]}"


class VisitorCookie:
    """Sets the cookie with a document, for a browser that has none; programs get none."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: AsgiScope, receive: Receive, send: Send) -> None:
        """Hand the request on, and the response with the cookie if it is missing."""
        request = HTTPConnection(scope) if scope["type"] == "http" else None
        if (
            request is None
            or "text/html" not in request.headers.get("accept", "")
            or visitor_id(request.cookies.get(VISITOR, ""))
        ):
            await self._app(scope, receive, send)
            return

        async def with_cookie(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                if headers.get("content-type", "").startswith("text/html"):
                    parts = [
                        f"{VISITOR}={new_visitor()}",
                        f"Path={scope.get('root_path') or '/'}",
                        f"Max-Age={_KEPT}",
                        "HttpOnly",
                        "SameSite=Lax",
                    ]
                    if scope.get("scheme") == "https":
                        parts.append("Secure")
                    headers.append("set-cookie", "; ".join(parts))
            await send(message)

        await self._app(scope, receive, with_cookie)
