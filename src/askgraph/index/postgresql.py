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
import json
import os
import threading
import weakref
from collections.abc import Callable, Collection, Coroutine, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache, partial
from itertools import chain, groupby
from pathlib import Path
from typing import Any, Self, TypeVar
from urllib.parse import urlsplit

import asyncpg

from askgraph.errors import ErrorReply, SetupError, Unauthorised, Unreachable
from askgraph.index import Hit, Progress, Resource
from askgraph.index._server import PASSWORD, Place, Submit, batch_embedder, fill
from askgraph.index._table import fuse_rankings, positive
from askgraph.index.embeddings import Embedder, kept_embedder
from askgraph.index.folder import Folder, Kind
from askgraph.index.names import search_words

__all__ = ["PostgreSQLIndex"]

_KIND = Kind("postgresql", 1)
_SCHEMA = "askgraph"
_BEGUN_WEIGHT = 0.75
_ALIKE_WEIGHT = 0.5  # times the similarity
_LEAST_MISTYPED = 4
_MAX_WORDS = 12
_MAX_LETTERS = 500  # of a word
_FETCHED = 5000  # rows at a time
_SETTINGS = {
    "plan_cache_mode": "force_custom_plan",
    "synchronize_seqscans": "off",  # rows are read in the order of their scores
    "max_parallel_workers_per_gather": "0",
    "jit": "off",
}

Result = TypeVar("Result")
Ranking = dict[str, tuple[float, str]]
"""How well each IRI matches, and by which name; best first."""
Keyword = list[tuple[str, float]]
"""The queries (`tsquery`) that a keyword stands for, and what each counts; best first."""


