"""Names in PostgreSQL: those that hold most words of the search, whole, begun or spelled alike.

A whole word of a name counts 1. One that the keyword only begins counts less, and so does one with
its stem if the index has a `language` (a text search configuration of the server). A keyword that
begins no word of any name stands for the words most similar to it (`pg_trgm`). Names with more of
the keywords always come first; the label and each synonym are ranked apart, equal ones by the
resource's score. Without `within`, only the most used names of each way to match are ranked. With
an `embedder` the ranking is joined with that of the nearest vectors (`pgvector`) by reciprocal
ranks. `infos` are not searched.

An index is a table in the schema `askgraph`, a row for each name, in the order of their scores. It
takes the place of an older one when it is complete.
"""

import asyncio
import os
import threading
import weakref
from collections.abc import AsyncGenerator, Collection, Coroutine, Iterable, Iterator, Sequence
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass, field
from functools import cache, partial
from pathlib import Path
from typing import Any, Self, TypeVar
from urllib.parse import urlsplit

import asyncpg

from askgraph.errors import ErrorReply, SetupError, Unauthorised, Unreachable
from askgraph.index import Hit, Progress, Resource, search_words
from askgraph.index._server import PASSWORD, Place, Submit, batch_embedder, fill, fused
from askgraph.index._table import positive
from askgraph.index.embeddings import Embedder, kept_embedder
from askgraph.index.folder import Folder, Kind

__all__ = ["PostgreSQLIndex"]

_KIND = Kind("postgresql", 1)
_SCHEMA = "askgraph"
_BEGUN = 0.75
_ALIKE = 0.5  # times the similarity
_LEAST_MISTYPED = 4
_MOST_WORDS = 12
_LONGEST = 500  # letters of a word
_FETCHED = 5000  # rows at a time
_SETTINGS = {
    "plan_cache_mode": "force_custom_plan",
    "synchronize_seqscans": "off",  # rows are read in the order of their scores
    "max_parallel_workers_per_gather": "0",
    "jit": "off",
}
_COLUMNS = ("iri", "at", "name", "folded", "score", "infos")


