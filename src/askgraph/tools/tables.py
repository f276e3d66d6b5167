"""A result as a compact text table for a language model: counts first, then a few rows and columns.

95 rows, 2 columns, showing the first 5 and the last 5 rows
moon|radius
space:Io|1821.6
…
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from pyoxigraph import NamedNode, Triple

from askgraph.sparql.results import GraphResult, Row, SelectResult, Term, Truncation
from askgraph.tools import Context, Limits
from askgraph.tools.shown import Writer

__all__ = ["Shown", "listed", "table"]

_GAP = "…"
_ROOM = 3_500  # characters
_LAST = 30


@dataclass(frozen=True)
class Shown:
    """A text for a language model, and the IRIs that it shows, in full."""

    text: str
    seen: tuple[str, ...] = ()


async def table(context: Context, result: SelectResult) -> Shown:
    """Return solutions as a table; of many, the first and last rows and columns.

    An IRI has its label where it first stands. Where the cells are long, less is shown of them, and
    then fewer of them. Under a veil without rows only that there are some is told.
    """
    number, width = len(result.rows), len(result.variables)
    if number and context.veil and not context.veil.rows:
        return Shown(f"there are rows, which are not shown: {'|'.join(result.variables)}")
    head = f"{_counted(number, 'row', result.truncated)}, {_counted(width, 'column')}"
    if not number:
        return Shown(head)
    columns = _kept(width, context.limits.columns)
    rows = _kept(number, context.limits.rows)
    cells = [[result.rows[row][column] for column in columns] for row in rows]
    writer = await Writer.knowing(context, _iris(cells))
    names = "|".join(_with_gap([result.variables[column] for column in columns], columns))
    for limits in _smaller(context.limits):
        rows = _kept(number, limits.rows)
        tried = Writer(replace(context, limits=limits), writer.labels)
        lines = []
        for row in rows:
            terms = [_cell(tried, result.rows[row][column]) for column in columns]
            lines.append("|".join(_with_gap(terms, columns)))
        first = head + _which(rows, "rows") + _which(columns, "columns")
        text = "\n".join([first, names, *_with_gap(lines, rows)])
        if len(text) <= _ROOM:
            break
    return Shown(text, tuple(tried.seen))


async def listed(context: Context, result: GraphResult) -> Shown:
    """Return the triples of a graph result, one a line; of many, the first and the last."""
    columns = ("subject", "predicate", "object")
    rows = tuple(_terms(triple) for triple in result.triples)
    shown = await table(context, SelectResult(columns, rows, result.truncated))
    return replace(shown, text=shown.text.replace(" row", " triple", 1))


def _terms(triple: Triple) -> Row:
    return triple.subject, triple.predicate, triple.object


def _smaller(limits: Limits) -> Iterator[Limits]:
    """The limits, then ever smaller ones: shorter texts first, then fewer rows."""
    yield limits
    for clip in (limits.clip // 2, _LAST):
        yield replace(limits, clip=min(limits.clip, clip))
    for rows in (6, 4, 2, 1):
        yield replace(limits, clip=min(limits.clip, _LAST), rows=min(limits.rows, rows))


def _cell(writer: Writer, term: Term | None) -> str:
    if isinstance(term, NamedNode) and term.value in writer.seen:
        return writer.short(term.value)
    return writer.term(term)


def _kept(number: int, most: int) -> Sequence[int]:
    """The places of the first and the last, at most so many."""
    if number <= most:
        return range(number)
    first = (most + 1) // 2
    return [*range(first), *range(number - (most - first), number)]


def _gap_after(kept: Sequence[int]) -> int | None:
    """How many places come before the gap; None where there is none."""
    return next((at for at, place in enumerate(kept) if place != at), None)


def _with_gap(cells: Sequence[str], kept: Sequence[int]) -> Sequence[str]:
    gap = _gap_after(kept)
    return cells if gap is None else [*cells[:gap], _GAP, *cells[gap:]]


def _counted(number: int, what: str, truncated: Truncation | None = None) -> str:
    text = f"{number:,} {what}{'' if number == 1 else 's'}"
    if truncated is None:
        return text
    whose = "the server" if truncated.by == "server" else truncated.by
    return f"at least {text} (cut off by {whose}: {truncated.reason})"


def _which(kept: Sequence[int], what: str) -> str:
    gap = _gap_after(kept)
    if gap is None:
        return ""
    return f", showing the first {gap} and the last {len(kept) - gap} {what}"


def _iris(rows: Sequence[Sequence[Term | None]]) -> Iterator[str]:
    for row in rows:
        for term in row:
            match term:
                case NamedNode():
                    yield term.value
                case Triple():
                    yield from _iris([_terms(term)])
