"""A graph's data folder, opened in milliseconds, and the files that it was built from.

store/            the triples in Oxigraph, for SPARQL
arrays/*.npy      the same triples as sorted integers, for growing candidates
names_*.npy       every name
profile.json      what is known of the graph
enrichment.toml   what was added virtually, if that is so
types.toml        the graph's own predicates for what things are, if it has such
built.json        from which files it was built; written last
indices/          search indices, built when first asked for
"""

import contextlib
import hashlib
import json
import shutil
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from askgraph.atomic_files import OLD_SUFFIX, lock_file, make_temporary_path, to_no_space_error
from askgraph.endpoint import Endpoint
from askgraph.endpoint.oxigraph import OxigraphEndpoint
from askgraph.errors import SetupError
from askgraph.graph.arrays import GraphArrays
from askgraph.graph.profile import Profile
from askgraph.index.names import NameIndex
from askgraph.workspace.settings import GraphSettings

if TYPE_CHECKING:
    from askgraph.endpoint.http import HttpEndpoint
    from askgraph.endpoint.public_only import Guard
    from askgraph.sparql.rewrite.virtual import VirtualPaths

ENRICHMENT = "enrichment.toml"
TYPES = "types.toml"
FORMAT = 1
"""Grows whenever what lies in a data folder changes its form; older folders are built again."""
KEYS = ("entities", "properties", "literals")
"""The indices that each graph has."""
_SURE_ENDINGS = (".ttl", ".turtle", ".nt", ".nq", ".trig", ".rdf", ".owl", ".jsonld")
_ENDINGS = (*_SURE_ENDINGS, ".xml", ".json")
_PAGES = (".html", ".htm", ".xhtml")
_PACKED = (".gz", ".bz2", ".xz")
_HASHED_BELOW = 64 * 2**20


@dataclass(frozen=True)
class SourceFile:
    """A file as it was when it was read; big ones are known by size and time only."""

    path: str
    size: int
    modified: int
    sha256: str | None = None

    def stored(self) -> dict[str, Any]:
        """Return it as JSON has it."""
        return asdict(self)


class WrittenByNewer(SetupError):
    """A data folder has a form that only a newer askgraph knows: it is left as it is."""


def known_sources(folder: Path) -> tuple[SourceFile, ...]:
    """Return the files that a data folder was built from.

    Raises `SetupError` if it is unusable, `WrittenByNewer` if it is that only here.
    """
    try:
        built = json.loads((folder / "built.json").read_text(encoding="utf-8"))
        if built["format"] == FORMAT:
            return tuple(SourceFile(**file) for file in built["sources"])
        newer = built["format"] > FORMAT
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise SetupError(f"the data folder {folder} is incomplete or damaged") from error
    if newer:
        raise WrittenByNewer(
            f"the data folder {folder} was written by a newer askgraph (its form is "
            f"{built['format']}, this one knows {FORMAT}): install that version or a later one, or "
            "add the graph again with --replace"
        )
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


def known_paths(folder: Path, file: str = ENRICHMENT) -> "VirtualPaths":
    """Return the virtual predicates of a data folder with the paths that they stand for."""
    if not (folder / file).is_file():
        return {}
    from askgraph.graph.definitions import (
        read_definitions,
        resolve_virtual_paths,
    )  # few are enriched

    return resolve_virtual_paths(read_definitions(folder / file))


def all_paths(folder: Path) -> "VirtualPaths":
    """Return the virtual predicates, and the standard ones that the graph has by other names."""
    return {**known_paths(folder, TYPES), **known_paths(folder)}


def open_endpoint(
    settings: GraphSettings,
    data: Path,
    *,
    cache: Path,
    prefixes: Mapping[str, str] | None = None,
    services: frozenset[str] = frozenset(),
) -> Endpoint:
    """Open only the endpoint of a graph; queries need not declare `prefixes`.

    If the graph was enriched virtually, queries may use its virtual predicates. `services` are
    those that a server evaluates itself.
    """
    if settings.url:
        own = _cached_endpoint(settings, cache, prefixes, services)
    else:
        endpoint = OxigraphEndpoint(
            data / "store",
            timeout=settings.timeout,
            graphs=settings.graphs or None,
            prefixes=dict(prefixes or {}),
        )
        endpoint.start()
        own = endpoint
    paths = all_paths(data)
    if not paths:
        return own

    from askgraph.endpoint.virtual import VirtualEndpoint  # few graphs have virtual predicates

    return VirtualEndpoint(own, paths, prefixes=prefixes)


def _cached_endpoint(
    settings: GraphSettings,
    folder: Path,
    prefixes: Mapping[str, str] | None,
    services: frozenset[str],
) -> Endpoint:
    endpoint = remote_endpoint(settings, prefixes)
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


