"""Fetch the triples behind the rows of a result, with one more query."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

from pyoxigraph import BlankNode, Literal, NamedNode, Variable

from askgraph import sparql as ast
from askgraph.answers.verbalize import TripleReader, list_iris
from askgraph.endpoint import Endpoint
from askgraph.errors import QueryError
from askgraph.sparql.results import Row, SelectResult, Term
from askgraph.sparql.serializer import to_text, to_tree
from askgraph.sparql.vocabulary import XSD_INTEGER
from askgraph.trace import Evidence

_MAX_SOLUTIONS_PER_GROUP = 3  # solutions shown of an aggregated row
_ROW = "ask_row"
_MARK = "ask_part"


@dataclass(frozen=True)
class _RowEvidence:
    """The patterns behind one row, a remark, and the patterns that must be absent."""

    patterns: tuple[ast.Pattern, ...]
    remark: str
    absent: tuple[tuple[ast.Pattern, ...], ...]

    def read(self, reader: TripleReader) -> tuple[str, ...]:
        triples = map(reader.read, self.patterns)
        absent = map(reader.read_absence, self.absent)
        return (*triples, *([self.remark] if self.remark else []), *absent)


@dataclass(frozen=True)
class EvidenceTriples:
    """The triples behind the first rows of a result, not yet in words."""

    solutions: tuple[_RowEvidence, ...] = ()
    where: ast.Group | None = None

    @property
    def iris(self) -> tuple[str, ...]:
        """The distinct IRIs of the triples."""
        return list_iris(tuple((row.patterns, row.absent) for row in self.solutions))

    def describe(self, labels: Mapping[str, str]) -> tuple[Evidence, ...]:
        """Describe the evidence for each row with `labels` (IRI -> label)."""
        reader = TripleReader(labels, self.where)
        return tuple(
            Evidence(number, tuple(map(_write_triple, row.patterns)), row.read(reader))
            for number, row in enumerate(self.solutions)
        )


async def fetch_evidence(
    query: ast.Query | str, result: SelectResult, endpoint: Endpoint, *, rows: int = 5
) -> EvidenceTriples:
    """Fetch the triples behind each of the first rows of a SELECT result, by one request.

    A path is shown as one triple with the SPARQL path as its predicate. Groups show a few of the
    counted solutions, absent groups appear in words, and a row may have no triples.

    Returns:
        The triples; empty if the query has an unsupported construct.

    Raises:
        ServiceError: The endpoint failed.
    """
    try:
        tree = _find_main_query(to_tree(query))
    except QueryError:
        return EvidenceTriples()
    parts = _PatternCollector()
    where = parts.mark_group(tree.where)
    if tree.form != "SELECT" or not parts.patterns:
        return EvidenceTriples()
    bindings_of_rows = [_RowBinding.from_row(tree, result, row) for row in result.rows[:rows]]
    if not bindings_of_rows:
        return EvidenceTriples()
    # One query for all rows: one sub-select per row, joined by UNION.
    limit = _MAX_SOLUTIONS_PER_GROUP + 1 if tree.is_aggregate else 1
    row, names = Variable(_ROW), tuple((name, None) for name in parts.list_variables())
    selects = []
    for number, bound in enumerate(bindings_of_rows):
        values = ast.Values(tuple(map(Variable, bound.terms)), (tuple(bound.terms.values()),))
        inner = ast.Group((values, *where.elements) if bound.terms else where.elements)
        columns = ((row, _make_integer(number)), *names)
        selects.append(ast.Group((ast.Query("SELECT", inner, columns, limit=limit),)))
    batch = ast.Query("SELECT", ast.Group((ast.Union(tuple(selects)),)), ((row, None), *names))
    try:
        solutions = await endpoint.select(to_text(batch))
    except QueryError:
        return EvidenceTriples()
    pairs = (zip(solutions.variables, cells, strict=True) for cells in solutions.rows)
    bindings = [{name: term for name, term in cells if term is not None} for cells in pairs]
    row_evidence = []
    for number, bound in enumerate(bindings_of_rows):
        row_bindings = [terms for terms in bindings if terms[_ROW] == _make_integer(number)]
        patterns = [
            _fill_pattern(part.pattern, terms)
            for terms in row_bindings[:_MAX_SOLUTIONS_PER_GROUP]
            for part in parts.patterns
            if all(mark in terms for mark in part.marks)
        ]
        triples = (p for p in patterns if not any(True for _ in ast.find_variables(p)))
        remark = ""
        if tree.is_aggregate and len(row_bindings) > _MAX_SOLUTIONS_PER_GROUP:
            count_text = f" of {bound.counted}" if bound.counted is not None else ""
            remark = f"({_MAX_SOLUTIONS_PER_GROUP}{count_text} that were counted; there are more)"
        first: Mapping[str, Term] = row_bindings[0] if row_bindings else bound.terms
        absent = tuple(tuple(_fill_pattern(p, first) for p in group) for group in parts.absent)
        row_evidence.append(_RowEvidence(tuple(dict.fromkeys(triples)), remark, absent))
    return EvidenceTriples(tuple(row_evidence), tree.where)


def _find_main_query(query: ast.Query) -> ast.Query:
    """Return the query that produces the rows: the query itself or its only sub-select."""
    match query.where.elements:
        case (ast.Query() as inner,) if not query.is_aggregate:
            return _find_main_query(inner)
        case _:
            return query


@dataclass(frozen=True)
class _MarkedPattern:
    """A pattern and the marks that a solution binds if it took the OPTIONAL or UNION branch."""

    pattern: ast.Pattern
    marks: tuple[str, ...]


class _PatternCollector:
    """Collects the patterns of a query; `mark_group` also returns its WHERE part with marks."""

    def __init__(self) -> None:
        self.patterns: list[_MarkedPattern] = []
        self.absent: list[tuple[ast.Pattern, ...]] = []
        self.marks = 0

    def mark_group(self, group: ast.Group, marks: tuple[str, ...] = ()) -> ast.Group:
        elements: list[ast.Element] = []
        for element in group.elements:
            elements += self.mark_element(element, marks)
        return ast.Group(tuple(elements))

    def mark_element(self, element: ast.Element, marks: tuple[str, ...]) -> list[ast.Element]:
        match element:
            case ast.Pattern():
                self.patterns.append(_MarkedPattern(element, marks))
                return [element]
            case ast.Union():
                return [
                    ast.Union(tuple(self.mark_branch(group, marks) for group in element.groups))
                ]
            case ast.Nested(word="OPTIONAL"):
                return [replace(element, group=self.mark_branch(element.group, marks))]
            case ast.Nested(word="MINUS", group=group):
                self.note_absence(group)
                return [element]
            case ast.Nested():
                return [replace(element, group=self.mark_group(element.group, marks))]
            case ast.Query() if (
                not element.is_aggregate and element.limit is None and not element.having
            ):
                # its group replaces the sub-select, to expose the inner variables
                inner = self.mark_group(element.where, marks)
                binds = [ast.Bind(v, name) for name, v in element.columns if v is not None]
                return [ast.Nested("", ast.Group((*inner.elements, *binds)))]
            case ast.Filter(
                condition=ast.Call(name="NOT EXISTS", arguments=(ast.Group() as group,))
            ):
                self.note_absence(group)
                return [element]
            case _:
                return [element]

    def note_absence(self, group: ast.Group) -> None:
        if patterns := tuple(
            node for node in ast.walk(group, into=_list_joined) if isinstance(node, ast.Pattern)
        ):
            self.absent.append(patterns)

    def mark_branch(self, group: ast.Group, marks: tuple[str, ...]) -> ast.Group:
        self.marks += 1
        mark = f"{_MARK}{self.marks}"
        inner = self.mark_group(group, (*marks, mark))
        return ast.Group((*inner.elements, ast.Bind(_make_integer(1), Variable(mark))))

    def list_variables(self) -> list[Variable]:
        names = [name for part in self.patterns for name in ast.find_variables(part.pattern)]
        marks = [Variable(f"{_MARK}{number + 1}") for number in range(self.marks)]
        return list(dict.fromkeys([*names, *marks]))


def _list_joined(node: object) -> tuple[object, ...]:
    match node:
        case ast.Group(elements=elements):
            return elements
        case ast.Nested(group=inner) | ast.Query(where=inner):
            return (inner,)
        case _:
            return ()


@dataclass(frozen=True)
class _RowBinding:
    terms: Mapping[str, NamedNode | Literal]
    counted: int | None = None

    @classmethod
    def from_row(cls, tree: ast.Query, result: SelectResult, row: Row) -> _RowBinding:
        values: dict[str, Term | None] = dict(zip(result.variables, row, strict=True))
        columns = tree.columns or tuple((Variable(name), None) for name in result.variables)
        terms: dict[str, NamedNode | Literal] = {}
        counted = None
        for name, expression in columns:
            value = values.get(name.value)
            variable = name if expression is None else _find_column_variable(expression)
            if variable is not None and isinstance(value, NamedNode | Literal):
                terms.setdefault(variable.value, value)
            is_count = isinstance(expression, ast.Call) and expression.name.startswith("COUNT")
            if is_count and isinstance(value, Literal) and value.value.isdigit():
                counted = int(value.value)
        return cls(terms, counted)


def _find_column_variable(expression: ast.Expression) -> Variable | None:
    match expression:
        case Variable():
            return expression
        case ast.Call(name="MIN" | "MAX" | "SAMPLE", arguments=(Variable() as inner,)):
            return inner
        case _:
            return None


def _fill_pattern(pattern: ast.Pattern, terms: Mapping[str, Term]) -> ast.Pattern:
    def fill_term(part: Term | Variable) -> NamedNode | BlankNode | Literal | Variable:
        value = terms.get(part.value, part) if isinstance(part, Variable) else part
        if isinstance(value, NamedNode | BlankNode | Literal | Variable):
            return value
        return Literal(str(value))

    predicate: ast.Predicate = pattern.predicate
    if isinstance(predicate, Variable):
        predicate_term = terms.get(predicate.value)
        predicate = predicate_term if isinstance(predicate_term, NamedNode) else predicate
    return ast.Pattern(fill_term(pattern.subject), predicate, fill_term(pattern.object))


def _write_triple(pattern: ast.Pattern) -> tuple[str, str, str]:
    match pattern.predicate:
        case ast.Path("^", (NamedNode() as inner,)):
            return str(pattern.object), str(inner), str(pattern.subject)
    return str(pattern.subject), to_text(pattern.predicate), str(pattern.object)


def _make_integer(value: int) -> Literal:
    return Literal(str(value), datatype=NamedNode(XSD_INTEGER))
