"""Solutions as the VALUES of a query."""

from collections.abc import Iterator, Sequence

from pyoxigraph import BlankNode, Triple

from askgraph.errors import QueryError
from askgraph.sparql.results import Row, Term


def values_of(names: Sequence[str], rows: Sequence[Row]) -> str:
    """Return solutions as a VALUES block, as often as they come; None is UNDEF.

    Solutions without variables, which VALUES is not taken to hold everywhere, are empty groups.
    Raises `QueryError` for a blank node or a triple: a query cannot name them.
    """
    if not names:
        return " UNION ".join("{}" for _ in rows) if rows else "{ FILTER(false) }"
    return _block(names, [_line(row) for row in rows])


def batches(
    names: Sequence[str], rows: Sequence[Row], *, most: int, characters: int
) -> Iterator[str]:
    """Yield VALUES blocks that hold the solutions in turn.

    No block has more than `most` of them, nor more than so many characters unless in a single one.
    """
    lines, size = list[str](), 0
    for line in map(_line, rows):
        if lines and (len(lines) == most or size + len(line) > characters):
            yield _block(names, lines)
            lines, size = [], 0
        lines.append(line)
        size += len(line)
    if lines:
        yield _block(names, lines)


def _block(names: Sequence[str], lines: Sequence[str]) -> str:
    variables = " ".join(f"?{name}" for name in names)
    return f"VALUES ({variables}) {{ {' '.join(lines)} }}"


def _line(row: Row) -> str:
    return f"({' '.join(map(_written, row))})"


def _written(term: Term | None) -> str:
    match term:
        case None:
            return "UNDEF"
        case BlankNode() | Triple():
            raise QueryError(
                f"{str(term)[:80]!r} cannot be named in a query: only IRIs and literals can"
            )
        case _:
            return str(term)
