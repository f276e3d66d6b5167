"""Partial matches: answer sets with their patterns, and the weights of the expansion.

A *penalty* is measured in guessed steps: 1 is a step that no word names. All penalties were set by
hand on the development questions before the ranking was fitted; `ranking.toml` weighs their sums,
in the beam as in the ranking.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Final, NamedTuple

from askgraph.graph.arrays import Ids
from askgraph.search.link import Link
from askgraph.search.tokenize import Quantity, to_bit_mask


class Edge(NamedTuple):
    """A step along a predicate (its number); `link` if words of the question name it.

    It may follow any of several `united` predicates, of which this is one.
    """

    predicate: int
    inverse: bool
    plus: bool = False
    link: Link | None = None
    united: tuple[int, ...] = ()


@dataclass(slots=True, eq=False)
class Node:
    """A variable or constant of a pattern, with its outgoing edges.

    Never changed, but not frozen: a question needs hundreds, and freezing takes twice as long.
    """

    ids: Ids  # the nodes of the graph that matched during expansion
    edges: tuple[tuple[Edge, "Node"], ...] = ()  # the edges to further nodes of the pattern
    terms: tuple[int, ...] = ()  # constants; several are alternatives
    link: Link | None = None  # the link of a constant
    quantity: Quantity | None = None  # the quantity of a constant
    cls: str | None = None  # the class
    cls_link: Link | None = None  # the link of the class
    negated: tuple["Node", ...] = ()  # patterns that must not match
    alternatives: tuple["Node", ...] = ()  # patterns of which one must match

    def walk(self) -> Iterator["Node"]:
        """Yield this node and all nodes below it."""
        yield self
        for node in (*(child for _, child in self.edges), *self.alternatives):
            yield from node.walk()


@dataclass(slots=True, eq=False)
class PartialMatch:
    """An answer set with its pattern and score."""

    node: Node  # the root of the pattern
    used: int  # the words it uses, as a bit mask
    gain: float  # the weight of these words
    patterns: int = 0  # the number of triple patterns
    unknown: float = 0.0  # the sum of its penalties
    spread: float = 0.0  # the binary logarithm of how much the steps widened the set
    hops: int = 0  # the number of steps in a row
    anchored: bool = False  # whether it contains a thing, value or number of the question
    denied: bool = False  # whether the pattern does not hold: it only leads to the answer "no"

    @property
    def ids(self) -> Ids:
        """The answer set."""
        return self.node.ids


def combine_states(
    first: PartialMatch,
    second: PartialMatch,
    node: Node,
    *,
    repeated_weight: float = 0.0,
    shared_penalty: float = 0.0,
) -> PartialMatch:
    """Combine two states at one node.

    Args:
        repeated_weight: the weight of the words that both use.
        shared_penalty: the penalty that both include.
    """
    return PartialMatch(
        node,
        first.used | second.used,
        first.gain + second.gain - repeated_weight,
        first.patterns + second.patterns,
        max(0.0, first.unknown + second.unknown - shared_penalty),
        first.spread + second.spread,
        max(first.hops, second.hops),
        first.anchored or second.anchored,
    )


NamedElement = tuple[str, tuple[int, ...]]
"""A class or predicate, and the positions of the words that name it."""


def collect_named_elements(node: Node) -> dict[NamedElement, int]:
    """Return the classes and predicates named in a pattern, with the words as a bit mask."""
    return {
        (link.target, link.positions): link.mask
        for part in node.walk()
        for link in (part.cls_link, *(edge.link for edge, _ in part.edges))
        if link is not None
    }


def find_common_words(first: Mapping[NamedElement, int], second: Mapping[NamedElement, int]) -> int:
    """Return the words that two patterns use for the same element: "operated by both A and B"."""
    mask = 0
    for element in first.keys() & second.keys():
        mask |= first[element]
    return mask


def find_named_words(node: Node) -> int:
    """Return all words that name parts of a pattern, as a bit mask."""
    mask = 0
    for part in node.walk():
        for link in (part.link, part.cls_link, *(edge.link for edge, _ in part.edges)):
            mask |= link.mask if link is not None else 0
        if part.quantity is not None:
            mask |= to_bit_mask(part.quantity.positions)
    return mask


def list_first_words(node: Node) -> list[int]:
    """Return the first words of the things, values, numbers and classes in a pattern."""
    links = (link for part in node.walk() for link in (part.link, part.cls_link))
    numbers = [part.quantity.first for part in node.walk() if part.quantity is not None]
    return [link.positions[0] for link in links if link is not None] + numbers


BEAM_PENALTY_FACTOR: Final = 5 / 3
"""Factor of penalties in the beam, where the type of the answer is not known yet."""

FULL_NAME_SHARE: Final = 0.9
"""Minimum similarity of a full name, allowing for one inflected word."""
TRANSLATED_NAME_SHARE: Final = 0.89  # the same, allowing for a translation of every word


class Penalty:
    """Penalties of a pattern, in guessed steps."""

    STEP: Final = 1.0  # a step that no word names
    OBVIOUS_STEP: Final = 0.4
    """Such a step if it is named after the class it leads to, and the question names the class."""
    BRIDGE_STEP: Final = 0.6  # such a step to or from a node that only connects others
    SEVERAL_LINKS: Final = 0.15  # in addition, if a node has several such links
    FURTHER_STEP: Final = 0.6  # each further step of a shortcut: less than a step of its own
    DEEP_STEP: Final = 0.4  # a predicate walked more than once, downwards
    RETURN_STEP: Final = 0.8  # a step back along the same predicate
    WRONG_CLASS: Final = 2.0
    """A noun that is also a class, applied to instances of another class: worse than a guess."""
    REDUNDANT_CLASS: Final = 1.5
    """A class named beside a predicate that already implies the type."""
    WRONG_DIRECTION: Final = 1.5
    """An origin taken for a destination, or the other way round."""
    VALUE_PREDICATE: Final = 0.5  # the predicate of a value that is not a time
    DATE_PREDICATE: Final = 0.3  # the predicate of a date: dates are searched at their own place
    SPAN_END: Final = 0.4  # the same for an end date: the start is meant more often
    SHARED_NAME: Final = 0.1  # the predicate of a date whose name is used by another step
    UNDATED_YEAR: Final = 0.9  # a year if there are no dates
    AND_AS_OR: Final = 0.9  # two things joined by "and" taken as alternatives
    ENUMERATED_NUMBERS: Final = 0.5  # two numbers joined by "and" taken as alternatives
    OR_ALTERNATIVES: Final = 0.0  # joined by "or" they are
    GUESSED_CLASS: Final = 0.5
    """A class, or the subjects of a predicate, if no word names the answer."""
    NOT_OF_CLASS: Final = 0.6
    """A negative answer on a thing's class, against 1 for any other pattern."""
    DISTANT_STEP: Final = 0.3  # each step to a distant property that is shown
    UNNAMED_DATE: Final = 0.6  # a date shown for "when" that no word names
    OTHER_OWNER: Final = 0.6
    """A measure of another thing than the one named right after its word."""
    KEY_FOR_CLASS: Final = 1.2  # words of a class taken for the number that refers to it
    CLASS_AS_PREDICATE: Final = 0.1  # words of a class taken for a predicate of the same name
    OTHER_PREDICATE: Final = 0.1  # each other predicate of the requested sort


