"""Candidate queries as a prompt shows them: a number, the query on one line, what it gives."""

from collections.abc import Sequence
from dataclasses import dataclass

from pyoxigraph import NamedNode

from askgraph.agent.room import Piece
from askgraph.explanation.verbalise import iris_of
from askgraph.search.run import Proposal
from askgraph.sparql.results import Row
from askgraph.tools import Context
from askgraph.tools.proposals import Proposed, unused_words
from askgraph.tools.shown import Writer

__all__ = ["Numbered", "candidate_pieces"]

_LENGTHS = (6, 3, 1)  # rows of a preview
_LEFT = 5  # words named that a candidate leaves out


@dataclass(frozen=True, eq=False)
class Numbered:
    """A candidate under the number by which a model chooses it."""

    number: int
    context: Context
    proposal: Proposal
    proposed: Proposed

    @property
    def graph(self) -> str:
        """The name of its graph."""
        return self.context.graph.name


async def candidate_pieces(
    candidates: Sequence[Numbered], *, results: bool = True, several: bool = False
) -> list[Piece]:
    """Return candidates with previews of ever fewer rows; without `results` they have none.

    With `several` graphs each says whose it is. Raises `ServiceError` where labels are asked of a
    graph that is down.
    """
    pieces = []
    writers: dict[str, Writer] = {}
    told: dict[str, set[str]] = {}  # names of constants, each once
    for one in candidates:
        if one.graph not in writers:
            same = [other for other in candidates if other.graph == one.graph]
            iris = [iri for other in same for iri in _iris(other.proposed, results=results)]
            writers[one.graph] = await Writer.knowing(one.context, iris)
        writer = writers[one.graph]
        named = told.setdefault(one.graph, set())
        pieces.append(_piece(one, writer, named, results=results, several=several))
    return pieces


def _iris(one: Proposed, *, results: bool) -> list[str]:
    rows = one.result.rows[: _LENGTHS[0]] if results else ()
    shown = (term.value for row in rows for term in row if isinstance(term, NamedNode))
    return [*iris_of(one.query), *shown]


def _piece(one: Numbered, writer: Writer, told: set[str], *, results: bool, several: bool) -> Piece:
    graph = f"[{one.graph}] " if several else ""
    veil = one.context.veil
    query = one.proposed.query if veil is None else veil.query(one.proposed.query)
    head = f"{one.number}. {graph}{_on_one_line(query)}"
    names = [writer.iri(iri) for iri in iris_of(one.proposed.query)]
    new = [name for name in names if name.endswith('"') and name not in told]
    told.update(new)
    head += f" # {', '.join(new)}" if new else ""
    answering = one.proposed.columns
    if len(answering) < len(one.proposed.result.variables):
        head += f" # answer: {', '.join(answering)}"
    left = unused_words(one.proposal, one.proposed.cluster.best)
    more = " …" if len(left) > _LEFT else ""
    words = ", ".join(left[:_LEFT])
    note = f" # not used: {veil.words(words) if veil else words}{more}" if left else ""
    if not results:
        return Piece((head + note,))
    shown = (_preview(one.proposed, writer, rows) for rows in _LENGTHS)
    return Piece(tuple(dict.fromkeys(f"{head}\n   → {text}{note}" for text in shown)))


def _on_one_line(query: str) -> str:
    """A query without its PREFIX lines, which are declared anyway."""
    lines = (line.strip() for line in query.splitlines())
    return " ".join(line for line in lines if line and not line.startswith("PREFIX "))


def _preview(one: Proposed, writer: Writer, most: int) -> str:
    if one.boolean is not None:
        return "yes" if one.boolean else "no"
    if one.is_empty:
        return "no rows"
    rows, number = one.result.rows, len(one.result.rows)
    more = "+" if one.result.truncated else ""
    count = f"{number}{more} row{'s' * (number > 1)}"
    first = "; ".join(_row(row, writer) for row in rows[:most])
    return f"{count}: {first}{'; …' if number > most else ''}"


def _row(row: Row, writer: Writer) -> str:
    return ", ".join(writer.term(term) for term in row)
