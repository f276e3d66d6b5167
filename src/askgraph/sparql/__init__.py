"""SPARQL as a tree: the nodes of a query in written order, and functions that traverse them.

What lives here: the tree, its parser and serializer, prefixes, vocabularies, results, `rewrite`
and `federation`. May import: `errors`, `plugins`, `deadline`. Start reading at `Query`.
"""

from __future__ import annotations

import operator
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Self, TypeAlias

from pyoxigraph import BlankNode, Literal, NamedNode, Variable

from askgraph.sparql.vocabulary import RDF_TYPE

Term: TypeAlias = NamedNode | Literal | BlankNode | Variable

Span: TypeAlias = tuple[int, int]
"""Start and end of a piece of query text, in characters; ignored when nodes are compared."""


@dataclass(frozen=True)
class Path:
    """A property path: `/`, `|`, `^`, `*`, `+`, `?` or `!` over its parts.

    `bracketed` means that its author wrote parentheses around it.
    """

    operator: str
    parts: tuple[Predicate, ...]
    bracketed: bool = field(default=False, compare=False, repr=False)
    span: Span | None = field(default=None, compare=False, repr=False, kw_only=True)


Predicate: TypeAlias = "Path | NamedNode | Variable"


@dataclass(frozen=True)
class Call:
    """An operator, function or aggregate with its arguments; the name is in capitals.

    `COUNT(*)` has no arguments; `COUNT DISTINCT` is a separate name. The first argument of `IN` is
    the value to look for. `EXISTS` and `NOT EXISTS` have one group. The name of a cast is its IRI.
    `bracketed` means that its author wrote parentheses around it.
    """

    name: str
    arguments: tuple[Expression, ...] = ()
    separator: str | None = None
    bracketed: bool = field(default=False, compare=False, repr=False)
    span: Span | None = field(default=None, compare=False, repr=False, kw_only=True)

    @property
    def is_aggregate(self) -> bool:
        """Whether it is a function over the solutions of a group."""
        return self.name.partition(" ")[0] in AGGREGATE_NAMES


Expression: TypeAlias = "Term | Call | Group"


@dataclass(frozen=True)
class Pattern:
    """A triple pattern, or a path between its ends.

    `spans` are the positions of subject, predicate and object in the text, and `statement` is the
    span of all patterns with the same subject. They are empty unless it was parsed from text.
    """

    subject: Term
    predicate: Predicate
    object: Term
    spans: tuple[Span, ...] = field(default=(), compare=False, repr=False)
    statement: Span | None = field(default=None, compare=False, repr=False)


@dataclass(frozen=True)
class Filter:
    """A condition on the group that contains it, and its position in the text, if any."""

    condition: Expression
    span: Span | None = field(default=None, compare=False, repr=False)


@dataclass(frozen=True)
class Bind:
    """An expression whose value is assigned to a new variable."""

    value: Expression
    variable: Variable
    span: Span | None = field(default=None, compare=False, repr=False, kw_only=True)


@dataclass(frozen=True)
class Values:
    """Inline rows of a query; None is UNDEF."""

    variables: tuple[Variable, ...]
    rows: tuple[tuple[Term | None, ...], ...]
    span: Span | None = field(default=None, compare=False, repr=False, kw_only=True)


@dataclass(frozen=True)
class Nested:
    """A group after OPTIONAL, MINUS, GRAPH, SERVICE or nothing; a `silent` SERVICE may fail."""

    word: str
    group: Group
    name: Term | None = None
    silent: bool = False
    span: Span | None = field(default=None, compare=False, repr=False, kw_only=True)


@dataclass(frozen=True)
class Union:
    """Alternative groups; any of them may match."""

    groups: tuple[Group, ...]
    span: Span | None = field(default=None, compare=False, repr=False, kw_only=True)


Element: TypeAlias = "Pattern | Filter | Bind | Values | Nested | Union | Query"


@dataclass(frozen=True)
class Group:
    """The elements between braces, in order."""

    elements: tuple[Element, ...] = ()
    span: Span | None = field(default=None, compare=False, repr=False, kw_only=True)


