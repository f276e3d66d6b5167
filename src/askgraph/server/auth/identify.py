"""Identify callers by key, proxy, cookie or address, and enforce their limits."""

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
from askgraph.server import auth
from askgraph.server.auth.access_tokens import AccessTokenVerifier
from askgraph.server.auth.api_keys import KEY_PREFIX, is_secret_of, parse_key
from askgraph.server.settings import ServeSettings
from askgraph.server.store import Store
from askgraph.server.store.tables import get_timestamp

_FORWARDING_HEADERS = (
    "forwarded",
    "x-forwarded-for",
    "x-forwarded-host",
    "x-forwarded-proto",
    "x-real-ip",
)
_MAX_NAME_CHARACTERS = 200
_REPORTS_PER_LIMIT_COUNT = 20  # how often in using up its limit a caller is counted in the database
_MAX_COUNTED_CALLERS = 10_000  # callers
_THROTTLE_SECONDS = 60.0  # seconds
_IPV6_SITE_BITS = 64  # bits: who has an address of IPv6 has all with these in common
_MAX_THROTTLED_ADDRESSES = 10_000  # addresses; a server under attack forgets the oldest
_COOKIE_BYTES = 24  # of a visitor's cookie
_COOKIE_PATTERN = re.compile(r"[\w-]{32}", re.ASCII)
_COOKIE_SECONDS = 400 * 24 * 3600  # seconds; browsers keep no cookie longer


@dataclass
class _MinuteCount:
    """A caller's requests in a minute: reported to the database (`known`), and since then."""

    name: str
    reported: int
    unreported: int = 0


class KeyThrottle:
    """Reject API keys after `allowed` wrong ones within a minute.

    Failures are counted by address and guessed key id, so a neighbour's wrong keys do not block a
    caller with a valid one. Each process counts separately.
    """

    def __init__(self, allowed: int = 10, *, clock: Callable[[], float] = time.monotonic) -> None:
        self._allowed = allowed
        self._clock = clock
        self._failure_times: OrderedDict[tuple[str, str], list[float]] = OrderedDict()

    def check(self, address: str, key: str) -> None:
        """Raise `LimitExceededError` if too many attempts failed in the last minute."""
        cutoff = self._clock() - _THROTTLE_SECONDS
        times = [time for time in self._failure_times.get((address, key), ()) if time > cutoff]
        if len(times) >= self._allowed:
            raise auth.LimitExceededError(
                "too many wrong API keys came from this address: wait a minute, and check the key",
                retry_after=max(times[0] - cutoff, 1.0),
            )

    def record_failure(self, address: str, key: str) -> None:
        """Count a wrong key."""
        times = self._failure_times.setdefault((address, key), [])
        times.append(self._clock())
        del times[: -self._allowed]
        self._failure_times.move_to_end((address, key))
        if len(self._failure_times) > _MAX_THROTTLED_ADDRESSES:
            self._failure_times.popitem(last=False)


@dataclass(frozen=True)
class RequestCredentials:
    """The credentials of a request.

    Attributes:
        headers: the headers, with names in lower case.
        peer: the address that is connected to this server, perhaps a proxy.
    """

    headers: Mapping[str, str] = field(default_factory=dict)
    cookies: Mapping[str, str] = field(default_factory=dict)
    client: str = ""
    peer: str = ""

    @property
    def bearer_token(self) -> str:
        """The bearer token; empty if there is none."""
        auth_scheme, _, value = self.headers.get("authorization", "").strip().partition(" ")
        return value.strip() if auth_scheme.lower() == "bearer" else ""

    @property
    def token(self) -> str:
        """The API key or other bearer token; empty if there is none."""
        return self.bearer_token or self.headers.get("x-api-key", "").strip()

    @property
    def is_forwarded(self) -> bool:
        """Return whether the headers show that a proxy forwarded the request."""
        return any(name in self.headers for name in _FORWARDING_HEADERS)


def get_credentials(connection: HTTPConnection) -> RequestCredentials:
    """Return the credentials of a request."""
    client = connection.client.host if connection.client else ""
    peer = connection.scope.get(PEER_KEY, client)
    raw_headers = connection.headers
    headers = {name: ", ".join(raw_headers.getlist(name)) for name in set(raw_headers)}
    return RequestCredentials(headers, connection.cookies, client, peer)


