"""Callers identified: by key, by a proxy's word, by cookie, or anonymous."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from starlette.requests import HTTPConnection

from askgraph.errors import SetupError
from askgraph.serve.identity.api_keys import PREFIX, given_parts, is_of
from askgraph.serve.identity.limits import KeyThrottle, Meter
from askgraph.serve.identity.principal import ANONYMOUS, Limits, NotAllowed, Principal, Scope
from askgraph.serve.identity.proxies import PEER, counted_address, is_trusted, networks
from askgraph.serve.identity.visitors import VISITOR, visitor_id
from askgraph.serve.settings import ServeSettings
from askgraph.serve.store import KeyRow, Store, now

__all__ = ["VISITOR", "Accounts", "Credentials", "check_rules", "credentials_of"]


_FORWARDED = ("forwarded", "x-forwarded-for", "x-forwarded-host", "x-forwarded-proto", "x-real-ip")
_LONGEST_NAME = 200


@dataclass(frozen=True)
class Credentials:
    """Credentials of a request: headers in lower case, cookies, the client's address.

    `peer` is the address that is connected to this server, which may be a proxy's. `key` is an API
    key that came another way than by a header.
    """

    headers: Mapping[str, str] = field(default_factory=dict)
    cookies: Mapping[str, str] = field(default_factory=dict)
    client: str = ""
    key: str | None = None
    peer: str = ""

    @property
    def token(self) -> str:
        """The API key, or the text in its place; empty if there is none."""
        kind, _, given = self.headers.get("authorization", "").strip().partition(" ")
        token = given if kind.lower() == "bearer" else ""
        return (self.key or token or self.headers.get("x-api-key", "")).strip()

    @property
    def by_proxy(self) -> bool:
        """Whether a proxy handed the request on, by its own account."""
        return any(name in self.headers for name in _FORWARDED)


def credentials_of(connection: HTTPConnection, *, key: str | None = None) -> Credentials:
    """Return the credentials of a request or WebSocket."""
    client = connection.client.host if connection.client else ""
    peer = connection.scope.get(PEER, client)
    given = connection.headers
    headers = {name: ", ".join(given.getlist(name)) for name in set(given)}
    return Credentials(headers, connection.cookies, client, key, peer)


class Accounts:
    """Identifies callers, counts their use, and stops those who use too much.

    `Store.begin_run` counts the questions of a caller that run at once, `Store.finish_run` their
    costs.
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
        self._meter = Meter(store)
        self._throttle = KeyThrottle()

    async def identify(self, credentials: Credentials) -> Principal:
        """Return the caller.

        Raises `NotAllowed` (401) if a key is not valid, `TooMany` if too many were not. A
        token that does not begin as our keys do is for another service, and ignored.
        """
        if credentials.token.startswith(PREFIX):
            return await self._by_key(credentials)
        if name := self._named_by_proxy(credentials):
            scopes = frozenset(self._settings.proxy_scopes)
            return Principal(f"user:{name}", name, scopes, limits=self._limits)
        return self._anonymous(credentials)

    async def admit(self, caller: Principal) -> None:
        """Count a request; `TooMany` if the caller has made too many in this minute."""
        await self._meter.count_request(caller)

    async def check_budget(self, caller: Principal) -> None:
        """Raise `TooMany` if the caller has used up the tokens or the money of this day."""
        await self._meter.check_budget(caller)

    async def _by_key(self, credentials: Credentials) -> Principal:
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
        return self._of_key(key)

    def _of_key(self, key: KeyRow) -> Principal:
        limits = key.limits.over(self._limits)
        return Principal(f"key:{key.id}", key.name, key.scopes, key.graphs, limits)

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