@dataclass(frozen=True, eq=False, repr=False)
class PostgreSQLIndex:
    """An index in a database; connections are made when they are needed."""

    place: Place
    language: str
    embedder: Embedder | None
    items: int
    database: "_Database"

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
        place, named = Place.of(on, name, folder), embedder.name if embedder else ""
        settings = {"language": language, "embedder": named}
        write = partial(_write_batch, place, language, named)
        with place.noted(folder, _KIND, settings), _Build(place, language, named, source) as build:
            done = build.start()
            total = fill(resources, write, done, submit=submit, at_once=at_once, progress=progress)
            build.finish(total)
        return cls.open(folder, embedder=embedder)

    @classmethod
    def open(cls, folder: Path, *, embedder: Embedder | None = None) -> Self:
        """Open the index that a folder names; see `DiskIndex.open`.

        Raises `ServiceError` if the server does not answer.
        """
        opened = Folder.open(folder, _KIND)
        place, named = Place.read(opened), opened.text("embedder")
        with _Database.connect(place) as database:
            items = database.value(
                f"SELECT items FROM {_SCHEMA}.indices WHERE name = $1", place.name
            )
        if items is None:
            raise place.missing()
        if named and embedder is None:
            embedder = kept_embedder(named)
        pool = _Database.open_pool(place)
        index = cls(place, opened.text("language"), embedder, items, pool)
        weakref.finalize(index, _event_loop().call_soon_threadsafe, pool.source.terminate)
        return index

    def __len__(self) -> int:
        return self.items

    @property
    def bytes(self) -> int:
        """What the tables and their indices take on the server's disk."""
        tables = [_table(self.place), _table(self.place, "~words")]
        size = "sum(pg_total_relation_size(one::regclass))::int8"
        return int(self.database.value(f"SELECT {size} FROM unnest($1::text[]) AS one", tables))

    def find(self, iri: str) -> Resource | None:
        """Return the resource of an IRI, or None."""
        return self._read_resources([iri]).get(iri)

    def resources(self) -> Iterator[Resource]:
        """Yield all resources, the highest score first."""
        query = f"SELECT * FROM {_table(self.place)} ORDER BY score DESC, iri, at"
        with _Database.connect(self.place) as database:
            database.execute("BEGIN READ ONLY")
            database.execute(f"DECLARE every NO SCROLL CURSOR FOR {query}")
            parts = iter(lambda: database.fetch(f"FETCH {_FETCHED} FROM every"), [])
            yield from _join_names(chain.from_iterable(parts))

    def search(
        self, text: str, *, limit: int = 10, within: Collection[str] | None = None
    ) -> Sequence[Hit[Resource]]:
        """Return the best resources; see `SearchIndex.search`."""
        positive(limit)
        words = list(dict.fromkeys(_split_words(text)))[:_MAX_WORDS]
        if not words or (within is not None and not within):
            return []
        ranking = self._rank_names(words, limit, within)
        if self.embedder is not None:
            near = self._rank_vectors(self.embedder.embed([text])[0], limit, within)
            names = {iri: name for iri, (_, name) in (near | ranking).items()}
            fused = fuse_rankings((ranking, near))
            ranking = {iri: (rank, names[iri]) for iri, rank in fused.items()}
        best = list(ranking.items())[:limit]
        known = self._read_resources([iri for iri, _ in best])
        return [Hit(known[iri], rank, name) for iri, (rank, name) in best if iri in known]

    def _rank_names(self, words: list[str], limit: int, within: Collection[str] | None) -> Ranking:
        keywords = self._find_keywords(words)
        if not keywords:
            return {}
        if within is not None:
            return self._rank(keywords, (), limit, within)
        ranking: Ranking = {}
        for queries in _relax_queries(keywords):
            more = self._rank(keywords, queries, limit, None)
            ranking = dict(sorted((more | ranking).items(), key=lambda item: -item[1][0]))
            if len(ranking) >= limit:
                break
        return ranking

    def _find_keywords(self, words: list[str]) -> list[Keyword]:
        """Return what each word leads to in the index; nothing for one that leads nowhere."""
        known = f"SELECT FROM {_table(self.place, '~words')} WHERE word"
        rows = self.database.fetch(
            f"SELECT one, EXISTS ({known} = one) AS whole,"
            f" EXISTS ({known} > one AND word < one || chr(1114111)) AS begun,"
            f" tsvector_to_array(to_tsvector($2::text::regconfig, one)) AS stems"
            " FROM unnest($1::text[]) WITH ORDINALITY AS asked (one, at) ORDER BY at",
            words,
            self.language,
        )
        keywords = list(filter(None, map(self._match_word, rows)))
        # A name with all keywords comes before any with fewer, however they match.
        return [
            [(query, 1 - (1 - weight) / len(keywords)) for query, weight in ways]
            for ways in keywords
        ]

    def _match_word(self, row: Any) -> Keyword:
        word, ways = row["one"], []
        if row["whole"]:
            ways.append((_quote_word(word), 1.0))
        stems = [_quote_word(stem) for stem in row["stems"] if stem != word]
        if row["begun"] or (stems and self.language != "simple"):
            ways.append((" | ".join((f"{_quote_word(word)}:*", *stems)), _BEGUN_WEIGHT))
        if ways or len(word) < _LEAST_MISTYPED or not word.isalpha():
            return ways
        alike = self.database.fetch(
            f"SELECT word, similarity(word, $1) AS alike FROM {_table(self.place, '~words')}"
            " WHERE word % $1 ORDER BY alike DESC, n DESC LIMIT 5",
            word,
        )
        return [(_quote_word(one["word"]), _ALIKE_WEIGHT * one["alike"]) for one in alike]

    def _rank(
        self,
        keywords: list[Keyword],
        queries: Iterable[str],
        limit: int,
        within: Collection[str] | None,
    ) -> Ranking:
        """Return the best names among the most used ones of each query, or among all `within`."""
        arguments: list[object] = [limit]

        def place_argument(value: object) -> str:
            arguments.append(value)
            return f"${len(arguments)}"

        def holds(query: str) -> str:
            return f"words @@ {place_argument(query)}::text::tsquery"

        rows = f"SELECT iri, at, name, score, words FROM {_table(self.place)} WHERE"
        if within is None:
            most = place_argument(max(64, 4 * limit))
            parts = [f"({rows} {holds(query)} LIMIT {most})" for query in dict.fromkeys(queries)]
            matching = " UNION ALL ".join(parts)
        else:
            iris = place_argument(list(map(_clean, within)))
            matching = f"{rows} iri = ANY({iris}) AND {holds(_any_of(map(_any_way, keywords)))}"
        ranks = (
            " ".join(f"WHEN {holds(query)} THEN {weight}" for query, weight in ways)
            for ways in keywords
        )
        rank = " + ".join(f"CASE {cases} ELSE 0 END" for cases in ranks)
        best = self.database.fetch(
            f"WITH found AS MATERIALIZED ({matching}),"
            f" ranked AS (SELECT iri, at, name, score, ({rank})::float8 AS rank FROM found),"
            " best AS (SELECT DISTINCT ON (iri) * FROM ranked WHERE rank > 0"
            " ORDER BY iri, rank DESC, at)"
            " SELECT iri, name, rank FROM best ORDER BY rank DESC, score DESC, iri LIMIT $1",
            *arguments,
        )
        return {row["iri"]: (row["rank"], row["name"]) for row in best}

    def _rank_vectors(
        self, vector: Iterable[float], limit: int, within: Collection[str] | None
    ) -> Ranking:
        names = f"SELECT iri, name, vector <=> $1::text::vector AS far FROM {_table(self.place)}"
        arguments: list[object] = [_vector_text(vector), 8 * limit]
        if within is not None:  # all of them are compared: what an index of vectors gives is few
            names = f"WITH own AS MATERIALIZED ({names} WHERE iri = ANY($3)) SELECT * FROM own"
            arguments.append(list(within))

        async def fetch(connection: Any) -> list[Any]:
            async with connection.transaction():
                await connection.execute("SET LOCAL hnsw.ef_search = 200")
                rows: list[Any] = await connection.fetch(
                    f"{names} ORDER BY far LIMIT $2", *arguments
                )
                return rows

        ranking: Ranking = {}
        for row in self.database.run(fetch):
            ranking.setdefault(row["iri"], (1 - row["far"], row["name"]))
        return ranking

    def _read_resources(self, iris: list[str]) -> dict[str, Resource]:
        wanted = f"SELECT * FROM {_table(self.place)} WHERE iri = ANY($1) ORDER BY iri, at"
        rows = self.database.fetch(wanted, list(map(_clean, iris)))
        return {one.iri: one for one in _join_names(rows)}


