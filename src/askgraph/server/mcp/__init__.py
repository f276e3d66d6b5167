"""Graphs for agents: a Model Context Protocol server over standard input and output or HTTP.

This module assembles the server from the tools (`ask`, `explore`) and its own resources and
prompts. All of them reach graphs through a `GraphAccess`: of a caller of `askgraph serve`, or of
the user who started `askgraph mcp`. The caller is identified anew for each message.

Over HTTP, at `/mcp`, the server keeps no state between two requests, so any of its processes can
answer each of them. It imports this module at the first request, as the library of MCP takes most
of a second. The server checks host and origin before a request gets here.
"""

import asyncio
import json
import logging
import tomllib
from collections.abc import (
    AsyncGenerator,
    AsyncIterator,
    Awaitable,
    Callable,
    Iterator,
    Mapping,
    Sequence,
)
from contextlib import aclosing, asynccontextmanager, contextmanager, suppress
from importlib.metadata import version
from inspect import cleandoc
from pathlib import Path
from typing import Any
from urllib.parse import quote

from mcp.server.apps import Apps
from mcp.server.context import CallNext, HandlerResult, ServerRequestContext
from mcp.server.mcpserver import Context, MCPServer
from mcp.server.mcpserver.exceptions import ResourceNotFoundError, ToolError
from mcp.server.request_state import RequestStateSecurity
from mcp.server.transport_security import TransportSecuritySettings
from mcp.shared.exceptions import MCPError
from mcp_types import (
    INVALID_PARAMS,
    INVALID_REQUEST,
    PARSE_ERROR,
    CallToolResult,
    GetPromptResult,
    InputRequiredResult,
    Resource,
    TextContent,
    Tool,
    ToolAnnotations,
)
from pydantic import ValidationError
from starlette.requests import Request
from starlette.responses import JSONResponse
from starlette.types import Message, Receive, Send
from starlette.types import Scope as AsgiScope

from askgraph.errors import AskgraphError
from askgraph.graph import KnowledgeGraph
from askgraph.graph.glossary import Glossary, format_glossary
from askgraph.graph.names import escape_unseen
from askgraph.graph.profile import ClassProfile, PredicateProfile
from askgraph.graph.shape_texts import format_document
from askgraph.graph.shapes import build_shape
from askgraph.methods.tools.rendering import quote as quote_text
from askgraph.server.auth import Principal, Scope
from askgraph.server.hub import Hub, get_hub, identify_caller
from askgraph.server.mcp import access as mcp_access
from askgraph.server.mcp.ask import PlainStateCodec, ask
from askgraph.server.mcp.explore import describe, list_graphs, query, search, suggest_queries
from askgraph.server.problems import describe_faults
from askgraph.server.runs import AskBody, RunRequest, list_method_names
from askgraph.server.runs.replies import build_next_questions, read_steps
from askgraph.trace import Outcome, Question, Step
from askgraph.workspace import Workspace

_MAX_CLASSES, _MAX_PREDICATES, _MAX_SHAPES = 50, 100, 20
_MAX_END_CLASSES = 2
_MAX_PROMPT_CLASSES = 20
_MAX_WORDS, _MAX_WORD_CHARACTERS = 50, 100  # words of a glossary in a prompt
_MAX_GREETED_GRAPHS = 10
_PROMPTS = tomllib.loads(Path(__file__).with_name("prompts.toml").read_text("utf-8"))


async def _get_metadata(graph: str) -> mcp_access.GraphMetadata:
    access = mcp_access.get_current_access()
    with mcp_access.convert_errors(ResourceNotFoundError):
        access.require_scope("ask")
        return await access.get_metadata(mcp_access.resolve_graph_name(access, graph))


