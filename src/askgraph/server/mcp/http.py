"""MCP over streamable HTTP, at `/mcp`: the callers are those of the server, with their limits.

Nothing is kept between two requests, so that any process of a server can answer each of them; a
client of protocol version 2026-07-28 or newer can still be asked which reading is meant. The
server's own rules on hosts and origins stand before this.
"""

import asyncio
import json
from collections.abc import AsyncGenerator, AsyncIterator, Sequence
from contextlib import aclosing, asynccontextmanager
from typing import Any

from mcp.server.context import ServerRequestContext
from mcp.server.transport_security import TransportSecuritySettings
from mcp_types import INVALID_PARAMS, INVALID_REQUEST, PARSE_ERROR
from starlette.requests import Request
from starlette.responses import JSONResponse
from starlette.routing import Route
from starlette.types import Message, Receive, Send
from starlette.types import Scope as AsgiScope

from askgraph.graph import KnowledgeGraph
from askgraph.server.auth import Principal, Scope
from askgraph.server.hub import Hub, caller_of, hub_of
from askgraph.server.mcp import graph_server
from askgraph.server.mcp.access import FOLLOWING, Access, Known
from askgraph.server.runs import AskBody, RunRequest, method_names
from askgraph.server.runs.replies import read_steps, suggest_following
from askgraph.trace import Outcome, Question, Step

PATH = "/mcp"
_MESSAGE = '{"jsonrpc": "2.0", "id": 1, "method": "tools/list"}'
_SAYS = {"method", "result", "error"}
_ID = (int, str)
_BODY = 1024 * 1024


class HostedAccess:
    """Access of a caller of the server; questions are kept in their history."""

    def __init__(self, hub: Hub, caller: Principal) -> None:
        self._hub = hub
        self._caller = caller
        self.query_timeout = hub.settings.query_timeout

    def check(self, scope: Scope) -> None:
        """Raise `NotAllowed` if the caller does not have a scope."""
        self._caller.check(scope)

    def graph_names(self) -> Sequence[str]:
        """Return the graphs that the caller may see."""
        return self._hub.graphs.names(self._caller)

    def method_names(self) -> Sequence[str]:
        """Return the methods that callers may choose."""
        return method_names(self._hub.settings)

    async def known(self, name: str) -> Known:
        """Return what is known of a graph, without opening it."""
        self._hub.graphs.settings(name, self._caller)
        return await asyncio.to_thread(Known.read, self._hub.workspace, name)

    @asynccontextmanager
    async def graph(self, name: str) -> AsyncIterator[KnowledgeGraph]:
        """Lend one of the server's graphs, to as many callers at once as it may have queries."""
        async with (
            self._hub.graphs.lease(name, self._caller, searched=True) as graph,
            self._hub.queries.turn(name),
        ):
            yield graph

    async def steps(self, asked: RunRequest) -> AsyncGenerator[Step, None]:
        """Ask through the server's queue, within the caller's limits."""
        body = AskBody(
            question=asked.question.text,
            graphs=list(asked.graphs),
            method=asked.method,
            language=asked.question.language,
            seconds=asked.seconds,
        )
        run = await self._hub.ask(body, self._caller, before=asked.question.before)
        async with aclosing(read_steps(self._hub, run)) as steps:
            async for step in steps:
                yield step

    async def following(self, asked: Question, outcome: Outcome) -> Sequence[str]:
        """Return questions that may follow an outcome."""
        return await suggest_following(self._hub, asked, outcome, self._caller, seconds=FOLLOWING)


class _Endpoint:
    """Identifies the caller before the protocol is spoken: a stranger gets a plain 401."""

    async def __call__(self, scope: AsgiScope, receive: Receive, send: Send) -> None:
        request = Request(scope, receive)
        caller = await caller_of(request, hub_of(request))
        caller.check("ask")
        body = await request.body()
        if fault := _fault(body):
            code, words = fault
            error = {"jsonrpc": "2.0", "id": None, "error": {"code": code, "message": words}}
            await JSONResponse(error, 400)(scope, receive, send)
            return
        parts = iter([{"type": "http.request", "body": body, "more_body": False}])

        async def received() -> Message:
            return next(parts, None) or await receive()

        await request.app.state.mcp.handle_request(scope, received, send)


def _fault(body: bytes) -> tuple[int, str] | None:
    """What is wrong with a message, as the code of JSON-RPC and in words; None if nothing is."""
    try:
        message = json.loads(body)
    except (ValueError, RecursionError) as error:
        return PARSE_ERROR, f"the message is no JSON, or too deep: {error}"
    if not isinstance(message, dict) or message.get("jsonrpc") != "2.0":
        return INVALID_REQUEST, f"send one message at a time, as {_MESSAGE}"
    if not isinstance(message.get("method", "reply"), str) or not message.keys() & _SAYS:
        return INVALID_REQUEST, f"the message needs a 'method', as {_MESSAGE}"
    if "id" in message and (isinstance(message["id"], bool) or not isinstance(message["id"], _ID)):
        return INVALID_REQUEST, "'id' has to be a text or a whole number"
    if not isinstance(message.get("params", {}), dict):
        return INVALID_PARAMS, "'params' has to be an object"
    return None


def mcp_route() -> Route:
    """Return the route of the endpoint.

    The server sends nothing unasked, so no stream can be opened (GET: 405).
    """
    return Route(PATH, endpoint=_Endpoint(), methods=["POST"], include_in_schema=False)


@asynccontextmanager
async def mcp_running(state: Any) -> AsyncIterator[None]:
    """Keep the endpoint at work; `state` is that of the application."""

    async def access_of(context: ServerRequestContext[Any, Any]) -> Access:
        request = context.request
        assert isinstance(request, Request)
        return HostedAccess(hub_of(request), await caller_of(request, hub_of(request)))

    server = graph_server(access_of)
    server.streamable_http_app(
        stateless_http=True,
        max_request_body_size=_BODY,
        transport_security=TransportSecuritySettings(enable_dns_rebinding_protection=False),
    )
    state.mcp = server.session_manager
    async with server.session_manager.run():
        yield
