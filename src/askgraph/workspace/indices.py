"""The search indices of a graph as they lie on disk: how each was made, and whether it fits.

data/GRAPH/indices/entities/       the index, as its kind writes it
data/GRAPH/indices/entities.json   what it was built from; written last

An index is of one content of its graph, and of one setting: if either changes, it is built anew.
"""

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, cast

from askgraph import plugins
from askgraph.errors import SetupError
from askgraph.index import DiskIndex
from askgraph.workspace.graph_data import Ground, SourceFile, differs

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


def index_folder(data: Path, key: str) -> Path:
    """Return the folder of an index below the data folder of its graph."""
    return data / "indices" / key


def made_of(data: Path, key: str) -> Made | None:
    """Return how an index was made, or None if there is none that is whole."""
    try:
        stored = json.loads(note_of(data, key).read_text(encoding="utf-8"))
        files = tuple(SourceFile(**file) for file in stored.pop("files"))
        return Made(**stored, files=files)
    except (OSError, ValueError, KeyError, TypeError):
        return None


def open_index(ground: Ground, key: str) -> DiskIndex:
    """Open an index as the settings want it; `SetupError` if it does not fit or is damaged."""
    return plugin_of(fitting(ground, key).kind).open(index_folder(ground.data, key))


def is_there(ground: Ground, key: str) -> bool:
    """Whether there is an index as the settings want it; it is not opened."""
    try:
        fitting(ground, key)
    except SetupError:
        return False
    return True


def fitting(ground: Ground, key: str) -> Made:
    """Return how an index was made, as the settings want it.

    Raises `SetupError` if there is none, and if the graph, the settings or the files that it was
    built from have changed since.
    """
    made = made_of(ground.data, key)
    if made is None or not index_folder(ground.data, key).is_dir():
        raise SetupError(f"the index {key!r} of graph {ground.name!r} has not been built")
    if made.snapshot != ground.snapshot:
        raise SetupError(f"the index {key!r} is of an older content of graph {ground.name!r}")
    source, embeddings = source_for(ground, key).words, embeddings_of(ground, key)
    comments = comments_in(ground, key)
    wanted = (kind_of(ground, key), source, embeddings, ground.settings.on, comments)
    if (made.kind, made.source, made.embeddings, made.on, made.comments) != wanted:
        raise SetupError(f"the index {key!r} of graph {ground.name!r} was built by other settings")
    for known in made.files:
        path = Path(known.path)
        if path.exists() and differs(known, path):
            raise SetupError(f"{path} has changed since the index {key!r} was built")
    return made


def kind_of(ground: Ground, key: str) -> str:
    """Return the kind that the settings want an index to be of."""
    if ground.settings.on is not None:
        return server_kind(ground.settings.on)
    own = ground.settings.properties_index if key == "properties" else None
    return "keyword" if key == "literals" else own or ground.settings.index


def comments_in(ground: Ground, key: str) -> bool:
    """Whether the settings want an index to be searched by what describes a thing, too."""
    return ground.settings.comments and key != "literals"


def embeddings_of(ground: Ground, key: str) -> str | None:
    """Return the embeddings that the settings want for an index; None for none."""
    wanted = None if key == "literals" else ground.settings.embeddings
    if ground.settings.properties_index and kind_of(ground, key) not in EMBEDDED:
        return None  # it is for the other one
    return wanted


def server_kind(address: str) -> str:
    """Return the kind of the indices that the server at an address holds."""
    kind = SERVERS.get(address.partition("://")[0])
    if kind is None:
        raise SetupError(
            f"{address!r} is no server of indices; name postgresql://USER@HOST/DATABASE or "
            "https://HOST:PORT (OpenSearch)"
        )
    return kind


def plugin_of(kind: str) -> type[DiskIndex]:
    """Return the class of a kind of index; `SetupError` if there is no such kind."""
    if kind not in plugins.names("index"):
        kinds = ", ".join(plugins.names("index"))
        raise SetupError(f"{kind!r} is no kind of index; there are {kinds}")
    return cast("type[DiskIndex]", plugins.load("index", kind))


def note_of(data: Path, key: str) -> Path:
    """Return the file that says how an index was made."""
    folder = index_folder(data, key)
    return folder.with_name(f"{key}.json")


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
