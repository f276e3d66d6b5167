"""Turtle of a resource: all triples within a boundary, nothing counted or left out."""

from pyoxigraph import BlankNode, NamedNode, RdfFormat, Triple, serialize

from askgraph.metadata.boundaries import Boundary, Kind, within_boundary
from askgraph.tools import Context
from askgraph.trace import Observation

_MOST = 10_000  # triples


async def dereferenced(context: Context, iri: str, kind: Kind, boundary: Boundary) -> Observation:
    """Return the triples of a resource within a boundary, 10,000 at most."""
    query = within_boundary(iri, kind, boundary, limit=_MOST)
    found = await context.graph.endpoint.select(query, timeout=context.limits.timeout)
    triples = [
        Triple(subject, predicate, value)
        for subject, predicate, value in found.rows
        if isinstance(subject, NamedNode | BlankNode)
        and isinstance(predicate, NamedNode)
        and value is not None
    ]
    prefixes = dict(context.graph.prefixes.namespaces)
    text = serialize(triples, format=RdfFormat.TURTLE, prefixes=prefixes) or b""
    lines = text.decode("utf-8").splitlines()
    used = [line for line in lines if not line.startswith("@prefix") or _uses(line, lines)]
    seen = (term.value for one in triples for term in one if isinstance(term, NamedNode))
    return Observation("\n".join(used), tuple(dict.fromkeys([iri, *seen])))


def _uses(declaration: str, lines: list[str]) -> bool:
    """Whether a prefix that is declared is used in some line."""
    name = declaration.split()[1]
    return any(name in line for line in lines if not line.startswith("@prefix"))
