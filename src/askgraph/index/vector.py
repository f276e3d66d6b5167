"""Embeddings: the names nearest in meaning to the search, by the cosine of their vectors.

GRASP (arXiv 2507.08107, section 3, "Similarity index") searches properties so. The label and each
synonym have a vector each; the best one ranks the resource. Every search finds something: the
least unlike names. `infos` are not embedded.

Up to 100,000 names the search compares all. Above, it compares those in the nearest cells (an
inverted file over one byte a dimension), and ranks what it finds by the exact cosine. With `within`
it always compares all that are in it.
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
    Best,
    Numbers,
    Scores,
    Table,
    Tabled,
    TableWriter,
    best_names,
    positive,
)
from askgraph.index.embeddings import Embedder, Vectors, embedder_of, unit_length
from askgraph.index.folder import Folder, Kind, NewFolder, new_folder

__all__ = ["VectorIndex"]

_KIND = Kind("vector", 1)
_BATCH = 1024
_BLOCK = 1 << 16
_EXACT_BELOW = 100_000
_PROBED = 64
_CELLS = "cells.faiss"


@dataclass(frozen=True, eq=False, repr=False)
class VectorIndex(Tabled):
    """Read-only and memory-mapped, but for the centres of the cells."""

    vectors: Vectors  # of length 1, in the order in which the names came
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
        exact_below: int = _EXACT_BELOW,
    ) -> Self:
        """Write an index; see `DiskIndex.build`. Without an embedder, spellings are compared."""
        embedder = embedder or embedder_of("hashed")
        with new_folder(folder, _KIND, {"embedder": embedder.name}) as new:
            table, writer = TableWriter(new), _VectorWriter(new, embedder)
            for resource in table.taken(resources, progress):
                writer.add(resource.names)
            _, names = table.finish()
            writer.finish()
            rows = np.empty(len(names), dtype=np.int32)
            rows[names] = np.arange(len(names))
            new.save("vector_rows", rows)
            new.save("vector_names", names.astype(np.int32))
            if len(names) >= exact_below:
                shape = writer.shape
                vectors = np.load(new.path / "vector_vectors.npy", mmap_mode="r")
                cells = max(1, int(2 * shape[0] ** 0.5))
                index = faiss.index_factory(shape[1], f"IVF{cells},SQ8", faiss.METRIC_INNER_PRODUCT)
                chosen = np.random.default_rng(0).choice(
                    shape[0], min(shape[0], 40 * cells), replace=False
                )
                index.train(np.ascontiguousarray(vectors[np.sort(chosen)]))
                for at in range(0, shape[0], _BLOCK):
                    index.add(np.ascontiguousarray(vectors[at : at + _BLOCK]))
                faiss.write_index(index, str(new.path / _CELLS))
        return cls.open(folder, embedder=embedder)

    @classmethod
    def open(cls, folder: Path, *, embedder: Embedder | None = None) -> Self:
        """Map an index into memory; `SetupError` if it was built with another embedder."""
        opened = Folder.open(folder, _KIND)
        name = opened.text("embedder")
        if embedder is not None and embedder.name != name:
            raise SetupError(
                f"the index {str(folder)!r} was built with the embedder {name!r}, not "
                f"{embedder.name!r}; build it anew or search with that one"
            )
        cells = opened.path / _CELLS
        vectors, rows, names = map(opened.array, ("vector_vectors", "vector_rows", "vector_names"))
        nearby = _opened_cells(cells) if cells.exists() else None
        return cls(Table.open(opened), vectors, rows, names, nearby, embedder or embedder_of(name))

    def search(
        self, text: str, *, limit: int = 10, within: Collection[str] | None = None
    ) -> Sequence[Hit[Resource]]:
        """Return the best resources, unlike ones too; see `SearchIndex.search`."""
        positive(limit)
        if not text.strip() or not len(self):
            return []
        wanted = unit_length(np.asarray(self.embedder.embed([text])))[0]
        if len(wanted) != self.vectors.shape[1]:
            raise SetupError(
                f"{self.embedder.name!r} gives {len(wanted)} dimensions, the index has "
                f"{self.vectors.shape[1]}; build it anew"
            )
        if within is not None:
            names = self.table.names_of(self.table.numbers_of(within))
            best = self._ranked(names, self._cosines(self.rows[names], wanted), limit)
        elif self.cells is None:
            names = np.arange(len(self.rows))
            best = self._ranked(names, self._cosines(None, wanted)[self.rows], limit)
        else:
            best = self._near(self.cells, wanted, limit)
        return [Hit(h.item, h.score - _ABOVE_ZERO, h.name) for h in best.hits(self.table)]

    def _near(self, cells: faiss.Index, wanted: Vectors, limit: int) -> Best:
        count = 8 * limit + 64
        while True:
            found = cells.search(wanted[None], count)[1][0]
            names = np.sort(self.names[found[found >= 0]]).astype(np.int64)
            best = self._ranked(names, self._cosines(self.rows[names], wanted), limit)
            if len(best.found) == limit or len(names) < count:
                return best
            count *= 8

    def _ranked(self, names: Numbers, cosines: Scores, limit: int) -> Best:
        return best_names(self.table, names, cosines + _ABOVE_ZERO, limit)

    def _cosines(self, rows: NDArray[np.int32] | None, wanted: Vectors) -> Scores:
        """Return the cosines of some rows, or of all, a block at a time."""
        total = len(self.vectors) if rows is None else len(rows)
        cosines = np.empty(total)
        for at in range(0, total, _BLOCK):
            block = slice(at, min(at + _BLOCK, total))
            vectors = self.vectors[block if rows is None else rows[block]]
            cosines[block] = vectors @ wanted
        return cosines


# A cosine may be 0 or less; the rankings drop what does not match at all.
_ABOVE_ZERO = 2.0


class _VectorWriter:
    """Embeds names a batch at a time and appends their vectors to a file."""

    def __init__(self, folder: NewFolder, embedder: Embedder) -> None:
        self._folder = folder
        self._embedder = embedder
        self._waiting: list[str] = []
        self.shape = (0, 0)

    def add(self, names: Iterable[str]) -> None:
        """Take names."""
        self._waiting.extend(names)
        while len(self._waiting) >= _BATCH:
            self._embed(self._waiting[:_BATCH])
            del self._waiting[:_BATCH]

    def finish(self) -> None:
        """Embed what is left and make the file an array."""
        if self._waiting:
            self._embed(self._waiting)
        raw = self._folder.path / "raw"
        array = np.zeros(self.shape, dtype=np.float32)
        if raw.exists():
            array = np.memmap(raw, dtype=np.float32, mode="r", shape=self.shape)
        self._folder.save("vector_vectors", array)
        raw.unlink(missing_ok=True)

    def _embed(self, names: list[str]) -> None:
        vectors = unit_length(np.asarray(self._embedder.embed(names), dtype=np.float32))
        with (self._folder.path / "raw").open("ab") as file:
            file.write(vectors.tobytes())
        self.shape = (self.shape[0] + len(vectors), vectors.shape[1])


def _opened_cells(path: Path) -> faiss.Index:
    try:
        cells = faiss.read_index(str(path), faiss.IO_FLAG_MMAP)
    except RuntimeError as error:
        raise SetupError(f"the index {str(path.parent)!r} is damaged: {error}") from error
    faiss.ParameterSpace().set_index_parameter(cells, "nprobe", _PROBED)
    return cells
