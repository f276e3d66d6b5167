"""Answer sets grown along the graph's own edges: one with its pattern, and the weights of growth.

A *doubt* is counted in guessed steps: 1 is a step that no word names. All were set by hand on the
development questions before the ranking was fitted; `ranking.toml` weighs the sums of them, in the
beam as in the ranking.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Final, NamedTuple

from askgraph.graph.arrays import Ids
from askgraph.search.link import Link
from askgraph.search.tokenize import Quantity, bits


class Edge(NamedTuple):
    """A step along a predicate (its number); `link` if words of the question name it."""

    predicate: int
    inverse: bool
    plus: bool = False
    link: Link | None = None


@dataclass(slots=True, eq=False)
class Node:
    """A variable or constant of a pattern, with the edges that lead on from it.

    Never changed, but not frozen: hundreds are made for a question, and that takes twice as long.
    `terms` are constants (one, or several meant as alternatives); `ids` the nodes that it stood for
    when it was grown. What fits it fits none of the patterns `without`, and one of `either`.
    """

    ids: Ids
    edges: tuple[tuple[Edge, "Node"], ...] = ()
    terms: tuple[int, ...] = ()
    link: Link | None = None
    quantity: Quantity | None = None
    cls: str | None = None
    cls_link: Link | None = None
    without: tuple["Node", ...] = ()
    either: tuple["Node", ...] = ()

    def walk(self) -> Iterator["Node"]:
        """This node and all below it."""
        yield self
        for one in (*(child for _, child in self.edges), *self.either):
            yield from one.walk()


@dataclass(slots=True, eq=False)
class PartialMatch:
    """An answer set and the words it uses: `used` as bits, `gain` as the weight they bring.

    `denied` marks a pattern that does not hold: only the answer "no" can come of it.
    """

    node: Node
    used: int
    gain: float
    patterns: int = 0
    unknown: float = 0.0
    spread: float = 0.0
    hops: int = 0
    anchored: bool = False
    denied: bool = False

    @property
    def ids(self) -> Ids:
        """The answer set."""
        return self.node.ids


def combine(
    one: PartialMatch,
    other: PartialMatch,
    node: Node,
    *,
    repeated: float = 0.0,
    shared: float = 0.0,
) -> PartialMatch:
    """Put two states together at one node.

    Words that both use weigh `repeated`; `shared` is what both guess.
    """
    return PartialMatch(
        node,
        one.used | other.used,
        one.gain + other.gain - repeated,
        one.patterns + other.patterns,
        max(0.0, one.unknown + other.unknown - shared),
        one.spread + other.spread,
        max(one.hops, other.hops),
        one.anchored or other.anchored,
    )


Named = tuple[str, tuple[int, ...]]
"""A class or predicate, and the positions of the words that name it."""


def named_steps(node: Node) -> dict[Named, int]:
    """The classes and predicates that words of a pattern name, with the words as bits."""
    return {
        (link.target, link.positions): link.mask
        for part in node.walk()
        for link in (part.cls_link, *(edge.link for edge, _ in part.edges))
        if link is not None
    }


def common_words(one: Mapping[Named, int], other: Mapping[Named, int]) -> int:
    """The words that two patterns use for the same: "operated by both A and B"."""
    mask = 0
    for named in one.keys() & other.keys():
        mask |= one[named]
    return mask


def named_words(node: Node) -> int:
    """All words that name parts of a pattern, as bits."""
    mask = 0
    for part in node.walk():
        links = (part.link, part.cls_link, *(edge.link for edge, _ in part.edges))
        for link in links:
            mask |= link.mask if link is not None else 0
        if part.quantity is not None:
            mask |= bits(part.quantity.positions)
    return mask


def denied_words(node: Node) -> list[int]:
    """The first words of the things, values and classes that a pattern names."""
    links = (link for part in node.walk() for link in (part.link, part.cls_link))
    numbers = [part.quantity.first for part in node.walk() if part.quantity is not None]
    return [link.positions[0] for link in links if link is not None] + numbers


BEAM_DOUBT: Final = 5 / 3
"""A doubt in the beam, as a factor: it does not know yet if an answer is of the sort asked for."""

SURE: Final = 0.9
"""A name is surely meant from this similarity on: all of it is there, but for a bent word."""


class Doubt:
    """What is counted against a pattern, in guessed steps."""

    STEP: Final = 1.0  # a step that no word names
    OBVIOUS: Final = 0.4
    """Such a step if the question names the class it leads to, after which it is called."""
    BRIDGE: Final = 0.6  # such a step to or from a node that only holds others together
    SEVERAL: Final = 0.15  # on top, if a node has several such links
    FURTHER: Final = 0.6  # each further step of a shortcut: less than a step of its own
    DEEP: Final = 0.4  # a predicate walked more than once, downwards
    BACK: Final = 0.8  # a step back along the predicate by which one came
    MISTAKEN: Final = 2.0
    """A noun that is a class, too, said of what is not of that class: worse than a guess."""
    NAMED_AND_CLASSED: Final = 1.5
    """A class named beside a predicate that already says what the thing is."""
    MISDIRECTED: Final = 1.5
    """The destination of what words say comes from there, or the origin of what goes there."""
    VALUE: Final = 0.5  # the predicate of a value that is not a time
    DATE: Final = 0.3  # the predicate of a date: dates are looked for where they are
    SPAN_END: Final = 0.4  # the same if it is an end: the start is meant more often
    NOT_DATED: Final = 0.9  # a year found if no dates are
    AND: Final = 0.9  # two things joined by "and" taken as alternatives
    ENUMERATED: Final = 0.5  # two numbers joined by "and" taken as alternatives
    ALTERNATIVES: Final = 0.0  # joined by "or" they are
    CLASS_GUESSED: Final = 0.5
    """A class, or the bearers of a predicate, if no word names what is asked for."""
    KIND: Final = 0.6
    """That a thing is not of a kind, against 1 for another pattern that does not fit it."""
    PATH: Final = 0.3  # each step on the way to a property that is shown from afar
    DATE_SHOWN: Final = 0.6  # a date shown for "when" that no word names
    BESIDE: Final = 0.6
    """A measure of another thing than the one that is named right behind its word."""
    KEY: Final = 1.2  # words of a class taken for the number that refers to it
    CLASS_LIKE: Final = 0.1  # words of a class taken for a predicate of the same name
    OTHER_FITS: Final = 0.1  # each other predicate of the sort that is asked for


class Worth:
    """What is counted for a pattern beside the words that it uses."""

    LITTLE: Final = 0.1  # a function word within a name: "very" of "very large"
    OPERATOR: Final = 0.6  # an operator that found its argument; about a word that is not rare
    NAMING: Final = 0.8
    """A word for "name", as a share of its weight: it shows what is shown anyway."""
    SPELLED: Final = 0.6  # a number in letters, as a share: "one" is often no number
    ALTERNATIVES: Final = 0.5  # two numbers read as alternatives, on top of their words
    NONE: Final = 0.1  # that what has none of a thing has few of it
    AGAIN: Final = 0.3  # a class whose words the last step has used for the same thing
    EXACT: Final = 1.05  # a class called exactly so, as a factor
    INDEFINITE: Final = 0.05  # on top, after "no", "each" or "how many"
    KNOWN: Final = 0.04  # each tenfold of what the graph says of a thing, as a share


BESIDE: Final = 3
"""So many words on an operator looks for what it goes with: an article and an adjective between."""
NEAR: Final = 4  # the same with a verb between
APART: Final = 5  # the same with a verb of two words between
FAR: Final = 6  # the same with a short clause between
ACROSS: Final = 8  # the same with a phrase between that has an "of" of its own
