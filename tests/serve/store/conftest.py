"""An empty store, once in SQLite and once in PostgreSQL."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from tests.servers.postgres import PostgresServer

from askgraph.serve.store import Store


@pytest.fixture(params=["sqlite", "postgresql"])
def url(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """The address of a database without tables."""
    if request.param == "sqlite":
        return str(tmp_path / "serve.db")
    server: PostgresServer = request.getfixturevalue("postgres")
    return server.database()


@pytest.fixture
async def store(url: str) -> AsyncIterator[Store]:
    opened = await Store.open(url)
    yield opened
    await opened.close()
