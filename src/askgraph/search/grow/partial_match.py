"""An answer set with the pattern that gives it."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import NamedTuple

from askgraph.search.linking.link import Link
from askgraph.search.linking.quantities import Quantity
from askgraph.search.linking.text import bits
from askgraph.traversal import Ids


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
    when it was grown.
    """

    ids: Ids
    edges: tuple[tuple[Edge, "Node"], ...] = ()
    terms: tuple[int, ...] = ()
    link: Link | None = None
    quantity: Quantity | None = None
    cls: str | None = None
    cls_link: Link | None = None
    without: tuple["Node", ...] = ()

    def walk(self) -> Iterator["Node"]:
        """This node and all below it."""
        yield self
        for _, child in self.edges:
            yield from child.walk()


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


def together(
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
