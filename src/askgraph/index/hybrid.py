"""Several indices as one: reciprocal-rank fusion of their hits.

Cormack, Clarke and Büttcher, "Reciprocal Rank Fusion outperforms Condorcet and individual Rank
Learning Methods", SIGIR 2009: a resource scores 1 / (k + rank) in each index, summed up. How well
it matches in an index counts nothing, only its rank; one far down in all can come before one that
is first in one alone.
"""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import Self, cast

from askgraph import plugins
from askgraph.errors import SetupError
from askgraph.index import DiskIndex, Hit, Progress, Resource
from askgraph.index._table import fuse_rankings, positive
from askgraph.index.folder import Folder, Kind, new_folder

__all__ = ["HybridIndex"]

_KIND = Kind("hybrid", 1)


@dataclass(frozen=True)
class HybridIndex:
    """Searches its parts, each `depth` deep at least; they may be any indices of resources.

    Between equal resources their score decides, then which was first in the first part.
    """

    parts: tuple[DiskIndex, ...]
    k: int = 60
    depth: int = 50

    @classmethod
    def build(
        cls,
        resources: Iterable[Resource],
        folder: Path,
        *,
        progress: Progress | None = None,
        kinds: Sequence[str] = ("keyword", "trigram"),
        options: Mapping[str, Mapping[str, object]] | None = None,
    ) -> Self:
        """Write an index of each kind into one folder; see `DiskIndex.build`.

        `options` are those of the `build` of a kind, by kind.
        """
        own = options or {}
        if not kinds or len(set(kinds)) != len(kinds) or "hybrid" in kinds:
            raise SetupError(f"name different kinds of index to join, not {list(kinds)}")
        with new_folder(folder, _KIND, {"kinds": list(kinds)}) as new:
            first, *others = kinds
            built = _plugin(first).build(
                resources, new.path / first, progress=progress, **own.get(first, {})
            )
            for kind in others:
                _plugin(kind).build(
                    built.resources(), new.path / kind, progress=progress, **own.get(kind, {})
                )
        return cls.open(folder)

    @classmethod
    def open(cls, folder: Path) -> Self:
        """Map an index into memory; see `DiskIndex.open`."""
        opened = Folder.open(folder, _KIND)
        return cls(tuple(_plugin(kind).open(folder / kind) for kind in opened.texts("kinds")))

    def __len__(self) -> int:
        return max(map(len, self.parts), default=0)

    def find(self, iri: str) -> Resource | None:
        """Return the resource of an IRI, or None."""
        found = (part.find(iri) for part in self.parts)
        return next((resource for resource in found if resource), None)

    def resources(self) -> Iterator[Resource]:
        """Yield all resources, the highest score first."""
        return self.parts[0].resources()

    def search(
        self, text: str, *, limit: int = 10, within: Collection[str] | None = None
    ) -> Sequence[Hit[Resource]]:
        """Return the best resources; see `SearchIndex.search`."""
        depth = max(self.depth, positive(limit))
        rankings = [part.search(text, limit=depth, within=within) for part in self.parts]
        scores = fuse_rankings(([hit.item.iri for hit in hits] for hits in rankings), self.k)
        first: dict[str, Hit[Resource]] = {}
        for hit in chain.from_iterable(rankings):
            first.setdefault(hit.item.iri, hit)
        order = sorted(first.values(), key=lambda hit: (-scores[hit.item.iri], -hit.item.score))
        return [Hit(hit.item, scores[hit.item.iri], hit.name) for hit in order[:limit]]


def _plugin(kind: str) -> type[DiskIndex]:
    return cast(type[DiskIndex], plugins.load("index", kind))
