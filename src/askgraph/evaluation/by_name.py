"""Scores for answers that return resources where gold has their names.

Gold made from a relational database contains names only, never the resources themselves.
"""

from collections.abc import Iterator, Mapping, Set
from dataclasses import replace

from pyoxigraph import Literal, NamedNode

from askgraph.evaluation import ResultTable, Score
from askgraph.evaluation.metrics.sets import best_column
from askgraph.graph import KnowledgeGraph
from askgraph.graph.arrays import GraphArrays
from askgraph.graph.profile import PredicateProfile
from askgraph.index.names import ItemKind, stem_name, stem_word
from askgraph.search.tokenize.word_lists import get_shared_words
from askgraph.sparql.comparison import Cell, parse_json_value, to_comparable_value
from askgraph.sparql.prefixes import get_local_name


def score_by_name(
    predicted: ResultTable, gold: ResultTable, names: Mapping[str, Set[Cell]]
) -> Score:
    """Score the best columns; a resource counts as any of its names in gold's column.

    The score is never below `best_column`. A name that gold lacks stays an IRI, so a wrong resource
    stays wrong. Two resources with one name count as one, as they do in gold.

    Args:
        predicted: The table of the answer.
        gold: The table of the gold query.
        names: The names of each IRI.
    """
    direct_score = best_column(predicted, gold)
    if not predicted.terms or direct_score.f1 == 1:
        return direct_score
    columns = [_select_column(gold, index) for index in range(len(gold.variables))] or [gold]
    name_score = Score.compute_mean(
        [best_column(_replace_with_names(predicted, column, names), column) for column in columns]
    )
    return max(direct_score, name_score, key=lambda column: column.f1)


def _select_column(table: ResultTable, index: int) -> ResultTable:
    return ResultTable(
        table.variables[index : index + 1], tuple((row[index],) for row in table.rows)
    )


def _replace_with_names(
    predicted: ResultTable, gold: ResultTable, names: Mapping[str, Set[Cell]]
) -> ResultTable:
    """Return a table whose resources are replaced by their names in gold, where gold has them."""
    gold_values = gold.get_values()
    rows = tuple(
        tuple(
            _choose_name(cell, names.get(term.value, frozenset()) & gold_values)
            if isinstance(term, NamedNode)
            else cell
            for cell, term in zip(row, terms, strict=True)
        )
        for row, terms in zip(predicted.rows, predicted.terms, strict=True)
    )
    return replace(predicted, rows=rows)


def _choose_name(cell: Cell | None, names: Set[Cell]) -> Cell | None:
    return min(names, key=str) if names else cell


def collect_names(graph: KnowledgeGraph) -> dict[str, set[Cell]]:
    """Return the names and keys of each resource of a graph, by IRI, as table cells.

    A key is a value that no two resources share, of a predicate called an id, code or number.
    """
    names: dict[str, set[Cell]] = {}
    for index in range(len(graph.names)):
        name = graph.names.read_name(index)
        cell = parse_json_value(name.text)
        if name.kind is ItemKind.ENTITY and cell is not None:
            names.setdefault(name.target, set()).add(cell)
    if graph.arrays is not None:
        for predicate in filter(_is_named_like_key, graph.profile.predicates):
            key_values = list(_iterate_values(graph.arrays, predicate.iri))
            if len({cell for _, cell in key_values}) < max(len(key_values), 2):
                continue  # things share a value
            for iri, cell in key_values:
                names.setdefault(iri, set()).add(cell)
    return names


def _iterate_values(arrays: GraphArrays, predicate: str) -> Iterator[tuple[str, Cell]]:
    """Yield the resources that have literals of a predicate, each with its value.

    A predicate may be a key for some resources and lead to resources from others.
    """
    predicate_number = arrays.get_predicate_number(predicate)
    if predicate_number is None:
        return
    for subject, value in zip(
        *arrays.get_edges(arrays.get_ends(predicate_number), predicate_number), strict=True
    ):
        resource, literal = arrays.terms.get_term(int(subject)), arrays.terms.get_term(int(value))
        cell = to_comparable_value(literal) if isinstance(literal, Literal) else None
        if isinstance(resource, NamedNode) and cell is not None:
            yield resource.value, cell


def _is_named_like_key(predicate: PredicateProfile) -> bool:
    """Return whether a predicate has literals and a name such as id, code or number."""
    if not predicate.datatypes:
        return False
    texts = [text for text, _ in predicate.names] or [get_local_name(predicate.iri)]
    keys = get_shared_words().names["keys"]
    return any(stem_word(words[-1]) in keys for text in texts if (words := stem_name(text)))
