"""Indices for the prompts of a graph, built once and cached with the graph's names.

An index whose source has a digest is also stored in the graph's folder, where other processes open
it.

A hybrid index always searches words (BM25) and spellings (trigrams), and meanings (vectors) if
there is an embedding model; `askgraph.index.hybrid` joins the three. BM25 alone over labels,
synonyms and descriptions, with tuned k1 and b, is the first half of retrieve and reason (Alekseev
et al., NLDB 2025, section 4.1).
"""

import hashlib
import shutil
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from tempfile import mkdtemp
from threading import Lock
from typing import Any, cast
from weakref import WeakKeyDictionary, finalize

from askgraph import plugins
from askgraph.errors import SetupError
from askgraph.graph import KnowledgeGraph
from askgraph.index import DiskIndex, Resource
from askgraph.index.embeddings import get_embedder
from askgraph.index.hybrid import HybridIndex
from askgraph.index.names import NameIndex

_LEXICAL_KINDS = ("bm25", "trigram")
_MAX_STORED_INDICES = 4  # indices of one kind, of as many sources


_HYBRID_INDICES: WeakKeyDictionary[NameIndex, dict[tuple[str, str], tuple[object, HybridIndex]]] = (
    WeakKeyDictionary()
)
_BM25_FOLDERS: WeakKeyDictionary[NameIndex, dict[str, Path]] = WeakKeyDictionary()
_LOCK = Lock()


def get_index(
    graph: KnowledgeGraph, content: str, source: object, embedder: str = "", *, digest: str = ""
) -> HybridIndex | None:
    """Return the index of some `content` of a graph if it was built from this source, or None.

    With a `digest` of the source, the index may come from disk, built by another process.
    """
    cached = _HYBRID_INDICES.get(graph.names, {}).get((content, embedder))
    if cached is not None and cached[0] == source:
        return cached[1]
    folder = _get_stored_folder(graph, content, embedder, digest)
    if folder is None or not folder.is_dir():
        return None
    try:
        index = _open_index(folder, embedder)
    except SetupError:  # damaged or of another version: rebuild it
        return None
    _HYBRID_INDICES.setdefault(graph.names, {})[content, embedder] = source, index
    return index


def build_index(
    graph: KnowledgeGraph,
    content: str,
    source: object,
    resources: Sequence[Resource],
    embedder: str = "",
    *,
    digest: str = "",
) -> HybridIndex:
    """Build the index of some `content` of a graph, and cache it in place of an older one.

    With a `digest` of the source, the index is also stored on disk if possible. It may wait for a
    model: call it in a thread.

    Raises:
        SetupError: the embedder does not exist.
        ServiceError: the embedder's server fails.
    """
    with _create_folder() as folder:
        parts: list[DiskIndex] = [
            _load_plugin(kind).build(resources, folder / kind) for kind in _LEXICAL_KINDS
        ]
        if embedder:
            vectors = get_embedder(embedder)
            build = cast("Callable[..., DiskIndex]", _load_plugin("vector").build)
            parts.append(build(resources, folder / "vector", embedder=vectors))
    stored_folder = _get_stored_folder(graph, content, embedder, digest)
    if stored_folder is not None and _store_folder(folder, stored_folder):
        index = _open_index(stored_folder, embedder)
    else:
        index = HybridIndex(tuple(parts))
        finalize(index, shutil.rmtree, folder, ignore_errors=True)
    _HYBRID_INDICES.setdefault(graph.names, {})[content, embedder] = source, index
    return index


def _get_stored_folder(
    graph: KnowledgeGraph, content: str, embedder: str, digest: str
) -> Path | None:
    """Return the folder of a stored index; None if the index is not stored."""
    if graph.cache_folder is None or not digest:
        return None
    digest_name = hashlib.sha256(f"{embedder}\n{digest}".encode()).hexdigest()[:32]
    return graph.cache_folder / f"{content.replace(' ', '-')}~{digest_name}"


def _store_folder(folder: Path, target: Path) -> bool:
    """Move a folder to its target and delete the oldest of its kind; return whether it worked."""
    temporary = target.with_name(f"{target.name}~new{folder.name}")
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.rmtree(target, ignore_errors=True)
        shutil.move(folder, temporary)
        temporary.rename(target)
        kind = target.name.partition("~")[0]
        folders = sorted(target.parent.glob(f"{kind}~*"), key=lambda path: -path.stat().st_mtime)
        for old_folder in folders[_MAX_STORED_INDICES:]:
            shutil.rmtree(old_folder, ignore_errors=True)
    except OSError:
        return False
    return True