@dataclass(frozen=True)
class Query:
    """A SELECT, ASK, CONSTRUCT or DESCRIBE query, or a SELECT inside another query.

    `columns` are the projected variables with their expressions; empty for `*`. Blank nodes of
    the WHERE part are variables whose names start with `__`, since they behave like variables.
    `values` are rows after the query, which `askgraph.sparql.parser.parse_tree` joins with the
    rest. The `span` of an inner query includes its braces, `inner` excludes them; for an
    outermost query both start after the prologue.
    """

    form: str
    where: Group
    columns: tuple[tuple[Variable, Expression | None], ...] = ()
    distinct: bool = False
    group_by: tuple[tuple[Expression, Variable | None], ...] = ()
    having: tuple[Expression, ...] = ()
    order: tuple[tuple[Expression, bool], ...] = ()  # expression, descending
    limit: int | None = None
    offset: int | None = None
    template: tuple[Pattern, ...] = ()
    resources: tuple[Term, ...] = ()
    datasets: tuple[str, ...] = field(default=())
    reduced: bool = field(default=False, kw_only=True)
    values: Values | None = field(default=None, kw_only=True)
    span: Span | None = field(default=None, compare=False, repr=False, kw_only=True)
    inner: Span | None = field(default=None, compare=False, repr=False, kw_only=True)
    dataset_span: Span | None = field(default=None, compare=False, repr=False, kw_only=True)

    @property
    def is_aggregate(self) -> bool:
        """Whether its solutions are groups."""
        return bool(self.group_by) or any(call.is_aggregate for call in find_calls(self.columns))


class QueryText(str):
    """The text of a query together with its tree, so that it need not be parsed again.

    It behaves as plain text when it is sent, stored or shown; a copy of it is plain text.
    """

    tree: Query

    @classmethod
    def from_tree(cls, tree: Query, text: str) -> Self:
        """Return a text with its tree, which equals the parsed text except for positions."""
        query_text = cls(text)
        query_text.tree = tree
        return query_text

    def __reduce__(self) -> tuple[type[str], tuple[str]]:
        return str, (str(self),)


_CHILD_FIELDS: dict[type, tuple[str, ...]] = {
    Path: ("parts",), Call: ("arguments",), Pattern: ("subject", "predicate", "object"),
    Filter: ("condition",), Bind: ("value", "variable"), Values: ("variables", "rows"),
    Nested: ("group", "name"), Union: ("groups",), Group: ("elements",),
    Query: ("where", "columns", "group_by", "having", "order", "template", "resources", "values"),
}  # fmt: skip
AGGREGATE_NAMES = frozenset(["COUNT", "SUM", "AVG", "MIN", "MAX", "SAMPLE", "GROUP_CONCAT"])


def get_children(node: object) -> tuple[object, ...]:
    """Return the parts of a node in the order of its fields; some are tuples, or None."""
    names = _CHILD_FIELDS.get(type(node))
    return tuple([getattr(node, name) for name in names]) if names else ()


def walk(
    part: object, *, into: Callable[[object], Sequence[object]] = get_children
) -> Iterator[object]:
    """Yield a part of a tree and all nodes and terms within it, each node before its parts.

    Time is linear at any depth. `into` returns the parts of a node to visit.
    """
    stack = [part]
    while stack:
        part = stack.pop()
        if isinstance(part, tuple):
            stack += reversed(part)
        elif part is not None and not isinstance(part, bool):
            yield part
            stack += reversed(into(part))


def find_calls(part: object) -> Iterator[Call]:
    """Yield the calls in expressions, except those inside aggregates or EXISTS groups."""
    for node in walk(part, into=_get_open_children):
        if isinstance(node, Call):
            yield node


def _get_open_children(node: object) -> tuple[object, ...]:
    is_closed = isinstance(node, Group) or (isinstance(node, Call) and node.is_aggregate)
    return () if is_closed else get_children(node)


