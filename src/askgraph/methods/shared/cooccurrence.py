"""Meetings of predicates and things: the restriction of the second stage, and the filter.

The filter is algorithm 1 of Alekseev et al. (NLDB 2025, appendix D): no query is written if no
linked entity has any linked predicate, in or out. Restricting the predicates themselves, looking
one node without a name further, and the instances of a class in place of an entity, are ours.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from askgraph.graph.arrays import Ids
from askgraph.index.names import Kind
from askgraph.methods.writing import ListedTerm
from askgraph.search.expand.schema import Schema

FILTERS = ("off", "direct", "reach")
UNMATCHED, AT_ONCE, FURTHER, NOWHERE = REACHES = (
    "no predicate was matched",
    "matched predicates exist at the things",
    "matched predicates exist a step from the things",
    "no matched predicate exists near the things",
)
"""What is said of how things and matched predicates meet."""

_ROUNDS = 3  # how far a chain of named predicates is followed


@dataclass(frozen=True, eq=False)
class Meeting:
    """The predicates at some things: `at` them, and those that a `chain` of listed ones leads to.

    `beyond` are those at what lies one step from the things, or is of a listed class. `at` and
    `beyond` are in the order of how many edges they have there, most first.
    """

    at: tuple[str, ...]
    beyond: tuple[str, ...]
    chain: frozenset[str]

    def kept(self, predicates: Sequence[ListedTerm]) -> tuple[ListedTerm, ...]:
        """Return those of the predicates that exist at the things, or further along a chain."""
        there = self.chain.union(self.at)
        return tuple(one for one in predicates if one.target in there)

    def reach(self, predicates: Sequence[ListedTerm]) -> str:
        """Return how far off the nearest of the predicates is, as one of `REACHES`."""
        wanted = {one.target for one in predicates}
        if not wanted:
            return UNMATCHED
        if wanted.intersection(self.at):
            return AT_ONCE
        return FURTHER if wanted.intersection(self.beyond) else NOWHERE


def refuses(filter: str, reach: str) -> bool:
    """Whether a filter (one of `FILTERS`) refuses if the nearest predicate is so far off.

    `direct` is algorithm 1. `reach` lets one step pass: a question of two steps often names the
    second one alone.
    """
    match filter:
        case "direct":
            return reach in (FURTHER, NOWHERE)
        case "reach":
            return reach == NOWHERE
        case _:
            return False


def meeting(
    schema: Schema, things: Sequence[ListedTerm], predicates: Sequence[ListedTerm]
) -> Meeting:
    """Look up which predicates stand at things, in or out, or at a node without a name beside them.

    The things are the listed entities and values, and where there is none the instances of the
    listed classes. The predicates of classes beside entities are beyond, and may begin a chain.
    """
    named = [one for one in things if one.kind is not Kind.CLASS]
    classes = [one for one in things if one.kind is Kind.CLASS]
    own = _with_nameless(schema, _nodes(schema, named or classes))
    counts = _counts(schema, own)
    every = np.union1d(own, _with_nameless(schema, _nodes(schema, classes))).astype(np.int32)
    beside = _with_nameless(schema, _stepped(schema, own, counts))
    further = _counts(schema, np.union1d(every, beside).astype(np.int32))
    wanted = {schema.get_predicate_number(one.target) for one in predicates} - {None}
    reached: set[int] = set()
    for _ in range(_ROUNDS):
        here = set(_counts(schema, every))
        fresh = (here & wanted) - reached
        reached |= here
        if not fresh:
            break
        every = _with_nameless(schema, _stepped(schema, every, fresh))
    iri_of = schema.graph.get_predicate_iri
    return Meeting(
        tuple(map(iri_of, _most_first(counts))),
        tuple(iri_of(number) for number in _most_first(further) if number not in counts),
        frozenset(map(iri_of, reached)),
    )


def _nodes(schema: Schema, things: Iterable[ListedTerm]) -> Ids:
    """The nodes that things stand for, sorted: instances for a class."""
    found: list[Ids] = [np.zeros(0, dtype=np.int32)]
    for one in things:
        if one.kind is Kind.CLASS:
            found.append(schema.get_instances(one.target))
            continue
        text = f"<{one.target}>" if one.kind is Kind.ENTITY else one.target
        at = schema.graph.terms.find(text)
        if at is not None:
            found.append(np.array([at], dtype=np.int32))
    return np.unique(np.concatenate(found)).astype(np.int32)


def _counts(schema: Schema, nodes: Ids) -> dict[int, int]:
    """How many edges of each predicate leave or enter some nodes, without those of the schema."""
    found: dict[int, int] = {}
    for inverse in (False, True):
        numbers, counts = schema.graph.count_predicates(nodes, inverse=inverse)
        for number, count in zip(numbers.tolist(), counts.tolist(), strict=True):
            if number not in schema.hidden_predicates:
                found[number] = found.get(number, 0) + count
    return found


def _most_first(counts: dict[int, int]) -> list[int]:
    return sorted(counts, key=lambda number: (-counts[number], number))


def _with_nameless(schema: Schema, nodes: Ids) -> Ids:
    """The nodes, and those beside them that have no name and only stand for a relation."""
    beside = [
        found
        for number in _counts(schema, nodes)
        for inverse in (False, True)
        if len(found := schema.graph.step(nodes, number, inverse=inverse))
        and schema.is_nameless(found[found >= schema.graph.terms.first_iri])
    ]
    return np.unique(np.concatenate([nodes, *beside])).astype(np.int32)


def _stepped(schema: Schema, nodes: Ids, numbers: Iterable[int]) -> Ids:
    """What lies one step along some predicates from nodes, either way."""
    found = [
        schema.graph.step(nodes, number, inverse=inverse)
        for number in sorted(numbers)
        for inverse in (False, True)
    ]
    return np.unique(np.concatenate([nodes[:0], *found])).astype(np.int32)
