"""Predicates that a graph does not have: a query that uses them, written out as property paths.

    ?x ex:locatedIn ex:Germany    →    ?x (ex:site/ex:partOf+) ex:Germany

A virtual predicate is a set of pairs, as any predicate is, where a path may give a pair more than
once. So where a query would notice, the path stands in a SELECT DISTINCT of its own.
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import fields, is_dataclass, replace

from pyoxigraph import NamedNode, Variable

from askgraph.errors import QueryError, QuerySyntaxError
from askgraph.sparql.query import starred
from askgraph.sparql.reader import read
from askgraph.sparql.terminals import declared_prefixes
from askgraph.sparql.tree import (
    Call,
    Element,
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
    text_of,
)

__all__ = ["VirtualPaths", "predicates_in", "read_path", "written_out"]

VirtualPaths = Mapping[str, Predicate]
"""The path that each virtual predicate stands for, by its IRI; of the graph's own predicates."""

_SET_AGGREGATES = frozenset(["COUNT DISTINCT", "MIN", "MAX", "SAMPLE"])


def read_path(text: str, prefixes: Mapping[str, str] | None = None) -> Predicate:
    """Return a property path as SPARQL writes it; `QuerySyntaxError` where it is none."""
    query = read(f"ASK {{ ?s {text} ?o }}", prefixes)
    match query.where.elements:
        case (Pattern(predicate=NamedNode() | Path() as path),):
            return path
    raise QuerySyntaxError(f"{text!r} is no property path")


def predicates_in(path: Predicate) -> Iterator[str]:
    """Yield the IRIs of a path's predicates, as often as they stand there."""
    match path:
        case NamedNode():
            yield path.value
        case Path(parts=parts):
            for part in parts:
                yield from predicates_in(part)


def written_out(
    query: str, paths: VirtualPaths, *, prefixes: Mapping[str, str] | None = None
) -> str:
    """Return a query that gives over the graph itself what this one gives with virtual predicates.

    Its layout stays where only the predicates have to be replaced. A pattern whose predicate is a
    variable finds the virtual predicates too. What stands in a SERVICE is of another graph and is
    left alone, and so is what cannot be read: the endpoint says what is wrong. Raises `QueryError`
    for a negated property set (`!`) with a virtual predicate.
    """
    try:
        tree = read(query, prefixes)
    except QuerySyntaxError:
        return query
    met = [one for one in _patterns(tree) if _concerns(one.predicate, paths)]
    if not met:
        return query
    sets = not _counts_rows(tree)
    plain = tree.form != "CONSTRUCT"  # whose short form has no paths
    if plain and all(_stays_one(one, paths, sets=sets) for one in met):
        return _spliced(query, met, paths)
    written = _rebuilt(tree, paths, sets)
    assert isinstance(written, Query)
    columns = starred(query)
    if columns is not None:
        written = replace(written, columns=tuple((Variable(name), None) for name in columns))
    return text_of(written)


def _patterns(part: object) -> Iterator[Pattern]:
    """The triple patterns that are matched with this graph."""
    match part:
        case Pattern():
            yield part
        case Nested(word="SERVICE"):
            return
        case tuple():
            for one in part:
                yield from _patterns(one)
        case _ if is_dataclass(part):
            for one in fields(part):
                if one.name != "template":
                    yield from _patterns(getattr(part, one.name))


def _concerns(predicate: Predicate, paths: VirtualPaths) -> bool:
    if isinstance(predicate, Variable):
        return True
    return any(iri in paths for iri in predicates_in(predicate))


def _counts_rows(part: object) -> bool:
    """Whether it would be noticed that a row comes twice."""
    match part:
        case Query(form="SELECT"):
            if part.is_aggregate:
                noticed = any(not _of_a_set(value) for _, value in part.columns)
            else:
                noticed = not part.distinct
            return noticed or bool(part.having) or _counts_rows(part.where)
        case tuple():
            return any(_counts_rows(one) for one in part)
        case _ if is_dataclass(part):
            return any(_counts_rows(getattr(part, one.name)) for one in fields(part))
    return False


