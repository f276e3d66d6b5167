"""How selective a group of patterns looks: what a query names, without asking anyone."""

from pyoxigraph import Variable

from askgraph.errors import QuerySyntaxError
from askgraph.rdf.vocabulary import RDF_TYPE
from askgraph.sparql.read import read
from askgraph.sparql.tree import (
    Call,
    Element,
    Expression,
    Filter,
    Group,
    Nested,
    Pattern,
    Query,
    Union,
    Values,
)

__all__ = ["NAMED", "anchoring"]

NAMED = 3
"""A subject, an object or a row is named: few solutions are to be expected."""

_COMPARED, _CLASS, _ANYTHING = 2, 1, 0
_COMPARING = frozenset(["=", "IN", "CONTAINS", "REGEX", "STRSTARTS", "STRENDS"])


def anchoring(group: str, prologue: str = "") -> int:
    """Return how selective the patterns between the braces of a group look; more is more.

    3 where a subject or object is named, 2 where a value is compared with one, 1 where only a class
    is named, 0 else.
    """
    try:
        return _of_query(read(f"{prologue}SELECT * WHERE {{ {group} }}"))
    except QuerySyntaxError:
        return _ANYTHING  # a guess at the order in which to ask, no judgement of the query


def _of_query(query: Query) -> int:
    return NAMED if query.limit is not None else _of_group(query.where)


def _of_group(group: Group) -> int:
    return max((_of_element(element) for element in group.elements), default=_ANYTHING)


def _of_element(element: Element) -> int:
    match element:
        case Values():
            return NAMED
        case Pattern():
            return _of_pattern(element)
        case Filter():
            return _COMPARED if _compares(element.condition) else _ANYTHING
        case Union():
            return min(_of_group(group) for group in element.groups)
        case Nested(word="" | "GRAPH"):
            return _of_group(element.group)
        case Query():
            return _of_query(element)
        case _:
            return _ANYTHING


def _of_pattern(pattern: Pattern) -> int:
    if not isinstance(pattern.subject, Variable):
        return NAMED
    if isinstance(pattern.object, Variable):
        return _ANYTHING
    return _CLASS if str(pattern.predicate) == f"<{RDF_TYPE}>" else NAMED


def _compares(condition: Expression) -> bool:
    if not isinstance(condition, Call):
        return False
    if condition.name == "||":
        return all(map(_compares, condition.arguments))
    if condition.name == "&&":
        return any(map(_compares, condition.arguments))
    return condition.name in _COMPARING
