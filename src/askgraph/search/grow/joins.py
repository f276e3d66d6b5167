"""States put together: what fits two patterns, one and not the other, or one by its kind alone."""

from collections.abc import Iterator, Sequence
from dataclasses import replace

import numpy as np

from askgraph.search.grow.partial_match import (
    Node,
    PartialMatch,
    common_words,
    named_steps,
    named_words,
    together,
)
from askgraph.search.grow.steps import Grower
from askgraph.search.grow.weights import (
    DOUBT_CLASS_GUESSED,
    DOUBT_KIND,
    DOUBT_STEP,
    SURE,
    WORTH_OPERATOR,
)
from askgraph.traversal.arrays import Ids, in_both


def lacking(grower: Grower, pool: Sequence[PartialMatch]) -> Iterator[PartialMatch]:
    """All of a class but those that fit a state, if no word names the class."""
    for other in pool[: grower.beam]:
        classes = grower.schema.classes_of(int(other.ids[0])) if len(other.ids) else ()
        if not classes or not other.patterns:
            continue
        members = grower.schema.instances(classes[0])
        base = PartialMatch(
            Node(members, cls=classes[0]), 0, 0.0, patterns=1, unknown=DOUBT_CLASS_GUESSED
        )
        yield from _negated(grower, base, other)


def unmet(
    grower: Grower, seeds: Sequence[PartialMatch], pool: Sequence[PartialMatch]
) -> Iterator[PartialMatch]:
    """What holds for others like a thing, but not for it: the answer to "does it …" is no."""
    for seed in seeds:
        sure = seed.node.link is not None and seed.node.link.similarity > SURE
        classes = grower.schema.classes_of(int(seed.ids[0])) if len(seed.ids) == 1 else ()
        if not (sure and classes):
            continue
        alike = grower.schema.instances(classes[0])
        for other in pool:
            if other.used & seed.used & grower.content or not other.patterns or other.hops > 2:
                continue
            bare = other.node.cls is not None and not other.node.edges
            if bare and not _opens_with_be(grower):  # "is A a B", but not "has A a B"
                continue
            if np.isin(seed.ids, other.ids).any() or not (bare or len(in_both(alike, other.ids))):
                continue
            node = replace(other.node, ids=seed.ids, terms=seed.node.terms, link=seed.node.link)
            state = together(seed, other, node)
            doubt = DOUBT_KIND if bare else DOUBT_STEP
            yield replace(state, unknown=state.unknown + doubt, denied=True)


def joins(grower: Grower, pool: list[PartialMatch]) -> Iterator[PartialMatch]:
    """What fits two states that use other words, or one and not the other if that is denied."""
    bare = grower.frame.exists  # "is A a B": the thing itself is one side of the join
    fits = [state for state in pool if (state.patterns or bare) and len(state.ids)]
    chosen = _varied(grower, fits)
    content, denies = grower.content, bool(grower.frame.of("not"))
    both = bool(grower.frame.of("both", "and"))
    steps = [named_steps(state.node) if both else {} for state in chosen]
    spans = [(int(state.ids[0]), int(state.ids[-1])) for state in chosen]
    for at, one in enumerate(chosen):
        first, last = spans[at]
        for there in range(at + 1, len(chosen)):
            other = chosen[there]
            shared = one.used & other.used & content
            if shared and not (both and shared == common_words(steps[at], steps[there]) & content):
                continue
            if last < spans[there][0] or spans[there][1] < first:
                continue
            pairs = ((one, other), (other, one)) if denies else ()
            denied = [state for pair in pairs for state in _negated(grower, *pair)]
            yield from denied
            joined = None if denied else _joined(grower, one, other)
            if joined is not None:
                yield joined


def _varied(grower: Grower, states: list[PartialMatch]) -> list[PartialMatch]:
    """The best few states for each set of words used."""
    counts: dict[int, int] = {}
    chosen = []
    for state in states:
        counts[state.used] = counts.get(state.used, 0) + 1
        if counts[state.used] <= 8 and grower.content & ~state.used:
            chosen.append(state)
    simple = [state for state in chosen[grower.beam :] if state.patterns == 1]
    return chosen[: grower.beam] + simple[: grower.beam // 2]


def _joined(grower: Grower, one: PartialMatch, other: PartialMatch) -> PartialMatch | None:
    ids = in_both(one.ids, other.ids)
    if not len(ids):
        return None
    node = _merged(grower, one.node, other.node, ids)
    repeated = grower.weight_of(one.used & other.used)
    shared = 0.0
    if one.node.edges and other.node.edges:
        first, second = one.node.edges[0][0], other.node.edges[0][0]
        if (first.predicate, first.inverse) == (second.predicate, second.inverse):
            shared = min(1.0, max(one.unknown, other.unknown))
    return together(one, other, node, repeated=repeated, shared=shared)


def _negated(grower: Grower, base: PartialMatch, other: PartialMatch) -> Iterator[PartialMatch]:
    """What fits one state and not the other, if a word denies what the other is about."""
    denied, kept = named_words(other.node), named_words(base.node)
    for operator in grower.frame.of("not"):
        if not denied or min(denied) < operator.first or min(denied) - operator.last > 5:
            continue
        if any(operator.last < at < min(denied) for at in kept):
            continue
        ids = np.setdiff1d(base.ids, other.ids, assume_unique=True)
        if not len(ids) or len(ids) == len(base.ids):
            continue
        node = replace(base.node, ids=ids, without=(*base.node.without, other.node))
        state = together(base, other, node)
        weight = sum(grower.linked.weights[at] for at in operator.positions)
        yield replace(
            state, used=state.used | operator.mask, gain=state.gain + weight + WORTH_OPERATOR
        )


def _merged(grower: Grower, one: Node, other: Node, ids: Ids) -> Node:
    cls, link = (one.cls, one.cls_link) if one.cls else (other.cls, other.cls_link)
    return Node(
        ids,
        edges=one.edges + other.edges,
        terms=one.terms or other.terms,
        link=one.link or other.link,
        quantity=one.quantity or other.quantity,
        cls=cls,
        cls_link=link,
        without=one.without + other.without,
    )


def _opens_with_be(grower: Grower) -> bool:
    reading = grower.linked.reading
    first = reading.tokens[0].folded if reading.tokens else ""
    return first in reading.words.yes_or_no["being"]
