"""Which IRIs a graph holds at all: from its arrays or its profile, else asked in one request."""

from collections.abc import Iterable, Sequence

from pyoxigraph import Literal

from askgraph.tools import Context

__all__ = ["MOST", "unknown_iris"]

MOST = 20
"""So many IRIs a remote graph is asked for."""

_PLACES = ("{0} ?p ?o", "?s ?p {0}", "?s {0} ?o")


async def unknown_iris(context: Context, iris: Iterable[str]) -> tuple[str, ...]:
    """Return those of the IRIs that no triple of the graph holds, in the order given.

    A remote graph is asked about the first 20 that its profile does not tell; the others count as
    known. Raises `ServiceError` as the endpoint does.
    """
    wanted = tuple(dict.fromkeys(iris))
    graph = context.graph
    if graph.arrays is not None and graph.arrays.complete:
        terms = graph.arrays.terms
        return tuple(iri for iri in wanted if terms.iri(iri) is None)
    profile = {item.iri for item in graph.profile.classes}
    profile |= {item.iri for item in graph.profile.predicates}
    open_ones = [iri for iri in wanted if iri not in profile][:MOST]
    if not open_ones:
        return ()
    result = await graph.endpoint.select(
        _question(open_ones), timeout=context.limits.timeout, limit=len(_PLACES) * MOST
    )
    found = {int(n.value) for (n,) in result.rows if isinstance(n, Literal) and n.value.isdigit()}
    return tuple(iri for at, iri in enumerate(open_ones) if at not in found)


def _question(iris: Sequence[str]) -> str:
    """One query with the number of each IRI that is a subject, an object or a predicate."""
    parts = [
        f"{{ SELECT ({at} AS ?n) WHERE {{ {place.format(f'<{iri}>')} }} LIMIT 1 }}"
        for at, iri in enumerate(iris)
        for place in _PLACES
    ]
    return f"SELECT ?n WHERE {{ {' UNION '.join(parts)} }} LIMIT {len(parts)}"
