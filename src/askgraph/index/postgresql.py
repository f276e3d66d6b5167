"""Names in PostgreSQL: names with most words of the search, exact, as prefixes or similar.

An exact word of a name counts 1. A word that begins with the keyword counts less, and so does
one of the same stem if the index has a `language` (a text search configuration of the server). A
keyword that is no prefix of any word stands for the words most similar to it (`pg_trgm`). Names
with
more of the keywords always come first; the label and each synonym are ranked separately, and ties
are broken by the resource's score. Without `within`, only the most used names of each way to match
are ranked. With an `embedder` the ranking is fused, by reciprocal ranks, with that of the nearest
vectors (`pgvector`). `infos` are not searched.

An index is a table in the schema `askgraph` with a row for each name, ordered by score. It replaces
an older one when it is complete.
"""

import asyncio
import json
import os
import threading
import weakref
from collections.abc import Callable, Collection, Coroutine, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache, partial
from itertools import chain, groupby
from pathlib import Path
from typing import Any, Self, TypeVar
from urllib.parse import urlsplit

import asyncpg

from askgraph.errors import ErrorReply, SetupError, Unauthorised, Unreachable
from askgraph.index import Hit, Progress, Resource
from askgraph.index._server import (
    PASSWORD_VARIABLE,
    IndexLocation,
    SubmitBatch,
    get_batch_embedder,
    write_batches,
)
from askgraph.index._table import check_limit, fuse_rankings
from askgraph.index.embeddings import Embedder, get_embedder
from askgraph.index.folder import IndexFolder, IndexFormat
from askgraph.index.names import split_words

__all__ = ["PostgreSQLIndex"]

_KIND = IndexFormat("postgresql", 1)
_SCHEMA = "askgraph"
_PREFIX_WEIGHT = 0.75
_SIMILAR_WORD_WEIGHT = 0.5  # times the similarity
_MIN_MISTYPED_LENGTH = 4
_MAX_WORDS = 12
_MAX_WORD_CHARACTERS = 500  # of a word
_FETCH_ROWS = 5000  # rows at a time
_SESSION_SETTINGS = {
    "plan_cache_mode": "force_custom_plan",
    "synchronize_seqscans": "off",  # rows are read in the order of their scores
    "max_parallel_workers_per_gather": "0",
    "jit": "off",
}

Result = TypeVar("Result")
Ranking = dict[str, tuple[float, str]]
"""The score and the matching name of each IRI; best first."""
Keyword = list[tuple[str, float]]
"""The queries (`tsquery`) of a keyword, and the weight of each; best first."""


