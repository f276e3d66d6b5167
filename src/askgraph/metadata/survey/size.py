"""How many triples there are, and how many rows an endpoint gives before it cuts in silence."""

from askgraph.metadata.inquiry import PROBE, Inquiry
from askgraph.metadata.survey.asking import number_in
from askgraph.sparql.results import value_of

__all__ = ["ALL", "ask_cap", "ask_size", "can_count"]

ALL = "?s ?p ?o"


async def ask_size(inquiry: Inquiry, *, small: int) -> int | None:
    """Return the number of triples, None where nobody can tell.

    Where the endpoint cannot count, up to `small` triples are counted here. Of more its cap on
    rows is found out.
    """
    total = await _counted(inquiry)
    if total is None or total > small:
        came, whole = await ask_cap(inquiry, rows=small + 1 if total is None else PROBE)
        if total is None and whole and came:
            return came
    return total


async def ask_cap(inquiry: Inquiry, pattern: str = ALL, *, rows: int = PROBE) -> tuple[int, bool]:
    """Return how many solutions of a pattern came, and whether these are all.

    Where they are not, though fewer came than were asked for, that is the endpoint's cap.
    """
    rows = max(rows, PROBE)
    query = f"SELECT ?s {{ {pattern} }} LIMIT"
    reply = await inquiry.rows("its cap on rows", f"{query} {rows}")
    came = len(reply.rows) if reply else 0
    if not 0 < came < rows:
        return came, False
    more = await inquiry.rows("whether there is more", f"{query} 1 OFFSET {came}")
    whole = more is not None and not more.rows
    if not whole:
        inquiry.cap = came
    return came, whole


async def can_count(inquiry: Inquiry) -> bool:
    """Whether the endpoint counts by groups at all: some refuse to, or give nothing."""
    some = f"{{ SELECT ?p {{ {ALL} }} LIMIT 10 }}"
    query = f"SELECT ?p (COUNT(*) AS ?n) {{ {some} }} GROUP BY ?p"
    reply = await inquiry.rows("whether it counts", query)
    return bool(reply and reply.rows and number_in(reply.rows[0][1]))


async def _counted(inquiry: Inquiry) -> int | None:
    query = f"SELECT (COUNT(*) AS ?n) {{ {ALL} }}"
    reply = await inquiry.rows("the number of triples", query, costly=True)
    text = value_of(reply.rows[0][0]) if reply and reply.rows else None
    if text is None or not text.isdigit():
        return None
    if int(text) == 0:
        one = await inquiry.rows("any triple", f"SELECT ?s {{ {ALL} }} LIMIT 1")
        return None if one and one.rows else 0
    return int(text)
