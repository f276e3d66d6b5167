"""`describe`: what the graph says of one resource, by predicate, within a boundary.

Nodes that only link other things (blank ones, those without a label, instances of n-ary classes)
are opened: what they hold is what is looked for.
"""

from typing import Annotated

from askgraph.metadata.boundaries import Boundary, kind_of
from askgraph.metadata.shapes import narrowest
from askgraph.tools import Context
from askgraph.tools._around_terms import Around, around_lines, around_term
from askgraph.tools._described import edge_lines, iris_in, opened_around, types_in
from askgraph.tools._edges import edges_at
from askgraph.tools._terms import named_node
from askgraph.tools.shown import Writer
from askgraph.trace import Observation

__all__ = ["describe"]


async def describe(
    context: Context,
    iri: Annotated[str, "IRI"],
    boundary: Annotated[Boundary, "auto: by what it is"] = "auto",
    *,
    terms: Boundary | None = None,
) -> Observation:
    """Get what the graph says of one entity, class or property: values, links both ways.

    `auto` takes the specific boundary for classes and properties, which tells the terms around
    them, and the neighbourhood for anything else; so does `specific`. `terms` is the boundary of
    classes and properties where theirs is another than that of individuals. The boundaries of
    `Limits`, where these are set, go before. Raises `QueryError`
    for an IRI that the graph does not hold.
    """
    node = await named_node(context, iri)
    leaving = await edges_at(context, node, inverse=False)
    types = types_in(leaving)
    kind = kind_of(node, types, context.graph.profile)
    if terms is not None and kind != "individual":
        boundary = terms
    bound = context.limits.individuals if kind == "individual" else context.limits.schema
    boundary = boundary if bound == "auto" else bound
    around, edges = Around(), leaving
    if boundary in ("auto", "specific") and kind != "individual":
        around = await around_term(context, node, kind)
    elif boundary != "outgoing":
        edges = (*leaving, *await edges_at(context, node, inverse=True))
    opened = await opened_around(context, node, edges)
    writer = await Writer.knowing(context, [node, *types, *around.iris(), *iris_in(edges, opened)])
    kinds = [writer.iri(one) for one in narrowest(types, context.graph.profile)]
    head = " a ".join([writer.iri(node), *([", ".join(kinds)] if kinds else [])])
    lines = [head, *around_lines(around, writer), *edge_lines(edges, opened, writer)]
    if len(lines) == 1:
        lines.append("nothing more is said of it")
    return Observation("\n".join(lines), tuple(writer.seen))
