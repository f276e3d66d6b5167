"""Change a query: replace terms, reverse triples; sort, limit, filter or count its rows.

The patterns stay as they are when rows are rearranged; a condition is added, or a condition that
compares a column with a value is removed.

Triples are reversed since a model may mix up their ends: the error and its name are D'Abramo's
(arXiv 2407.01409, section 4.4), who asks the model for such queries; here they are generated
without one.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations, count, islice, takewhile
from typing import Literal as Choice

from pyoxigraph import Literal, NamedNode, Variable

from askgraph import sparql as ast
from askgraph.errors import QueryError
from askgraph.sparql import vocabulary as v
from askgraph.sparql.lexer import Edit, apply_edits, tokenize, unescape_codepoints
from askgraph.sparql.parser import TermOccurrence, parse_query
from askgraph.sparql.prefixes import PrefixMap
from askgraph.sparql.vocabulary import RDF_TYPE

_IRI_PATTERN = re.compile(r'[A-Za-z][A-Za-z0-9+.-]*:[^<>"{}|^`\\\x00-\x20]+')
_ZONE_PATTERN = r"(?:Z|[+-]\d\d:\d\d)?"
_DAY_PATTERN = r"-?\d{4,9}-\d\d-\d\d"
_NUMBER_PATTERN = re.compile(r"[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?")
_UNQUOTED_NUMBER = re.compile(r"[+-]?(?:\d+|\d*\.\d+|(?:\d+\.?\d*|\.\d+)[eE][+-]?\d+)")
_VALUE_FORMATS = {
    v.XSD_DATE: (re.compile(_DAY_PATTERN + _ZONE_PATTERN), "a date, like 1969-07-20"),
    v.XSD_DATE_TIME: (
        re.compile(rf"{_DAY_PATTERN}T\d\d:\d\d:\d\d(?:\.\d+)?{_ZONE_PATTERN}"),
        "a date and time, like 1969-07-20T20:17:00Z",
    ),
    v.XSD_G_YEAR: (re.compile(rf"-?\d{{4,9}}{_ZONE_PATTERN}"), "a year, like 1969"),
    v.XSD_G_YEAR_MONTH: (re.compile(rf"-?\d{{4,9}}-\d\d{_ZONE_PATTERN}"), "a month, like 1969-07"),
    v.XSD_BOOLEAN: (re.compile("true|false"), "true or false"),
}
_STRING_ESCAPES = {"\\": r"\\", "\n": r"\n", "\r": r"\r", "\t": r"\t"}


def replace_term(
    query: str,
    old: NamedNode | Literal,
    new: str,
    *,
    prefixes: PrefixMap,
    labels: Mapping[str, str] | None = None,
) -> str:
    """Return the query with another term wherever `old` occurs.

    An IRI is written short if the query or `prefixes` have a prefix for it, which is then
    declared.

    Args:
        new: an IRI for an IRI, or the text of a value for a literal, whose language or datatype
            stays.
        labels: labels by IRI; they are also replaced in comments on the same lines.

    Raises:
        QueryError: the query does not contain `old`, or `new` is not an IRI or value of that kind.
    """
    text = unescape_codepoints(query)
    terms = parse_query(text, prefixes.namespaces).terms
    occurrences = [occurrence for occurrence in terms if occurrence.term == old]
    if not occurrences:
        raise QueryError(f"the query does not contain {old}: choose one of its parts")
    if isinstance(old, NamedNode):
        stripped = new.strip()
        if not _IRI_PATTERN.fullmatch(stripped):
            raise QueryError(
                f"{stripped!r} is not an IRI: give one in full, as http://example.org/Mars"
            )
        return _replace_iri(text, occurrences, stripped, prefixes, labels or {})
    datatype = old.datatype.value
    value = new if datatype in (v.XSD_STRING, v.RDF_LANG_STRING) else new.strip()
    if datatype in v.INTEGER_DATATYPES and not re.fullmatch(r"[+-]?\d+", value):
        if not _NUMBER_PATTERN.fullmatch(value) or datatype != v.XSD_INTEGER:
            raise QueryError(f"{new!r} is not a whole number: give one such as 12")
    elif datatype in v.NUMERIC_DATATYPES and not _NUMBER_PATTERN.fullmatch(value):
        raise QueryError(f"{new!r} is not a number: give one such as 12 or 3.5")
    if datatype == v.XSD_DATE_TIME and re.fullmatch(_DAY_PATTERN, value):
        value += "T00:00:00"
    value_pattern, description = _VALUE_FORMATS.get(datatype, (None, ""))
    if value_pattern is not None and not value_pattern.fullmatch(value):
        raise QueryError(f"{new!r} does not fit: give {description}")
    return apply_edits(
        text, [_write_value(text, occurrence_of_old, value) for occurrence_of_old in occurrences]
    )


def _replace_iri(
    query: str,
    occurrences: Sequence[TermOccurrence],
    new: str,
    prefixes: PrefixMap,
    labels: Mapping[str, str],
) -> str:
    declared = tokenize(query).declared_prefixes
    prefix_map = PrefixMap({**prefixes.own_prefixes, **declared})
    short_name = prefix_map.shorten(new)
    edits = [(occurrence.start, occurrence.end, short_name) for occurrence in occurrences]
    old = occurrences[0].term.value
    if old in labels and new in labels:
        edits += _replace_in_comments(query, occurrences, labels[old], labels[new])
    text = apply_edits(query, sorted(edits))
    prefix = "" if short_name.startswith("<") else short_name.partition(":")[0]
    if short_name.startswith("<") or prefix in declared:
        return text
    return f"PREFIX {prefix}: <{prefix_map.namespaces[prefix]}>\n{text}"


def _replace_in_comments(
    query: str, occurrences: Sequence[TermOccurrence], old: str, new: str
) -> Iterator[Edit]:
    """Yield edits that replace the label of the old term in comments on its lines."""
    lines = {query.count("\n", 0, occurrence.start) for occurrence in occurrences}
    label_pattern = re.compile(rf"(?<!\w){re.escape(' '.join(old.split()))}(?!\w)")
    for token in tokenize(query).all_tokens:
        if token.kind == "comment" and query.count("\n", 0, token.start) in lines:
            text = label_pattern.sub(lambda _: " ".join(new.split()), token.text)
            yield token.start, token.end, text


def _write_value(query: str, occurrence: TermOccurrence, value: str) -> Edit:
    """Return the edit that writes a new value like the old one: in the same quotes, or unquoted."""
    quote = query[occurrence.start]
    if quote in "\"'":
        quote_length = 3 if query[occurrence.start : occurrence.start + 3] == quote * 3 else 1
        escapes = {**_STRING_ESCAPES, quote: "\\" + quote}
        body = "".join(escapes.get(letter, letter) for letter in value)
        return (
            occurrence.start,
            occurrence.value_end,
            quote * quote_length + body + quote * quote_length,
        )
    return (
        occurrence.start,
        occurrence.end,
        value
        if (value in ("true", "false") or bool(_UNQUOTED_NUMBER.fullmatch(value)))
        else f"{value.rstrip('.')}.0",
    )


_MAX_REVERSIBLE_TRIPLES = 12  # patterns with more triples are not flipped


def reverse_triples(query: ast.Query, *, limit: int = 15) -> Iterator[ast.Query]:
    """Yield the query with one triple reversed, then with two, and so on, at most `limit` queries.

    Triples with a literal, and those that state a type, are not reversed.
    """
    nodes = ast.walk(
        query.where, into=lambda node: ast.get_children(node) if _can_contain_triples(node) else ()
    )
    indices = range(min(_MAX_REVERSIBLE_TRIPLES, sum(map(_is_reversible, nodes))))
    combinations_in_order = (
        combination for number in indices for combination in combinations(indices, number + 1)
    )
    for combination in islice(combinations_in_order, limit):
        yield replace(query, where=_reverse_chosen(query.where, combination))


def _reverse_chosen(where: ast.Group, chosen: Sequence[int]) -> ast.Group:
    indices = count()

    def change(node: object) -> object:
        if isinstance(node, ast.Pattern) and _is_reversible(node) and next(indices) in chosen:
            return replace(node, subject=node.object, object=node.subject)
        return node

    reversed_group: ast.Group = ast.transform(where, change, enter=_can_contain_triples)
    return reversed_group


def _is_reversible(node: object) -> bool:
    if not isinstance(node, ast.Pattern):
        return False
    is_type = isinstance(node.predicate, NamedNode) and node.predicate.value == RDF_TYPE
    return not is_type and not isinstance(node.object, Literal)


def _can_contain_triples(node: object) -> bool:
    """Return whether a part belongs to the patterns, not to a condition or an expression."""
    return not isinstance(node, ast.Filter | ast.Bind | ast.Call)


Comparison = Choice["=", "!=", "<", "<=", ">", ">=", "contains"]
_COMPARISON_OPERATORS: tuple[Comparison, ...] = ("=", "!=", "<", "<=", ">", ">=")


@dataclass(frozen=True)
class ColumnCondition:
    """A comparison of a column with a value; `contains` compares texts and ignores case."""

    column: str
    comparison: Comparison
    value: Literal


@dataclass(frozen=True)
class RowArrangement:
    """How a SELECT query arranges its rows.

    `order` has pairs of a column or other variable, and whether it is descending; `hidden` has the
    variables that could be columns.
    """

    columns: tuple[str, ...]
    order: tuple[tuple[str, bool], ...]
    limit: int | None
    conditions: tuple[ColumnCondition, ...]
    is_aggregate: bool
    hidden: tuple[str, ...] = ()


def get_arrangement(query: ast.Query) -> RowArrangement | None:
    """Return the arrangement of a query's rows; None if it is not a SELECT query."""
    if query.form != "SELECT":
        return None
    names = _map_names(query)
    names |= {
        variable: variable.value for variable, _ in query.order if isinstance(variable, Variable)
    } | names
    named = takewhile(lambda criterion: criterion[0] in names, query.order)
    order = ((names[expression], is_descending) for expression, is_descending in named)
    conditions = tuple(condition for _, condition in _find_conditions(query))
    columns = tuple(name for name, _ in _list_columns(query))
    hidden = tuple(name for name in _list_hidden(query) if name not in columns)
    return RowArrangement(
        columns, tuple(order), query.limit, conditions, query.is_aggregate, hidden
    )