def _open_index(folder: Path, embedder: str) -> HybridIndex:
    parts: list[DiskIndex] = [_load_plugin(kind).open(folder / kind) for kind in _LEXICAL_KINDS]
    if embedder:
        parts.append(
            _load_plugin("vector").open(folder / "vector", embedder=get_embedder(embedder))
        )
    return HybridIndex(tuple(parts))


@dataclass(frozen=True)
class Bm25Parameters:
    """The parameters of BM25: `k1` weighs repetition, `b` normalizes by length."""

    k1: float = 1.2
    b: float = 0.75

    def __str__(self) -> str:
        return f"{self.k1:g}/{self.b:g}"


def parse_bm25(text: str) -> Bm25Parameters:
    """Parse `K1/B`, as in `1.2/0.75`.

    Raises:
        SetupError: the text has another form, or a number is out of range.
    """
    first, slash, second = text.partition("/")
    try:
        parameters = Bm25Parameters(float(first), float(second))
    except ValueError:
        slash = ""
    if not slash or not (parameters.k1 >= 0 and 0 <= parameters.b <= 1):
        raise SetupError(
            "BM25 must be written as K1/B with K1 of 0 or more and B between 0 and 1, such "
            f"as 1.2/0.75, not {text!r}"
        )
    return parameters


def open_bm25_index(
    graph: KnowledgeGraph, key: str, bm25: Bm25Parameters, *, min_predicates: int = 0
) -> DiskIndex:
    """Return the index `key` (entities, properties) of a graph, ranked by BM25.

    It is built from the graph's own index at the first call, and then stored with it or kept as
    long as the graph's names. Building takes time: call it in a thread.

    Args:
        min_predicates: leave out terms with fewer different outgoing predicates; needs the graph's
            arrays.

    Raises:
        SetupError: the graph has no such index.
    """
    with _LOCK:
        folders = _BM25_FOLDERS.setdefault(graph.names, {})
        folder_key = f"{key} {min_predicates}" if min_predicates else key
        if folder_key not in folders or not folders[folder_key].is_dir():
            if key not in graph.indices:
                raise SetupError(f"the graph {graph.name!r} has no index of {key}")
            folders[folder_key] = _build_bm25_folder(graph, key, min_predicates)
    return cast("DiskIndex", _load_plugin("bm25").open(folders[folder_key], k1=bm25.k1, b=bm25.b))


def _build_bm25_folder(graph: KnowledgeGraph, key: str, min_predicates: int) -> Path:
    """Return the folder of a BM25 index, building it if it is not stored."""
    content = f"bm25 {key} {min_predicates}" if min_predicates else f"bm25 {key}"
    stored_folder = _get_stored_folder(graph, content, "", graph.snapshot)
    if stored_folder is not None and (stored_folder / key).is_dir():
        return stored_folder / key
    source_index = cast("DiskIndex", graph.indices[key])
    with _create_folder() as folder:
        resources = source_index.iterate_resources()
        _load_plugin("bm25").build(
            _filter_resources(graph, resources, min_predicates), folder / key
        )
    if stored_folder is not None and _store_folder(folder, stored_folder):
        return stored_folder / key
    finalize(graph.names, shutil.rmtree, folder, ignore_errors=True)
    return folder / key


def _filter_resources(
    graph: KnowledgeGraph, resources: Iterable[Resource], min_predicates: int
) -> Iterable[Resource]:
    """Return the resources with at least `min_predicates` different outgoing predicates."""
    arrays = graph.arrays
    if not min_predicates or arrays is None:
        return resources
    numbered_resources = ((resource, arrays.terms.find_iri(resource.iri)) for resource in resources)
    return [
        resource
        for resource, number in numbered_resources
        if number is not None and arrays.count_outgoing_predicates(number) >= min_predicates
    ]


@contextmanager
def _create_folder() -> Iterator[Path]:
    """Create a folder, and remove it again if the block fails."""
    folder = Path(mkdtemp(prefix="askgraph-"))
    try:
        yield folder
    except BaseException:
        shutil.rmtree(folder, ignore_errors=True)
        raise


def _load_plugin(kind: str) -> Any:
    return plugins.load("index", kind)