def _relax_queries(keywords: list[Keyword]) -> Iterator[tuple[str, ...]]:
    """Yield queries for names with all keywords, with all but one, and with one."""
    wholes = [ways[0][0] for ways in keywords]
    anyhow = list(map(_any_way, keywords))
    yield _all_of(wholes), _all_of([*wholes[:-1], anyhow[-1]]), _all_of(anyhow)
    if len(keywords) > 2:
        yield tuple(
            _all_of([*each[:at], *each[at + 1 :]])
            for each in (wholes, anyhow)
            for at in range(len(keywords))
        )
    if len(keywords) > 1:
        yield (*wholes, *anyhow)


def _all_of(queries: Iterable[str]) -> str:
    return " & ".join(f"({query})" for query in queries)


def _any_of(queries: Iterable[str]) -> str:
    return " | ".join(queries)


def _any_way(keyword: Keyword) -> str:
    return _any_of(query for query, _ in keyword)


def _join_names(rows: Iterable[Any]) -> Iterator[Resource]:
    """Yield resources from the rows of their names, which follow each other, the label first."""
    for iri, group in groupby(rows, key=lambda row: row["iri"]):
        first, *others = group
        synonyms = tuple(row["name"] for row in others)
        yield Resource(iri, first["name"], synonyms, first["score"], tuple(first["infos"] or ()))