def sort_by(query: ast.Query, column: str | None, *, descending: bool = False) -> ast.Query:
    """Return the query with its rows sorted by a column, or unsorted for None."""
    if column is None:
        return replace(query, order=())
    _get_expression(query, column)
    return replace(query, order=((Variable(column), descending),))


def sort_by_name(
    query: ast.Query,
    column: str,
    predicates: Sequence[str],
    languages: Sequence[str],
    *,
    descending: bool = False,
) -> ast.Query:
    """Return the query with its rows sorted by the names of a column's things.

    The names are texts of the first predicate, in one of the languages ("" is none); any language
    will do without `languages`. Things without such a name are sorted by their IRI.
    """
    thing = _get_expression(query, column)
    if query.is_aggregate or query.limit or not isinstance(thing, Variable):
        thing = Variable(column)
        columns = tuple((Variable(name), None) for name, _ in _list_columns(query))
        query = ast.Query("SELECT", ast.Group((replace(query, order=()),)), columns)
    if not predicates:
        return replace(query, order=((thing, descending),))
    name = Variable(f"{column}_name")
    in_language = ast.Call("IN", (ast.Call("LANG", (name,)), *map(Literal, languages)))
    condition = (ast.Filter(in_language),) if languages else ()
    names = ast.Nested(
        "OPTIONAL", ast.Group((ast.Pattern(thing, NamedNode(predicates[0]), name), *condition))
    )
    key = ast.Call("LCASE", (ast.Call("STR", (name,)),))
    where = ast.Group((*query.where.elements, names))
    return replace(query, where=where, order=((key, descending), (thing, False)))


