"""Directions: what words come from is an origin, what they go to is a destination."""

from askgraph.search.grow.partial_match import Node
from askgraph.search.grow.schema import Schema
from askgraph.search.grow.weights import DOUBT_MISDIRECTED
from askgraph.search.linking.link import Link, Linked
from askgraph.search.linking.word_lists import shared_words

_WITHIN = 4
"""Words from a preposition to the name that it is about: "from the airport of"."""


def misdirected(linked: Linked, schema: Schema, node: Node, predicate: int) -> float:
    """Return the doubt that a predicate leads to what words come from, or the other way round."""
    if predicate not in schema.predicates:
        return 0.0
    held = schema.words(predicate)
    ways = {name: not held.isdisjoint(way.held) for name, way in shared_words().directions.items()}
    if not any(ways.values()) or all(ways.values()):
        return 0.0
    link = _named(node)
    said = _said_before(linked, link) if link is not None else ""
    return DOUBT_MISDIRECTED if said and not ways[said] else 0.0


def _named(node: Node) -> Link | None:
    """The link of the thing or value at the end of a chain."""
    while node.link is None and len(node.edges) == 1:
        node = node.edges[0][1]
    return node.link


def _said_before(linked: Linked, link: Link) -> str:
    """The direction that words before a name say, "" if none do."""
    tokens, first = linked.reading.tokens, link.positions[0]
    for at in range(first - 1, max(-1, first - 1 - _WITHIN), -1):
        for name, way in shared_words().directions.items():
            if tokens[at].folded in way.said:
                return name
        if tokens[at].quote is not None or tokens[at].capital:
            return ""
    return ""
