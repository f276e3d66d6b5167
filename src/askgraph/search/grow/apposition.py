"""Names told apart by what stands beside them: the river Jordan, Paris in Texas."""

from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from askgraph.index.names import Kind
from askgraph.search.grow.partial_match import PartialMatch
from askgraph.search.grow.steps import Grower
from askgraph.search.grow.weights import SURE
from askgraph.search.linking.link import Link

_ALIKE = 0.05
"""How much worse a name may fit and still be called the same."""
_WITHIN = 2
"""Function words between a name and the place that tells it apart."""


def with_apposition(grower: Grower, seed: PartialMatch) -> Iterator[PartialMatch]:
    """Yield a named thing again with the words beside its name that are true of it.

    These are a class of it, and, of things that share a name, another thing that it is linked to.
    """
    link = seed.node.link
    if link is None or link.kind is not Kind.ENTITY or len(seed.ids) != 1:
        return
    for one in (*_classes(grower, link, seed), *_places(grower, link, seed)):
        gain = grower.gain(one, seed.used)
        if gain:
            yield replace(seed, used=seed.used | one.mask, gain=seed.gain + gain)


def _classes(grower: Grower, link: Link, seed: PartialMatch) -> Iterator[Link]:
    """The classes beside a name that the thing is of."""
    for one in grower.linked.of(Kind.CLASS):
        beside = one.similarity > SURE and _is_beside(grower, one, link)
        if beside and np.isin(seed.ids, grower.schema.instances(one.target)).all():
            yield one


def _places(grower: Grower, link: Link, seed: PartialMatch) -> Iterator[Link]:
    """The things after a name, shared by others, that the thing is linked to."""
    if _is_shared(grower, link):
        for one in grower.linked.of(Kind.ENTITY, Kind.VALUE):
            after = one.similarity > SURE and _follows(grower, one, link)
            if after and _are_linked(grower, int(seed.ids[0]), one):
                yield one


def _is_beside(grower: Grower, cls: Link, link: Link) -> bool:
    """Whether a class stands right before a name ("the city of Paris") or right after it."""
    if cls.positions[0] == link.positions[-1] + 1:
        return True
    reading = grower.linked.reading
    between = range(cls.positions[-1] + 1, link.positions[0])
    of = {phrase[0] for phrase in reading.words.following["of"]}
    return cls.positions[-1] < link.positions[0] and all(
        reading.tokens[at].folded in of or reading.tokens[at].stem in reading.words.naming
        for at in between
    )


def _is_shared(grower: Grower, link: Link) -> bool:
    """Whether other things bear the same name."""
    return any(
        other.target != link.target
        and other.positions == link.positions
        and abs(other.score - link.score) < _ALIKE
        for other in grower.linked.of(Kind.ENTITY)
    )


def _follows(grower: Grower, other: Link, link: Link) -> bool:
    """Whether only a comma or function words part a name from another after it."""
    between = range(link.positions[-1] + 1, other.positions[0])
    apart = other.positions[0] - link.positions[-1] - 1
    return 0 <= apart <= _WITHIN and all(grower.linked.reading.is_stop(at) for at in between)


def _are_linked(grower: Grower, node: int, other: Link) -> bool:
    """Whether an edge leads from a thing to another, or several of one transitive predicate."""
    graph, schema = grower.graph, grower.schema
    text = f"<{other.target}>" if other.kind is Kind.ENTITY else other.target
    at = graph.terms.find(text)
    if at is None:
        return False
    nodes = np.array([node], dtype=np.int32)
    for inverse in (False, True):
        for predicate in sorted(schema.open & graph.present(nodes, inverse=inverse)):
            step = graph.closure if predicate in schema.transitive else graph.step
            if at in step(nodes, predicate, inverse=inverse):
                return True
    return False
