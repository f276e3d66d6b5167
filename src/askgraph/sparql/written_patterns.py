"""Patterns with virtual predicates, written out: each in its place, and each pair once.

A virtual predicate is a set of pairs, as any predicate is, where a path may give a pair more than
once. So where rows are counted, such a path stands in a SELECT DISTINCT of its own; a longer path
around it is cut into its steps, as section 18.2.2.4 of SPARQL 1.1 has it.
"""

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, fields, is_dataclass, replace
from itertools import count

from pyoxigraph import BlankNode, Literal, NamedNode, Variable

from askgraph.errors import QueryError
from askgraph.sparql.row_counts import counts_all
from askgraph.sparql.tree import (
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
    Term,
    Union,
    Values,
)

__all__ = ["PatternWriter", "VirtualPaths", "predicates_in", "replaced", "stays_one"]

VirtualPaths = Mapping[str, Predicate]
"""The path that each virtual predicate stands for, by its IRI; of the graph's own predicates."""


def predicates_in(path: Predicate) -> Iterator[str]:
    """Yield the IRIs of a path's predicates, as often as they stand there."""
    match path:
        case NamedNode():
            yield path.value
        case Path(parts=parts):
            for part in parts:
                yield from predicates_in(part)


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
        case Path(operator="!") if any(iri in paths for iri in predicates_in(predicate)):
            first = next(iri for iri in predicates_in(predicate) if iri in paths)
            raise QueryError(
                f"<{first}> stands for a property path and cannot be negated in a set: write "
                "FILTER NOT EXISTS with it, or name the graph's own predicates"
            )
        case Path(operator=operator, parts=parts):
            return Path(operator, tuple(replaced(part, paths) for part in parts))
        case _:
            return predicate


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
        """Return a query, or one inside another, with its patterns written out."""
        written = self._parts(tree, tree)
        shown = tuple((name, None) for name in dict.fromkeys(self._visible(tree.where)))
        if counts_all(tree):
            return replace(written, where=Group((Query("SELECT", written.where, shown),)))
        if tree.form == "SELECT" and not tree.columns:
            return replace(written, columns=shown)
        template = tuple(map(self._made, tree.template))
        return replace(written, template=template)

    def _parts(self, part: Query, of: Query) -> Query:
        changed = {
            one.name: self._rebuilt(getattr(of, one.name))
            for one in fields(of)
            if one.name != "template"
        }
        return replace(part, **changed)  # type: ignore[arg-type]

    def _rebuilt(self, part: object) -> object:
        """Any part of a tree with its patterns written out."""
        match part:
            case Query():
                return self.query(part)
            case Group(elements=elements):
                return Group(tuple(new for one in elements for new in self._elements(one)))
            case Nested(word="SERVICE"):
                return part
            case tuple():
                return tuple(self._rebuilt(one) for one in part)
            case _ if is_dataclass(part) and not isinstance(part, type):
                names = (one.name for one in fields(part) if one.name != "span")
                return replace(part, **{name: self._rebuilt(getattr(part, name)) for name in names})
            case _:
                return part

    def _elements(self, element: Element) -> tuple[Element, ...]:
        if isinstance(element, Pattern):
            return self._pattern(element.subject, element.predicate, element.object)
        return (self._rebuilt(element),)  # type: ignore[return-value]

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
        for iri in self.paths:
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

    def _visible(self, part: object) -> Iterator[Variable]:
        """The variables that `*` stands for, in order."""
        match part:
            case Variable() if part.value in self.names:
                yield part
            case Query(columns=columns) if columns:
                yield from (name for name, _ in columns)
            case Nested(word="MINUS") | Filter():
                return
            case _:
                for one in _shown(part):
                    yield from self._visible(one)

    def _made(self, pattern: Pattern) -> Pattern:
        """A pattern of a template, whose blank nodes were read as variables."""
        return replace(
            pattern, subject=self._blank(pattern.subject), object=self._blank(pattern.object)
        )

    def _blank(self, term: Term) -> Term:
        unwritten = isinstance(term, Variable) and term.value not in self.names
        return BlankNode(term.value) if unwritten else term


def _shown(part: object) -> tuple[object, ...]:
    """The parts in which variables stand that are seen outside."""
    match part:
        case tuple():
            return part
        case Query(where=where):
            return (where,)
        case Bind(variable=name):
            return (name,)
        case Pattern() | Nested() | Union() | Group() | Values():
            return tuple(getattr(part, one.name) for one in fields(part))
        case _:
            return ()


def _ends(start: Term, end: Term) -> tuple[Variable, ...]:
    return tuple(dict.fromkeys(one for one in (start, end) if isinstance(one, Variable)))
