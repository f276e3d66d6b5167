"""Open a graph's data folder in milliseconds, and track the files that it was built from.

store/            the triples in Oxigraph, for SPARQL
arrays/*.npy      the same triples as sorted integers, for expanding candidates
names_*.npy       every name
profile.json      the profile of the graph
enrichment.toml   virtual additions, if any
types.toml        the graph's own type predicates, if any
built.json        the source files and what the data depend on besides; written last
indices/          search indices, built on first use
"""

import contextlib
import hashlib
import json
import shutil
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from askgraph.endpoint import Endpoint, EndpointWrapper, Kind, RunOnEndpoint
from askgraph.endpoint.oxigraph import OxigraphEndpoint
from askgraph.errors import SetupError
from askgraph.graph.arrays import GraphArrays
from askgraph.graph.profile import Profile, has_empty_default, load_profile
from askgraph.graph.vocabularies import (
    add_vocabulary_names,
    compute_vocabulary_digest,
    load_vocabularies,
)
from askgraph.index.names import NameIndex
from askgraph.sparql.file_conversion import find_advice
from askgraph.sparql.judge import EndpointRequest
from askgraph.sparql.rdf_files import (
    DECOMPRESSOR_BY_SUFFIX,
    READABLE_SUFFIXES,
    TABLE_SUFFIXES,
    get_format_suffix,
)
from askgraph.sparql.rewrite.virtual import VirtualPaths, expand_virtual_query
from askgraph.workspace.run_sync import run_coroutine
from askgraph.workspace.settings import GraphSettings

if TYPE_CHECKING:
    from askgraph.endpoint.http import HttpEndpoint
    from askgraph.endpoint.public_only import AddressGuard
    from askgraph.sparql.rewrite.virtual import VirtualPaths

ENRICHMENT = "enrichment.toml"
TYPES = "types.toml"
FORMAT_VERSION = 1
"""Increases whenever the format of a data folder changes; older folders are rebuilt."""
LITERALS_VERSION = 2
"""Increases whenever literals are read as other kinds; older folders are checked for such ones."""
INDEX_KEYS = ("entities", "properties", "literals")
"""The indices of each graph."""
_FOLDER_SUFFIXES = tuple(
    name for name in READABLE_SUFFIXES if name not in (".xml", ".json", *TABLE_SUFFIXES)
)
_MAX_LISTED_FILES = 5
_MAX_HASHED_BYTES = 64 * 2**20


@dataclass(frozen=True)
class SourceFile:
    """The state of a file when it was read; large files are identified by size and time only."""

    path: str
    size: int
    modified: int
    sha256: str | None = None

    def to_json(self) -> dict[str, Any]:
        """Return the fields as JSON values."""
        return asdict(self)


class NewerFormatError(SetupError):
    """A data folder has a format of a newer askgraph; it stays unchanged."""


def load_sources(folder: Path) -> tuple[SourceFile, ...]:
    """Return the files that a data folder was built from.

    Raises:
        SetupError: the folder is unusable.
        NewerFormatError: it was written by a newer version.
    """
    try:
        built = json.loads((folder / "built.json").read_text(encoding="utf-8"))
        if built["format"] == FORMAT_VERSION:
            return tuple(SourceFile(**file) for file in built["sources"])
        newer = built["format"] > FORMAT_VERSION
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise SetupError(f"the data folder {folder} is incomplete or damaged") from error
    if newer:
        raise NewerFormatError(
            f"the data folder {folder} was written by a newer askgraph (its format is "
            f"{built['format']}, this version reads {FORMAT_VERSION}): upgrade askgraph, "
            "or add the graph again with --replace"
        )
    raise SetupError(f"the data folder {folder} was written by another version of askgraph")


