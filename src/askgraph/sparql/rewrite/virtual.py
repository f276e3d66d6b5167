"""Predicates that a graph does not have: a query that uses them, written out as property paths.

    ?x ex:locatedIn ex:Germany    →    ?x (ex:site/ex:partOf+) ex:Germany

A virtual predicate is a set of pairs, as any predicate is, but a path may give a pair more than
once. If rows are counted, such a path therefore stands in a SELECT DISTINCT of its own; a longer
path around it is cut into its steps, as section 18.2.2.4 of SPARQL 1.1 has it.
"""

from collections.abc import Collection, Iterable, Iterator, Mapping
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
    calls_in,
    children,
    transform,
    variables_in_scope,
    walk,
)
from askgraph.sparql import vocabulary as v
from askgraph.sparql.lexer import edited, lexed, unescaped
from askgraph.sparql.parser import read
from askgraph.sparql.serializer import text_of

_OF_SCHEMAS = (*v.SCHEMA_SPACES, v.WIKIBASE, v.SCHEMA)
"""Where `rdf:type` has another name, it still says what is a class, a statement or a page."""

VirtualPaths = Mapping[str, Predicate]
"""The path that each virtual predicate stands for, by its IRI; of the graph's own predicates."""


def predicates_in(path: Predicate) -> Iterator[str]:
    """Yield the IRIs of a path's predicates, as often as they stand there."""
    return (node.value for node in walk(path) if isinstance(node, NamedNode))


def stays_one(predicate: Predicate, paths: VirtualPaths) -> bool:
    """Return whether a path gives the same rows with the paths in the place of the predicates."""
    match predicate:
        case Variable():
            return False
        case NamedNode(value=iri):
            return iri not in paths or not _repeats(paths[iri])
        case Path(operator="+" | "*"):
            return True
        case Path(parts=parts):
            return all(stays_one(part, paths) for part in parts)


def replaced(predicate: Predicate, paths: VirtualPaths) -> Predicate:
    """Return a predicate with the virtual ones in it as their paths.

    Raises `QueryError` for a negated property set (`!`) with one.
    """
    match predicate:
        case NamedNode(value=iri) if iri in paths:
            return paths[iri]
        case Path(operator="!") if first := _negated(predicate, paths):
            raise QueryError(
                f"<{first}> stands for a property path and cannot be negated in a set: write "
                "FILTER NOT EXISTS with it, or name the graph's own predicates"
            )
        case Path(operator=operator, parts=parts):
            return Path(operator, tuple(replaced(part, paths) for part in parts))
        case _:
            return predicate


def _negated(path: Predicate, paths: VirtualPaths) -> str:
    """The first virtual predicate in a negated set, but for standard ones; "" if none."""
    return next((iri for iri in predicates_in(path) if iri in _seen(paths)), "")


def _repeats(path: Predicate) -> bool:
    """Whether a path may give the same pair more than once."""
    match path:
        case Path(operator="/" | "|" | "!" | "?"):
            return True
        case Path(operator="^", parts=(inner,)):
            return _repeats(inner)
        case _:
            return False