def _of_a_set(value: object) -> bool:
    return (
        value is None
        or isinstance(value, Variable)
        or (isinstance(value, Call) and value.name in _SET_AGGREGATES)
    )


def _stays_one(pattern: Pattern, paths: VirtualPaths, *, sets: bool) -> bool:
    """Whether a pattern is one after its predicate was replaced, too."""
    match pattern.predicate:
        case Variable():
            return False
        case NamedNode(value=iri):
            return sets or not _repeats(paths[iri])
        case _:
            return True


def _repeats(path: Predicate) -> bool:
    """Whether a path may give the same pair more than once."""
    match path:
        case Path(operator="/" | "|"):
            return True
        case Path(operator="^", parts=(inner,)):
            return _repeats(inner)
        case _:
            return False


def _spliced(query: str, met: Iterable[Pattern], paths: VirtualPaths) -> str:
    """Put paths in the places of the predicates; all else stays as it was written."""
    declared = declared_prefixes(query)
    edits = {
        one.spans[1]: _shortened(text_of(_replaced(one.predicate, paths)), declared) for one in met
    }
    for (start, end), text in sorted(edits.items(), reverse=True):
        query = query[:start] + text + query[end:]
    return query


def _shortened(path: str, prefixes: Mapping[str, str]) -> str:
    """A path with the prefixes that the query declares, where what follows is a plain name."""
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


def _replaced(predicate: Predicate, paths: VirtualPaths) -> Predicate:
    """A predicate with the virtual ones in it as their paths."""
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
            return Path(operator, tuple(_replaced(part, paths) for part in parts))
        case _:
            return predicate


def _rebuilt(part: object, paths: VirtualPaths, sets: bool) -> object:
    """Any part of a tree with its patterns written out."""
    match part:
        case Pattern():
            return _element(part, paths, sets)
        case Nested(word="SERVICE"):
            return part
        case tuple():
            return tuple(_rebuilt(one, paths, sets) for one in part)
        case Query() | Group() | Nested() | Union() | Filter() | Call():
            changed = {
                one.name: _rebuilt(getattr(part, one.name), paths, sets)
                for one in fields(part)
                if one.name not in ("template", "span")
            }
            return replace(part, **changed)  # type: ignore[arg-type]
        case _:
            return part


def _element(pattern: Pattern, paths: VirtualPaths, sets: bool) -> Element:
    match pattern.predicate:
        case Variable() as name:
            return _any_predicate(pattern, name, paths, sets)
        case NamedNode(value=iri) if iri in paths:
            return _once(pattern, paths[iri], sets)
        case _:
            return replace(pattern, predicate=_replaced(pattern.predicate, paths))


def _any_predicate(pattern: Pattern, name: Variable, paths: VirtualPaths, sets: bool) -> Nested:
    """What the graph itself has there, and what each virtual predicate gives."""
    branches = [Group((pattern,))]
    for iri, path in paths.items():
        told = Values((name,), ((NamedNode(iri),),))
        branches.append(Group((_once(pattern, path, sets), told)))
    return Nested("", Group((Union(tuple(branches)),)))


def _once(pattern: Pattern, path: Predicate, sets: bool) -> Element:
    """A path between the ends of a pattern, each pair once where that matters."""
    walked = replace(pattern, predicate=path)
    if sets or not _repeats(path):
        return walked
    ends: list[Term] = [pattern.subject, pattern.object]
    names = tuple(dict.fromkeys(one for one in ends if isinstance(one, Variable)))
    if not names:
        return Filter(Call("EXISTS", (Group((walked,)),)))
    columns = tuple((name, None) for name in names)
    return Query("SELECT", Group((walked,)), columns, distinct=True)
