"""Search indices of names: take a text, return resources. The contract of every index.

An index on disk is a folder that `build` writes and `open` maps into memory:

    >>> from tempfile import mkdtemp
    >>> from askgraph.index.keyword import KeywordIndex
    >>> physicist = Resource("http://example.org/7", "Albert Einstein", score=12)
    >>> index = KeywordIndex.build([physicist], Path(mkdtemp(), "names"))
    >>> [hit.item.iri for hit in index.search("albert e")]
    ['http://example.org/7']

Contents: the contract, one module for each kind of index, `names` (the search of a graph's names),
`linkers` and `name_search` (search by the endpoint itself). May import: `sparql` and the modules
below it; may use the network. Start reading at `SearchIndex`, then `keyword.py`.
"""

from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Generic, Protocol, Self, TypeVar, runtime_checkable

Item = TypeVar("Item")

Progress = Callable[[int], None]
"""Called while an index is built, with the number of resources read so far."""


@dataclass(frozen=True)
class Resource:
    """A searchable item.

    Attributes:
        iri: its IRI, or a literal as N-Triples text.
        label: its main name.
        synonyms: further names, each searched separately like the label.
        score: how much it is used; higher scores come first among equal matches.
        infos: texts (a description, a type, a domain) that distinguish items of the same name;
            only indices that document it search them.
    """

    iri: str
    label: str
    synonyms: tuple[str, ...] = ()
    score: float = 0.0
    infos: tuple[str, ...] = ()

    @property
    def names(self) -> tuple[str, ...]:
        """The label, then the synonyms."""
        return (self.label, *self.synonyms)


@dataclass(frozen=True)
class Hit(Generic[Item]):
    """A search result.

    Attributes:
        score: how well it matches; higher is better, on the index's own scale.
        name: the label or synonym that matched best; empty if the index does not distinguish names.
    """

    item: Item
    score: float
    name: str = ""


@runtime_checkable
class SearchIndex(Protocol[Item]):
    """An index that finds items by text."""

    def __len__(self) -> int:
        """Return the number of items."""

    def search(
        self, text: str, *, limit: int = 10, within: Collection[str] | None = None
    ) -> Sequence[Hit[Item]]:
        """Return at most `limit` different items, best first; equal matches by their score.

        The call may wait for a model that embeds the text: from asynchronous code, call it in a
        thread.

        Args:
            text: the search; a text without a word matches no item.
            within: ids (IRIs, or literals as N-Triples text) that restrict the search before
                ranking; unknown ids are ignored.

        Raises:
            ValueError: `limit` is below 1.
        """


class DiskIndex(SearchIndex[Resource], Protocol):
    """An index of resources in a folder; every plugin of the kind `index` implements it.

    A plugin may take more options in `build` and `open`, each with a default. If a server holds the
    names, the plugin writes the location to the folder and reports the size there in `bytes`.
    """

    @classmethod
    def build(
        cls, resources: Iterable[Resource], folder: Path, *, progress: Progress | None = None
    ) -> Self:
        """Read the resources once, write the complete folder or nothing, and open it.

        An index in the folder is replaced.

        Raises:
            SetupError: a resource has no IRI, an IRI occurs twice, a score is not a number, or the
                folder contains something else.
        """

    @classmethod
    def open(cls, folder: Path) -> Self:
        """Map a folder into memory; raise `SetupError` if it is no intact index of this kind."""

    def find(self, iri: str) -> Resource | None:
        """Return the resource of an IRI, or None."""

    def iterate_resources(self) -> Iterator[Resource]:
        """Yield all resources, highest score first."""
