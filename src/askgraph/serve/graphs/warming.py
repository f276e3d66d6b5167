"""A question that nobody asked, at the start, so that the first one finds everything in place."""

import asyncio
import logging

from askgraph.errors import AskgraphError
from askgraph.serve.hub import Hub
from askgraph.serve.identity.principal import Principal
from askgraph.trace import Question
from askgraph.workspace import DEFAULT_METHOD
from askgraph.workspace.answering import outcome_of

__all__ = ["warmed"]

_GRAPHS = 3
_SECONDS = 10.0
_SERVER = Principal("server", "the server", frozenset({"admin"}))
_log = logging.getLogger("askgraph.serve")


async def warmed(hub: Hub) -> None:
    """Open the first graphs that lie here, and ask each something; what fails is left for later.

    Endpoints elsewhere are left alone, and nothing is kept of it.
    """
    graphs = hub.workspace.graphs()
    here = [name for name, settings in graphs.items() if settings.url is None]
    for name in here[:_GRAPHS]:
        try:
            method = await asyncio.to_thread(hub.workspace.method, DEFAULT_METHOD)
            async with hub.graphs.lease(name, _SERVER) as graph:
                await outcome_of(Question("What is there?"), method, [graph], timeout=_SECONDS)
        except AskgraphError as error:
            _log.info("graph %r was not opened ahead: %s", name, error)
