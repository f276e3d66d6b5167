"""The shape of a class: what its instances have, how many of them, of what kind, with an example.

Counted where the triples lie here; else from the profile, and from a sample of instances where the
profile does not tell.
"""

import asyncio
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import cast

import numpy as np
from pyoxigraph import Literal, NamedNode

from askgraph.graph import KnowledgeGraph
from askgraph.rdf import vocabulary as v
from askgraph.sparql.results import Term
from askgraph.tools import Context
from askgraph.tools._facts import common, ends_of, numbered
from askgraph.traversal.arrays import GraphArrays, Ids
from askgraph.traversal.literals import split_literal

__all__ = ["Shape", "ShapeLine", "shape_at"]

_SAMPLE = 1_000
_LINES = 60
_NO_LINE = (v.RDF_TYPE,)


@dataclass(frozen=True)
class ShapeLine:
    """A predicate at the instances of a class; `inverse` where it leads to them.

    `having` of the instances have it, in `triples` triples; None where some have it several times,
    nobody knows how often. `kinds` are the classes or datatypes of the other end.
    """

    predicate: str
    triples: int | None
    having: int
    kinds: tuple[str, ...] = ()
    inverse: bool = False
    example: Term | None = None


@dataclass(frozen=True)
class Shape:
    """The lines of a class, the most frequent first; `sampled` of its instances were looked at."""

    instances: int
    lines: tuple[ShapeLine, ...]
    sampled: int | None = None


async def shape_at(context: Context, cls: str, *, examples: bool) -> Shape:
    """Return the shape of a class; with no lines where the graph has no instance of it."""
    graph = context.graph
    if graph.arrays is not None:
        return await asyncio.to_thread(_counted, graph, graph.arrays, cls)
    instances = next((one.instances for one in graph.profile.classes if one.iri == cls), 0)
    lines = tuple(_profiled(graph, cls, instances))
    shape = Shape(instances, _most(lines)) if lines else await _sampled(context, cls, instances)
    return await _with_examples(context, cls, shape) if examples and shape.lines else shape


def _most(lines: Sequence[ShapeLine]) -> tuple[ShapeLine, ...]:
    told = [line for line in lines if line.predicate not in _NO_LINE]
    order = sorted(told, key=lambda line: (line.inverse, -line.having))
    return tuple(order[:_LINES])


def _counted(graph: KnowledgeGraph, arrays: GraphArrays, cls: str) -> Shape:
    kind, at = arrays.number(v.RDF_TYPE), arrays.terms.iri(cls)
    if kind is None or at is None:
        return Shape(0, ())
    nodes = np.sort(arrays.step(np.array([at], dtype=np.int32), kind, inverse=True))
    if not len(nodes):
        return Shape(0, ())
    lines = []
    for inverse in (False, True):
        for number in arrays.predicates_of(nodes, inverse=inverse)[0].tolist():
            sources, targets = arrays.pairs(nodes, number, inverse=inverse)
            ends = np.unique(targets)
            kinds = _kinds(graph, arrays, ends, kind)
            example = cast(Term, arrays.terms.term(int(ends[len(ends) // 2])))
            having = len(np.unique(sources))
            line = ShapeLine(arrays.iri_of(number), len(targets), having, kinds, inverse, example)
            lines.append(line)
    return Shape(len(nodes), _most(lines))


def _kinds(graph: KnowledgeGraph, arrays: GraphArrays, ends: Ids, kind: int) -> tuple[str, ...]:
    """The classes or datatypes of most of some nodes, evenly chosen where there are many."""
    some = ends[:: max(1, len(ends) // _SAMPLE)]
    literals = [at for at in some.tolist() if arrays.terms.is_literal(at)]
    if len(literals) * 2 > len(some):
        types = Counter(split_literal(arrays.terms.text(at))[1] for at in literals)
        return tuple(iri for iri, _ in types.most_common(2))
    _, classes = arrays.pairs(some, kind)
    counted = [
        (arrays.terms.value(at), n)
        for at, n in Counter(classes.tolist()).most_common()
        if arrays.terms.is_iri(at)
    ]
    return common(counted, len(some), graph)


def _profiled(graph: KnowledgeGraph, cls: str, instances: int) -> Iterator[ShapeLine]:
    """What the profile tells: how many ends of each predicate are of the class."""
    for p in graph.profile.predicates:
        leaving = min(instances, dict(p.subject_classes).get(cls, 0))
        coming = min(instances, dict(p.object_classes).get(cls, 0))
        if leaving:
            kinds = ends_of(p, graph, inverse=False)
            yield ShapeLine(p.iri, leaving if p.functional else None, leaving, kinds)
        if coming:
            kinds = ends_of(p, graph, inverse=True)
            once = p.triples <= p.objects
            yield ShapeLine(p.iri, coming if once else None, coming, kinds, inverse=True)


async def _sampled(context: Context, cls: str, instances: int) -> Shape:
    """What some instances have, asked of the graph."""
    some = f"{{ SELECT ?s WHERE {{ ?s <{v.RDF_TYPE}> <{cls}> }} LIMIT {_SAMPLE} }}"
    parts = [
        f"{{ SELECT (0 AS ?way) ?p (COUNT(*) AS ?n) (COUNT(DISTINCT ?s) AS ?having) "
        f"WHERE {{ {some} ?s ?p ?o }} GROUP BY ?p }}",
        f"{{ SELECT (1 AS ?way) ?p (COUNT(*) AS ?n) (COUNT(DISTINCT ?s) AS ?having) "
        f"WHERE {{ {some} ?o ?p ?s }} GROUP BY ?p }}",
        f"{{ SELECT (2 AS ?way) (COUNT(*) AS ?n) WHERE {{ {some} }} }}",
    ]
    query = f"SELECT ?way ?p ?n ?having WHERE {{ {' UNION '.join(parts)} }} LIMIT 500"
    result = await context.graph.endpoint.select(query, timeout=context.limits.timeout)
    lines, looked_at = [], 0
    for way, predicate, count, having in result.rows:
        if isinstance(predicate, NamedNode):
            line = ShapeLine(predicate.value, numbered(count), numbered(having))
            lines.append(replace(line, inverse=numbered(way) == 1))
        else:
            looked_at = max(looked_at, numbered(count))
    whole = looked_at < _SAMPLE
    return Shape(looked_at if whole else instances, _most(lines), None if whole else looked_at)


async def _with_examples(context: Context, cls: str, shape: Shape) -> Shape:
    """The shape with a value of each predicate, all by one query."""
    parts = [
        f"{{ SELECT ({at} AS ?n) ?x WHERE {{ ?s <{v.RDF_TYPE}> <{cls}> . "
        f"{f'?x <{line.predicate}> ?s' if line.inverse else f'?s <{line.predicate}> ?x'} }} "
        "LIMIT 1 }"
        for at, line in enumerate(shape.lines)
    ]
    query = f"SELECT ?n ?x WHERE {{ {' UNION '.join(parts)} }} LIMIT {len(parts)}"
    result = await context.graph.endpoint.select(query, timeout=context.limits.timeout)
    examples: dict[int, Term] = {}
    for at, term in result.rows:
        if isinstance(at, Literal) and term is not None:
            examples[numbered(at)] = term
    lines = [replace(line, example=examples.get(at)) for at, line in enumerate(shape.lines)]
    return replace(shape, lines=tuple(lines))