async def _read_profile(graph: str) -> str:
    metadata = await _get_metadata(graph)
    profile = metadata.profile
    lines = [f"# {metadata.name}: {profile.triples:,} triples", f"# {mcp_access.NOTICE}"]
    if profile.languages:
        tags = ", ".join(f"{tag} ({n:,})" for tag, n in profile.languages[:10])
        lines.append(f"languages: {tags}")
    lines += ["", f"{len(profile.classes):,} classes"]
    lines += mcp_access.format_classes(metadata, "en", limit=_MAX_CLASSES)
    lines += ["", f"{len(profile.predicates):,} predicates"]
    predicates = profile.predicates[:_MAX_PREDICATES]
    lines += [_format_predicate(predicate, metadata) for predicate in predicates]
    return "\n".join(lines)


async def _read_prefixes(graph: str) -> str:
    pairs = (await _get_metadata(graph)).prefixes.namespaces.items()
    return "\n".join(f"PREFIX {prefix}: <{iri}>" for prefix, iri in pairs)


async def _read_shapes(graph: str) -> str:
    metadata = await _get_metadata(graph)
    profile = metadata.profile
    shapes = [build_shape(profile, term.iri) for term in profile.classes[:_MAX_SHAPES]]
    terms: list[ClassProfile | PredicateProfile] = [*profile.classes, *profile.predicates]
    labels = {term.iri: mcp_access.get_label(term.names, term.iri, "en") for term in terms}
    return format_document(
        (term for term in shapes if term.lines), metadata.prefixes, labels=labels
    )


async def _read_glossary(graph: str) -> str:
    access = mcp_access.get_current_access()
    with mcp_access.convert_errors(ResourceNotFoundError):
        access.require_scope("ask")
        name = mcp_access.resolve_graph_name(access, graph)
        return format_glossary(await access.get_glossary(name)) or "# no word is defined yet\n"


_RESOURCE_URI = "askgraph://graphs/{graph}/"
_RESOURCES = {
    "profile": (
        _read_profile,
        "size, languages, classes and predicates, the most frequent first",
        "text/plain",
    ),
    "prefixes": (_read_prefixes, "the prefixes that queries need not declare", "text/plain"),
    "shapes": (
        _read_shapes,
        "what the instances of the most frequent classes have, as ShEx",
        "text/shex",
    ),
    "glossary": (
        _read_glossary,
        "words, measures, conditions and instructions that its owner has defined, as TOML",
        "application/toml",
    ),
}
"""The resources of each graph by name: reader, description and media type."""


def _format_predicate(predicate: PredicateProfile, graph: mcp_access.GraphMetadata) -> str:
    """Return a line such as `ont:orbits "orbits": 55 triples, ont:Moon → ont:Planet`."""
    shorten = graph.prefixes.shorten
    subjects = " or ".join(shorten(iri) for iri, _ in predicate.subject_classes[:_MAX_END_CLASSES])
    objects = " or ".join(
        shorten(iri)
        for iri, _ in (*predicate.object_classes, *predicate.datatypes)[:_MAX_END_CLASSES]
    )
    ends = f", {subjects or 'anything'} → {objects or 'anything'}"
    name = mcp_access.get_label(predicate.names, predicate.iri, "en")
    label = quote_text(name, mcp_access.MAX_LABEL_CHARACTERS)
    return f"{shorten(predicate.iri)} {label}: {predicate.triples:,} triples{ends}"


async def explore_graph(graph: str = "") -> str:
    """Find out step by step what a graph is about."""
    name, classes = await _list_main_classes(graph)
    return str(_PROMPTS["explore"]).format(graph=name, classes=classes)


async def write_query(question: str, graph: str = "") -> str:
    """Write a SPARQL query that answers a question over a graph."""
    name, classes = await _list_main_classes(graph)
    entries = (await mcp_access.get_current_access().get_glossary(name)).entries
    words = ", ".join(
        quote_text(entry.word, _MAX_WORD_CHARACTERS) for entry in entries[:_MAX_WORDS]
    )
    return str(_PROMPTS["write"]).format(
        graph=name, question=question, classes=classes, words=", ".join(words) or "none"
    )


