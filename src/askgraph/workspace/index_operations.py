"""The indices of a graph of the workspace, without its endpoint: built and looked over."""

from collections.abc import Iterator, Mapping
from concurrent.futures import CancelledError
from contextlib import contextmanager
from dataclasses import dataclass, replace

from askgraph import plugins
from askgraph.atomic_files import lock_file
from askgraph.errors import ServiceError, SetupError
from askgraph.evaluation.executors import Executor
from askgraph.index import DiskIndex
from askgraph.index.folder import check_files
from askgraph.workspace import Workspace
from askgraph.workspace.evaluation import Crew
from askgraph.workspace.graph_data import KEYS, Ground, known_content, known_snapshot
from askgraph.workspace.indices import (
    EMBEDDED,
    Elsewhere,
    build_index,
    index_folder,
    made_of,
    open_index,
    server_kind,
)
from askgraph.workspace.run_sync import Progress
from askgraph.workspace.settings import GraphSettings, with_graph


@dataclass(frozen=True)
class IndexInfo:
    """An index as it lies on disk; `problem` says why it cannot be used as it is.

    `kind`, `items`, `source` and `created` are None if there is no index. `bytes` counts all of
    its files, and what a server holds.
    """

    key: str
    kind: str | None
    items: int | None
    bytes: int
    source: str | None
    created: str | None
    problem: str | None


def ground_of(place: Workspace, name: str | None, *, progress: Progress) -> Ground:
    """Return what the indices of a graph are built from; the graph is made ready if needed."""
    profile, _ = place.known(name, progress=progress)
    graphs = place.graphs()
    known = name if name is not None else next(iter(graphs))
    data = place.data(known)
    names, arrays = known_content(data)
    snapshot = known_snapshot(data, profile)
    return Ground(known, data, graphs[known], snapshot, profile, names, arrays)


def build_indices(
    place: Workspace,
    name: str | None,
    *,
    settings: Mapping[str, object] | None = None,
    crew: Crew | None = None,
    progress: Progress,
) -> list[IndexInfo]:
    """Build all indices of a graph anew, and keep the settings that they were built by.

    `settings` are fields of `GraphSettings`; a kind without embeddings takes an older setting of
    these away, and a kind that of a server. A `crew` writes to the server. Raises `SetupError` if a
    setting is not sound; then the old ones stay.
    """
    ground = ground_of(place, name, progress=progress)
    given = settings or {}
    table = ground.settings.table() | {
        key: list(value) if isinstance(value, tuple) else value for key, value in given.items()
    }
    match given:
        case {"on": str(address), "index": _}:
            raise SetupError(f"at {address} an index is of kind {server_kind(address)!r}")
        case {"on": str(address)}:
            server_kind(address)
            table.pop("index", None)
            table.pop("properties_index", None)
        case {"index": _}:
            table.pop("on", None)
    kinds = {table.get("index"), table.get("properties_index")}
    embedded = "on" in table or not kinds.isdisjoint(EMBEDDED)
    if "embeddings" not in given and not embedded:
        table.pop("embeddings", None)
    chosen = GraphSettings.of(ground.name, table)
    if crew is not None and crew.on != "local" and chosen.on is None:
        raise SetupError("an index in files is written by one process; --executor is for --on")
    changed = replace(ground, settings=chosen)
    with _working(crew) as elsewhere:
        built = {
            key: build_index(changed, key, progress=progress, elsewhere=elsewhere) for key in KEYS
        }
    with lock_file(place.folder / ".lock"):
        if ground.name not in place.graphs():
            raise SetupError(f"graph {ground.name!r} was removed meanwhile")
        with_graph(place.folder, ground.name, chosen)
    return [_info(changed, key, index) for key, index in built.items()]


@contextmanager
def _working(crew: Crew | None) -> Iterator[Elsewhere | None]:
    """Give the workers of a crew, and end them."""
    if crew is None or crew.on == "local":
        yield None
        return
    executor: Executor = plugins.load("executor", crew.on)(crew.size, crew.address)
    try:
        yield Elsewhere(executor.submit, 2 * crew.size)
    except executor.worker_death_errors + (CancelledError,) as error:  # noqa: RUF005 - its type is clear so
        raise SetupError(
            "a worker died, or the cluster is gone; what is written stays, and the same call goes "
            "on: try fewer --workers if it was short of memory"
        ) from error
    finally:
        executor.close()


def index_info(place: Workspace, name: str | None, *, progress: Progress) -> list[IndexInfo]:
    """Return what is known of each index of a graph, every byte compared with its checksum."""
    ground = ground_of(place, name, progress=progress)
    found = []
    for key in KEYS:
        problem = None
        try:
            index = open_index(ground, key)
            check_files(index_folder(ground.data, key))
        except (SetupError, ServiceError) as error:
            index, problem = None, str(error)
        found.append(_info(ground, key, index, problem=problem))
    return found


def _info(
    ground: Ground, key: str, index: DiskIndex | None, *, problem: str | None = None
) -> IndexInfo:
    made = made_of(ground.data, key)
    files = (file for file in index_folder(ground.data, key).rglob("*") if file.is_file())
    size = sum(file.stat().st_size for file in files) + int(getattr(index, "bytes", 0))
    if made is None:
        return IndexInfo(key, None, None, size, None, None, problem)
    return IndexInfo(key, made.kind, made.items, size, made.source, made.created, problem)
