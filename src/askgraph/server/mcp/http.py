"""MCP over streamable HTTP, at `/mcp`, for the callers of the server and within their limits.

The server keeps no state between two requests, so any of its processes can answer each of them. A
client of protocol version 2026-07-28 or newer can still be asked which reading it means. The
server checks host and origin before a request gets here.
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
from askgraph.server.hub import Hub, get_hub, identify_caller
from askgraph.server.mcp import create_server
from askgraph.server.mcp.access import FOLLOWING_SECONDS, GraphAccess, GraphMetadata
from askgraph.server.runs import AskBody, RunRequest, list_method_names
from askgraph.server.runs.replies import build_next_questions, read_steps
from askgraph.trace import Outcome, Question, Step

MCP_PATH = "/mcp"
_EXAMPLE_MESSAGE = '{"jsonrpc": "2.0", "id": 1, "method": "tools/list"}'
_MESSAGE_KEYS = {"method", "result", "error"}
_ID_TYPES = (int, str)
_MAX_BODY_BYTES = 1024 * 1024


class HostedAccess:
    """The access of a caller of the server; their questions go into their history."""

    def __init__(self, hub: Hub, caller: Principal) -> None:
        self._hub = hub
        self._caller = caller
        self.query_timeout = hub.settings.query_timeout

    def require_scope(self, scope: Scope) -> None:
        """Raise `NotAllowedError` if the caller lacks a scope."""
        self._caller.require_scope(scope)

    def list_graphs(self) -> Sequence[str]:
        """Return the names of the graphs that the caller may see."""
        return self._hub.graphs.list_names(self._caller)

    def list_methods(self) -> Sequence[str]:
        """Return the names of the methods that callers may choose."""
        return list_method_names(self._hub.settings)

    async def get_metadata(self, name: str) -> GraphMetadata:
        """Return the metadata of a graph without opening it."""
        self._hub.graphs.get_settings(name, self._caller)
        return await asyncio.to_thread(GraphMetadata.read, self._hub.workspace, name)

    @asynccontextmanager
    async def open_graph(self, name: str) -> AsyncIterator[KnowledgeGraph]:
        """Lease a graph of the server, within its limit of parallel queries."""
        async with (
            self._hub.graphs.lease(name, self._caller, with_indices=True) as graph,
            self._hub.queries.wait_turn(name),
        ):
            yield graph

    async def stream_steps(self, request: RunRequest) -> AsyncGenerator[Step, None]:
        """Answer a question through the server's queue, within the caller's limits."""
        body = AskBody(
            question=request.question.text,
            graphs=list(request.graphs),
            method=request.method,
            language=request.question.language,
            seconds=request.seconds,
        )
        run = await self._hub.ask(body, self._caller, before=request.question.before)
        async with aclosing(read_steps(self._hub, run)) as steps:
            async for step in steps:
                yield step

    async def suggest_following(self, question: Question, outcome: Outcome) -> Sequence[str]:
        """Return follow-up questions to an outcome."""
        return await build_next_questions(
            self._hub, question, outcome, self._caller, seconds=FOLLOWING_SECONDS
        )


class _McpEndpoint:
    """An ASGI endpoint that identifies the caller first: unknown callers get a plain 401."""

    async def __call__(self, scope: AsgiScope, receive: Receive, send: Send) -> None:
        request = Request(scope, receive)
        caller = await identify_caller(request, get_hub(request))
        caller.require_scope("ask")
        body = await request.body()
        if error_parts := _find_message_error(body):
            code, error_message = error_parts
            error = {
                "jsonrpc": "2.0",
                "id": None,
                "error": {"code": code, "message": error_message},
            }
            await JSONResponse(error, 400)(scope, receive, send)
            return
        pending_messages = iter([{"type": "http.request", "body": body, "more_body": False}])

        async def receive_message() -> Message:
            return next(pending_messages, None) or await receive()

        await request.app.state.mcp.handle_request(scope, receive_message, send)


def _find_message_error(body: bytes) -> tuple[int, str] | None:
    """Return the JSON-RPC error code and text of a malformed message, or None."""
    try:
        message = json.loads(body)
    except (ValueError, RecursionError) as error:
        return PARSE_ERROR, f"the message is not JSON, or is too deep: {error}"
    if not isinstance(message, dict) or message.get("jsonrpc") != "2.0":
        return INVALID_REQUEST, f"send one message at a time, for example {_EXAMPLE_MESSAGE}"
    if not isinstance(message.get("method", "reply"), str) or not message.keys() & _MESSAGE_KEYS:
        return INVALID_REQUEST, f"the message needs a 'method', for example {_EXAMPLE_MESSAGE}"
    if "id" in message and (
        isinstance(message["id"], bool) or not isinstance(message["id"], _ID_TYPES)
    ):
        return INVALID_REQUEST, "'id' must be text or a whole number"
    if not isinstance(message.get("params", {}), dict):
        return INVALID_PARAMS, "'params' must be an object"
    return None


def create_mcp_route() -> Route:
    """Return the route of the MCP endpoint.

    The server never sends unsolicited messages, so clients cannot open a stream (GET: 405).
    """
    return Route(MCP_PATH, endpoint=_McpEndpoint(), methods=["POST"], include_in_schema=False)


@asynccontextmanager
async def run_mcp(state: Any) -> AsyncIterator[None]:
    """Run the MCP endpoint; `state` is the state of the application."""

    async def get_access(context: ServerRequestContext[Any, Any]) -> GraphAccess:
        request = context.request
        assert isinstance(request, Request)
        return HostedAccess(get_hub(request), await identify_caller(request, get_hub(request)))

    server = create_server(get_access)
    server.streamable_http_app(
        stateless_http=True,
        max_request_body_size=_MAX_BODY_BYTES,
        transport_security=TransportSecuritySettings(enable_dns_rebinding_protection=False),
    )
    state.mcp = server.session_manager
    async with server.session_manager.run():
        yield