async def explain_word(word: str, graph: str = "") -> str:
    """Explain what a word means in a graph: its definition, or else its class or property."""
    access = mcp_access.get_current_access()
    with mcp_access.convert_errors():
        name = mcp_access.resolve_graph_name(access, graph or None)
        entry = (await access.get_glossary(name)).find_entry(word)
    definition = format_glossary(Glossary((entry,))) if entry else "none"
    return str(_PROMPTS["explain"]).format(graph=name, word=word, definition=definition)


async def _list_main_classes(graph: str) -> tuple[str, str]:
    access = mcp_access.get_current_access()
    with mcp_access.convert_errors():
        name = mcp_access.resolve_graph_name(access, graph or None)
        lines = mcp_access.format_classes(
            await access.get_metadata(name), "en", limit=_MAX_PROMPT_CLASSES
        )
        return name, "\n".join(f"- {line}" for line in lines)


McpRequest = ServerRequestContext[Any, Any]

AccessProvider = Callable[[McpRequest], Awaitable[mcp_access.GraphAccess]]
"""Returns the access of a message's sender; raises `MCPError` if the sender is unknown."""

_TOOLS = (search, describe, suggest_queries, query, list_graphs)  # `ask` comes first, with a card
_READ_ONLY = ToolAnnotations(read_only_hint=True)
_CARD_URI = "ui://askgraph/answer.html"
_CARD = Path(__file__).with_name("card.html")
_GREETINGS = frozenset({"initialize", "server/discover"})  # whose results have instructions

_INSTRUCTIONS = f"{_PROMPTS['instructions']}{mcp_access.NOTICE}\n"


class _GraphServer(MCPServer[Any]):
    """An MCP server that lists the resources of the caller's graphs."""

    async def list_tools(self) -> list[Tool]:
        return [
            tool.model_copy(
                update={
                    "description": cleandoc(tool.description or ""),
                    "input_schema": simplify_schema(tool.input_schema),
                }
            )
            for tool in await super().list_tools()
        ]

    async def list_resources(self) -> list[Resource]:
        return [
            Resource(
                uri=f"{_RESOURCE_URI}{name}".replace("{graph}", quote(graph, safe="")),
                name=f"{graph} {name}",
                description=f"{graph}: {description}",
                mime_type=mime_type,
            )
            for graph in mcp_access.get_current_access().list_graphs()
            for name, (_, description, mime_type) in _RESOURCES.items()
        ]

    async def call_tool(
        self, name: str, arguments: dict[str, Any], context: Context[Any, Any] | None = None
    ) -> CallToolResult | InputRequiredResult:
        """Call a tool; `graph` and `graphs` are interchangeable, unknown arguments are errors."""
        schemas = {tool.name: tool.input_schema for tool in await self.list_tools()}
        if name in schemas:
            arguments = _fit_arguments(name, arguments, [*schemas[name].get("properties", {})])
        try:
            result = await super().call_tool(name, arguments, context)
            if isinstance(result, CallToolResult):
                for part in result.content:
                    if isinstance(part, TextContent):  # a line of the graph's is none of ours
                        part.text = escape_unseen(part.text)
                result.content.append(TextContent(type="text", text=mcp_access.NOTICE))
            return result
        except ToolError as error:
            if isinstance(error.__cause__, ValidationError):
                message = describe_faults(error.__cause__, noun="argument")
            else:
                message = str(error).removeprefix(f"Error executing tool {name}: ")
            raise ToolError(f"{name}: {message}") from error

    async def get_prompt(
        self,
        name: str,
        arguments: dict[str, Any] | None = None,
        context: Context[Any, Any] | None = None,
    ) -> GetPromptResult | InputRequiredResult:
        prompts = {item.name: item for item in await self.list_prompts()}
        if name not in prompts:
            names = ", ".join(prompts)
            raise MCPError(INVALID_PARAMS, f"there is no prompt {name!r}; available: {names}")
        required = [item.name for item in prompts[name].arguments or () if item.required]
        if missing := [item for item in required if item not in (arguments or {})]:
            raise MCPError(INVALID_PARAMS, f"{name}: the argument {missing[0]!r} is missing")
        return await super().get_prompt(name, arguments, context)


