"""The search indices of a graph: opened when first asked for, built if that cannot be done.

data/GRAPH/indices/entities/       the index, as its kind writes it
data/GRAPH/indices/entities.json   what it was built from; written last

An index is of one content of its graph, and of one setting: if either changes, it is built anew.
"""

import json
import logging
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass, replace
from datetime import UTC, datetime
from itertools import chain
from pathlib import Path
from typing import Any, Literal, cast

from askgraph import registry
from askgraph.errors import QueryError, SetupError
from askgraph.index import DiskIndex, Resource
from askgraph.index._server import Submit
from askgraph.index.names import Kind, NameIndex
from askgraph.metadata import Profile, load_profile, write_whole
from askgraph.metadata.resources import (
    asked_resources,
    named_resources,
    profile_classes,
    profile_properties,
)
from askgraph.workspace.data import (
    Ground,
    SourceFile,
    differs,
    fingerprint,
    known_snapshot,
    locked,
    open_endpoint,
)
from askgraph.workspace.synchronous import Progress, result_of

EMBEDDED = ("vector", "hybrid")
"""The kinds of index that embeddings are for."""
SERVERS = {
    "postgresql": "postgresql",
    "postgres": "postgresql",
    "https": "opensearch",
    "http": "opensearch",
}
"""The kind of index for each scheme of a server's address."""
_ROWS = (".tsv", ".tsv.gz")
_SECONDS = 3600.0  # of a query that finds what to index

_log = logging.getLogger("askgraph")


@dataclass(frozen=True)
class Made:
    """How an index was made: of which content of the graph, of what kind, from what, and when."""

    snapshot: str
    kind: str
    source: str
    embeddings: str | None
    files: tuple[SourceFile, ...]
    items: int
    created: str
    on: str | None = None


def index_folder(data: Path, key: str) -> Path:
    """Return the folder of an index below the data folder of its graph."""
    return data / "indices" / key


def made_of(data: Path, key: str) -> Made | None:
    """Return how an index was made, or None if there is none that is whole."""
    try:
        stored = json.loads(_note(data, key).read_text(encoding="utf-8"))
        files = tuple(SourceFile(**file) for file in stored.pop("files"))
        return Made(**stored, files=files)
    except (OSError, ValueError, KeyError, TypeError):
        return None


def open_index(ground: Ground, key: str) -> DiskIndex:
    """Open an index as the settings want it.

    Raises `SetupError` if there is none, if it is damaged, and if the graph, the settings
    or the files that it was built from have changed since.
    """
    made = made_of(ground.data, key)
    if made is None:
        raise SetupError(f"the index {key!r} of graph {ground.name!r} has not been built")
    if made.snapshot != ground.snapshot:
        raise SetupError(f"the index {key!r} is of an older content of graph {ground.name!r}")
    source, embeddings = source_for(ground, key).words, _embeddings(ground, key)
    wanted = (_kind(ground, key), source, embeddings, ground.settings.on)
    if (made.kind, made.source, made.embeddings, made.on) != wanted:
        raise SetupError(f"the index {key!r} of graph {ground.name!r} was built by other settings")
    for known in made.files:
        path = Path(known.path)
        if path.exists() and differs(known, path):
            raise SetupError(f"{path} has changed since the index {key!r} was built")
    return _plugin(made.kind).open(index_folder(ground.data, key))


@dataclass(frozen=True)
class Elsewhere:
    """Workers that write to the server of an index, `at_once` batches at a time."""

    submit: Submit
    at_once: int


def build_index(
    ground: Ground,
    key: str,
    *,
    progress: Progress | None = None,
    elsewhere: Elsewhere | None = None,
) -> DiskIndex:
    """Build an index as the settings say, in place of the one that is there.

    An older one stays until the new one is complete. Raises `SetupError` if a setting or a file
    is not sound, `ServiceError` if an endpoint or the server of the index fails.
    """
    with _alone(ground):
        return _built(ground, key, progress, elsewhere)


def ready_index(ground: Ground, key: str, progress: Progress | None) -> DiskIndex:
    """Open an index as the settings want it; build it first if that cannot be done."""
    try:
        return open_index(ground, key)
    except SetupError:
        pass
    with _alone(ground):
        try:
            return open_index(ground, key)  # another process may have built it
        except SetupError as problem:
            told = _log.warning if _note(ground.data, key).exists() else _log.info
            told("building the index %r of graph %r: %s", key, ground.name, problem)
        start = time.perf_counter()
        index = _built(ground, key, progress)
        seconds = time.perf_counter() - start
        _log.info(
            "the index %r of graph %r has %d items (%.1f s)", key, ground.name, len(index), seconds
        )
        return index


