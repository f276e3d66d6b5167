"""Servers that tests share: one on the sample graph, one for keys alone, one that is stuck."""

from collections.abc import Iterator

import pytest
from tests.servers.key_holders import Locked
from tests.servers.served import ServedThread, Visitor, sample_workspace
from tests.servers.stuck import stuck_server

from askgraph.workspace import Workspace


@pytest.fixture(scope="session")
def sample_place(tmp_path_factory: pytest.TempPathFactory) -> Workspace:
    """A workspace with the sample graph, to be copied or read."""
    return sample_workspace(tmp_path_factory.mktemp("sample"))


@pytest.fixture(scope="session")
def served(sample_place: Workspace, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The address of a server on the sample graph."""
    database = tmp_path_factory.mktemp("database") / "serve.db"
    with ServedThread(sample_place, database=str(database)) as server:
        yield server.url


@pytest.fixture(scope="session")
def locked(sample_place: Workspace, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Locked]:
    """A server that nobody may use without a key."""
    database = tmp_path_factory.mktemp("locked") / "serve.db"
    with ServedThread(sample_place, database=str(database), anonymous=()) as server:
        yield Locked(server.url, database)


@pytest.fixture(scope="session")
def stuck(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ServedThread]:
    """A server whose graph never answers."""
    with stuck_server(tmp_path_factory.mktemp("stuck")) as server:
        yield server


@pytest.fixture
def client(served: str) -> Iterator[Visitor]:
    """A browser that has not been here before."""
    with Visitor(served) as client:
        yield client
