"""Predicates that occur at entities: the restriction of the second stage, and the filter.

The filter is algorithm 1 of Alekseev et al. (NLDB 2025, appendix D): no query is written if no
linked entity has a linked predicate, in either direction. Ours are the restriction of the
predicates themselves, the look one unlabelled node further, and the use of a class's instances in
place of an entity.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from askgraph.graph.arrays import Ids
from askgraph.index.names import ItemKind
from askgraph.methods.writing import ListedTerm
from askgraph.search.expand.schema import Schema

FILTER_CHOICES = ("off", "direct", "reach")
NO_PREDICATES, AT_ENTITIES, ONE_STEP_AWAY, OUT_OF_REACH = REACH_TEXTS = (
    "no predicate was matched",
    "matched predicates exist at the things",
    "matched predicates exist a step from the things",
    "no matched predicate exists near the things",
)
"""Texts on how far the matched predicates are from the entities."""

_MAX_CHAIN_LENGTH = 3  # how far a chain of named predicates is followed


@dataclass(frozen=True, eq=False)
class CooccurringPredicates:
    """The predicates that occur near some entities.

    `at` and `beyond` are ordered by their number of edges, most first.

    Attributes:
        at: IRIs of predicates at the entities.
        beyond: IRIs of predicates one step from the entities, or at instances of a listed class.
        chain: IRIs of predicates that a chain of listed predicates leads to.
    """

    at: tuple[str, ...]
    beyond: tuple[str, ...]
    chain: frozenset[str]

    def describe_reach(self, predicates: Sequence[ListedTerm]) -> str:
        """Return the distance of the nearest predicate, as one of `REACH_TEXTS`."""
        iris = {predicate.target for predicate in predicates}
        if not iris:
            return NO_PREDICATES
        if iris.intersection(self.at):
            return AT_ENTITIES
        return ONE_STEP_AWAY if iris.intersection(self.beyond) else OUT_OF_REACH


def is_refused(filter: str, reach: str) -> bool:
    """Return whether a filter (one of `FILTER_CHOICES`) refuses at this reach.

    `direct` is algorithm 1. `reach` permits one step: a question of two steps often names only the
    second one.
    """
    match filter:
        case "direct":
            return reach in (ONE_STEP_AWAY, OUT_OF_REACH)
        case "reach":
            return reach == OUT_OF_REACH
        case _:
            return False


def find_cooccurring_predicates(
    schema: Schema, terms: Sequence[ListedTerm], predicates: Sequence[ListedTerm]
) -> CooccurringPredicates:
    """Find the predicates at terms, in either direction, or at an unlabelled node beside them.

    The terms are the listed entities and values, or else the instances of the listed classes. The
    predicates of classes that are listed beside entities count as `beyond`, and may start a chain.
    """
    entities = [term for term in terms if term.kind is not ItemKind.CLASS]
    classes = [term for term in terms if term.kind is ItemKind.CLASS]
    nodes = _add_unlabelled_nodes(schema, _find_nodes(schema, entities or classes))
    counts = _count_edges(schema, nodes)
    chain_nodes = np.union1d(
        nodes, _add_unlabelled_nodes(schema, _find_nodes(schema, classes))
    ).astype(np.int32)
    neighbour_nodes = _add_unlabelled_nodes(schema, _step(schema, nodes, counts))
    further_counts = _count_edges(schema, np.union1d(chain_nodes, neighbour_nodes).astype(np.int32))
    predicate_numbers = {schema.get_predicate_number(term.target) for term in predicates} - {None}
    reached: set[int] = set()
    for _ in range(_MAX_CHAIN_LENGTH):
        current_numbers = set(_count_edges(schema, chain_nodes))
        new_numbers = (current_numbers & predicate_numbers) - reached
        reached |= current_numbers
        if not new_numbers:
            break
        chain_nodes = _add_unlabelled_nodes(schema, _step(schema, chain_nodes, new_numbers))
    iri_of = schema.graph.get_predicate_iri
    return CooccurringPredicates(
        tuple(map(iri_of, _sort_by_count(counts))),
        tuple(iri_of(number) for number in _sort_by_count(further_counts) if number not in counts),
        frozenset(map(iri_of, reached)),
    )


def _find_nodes(schema: Schema, terms: Iterable[ListedTerm]) -> Ids:
    """Return the nodes that terms stand for, sorted; a class stands for its instances."""
    node_arrays: list[Ids] = [np.zeros(0, dtype=np.int32)]
    for term in terms:
        if term.kind is ItemKind.CLASS:
            node_arrays.append(schema.get_instances(term.target))
            continue
        text = f"<{term.target}>" if term.kind is ItemKind.ENTITY else term.target
        number = schema.graph.terms.find(text)
        if number is not None:
            node_arrays.append(np.array([number], dtype=np.int32))
    return np.unique(np.concatenate(node_arrays)).astype(np.int32)


def _count_edges(schema: Schema, nodes: Ids) -> dict[int, int]:
    """Count the edges of each predicate at some nodes, in both directions, without the schema's."""
    edge_counts: dict[int, int] = {}
    for inverse in (False, True):
        numbers, counts = schema.graph.count_predicates(nodes, inverse=inverse)
        for number, count in zip(numbers.tolist(), counts.tolist(), strict=True):
            if number not in schema.hidden_predicates:
                edge_counts[number] = edge_counts.get(number, 0) + count
    return edge_counts


def _sort_by_count(counts: dict[int, int]) -> list[int]:
    return sorted(counts, key=lambda number: (-counts[number], number))


def _add_unlabelled_nodes(schema: Schema, nodes: Ids) -> Ids:
    """Add the neighbours that have no label and only stand for a relation."""
    neighbour_arrays = [
        neighbours
        for number in _count_edges(schema, nodes)
        for inverse in (False, True)
        if len(neighbours := schema.graph.step(nodes, number, inverse=inverse))
        and schema.is_nameless(neighbours[neighbours >= schema.graph.terms.first_iri])
    ]
    return np.unique(np.concatenate([nodes, *neighbour_arrays])).astype(np.int32)


def _step(schema: Schema, nodes: Ids, numbers: Iterable[int]) -> Ids:
    """Return the nodes one step from `nodes` along some predicates, in both directions."""
    node_arrays = [
        schema.graph.step(nodes, number, inverse=inverse)
        for number in sorted(numbers)
        for inverse in (False, True)
    ]
    return np.unique(np.concatenate([nodes[:0], *node_arrays])).astype(np.int32)
