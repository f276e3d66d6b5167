"""Embeddings: the names nearest in meaning to the search, by the cosine of their vectors.

GRASP (arXiv 2507.08107, section 3, "Similarity index") searches properties in this way. The label
and each synonym have a vector each; the best ranks the resource. Every search has hits: the least
dissimilar names. `infos` are not embedded.

Up to 100,000 names, a search compares all of them. Above, it compares those in the nearest cells
(an inverted file with one byte for each dimension) and ranks them by the exact cosine. With
`within` it always compares all allowed names.
"""

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Self

import faiss
import numpy as np
from numpy.typing import NDArray

from askgraph.errors import SetupError
from askgraph.index import Hit, Progress, Resource
from askgraph.index._table import (
    BestNames,
    Numbers,
    ResourceTable,
    Scores,
    TableIndex,
    TableWriter,
    check_limit,
    rank_names,
)
from askgraph.index.embeddings import Embedder, Vectors, create_embedder, normalize_rows
from askgraph.index.folder import IndexFolder, IndexFolderWriter, IndexFormat, create_folder

__all__ = ["VectorIndex"]

_KIND = IndexFormat("vector", 1)
_BATCH_SIZE = 1024
_BLOCK_ROWS = 1 << 16
_MIN_CELLS_COUNT = 100_000
_PROBED_CELLS_COUNT = 64
_CELLS_FILE = "cells.faiss"


@dataclass(frozen=True, eq=False, repr=False)
class VectorIndex(TableIndex):
    """A vector index; memory-mapped but for the centres of the cells.

    Attributes:
        vectors: unit vectors of the names, in the order of the build.
        rows: the row of each name.
        names: the name of each row.
        cells: the inverted file; None for a small index.
        embedder: embeds the searches.
    """

    vectors: Vectors  # unit vectors, in the order of the names
    rows: NDArray[np.int32]  # of the names
    names: NDArray[np.int32]  # of the rows
    cells: faiss.Index | None
    embedder: Embedder

    @classmethod
    def build(
        cls,
        resources: Iterable[Resource],
        folder: Path,
        *,
        progress: Progress | None = None,
        embedder: Embedder | None = None,
        exact_below: int = _MIN_CELLS_COUNT,
    ) -> Self:
        """Write an index; see `DiskIndex.build`.

        The default embedder, `hashed`, compares spellings. Below `exact_below` names there are no
        cells.
        """
        embedder = embedder or create_embedder("hashed")
        with create_folder(folder, _KIND, {"embedder": embedder.name}) as writer:
            table, vector_writer = TableWriter(writer), _VectorWriter(writer, embedder)
            for resource in table.write_resources(resources, progress):
                vector_writer.add(resource.names)
            _, names = table.finish()
            vector_writer.finish()
            rows = np.empty(len(names), dtype=np.int32)
            rows[names] = np.arange(len(names))
            writer.save("vector_rows", rows)
            writer.save("vector_names", names.astype(np.int32))
            if len(names) >= exact_below:
                shape = vector_writer.shape
                vectors = np.load(writer.path / "vector_vectors.npy", mmap_mode="r")
                cells = max(1, int(2 * shape[0] ** 0.5))
                index = faiss.index_factory(shape[1], f"IVF{cells},SQ8", faiss.METRIC_INNER_PRODUCT)
                sample = np.random.default_rng(0).choice(
                    shape[0], min(shape[0], 40 * cells), replace=False
                )
                index.train(np.ascontiguousarray(vectors[np.sort(sample)]))
                for start in range(0, shape[0], _BLOCK_ROWS):
                    index.add(np.ascontiguousarray(vectors[start : start + _BLOCK_ROWS]))
                faiss.write_index(index, str(writer.path / _CELLS_FILE))
        return cls.open(folder, embedder=embedder)

    @classmethod
    def open(cls, folder: Path, *, embedder: Embedder | None = None) -> Self:
        """Map an index into memory; raise `SetupError` if another embedder built it."""
        opened = IndexFolder.open(folder, _KIND)
        name = opened.get_text("embedder")
        if embedder is not None and embedder.name != name:
            raise SetupError(
                f"the index {str(folder)!r} was built with the embedder {name!r}, not "
                f"{embedder.name!r}; build it again, or search with that embedder"
            )
        cells_path = opened.path / _CELLS_FILE
        vectors, rows, names = map(
            opened.map_array, ("vector_vectors", "vector_rows", "vector_names")
        )
        return cls(
            ResourceTable.open(opened),
            vectors,
            rows,
            names,
            _open_cells(cells_path) if cells_path.exists() else None,
            embedder or create_embedder(name),
        )

    def search(
        self, text: str, *, limit: int = 10, within: Collection[str] | None = None
    ) -> Sequence[Hit[Resource]]:
        """Return the best resources, however dissimilar; see `SearchIndex.search`."""
        check_limit(limit)
        if not text.strip() or not len(self):
            return []
        vector = normalize_rows(np.asarray(self.embedder.embed([text])))[0]
        if len(vector) != self.vectors.shape[1]:
            raise SetupError(
                f"{self.embedder.name!r} gives {len(vector)} dimensions, but the index has "
                f"{self.vectors.shape[1]}; build it again"
            )
        if within is not None:
            names = self.table.list_names(self.table.find_numbers(within))
            best = self._rank(names, self._compute_cosines(self.rows[names], vector), limit)
        elif self.cells is None:
            names = np.arange(len(self.rows))
            best = self._rank(names, self._compute_cosines(None, vector)[self.rows], limit)
        else:
            best = self._search_cells(self.cells, vector, limit)
        return [
            Hit(hit.item, hit.score - _POSITIVE_SCORE_OFFSET, hit.name)
            for hit in best.read_hits(self.table)
        ]

    def _search_cells(self, cells: faiss.Index, vector: Vectors, limit: int) -> BestNames:
        count = 8 * limit + 64
        while True:
            rows = cells.search(vector[None], count)[1][0]
            names = np.sort(self.names[rows[rows >= 0]]).astype(np.int64)
            best = self._rank(names, self._compute_cosines(self.rows[names], vector), limit)
            if len(best.entries) == limit or len(names) < count:
                return best
            count *= 8

    def _rank(self, names: Numbers, cosines: Scores, limit: int) -> BestNames:
        return rank_names(self.table, names, cosines + _POSITIVE_SCORE_OFFSET, limit)

    def _compute_cosines(self, rows: NDArray[np.int32] | None, vector: Vectors) -> Scores:
        """Return the cosines of some rows, or of all, in blocks."""
        total = len(self.vectors) if rows is None else len(rows)
        cosines = np.empty(total)
        for start in range(0, total, _BLOCK_ROWS):
            block = slice(start, min(start + _BLOCK_ROWS, total))
            cosines[block] = self.vectors[block if rows is None else rows[block]] @ vector
        return cosines


