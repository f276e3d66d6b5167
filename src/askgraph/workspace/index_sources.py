"""Sources that the indices of a graph are built from, as its settings say."""

from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from askgraph.errors import SetupError
from askgraph.index.names import NameIndex
from askgraph.metadata import Profile
from askgraph.traversal.arrays import GraphArrays
from askgraph.workspace.settings import GraphSettings

KEYS = ("entities", "properties", "literals")
"""The indices that each graph has."""
_ROWS = (".tsv", ".tsv.gz")
_QUERY = ".rq"


@dataclass(frozen=True, eq=False)
class Ground:
    """A graph as its indices see it: what is known of it, and where its data lies."""

    name: str
    data: Path
    settings: GraphSettings
    snapshot: str
    profile: Profile
    names: NameIndex
    arrays: GraphArrays | None

    def file(self, name: str) -> Path:
        """Return a file that a setting names: relative ones lie in the workspace's folder."""
        return self.data.parent.parent / Path(name).expanduser()


@dataclass(frozen=True)
class Source:
    """Where the resources of an index come from, by kind, and by name or files."""

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
    """Return where an index of a graph is built from; `SetupError` for what is no source."""
    settings = ground.settings
    named = {"entities": settings.entities, "properties": settings.properties}.get(key)
    if named is None and settings.dump and key != "literals":
        return Source("dump", files=tuple(map(ground.file, settings.dump)))
    if named is None or named == "graph":
        return Source("graph")

    # Few graphs have indices of anything but what is known of them.
    from askgraph.index.sources import graphs

    if named == "default" or named in graphs():
        return Source("queries", named)
    if not _is_file_name(named):
        raise SetupError(
            f"{named!r} is no source of {key}: name 'graph' (what is known of it), a set of "
            f"queries (default, {', '.join(graphs())}), or a file: a query (.rq), rows "
            "(.tsv), or an RDF dump"
        )
    file = ground.file(named)
    kind: Literal["query", "rows", "dump"] = "query" if file.suffix == _QUERY else "dump"
    return Source("rows" if file.name.endswith(_ROWS) else kind, files=(file,))


def _is_file_name(name: str) -> bool:
    return "." in Path(name).name or len(Path(name).parts) > 1
