"""Build the search indices of a graph, one process at a time, from the sources in its settings.

data/GRAPH/indices/entities/       the index in the format of its kind
data/GRAPH/indices/entities.json   its record; written last

An index belongs to one content of its graph and one setting; if either changes, it is rebuilt.
"""

import json
import logging
import shutil
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict, dataclass, replace
from datetime import UTC, datetime
from itertools import chain
from pathlib import Path
from typing import Any, Literal, cast

from askgraph import plugins
from askgraph.atomic_files import lock_file, to_setup_error, write_text_atomically
from askgraph.errors import QueryError, SetupError
from askgraph.graph import nodes
from askgraph.graph.profile import Profile, load_profile
from askgraph.index import DiskIndex, Resource, sources
from askgraph.index._server import SubmitBatch
from askgraph.index.names import ItemKind, NameIndex
from askgraph.workspace.graph_data import (
    IndexContext,
    SourceFile,
    compute_snapshot,
    fingerprint_files,
    has_changed,
    open_endpoint,
)
from askgraph.workspace.run_sync import Progress, run_coroutine

EMBEDDING_KINDS = ("vector", "hybrid")
"""The kinds of index that use embeddings."""
KIND_BY_SCHEME = {
    "postgresql": "postgresql",
    "postgres": "postgresql",
    "https": "opensearch",
    "http": "opensearch",
}
"""The kind of index for each scheme of a server's address."""
_QUERY_TIMEOUT_SECONDS = 3600.0  # of a query that finds what to index

_log = logging.getLogger("askgraph")

SourceKind = Literal["graph", "queries", "query", "rows", "dump"]
_SOURCE_KIND_BY_SUFFIX: Mapping[str, SourceKind] = {
    ".tsv": "rows", ".jsonl": "rows", ".rq": "query", ".sparql": "query",
}  # fmt: skip


@dataclass(frozen=True)
class IndexSource:
    """The source of an index's resources, by kind, and by name or files."""

    kind: SourceKind
    name: str = ""
    files: tuple[Path, ...] = ()

    @property
    def description(self) -> str:
        """The source in words; equal words mean the same source."""
        if self.kind == "queries":
            return f"queries {self.name}"
        return " ".join((self.kind, *map(str, self.files)))


@dataclass(frozen=True)
class IndexSpec:
    """An index as the settings request it: its kind and its source.

    `embeddings` names the model for its names, if any; `on` is the address of the server
    that holds it; with `comments`, descriptions are searched too.
    """

    kind: str
    source: IndexSource
    embeddings: str | None
    on: str | None
    comments: bool


@dataclass(frozen=True)
class IndexRecord:
    """The record of an index: the content of the graph, the kind, the source and the date."""

    snapshot: str
    kind: str
    source: str
    embeddings: str | None
    files: tuple[SourceFile, ...]
    items: int
    created: str
    on: str | None = None
    comments: bool = False


@dataclass(frozen=True)
class IndexWorkers:
    """Workers that write to the server of an index, `at_once` batches at a time."""

    submit: SubmitBatch
    at_once: int


def get_index_folder(data: Path, key: str) -> Path:
    """Return the folder of an index below the data folder of its graph."""
    return data / "indices" / key


def get_record_file(data: Path, key: str) -> Path:
    """Return the file with the record of an index."""
    return get_index_folder(data, key).with_name(f"{key}.json")


def load_record(data: Path, key: str) -> IndexRecord | None:
    """Return the record of an index, or None if the index is missing or incomplete."""
    try:
        fields = json.loads(get_record_file(data, key).read_text(encoding="utf-8"))
        files = tuple(SourceFile(**file) for file in fields.pop("files"))
        return IndexRecord(**fields, files=files)
    except (OSError, ValueError, KeyError, TypeError):
        return None


