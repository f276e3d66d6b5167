"""Build and inspect the indices of a graph of the workspace, without its endpoint."""

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
from askgraph.workspace.evaluation import ExecutorOptions
from askgraph.workspace.graph_data import (
    INDEX_KEYS,
    IndexContext,
    compute_snapshot,
    load_names_and_arrays,
)
from askgraph.workspace.indices import (
    EMBEDDING_KINDS,
    IndexWorkers,
    build_index,
    get_index_folder,
    get_server_kind,
    load_record,
    open_index,
)
from askgraph.workspace.run_sync import Progress
from askgraph.workspace.settings import GraphSettings, write_graph_settings


@dataclass(frozen=True)
class IndexInfo:
    """An index on disk; `problem` explains why it is unusable as it is.

    `kind`, `items`, `source` and `created` are None if there is no index. `bytes` counts
    all of its files, and its data on a server.
    """

    key: str
    kind: str | None
    items: int | None
    bytes: int
    source: str | None
    created: str | None
    problem: str | None


def load_index_context(
    workspace: Workspace, name: str | None, *, progress: Progress
) -> IndexContext:
    """Load the data for building the indices of a graph, which is rebuilt first if needed."""
    profile, _ = workspace.load_content(name, progress=progress)
    graphs = workspace.graphs()
    graph_name = name if name is not None else next(iter(graphs))
    data = workspace.get_data_folder(graph_name)
    names, arrays = load_names_and_arrays(data)
    snapshot = compute_snapshot(data, profile)
    return IndexContext(graph_name, data, graphs[graph_name], snapshot, profile, names, arrays)


def build_indices(
    workspace: Workspace,
    name: str | None,
    *,
    settings: Mapping[str, object] | None = None,
    executor_options: ExecutorOptions | None = None,
    progress: Progress,
) -> list[IndexInfo]:
    """Rebuild all indices of a graph, and store the settings.

    `settings` are fields of `GraphSettings`. A kind without embeddings removes an older
    setting of embeddings, and a kind of index removes that of a server. The executor writes
    to the server.

    Raises:
        SetupError: a setting is invalid; then the old indices stay.
    """
    context = load_index_context(workspace, name, progress=progress)
    new_settings = settings or {}
    table = context.settings.to_table() | dict(new_settings)
    match new_settings:
        case {"on": str(address), "index": _}:
            raise SetupError(f"an index at {address} has the kind {get_server_kind(address)!r}")
        case {"on": str(address)}:
            get_server_kind(address)
            table.pop("index", None)
            table.pop("properties_index", None)
        case {"index": _}:
            table.pop("on", None)
    kinds = {table.get("index"), table.get("properties_index")}
    embedded = "on" in table or not kinds.isdisjoint(EMBEDDING_KINDS)
    if "embeddings" not in new_settings and not embedded:
        table.pop("embeddings", None)
    chosen = GraphSettings.from_table(context.name, table)
    if executor_options is not None and executor_options.executor != "local" and chosen.on is None:
        raise SetupError("--executor requires --on: an index in files is written by one process")
    changed = replace(context, settings=chosen)
    with _start_workers(executor_options) as workers:
        built = {
            key: build_index(changed, key, progress=progress, workers=workers) for key in INDEX_KEYS
        }
    with lock_file(workspace.folder / ".lock"):
        if context.name not in workspace.graphs():
            raise SetupError(f"graph {context.name!r} was removed in the meantime")
        write_graph_settings(workspace.folder, context.name, chosen)
    return [_build_info(changed, key, index) for key, index in built.items()]


@contextmanager
def _start_workers(executor_options: ExecutorOptions | None) -> Iterator[IndexWorkers | None]:
    if executor_options is None or executor_options.executor == "local":
        yield None
        return
    executor: Executor = plugins.load("executor", executor_options.executor)(
        executor_options.worker_count, executor_options.address
    )
    try:
        yield IndexWorkers(executor.submit, 2 * executor_options.worker_count)
    except executor.worker_death_errors + (CancelledError,) as error:  # noqa: RUF005 - its type is clear so
        raise SetupError(
            "a worker died, or the cluster is not reachable; the same call resumes the "
            "build. If memory ran out, try fewer --workers"
        ) from error
    finally:
        executor.close()


def inspect_indices(
    workspace: Workspace, name: str | None, *, progress: Progress
) -> list[IndexInfo]:
    """Return the state of each index of a graph, with all checksums verified."""
    context = load_index_context(workspace, name, progress=progress)
    infos = []
    for key in INDEX_KEYS:
        problem = None
        try:
            index = open_index(context, key)
            check_files(get_index_folder(context.data, key))
        except (SetupError, ServiceError) as error:
            index, problem = None, str(error)
        infos.append(_build_info(context, key, index, problem=problem))
    return infos


def _build_info(
    context: IndexContext, key: str, index: DiskIndex | None, *, problem: str | None = None
) -> IndexInfo:
    record = load_record(context.data, key)
    files = (file for file in get_index_folder(context.data, key).rglob("*") if file.is_file())
    size = sum(file.stat().st_size for file in files) + int(getattr(index, "bytes", 0))
    if record is None:
        return IndexInfo(key, None, None, size, None, None, problem)
    return IndexInfo(key, record.kind, record.items, size, record.source, record.created, problem)
