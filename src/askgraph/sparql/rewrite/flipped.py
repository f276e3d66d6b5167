"""The same query with triples the other way round: what a model that mixes up their ends meant.

The error and its name are D'Abramo's (arXiv 2407.01409, section 4.4), who asks the model for such
queries; here they are made without one.
"""

from collections.abc import Iterator
from dataclasses import replace
from itertools import combinations

from pyoxigraph import Literal, NamedNode

from askgraph.rdf.vocabulary import RDF_TYPE
from askgraph.sparql.read import read
from askgraph.sparql.tree import Element, Group, Nested, Pattern, Query, Union
from askgraph.sparql.write import text_of

__all__ = ["flipped"]

_MOST = 12  # triples that are flipped at all


def flipped(query: str, *, limit: int = 15) -> Iterator[str]:
    """Give the query with one triple flipped, then with two, and so on, at most `limit` queries.

    Left as they are: triples with a literal, and those that say what a thing is. Raises
    `QuerySyntaxError` where the query cannot be read.
    """
    tree = read(query)
    places = list(_places(tree.where))[:_MOST]
    given = 0
    for number in range(1, len(places) + 1):
        for chosen in combinations(places, number):
            if given == limit:
                return
            given += 1
            yield text_of(replace(tree, where=_with_flips(tree.where, frozenset(chosen), ())))


Place = tuple[int, ...]


def _places(group: Group, at: Place = ()) -> Iterator[Place]:
    """Where the triples stand that may be flipped."""
    for number, element in enumerate(group.elements):
        here = (*at, number)
        if isinstance(element, Pattern) and _may_flip(element):
            yield here
        for branch, inner in enumerate(_groups(element)):
            yield from _places(inner, (*here, branch))


def _may_flip(pattern: Pattern) -> bool:
    kind = isinstance(pattern.predicate, NamedNode) and pattern.predicate.value == RDF_TYPE
    return not kind and not isinstance(pattern.object, Literal)


def _groups(element: Element) -> tuple[Group, ...]:
    match element:
        case Nested(group=group) | Query(where=group):
            return (group,)
        case Union(groups=groups):
            return groups
        case _:
            return ()


def _with_flips(group: Group, chosen: frozenset[Place], at: Place) -> Group:
    return Group(
        tuple(
            _changed(element, chosen, (*at, number))
            for number, element in enumerate(group.elements)
        )
    )


def _changed(element: Element, chosen: frozenset[Place], here: Place) -> Element:
    match element:
        case Pattern() if here in chosen:
            return replace(element, subject=element.object, object=element.subject)
        case Nested(group=group):
            return replace(element, group=_with_flips(group, chosen, (*here, 0)))
        case Query(where=group):
            return replace(element, where=_with_flips(group, chosen, (*here, 0)))
        case Union(groups=groups):
            inner = (_with_flips(one, chosen, (*here, n)) for n, one in enumerate(groups))
            return Union(tuple(inner))
        case _:
            return element
