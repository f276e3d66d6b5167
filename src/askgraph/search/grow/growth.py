"""Growth of answer sets: from what a question mentions, step by step over the graph's own edges.

A partial match is a set of nodes with the pattern that gives it. It starts at a linked entity,
value, class or number, walks along predicates, and is intersected with others that use other words.
So no pattern is ever guessed: its direction is right and its result is not empty.
"""

from collections.abc import Iterator

import numpy as np

from askgraph.index.names import Kind
from askgraph.search.grow.joins import joins, lacking, unmet
from askgraph.search.grow.partial_match import Node, PartialMatch
from askgraph.search.grow.steps import Grower
from askgraph.search.grow.weights import (
    DOUBT_ALTERNATIVES,
    DOUBT_AND,
    DOUBT_ENUMERATED,
    WORTH_ALTERNATIVES,
    WORTH_EXACT,
    WORTH_INDEFINITE,
    WORTH_KNOWN,
    WORTH_SPELLED,
)
from askgraph.search.linking.link import Link
from askgraph.search.linking.operators import Operator
from askgraph.search.linking.quantities import Quantity
from askgraph.traversal.arrays import Ids
from askgraph.traversal.literals import Sort


def grown(grower: Grower) -> list[PartialMatch]:
    """Grow all states; best first."""
    things = list(_seeds(grower))
    classes = list(_class_seeds(grower))
    pool = things + classes
    level = things + [c for c in classes if len(c.ids) <= grower.widest]
    for _ in range(3):
        level = grower.kept(grower.level(level))
        level = grower.kept(grower.classed(level))
        pool += level
    pool = grower.kept(pool, limit=4 * grower.beam)
    joined = grower.kept(joins(grower, pool), limit=2 * grower.beam)
    if joined:
        further = [
            grown
            for state in joined[: grower.beam]
            for grown in grower.hops(state, linked=not grower.schema.is_nameless(state.ids))
        ]
        further = grower.kept(grower.classed(further))
        pool = grower.kept(pool + joined + further, limit=6 * grower.beam)
        again = grower.kept(joins(grower, pool[: 2 * grower.beam]), limit=grower.beam)
        pool = grower.kept(pool + again, limit=6 * grower.beam)
    if grower.frame.of("not"):
        pool = grower.kept([*pool, *lacking(grower, pool)], limit=6 * grower.beam)
    if grower.frame.exists:
        pool = [*grower.kept(unmet(grower, things, pool)), *pool]
    return pool


def _seeds(grower: Grower) -> Iterator[PartialMatch]:
    """A state for each thing, value and number that words name, and for values said as either."""
    named: dict[tuple[Kind, tuple[int, ...]], list[Link]] = {}
    for one in grower.linked.of(Kind.ENTITY, Kind.VALUE):
        named.setdefault((one.kind, one.positions), []).append(one)
    for listed in named.values():
        for one in listed:
            found = _seed(grower, one)
            if found is not None:
                yield found
    yield from _alternatives(grower)
    for quantity in grower.linked.reading.quantities:
        yield from _measured(grower, quantity)


def _seed(grower: Grower, link: Link) -> PartialMatch | None:
    text = f"<{link.target}>" if link.kind is Kind.ENTITY else link.target
    at = grower.graph.terms.find(text)
    if at is None:
        return None
    ids = np.array([at], dtype=np.int32)
    node = Node(ids, terms=(at,), link=link)
    known = WORTH_KNOWN * float(np.log10(1 + grower.graph.degree(at)))
    return PartialMatch(node, link.mask, grower.gain(link, 0) * (1 + known), anchored=True)


def _alternatives(grower: Grower) -> Iterator[PartialMatch]:
    """Values joined by "or" make one seed that stands for any of them."""
    whole = [one for one in grower.linked.of(Kind.ENTITY, Kind.VALUE) if one.similarity > 0.6]
    joins = ("or",) if grower.frame.of("both") else ("or", "and")
    for operator in grower.frame.of(*joins):
        left = [one for one in whole if 0 < operator.first - one.positions[-1] <= 2]
        right = [one for one in whole if _follows(grower, operator, one.positions[0])]
        for one in left[:4]:
            for other in right[:4]:
                if one.kind is other.kind and one.target != other.target:
                    between = range(operator.first, other.positions[0])
                    mask = sum(1 << at for at in between)
                    yield from _either(grower, one, other, mask, operator.name)
        yield from _either_number(grower, operator)