@dataclass(frozen=True, eq=False, repr=False)
class PostgreSQLIndex:
    """An index in a database; connections are made when they are needed."""

    place: Place
    language: str
    embedder: Embedder | None
    items: int
    pool: Any

    @classmethod
    def build(
        cls,
        resources: Iterable[Resource],
        folder: Path,
        *,
        progress: Progress | None = None,
        on: str = "",
        name: str = "",
        language: str = "simple",
        embedder: Embedder | None = None,
        source: str = "",
        submit: Submit | None = None,
        at_once: int = 2,
    ) -> Self:
        """Fill an index on the server `on`; see `DiskIndex.build`.

        With a `source`, which says what the resources are, a build that was cut off goes on when
        the next one has the same source. `submit` writes batches elsewhere, `at_once` of them at a
        time. Raises `ServiceError` if the server fails.
        """
        place = Place.of(on, name, folder)
        settings = {"language": language, "embedder": embedder.name if embedder else ""}
        build = _Build(place, language, settings["embedder"])
        with place.noted(folder, _KIND, settings), build:
            build.start(source)
            write = partial(_write, place, language, settings["embedder"])
            total = fill(
                resources, write, build.done, submit=submit, at_once=at_once, progress=progress
            )
            build.finish(total)
        return cls.open(folder, embedder=embedder)

    @classmethod
    def open(cls, folder: Path, *, embedder: Embedder | None = None) -> Self:
        """Open the index that a folder names; see `DiskIndex.open`.

        Raises `ServiceError` if the server does not answer.
        """
        opened = Folder.open(folder, _KIND)
        place, named = Place.read(opened), opened.text("embedder")
        items = _waited(_items(place))
        if items is None:
            raise SetupError(_missing(place))
        if named and embedder is None:
            embedder = kept_embedder(named)
        pool = _waited(_pool(place))
        index = cls(place, opened.text("language"), embedder, items, pool)
        weakref.finalize(index, _loop().call_soon_threadsafe, pool.terminate)
        return index

    def __len__(self) -> int:
        return self.items

    @property
    def bytes(self) -> int:
        """What the tables and their indices take on the server's disk."""
        return int(self._asked(self._bytes()))

    async def _bytes(self) -> int:
        async with self.pool.acquire() as connection:
            tables = [_table(self.place, part) for part in ("", "~words")]
            size = "pg_total_relation_size($1::text::regclass)"
            sizes = [await connection.fetchval(f"SELECT {size}", table) for table in tables]
            return sum(sizes)

    def find(self, iri: str) -> Resource | None:
        """Return the resource of an IRI, or None."""
        return self._resources([iri]).get(iri)

    def resources(self) -> Iterator[Resource]:
        """Yield all resources, the highest score first."""
        parts = _all_rows(self.place)

        async def more() -> list[Resource] | None:
            return await anext(parts, None)

        try:
            while (part := _waited(more())) is not None:
                yield from part
        finally:
            _waited(parts.aclose())

    def search(
        self, text: str, *, limit: int = 10, within: Collection[str] | None = None
    ) -> Sequence[Hit[Resource]]:
        """Return the best resources; see `SearchIndex.search`."""
        positive(limit)
        words = list(dict.fromkeys(_words(text)))[:_MOST_WORDS]
        if not words or (within is not None and not within):
            return []
        found = self._asked(self._named(words, limit, within))
        if self.embedder is not None:
            vector = _vector_text(self.embedder.embed([text])[0])
            near = self._asked(self._near(vector, limit, within))
            names = {iri: name for iri, (_, name) in (near | found).items()}
            found = {iri: (rank, names[iri]) for iri, rank in fused((found, near)).items()}
        best = list(found.items())[:limit]
        known = self._resources([iri for iri, _ in best])
        return [Hit(known[iri], rank, name) for iri, (rank, name) in best if iri in known]

    async def _named(
        self, words: list[str], limit: int, within: Collection[str] | None
    ) -> "_Found":
        async with self.pool.acquire() as connection:
            keywords = await _keywords(connection, self.place, self.language, words)
            if not keywords:
                return {}
            if within is not None:
                return await _ranked(connection, self.place, keywords, (), limit, within)
            found: _Found = {}
            for queries in _tiers(keywords):
                more = await _ranked(connection, self.place, keywords, queries, limit, None)
                found = dict(sorted((more | found).items(), key=lambda item: -item[1][0]))
                if len(found) >= limit:
                    break
            return found

    async def _near(self, vector: str, limit: int, within: Collection[str] | None) -> "_Found":
        names = f"SELECT iri, name, vector <=> $1::text::vector AS far FROM {_table(self.place)}"
        arguments: list[object] = [vector, 8 * limit]
        if within is not None:  # all of them are compared: what an index of vectors gives is few
            names = f"WITH own AS MATERIALIZED ({names} WHERE iri = ANY($3)) SELECT * FROM own"
            arguments.append(list(within))
        async with self.pool.acquire() as connection, connection.transaction():
            await connection.execute("SET LOCAL hnsw.ef_search = 200")
            rows = await connection.fetch(f"{names} ORDER BY far LIMIT $2", *arguments)
        found: _Found = {}
        for row in rows:
            found.setdefault(row["iri"], (1 - row["far"], row["name"]))
        return found

    def _resources(self, iris: list[str]) -> dict[str, Resource]:
        wanted = f"SELECT * FROM {_table(self.place)} WHERE iri = ANY($1) ORDER BY iri, at"

        async def rows() -> list[Any]:
            async with self.pool.acquire() as connection:
                found: list[Any] = await connection.fetch(wanted, list(map(_clean, iris)))
                return found

        return {one.iri: one for one in _joined(self._asked(rows()))}

    def _asked(self, work: "Coroutine[Any, Any, Result]") -> "Result":
        with _told(self.place):
            return _waited(work)


Result = TypeVar("Result")
_Found = dict[str, tuple[float, str]]
"""Of each IRI how well it matches, and by which name; best first."""


@dataclass(frozen=True)
class _Keyword:
    """The queries that a keyword stands for, and what each counts; the best one first."""

    ways: tuple[tuple[str, float], ...]

    @property
    def query(self) -> str:
        """Any of the ways."""
        return " | ".join(way for way, _ in self.ways)


