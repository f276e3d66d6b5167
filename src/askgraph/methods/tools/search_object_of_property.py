"""`search_object_of_property`: what a property leads to, by name or value."""

from typing import Annotated

from pyoxigraph import NamedNode, Variable

from askgraph.methods.tools import Context
from askgraph.methods.tools._search import searched_within
from askgraph.methods.tools.terms import named_node
from askgraph.sparql import Group, Pattern
from askgraph.trace import Observation

__all__ = ["search_object_of_property"]


async def search_object_of_property(
    context: Context,
    property: Annotated[str, "IRI"],
    query: Annotated[str, "keywords; empty: most frequent"] = "",
) -> Observation:
    """Search among the objects of a property: entities and literal values.

    Literals are shown as a query has to write them.
    """
    iri = await named_node(context, property, sort="properties")
    where = Group((Pattern(Variable("subject"), NamedNode(iri), Variable("search")),))
    what = f"objects of {context.graph.prefixes.shorten(iri)}"
    return await searched_within(context, where, Variable("search"), query, "entities", what=what)
