"""Predicates that a graph does not have: a query that uses them, written out as property paths.

    ?x ex:locatedIn ex:Germany    →    ?x (ex:site/ex:partOf+) ex:Germany

`written_patterns` has how a pattern becomes another one.
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import fields, is_dataclass

from pyoxigraph import NamedNode, Variable

from askgraph.errors import QueryError, QuerySyntaxError
from askgraph.sparql.lexer import tokens, unescaped
from askgraph.sparql.reader import read
from askgraph.sparql.row_counts import counts_rows
from askgraph.sparql.terminals import declared_prefixes
from askgraph.sparql.tree import Nested, Path, Pattern, Predicate, text_of
from askgraph.sparql.written_patterns import (
    PatternWriter,
    VirtualPaths,
    predicates_in,
    replaced,
    stays_one,
)

__all__ = ["VirtualPaths", "predicates_in", "read_path", "written_out"]


def read_path(text: str, prefixes: Mapping[str, str] | None = None) -> Predicate:
    """Return a property path as SPARQL writes it; `QuerySyntaxError` where it is none."""
    query = read(f"ASK {{ ?s {text} ?o }}", prefixes)
    match query.where.elements:
        case (Pattern(predicate=NamedNode() | Path() as path),):
            return path
    raise QuerySyntaxError(f"{text!r} is no property path")


def written_out(
    query: str, paths: VirtualPaths, *, prefixes: Mapping[str, str] | None = None
) -> str:
    """Return a query that gives over the graph itself what this one gives with virtual predicates.

    Its layout stays where only the predicates have to be replaced. A pattern whose predicate is a
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
    met = [one for one in _patterns(tree) if _concerns(one.predicate, paths)]
    if not met:
        return query
    sets = not counts_rows(tree)
    plain = tree.form != "CONSTRUCT"  # whose short form has no paths
    if plain and all(_in_place(one, paths, sets=sets) for one in met):
        return _whole(_spliced(text, met, paths), paths, prefixes)
    names = frozenset(one.text[1:] for one in tokens(text) if one.kind == "variable")
    return _whole(text_of(PatternWriter(paths, names, sets).query(tree)), paths, prefixes)


def _refuse_named(
    query: str, paths: VirtualPaths, prefixes: Mapping[str, str], problem: QuerySyntaxError
) -> None:
    """Refuse what cannot be read and names a virtual predicate, which would be found nowhere."""
    known = {**prefixes, **declared_prefixes(query)}
    for token in tokens(query):
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


def _whole(query: str, paths: VirtualPaths, prefixes: Mapping[str, str] | None) -> str:
    """The query, which must not have a virtual predicate any more."""
    for one in _patterns(read(query, prefixes)):
        left = [iri for iri in predicates_in(one.predicate) if iri in paths]
        if left:
            raise QueryError(f"<{left[0]}> cannot be written out as a path in this query")
    return query


def _in_place(pattern: Pattern, paths: VirtualPaths, *, sets: bool) -> bool:
    """Whether it is enough to put paths in the places of a pattern's predicates."""
    if isinstance(pattern.predicate, Variable) or not pattern.spans:
        return False
    return sets or stays_one(pattern.predicate, paths)


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


def _spliced(query: str, met: Iterable[Pattern], paths: VirtualPaths) -> str:
    """Put paths in the places of the predicates; all else stays as it was written."""
    declared = declared_prefixes(query)
    edits = {
        one.spans[1]: _shortened(text_of(replaced(one.predicate, paths)), declared) for one in met
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
