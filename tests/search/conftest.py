"""The zoo and the sample graph, in memory and behind an endpoint."""

from collections.abc import Iterator

import pytest
from pyoxigraph import RdfFormat, Store
from tests.graphs import store_of
from tests.search.asking import Known
from tests.search.zoo import ZOO

from askgraph.graph import KnowledgeGraph
from askgraph.sample import graph_path
from askgraph.workspace import Workspace
from askgraph.workspace.run_sync import result_of


@pytest.fixture(scope="session")
def zoo() -> Known:
    return Known(store_of(ZOO))


@pytest.fixture(scope="session")
def space() -> Known:
    store = Store()
    store.bulk_load(graph_path().read_bytes(), RdfFormat.TURTLE)
    return Known(store)


@pytest.fixture(scope="module")
def open_zoo(tmp_path_factory: pytest.TempPathFactory) -> Iterator[KnowledgeGraph]:
    folder = tmp_path_factory.mktemp("zoo")
    path = folder / "zoo.ttl"
    path.write_text(ZOO, encoding="utf-8")
    graph = Workspace(folder / "workspace").open(path)
    yield graph
    result_of(graph.endpoint.close())
