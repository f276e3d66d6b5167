"""Names in PostgreSQL beyond what the contract of every index says, on a server of our own."""

import asyncio
import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path
from urllib.parse import urlsplit

import asyncpg
import numpy as np
import pytest
from tests.servers.postgres import PostgresServer

from askgraph.errors import SetupError, Unauthorised, Unreachable
from askgraph.index import Resource
from askgraph.index._server import BATCH, PASSWORD
from askgraph.index.embeddings import Hashed
from askgraph.index.postgresql import PostgreSQLIndex

EX = "http://example.org/"
MOONS = (
    Resource(EX + "ganymede", "Ganymede", ("Jupiter III",), 9.0),
    Resource(EX + "io", "Io", ("Jupiter I",), 8.0),
    Resource(EX + "jupiter", "Jupiter", (), 7.0, ("planet",)),
    Resource(EX + "moons", "Moons of Jupiter", (), 3.0),
    Resource(EX + "quote", "it's a \\ 'quoted' \0 name & (more) | !:*", (), 1.0),
)


def many(count: int) -> Iterator[Resource]:
    return (Resource(f"{EX}{at}", f"thing {at}", (f"no {at}",), float(at)) for at in range(count))


def labels(index: PostgreSQLIndex, text: str, **options: object) -> list[str]:
    return [hit.item.label for hit in index.search(text, **options)]  # type: ignore[arg-type]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path / "index"


def test_names_with_more_of_the_words_come_first(index_database: str, folder: Path) -> None:
    index = PostgreSQLIndex.build(MOONS, folder, on=index_database)

    assert labels(index, "jupiter moons") == ["Moons of Jupiter", "Ganymede", "Io", "Jupiter"]
    assert labels(index, "jup") == ["Ganymede", "Io", "Jupiter", "Moons of Jupiter"]
    assert labels(index, "jup moo") == ["Moons of Jupiter", "Ganymede", "Io", "Jupiter"]
    assert [hit.name for hit in index.search("jupiter", limit=2)] == ["Jupiter III", "Jupiter I"]


def test_a_word_that_is_nowhere_finds_those_spelled_alike(
    index_database: str, folder: Path
) -> None:
    index = PostgreSQLIndex.build(MOONS, folder, on=index_database)

    assert labels(index, "Ganimede") == ["Ganymede"]
    assert labels(index, "moons of Jupitre")[0] == "Moons of Jupiter"
    assert labels(index, "xyzzy") == []


def test_signs_of_the_query_language_are_letters(index_database: str, folder: Path) -> None:
    index = PostgreSQLIndex.build(MOONS, folder, on=index_database)

    for text in ("quoted", "it's 'quoted'", "a & (quoted)", "!quoted:*", "\\'quoted"):
        assert index.search(text)[0].item.iri == EX + "quote"


def test_with_a_language_inflected_words_are_found(index_database: str, folder: Path) -> None:
    things = [Resource(EX + "moon", "Moon", (), 1.0), Resource(EX + "flies", "Flies", (), 1.0)]
    plain = PostgreSQLIndex.build(things, folder, on=index_database)
    english = PostgreSQLIndex.build(
        things, folder.with_name("english"), on=index_database, language="english"
    )

    assert labels(plain, "fly") == []
    assert labels(english, "fly") == ["Flies"]
    assert english.search("flies")[0].score == 1
    with pytest.raises(SetupError, match="no text search configuration 'klingon'"):
        PostgreSQLIndex.build(things, folder, on=index_database, language="klingon")


def test_all_resources_come_in_the_order_of_their_scores(index_database: str, folder: Path) -> None:
    count = 2 * BATCH + 7
    index = PostgreSQLIndex.build(many(count), folder, on=index_database)

    assert list(index.resources()) == list(reversed(list(many(count))))
    assert [hit.item.score for hit in index.search("thing", limit=3)] == [
        count - 1,
        count - 2,
        count - 3,
    ]
    assert labels(index, "thing 4711", limit=1) == ["thing 4711"]


def cut_off(resources: Iterable[Resource], after: int) -> Iterator[Resource]:
    for number, resource in enumerate(resources):
        if number == after:
            raise KeyboardInterrupt
        yield resource


def test_a_build_that_was_cut_off_goes_on(index_database: str, folder: Path) -> None:
    count = 3 * BATCH + 1
    for after in (BATCH + 1, 3 * BATCH):
        with pytest.raises(KeyboardInterrupt):
            PostgreSQLIndex.build(
                cut_off(many(count), after), folder, on=index_database, source="things"
            )
        assert not folder.exists()
    pool = ThreadPoolExecutor(1)
    numbers: list[object] = []

    def submit(function: Callable[..., int], /, *arguments: object) -> "Future[int]":
        numbers.append(arguments[0])
        return pool.submit(function, *arguments)

    with pool:
        index = PostgreSQLIndex.build(
            many(count), folder, on=index_database, source="things", submit=submit
        )

    assert numbers == [3]
    assert list(index.resources()) == list(reversed(list(many(count))))