class _Build:
    """An index that is being filled; no other process may fill it meanwhile.

    The connection stays open, since it holds the lock.
    """

    def __init__(self, place: Place, language: str, embedder: str, source: str) -> None:
        self.place, self.language = place, language
        self.embedder, self.source = embedder, source
        self.database = _Database.connect(place)
        self._locked = False

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        with self.database:
            if self._locked and not self.source:
                self._forget()

    def start(self) -> frozenset[int]:
        """Make the tables, or find those of the build that was cut off; return what is done."""
        ask, name = self.database, self.place.name
        if not ask.value("SELECT pg_try_advisory_lock(hashtextextended($1, 1))", name):
            raise SetupError(
                f"the index {name!r} at {self.place.address} is being filled by another process; "
                "wait for its end"
            )
        self._locked = True
        ask.execute(_CATALOGUE)
        self._extend("pg_trgm", "its package is often called postgresql-contrib")
        if self.embedder:
            self._extend("vector", "it is pgvector; or leave out the embeddings")
        if not ask.value("SELECT count(*) FROM pg_ts_config WHERE cfgname = $1", self.language):
            raise SetupError(f"the database has no text search configuration {self.language!r}")
        wanted = f"{self.source}\n{self.language}\n{self.embedder}"
        known = ask.value(f"SELECT source FROM {_SCHEMA}.builds WHERE name = $1", name)
        if known != wanted or not self.source:
            self._forget()
            vector = ", vector vector" if self.embedder else ""
            ask.execute(
                f"CREATE TABLE {_table(self.place, '~staged')} (iri text, at int, name text, "
                f"words tsvector, score float8, infos text[]{vector});"
                f"INSERT INTO {_SCHEMA}.builds VALUES ({_literal(name)}, {_literal(wanted)})"
            )
        rows = ask.fetch(f"SELECT number FROM {_SCHEMA}.batches WHERE name = $1", name)
        return frozenset(row["number"] for row in rows)

    def finish(self, total: int) -> None:
        """Sort, make what finds names, and put all in place of an older index."""
        ask, place = self.database, self.place
        written = ask.value(
            f"SELECT coalesce(sum(items), 0) FROM {_SCHEMA}.batches WHERE name = $1", place.name
        )
        if written != total:
            raise SetupError(
                f"{total:,} resources came for the index {place.name!r}, and {written:,} are "
                "written: what it is built from has changed; build it once more"
            )
        staged, new, words = (_table(place, part) for part in ("~staged", "~new", "~new~words"))
        size = None
        if self.embedder:
            size = ask.value(f"SELECT vector_dims(vector) FROM {staged} LIMIT 1")
        ask.execute("SET maintenance_work_mem = '256MB'; SET work_mem = '256MB'")
        ask.execute(f"DROP TABLE IF EXISTS {new}, {words}")
        ask.execute(f"CREATE TABLE {new} AS SELECT * FROM {staged} ORDER BY score DESC, iri, at")
        ask.execute(f'ALTER TABLE {new} ALTER iri TYPE text COLLATE "C"')
        try:
            ask.execute(f"ALTER TABLE {new} ADD PRIMARY KEY (iri, at)")
        except _DuplicateKey as error:
            raise SetupError(
                f"{error.key!r} is given twice; give all that is known of it at once"
            ) from error
        ask.execute(f"CREATE INDEX ON {new} USING gin (words) WITH (fastupdate = off)")
        if size:
            ask.execute(f"ALTER TABLE {new} ALTER vector TYPE vector({size})")
            ask.execute(f"CREATE INDEX ON {new} USING hnsw (vector vector_cosine_ops)")
        ask.execute(
            f'CREATE TABLE {words} AS SELECT word COLLATE "C", ndoc AS n'
            f" FROM ts_stat($askgraph$SELECT words FROM {new}$askgraph$)"
        )
        ask.execute(f"ALTER TABLE {words} ADD PRIMARY KEY (word)")
        ask.execute(f"CREATE INDEX ON {words} USING gin (word gin_trgm_ops)")
        ask.execute(f"ANALYZE {new}; ANALYZE {words}")
        renamed = "".join(
            f"DROP TABLE IF EXISTS {_table(place, part)};"
            f'ALTER TABLE {_table(place, f"~new{part}")} RENAME TO "{place.key}{part}";'
            for part in ("", "~words")
        )
        ask.execute(
            f"{renamed} INSERT INTO {_SCHEMA}.indices VALUES ({_literal(place.name)}, {total})"
            " ON CONFLICT (name) DO UPDATE SET items = excluded.items"
        )
        self._forget()

    def _extend(self, extension: str, hint: str) -> None:
        address = self.place.address
        try:
            self.database.execute(f"CREATE EXTENSION IF NOT EXISTS {extension}")
        except SetupError as error:
            raise SetupError(
                f"{address} has no extension {extension!r}, and the user may not make it: let an "
                f"administrator run CREATE EXTENSION {extension}"
            ) from error
        except ErrorReply as error:
            raise SetupError(
                f"{address} needs the extension {extension!r}: install it beside the server "
                f"({hint})"
            ) from error

    def _forget(self) -> None:
        tables = (_table(self.place, part) for part in ("~staged", "~new", "~new~words"))
        name = _literal(self.place.name)
        self.database.execute(
            f"DROP TABLE IF EXISTS {', '.join(tables)};"
            f"DELETE FROM {_SCHEMA}.builds WHERE name = {name};"
            f"DELETE FROM {_SCHEMA}.batches WHERE name = {name}"
        )


