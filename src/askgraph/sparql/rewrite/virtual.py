"""Expand predicates and classes that a graph does not have into paths and patterns.

    ?x ex:locatedIn ex:Germany    →    ?x (ex:site/ex:partOf+) ex:Germany

A virtual predicate is a set of pairs, as any predicate is, but a path may return a pair more than
once. If rows are counted, such a path therefore becomes a SELECT DISTINCT; a longer path around it
is split into its steps, as section 18.2.2.4 of SPARQL 1.1 defines.

Terms that users define by a pattern (`DefinedTerm`) are expanded after the search, and folded again
to put a query into words:

    ?c a <active customer>    ↔    ?c a :Customer FILTER(EXISTS { ?o :customer ?c ; :day ?day … })
"""

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import count
from typing import Any, Self

from pyoxigraph import BlankNode, Literal, NamedNode, Variable

from askgraph import sparql as ast
from askgraph.errors import QueryError, QuerySyntaxError
from askgraph.sparql import vocabulary as v
from askgraph.sparql.lexer import apply_edits, tokenize, unescape_codepoints
from askgraph.sparql.parser import parse_tree
from askgraph.sparql.serializer import to_text

_CLASS_NAMESPACES = (*v.SCHEMA_NAMESPACES, v.WIKIBASE, v.SCHEMA)
"""Namespaces whose classes keep `rdf:type`, even where it is a virtual predicate."""

VirtualPaths = Mapping[str, ast.Predicate]
"""The path of each virtual predicate, by its IRI; over the graph's own predicates."""


def find_predicates(path: ast.Predicate) -> Iterator[str]:
    """Yield the IRIs of a path's predicates, with repetitions."""
    return (node.value for node in ast.walk(path) if isinstance(node, NamedNode))


def is_row_preserving(predicate: ast.Predicate, paths: VirtualPaths) -> bool:
    """Return whether replacing the virtual predicates by their paths leaves the rows the same."""
    match predicate:
        case Variable():
            return False
        case NamedNode(value=iri):
            return iri not in paths or not _can_repeat(paths[iri])
        case ast.Path(operator="+" | "*"):
            return True
        case ast.Path(parts=parts):
            return all(is_row_preserving(part, paths) for part in parts)


def replace_virtual(predicate: ast.Predicate, paths: VirtualPaths) -> ast.Predicate:
    """Return a predicate with its virtual predicates replaced by their paths.

    Raises:
        QueryError: a virtual predicate is in a negated property set (`!`).
    """
    match predicate:
        case NamedNode(value=iri) if iri in paths:
            return paths[iri]
        case ast.Path(operator="!") if negated_iri := next(
            (iri for iri in find_predicates(predicate) if iri in _list_matchable(paths)), ""
        ):
            raise QueryError(
                f"<{negated_iri}> stands for a property path and cannot be negated in a set: write "
                "FILTER NOT EXISTS with it, or name the graph's own predicates"
            )
        case ast.Path(operator=operator, parts=parts):
            return ast.Path(operator, tuple(replace_virtual(part, paths) for part in parts))
        case _:
            return predicate


