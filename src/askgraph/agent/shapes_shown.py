"""The shapes of classes as a prompt shows them: in ever fewer lines, those near the question first.

What the ablations of SPARQL-LLM leave out (arXiv 2512.14277, section 4.1.5) can be left out here:
properties, their ranges, their order by frequency, and besides the example values, which are ours.
"""

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from heapq import nsmallest
from itertools import islice

from pyoxigraph import NamedNode

from askgraph.agent.room import Piece
from askgraph.agent.schema_near import NearClass
from askgraph.agent.several_graphs import LinkedGraph
from askgraph.agent.trials import GRAPH
from askgraph.errors import ErrorReply, MalformedReply, Overloaded, TimedOut
from askgraph.explanation.labels import labels_of
from askgraph.metadata import PredicateProfile
from askgraph.metadata.names import SCHEMA_SPACES
from askgraph.metadata.shapes import Shape, ShapeLine, known_shape, shape_at
from askgraph.metadata.shex import shex_of
from askgraph.rdf import vocabulary as v
from askgraph.tools.schema_lines import time_lines

_LENGTHS = (25, 14, 8, 4)  # lines of one shape
_LINKED, _PROPERTIES = 6, 10  # classes that are told in one line, and properties in it
_TOLD = (v.RDF_TYPE, *v.LABEL_PREDICATES)
_KIN = 3  # classes above, or with the same instances


@dataclass(frozen=True)
class ShapeParts:
    """What is shown of a class: its properties, their ranges, example values, and in which order.

    Without properties its name and number of instances are left. `ordered` properties come by how
    many instances have them, and those near the question are kept longest; else by their IRIs.
    """

    properties: bool = True
    ranges: bool = True
    values: bool = True
    ordered: bool = True


