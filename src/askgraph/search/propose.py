"""From a question to ranked candidate queries, over arrays alone: no input or output."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import date
from functools import lru_cache

from askgraph.index.names import NameIndex
from askgraph.metadata import Profile
from askgraph.search.grow.rounds import grown
from askgraph.search.grow.schema import Schema
from askgraph.search.grow.steps import Grower
from askgraph.search.linking.link import Linked, link
from askgraph.search.linking.operators import Frame, frame_of
from askgraph.search.linking.text import Reading, read
from askgraph.search.operators.finish import Finisher
from askgraph.search.operators.query_builder import Candidate
from askgraph.search.operators.timely import timely
from askgraph.search.rank.score import ranked
from askgraph.search.rank.weights import weights_for
from askgraph.traversal.arrays import GraphArrays

__all__ = ["Proposal", "proposed", "read_and_linked", "schema_of"]


_FIRST_DAY = date(1970, 1, 1).toordinal()


@dataclass(frozen=True, eq=False)
class Proposal:
    """What a question was read as, and the candidates for it, best first."""

    linked: Linked
    frame: Frame
    candidates: tuple[Candidate, ...]
    schema: Schema

    @property
    def reading(self) -> Reading:
        """The question as read."""
        return self.linked.reading


@lru_cache(maxsize=8)
def schema_of(graph: GraphArrays, profile: Profile) -> Schema:
    """Return the schema of a graph, kept for the next question."""
    return Schema(graph, profile)


def read_and_linked(text: str, language: str | None, names: NameIndex) -> Linked:
    """Read a question and link its words to a graph's names."""
    return link(read(text, language), names)


def proposed(
    linked: Linked,
    schema: Schema,
    *,
    states: int = 150,
    operators: bool = True,
    today: date | None = None,
    weights: Mapping[str, float] | None = None,
) -> Proposal:
    """Grow, finish and rank the candidates for a linked question; `states` bounds the work.

    Without `operators` only patterns come: no counts, comparisons, orders, negations. What is
    current is so on the day `today`, that of the clock where none is given. The `weights` of the
    ranking are the package's where none are given.
    """
    day = (today or date.today()).toordinal() - _FIRST_DAY
    linked = replace(linked, reading=linked.reading.on(float(day)))
    frame = timely(frame_of(linked.reading), schema, float(day))
    if not operators:
        frame = replace(frame, operators=())
    grower = Grower(schema.graph, schema, linked, frame)
    found = grown(grower)[:states]
    finisher = Finisher(grower, frame)
    weights = weights_for("") if weights is None else weights
    candidates = ranked(list(finisher.candidates(found)), linked, frame, schema, weights)
    return Proposal(linked, frame, tuple(candidates), schema)
