"""What holds for callers of a server: who may do what without a key, whose word is taken."""

from dataclasses import dataclass, field

from askgraph.errors import SetupError
from askgraph.serve.identity.addresses import Network, networks
from askgraph.serve.identity.principal import Limits, Scope
from askgraph.serve.settings import ServeSettings

__all__ = ["Rules", "rules_of"]


@dataclass(frozen=True)
class Rules:
    """Who may do what.

    `anonymous` is what callers may who say nothing of themselves, `by_choice` whether somebody
    set it. `proxy_header` names the header in which a proxy at one of `trusted_proxies` says who
    the user is, `users` is what they may. `limits` hold for all who have none of their own;
    callers without a key have none where the server is `local`, reached from its machine alone.
    """

    anonymous: frozenset[Scope] = frozenset()
    by_choice: bool = True
    proxy_header: str = ""
    trusted_proxies: tuple[Network, ...] = ()
    users: frozenset[Scope] = frozenset()
    limits: Limits = field(default_factory=Limits)
    local: bool = False


def rules_of(settings: ServeSettings) -> Rules:
    """Return what a server's settings say of its callers.

    Raises `SetupError` where they say too much, or trust somebody who cannot be told from others.
    """
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
    limits = Limits(
        settings.requests_per_minute,
        settings.parallel_per_caller,
        settings.tokens_per_day,
        settings.money_per_day,
        settings.graphs_per_caller,
    )
    return Rules(
        frozenset(settings.anonymous_scopes),
        settings.anonymous is not None,
        settings.proxy_header.strip().lower(),
        networks(settings.trusted_proxies),
        frozenset(settings.proxy_scopes),
        limits,
        settings.on_loopback,
    )
