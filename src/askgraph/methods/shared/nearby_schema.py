"""The schema near a question: shapes of the nearest classes, or a list, in ever fewer lines.

A class is found by linking, by the predicates near the question, and in an index: by its names, its
local name, what the graph says of it, and the names of its predicates. The three lists are joined
by reciprocal-rank fusion; of several graphs each has its turn. What the ablations of SPARQL-LLM
leave out of a shape (arXiv 2512.14277, section 4.1.5) can be left out here: properties, their
ranges, their order by frequency, and besides the example values, which are ours.
"""

import asyncio
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import zip_longest

from pyoxigraph import Literal, NamedNode

from askgraph.answers.verbalize import descriptions_of
from askgraph.errors import ErrorReply, MalformedReply, Overloaded, TimedOut
from askgraph.graph.profile import ClassProfile, Profile
from askgraph.graph.shape_texts import format_equivalents, format_shex
from askgraph.graph.shapes import Shape, ShapeLine, build_shape, get_end_kinds, load_shape
from askgraph.index import Resource, SearchIndex
from askgraph.index.names import Kind
from askgraph.methods.shared import Piece
from askgraph.methods.shared.several_graphs import LinkedGraph
from askgraph.methods.tools.mentions import select_links
from askgraph.methods.tools.rendering import TermWriter, fetch_labels
from askgraph.methods.tools.schema_lines import (
    SchemaLines,
    SchemaSlice,
    list_terms,
    write_time_lines,
)
from askgraph.sparql.prefixes import words_of_local_name
from askgraph.sparql.vocabulary import RDFS_SUB_CLASS_OF, SCHEMA_SPACES

_RANK = 60  # of reciprocal-rank fusion
_NEAREST = 10  # predicates near the question
_MOST = 5_000  # classes that are indexed, the largest ones
_PREDICATES = 20  # of a class, by whose names it is found
_WORDS = 300  # characters of a description
_NAMED = (20, 10, 4)  # predicates of the short forms


@dataclass(frozen=True)
class NearClass:
    """A class and the graph that has it."""

    graph: LinkedGraph
    iri: str


async def classes_near(
    text: str, graphs: Sequence[LinkedGraph], *, limit: int, embedder: str = ""
) -> list[NearClass]:
    """Return at most so many classes, the nearest to the text first.

    Of several graphs, the one whose names hold most of the words has the first turn. Raises
    `ServiceError` if a graph or an embedding server fails.
    """
    if limit < 1:
        return []

    def covered(one: LinkedGraph) -> float:
        """How much of what the words tell is held by names of the graph."""
        best: dict[int, float] = {}
        for link in one.linked.links:
            for at in link.positions:
                best[at] = max(best.get(at, 0.0), link.score)
        return sum(one.linked.weights[at] * score for at, score in best.items())

    found = [
        [NearClass(graph, iri) for iri in await _of_graph(text, graph, limit, embedder)]
        for graph in sorted(graphs, key=covered, reverse=True)
    ]
    turns = (one for turn in zip_longest(*found) for one in turn if one is not None)
    return list(turns)[:limit]


async def _of_graph(text: str, linked: LinkedGraph, limit: int, embedder: str) -> list[str]:
    if linked.near.used_iris:
        return list(linked.near.required_classes[:limit])
    from askgraph.methods.shared.index_cache import (  # most questions name something
        keep_index,
        kept_index,
    )

    graph = linked.context.graph
    index = kept_index(graph, "classes", graph.profile, embedder)
    if index is None:
        context = linked.context
        iris = [cls.iri for cls in _classes(context.graph.profile)]
        languages = [context.language, "en"]
        told = await descriptions_of(iris, context.graph, languages, timeout=context.limits.timeout)
        resources: list[Resource] = []
        profile = graph.profile
        predicates = _predicates(profile)
        for cls in _classes(profile):
            local = words_of_local_name(cls.iri)
            label, *others = dict.fromkeys([*(text for text, _ in cls.names), local])
            infos = (told.get(cls.iri, "")[:_WORDS], *predicates.get(cls.iri, ()))
            resources.append(
                Resource(cls.iri, label, tuple(others), cls.instances, tuple(filter(None, infos)))
            )
        index = await asyncio.to_thread(
            keep_index, graph, "classes", graph.profile, resources, embedder
        )
    return await asyncio.to_thread(_fused, text, index, linked.near, limit)


