"""The search indices of a graph: built, one process at a time, from what its settings name.

data/GRAPH/indices/entities/       the index, as its kind writes it
data/GRAPH/indices/entities.json   what it was built from; written last

An index is of one content of its graph, and of one setting: if either changes, it is built anew.
"""

import json
import logging
import shutil
import time
from collections.abc import Callable, Iterable, Iterator
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
from askgraph.graph.nodes import (
    iterate_named_resources,
    iterate_profile_classes,
    iterate_profile_properties,
    query_resources,
)
from askgraph.graph.profile import Profile, load_profile
from askgraph.index import DiskIndex, Resource
from askgraph.index._server import Submit
from askgraph.index.names import Kind, NameIndex
from askgraph.index.sources import (
    entities_of_dump,
    graphs,
    properties_of_dump,
    query_for,
    read_tsv,
)
from askgraph.workspace.graph_data import (
    Ground,
    SourceFile,
    differs,
    fingerprint,
    known_snapshot,
    open_endpoint,
)
from askgraph.workspace.run_sync import Progress, result_of

EMBEDDED = ("vector", "hybrid")
"""The kinds of index that embeddings are for."""
SERVERS = {
    "postgresql": "postgresql",
    "postgres": "postgresql",
    "https": "opensearch",
    "http": "opensearch",
}
"""The kind of index for each scheme of a server's address."""
_QUERY_SECONDS = 3600.0  # of a query that finds what to index

_log = logging.getLogger("askgraph")


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


@dataclass(frozen=True)
class IndexSpec:
    """An index as the settings want it: its kind and what it is built from.

    `embeddings` embed its names, if any do; `on` is the address of the server that holds it; with
    `comments` it is searched by what describes a thing, too.
    """

    kind: str
    source: Source
    embeddings: str | None
    on: str | None
    comments: bool


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
    comments: bool = False


@dataclass(frozen=True)
class Elsewhere:
    """Workers that write to the server of an index, `at_once` batches at a time."""

    submit: Submit
    at_once: int


def index_folder(data: Path, key: str) -> Path:
    """Return the folder of an index below the data folder of its graph."""
    return data / "indices" / key


def note_of(data: Path, key: str) -> Path:
    """Return the file that says how an index was made."""
    return index_folder(data, key).with_name(f"{key}.json")


def made_of(data: Path, key: str) -> Made | None:
    """Return how an index was made, or None if there is none that is whole."""
    try:
        stored = json.loads(note_of(data, key).read_text(encoding="utf-8"))
        files = tuple(SourceFile(**file) for file in stored.pop("files"))
        return Made(**stored, files=files)
    except (OSError, ValueError, KeyError, TypeError):
        return None


def server_kind(address: str) -> str:
    """Return the kind of the indices that the server at an address holds."""
    kind = SERVERS.get(address.partition("://")[0])
    if kind is None:
        raise SetupError(
            f"{address!r} is no server of indices; name postgresql://USER@HOST/DATABASE or "
            "https://HOST:PORT (OpenSearch)"
        )
    return kind


def wanted_index(ground: Ground, key: str) -> IndexSpec:
    """Return an index as the settings want it; `SetupError` for what is no source of one."""
    settings, literals = ground.settings, key == "literals"
    own = settings.properties_index if key == "properties" else None
    kind = "keyword" if literals else own or settings.index
    if settings.on is not None:
        kind = server_kind(settings.on)
    embeddings = None if literals else settings.embeddings
    if settings.properties_index and kind not in EMBEDDED:
        embeddings = None  # they are for the other one
    comments = settings.comments and not literals
    return IndexSpec(kind, _wanted_source(ground, key), embeddings, settings.on, comments)


