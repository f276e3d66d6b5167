"""Answers that give things when gold gives their names: the same answer in other words.

A benchmark made from a relational database has names in its gold, and never the things themselves.
"""

from collections.abc import Mapping, Set
from dataclasses import replace

from pyoxigraph import NamedNode

from askgraph.evaluation import Score, Table
from askgraph.evaluation.metrics.best_column import best_column
from askgraph.index.names import Kind, NameIndex
from askgraph.sparql.comparison import Cell, cell_of_json


def by_name(predicted: Table, gold: Table, names: Mapping[str, Set[Cell]]) -> Score:
    """Score the best columns, where a thing counts as any of its names that gold has.

    `names` gives the names of each IRI. A name that gold lacks stays an IRI, so that a wrong thing
    is as wrong as before; two things of one name are one, as they are in gold. Never below
    `best_column`.
    """
    wanted = gold.values()
    plain = best_column(predicted, gold)
    if not predicted.terms or plain.f1 == 1:
        return plain
    rows = tuple(
        tuple(
            _named(cell, names.get(term.value, frozenset()) & wanted)
            if isinstance(term, NamedNode)
            else cell
            for cell, term in zip(row, terms, strict=True)
        )
        for row, terms in zip(predicted.rows, predicted.terms, strict=True)
    )
    return max(plain, best_column(replace(predicted, rows=rows), gold), key=lambda one: one.f1)


def _named(cell: Cell | None, names: Set[Cell]) -> Cell | None:
    return min(names, key=str) if names else cell


def names_of_things(index: NameIndex) -> dict[str, set[Cell]]:
    """Return the names of each thing of a graph, by its IRI, as cells of a table."""
    found: dict[str, set[Cell]] = {}
    for at in range(len(index)):
        name = index.name(at)
        cell = cell_of_json(name.text)
        if name.kind is Kind.ENTITY and cell is not None:
            found.setdefault(name.target, set()).add(cell)
    return found
