"""How a survey asks: some things at a time, lists page by page, numbers out of literals."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from askgraph.metadata.inquiry import Inquiry
from askgraph.sparql.results import Row, Term, value_of

__all__ = ["SAMPLE", "TOLD", "Listing", "batches", "listed", "number_in", "together"]

TOGETHER = 20  # predicates or classes in one query, at least
_GROUPS = 20  # queries for all of a big schema
_MOST_TOGETHER = 250
SAMPLE = 1_000  # triples or instances looked at where all are too many
TOLD = 0.98  # of a sum, that its parts have to add up to: an endpoint may lose some in silence
_PAGES = 20


@dataclass(frozen=True)
class Listing:
    """Rows in the order in which they came, none twice; `whole` where there are no more."""

    rows: tuple[Row, ...]
    whole: bool


async def listed(
    inquiry: Inquiry, what: str, query: str, *, most: int, anywhere: bool = False
) -> Listing | None:
    """Return the rows of a query without a LIMIT, at most so many; None where it failed.

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
        # A short page is the last one only where nothing cuts pages off.
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