def _wanted_source(ground: Ground, key: str) -> Source:
    settings = ground.settings
    named = {"entities": settings.entities, "properties": settings.properties}.get(key)
    if named is None and settings.dump and key != "literals":
        return Source("dump", files=tuple(map(ground.file, settings.dump)))
    if named is None or named == "graph":
        return Source("graph")
    if named == "default" or named in graphs():
        return Source("queries", named)
    if "." not in Path(named).name and len(Path(named).parts) < 2:
        raise SetupError(
            f"{named!r} is no source of {key}: name 'graph' (what is known of it), a set of "
            f"queries (default, {', '.join(graphs())}), or a file: a query (.rq), rows "
            "(.tsv), or an RDF dump"
        )
    file = ground.file(named)
    if file.name.endswith((".tsv", ".tsv.gz")):
        return Source("rows", files=(file,))
    return Source("query" if file.suffix == ".rq" else "dump", files=(file,))


def _check_fit(ground: Ground, key: str) -> str:
    """Return the kind of an index that fits what the settings want.

    Raises `SetupError` if there is none, and if the graph, the settings or the files that it was
    built from have changed since.
    """
    made = made_of(ground.data, key)
    if made is None or not index_folder(ground.data, key).is_dir():
        raise SetupError(f"the index {key!r} of graph {ground.name!r} has not been built")
    if made.snapshot != ground.snapshot:
        raise SetupError(f"the index {key!r} is of an older content of graph {ground.name!r}")
    spec = wanted_index(ground, key)
    wanted = (spec.kind, spec.source.words, spec.embeddings, spec.on, spec.comments)
    if (made.kind, made.source, made.embeddings, made.on, made.comments) != wanted:
        raise SetupError(f"the index {key!r} of graph {ground.name!r} was built by other settings")
    for known in made.files:
        path = Path(known.path)
        if path.exists() and differs(known, path):
            raise SetupError(f"{path} has changed since the index {key!r} was built")
    return made.kind


def open_index(ground: Ground, key: str) -> DiskIndex:
    """Open an index as the settings want it; `SetupError` if it does not fit or is damaged."""
    kind = _check_fit(ground, key)
    return _load_kind(kind).open(index_folder(ground.data, key))


def is_there(ground: Ground, key: str) -> bool:
    """Whether there is an index as the settings want it; it is not opened."""
    try:
        _check_fit(ground, key)
    except SetupError:
        return False
    return True


def _load_kind(kind: str) -> type[DiskIndex]:
    if kind not in plugins.list_names("index"):
        kinds = ", ".join(plugins.list_names("index"))
        raise SetupError(f"{kind!r} is no kind of index; there are {kinds}")
    return cast("type[DiskIndex]", plugins.load("index", kind))


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
        return _build(ground, key, progress, elsewhere)


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
        index = _build(ground, key, progress)
        seconds = time.perf_counter() - start
        _log.info(
            "the index %r of graph %r has %d items (%.1f s)", key, ground.name, len(index), seconds
        )
        return index


def _build(
    ground: Ground, key: str, progress: Progress | None, elsewhere: Elsewhere | None = None
) -> DiskIndex:
    _check_same(ground)
    spec, folder = wanted_index(ground, key), index_folder(ground.data, key)
    plugin, options = _load_kind(spec.kind), _embedding_options(spec)
    resources = resources_for(ground, key, spec.source)
    if spec.comments:
        resources = map(_with_comment, resources)
    files = fingerprint(spec.source.files)
    if spec.on is not None:
        content = [ground.snapshot, spec.source.words, [asdict(file) for file in files]]
        options |= {"on": spec.on, "name": f"{ground.name} {key}", "source": json.dumps(content)}
        options |= vars(elsewhere) if elsewhere else {}
    tell = progress and _counter(ground, key, spec.source, progress)
    try:
        index = plugin.build(resources, folder, progress=tell, **options)
        made = Made(
            snapshot=ground.snapshot,
            kind=spec.kind,
            source=spec.source.words,
            embeddings=spec.embeddings,
            files=files,
            items=len(index),
            created=datetime.now(UTC).isoformat(timespec="seconds"),
            on=spec.on,
            comments=spec.comments,
        )
        for old in index_folder(ground.data, "kept").glob(f"bm25-{key}~*"):  # of what it was before
            shutil.rmtree(old, ignore_errors=True)
        write_text_atomically(note_of(ground.data, key), json.dumps(asdict(made)))
    except OSError as error:
        _check_same(ground)
        what = f"the index {key!r} of {ground.name!r} cannot be built"
        raise to_setup_error(what, error) from error
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


