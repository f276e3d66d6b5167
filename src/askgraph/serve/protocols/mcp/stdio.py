"""MCP on standard input and output: for the agent that started this process, and nobody else."""

from collections.abc import Sequence
from contextlib import aclosing
from typing import Any

from mcp.server.context import ServerRequestContext

from askgraph.serve.protocols.mcp.access import Access
from askgraph.serve.protocols.mcp.local import LocalAccess
from askgraph.serve.protocols.mcp.server import graph_server
from askgraph.workspace import Workspace

__all__ = ["run"]


async def run(
    workspace: Workspace, graphs: Sequence[str], *, timeout: float, query_timeout: float
) -> None:
    """Answer until the input ends; the graphs of the workspace, or those that are named."""
    access = LocalAccess(workspace, graphs, timeout=timeout, query_timeout=query_timeout)
    async with aclosing(access):

        async def same(request: ServerRequestContext[Any, Any]) -> Access:
            return access

        await graph_server(same).run_stdio_async()
