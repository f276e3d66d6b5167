"""SPARQL as a tree: the nodes of a query in the order as written, and its traversals.

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
"""Where a piece of a query's text starts and ends, in characters; no part of what a node is."""


@dataclass(frozen=True)
class Path:
    """A property path: `/`, `|`, `^`, `*`, `+`, `?` or `!` over its parts.

    It is `bracketed` if its author wrote parentheses around it.
    """

    operator: str
    parts: tuple[Predicate, ...]
    bracketed: bool = field(default=False, compare=False, repr=False)
    span: Span | None = field(default=None, compare=False, repr=False, kw_only=True)


Predicate: TypeAlias = "Path | NamedNode | Variable"


@dataclass(frozen=True)
class Call:
    """An operator, function or aggregate on its arguments, by its name in capitals.

    `COUNT(*)` has no arguments; `COUNT DISTINCT` is a name of its own. `IN` has what is looked for
    first. `EXISTS` and `NOT EXISTS` have one group. A cast is named by its IRI. An operation is
    `bracketed` if its author wrote parentheses around it.
    """

    name: str
    arguments: tuple[Expression, ...] = ()
    separator: str | None = None
    bracketed: bool = field(default=False, compare=False, repr=False)
    span: Span | None = field(default=None, compare=False, repr=False, kw_only=True)

    @property
    def is_aggregate(self) -> bool:
        """Whether it is a function over the solutions of a group."""
        return self.name.partition(" ")[0] in AGGREGATES


Expression: TypeAlias = "Term | Call | Group"


@dataclass(frozen=True)
class Pattern:
    """A triple pattern, or a path between its ends.

    `spans` are the places of the three in the text, and `statement` that of all patterns with the
    same subject; empty for one that was not read from a text.
    """

    subject: Term
    predicate: Predicate
    object: Term
    spans: tuple[Span, ...] = field(default=(), compare=False, repr=False)
    statement: Span | None = field(default=None, compare=False, repr=False)


@dataclass(frozen=True)
class Filter:
    """A condition on the whole group it stands in, and its place in the text if it has one."""

    condition: Expression
    span: Span | None = field(default=None, compare=False, repr=False)


@dataclass(frozen=True)
class Bind:
    """A new name for what an expression gives."""

    value: Expression
    variable: Variable
    span: Span | None = field(default=None, compare=False, repr=False, kw_only=True)


@dataclass(frozen=True)
class Values:
    """Rows given in the query; None is UNDEF."""

    variables: tuple[Variable, ...]
    rows: tuple[tuple[Term | None, ...], ...]
    span: Span | None = field(default=None, compare=False, repr=False, kw_only=True)


@dataclass(frozen=True)
class Nested:
    """A group after OPTIONAL, MINUS, GRAPH or SERVICE, or with no word at all.

    `silent` is of a SERVICE that may fail.
    """

    word: str
    group: Group
    name: Term | None = None
    silent: bool = False
    span: Span | None = field(default=None, compare=False, repr=False, kw_only=True)


@dataclass(frozen=True)
class Union:
    """Groups of which any may match."""

    groups: tuple[Group, ...]
    span: Span | None = field(default=None, compare=False, repr=False, kw_only=True)


Element: TypeAlias = "Pattern | Filter | Bind | Values | Nested | Union | Query"


@dataclass(frozen=True)
class Group:
    """What stands between braces, in order."""

    elements: tuple[Element, ...] = ()
    span: Span | None = field(default=None, compare=False, repr=False, kw_only=True)


