"""Under which names the server may be asked: a page elsewhere cannot reach it under its own name.

Without this, a name that an attacker's server gives away could be pointed at this machine (DNS
rebinding), and the browser would take the server here for theirs.
"""

from starlette.datastructures import Headers
from starlette.types import ASGIApp, Receive, Scope, Send

from askgraph.serve.middleware.paths import route_path
from askgraph.serve.middleware.refusal import refused
from askgraph.serve.settings import ServeSettings

__all__ = ["HostCheck", "host_of"]

_LOOPBACK = frozenset({"localhost", "127.0.0.1", "::1"})
_ANYWHERE = frozenset({"0.0.0.0", "::", ""})
_OPEN = frozenset({"/healthz", "/readyz"})  # probes come by address, and learn nothing


class HostCheck:
    """Refuses (400) requests whose Host header names another server.

    Admitted are the names of this machine, the `host` that is listened on and `allowed_hosts`, in
    which `*.example.org` stands for all names below and `*` for any.
    """

    def __init__(self, app: ASGIApp, settings: ServeSettings) -> None:
        self._app = app
        own = {settings.host.lower()} - _ANYWHERE
        allowed = {host.lower() for host in settings.allowed_hosts}
        self._names = _LOOPBACK | own | allowed
        self._below = tuple(name[1:] for name in allowed if name.startswith("*."))

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request on, or refuse it."""
        if scope["type"] not in ("http", "websocket") or route_path(scope) in _OPEN:
            await self._app(scope, receive, send)
            return
        host = host_of(scope)
        if self._admits(host):
            await self._app(scope, receive, send)
            return
        detail = (
            f"this server is not called {host!r}: ask it under a name of its own, or let its"
            " operator add this one to allowed_hosts"
        )
        await refused(scope, receive, send, 400, "host", detail)

    def _admits(self, host: str) -> bool:
        return host in self._names or "*" in self._names or host.endswith(self._below or (" ",))


def host_of(scope: Scope) -> str:
    """Return the name in the Host header in lower case, without port and brackets."""
    named = Headers(scope=scope).getlist("host")
    if len(named) != 1:
        return ""
    host = named[0].strip().lower()
    if host.startswith("["):
        return host[1:].partition("]")[0]
    return host.partition(":")[0].rstrip(".")
