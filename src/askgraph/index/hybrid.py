"""Several indices as one: reciprocal-rank fusion of their hits.

Cormack, Clarke and Büttcher, "Reciprocal Rank Fusion outperforms Condorcet and individual Rank
Learning Methods", SIGIR 2009: a resource scores the sum of 1 / (k + rank) over the indices. Only
its
ranks count, not how well it matches: a low rank in all indices can beat the first rank in one.
"""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import Self, cast

from askgraph import plugins
from askgraph.errors import SetupError
from askgraph.index import DiskIndex, Hit, Progress, Resource
from askgraph.index._table import check_limit, fuse_rankings
from askgraph.index.folder import IndexFolder, IndexFormat, create_folder

__all__ = ["HybridIndex"]

_KIND = IndexFormat("hybrid", 1)


@dataclass(frozen=True)
class HybridIndex:
    """Searches several indices of resources, each at least `depth` hits deep.

    Ties are broken by the resource's score, then by the order in the first index.
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

        `options` are those of each kind's `build`, by kind.
        """
        options_by_kind = options or {}
        if not kinds or len(set(kinds)) != len(kinds) or "hybrid" in kinds:
            raise SetupError(f"name different kinds of index to join, not {list(kinds)}")
        with create_folder(folder, _KIND, {"kinds": list(kinds)}) as writer:
            first, *further_kinds = kinds
            first_index = _load_plugin(first).build(
                resources, writer.path / first, progress=progress, **options_by_kind.get(first, {})
            )
            for kind in further_kinds:
                _load_plugin(kind).build(
                    first_index.iterate_resources(),
                    writer.path / kind,
                    progress=progress,
                    **options_by_kind.get(kind, {}),
                )
        return cls.open(folder)

    @classmethod
    def open(cls, folder: Path) -> Self:
        """Map an index into memory; see `DiskIndex.open`."""
        opened = IndexFolder.open(folder, _KIND)
        return cls(
            tuple(_load_plugin(kind).open(folder / kind) for kind in opened.get_texts("kinds"))
        )

    def __len__(self) -> int:
        return max(map(len, self.parts), default=0)

    def find(self, iri: str) -> Resource | None:
        """Return the resource of an IRI, or None."""
        resources = (part.find(iri) for part in self.parts)
        return next((resource for resource in resources if resource), None)

    def iterate_resources(self) -> Iterator[Resource]:
        """Yield all resources, highest score first."""
        return self.parts[0].iterate_resources()

    def search(
        self, text: str, *, limit: int = 10, within: Collection[str] | None = None
    ) -> Sequence[Hit[Resource]]:
        """Return the best resources; see `SearchIndex.search`."""
        depth = max(self.depth, check_limit(limit))
        rankings = [part.search(text, limit=depth, within=within) for part in self.parts]
        scores = fuse_rankings(([hit.item.iri for hit in hits] for hits in rankings), self.k)
        hit_by_iri: dict[str, Hit[Resource]] = {}
        for hit in chain.from_iterable(rankings):
            hit_by_iri.setdefault(hit.item.iri, hit)
        ordered = sorted(
            hit_by_iri.values(), key=lambda hit: (-scores[hit.item.iri], -hit.item.score)
        )
        return [Hit(hit.item, scores[hit.item.iri], hit.name) for hit in ordered[:limit]]


def _load_plugin(kind: str) -> type[DiskIndex]:
    return cast(type[DiskIndex], plugins.load("index", kind))
