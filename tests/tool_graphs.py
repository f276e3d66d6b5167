"""Graphs to call tools on: the sample graph, and small ones behind a server, without arrays."""

import asyncio
import json
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from functools import cache
from pathlib import Path

from pyoxigraph import Store
from tests.graphs import store_of
from tests.servers.sparql import SparqlServer

from askgraph.endpoint.http import HttpEndpoint
from askgraph.graph import KnowledgeGraph
from askgraph.graph.arrays import build_arrays
from askgraph.graph.local_profile import build_profile
from askgraph.graph.names import iterate_names
from askgraph.graph.profile import Profile
from askgraph.index.names import NameIndex
from askgraph.llm import ToolCall
from askgraph.methods.tools import ToolLimits
from askgraph.methods.tools.toolbox import GraphToolbox
from askgraph.sample import graph_path
from askgraph.sparql.prefixes import PrefixMap
from askgraph.trace import Observation, Question
from askgraph.workspace import Workspace

__all__ = ["ALL_TOOLS", "behind", "called", "opened_sample", "served", "toolbox"]

ALL_TOOLS = ("execute", "answer", "cancel", "list")


def opened_sample(folder: Path) -> KnowledgeGraph:
    """The sample graph in a workspace of its own."""
    return Workspace(folder).open(graph_path())


@cache
def _known_of(turtle: str) -> tuple[Store, Profile, NameIndex]:
    store = store_of(turtle)
    arrays = build_arrays(store)
    profile = build_profile(arrays)
    return store, profile, NameIndex.from_names(iterate_names(arrays, profile))


def behind(
    url: str, turtle: str, prefixes: dict[str, str], *, timeout: float = 60.0
) -> KnowledgeGraph:
    """What is known of a graph whose triples only a server has."""
    _, profile, names = _known_of(turtle)
    endpoint = HttpEndpoint(url, timeout=timeout, connect_timeout=1.0, retries=0)
    return KnowledgeGraph(
        name="remote", endpoint=endpoint, profile=profile, names=names, prefixes=PrefixMap(prefixes)
    )


@contextmanager
def served(turtle: str, prefixes: dict[str, str]) -> Iterator[tuple[SparqlServer, KnowledgeGraph]]:
    """A server with these triples, and the graph behind it."""
    with SparqlServer(_known_of(turtle)[0]) as server:
        yield server, behind(server.url, turtle, prefixes)


def toolbox(
    *graphs: KnowledgeGraph, language: str | None = None, guarded: bool = True, **limits: float
) -> GraphToolbox:
    """All tools over graphs, for one question."""
    chosen = replace(ToolLimits(), **limits)  # type: ignore[arg-type]
    question = Question("Which moons are there?", language)
    return GraphToolbox(ALL_TOOLS, graphs, question, chosen, guarded)


def called(box: GraphToolbox, tool: str, **arguments: object) -> Observation:
    """What one call gives."""

    async def run() -> Observation:
        use = await box.call(ToolCall("", tool, json.dumps(arguments)))
        await asyncio.sleep(0)
        return use.observation

    return asyncio.run(run())
