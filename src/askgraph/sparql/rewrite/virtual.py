"""Expand predicates that a graph does not have into property paths.

    ?x ex:locatedIn ex:Germany    →    ?x (ex:site/ex:partOf+) ex:Germany

A virtual predicate is a set of pairs, as any predicate is, but a path may return a pair more than
once. If rows are counted, such a path therefore becomes a SELECT DISTINCT; a longer path around it
is split into its steps, as section 18.2.2.4 of SPARQL 1.1 defines.
"""

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, replace
from itertools import count

from pyoxigraph import BlankNode, Literal, NamedNode, Variable

from askgraph.errors import QueryError, QuerySyntaxError
from askgraph.sparql import (
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
    Term,
    Union,
    Values,
    find_calls,
    find_variables_in_scope,
    get_children,
    transform,
    walk,
)
from askgraph.sparql import vocabulary as v
from askgraph.sparql.lexer import apply_edits, tokenize, unescape_codepoints
from askgraph.sparql.parser import parse_tree
from askgraph.sparql.serializer import to_text

_CLASS_NAMESPACES = (*v.SCHEMA_NAMESPACES, v.WIKIBASE, v.SCHEMA)
"""Namespaces whose classes keep `rdf:type`, even where it is a virtual predicate."""

VirtualPaths = Mapping[str, Predicate]
"""The path of each virtual predicate, by its IRI; over the graph's own predicates."""


def find_predicates(path: Predicate) -> Iterator[str]:
    """Yield the IRIs of a path's predicates, with repetitions."""
    return (node.value for node in walk(path) if isinstance(node, NamedNode))


def is_row_preserving(predicate: Predicate, paths: VirtualPaths) -> bool:
    """Return whether replacing the virtual predicates by their paths leaves the rows the same."""
    match predicate:
        case Variable():
            return False
        case NamedNode(value=iri):
            return iri not in paths or not _can_repeat(paths[iri])
        case Path(operator="+" | "*"):
            return True
        case Path(parts=parts):
            return all(is_row_preserving(part, paths) for part in parts)


def replace_virtual(predicate: Predicate, paths: VirtualPaths) -> Predicate:
    """Return a predicate with its virtual predicates replaced by their paths.

    Raises:
        QueryError: a virtual predicate is in a negated property set (`!`).
    """
    match predicate:
        case NamedNode(value=iri) if iri in paths:
            return paths[iri]
        case Path(operator="!") if negated_iri := next(
            (iri for iri in find_predicates(predicate) if iri in _list_matchable(paths)), ""
        ):
            raise QueryError(
                f"<{negated_iri}> stands for a property path and cannot be negated in a set: write "
                "FILTER NOT EXISTS with it, or name the graph's own predicates"
            )
        case Path(operator=operator, parts=parts):
            return Path(operator, tuple(replace_virtual(part, paths) for part in parts))
        case _:
            return predicate


def _can_repeat(path: Predicate) -> bool:
    """Return whether a path may return the same pair more than once."""
    match path:
        case Path(operator="/" | "|" | "!" | "?"):
            return True
        case Path(operator="^", parts=(inner_path,)):
            return _can_repeat(inner_path)
        case _:
            return False


