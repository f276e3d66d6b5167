"""The triples that definitions add to a graph: what they say of terms, and what follows of things.

Inverse and shortcut properties are those of Henselmann et al. (2025), sections 4.2 and 4.3.
"""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from pyoxigraph import Literal, NamedNode, Triple

from askgraph.errors import SetupError
from askgraph.graph.arrays import GraphArrays, Ids, names_of
from askgraph.graph.definitions import Definitions, virtual_paths
from askgraph.sparql import Path, Predicate
from askgraph.sparql import vocabulary as v
from askgraph.sparql.prefixes import words_of_local_name
from askgraph.sparql.serializer import text_of

_MOST = 1_000_000
_TIMES = 20


def statements(definitions: Definitions) -> Iterator[Triple]:
    """Yield the statements about the terms: kinds, labels, comments, inverses."""
    for one in definitions.properties:
        yield _triple(one.iri, v.RDF_TYPE, NamedNode(v.OWL_OBJECT_PROPERTY))
        label = one.label or words_of_local_name(one.iri)
        yield _triple(one.iri, v.RDFS_LABEL, Literal(label, language=one.language))
        if one.comment:
            yield _triple(one.iri, v.RDFS_COMMENT, Literal(one.comment, language=one.language))
        if one.inverse_of is not None:
            yield _triple(one.iri, v.OWL_INVERSE_OF, NamedNode(one.inverse_of))
    for comment in definitions.comments:
        text = Literal(comment.text, language=comment.language)
        yield _triple(comment.term, v.RDFS_COMMENT, text)


def links(definitions: Definitions, graph: GraphArrays) -> Iterator[Triple]:
    """Yield the statements of inverse and shortcut properties about the things of a graph.

    Raises `SetupError` for a property that the graph has already, for a path that leads from a
    literal, which cannot be a subject, and for one that links too many pairs: more than a million
    and more than twenty times the triples of the graph.
    """
    limit = max(_MOST, _TIMES * len(graph))
    for iri, path in virtual_paths(definitions).items():
        predicate = NamedNode(iri)
        if graph.number(iri) is not None:
            raise SetupError(f"the graph has <{iri}> already: define a property that it lacks")
        sources, targets = path_pairs(graph, path, limit=limit)
        for source, target in zip(sources.tolist(), targets.tolist(), strict=True):
            subject = graph.terms.term(source)
            if isinstance(subject, Literal):
                raise SetupError(
                    f"<{iri}> would lead from {subject}: the path {text_of(path)} begins at "
                    "literals, and these are no subjects"
                )
            yield Triple(subject, predicate, graph.terms.term(target))


def told_names(definitions: Definitions, graph: GraphArrays) -> Iterator[Triple]:
    """Yield the labels of instances that have none, made of the names of what they link."""
    for name in definitions.names:
        cls = graph.terms.iri(name.cls)
        for node in graph.follow(cls, v.RDF_TYPE, inverse=True) if cls is not None else ():
            ends = (graph.follow(node, iri) for iri in name.predicates)
            told = [_called(graph, end[0]) for end in ends if end]
            subject = graph.terms.term(node)
            if told and not isinstance(subject, Literal):
                yield Triple(subject, NamedNode(v.RDFS_LABEL), Literal(" – ".join(told)))


def _called(graph: GraphArrays, node: int) -> str:
    if graph.terms.is_literal(node):
        return graph.terms.value(node)
    value = graph.terms.value(node)
    return next((text for text, _ in names_of(graph, value)), words_of_local_name(value))


def _triple(subject: str, predicate: str, value: NamedNode | Literal) -> Triple:
    return Triple(NamedNode(subject), NamedNode(predicate), value)


_Pairs = NDArray[np.int64]  # source << 32 | target, sorted, each once


