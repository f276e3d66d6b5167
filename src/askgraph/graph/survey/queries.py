"""The questions of a survey: some things at a time, lists page by page, numbers from literals."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from pyoxigraph import NamedNode

from askgraph.graph.bounded_queries import ALL, Inquiry
from askgraph.graph.profile import GRAPHS, Part
from askgraph.sparql.results import Row, Term, value_of

TOGETHER = 20  # predicates or classes in one query, at least
_GROUPS = 20  # queries for all of a big schema
_MOST_TOGETHER = 250
SAMPLE = 1_000  # triples or instances looked at if all are too many
TOLD = 0.98  # of a sum, that its parts have to add up to: an endpoint may lose some in silence
_PAGES = 20


@dataclass(frozen=True)
class Listing:
    """Rows in the order in which they came, none twice; `whole` if there are no more."""

    rows: tuple[Row, ...]
    whole: bool

    @property
    def iris(self) -> list[str]:
        """The IRIs in the first column."""
        return [row[0].value for row in self.rows if isinstance(row[0], NamedNode)]


async def listed(
    inquiry: Inquiry, what: str, query: str, *, most: int, anywhere: bool = False
) -> Listing | None:
    """Return the rows of a query without a LIMIT, at most so many; None if it failed.

    What is cut off is asked for page by page, so that the list ends where the graph's does.
    """
    found: dict[Row, None] = {}
    for page in range(_PAGES):
        offset = f" OFFSET {len(found)}" if page else ""
        text = f"{query} LIMIT {most}{offset}"
        reply = await inquiry.rows(what, text, costly=not page, anywhere=anywhere)
        if reply is None:
            return Listing(tuple(found), whole=False) if found else None
        before = len(found)
        found |= dict.fromkeys(reply.rows)
        if len(found) >= most:
            break
        # A short page is the last one only if nothing cuts pages off.
        if not reply.rows or not reply.cut:
            return Listing(tuple(found), whole=True)
        if len(found) == before:
            break
    return Listing(tuple(found)[:most], whole=False)


def together(items: int) -> int:
    """Return how many of so many classes or predicates to ask of in one query."""
    return max(TOGETHER, min(_MOST_TOGETHER, items // _GROUPS))


def batches(items: Sequence[str], size: int = TOGETHER) -> Iterator[Sequence[str]]:
    """Return the items, so many at a time."""
    for at in range(0, len(items), size):
        yield items[at : at + size]


def number_in(term: Term | None) -> int:
    """Return the whole number that a literal is, 0 for anything else."""
    text = value_of(term) or ""
    return int(text) if text.isdigit() else 0


async def ask_size(inquiry: Inquiry, *, small: int) -> int | None:
    """Return the number of triples, None if it cannot be found out.

    If the endpoint cannot count, up to `small` triples are counted here; of more its cap on rows
    is found out.
    """
    query = f"SELECT (COUNT(*) AS ?n) {{ {ALL} }}"
    reply = await inquiry.rows("the number of triples", query, costly=True)
    text = value_of(reply.rows[0][0]) if reply and reply.rows else None
    if text is None or not text.isdigit():
        total = None
    elif int(text) == 0:
        one = await inquiry.rows("any triple", f"SELECT ?s {{ {ALL} }} LIMIT 1")
        total = None if one and one.rows else 0
    else:
        total = int(text)
    if total is None:
        came, whole = await inquiry.find_cap(rows=small + 1)
        if whole and came:
            return came
    return total


async def can_count(inquiry: Inquiry) -> bool:
    """Return whether the endpoint counts by groups at all: some refuse to, or give nothing."""
    some = f"{{ SELECT ?p {{ {ALL} }} LIMIT 10 }}"
    query = f"SELECT ?p (COUNT(*) AS ?n) {{ {some} }} GROUP BY ?p"
    reply = await inquiry.rows("whether it counts", query)
    return bool(reply and reply.rows and number_in(reply.rows[0][1]))


Graphs = tuple[tuple[str, int], ...]
_MOST = 1_000
_FEW = 10  # graphs that no endpoint cuts off
_QUADS = "GRAPH ?g { ?s ?p ?o }"


async def ask_graphs(inquiry: Inquiry) -> tuple[Graphs, Part]:
    """Return the named graphs with their sizes (0 if not counted), the biggest first."""
    counted = (
        f"SELECT ?g (COUNT(*) AS ?n) {{ {_QUADS} }} GROUP BY ?g ORDER BY DESC(?n) LIMIT {_MOST}"
    )
    reply = await inquiry.rows("named graphs", counted, costly=True, anywhere=True)
    rows = reply.rows if reply else ()
    if len(rows) > _FEW and inquiry.cap is None:
        await inquiry.find_cap(_QUADS)
    sizes = {row[0].value: number_in(row[1]) for row in rows if isinstance(row[0], NamedNode)}
    capped = inquiry.cap is not None and len(rows) >= inquiry.cap
    whole = reply is not None and not (reply.cut or capped) and len(rows) < _MOST
    if not whole:
        query = f"SELECT DISTINCT ?g {{ {_QUADS} }}"
        names = await listed(inquiry, "named graphs", query, most=_MOST, anywhere=True)
        if names is None and reply is None:
            return (), Part(GRAPHS, 0, None, "the endpoint could not list them")
        whole = names is not None and names.whole
        sizes = {iri: sizes.get(iri, 0) for iri in (*sizes, *(names.iris if names else ()))}
    graphs = tuple(sorted(sizes.items(), key=lambda item: (-item[1], item[0])))
    note = "" if whole else "as many as the endpoint gives"
    return graphs, Part(GRAPHS, len(graphs), len(graphs) if whole else None, note)