async def _keywords(
    connection: Any, place: Place, language: str, words: list[str]
) -> list[_Keyword]:
    """Return what each word leads to in the index; none for one that leads nowhere."""
    known = f"SELECT FROM {_table(place, '~words')} WHERE word"
    rows = await connection.fetch(
        f"SELECT one, EXISTS ({known} = one) AS whole,"
        f" EXISTS ({known} > one AND word < one || chr(1114111)) AS begun,"
        f" tsvector_to_array(to_tsvector($2::text::regconfig, one)) AS stems"
        " FROM unnest($1::text[]) WITH ORDINALITY AS asked (one, at) ORDER BY at",
        words,
        language,
    )
    found = []
    for row in rows:
        word, ways = row["one"], []
        if row["whole"]:
            ways.append((_quoted(word), 1.0))
        stems = [_quoted(stem) for stem in row["stems"] if stem != word]
        if row["begun"] or (stems and language != "simple"):
            ways.append((" | ".join((f"{_quoted(word)}:*", *stems)), _BEGUN))
        if not ways and len(word) >= _LEAST_MISTYPED and word.isalpha():
            ways = await _alike(connection, place, word)
        if ways:
            found.append(ways)
    return [
        _Keyword(tuple((way, 1 - (1 - counted) / len(found)) for way, counted in ways))
        for ways in found
    ]


async def _alike(connection: Any, place: Place, word: str) -> list[tuple[str, float]]:
    rows = await connection.fetch(
        f"SELECT word, similarity(word, $1) AS alike FROM {_table(place, '~words')}"
        " WHERE word % $1 ORDER BY alike DESC, n DESC LIMIT 5",
        word,
    )
    return [(_quoted(row["word"]), _ALIKE * row["alike"]) for row in rows]


def _tiers(keywords: list[_Keyword]) -> Iterator[tuple[str, ...]]:
    """Yield queries for names with all keywords, with all but one, and with one."""
    wholes = [keyword.ways[0][0] for keyword in keywords]
    anyhow = [keyword.query for keyword in keywords]
    yield _all(wholes), _all([*wholes[:-1], anyhow[-1]]), _all(anyhow)
    if len(keywords) > 2:
        yield tuple(
            _all([*each[:at], *each[at + 1 :]])
            for each in (wholes, anyhow)
            for at in range(len(keywords))
        )
    if len(keywords) > 1:
        yield (*wholes, *anyhow)


def _all(queries: Iterable[str]) -> str:
    return " & ".join(f"({query})" for query in queries)


async def _ranked(
    connection: Any,
    place: Place,
    keywords: list[_Keyword],
    queries: Iterable[str],
    limit: int,
    within: Collection[str] | None,
) -> _Found:
    """Return the best names among the most used ones of each query, or among all `within`."""
    arguments: list[object] = [limit]

    def given(value: object) -> str:
        arguments.append(value)
        return f"${len(arguments)}"

    def holds(query: str) -> str:
        return f"words @@ {given(query)}::text::tsquery"

    rows = f"SELECT iri, at, name, score, words FROM {_table(place)} WHERE"
    if within is None:
        most = given(max(64, 4 * limit))
        parts = [f"({rows} {holds(query)} LIMIT {most})" for query in dict.fromkeys(queries)]
        found = " UNION ALL ".join(parts)
    else:
        anyhow = " | ".join(keyword.query for keyword in keywords)
        found = f"{rows} iri = ANY({given(list(map(_clean, within)))}) AND {holds(anyhow)}"
    ways = (
        " ".join(f"WHEN {holds(way)} THEN {counted}" for way, counted in keyword.ways)
        for keyword in keywords
    )
    rank = " + ".join(f"CASE {way} ELSE 0 END" for way in ways)
    best = await connection.fetch(
        f"WITH found AS MATERIALIZED ({found}),"
        f" ranked AS (SELECT iri, at, name, score, ({rank})::float8 AS rank FROM found),"
        " best AS (SELECT DISTINCT ON (iri) * FROM ranked WHERE rank > 0"
        " ORDER BY iri, rank DESC, at)"
        " SELECT iri, name, rank FROM best ORDER BY rank DESC, score DESC, iri LIMIT $1",
        *arguments,
    )
    return {row["iri"]: (row["rank"], row["name"]) for row in best}


async def _all_rows(place: Place) -> AsyncGenerator[list[Resource], None]:
    """Yield all resources, some thousand at a time, in one transaction."""
    query = f"SELECT * FROM {_table(place)} ORDER BY score DESC, iri, at"
    async with _connected(place) as connection, connection.transaction(readonly=True):
        cursor, rest = await connection.cursor(query), list[Any]()
        while more := await cursor.fetch(_FETCHED):
            rows = rest + more
            # The names of the last one may go on.
            last = next(at for at, row in enumerate(rows) if row["iri"] == rows[-1]["iri"])
            rest = rows[last:]
            yield list(_joined(rows[:last]))
        yield list(_joined(rest))


