"""A graph's data folder: built from files in one pass, opened in milliseconds.

store/            the triples in Oxigraph, for SPARQL
arrays/*.npy      the same triples as sorted integers, for growing candidates
names_*.npy       every name
profile.json      what is known of the graph
enrichment.toml   what was added virtually, where that is so
built.json        from which files it was built; written last
indices/          search indices, built when first asked for
"""

import hashlib
import json
from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import replace
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Any

from askgraph.errors import SetupError
from askgraph.metadata import GRAPHS, Part, Profile, with_parts
from askgraph.metadata.store import save_profile, write_whole
from askgraph.workspace.sources import SourceFile, fingerprint

if TYPE_CHECKING:
    from pyoxigraph import Triple

    from askgraph.endpoint import Endpoint
    from askgraph.index.names import NameIndex
    from askgraph.sparql.rewrite.virtual import VirtualPaths
    from askgraph.traversal.arrays import GraphArrays

__all__ = [
    "FORMAT",
    "Progress",
    "build_local",
    "build_remote",
    "known_content",
    "known_paths",
    "known_snapshot",
    "known_sources",
]

ENRICHMENT = "enrichment.toml"
FORMAT = 1
"""Grows whenever what lies in a data folder changes its form; older folders are built again."""

Progress = Callable[[str, int, int | None], None]
"""Told what is being done, how far it is, and of how much where that is known."""


def build_local(
    files: Sequence[Path],
    folder: Path,
    *,
    graphs: Sequence[str] = (),
    source: str,
    enrich: Path | None = None,
    progress: Progress,
) -> None:
    """Fill an empty folder with everything that answering over these files needs.

    `graphs` are the named graphs to know of; none means the union of all. `enrich` is a file of
    definitions to add virtually.
    """
    known = fingerprint([*files, *([enrich] if enrich else [])])
    if enrich is None:
        _load(files, folder / "store", progress)
        arrays = _arrays(folder / "store", graphs, progress)
    else:
        arrays = _enriched_arrays(files, folder, graphs, enrich, progress)
    progress("profiling", 0, None)
    profile = _with_graphs(_profile(arrays, files, source), folder / "store", graphs)
    progress("indexing names", 0, None)
    profile = _with_steps(profile, folder)
    _names(arrays, profile, without=_unnamed(folder)).save(folder)
    (folder / "arrays").mkdir()
    arrays.save(folder / "arrays")
    save_profile(profile, folder / "profile.json")
    _sign(folder, known)


