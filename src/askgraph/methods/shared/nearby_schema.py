"""The schema near a question: shapes of the nearest classes, or a list, in decreasing lengths.

A class is found by linking, by the predicates near the question, and in an index of its labels, its
local name, its description and the names of its predicates. Reciprocal-rank fusion joins the three
lists; several graphs take turns. What the ablations of SPARQL-LLM remove from a shape (arXiv
2512.14277, section 4.1.5) can be removed here: properties, their ranges, their order by frequency.
So can the example values, which are ours.
"""

import asyncio
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import zip_longest

from pyoxigraph import Literal, NamedNode

from askgraph.answers.verbalize import fetch_term_descriptions
from askgraph.errors import ErrorReply, MalformedReply, Overloaded, TimedOut
from askgraph.graph.profile import ClassProfile, Profile
from askgraph.graph.shape_texts import (
    format_equivalents,
    format_plain_shex,
    format_shex,
    quote_label,
)
from askgraph.graph.shapes import Shape, ShapeLine, build_shape, get_end_kinds, load_shape
from askgraph.index import Resource, SearchIndex
from askgraph.index.names import ItemKind
from askgraph.llm import estimate_tokens
from askgraph.methods.shared import TextVariants
from askgraph.methods.shared.several_graphs import LinkedGraph
from askgraph.methods.tools.mentions import select_links
from askgraph.methods.tools.rendering import TermWriter, fetch_labels
from askgraph.methods.tools.schema_lines import (
    SchemaLines,
    SchemaSlice,
    list_terms,
    write_time_lines,
)
from askgraph.sparql.prefixes import split_local_name
from askgraph.sparql.vocabulary import RDFS_SUB_CLASS_OF, SCHEMA_NAMESPACES

_RANK_FUSION_WEIGHT = 60  # of reciprocal-rank fusion
_MAX_NEAR_PREDICATES = 10  # predicates near the question
_MAX_INDEXED_CLASSES = 5_000  # number of classes to index, largest first
_MAX_INDEXED_PREDICATES = 20  # instances of a class to index by name
_MAX_DESCRIPTION_CHARACTERS = 300  # characters of a description
_NAMED_PREDICATE_COUNTS = (*range(3, 15), 16, 18, 20, 23, 26, 30, 45)
"""How many predicates the short forms have."""


@dataclass(frozen=True)
class GraphClass:
    """A class and its graph."""

    graph: LinkedGraph
    iri: str


async def find_nearby_classes(
    text: str, graphs: Sequence[LinkedGraph], *, limit: int, embedder: str = ""
) -> list[GraphClass]:
    """Return at most `limit` classes, the nearest to the text first.

    Of several graphs, the one whose names cover most of the words has the first turn.

    Raises:
        ServiceError: a graph or an embedding server fails.
    """
    if limit < 1:
        return []

    def weigh_coverage(linked_graph: LinkedGraph) -> float:
        """Return the weight of the words that the names of the graph cover."""
        best_scores: dict[int, float] = {}
        for link in linked_graph.linked_question.links:
            for position in link.positions:
                best_scores[position] = max(best_scores.get(position, 0.0), link.score)
        return sum(
            linked_graph.linked_question.weights[position] * score
            for position, score in best_scores.items()
        )

    classes_by_graph = [
        [GraphClass(graph, iri) for iri in await _find_graph_classes(text, graph, limit, embedder)]
        for graph in sorted(graphs, key=weigh_coverage, reverse=True)
    ]
    alternating_classes = (
        graph_class
        for graph_classes in zip_longest(*classes_by_graph)
        for graph_class in graph_classes
        if graph_class is not None
    )
    return list(alternating_classes)[:limit]


def find_similar_classes(
    texts: Sequence[str], graphs: Sequence[LinkedGraph], *, limit: int, embedder: str = ""
) -> list[GraphClass]:
    """Return for each text the `limit` classes with the most similar names, the nearest first.

    This is the retrieval of SPARQL-LLM (section 3.2.2): all graphs are searched at once.
    """
    from askgraph.methods.shared.examples import find_nearest_positions  # only as published

    classes = [
        (GraphClass(linked, cls.iri), [*(name for name, _ in cls.names), split_local_name(cls.iri)])
        for linked in graphs
        for cls in _select_classes(linked.context.graph.profile)
    ]
    names = [class_names for _, class_names in classes]
    positions = find_nearest_positions(texts, names, limit=limit, embedder=embedder)
    return [classes[position][0] for position in positions]


