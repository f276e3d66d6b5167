"""Hybrid indices of what a graph's prompts are made of, built once and kept with its names.

Words (BM25) and spellings (trigrams) are always searched; meanings (vectors) where there is an
embedding model. The three are joined by `askgraph.index.hybrid`.
"""

import shutil
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from tempfile import mkdtemp
from typing import cast
from weakref import WeakKeyDictionary, finalize

from askgraph import registry
from askgraph.graph import KnowledgeGraph
from askgraph.index import DiskIndex, Resource
from askgraph.index.embeddings import kept_embedder
from askgraph.index.hybrid import HybridIndex
from askgraph.index.names import NameIndex

__all__ = ["keep_index", "kept_index"]

_LEXICAL = ("bm25", "trigram")


@dataclass(frozen=True, eq=False)
class _Kept:
    source: object
    index: HybridIndex


_KEPT: WeakKeyDictionary[NameIndex, dict[tuple[str, str], _Kept]] = WeakKeyDictionary()


def kept_index(
    graph: KnowledgeGraph, what: str, source: object, embedder: str = ""
) -> HybridIndex | None:
    """Return the index of `what` a graph has, where it was built from this source."""
    known = _KEPT.get(graph.names, {}).get((what, embedder))
    return known.index if known is not None and known.source == source else None


def keep_index(
    graph: KnowledgeGraph,
    what: str,
    source: object,
    resources: Sequence[Resource],
    embedder: str = "",
) -> HybridIndex:
    """Build the index of `what` a graph has and keep it, in place of one from an older source.

    It may wait for a model: call it in a thread. Raises `SetupError` for an embedder that does not
    exist and `ServiceError` where its server fails.
    """
    index = _built(resources, embedder)
    _KEPT.setdefault(graph.names, {})[what, embedder] = _Kept(source, index)
    return index


def _built(resources: Sequence[Resource], embedder: str) -> HybridIndex:
    """An index in a folder of its own, which goes with it."""
    folder = Path(mkdtemp(prefix="askgraph-"))
    try:
        parts: list[DiskIndex] = [
            _plugin(kind).build(resources, folder / kind) for kind in _LEXICAL
        ]
        if embedder:
            vectors = kept_embedder(embedder)
            build = cast("Callable[..., DiskIndex]", _plugin("vector").build)
            parts.append(build(resources, folder / "vector", embedder=vectors))
    except BaseException:
        shutil.rmtree(folder, ignore_errors=True)
        raise
    index = HybridIndex(tuple(parts))
    finalize(index, shutil.rmtree, folder, ignore_errors=True)
    return index


def _plugin(kind: str) -> type[DiskIndex]:
    return cast("type[DiskIndex]", registry.load("index", kind))
