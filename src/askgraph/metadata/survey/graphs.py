"""Which named graphs there are, and how big they are."""

from pyoxigraph import NamedNode

from askgraph.metadata import Part
from askgraph.metadata.completeness import GRAPHS
from askgraph.metadata.inquiry import Inquiry
from askgraph.metadata.survey.asking import listed, number_in
from askgraph.metadata.survey.size import ask_cap

__all__ = ["Graphs", "ask_graphs"]

Graphs = tuple[tuple[str, int], ...]

_MOST = 1_000
_FEW = 10  # graphs that no endpoint cuts off
_QUADS = "GRAPH ?g { ?s ?p ?o }"


async def ask_graphs(inquiry: Inquiry) -> tuple[Graphs, Part]:
    """Return the named graphs with their sizes (0 where not counted), the biggest first."""
    counted = (
        f"SELECT ?g (COUNT(*) AS ?n) {{ {_QUADS} }} GROUP BY ?g ORDER BY DESC(?n) LIMIT {_MOST}"
    )
    reply = await inquiry.rows("named graphs", counted, costly=True, anywhere=True)
    rows = reply.rows if reply else ()
    if len(rows) > _FEW and inquiry.cap is None:
        await ask_cap(inquiry, _QUADS)
    sizes = {row[0].value: number_in(row[1]) for row in rows if isinstance(row[0], NamedNode)}
    capped = inquiry.cap is not None and len(rows) >= inquiry.cap
    whole = reply is not None and not (reply.cut or capped) and len(rows) < _MOST
    if not whole:
        query = f"SELECT DISTINCT ?g {{ {_QUADS} }}"
        names = await listed(inquiry, "named graphs", query, most=_MOST, anywhere=True)
        if names is None and reply is None:
            return (), Part(GRAPHS, 0, None, "the endpoint could not list them")
        whole = names is not None and names.whole
        found = (
            [row[0].value for row in names.rows if isinstance(row[0], NamedNode)] if names else []
        )
        sizes = {iri: sizes.get(iri, 0) for iri in (*sizes, *found)}
    graphs = tuple(sorted(sizes.items(), key=lambda item: (-item[1], item[0])))
    note = "" if whole else "as many as the endpoint gives"
    return graphs, Part(GRAPHS, len(graphs), len(graphs) if whole else None, note)
