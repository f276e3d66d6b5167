"""What a graph itself says of its resources: comments and definitions, in the asker's language."""

from collections import defaultdict
from collections.abc import Iterable, Sequence

from pyoxigraph import Literal, NamedNode

from askgraph.errors import ErrorReply, MalformedReply, TimedOut
from askgraph.graph import KnowledgeGraph
from askgraph.rdf import vocabulary as v
from askgraph.rdf.labels import best_label

__all__ = ["descriptions_of"]

_EACH = 20  # descriptions of one thing
_MOST = 500


async def descriptions_of(
    iris: Iterable[str],
    graph: KnowledgeGraph,
    languages: Sequence[str],
    *,
    timeout: float | None = None,
) -> dict[str, str]:
    """Return the best description of each IRI that has one, for the first 500 of them.

    One query of at most `timeout` seconds. None has a description where that fails: they are a
    courtesy. Raises `ServiceError` where the graph cannot be reached at all.
    """
    carrying = {p.iri for p in graph.profile.predicates}
    predicates = [iri for iri in v.DESCRIPTION_PREDICATES if iri in carrying]
    wanted = list(dict.fromkeys(iris))[:_MOST]
    if not wanted or not predicates:
        return {}
    things, properties = (" ".join(f"<{iri}>" for iri in some) for some in (wanted, predicates))
    query = (
        f"SELECT ?s ?t WHERE {{ VALUES ?s {{ {things} }} VALUES ?p {{ {properties} }} ?s ?p ?t }} "
        f"LIMIT {_EACH * len(wanted)}"
    )
    try:
        result = await graph.endpoint.select(query, timeout=timeout)
    except (TimedOut, ErrorReply, MalformedReply):
        return {}
    found: dict[str, list[tuple[str, str | None]]] = defaultdict(list)
    for thing, text in result.rows:
        if isinstance(thing, NamedNode) and isinstance(text, Literal):
            found[thing.value].append((text.value, text.language))
    best = {iri: best_label(texts, languages) for iri, texts in found.items()}
    return {iri: text for iri, text in best.items() if text is not None}