def has_current_vocabularies(folder: Path, vocabulary_files: Sequence[Path]) -> bool:
    """Return whether a data folder was built with the vocabularies as they are now.

    A folder of an askgraph without vocabularies is current if its graph uses none of their names.

    Raises:
        SetupError: a vocabulary is missing or invalid, or the folder is unusable.
    """
    built = json.loads((folder / "built.json").read_text(encoding="utf-8"))
    if "vocabularies" in built:
        return bool(built["vocabularies"] == compute_vocabulary_digest(vocabulary_files))
    profile = load_profile(folder / "profile.json")
    iris = [*(c.iri for c in profile.classes), *(p.iri for p in profile.predicates)]
    return add_vocabulary_names(profile, load_vocabularies(iris, vocabulary_files)) == profile


def has_current_kinds(folder: Path) -> bool:
    """Return whether the literals in a data folder have the kinds that they have now."""
    built = json.loads((folder / "built.json").read_text(encoding="utf-8"))
    arrays = folder / "arrays"
    if built.get("literals") == LITERALS_VERSION or not arrays.exists():
        return True
    with contextlib.suppress(OSError, ValueError, EOFError):  # damage is found when it is opened
        return GraphArrays.load(arrays).has_current_kinds()
    return True


def compute_snapshot(folder: Path, profile: Profile) -> str:
    """Return a hash of the files' contents; for an endpoint, of its survey and its date."""
    identifiers = sorted(
        file.sha256 or f"{file.size} {file.modified}" for file in load_sources(folder)
    )
    if not identifiers:
        identifiers = [profile.source, profile.created, str(profile.triples)]
    return hashlib.sha256("\n".join(identifiers).encode()).hexdigest()[:16]


def load_names_and_arrays(folder: Path) -> tuple[NameIndex, GraphArrays | None]:
    """Open the names and arrays of a data folder, memory-mapped; `SetupError` if damaged."""
    try:
        names = NameIndex.load(folder)
        arrays = folder / "arrays"
        return names, GraphArrays.load(arrays) if arrays.exists() else None
    except (OSError, ValueError, EOFError) as error:
        raise SetupError(f"the data folder {folder} is incomplete or damaged: {error}") from error


def load_virtual_paths(folder: Path, file: str = ENRICHMENT) -> "VirtualPaths":
    """Return the virtual predicates of a data folder with their paths."""
    if not (folder / file).is_file():
        return {}
    # Few are enriched.
    from askgraph.graph.definitions import read_definitions, resolve_virtual_paths

    return resolve_virtual_paths(read_definitions(folder / file))


def load_all_paths(folder: Path) -> "VirtualPaths":
    """Return the virtual predicates, and the standard ones that the graph replaces by its own."""
    return {**load_virtual_paths(folder, TYPES), **load_virtual_paths(folder)}


def open_endpoint(
    settings: GraphSettings,
    data: Path,
    *,
    cache: Path,
    prefixes: Mapping[str, str] | None = None,
    services: frozenset[str] = frozenset(),
) -> Endpoint:
    """Open only the endpoint of a graph; queries need not declare `prefixes`.

    Queries may use the virtual predicates of an enriched graph. `services` are those that a
    server evaluates itself.
    """
    if settings.url:
        graph_endpoint = _open_cached_endpoint(settings, cache, prefixes, services)
    else:
        endpoint = OxigraphEndpoint(
            data / "store",
            timeout=settings.timeout,
            graphs=settings.graphs or None,
            prefixes=dict(prefixes or {}),
        )
        endpoint.start()
        graph_endpoint = endpoint
    paths = load_all_paths(data)
    if not paths:
        return graph_endpoint

    from askgraph.workspace.graph_data import VirtualEndpoint  # few graphs have virtual predicates

    return VirtualEndpoint(graph_endpoint, paths, prefixes=prefixes)


def _open_cached_endpoint(
    settings: GraphSettings,
    folder: Path,
    prefixes: Mapping[str, str] | None,
    services: frozenset[str],
) -> Endpoint:
    endpoint = create_remote_endpoint(settings, prefixes)
    endpoint.services = services
    if not settings.cache_mb or not settings.cache_hours:
        return endpoint
    from askgraph.endpoint.cached import CachedEndpoint

    return CachedEndpoint(
        endpoint,
        folder,
        max_bytes=settings.cache_mb * 2**20,
        max_age=settings.cache_hours * 3600,
        variant=" ".join(sorted(settings.graphs)),
    )


