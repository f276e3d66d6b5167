"""How a survey asks: some things at a time, numbers out of literals."""

from collections.abc import Iterator, Sequence

from askgraph.sparql.results import Term, value_of

__all__ = ["SAMPLE", "TOGETHER", "batches", "number_in"]

TOGETHER = 20  # predicates or classes in one query
SAMPLE = 1_000  # triples or instances looked at where all are too many


def batches(items: Sequence[str], size: int = TOGETHER) -> Iterator[Sequence[str]]:
    """Return the items, so many at a time."""
    for at in range(0, len(items), size):
        yield items[at : at + size]


def number_in(term: Term | None) -> int:
    """Return the whole number that a literal is, 0 for anything else."""
    text = value_of(term) or ""
    return int(text) if text.isdigit() else 0
