"""What holds for callers of a server: who may do what without a key, whose word is taken."""

from collections.abc import Sequence
from dataclasses import dataclass, field

from askgraph.errors import SetupError
from askgraph.serve.accounts.addresses import Network, is_loopback, networks
from askgraph.serve.accounts.principal import SCOPES, Limits, Scope

__all__ = ["Rules", "read_rules", "read_scopes"]

_NOT_ADMIN: tuple[Scope, ...] = ("ask", "query", "confirm", "manage")


@dataclass(frozen=True)
class Rules:
    """Who may do what.

    `anonymous` is what callers may who say nothing of themselves, `by_choice` whether somebody
    set it. `proxy_header` names the header in which a proxy at one of `trusted_proxies` says who
    the user is, `users` is what they may. `limits` hold for all who have none of their own;
    callers on this machine without a key have none where `local` (the server is reached from
    nowhere else).
    """

    anonymous: frozenset[Scope] = frozenset()
    by_choice: bool = True
    proxy_header: str = ""
    trusted_proxies: tuple[Network, ...] = ()
    users: frozenset[Scope] = frozenset(_NOT_ADMIN)
    limits: Limits = field(default_factory=Limits)
    local: bool = False


def read_rules(
    host: str,
    *,
    anonymous: Sequence[str] | None = None,
    proxy_header: str = "",
    trusted_proxies: Sequence[str] = (),
    users: Sequence[str] = _NOT_ADMIN,
    limits: Limits | None = None,
) -> Rules:
    """Return the rules of a server bound to `host`, as its settings say them.

    Where `anonymous` is None, callers without a key may do all but administer where nobody else
    than this machine reaches the server, and nothing elsewhere. Raises `SetupError` where a
    setting makes no sense.
    """
    local = is_loopback(host)
    chosen = read_scopes(anonymous) if anonymous is not None else frozenset(_NOT_ADMIN * local)
    if "admin" in chosen:
        raise SetupError(
            "callers without a key cannot be administrators: take 'admin' out of anonymous, and "
            "make a key for it: askgraph keys add NAME --scope admin"
        )
    if proxy_header and not trusted_proxies:
        raise SetupError(
            "proxy_header needs trusted_proxies, the addresses of the proxies that set it: "
            "anybody else could say to be anyone"
        )
    return Rules(
        chosen,
        anonymous is not None,
        proxy_header.strip().lower(),
        networks(trusted_proxies),
        read_scopes(users),
        limits or Limits(),
        local,
    )


def read_scopes(texts: Sequence[str]) -> frozenset[Scope]:
    """Return scopes by name; `SetupError` where one is none."""
    known: dict[str, Scope] = {scope: scope for scope in SCOPES}
    for text in texts:
        if text not in known:
            raise SetupError(f"{text!r} is no scope; there are {', '.join(SCOPES)}")
    return frozenset(known[text] for text in texts)
