"""The triples behind the rows of a result, fetched with one more query."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from pyoxigraph import BlankNode, Literal, NamedNode, Variable

from askgraph.answers.verbalize import Statements, iris_in
from askgraph.endpoint import Endpoint
from askgraph.errors import QueryError
from askgraph.sparql import (
    Bind,
    Call,
    Element,
    Expression,
    Filter,
    Group,
    Nested,
    Path,
    Pattern,
    Predicate,
    Query,
    Union,
    Values,
    find_variables,
    walk,
)
from askgraph.sparql.results import Row, SelectResult, Term
from askgraph.sparql.serializer import to_text, to_tree
from askgraph.sparql.vocabulary import XSD_INTEGER
from askgraph.trace import Evidence

_OF_A_GROUP = 3  # solutions shown of those that were counted
_ROW = "ask_row"
_MARK = "ask_part"


@dataclass(frozen=True)
class _Solutions:
    """What is behind one row: the patterns found, a remark, and groups of which there is none."""

    patterns: tuple[Pattern, ...]
    remark: str
    absent: tuple[tuple[Pattern, ...], ...]

    def words(self, statements: Statements) -> tuple[str, ...]:
        found = [statements.of(pattern) for pattern in self.patterns]
        groups = [[statements.of(pattern) for pattern in group] for group in self.absent]
        absent = ["no triple " + " together with ".join(said) for said in groups]
        return (*found, *([self.remark] if self.remark else []), *absent)


@dataclass(frozen=True)
class Behind:
    """The patterns behind the first rows of a result, filled in: triples still without words."""

    solutions: tuple[_Solutions, ...] = ()
    where: Group | None = None

    @property
    def iris(self) -> tuple[str, ...]:
        """The IRIs that the words name, each once."""
        return iris_in(tuple((row.patterns, row.absent) for row in self.solutions))

    def told(self, labels: Mapping[str, str]) -> tuple[Evidence, ...]:
        """Return the evidence for each row, read out by `labels` (IRI -> label)."""
        statements = Statements(labels, self.where)
        return tuple(
            Evidence(number, tuple(map(_triple, row.patterns)), row.words(statements))
            for number, row in enumerate(self.solutions)
        )


async def evidence(
    query: Query | str, result: SelectResult, endpoint: Endpoint, *, rows: int = 5
) -> Behind:
    """Return what is behind each of the first rows of a SELECT result.

    The values of the rows are put into the query and the other variables are asked for, all in one
    request. Of a path its ends are given, with the path as SPARQL writes it as the predicate; of
    groups a few of the solutions that were counted; what must not be is said in words. A row may
    have none. Empty if the query has a construct that cannot be taken apart. Raises
    `ServiceError` as the endpoint does.
    """
    try:
        tree = _main(to_tree(query))
    except QueryError:
        return Behind()
    parts = _Parts()
    where = parts.marked(tree.where)
    if tree.form != "SELECT" or not parts.found:
        return Behind()
    shown = [_Bound.of(tree, result, row) for row in result.rows[:rows]]
    if not shown:
        return Behind()
    # One query for all rows: a sub-select a row, joined by UNION.
    most = _OF_A_GROUP + 1 if tree.is_aggregate else 1
    row, names = Variable(_ROW), tuple((name, None) for name in parts.variables())
    selects = []
    for number, bound in enumerate(shown):
        given = Values(tuple(map(Variable, bound.terms)), (tuple(bound.terms.values()),))
        inner = Group((given, *where.elements) if bound.terms else where.elements)
        columns = ((row, _number(number)), *names)
        selects.append(Group((Query("SELECT", inner, columns, limit=most),)))
    batch = Query("SELECT", Group((Union(tuple(selects)),)), ((row, None), *names))
    try:
        solutions = await endpoint.select(to_text(batch))
    except QueryError:
        return Behind()
    pairs = (zip(solutions.variables, cells, strict=True) for cells in solutions.rows)
    bindings = [{name: term for name, term in cells if term is not None} for cells in pairs]
    filled = []
    for number, bound in enumerate(shown):
        mine = [found for found in bindings if found[_ROW] == _number(number)]
        filled.append(_solutions(parts, mine, bound, is_aggregate=tree.is_aggregate))
    return Behind(tuple(filled), tree.where)


def _main(query: Query) -> Query:
    """The query whose patterns are behind the rows: the lone sub-select, if there is no more."""
    match query.where.elements:
        case (Query() as inner,) if not query.is_aggregate:
            return _main(inner)
        case _:
            return query


@dataclass(frozen=True)
class _Part:
    """A pattern, and the mark that shows whether its OPTIONAL or UNION branch was taken."""

    pattern: Pattern
    marks: tuple[str, ...]


class _Parts:
    """The patterns of a query; `marked` also returns its WHERE part with the marks in place."""

    def __init__(self) -> None:
        self.found: list[_Part] = []
        self.absent: list[tuple[Pattern, ...]] = []
        self.marks = 0

    def marked(self, group: Group, marks: tuple[str, ...] = ()) -> Group:
        elements: list[Element] = []
        for element in group.elements:
            elements += self.element(element, marks)
        return Group(tuple(elements))

    def element(self, element: Element, marks: tuple[str, ...]) -> list[Element]:
        match element:
            case Pattern():
                self.found.append(_Part(element, marks))
                return [element]
            case Union():
                return [Union(tuple(self.branch(group, marks) for group in element.groups))]
            case Nested(word="OPTIONAL"):
                return [replace(element, group=self.branch(element.group, marks))]
            case Nested(word="MINUS", group=group):
                self.note_absence(group)
                return [element]
            case Nested():
                return [replace(element, group=self.marked(element.group, marks))]
            case Query() if (
                not element.is_aggregate and element.limit is None and not element.having
            ):
                return [self.opened(element, marks)]
            case Filter(condition=Call(name="NOT EXISTS", arguments=(Group() as group,))):
                self.note_absence(group)
                return [element]
            case _:
                return [element]

    def note_absence(self, group: Group) -> None:
        if patterns := tuple(
            node for node in walk(group, into=_joined) if isinstance(node, Pattern)
        ):
            self.absent.append(patterns)

    def branch(self, group: Group, marks: tuple[str, ...]) -> Group:
        self.marks += 1
        mark = f"{_MARK}{self.marks}"
        inner = self.marked(group, (*marks, mark))
        taken = Bind(_number(1), Variable(mark))
        return Group((*inner.elements, taken))

    def opened(self, select: Query, marks: tuple[str, ...]) -> Nested:
        """A sub-select without its SELECT, so that what it names inside is seen outside."""
        inner = self.marked(select.where, marks)
        named = [Bind(value, name) for name, value in select.columns if value is not None]
        return Nested("", Group((*inner.elements, *named)))

    def variables(self) -> list[Variable]:
        """All variables of the patterns, and the marks."""
        names = [name for part in self.found for name in find_variables(part.pattern)]
        marks = [Variable(f"{_MARK}{number + 1}") for number in range(self.marks)]
        return list(dict.fromkeys([*names, *marks]))


def _joined(node: object) -> tuple[object, ...]:
    match node:
        case Group(elements=elements):
            return elements
        case Nested(group=inner) | Query(where=inner):
            return (inner,)
        case _:
            return ()


@dataclass(frozen=True)
class _Bound:
    """The variables of a query that a row of its result gives."""

    terms: Mapping[str, NamedNode | Literal]
    counted: int | None = None

    @classmethod
    def of(cls, tree: Query, result: SelectResult, row: Row) -> _Bound:
        values: dict[str, Term | None] = dict(zip(result.variables, row, strict=True))
        columns = tree.columns or tuple((Variable(name), None) for name in result.variables)
        terms: dict[str, NamedNode | Literal] = {}
        counted = None
        for name, expression in columns:
            value = values.get(name.value)
            variable = name if expression is None else _given_by(expression)
            if variable is not None and isinstance(value, NamedNode | Literal):
                terms.setdefault(variable.value, value)
            is_count = isinstance(expression, Call) and expression.name.startswith("COUNT")
            if is_count and isinstance(value, Literal) and value.value.isdigit():
                counted = int(value.value)
        return cls(terms, counted)


def _given_by(expression: Expression) -> Variable | None:
    """The variable that a column's value is a value of."""
    match expression:
        case Variable():
            return expression
        case Call(name="MIN" | "MAX" | "SAMPLE", arguments=(Variable() as inner,)):
            return inner
        case _:
            return None


