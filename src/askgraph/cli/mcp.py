"""`askgraph mcp`: the graphs of a workspace as tools of an agent that starts this command."""

import asyncio

from askgraph.cli.options import Common, check_graphs


def mcp(
    common: Common,
    graph: list[str] | None = None,
    timeout: float = 120.0,
    query_timeout: float = 30.0,
) -> None:
    """Speak the Model Context Protocol on standard input and output, for an agent that starts it.

    It offers tools (ask, search, describe, shapes, validate, execute and others), the graphs as
    resources, and prompts; nothing can change a graph. With --graph (repeatable) only these graphs.
    Over HTTP the same is at /mcp of 'askgraph serve'.
    """
    from askgraph.server.mcp import run_stdio

    place = common.workspace
    check_graphs(place, graph or ())
    asyncio.run(run_stdio(place, graph or (), timeout=timeout, query_timeout=query_timeout))
