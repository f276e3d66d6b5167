"""Errors of ours as what an agent is told: the text says what is wrong and what to do."""

from collections.abc import Iterator
from contextlib import contextmanager

from mcp.server.mcpserver.exceptions import ResourceNotFoundError, ToolError

from askgraph.errors import AskgraphError

__all__ = ["telling", "telling_of_resource"]


@contextmanager
def telling() -> Iterator[None]:
    """Turn errors of ours into those whose text reaches the model; others stay unsaid."""
    try:
        yield
    except AskgraphError as error:
        raise ToolError(str(error)) from error


@contextmanager
def telling_of_resource() -> Iterator[None]:
    """Turn errors of ours into those of a resource that cannot be read."""
    try:
        yield
    except AskgraphError as error:
        raise ResourceNotFoundError(str(error)) from error