@dataclass(frozen=True)
class VirtualPatternExpander:
    """Expands the virtual predicates of a tree.

    `names` are the variables in the query's text, which new variables must not use. With `sets`,
    duplicate rows do not matter.
    """

    paths: VirtualPaths
    names: Collection[str]
    sets: bool

    def __post_init__(self) -> None:
        """Start the numbering of new variables."""
        object.__setattr__(self, "_numbers", count(1))

    def expand_query(self, tree: Query) -> Query:
        """Return a query with its patterns expanded, including those of sub-selects."""
        with_columns = transform(replace(tree, template=()), self._name_columns, enter=_is_local)
        expanded: Query = transform(with_columns, self._expand_node, enter=_is_local)
        return replace(expanded, template=tuple(map(self._restore_blank_nodes, tree.template)))

    def _name_columns(self, node: object) -> object:
        """Return a query with `*` replaced by its columns."""
        if not isinstance(node, Query):
            return node
        variables = find_variables_in_scope(node.where)
        names = dict.fromkeys(variable for variable in variables if variable.value in self.names)
        columns = tuple((name, None) for name in names)
        if Call("COUNT DISTINCT") in _find_aggregates(node):
            return replace(node, where=Group((Query("SELECT", node.where, columns),)))
        is_star = node.form == "SELECT" and not node.columns
        return replace(node, columns=columns) if is_star else node

    def _expand_node(self, node: object) -> object:
        if isinstance(node, Pattern) and _is_affected(node, self.paths):
            return self._expand_pattern(node.subject, node.predicate, node.object)
        return node

    def _expand_pattern(self, start: Term, path: Predicate, end: Term) -> tuple[Element, ...]:
        match path:
            case Variable() as name:
                branches = [Group((Pattern(start, name, end),))]
                for iri in _list_matchable(self.paths):
                    predicate_value = Values((name,), ((NamedNode(iri),),))
                    branches.append(
                        Group((*self._expand_pattern(start, NamedNode(iri), end), predicate_value))
                    )
                return (Nested("", Group((Union(tuple(branches)),))),)
            case _ if self.sets or is_row_preserving(path, self.paths):
                return (Pattern(start, replace_virtual(path, self.paths), end),)
            case Path(operator="^", parts=(inner_path,)):
                return self._expand_pattern(end, inner_path, start)
            case Path(operator="|", parts=parts):
                groups = (Group(self._expand_pattern(start, part, end)) for part in parts)
                return (Union(tuple(groups)),)
            case Path(operator="/", parts=parts):
                return (self._expand_sequence(start, parts, end),)
            case _:
                return (self._build_distinct(start, replace_virtual(path, self.paths), end),)

    def _expand_sequence(self, start: Term, parts: tuple[Predicate, ...], end: Term) -> Query:
        """Return the steps of a path one by one; the nodes between them are not visible outside."""
        nodes = [start, *(self._create_variable() for _ in parts[1:]), end]
        steps = zip(nodes, parts, nodes[1:], strict=False)
        elements = tuple(element for step in steps for element in self._expand_pattern(*step))
        columns: list[tuple[Variable, Expression | None]] = [
            (element, None) for element in _get_end_variables(start, end)
        ]
        return Query(
            "SELECT", Group(elements), tuple(columns or [(self._create_variable(), Literal(1))])
        )

    def _build_distinct(self, start: Term, path: Predicate, end: Term) -> Element:
        """Return a path between two ends, with each pair once."""
        path_group = Group((Pattern(start, path, end),))
        columns = tuple((name, None) for name in _get_end_variables(start, end))
        if not columns:
            return Filter(Call("EXISTS", (path_group,)))
        return Query("SELECT", path_group, columns, distinct=True)

    def _create_variable(self) -> Variable:
        numbers: Iterator[int] = self._numbers  # type: ignore[attr-defined]
        return Variable(
            next(f"between{number}" for number in numbers if f"between{number}" not in self.names)
        )

    def _restore_blank_nodes(self, pattern: Pattern) -> Pattern:
        """Return a template pattern with blank nodes instead of the variables from parsing."""
        return replace(
            pattern,
            subject=self._to_blank_node(pattern.subject),
            object=self._to_blank_node(pattern.object),
        )

    def _to_blank_node(self, term: Term) -> Term:
        is_generated = isinstance(term, Variable) and term.value not in self.names
        return BlankNode(term.value) if is_generated else term


def _is_local(node: object) -> bool:
    """Return whether a part is matched with this graph, not with that of a SERVICE."""
    return not (isinstance(node, Nested) and node.word == "SERVICE")


def _get_end_variables(start: Term, end: Term) -> tuple[Variable, ...]:
    return tuple(dict.fromkeys(term for term in (start, end) if isinstance(term, Variable)))


def parse_path(text: str, prefixes: Mapping[str, str] | None = None) -> Predicate:
    """Return the property path that a text writes.

    Raises:
        QuerySyntaxError: the text is not a property path.
    """
    query = parse_tree(f"ASK {{ ?s {text} ?o }}", prefixes)
    match query.where.elements:
        case (Pattern(predicate=NamedNode() | Path() as path),):
            return path
    raise QuerySyntaxError(f"{text!r} is not a property path")


