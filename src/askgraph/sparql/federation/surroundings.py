"""Find patterns around a SERVICE clause that can run before it, to restrict it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from itertools import pairwise, takewhile

from pyoxigraph import Variable

from askgraph import sparql
from askgraph.errors import QuerySyntaxError
from askgraph.sparql.federation import Part, VariableScope, get_inner_groups, get_span, split_group
from askgraph.sparql.federation.service import ServiceClause, SurroundingLevel
from askgraph.sparql.lexer import tokenize
from askgraph.sparql.parser import parse_tree
from askgraph.sparql.vocabulary import RDF_TYPE

NAMED_TERM_SCORE = 3
"""Selectivity of patterns with a fixed subject, object or row: few solutions are expected."""

_COMPARISON_SCORE, _CLASS_SCORE, _MIN_SCORE = 2, 1, 0
_SELECTIVE_FUNCTIONS = frozenset(["=", "IN", "CONTAINS", "REGEX", "STRSTARTS", "STRENDS"])


def estimate_selectivity(group: str, prologue: str = "") -> int:
    """Return how selective the patterns between the braces of a group look; higher is better.

    3 if a subject or object is fixed, 2 if a value is compared with a constant, 1 if only a class
    is fixed, else 0.
    """
    try:
        return _estimate_query(parse_tree(f"{prologue}SELECT * WHERE {{ {group} }}"))
    except QuerySyntaxError:
        return _MIN_SCORE  # the order is a heuristic and does not affect the result


def _estimate_query(query: sparql.Query) -> int:
    return NAMED_TERM_SCORE if query.limit is not None else _estimate_group(query.where)


def _estimate_group(group: sparql.Group) -> int:
    return max((_estimate_element(element) for element in group.elements), default=_MIN_SCORE)


def _estimate_element(element: object) -> int:
    match element:
        case sparql.Values():
            return NAMED_TERM_SCORE
        case sparql.Pattern():
            if not isinstance(element.subject, Variable):
                return NAMED_TERM_SCORE
            if isinstance(element.object, Variable):
                return _MIN_SCORE
            return _CLASS_SCORE if str(element.predicate) == f"<{RDF_TYPE}>" else NAMED_TERM_SCORE
        case sparql.Filter():
            return _COMPARISON_SCORE if _is_selective(element.condition) else _MIN_SCORE
        case sparql.Union():
            return min(_estimate_group(group) for group in element.groups)
        case sparql.Nested(word="" | "GRAPH"):
            return _estimate_group(element.group)
        case sparql.Query():
            return _estimate_query(element)
        case _:
            return _MIN_SCORE


def _is_selective(condition: sparql.Expression) -> bool:
    if not isinstance(condition, sparql.Call):
        return False
    if condition.name == "||":
        return all(map(_is_selective, condition.arguments))
    if condition.name == "&&":
        return any(map(_is_selective, condition.arguments))
    return condition.name in _SELECTIVE_FUNCTIONS


_NONDETERMINISTIC_WORDS = frozenset(
    "SERVICE LIMIT OFFSET SAMPLE RAND UUID STRUUID NOW BNODE GROUP_CONCAT".split()
)


@dataclass(frozen=True)
class EvaluatedClause:
    """The replacement text of an evaluated clause, and the variables that it always binds."""

    text: str
    certain: frozenset[str]


@dataclass(frozen=True)
class Restriction:
    """Patterns that every solution to which a clause contributes satisfies; may be empty.

    Attributes:
        shared: the variables that restrict the clause. anchoring: how selective the patterns
        look; see `estimate_selectivity`. solved: the position of the only clause in the
        patterns, which was evaluated before; None if
            the patterns must be queried.
    """

    text: str
    shared: tuple[str, ...]
    selectivity: int
    evaluated_position: int | None = None


@dataclass(frozen=True)
class _PatternPiece:
    """Some patterns: `offered` variables are bound unless an expression fails, `certain` always."""

    text: str
    certain: frozenset[str]
    linked: frozenset[str]
    order: int
    offered: frozenset[str] = field(default_factory=frozenset)
    used_variables: frozenset[str] = field(default_factory=frozenset)
    evaluated_position: int | None = None


_PATTERN_ORDER, _BLOCK_ORDER, _BIND_ORDER, _FILTER_ORDER = range(4)


def choose_restriction(
    text: str,
    clause: ServiceClause,
    evaluated_clauses: Mapping[int, EvaluatedClause],
    prologue: str,
) -> Restriction:
    """Return the patterns around a clause that look most selective.

    Patterns that another evaluation may answer differently (LIMIT, RAND), and those not linked
    with the clause, are left out. Without `shared` variables nothing restricts it.

    Args:
        evaluated_clauses: the clauses of the query that were evaluated before, by position.
    """
    pieces: list[_PatternPiece] = []
    for level in clause.surrounding_levels:
        if level.graph and pieces:
            pieces = [_wrap_in_graph(pieces, level.graph)]
        elif any(piece.order in (_BIND_ORDER, _FILTER_ORDER) for piece in pieces):
            pieces = [_join_pieces(pieces)]
        pieces += _build_level_pieces(text, level, evaluated_clauses)
    if clause.graph and pieces:
        pieces = [_wrap_in_graph(pieces, clause.graph)]
    components: list[list[_PatternPiece]] = []
    for piece in pieces:
        if piece.order == _FILTER_ORDER:
            continue
        unlinked = [component for component in components if not _is_linked(component, piece)]
        linked_pieces = [
            other_piece
            for component in components
            if _is_linked(component, piece)
            for other_piece in component
        ]
        components = [*unlinked, [*linked_pieces, piece]]
    filters = [piece for piece in pieces if piece.order == _FILTER_ORDER]
    restrictions = [
        _build_restriction(clause, component, prologue)
        for component in [
            [
                *sorted(component, key=lambda piece: piece.order),
                *(
                    other_piece
                    for other_piece in filters
                    if other_piece.used_variables <= _get_bound_variables(component)
                ),
            ]
            for component in components
        ]
        if component
    ]
    return max(
        restrictions,
        key=lambda restriction: (len(restriction.shared) > 0, restriction.selectivity),
        default=_NO_RESTRICTION,
    )


_NO_RESTRICTION = Restriction("", (), 0)


def get_sibling_positions(clause: ServiceClause) -> frozenset[int]:
    """Return the positions of the elements around a clause, some of which may be clauses too."""
    return frozenset(
        _get_position(element) for level in clause.surrounding_levels for element in level.elements
    )


def find_filters(text: str, clause: ServiceClause) -> tuple[str, ...]:
    """Return the filters around a clause that its own solutions must pass."""
    filters, scope = list[str](), VariableScope(tokenize(text).variable_names)
    for level in takewhile(lambda level: level.joined, clause.surrounding_levels):
        for part in level.elements:
            if isinstance(part, sparql.Filter) and not get_inner_groups(part):
                filter_text = text[slice(*get_span(part))]
                is_portable = not _is_nondeterministic(filter_text) and not _has_extension_function(
                    filter_text
                )
                if is_portable and scope.get_used_variables(part) <= clause.certain:
                    filters.append(filter_text)
    return tuple(filters)


def _build_level_pieces(
    text: str, level: SurroundingLevel, evaluated_clauses: Mapping[int, EvaluatedClause]
) -> list[_PatternPiece]:
    pieces: list[_PatternPiece] = []
    bound = frozenset[str]()
    for element in level.elements:
        piece = _build_piece(text, element, evaluated_clauses)
        if piece is None or (piece.order == _BIND_ORDER and not piece.used_variables <= bound):
            continue
        pieces.append(piece)
        bound |= piece.certain | piece.offered
    pieces = [
        piece for piece in pieces if piece.order != _FILTER_ORDER or piece.used_variables <= bound
    ]
    linked_variables = frozenset[str]().union(
        *(
            pattern_piece.linked
            for pattern_piece in pieces
            if pattern_piece.order in (_PATTERN_ORDER, _BLOCK_ORDER)
        )
    )
    return [
        piece
        for piece in sorted(pieces, key=lambda piece: piece.order)
        if not (piece.order == _BIND_ORDER and piece.offered & linked_variables)
    ]


def _build_piece(
    text: str, part: Part, evaluated_clauses: Mapping[int, EvaluatedClause]
) -> _PatternPiece | None:
    part_text, position = text[slice(*get_span(part))], _get_position(part)
    scope = VariableScope(tokenize(text).variable_names)
    possible = frozenset(scope.get_possible_variables(part))
    used_variables = scope.get_used_variables(part)
    if position in evaluated_clauses:
        evaluated = evaluated_clauses[position]
        return _PatternPiece(
            evaluated.text,
            evaluated.certain,
            evaluated.certain | possible,
            _BLOCK_ORDER,
            evaluated_position=position,
        )
    if _is_nondeterministic(part_text):
        return None
    linked = frozenset(
        token.text for token in tokenize(part_text).all_tokens if token.kind == "blank"
    )
    linked |= possible | used_variables
    match part:
        case tuple():
            return _PatternPiece(
                part_text.rstrip(" .\n\r\t") + " .",
                scope.get_certain_variables(part),
                linked,
                _PATTERN_ORDER,
            )
        case sparql.Values() | sparql.Union() | sparql.Nested(word="" | "GRAPH"):
            return _PatternPiece(part_text, scope.get_certain_variables(part), linked, _BLOCK_ORDER)
        case sparql.Filter() | sparql.Bind() if not get_inner_groups(part):
            return _PatternPiece(
                part_text,
                frozenset(),
                linked,
                _BIND_ORDER if isinstance(part, sparql.Bind) else _FILTER_ORDER,
                offered=possible,
                used_variables=used_variables,
            )
    return None


def _get_position(part: Part) -> int:
    """Return the start of a part; of a sub-select in its own braces, without the braces."""
    if isinstance(part, sparql.Nested) and not part.word:
        match split_group(part.group):
            case (sparql.Query() as select,):
                return get_span(select)[0]
    return get_span(part)[0]


def _is_linked(component: list[_PatternPiece], piece: _PatternPiece) -> bool:
    return any(piece.linked & member.linked for member in component)


def _get_bound_variables(pieces: list[_PatternPiece]) -> frozenset[str]:
    return frozenset[str]().union(*(piece.certain | piece.offered for piece in pieces))


def _build_restriction(
    clause: ServiceClause, pieces: list[_PatternPiece], prologue: str
) -> Restriction:
    shared_variables = tuple(
        name for name in clause.names if name in clause.certain & _get_bound_variables(pieces)
    )
    text = " ".join(piece.text for piece in pieces)
    if any(piece.evaluated_position is not None for piece in pieces):
        position = pieces[0].evaluated_position if len(pieces) == 1 else None
        return Restriction(text, shared_variables, NAMED_TERM_SCORE, position)
    return Restriction(text, shared_variables, estimate_selectivity(text, prologue))


def _wrap_in_graph(pieces: list[_PatternPiece], name: str) -> _PatternPiece:
    joined = _join_pieces(pieces)
    name_variables = frozenset([name[1:]]) if name.startswith(("?", "$")) else frozenset[str]()
    return _PatternPiece(
        f"GRAPH {name} {joined.text}",
        joined.certain | name_variables,
        joined.linked | name_variables,
        _BLOCK_ORDER,
        offered=joined.offered,
    )


def _join_pieces(pieces: list[_PatternPiece]) -> _PatternPiece:
    patterns = [piece for piece in pieces if piece.order != _FILTER_ORDER]
    bound = _get_bound_variables(patterns)
    ordered = [
        *sorted(patterns, key=lambda piece: piece.order),
        *(
            filter_piece
            for filter_piece in pieces
            if filter_piece.order == _FILTER_ORDER and filter_piece.used_variables <= bound
        ),
    ]
    return _PatternPiece(
        "{ " + " ".join(piece.text for piece in ordered) + " }",
        frozenset[str]().union(*(piece.certain for piece in patterns)),
        frozenset[str]().union(*(piece.linked for piece in patterns)),
        _BLOCK_ORDER,
        offered=bound,
    )


def _is_nondeterministic(text: str) -> bool:
    return any(
        token.kind == "word" and token.text.upper() in _NONDETERMINISTIC_WORDS
        for token in tokenize(text).all_tokens
    )


def _has_extension_function(text: str) -> bool:
    """Return whether a function is called by an IRI, which some endpoints do not know."""
    return any(
        name.kind in ("iri", "pname") and following.text == "("
        for name, following in pairwise(tokenize(text).tokens)
    )
