"""A server that nobody may use without a key, and keys for it."""

import asyncio
from collections.abc import Awaitable, Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx2

from askgraph.server.auth import Scope
from askgraph.server.auth.api_keys import generate_key
from askgraph.server.store import Store

__all__ = ["Locked"]


@dataclass(frozen=True)
class Locked:
    """A server with keys in its database."""

    url: str
    database: Path

    def add_key(self, *scopes: Scope, name: str = "a key", **more: Any) -> str:
        """Add a key with these scopes, and return its text."""
        row, text = generate_key(name, scopes, **more)
        self.change(lambda store: store.add_key(row))
        return text

    def client(self, *scopes: Scope, **more: Any) -> httpx2.Client:
        """Return a client with a new key."""
        head = {"Authorization": f"Bearer {self.add_key(*scopes, **more)}"}
        return httpx2.Client(base_url=self.url, headers=head, timeout=600)

    def change(self, work: Callable[[Store], Awaitable[object]]) -> None:
        """Change the database beside the server."""

        async def changed() -> None:
            store = await Store.open(str(self.database))
            await work(store)
            await store.close()

        with ThreadPoolExecutor(1) as pool:  # a test may have an event loop of its own
            pool.submit(asyncio.run, changed()).result()
