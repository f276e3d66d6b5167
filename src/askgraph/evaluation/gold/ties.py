"""Gold queries whose LIMIT keeps some of several rows that are equally good.

Such a result depends on the engine: SPARQL leaves the order of equal rows open (SPARQL 1.1,
section 15.1), and that of all rows where there is no ORDER BY.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, fields, is_dataclass, replace

from pyoxigraph import Variable

from askgraph.endpoint import Endpoint
from askgraph.errors import QueryError, TimedOut
from askgraph.sparql.comparison import Cell, cell_of_term
from askgraph.sparql.judge import admitted
from askgraph.sparql.read import read
from askgraph.sparql.results import Row, value_of
from askgraph.sparql.tree import Expression, Nested, Query, variables_of
from askgraph.sparql.write import text_of

__all__ = ["ties"]

BEYOND = 100  # rows looked at after the cut
MOST = 10_000  # rows looked at at all, where DISTINCT has to be applied here
KEY = "tie_key_"


async def ties(
    query: str, endpoint: Endpoint, *, prefixes: Mapping[str, str] | None, timeout: float | None
) -> str | None:
    """Say how the result depends on the order of equal rows, or return None where it does not.

    Each SELECT with LIMIT or OFFSET, the outer one and those within it, is run with the rows around
    its cut and with what it sorts by as columns. What cannot be checked is said, too.
    """
    if "LIMIT" not in query.upper() and "OFFSET" not in query.upper():
        return None
    try:
        tree = read(admitted(query, prefixes=prefixes).text)
        for select in _cut_selects(tree):
            probe = _Probe.of(replace(select, datasets=tree.datasets))
            result = await endpoint.select(probe.text, timeout=timeout, limit=MOST)
            if found := probe.tie(result.rows):
                return found
    except (QueryError, TimedOut) as error:
        return f"ties could not be looked for: {type(error).__name__}: {error}"
    return None


def _cut_selects(part: object) -> Iterator[Query]:
    """Yield the SELECT queries with LIMIT or OFFSET, but for those in GRAPH or SERVICE."""
    if isinstance(part, tuple):
        for piece in part:
            yield from _cut_selects(piece)
    elif isinstance(part, Nested) and part.word in ("GRAPH", "SERVICE"):
        return
    elif is_dataclass(part) and not isinstance(part, type):
        if isinstance(part, Query) and part.form == "SELECT" and (part.limit or part.offset):
            yield part
        for field in fields(part):
            yield from _cut_selects(getattr(part, field.name))


@dataclass(frozen=True)
class _Probe:
    """A query that shows the rows around a cut: first the columns of the original, then its keys.

    `cuts` are the places where the original divides its rows.
    """

    text: str
    width: int
    keys: tuple[int, ...]
    distinct: bool
    cuts: tuple[int, ...]

    @classmethod
    def of(cls, query: Query) -> _Probe:
        columns = list(query.columns) or [
            (variable, None)
            for variable in dict.fromkeys(variables_of(query.where))
            if not variable.value.startswith("__")
        ]
        width = len(columns)
        keys = [_key(expression, columns) for expression, _ in query.order]
        start = query.offset or 0
        end = None if query.limit is None else start + query.limit
        hidden = query.distinct and len(columns) > width
        shown = replace(
            query,
            columns=tuple(columns),
            limit=None if hidden else (start if end is None else end) + BEYOND,
            offset=None,
        )
        cuts = tuple(cut for cut in (start, end) if cut)
        return cls(text_of(shown), width, tuple(keys), query.distinct, cuts)

    def tie(self, rows: Sequence[Row]) -> str | None:
        if self.distinct:
            first = {row[: self.width]: row for row in reversed(rows)}
            rows = [row for row in rows if first[row[: self.width]] is row]
        for cut in self.cuts:
            if cut < len(rows) and (found := self._at(rows, cut)):
                return found
        return None

    def _at(self, rows: Sequence[Row], cut: int) -> str | None:
        """Say what is equal on both sides of a cut; nothing where equal rows are the same rows."""
        key = self._cells(rows[cut])
        if self._cells(rows[cut - 1]) != key:
            return None
        equal = [row for row in rows if self._cells(row) == key]
        if len({row[: self.width] for row in equal}) == 1:
            return None
        if not self.keys:
            return f"without ORDER BY it is open which {cut} rows come before the cut"
        shown = ", ".join(value_of(rows[cut][at]) or "unbound" for at in self.keys)
        more = "at least " if len(rows) >= cut + BEYOND and equal[-1] is rows[-1] else ""
        return (
            f"the cut after row {cut} goes through {more}{len(equal)} rows that are equal in what "
            f"the query sorts by ({shown})"
        )

    def _cells(self, row: Row) -> tuple[Cell | None, ...]:
        return tuple(cell_of_term(row[at]) for at in self.keys)


def _key(expression: Expression, columns: list[tuple[Variable, Expression | None]]) -> int:
    """Return the column that a query sorts by; one that it does not show is added."""
    names = [variable for variable, _ in columns]
    if isinstance(expression, Variable) and expression in names:
        return names.index(expression)
    if isinstance(expression, Variable):
        columns.append((expression, None))
    else:
        columns.append((Variable(f"{KEY}{len(columns)}"), expression))
    return len(columns) - 1