# The statements of one call are one transaction, for which the lock is held.
_CATALOGUE = f"""
SELECT pg_advisory_xact_lock(hashtextextended('askgraph', 0));
CREATE SCHEMA IF NOT EXISTS {_SCHEMA};
CREATE TABLE IF NOT EXISTS {_SCHEMA}.indices (name text PRIMARY KEY, items bigint);
CREATE TABLE IF NOT EXISTS {_SCHEMA}.builds (name text PRIMARY KEY, source text);
CREATE TABLE IF NOT EXISTS {_SCHEMA}.batches
    (name text, number int, items int, PRIMARY KEY (name, number))
"""


def _write_batch(
    place: Place, language: str, embedder: str, number: int, batch: list[Resource]
) -> int:
    """Write a batch, all of it or nothing, and nothing if it is there; return its resources."""
    rows: list[dict[str, object]] = [
        {
            "iri": one.iri,
            "at": at,
            "name": _clean(name),
            "folded": " ".join(_split_words(name)),
            "score": float(one.score),
            "infos": [_clean(info) for info in one.infos] if at == 0 else None,
        }
        for one in batch
        for at, name in enumerate(one.names)
    ]
    if embedder:
        vectors = batch_embedder(embedder).embed([str(row["name"]) for row in rows])
        rows = [
            {**row, "vector": _vector_text(own)} for row, own in zip(rows, vectors, strict=True)
        ]
    words = "array_to_tsvector(string_to_array(folded, ' '))"
    if language != "simple":
        words += f" || strip(to_tsvector({_literal(language)}, name))"
    vector = ", vector::vector" if embedder else ""
    with _Database.connect(place) as database:
        database.execute(
            f"WITH new AS (INSERT INTO {_SCHEMA}.batches VALUES ($1, $2, $3)"
            " ON CONFLICT DO NOTHING RETURNING number)"
            f" INSERT INTO {_table(place, '~staged')}"
            f" SELECT iri, at, batch.name, {words}, score, infos{vector}"
            " FROM new, json_to_recordset($4::text::json) AS batch"
            " (iri text, at int, name text, folded text, score float8, infos text[], vector text)",
            place.name,
            number,
            len(batch),
            json.dumps(rows),
        )
    return len(batch)


def _split_words(text: str) -> list[str]:
    words = (word.replace("\0", "")[:_MAX_LETTERS] for word in search_words(text))
    return [word for word in words if word]


def _clean(text: str) -> str:
    return text.replace("\0", "\N{REPLACEMENT CHARACTER}")


def _quote_word(word: str) -> str:
    """Return a word as a query for itself."""
    plain = word.replace("\\", "\\\\").replace("'", "''")
    return f"'{plain}'"


def _literal(text: str) -> str:
    doubled = text.replace("'", "''")
    return f"'{doubled}'"


def _vector_text(vector: Iterable[float]) -> str:
    return f"[{','.join(map(repr, map(float, vector)))}]"


