"""Conditions of existence written step by step, for an engine that looks at each group as a whole.

    FILTER NOT EXISTS { ?t :student ?s . ?t :course ?c . ?c :department :Biology }
    FILTER NOT EXISTS { ?t :student ?s FILTER EXISTS { ?t :course ?c FILTER EXISTS { … } } }

Both say the same. An engine that orders the patterns of such a group without knowing that `?s` is
bound, as Oxigraph does, goes through all courses for each student, which takes minutes for some ten
thousand; of one pattern after the other it reads what is at hand.
"""

from collections.abc import Sequence, Set

from pyoxigraph import NamedNode, Variable

from askgraph.errors import QueryError
from askgraph.rdf.vocabulary import RDF_TYPE
from askgraph.sparql import (
    Call,
    Element,
    Filter,
    Group,
    Pattern,
    Query,
    transform,
    variables_of,
)
from askgraph.sparql.write import text_of, tree_of

_EXISTENCE = ("EXISTS", "NOT EXISTS")
_TYPE = NamedNode(RDF_TYPE)


def stepwise(query: str) -> str:
    """Return a SELECT or ASK query with its conditions of existence step by step.

    What cannot be read, or has none with several patterns, stays the very same text.
    """
    try:
        tree = tree_of(query)
    except QueryError:
        return query
    if tree.form == "SELECT" and not tree.columns:  # what a star stands for would have more columns
        return query
    changed: Query = transform(tree, lambda part: _group(part) if type(part) is Group else part)
    return str(query if changed is tree else text_of(changed))


def _group(group: Group) -> Group:
    """A group with those conditions in steps that share a variable with what else is in it."""
    elements = tuple(_element(one, group) for one in group.elements)
    changed = any(new is not old for new, old in zip(elements, group.elements, strict=True))
    return Group(elements) if changed else group


def _element(element: Element, group: Group) -> Element:
    match element:
        case Filter(condition=Call(name=name, arguments=(Group() as inner,))) if name in _EXISTENCE:
            outside = {v for one in group.elements if one is not element for v in variables_of(one)}
            steps = _steps(inner, outside)
            return Filter(Call(name, (steps,))) if steps is not None else element
        case _:
            return element


def _steps(inner: Group, known: Set[Variable]) -> Group | None:
    """Patterns one within the other, each on from what is known by then; None if they are not."""
    left = [one for one in inner.elements if isinstance(one, Pattern)]
    rest = [one for one in inner.elements if not isinstance(one, Pattern)]
    if len(left) < 2 or not all(isinstance(one, Filter) for one in rest):
        return None
    ordered: list[Pattern] = []
    while left:
        best = max(left, key=lambda one: _held(one, known))
        if not set(variables_of(best)) & known:
            return None
        ordered.append(best)
        left.remove(best)
        known = {*known, *variables_of(best)}
    return _within(ordered, rest)


def _held(pattern: Pattern, known: Set[Variable]) -> tuple[int, bool]:
    """How many ends of a pattern are known; first what joins, before what only has a class."""
    open_ends = sum(variable not in known for variable in set(variables_of(pattern)))
    joins = bool(set(variables_of(pattern)) & known)
    return (-open_ends if joins else -9), pattern.predicate != _TYPE


def _within(ordered: Sequence[Pattern], rest: Sequence[Element]) -> Group:
    first, *others = ordered
    if not others:
        return Group((first, *rest))
    return Group((first, Filter(Call("EXISTS", (_within(others, rest),)))))
