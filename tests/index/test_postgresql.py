"""Names in PostgreSQL beyond what the contract of every index says, on a server of our own."""

import asyncio
import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from functools import partial
from pathlib import Path
from urllib.parse import urlsplit

import asyncpg
import numpy as np
import pytest

from askgraph.errors import SetupError, Unauthorised, Unreachable
from askgraph.index import Resource
from askgraph.index._server import BATCH_SIZE, PASSWORD_VARIABLE
from askgraph.index.embeddings import HashedEmbedder
from askgraph.index.postgresql import PostgreSQLIndex

EX = "http://example.org/"
Build = Callable[..., PostgreSQLIndex]
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


def told(address: str, statement: str) -> object:
    """The first value that the server replies to a statement."""

    async def tell() -> object:
        connection = await asyncpg.connect(address, password=os.environ[PASSWORD_VARIABLE])
        value: object = await connection.fetchval(statement)
        await connection.close()
        return value

    return asyncio.run(tell())


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path / "index"


@pytest.fixture
def build(index_database: str, folder: Path) -> Build:
    return partial(PostgreSQLIndex.build, folder=folder, on=index_database)


def test_names_with_more_of_the_words_come_first(build: Build) -> None:
    index = build(MOONS)
    assert labels(index, "jupiter moons") == ["Moons of Jupiter", "Ganymede", "Io", "Jupiter"]
    assert labels(index, "jup") == ["Ganymede", "Io", "Jupiter", "Moons of Jupiter"]
    assert labels(index, "jup moo") == ["Moons of Jupiter", "Ganymede", "Io", "Jupiter"]
    assert [hit.name for hit in index.search("jupiter", limit=2)] == ["Jupiter III", "Jupiter I"]
    # A word that is nowhere finds those spelled alike.
    assert labels(index, "Ganimede") == ["Ganymede"]
    assert labels(index, "moons of Jupitre")[0] == "Moons of Jupiter"
    assert labels(index, "xyzzy") == []
    # Signs of the query language are letters.
    for text in ("quoted", "it's 'quoted'", "a & (quoted)", "!quoted:*", "\\'quoted"):
        assert index.search(text)[0].item.iri == EX + "quote"


def test_with_a_language_inflected_words_are_found(build: Build, folder: Path) -> None:
    things = [Resource(EX + "moon", "Moon", (), 1.0), Resource(EX + "flies", "Flies", (), 1.0)]
    plain = build(things)
    english = build(things, folder=folder.with_name("english"), language="english")

    assert labels(plain, "fly") == []
    assert labels(english, "fly") == ["Flies"]
    assert english.search("flies")[0].score == 1
    with pytest.raises(SetupError, match="no text search configuration 'klingon'"):
        build(things, language="klingon")


def test_all_resources_come_in_the_order_of_their_scores(build: Build) -> None:
    count = 2 * BATCH_SIZE + 7
    index = build(many(count))

    assert list(index.iterate_resources()) == list(reversed(list(many(count))))
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


def test_a_build_that_was_cut_off_goes_on(build: Build, folder: Path) -> None:
    count = 3 * BATCH_SIZE + 1
    for after in (BATCH_SIZE + 1, 3 * BATCH_SIZE):
        with pytest.raises(KeyboardInterrupt):
            build(cut_off(many(count), after), source="things")
        assert not folder.exists()
    pool = ThreadPoolExecutor(1)
    numbers: list[object] = []

    def submit(function: Callable[..., int], /, *arguments: object) -> "Future[int]":
        numbers.append(arguments[0])
        return pool.submit(function, *arguments)

    with pool:
        index = build(many(count), source="things", submit=submit)

    assert numbers == [3]
    assert list(index.iterate_resources()) == list(reversed(list(many(count))))


def test_what_a_build_that_was_cut_off_has_written_is_of_its_source(build: Build) -> None:
    for after in (BATCH_SIZE + 1, 2 * BATCH_SIZE - 1):
        with pytest.raises(KeyboardInterrupt):
            build(cut_off(many(2 * BATCH_SIZE), after), source="things")
    with pytest.raises(SetupError, match="the source has changed"):
        build(MOONS, source="things")
    index = build(MOONS, source="moons")
    assert len(list(index.iterate_resources())) == len(index) == len(MOONS)


def test_half_built_or_lost_indices_tell(build: Build, index_database: str, folder: Path) -> None:
    index = build(MOONS, name="moons")
    told(index_database, f'DROP TABLE askgraph."{index.location.key}"')

    with pytest.raises(SetupError, match="there is no complete index 'moons' at postgresql://"):
        index.search("jupiter")
    with pytest.raises(SetupError, match="name the server for the index"):
        PostgreSQLIndex.build(MOONS, folder)


def test_one_process_at_a_time_fills_an_index(build: Build, folder: Path) -> None:
    def resources() -> Iterator[Resource]:
        yield MOONS[0]
        with pytest.raises(SetupError, match="is being built by another process"):
            build(MOONS, folder=folder.with_name("other"), name="one")

    assert len(build(resources(), name="one")) == 1


def test_a_server_that_does_not_answer_is_told_with_the_remedy(
    build: Build, index_database: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    nowhere = "postgresql://me@127.0.0.1:1/names"
    with pytest.raises(
        Unreachable, match=r"no PostgreSQL server at '127.0.0.1' answers .*; start it"
    ):
        build(MOONS, on=nowhere)
    with pytest.raises(SetupError, match="leave the password out of the address"):
        build(MOONS, on="postgresql://me:secret@127.0.0.1/names")
    absent = urlsplit(index_database)._replace(path="/absent").geturl()
    with pytest.raises(SetupError, match='database "absent" does not exist; create it'):
        build(MOONS, on=absent)

    monkeypatch.setenv(PASSWORD_VARIABLE, "wrong")
    with pytest.raises(
        Unauthorised, match=f"password authentication failed.*; set {PASSWORD_VARIABLE}"
    ):
        build(MOONS)


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
    build: Build, index_database: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    wanted = "SELECT count(*) FROM pg_available_extensions WHERE name = 'vector'"
    if not told(index_database, wanted):
        with pytest.raises(SetupError, match=r"needs the extension 'vector': .* \(it is pgvector"):
            build(MOONS, embedder=HashedEmbedder())
        return
    monkeypatch.setattr("askgraph.index.postgresql.get_batch_embedder", lambda name: Meanings())
    index = build(MOONS, embedder=Meanings())

    assert labels(index, "satellites", limit=1) == ["Moons of Jupiter"]
    assert labels(index, "satellites", within={EX + "io"}) == ["Io"]
    assert labels(index, "Io", limit=1) == ["Io"]