def test_a_build_from_something_else_starts_anew(index_database: str, folder: Path) -> None:
    with pytest.raises(KeyboardInterrupt):
        PostgreSQLIndex.build(
            cut_off(many(2 * BATCH), BATCH + 1), folder, on=index_database, source="things"
        )
    index = PostgreSQLIndex.build(MOONS, folder, on=index_database, source="moons")

    assert len(list(index.resources())) == len(index) == len(MOONS)


def test_a_source_that_changed_meanwhile_is_noticed(index_database: str, folder: Path) -> None:
    with pytest.raises(KeyboardInterrupt):
        PostgreSQLIndex.build(
            cut_off(many(2 * BATCH), 2 * BATCH - 1), folder, on=index_database, source="things"
        )
    with pytest.raises(SetupError, match="what it is built from has changed"):
        PostgreSQLIndex.build(MOONS, folder, on=index_database, source="things")


def test_an_index_that_is_half_built_or_gone_says_so(index_database: str, folder: Path) -> None:
    index = PostgreSQLIndex.build(MOONS, folder, on=index_database, name="moons")
    drop(index_database, index.place.key)

    with pytest.raises(SetupError, match="there is no complete index 'moons' at postgresql://"):
        index.search("jupiter")
    with pytest.raises(SetupError, match="say which server is to hold the index"):
        PostgreSQLIndex.build(MOONS, folder)


def drop(address: str, table: str) -> None:
    async def dropped() -> None:
        connection = await asyncpg.connect(address, password=os.environ[PASSWORD])
        await connection.execute(f'DROP TABLE askgraph."{table}"')
        await connection.close()

    asyncio.run(dropped())


def test_one_process_at_a_time_fills_an_index(index_database: str, folder: Path) -> None:
    def resources() -> Iterator[Resource]:
        yield MOONS[0]
        with pytest.raises(SetupError, match="is being filled by another process"):
            PostgreSQLIndex.build(MOONS, folder.with_name("other"), on=index_database, name="one")

    assert len(PostgreSQLIndex.build(resources(), folder, on=index_database, name="one")) == 1


def test_a_server_that_does_not_answer_is_told_with_the_remedy(
    index_database: str, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    nowhere = "postgresql://me@127.0.0.1:1/names"
    with pytest.raises(Unreachable, match=r"no PostgreSQL at '127.0.0.1' answers .*; start it"):
        PostgreSQLIndex.build(MOONS, folder, on=nowhere)
    with pytest.raises(SetupError, match="leave the password out of the address"):
        PostgreSQLIndex.build(MOONS, folder, on="postgresql://me:secret@127.0.0.1/names")
    absent = urlsplit(index_database)._replace(path="/absent").geturl()
    with pytest.raises(SetupError, match='database "absent" does not exist; make it'):
        PostgreSQLIndex.build(MOONS, folder, on=absent)

    monkeypatch.setenv(PASSWORD, "wrong")
    with pytest.raises(Unauthorised, match=f"password authentication failed.*; set {PASSWORD}"):
        PostgreSQLIndex.build(MOONS, folder, on=index_database)


class Meanings:
    """Knows that a satellite is a moon."""

    name = "meanings"

    def embed(self, texts: Sequence[str]) -> np.ndarray[tuple[int, int], np.dtype[np.float32]]:
        rows = [
            (float("moon" in text.lower() or "satellite" in text.lower()), 0.1 + len(text) / 100)
            for text in texts
        ]
        return np.array(rows, dtype=np.float32)


def test_vectors_need_an_extension_of_the_server(
    index_database: str, folder: Path, postgres: PostgresServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    if not extension_there(index_database, "vector"):
        with pytest.raises(SetupError, match=r"needs the extension 'vector': .* \(it is pgvector"):
            PostgreSQLIndex.build(MOONS, folder, on=index_database, embedder=Hashed())
        return
    monkeypatch.setattr("askgraph.index.postgresql.batch_embedder", lambda name: Meanings())
    index = PostgreSQLIndex.build(MOONS, folder, on=index_database, embedder=Meanings())

    assert labels(index, "satellites", limit=1) == ["Moons of Jupiter"]
    assert labels(index, "satellites", within={EX + "io"}) == ["Io"]
    assert labels(index, "Io", limit=1) == ["Io"]


def extension_there(address: str, name: str) -> bool:
    async def there() -> bool:
        connection = await asyncpg.connect(address, password=os.environ[PASSWORD])
        found = await connection.fetchval(
            "SELECT count(*) FROM pg_available_extensions WHERE name = $1", name
        )
        await connection.close()
        return bool(found)

    return asyncio.run(there())
