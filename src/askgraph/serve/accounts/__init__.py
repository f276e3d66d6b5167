"""Who asks, and what they may: API keys, a proxy's word, visitors, limits.

accounts = Accounts(store, read_rules("127.0.0.1"))
caller = await accounts.identify(Asking(request.headers, request.cookies, request.client.host))
caller.check("ask")
"""

from askgraph.serve.accounts.addresses import (
    Asking,
    client_address,
    counted_address,
    is_loopback,
    is_trusted,
)
from askgraph.serve.accounts.api_keys import PREFIX, given_parts, is_of
from askgraph.serve.accounts.guesses import Guesses
from askgraph.serve.accounts.meter import Meter
from askgraph.serve.accounts.principal import (
    ANONYMOUS,
    SCOPES,
    Limits,
    NotAllowed,
    OwnLimits,
    Principal,
    Scope,
    TooMany,
)
from askgraph.serve.accounts.rules import Rules, read_rules, read_scopes
from askgraph.serve.accounts.visitors import COOKIE, new_visitor, visitor_id
from askgraph.serve.store import KeyRow, Store, now

__all__ = [
    "ANONYMOUS",
    "COOKIE",
    "SCOPES",
    "Accounts",
    "Asking",
    "Limits",
    "NotAllowed",
    "OwnLimits",
    "Principal",
    "Rules",
    "Scope",
    "TooMany",
    "client_address",
    "is_loopback",
    "new_visitor",
    "read_rules",
    "read_scopes",
]

_LONGEST_NAME = 200


class Accounts:
    """Tells who a request is from, and keeps them within what they may use.

    `meter` counts requests, tokens and money; how many questions run at once is counted by
    `Store.begin_run`.
    """

    def __init__(self, store: Store, rules: Rules) -> None:
        self.rules = rules
        self.meter = Meter(store)
        self._store = store
        self._guesses = Guesses()

    async def identify(self, asking: Asking) -> Principal:
        """Return who a request is from: by key, by a proxy's word, by cookie, or nobody.

        Raises `NotAllowed` (401) where the key is not valid, `TooMany` where too many were not.
        A token that does not begin as our keys do is somebody else's, and says nothing.
        """
        token = _token(asking)
        if token.startswith(PREFIX):
            return await self._by_key(asking, token)
        if name := self._named_by_proxy(asking):
            return Principal(f"user:{name}", name, self.rules.users, limits=self.rules.limits)
        return self._anonymous(asking)

    async def nobody_may(self) -> bool:
        """Whether nobody at all may do anything here: no key, no proxy, nothing for anonymous."""
        rules = self.rules
        return not (rules.anonymous or rules.proxy_header or await self._store.any_key())

    async def _by_key(self, asking: Asking, token: str) -> Principal:
        address = counted_address(client_address(asking, self.rules.trusted_proxies))
        parts = given_parts(token)
        key = await self._store.key(parts[0]) if parts else None
        guessed_at = key.id if key else ""
        self._guesses.check(address, guessed_at)
        if parts is None or key is None or not is_of(key, parts[1]):
            self._guesses.failed(address, guessed_at)
            raise NotAllowed("this API key is not known here: is it copied whole?", status=401)
        if key.revoked is not None or (key.expires is not None and key.expires <= now()):
            what = "was revoked" if key.revoked is not None else f"has expired ({key.expires})"
            raise NotAllowed(f"this API key {what}: ask for another", status=401)
        await self._store.touch(key)
        return self._of_key(key)

    def _of_key(self, key: KeyRow) -> Principal:
        limits = key.limits.over(self.rules.limits)
        return Principal(f"key:{key.id}", key.name, key.scopes, key.graphs, limits)

    def _named_by_proxy(self, asking: Asking) -> str | None:
        header = self.rules.proxy_header
        if not header or not is_trusted(asking, self.rules.trusted_proxies):
            return None
        try:
            # Headers are read as Latin-1; proxies write names in UTF-8.
            name = asking.headers.get(header, "").encode("latin-1").decode().strip()
        except UnicodeError as error:
            raise NotAllowed(f"the proxy's {header!r} is not UTF-8", status=401) from error
        if len(name) > _LONGEST_NAME or not name.isprintable():
            raise NotAllowed(f"the proxy's {header!r} is no user's name", status=401)
        return name or None

    def _anonymous(self, asking: Asking) -> Principal:
        rules = self.rules
        # Bound to this machine, but handed on by a proxy: then everybody may be there.
        handed_on = rules.local and not rules.by_choice and asking.by_proxy
        scopes = frozenset[Scope]() if handed_on else rules.anonymous
        address = counted_address(client_address(asking, rules.trusted_proxies))
        unlimited = rules.local and not asking.by_proxy
        return Principal(
            visitor_id(asking.cookies.get(COOKIE, "")) or ANONYMOUS,
            "",
            scopes,
            limits=Limits() if unlimited else rules.limits,
            counted_as=f"address:{address}",
        )


def _token(asking: Asking) -> str:
    """The API key of a request; other kinds of authorization are none of ours."""
    kind, _, token = asking.headers.get("authorization", "").strip().partition(" ")
    given = token if kind.lower() == "bearer" else ""
    return (given or asking.headers.get("x-api-key", "")).strip()