async def shape_pieces(
    classes: Sequence[NearClass],
    parts: ShapeParts,
    *,
    most: int | None = None,
    several: bool = False,
) -> list[Piece]:
    """Return the shapes of at most so many classes, each in several lengths.

    Those without a line are left out, and classes with the very same instances share one shape.
    With `several` graphs each is headed by the name of its graph. A shape that a remote graph does
    not give in time is that of its profile. Raises `ServiceError` if a graph is down.
    """
    shapes = await asyncio.gather(*(_shape(one, parts) for one in classes))
    same: dict[object, list[tuple[NearClass, Shape]]] = {}
    for pair in zip(classes, shapes, strict=True):
        if pair[1].lines:
            same.setdefault(_extent(*pair), []).append(pair)
    told = list(same.values())[:most]
    labels = await _labels([first for first, *_ in told])
    pieces = []
    for ((near, shape), *others), named in zip(told, labels, strict=True):
        head = f"{GRAPH}{near.graph.asked.name}\n" if several else ""
        kin = _kin(near, [other.iri for other, _ in others])
        texts = _texts(near, shape, parts, named)
        pieces.append(Piece(tuple(f"{head}{text}{kin}" for text in texts)))
    if parts.properties:
        pieces += await asyncio.to_thread(_times, told, several)
    linked = await asyncio.to_thread(_linked, told) if parts.properties else []
    if linked:
        lines = (linked, linked[: _LINKED // 2])
        pieces.append(Piece(tuple("# Linked to these:\n" + "\n".join(some) for some in lines)))
    return pieces


def _times(told: Sequence[Sequence[tuple[NearClass, Shape]]], several: bool) -> list[Piece]:
    """How each graph says when things hold and in which units, as far as the question asks."""
    graphs = {id(near.graph): near.graph for (near, _), *_ in told}
    pieces = []
    for one in graphs.values():
        graph, head = one.context.graph, f"{GRAPH}{one.asked.name}\n" if several else ""
        lines = time_lines(one.linked.reading, graph, one.near.near, graph.prefixes.shorten)
        if text := "\n".join(f"# {line}" for line in lines):
            pieces.append(Piece((head + text,)))
    return pieces


def _linked(told: Sequence[Sequence[tuple[NearClass, Shape]]]) -> list[str]:
    """The first classes that shown ones are linked with and that are not shown, a line each."""
    graphs = {id(near.graph): near.graph for (near, _), *_ in told}
    own = {key: _properties(graph) for key, graph in graphs.items()}
    shown = {(id(near.graph), near.iri) for same in told for near, _ in same}
    kinds = dict.fromkeys(
        (id(near.graph), kind)
        for (near, shape), *_ in told
        for line in shape.lines
        for kind in line.kinds
    )
    met = ((key, kind) for key, kind in kinds if (key, kind) not in shown and own[key].get(kind))
    return [_in_short(graphs[key], kind, own[key][kind]) for key, kind in islice(met, _LINKED)]


def _properties(linked: LinkedGraph) -> Mapping[str, list[PredicateProfile]]:
    """By class, the properties of its instances, one pass over the profile."""
    profile = linked.context.graph.profile
    found: dict[str, list[PredicateProfile]] = {one.iri: [] for one in profile.classes}
    for predicate in profile.predicates:
        if predicate.iri not in _TOLD:
            for cls, _ in predicate.subject_classes:
                if cls in found:
                    found[cls].append(predicate)
    return found


def _in_short(linked: LinkedGraph, cls: str, properties: Sequence[PredicateProfile]) -> str:
    """A class with its first few properties, those near the question before the frequent ones."""
    shorten = linked.context.graph.prefixes.shorten
    order = {one.iri: at for at, one in enumerate(linked.near.near)}
    first = nsmallest(
        _PROPERTIES, properties, key=lambda one: (order.get(one.iri, len(order)), -one.triples)
    )
    return f"# {shorten(cls)}: {', '.join(shorten(one.iri) for one in first)}"


def _extent(near: NearClass, shape: Shape) -> object:
    """Equal for classes that, as far as all their lines tell, have the same instances."""
    lines = {(line.predicate, line.inverse, line.triples, line.having) for line in shape.lines}
    return id(near.graph), shape.instances, frozenset(lines)


def _kin(near: NearClass, same: Sequence[str]) -> str:
    """What a class is a kind of, the classes with the same instances, whether it only links others.

    A line each.
    """
    graph = near.graph.context.graph
    profiles = {one.iri: one for one in graph.profile.classes}
    parents = profiles[near.iri].parents if near.iri in profiles else ()
    short = graph.prefixes.shorten(near.iri)
    above = [iri for iri in parents if iri not in same and not iri.startswith(SCHEMA_SPACES)]
    lines = [
        f"\n# {short} {what}: {', '.join(map(graph.prefixes.shorten, iris[:_KIN]))}"
        for what, iris in (("is a kind of", above), ("has the same instances as", same))
        if iris
    ]
    if near.iri in profiles and profiles[near.iri].nary:
        lines.append(f"\n# {short}: nodes without label, which only link others")
    return "".join(lines)


async def _shape(near: NearClass, parts: ShapeParts) -> Shape:
    context = near.graph.context
    graph = context.graph
    try:
        shape = await shape_at(
            near.iri,
            graph.profile,
            graph.endpoint,
            arrays=graph.arrays,
            examples=parts.values and parts.properties,
            timeout=context.limits.timeout,
        )
    except (TimedOut, ErrorReply, MalformedReply, Overloaded):
        shape = known_shape(graph.profile, near.iri)
    chains = {p.iri for p in graph.profile.predicates if p.transitive} if parts.ranges else set()
    lines = [
        replace(_line(line, parts), in_steps=not line.inverse and line.predicate in chains)
        for line in _within(near.graph, shape)
    ]
    if not parts.ordered:
        lines.sort(key=lambda line: line.predicate)
    return replace(shape, lines=tuple(lines))


def _within(linked: LinkedGraph, shape: Shape) -> Sequence[ShapeLine]:
    """The lines of the part of the schema that is shown."""
    profile = linked.context.graph.profile
    if profile is linked.asked.given.profile:
        return shape.lines
    known = {one.iri for one in profile.predicates}
    return [line for line in shape.lines if line.predicate in known]


def _line(line: ShapeLine, parts: ShapeParts) -> ShapeLine:
    kinds = line.kinds if parts.ranges else ()
    return replace(line, kinds=kinds, example=line.example if parts.values else None)


async def _labels(both: Sequence[tuple[NearClass, Shape]]) -> list[Mapping[str, str]]:
    """The labels that each shape needs, each graph asked once."""
    iris: dict[int, list[str]] = {}
    graphs: dict[int, LinkedGraph] = {}
    for near, shape in both:
        graphs[id(near.graph)] = near.graph
        iris.setdefault(id(near.graph), []).extend(_iris(shape))
    asked = [
        labels_of(
            iris[key],
            one.context.graph,
            [one.context.language, "en"],
            timeout=one.context.limits.timeout,
        )
        for key, one in graphs.items()
    ]
    found = dict(zip(graphs, await asyncio.gather(*asked), strict=True))
    return [found[id(near.graph)] for near, _ in both]


def _iris(shape: Shape) -> list[str]:
    kinds = [kind for line in shape.lines for kind in line.kinds]
    values = [value for line in shape.lines for value in (*line.values, *line.chain, line.example)]
    shown = [value.value for value in values if isinstance(value, NamedNode)]
    return [shape.cls, *(line.predicate for line in shape.lines), *kinds, *shown]


def _texts(
    near: NearClass, shape: Shape, parts: ShapeParts, labels: Mapping[str, str]
) -> list[str]:
    prefixes = near.graph.context.graph.prefixes
    if not parts.properties:
        label = labels.get(near.iri, "")
        counted = f"{shape.instances:,} instances" if shape.instances else ""
        said = ": ".join(part for part in (label, counted) if part)
        return [f"{prefixes.shorten(near.iri)}{f'  # {said}' if said else ''}"]
    nearest = near.graph.near.near if parts.ordered else ()
    order = {one.iri: at for at, one in enumerate(nearest)}
    first = sorted(
        range(len(shape.lines)), key=lambda at: order.get(shape.lines[at].predicate, len(order))
    )
    texts = []
    for length in _LENGTHS:
        kept, rest = sorted(first[:length]), sorted(first[length:])
        lines = tuple(shape.lines[at] for at in (*kept, *rest))
        texts.append(shex_of(replace(shape, lines=lines), prefixes, labels=labels, lines=length))
    return list(dict.fromkeys(texts))