def _solutions(
    parts: _Parts, mine: Sequence[Mapping[str, Term]], bound: _Bound, *, is_aggregate: bool
) -> _Solutions:
    """The solutions of one row put into the patterns of the parts that were taken."""
    patterns = [
        _filled(part.pattern, found)
        for found in mine[:_OF_A_GROUP]
        for part in parts.found
        if all(mark in found for mark in part.marks)
    ]
    complete = (one for one in patterns if not any(True for _ in find_variables(one)))
    remark = ""
    if is_aggregate and len(mine) > _OF_A_GROUP:
        many = f" of {bound.counted}" if bound.counted is not None else ""
        remark = f"({_OF_A_GROUP}{many} that were counted; there are more)"
    first: Mapping[str, Term] = mine[0] if mine else bound.terms
    absent = tuple(tuple(_filled(one, first) for one in group) for group in parts.absent)
    return _Solutions(tuple(dict.fromkeys(complete)), remark, absent)


def _filled(pattern: Pattern, found: Mapping[str, Term]) -> Pattern:
    """A pattern with the terms of a solution in place of its variables."""

    def term(part: Term | Variable) -> NamedNode | BlankNode | Literal | Variable:
        value = found.get(part.value, part) if isinstance(part, Variable) else part
        if isinstance(value, NamedNode | BlankNode | Literal | Variable):
            return value
        return Literal(str(value))

    predicate: Predicate = pattern.predicate
    if isinstance(predicate, Variable):
        named = found.get(predicate.value)
        predicate = named if isinstance(named, NamedNode) else predicate
    return Pattern(term(pattern.subject), predicate, term(pattern.object))


def _triple(pattern: Pattern) -> tuple[str, str, str]:
    match pattern.predicate:
        case Path("^", (NamedNode() as inner,)):
            return str(pattern.object), str(inner), str(pattern.subject)
    return str(pattern.subject), to_text(pattern.predicate), str(pattern.object)


def _number(value: int) -> Literal:
    return Literal(str(value), datatype=NamedNode(XSD_INTEGER))