def _built(
    ground: Ground, key: str, progress: Progress | None, elsewhere: Elsewhere | None = None
) -> DiskIndex:
    _check_same(ground)
    kind, source = _kind(ground, key), source_for(ground, key)
    embeddings = _embeddings(ground, key)
    plugin, options = _plugin(kind), _options(kind, embeddings)
    resources = resources_for(ground, key, source)
    files = fingerprint(source.files)
    if ground.settings.on is not None:
        content = json.dumps([ground.snapshot, source.words, [asdict(file) for file in files]])
        options |= {"on": ground.settings.on, "name": f"{ground.name} {key}", "source": content}
        options |= vars(elsewhere) if elsewhere else {}
    folder = index_folder(ground.data, key)
    try:
        index = plugin.build(
            resources, folder, progress=_counter(ground, key, source.words, progress), **options
        )
        made = Made(
            snapshot=ground.snapshot,
            kind=kind,
            source=source.words,
            embeddings=embeddings,
            files=files,
            items=len(index),
            created=datetime.now(UTC).isoformat(timespec="seconds"),
            on=ground.settings.on,
        )
        write_whole(_note(ground.data, key), json.dumps(asdict(made)))
    except OSError as error:
        _check_same(ground)
        raise SetupError(
            f"the index {key!r} of {ground.name!r} cannot be built: {error}"
        ) from error
    return index


def _check_same(ground: Ground) -> None:
    """Only the content that the graph was opened with may be indexed beside it."""
    profile = load_profile(ground.data / "profile.json")
    if known_snapshot(ground.data, profile) != ground.snapshot:
        raise SetupError(f"graph {ground.name!r} was built anew since it was opened: open it again")


def _kind(ground: Ground, key: str) -> str:
    if ground.settings.on is not None:
        return server_kind(ground.settings.on)
    return "keyword" if key == "literals" else ground.settings.index


def _embeddings(ground: Ground, key: str) -> str | None:
    return None if key == "literals" else ground.settings.embeddings


def server_kind(address: str) -> str:
    """Return the kind of the indices that the server at an address holds."""
    kind = SERVERS.get(address.partition("://")[0])
    if kind is None:
        raise SetupError(
            f"{address!r} is no server of indices; name postgresql://USER@HOST/DATABASE or "
            "https://HOST:PORT (OpenSearch)"
        )
    return kind


def _plugin(kind: str) -> type[DiskIndex]:
    if kind not in registry.names("index"):
        kinds = ", ".join(registry.names("index"))
        raise SetupError(f"{kind!r} is no kind of index; there are {kinds}")
    return cast("type[DiskIndex]", registry.load("index", kind))


def _options(kind: str, embeddings: str | None) -> dict[str, Any]:
    """What `build` of a kind takes besides the resources."""
    if embeddings is None:
        return {}
    if kind not in (*EMBEDDED, *SERVERS.values()):
        raise SetupError(
            f"an index of kind {kind!r} has no embeddings; {' and '.join(EMBEDDED)} have"
        )
    from askgraph.index.embeddings import embedder_of

    own = {"embedder": embedder_of(embeddings)}
    if kind != "hybrid":
        return own
    return {"kinds": ("keyword", "vector"), "options": {"vector": own}}


def _counter(
    ground: Ground, key: str, source: str, progress: Progress | None
) -> Callable[[int], None] | None:
    if progress is None:
        return None
    total = None
    if source == "graph" and key == "entities" and ground.arrays is not None:
        total = ground.arrays.terms.first_blank - ground.arrays.terms.first_iri
    return lambda done: progress(f"indexing {key}", done, total)


def _note(data: Path, key: str) -> Path:
    folder = index_folder(data, key)
    return folder.with_name(f"{key}.json")


@contextmanager
def _alone(ground: Ground) -> Iterator[None]:
    """Let one process at a time build indices of a graph."""
    try:
        with locked(ground.data.parent / ".locks" / f"{ground.data.name}~indices"):
            yield
    except OSError as error:
        raise SetupError(
            f"the indices of graph {ground.name!r} have to be built, but {ground.data} cannot be "
            f"written: {error.strerror or error}; make it writable, or let somebody who may write "
            f"there run: askgraph index build {ground.name}"
        ) from error


