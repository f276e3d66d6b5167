"""The sample graph behind a real Virtuoso: known as well as embedded, and asked the same way."""

import os
import subprocess
from collections.abc import Iterator
from dataclasses import replace
from importlib.resources import as_file, files
from pathlib import Path

import pytest

import askgraph
from askgraph.graph import KnowledgeGraph
from askgraph.metadata import Profile
from askgraph.workspace import Workspace
from askgraph.workspace.running import result_of

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


@pytest.fixture(scope="module")
def graphs(workspace: Workspace) -> Iterator[tuple[KnowledgeGraph, KnowledgeGraph]]:
    here, there = workspace.graph("here"), workspace.graph("there")
    yield here, there
    result_of(here.endpoint.close())
    result_of(there.endpoint.close())


def plain(profile: Profile) -> Profile:
    return replace(profile, source="", created="", prefixes=())


def test_what_is_known_of_it_is_the_same(
    graphs: tuple[KnowledgeGraph, KnowledgeGraph],
) -> None:
    here, there = graphs
    assert plain(here.profile) == plain(there.profile)
    assert len(here.names) == len(there.names)


@pytest.mark.parametrize(
    "question",
    [
        "What is the diameter of Mars?",
        "Which moons does Neptune have?",
        "How many moons of Saturn are in the data?",
        "Which planet has the longest orbital period?",
        "Is Titan a moon of Saturn?",
        "Welche Startplätze liegen in Asien?",
        "¿Es Caronte una luna de Plutón?",
    ],
)
def test_answers_are_the_same(workspace: Workspace, question: str) -> None:
    here = askgraph.ask(question, "here", workspace=workspace.folder).json()
    there = askgraph.ask(question, "there", workspace=workspace.folder).json()
    assert here["status"] == there["status"] == "answer"
    assert sorted(map(str, here["rows"])) == sorted(map(str, there["rows"]))  # type: ignore[call-overload]
