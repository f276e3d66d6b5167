"""Surroundings of a SERVICE clause: patterns that can be asked before it, to restrict it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from itertools import pairwise, takewhile

from pyoxigraph import Variable

from askgraph.errors import QuerySyntaxError
from askgraph.sparql import (
    Bind,
    Call,
    Expression,
    Filter,
    Group,
    Nested,
    Pattern,
    Query,
    Union,
    Values,
)
from askgraph.sparql.federation.scope import Part, Scope, groups_of, parts_of, span_of
from askgraph.sparql.federation.service import Clause, Level
from askgraph.sparql.lexer import lexed
from askgraph.sparql.parser import read
from askgraph.sparql.vocabulary import RDF_TYPE

NAMED = 3
"""A subject, an object or a row is named: few solutions are to be expected."""

_COMPARED, _CLASS, _ANYTHING = 2, 1, 0
_COMPARING = frozenset(["=", "IN", "CONTAINS", "REGEX", "STRSTARTS", "STRENDS"])


def anchoring(group: str, prologue: str = "") -> int:
    """Return how selective the patterns between the braces of a group look; more is more.

    3 if a subject or object is named, 2 if a value is compared with one, 1 if only a class
    is named, 0 else.
    """
    try:
        return _of_query(read(f"{prologue}SELECT * WHERE {{ {group} }}"))
    except QuerySyntaxError:
        return _ANYTHING  # a guess at the order in which to ask, no judgement of the query


def _of_query(query: Query) -> int:
    return NAMED if query.limit is not None else _of_group(query.where)


def _of_group(group: Group) -> int:
    return max((_anchoring_of(element) for element in group.elements), default=_ANYTHING)


def _anchoring_of(element: object) -> int:
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


_MOODY = frozenset("SERVICE LIMIT OFFSET SAMPLE RAND UUID STRUUID NOW BNODE GROUP_CONCAT".split())


@dataclass(frozen=True)
class Solved:
    """What stands in the place of a clause that was evaluated, and what that binds for sure."""

    text: str
    certain: frozenset[str]


@dataclass(frozen=True)
class Surroundings:
    """Patterns that each solution which a clause helps to make satisfies, or none.

    `shared` are the variables by which they restrict it. `solved` is the place of the one clause,
    evaluated before, that they consist of; None if there are patterns to be asked. `anchoring`
    tells how selective they look.
    """

    text: str
    shared: tuple[str, ...]
    anchoring: int
    solved: int | None = None


@dataclass(frozen=True)
class _Piece:
    """Some of the patterns: `offered` are variables that they bind, `linked` all that they have.

    A variable that is offered and not `certain` may be unbound only if an expression fails.
    """

    text: str
    certain: frozenset[str]
    linked: frozenset[str]
    order: int
    offered: frozenset[str] = field(default_factory=frozenset)
    used: frozenset[str] = field(default_factory=frozenset)
    solved: int | None = None


_PATTERN, _BLOCK, _BIND, _FILTER = range(4)


def surroundings(
    text: str, clause: Clause, solved: Mapping[int, Solved], prologue: str
) -> Surroundings:
    """Return what restricts a clause most, by the look of it.

    `solved` are the clauses of the query that were evaluated before, by their place. Left out is
    all that another evaluation may answer otherwise (LIMIT, RAND), and what is not linked with the
    clause. Without `shared` variables nothing restricts it.
    """
    pieces: list[_Piece] = []
    for level in clause.around:
        if level.graph and pieces:
            pieces = [_in_graph(pieces, level.graph)]
        elif any(piece.order in (_BIND, _FILTER) for piece in pieces):
            pieces = [_together(pieces)]
        pieces += _of_level(text, level, solved)
    if clause.graph and pieces:
        pieces = [_in_graph(pieces, clause.graph)]
    found = [
        _restriction(clause, connected, prologue) for connected in _components(pieces) if connected
    ]
    return max(found, key=lambda each: (len(each.shared) > 0, each.anchoring), default=_NOTHING)


_NOTHING = Surroundings("", (), 0)


def beside(clause: Clause) -> frozenset[int]:
    """Return the places of the elements around a clause, of which some may be clauses too."""
    return frozenset(_place(element) for level in clause.around for element in level.elements)


def filters_on(text: str, clause: Clause) -> tuple[str, ...]:
    """Return the filters around a clause that its own solutions must pass to count."""
    found, scope = list[str](), Scope(lexed(text).variables)
    for level in takewhile(lambda level: level.joined, clause.around):
        for part in level.elements:
            if isinstance(part, Filter) and not groups_of(part):
                written = text[slice(*span_of(part))]
                judged_there = not _moody(written) and not _calls_an_extension(written)
                if judged_there and scope.used(part) <= clause.certain:
                    found.append(written)
    return tuple(found)


def _of_level(text: str, level: Level, solved: Mapping[int, Solved]) -> list[_Piece]:
    """Return the pieces of one level, in the order in which they may be asked."""
    pieces: list[_Piece] = []
    bound = frozenset[str]()
    for element in level.elements:
        piece = _of_element(text, element, solved)
        if piece is None or (piece.order == _BIND and not piece.used <= bound):
            continue
        pieces.append(piece)
        bound |= piece.certain | piece.offered
    pieces = [piece for piece in pieces if piece.order != _FILTER or piece.used <= bound]
    taken = frozenset[str]().union(*(p.linked for p in pieces if p.order in (_PATTERN, _BLOCK)))
    return [
        piece
        for piece in sorted(pieces, key=lambda piece: piece.order)
        if not (piece.order == _BIND and piece.offered & taken)
    ]


def _of_element(text: str, part: Part, solved: Mapping[int, Solved]) -> _Piece | None:
    written, place = text[slice(*span_of(part))], _place(part)
    scope = Scope(lexed(text).variables)
    possible, used = frozenset(scope.possible(part)), scope.used(part)
    if place in solved:
        known = solved[place]
        return _Piece(known.text, known.certain, known.certain | possible, _BLOCK, solved=place)
    if _moody(written):
        return None
    linked = frozenset(token.text for token in lexed(written).all if token.kind == "blank")
    linked |= possible | used
    match part:
        case tuple():
            return _Piece(written.rstrip(" .\n\r\t") + " .", scope.certain(part), linked, _PATTERN)
        case Values() | Union() | Nested(word="" | "GRAPH"):
            return _Piece(written, scope.certain(part), linked, _BLOCK)
        case Filter() | Bind() if not groups_of(part):
            order = _BIND if isinstance(part, Bind) else _FILTER
            return _Piece(written, frozenset(), linked, order, offered=possible, used=used)
    return None


def _place(part: Part) -> int:
    """Return where a part starts; of a sub-select in braces of its own, where that starts."""
    if isinstance(part, Nested) and not part.word:
        match parts_of(part.group):
            case (Query() as select,):
                return span_of(select)[0]
    return span_of(part)[0]


def _components(pieces: list[_Piece]) -> list[list[_Piece]]:
    """Return the pieces that are linked by variables together, filters with all of theirs."""
    components: list[list[_Piece]] = []
    for piece in pieces:
        if piece.order == _FILTER:
            continue
        apart = [each for each in components if not _linked(each, piece)]
        joined = [one for each in components if _linked(each, piece) for one in each]
        components = [*apart, [*joined, piece]]
    filters = [piece for piece in pieces if piece.order == _FILTER]
    return [
        [*_ordered(each), *(one for one in filters if one.used <= _bound(each))]
        for each in components
    ]


def _linked(component: list[_Piece], piece: _Piece) -> bool:
    return any(piece.linked & one.linked for one in component)


def _ordered(pieces: list[_Piece]) -> list[_Piece]:
    return sorted(pieces, key=lambda piece: piece.order)


def _bound(pieces: list[_Piece]) -> frozenset[str]:
    return frozenset[str]().union(*(piece.certain | piece.offered for piece in pieces))


def _restriction(clause: Clause, pieces: list[_Piece], prologue: str) -> Surroundings:
    shared = tuple(name for name in clause.names if name in clause.certain & _bound(pieces))
    written = " ".join(piece.text for piece in pieces)
    if any(piece.solved is not None for piece in pieces):
        alone = pieces[0].solved if len(pieces) == 1 else None
        return Surroundings(written, shared, NAMED, alone)
    return Surroundings(written, shared, anchoring(written, prologue))


def _in_graph(pieces: list[_Piece], name: str) -> _Piece:
    inner = _together(pieces)
    named = frozenset([name[1:]]) if name.startswith(("?", "$")) else frozenset[str]()
    return _Piece(
        f"GRAPH {name} {inner.text}",
        inner.certain | named,
        inner.linked | named,
        _BLOCK,
        offered=inner.offered,
    )


def _together(pieces: list[_Piece]) -> _Piece:
    """Return pieces as one, in braces of its own, with the filters that can be judged there."""
    asked = [piece for piece in pieces if piece.order != _FILTER]
    bound = _bound(asked)
    kept = [*_ordered(asked), *(p for p in pieces if p.order == _FILTER and p.used <= bound)]
    return _Piece(
        "{ " + " ".join(piece.text for piece in kept) + " }",
        frozenset[str]().union(*(piece.certain for piece in asked)),
        frozenset[str]().union(*(piece.linked for piece in asked)),
        _BLOCK,
        offered=bound,
    )


def _moody(written: str) -> bool:
    return any(
        token.kind == "word" and token.text.upper() in _MOODY for token in lexed(written).all
    )


def _calls_an_extension(written: str) -> bool:
    """Whether a function is called by an IRI, which not every endpoint knows."""
    given = lexed(written).given
    return any(
        name.kind in ("iri", "pname") and behind.text == "(" for name, behind in pairwise(given)
    )
