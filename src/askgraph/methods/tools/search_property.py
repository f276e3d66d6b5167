"""`search_property`: properties by name."""

from typing import Annotated

from askgraph.methods.tools import Context
from askgraph.methods.tools._search import searched
from askgraph.trace import Observation

__all__ = ["search_property"]


async def search_property(
    context: Context, query: Annotated[str, "name or keywords"]
) -> Observation:
    """Find properties by name."""
    return await searched(context, query, "properties")
