"""Graphs for agents: a Model Context Protocol server, over standard input and output or HTTP.

The server is put together here from tools (`ask`, `explore`), resources and prompts. All of them
reach graphs through an `Access`: that of one caller of `askgraph serve` (`http`), or that of the
person who started `askgraph mcp` (`stdio`). Each message finds its caller anew.
"""

import logging
from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from importlib.metadata import version
from typing import Any

from mcp.server.context import CallNext, HandlerResult, ServerRequestContext
from mcp.server.mcpserver import Context, MCPServer
from mcp.server.mcpserver.exceptions import ToolError
from mcp.server.request_state import RequestStateSecurity
from mcp.shared.exceptions import MCPError
from mcp_types import (
    INVALID_PARAMS,
    CallToolResult,
    GetPromptResult,
    InputRequiredResult,
    Resource,
    ToolAnnotations,
)
from pydantic import ValidationError

from askgraph.server.faults import faults_in_words
from askgraph.server.mcp.access import CALLER, Access
from askgraph.server.mcp.ask import OpenState, ask
from askgraph.server.mcp.explore import (
    describe,
    examples,
    execute,
    list_graphs,
    propose_queries,
    search,
    shapes,
    validate,
)
from askgraph.server.mcp.resources import PARTS, explore_graph, listed, write_query
from askgraph.server.mcp.results import NOTICE

Request = ServerRequestContext[Any, Any]

AccessOf = Callable[[Request], Awaitable[Access]]
"""Finds the access of the sender of a message; raises `MCPError` if there is none."""

_TOOLS = (list_graphs, ask, propose_queries, search, describe, shapes, examples, validate, execute)

_INSTRUCTIONS = f"""\
Knowledge graphs (RDF), asked in natural language or SPARQL. Start with `ask`: it gives the answer
with its query, how the question was read, and how sure that is. Where it is unsure, or asks back,
look for yourself: `search`, `describe` and `shapes` show what there is, `propose_queries` gives
candidates, `validate` and `execute` are for queries of your own. Nothing here can change a graph.
{NOTICE}
"""


class _GraphServer(MCPServer[Any]):
    """Lists the resources of the caller's graphs."""

    async def list_resources(self) -> list[Resource]:
        return list(listed())

    async def call_tool(
        self, name: str, arguments: dict[str, Any], context: Context[Any, Any] | None = None
    ) -> CallToolResult | InputRequiredResult:
        """Call a tool: it takes `graph` and `graphs` alike, and no argument that is not its own."""
        tool = next((one for one in await self.list_tools() if one.name == name), None)
        if tool is not None:
            arguments = _fitting(name, arguments, list(tool.input_schema.get("properties", {})))
        try:
            return await super().call_tool(name, arguments, context)
        except ToolError as error:
            if isinstance(error.__cause__, ValidationError):
                told = faults_in_words(error.__cause__, noun="argument")
            else:
                told = str(error).removeprefix(f"Error executing tool {name}: ")
            raise ToolError(f"{name}: {told}") from error

    async def get_prompt(
        self,
        name: str,
        arguments: dict[str, Any] | None = None,
        context: Context[Any, Any] | None = None,
    ) -> GetPromptResult | InputRequiredResult:
        """Return a prompt; `MCPError` if there is none, or if an argument is missing."""
        prompts = {one.name: one for one in await self.list_prompts()}
        if name not in prompts:
            there = ", ".join(prompts)
            raise MCPError(INVALID_PARAMS, f"there is no prompt {name!r}; there are {there}")
        needed = [one.name for one in prompts[name].arguments or () if one.required]
        if missing := [one for one in needed if one not in (arguments or {})]:
            raise MCPError(INVALID_PARAMS, f"{name}: the argument {missing[0]!r} is missing")
        return await super().get_prompt(name, arguments, context)


def _fitting(tool: str, given: Mapping[str, Any], known: Sequence[str]) -> dict[str, Any]:
    """The arguments of a call as its tool names them.

    Raises `ToolError` for others, and for several graphs if the tool looks at one.
    """
    arguments = dict(given)
    if "graphs" in known and isinstance(arguments.get("graph"), str):
        arguments.setdefault("graphs", [arguments.pop("graph")])
    if "graph" in known and "graphs" in arguments:
        match arguments.pop("graphs"):
            case str() as one:
                arguments.setdefault("graph", one)
            case [one]:
                arguments.setdefault("graph", one)
            case [_, *_]:
                raise ToolError(f"{tool} looks at one graph: name it as `graph`")
    if unknown := [name for name in arguments if name not in known]:
        there = ", ".join(known) or "no argument"
        raise ToolError(f"{tool} has no argument {unknown[0]!r}; it takes {there}")
    return arguments


def graph_server(access_of: AccessOf) -> MCPServer[Any]:
    """Return a server with all tools, whose callers have the access that `access_of` gives them."""

    async def as_caller(ctx: Request, call_next: CallNext) -> HandlerResult:
        token = CALLER.set(await access_of(ctx))
        try:
            return await call_next(ctx)
        finally:
            CALLER.reset(token)

    with _logging_left_alone():
        server = _GraphServer(
            "askgraph",
            title="Askgraph",
            description="Questions over knowledge graphs, answered with their queries.",
            instructions=_INSTRUCTIONS,
            version=version("askgraph"),
            request_state_security=RequestStateSecurity(codec=OpenState()),
            middleware=[as_caller],
        )
    for tool in _TOOLS:
        server.add_tool(tool, annotations=ToolAnnotations(read_only_hint=True))
    for part in PARTS:
        resource = server.resource(
            part.template, name=part.name, description=part.words, mime_type=part.mime_type
        )
        resource(part.read)
    for prompt in (explore_graph, write_query):
        server.prompt()(prompt)
    return server


@contextmanager
def _logging_left_alone() -> Iterator[None]:
    """Keep the library from setting up the logs of the whole process, if nobody did yet."""
    handler = logging.NullHandler()
    logging.getLogger().addHandler(handler)
    try:
        yield
    finally:
        logging.getLogger().removeHandler(handler)