def _fused(text: str, index: SearchIndex[Resource], near: SchemaSlice, limit: int) -> list[str]:
    links = [cls.iri for cls in near.classes[:limit]]
    hits = [hit.item.iri for hit in index.search(text, limit=limit)]
    scores: defaultdict[str, float] = defaultdict(float)
    known = {cls.iri for cls in near.graph.profile.classes}
    found: dict[str, None] = {}
    for one in near.near[:_NEAREST]:
        for inverse in (True, False):
            ends = get_end_kinds(one, near.graph.profile, inverse=inverse)
            found |= dict.fromkeys(iri for iri in ends if iri in known)
    for order in (links, list(found)[:limit], hits):
        for rank, iri in enumerate(order, start=1):
            scores[iri] += 1 / (_RANK + rank)
    return sorted(scores, key=lambda iri: -scores[iri])[:limit]


def _classes(profile: Profile) -> list[ClassProfile]:
    known = [cls for cls in profile.classes if not cls.iri.startswith(SCHEMA_SPACES)]
    return sorted(known, key=lambda cls: -cls.instances)[:_MOST]


def _predicates(profile: Profile) -> Mapping[str, list[str]]:
    """By class, the words of the predicates that its instances have most."""
    found: defaultdict[str, list[str]] = defaultdict(list)
    for one in sorted(profile.predicates, key=lambda p: -p.triples):
        if one.iri.startswith(SCHEMA_SPACES):
            continue
        words = " ".join(dict.fromkeys([*(t for t, _ in one.names), words_of_local_name(one.iri)]))
        for cls, _ in one.subject_classes:
            if len(found[cls]) < _PREDICATES:
                found[cls].append(words)
    return found


async def listed_schema(
    linked: LinkedGraph, *, values: bool = True, several: bool = False, beside: bool = False
) -> list[Piece]:
    """Return the part of a graph's schema that is near to the question, whole and shorter.

    With `values` properties have example values. With `several` graphs it is headed by the name of
    its graph. What stands `beside` the whole schema by name does not name it again.
    """
    part, context = linked.near, linked.context
    writer = await TermWriter.from_iris(context, await asyncio.to_thread(list_terms, part))
    schema = SchemaLines(part, writer, shows_values=values)

    def texts() -> Iterator[str]:
        yield "\n".join(schema.write_lines(beside_full_schema=beside))
        for most in () if beside else _NAMED:
            yield "\n".join([*schema.write_names(most), *schema.write_times()])

    told = [
        linked.headed(text, several=several)
        for text in await asyncio.to_thread(lambda: list(texts()))
        if text
    ]
    return [Piece(tuple(told))] if told else []