def get_server_kind(address: str) -> str:
    """Return the kind of the indices on the server at an address."""
    kind = KIND_BY_SCHEME.get(address.partition("://")[0])
    if kind is None:
        raise SetupError(
            f"{address!r} is not the address of an index server; name "
            "postgresql://USER@HOST/DATABASE or https://HOST:PORT (OpenSearch)"
        )
    return kind


def build_index_spec(context: IndexContext, key: str) -> IndexSpec:
    """Return an index as the settings request it; `SetupError` for an invalid source."""
    settings, literals = context.settings, key == "literals"
    properties_kind = settings.properties_index if key == "properties" else None
    kind = "keyword" if literals else properties_kind or settings.index
    if settings.on is not None:
        kind = get_server_kind(settings.on)
    embeddings = None if literals else settings.embeddings
    if settings.properties_index and kind not in EMBEDDING_KINDS:
        embeddings = None  # they are for another index
    comments = settings.comments and not literals
    return IndexSpec(kind, _choose_source(context, key), embeddings, settings.on, comments)


def _choose_source(context: IndexContext, key: str) -> IndexSource:
    settings = context.settings
    source_name = {"entities": settings.entities, "properties": settings.properties}.get(key)
    if source_name is None and settings.dump and key != "literals":
        return IndexSource("dump", files=tuple(map(context.resolve_path, settings.dump)))
    if source_name is None or source_name == "graph":
        return IndexSource("graph")
    if source_name == "default" or source_name in sources.list_graphs():
        return IndexSource("queries", source_name)
    if "." not in Path(source_name).name and len(Path(source_name).parts) < 2:
        raise SetupError(
            f"{source_name!r} is not a source of {key}: name 'graph' (its profile), a set "
            f"of queries (default, {', '.join(sources.list_graphs())}), or a file: a query (.rq), "
            "rows (.tsv, .jsonl), or an RDF dump"
        )
    file = context.resolve_path(source_name)
    if file.is_dir():  # of GRASP's index data: of all of a graph or of this index
        file = next((path for path in (file / key, file) if path.is_dir()), file) / "data.jsonl"
    suffix = file.with_suffix("").suffix if file.suffix == ".gz" else file.suffix
    return IndexSource(_SOURCE_KIND_BY_SUFFIX.get(suffix, "dump"), files=(file,))


def _check_current(context: IndexContext, key: str) -> str:
    """Return the kind of an index that matches the settings; raise `SetupError` otherwise."""
    record = load_record(context.data, key)
    if record is None or not get_index_folder(context.data, key).is_dir():
        raise SetupError(f"the index {key!r} of graph {context.name!r} has not been built")
    if record.snapshot != context.snapshot:
        raise SetupError(f"the index {key!r} is older than the content of graph {context.name!r}")
    spec = build_index_spec(context, key)
    expected = (spec.kind, spec.source.description, spec.embeddings, spec.on, spec.comments)
    if (record.kind, record.source, record.embeddings, record.on, record.comments) != expected:
        raise SetupError(
            f"the index {key!r} of graph {context.name!r} was built with other settings"
        )
    for source_file in record.files:
        path = Path(source_file.path)
        if path.exists() and has_changed(source_file, path):
            raise SetupError(f"{path} has changed since the index {key!r} was built")
    return record.kind


def open_index(context: IndexContext, key: str) -> DiskIndex:
    """Open an index; `SetupError` if it is out of date or damaged."""
    return _load_kind(_check_current(context, key)).open(get_index_folder(context.data, key))


def has_index(context: IndexContext, key: str) -> bool:
    """Return whether an index that matches the settings exists; it is not opened."""
    try:
        _check_current(context, key)
    except SetupError:
        return False
    return True


def _load_kind(kind: str) -> type[DiskIndex]:
    if kind not in plugins.list_names("index"):
        kinds = ", ".join(plugins.list_names("index"))
        raise SetupError(f"{kind!r} is not a kind of index; available: {kinds}")
    return cast("type[DiskIndex]", plugins.load("index", kind))