def set_limit(query: ast.Query, limit: int | None) -> ast.Query:
    """Return the query with a maximum number of rows, or all rows for None."""
    return replace(query, limit=limit, offset=query.offset if limit else None)


def select_query_columns(query: ast.Query, columns: Sequence[str]) -> ast.Query:
    """Return the query with some of its columns only, and distinct rows."""
    expressions = {Variable(name): _get_expression(query, name) for name in columns}
    selected_columns = tuple((x, None if value == x else value) for x, value in expressions.items())
    if not selected_columns:
        raise QueryError("a query needs at least one column: keep one")
    return replace(
        query, columns=selected_columns, distinct=query.distinct or not query.is_aggregate
    )


def add_condition(query: ast.Query, condition: ColumnCondition) -> ast.Query:
    """Return the query with only the rows that meet a condition."""
    expression = _get_expression(query, condition.column)
    if condition.comparison == "contains":
        text = Literal(condition.value.value.lower())
        test = ast.Call("CONTAINS", (ast.Call("LCASE", (ast.Call("STR", (expression,)),)), text))
    else:
        test = ast.Call(condition.comparison, (expression, condition.value))
    if isinstance(expression, ast.Call) and expression.is_aggregate:
        return replace(query, having=(*query.having, test))
    return replace(query, where=ast.Group((*query.where.elements, ast.Filter(test))))


