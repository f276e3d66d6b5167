"""MCP over streamable HTTP, at `/mcp`: the callers are those of the server, with their limits.

Nothing is kept between two requests, so that any process of a server can answer each of them; a
client of protocol version 2026-07-28 or newer can still be asked which reading is meant. The
server's own rules on hosts and origins stand before this.
"""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

from mcp.server.context import ServerRequestContext
from mcp.server.transport_security import TransportSecuritySettings
from starlette.requests import Request
from starlette.routing import Route
from starlette.types import Receive, Scope, Send

from askgraph.serve.hub import caller_of, hub_of
from askgraph.serve.protocols.mcp.access import Access
from askgraph.serve.protocols.mcp.hosted import HostedAccess
from askgraph.serve.protocols.mcp.server import graph_server

__all__ = ["mcp_route", "mcp_running"]

PATH = "/mcp"
_BODY = 1024 * 1024


class _Endpoint:
    """Finds out who calls before the protocol is spoken: a stranger gets a plain 401."""

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        request = Request(scope, receive)
        caller = await caller_of(request, hub_of(request))
        caller.check("ask")
        await request.app.state.mcp.handle_request(scope, receive, send)


def mcp_route() -> Route:
    """Return the route of the endpoint.

    There is nothing to tell that was not asked for, so no stream can be opened (GET: 405).
    """
    return Route(PATH, endpoint=_Endpoint(), methods=["POST"], include_in_schema=False)


@asynccontextmanager
async def mcp_running(state: Any) -> AsyncIterator[None]:
    """Keep the endpoint at work; `state` is that of the application."""
    server = graph_server(_access_of)
    server.streamable_http_app(
        stateless_http=True,
        max_request_body_size=_BODY,
        transport_security=TransportSecuritySettings(enable_dns_rebinding_protection=False),
    )
    state.mcp = server.session_manager
    async with server.session_manager.run():
        yield


async def _access_of(context: ServerRequestContext[Any, Any]) -> Access:
    request = context.request
    assert isinstance(request, Request)
    return HostedAccess(hub_of(request), await caller_of(request, hub_of(request)))