async def build_remote(
    endpoint: "Endpoint", folder: Path, *, answers: Path, progress: Progress
) -> None:
    """Fill an empty folder with what an endpoint says of its graph; `answers` keeps replies."""
    from askgraph.index.names import Kind, NameIndex
    from askgraph.metadata.remote import profile_endpoint
    from askgraph.workspace.prefixes import with_prefixes

    profile, names = await profile_endpoint(endpoint, progress=progress, resume=answers)
    progress("indexing names", 0, None)
    entities = [name.target for name in names if name.kind is Kind.ENTITY]
    iris = entities[:: max(1, len(entities) // 5000)]
    NameIndex.of(names).save(folder)
    save_profile(with_prefixes(profile, iris), folder / "profile.json")
    _sign(folder, ())


def known_sources(folder: Path) -> tuple[SourceFile, ...]:
    """Return the files that a data folder was built from; `SetupError` where it is unusable."""
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


def known_content(folder: Path) -> "tuple[NameIndex, GraphArrays | None]":
    """Open the names and arrays of a data folder, memory-mapped; `SetupError` where damaged."""
    from askgraph.index.names import NameIndex
    from askgraph.traversal.arrays import GraphArrays

    try:
        names = NameIndex.load(folder)
        arrays = folder / "arrays"
        return names, GraphArrays.load(arrays) if arrays.exists() else None
    except (OSError, ValueError, EOFError) as error:
        raise SetupError(f"the data folder {folder} is incomplete or damaged: {error}") from error


def known_paths(folder: Path) -> "VirtualPaths":
    """Return the virtual predicates of a data folder with the paths that they stand for."""
    if not (folder / ENRICHMENT).is_file():
        return {}
    from askgraph.metadata.definitions import virtual_paths
    from askgraph.metadata.definitions_file import read_definitions

    return virtual_paths(read_definitions(folder / ENRICHMENT))


def _enriched_arrays(
    files: Sequence[Path],
    folder: Path,
    graphs: Sequence[str],
    enrich: Path,
    progress: Progress,
) -> "GraphArrays":
    """Load the files and what is said of the terms; the arrays hold the virtual triples as well."""
    from askgraph.metadata.definitions_file import read_definitions
    from askgraph.metadata.enrichment import links, statements, told_names

    definitions = read_definitions(enrich)
    write_whole(folder / ENRICHMENT, enrich.read_text(encoding="utf-8"))
    said, end = folder / "enrichment.nq", f" <{graphs[0]}> .\n" if graphs else " .\n"
    write_whole(said, "".join(f"{triple}{end}" for triple in statements(definitions)))
    _load([*files, said], folder / "store", progress)
    plain = _arrays(folder / "store", graphs, progress)
    if definitions.names:
        with said.open("a", encoding="utf-8") as out:
            out.writelines(f"{triple}{end}" for triple in told_names(definitions, plain))
        _load([*files, said], folder / "store", progress)
        plain = _arrays(folder / "store", graphs, progress)
    progress("adding virtual triples", 0, None)
    return _arrays(folder / "store", graphs, progress, more=links(definitions, plain))


def _load(files: Sequence[Path], store: Path, progress: Progress) -> None:
    from askgraph.endpoint.oxigraph import OxigraphEndpoint

    OxigraphEndpoint.load(
        files, store, progress=lambda done, total, name: progress(f"loading {name}", done, total)
    )


def _arrays(
    store: Path, graphs: Sequence[str], progress: Progress, *, more: "Iterable[Triple]" = ()
) -> "GraphArrays":
    from pyoxigraph import NamedNode, Store

    from askgraph.traversal.arrays import build_arrays

    stored = Store.read_only(str(store))
    total = len(stored)
    chosen: list[NamedNode | None] = [NamedNode(graph) for graph in graphs]
    quads = chain.from_iterable(
        stored.quads_for_pattern(None, None, None, graph) for graph in chosen or [None]
    )
    return build_arrays(
        chain(quads, more), progress=lambda read: progress("reading triples", read, total)
    )


def _profile(arrays: "GraphArrays", files: Sequence[Path], source: str) -> Profile:
    from askgraph.metadata.profile import profile_of
    from askgraph.workspace import prefixes

    own = prefixes.described_prefixes(arrays) | prefixes.declared_prefixes(files)
    profile = profile_of(arrays, source=source)
    return prefixes.with_prefixes(profile, prefixes.some_iris(arrays), own=own)


def _with_graphs(profile: Profile, store: Path, chosen: Sequence[str]) -> Profile:
    """The profile with the names of the graphs that it is about, which are not counted."""
    from pyoxigraph import NamedNode, Store

    found = [
        graph.value
        for graph in Store.read_only(str(store)).named_graphs()
        if isinstance(graph, NamedNode)
    ]
    graphs = tuple((graph, 0) for graph in sorted(found) if graph in chosen or not chosen)
    part = Part(GRAPHS, len(graphs), len(graphs))
    parts = with_parts(profile.completeness, {GRAPHS: part})
    return replace(profile, graphs=graphs, completeness=parts)


def _names(
    arrays: "GraphArrays", profile: Profile, *, without: Collection[str] = ()
) -> "NameIndex":
    from askgraph.index.names import NameIndex
    from askgraph.metadata.names import names_in

    return NameIndex.of(name for name in names_in(arrays, profile) if name.target not in without)


def _with_steps(profile: Profile, folder: Path) -> Profile:
    """The profile with how many predicates each virtual one stands for."""
    paths = known_paths(folder)
    if not paths:
        return profile
    from askgraph.sparql.rewrite.virtual import predicates_in

    steps = {iri: len(list(predicates_in(path))) for iri, path in paths.items()}
    told = (replace(p, steps=steps.get(p.iri, 1)) for p in profile.predicates)
    return replace(profile, predicates=tuple(told))


def _unnamed(folder: Path) -> frozenset[str]:
    """The virtual predicates for which no word of a question stands."""
    if not (folder / ENRICHMENT).is_file():
        return frozenset()
    from askgraph.metadata.definitions_file import read_definitions

    properties = read_definitions(folder / ENRICHMENT).properties
    return frozenset(one.iri for one in properties if one.unnamed)


def _sign(folder: Path, sources: Sequence[SourceFile]) -> None:
    signed: dict[str, Any] = {"format": FORMAT, "sources": [file.stored() for file in sources]}
    write_whole(folder / "built.json", json.dumps(signed))
