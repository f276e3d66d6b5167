"""The difference between two answers to one question, in few words: the rows that one alone has."""

from collections.abc import Sequence
from dataclasses import dataclass

from pyoxigraph import Literal, NamedNode

from askgraph.methods.tools import Context
from askgraph.methods.tools.rendering import Writer
from askgraph.sparql.comparison import Differing, alike, differing, is_blank, of_columns
from askgraph.sparql.results import Row, SelectResult
from askgraph.trace import Answer

_ROWS = 3  # of each side
_CELLS = 3  # of a row


@dataclass(frozen=True)
class Apart:
    """What tells two answers apart.

    `text` is for a language model, at most about 150 tokens. `only_first` and `only_second` count
    rows that the other does not have, `common` those that both have.
    """

    text: str
    only_first: int
    only_second: int
    common: int


async def told_apart(
    context: Context, first: Answer, second: Answer, *, names: tuple[str, str] = ("1", "2")
) -> Apart | None:
    """Return how two answers on the context's graph differ; None if they give the same.

    Some rows that only one of them has, by their answer columns; the answers are called by
    `names`. Raises `ServiceError` if labels are asked of a graph that is down.
    """
    one, other = _given(first), _given(second)
    if alike([one, other]) == [0, 0]:
        return None
    difference = differing(_as_rows(one), _as_rows(other))
    rows = [*difference.only_first[:_ROWS], *difference.only_second[:_ROWS]]
    iris = [term.value for row in rows for term in row[:_CELLS] if isinstance(term, NamedNode)]
    writer = await Writer.knowing(context, iris)
    said = _Said(writer, names)
    lines = said.by_rows(one, other, difference)
    return Apart(
        "\n".join(lines),
        len(difference.only_first),
        len(difference.only_second),
        difference.common,
    )


def _given(answer: Answer) -> SelectResult | bool:
    if answer.boolean is not None:
        return answer.boolean
    return of_columns(answer.result, answer.answer_columns)


def _as_rows(given: SelectResult | bool) -> SelectResult:
    if isinstance(given, bool):
        return SelectResult(("answer",), ((Literal(given),),))
    return given


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
        only = "different " if many < len(given.rows) else ""
        return f"{cut}{many:,} {only}{'row' if many == 1 else 'rows'}"

    def rows(self, rows: Sequence[Row]) -> str:
        shown = "; ".join(self.row(row) for row in rows[:_ROWS])
        left = len(rows) - _ROWS
        return f"{shown} and {left:,} more" if left > 0 else shown

    def row(self, row: Row) -> str:
        shown = ", ".join(self.writer.term(term) for term in row[:_CELLS])
        return f"{shown}, …" if len(row) > _CELLS else shown


def _is_one_value(given: SelectResult) -> bool:
    return len(given.rows) == 1 and len(given.variables) == 1