@dataclass(frozen=True)
class PatternWriter:
    """Writes the patterns of a tree out.

    `names` are the variables that the query's text has: no new one is among them. With `sets`, a
    row that comes twice is not noticed.
    """

    paths: VirtualPaths
    names: Collection[str]
    sets: bool

    def __post_init__(self) -> None:
        """Start to count the new variables."""
        object.__setattr__(self, "_numbers", count(1))

    def query(self, tree: Query) -> Query:
        """Return a query with its patterns written out, those of the queries inside it too."""
        named = transform(replace(tree, template=()), self._named, enter=_is_asked_here)
        written: Query = transform(named, self._written, enter=_is_asked_here)
        return replace(written, template=tuple(map(self._made, tree.template)))

    def _named(self, node: object) -> object:
        """A query with the columns that its `*` stands for."""
        if not isinstance(node, Query):
            return node
        seen = variables_in_scope(node.where)
        names = dict.fromkeys(one for one in seen if one.value in self.names)
        shown = tuple((name, None) for name in names)
        if counts_all(node):
            return replace(node, where=Group((Query("SELECT", node.where, shown),)))
        is_star = node.form == "SELECT" and not node.columns
        return replace(node, columns=shown) if is_star else node

    def _written(self, node: object) -> object:
        if isinstance(node, Pattern) and _concerns(node, self.paths):
            return self._pattern(node.subject, node.predicate, node.object)
        return node

    def _pattern(self, start: Term, path: Predicate, end: Term) -> tuple[Element, ...]:
        match path:
            case Variable() as name:
                return (self._any_predicate(start, name, end),)
            case _ if self.sets or stays_one(path, self.paths):
                return (Pattern(start, replaced(path, self.paths), end),)
            case Path(operator="^", parts=(inner,)):
                return self._pattern(end, inner, start)
            case Path(operator="|", parts=parts):
                groups = (Group(self._pattern(start, part, end)) for part in parts)
                return (Union(tuple(groups)),)
            case Path(operator="/", parts=parts):
                return (self._steps(start, parts, end),)
            case _:
                return (self._once(start, replaced(path, self.paths), end),)

    def _steps(self, start: Term, parts: tuple[Predicate, ...], end: Term) -> Query:
        """The steps of a path one by one; what lies between them is not seen outside."""
        places = [start, *(self._new() for _ in parts[1:]), end]
        steps = zip(places, parts, places[1:], strict=False)
        walked = tuple(one for step in steps for one in self._pattern(*step))
        columns: list[tuple[Variable, Expression | None]] = [
            (one, None) for one in _ends(start, end)
        ]
        return Query("SELECT", Group(walked), tuple(columns or [(self._new(), Literal(1))]))

    def _any_predicate(self, start: Term, name: Variable, end: Term) -> Nested:
        """What the graph itself has there, and what each virtual predicate gives."""
        branches = [Group((Pattern(start, name, end),))]
        for iri in _seen(self.paths):
            told = Values((name,), ((NamedNode(iri),),))
            branches.append(Group((*self._pattern(start, NamedNode(iri), end), told)))
        return Nested("", Group((Union(tuple(branches)),)))

    def _once(self, start: Term, path: Predicate, end: Term) -> Element:
        """A path between two ends, each pair once."""
        walked = Group((Pattern(start, path, end),))
        columns = tuple((name, None) for name in _ends(start, end))
        if not columns:
            return Filter(Call("EXISTS", (walked,)))
        return Query("SELECT", walked, columns, distinct=True)

    def _new(self) -> Variable:
        numbers: Iterator[int] = self._numbers  # type: ignore[attr-defined]
        return Variable(next(f"between{n}" for n in numbers if f"between{n}" not in self.names))

    def _made(self, pattern: Pattern) -> Pattern:
        """A pattern of a template, whose blank nodes were read as variables."""
        return replace(
            pattern, subject=self._blank(pattern.subject), object=self._blank(pattern.object)
        )

    def _blank(self, term: Term) -> Term:
        unwritten = isinstance(term, Variable) and term.value not in self.names
        return BlankNode(term.value) if unwritten else term


def _is_asked_here(node: object) -> bool:
    """Whether a part is matched with this graph, and not with that of a SERVICE."""
    return not (isinstance(node, Nested) and node.word == "SERVICE")


def _ends(start: Term, end: Term) -> tuple[Variable, ...]:
    return tuple(dict.fromkeys(one for one in (start, end) if isinstance(one, Variable)))


def read_path(text: str, prefixes: Mapping[str, str] | None = None) -> Predicate:
    """Return a property path as SPARQL writes it; `QuerySyntaxError` if it is none."""
    query = read(f"ASK {{ ?s {text} ?o }}", prefixes)
    match query.where.elements:
        case (Pattern(predicate=NamedNode() | Path() as path),):
            return path
    raise QuerySyntaxError(f"{text!r} is no property path")


def written_out(
    query: str, paths: VirtualPaths, *, prefixes: Mapping[str, str] | None = None
) -> str:
    """Return a query that gives over the graph itself what this one gives with virtual predicates.

    Its layout stays if only the predicates have to be replaced. A pattern whose predicate is a
    variable finds the virtual predicates too. What stands in a SERVICE is of another graph and is
    left alone, and so is what cannot be read and names none: the endpoint says what is wrong.
    Raises `QueryError` for a negated property set (`!`) with a virtual predicate, and
    `QuerySyntaxError` for what names one and cannot be read.
    """
    text = query
    try:
        text = unescaped(query)
        tree = read(text, prefixes)
    except QuerySyntaxError as problem:
        _refuse_named(text, paths, prefixes or {}, problem)
        return query
    met = [one for one in _patterns(tree) if _concerns(one, paths)]
    if not met:
        return query
    sets = not counts_rows(tree)
    plain = tree.form != "CONSTRUCT"  # whose short form has no paths
    if plain and all(_in_place(one, paths, sets=sets) for one in met):
        return _spliced(text, met, paths)
    return text_of(PatternWriter(paths, lexed(text).variables, sets).query(tree))