@dataclass(frozen=True)
class Source:
    """The source of an index's resources, by kind, and by name or files."""

    kind: Literal["graph", "queries", "query", "rows", "dump"]
    name: str = ""
    files: tuple[Path, ...] = ()

    @property
    def words(self) -> str:
        """The source in words; equal ones are the same source."""
        if self.kind == "queries":
            return f"queries {self.name}"
        return " ".join((self.kind, *map(str, self.files)))


def source_for(ground: Ground, key: str) -> Source:
    """Return the source of an index as the settings say; `SetupError` for what is none."""
    settings = ground.settings
    named = {"entities": settings.entities, "properties": settings.properties}.get(key)
    if named is None and settings.dump and key != "literals":
        return Source("dump", files=tuple(map(ground.file, settings.dump)))
    if named is None or named == "graph":
        return Source("graph")

    from askgraph.index.sources import graphs  # few graphs have them

    if named == "default" or named in graphs():
        return Source("queries", named)
    if "." not in Path(named).name and len(Path(named).parts) < 2:
        raise SetupError(
            f"{named!r} is no source of {key}: name 'graph' (what is known of it), a set of "
            f"queries (default, {', '.join(graphs())}), or a file: a query (.rq), rows "
            "(.tsv), or an RDF dump"
        )
    file = ground.file(named)
    kind: Literal["query", "rows", "dump"] = "query" if file.suffix == ".rq" else "dump"
    return Source("rows" if file.name.endswith(_ROWS) else kind, files=(file,))


def resources_for(ground: Ground, key: str, source: Source) -> Iterator[Resource]:
    """Give the resources of an index; classes are always among the entities.

    Raises `SetupError` for a file that cannot be read, `ServiceError` if an endpoint fails.
    """
    if source.kind == "graph":
        return _known(ground, key)
    for file in source.files:
        if not file.is_file():
            raise SetupError(f"there is no file {str(file)!r} to build the index {key!r} from")
    found = _read(ground, key, source)
    return iter(found) if key == "properties" else _with_classes(found, ground.profile)


def _known(ground: Ground, key: str) -> Iterator[Resource]:
    if ground.arrays is not None:
        from askgraph.metadata import nodes  # an index is built once and opened often

        read = {"entities": nodes.entity_resources, "properties": nodes.property_resources}
        return read.get(key, nodes.literal_resources)(ground.arrays, ground.profile)
    match key:
        case "entities":
            return chain(profile_classes(ground.profile), _named(ground.names, Kind.ENTITY))
        case "properties":
            return profile_properties(ground.profile)
        case _:
            return _named(ground.names, Kind.VALUE)


def _named(names: NameIndex, kind: Kind) -> Iterator[Resource]:
    wanted = (at for at, found in enumerate(names.kinds) if found == kind)
    return named_resources((names.name(at) for at in wanted), [kind])


def _read(ground: Ground, key: str, source: Source) -> Iterable[Resource]:
    if source.kind == "rows":
        from askgraph.index.sources import read_tsv

        return read_tsv(source.files[0])
    if source.kind == "dump":
        from askgraph.index.sources import dump

        read = dump.properties_of_dump if key == "properties" else dump.entities_of_dump
        return read(source.files)

    query = _query(key, source)
    try:
        found = result_of(_asked(ground, query))
    except QueryError as error:
        raise SetupError(f"{source.words}: {error}") from error
    if not found:
        raise SetupError(
            f"{source.words}: it finds no {key} in graph {ground.name!r}; 'default' finds some in "
            "any graph with labels or types"
        )
    return found


def _query(key: str, source: Source) -> str:
    if source.kind == "query":
        try:
            return source.files[0].read_text(encoding="utf-8-sig")
        except (OSError, UnicodeDecodeError) as error:
            raise SetupError(f"the query {source.files[0]} cannot be read: {error}") from error

    from askgraph.index.sources import entities_query, properties_query

    read = properties_query if key == "properties" else entities_query
    return read(None if source.name == "default" else source.name)


async def _asked(ground: Ground, query: str) -> list[Resource]:
    patient = replace(ground.settings, timeout=max(_SECONDS, ground.settings.timeout), cache_mb=0)
    endpoint = open_endpoint(
        patient, ground.data, cache=ground.data, prefixes=dict(ground.profile.prefixes)
    )
    try:
        return [resource async for resource in asked_resources(endpoint, query)]
    finally:
        await endpoint.close()


def _with_classes(resources: Iterable[Resource], profile: Profile) -> Iterator[Resource]:
    missing = {cls.iri for cls in profile.classes}
    for resource in resources:
        missing.discard(resource.iri)
        yield resource
    yield from (cls for cls in profile_classes(profile) if cls.iri in missing)