def transform(
    part: Any, change: Callable[[Any], Any], *, enter: Callable[[Any], bool] | None = None
) -> Any:
    """Return a part of a tree with each node and term changed, from the inside out.

    A part without changes stays the same object.

    Args:
        change: takes a node whose parts are changed already, and returns its replacement; for an
            element of a group, that may be a tuple of elements.
        enter: returns False for parts to keep unchanged, with all that they contain.
    """
    if isinstance(part, tuple):
        changed = tuple(transform(inner, change, enter=enter) for inner in part)
        return part if all(map(operator.is_, part, changed)) else changed
    if part is None or isinstance(part, bool) or (enter is not None and not enter(part)):
        return part
    inner = {}
    for name in _CHILD_FIELDS.get(type(part), ()):
        before = getattr(part, name)
        after = transform(before, change, enter=enter)
        if after is not before:
            inner[name] = (
                tuple(
                    element
                    for element_or_tuple in after
                    for element in (
                        element_or_tuple
                        if isinstance(element_or_tuple, tuple)
                        else (element_or_tuple,)
                    )
                )
                if name == "elements"
                else after
            )
    return change(replace(part, **inner) if inner else part)


def find_variables(part: object) -> Iterator[Variable]:
    """Yield the variables of any part of a tree, in order, with repetitions.

    Of a sub-select, these are its columns.
    """
    return (node for node in walk(part, into=_get_visible_parts) if isinstance(node, Variable))


def _get_visible_parts(node: object) -> tuple[object, ...]:
    match node:
        case Query(columns=columns) if columns:
            return tuple(name for name, _ in columns)
        case Query(where=where):
            return (where,)
        case _:
            return get_children(node)


def find_variables_in_scope(part: object) -> Iterator[Variable]:
    """Yield the variables that a solution of a part may bind, in order, with repetitions."""
    return (node for node in walk(part, into=_get_binding_parts) if isinstance(node, Variable))


def _get_binding_parts(node: object) -> tuple[object, ...]:
    match node:
        case Query(columns=columns) if columns:
            return tuple(name for name, _ in columns)
        case Query(where=where):
            return (where,)
        case Bind(variable=name):
            return (name,)
        case Nested(word="MINUS"):
            return ()
        case Pattern() | Nested() | Union() | Group() | Values():
            return get_children(node)
        case _:
            return ()


def find_exists_groups(part: object) -> Iterator[Group]:
    """Yield the groups of EXISTS in expressions, without those nested in another one."""
    return (
        node for node in walk(part, into=get_children_outside_groups) if isinstance(node, Group)
    )


def get_children_outside_groups(node: object) -> tuple[object, ...]:
    """Return the parts of a node, or no parts if it is a group."""
    return () if isinstance(node, Group) else get_children(node)


def rename_iris(tree: Query, names: Mapping[str, str]) -> Query:
    """Return a query with some of its IRIs replaced, by `names` from old to new."""

    def change(node: object) -> object:
        return NamedNode(names.get(node.value, node.value)) if isinstance(node, NamedNode) else node

    renamed_tree: Query = transform(tree, change)
    return renamed_tree


def rename_variables(tree: Query, names: Mapping[Variable, Variable]) -> Query:
    """Return a query with some of its variables renamed; blank nodes become variables."""

    def change(node: object) -> object:
        if isinstance(node, BlankNode):
            return Variable(f"__{re.sub('[^A-Za-z0-9_]', '_', node.value)}")
        return names.get(node, node) if isinstance(node, Variable) else node

    renamed_tree: Query = transform(tree, change)
    return renamed_tree


_RDF_TYPE_NODE = NamedNode(RDF_TYPE)


def group_patterns_by_subject(query: Query) -> Query:
    """Return a query with its patterns in layout order, without duplicates."""
    grouped: Query = transform(query, _group_patterns)
    return grouped


def _group_patterns(part: object) -> object:
    """Return a group with the patterns of each subject together, its class first; others as is."""
    if not isinstance(part, Group):
        return part
    elements: list[Element] = []
    subjects: dict[Term, dict[object, Pattern]] = {}
    for index, element in enumerate((*part.elements, None)):
        if isinstance(element, Pattern):
            key = index if isinstance(element.predicate, Path) else element
            subjects.setdefault(element.subject, {}).setdefault(key, element)
            continue
        for patterns in subjects.values():
            ordered: list[Pattern] = sorted(
                patterns.values(), key=lambda pattern: pattern.predicate != _RDF_TYPE_NODE
            )
            elements += ordered
        subjects = {}
        elements += [element] if element else []
    return Group(tuple(elements))