def _can_repeat(path: ast.Predicate) -> bool:
    """Return whether a path may return the same pair more than once."""
    match path:
        case ast.Path(operator="/" | "|" | "!" | "?"):
            return True
        case ast.Path(operator="^", parts=(inner_path,)):
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

    def expand_query(self, tree: ast.Query) -> ast.Query:
        """Return a query with its patterns expanded, including those of sub-selects."""
        with_columns = ast.transform(
            replace(tree, template=()), self._name_columns, enter=_is_local
        )
        expanded: ast.Query = ast.transform(with_columns, self._expand_node, enter=_is_local)
        # The template has blank nodes instead of the variables from parsing.
        to_node = self._to_blank_node
        template = tuple(
            replace(pattern, subject=to_node(pattern.subject), object=to_node(pattern.object))
            for pattern in tree.template
        )
        return replace(expanded, template=template)

    def _name_columns(self, node: object) -> object:
        """Return a query with `*` replaced by its columns."""
        if not isinstance(node, ast.Query):
            return node
        variables = ast.find_variables_in_scope(node.where)
        names = dict.fromkeys(variable for variable in variables if variable.value in self.names)
        columns = tuple((name, None) for name in names)
        if ast.Call("COUNT DISTINCT") in _find_aggregates(node):
            return replace(node, where=ast.Group((ast.Query("SELECT", node.where, columns),)))
        is_star = node.form == "SELECT" and not node.columns
        return replace(node, columns=columns) if is_star else node

    def _expand_node(self, node: object) -> object:
        if isinstance(node, ast.Pattern) and _is_affected(node, self.paths):
            return self._expand_pattern(node.subject, node.predicate, node.object)
        return node

    def _expand_pattern(
        self, start: ast.Term, path: ast.Predicate, end: ast.Term
    ) -> tuple[ast.Element, ...]:
        match path:
            case Variable() as name:
                branches = [ast.Group((ast.Pattern(start, name, end),))]
                for iri in _list_matchable(self.paths):
                    predicate_value = ast.Values((name,), ((NamedNode(iri),),))
                    branches.append(
                        ast.Group(
                            (*self._expand_pattern(start, NamedNode(iri), end), predicate_value)
                        )
                    )
                return (ast.Nested("", ast.Group((ast.Union(tuple(branches)),))),)
            case _ if self.sets or is_row_preserving(path, self.paths):
                return (ast.Pattern(start, replace_virtual(path, self.paths), end),)
            case ast.Path(operator="^", parts=(inner_path,)):
                return self._expand_pattern(end, inner_path, start)
            case ast.Path(operator="|", parts=parts):
                groups = (ast.Group(self._expand_pattern(start, part, end)) for part in parts)
                return (ast.Union(tuple(groups)),)
            case ast.Path(operator="/", parts=parts):
                return (self._expand_sequence(start, parts, end),)
            case _:
                return (self._build_distinct(start, replace_virtual(path, self.paths), end),)

    def _expand_sequence(
        self, start: ast.Term, parts: tuple[ast.Predicate, ...], end: ast.Term
    ) -> ast.Query:
        """Return the steps of a path one by one; the nodes between them are not visible outside."""
        nodes = [start, *(self._create_variable() for _ in parts[1:]), end]
        steps = zip(nodes, parts, nodes[1:], strict=False)
        elements = tuple(element for step in steps for element in self._expand_pattern(*step))
        columns: list[tuple[Variable, ast.Expression | None]] = [
            (element, None) for element in _get_end_variables(start, end)
        ]
        return ast.Query(
            "SELECT", ast.Group(elements), tuple(columns or [(self._create_variable(), Literal(1))])
        )

    def _build_distinct(self, start: ast.Term, path: ast.Predicate, end: ast.Term) -> ast.Element:
        """Return a path between two ends, with each pair once."""
        path_group = ast.Group((ast.Pattern(start, path, end),))
        columns = tuple((name, None) for name in _get_end_variables(start, end))
        if not columns:
            return ast.Filter(ast.Call("EXISTS", (path_group,)))
        return ast.Query("SELECT", path_group, columns, distinct=True)

    def _create_variable(self) -> Variable:
        numbers: Iterator[int] = self._numbers  # type: ignore[attr-defined]
        return Variable(
            next(f"between{number}" for number in numbers if f"between{number}" not in self.names)
        )

    def _to_blank_node(self, term: ast.Term) -> ast.Term:
        is_generated = isinstance(term, Variable) and term.value not in self.names
        return BlankNode(term.value) if is_generated else term


def _is_local(node: object) -> bool:
    """Return whether a part is matched with this graph, not with that of a SERVICE."""
    return not (isinstance(node, ast.Nested) and node.word == "SERVICE")


def _get_end_variables(start: ast.Term, end: ast.Term) -> tuple[Variable, ...]:
    return tuple(dict.fromkeys(term for term in (start, end) if isinstance(term, Variable)))