def build_index(
    context: IndexContext,
    key: str,
    *,
    progress: Progress | None = None,
    workers: IndexWorkers | None = None,
) -> DiskIndex:
    """Build an index from the settings, replacing an older one once complete.

    Raises:
        SetupError: a setting or a file is invalid.
        ServiceError: an endpoint or the server of the index failed.
    """
    with _lock_indices(context):
        return _build_locked(context, key, progress, workers)


def open_or_build_index(context: IndexContext, key: str, progress: Progress | None) -> DiskIndex:
    """Open an index; build it first if it is missing, out of date or damaged."""
    try:
        return open_index(context, key)
    except SetupError:
        pass
    with _lock_indices(context):
        try:
            return open_index(context, key)  # another process may have built it
        except SetupError as problem:
            log = _log.warning if get_record_file(context.data, key).exists() else _log.info
            log("building the index %r of graph %r: %s", key, context.name, problem)
        start = time.perf_counter()
        index = _build_locked(context, key, progress)
        seconds = time.perf_counter() - start
        _log.info(
            "the index %r of graph %r has %d items (%.1f s)", key, context.name, len(index), seconds
        )
        return index


def _build_locked(
    context: IndexContext, key: str, progress: Progress | None, workers: IndexWorkers | None = None
) -> DiskIndex:
    _check_unchanged(context)
    spec, folder = build_index_spec(context, key), get_index_folder(context.data, key)
    plugin, options = _load_kind(spec.kind), _build_embedding_options(spec)
    resources = iterate_resources(context, key, spec.source)
    if spec.comments:
        resources = (
            replace(item, synonyms=(*item.synonyms, f"{item.label}: {'; '.join(item.infos)}"))
            if item.infos
            else item
            for item in resources
        )
    files = fingerprint_files(spec.source.files)
    if spec.on is not None:
        content = [context.snapshot, spec.source.description, [asdict(file) for file in files]]
        options |= {"on": spec.on, "name": f"{context.name} {key}", "source": json.dumps(content)}
        options |= vars(workers) if workers else {}
    report_count = progress and _create_counter(context, key, spec.source, progress)
    try:
        index = plugin.build(resources, folder, progress=report_count, **options)
        record = IndexRecord(
            snapshot=context.snapshot,
            kind=spec.kind,
            source=spec.source.description,
            embeddings=spec.embeddings,
            files=files,
            items=len(index),
            created=datetime.now(UTC).isoformat(timespec="seconds"),
            on=spec.on,
            comments=spec.comments,
        )
        for old in get_index_folder(context.data, "kept").glob(
            f"bm25-{key}~*"
        ):  # files of earlier versions
            shutil.rmtree(old, ignore_errors=True)
        write_text_atomically(get_record_file(context.data, key), json.dumps(asdict(record)))
    except OSError as error:
        _check_unchanged(context)
        failure = f"the index {key!r} of {context.name!r} cannot be built"
        raise to_setup_error(failure, error) from error
    return index


def _check_unchanged(context: IndexContext) -> None:
    """Raise `SetupError` if the graph was rebuilt since it was opened."""
    profile = load_profile(context.data / "profile.json")
    if compute_snapshot(context.data, profile) != context.snapshot:
        raise SetupError(f"graph {context.name!r} was rebuilt after it was opened: open it again")


def _build_embedding_options(spec: IndexSpec) -> dict[str, Any]:
    if spec.embeddings is None:
        return {}
    if spec.kind not in (*EMBEDDING_KINDS, *KIND_BY_SCHEME.values()):
        raise SetupError(
            f"an index of kind {spec.kind!r} has no embeddings; choose "
            f"{' or '.join(EMBEDDING_KINDS)}"
        )
    from askgraph.index.embeddings import create_embedder

    options = {"embedder": create_embedder(spec.embeddings)}
    if spec.kind != "hybrid":
        return options
    return {"kinds": ("keyword", "vector"), "options": {"vector": options}}


