"""The sample graph, here and behind a server."""

from collections.abc import Iterator

import pytest
from tests.methods.tools.exploring import SAMPLE, SPACE, served

from askgraph.graph import KnowledgeGraph


@pytest.fixture(scope="package")
def near(tmp_path_factory: pytest.TempPathFactory) -> Iterator[KnowledgeGraph]:
    """The sample graph, its triples here."""
    with served(SAMPLE, tmp_path_factory.mktemp("near"), prefixes=SPACE, local=True) as (graph, _):
        yield graph


@pytest.fixture(scope="package")
def far(tmp_path_factory: pytest.TempPathFactory) -> Iterator[KnowledgeGraph]:
    """The sample graph behind a server, its triples there."""
    with served(SAMPLE, tmp_path_factory.mktemp("far"), prefixes=SPACE) as (graph, _):
        yield graph


@pytest.fixture(params=["near", "far"])
def space(request: pytest.FixtureRequest) -> KnowledgeGraph:
    """The sample graph, whether its triples lie here or not."""
    graph: KnowledgeGraph = request.getfixturevalue(request.param)
    return graph