async def _find_graph_classes(
    text: str, linked: LinkedGraph, limit: int, embedder: str
) -> list[str]:
    if linked.schema_slice.used_iris:
        return list(linked.schema_slice.required_classes[:limit])
    from askgraph.methods.shared.index_cache import (  # most questions name something
        build_index,
        get_index,
    )

    graph = linked.context.graph
    index = get_index(graph, "classes", graph.profile, embedder)
    if index is None:
        context = linked.context
        iris = [cls.iri for cls in _select_classes(context.graph.profile)]
        descriptions = await fetch_term_descriptions(
            iris, context.graph, [context.language, "en"], timeout=context.limits.timeout
        )
        resources: list[Resource] = []
        words_by_class: defaultdict[str, list[str]] = defaultdict(list)
        for predicate in sorted(graph.profile.predicates, key=lambda p: -p.triples):
            if predicate.iri.startswith(SCHEMA_NAMESPACES):
                continue
            names = [*(name for name, _ in predicate.names), split_local_name(predicate.iri)]
            words = " ".join(dict.fromkeys(names))
            for iri, _ in predicate.subject_classes:
                if len(words_by_class[iri]) < _MAX_INDEXED_PREDICATES:
                    words_by_class[iri].append(words)
        for cls in _select_classes(graph.profile):
            local_words = split_local_name(cls.iri)
            label, *other_names = dict.fromkeys([*(text for text, _ in cls.names), local_words])
            texts = (
                descriptions.get(cls.iri, "")[:_MAX_DESCRIPTION_CHARACTERS],
                *words_by_class.get(cls.iri, ()),
            )
            resources.append(
                Resource(
                    cls.iri, label, tuple(other_names), cls.instances, tuple(filter(None, texts))
                )
            )
        index = await asyncio.to_thread(
            build_index, graph, "classes", graph.profile, resources, embedder
        )
    return await asyncio.to_thread(_fuse_rankings, text, index, linked.schema_slice, limit)


def _fuse_rankings(
    text: str, index: SearchIndex[Resource], near: SchemaSlice, limit: int
) -> list[str]:
    linked_classes = [cls.iri for cls in near.classes[:limit]]
    index_hits = [hit.item.iri for hit in index.search(text, limit=limit)]
    scores: defaultdict[str, float] = defaultdict(float)
    known_classes = {cls.iri for cls in near.graph.profile.classes}
    classes_of_predicates: dict[str, None] = {}
    for predicate in near.near[:_MAX_NEAR_PREDICATES]:
        for inverse in (True, False):
            end_classes = get_end_kinds(predicate, near.graph.profile, inverse=inverse)
            classes_of_predicates |= dict.fromkeys(
                iri for iri in end_classes if iri in known_classes
            )
    for ranking in (linked_classes, list(classes_of_predicates)[:limit], index_hits):
        for rank, iri in enumerate(ranking, start=1):
            scores[iri] += 1 / (_RANK_FUSION_WEIGHT + rank)
    return sorted(scores, key=lambda iri: -scores[iri])[:limit]


def _select_classes(profile: Profile) -> list[ClassProfile]:
    classes = [cls for cls in profile.classes if not cls.iri.startswith(SCHEMA_NAMESPACES)]
    return sorted(classes, key=lambda cls: -cls.instances)[:_MAX_INDEXED_CLASSES]


