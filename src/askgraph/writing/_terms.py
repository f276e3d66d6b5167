"""Put other terms in the places of those of a query's tree."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, fields, is_dataclass, replace
from typing import Any, TypeVar

from pyoxigraph import BlankNode, Literal, NamedNode, Variable

from askgraph.sparql.tree import Call, Path, Pattern, Term

__all__ = ["Change", "changed"]

_Part = TypeVar("_Part")


@dataclass(frozen=True)
class Change:
    """What becomes of each term: of one in the place of a predicate, of any other, of a cast."""

    predicate: Callable[[NamedNode], NamedNode] = lambda iri: iri
    term: Callable[[Term], Term] = lambda term: term
    cast: Callable[[str], str] = lambda name: name


def changed(part: _Part, change: Change) -> _Part:
    """Return a part of a tree with all its terms changed, those of groups within it too."""
    new: _Part = _changed(part, change)
    return new


def _changed(part: Any, change: Change) -> Any:
    match part:
        case NamedNode() | Literal() | BlankNode() | Variable():
            return change.term(part)
        case tuple():
            return tuple(_changed(piece, change) for piece in part)
        case Path(operator=operator, parts=parts):
            return Path(operator, tuple(_predicate(piece, change) for piece in parts))
        case Pattern():
            subject, predicate = change.term(part.subject), _predicate(part.predicate, change)
            return Pattern(subject, predicate, change.term(part.object))
        case Call(name=name, arguments=arguments, separator=separator):
            named = change.cast(name) if ":" in name else name
            return Call(named, _changed(arguments, change), separator)
    if not is_dataclass(part) or isinstance(part, type):
        return part
    inner = {each.name: _changed(getattr(part, each.name), change) for each in fields(part)}
    return replace(part, **inner)


def _predicate(part: Any, change: Change) -> Any:
    match part:
        case NamedNode():
            return change.predicate(part)
        case Path():
            return _changed(part, change)
    return change.term(part)