def _embedding_options(spec: IndexSpec) -> dict[str, Any]:
    """What `build` of a kind takes for embeddings."""
    if spec.embeddings is None:
        return {}
    if spec.kind not in (*EMBEDDED, *SERVERS.values()):
        raise SetupError(
            f"an index of kind {spec.kind!r} has no embeddings; {' and '.join(EMBEDDED)} have"
        )
    from askgraph.index.embeddings import embedder_of

    own = {"embedder": embedder_of(spec.embeddings)}
    if spec.kind != "hybrid":
        return own
    return {"kinds": ("keyword", "vector"), "options": {"vector": own}}


def _counter(ground: Ground, key: str, source: Source, progress: Progress) -> Callable[[int], None]:
    total = None
    if source.kind == "graph" and key == "entities" and ground.arrays is not None:
        total = ground.arrays.terms.first_blank - ground.arrays.terms.first_iri
    return lambda done: progress(f"indexing {key}", done, total)


@contextmanager
def _alone(ground: Ground) -> Iterator[None]:
    """Let one process at a time build indices of a graph."""
    try:
        with lock_file(ground.data.parent / ".locks" / f"{ground.data.name}~indices"):
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
            read = {"entities": nodes.iterate_entities, "properties": nodes.iterate_properties}
            return read.get(key, nodes.iterate_literals)(ground.arrays, ground.profile)
        match key:
            case "entities":
                named = _named(ground.names, Kind.ENTITY)
                return chain(iterate_profile_classes(ground.profile), named)
            case "properties":
                return iterate_profile_properties(ground.profile)
            case _:
                return _named(ground.names, Kind.VALUE)
    for file in source.files:
        if not file.is_file():
            raise SetupError(f"there is no file {str(file)!r} to build the index {key!r} from")
    properties = key == "properties"
    found: Iterable[Resource]
    if source.kind == "rows":
        found = read_tsv(source.files[0])
    elif source.kind == "dump":
        found = (properties_of_dump if properties else entities_of_dump)(source.files)
    else:
        found = _ask_resources(ground, key, source)
    return iter(found) if properties else _with_classes(found, ground.profile)


def _named(names: NameIndex, kind: Kind) -> Iterator[Resource]:
    wanted = (at for at, found in enumerate(names.kinds) if found == kind)
    return iterate_named_resources((names.name(at) for at in wanted), [kind])


def _ask_resources(ground: Ground, key: str, source: Source) -> list[Resource]:
    if source.kind == "query":
        try:
            query = source.files[0].read_text(encoding="utf-8-sig")
        except (OSError, UnicodeDecodeError) as error:
            raise SetupError(f"the query {source.files[0]} cannot be read: {error}") from error
    else:
        query = query_for(key, None if source.name == "default" else source.name)
    seconds = max(_QUERY_SECONDS, ground.settings.timeout)
    patient = replace(ground.settings, timeout=seconds, cache_mb=0)
    endpoint = open_endpoint(
        patient, ground.data, cache=ground.data, prefixes=dict(ground.profile.prefixes)
    )

    async def ask() -> list[Resource]:
        try:
            return [resource async for resource in query_resources(endpoint, query)]
        finally:
            await endpoint.close()

    try:
        found = result_of(ask())
    except QueryError as error:
        raise SetupError(f"{source.words}: {error}") from error
    if not found:
        raise SetupError(
            f"{source.words}: it finds no {key} in graph {ground.name!r}; 'default' finds some in "
            "any graph with labels or types"
        )
    return found


def _with_classes(resources: Iterable[Resource], profile: Profile) -> Iterator[Resource]:
    missing = {cls.iri for cls in profile.classes}
    for resource in resources:
        missing.discard(resource.iri)
        yield resource
    yield from (cls for cls in iterate_profile_classes(profile) if cls.iri in missing)
