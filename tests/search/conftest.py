"""The zoo and the sample graph, in memory and behind an endpoint."""

from collections.abc import Iterator

import pytest
from tests.search.asking import Known
from tests.search.question_files import graph_named, turtle_of

from askgraph.graph import KnowledgeGraph
from askgraph.workspace import Workspace
from askgraph.workspace.run_sync import run_coroutine


@pytest.fixture(scope="session")
def zoo() -> Known:
    return graph_named("zoo")


@pytest.fixture(scope="session")
def space() -> Known:
    return graph_named("space")


@pytest.fixture(scope="module")
def open_zoo(tmp_path_factory: pytest.TempPathFactory) -> Iterator[KnowledgeGraph]:
    folder = tmp_path_factory.mktemp("zoo")
    path = folder / "zoo.ttl"
    path.write_text(turtle_of("zoo"), encoding="utf-8")
    graph = Workspace(folder / "workspace").open(path)
    yield graph
    run_coroutine(graph.endpoint.close())
