"""A small graph and the sample graph behind real endpoints."""

import json
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from askgraph.endpoint.oxigraph import OxigraphEndpoint
from askgraph.errors import TimedOut
from askgraph.graph import KnowledgeGraph
from askgraph.sample import graph_path
from askgraph.sparql.results import SelectResult
from askgraph.workspace import Workspace

SMALL = """
@prefix : <http://example.org/> . @prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .
:Mars a :Planet ; :mass 6.4 ; rdfs:label "Mars"@en .
:Venus a :Planet ; :mass 48.7 ; rdfs:label "Venus"@en .
:Phobos a :Moon ; :orbits :Mars ; :mass 0.1 .
:Deimos a :Moon ; :orbits :Mars ; :mass 0.2 .
:Graz :in :Styria . :Styria :in :Austria . :Austria :in :Europe .
:c1 :supplier :Intel ; :customer :Bosch . :c2 :supplier :Intel ; :customer :Acer .
:Bosch :size "large" .
"""
PREFIX = "PREFIX : <http://example.org/> PREFIX rdfs: <http://www.w3.org/2000/01/rdf-schema#> "


class Counting(OxigraphEndpoint):
    """Counts the requests made."""

    requests = 0

    async def select(
        self, query: str, *, timeout: float | None = None, limit: int | None = None
    ) -> SelectResult:
        self.requests += 1
        return await super().select(query, timeout=timeout, limit=limit)

    async def ask(self, query: str, *, timeout: float | None = None) -> bool:
        self.requests += 1
        return await super().ask(query, timeout=timeout)


class Slow(Counting):
    """Never answers in time."""

    async def select(
        self, query: str, *, timeout: float | None = None, limit: int | None = None
    ) -> SelectResult:
        raise TimedOut("no answer within 1 s")

    async def ask(self, query: str, *, timeout: float | None = None) -> bool:
        raise TimedOut("no answer within 1 s")


@pytest.fixture(scope="session")
def small_path(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("small")
    (folder / "small.ttl").write_text(SMALL, encoding="utf-8")
    OxigraphEndpoint.load([folder / "small.ttl"], folder / "db")
    return folder / "db"


@pytest.fixture
async def small(small_path: Path) -> AsyncIterator[Counting]:
    endpoint = Counting(small_path)
    yield endpoint
    await endpoint.close()


@pytest.fixture
async def slow(small_path: Path) -> AsyncIterator[Slow]:
    endpoint = Slow(small_path)
    yield endpoint
    await endpoint.close()


@pytest.fixture
async def sample(tmp_path: Path) -> AsyncIterator[Counting]:
    OxigraphEndpoint.load([graph_path()], tmp_path / "db")
    endpoint = Counting(tmp_path / "db")
    yield endpoint
    await endpoint.close()


@pytest.fixture(scope="session")
def sample_queries() -> list[str]:
    lines = graph_path().with_name("questions.jsonl").read_text(encoding="utf-8").splitlines()
    return [query for line in lines if (query := json.loads(line).get("sparql"))]


@pytest.fixture(scope="session")
def place(tmp_path_factory: pytest.TempPathFactory) -> Workspace:
    workspace = Workspace(tmp_path_factory.mktemp("space"))
    workspace.add("space", [graph_path()])
    return workspace


@pytest.fixture
async def space(place: Workspace) -> AsyncIterator[KnowledgeGraph]:
    graph = place.graph("space")
    yield graph
    await graph.endpoint.close()
