"""A server that nobody may use without a key, and the keys of those who may."""

import asyncio
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.servers.served import ServedThread

from askgraph.server.auth import OwnLimits
from askgraph.server.auth.api_keys import new_key
from askgraph.server.store import Store
from askgraph.workspace import Workspace

__all__ = ["Locked", "locked_server"]


@dataclass(frozen=True)
class Locked:
    """The server's address; a key for everything, one for no graph, one for two requests."""

    url: str
    key: str
    blind: str
    hasty: str


@contextmanager
def locked_server(workspace: Workspace, folder: Path, **settings: Any) -> Iterator[Locked]:
    """Start a server whose callers need keys."""
    database = str(folder / "locked.db")
    keys = asyncio.run(_keys(database))
    with ServedThread(workspace, database=database, anonymous=(), **settings) as server:
        yield Locked(server.url, *keys)


async def _keys(database: str) -> tuple[str, str, str]:
    store = await Store.open(database)
    try:
        whole, key = new_key("whole", ["ask", "query"])
        blind, dark = new_key("blind", ["ask"], graphs=[])
        hasty, quick = new_key("hasty", ["ask"], limits=OwnLimits(requests_per_minute=2))
        for row in (whole, blind, hasty):
            await store.add_key(row)
    finally:
        await store.close()
    return key, dark, quick
