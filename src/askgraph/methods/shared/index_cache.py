"""Indices of what a graph's prompts are made of, built once and kept with the graph's names.

Those whose source has a digest are kept in the graph's folder, too, and opened by other processes.

A hybrid index always searches words (BM25) and spellings (trigrams), and meanings (vectors) if
there is an embedding model; `askgraph.index.hybrid` joins the three. BM25 alone over labels,
synonyms and descriptions, with k1 and b tuned, is the first half of retrieve and reason (Alekseev
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
from askgraph.index.embeddings import kept_embedder
from askgraph.index.hybrid import HybridIndex
from askgraph.index.names import NameIndex

_LEXICAL = ("bm25", "trigram")
_KEPT_ON_DISK = 4  # indices of one kind, of as many sources


_HYBRID: WeakKeyDictionary[NameIndex, dict[tuple[str, str], tuple[object, HybridIndex]]] = (
    WeakKeyDictionary()
)
_RANKED: WeakKeyDictionary[NameIndex, dict[str, Path]] = WeakKeyDictionary()
_LOCK = Lock()


def kept_index(
    graph: KnowledgeGraph, what: str, source: object, embedder: str = "", *, digest: str = ""
) -> HybridIndex | None:
    """Return the index of `what` a graph has, if it was built from this source.

    With a `digest` of the source it may be one that another process has built.
    """
    known = _HYBRID.get(graph.names, {}).get((what, embedder))
    if known is not None and known[0] == source:
        return known[1]
    place = _place(graph, what, embedder, digest)
    if place is None or not place.is_dir():
        return None
    try:
        index = _opened(place, embedder)
    except SetupError:  # damaged, or of another version: it is built anew
        return None
    _HYBRID.setdefault(graph.names, {})[what, embedder] = source, index
    return index


def keep_index(
    graph: KnowledgeGraph,
    what: str,
    source: object,
    resources: Sequence[Resource],
    embedder: str = "",
    *,
    digest: str = "",
) -> HybridIndex:
    """Build the index of `what` a graph has and keep it, in place of one from an older source.

    With a `digest` of the source it is kept on disk as well, if that can be written. It may wait
    for a model: call it in a thread. Raises `SetupError` for an embedder that does not exist and
    `ServiceError` if its server fails.
    """
    with _new_folder() as folder:
        parts: list[DiskIndex] = [
            _plugin(kind).build(resources, folder / kind) for kind in _LEXICAL
        ]
        if embedder:
            vectors = kept_embedder(embedder)
            build = cast("Callable[..., DiskIndex]", _plugin("vector").build)
            parts.append(build(resources, folder / "vector", embedder=vectors))
    place = _place(graph, what, embedder, digest)
    if place is not None and _put(folder, place):
        index = _opened(place, embedder)
    else:
        index = HybridIndex(tuple(parts))
        finalize(index, shutil.rmtree, folder, ignore_errors=True)
    _HYBRID.setdefault(graph.names, {})[what, embedder] = source, index
    return index


def _place(graph: KnowledgeGraph, what: str, embedder: str, digest: str) -> Path | None:
    """The folder of an index that is kept on disk."""
    if graph.cache_folder is None or not digest:
        return None
    named = hashlib.sha256(f"{embedder}\n{digest}".encode()).hexdigest()[:32]
    return graph.cache_folder / f"{what.replace(' ', '-')}~{named}"


def _put(folder: Path, place: Path) -> bool:
    """Move a folder to its place, and take the oldest of its kind away; whether it is there."""
    new = place.with_name(f"{place.name}~new{folder.name}")
    try:
        place.parent.mkdir(parents=True, exist_ok=True)
        shutil.rmtree(place, ignore_errors=True)
        shutil.move(folder, new)
        new.rename(place)
        kind = place.name.partition("~")[0]
        others = sorted(place.parent.glob(f"{kind}~*"), key=lambda one: -one.stat().st_mtime)
        for old in others[_KEPT_ON_DISK:]:
            shutil.rmtree(old, ignore_errors=True)
    except OSError:
        return False
    return True


def _opened(place: Path, embedder: str) -> HybridIndex:
    parts: list[DiskIndex] = [_plugin(kind).open(place / kind) for kind in _LEXICAL]
    if embedder:
        parts.append(_plugin("vector").open(place / "vector", embedder=kept_embedder(embedder)))
    return HybridIndex(tuple(parts))


@dataclass(frozen=True)
class Bm25:
    """The two numbers of BM25: what repetition counts for (`k1`), what length costs (`b`)."""

    k1: float = 1.2
    b: float = 0.75

    def __str__(self) -> str:
        return f"{self.k1:g}/{self.b:g}"


def bm25_of(text: str) -> Bm25:
    """Read `K1/B`, as `1.2/0.75`; `SetupError` for another text and for numbers out of range."""
    first, slash, second = text.partition("/")
    try:
        found = Bm25(float(first), float(second))
    except ValueError:
        slash = ""
    if not slash or not (found.k1 >= 0 and 0 <= found.b <= 1):
        raise SetupError(
            f"BM25 is set as K1/B, with K1 of 0 or more and B between 0 and 1, as 1.2/0.75; "
            f"not {text!r}"
        )
    return found


def ranked_names(graph: KnowledgeGraph, key: str, bm25: Bm25, *, least: int = 0) -> DiskIndex:
    """Return the index `key` (entities, properties) of a graph, ranked by BM25.

    What fewer than `least` different predicates leave is not in it; that needs the graph's arrays.
    It is built from the graph's own index when first asked for, and kept with that, or else as long
    as its names are. That takes time: from asynchronous code, call it in a thread. Raises
    `SetupError` if the graph has no such index.
    """
    with _LOCK:
        kept = _RANKED.setdefault(graph.names, {})
        named = f"{key} {least}" if least else key
        if named not in kept or not kept[named].is_dir():
            if key not in graph.indices:
                raise SetupError(f"the graph {graph.name!r} has no index of {key}")
            kept[named] = _ranked(graph, key, least)
    return cast("DiskIndex", _plugin("bm25").open(kept[named], k1=bm25.k1, b=bm25.b))


def _ranked(graph: KnowledgeGraph, key: str, least: int) -> Path:
    """The folder of a graph's names by BM25: on disk already, or built."""
    what = f"bm25 {key} {least}" if least else f"bm25 {key}"
    place = _place(graph, what, "", graph.snapshot)
    if place is not None and (place / key).is_dir():
        return place / key
    known = cast("DiskIndex", graph.indices[key])
    with _new_folder() as folder:
        resources = known.resources()
        _plugin("bm25").build(_described(graph, resources, least), folder / key)
    if place is not None and _put(folder, place):
        return place / key
    finalize(graph.names, shutil.rmtree, folder, ignore_errors=True)
    return folder / key


def _described(
    graph: KnowledgeGraph, resources: Iterable[Resource], least: int
) -> Iterable[Resource]:
    """Those that so many different predicates leave."""
    arrays = graph.arrays
    if not least or arrays is None:
        return resources
    places = ((one, arrays.terms.find_iri(one.iri)) for one in resources)
    return [
        one
        for one, at in places
        if at is not None and arrays.count_outgoing_predicates(at) >= least
    ]


@contextmanager
def _new_folder() -> Iterator[Path]:
    """Make a folder, which is removed again if it cannot be filled."""
    folder = Path(mkdtemp(prefix="askgraph-"))
    try:
        yield folder
    except BaseException:
        shutil.rmtree(folder, ignore_errors=True)
        raise


def _plugin(kind: str) -> Any:
    return plugins.load("index", kind)