@dataclass(frozen=True, eq=False, repr=False)
class PostgreSQLIndex:
    """An index in a database; connections are opened when they are needed."""

    location: IndexLocation
    language: str
    embedder: Embedder | None
    item_count: int
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
        submit: SubmitBatch | None = None,
        at_once: int = 2,
    ) -> Self:
        """Write an index on the server `on`; see `DiskIndex.build`.

        With a `source`, which identifies the resources, an interrupted build resumes if the next
        one has the same source. `submit` runs batches elsewhere, at most `at_once` at a time.

        Raises:
            ServiceError: the server fails.
        """
        location = IndexLocation.from_settings(on, name, folder)
        embedder_name = embedder.name if embedder else ""
        settings = {"language": language, "embedder": embedder_name}
        write = partial(_write_batch, location, language, embedder_name)
        with (
            location.write_folder(folder, _KIND, settings),
            _PostgreSQLBuild(location, language, embedder_name, source) as index_build,
        ):
            finished = index_build.start()
            total = write_batches(
                resources, write, finished, submit=submit, at_once=at_once, progress=progress
            )
            index_build.finish(total)
        return cls.open(folder, embedder=embedder)

    @classmethod
    def open(cls, folder: Path, *, embedder: Embedder | None = None) -> Self:
        """Open the index at a folder's location; raise `ServiceError` if the server is down."""
        opened = IndexFolder.open(folder, _KIND)
        location, embedder_name = IndexLocation.from_folder(opened), opened.get_text("embedder")
        with _Database.connect(location) as database:
            item_count = database.fetch_value(
                f"SELECT items FROM {_SCHEMA}.indices WHERE name = $1", location.name
            )
        if item_count is None:
            raise location.build_missing_error()
        if embedder_name and embedder is None:
            embedder = get_embedder(embedder_name)
        pool = _Database.open_pool(location)
        index = cls(location, opened.get_text("language"), embedder, item_count, pool)
        weakref.finalize(index, _get_event_loop().call_soon_threadsafe, pool.source.terminate)
        return index

    def __len__(self) -> int:
        return self.item_count

    @property
    def bytes(self) -> int:
        """The size of the tables and their indices on the server's disk, in bytes."""
        tables = [_format_table_name(self.location), _format_table_name(self.location, "~words")]
        size = "sum(pg_total_relation_size(one::regclass))::int8"
        return int(
            self.database.fetch_value(f"SELECT {size} FROM unnest($1::text[]) AS one", tables)
        )

    def find(self, iri: str) -> Resource | None:
        """Return the resource of an IRI, or None."""
        return self._read_resources([iri]).get(iri)

    def iterate_resources(self) -> Iterator[Resource]:
        """Yield all resources, highest score first."""
        query = f"SELECT * FROM {_format_table_name(self.location)} ORDER BY score DESC, iri, at"
        with _Database.connect(self.location) as database:
            database.execute("BEGIN READ ONLY")
            database.execute(f"DECLARE every NO SCROLL CURSOR FOR {query}")
            parts = iter(lambda: database.fetch(f"FETCH {_FETCH_ROWS} FROM every"), [])
            yield from _join_names(chain.from_iterable(parts))

    def search(
        self, text: str, *, limit: int = 10, within: Collection[str] | None = None
    ) -> Sequence[Hit[Resource]]:
        """Return the best resources; see `SearchIndex.search`."""
        check_limit(limit)
        words = list(dict.fromkeys(_split_words(text)))[:_MAX_WORDS]
        if not words or (within is not None and not within):
            return []
        ranking = self._rank_names(words, limit, within)
        if self.embedder is not None:
            vector_ranking = self._rank_vectors(self.embedder.embed([text])[0], limit, within)
            names = {iri: name for iri, (_, name) in (vector_ranking | ranking).items()}
            fused = fuse_rankings((ranking, vector_ranking))
            ranking = {iri: (rank, names[iri]) for iri, rank in fused.items()}
        best = list(ranking.items())[:limit]
        resources_by_iri = self._read_resources([iri for iri, _ in best])
        return [
            Hit(resources_by_iri[iri], rank, name)
            for iri, (rank, name) in best
            if iri in resources_by_iri
        ]

    def _rank_names(self, words: list[str], limit: int, within: Collection[str] | None) -> Ranking:
        word_query = f"SELECT FROM {_format_table_name(self.location, '~words')} WHERE word"
        rows = self.database.fetch(
            f"SELECT one, EXISTS ({word_query} = one) AS whole,"
            f" EXISTS ({word_query} > one AND word < one || chr(1114111)) AS begun,"
            f" tsvector_to_array(to_tsvector($2::text::regconfig, one)) AS stems"
            " FROM unnest($1::text[]) WITH ORDINALITY AS asked (one, at) ORDER BY at",
            words,
            self.language,
        )
        keywords = list(filter(None, map(self._match_word, rows)))
        # Names with all keywords come before names with fewer.
        keywords = [
            [(query, 1 - (1 - weight) / len(keywords)) for query, weight in ways]
            for ways in keywords
        ]
        if not keywords:
            return {}
        if within is not None:
            return self._rank(keywords, (), limit, within)
        ranking: Ranking = {}
        for queries in _relax_queries(keywords):
            further_matches = self._rank(keywords, queries, limit, None)
            ranking = dict(
                sorted((further_matches | ranking).items(), key=lambda item: -item[1][0])
            )
            if len(ranking) >= limit:
                break
        return ranking

    def _match_word(self, row: Any) -> Keyword:
        word, ways = row["one"], []
        if row["whole"]:
            ways.append((_quote_word(word), 1.0))
        stems = [_quote_word(stem) for stem in row["stems"] if stem != word]
        if row["begun"] or (stems and self.language != "simple"):
            ways.append((" | ".join((f"{_quote_word(word)}:*", *stems)), _PREFIX_WEIGHT))
        if ways or len(word) < _MIN_MISTYPED_LENGTH or not word.isalpha():
            return ways
        similar_words = self.database.fetch(
            "SELECT word, similarity(word, $1) AS alike FROM "
            f"{_format_table_name(self.location, '~words')}"
            " WHERE word % $1 ORDER BY alike DESC, n DESC LIMIT 5",
            word,
        )
        return [
            (_quote_word(similar_word["word"]), _SIMILAR_WORD_WEIGHT * similar_word["alike"])
            for similar_word in similar_words
        ]

    def _rank(
        self,
        keywords: list[Keyword],
        queries: Iterable[str],
        limit: int,
        within: Collection[str] | None,
    ) -> Ranking:
        """Return the best names among the most used ones of each query, or among all `within`."""
        arguments: list[object] = [limit]

        def add_argument(value: object) -> str:
            arguments.append(value)
            return f"${len(arguments)}"

        def build_condition(query: str) -> str:
            return f"words @@ {add_argument(query)}::text::tsquery"

        rows = f"SELECT iri, at, name, score, words FROM {_format_table_name(self.location)} WHERE"
        if within is None:
            row_limit = add_argument(max(64, 4 * limit))
            parts = [
                f"({rows} {build_condition(query)} LIMIT {row_limit})"
                for query in dict.fromkeys(queries)
            ]
            matching = " UNION ALL ".join(parts)
        else:
            iris = add_argument(list(map(_replace_nul, within)))
            matching = (
                f"{rows} iri = ANY({iris}) AND "
                f"{build_condition(' | '.join(map(_combine_ways, keywords)))}"
            )
        ranks = (
            " ".join(f"WHEN {build_condition(query)} THEN {weight}" for query, weight in ways)
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
        names = (
            "SELECT iri, name, vector <=> $1::text::vector AS far FROM "
            f"{_format_table_name(self.location)}"
        )
        arguments: list[object] = [_format_vector(vector), 8 * limit]
        if within is not None:  # compare all: a vector index returns only a few
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
        query = (
            f"SELECT * FROM {_format_table_name(self.location)} WHERE iri = ANY($1) ORDER "
            "BY iri, at"
        )
        rows = self.database.fetch(query, list(map(_replace_nul, iris)))
        return {resource.iri: resource for resource in _join_names(rows)}


def _relax_queries(keywords: list[Keyword]) -> Iterator[tuple[str, ...]]:
    """Yield queries for names with all keywords, with all but one, and with one."""
    exact_queries = [ways[0][0] for ways in keywords]
    full_queries = list(map(_combine_ways, keywords))
    yield (
        _join_with_and(exact_queries),
        _join_with_and([*exact_queries[:-1], full_queries[-1]]),
        _join_with_and(full_queries),
    )
    if len(keywords) > 2:
        yield tuple(
            _join_with_and([*queries[:position], *queries[position + 1 :]])
            for queries in (exact_queries, full_queries)
            for position in range(len(keywords))
        )
    if len(keywords) > 1:
        yield (*exact_queries, *full_queries)


def _join_with_and(queries: Iterable[str]) -> str:
    return " & ".join(f"({query})" for query in queries)


def _combine_ways(keyword: Keyword) -> str:
    return " | ".join(query for query, _ in keyword)


def _join_names(rows: Iterable[Any]) -> Iterator[Resource]:
    """Yield resources from the rows of their names, which are adjacent, the label first."""
    for iri, group in groupby(rows, key=lambda row: row["iri"]):
        first_row, *synonym_rows = group
        synonyms = tuple(row["name"] for row in synonym_rows)
        yield Resource(
            iri, first_row["name"], synonyms, first_row["score"], tuple(first_row["infos"] or ())
        )


class _PostgreSQLBuild:
    """A build, which excludes other builds of the index."""

    def __init__(self, location: IndexLocation, language: str, embedder: str, source: str) -> None:
        self.location, self.language = location, language
        self.embedder, self.source = embedder, source
        self.database = _Database.connect(location)
        self._locked = False

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        with self.database:
            if self._locked and not self.source:
                self._delete_build()

    def start(self) -> frozenset[int]:
        """Create the tables, or resume an interrupted build; return the finished batches."""
        database, name = self.database, self.location.name
        if not database.fetch_value("SELECT pg_try_advisory_lock(hashtextextended($1, 1))", name):
            raise SetupError(
                f"the index {name!r} at {self.location.address} is being built by another "
                "process; wait until it is done"
            )
        self._locked = True
        database.execute(_CREATE_SCHEMA_STATEMENTS)
        self._create_extension("pg_trgm", "its package is often called postgresql-contrib")
        if self.embedder:
            self._create_extension("vector", "it is pgvector; or omit the embeddings")
        if not database.fetch_value(
            "SELECT count(*) FROM pg_ts_config WHERE cfgname = $1", self.language
        ):
            raise SetupError(f"the database has no text search configuration {self.language!r}")
        build_source = f"{self.source}\n{self.language}\n{self.embedder}"
        previous_source = database.fetch_value(
            f"SELECT source FROM {_SCHEMA}.builds WHERE name = $1", name
        )
        if previous_source != build_source or not self.source:
            self._delete_build()
            vector = ", vector vector" if self.embedder else ""
            database.execute(
                f"CREATE TABLE {_format_table_name(self.location, '~staged')} (iri text, at "
                "int, name text, "
                f"words tsvector, score float8, infos text[]{vector});"
                f"INSERT INTO {_SCHEMA}.builds VALUES ({_quote_literal(name)}, "
                f"{_quote_literal(build_source)})"
            )
        rows = database.fetch(f"SELECT number FROM {_SCHEMA}.batches WHERE name = $1", name)
        return frozenset(row["number"] for row in rows)

    def finish(self, total: int) -> None:
        """Sort the rows, create the database indices, and replace an older index."""
        database, location = self.database, self.location
        written_count = database.fetch_value(
            f"SELECT coalesce(sum(items), 0) FROM {_SCHEMA}.batches WHERE name = $1", location.name
        )
        if written_count != total:
            raise SetupError(
                f"{total:,} resources came for the index {location.name!r}, and "
                f"{written_count:,} are "
                "written: the source has changed; build it again"
            )
        staged_table, new_table, words_table = (
            _format_table_name(location, part) for part in ("~staged", "~new", "~new~words")
        )
        dimension_count = None
        if self.embedder:
            dimension_count = database.fetch_value(
                f"SELECT vector_dims(vector) FROM {staged_table} LIMIT 1"
            )
        database.execute("SET maintenance_work_mem = '256MB'; SET work_mem = '256MB'")
        database.execute(f"DROP TABLE IF EXISTS {new_table}, {words_table}")
        database.execute(
            f"CREATE TABLE {new_table} AS SELECT * FROM {staged_table} ORDER BY score DESC, iri, at"
        )
        database.execute(f'ALTER TABLE {new_table} ALTER iri TYPE text COLLATE "C"')
        try:
            database.execute(f"ALTER TABLE {new_table} ADD PRIMARY KEY (iri, at)")
        except _DuplicateKeyError as error:
            raise SetupError(
                f"{error.key!r} occurs twice; put all its values into one row"
            ) from error
        database.execute(f"CREATE INDEX ON {new_table} USING gin (words) WITH (fastupdate = off)")
        if dimension_count:
            database.execute(f"ALTER TABLE {new_table} ALTER vector TYPE vector({dimension_count})")
            database.execute(f"CREATE INDEX ON {new_table} USING hnsw (vector vector_cosine_ops)")
        database.execute(
            f'CREATE TABLE {words_table} AS SELECT word COLLATE "C", ndoc AS n'
            f" FROM ts_stat($askgraph$SELECT words FROM {new_table}$askgraph$)"
        )
        database.execute(f"ALTER TABLE {words_table} ADD PRIMARY KEY (word)")
        database.execute(f"CREATE INDEX ON {words_table} USING gin (word gin_trgm_ops)")
        database.execute(f"ANALYZE {new_table}; ANALYZE {words_table}")
        rename_statements = "".join(
            f"DROP TABLE IF EXISTS {_format_table_name(location, part)};"
            f"ALTER TABLE {_format_table_name(location, f'~new{part}')} "
            f'RENAME TO "{location.key}{part}";'
            for part in ("", "~words")
        )
        database.execute(
            f"{rename_statements} INSERT INTO {_SCHEMA}.indices VALUES ("
            f"{_quote_literal(location.name)}, {total})"
            " ON CONFLICT (name) DO UPDATE SET items = excluded.items"
        )
        self._delete_build()

    def _create_extension(self, extension: str, hint: str) -> None:
        address = self.location.address
        try:
            self.database.execute(f"CREATE EXTENSION IF NOT EXISTS {extension}")
        except SetupError as error:
            raise SetupError(
                f"{address} has no extension {extension!r}, and the user may not create "
                f"it: ask an administrator to run CREATE EXTENSION {extension}"
            ) from error
        except ErrorReply as error:
            raise SetupError(
                f"{address} needs the extension {extension!r}: install it on the server ({hint})"
            ) from error

    def _delete_build(self) -> None:
        tables = (
            _format_table_name(self.location, part) for part in ("~staged", "~new", "~new~words")
        )
        name = _quote_literal(self.location.name)
        self.database.execute(
            f"DROP TABLE IF EXISTS {', '.join(tables)};"
            f"DELETE FROM {_SCHEMA}.builds WHERE name = {name};"
            f"DELETE FROM {_SCHEMA}.batches WHERE name = {name}"
        )


# The statements of one call are one transaction, for which the lock is held.
_CREATE_SCHEMA_STATEMENTS = f"""
SELECT pg_advisory_xact_lock(hashtextextended('askgraph', 0));
CREATE SCHEMA IF NOT EXISTS {_SCHEMA};
CREATE TABLE IF NOT EXISTS {_SCHEMA}.indices (name text PRIMARY KEY, items bigint);
CREATE TABLE IF NOT EXISTS {_SCHEMA}.builds (name text PRIMARY KEY, source text);
CREATE TABLE IF NOT EXISTS {_SCHEMA}.batches
    (name text, number int, items int, PRIMARY KEY (name, number))
"""


def _write_batch(
    location: IndexLocation, language: str, embedder: str, number: int, batch: list[Resource]
) -> int:
    """Write a batch in one transaction, unless it is there; return its number of resources."""
    rows: list[dict[str, object]] = [
        {
            "iri": resource.iri,
            "at": position,
            "name": _replace_nul(name),
            "folded": " ".join(_split_words(name)),
            "score": float(resource.score),
            "infos": [_replace_nul(info) for info in resource.infos] if position == 0 else None,
        }
        for resource in batch
        for position, name in enumerate(resource.names)
    ]
    if embedder:
        vectors = get_batch_embedder(embedder).embed([str(row["name"]) for row in rows])
        rows = [
            {**row, "vector": _format_vector(vector_row)}
            for row, vector_row in zip(rows, vectors, strict=True)
        ]
    words = "array_to_tsvector(string_to_array(folded, ' '))"
    if language != "simple":
        words += f" || strip(to_tsvector({_quote_literal(language)}, name))"
    vector = ", vector::vector" if embedder else ""
    with _Database.connect(location) as database:
        database.execute(
            f"WITH new AS (INSERT INTO {_SCHEMA}.batches VALUES ($1, $2, $3)"
            " ON CONFLICT DO NOTHING RETURNING number)"
            f" INSERT INTO {_format_table_name(location, '~staged')}"
            f" SELECT iri, at, batch.name, {words}, score, infos{vector}"
            " FROM new, json_to_recordset($4::text::json) AS batch"
            " (iri text, at int, name text, folded text, score float8, infos text[], vector text)",
            location.name,
            number,
            len(batch),
            json.dumps(rows),
        )
    return len(batch)


def _split_words(text: str) -> list[str]:
    words = (word.replace("\0", "")[:_MAX_WORD_CHARACTERS] for word in split_words(text))
    return [word for word in words if word]


def _replace_nul(text: str) -> str:
    return text.replace("\0", "\N{REPLACEMENT CHARACTER}")


def _quote_word(word: str) -> str:
    """Return a word as a query for itself."""
    return _quote_literal(word.replace("\\", "\\\\"))


def _quote_literal(text: str) -> str:
    doubled = text.replace("'", "''")
    return f"'{doubled}'"


def _format_vector(vector: Iterable[float]) -> str:
    return f"[{','.join(map(repr, map(float, vector)))}]"


def _format_table_name(location: IndexLocation, part: str = "") -> str:
    return f'{_SCHEMA}."{location.key}{part}"'


@dataclass(frozen=True, eq=False)
class _Database:
    """A database with synchronous calls; `source` is a connection or a pool of connections."""

    location: IndexLocation
    source: Any

    @classmethod
    def connect(cls, location: IndexLocation) -> Self:
        """Open one connection; close it after use."""
        connection = asyncpg.connect(
            location.address,
            password=os.environ.get(PASSWORD_VARIABLE),
            server_settings=_SESSION_SETTINGS,
            timeout=30,
            statement_cache_size=0,
        )
        return cls(location, _run_on_loop(location, connection))

    @classmethod
    def open_pool(cls, location: IndexLocation) -> Self:
        """Open a pool, for several threads at once; connections are opened when they are needed."""

        async def open_pool() -> Any:
            return await asyncpg.create_pool(
                location.address,
                password=os.environ.get(PASSWORD_VARIABLE),
                server_settings=_SESSION_SETTINGS,
                min_size=0,
                max_size=8,
            )

        return cls(location, _run_on_loop(location, open_pool()))

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        _run_on_loop(self.location, self.source.close())

    def run(self, work: Callable[[Any], Coroutine[Any, Any, Result]]) -> Result:
        """Call `work` with a connection of a pool; translate the driver's errors."""

        async def run() -> Result:
            async with self.source.acquire() as connection:
                return await work(connection)

        return _run_on_loop(self.location, run())

    def fetch(self, query: str, *arguments: object) -> list[Any]:
        """Return the rows of a query."""
        rows: list[Any] = _run_on_loop(self.location, self.source.fetch(query, *arguments))
        return rows

    def fetch_value(self, query: str, *arguments: object) -> Any:
        """Return the first value of the first row; None if there is no row."""
        return _run_on_loop(self.location, self.source.fetchval(query, *arguments))

    def execute(self, statements: str, *arguments: object) -> None:
        """Execute statements in one transaction."""
        _run_on_loop(self.location, self.source.execute(statements, *arguments))


class _DuplicateKeyError(ErrorReply):
    """Two rows have the same key."""

    def __init__(self, message: str, key: str) -> None:
        super().__init__(message)
        self.key = key


def _run_on_loop(location: IndexLocation, work: Coroutine[Any, Any, Result]) -> Result:
    """Run work on the event loop of the connections; translate the driver's errors into ours."""
    address = location.address
    future = asyncio.run_coroutine_threadsafe(work, _get_event_loop())
    try:
        return future.result()
    except (asyncpg.InvalidPasswordError, asyncpg.InvalidAuthorizationSpecificationError) as error:
        raise Unauthorised(
            f"{address}: {error}; set {PASSWORD_VARIABLE} (or PGPASSWORD)"
        ) from error
    except asyncpg.InvalidCatalogNameError as error:
        raise SetupError(f"{address}: {error}; create it with createdb") from error
    except asyncpg.InsufficientPrivilegeError as error:
        raise SetupError(f"{address}: {error}; ask an administrator to grant it") from error
    except (asyncpg.UndefinedTableError, asyncpg.InvalidSchemaNameError) as error:
        raise location.build_missing_error() from error
    except asyncpg.UniqueViolationError as error:
        key = str(error.detail).partition("=(")[2].rpartition(", ")[0]
        raise _DuplicateKeyError(f"{address}: {error}", key) from error
    except (OSError, asyncpg.PostgresConnectionError, asyncpg.InterfaceError) as error:
        raise Unreachable(
            f"{address}: no PostgreSQL server at "
            f"{(urlsplit(address).hostname or address)!r} answers ({error}); start it, or "
            "name another; the same call resumes an interrupted build"
        ) from error
    except asyncpg.PostgresError as error:
        raise ErrorReply(f"{address}: {error}") from error
    finally:
        future.cancel()  # after an interruption; else it is done


@cache
def _get_event_loop() -> asyncio.AbstractEventLoop:
    """Return the event loop of this process's database connections."""
    loop = asyncio.new_event_loop()
    threading.Thread(target=loop.run_forever, name="askgraph-postgresql", daemon=True).start()
    return loop