def remove_condition(query: ast.Query, number: int) -> ast.Query:
    """Return the query without one of the conditions of its arrangement, given by index."""
    tests = [test for test, _ in _find_conditions(query)]
    if not 0 <= number < len(tests):
        raise QueryError(f"the query has no condition {number}: it has {len(tests)}")
    removed = tests[number]
    elements = tuple(node for node in query.where.elements if node is not removed)
    having = tuple(node for node in query.having if node is not removed)
    return replace(query, where=ast.Group(elements), having=having)


def count_by(query: ast.Query, column: str, counted: str | None = None) -> ast.Query:
    """Return a query that counts another column, by default the first, for each value of one."""
    if query.is_aggregate:
        raise QueryError("the query counts already: choose a query without a count")
    names = [name for name, _ in _list_columns(query) if name != column]
    counted = counted if counted in names else next(iter(names), None)
    key = _get_expression(query, column)
    if not isinstance(key, Variable):
        raise QueryError(f"rows cannot be counted by {column!r}, which is computed")
    number = Variable(f"number_of_{counted or 'row'}")
    count = ast.Call("COUNT DISTINCT", (Variable(counted),)) if counted else ast.Call("COUNT", ())
    return replace(
        query,
        columns=((key, None), (number, count)),
        distinct=False,
        group_by=((key, None),),
        order=((number, True),),
        limit=None,
        offset=None,
    )


def _list_columns(query: ast.Query) -> Iterator[tuple[str, ast.Expression]]:
    """Return the columns by name, each with its expression in conditions: a variable or a call."""
    if query.columns:
        for variable, expression in query.columns:
            yield variable.value, expression or variable
        return
    for name in dict.fromkeys(variable.value for variable in ast.find_variables(query.where)):
        if not name.startswith("__"):
            yield name, Variable(name)


def _list_hidden(query: ast.Query) -> Iterator[str]:
    """Yield the variables that a thing of the patterns is linked to, unless rows are grouped."""
    patterns = [part for part in query.where.elements if isinstance(part, ast.Pattern)]
    if not query.is_aggregate and not query.group_by:
        for name in dict.fromkeys(p.object for p in patterns if isinstance(p.subject, Variable)):
            if isinstance(name, Variable) and not name.value.startswith("__"):
                yield name.value


def _map_names(query: ast.Query) -> dict[ast.Expression, str]:
    """Return the column names by expression, and by variable."""
    columns = dict(_list_columns(query))
    return {
        **{Variable(name): name for name in columns},
        **{expression: name for name, expression in columns.items()},
    }


def _get_expression(query: ast.Query, column: str) -> ast.Expression:
    columns = dict(_list_columns(query))
    columns |= {name: Variable(name) for name in _list_hidden(query) if name not in columns}
    if column not in columns:
        raise QueryError(f"the query has no column {column!r}; it has {', '.join(columns)}")
    return columns[column]


def _find_conditions(query: ast.Query) -> Iterator[tuple[object, ColumnCondition]]:
    """Yield the conditions that compare a column with a value, each with its node."""
    names = {Variable(name): name for name in _list_hidden(query)} | _map_names(query)
    filters = [
        (node, node.condition) for node in query.where.elements if isinstance(node, ast.Filter)
    ]
    for node, test in [*filters, *((node, node) for node in query.having)]:
        if not isinstance(test, ast.Call) or len(test.arguments) != 2:
            continue
        compared, value = test.arguments
        if not isinstance(value, Literal):
            continue
        comparison = next((node for node in _COMPARISON_OPERATORS if node == test.name), None)
        if test.name == "CONTAINS":
            expression = compared
            while isinstance(expression, ast.Call) and expression.name in ("LCASE", "STR"):
                expression = expression.arguments[0]
            comparison, compared = "contains", expression
        if comparison and compared in names:
            yield node, ColumnCondition(names[compared], comparison, value)


def create_literal(text: str, datatype: str | None) -> Literal:
    """Return a value for a comparison: a literal with a datatype, or plain text."""
    return Literal(text, datatype=NamedNode(datatype)) if datatype else Literal(text)
