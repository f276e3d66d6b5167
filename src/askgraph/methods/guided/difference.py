"""How two answers to one question differ, in few words: by rows, else by a small example."""

from collections.abc import Sequence
from dataclasses import dataclass

from pyoxigraph import Literal, NamedNode, Triple

from askgraph.errors import ErrorReply, MalformedReply, Overloaded, QueryError, TimedOut
from askgraph.methods.guided.smallest_example import Asked, SmallestExample, smallest_example
from askgraph.sparql.comparison import (
    Differing,
    alike,
    cell_of_term,
    differing,
    is_blank,
    of_columns,
)
from askgraph.sparql.results import Row, SelectResult
from askgraph.tools import Context
from askgraph.tools.shown import Writer
from askgraph.trace import Answer

__all__ = ["Apart", "told_apart"]

_ROWS = 3  # of each side
_CELLS = 3  # of a row
_SECONDS = 4.0  # of an example, which is worth no more


@dataclass(frozen=True)
class Apart:
    """What tells two answers apart.

    `text` is for a language model, at most about 150 tokens. `only_first` and `only_second` count
    rows that the other does not have, `common` those that both have; `example` has triples of the
    graph such that the queries differ where there are only these, if the text names any.
    """

    text: str
    only_first: int
    only_second: int
    common: int
    example: tuple[Triple, ...] = ()


async def told_apart(
    context: Context, first: Answer, second: Answer, *, names: tuple[str, str] = ("1", "2")
) -> Apart | None:
    """Return how two answers on the context's graph differ; None where they give the same.

    Some rows that only one of them has, by their answer columns; the answers are called by
    `names`. Where rows do not say why, as they are numbers or yes or no, or where a result is
    truncated, a small example from the graph is added (see `smallest_example`), if one is found
    within four seconds. Raises `Unreachable` and `Unauthorised`.
    """
    one, other = _given(first), _given(second)
    if alike([one, other]) == [0, 0]:
        return None
    difference = differing(_as_rows(one), _as_rows(other))
    example = None
    if _says_little(one) or _says_little(other):
        example = await _example(context, first, second)
    writer = await Writer.knowing(context, _iris(difference, example))
    said = _Said(writer, names)
    lines = said.by_rows(one, other, difference)
    if example is not None:
        lines.append(said.by_example(example))
    return Apart(
        "\n".join(lines),
        len(difference.only_first),
        len(difference.only_second),
        difference.common,
        example.triples if example else (),
    )


def _given(answer: Answer) -> SelectResult | bool:
    if answer.boolean is not None:
        return answer.boolean
    return of_columns(answer.result, answer.answer_columns)


def _as_rows(given: SelectResult | bool) -> SelectResult:
    if isinstance(given, bool):
        return SelectResult(("answer",), ((Literal(given),),))
    return given


def _says_little(given: SelectResult | bool) -> bool:
    """Whether nobody can tell from what is given why it is not something else."""
    if isinstance(given, bool) or given.truncated is not None:
        return True
    cells = [cell_of_term(term) for row in given.rows[:_ROWS] for term in row]
    return len(given.rows) == 1 and all(cell is None or cell[0] != "text" for cell in cells)


async def _example(context: Context, first: Answer, second: Answer) -> SmallestExample | None:
    """None also where the endpoint is too slow for it, or does not take what is asked for it."""
    one, other = (Asked(answer.query, answer.answer_columns) for answer in (first, second))
    graph, timeout = context.graph, min(_SECONDS, context.limits.timeout)
    try:
        return await smallest_example(
            graph.endpoint, one, other, prefixes=graph.prefixes.namespaces, timeout=timeout
        )
    except (QueryError, TimedOut, Overloaded, ErrorReply, MalformedReply):
        return None


def _iris(difference: Differing, example: SmallestExample | None) -> list[str]:
    rows = [*difference.only_first[:_ROWS], *difference.only_second[:_ROWS]]
    terms = [term for row in rows for term in row[:_CELLS]]
    terms += [term for triple in (example.triples if example else ()) for term in triple]
    return [term.value for term in terms if isinstance(term, NamedNode)]


@dataclass(frozen=True)
class _Said:
    """Puts a difference into words."""

    writer: Writer
    names: tuple[str, str]

    def by_rows(
        self, one: SelectResult | bool, other: SelectResult | bool, difference: Differing
    ) -> list[str]:
        if all(isinstance(given, bool) or _is_one_value(given) for given in (one, other)):
            return [f"{self.outcomes(one, other)}."]
        first, second = self.names
        lines = [
            f"{first} has {self.size(one)}, {second} has {self.size(other)}; "
            f"{difference.common:,} in common."
        ]
        for name, rows in ((first, difference.only_first), (second, difference.only_second)):
            if rows:
                lines.append(f"Only {name}: {self.rows(rows)}")
        widths = {len(given.variables) for given in (one, other) if isinstance(given, SelectResult)}
        if not (difference.only_first or difference.only_second) and len(widths) > 1:
            lines.append("They differ in the number of columns.")
        return lines

    def by_example(self, example: SmallestExample) -> str:
        facts = "; ".join(
            " ".join(self.writer.term(term) for term in triple) for triple in example.triples
        )
        return f"If {facts} were all: {self.outcomes(example.first, example.second)}."

    def outcomes(self, one: SelectResult | bool, other: SelectResult | bool) -> str:
        first, second = self.names
        return f"{first} gives {self.outcome(one)}, {second} gives {self.outcome(other)}"

    def outcome(self, given: SelectResult | bool) -> str:
        if isinstance(given, bool):
            return "yes" if given else "no"
        return self.rows(given.rows) if not is_blank(given) else "nothing"

    def size(self, given: SelectResult | bool) -> str:
        if isinstance(given, bool):
            return "a yes or no"
        many = len(set(given.rows))
        cut = "the first " if given.truncated else ""
        return f"{cut}{many:,} {'row' if many == 1 else 'rows'}"

    def rows(self, rows: Sequence[Row]) -> str:
        shown = "; ".join(self.row(row) for row in rows[:_ROWS])
        left = len(rows) - _ROWS
        return f"{shown} and {left:,} more" if left > 0 else shown

    def row(self, row: Row) -> str:
        shown = ", ".join(self.writer.term(term) for term in row[:_CELLS])
        return f"{shown}, …" if len(row) > _CELLS else shown


def _is_one_value(given: SelectResult) -> bool:
    return len(given.rows) == 1 and len(given.variables) == 1