def _refuse_named(
    query: str, paths: VirtualPaths, prefixes: Mapping[str, str], problem: QuerySyntaxError
) -> None:
    """Refuse what cannot be read and names a virtual predicate, which would be found nowhere."""
    known = {**prefixes, **lexed(query).declared}
    for token in lexed(query).all:
        prefix, colon, local = token.text.partition(":")
        full = (
            token.text[1:-1] if token.kind == "iri" else known.get(prefix, prefix + colon) + local
        )
        if token.kind in ("iri", "pname") and full in paths:
            raise QuerySyntaxError(
                f"<{full}> stands for a property path, and cannot be written out: {problem}",
                line=problem.line,
                column=problem.column,
            )


def _in_place(pattern: Pattern, paths: VirtualPaths, *, sets: bool) -> bool:
    """Whether it is enough to put paths in the places of a pattern's predicates."""
    if isinstance(pattern.predicate, Variable) or not pattern.spans:
        return False
    return sets or stays_one(pattern.predicate, paths)


def _patterns(tree: Query) -> Iterator[Pattern]:
    """The triple patterns that are matched with this graph."""
    plain = replace(tree, template=())
    found = walk(plain, into=lambda node: children(node) if _is_asked_here(node) else ())
    return (node for node in found if isinstance(node, Pattern))


def _concerns(pattern: Pattern, paths: VirtualPaths) -> bool:
    match pattern:
        case Pattern(predicate=Variable()):
            return bool(_seen(paths))
        case Pattern(predicate=NamedNode(value=v.RDF_TYPE), object=NamedNode(value=iri)):
            return v.RDF_TYPE in paths and not iri.startswith(_OF_SCHEMAS)
        case Pattern(predicate=path):
            return any(iri in paths for iri in predicates_in(path))


def _seen(paths: VirtualPaths) -> list[str]:
    """The virtual predicates that a variable stands for: not those of the schema languages.

    These are other names of the graph's own predicates, which are found themselves.
    """
    return [iri for iri in paths if not iri.startswith(v.SCHEMA_SPACES)]


def _spliced(query: str, met: Iterable[Pattern], paths: VirtualPaths) -> str:
    """Put paths in the places of the predicates; all else stays as it was written."""
    declared = lexed(query).declared
    edits = {
        one.spans[1]: _shortened(text_of(replaced(one.predicate, paths)), declared) for one in met
    }
    return edited(query, ((*place, put) for place, put in sorted(edits.items())))


def _shortened(path: str, prefixes: Mapping[str, str]) -> str:
    """A path with the prefixes that the query declares, if the rest is a plain name."""
    pieces = path.split("<")
    for at, piece in enumerate(pieces[1:], 1):
        iri, _, rest = piece.partition(">")
        names = (
            f"{prefix}:{iri[len(namespace) :]}"
            for prefix, namespace in prefixes.items()
            if iri.startswith(namespace) and iri[len(namespace) :].isalnum()
        )
        pieces[at] = next(names, f"<{iri}>") + rest
    return "".join(pieces)


_OF_A_SET = frozenset(["MIN", "MAX", "SAMPLE"])


def counts_rows(tree: Query) -> bool:
    """Return whether a query, or one inside it, gives something else if a row comes twice."""
    return any(_notices(node) for node in walk(tree) if isinstance(node, Query))


def counts_all(query: Query) -> bool:
    """Return whether a query has a `COUNT(DISTINCT *)` of its own, which sees all variables."""
    return Call("COUNT DISTINCT") in _aggregates(query)


def _notices(query: Query) -> bool:
    called = _aggregates(query)
    if query.group_by or called:
        return not all(map(_of_a_set, called))
    if query.form == "SELECT":
        return not query.distinct
    return query.limit is not None or bool(query.offset)


def _of_a_set(call: Call) -> bool:
    if call.name == "COUNT DISTINCT":
        return bool(call.arguments)
    return call.name in _OF_A_SET or call.name.endswith(" DISTINCT")


def _aggregates(query: Query) -> list[Call]:
    """The aggregates of a query's own expressions, not those of a group inside of EXISTS."""
    return [
        call for call in calls_in((query.columns, query.having, query.order)) if call.is_aggregate
    ]