def _joined(rows: Iterable[Any]) -> Iterator[Resource]:
    """Join the rows of each resource, which follow each other, its label first."""
    of: dict[str, list[Any]] = {}
    for row in rows:
        of.setdefault(row["iri"], []).append(row)
    for iri, own in of.items():
        label, *synonyms = (row["name"] for row in own)
        infos = tuple(own[0]["infos"] or ())
        yield Resource(iri, label, tuple(synonyms), own[0]["score"], infos)


@dataclass
class _Build:
    """An index that is being filled; no other process may fill it meanwhile."""

    place: Place
    language: str
    embedder: str
    done: frozenset[int] = frozenset()
    _connection: Any = field(default=None, repr=False)
    _mine: bool = False
    _resumable: bool = False

    def __enter__(self) -> Self:
        self._connection = _waited(_connection(self.place))
        return self

    def __exit__(self, *_: object) -> None:
        with _told(self.place):
            _waited(self._closed())

    def start(self, source: str) -> None:
        """Make the tables, or find those of the build that was cut off, and what is done."""
        with _told(self.place):
            self.done = frozenset(_waited(self._started(source)))

    def finish(self, total: int) -> None:
        """Sort, make what finds names, and put all in place of an older index."""
        with _told(self.place):
            _waited(self._finished(total))

    async def _closed(self) -> None:
        if not self._connection.is_closed():
            if self._mine and not self._resumable:
                await self._forget()
            await self._connection.close()

    async def _started(self, source: str) -> list[int]:
        ask, name = self._connection, self.place.name
        if not await ask.fetchval("SELECT pg_try_advisory_lock(hashtextextended($1, 1))", name):
            raise SetupError(
                f"the index {name!r} at {self.place.address} is being filled by another process; "
                "wait for its end"
            )
        self._mine = True
        async with ask.transaction():
            await ask.execute("SELECT pg_advisory_xact_lock(hashtextextended('askgraph', 0))")
            await ask.execute(_CATALOGUE)
        await self._extend("pg_trgm", "its package is often called postgresql-contrib")
        if self.embedder:
            await self._extend("vector", "it is pgvector; or leave out the embeddings")
        if not await ask.fetchval(
            "SELECT count(*) FROM pg_ts_config WHERE cfgname = $1", self.language
        ):
            raise SetupError(f"the database has no text search configuration {self.language!r}")
        wanted = f"{source}\n{self.language}\n{self.embedder}"
        self._resumable = bool(source)
        known = await ask.fetchval(f"SELECT source FROM {_SCHEMA}.builds WHERE name = $1", name)
        if known != wanted or not source:
            await self._forget()
            vector = ", vector vector" if self.embedder else ""
            async with ask.transaction():
                await ask.execute(
                    f"CREATE TABLE {_table(self.place, '~staged')} (iri text, at int, name text, "
                    f"words tsvector, score float8, infos text[]{vector})"
                )
                await ask.execute(f"INSERT INTO {_SCHEMA}.builds VALUES ($1, $2)", name, wanted)
        rows = await ask.fetch(f"SELECT number FROM {_SCHEMA}.batches WHERE name = $1", name)
        return [row["number"] for row in rows]

    async def _extend(self, extension: str, hint: str) -> None:
        try:
            await self._connection.execute(f"CREATE EXTENSION IF NOT EXISTS {extension}")
        except asyncpg.InsufficientPrivilegeError as error:
            raise SetupError(
                f"{self.place.address} has no extension {extension!r}, and the user may not make "
                f"it: let an administrator run CREATE EXTENSION {extension}"
            ) from error
        except (asyncpg.FeatureNotSupportedError, asyncpg.UndefinedFileError) as error:
            raise SetupError(
                f"{self.place.address} needs the extension {extension!r}: install it beside the "
                f"server ({hint})"
            ) from error

    async def _forget(self) -> None:
        async with self._connection.transaction():
            for part in ("~staged", "~new", "~new~words"):
                await self._connection.execute(f"DROP TABLE IF EXISTS {_table(self.place, part)}")
            for table in ("builds", "batches"):
                await self._connection.execute(
                    f"DELETE FROM {_SCHEMA}.{table} WHERE name = $1", self.place.name
                )

    async def _finished(self, total: int) -> None:
        ask, name = self._connection, self.place.name
        written = await ask.fetchval(
            f"SELECT coalesce(sum(items), 0) FROM {_SCHEMA}.batches WHERE name = $1", name
        )
        if written != total:
            raise SetupError(
                f"{total:,} resources came for the index {name!r}, and {written:,} are written: "
                "what it is built from has changed; build it once more"
            )
        staged, new, words = (_table(self.place, p) for p in ("~staged", "~new", "~new~words"))
        await ask.execute("SET maintenance_work_mem = '256MB'; SET work_mem = '256MB'")
        await ask.execute(f"DROP TABLE IF EXISTS {new}, {words}")
        size = ""
        if self.embedder and (
            one := await ask.fetchval(f"SELECT vector_dims(vector) FROM {staged} LIMIT 1")
        ):
            size = f"ALTER TABLE {new} ALTER vector TYPE vector({one});"
        await ask.execute(
            f"CREATE TABLE {new} AS SELECT * FROM {staged} ORDER BY score DESC, iri, at"
        )
        await ask.execute(f'ALTER TABLE {new} ALTER iri TYPE text COLLATE "C"; {size}')
        try:
            await ask.execute(f"ALTER TABLE {new} ADD PRIMARY KEY (iri, at)")
        except asyncpg.UniqueViolationError as error:
            key = str(error.detail).partition("=(")[2].rpartition(", ")[0]
            raise SetupError(
                f"{key!r} is given twice; give all that is known of it at once"
            ) from error
        await ask.execute(f"CREATE INDEX ON {new} USING gin (words) WITH (fastupdate = off)")
        if size:
            await ask.execute(f"CREATE INDEX ON {new} USING hnsw (vector vector_cosine_ops)")
        await ask.execute(
            f'CREATE TABLE {words} AS SELECT word COLLATE "C", ndoc AS n'
            f" FROM ts_stat($askgraph$SELECT words FROM {new}$askgraph$)"
        )
        await ask.execute(f"ALTER TABLE {words} ADD PRIMARY KEY (word)")
        await ask.execute(f"CREATE INDEX ON {words} USING gin (word gin_trgm_ops)")
        await ask.execute(f"ANALYZE {new}; ANALYZE {words}")
        await self._put(total)

    async def _put(self, total: int) -> None:
        ask = self._connection
        async with ask.transaction():
            for part in ("", "~words"):
                await ask.execute(f"DROP TABLE IF EXISTS {_table(self.place, part)}")
                await ask.execute(
                    f"ALTER TABLE {_table(self.place, f'~new{part}')}"
                    f' RENAME TO "{self.place.key}{part}"'
                )
            await ask.execute(
                f"INSERT INTO {_SCHEMA}.indices VALUES ($1, $2)"
                " ON CONFLICT (name) DO UPDATE SET items = excluded.items",
                self.place.name,
                total,
            )
        await self._forget()


