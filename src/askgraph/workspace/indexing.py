"""Indexing: the search indices of a graph built, one process at a time, from what settings name."""

import json
import logging
import shutil
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass, replace
from datetime import UTC, datetime
from itertools import chain
from typing import Any

from askgraph.atomic_files import locked, refused, write_whole
from askgraph.errors import QueryError, SetupError
from askgraph.graph import nodes
from askgraph.graph.nodes import (
    asked_resources,
    named_resources,
    profile_classes,
    profile_properties,
)
from askgraph.graph.profile import Profile, load_profile
from askgraph.index import DiskIndex, Resource
from askgraph.index._server import Submit
from askgraph.index.names import Kind, NameIndex
from askgraph.index.sources import (
    entities_of_dump,
    entities_query,
    properties_of_dump,
    properties_query,
    read_tsv,
)
from askgraph.workspace.graph_data import Ground, fingerprint, known_snapshot, open_endpoint
from askgraph.workspace.indices import (
    EMBEDDED,
    SERVERS,
    Made,
    Source,
    comments_in,
    embeddings_of,
    index_folder,
    kind_of,
    note_of,
    open_index,
    plugin_of,
    source_for,
)
from askgraph.workspace.run_sync import Progress, result_of

_SECONDS = 3600.0  # of a query that finds what to index

_log = logging.getLogger("askgraph")


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
            told = _log.warning if note_of(ground.data, key).exists() else _log.info
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
    kind, source = kind_of(ground, key), source_for(ground, key)
    embeddings = embeddings_of(ground, key)
    plugin, options = plugin_of(kind), _options(kind, embeddings)
    resources = resources_for(ground, key, source)
    comments = comments_in(ground, key)
    if comments:
        resources = map(_with_comment, resources)
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
            comments=comments,
        )
        for old in index_folder(ground.data, "kept").glob(f"bm25-{key}~*"):  # of what it was before
            shutil.rmtree(old, ignore_errors=True)
        write_whole(note_of(ground.data, key), json.dumps(asdict(made)))
    except OSError as error:
        _check_same(ground)
        what = f"the index {key!r} of {ground.name!r} cannot be built"
        raise refused(what, error) from error
    return index


def _with_comment(resource: Resource) -> Resource:
    """A resource with its label and what describes it as one more name."""
    if not resource.infos:
        return resource
    told = f"{resource.label}: {'; '.join(resource.infos)}"
    return replace(resource, synonyms=(*resource.synonyms, told))


def _check_same(ground: Ground) -> None:
    """Only the content that the graph was opened with may be indexed beside it."""
    profile = load_profile(ground.data / "profile.json")
    if known_snapshot(ground.data, profile) != ground.snapshot:
        raise SetupError(f"graph {ground.name!r} was built anew since it was opened: open it again")


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


def resources_for(ground: Ground, key: str, source: Source) -> Iterator[Resource]:
    """Give the resources of an index; classes are always among the entities.

    Raises `SetupError` for a file that cannot be read, `ServiceError` if an endpoint fails.
    """
    if source.kind == "graph":
        if ground.arrays is not None:
            read = {"entities": nodes.entity_resources, "properties": nodes.property_resources}
            return read.get(key, nodes.literal_resources)(ground.arrays, ground.profile)
        match key:
            case "entities":
                return chain(profile_classes(ground.profile), _named(ground.names, Kind.ENTITY))
            case "properties":
                return profile_properties(ground.profile)
            case _:
                return _named(ground.names, Kind.VALUE)
    for file in source.files:
        if not file.is_file():
            raise SetupError(f"there is no file {str(file)!r} to build the index {key!r} from")
    found = _read(ground, key, source)
    return iter(found) if key == "properties" else _with_classes(found, ground.profile)


def _named(names: NameIndex, kind: Kind) -> Iterator[Resource]:
    wanted = (at for at, found in enumerate(names.kinds) if found == kind)
    return named_resources((names.name(at) for at in wanted), [kind])


def _read(ground: Ground, key: str, source: Source) -> Iterable[Resource]:
    if source.kind == "rows":
        return read_tsv(source.files[0])
    if source.kind == "dump":
        read = properties_of_dump if key == "properties" else entities_of_dump
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
