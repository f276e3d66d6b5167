"""The sample graph as a store, and its profile as the triples give it."""

from typing import Any

import pytest
from pyoxigraph import RdfFormat, Store
from tests.servers.sparql import SparqlServer

from askgraph.endpoint.http import HttpEndpoint
from askgraph.graph import remote_profile
from askgraph.graph.arrays import build_arrays
from askgraph.graph.local_profile import build_profile
from askgraph.graph.profile import Profile
from askgraph.graph.remote_profile import profile_endpoint
from askgraph.index.names import IndexedName
from askgraph.sample import graph_path


@pytest.fixture(scope="session")
def store() -> Store:
    store = Store()
    store.bulk_load(graph_path().read_bytes(), RdfFormat.TURTLE)
    return store


@pytest.fixture(scope="session")
def exact(store: Store) -> Profile:
    return build_profile(build_arrays(store))


@pytest.fixture
def big(monkeypatch: pytest.MonkeyPatch) -> None:
    """No graph is small enough to be fetched."""
    monkeypatch.setattr(remote_profile, "MAX_DOWNLOAD_TRIPLES", 0)


async def profiled(server: SparqlServer, **bounds: Any) -> tuple[Profile, list[IndexedName]]:
    """The profile and the names that are asked of a server, within bounds."""
    endpoint = HttpEndpoint(server.url)
    try:
        return await profile_endpoint(endpoint, **bounds)
    finally:
        await endpoint.close()
