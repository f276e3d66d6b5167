"""The indices of a graph of the workspace, without its endpoint: built and looked over."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from askgraph.errors import SetupError
from askgraph.index.folder import check_files
from askgraph.workspace import Workspace
from askgraph.workspace.data import KEYS, Ground, known_content, known_snapshot, locked
from askgraph.workspace.indices import EMBEDDED, build_index, index_folder, made_of, open_index
from askgraph.workspace.settings import GraphSettings, with_graph
from askgraph.workspace.synchronous import Progress


@dataclass(frozen=True)
class IndexInfo:
    """An index as it lies on disk; `problem` says why it cannot be used as it is.

    `kind`, `items`, `source` and `created` are None if there is no index. `bytes` counts all of
    its files.
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
    progress: Progress,
) -> list[IndexInfo]:
    """Build all indices of a graph anew, and keep the settings that they were built by.

    `settings` are fields of `GraphSettings`; a kind without embeddings takes an older setting of
    these away. Raises `SetupError` if one is not sound; then the old settings stay.
    """
    ground = ground_of(place, name, progress=progress)
    table = ground.settings.table() | {
        key: list(value) if isinstance(value, tuple) else value
        for key, value in (settings or {}).items()
    }
    if "embeddings" not in (settings or {}) and table.get("index") not in EMBEDDED:
        table.pop("embeddings", None)
    chosen = GraphSettings.of(ground.name, table)
    changed = Ground(
        ground.name, ground.data, chosen, ground.snapshot, ground.profile, ground.names,
        ground.arrays,
    )  # fmt: skip
    for key in KEYS:
        build_index(changed, key, progress=progress)
    with locked(place.folder / ".lock"):
        if ground.name not in place.graphs():
            raise SetupError(f"graph {ground.name!r} was removed meanwhile")
        with_graph(place.folder, ground.name, chosen)
    return [_info(changed, key) for key in KEYS]


def index_info(place: Workspace, name: str | None, *, progress: Progress) -> list[IndexInfo]:
    """Return what is known of each index of a graph, every byte compared with its checksum."""
    ground = ground_of(place, name, progress=progress)
    found = []
    for key in KEYS:
        problem = None
        try:
            open_index(ground, key)
            check_files(index_folder(ground.data, key))
        except SetupError as error:
            problem = str(error)
        found.append(_info(ground, key, problem=problem))
    return found


def _info(ground: Ground, key: str, *, problem: str | None = None) -> IndexInfo:
    made = made_of(ground.data, key)
    size = _size(index_folder(ground.data, key))
    if made is None:
        return IndexInfo(key, None, None, size, None, None, problem)
    return IndexInfo(key, made.kind, made.items, size, made.source, made.created, problem)


def _size(folder: Path) -> int:
    return sum(file.stat().st_size for file in folder.rglob("*") if file.is_file())
