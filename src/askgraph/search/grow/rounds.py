"""Growing answer sets: from what a question mentions, step by step over the graph's own edges.

A state is a set of nodes with the pattern that gives it. It starts at a linked entity, value, class
or number, walks along predicates, and is intersected with others that use other words. So no
pattern is ever guessed: its direction is right and its result is not empty.
"""

from askgraph.search.grow.joins import joins, lacking, unmet
from askgraph.search.grow.partial_match import State
from askgraph.search.grow.seeds import class_seeds, seeds
from askgraph.search.grow.steps import Grower

__all__ = ["grown"]


def grown(grower: Grower) -> list[State]:
    """Grow all states; best first."""
    things = list(seeds(grower))
    classes = list(class_seeds(grower))
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
