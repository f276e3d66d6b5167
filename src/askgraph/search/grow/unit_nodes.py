"""Numbers whose unit stands beside them at the same node, and what a graph says of predicates."""

from collections.abc import Iterable, Iterator

import numpy as np

from askgraph.metadata.units import Unit, unit_by_iri, unit_of_text
from askgraph.rdf import vocabulary as v
from askgraph.traversal.arrays import GraphArrays
from askgraph.traversal.literals import split_literal

_MOST_UNITS = 200


def descriptions_of(graph: GraphArrays, predicate: int) -> Iterator[str]:
    """Yield what a graph says of a predicate in whole sentences."""
    node = np.array([graph.predicates[predicate]], dtype=np.int32)
    for iri in v.DESCRIPTION_PREDICATES:
        number = graph.number(iri)
        if number is not None:
            for text in graph.step(node, number):
                if text < graph.terms.first_iri:
                    yield split_literal(graph.terms.text(int(text)))[0]


def stated_units(
    graph: GraphArrays, said: Iterable[int], naming: frozenset[int], numbers: frozenset[int]
) -> Iterator[tuple[int, int, dict[int, Unit]]]:
    """Yield predicates of one node that give a number and its unit, with the units by term.

    `said` are the predicates that may say a unit, `numbers` those of numbers.
    """
    for predicate in said:
        units = _units_among(graph, predicate, naming)
        if units:
            present = graph.predicates_of(graph.ends(predicate))[0].tolist()
            yield from ((value, predicate, units) for value in present if value in numbers)


def _units_among(graph: GraphArrays, predicate: int, naming: frozenset[int]) -> dict[int, Unit]:
    """The units that a predicate's objects are; none if most are something else."""
    objects = graph.ends(predicate, inverse=True)
    if not 0 < len(objects) <= _MOST_UNITS:
        return {}
    known = ((int(at), _unit_of(graph, int(at), naming)) for at in objects)
    units = {at: unit for at, unit in known if unit is not None}
    return units if 2 * len(units) > len(objects) else {}


def _unit_of(graph: GraphArrays, term: int, naming: frozenset[int]) -> Unit | None:
    """The unit that a term is: by its IRI, its text, or its label."""
    if term < graph.terms.first_iri:
        return unit_of_text(split_literal(graph.terms.text(term))[0])
    unit = unit_by_iri(graph.terms.value(term))
    if unit is not None:
        return unit
    node = np.array([term], dtype=np.int32)
    for number in naming:
        for text in graph.step(node, number).tolist():
            if text < graph.terms.first_iri:
                unit = unit_of_text(split_literal(graph.terms.text(text))[0])
                if unit is not None:
                    return unit
    return None