def _fit_arguments(
    tool: str, raw_arguments: Mapping[str, Any], parameters: Sequence[str]
) -> dict[str, Any]:
    arguments = dict(raw_arguments)
    if "graphs" in parameters and isinstance(arguments.get("graph"), str):
        arguments.setdefault("graphs", [arguments.pop("graph")])
    if "graph" in parameters and "graphs" in arguments:
        match arguments.pop("graphs"):
            case (str() as name) | [name]:
                arguments.setdefault("graph", name)
            case [_, *_]:
                raise ToolError(f"{tool} needs the argument `graph`: name one graph")
    if unknown := [name for name in arguments if name not in parameters]:
        listed_parameters = ", ".join(parameters) or "no argument"
        raise ToolError(f"{tool} has no argument {unknown[0]!r}; available: {listed_parameters}")
    return arguments


def simplify_schema(schema: Any, definitions: Mapping[str, Any] | None = None) -> Any:
    """Return a schema in the subset of JSON Schema that the common clients of MCP read.

    References are replaced by their targets. An optional part loses `null` and its null default.
    """
    if isinstance(schema, list):
        return [simplify_schema(part, definitions) for part in schema]
    if not isinstance(schema, Mapping):
        return schema
    definitions = schema.get("$defs", {}) if definitions is None else definitions
    parts = dict(schema)
    if isinstance(reference := parts.pop("$ref", None), str):
        parts = {**definitions[reference.rsplit("/", 1)[-1]], **parts}
    if isinstance(options := parts.get("anyOf"), list):
        options = [option for option in options if option.get("type") != "null"]
        if len(options) == 1:
            del parts["anyOf"]
            parts = {**options[0], **parts}
        if parts.get("default", "") is None:
            del parts["default"]
    return {
        key: simplify_schema(part, definitions)
        for key, part in parts.items()
        if key not in _OMITTED_KEYS or (isinstance(part, Mapping) and key != "$defs")
    }


_OMITTED_KEYS = frozenset(
    # Gemini rejects the bounds; titles and limits of texts cost tokens, and calls are checked.
    ("$defs", "exclusiveMinimum", "exclusiveMaximum", "title", "pattern", "minLength", "maxLength")
)


def create_server(get_access: AccessProvider) -> MCPServer[Any]:
    """Return a server with all tools; `get_access` determines what its callers may use."""

    async def set_access(ctx: McpRequest, call_next: CallNext) -> HandlerResult:
        token = mcp_access.CURRENT_ACCESS.set(await get_access(ctx))
        try:
            result = await call_next(ctx)
            if ctx.method in _GREETINGS and isinstance(result, dict):
                result["instructions"] = _INSTRUCTIONS + await _describe_graphs()
            return result
        finally:
            mcp_access.CURRENT_ACCESS.reset(token)

    card = Apps()
    card.tool(resource_uri=_CARD_URI, annotations=_READ_ONLY, structured_output=False)(ask)
    card.add_html_resource(
        _CARD_URI, _CARD.read_text("utf-8"), name="answer", title="Answer", prefers_border=True
    )
    with _preserve_logging():
        server = _GraphServer(
            "askgraph",
            title="Askgraph",
            description="Questions over knowledge graphs, answered with their queries.",
            instructions=_INSTRUCTIONS,
            version=version("askgraph"),
            request_state_security=RequestStateSecurity(codec=PlainStateCodec()),
            middleware=[set_access],
            extensions=[card],
        )
    for tool in _TOOLS:
        server.add_tool(tool, annotations=_READ_ONLY, structured_output=False)
    for name, (read, description, mime_type) in _RESOURCES.items():
        server.resource(
            f"{_RESOURCE_URI}{name}", name=name, description=description, mime_type=mime_type
        )(read)
    for prompt in (explore_graph, write_query, explain_word):
        server.prompt()(prompt)
    return server


