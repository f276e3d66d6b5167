"""The IRIs of a query that were not shown so far: what they are, so that they are known from now.

A model writes IRIs from memory, too. One that it was shown is one that it means; of any other, its
label and its class are told, before an answer rests on it.
"""

from pyoxigraph import NamedNode

from askgraph.errors import QueryError
from askgraph.tools import Context
from askgraph.tools._facts import own_types
from askgraph.tools.named import STANDARD, named_iris
from askgraph.tools.shown import Writer, labels_in
from askgraph.tools.tables import Shown

__all__ = ["said_unseen", "unseen_in"]

_MOST = 6
_TYPES = 2  # shown of each
_ASKED = 6


def unseen_in(context: Context, query: str) -> tuple[str, ...]:
    """Return the IRIs of a query that nothing has shown, but for those of standard vocabularies."""
    return tuple(
        iri for iri in named_iris(query) if iri not in context.seen and not iri.startswith(STANDARD)
    )


async def said_unseen(context: Context, iris: tuple[str, ...]) -> Shown:
    """Say what IRIs of the graph are, by label and class; the first six of them.

    Raises `ServiceError` as the endpoint does.
    """
    shown = iris[:_MOST]
    types = await _types(context, shown)
    classes = [one for some in types.values() for one in some]
    labels = await labels_in(context, [*shown, *classes])
    writer = Writer(context, labels)
    said = []
    for iri in shown:
        kinds = ", ".join(writer.iri(one) for one in types.get(iri, ()))
        said.append(f"{writer.iri(iri)} ({kinds})" if kinds else writer.iri(iri))
    return Shown("; ".join(said), tuple(writer.seen))


async def _types(context: Context, iris: tuple[str, ...]) -> dict[str, list[str]]:
    """The two smallest classes of each IRI that is no predicate: they tell most."""
    profile = context.graph.profile
    predicates = {predicate.iri for predicate in profile.predicates}
    sizes = {one.iri: one.instances for one in profile.classes}
    things = [iri for iri in iris if iri not in predicates]
    arrays = context.graph.arrays
    if arrays is not None:
        found = {iri: list(own_types(arrays, f"<{iri}>")) for iri in things}
    else:
        found = await _asked_types(context, things) if things else {}
    return {
        iri: sorted(some, key=lambda one: sizes.get(one, 0))[:_TYPES] for iri, some in found.items()
    }


async def _asked_types(context: Context, iris: list[str]) -> dict[str, list[str]]:
    parts = [
        f"{{ SELECT (<{iri}> AS ?thing) ?class WHERE {{ <{iri}> a ?class }} LIMIT {_ASKED} }}"
        for iri in iris
    ]
    query = f"SELECT ?thing ?class WHERE {{ {' UNION '.join(parts)} }} LIMIT {_ASKED * _MOST}"
    try:
        result = await context.graph.endpoint.select(
            query, timeout=context.limits.timeout, limit=_ASKED * _MOST
        )
    except QueryError:
        return {}  # an endpoint that cannot take such a query tells no classes
    found: dict[str, list[str]] = {}
    for thing, kind in result.rows:
        if isinstance(thing, NamedNode) and isinstance(kind, NamedNode):
            found.setdefault(thing.value, []).append(kind.value)
    return found
