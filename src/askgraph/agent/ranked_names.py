"""BM25 over a graph's own names, whatever kind of index it is searched by otherwise.

Retrieval by BM25 over labels, synonyms and descriptions, with k1 and b tuned, is the first half of
retrieve and reason (Alekseev et al., NLDB 2025, section 4.1).
"""

import shutil
from dataclasses import dataclass
from pathlib import Path
from tempfile import mkdtemp
from threading import Lock
from typing import Any, cast
from weakref import WeakKeyDictionary, finalize

from askgraph import registry
from askgraph.errors import SetupError
from askgraph.graph import KnowledgeGraph
from askgraph.index import DiskIndex
from askgraph.index.names import NameIndex

__all__ = ["Bm25", "bm25_of", "ranked_names"]


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


def ranked_names(graph: KnowledgeGraph, key: str, bm25: Bm25) -> DiskIndex:
    """Return the index `key` (entities, properties) of a graph, ranked by BM25.

    It is built from the graph's own index when first asked for, and kept as long as its names are.
    That takes time: from asynchronous code, call it in a thread. Raises `SetupError` where the
    graph has no such index.
    """
    with _LOCK:
        kept = _KEPT.setdefault(graph.names, {})
        if key not in kept:
            kept[key] = _built(graph, key)
    return cast("DiskIndex", _plugin().open(kept[key], k1=bm25.k1, b=bm25.b))


_KEPT: WeakKeyDictionary[NameIndex, dict[str, Path]] = WeakKeyDictionary()
_LOCK = Lock()


def _built(graph: KnowledgeGraph, key: str) -> Path:
    """An index in a folder of its own, which goes with the graph's names."""
    if key not in graph.indices:
        raise SetupError(f"the graph {graph.name!r} has no index of {key}")
    known = cast("DiskIndex", graph.indices[key])
    folder = Path(mkdtemp(prefix="askgraph-"))
    try:
        _plugin().build(known.resources(), folder / key)
    except BaseException:
        shutil.rmtree(folder, ignore_errors=True)
        raise
    finalize(graph.names, shutil.rmtree, folder, ignore_errors=True)
    return folder / key


def _plugin() -> Any:
    return registry.load("index", "bm25")