_LENGTHS = (14, 10, 6, 3)  # lines of one shape
_SHORT = 40  # characters of all values of a property
_WELL = 0.9  # the score of a link by which words name something well
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
    beside: bool = False,
) -> list[Piece]:
    """Return the shapes of at most so many classes, each in several lengths.

    Those without a line are left out, and classes with the very same instances share one shape.
    What stands `beside` the whole schema by name has the lines that matter to the question alone.
    With `several` graphs each is headed by the name of its graph. A shape that a remote graph does
    not give in time is that of its profile. Raises `ServiceError` if a graph is down.
    """
    shapes = await asyncio.gather(*(_shape(one, parts) for one in classes))
    same: dict[object, list[tuple[NearClass, Shape]]] = {}
    for near, shape in zip(classes, shapes, strict=True):
        if shape.lines:
            lines = {
                (line.predicate, line.inverse, line.triples, line.having) for line in shape.lines
            }
            same.setdefault((id(near.graph), shape.instances, frozenset(lines)), []).append(
                (near, shape)
            )
    if beside:
        same = _telling(same)
    told = list(same.values())[:most]
    labels = await _labels([first for first, *_ in told])
    pieces = []
    for ((near, shape), *others), named in zip(told, labels, strict=True):
        kin = "" if beside else _kin(near, [other.iri for other, _ in others])
        texts = _texts(near, shape, parts, named, beside=beside)
        told_of = (near.graph.headed(f"{text}{kin}", several=several) for text in texts)
        pieces.append(Piece(tuple(told_of)))
    if parts.properties:
        pieces += await asyncio.to_thread(_times, told, several)
        pieces += await asyncio.to_thread(lambda: list(_defined(classes, several)))
        pieces += await _members(classes, several) if beside else []
    return pieces


async def _members(classes: Sequence[NearClass], several: bool) -> list[Piece]:
    """All instances of small classes near a question some word of which names nothing well."""
    pieces = []
    for one in {id(near.graph): near.graph for near in classes}.values():
        covered = {at for link in one.linked.links if link.score >= _WELL for at in link.positions}
        open_ = any(w and at not in covered for at, w in enumerate(one.linked.weights))
        if open_ and one.context.masker is None:
            writer = await TermWriter.from_iris(
                one.context, await asyncio.to_thread(list_terms, one.near)
            )
            lines = [f"# {line}" for line in SchemaLines(one.near, writer).write_instances()]
            text = one.headed("\n".join(lines), several=several)
            pieces += [Piece((text,))] if lines else []
    return pieces


def _defined(classes: Sequence[NearClass], several: bool) -> Iterator[Piece]:
    """What the graph says that instances of the classes are, and of what is named with them."""
    for one in {id(near.graph): near.graph for near in classes}.values():
        graph = one.context.graph
        shown = graph.arrays if one.context.masker is None else None
        near = (near.iri for near in classes if near.graph is one)
        named = (link.target for link in select_links(one.linked) if link.kind is not Kind.VALUE)
        lines = [
            f"# {graph.prefixes.shorten(iri)} is the same as: {'; '.join(told[:_KIN])}"
            for iri in dict.fromkeys((*near, *named))
            if shown is not None and (told := format_equivalents(iri, shown, graph.prefixes))
        ]
        if lines:
            yield Piece((one.headed("\n".join(lines), several=several),))


def _times(told: Sequence[Sequence[tuple[NearClass, Shape]]], several: bool) -> list[Piece]:
    """How each graph says when things hold and in which units, as far as the question asks."""
    graphs = {id(near.graph): near.graph for (near, _), *_ in told}
    pieces = []
    for one in graphs.values():
        graph = one.context.graph
        lines = write_time_lines(one.linked.reading, graph, one.near.near, graph.prefixes.shorten)
        if text := "\n".join(f"# {line}" for line in lines):
            pieces.append(Piece((one.headed(text, several=several),)))
    return pieces


def _kin(near: NearClass, same: Sequence[str]) -> str:
    """What a class is a kind of, the classes with the same instances, whether it only links others.

    A line each.
    """
    graph = near.graph.context.graph
    profiles = {one.iri: one for one in graph.profile.classes}
    parents = profiles[near.iri].parents if near.iri in profiles else ()
    short, order = (
        graph.prefixes.shorten(near.iri),
        dict(graph.profile.types).get(RDFS_SUB_CLASS_OF),
    )
    kind = f"is a kind of, by {graph.prefixes.shorten(order)}" if order else "is a kind of"
    above = [iri for iri in parents if iri not in same and not iri.startswith(SCHEMA_SPACES)]
    lines = [
        f"\n# {short} {what}: {', '.join(map(graph.prefixes.shorten, iris[:_KIN]))}"
        for what, iris in ((kind, above), ("has the same instances as", same))
        if iris
    ]
    if near.iri in profiles and profiles[near.iri].nary:
        lines.append(f"\n# {short}: nodes without label, which only link others")
    return "".join(lines)