def _table(place: Place, part: str = "") -> str:
    return f'{_SCHEMA}."{place.key}{part}"'


@dataclass(frozen=True, eq=False)
class _Database:
    """A database whose calls wait for the replies; `source` is a connection or a pool of them."""

    place: Place
    source: Any

    @classmethod
    def connect(cls, place: Place) -> Self:
        """Connect once; close it after use."""
        connection = asyncpg.connect(
            place.address,
            password=os.environ.get(PASSWORD),
            server_settings=_SETTINGS,
            timeout=30,
            statement_cache_size=0,
        )
        with _translate_errors(place):
            return cls(place, _wait(connection))

    @classmethod
    def open_pool(cls, place: Place) -> Self:
        """Make connections as they are needed, for several threads at once."""

        async def open_pool() -> Any:
            return await asyncpg.create_pool(
                place.address,
                password=os.environ.get(PASSWORD),
                server_settings=_SETTINGS,
                min_size=0,
                max_size=8,
            )

        return cls(place, _wait(open_pool()))

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        _wait(self.source.close())

    def run(self, work: Callable[[Any], Coroutine[Any, Any, Result]]) -> Result:
        """Do work over one connection of a pool; errors of the driver are raised as ours."""

        async def run() -> Result:
            async with self.source.acquire() as connection:
                return await work(connection)

        with _translate_errors(self.place):
            return _wait(run())

    def fetch(self, query: str, *arguments: object) -> list[Any]:
        """Return the rows of a query."""
        with _translate_errors(self.place):
            rows: list[Any] = _wait(self.source.fetch(query, *arguments))
            return rows

    def value(self, query: str, *arguments: object) -> Any:
        """Return the first value of the first row; None if there is no row."""
        with _translate_errors(self.place):
            return _wait(self.source.fetchval(query, *arguments))

    def execute(self, statements: str, *arguments: object) -> None:
        """Execute statements in one transaction."""
        with _translate_errors(self.place):
            _wait(self.source.execute(statements, *arguments))


class _DuplicateKey(ErrorReply):
    """Two rows have the same key."""

    def __init__(self, said: str, key: str) -> None:
        super().__init__(said)
        self.key = key


@contextmanager
def _translate_errors(place: Place) -> Iterator[None]:
    """Raise the driver's errors as ours."""
    said = place.address
    try:
        yield
    except (
        asyncpg.InvalidPasswordError,
        asyncpg.InvalidAuthorizationSpecificationError,
    ) as error:
        raise Unauthorised(f"{said}: {error}; set {PASSWORD} (or PGPASSWORD)") from error
    except asyncpg.InvalidCatalogNameError as error:
        raise SetupError(f"{said}: {error}; make it with createdb") from error
    except asyncpg.InsufficientPrivilegeError as error:
        raise SetupError(f"{said}: {error}; let an administrator grant it") from error
    except (asyncpg.UndefinedTableError, asyncpg.InvalidSchemaNameError) as error:
        raise place.missing() from error
    except asyncpg.UniqueViolationError as error:
        key = str(error.detail).partition("=(")[2].rpartition(", ")[0]
        raise _DuplicateKey(f"{said}: {error}", key) from error
    except (OSError, asyncpg.PostgresConnectionError, asyncpg.InterfaceError) as error:
        raise Unreachable(
            f"{said}: no PostgreSQL at {(urlsplit(said).hostname or said)!r} answers ({error}); "
            "start it, or name another; a build that was cut off goes on with the same call"
        ) from error
    except asyncpg.PostgresError as error:
        raise ErrorReply(f"{said}: {error}") from error


@cache
def _event_loop() -> asyncio.AbstractEventLoop:
    """Return the loop on which this process waits for its databases."""
    loop = asyncio.new_event_loop()
    threading.Thread(target=loop.run_forever, name="askgraph-postgresql", daemon=True).start()
    return loop


def _wait(work: Coroutine[Any, Any, Result]) -> Result:
    future = asyncio.run_coroutine_threadsafe(work, _event_loop())
    try:
        return future.result()
    except BaseException:
        future.cancel()
        raise
