"""A workspace with the sample graph, for tests that leave it as it is."""

import pytest

from askgraph import sample
from askgraph.workspace import Workspace


@pytest.fixture(scope="session")
def space(tmp_path_factory: pytest.TempPathFactory) -> Workspace:
    place = Workspace(tmp_path_factory.mktemp("space"))
    place.add("space", [sample.graph_path()])
    return place
