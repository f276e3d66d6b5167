"""Classes near a question, for shapes, and the schema near it as a list of ever fewer lines.

A class is found by linking, by the predicates near the question, and in an index: by its names, its
local name, what the graph says of it, and the names of its predicates. The three lists are joined
by reciprocal-rank fusion; of several graphs each has its turn.
"""

import asyncio
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice, zip_longest

from askgraph.agent.kept_index import keep_index, kept_index
from askgraph.agent.room import Piece
from askgraph.agent.several_graphs import LinkedGraph
from askgraph.agent.trials import GRAPH
from askgraph.explanation.labels import descriptions_of
from askgraph.index import Resource
from askgraph.index.hybrid import HybridIndex
from askgraph.metadata import ClassProfile, Profile
from askgraph.metadata.names import SCHEMA_SPACES
from askgraph.rdf.labels import words_of_local_name
from askgraph.search.linking.link import Linked
from askgraph.tools import Context
from askgraph.tools.schema_lines import SchemaLines, terms_of
from askgraph.tools.shown import Writer
from askgraph.tools.slice import Slice

_RANK = 60  # of reciprocal-rank fusion
_NEAREST, _OF_ONE = 10, 2  # predicates near the question, and classes at one end of one
_MOST = 5_000  # classes that are indexed, the largest ones
_PREDICATES = 20  # of a class, by whose names it is found
_WORDS = 300  # characters of a description


_FEW = 20  # predicates of the short form


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
    ordered = sorted(graphs, key=lambda one: -_covered(one.linked))
    found = [
        [NearClass(graph, iri) for iri in await _of_graph(text, graph, limit, embedder)]
        for graph in ordered
    ]
    turns = (one for turn in zip_longest(*found) for one in turn if one is not None)
    return list(turns)[:limit]


def _covered(linked: Linked) -> float:
    """How much of what the words tell is held by names of the graph."""
    best: dict[int, float] = {}
    for link in linked.links:
        for at in link.positions:
            best[at] = max(best.get(at, 0.0), link.score)
    return sum(linked.weights[at] * score for at, score in best.items())


async def _of_graph(text: str, linked: LinkedGraph, limit: int, embedder: str) -> list[str]:
    graph = linked.context.graph
    index = kept_index(graph, "classes", graph.profile, embedder)
    if index is None:
        told = await _descriptions(linked.context)
        resources = list(_resources(graph.profile, told))
        index = await asyncio.to_thread(
            keep_index, graph, "classes", graph.profile, resources, embedder
        )
    return await asyncio.to_thread(_fused, text, index, linked.near, limit)


def _fused(text: str, index: HybridIndex, near: Slice, limit: int) -> list[str]:
    links = [cls.iri for cls in near.classes[:limit]]
    hits = [hit.item.iri for hit in index.search(text, limit=limit)]
    scores: defaultdict[str, float] = defaultdict(float)
    for order in (links, list(_ends(near))[:limit], hits):
        for rank, iri in enumerate(order, start=1):
            scores[iri] += 1 / (_RANK + rank)
    return sorted(scores, key=lambda iri: -scores[iri])[:limit]


def _ends(near: Slice) -> dict[str, None]:
    """The classes at either end of the predicates near the question, the nearest first."""
    known = {cls.iri for cls in near.graph.profile.classes}
    found: dict[str, None] = {}
    for one in near.near[:_NEAREST]:
        both = (one.subject_classes, one.subjects), (one.object_classes, one.objects)
        for counted, total in both:
            ends = (iri for iri in near.ends(counted, total).classes if iri in known)
            found |= dict.fromkeys(islice(ends, _OF_ONE))
    return found


async def _descriptions(context: Context) -> dict[str, str]:
    iris = [cls.iri for cls in _classes(context.graph.profile)]
    languages = [context.language, "en"]
    return await descriptions_of(iris, context.graph, languages, timeout=context.limits.timeout)


def _resources(profile: Profile, told: Mapping[str, str]) -> Iterator[Resource]:
    predicates = _predicates(profile)
    for cls in _classes(profile):
        local = words_of_local_name(cls.iri)
        label, *others = dict.fromkeys([*(text for text, _ in cls.names), local])
        infos = (told.get(cls.iri, "")[:_WORDS], *predicates.get(cls.iri, ()))
        yield Resource(cls.iri, label, tuple(others), cls.instances, tuple(filter(None, infos)))


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
    linked: LinkedGraph, *, values: bool = True, several: bool = False
) -> Piece:
    """Return the part of a graph's schema that is near to the question, whole and shorter.

    With `values` properties have example values. With `several` graphs it is headed by the name of
    its graph.
    """
    part, context = linked.near, linked.context
    writer = await Writer.knowing(context, await asyncio.to_thread(terms_of, part))
    schema = SchemaLines(part, writer, values=values)
    near = SchemaLines(part, writer, kin=True, values=values)
    head = f"{GRAPH}{linked.asked.name}\n" if several else ""
    every = await asyncio.to_thread(lambda: list(schema.lines()))
    kept = await asyncio.to_thread(lambda: [*near.properties(part.near[:_FEW]), *near.times()])
    return Piece((head + "\n".join(every), head + "\n".join(kept)))
