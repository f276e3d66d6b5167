"""The sample graph as a store, and its profile as the triples give it."""

import pytest
from pyoxigraph import RdfFormat, Store

from askgraph.graph import remote_profile
from askgraph.graph.arrays import build_arrays
from askgraph.graph.local_profile import profile_of
from askgraph.graph.profile import Profile
from askgraph.sample import graph_path


@pytest.fixture(scope="session")
def store() -> Store:
    store = Store()
    store.bulk_load(graph_path().read_bytes(), RdfFormat.TURTLE)
    return store


@pytest.fixture(scope="session")
def exact(store: Store) -> Profile:
    return profile_of(build_arrays(store))


@pytest.fixture
def big(monkeypatch: pytest.MonkeyPatch) -> None:
    """No graph is small enough to be fetched."""
    monkeypatch.setattr(remote_profile, "SMALL", 0)