_CATALOGUE = f"""
CREATE SCHEMA IF NOT EXISTS {_SCHEMA};
CREATE TABLE IF NOT EXISTS {_SCHEMA}.indices (name text PRIMARY KEY, items bigint);
CREATE TABLE IF NOT EXISTS {_SCHEMA}.builds (name text PRIMARY KEY, source text);
CREATE TABLE IF NOT EXISTS {_SCHEMA}.batches
    (name text, number int, items int, PRIMARY KEY (name, number))
"""


def _write(place: Place, language: str, embedder: str, number: int, batch: list[Resource]) -> int:
    """Write a batch, all of it or nothing, and nothing if it is there; return its resources."""
    rows: list[tuple[object, ...]] = [
        (
            one.iri,
            at,
            _clean(name),
            " ".join(_words(name)),
            float(one.score),
            [_clean(info) for info in one.infos] if at == 0 else None,
        )
        for one in batch
        for at, name in enumerate(one.names)
    ]
    if embedder:
        vectors = batch_embedder(embedder).embed([str(row[2]) for row in rows])
        rows = [(*row, _vector_text(own)) for row, own in zip(rows, vectors, strict=True)]
    with _told(place):
        _waited(_written(place, language, number, len(batch), rows))
    return len(batch)


async def _written(
    place: Place, language: str, number: int, items: int, rows: list[tuple[object, ...]]
) -> None:
    async with _connected(place) as connection, connection.transaction():
        new = await connection.execute(
            f"INSERT INTO {_SCHEMA}.batches VALUES ($1, $2, $3) ON CONFLICT DO NOTHING",
            place.name,
            number,
            items,
        )
        if new.endswith(" 0"):
            return
        await connection.execute(
            "CREATE TEMPORARY TABLE batch (iri text, at int, name text, folded text,"
            " score float8, infos text[], vector text) ON COMMIT DROP"
        )
        columns = _COLUMNS if len(rows[0]) == len(_COLUMNS) else (*_COLUMNS, "vector")
        await connection.copy_records_to_table("batch", records=rows, columns=columns)
        words = "array_to_tsvector(string_to_array(folded, ' '))"
        if language != "simple":
            words += f" || strip(to_tsvector({_text(language)}, name))"
        vector = ", vector::vector" if len(columns) > len(_COLUMNS) else ""
        await connection.execute(
            f"INSERT INTO {_table(place, '~staged')}"
            f" SELECT iri, at, name, {words}, score, infos{vector} FROM batch"
        )