@dataclass(frozen=True)
class Query:
    """A SELECT, ASK, CONSTRUCT or DESCRIBE query, or a SELECT inside one.

    `columns` are the variables asked for, with their expressions; empty for `*`. Blank nodes of the
    WHERE part are variables whose names start with `__`, as they act so. `values` are rows after
    the query, which `askgraph.sparql.parser.read` joins with the rest. The `span` of a query inside
    one is that of its braces, `inner` of what is in them; of a whole query both begin behind the
    prologue.
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
        return bool(self.group_by) or any(call.is_aggregate for call in calls_in(self.columns))


class QueryText(str):
    """The text of a query with its tree, so that nobody has to read it again.

    It is text for all who send, store or show it; a copy of it is mere text.
    """

    tree: Query

    @classmethod
    def of(cls, tree: Query, text: str) -> Self:
        """Return a text with the tree that reading it would give, but for the places in it."""
        found = cls(text)
        found.tree = tree
        return found

    def __reduce__(self) -> tuple[type[str], tuple[str]]:
        return str, (str(self),)


_CHILDREN: dict[type, tuple[str, ...]] = {
    Path: ("parts",),
    Call: ("arguments",),
    Pattern: ("subject", "predicate", "object"),
    Filter: ("condition",),
    Bind: ("value", "variable"),
    Values: ("variables", "rows"),
    Nested: ("group", "name"),
    Union: ("groups",),
    Group: ("elements",),
    Query: ("where", "columns", "group_by", "having", "order", "template", "resources", "values"),
}
AGGREGATES = frozenset(["COUNT", "SUM", "AVG", "MIN", "MAX", "SAMPLE", "GROUP_CONCAT"])


def children(node: object) -> tuple[object, ...]:
    """Return the parts of a node in the order of its fields; some are tuples, or None."""
    names = _CHILDREN.get(type(node))
    return tuple([getattr(node, name) for name in names]) if names else ()


def walk(
    part: object, *, into: Callable[[object], Sequence[object]] = children
) -> Iterator[object]:
    """Yield a part of a tree and all nodes and terms within it, each node before its parts.

    `into` returns the parts of a node that are walked. Time is linear, however deep the nesting.
    """
    waiting = [part]
    while waiting:
        part = waiting.pop()
        if isinstance(part, tuple):
            waiting += reversed(part)
        elif part is not None and not isinstance(part, bool):
            yield part
            waiting += reversed(into(part))


def calls_in(part: object) -> Iterator[Call]:
    """Yield the calls in expressions, but those within an aggregate or the group of an EXISTS."""
    for node in walk(part, into=_open):
        if isinstance(node, Call):
            yield node


def _open(node: object) -> tuple[object, ...]:
    is_closed = isinstance(node, Group) or (isinstance(node, Call) and node.is_aggregate)
    return () if is_closed else children(node)


def transform(
    part: Any, change: Callable[[Any], Any], *, enter: Callable[[Any], bool] | None = None
) -> Any:
    """Return a part of a tree with each node and term changed, from the inside out.

    `change` is given a node whose parts are changed already, and returns what takes its place: of
    an element of a group that may be a tuple of elements. Parts for which `enter` returns False
    stay as they are, with all that they hold; what is not changed stays the same object.
    """
    if isinstance(part, tuple):
        changed = tuple(transform(inner, change, enter=enter) for inner in part)
        return part if all(map(operator.is_, part, changed)) else changed
    if part is None or isinstance(part, bool) or (enter is not None and not enter(part)):
        return part
    inner = {}
    for name in _CHILDREN.get(type(part), ()):
        before = getattr(part, name)
        after = transform(before, change, enter=enter)
        if after is not before:
            inner[name] = _flat(after) if name == "elements" else after
    return change(replace(part, **inner) if inner else part)


def _flat(elements: tuple[Any, ...]) -> tuple[Any, ...]:
    return tuple(one for item in elements for one in (item if isinstance(item, tuple) else (item,)))


def variables_of(part: object) -> Iterator[Variable]:
    """Yield the variables of any part of a tree, in order, as often as they stand there.

    Of a sub-select those are its columns.
    """
    return (node for node in walk(part, into=_seen_outside) if isinstance(node, Variable))


def _seen_outside(node: object) -> tuple[object, ...]:
    match node:
        case Query(columns=columns) if columns:
            return tuple(name for name, _ in columns)
        case Query(where=where):
            return (where,)
        case _:
            return children(node)


def variables_in_scope(part: object) -> Iterator[Variable]:
    """Yield the variables that a solution of a part may bind, in order, as often as they stand."""
    return (node for node in walk(part, into=_binding) if isinstance(node, Variable))


def _binding(node: object) -> tuple[object, ...]:
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
            return children(node)
        case _:
            return ()


def groups_in(part: object) -> Iterator[Group]:
    """Yield the groups of EXISTS in expressions, but those within one of them."""
    return (node for node in walk(part, into=outside_groups) if isinstance(node, Group))


def outside_groups(node: object) -> tuple[object, ...]:
    """Return the parts of a node, of a group none."""
    return () if isinstance(node, Group) else children(node)


def renamed(tree: Query, names: Mapping[str, str]) -> Query:
    """Return a query with other names for some of its IRIs."""

    def change(node: object) -> object:
        return NamedNode(names.get(node.value, node.value)) if isinstance(node, NamedNode) else node

    changed: Query = transform(tree, change)
    return changed


def rename_variables(tree: Query, names: Mapping[Variable, Variable]) -> Query:
    """Return a query with other names for some of its variables; blank nodes become variables."""

    def change(node: object) -> object:
        if isinstance(node, BlankNode):
            return Variable(f"__{re.sub('[^A-Za-z0-9_]', '_', node.value)}")
        return names.get(node, node) if isinstance(node, Variable) else node

    changed: Query = transform(tree, change)
    return changed


_TYPE = NamedNode(RDF_TYPE)


def by_subject(query: Query) -> Query:
    """Return a query with its patterns in the order in which they are laid out, each once."""
    ordered: Query = transform(query, _together)
    return ordered


def _together(part: object) -> object:
    """A group with the patterns of one subject together, its class first; else the part."""
    if not isinstance(part, Group):
        return part
    found: list[Element] = []
    subjects: dict[Term, dict[object, Pattern]] = {}
    for at, element in enumerate((*part.elements, None)):
        if isinstance(element, Pattern):
            once = at if isinstance(element.predicate, Path) else element
            subjects.setdefault(element.subject, {}).setdefault(once, element)
            continue
        for own in subjects.values():
            ordered: list[Pattern] = sorted(own.values(), key=lambda one: one.predicate != _TYPE)
            found += ordered
        subjects = {}
        found += [element] if element else []
    return Group(tuple(found))