def expand_virtual_query(
    query: str, paths: VirtualPaths, *, prefixes: Mapping[str, str] | None = None
) -> str:
    """Return a query over the graph's own predicates, with the same solutions as with virtual ones.

    Its layout stays if replacing the predicates is enough. A pattern with a variable predicate
    also finds the virtual predicates. The content of a SERVICE belongs to another graph and
    stays. So does a query that cannot be parsed and names no virtual predicate: the endpoint
    reports it.

    Raises:
        QueryError: a virtual predicate is in a negated property set (`!`).
        QuerySyntaxError: the query names a virtual predicate and cannot be parsed.
    """
    text = query
    try:
        text = unescape_codepoints(query)
        tree = parse_tree(text, prefixes)
    except QuerySyntaxError as problem:
        _reject_virtual_names(text, paths, prefixes or {}, problem)
        return query
    without_template = replace(tree, template=())
    nodes = walk(without_template, into=lambda node: get_children(node) if _is_local(node) else ())
    affected = [
        pattern
        for pattern in (node for node in nodes if isinstance(node, Pattern))
        if _is_affected(pattern, paths)
    ]
    if not affected:
        return query
    sets = not is_sensitive_to_duplicates(tree)
    allows_paths = tree.form != "CONSTRUCT"  # whose short form has no paths
    if allows_paths and all(
        _can_replace_in_place(pattern, paths, sets=sets) for pattern in affected
    ):
        declared = tokenize(text).declared_prefixes
        edits = {
            pattern.spans[1]: _shorten_path(
                to_text(replace_virtual(pattern.predicate, paths)), declared
            )
            for pattern in affected
        }
        return apply_edits(
            text, ((*span, replacement) for span, replacement in sorted(edits.items()))
        )
    return to_text(
        VirtualPatternExpander(paths, tokenize(text).variable_names, sets).expand_query(tree)
    )


def _reject_virtual_names(
    query: str, paths: VirtualPaths, prefixes: Mapping[str, str], problem: QuerySyntaxError
) -> None:
    """Raise an error if an unparsable query names a virtual predicate, which no graph has."""
    namespaces = {**prefixes, **tokenize(query).declared_prefixes}
    for token in tokenize(query).all_tokens:
        prefix, colon, local = token.text.partition(":")
        iri = (
            token.text[1:-1]
            if token.kind == "iri"
            else namespaces.get(prefix, prefix + colon) + local
        )
        if token.kind in ("iri", "pname") and iri in paths:
            raise QuerySyntaxError(
                f"<{iri}> stands for a property path that cannot be expanded: {problem}",
                line=problem.line,
                column=problem.column,
            )


def _can_replace_in_place(pattern: Pattern, paths: VirtualPaths, *, sets: bool) -> bool:
    """Return whether it is enough to replace the predicates of a pattern in the text."""
    if isinstance(pattern.predicate, Variable) or not pattern.spans:
        return False
    return sets or is_row_preserving(pattern.predicate, paths)


def _is_affected(pattern: Pattern, paths: VirtualPaths) -> bool:
    match pattern:
        case Pattern(predicate=Variable()):
            return bool(_list_matchable(paths))
        case Pattern(predicate=NamedNode(value=v.RDF_TYPE), object=NamedNode(value=iri)):
            return v.RDF_TYPE in paths and not iri.startswith(_CLASS_NAMESPACES)
        case Pattern(predicate=path):
            return any(iri in paths for iri in find_predicates(path))


def _list_matchable(paths: VirtualPaths) -> list[str]:
    """Return the virtual predicates that match a variable: not those of schema languages.

    Those are other names of the graph's own predicates, which match anyway.
    """
    return [iri for iri in paths if not iri.startswith(v.SCHEMA_NAMESPACES)]


def _shorten_path(path: str, prefixes: Mapping[str, str]) -> str:
    """Return a path with prefixed names, where the query declares the prefix."""
    pieces = path.split("<")
    for index, piece in enumerate(pieces[1:], 1):
        iri, _, following = piece.partition(">")
        names = (
            f"{prefix}:{iri[len(namespace) :]}"
            for prefix, namespace in prefixes.items()
            if iri.startswith(namespace) and iri[len(namespace) :].isalnum()
        )
        pieces[index] = next(names, f"<{iri}>") + following
    return "".join(pieces)


_SET_AGGREGATES = frozenset(["MIN", "MAX", "SAMPLE"])


def is_sensitive_to_duplicates(tree: Query) -> bool:
    """Return whether a duplicate row would change the result of a query or of its sub-selects."""
    return any(_is_duplicate_sensitive(node) for node in walk(tree) if isinstance(node, Query))


def _is_duplicate_sensitive(query: Query) -> bool:
    aggregates = _find_aggregates(query)
    if query.group_by or aggregates:
        return not all(map(_is_duplicate_insensitive, aggregates))
    if query.form == "SELECT":
        return not query.distinct
    return query.limit is not None or bool(query.offset)


def _is_duplicate_insensitive(call: Call) -> bool:
    if call.name == "COUNT DISTINCT":
        return bool(call.arguments)
    return call.name in _SET_AGGREGATES or call.name.endswith(" DISTINCT")


def _find_aggregates(query: Query) -> list[Call]:
    """Return the aggregates in a query's own expressions, not those inside EXISTS."""
    return [
        call for call in find_calls((query.columns, query.having, query.order)) if call.is_aggregate
    ]