def path_pairs(graph: GraphArrays, path: Predicate, *, limit: int) -> tuple[Ids, Ids]:
    """Return the distinct (source, target) pairs of a path, in the order of sources.

    A predicate that the graph lacks links nothing. Raises `SetupError` for a path with a negated
    set, for one that may be empty (`*`, `?`), which links each node with itself, and if there
    would be more pairs than `limit` at any step.
    """
    reached = _Walk(graph, limit, path).of(path)
    if reached.empty:
        raise SetupError(
            f"the path {text_of(path)} may be empty: it would link everything with itself; "
            "use '+', or begin with a predicate that has to be there"
        )
    return (reached.pairs >> 32).astype(np.int32), (reached.pairs & 0xFFFFFFFF).astype(np.int32)


@dataclass(frozen=True)
class _Reached:
    """The pairs of a path, and whether it may be empty besides."""

    pairs: _Pairs
    empty: bool = False


@dataclass(frozen=True)
class _Walk:
    graph: GraphArrays
    limit: int
    whole: Predicate

    def of(self, path: Predicate) -> _Reached:
        match path:
            case NamedNode(value=iri):
                return _Reached(self._edges(iri))
            case Path(operator="^", parts=(inner,)):
                turned = self.of(inner)
                return _Reached(
                    np.sort((turned.pairs & 0xFFFFFFFF) << 32 | turned.pairs >> 32), turned.empty
                )
            case Path(operator="/", parts=parts):
                return self._sequence([self.of(part) for part in parts])
            case Path(operator="|", parts=parts):
                ways = [self.of(part) for part in parts]
                together = self._distinct(np.concatenate([way.pairs for way in ways]))
                return _Reached(together, any(way.empty for way in ways))
            case Path(operator="?", parts=(inner,)):
                return _Reached(self.of(inner).pairs, empty=True)
            case Path(operator="+" | "*" as operator, parts=(inner,)):
                step = self.of(inner)
                # One or more steps: what the last round found is all that the next has to go on
                # from.
                pairs = step.pairs
                known = last = pairs
                while len(last):
                    found = self._joined(last, pairs)
                    last = np.setdiff1d(found, known, assume_unique=True)
                    known = self._distinct(np.concatenate([known, last]))
                return _Reached(known, step.empty or operator == "*")
        raise SetupError(f"the path {text_of(self.whole)} has a negated set or a variable")

    def _edges(self, iri: str) -> _Pairs:
        number = self.graph.number(iri)
        if number is None:
            return np.zeros(0, dtype=np.int64)
        sources, targets = self.graph.between(0, len(self.graph.terms), number)
        return self._distinct(sources.astype(np.int64) << 32 | targets)

    def _sequence(self, steps: list[_Reached]) -> _Reached:
        done = steps[0]
        for step in steps[1:]:
            ways = [self._joined(done.pairs, step.pairs)]
            ways += [done.pairs] if step.empty else []
            ways += [step.pairs] if done.empty else []
            pairs = self._distinct(np.concatenate(ways))
            done = _Reached(pairs, done.empty and step.empty)
        return done

    def _joined(self, first: _Pairs, second: _Pairs) -> _Pairs:
        starts = (second >> 32).searchsorted(first & 0xFFFFFFFF, side="left")
        ends = (second >> 32).searchsorted(first & 0xFFFFFFFF, side="right")
        counts = ends - starts
        total = int(counts.sum())
        self._refuse_more(total)
        before = counts.cumsum() - counts
        at = np.arange(total) + (starts - before).repeat(counts)
        sources = (first >> 32).repeat(counts)
        return self._distinct(sources << 32 | (second[at] & 0xFFFFFFFF))

    def _distinct(self, pairs: _Pairs) -> _Pairs:
        found = np.unique(pairs)
        self._refuse_more(len(found))
        return found

    def _refuse_more(self, number: int) -> None:
        if number > self.limit:
            raise SetupError(
                f"the path {text_of(self.whole)} would link more than {self.limit:,} pairs of "
                "nodes: take it out of the definitions, or make it narrower"
            )