class GainWeight:
    """Gains of a pattern beside the weights of the words that it uses."""

    FUNCTION_WORD: Final = 0.1  # a function word within a name: "very" of "very large"
    OPERATOR: Final = 0.6  # an operator with its argument; about one common word
    NAME_WORD: Final = 0.8
    """A word for "name", as a share of its weight: names are shown in any case."""
    NUMBER_WORD: Final = 0.6  # a number in letters, as a share: "one" is often no number
    ALTERNATIVES: Final = 0.5  # two numbers read as alternatives, on top of their words
    ZERO_COUNT: Final = 0.1  # that what has none of a thing has few of it
    REPEATED_CLASS: Final = 0.3  # a class whose words the last step has used for the same thing
    EXACT_CLASS: Final = 1.05  # a class called exactly so, as a factor
    INDEFINITE: Final = 0.05  # on top, after "no", "each" or "how many"
    PROMINENCE: Final = 0.04  # share for each tenfold of a thing's number of statements


MAX_TOKENS_BESIDE: Final = 3
"""Tokens between an operator and its argument: an article and an adjective."""
MAX_TOKENS_NEAR: Final = 4  # the same with a verb between
MAX_TOKENS_APART: Final = 5  # the same with a verb of two words between
MAX_TOKENS_FAR: Final = 6  # the same with a short clause between
MAX_TOKENS_ACROSS: Final = 8  # the same with a phrase in between that has its own "of"
