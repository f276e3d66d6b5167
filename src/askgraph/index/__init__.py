"""Search over names: text in, resources out. The one contract of every index.

An index on disk is a folder that `build` writes and `open` maps into memory:

    >>> from tempfile import mkdtemp
    >>> from askgraph.index.keyword import KeywordIndex
    >>> physicist = Resource("http://example.org/7", "Albert Einstein", score=12)
    >>> index = KeywordIndex.build([physicist], Path(mkdtemp(), "names"))
    >>> [hit.item.iri for hit in index.search("albert e")]
    ['http://example.org/7']

What lives here: the contract, one module for each kind of index, `names` (the search of a graph's
names), `linkers` and `name_search` (search by the endpoint itself). May import: `sparql` and the
modules below it; may use the network. Start reading at `SearchIndex`, then `keyword.py`.
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
    """A thing that can be found: `iri` is its IRI, or a literal as N-Triples text.

    A higher `score` says that it is used more; it decides between equal matches. `synonyms` are
    searched like the label, each for itself. `infos` (a description, a type, a domain) tell things
    of one name apart; only an index that says so searches them.
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
    """An item found, how well it matches (more is better, by the index's own measure), by what.

    `name` is the label or synonym that matched best; empty if the index does not tell names
    apart.
    """

    item: Item
    score: float
    name: str = ""


@runtime_checkable
class SearchIndex(Protocol[Item]):
    """Finds items by text."""

    def __len__(self) -> int:
        """Return how many items there are."""
        ...

    def search(
        self, text: str, *, limit: int = 10, within: Collection[str] | None = None
    ) -> Sequence[Hit[Item]]:
        """Return at most `limit` different items, best first, equal ones by their score.

        `within` restricts the search to the items of these ids (IRIs, literals as N-Triples text)
        before anything is ranked; unknown ids are passed over. A text without a word in it finds
        nothing. The call may wait for a model that embeds the text: from asynchronous code, call it
        in a thread. Raises `ValueError` for a `limit` below 1.
        """
        ...


class DiskIndex(SearchIndex[Resource], Protocol):
    """An index of resources in a folder: what each plugin of the kind `index` is.

    A plugin may take more options in `build` and `open`, each with a default. One whose names a
    server holds writes to the folder where they are, and says in `bytes` what they take there.
    """

    @classmethod
    def build(
        cls, resources: Iterable[Resource], folder: Path, *, progress: Progress | None = None
    ) -> Self:
        """Read the resources once, write the folder whole or not at all, and open it.

        An index in the folder is replaced. Raises `SetupError` for a resource without an IRI, an
        IRI given twice, a score that is no number, and a folder that holds something else.
        """
        ...

    @classmethod
    def open(cls, folder: Path) -> Self:
        """Map a folder into memory.

        Raises `SetupError` if it is missing, damaged, of another kind or of another version.
        """
        ...

    def find(self, iri: str) -> Resource | None:
        """Return the resource of an IRI, or None."""
        ...

    def resources(self) -> Iterator[Resource]:
        """Yield all resources, the highest score first."""
        ...
