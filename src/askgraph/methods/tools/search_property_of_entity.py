"""`search_property_of_entity`: the properties that an entity has, and those that lead to it."""

import asyncio
from typing import Annotated

from pyoxigraph import NamedNode, Variable

from askgraph.methods.tools import Context
from askgraph.methods.tools._search import searched_within
from askgraph.methods.tools.terms import named_node
from askgraph.sparql import Group, Pattern
from askgraph.trace import Observation

__all__ = ["search_property_of_entity"]


async def search_property_of_entity(
    context: Context,
    entity: Annotated[str, "IRI"],
    query: Annotated[str, "keywords; empty: most frequent"] = "",
) -> Observation:
    """Search among the properties of an entity, in both directions."""
    node = NamedNode(await named_node(context, entity))
    search, other = Variable("search"), Variable("other")
    short = context.graph.prefixes.shorten(node.value)
    leaving, coming = await asyncio.gather(
        *(
            searched_within(context, Group((pattern,)), search, query, "properties", what=what)
            for pattern, what in (
                (Pattern(node, search, other), f"properties from {short}"),
                (Pattern(other, search, node), f"properties to {short}"),
            )
        )
    )
    text = f"{leaving.text}\n{coming.text}"
    return Observation(text, tuple(dict.fromkeys([node.value, *leaving.seen, *coming.seen])))
