"""A server of its own for tests that add graphs, with small bounds."""

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import httpx2
import pytest
from tests.servers.served import ServedThread

from askgraph.workspace import Workspace


@pytest.fixture(scope="session")
def adding_place(tmp_path_factory: pytest.TempPathFactory) -> Workspace:
    return Workspace(tmp_path_factory.mktemp("adding"))


@pytest.fixture(scope="session")
def adding_url(adding_place: Workspace) -> Iterator[str]:
    bounds: dict[str, Any] = {
        "upload_mb": 3,
        "upload_memory_mb": 700,
        "private_addresses": ("127.0.0.1",),
        "requests_per_minute": 0,
    }
    with ServedThread(adding_place, **bounds) as server:
        yield server.url


@pytest.fixture
def adding(adding_url: str) -> Iterator[httpx2.Client]:
    with httpx2.Client(base_url=adding_url, timeout=600) as client:
        yield client


@pytest.fixture
def nothing_left(adding_place: Workspace) -> Callable[[str], bool]:
    """Whether nothing of a graph is in the workspace: no setting, no data, no upload."""

    def check(name: str) -> bool:
        folder = adding_place.folder
        data = list((folder / "data").glob(f"*{name}*")) if (folder / "data").is_dir() else []
        used = {Path(s).parent for g in adding_place.graphs().values() for s in g.sources}
        uploads = {p for p in (folder / "uploads").glob("*") if p.is_dir() and p.name != ".locks"}
        return name not in adding_place.graphs() and not data and uploads <= used

    return check