async def format_schema_list(
    linked: LinkedGraph,
    *,
    values: bool = True,
    has_several_graphs: bool = False,
    is_beside: bool = False,
    max_tokens: int = 4_000,
) -> list[TextVariants]:
    """Return the schema near the question as a list, in several lengths.

    Args:
        max_tokens: of longer lists only the shortest is returned.
        values: properties have example values.
        has_several_graphs: the list is headed by the name of its graph.
        is_beside: the prompt also names the full schema, so that the list does not name it again.
    """
    schema_slice, context = linked.schema_slice, linked.context
    writer = await TermWriter.from_iris(context, await asyncio.to_thread(list_terms, schema_slice))
    schema_lines = SchemaLines(schema_slice, writer, shows_values=values, only_relevant_types=True)

    def build_texts() -> Iterator[str]:  # the shortest first
        times = () if is_beside else tuple(schema_lines.write_times())
        for max_names in () if is_beside else _NAMED_PREDICATE_COUNTS:
            yield (text := "\n".join([*schema_lines.write_names(max_names), *times]))
            if estimate_tokens(text) > max_tokens:
                return
        yield "\n".join(schema_lines.write_lines(beside_full_schema=is_beside))

    variants = [
        linked.add_heading(text, has_several_graphs=has_several_graphs)
        for text in (await asyncio.to_thread(lambda: list(build_texts())))[::-1]
        if text
    ]
    return [TextVariants(tuple(variants))] if variants else []


_SHAPE_LENGTHS = (14, 10, 6, 3)  # lines of one shape
_MAX_VALUE_CHARACTERS = 40  # characters of all values of a property
_MAX_RELATED_CLASSES = 3  # classes above, or with the same instances


@dataclass(frozen=True)
class ShapeParts:
    """The parts of a class that are shown.

    Attributes:
        properties: its properties; else only its name and number of instances.
        ranges: the ranges of its properties.
        values: example values.
        ordered: properties are ordered by frequency, and those near the question are kept longest;
            else they are ordered by IRI.
        published: as in the paper: the outgoing properties with their ranges, below the name and
            the endpoint of the class.
    """

    properties: bool = True
    ranges: bool = True
    values: bool = True
    ordered: bool = True
    published: bool = False


async def build_shape_texts(
    classes: Sequence[GraphClass],
    parts: ShapeParts,
    *,
    max_classes: int | None = None,
    has_several_graphs: bool = False,
    is_beside: bool = False,
) -> list[TextVariants]:
    """Return the shapes of at most `max_classes` classes, each in several lengths.

    Shapes without a line are left out, and classes with the same instances share one shape. If a
    remote graph does not return a shape in time, the shape comes from the graph's profile.

    Args:
        has_several_graphs: each shape is headed by the name of its graph.
        is_beside: the prompt also names the full schema, so that shapes have only the lines that
            matter to the question.

    Raises:
        ServiceError: a graph is down.
    """
    shapes = await asyncio.gather(*(_load_shape(graph_class, parts) for graph_class in classes))
    groups: dict[object, list[tuple[GraphClass, Shape]]] = {}
    for graph_class_of_shape, shape in zip(classes, shapes, strict=True):
        if shape.lines:
            lines = {
                (line.predicate, line.inverse, line.triples, line.having) for line in shape.lines
            }
            key = shape.cls if parts.published else (shape.instances, frozenset(lines))
            group = groups.setdefault((id(graph_class_of_shape.graph), key), [])
            group.append((graph_class_of_shape, shape))
    if is_beside:
        groups = _select_relevant_lines(groups)
    selected_groups = list(groups.values())[:max_classes]
    labels = await _load_labels([first_pair for first_pair, *_ in selected_groups])
    shape_texts = []
    for ((graph_class_of_shape, shape), *equal_classes), shape_labels in zip(
        selected_groups, labels, strict=True
    ):
        related_lines = (
            ""
            if is_beside or parts.published
            else _describe_relatives(
                graph_class_of_shape, [equal_class.iri for equal_class, _ in equal_classes]
            )
        )
        variants = _format_shape(
            graph_class_of_shape, shape, parts, shape_labels, is_beside=is_beside
        )
        headed_variants = (
            graph_class_of_shape.graph.add_heading(
                f"{text}{related_lines}", has_several_graphs=has_several_graphs
            )
            for text in variants
        )
        shape_texts.append(TextVariants(tuple(headed_variants)))
    if parts.properties and not parts.published:
        shape_texts += await asyncio.to_thread(
            lambda: [
                *_describe_times(selected_groups, has_several_graphs),
                *_format_definitions(classes, has_several_graphs),
            ]
        )
    return shape_texts