def parse_path(text: str, prefixes: Mapping[str, str] | None = None) -> ast.Predicate:
    """Return the property path that a text writes.

    Raises:
        QuerySyntaxError: the text is not a property path.
    """
    query = parse_tree(f"ASK {{ ?s {text} ?o }}", prefixes)
    match query.where.elements:
        case (ast.Pattern(predicate=NamedNode() | ast.Path() as path),):
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
    nodes = ast.walk(
        without_template, into=lambda node: ast.get_children(node) if _is_local(node) else ()
    )
    affected = [
        pattern
        for pattern in (node for node in nodes if isinstance(node, ast.Pattern))
        if _is_affected(pattern, paths)
    ]
    if not affected:
        return query
    sets = not any(
        _is_duplicate_sensitive(node) for node in ast.walk(tree) if isinstance(node, ast.Query)
    )
    allows_paths = tree.form != "CONSTRUCT"  # whose short form has no paths
    if allows_paths and all(  # replacing the predicates in the text is enough
        not isinstance(pattern.predicate, Variable)
        and pattern.spans
        and (sets or is_row_preserving(pattern.predicate, paths))
        for pattern in affected
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


def _is_affected(pattern: ast.Pattern, paths: VirtualPaths) -> bool:
    match pattern:
        case ast.Pattern(predicate=Variable()):
            return bool(_list_matchable(paths))
        case ast.Pattern(predicate=NamedNode(value=v.RDF_TYPE), object=NamedNode(value=iri)):
            return v.RDF_TYPE in paths and not iri.startswith(_CLASS_NAMESPACES)
        case ast.Pattern(predicate=path):
            return any(iri in paths for iri in find_predicates(path))


def _list_matchable(paths: VirtualPaths) -> list[str]:
    """Return the virtual predicates that match a variable: not those of schema languages."""
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


def _is_duplicate_sensitive(query: ast.Query) -> bool:
    aggregates = _find_aggregates(query)
    if query.group_by or aggregates:
        return not all(
            bool(call.arguments)
            if call.name == "COUNT DISTINCT"
            else call.name in _SET_AGGREGATES or call.name.endswith(" DISTINCT")
            for call in aggregates
        )
    if query.form == "SELECT":
        return not query.distinct
    return query.limit is not None or bool(query.offset)


def _find_aggregates(query: ast.Query) -> list[ast.Call]:
    """Return the aggregates in a query's own expressions, not those inside EXISTS."""
    return [
        call
        for call in ast.find_calls((query.columns, query.having, query.order))
        if call.is_aggregate
    ]


@dataclass(frozen=True)
class DefinedTerm:
    """A virtual class, or a virtual property of a class if it has a value.

    Attributes:
        iri: Its IRI.
        cls: The class of its instances.
        elements: The pattern of an instance, the variable `?this`.
        value: The expression of a value over the variables of the pattern.
        aggregate: The SPARQL function that sums up several instances; empty if they stay apart.
    """

    iri: str
    cls: str
    elements: tuple[ast.Element, ...]
    value: "ast.Expression | None" = None
    aggregate: str = ""

    @classmethod
    def parse(
        cls,
        iri: str,
        base: str,
        pattern: str,
        value: str,
        aggregate: str,
        prefixes: Mapping[str, str],
    ) -> Self:
        """Parse a term from the texts of a definition.

        Raises:
            QuerySyntaxError: The pattern or the value is not SPARQL, or lacks `?this`.
        """
        select = f"({value} AS ?value)" if value else ""
        tree = parse_tree(f"SELECT ?this {select} {{ {pattern} }}", prefixes)
        if _THIS not in ast.find_variables_in_scope(tree.where):
            raise QuerySyntaxError(f"the pattern {pattern!r} has no ?this")
        elements = ast.group_patterns_by_subject(tree).where.elements
        return cls(iri, base, elements, tree.columns[-1][1] if value else None, aggregate)

    @property
    def inner_variables(self) -> tuple[Variable, ...]:
        """The variables of the pattern besides `?this`."""
        names = (node for node in ast.walk(self.elements) if isinstance(node, Variable))
        return tuple(dict.fromkeys(name for name in names if name != _THIS))

    @property
    def predicates(self) -> frozenset[str]:
        """The IRIs of the pattern's predicates."""
        patterns = (node for node in ast.walk(self.elements) if isinstance(node, ast.Pattern))
        return frozenset(iri for item in patterns for iri in find_predicates(item.predicate))

    @property
    def conditions(self) -> Mapping[str, ast.Term]:
        """The constants that properties of the instance must have, by the property's IRI."""
        return {
            node.predicate.value: node.object
            for node in self.elements
            if isinstance(node, ast.Pattern)
            and node.subject == _THIS
            and isinstance(node.predicate, NamedNode)
            and not isinstance(node.object, Variable)
        }

    @property
    def query(self) -> ast.Query:
        """The query for the instances, with their values."""
        group = ast.Group((ast.Pattern(_THIS, _TYPE, NamedNode(self.cls)), *self.elements))
        columns = ((_THIS, None), (Variable("value"), self.value))[: 2 if self.value else 1]
        return ast.Query("SELECT", group, columns, distinct=True)


_THIS, _TYPE = Variable("this"), NamedNode(v.RDF_TYPE)


def expand_terms(
    tree: ast.Query, terms: Mapping[str, DefinedTerm]
) -> tuple[ast.Query, Mapping[Variable, str]]:
    """Return a query with the patterns of virtual terms, and a name for each new variable."""
    hints: dict[Variable, str] = {}

    def expand(node: object) -> object:
        if not isinstance(node, ast.Pattern):
            return node
        for iri in (node.object, node.predicate):
            term = terms.get(iri.value) if isinstance(iri, NamedNode) else None
            if term is None or (term.value is None) is not (iri is node.object):
                continue
            names: dict[Any, Any] = {_THIS: node.subject}
            for name in term.inner_variables:
                names[name] = Variable(f"{name.value}Defined{len(hints)}")
                hints[names[name]] = name.value
            rename = partial(_rename, names=names)
            elements = ast.transform(term.elements, rename)
            if term.value is None:
                base = ast.Pattern(node.subject, _TYPE, NamedNode(term.cls))
                group = ast.Filter(ast.Call("EXISTS", (ast.Group(elements),)))
                return (base, group) if term.inner_variables else (base, *elements)
            value = ast.transform(term.value, rename)
            if isinstance(node.object, Variable):
                return (*elements, ast.Bind(value, node.object))
            return (*elements, ast.Filter(ast.Call("=", (value, node.object))))
        return node

    return ast.transform(tree, expand), hints


def _rename(node: Any, names: Mapping[Any, Any]) -> Any:
    return names.get(node, node) if isinstance(node, Variable) else node


def sum_by_owner(tree: ast.Query, terms: Mapping[str, DefinedTerm]) -> ast.Query:
    """Return a query in which an aggregated measure is one value of the thing asked about.

    SELECT ?c { ?o :customer ?c ; :line ?l . ?l <revenue> ?m FILTER(?m > 9) }    →
    SELECT ?c { { SELECT ?c (SUM(?m) AS ?total_m) { ?o :customer ?c … } GROUP BY ?c }
                FILTER(?total_m > 9) }
    """
    elements = tree.where.elements
    measured = [
        item
        for item in elements
        if isinstance(item, ast.Pattern)
        and isinstance(item.predicate, NamedNode)
        and isinstance(item.object, Variable)
        and item.predicate.value in terms
        and terms[item.predicate.value].aggregate
    ]
    owner = _find_owner(tree, measured[0], terms) if len(measured) == 1 else None
    if owner is None:
        return tree
    carrier, value = measured[0].subject, measured[0].object
    assert isinstance(value, Variable) and isinstance(measured[0].predicate, NamedNode)
    variables = {id(item): {*_find_all_variables(item)} - {owner, value} for item in elements}
    reached: set[ast.Term] = {carrier}
    inner: list[ast.Element] = []
    while True:
        further = [x for x in elements if variables[id(x)] & reached and x not in inner]
        if not further:
            break
        inner += further
        reached |= {name for item in further for name in variables[id(item)]}
    inner = [item for item in elements if item in inner]
    outer = [item for item in elements if item not in inner]
    if any(value in _find_all_variables(x) for x in inner if x is not measured[0]):
        return tree
    total = Variable(f"total_{value.value}")
    remainder = replace(tree, where=ast.Group(tuple(outer)))
    used = dict.fromkeys(_find_all_variables(remainder))
    keys = [owner, *(name for name in used if name in reached)]
    aggregate = terms[measured[0].predicate.value].aggregate
    select = ast.Query(
        "SELECT",
        ast.Group(tuple(inner)),
        (*((key, None) for key in keys), (total, ast.Call(aggregate, (value,)))),
        group_by=tuple((key, None) for key in keys),
    )
    renamed = ast.rename_variables(remainder, {value: total})
    return replace(renamed, where=ast.Group((select, *renamed.where.elements)))


def _find_all_variables(part: object) -> Iterator[Variable]:
    return (node for node in ast.walk(part) if isinstance(node, Variable))


def _find_owner(
    tree: ast.Query, measured: ast.Pattern, terms: Mapping[str, DefinedTerm]
) -> Variable | None:
    """Return the variable whose things a measure is summed up for; None if it is not to be."""
    carrier, value = measured.subject, measured.object
    classes = [
        item.subject
        for item in tree.where.elements
        if isinstance(item, ast.Pattern)
        and item.predicate == _TYPE
        and not (item.subject == carrier and str(item.object)[1:-1] in terms)
    ]
    calls = [*ast.find_calls((tree.columns, tree.order, tree.having))]
    over = [call for call in calls if call.is_aggregate and value in {*_find_all_variables(call)}]
    if any(call.name.startswith("SUM") for call in over) or carrier in classes:
        return None
    if over:
        owners = [name for name in classes if not any(name == key for key, _ in tree.group_by)]
    elif tree.group_by:
        return None
    else:
        owners = [*_find_all_variables(tree.columns)]
        if value in owners and carrier in owners:
            return None
    bound = {*ast.find_variables_in_scope(tree.where)}
    names = (x for x in owners if isinstance(x, Variable) and x in bound)
    return next((name for name in names if name not in (value, carrier)), None)


def fold_terms(
    tree: ast.Query, terms: Collection[DefinedTerm]
) -> tuple[ast.Query, tuple[str, ...]]:
    """Return a query with virtual terms where it has their patterns, for readers, and their IRIs.

    It is the inverse of `sum_by_owner` and `expand_terms`; the result cannot be run.
    """
    used: dict[str, None] = {}

    def fold(node: Any) -> Any:
        if not isinstance(node, ast.Group):
            return node
        elements = list(node.elements)
        for term in terms:
            templates: tuple[ast.Element, ...] = term.elements
            if term.value is not None:
                templates = (*templates, ast.Bind(term.value, Variable("value")))
            elif term.inner_variables:
                templates = (ast.Filter(ast.Call("EXISTS", (ast.Group(term.elements),))),)
            while (match := _match_elements(templates, elements, {})) is not None:
                names, matched = match
                used[term.iri] = None
                this = names[_THIS]
                base = ast.Pattern(this, _TYPE, NamedNode(term.cls))
                remaining = [item for item in elements if item not in matched]
                folded = (
                    ast.Pattern(this, _TYPE, NamedNode(term.iri))
                    if term.value is None
                    else ast.Pattern(this, NamedNode(term.iri), names[Variable("value")])
                )
                if term.value is None:
                    remaining = [item for item in remaining if item != base]
                elements = [folded, *remaining]
        return ast.Group(tuple(elements)) if tuple(elements) != node.elements else node

    tree = ast.transform(tree, fold)
    for item in tree.where.elements:
        match item:
            case ast.Query(
                where=ast.Group(elements=inner),
                columns=(*_, (total, ast.Call(arguments=(Variable() as value,)))),
            ) if any(
                isinstance(x, ast.Pattern) and x.object == value and str(x.predicate)[1:-1] in used
                for x in inner
            ):
                outer = (x for x in tree.where.elements if x is not item)
                joined = replace(tree, where=ast.Group((*inner, *outer)))
                return ast.rename_variables(joined, {total: value}), tuple(used)
    return tree, tuple(used)


def _match_elements(
    templates: Sequence[ast.Element], elements: Sequence[ast.Element], names: dict[Any, Any]
) -> tuple[dict[Any, Any], list[ast.Element]] | None:
    """Return what the variables of templates stand for, and the elements that match them."""
    if not templates:
        return names, []
    for element in elements:
        bound = dict(names)
        if _match(templates[0], element, bound):
            match = _match_elements(templates[1:], elements, bound)
            if match is not None:
                return match[0], [element, *match[1]]
    return None


def _match(template: object, node: object, names: dict[Any, Any]) -> bool:
    """Return whether a part of a tree equals a template but for its variables; extends `names`."""
    if isinstance(template, Variable):
        return bool(names.setdefault(template, node) == node)
    if isinstance(template, tuple) and isinstance(node, tuple):
        return len(template) == len(node) and all(
            _match(inner, other, names) for inner, other in zip(template, node, strict=True)
        )
    if type(template) is not type(node):
        return False
    if not ast.get_children(template):
        return template == node
    same: bool = all(
        getattr(template, sign, None) == getattr(node, sign, None)
        for sign in ("name", "word", "operator", "form")
        if isinstance(getattr(template, sign, None), str)
    )
    return same and bool(_match(ast.get_children(template), ast.get_children(node), names))
