"""Terms with which a query has solutions in the place of one of its own, asked of the graph."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import fields, is_dataclass, replace
from typing import Any

from pyoxigraph import Literal, NamedNode, Variable

from askgraph.endpoint import Endpoint
from askgraph.errors import QueryError, ServiceError
from askgraph.rdf import vocabulary as v
from askgraph.sparql.tree import Group, Nested, Path, Pattern, Union
from askgraph.sparql.write import text_of

__all__ = ["SAYS_NOTHING", "counted", "freed", "in_group"]

_OTHER, _ROWS = Variable("ask_other"), Variable("ask_rows")
_ENDS = (Variable("ask_subject"), Variable("ask_object"))
SAYS_NOTHING = frozenset(
    [
        v.RDF_TYPE,
        *v.LABEL_PREDICATES,
        *v.ALTERNATIVE_LABEL_PREDICATES,
        *v.DESCRIPTION_PREDICATES,
    ]
)
"""Predicates that are in no question's place: names, descriptions, types."""


def in_group(term: NamedNode | Literal, group: Group) -> Group | None:
    """Return the group with a variable wherever the term stands; None where it would stay unbound.

    It is bound where the term stands in a pattern, and not only within a path.
    """
    if not any(term in (p.subject, p.predicate, p.object) for p in _patterns(group)):
        return None
    opened: Group = _with(group, term)
    return opened


def freed(term: NamedNode | Literal, group: Group) -> Group | None:
    """Return the first pattern with a term, all but its predicate open: whatever else fits there.

    None where the term is a predicate itself, or its pattern has none.
    """
    for pattern in _patterns(group):
        if term in (pattern.subject, pattern.object) and isinstance(pattern.predicate, NamedNode):
            ends = (_OTHER, _ENDS[1]) if pattern.subject == term else (_ENDS[0], _OTHER)
            return Group((Pattern(ends[0], pattern.predicate, ends[1]),))
    return None


async def counted(
    where: Group, endpoint: Endpoint, *, limit: int, timeout: float
) -> dict[NamedNode | Literal, int]:
    """Return the terms that the variable of a group may be, with numbers of solutions, most first.

    None where the endpoint does not answer in time.
    """
    most = limit + 1 + len(SAYS_NOTHING)
    query = (
        f"SELECT {_OTHER} (COUNT(*) AS {_ROWS}) WHERE {text_of(where)} "
        f"GROUP BY {_OTHER} ORDER BY DESC({_ROWS}) {_OTHER} LIMIT {most}"
    )
    try:
        result = await endpoint.select(query, timeout=timeout, limit=most)
    except (QueryError, ServiceError):
        return {}
    found: dict[NamedNode | Literal, int] = {}
    for term, rows in result.rows:
        told = isinstance(term, NamedNode | Literal) and term.value not in SAYS_NOTHING
        if told and isinstance(term, NamedNode | Literal) and isinstance(rows, Literal):
            found[term] = int(rows.value)
    return found


def _patterns(group: Group) -> Iterator[Pattern]:
    """The patterns whose variables are seen in a group."""
    for element in group.elements:
        match element:
            case Pattern():
                yield element
            case Nested(word="" | "OPTIONAL" | "GRAPH", group=inner):
                yield from _patterns(inner)
            case Union(groups=groups):
                for inner in groups:
                    yield from _patterns(inner)
            case _:
                pass


def _with(part: Any, term: NamedNode | Literal) -> Any:
    """A part of a tree with the variable wherever the term stands; but not within a path."""
    if part == term:
        return _OTHER
    if isinstance(part, tuple):
        return tuple(_with(inner, term) for inner in part)
    if is_dataclass(part) and not isinstance(part, type | Path):
        return replace(part, **{f.name: _with(getattr(part, f.name), term) for f in fields(part)})
    return part