def _format_definitions(
    classes: Sequence[GraphClass], has_several_graphs: bool
) -> Iterator[TextVariants]:
    """Yield the graph's definitions of the classes and of the terms that the question names."""
    for linked_graph in {id(near_iris.graph): near_iris.graph for near_iris in classes}.values():
        graph = linked_graph.context.graph
        visible_arrays = graph.arrays if linked_graph.context.masker is None else None
        near_iris = (near_iris.iri for near_iris in classes if near_iris.graph is linked_graph)
        linked_iris = (
            link.target
            for link in select_links(linked_graph.linked_question)
            if link.kind is not ItemKind.VALUE
        )
        lines = [
            f"# {graph.prefixes.shorten(iri)} is the same as: "
            f"{'; '.join(definition_texts[:_MAX_RELATED_CLASSES])}"
            for iri in dict.fromkeys((*near_iris, *linked_iris))
            if visible_arrays is not None
            and (definition_texts := format_equivalents(iri, visible_arrays, graph.prefixes))
        ]
        if lines:
            yield TextVariants(
                (linked_graph.add_heading("\n".join(lines), has_several_graphs=has_several_graphs),)
            )


def _describe_times(
    groups: Sequence[Sequence[tuple[GraphClass, Shape]]], has_several_graphs: bool
) -> Iterator[TextVariants]:
    """Describe how each graph states times and units, as far as the question needs them."""
    graphs = {id(graph_class.graph): graph_class.graph for (graph_class, _), *_ in groups}
    for linked_graph in graphs.values():
        graph = linked_graph.context.graph
        lines = write_time_lines(linked_graph.schema_slice, graph.prefixes.shorten)
        if text := "\n".join(f"# {line}" for line in lines):
            yield TextVariants(
                (linked_graph.add_heading(text, has_several_graphs=has_several_graphs),)
            )


def _describe_relatives(graph_class: GraphClass, equal_classes: Sequence[str]) -> str:
    """Return lines with the parents and synonyms of a class, and a note if it only links nodes."""
    graph = graph_class.graph.context.graph
    profiles = {class_profile.iri: class_profile for class_profile in graph.profile.classes}
    parents = profiles[graph_class.iri].parents if graph_class.iri in profiles else ()
    short_name = graph.prefixes.shorten(graph_class.iri)
    subclass_property = dict(graph.profile.types).get(RDFS_SUB_CLASS_OF)
    kind = (
        f"is a kind of, by {graph.prefixes.shorten(subclass_property)}"
        if subclass_property
        else "is a kind of"
    )
    parent_classes = [
        iri for iri in parents if iri not in equal_classes and not iri.startswith(SCHEMA_NAMESPACES)
    ]
    lines = [
        f"\n# {short_name} {relation}: "
        f"{', '.join(map(graph.prefixes.shorten, iris[:_MAX_RELATED_CLASSES]))}"
        for relation, iris in ((kind, parent_classes), ("has the same instances as", equal_classes))
        if iris
    ]
    if graph_class.iri in profiles and profiles[graph_class.iri].nary:
        lines.append(f"\n# {short_name}: nodes without label, which only link others")
    return "".join(lines)


async def _load_shape(graph_class: GraphClass, parts: ShapeParts) -> Shape:
    context, is_relevant = graph_class.graph.context, graph_class.graph.schema_slice.is_relevant
    graph = context.graph
    try:
        shape = await load_shape(
            graph_class.iri,
            graph.profile,
            graph.endpoint,
            arrays=graph.arrays,
            examples=parts.values and parts.properties,
            timeout=context.limits.timeout,
        )
    except (TimedOut, ErrorReply, MalformedReply, Overloaded):
        shape = build_shape(graph.profile, graph_class.iri)
    transitive_predicates = (
        {predicate.iri for predicate in graph.profile.predicates if predicate.transitive}
        if parts.ranges
        else set()
    )
    shown_predicates = {
        predicate.iri for predicate in graph.profile.predicates
    }  # of the part of the schema that is shown
    is_full_profile = graph.profile is graph_class.graph.question_graph.base.profile

    def should_show_values(line: ShapeLine) -> bool:
        """Return whether to show all values: they are short, or the property is relevant."""
        texts = [value.value for value in line.values if isinstance(value, Literal)]
        is_short = len(texts) == len(line.values) and sum(map(len, texts)) <= _MAX_VALUE_CHARACTERS
        return parts.values and (is_short or is_relevant(line.predicate))

    lines = [
        replace(
            line,
            kinds=line.kinds if parts.ranges else (),
            example=line.example if parts.values else None,
            in_steps=not line.inverse and line.predicate in transitive_predicates,
            untyped_share=line.untyped_share if parts.ranges else 0.0,
            values=line.values if should_show_values(line) else (),
        )
        for line in shape.lines
        if is_full_profile or line.predicate in shown_predicates
    ]
    if not parts.ordered:
        lines.sort(key=lambda line: line.predicate)
    return replace(shape, lines=tuple(lines))


