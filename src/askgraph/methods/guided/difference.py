"""The difference between two answers to one question, in few words: the rows that one alone has.

Of two candidates it is what one of them asks and the other does not.
"""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from pyoxigraph import Literal, NamedNode

from askgraph.rdf.vocabulary import RDF_TYPE
from askgraph.search import (
    aggregates_of,
    conditions_in,
    denied_in,
    function_of,
    patterns_in,
    predicate_of,
)
from askgraph.sparql import Group, Query, Term
from askgraph.sparql.comparison import Differing, alike, differing, is_blank, of_columns
from askgraph.sparql.results import Row, SelectResult
from askgraph.tools import Context
from askgraph.tools.shown import Writer
from askgraph.trace import Answer

_ROWS = 3  # of each side
_CELLS = 3  # of a row
_ITEMS = 4  # patterns and conditions by which a candidate is told from another


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


def unlike(one: Query, first: Query, writer: Writer) -> str:
    """Return what one candidate asks other than the first one; "" if that is too much to tell."""
    mine, theirs = (Counter(_asked(tree.where, writer)) for tree in (one, first))
    more, less, said = [*(mine - theirs)], [*(theirs - mine)], []
    if len(more) + len(less) > _ITEMS or {p[1] for p in mine}.isdisjoint(p[1] for p in theirs):
        return ""
    for part in [*more]:
        if twin := next((other for other in less if other[1] == part[1]), None):
            more.remove(part)
            less.remove(twin)
            turned = part == twin[::-1]
            told = f"{_listed([part])} instead of {_listed([twin])}"
            said.append(f"other direction of {part[1]}" if turned else told)
    said += [f"also {_listed(more)}"] if more else []
    said += [f"without {_listed(less)}"] if less else []
    doing, instead = (_does(tree) for tree in (one, first))
    said += [f"{doing} instead of {instead}"] if doing != instead else []
    said += ["other columns"] if not said and one.columns != first.columns else []
    return "; ".join(said) or "other order or number"


def _asked(group: Group, writer: Writer) -> Iterator[tuple[str, str, str]]:
    """What has to hold: links and properties with the constants at their ends, and conditions."""
    for part in patterns_in(group):
        name = predicate_of(part)
        if name != RDF_TYPE or isinstance(part.object, NamedNode):
            told = "class" if name == RDF_TYPE else writer.short(name)
            yield _constant(part.subject, writer), told, _constant(part.object, writer)
    for compared in conditions_in(group):
        yield "", compared.operator, ", ".join(_constant(one, writer) for one in compared.values)
    for denied in denied_in(group):
        for subject, told, end in _asked(denied, writer):
            yield subject, f"not {told}", end


def _constant(term: Term, writer: Writer) -> str:
    """A constant, by its name if its IRI is long; "" for a variable."""
    if isinstance(term, Literal):
        return writer.literal(term)
    return writer.name(term.value) if isinstance(term, NamedNode) else ""


def _listed(parts: Sequence[tuple[str, str, str]]) -> str:
    return ", ".join(" ".join(filter(None, part)) for part in parts)


def _does(query: Query) -> str:
    """What a query does with what it finds: list it, count it, sum it up."""
    if query.form == "ASK":
        return "yes or no"
    functions = dict.fromkeys(map(function_of, aggregates_of(query)))
    return " and ".join(functions) or "a list"
