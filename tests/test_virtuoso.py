"""The sample graph behind a real Virtuoso: known as well as embedded, and asked the same way."""

import os
import subprocess
from collections.abc import AsyncIterator, Iterator
from dataclasses import replace
from importlib.resources import as_file, files
from pathlib import Path

import pytest

import askgraph
from askgraph.endpoint.http import HttpEndpoint
from askgraph.graph import KnowledgeGraph
from askgraph.graph import remote_profile as remote
from askgraph.graph.names import iterate_schema_names
from askgraph.graph.nodes import get_naming
from askgraph.graph.profile import Profile
from askgraph.index.name_search import create_name_search, detect_name_search
from askgraph.index.names import NameIndex
from askgraph.methods.graph_search import GraphSearch
from askgraph.trace import Answer, Question
from askgraph.workspace import Workspace
from askgraph.workspace.run_sync import run_coroutine

ADDRESS = os.environ.get("ASKGRAPH_TEST_VIRTUOSO", "")
GRAPH = "https://example.org/tests/space"
TOOL = Path(__file__).parents[1] / "tools" / "virtuoso.sh"

pytestmark = [
    pytest.mark.virtuoso,
    pytest.mark.skipif(not ADDRESS, reason="ASKGRAPH_TEST_VIRTUOSO names no Virtuoso server"),
]


@pytest.fixture(scope="module")
def workspace(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Workspace]:
    place = Workspace(tmp_path_factory.mktemp("workspace"))
    with as_file(files("askgraph.sample").joinpath("space.ttl")) as file:
        subprocess.run([TOOL, "load", file, GRAPH], check=True)
        place.add("here", [file])
        place.add("there", [ADDRESS], settings={"graphs": (GRAPH,), "cache_mb": 0})
        yield place


Pair = tuple[KnowledgeGraph, KnowledgeGraph]


@pytest.fixture(scope="module")
def graphs(workspace: Workspace) -> Iterator[Pair]:
    here, there = workspace.graph("here"), workspace.graph("there")
    yield here, there
    run_coroutine(here.endpoint.close())
    run_coroutine(there.endpoint.close())


def plain(profile: Profile) -> Profile:
    parts = tuple(part for part in profile.completeness if part.name != "graphs")
    return replace(profile, source="", created="", prefixes=(), graphs=(), completeness=parts)


def test_what_is_known_of_it_is_the_same(graphs: Pair) -> None:
    here, there = graphs
    assert plain(here.profile) == plain(there.profile)
    assert len(here.names) == len(there.names)


@pytest.mark.parametrize("cap", [100_000, 1_000])
async def test_counted_by_the_server_the_partitions_are_those_of_the_triples(
    graphs: Pair, cap: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(remote, "MAX_DOWNLOAD_TRIPLES", 0)
    endpoint = HttpEndpoint(ADDRESS, graphs=[GRAPH], max_rows=cap)
    try:
        profile, _ = await remote.profile_endpoint(endpoint, max_seconds=60)
    finally:
        await endpoint.close()
    assert set(profile.partitions) == set(graphs[0].profile.partitions)
    assert profile.get_known_share("partitions") == profile.get_known_share("ends") == 1.0


@pytest.fixture
async def unread(workspace: Workspace) -> AsyncIterator[KnowledgeGraph]:
    """The graph with names of classes and predicates only: things are found by the server."""
    there = workspace.graph("there")
    search = create_name_search("virtuoso", get_naming(there.profile))
    yield replace(
        there, names=NameIndex.from_names(iterate_schema_names(there.profile)), name_search=search
    )
    await there.endpoint.close()


async def test_its_full_text_search_is_detected(unread: KnowledgeGraph) -> None:
    naming = get_naming(unread.profile)
    assert await detect_name_search(unread.endpoint, naming, dialect="virtuoso") == "virtuoso"
    assert await detect_name_search(unread.endpoint, naming, dialect="fuseki") == "plain"


@pytest.mark.parametrize("name", ["plain", "virtuoso"])
async def test_names_are_found_whatever_a_text_holds(unread: KnowledgeGraph, name: str) -> None:
    search = create_name_search(name, get_naming(unread.profile))
    assert search is not None
    texts = ["Apollo 11", "jupiter", '"', "\\", "AND OR NOT", "Moon' } #", "東京", "a * b"]
    found = await search.search(unread.endpoint, texts, languages=("en",))
    assert [things[0].iri.rpartition("/")[2] for things in found[:2]] == ["Apollo_11", "Jupiter"]
    assert all(not things for things in found[2:5])
    if name == "virtuoso":  # which finds parts of names by their words
        (armstrong,) = await search.search(unread.endpoint, ["Armstrong"])
        assert any("Neil Armstrong" in dict(thing.names) for thing in armstrong)


@pytest.mark.parametrize(
    "question", ["What is the diameter of Mars?", "Which moons does Neptune have?"]
)
async def test_answers_are_the_same_with_names_that_only_the_server_knows(
    unread: KnowledgeGraph, workspace: Workspace, question: str
) -> None:
    here = askgraph.ask(question, "here", workspace=workspace.folder).json()
    *_, outcome = [step async for step in GraphSearch().answer(Question(question), [unread])]
    assert isinstance(outcome, Answer)
    assert len(outcome.result.rows) == len(here["rows"])  # type: ignore[arg-type]