async def _shape(near: NearClass, parts: ShapeParts) -> Shape:
    context, matters = near.graph.context, near.graph.near.is_relevant
    graph = context.graph
    try:
        shape = await load_shape(
            near.iri,
            graph.profile,
            graph.endpoint,
            arrays=graph.arrays,
            examples=parts.values and parts.properties,
            timeout=context.limits.timeout,
        )
    except (TimedOut, ErrorReply, MalformedReply, Overloaded):
        shape = build_shape(graph.profile, near.iri)
    chains = {p.iri for p in graph.profile.predicates if p.transitive} if parts.ranges else set()
    known = {p.iri for p in graph.profile.predicates}  # of the part of the schema that is shown
    whole = graph.profile is near.graph.asked.given.profile

    def tells_values(line: ShapeLine) -> bool:
        """Whether all values are worth telling: short ones, or those of a property asked for."""
        texts = [value.value for value in line.values if isinstance(value, Literal)]
        short = len(texts) == len(line.values) and sum(map(len, texts)) <= _SHORT
        return parts.values and (short or matters(line.predicate))

    lines = [
        replace(
            line,
            kinds=line.kinds if parts.ranges else (),
            example=line.example if parts.values else None,
            in_steps=not line.inverse and line.predicate in chains,
            values=line.values if tells_values(line) else (),
        )
        for line in shape.lines
        if whole or line.predicate in known
    ]
    if not parts.ordered:
        lines.sort(key=lambda line: line.predicate)
    return replace(shape, lines=tuple(lines))


def _telling(
    same: Mapping[object, Sequence[tuple[NearClass, Shape]]],
) -> dict[object, list[tuple[NearClass, Shape]]]:
    """Shapes with the lines that matter, if no shape before says the same of more or of a part."""
    told: set[tuple[int, str]] = set()
    kept: dict[object, list[tuple[NearClass, Shape]]] = {}
    for key, ((near, shape), *others) in same.items():
        lines = [
            line
            for line in shape.lines
            if not line.inverse and near.graph.near.is_relevant(line.predicate)
        ]
        new = {(id(near.graph), line.predicate) for line in lines} - told
        told |= new
        if new:
            kept[key] = [(near, replace(shape, lines=tuple(lines))), *others]
    return kept


async def _labels(both: Sequence[tuple[NearClass, Shape]]) -> list[Mapping[str, str]]:
    """The labels that each shape needs, each graph asked once."""
    iris: dict[int, list[str]] = {}
    graphs: dict[int, LinkedGraph] = {}
    for near, shape in both:
        graphs[id(near.graph)] = near.graph
        named = iris.setdefault(id(near.graph), [])
        named += [shape.cls, *(line.predicate for line in shape.lines)]
        named += [kind for line in shape.lines for kind in line.kinds]
        values = [v for line in shape.lines for v in (*line.values, *line.chain, line.example)]
        values.append(shape.instance)
        named += [value.value for value in values if isinstance(value, NamedNode)]
    asked = [fetch_labels(one.context, iris[key]) for key, one in graphs.items()]
    found = dict(zip(graphs, await asyncio.gather(*asked), strict=True))
    return [found[id(near.graph)] for near, _ in both]


def _texts(
    near: NearClass, shape: Shape, parts: ShapeParts, labels: Mapping[str, str], *, beside: bool
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
        shown = replace(shape, lines=lines[:length] if beside else lines)
        texts.append(format_shex(shown, prefixes, labels=labels, max_lines=length))
    return list(dict.fromkeys(texts))
