"""Names that words match by chance: words that the question needs otherwise are no names."""

from askgraph.index.names import Kind
from askgraph.search.linking.link import Link, Linked
from askgraph.search.linking.operators import Frame

_EXPLAINING = frozenset(
    "count average sum minimum maximum most fewest superlative comparative more_than less_than "
    "at_least at_most between each order ascending descending top distinct or and both not".split()
)
"""Operators whose words are no names of things."""
_WHOLE = 0.9
"""From this similarity on all of a name is there, but for a bent word."""


def without_chance(linked: Linked, frame: Frame) -> tuple[Link, ...]:
    """Return the links but those of things whose names only words in other use match.

    Words of an operator, units after their number, and single letters are such words; so are those
    that are wholly a class's or predicate's name where they are but a part of a thing's, and
    numbers, which find texts as well. What is quoted or stands in capitals may always be a name.
    """
    used = _in_use(linked, frame)
    counted = {tuple(one.positions) for one in linked.reading.quantities if one.value is not None}
    schema = {
        link.positions
        for link in linked.of(Kind.CLASS, Kind.PREDICATE)
        if link.similarity > _WHOLE and link.preferred
    }
    return tuple(
        link
        for link in linked.links
        if link.kind not in (Kind.ENTITY, Kind.VALUE)
        or _may_be_name(link, linked)
        or not (
            (link.kind is Kind.VALUE and link.positions in counted)
            or all(at in used or not linked.weights[at] for at in link.positions)
            or (link.similarity < _WHOLE and link.positions in schema)
        )
    )


def _in_use(linked: Linked, frame: Frame) -> frozenset[int]:
    """The tokens that operators, units and single letters take up."""
    tokens = linked.reading.tokens
    found = {at for one in frame.of(*_EXPLAINING) for at in one.positions}
    for quantity in linked.reading.quantities:
        if quantity.unit is not None:
            found |= set(range(quantity.last + 1, quantity.measured.stop))
    found |= {at for at, token in enumerate(tokens) if len(token.text) == 1}
    return frozenset(at for at in found if not tokens[at].text[0].isdigit())


def _may_be_name(link: Link, linked: Linked) -> bool:
    """Whether words are quoted, or in capitals within the question."""
    tokens = [linked.reading.tokens[at] for at in link.positions]
    return any(
        token.quote is not None or (token.capital and at > 0)
        for at, token in zip(link.positions, tokens, strict=True)
    )