def remote_endpoint(
    settings: GraphSettings, prefixes: Mapping[str, str] | None = None
) -> "HttpEndpoint":
    """Return the endpoint behind a URL, as the settings say."""
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
        guard=guard_of(settings),
        a_minute=settings.requests_a_minute,
    )


def guard_of(settings: GraphSettings) -> "Guard | None":
    """Return what keeps a graph that was added over the web to public addresses."""
    if not settings.public_only:
        return None
    from askgraph.endpoint.public_only import Guard

    return Guard(settings.private_addresses)


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


def is_url(source: str) -> bool:
    """Whether a source is the address of an endpoint."""
    return source.startswith(("http://", "https://"))


def rdf_files(sources: Sequence[str | Path]) -> list[Path]:
    """Return the RDF files that the sources name; of a folder, all in it and below.

    Raises `SetupError` for a missing path, an unknown kind of file, a folder without RDF.
    """
    files: list[Path] = []
    for source in sources:
        path = Path(source).expanduser().absolute()
        if path.is_dir():
            files += _inside(path)
        elif not path.exists():
            raise SetupError(
                f"there is no file or folder {str(source)!r}: name RDF files, a folder of them, or "
                "the URL of an endpoint"
            )
        elif path.suffix.lower() in _PAGES:
            raise SetupError(
                f"{str(source)!r} is a web page, not RDF: save the data that it links to"
            )
        elif not _is_rdf(path):
            raise SetupError(
                f"{str(source)!r} is of no known kind; askgraph reads {', '.join(_ENDINGS)}, "
                f"each also with {', '.join(_PACKED)}"
            )
        else:
            files.append(path)
    return list(dict.fromkeys(files))


def fingerprint(files: Iterable[Path]) -> tuple[SourceFile, ...]:
    """Return what tells these files from later ones."""
    found = []
    for path in files:
        status = path.stat()
        digest = _digest(path) if status.st_size < _HASHED_BELOW else None
        found.append(SourceFile(str(path), status.st_size, status.st_mtime_ns, digest))
    return tuple(found)


def changed_file(
    known: Iterable[SourceFile], sources: Sequence[str | Path], *, also: Sequence[Path] = ()
) -> str | None:
    """Return a file that changed, came or went since it was read, or None if all is the same.

    `also` are files that were read besides the sources. Raises `SetupError` if a source is gone
    altogether.
    """
    before = {file.path: file for file in known}
    now = [*rdf_files(sources), *also]
    for path in now:
        file = before.pop(str(path), None)
        if file is None or differs(file, path):
            return str(path)
    return next(iter(before), None)


def differs(file: SourceFile, path: Path) -> bool:
    """Whether a file is another one than it was; read whole only if its time has changed."""
    status = path.stat()
    if status.st_size != file.size:
        return True
    if status.st_mtime_ns == file.modified:
        return False
    return file.sha256 is None or _digest(path) != file.sha256


def _inside(folder: Path) -> list[Path]:
    """RDF files in a folder; `.xml` and `.json` may be anything, and are read when named."""
    found = sorted(
        path
        for path in folder.rglob("*")
        if _is_rdf(path, _SURE_ENDINGS)
        and path.is_file()
        and not any(part.startswith(".") for part in path.relative_to(folder).parts)
    )
    if not found:
        endings = ", ".join(_SURE_ENDINGS)
        raise SetupError(f"the folder {str(folder)!r} holds no RDF file ({endings})")
    return found


def _is_rdf(path: Path, endings: tuple[str, ...] = _ENDINGS) -> bool:
    name = path.name.lower()
    for ending in _PACKED:
        name = name.removesuffix(ending)
    return name.endswith(endings)


def _digest(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


@contextlib.contextmanager
def replacing(folder: Path) -> Iterator[Path]:
    """Give an empty folder that takes the place of this one once it is filled without error.

    What runs that were killed left behind goes; what one of them had put away comes back. Raises
    `NoSpace` if the disk is full.
    """
    folder.parent.mkdir(parents=True, exist_ok=True)
    made = make_temporary_path(folder)
    old = made.with_name(made.name + OLD_SUFFIX)
    made.mkdir()
    try:
        yield made
        with lock_file(folder.parent / ".lock"):
            if folder.exists():
                folder.rename(old)
            made.rename(folder)
    except OSError as error:
        if full := to_no_space_error(f"{folder.name!r} cannot be built", error):
            raise full from error
        raise
    finally:
        shutil.rmtree(made, ignore_errors=True)
        if old.exists() and not folder.exists():
            old.rename(folder)
        shutil.rmtree(old, ignore_errors=True)
