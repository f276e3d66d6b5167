"""Queries with triples the other way round, as a model that mixes up their ends meant them.

The error and its name are D'Abramo's (arXiv 2407.01409, section 4.4), who asks the model for such
queries; here they are made without one.
"""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import combinations, count, islice

from pyoxigraph import Literal, NamedNode

from askgraph.rdf.vocabulary import RDF_TYPE
from askgraph.sparql import Bind, Call, Filter, Group, Pattern, Query, children, transform, walk

_MOST = 12  # triples that are flipped at all


def flipped(query: Query, *, limit: int = 15) -> Iterator[Query]:
    """Give the query with one triple flipped, then with two, and so on, at most `limit` queries.

    Left as they are: triples with a literal, and those that say what a thing is.
    """
    places = range(min(_MOST, sum(map(_may_flip, walk(query.where, into=_inside)))))
    chosen = (some for number in places for some in combinations(places, number + 1))
    for some in islice(chosen, limit):
        yield replace(query, where=_with_flips(query.where, some))


def _with_flips(where: Group, chosen: Sequence[int]) -> Group:
    numbers = count()

    def change(node: object) -> object:
        if isinstance(node, Pattern) and _may_flip(node) and next(numbers) in chosen:
            return replace(node, subject=node.object, object=node.subject)
        return node

    changed: Group = transform(where, change, enter=_holds_triples)
    return changed


def _may_flip(node: object) -> bool:
    if not isinstance(node, Pattern):
        return False
    kind = isinstance(node.predicate, NamedNode) and node.predicate.value == RDF_TYPE
    return not kind and not isinstance(node.object, Literal)


def _holds_triples(node: object) -> bool:
    """Whether a part is of the patterns, and not of a condition or an expression."""
    return not isinstance(node, Filter | Bind | Call)


def _inside(node: object) -> tuple[object, ...]:
    return children(node) if _holds_triples(node) else ()