def _words(text: str) -> list[str]:
    words = (word.replace("\0", "")[:_LONGEST] for word in search_words(text))
    return [word for word in words if word]


def _clean(text: str) -> str:
    return text.replace("\0", "\N{REPLACEMENT CHARACTER}")


def _quoted(word: str) -> str:
    """Return a word as a query for itself."""
    plain = word.replace("\\", "\\\\").replace("'", "''")
    return f"'{plain}'"


def _text(text: str) -> str:
    doubled = text.replace("'", "''")
    return f"'{doubled}'"


def _vector_text(vector: Iterable[float]) -> str:
    return f"[{','.join(map(repr, map(float, vector)))}]"


def _table(place: Place, part: str = "") -> str:
    return f'{_SCHEMA}."{place.key}{part}"'


async def _connection(place: Place) -> Any:
    with _told(place):
        return await asyncpg.connect(
            place.address,
            password=os.environ.get(PASSWORD),
            server_settings=_SETTINGS,
            timeout=30,
            statement_cache_size=0,
        )


@asynccontextmanager
async def _connected(place: Place) -> AsyncGenerator[Any, None]:
    connection = await _connection(place)
    try:
        yield connection
    finally:
        await connection.close()


async def _pool(place: Place) -> Any:
    return await asyncpg.create_pool(
        place.address,
        password=os.environ.get(PASSWORD),
        server_settings=_SETTINGS,
        min_size=0,
        max_size=8,
    )


async def _items(place: Place) -> int | None:
    async with _connected(place) as connection:
        try:
            items: int | None = await connection.fetchval(
                f"SELECT items FROM {_SCHEMA}.indices WHERE name = $1", place.name
            )
        except (asyncpg.UndefinedTableError, asyncpg.InvalidSchemaNameError):
            return None
    return items


def _missing(place: Place) -> str:
    return (
        f"there is no complete index {place.name!r} at {place.address}; build it there, which goes "
        "on if it was begun"
    )


@contextmanager
def _told(place: Place) -> Iterator[None]:
    """Raise the driver's errors as ours."""
    server = urlsplit(place.address).hostname or place.address
    try:
        yield
    except (
        asyncpg.InvalidPasswordError,
        asyncpg.InvalidAuthorizationSpecificationError,
    ) as error:
        raise Unauthorised(f"{place.address}: {error}; set {PASSWORD} (or PGPASSWORD)") from error
    except asyncpg.InvalidCatalogNameError as error:
        raise SetupError(f"{place.address}: {error}; make it with createdb") from error
    except asyncpg.InsufficientPrivilegeError as error:
        raise SetupError(f"{place.address}: {error}; let an administrator grant it") from error
    except asyncpg.UndefinedTableError as error:
        raise SetupError(_missing(place)) from error
    except (OSError, asyncpg.PostgresConnectionError, asyncpg.InterfaceError) as error:
        raise Unreachable(
            f"{place.address}: no PostgreSQL at {server!r} answers ({error}); start it, or name "
            "another; a build that was cut off goes on with the same call"
        ) from error
    except asyncpg.PostgresError as error:
        raise ErrorReply(f"{place.address}: {error}") from error


@cache
def _loop() -> asyncio.AbstractEventLoop:
    """Return the loop on which this process waits for its databases."""
    loop = asyncio.new_event_loop()
    threading.Thread(target=loop.run_forever, name="askgraph-postgresql", daemon=True).start()
    return loop


def _waited(work: "Coroutine[Any, Any, Result]") -> "Result":
    future = asyncio.run_coroutine_threadsafe(work, _loop())
    try:
        return future.result()
    except BaseException:
        future.cancel()
        raise