# A cosine may be 0 or less; the rankings drop such items.
_POSITIVE_SCORE_OFFSET = 2.0


class _VectorWriter:
    """Embeds names in batches and appends their vectors to a file."""

    def __init__(self, folder: IndexFolderWriter, embedder: Embedder) -> None:
        self._folder = folder
        self._embedder = embedder
        self._waiting: list[str] = []
        self.shape = (0, 0)

    def add(self, names: Iterable[str]) -> None:
        """Add names."""
        self._waiting.extend(names)
        while len(self._waiting) >= _BATCH_SIZE:
            self._embed(self._waiting[:_BATCH_SIZE])
            del self._waiting[:_BATCH_SIZE]

    def finish(self) -> None:
        """Embed the remaining names and convert the file to an array."""
        if self._waiting:
            self._embed(self._waiting)
        raw = self._folder.path / "raw"
        array = np.zeros(self.shape, dtype=np.float32)
        if raw.exists():
            array = np.memmap(raw, dtype=np.float32, mode="r", shape=self.shape)
        self._folder.save("vector_vectors", array)
        raw.unlink(missing_ok=True)

    def _embed(self, names: list[str]) -> None:
        vectors = normalize_rows(np.asarray(self._embedder.embed(names), dtype=np.float32))
        with (self._folder.path / "raw").open("ab") as file:
            file.write(vectors.tobytes())
        self.shape = (self.shape[0] + len(vectors), vectors.shape[1])


def _open_cells(path: Path) -> faiss.Index:
    try:
        cells = faiss.read_index(str(path), faiss.IO_FLAG_MMAP)
    except RuntimeError as error:
        raise SetupError(f"the index {str(path.parent)!r} is damaged: {error}") from error
    faiss.ParameterSpace().set_index_parameter(cells, "nprobe", _PROBED_CELLS_COUNT)
    return cells