def _create_counter(
    context: IndexContext, key: str, source: IndexSource, progress: Progress
) -> Callable[[int], None]:
    total = None
    if source.kind == "graph" and key == "entities" and context.arrays is not None:
        total = context.arrays.terms.first_blank - context.arrays.terms.first_iri
    return lambda done: progress(f"indexing {key}", done, total)


@contextmanager
def _lock_indices(context: IndexContext) -> Iterator[None]:
    """Let one process at a time build indices of a graph."""
    try:
        with lock_file(context.data.parent / ".locks" / f"{context.data.name}~indices"):
            yield
    except OSError as error:
        raise SetupError(
            f"the indices of graph {context.name!r} must be built, but {context.data} "
            f"cannot be written: {error.strerror or error}; make it writable, or ask "
            f"someone with write access to run: askgraph index build {context.name}"
        ) from error


def iterate_resources(context: IndexContext, key: str, source: IndexSource) -> Iterator[Resource]:
    """Yield the resources of an index; classes are always among the entities.

    Raises:
        SetupError: a file cannot be read.
        ServiceError: an endpoint failed.
    """
    if source.kind == "graph":
        if context.arrays is not None:
            readers = {"entities": nodes.iterate_entities, "properties": nodes.iterate_properties}
            return readers.get(key, nodes.iterate_literals)(context.arrays, context.profile)
        match key:
            case "entities":
                named_entities = _iterate_named(context.names, ItemKind.ENTITY)
                return chain(nodes.iterate_profile_classes(context.profile), named_entities)
            case "properties":
                return nodes.iterate_profile_properties(context.profile)
            case _:
                return _iterate_named(context.names, ItemKind.VALUE)
    for file in source.files:
        if not file.is_file():
            raise SetupError(f"there is no file {str(file)!r} to build the index {key!r} from")
    properties = key == "properties"
    resources: Iterable[Resource]
    if source.kind == "rows":
        resources = sources.read_table(source.files[0])
    elif source.kind == "dump":
        resources = sources.read_dump(source.files, properties=properties)
    else:
        resources = _query_resources(context, key, source)
    return iter(resources) if properties else _append_classes(resources, context.profile)


def _iterate_named(names: NameIndex, kind: ItemKind) -> Iterator[Resource]:
    positions = (position for position, name_kind in enumerate(names.kinds) if name_kind == kind)
    return nodes.iterate_named_resources(
        (names.read_name(position) for position in positions), [kind]
    )


def _query_resources(context: IndexContext, key: str, source: IndexSource) -> list[Resource]:
    if source.kind == "query":
        try:
            query = source.files[0].read_text(encoding="utf-8-sig")
        except (OSError, UnicodeDecodeError) as error:
            raise SetupError(f"the query {source.files[0]} cannot be read: {error}") from error
    else:
        query = sources.load_query(key, None if source.name == "default" else source.name)
    seconds = max(_QUERY_TIMEOUT_SECONDS, context.settings.timeout)
    patient_settings = replace(context.settings, timeout=seconds, cache_mb=0)
    endpoint = open_endpoint(
        patient_settings, context.data, cache=context.data, prefixes=dict(context.profile.prefixes)
    )

    async def collect() -> list[Resource]:
        try:
            return [resource async for resource in nodes.query_resources(endpoint, query)]
        finally:
            await endpoint.close()

    try:
        resources = run_coroutine(collect())
    except QueryError as error:
        raise SetupError(f"{source.description}: {error}") from error
    if not resources:
        raise SetupError(
            f"{source.description}: finds no {key} in graph {context.name!r}; use "
            "'default' for graphs with labels or types"
        )
    return resources


def _append_classes(resources: Iterable[Resource], profile: Profile) -> Iterator[Resource]:
    missing = {class_resource.iri for class_resource in profile.classes}
    for resource in resources:
        missing.discard(resource.iri)
        yield resource
    yield from (cls for cls in nodes.iterate_profile_classes(profile) if cls.iri in missing)
