"""Who a request is from: by key, by a proxy's word, by cookie, or nobody in particular."""

from askgraph.serve.identity.addresses import counted_address, is_trusted
from askgraph.serve.identity.api_keys import PREFIX, given_parts, is_of
from askgraph.serve.identity.asking import Asking, asking_of
from askgraph.serve.identity.key_throttle import Guesses
from askgraph.serve.identity.meter import Meter
from askgraph.serve.identity.principal import ANONYMOUS, Limits, NotAllowed, Principal, Scope
from askgraph.serve.identity.rules import rules_of
from askgraph.serve.identity.visitors import VISITOR, visitor_id
from askgraph.serve.settings import ServeSettings
from askgraph.serve.store import KeyRow, Store, now

__all__ = ["VISITOR", "Accounts", "Asking", "asking_of"]

_LONGEST_NAME = 200


class Accounts:
    """Tells who asks, counts what they use, and stops those who use too much.

    How many questions of a caller run at once is counted by `Store.begin_run`, what they cost by
    `Store.finish_run`.
    """

    def __init__(self, settings: ServeSettings, store: Store) -> None:
        self._rules = rules_of(settings)
        self._store = store
        self._meter = Meter(store)
        self._guesses = Guesses()

    async def identify(self, asking: Asking) -> Principal:
        """Return who asks.

        Raises `NotAllowed` (401) where a key is not valid, `TooMany` where too many were not. A
        token that does not begin as our keys do is somebody else's, and says nothing.
        """
        if asking.token.startswith(PREFIX):
            return await self._by_key(asking)
        if name := self._named_by_proxy(asking):
            rules = self._rules
            return Principal(f"user:{name}", name, rules.users, limits=rules.limits)
        return self._anonymous(asking)

    async def admit(self, caller: Principal) -> None:
        """Count a request; `TooMany` where the caller has made too many in this minute."""
        await self._meter.count_request(caller)

    async def check_budget(self, caller: Principal) -> None:
        """Raise `TooMany` where the caller has used up the tokens or the money of this day."""
        await self._meter.check_budget(caller)

    async def _by_key(self, asking: Asking) -> Principal:
        address = counted_address(asking.client)
        parts = given_parts(asking.token)
        key = await self._store.key(parts[0]) if parts else None
        guessed_at = key.id if key else ""
        self._guesses.check(address, guessed_at)
        if parts is None or key is None or not is_of(key, parts[1]):
            self._guesses.failed(address, guessed_at)
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
        limits = key.limits.over(self._rules.limits)
        return Principal(f"key:{key.id}", key.name, key.scopes, key.graphs, limits)

    def _named_by_proxy(self, asking: Asking) -> str | None:
        header = self._rules.proxy_header
        if not header or not is_trusted(asking.peer, self._rules.trusted_proxies):
            return None
        try:
            # Headers are read as Latin-1; proxies write names in UTF-8.
            name = asking.headers.get(header, "").encode("latin-1").decode().strip()
        except UnicodeError as error:
            raise NotAllowed(f"the proxy's header {header!r} is not UTF-8", status=401) from error
        if len(name) > _LONGEST_NAME or not name.isprintable():
            raise NotAllowed(f"the proxy's header {header!r} is no user's name", status=401)
        return name or None

    def _anonymous(self, asking: Asking) -> Principal:
        rules = self._rules
        # Bound to this machine, but handed on by a proxy: then everybody may be there.
        handed_on = rules.local and not rules.by_choice and asking.by_proxy
        scopes = frozenset[Scope]() if handed_on else rules.anonymous
        unlimited = rules.local and not asking.by_proxy
        return Principal(
            visitor_id(asking.cookies.get(VISITOR, "")) or ANONYMOUS,
            "anonymous",
            scopes,
            limits=Limits() if unlimited else rules.limits,
            counted_as=f"address:{counted_address(asking.client)}",
        )
