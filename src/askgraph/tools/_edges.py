"""The statements at a resource, grouped by predicate: counted, with a few values, never all."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from pyoxigraph import NamedNode

from askgraph.metadata import boundaries
from askgraph.sparql.results import Row, Term
from askgraph.tools import Context
from askgraph.tools._facts import numbered

__all__ = [
    "Edges",
    "Statements",
    "edges_at",
    "held_beyond",
    "opened_blanks",
    "opened_nodes",
]

_WHOLE = 400  # statements that are simply fetched
_COUNTED = 20_000  # statements that are counted where there are more
_EACH = 5
_OPENED = 300

Statements = Mapping[Term, Sequence[tuple[str, Term]]]
"""By node: what leaves it."""


@dataclass(frozen=True)
class Edges:
    """The statements of one predicate at a resource, one way; `values` are some other ends.

    Where `at_least`, there may be more than `count`.
    """

    predicate: str
    inverse: bool
    count: int
    values: tuple[Term, ...]
    at_least: bool = False


async def edges_at(context: Context, iri: str, *, inverse: bool) -> tuple[Edges, ...]:
    """Return all statements that leave (or enter) a resource, by predicate, in the order found."""
    query = boundaries.edges(iri, inverse=inverse, limit=_WHOLE)
    rows = await _rows(context, query)
    values = _by_predicate(rows)
    if len(rows) < _WHOLE:
        return tuple(Edges(p, inverse, len(some), tuple(some)) for p, some in values.items())
    counted = await _rows(
        context, boundaries.counts_by_predicate(iri, inverse=inverse, limit=_COUNTED)
    )
    counts = {p.value: numbered(n) for p, n in counted if isinstance(p, NamedNode)}
    missing = [p for p in counts if p not in values]
    if missing:
        few = boundaries.some_of_each(iri, missing, inverse=inverse, each=_EACH)
        values |= _by_predicate(await _rows(context, few))
    cut = sum(counts.values()) >= _COUNTED
    return tuple(
        Edges(p, inverse, max(counts.get(p, 0), len(some)), tuple(some), cut)
        for p, some in values.items()
    )


async def opened_nodes(context: Context, iris: Sequence[str]) -> Statements:
    """Return what leaves a few nodes."""
    if not iris:
        return {}
    return _by_node(await _rows(context, boundaries.of_nodes(iris, limit=_OPENED)))


async def opened_blanks(context: Context, iri: str, predicate: str, *, inverse: bool) -> Statements:
    """Return what leaves the blank nodes at the other end of a predicate.

    Asked through the resource, as a blank node's name means nothing to an endpoint.
    """
    link = f"?b <{predicate}> <{iri}>" if inverse else f"<{iri}> <{predicate}> ?b"
    query = (
        f"SELECT ?b ?p ?o WHERE {{ {{ SELECT DISTINCT ?b WHERE {{ {link} FILTER(isBlank(?b)) }} "
        f"LIMIT {_EACH} }} ?b ?p ?o }} LIMIT {_OPENED}"
    )
    return _by_node(await _rows(context, query))


async def held_beyond(
    context: Context, iri: str, edges: Sequence[Edges]
) -> dict[tuple[str, bool], tuple[str, ...]]:
    """Return the predicates that leave the other ends of some predicates, most frequent first."""
    if not edges:
        return {}
    parts = []
    for at, edge in enumerate(edges):
        link = (
            f"?b <{edge.predicate}> <{iri}>" if edge.inverse else f"<{iri}> <{edge.predicate}> ?b"
        )
        some = f"{{ SELECT ?b WHERE {{ {link} }} LIMIT {_WHOLE} }}"
        counted = f"SELECT ({at} AS ?at) ?p (COUNT(*) AS ?n)"
        parts.append(f"{{ {counted} WHERE {{ {some} ?b ?p ?o }} GROUP BY ?p }}")
    query = f"SELECT ?at ?p ?n WHERE {{ {' UNION '.join(parts)} }} LIMIT {_OPENED}"
    found: dict[tuple[str, bool], list[tuple[int, str]]] = defaultdict(list)
    for number, predicate, count in await _rows(context, query):
        if isinstance(predicate, NamedNode):
            edge = edges[numbered(number)]
            found[edge.predicate, edge.inverse].append((-numbered(count), predicate.value))
    return {key: tuple(iri for _, iri in sorted(listed)) for key, listed in found.items()}


async def _rows(context: Context, query: str) -> Sequence[Row]:
    result = await context.graph.endpoint.select(query, timeout=context.limits.timeout)
    return result.rows


def _by_predicate(rows: Sequence[Row]) -> dict[str, list[Term]]:
    found: dict[str, list[Term]] = defaultdict(list)
    for predicate, value in rows:
        if isinstance(predicate, NamedNode) and value is not None:
            found[predicate.value].append(value)
    return found


def _by_node(rows: Sequence[Row]) -> Statements:
    found: dict[Term, list[tuple[str, Term]]] = defaultdict(list)
    for node, predicate, value in rows:
        if node is not None and value is not None and isinstance(predicate, NamedNode):
            found[node].append((predicate.value, value))
    return found