def _follows(grower: Grower, operator: Operator, position: int) -> bool:
    """Whether only function words, or words said before, stand between ("or the state of")."""
    tokens = grower.linked.reading.tokens
    said = {token.stem for token in tokens[: operator.first]}
    between = range(operator.last + 1, position)
    return 0 < position - operator.last <= 4 and all(
        grower.linked.reading.is_stop(at) or tokens[at].stem in said for at in between
    )


def _either_number(grower: Grower, operator: Operator) -> Iterator[PartialMatch]:
    """ "9 or 10": one seed for both numbers."""
    quantities = grower.linked.reading.quantities
    left = [q for q in quantities if q.last + 1 == operator.first]
    right = [q for q in quantities if q.first == operator.last + 1]
    for one, other in zip(left, right, strict=False):
        if grower.frame.takes(one) or grower.frame.takes(other):
            continue
        ids = np.union1d(_equal(grower, one), _equal(grower, other))
        if len(ids):
            mask = sum(1 << at for at in (*one.positions, *operator.positions, *other.positions))
            node = Node(ids, terms=tuple(int(at) for at in ids[:50]))
            doubt = (
                DOUBT_ALTERNATIVES if operator.name == "or" else DOUBT_ENUMERATED
            )  # "in 1990 and 1991"
            yield PartialMatch(
                node,
                mask,
                grower.weight_of(mask) + WORTH_ALTERNATIVES,
                unknown=doubt,
                anchored=True,
            )


def _either(grower: Grower, one: Link, other: Link, mask: int, name: str) -> Iterator[PartialMatch]:
    first, second = _seed(grower, one), _seed(grower, other)
    if first is None or second is None:
        return
    ids = np.union1d(first.ids, second.ids)
    node = Node(ids, terms=tuple(int(at) for at in ids), link=one)
    yield PartialMatch(
        node,
        first.used | second.used | mask,
        first.gain + second.gain,
        unknown=DOUBT_ALTERNATIVES if name == "or" else DOUBT_AND,
        anchored=True,
    )


def _measured(grower: Grower, quantity: Quantity) -> Iterator[PartialMatch]:
    """Things with a number or a date: one state for each predicate that carries it."""
    if grower.frame.takes(quantity):
        return
    literals = _equal(grower, quantity)
    if not len(literals):
        return
    mask = sum(1 << at for at in quantity.positions)
    gain = sum(grower.linked.weights[at] for at in quantity.positions)
    gain *= WORTH_SPELLED if quantity.spelled else 1.0
    node = Node(literals, terms=tuple(int(at) for at in literals[:50]), quantity=quantity)
    yield PartialMatch(node, mask, gain, anchored=True)


def _equal(grower: Grower, quantity: Quantity) -> Ids:
    sorts, values = grower.graph.sorts, grower.graph.values
    found = np.zeros(len(sorts), dtype=np.bool_)
    if quantity.days is not None:
        low, high = quantity.days
        dated = np.isin(sorts, (Sort.DATE, Sort.YEAR, Sort.TEXT_DATE))
        found |= dated & (values >= low) & (values < high + 1)
    if quantity.value is not None:
        numeric = np.isin(sorts, (Sort.NUMBER, Sort.TEXT_NUMBER))
        found |= numeric & (values == quantity.value)
    return np.flatnonzero(found).astype(np.int32)


def _class_seeds(grower: Grower) -> Iterator[PartialMatch]:
    """A state for each class that words name: its instances."""
    for one in grower.linked.of(Kind.CLASS):
        ids = grower.schema.instances(one.target)
        if len(ids):
            node = Node(ids, cls=one.target, cls_link=one)
            exact = WORTH_EXACT if one.similarity > 0.95 else 1.0
            exact += WORTH_INDEFINITE if _is_indefinite(grower, one) else 0.0
            yield PartialMatch(node, one.mask, exact * grower.gain(one, 0), patterns=1)


def _is_indefinite(grower: Grower, link: Link) -> bool:
    """Whether a word stands before a class that asks for any of it: no, each, how many."""
    before = link.positions[0] - 1
    return any(op.last == before for op in grower.frame.of("not", "each", "count"))
