"""The cache on disk: what it keeps, what it forgets, and what it never trusts."""

import asyncio
from collections.abc import AsyncIterator, Callable
from pathlib import Path

import pytest
from tests.servers import faults
from tests.servers.sparql import SparqlServer

from askgraph.endpoint.cached import CachedEndpoint
from askgraph.endpoint.http import HttpEndpoint
from askgraph.errors import ErrorReply

ALL = "SELECT * { ?s ?p ?o }"


def entries(folder: Path) -> list[Path]:
    return sorted(folder.glob("*/*"))


@pytest.fixture
async def inner(sparql_server: SparqlServer) -> AsyncIterator[HttpEndpoint]:
    made = HttpEndpoint(sparql_server.url)
    yield made
    await made.close()


async def test_the_second_time_nothing_is_asked(
    inner: HttpEndpoint, sparql_server: SparqlServer, tmp_path: Path
) -> None:
    first = await CachedEndpoint(inner, tmp_path).select(ALL)
    again = await CachedEndpoint(inner, tmp_path).select(ALL)
    assert (again.variables, again.rows) == (first.variables, first.rows)
    assert len(sparql_server.requests) == 1


async def test_form_limit_and_variant_make_a_difference(
    inner: HttpEndpoint, sparql_server: SparqlServer, tmp_path: Path
) -> None:
    cached = CachedEndpoint(inner, tmp_path)
    assert len((await cached.select(ALL, limit=1)).rows) == 1
    assert len((await cached.select(ALL, limit=2)).rows) == 2
    await CachedEndpoint(inner, tmp_path, variant="other").select(ALL, limit=2)
    assert len(sparql_server.requests) == 3
    assert (await cached.select(ALL, limit=1)).truncated
    assert len(sparql_server.requests) == 3


async def test_failures_and_what_a_server_cut_off_are_not_kept(
    inner: HttpEndpoint, sparql_server: SparqlServer, tmp_path: Path
) -> None:
    cached = CachedEndpoint(inner, tmp_path)
    sparql_server.acts.append(faults.status(404))
    with pytest.raises(ErrorReply):
        await cached.select(ALL)
    sparql_server.acts.append(faults.capped(10_000))
    assert (await cached.select(ALL)).truncated
    assert (await cached.select(ALL)).truncated is None
    assert len(sparql_server.requests) == 3


async def test_what_changes_by_itself_is_not_kept(
    inner: HttpEndpoint, sparql_server: SparqlServer, tmp_path: Path
) -> None:
    cached = CachedEndpoint(inner, tmp_path)
    for _ in range(2):
        await cached.select("SELECT (NOW() AS ?n) {}")
    assert len(sparql_server.requests) == 2


DAMAGE: dict[str, Callable[[bytes], bytes]] = {
    "empty": lambda data: b"",
    "cut off": lambda data: b"{",
    "another": lambda data: b'{"key": 1}\n{}',
    "flipped": lambda data: data.replace(b"Moon", b"Noon"),
}


@pytest.mark.parametrize("damage", DAMAGE)
async def test_a_damaged_entry_is_asked_for_again_and_replaced(
    inner: HttpEndpoint, sparql_server: SparqlServer, tmp_path: Path, damage: str
) -> None:
    cached = CachedEndpoint(inner, tmp_path)
    first = await cached.select(ALL)
    (file,) = entries(tmp_path)
    file.write_bytes(DAMAGE[damage](file.read_bytes()))
    assert (await cached.select(ALL)).rows == first.rows
    assert (await cached.select(ALL)).rows == first.rows
    assert len(sparql_server.requests) == 2


async def test_old_entries_are_asked_for_again(
    inner: HttpEndpoint, sparql_server: SparqlServer, tmp_path: Path
) -> None:
    cached = CachedEndpoint(inner, tmp_path, max_age=0.05)
    await cached.ask("ASK { ?s ?p ?o }")
    await asyncio.sleep(0.1)
    await cached.ask("ASK { ?s ?p ?o }")
    assert len(sparql_server.requests) == 2


async def test_the_folder_stays_below_its_size(inner: HttpEndpoint, tmp_path: Path) -> None:
    cached = CachedEndpoint(inner, tmp_path, max_bytes=10_000)
    for number in range(60):
        await cached.select(f"SELECT ({number} AS ?x) {{}}")
        size = sum(file.stat().st_size for file in entries(tmp_path))
        assert size <= 10_000
    assert size > 4_000


async def test_a_folder_that_cannot_be_written_costs_no_answer(
    inner: HttpEndpoint, tmp_path: Path
) -> None:
    (tmp_path / "file").write_text("")
    assert await CachedEndpoint(inner, tmp_path / "file").ask("ASK { ?s ?p ?o }")
