"""Find the SERVICE clauses of a query, with their positions and surroundings."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import cast

from askgraph.errors import ForbiddenQuery, QueryError
from askgraph.sparql import Bind, Filter, Group, Nested, Query, Span, Union, Values
from askgraph.sparql.federation import (
    Part,
    VariableScope,
    get_inner_groups,
    get_modifier_groups,
    get_span,
    split_group,
)
from askgraph.sparql.judge import find_service_names
from askgraph.sparql.lexer import tokenize
from askgraph.sparql.parser import parse_query


@dataclass(frozen=True)
class SurroundingLevel:
    """The parts of one group beside a clause, or beside an inner group that contains it.

    Every solution to which the clause contributes satisfies the required ones of `elements`. If
    the clause is `joined`, with nothing optional or negated between, a filter of the group also
    holds for its own solutions. `graph` is the name of the GRAPH that contains the inner
    levels.
    """

    elements: tuple[Part, ...]
    joined: bool = True
    graph: str = ""


@dataclass(frozen=True)
class ServiceClause:
    """A part of a query, from `start` to `end`, that another endpoint evaluates.

    That is `SERVICE <target> { body }`, or a whole sub-select that contains nothing else.

    Attributes:
        around: the levels around it, innermost first.
        alternative: whether the clause is within a UNION.
    """

    target: str
    silent: bool
    body: str
    start: int
    end: int
    names: tuple[str, ...]  # the variables of its solutions
    certain: frozenset[str]  # those that each solution binds
    leading: frozenset[str]  # those that a VALUES in front of `body` may restrict
    surrounding_levels: tuple[SurroundingLevel, ...]
    graph: str = ""  # the name of the GRAPH that contains the outermost level
    is_alternative: bool = False


def find_clauses(text: str) -> tuple[ServiceClause, ...]:
    """Return the clauses of a checked query in order.

    Raises:
        ForbiddenQuery: a clause does not give its full address.
        QueryError: a clause is in an EXISTS and depends on each solution of the rest.
    """
    query = parse_query(text).tree
    reader = _ClauseFinder(text, VariableScope(tokenize(text).variable_names))
    clauses = list(reader.find_in_group(query.where, _GroupPosition()))
    for group in get_modifier_groups(query):
        clauses += reader.find_in_group(group, _GroupPosition(is_in_exists=True))
    target_names = find_service_names(text)
    if partial_target := next(
        (clause.target for clause in clauses if clause.target not in target_names), None
    ):
        raise ForbiddenQuery(f"a SERVICE needs a full address: <{partial_target}> is relative")
    return tuple(sorted(clauses, key=lambda clause: clause.start))


def get_sole_clause(text: str) -> tuple[ServiceClause, str] | None:
    """Return the clause of a query that contains nothing else, and the query to send for it.

    That query has the solution modifiers of the outermost one. None for a query with further
    parts, for DESCRIBE, which describes the content of its own endpoint, and for SILENT, which
    lets the rest continue after a failure.
    """
    query = parse_query(text).tree
    if query.form == "DESCRIBE" or get_modifier_groups(query):
        return None
    match split_group(query.where):
        case (Nested(word="SERVICE", silent=False, group=group),):
            start, end = get_span(query.where)
            datasets_start, datasets_end = query.dataset_span or (start, start)
            pieces = (
                text[:datasets_start],
                text[datasets_end:start],
                text[slice(*get_span(group))],
                text[end:],
            )
            return find_clauses(text)[0], "".join(pieces)
    return None


def list_services(text: str) -> tuple[str, ...]:
    """Return the addresses that a query calls by SERVICE, in order, unique; no variables."""
    return tuple(
        dict.fromkeys(name for name in find_service_names(text) if not name.startswith("?"))
    )


def get_prologue(text: str) -> str:
    """Return the PREFIX and BASE lines of a query."""
    return text[: cast("Span", parse_query(text).tree.inner)[0]]


@dataclass(frozen=True)
class _GroupPosition:
    """The position of a group: the levels around it, and the GRAPH that applies within.

    `outermost_graph` is the GRAPH that applies to the outermost level. An EXISTS substitutes the
    values of outer solutions into the patterns within.
    """

    surrounding_levels: tuple[SurroundingLevel, ...] = ()
    graph: str = ""
    outermost_graph: str = ""
    is_in_exists: bool = False
    is_alternative: bool = False

    def enter_joined(
        self, siblings: tuple[Part, ...], *, graph: str = "", is_alternative: bool = False
    ) -> "_GroupPosition":
        """Return the position of a group that is joined with its siblings."""
        return replace(
            self,
            surrounding_levels=(SurroundingLevel(siblings, graph=graph), *self.surrounding_levels),
            graph=graph or self.graph,
            is_alternative=is_alternative or self.is_alternative,
        )

    def enter_separate(
        self, preceding: tuple[Part, ...] = (), *, is_in_exists: bool = False
    ) -> "_GroupPosition":
        """Return the position of a group that is optional, negated or a sub-select.

        Parts further out must not restrict it: in `?a … OPTIONAL { ?b … OPTIONAL { SERVICE … } }` a
        missing solution of the innermost group would let a wrong one of the middle group pass.
        """
        levels = (SurroundingLevel(preceding, joined=False),) if preceding else ()
        is_in_exists = is_in_exists or self.is_in_exists
        return _GroupPosition(levels, self.graph, self.graph, is_in_exists, self.is_alternative)


@dataclass(frozen=True)
class _ClauseFinder:
    text: str
    scope: VariableScope

    def find_in_group(self, group: Group, position: _GroupPosition) -> Iterator[ServiceClause]:
        parts = split_group(group)
        for index, part in enumerate(parts):
            preceding = parts[:index]
            siblings = (*preceding, *parts[index + 1 :])
            match part:
                case Nested(word="SERVICE"):
                    yield self.build_clause(part, position.enter_joined(siblings))
                    continue
                case Query():
                    yield from self.find_in_select(part, position)
                    continue
                case Nested(word="" | "GRAPH", name=name):
                    inner_position = position.enter_joined(
                        siblings, graph="" if name is None else str(name)
                    )
                case Union():
                    inner_position = position.enter_joined(siblings, is_alternative=True)
                case Filter():
                    inner_position = position.enter_separate(siblings, is_in_exists=True)
                case _:
                    inner_position = position.enter_separate(
                        preceding, is_in_exists=isinstance(part, Bind)
                    )
            for inner_group in get_inner_groups(part):
                yield from self.find_in_group(inner_group, inner_position)

    def find_in_select(self, select: Query, position: _GroupPosition) -> Iterator[ServiceClause]:
        """Yield a sub-select around a single clause as one clause, else the clauses within."""
        where, *modifier_groups = get_inner_groups(select)
        match split_group(where), modifier_groups:
            case (Nested(word="SERVICE", silent=False, group=service_group) as service,), []:
                (start, end), (where_start, where_end) = get_span(select), get_span(where)
                service_text = self.text[slice(*get_span(service_group))]
                body = (
                    f"{{ {self.text[start:where_start]}{service_text}{self.text[where_end:end]} }}"
                )
                yield self.create_clause(service, select, body, frozenset(), position)
            case _:
                yield from self.find_in_group(where, position.enter_separate())
                for group in modifier_groups:
                    yield from self.find_in_group(group, position.enter_separate(is_in_exists=True))

    def build_clause(self, service: Nested, position: _GroupPosition) -> ServiceClause:
        leading = frozenset[str]()
        for part in split_group(service.group):
            if not isinstance(part, tuple | Filter | Values | Union | Nested):
                break
            if isinstance(part, Nested) and part.word not in ("", "GRAPH"):
                break
            leading |= self.scope.get_certain_variables(part)
        start, end = get_span(service.group)
        body = self.text[start + 1 : end - 1].strip()
        return self.create_clause(service, service.group, body, leading, position)

    def create_clause(
        self,
        service: Nested,
        solution_source: Group | Query,
        body: str,
        leading: frozenset[str],
        position: _GroupPosition,
    ) -> ServiceClause:
        """Return the clause of a SERVICE; its solutions are those of `solution_source`."""
        target = str(service.name)
        if not target.startswith("<"):
            raise ForbiddenQuery("a SERVICE to a variable is not run: name the graph")
        clause = ServiceClause(
            target[1:-1],
            service.silent,
            body,
            *get_span(solution_source if isinstance(solution_source, Query) else service),
            self.scope.get_possible_variables(solution_source),
            self.scope.get_certain_variables(solution_source),
            leading,
            position.surrounding_levels,
            position.outermost_graph,
            position.is_alternative,
        )
        if position.is_in_exists:
            text_before, text_after = self.text[: clause.start], self.text[clause.end :]
            outer_variables = (
                tokenize(text_before).variable_names | tokenize(text_after).variable_names
            )
            unbound = (
                tokenize(clause.body).variable_names - clause.certain
            ) | self.find_unbound_variables(service.group)
            if correlated := unbound & outer_variables:
                raise QueryError(
                    f"the SERVICE <{clause.target}> within EXISTS reads ?{min(correlated)} of "
                    "the query around it: bind it inside with a pattern, or move the condition "
                    "out of the SERVICE"
                )
        return clause

    def find_unbound_variables(self, group: Group) -> frozenset[str]:
        """Return the variables that expressions read and their group does not bind."""
        unbound, group_variables = frozenset[str](), {*self.scope.get_possible_variables(group)}
        for part in split_group(group):
            unbound |= self.scope.get_used_variables(part) - group_variables
            for inner_group in get_inner_groups(part):
                unbound |= self.find_unbound_variables(inner_group)
        return unbound
