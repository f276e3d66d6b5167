"""An empty store, once in SQLite and once in PostgreSQL."""

import asyncio
import shutil
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from sqlalchemy import Connection
from tests.servers.postgres import PostgresServer

from askgraph.server.store import Store, open_database
from askgraph.server.store.tables import METADATA


@pytest.fixture(params=["sqlite", "postgresql"])
def url(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """The address of a database without tables."""
    if request.param == "sqlite":
        return str(tmp_path / "serve.db")
    server: PostgresServer = request.getfixturevalue("postgres")
    return server.database()


@pytest.fixture(params=["sqlite", "postgresql"])
def made(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """The address of a database with tables, which are made once for all tests."""
    there: str = request.getfixturevalue(f"{request.param}_store")
    return str(shutil.copy(there, tmp_path)) if request.param == "sqlite" else there


@pytest.fixture
async def store(made: str) -> AsyncIterator[Store]:
    """A store with nothing in it."""
    await _emptied(made)
    opened = await Store.open(made)
    yield opened
    await opened.close()


@pytest.fixture(scope="session")
def sqlite_store(tmp_path_factory: pytest.TempPathFactory) -> str:
    path = str(tmp_path_factory.mktemp("store") / "empty.db")
    asyncio.run(_migrated(path))
    return path


@pytest.fixture(scope="session")
def postgresql_store(postgres: PostgresServer) -> str:
    url = postgres.database()
    asyncio.run(_migrated(url))
    return url


async def _migrated(url: str) -> None:
    await (await Store.open(url)).close()


async def _emptied(url: str) -> None:
    def emptied(connection: Connection) -> None:
        for table in reversed(METADATA.sorted_tables):
            connection.execute(table.delete())

    database = await open_database(url)
    await database.write(emptied)
    await database.close()
