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

import re
import unicodedata
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
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


_WORD = re.compile(r"[^\W\d_]+|\d+(?:[.,]\d+)*", re.UNICODE)
_CAMEL = re.compile(r"(?<=[a-z])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")
_CAMEL_WORD = re.compile(r"[a-z]+(?:[A-Z][a-z]+)+\d*")
_STROKED = str.maketrans({"ł": "l", "ø": "o", "đ": "d", "æ": "ae", "œ": "oe", "ı": "i", "ð": "d"})
_ENDINGS = ("'s", "’s")


@lru_cache(maxsize=100_000)
def folded(word: str) -> str:
    """Return a word in lower case, without Latin accents."""
    word = word.casefold()
    if word.isascii():
        return word
    parts = unicodedata.normalize("NFD", word.translate(_STROKED))
    kept = [c for at, c in enumerate(parts) if not _latin_accent(parts, at)]
    return unicodedata.normalize("NFC", "".join(kept))


def tokens(text: str) -> tuple[str, ...]:
    """Split text into folded words and numbers; "hasSite2" gives has, site, 2."""
    for ending in _ENDINGS:
        text = text.replace(ending, " ")
    if _CAMEL_WORD.fullmatch(text):
        text = _CAMEL.sub(" ", text)
    return tuple(folded(word) for word in _WORD.findall(text))


@lru_cache(maxsize=100_000)
def stem(word: str) -> str:
    """Return a folded word without its plural ending, so that singular and plural meet.

    Light on purpose: a stem only ever joins forms of one noun or verb in English, German, Spanish
    and French. Numbers and short words stay as they are.
    """
    if len(word) < 3 or not word[0].isalpha():
        return word
    if len(word) == 3:
        return word[:2] if word[2] == "s" and word[1] not in "suia" else word
    for ending, put in _PLURALS:
        if word.endswith(ending) and len(word) - len(ending) + len(put) >= 3:
            return word[: len(word) - len(ending)] + put
    return word


_PLURALS = (
    ("ches", "ch"),
    ("shes", "sh"),
    ("sses", "ss"),
    ("xes", "x"),
    ("ies", "y"),
    ("ss", "ss"),
    ("us", "us"),
    ("is", "is"),
    ("s", ""),
)


def _latin_accent(text: str, at: int) -> bool:
    if not unicodedata.combining(text[at]):
        return False
    base = at - 1
    while base > 0 and unicodedata.combining(text[base]):
        base -= 1
    return base >= 0 and "a" <= text[base] <= "z"


# Scripts written without spaces: each sign is a word, so that any part of a name is found.
_UNSPACED = re.compile(
    "[\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff]"
)


def search_words(text: str) -> list[str]:
    """Return the words of a text, folded; a text of signs alone is one word.

    >>> search_words("Müller-Straße 7")
    ['muller', 'strasse', '7']
    >>> search_words("東京 Tower")
    ['東', '京', 'tower']
    >>> search_words("+ +")
    ['++']
    """
    found = list(tokens(text))
    if not text.isascii() and _UNSPACED.search(text):
        found = [part for word in found for part in _parts(word)]
    if not found:
        signs = "".join(folded(text).split())
        return [signs] if signs else []
    return found


def search_stems(text: str) -> list[str]:
    """Return the stems of the words of a text."""
    return [stem(word) for word in search_words(text)]


def spelling(text: str) -> str:
    """Return a text's words, folded, one space between them and around."""
    return f" {' '.join(search_words(text))} "


def _parts(word: str) -> Iterator[str]:
    last = 0
    for sign in _UNSPACED.finditer(word):
        if sign.start() > last:
            yield word[last : sign.start()]
        yield sign[0]
        last = sign.end()
    if last < len(word):
        yield word[last:]