class CallerAccounts:
    """Identify callers, count their usage, and reject those over their limits.

    Usage is counted over all processes: each process reports requests to the database in
    twentieths of the limit, so it may admit that many too many; tokens and money are those of
    finished runs. Callers without limits are not counted. `Store.begin_run` counts the parallel
    questions of a caller, `Store.finish_run` their costs.
    """

    def __init__(self, settings: ServeSettings, store: Store) -> None:
        check_access_rules(settings)
        self._settings = settings
        self._proxies = parse_networks(settings.trusted_proxies)
        self._user_header = settings.proxy_header.strip().lower()
        self._limits = auth.CallerLimits(
            settings.requests_per_minute,
            settings.parallel_per_caller,
            settings.tokens_per_day,
            settings.money_per_day,
            settings.graphs_per_caller,
        )
        self._store = store
        self._minutes: OrderedDict[str, _MinuteCount] = OrderedDict()
        self._throttle = KeyThrottle()
        self._access_tokens = (
            AccessTokenVerifier(settings.oauth_issuer, settings.oauth_resource)
            if settings.oauth_issuer
            else None
        )

    async def identify(self, credentials: RequestCredentials) -> auth.Principal:
        """Return the caller of a request.

        A token without the prefix of our keys is an access token of the issuer; without an issuer
        it belongs to another service and is ignored.

        Raises:
            NotAllowedError: the key or token is invalid (401).
            LimitExceededError: too many keys were wrong.
        """
        if credentials.token.startswith(KEY_PREFIX):
            address = get_counted_address(credentials.client)
            parts = parse_key(credentials.token)
            key = await self._store.get_key(parts[0]) if parts else None
            key_id = key.id if key else ""
            self._throttle.check(address, key_id)
            if parts is None or key is None or not is_secret_of(key, parts[1]):
                self._throttle.record_failure(address, key_id)
                raise auth.NotAllowedError(
                    "unknown API key: check that you copied all of it", status=401
                )
            if key.revoked is not None:
                raise auth.NotAllowedError("this API key was revoked: ask for another", status=401)
            if key.expires is not None and key.expires <= get_timestamp():
                raise auth.NotAllowedError(
                    f"this API key has expired ({key.expires}): ask for another", status=401
                )
            await self._store.record_key_use(key)
            limits = key.limits.apply_to(self._limits)
            return auth.Principal(f"key:{key.id}", key.name, key.scopes, key.graphs, limits)
        if self._access_tokens is not None and credentials.bearer_token:
            token = await self._access_tokens.verify(credentials.bearer_token)
            return auth.Principal(
                f"oauth:{token.subject}", token.name, token.scopes, limits=self._limits
            )
        if name := self._get_proxy_user(credentials):
            scopes = frozenset(self._settings.proxy_scopes)
            return auth.Principal(f"user:{name}", name, scopes, limits=self._limits)
        return self._create_anonymous(credentials)

    async def admit(self, caller: auth.Principal) -> None:
        """Count a request; raise `LimitExceededError` if the limit of this minute is exceeded."""
        limit = caller.limits.requests_per_minute
        if not limit:
            return
        principal, time = caller.counted_as or caller.id, datetime.now(UTC)
        name = f"{time:%H:%M}"
        minute = self._minutes.get(principal)
        if minute is None or minute.name != name:
            minute = self._minutes[principal] = _MinuteCount(name, 0)
        self._minutes.move_to_end(principal)
        if len(self._minutes) > _MAX_COUNTED_CALLERS:
            self._minutes.popitem(last=False)
        minute.unreported += 1
        if minute.unreported >= max(1, limit // _REPORTS_PER_LIMIT_COUNT):
            reported, minute.unreported = minute.unreported, 0
            minute.reported = (
                await self._store.count_requests(principal, reported)
            ).minute_requests
        if minute.reported + minute.unreported > limit:
            raise auth.LimitExceededError(
                f"{limit} requests a minute are allowed: wait until the next minute",
                retry_after=60.0 - time.second,
            )

    async def check_budget(self, caller: auth.Principal) -> None:
        """Raise `LimitExceededError` if today's tokens or money are used up."""
        limits = caller.limits
        if not limits.tokens_per_day and not limits.money_per_day:
            return
        usage = await self._store.get_usage(caller.counted_as or caller.id)
        time = datetime.now(UTC)
        midnight = time.replace(hour=0, minute=0, second=0, microsecond=0) + timedelta(days=1)
        seconds_left = float(math.ceil((midnight - time).total_seconds()))
        if limits.tokens_per_day and usage.day_tokens >= limits.tokens_per_day:
            raise auth.LimitExceededError(
                f"the {limits.tokens_per_day} tokens of today are used up: wait until "
                "tomorrow, or choose a method without a language model",
                retry_after=seconds_left,
            )
        if limits.money_per_day and usage.day_money >= limits.money_per_day:
            raise auth.LimitExceededError(
                f"today's money for language models ({limits.money_per_day:g}) is used up: "
                "wait until tomorrow, or choose a method without a language model",
                retry_after=seconds_left,
            )

    def _get_proxy_user(self, credentials: RequestCredentials) -> str | None:
        header = self._user_header
        if not header or not is_trusted(credentials.peer, self._proxies):
            return None
        try:
            # Headers are read as Latin-1; proxies write names in UTF-8.
            name = credentials.headers.get(header, "").encode("latin-1").decode().strip()
        except UnicodeError as error:
            raise auth.NotAllowedError(
                f"the proxy's header {header!r} is not UTF-8", status=401
            ) from error
        if len(name) > _MAX_NAME_CHARACTERS or not name.isprintable():
            raise auth.NotAllowedError(
                f"the proxy's header {header!r} is not a user name", status=401
            )
        return name or None

    def _create_anonymous(self, credentials: RequestCredentials) -> auth.Principal:
        settings = self._settings
        # Bound to this machine but behind a proxy: the caller may be anyone.
        is_default = settings.is_on_loopback and settings.anonymous is None
        scopes: Sequence[auth.Scope] = settings.anonymous_scopes
        if is_default and credentials.is_forwarded:
            scopes = ()
        is_unlimited = settings.is_on_loopback and not credentials.is_forwarded
        return auth.Principal(
            get_visitor_id(credentials.cookies.get(VISITOR_COOKIE, "")) or auth.ANONYMOUS,
            "anonymous",
            frozenset(scopes),
            limits=auth.CallerLimits() if is_unlimited else self._limits,
            counted_as=f"address:{get_counted_address(credentials.client)}",
        )


def check_access_rules(settings: ServeSettings) -> None:
    """Raise `SetupError` if settings grant too much, or trust a header that anyone can set."""
    if "admin" in settings.anonymous_scopes:
        raise SetupError(
            "callers without a key cannot be administrators: remove 'admin' from "
            "anonymous, and create a key with: askgraph keys add NAME --scope admin"
        )
    if settings.proxy_header and not settings.trusted_proxies:
        raise SetupError(
            "proxy_header needs trusted_proxies, the addresses of the proxies that set it: "
            "otherwise anyone could pretend to be any user"
        )
    if settings.oauth_issuer:
        AccessTokenVerifier(settings.oauth_issuer, settings.oauth_resource)  # checks both
    parse_networks(settings.trusted_proxies)


Network = IPv4Network | IPv6Network
PEER_KEY = "askgraph.peer"
"""The key of the connected address in the ASGI scope of a request."""


def parse_networks(texts: Iterable[str]) -> tuple[Network, ...]:
    """Parse networks such as `10.0.0.0/8`; raise `SetupError` if a text is not one."""
    parsed = []
    for text in texts:
        try:
            parsed.append(ip_network(text.strip(), strict=False))
        except ValueError as error:
            raise SetupError(
                f"{text!r} is not an address or network of a trusted proxy: write it as 10.0.0.0/8"
            ) from error
    return tuple(parsed)


def is_trusted(peer: str, trusted: tuple[Network, ...]) -> bool:
    """Return whether an address belongs to a trusted proxy."""
    address = _parse_address(peer)
    return address is not None and any(address in network for network in trusted)


def get_client_address(peer: str, forwarded_for: str, trusted: tuple[Network, ...]) -> str:
    """Return the address of a caller: behind trusted proxies, the first untrusted address.

    Args:
        peer: the connected address.
        forwarded_for: the X-Forwarded-For header.
    """
    client = peer
    addresses = forwarded_for.split(",")
    while is_trusted(client, trusted) and addresses:
        previous = addresses.pop().strip()
        if _parse_address(previous) is None:
            break
        client = previous
    return client


def get_counted_address(address: str) -> str:
    """Return an address as limits count it: all of an IPv6 site count as one."""
    parsed = _parse_address(address)
    if isinstance(parsed, IPv6Address):
        return str(
            IPv6Network((int(parsed) >> _IPV6_SITE_BITS << _IPV6_SITE_BITS, _IPV6_SITE_BITS))
        )
    return address


def _parse_address(text: str) -> IPv4Address | IPv6Address | None:
    try:
        parsed = ip_address(text.strip("[]").partition("%")[0])
    except ValueError:
        return None
    return parsed.ipv4_mapped or parsed if isinstance(parsed, IPv6Address) else parsed


class ProxyHeaders:
    """ASGI middleware that sets client and scheme of a request to those the proxy received.

    The connected address counts as the caller unless it is a trusted proxy, whatever the headers
    say. It is stored in the scope under `PEER_KEY`.
    """

    def __init__(self, app: ASGIApp, settings: ServeSettings) -> None:
        self._app = app
        self._trusted = parse_networks(settings.trusted_proxies)

    async def __call__(self, scope: AsgiScope, receive: Receive, send: Send) -> None:
        """Forward the request with the address of its caller."""
        if scope["type"] == "http":
            scope = {**scope, **self._resolve_client(scope)}
        await self._app(scope, receive, send)

    def _resolve_client(self, scope: AsgiScope) -> dict[str, Any]:
        peer, port = scope["client"] or ("", 0)
        if not is_trusted(peer, self._trusted):
            return {PEER_KEY: peer}
        headers = Headers(scope=scope)
        # Some proxies append a line to the caller's header.
        forwarded = ",".join(headers.getlist("x-forwarded-for"))
        caller = get_client_address(peer, forwarded, self._trusted)
        changes: dict[str, Any] = {
            PEER_KEY: peer,
            "client": (caller, port if caller == peer else 0),
        }
        if headers.get("x-forwarded-proto", "").strip().lower() == "https":
            changes["scheme"] = "https"
        return changes


VISITOR_COOKIE = "askgraph_visitor"
"""The name of the cookie, which is set HttpOnly and SameSite=Lax."""


def generate_visitor() -> str:
    """Generate the value of a new cookie."""
    return secrets.token_urlsafe(_COOKIE_BYTES)


def get_visitor_id(token: str) -> str | None:
    """Return the id of the visitor with this cookie, or None if the cookie is malformed.

    The cookie cannot be derived from the id in a log or database.
    """
    if not _COOKIE_PATTERN.fullmatch(token):
        return None
    return f"visitor:{hashlib.sha256(token.encode()).hexdigest()[:32]}"


class VisitorCookie:
    """ASGI middleware that sets a visitor cookie with HTML documents; programs get none."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: AsgiScope, receive: Receive, send: Send) -> None:
        """Forward the request, and add the cookie to the response if it is missing."""
        request = HTTPConnection(scope) if scope["type"] == "http" else None
        if (
            request is None
            or "text/html" not in request.headers.get("accept", "")
            or get_visitor_id(request.cookies.get(VISITOR_COOKIE, ""))
        ):
            await self._app(scope, receive, send)
            return

        async def send_with_cookie(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                if headers.get("content-type", "").startswith("text/html"):
                    parts = [
                        f"{VISITOR_COOKIE}={generate_visitor()}",
                        f"Path={scope.get('root_path') or '/'}",
                        f"Max-Age={_COOKIE_SECONDS}",
                        "HttpOnly",
                        "SameSite=Lax",
                    ]
                    if scope.get("scheme") == "https":
                        parts.append("Secure")
                    headers.append("set-cookie", "; ".join(parts))
            await send(message)

        await self._app(scope, receive, send_with_cookie)