async def _describe_graphs() -> str:
    """Return the names of the caller's first graphs, with the instructions of their owners."""
    access = mcp_access.get_current_access()
    names = access.list_graphs()
    lines = [f"Graphs: {', '.join(names[:_MAX_GREETED_GRAPHS])}"]
    for name in names[:_MAX_GREETED_GRAPHS]:
        with suppress(AskgraphError):  # a damaged glossary is reported where it is read
            lines += [f"{name}: {line}" for line in await mcp_access.list_owner_notes(access, name)]
    return "\n".join(lines)


@contextmanager
def _preserve_logging() -> Iterator[None]:
    """Stop MCP from configuring the root logger if the process has not configured it."""
    handler = logging.NullHandler()
    logging.getLogger().addHandler(handler)
    try:
        yield
    finally:
        logging.getLogger().removeHandler(handler)


async def run_stdio(
    workspace: Workspace, graphs: Sequence[str], *, timeout: float, query_timeout: float
) -> None:
    """Serve standard input and output, over the named graphs or all graphs of the workspace.

    Args:
        timeout: time limit of a question, in seconds.
        query_timeout: time limit of a query, in seconds.
    """
    access = mcp_access.LocalAccess(workspace, graphs, timeout=timeout, query_timeout=query_timeout)
    async with aclosing(access):

        async def get_access(request: McpRequest) -> mcp_access.GraphAccess:
            return access

        await create_server(get_access).run_stdio_async()


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

    async def get_metadata(self, name: str) -> mcp_access.GraphMetadata:
        """Return the metadata of a graph without opening it."""
        self._hub.graphs.get_settings(name, self._caller)
        return await asyncio.to_thread(mcp_access.GraphMetadata.read, self._hub.workspace, name)

    async def get_glossary(self, name: str) -> Glossary:
        """Return the glossary of a graph that the caller may see."""
        self._hub.graphs.get_settings(name, self._caller)
        return await asyncio.to_thread(self._hub.workspace.load_glossary, name)

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
            self._hub, question, outcome, self._caller, seconds=mcp_access.FOLLOWING_SECONDS
        )


class McpEndpoint:
    """An ASGI endpoint that identifies the caller first: unknown callers get a plain 401."""

    def __init__(self) -> None:
        self._server = create_server(_identify_sender)

    async def __call__(self, scope: AsgiScope, receive: Receive, send: Send) -> None:
        """Answer one message."""
        request = Request(scope, receive)
        (await identify_caller(request, get_hub(request))).require_scope("ask")
        body = await request.body()
        if error_parts := _find_message_error(body):
            error = dict(zip(("code", "message"), error_parts, strict=True))
            reply = JSONResponse({"jsonrpc": "2.0", "id": None, "error": error}, 400)
            return await reply(scope, receive, send)
        pending_messages = iter([{"type": "http.request", "body": body, "more_body": False}])

        async def receive_message() -> Message:
            return next(pending_messages, None) or await receive()

        self._server.streamable_http_app(
            stateless_http=True,
            max_request_body_size=_MAX_BODY_BYTES,
            transport_security=TransportSecuritySettings(enable_dns_rebinding_protection=False),
        )
        sessions = self._server.session_manager  # the one of this request
        async with sessions.run():
            await sessions.handle_request(scope, receive_message, send)


async def _identify_sender(context: ServerRequestContext[Any, Any]) -> mcp_access.GraphAccess:
    request = context.request
    assert isinstance(request, Request)
    return HostedAccess(get_hub(request), await identify_caller(request, get_hub(request)))


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
