"""Graphs are closed when too many are open, and never under those who use them."""

import asyncio
from pathlib import Path

import pytest

from askgraph.server.graphs import open_graphs as shelf_module
from askgraph.server.graphs.open_graphs import Shelf, Verified
from askgraph.server.settings import ServeSettings
from askgraph.workspace import Workspace

NAMES = ("a", "b", "c")


async def test_of_too_many_graphs_those_in_use_stay_open(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(shelf_module, "_LOOK", 0.0)  # files are looked at each time
    place = Workspace(tmp_path)
    for name in NAMES:
        file = tmp_path / f"{name}.ttl"
        file.write_text(f"<http://example.org/{name}> <http://example.org/p> 1 .", encoding="utf-8")
        place.add(name, [file])
    shelf = Shelf(place, ServeSettings(open_graphs=1, stores=1))

    async def used(name: str) -> bool:
        async with shelf.lease(name, Verified()) as graph:
            await asyncio.sleep(0)
            return await graph.endpoint.ask(f"ASK {{ <http://example.org/{name}> ?p 1 }}")

    async def in_turn(first: int) -> bool:
        return all([await used(NAMES[(first + at) % 3]) for at in range(25)])

    try:
        assert all(await asyncio.gather(*map(in_turn, range(3))))
        await used("c")
        await used("a")
        assert shelf.opened == ["a"]
    finally:
        await shelf.close()
    assert not shelf.opened
