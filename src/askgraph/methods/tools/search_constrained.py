"""`search_constrained`: what may stand at one place of a triple whose other places are given."""

from typing import Annotated, Literal

import pyoxigraph
from pyoxigraph import NamedNode, Variable

from askgraph.errors import QueryError
from askgraph.methods.tools import Context
from askgraph.methods.tools._search import searched, searched_within
from askgraph.methods.tools.hits import Sort
from askgraph.methods.tools.terms import named_node, object_term
from askgraph.sparql import Group, Pattern
from askgraph.trace import Observation

__all__ = ["search_constrained"]


async def search_constrained(
    context: Context,
    position: Literal["subject", "property", "object"],
    query: Annotated[str, "name; empty: most frequent"] = "",
    subject: str | None = None,
    property: str | None = None,
    object: str | None = None,
) -> Observation:
    """Find entities, classes or values (subject, object) or properties, with IRIs as constraints.

    Those that stand at `position` in triples with the constraints given; without any, all. An
    object may be a literal too. Without constraints a name is needed.
    Raises `QueryError` for a constraint at `position` itself, and for what names nothing.
    """
    given = {"subject": subject, "property": property, "object": object}
    kept = {place: text for place, text in given.items() if text and text.strip()}
    if position in kept:
        raise QueryError(
            f"{position} is what to find, so it cannot be given as {kept[position][:80]!r}; leave "
            "it out, or choose another position"
        )
    sort: Sort = "properties" if position == "property" else "entities"
    if not kept:
        return await searched(context, query, sort)
    nodes: dict[str, NamedNode | pyoxigraph.Literal] = {}
    for place, text in kept.items():
        nodes[place] = await _term(context, place, text)
    where = Group((_pattern(nodes),))
    return await searched_within(
        context, where, Variable(position), query, sort, what=_what(context, position, nodes)
    )


async def _term(context: Context, place: str, text: str) -> NamedNode | pyoxigraph.Literal:
    if place == "object":
        return await object_term(context, text)
    return NamedNode(
        await named_node(context, text, sort="properties" if place == "property" else "")
    )


def _pattern(nodes: dict[str, NamedNode | pyoxigraph.Literal]) -> Pattern:
    subject, value = (nodes.get(place, Variable(place)) for place in ("subject", "object"))
    predicate = nodes.get("property", Variable("property"))
    if isinstance(predicate, pyoxigraph.Literal):
        raise QueryError("a property cannot be a literal")
    return Pattern(subject, predicate, value)


def _what(context: Context, position: str, nodes: dict[str, NamedNode | pyoxigraph.Literal]) -> str:
    """`objects of space:Titan ont:orbits`: the places given, in their order."""
    shorten = context.graph.prefixes.shorten
    texts = [
        shorten(node.value) if isinstance(node, NamedNode) else str(node)
        for place in ("subject", "property", "object")
        if (node := nodes.get(place)) is not None
    ]
    plural = {"subject": "subjects", "property": "properties", "object": "objects"}
    return f"{plural[position]} of {' '.join(texts)}"
