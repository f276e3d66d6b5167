"""Tables come up to date from any earlier step, by one process of several, or not at all."""

import asyncio
import subprocess
import sys
from collections.abc import AsyncIterator

import pytest
from alembic.autogenerate import compare_metadata
from alembic.runtime.migration import MigrationContext
from sqlalchemy import Connection, text

from askgraph.errors import SetupError
from askgraph.server.store import Store, open_database
from askgraph.server.store.database import Database
from askgraph.server.store.migrations import VERSION_TABLE, migrate
from askgraph.server.store.tables import METADATA

OPENING = """
import asyncio, sys
from askgraph.server.store import Store
async def main():
    store = await Store.open(sys.argv[1])
    await store.record_heartbeat(sys.argv[2])
    await store.close()
asyncio.run(main())
"""
OLD_RUN = """
INSERT INTO runs (id, owner, question, folded, graphs, method, settings, process, state, created,
    tokens, money, shared, cancel_wanted)
VALUES ('r1', 'user:ann', 'Who?', 'who?', '["space"]', 'graph-search', '{}', 'p1', 'done',
    '2026-01-01T00:00:00.000000+00:00', 0, 0.0, false, false)
"""


@pytest.fixture
async def database(url: str) -> AsyncIterator[Database]:
    opened = await open_database(url)
    yield opened
    await opened.close()


async def test_migrating(database: Database, url: str) -> None:
    # The steps lead to the tables that the code knows.
    await migrate(database)
    assert await database.read(_differences) == []
    # A database of a newer askgraph is left as it is.
    await migrate(database)
    newer = text(f"UPDATE {VERSION_TABLE} SET version_num = '9999'")
    await database.write(lambda connection: connection.execute(newer))
    with pytest.raises(SetupError, match=r"newer askgraph .*9999"):
        await Store.open(url)


async def test_a_database_of_the_first_step_is_brought_up_to_date_with_its_content(
    database: Database, url: str
) -> None:
    await migrate(database, to="0001")
    await database.write(lambda connection: connection.execute(text(OLD_RUN)))
    assert await database.read(_differences) != []
    store = await Store.open(url)
    (run,) = await store.list_runs("user:ann")
    assert (run.id, run.question, run.graphs, run.counted_as) == ("r1", "Who?", ("space",), "")
    await store.close()
    assert await database.read(_differences) == []


async def test_several_processes_may_start_at_once_on_a_new_database(url: str) -> None:
    await asyncio.to_thread(_opened_at_once, url, ["p0", "p1", "p2"])
    store = await Store.open(url)
    assert await store.list_live_processes() == ["p0", "p1", "p2"]
    await store.close()


def _opened_at_once(url: str, names: list[str]) -> None:
    command = [sys.executable, "-c", OPENING, url]
    started = [subprocess.Popen([*command, name], stderr=subprocess.PIPE) for name in names]
    for process in started:
        _, errors = process.communicate(timeout=600)
        assert process.returncode == 0, errors.decode()


def _differences(connection: Connection) -> object:
    context = MigrationContext.configure(connection, opts={"version_table": VERSION_TABLE})
    return compare_metadata(context, METADATA)
