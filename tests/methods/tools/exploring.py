"""Graphs to explore with tools: the sample graph here and behind a server, small ones by hand."""

from collections.abc import AsyncIterator, Iterator, Mapping
from contextlib import asynccontextmanager, contextmanager
from dataclasses import replace
from pathlib import Path

from tests.graphs import store_of
from tests.servers.sparql import SparqlServer

from askgraph import plugins
from askgraph.endpoint.http import HttpEndpoint
from askgraph.graph import KnowledgeGraph
from askgraph.graph.arrays import build_arrays
from askgraph.graph.examples import QueryExample
from askgraph.graph.local_profile import build_profile
from askgraph.graph.names import iterate_names
from askgraph.graph.nodes import (
    iterate_named_resources,
    iterate_profile_classes,
    iterate_profile_properties,
)
from askgraph.index.keyword import KeywordIndex
from askgraph.index.names import ItemKind, NameIndex
from askgraph.methods.tools import Context, ToolLimits
from askgraph.sample import graph_path
from askgraph.sparql.prefixes import PrefixMap
from askgraph.trace import Observation, Question

SAMPLE = graph_path().read_text(encoding="utf-8")
SPACE = {
    "space": "https://example.org/space/",
    "ont": "https://example.org/space/ontology#",
    "crew": "https://example.org/space/crew/",
}


@contextmanager
def served(
    turtle: str,
    folder: Path,
    *,
    prefixes: Mapping[str, str] | None = None,
    examples: tuple[QueryExample, ...] = (),
    local: bool = False,
) -> Iterator[tuple[KnowledgeGraph, SparqlServer]]:
    """A graph behind a server, with indices of what its profile and names tell."""
    # Its triples lie here too where `local`.
    store = store_of(turtle)
    arrays = build_arrays(store)
    profile = build_profile(arrays)
    names = list(iterate_names(arrays, profile))
    things = [*iterate_named_resources(names, [ItemKind.ENTITY]), *iterate_profile_classes(profile)]
    indices = {
        "entities": KeywordIndex.build(things, folder / "entities"),
        "properties": KeywordIndex.build(
            iterate_profile_properties(profile), folder / "properties"
        ),
        "literals": KeywordIndex.build(
            iterate_named_resources(names, [ItemKind.VALUE]), folder / "literals"
        ),
    }
    map_ = PrefixMap(dict(prefixes or {}))
    with SparqlServer(store) as server:
        endpoint = HttpEndpoint(server.url, prefixes=dict(map_.namespaces))
        graph = KnowledgeGraph(
            name="sample",
            endpoint=endpoint,
            profile=profile,
            names=NameIndex.from_names(names),
            prefixes=map_,
            arrays=arrays if local else None,
            indices=indices,
            examples=examples,
        )
        yield graph, server


@asynccontextmanager
async def explored(graph: KnowledgeGraph) -> AsyncIterator[KnowledgeGraph]:
    """The graph with an endpoint of this event loop, closed at the end."""
    endpoint = HttpEndpoint(graph.endpoint.address, prefixes=dict(graph.prefixes.namespaces))
    try:
        yield replace(graph, endpoint=endpoint)
    finally:
        await endpoint.close()


async def called(
    graph: KnowledgeGraph,
    tool: str,
    *,
    asked: str = "Which moons orbit Saturn?",
    limits: ToolLimits | None = None,
    **arguments: object,
) -> Observation:
    """What a tool gives on a graph."""
    async with explored(graph) as opened:
        context = Context(opened, Question(asked), limits or ToolLimits())
        observation: Observation = await plugins.load("tool", tool)(context, **arguments)
    return observation


def line_with(observation: Observation, start: str) -> str:
    """The one line that starts so."""
    found = [line for line in observation.text.splitlines() if line.startswith(start)]
    assert len(found) == 1, observation.text
    return found[0]
