"""Build the triples that definitions add to a graph: about terms, and links between nodes.

Inverse and shortcut properties follow Henselmann et al. (2025), sections 4.2 and 4.3.
"""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from pyoxigraph import Literal, NamedNode, Triple

from askgraph.errors import SetupError
from askgraph.graph.arrays import GraphArrays, Ids, get_names
from askgraph.graph.definitions import Definitions, resolve_virtual_paths
from askgraph.sparql import Path, Predicate
from askgraph.sparql import vocabulary as v
from askgraph.sparql.prefixes import split_local_name
from askgraph.sparql.serializer import to_text

_MAX_LINKS = 1_000_000
_MAX_LINKS_PER_TRIPLE = 20


def build_statements(definitions: Definitions) -> Iterator[Triple]:
    """Yield the triples about defined terms: types, labels, comments, inverses."""
    for item in definitions.properties:
        yield _build_triple(item.iri, v.RDF_TYPE, NamedNode(v.OWL_OBJECT_PROPERTY))
        label = item.label or split_local_name(item.iri)
        yield _build_triple(item.iri, v.RDFS_LABEL, Literal(label, language=item.language))
        if item.comment:
            yield _build_triple(
                item.iri, v.RDFS_COMMENT, Literal(item.comment, language=item.language)
            )
        if item.inverse_of is not None:
            yield _build_triple(item.iri, v.OWL_INVERSE_OF, NamedNode(item.inverse_of))
    for comment in definitions.comments:
        text = Literal(comment.text, language=comment.language)
        yield _build_triple(comment.term, v.RDFS_COMMENT, text)


def build_links(definitions: Definitions, graph: GraphArrays) -> Iterator[Triple]:
    """Yield the triples of inverse and shortcut properties between a graph's nodes.

    Raises:
        SetupError: The graph already has a defined property, a path starts at a literal, or a
            property links too many pairs: more than a million and more than twenty times the
            triples of the graph.
    """
    limit = max(_MAX_LINKS, _MAX_LINKS_PER_TRIPLE * len(graph))
    for iri, path in resolve_virtual_paths(definitions).items():
        predicate = NamedNode(iri)
        if graph.get_predicate_number(iri) is not None:
            raise SetupError(f"the graph has <{iri}> already: define a property with another IRI")
        sources, targets = evaluate_path(graph, path, limit=limit)
        for source, target in zip(sources.tolist(), targets.tolist(), strict=True):
            subject = graph.terms.get_term(source)
            if isinstance(subject, Literal):
                raise SetupError(
                    f"<{iri}> would lead from {subject}: the path {to_text(path)} begins "
                    "at literals, which cannot be subjects"
                )
            yield Triple(subject, predicate, graph.terms.get_term(target))


def build_names(definitions: Definitions, graph: GraphArrays) -> Iterator[Triple]:
    """Yield labels for nameless instances, made of the names of the nodes they link."""
    for name in definitions.names:
        cls = graph.terms.find_iri(name.cls)
        for node in graph.follow(cls, v.RDF_TYPE, inverse=True) if cls is not None else ():
            ends = (graph.follow(node, iri) for iri in name.predicates)
            parts = [_get_node_label(graph, end[0]) for end in ends if end]
            subject = graph.terms.get_term(node)
            if parts and not isinstance(subject, Literal):
                yield Triple(subject, NamedNode(v.RDFS_LABEL), Literal(" – ".join(parts)))


def _get_node_label(graph: GraphArrays, node: int) -> str:
    if graph.terms.is_literal(node):
        return graph.terms.get_value(node)
    value = graph.terms.get_value(node)
    return next((text for text, _ in get_names(graph, value)), split_local_name(value))


def _build_triple(subject: str, predicate: str, value: NamedNode | Literal) -> Triple:
    return Triple(NamedNode(subject), NamedNode(predicate), value)


_Pairs = NDArray[np.int64]  # source << 32 | target, sorted, each once