def create_remote_endpoint(
    settings: GraphSettings, prefixes: Mapping[str, str] | None = None
) -> "HttpEndpoint":
    """Create the endpoint behind a URL from the settings."""
    from askgraph.endpoint.http import HttpEndpoint  # takes 0.1 s, and most graphs are local

    return HttpEndpoint(
        settings.url or "",
        dialect=settings.dialect,
        auth=settings.auth,
        user_env=settings.user_env,
        password_env=settings.password_env,
        token_env=settings.token_env,
        header=settings.header,
        header_env=settings.header_env,
        timeout=settings.timeout,
        graphs=settings.graphs,
        prefixes=dict(prefixes or {}),
        guard=create_guard(settings),
        a_minute=settings.requests_a_minute,
        ca_file=settings.ca_file,
    )


def keep_united_graphs(settings: GraphSettings, profile: Profile) -> GraphSettings:
    """Return the settings with the named graphs that replace an endpoint's empty default graph."""
    if settings.graphs or not settings.url or not has_empty_default(profile):
        return settings
    return replace(settings, graphs=tuple(graph for graph, _ in profile.graphs))


def create_guard(settings: GraphSettings) -> "AddressGuard | None":
    """Return the guard that limits a graph added over the web to public addresses, or None."""
    if not settings.public_only:
        return None
    from askgraph.endpoint.public_only import AddressGuard

    return AddressGuard(settings.private_addresses)


@dataclass(frozen=True, eq=False)
class IndexContext:
    """The content and location of a graph, for building its indices."""

    name: str
    data: Path
    settings: GraphSettings
    snapshot: str
    profile: Profile
    names: NameIndex
    arrays: GraphArrays | None

    def resolve_path(self, name: str) -> Path:
        """Return the path of a file in a setting, relative to the workspace's folder."""
        return self.data.parent.parent / Path(name).expanduser()


def is_url(source: str) -> bool:
    """Return whether a source is a web address: that of an endpoint or of a file."""
    return source.startswith(("http://", "https://"))


def list_rdf_files(sources: Sequence[str | Path], left_out: list[str] | None = None) -> list[Path]:
    """Return the RDF files that the sources name, including all files in folders.

    Args:
        left_out: a list that gets a sentence for each folder with other files.

    Raises:
        SetupError: a path is missing, a file has an unknown type, or a folder has no RDF.
    """
    files: list[Path] = []
    for source in sources:
        path = Path(source).expanduser().absolute()
        if path.is_dir():
            files += _list_folder_files(path, [] if left_out is None else left_out)
        elif not path.exists():
            raise SetupError(
                f"there is no file or folder {str(source)!r}: name RDF files, a folder of them, or "
                "the URL of an endpoint"
            )
        elif is_rdf(path):
            files.append(path)
        else:
            raise SetupError(
                find_advice(str(source))
                or f"{str(source)!r} has an unknown file type; askgraph reads "
                f"{', '.join(READABLE_SUFFIXES)}, each also with "
                f"{', '.join(DECOMPRESSOR_BY_SUFFIX)}, .zip"
            )
    return list(dict.fromkeys(files))


def fingerprint_files(files: Iterable[Path]) -> tuple[SourceFile, ...]:
    """Return the current state of files, to detect later changes."""
    source_files = []
    for path in files:
        status = path.stat()
        digest = _compute_digest(path) if status.st_size < _MAX_HASHED_BYTES else None
        source_files.append(SourceFile(str(path), status.st_size, status.st_mtime_ns, digest))
    return tuple(source_files)


def find_changed_file(
    source_files: Iterable[SourceFile], sources: Sequence[str | Path], *, also: Sequence[Path] = ()
) -> str | None:
    """Return a file that was changed, added or removed since it was read, or None.

    Args:
        also: files that were read besides the sources.

    Raises:
        SetupError: a source no longer exists.
    """
    before = {file.path: file for file in source_files}
    for path in [*list_rdf_files(sources), *also]:
        file = before.pop(str(path), None)
        if file is None or has_changed(file, path):
            return str(path)
    return next(iter(before), None)


