"""One candidate in the making: its draft, the words left over, and what was decided so far."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property

from pyoxigraph import Variable

from askgraph.search.grow.partial_match import Edge, PartialMatch
from askgraph.search.linking.link import Link
from askgraph.search.operators.draft import Draft, Place
from askgraph.search.query import Value, alias_of, named, names_of, title, variable_of
from askgraph.sparql.tree import Query, Term
from askgraph.traversal.arrays import Ids


@dataclass(frozen=True, eq=False)
class Candidate:
    """A whole query with what speaks for and against it.

    `tree` is the query with numbered variables, with `hints` to name each from; `shown` is what
    those columns hold that answer, the others being context. `root` is what the pattern starts at,
    `ids` the nodes that it can be. `used` are the words it uses, as bits; `shown_words` those that
    name what is shown.
    """

    tree: Query
    shown: tuple[Value, ...]
    hints: Mapping[Variable, str]
    state: PartialMatch
    root: Term
    ids: Ids
    used: int
    gain: float
    unknown: float
    patterns: int
    notes: tuple[str, ...] = ()
    shown_words: int = 0
    score: float = 0.0
    features: dict[str, float] = field(default_factory=dict)

    @property
    def asks(self) -> bool:
        """Whether the answer is yes or no."""
        return self.tree.form == "ASK"

    @cached_property
    def query(self) -> Query:
        """The query with its variables named, as a person reads it."""
        return named(self.tree, names_of(self.hints))

    @property
    def columns(self) -> tuple[str, ...]:
        """The names of the columns that answer the question."""
        names = names_of(self.hints)
        return tuple(title(alias_of(one), variable_of(one), names).value for one in self.shown)


@dataclass(frozen=True, eq=False)
class Slot:
    """A stretch of words that names predicates, none of them used by the state."""

    first: int
    last: int
    links: tuple[Link, ...]

    @property
    def mask(self) -> int:
        """The positions as bits."""
        return self.links[0].mask


@dataclass(frozen=True, eq=False)
class Spot:
    """A predicate in its place in a draft, after the steps of `path` if it lies afar.

    `doubt` is what speaks against its standing there.
    """

    place: Place
    predicate: int
    inverse: bool
    link: Link
    path: tuple[Edge, ...] = ()
    doubt: float = 0.0


@dataclass(eq=False)
class QueryBuilder:
    """One candidate in the making.

    `projected` are (token, variable) pairs of what is shown; `afar` allows predicates of things
    that lie a step or two from the pattern, `missed` says that one was passed over. `narrowed` are
    the nodes at a place that have what was hung on it; `standing` keeps what was worked out of it.
    """

    draft: Draft
    state: PartialMatch
    root: Place
    slots: list[Slot]
    used: int
    gain: float
    unknown: float
    afar: bool = True
    missed: bool = False
    grouped: bool = False
    done: set[Slot] = field(default_factory=set)
    projected: list[tuple[int, Variable]] = field(default_factory=list)
    shown_words: int = 0
    notes: list[str] = field(default_factory=list)
    narrowed: dict[Place, Ids] = field(default_factory=dict)
    standing: dict[Place, Ids] = field(default_factory=dict)

    def take(self, mask: int, gain: float) -> None:
        """Count words as used."""
        if mask & ~self.used:
            self.used |= mask
            self.gain += gain

    def is_left(self, slot: Slot) -> bool:
        """Whether no operator has taken a slot."""
        return slot not in self.done
