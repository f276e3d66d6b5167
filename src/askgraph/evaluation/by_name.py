"""Answers that give things when gold gives their names: the same answer in other words.

A benchmark made from a relational database has names in its gold, and never the things themselves.
"""

from collections.abc import Iterator, Mapping, Set
from dataclasses import replace

from pyoxigraph import Literal, NamedNode

from askgraph.evaluation import Score, Table
from askgraph.evaluation.metrics.sets import best_column
from askgraph.graph import KnowledgeGraph
from askgraph.graph.arrays import GraphArrays
from askgraph.graph.profile import PredicateProfile
from askgraph.index.names import Kind, name_tokens, stem
from askgraph.search.tokenize.word_lists import shared_words
from askgraph.sparql.comparison import Cell, cell_of_json, cell_of_term
from askgraph.sparql.prefixes import local_name


def by_name(predicted: Table, gold: Table, names: Mapping[str, Set[Cell]]) -> Score:
    """Score the best columns, where a thing counts as any of its names that gold's column has.

    `names` gives the names of each IRI. A name that gold lacks stays an IRI, so that a wrong thing
    is as wrong as before; two things of one name are one, as they are in gold. Never below
    `best_column`.
    """
    plain = best_column(predicted, gold)
    if not predicted.terms or plain.f1 == 1:
        return plain
    columns = [_column(gold, at) for at in range(len(gold.variables))] or [gold]
    found = Score.mean([best_column(_renamed(predicted, one, names), one) for one in columns])
    return max(plain, found, key=lambda one: one.f1)


def _column(table: Table, at: int) -> Table:
    return Table(table.variables[at : at + 1], tuple((row[at],) for row in table.rows))


def _renamed(predicted: Table, gold: Table, names: Mapping[str, Set[Cell]]) -> Table:
    """Return a table with things as their names in gold, if they have one there."""
    wanted = gold.values()
    rows = tuple(
        tuple(
            _named(cell, names.get(term.value, frozenset()) & wanted)
            if isinstance(term, NamedNode)
            else cell
            for cell, term in zip(row, terms, strict=True)
        )
        for row, terms in zip(predicted.rows, predicted.terms, strict=True)
    )
    return replace(predicted, rows=rows)


def _named(cell: Cell | None, names: Set[Cell]) -> Cell | None:
    return min(names, key=str) if names else cell


def names_of_things(graph: KnowledgeGraph) -> dict[str, set[Cell]]:
    """Return what each thing of a graph goes by, by its IRI, as cells of a table.

    That are its names, and its keys: values that no two things share, of a predicate that is
    called an id, code or number.
    """
    found: dict[str, set[Cell]] = {}
    for at in range(len(graph.names)):
        name = graph.names.name(at)
        cell = cell_of_json(name.text)
        if name.kind is Kind.ENTITY and cell is not None:
            found.setdefault(name.target, set()).add(cell)
    if graph.arrays is not None:
        for predicate in filter(_is_called_key, graph.profile.predicates):
            keys = list(_values(graph.arrays, predicate.iri))
            if len({cell for _, cell in keys}) < max(len(keys), 2):
                continue  # things share a value
            for iri, cell in keys:
                found.setdefault(iri, set()).add(cell)
    return found


def _values(arrays: GraphArrays, predicate: str) -> Iterator[tuple[str, Cell]]:
    """Yield the things that have literals of a predicate, each with its value.

    A predicate may be the key of some things, and lead to them from others.
    """
    number = arrays.number(predicate)
    if number is None:
        return
    for bearer, value in zip(*arrays.pairs(arrays.ends(number), number), strict=True):
        thing, literal = arrays.terms.term(int(bearer)), arrays.terms.term(int(value))
        cell = cell_of_term(literal) if isinstance(literal, Literal) else None
        if isinstance(thing, NamedNode) and cell is not None:
            yield thing.value, cell


def _is_called_key(predicate: PredicateProfile) -> bool:
    """Whether a predicate has literals, and a name of values that tell things apart."""
    if not predicate.datatypes:
        return False
    texts = [text for text, _ in predicate.names] or [local_name(predicate.iri)]
    keys = shared_words().names["keys"]
    return any(stem(words[-1]) in keys for text in texts if (words := name_tokens(text)))