def has_changed(file: SourceFile, path: Path) -> bool:
    """Return whether a file has changed; it is read only if its time has changed."""
    status = path.stat()
    if status.st_size != file.size:
        return True
    if status.st_mtime_ns == file.modified:
        return False
    return file.sha256 is None or _compute_digest(path) != file.sha256


def _list_folder_files(folder: Path, left_out: list[str]) -> list[Path]:
    """Return the RDF files in a folder, or the tables of one without RDF."""
    # Files in `.xml`, `.json` and `.zip` may be anything: they are left out.
    paths = sorted(
        path
        for path in folder.rglob("*")
        if path.is_file()
        and not any(part.startswith(".") for part in path.relative_to(folder).parts)
    )
    rdf_paths = [path for path in paths if is_rdf(path, _FOLDER_SUFFIXES)] or [
        path for path in paths if is_rdf(path, TABLE_SUFFIXES)
    ]
    skipped = [str(path.relative_to(folder)) for path in paths if path not in set(rdf_paths)]
    listing = ", ".join(skipped[:_MAX_LISTED_FILES]) + (
        ", …" if skipped[_MAX_LISTED_FILES:] else ""
    )
    if not rdf_paths:
        raise SetupError(
            f"the folder {str(folder)!r} contains no RDF file ({', '.join(_FOLDER_SUFFIXES)})"
            + (f"; it contains {listing}: name those that are RDF one by one" if skipped else "")
        )
    if skipped:
        left_out.append(
            f"{len(skipped):,} files of the folder {folder.name} that are no RDF by their names: "
            f"{listing}; if one of them is RDF, give its name after the folder's"
        )
    return rdf_paths


def is_rdf(path: Path, suffixes: tuple[str, ...] = (*READABLE_SUFFIXES, ".zip")) -> bool:
    """Return whether a file's name has the suffix of a format that can be read."""
    return get_format_suffix(path) in suffixes


def _compute_digest(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


@contextlib.contextmanager
def download_sources(
    sources: Sequence[str | Path], folder: Path, guard: "AddressGuard | None"
) -> Iterator[list[str | Path] | None]:
    """Provide sources with downloaded files in place of web addresses; None if one is no RDF.

    Earlier files in the folder stay if the block fails, and are removed if it succeeds.
    """
    from askgraph.endpoint.documents import fetch_rdf_file  # few graphs are downloaded

    old, new = set(folder.glob("*")), set[Path]()
    paths: list[str | Path] = []
    is_complete = False
    try:
        for source in map(str, sources):
            if not is_url(source):
                paths.append(source)
            elif file := run_coroutine(fetch_rdf_file(source, guard)):
                name, content = file
                target = folder / hashlib.sha256(source.encode() + content).hexdigest()[:12]
                new.add(target)
                target.mkdir(parents=True, exist_ok=True)
                (target / name).write_bytes(content)
                paths.append(target / name)
        yield paths if len(paths) == len(sources) else None
        is_complete = len(paths) == len(sources)
    finally:
        for path in old - new if is_complete else new - old:
            shutil.rmtree(path, ignore_errors=True)


class VirtualEndpoint(EndpointWrapper):
    """Replaces virtual predicates by property paths and passes the query to `inner`.

    `paths` are the property paths by the IRI of the virtual predicate; queries need not declare
    `prefixes`. A negated property set with a virtual predicate is a `QueryError`.
    """

    def __init__(
        self, inner: Endpoint, paths: VirtualPaths, *, prefixes: Mapping[str, str] | None = None
    ) -> None:
        super().__init__(inner)
        self._paths = paths
        self._prefixes = prefixes
        self.services: frozenset[str] = getattr(inner, "services", frozenset())

    async def _run_request(
        self, request: EndpointRequest, kind: type[Kind], run: RunOnEndpoint[Kind]
    ) -> Kind:
        text = expand_virtual_query(request.query, self._paths, prefixes=self._prefixes)
        return await run(self._inner, text, request.timeout)