def _select_relevant_lines(
    groups: Mapping[object, Sequence[tuple[GraphClass, Shape]]],
) -> dict[object, list[tuple[GraphClass, Shape]]]:
    """Return shapes with only relevant lines, without shapes whose lines earlier shapes cover."""
    shown_predicates: set[tuple[int, str]] = set()
    selected: dict[object, list[tuple[GraphClass, Shape]]] = {}
    for key, ((graph_class, shape), *equal_classes) in groups.items():
        lines = [
            line
            for line in shape.lines
            if not line.inverse and graph_class.graph.schema_slice.is_relevant(line.predicate)
        ]
        new_predicates = {
            (id(graph_class.graph), line.predicate) for line in lines
        } - shown_predicates
        shown_predicates |= new_predicates
        if new_predicates:
            selected[key] = [(graph_class, replace(shape, lines=tuple(lines))), *equal_classes]
    return selected


async def _load_labels(shapes: Sequence[tuple[GraphClass, Shape]]) -> list[Mapping[str, str]]:
    """Load the labels that each shape needs, with one request for each graph."""
    iris: dict[int, list[str]] = {}
    graphs: dict[int, LinkedGraph] = {}
    for graph_class, shape in shapes:
        graphs[id(graph_class.graph)] = graph_class.graph
        shape_iris = iris.setdefault(id(graph_class.graph), [])
        shape_iris += [shape.cls, *(line.predicate for line in shape.lines)]
        shape_iris += [kind for line in shape.lines for kind in line.kinds]
        values = [
            value for line in shape.lines for value in (*line.values, *line.chain, line.example)
        ]
        values.append(shape.instance)
        shape_iris += [value.value for value in values if isinstance(value, NamedNode)]
    requests = [
        fetch_labels(linked_graph.context, iris[key]) for key, linked_graph in graphs.items()
    ]
    labels_by_graph = dict(zip(graphs, await asyncio.gather(*requests), strict=True))
    return [labels_by_graph[id(graph_class.graph)] for graph_class, _ in shapes]


def _format_shape(
    graph_class: GraphClass,
    shape: Shape,
    parts: ShapeParts,
    labels: Mapping[str, str],
    *,
    is_beside: bool,
) -> list[str]:
    prefixes = graph_class.graph.context.graph.prefixes
    if parts.published:
        label = quote_label(labels.get(shape.cls) or split_local_name(shape.cls)).strip('"')
        text = format_plain_shex(shape if parts.properties else replace(shape, lines=()), prefixes)
        return [f"- {label} ({graph_class.graph.question_graph.service}):\n{text}"]
    if not parts.properties:
        label = quote_label(labels[graph_class.iri]) if labels.get(graph_class.iri) else ""
        count_text = f"{shape.instances:,} instances" if shape.instances else ""
        comment = ": ".join(part for part in (label, count_text) if part)
        return [f"{prefixes.shorten(graph_class.iri)}{f'  # {comment}' if comment else ''}"]
    near_predicates = graph_class.graph.schema_slice.near if parts.ordered else ()
    order = {predicate.iri: position for position, predicate in enumerate(near_predicates)}
    ordered_positions = sorted(
        range(len(shape.lines)),
        key=lambda position: order.get(shape.lines[position].predicate, len(order)),
    )
    texts = []
    for length in _SHAPE_LENGTHS:
        first_positions = sorted(ordered_positions[:length])
        last_positions = sorted(ordered_positions[length:])
        lines = tuple(shape.lines[position] for position in (*first_positions, *last_positions))
        short_shape = replace(shape, lines=lines[:length] if is_beside else lines)
        texts.append(format_shex(short_shape, prefixes, labels=labels, max_lines=length))
    return list(dict.fromkeys(texts))
