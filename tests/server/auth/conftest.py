"""Accounts on an empty store, by the server's settings."""

import asyncio
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AsyncExitStack
from pathlib import Path
from typing import Any

import pytest

from askgraph.server.auth.identify import CallerAccounts
from askgraph.server.settings import ServeSettings
from askgraph.server.store import Store

MakeAccounts = Callable[..., Awaitable[tuple[CallerAccounts, Store]]]


@pytest.fixture
async def accounts(tmp_path: Path) -> AsyncIterator[MakeAccounts]:
    """Makes accounts, and the store that they are in, for some settings."""
    async with AsyncExitStack() as stack:

        async def make(**settings: Any) -> tuple[CallerAccounts, Store]:
            store = await Store.open(str(tmp_path / "serve.db"))
            stack.push_async_callback(store.close)
            left = 60 - time.time() % 60  # a minute that ends during a test would count anew
            await asyncio.sleep(left if left < 15 else 0)
            return CallerAccounts(ServeSettings.from_folder(tmp_path, settings), store), store

        yield make
