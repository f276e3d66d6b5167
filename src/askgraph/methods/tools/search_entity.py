"""`search_entity`: things, classes and values by name."""

from typing import Annotated

from askgraph.methods.tools import Context
from askgraph.methods.tools._search import searched
from askgraph.trace import Observation

__all__ = ["search_entity"]


async def search_entity(context: Context, query: Annotated[str, "name or keywords"]) -> Observation:
    """Find entities and classes by name.

    If few have the name, literal values that hold it too, with a subject that has the value.
    """
    return await searched(context, query, "entities")
