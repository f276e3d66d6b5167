"""A graph's data folder: opened in milliseconds.

store/            the triples in Oxigraph, for SPARQL
arrays/*.npy      the same triples as sorted integers, for growing candidates
names_*.npy       every name
profile.json      what is known of the graph
enrichment.toml   what was added virtually, if that is so
built.json        from which files it was built; written last
indices/          search indices, built when first asked for
"""

import hashlib
import json
from pathlib import Path

from askgraph.errors import SetupError
from askgraph.index.names import NameIndex
from askgraph.metadata import Profile
from askgraph.sparql.rewrite.virtual import VirtualPaths
from askgraph.traversal.arrays import GraphArrays
from askgraph.workspace.sources import SourceFile

ENRICHMENT = "enrichment.toml"
FORMAT = 1
"""Grows whenever what lies in a data folder changes its form; older folders are built again."""


def known_sources(folder: Path) -> tuple[SourceFile, ...]:
    """Return the files that a data folder was built from; `SetupError` if it is unusable."""
    try:
        built = json.loads((folder / "built.json").read_text(encoding="utf-8"))
        if built["format"] == FORMAT:
            return tuple(SourceFile(**file) for file in built["sources"])
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise SetupError(f"the data folder {folder} is incomplete or damaged") from error
    raise SetupError(f"the data folder {folder} was written by another version of askgraph")


def known_snapshot(folder: Path, profile: Profile) -> str:
    """Return a hash of the files' contents; of an endpoint, of what was seen of it, and when."""
    seen = sorted(file.sha256 or f"{file.size} {file.modified}" for file in known_sources(folder))
    if not seen:
        seen = [profile.source, profile.created, str(profile.triples)]
    return hashlib.sha256("\n".join(seen).encode()).hexdigest()[:16]


def known_content(folder: Path) -> tuple[NameIndex, GraphArrays | None]:
    """Open the names and arrays of a data folder, memory-mapped; `SetupError` if damaged."""
    try:
        names = NameIndex.load(folder)
        arrays = folder / "arrays"
        return names, GraphArrays.load(arrays) if arrays.exists() else None
    except (OSError, ValueError, EOFError) as error:
        raise SetupError(f"the data folder {folder} is incomplete or damaged: {error}") from error


def known_paths(folder: Path) -> VirtualPaths:
    """Return the virtual predicates of a data folder with the paths that they stand for."""
    if not (folder / ENRICHMENT).is_file():
        return {}
    # Few graphs are enriched.
    from askgraph.metadata.definitions import virtual_paths
    from askgraph.metadata.definitions_file import read_definitions

    return virtual_paths(read_definitions(folder / ENRICHMENT))