def evaluate_path(graph: GraphArrays, path: Predicate, *, limit: int) -> tuple[Ids, Ids]:
    """Return the distinct (source, target) pairs of a path, by source.

    A predicate that the graph lacks links nothing.

    Raises:
        SetupError: The path has a negated set or can be empty (`*`, `?`), or any step has more
            than `limit` pairs.
    """
    result = _PathEvaluator(graph, limit, path).evaluate(path)
    if result.empty:
        raise SetupError(
            f"the path {to_text(path)} may match the empty path and would link every node "
            "to itself; use '+', or begin with a required predicate"
        )
    return (result.pairs >> 32).astype(np.int32), (result.pairs & 0xFFFFFFFF).astype(np.int32)


@dataclass(frozen=True)
class _PathResult:
    """The pairs of a path; `empty` if the path also matches zero steps."""

    pairs: _Pairs
    empty: bool = False


@dataclass(frozen=True)
class _PathEvaluator:
    graph: GraphArrays
    limit: int
    full_path: Predicate

    def evaluate(self, path: Predicate) -> _PathResult:
        match path:
            case NamedNode(value=iri):
                return _PathResult(self._get_edges(iri))
            case Path(operator="^", parts=(inner,)):
                inner_result = self.evaluate(inner)
                return _PathResult(
                    np.sort((inner_result.pairs & 0xFFFFFFFF) << 32 | inner_result.pairs >> 32),
                    inner_result.empty,
                )
            case Path(operator="/", parts=parts):
                steps = [self.evaluate(part) for part in parts]
                result = steps[0]
                for step in steps[1:]:
                    pair_sets = [self._join_pairs(result.pairs, step.pairs)]
                    pair_sets += [result.pairs] if step.empty else []
                    pair_sets += [step.pairs] if result.empty else []
                    pairs = self._deduplicate(np.concatenate(pair_sets))
                    result = _PathResult(pairs, result.empty and step.empty)
                return result
            case Path(operator="|", parts=parts):
                alternatives = [self.evaluate(part) for part in parts]
                union = self._deduplicate(
                    np.concatenate([alternative.pairs for alternative in alternatives])
                )
                return _PathResult(union, any(alternative.empty for alternative in alternatives))
            case Path(operator="?", parts=(inner,)):
                return _PathResult(self.evaluate(inner).pairs, empty=True)
            case Path(operator="+" | "*" as operator, parts=(inner,)):
                step = self.evaluate(inner)
                # One or more steps: each round continues from the results of the last one
                # from.
                pairs = step.pairs
                all_pairs = new_pairs = pairs
                while len(new_pairs):
                    next_pairs = self._join_pairs(new_pairs, pairs)
                    new_pairs = np.setdiff1d(next_pairs, all_pairs, assume_unique=True)
                    all_pairs = self._deduplicate(np.concatenate([all_pairs, new_pairs]))
                return _PathResult(all_pairs, step.empty or operator == "*")
        raise SetupError(f"the path {to_text(self.full_path)} has a negated set or a variable")

    def _get_edges(self, iri: str) -> _Pairs:
        number = self.graph.get_predicate_number(iri)
        if number is None:
            return np.zeros(0, dtype=np.int64)
        sources, targets = self.graph.get_edges_in_range(0, len(self.graph.terms), number)
        return self._deduplicate(sources.astype(np.int64) << 32 | targets)

    def _join_pairs(self, first: _Pairs, second: _Pairs) -> _Pairs:
        starts = (second >> 32).searchsorted(first & 0xFFFFFFFF, side="left")
        counts = (second >> 32).searchsorted(first & 0xFFFFFFFF, side="right") - starts
        total = int(counts.sum())
        self._check_limit(total)
        indices = np.arange(total) + (starts - (counts.cumsum() - counts)).repeat(counts)
        sources = (first >> 32).repeat(counts)
        return self._deduplicate(sources << 32 | (second[indices] & 0xFFFFFFFF))

    def _deduplicate(self, pairs: _Pairs) -> _Pairs:
        distinct_pairs = np.unique(pairs)
        self._check_limit(len(distinct_pairs))
        return distinct_pairs

    def _check_limit(self, pair_count: int) -> None:
        if pair_count > self.limit:
            raise SetupError(
                f"the path {to_text(self.full_path)} would link more than {self.limit:,} "
                "pairs of nodes: remove it from the definitions, or make it narrower"
            )
