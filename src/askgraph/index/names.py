"""An index of names on disk: every token of every name leads to the things that bear it.

Names of entities, classes, predicates and short literal values lie in one index. Searching gives,
for each name that shares a token with the query, how much of the name the query holds. The words of
all texts are split, folded and stemmed here.
"""

import math
import re
import unicodedata
from array import array
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from enum import IntEnum
from functools import cached_property, lru_cache
from itertools import pairwise
from pathlib import Path
from typing import Self

import numpy as np
from numpy.typing import NDArray

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


class Kind(IntEnum):
    """The kind of thing that a name names."""

    ENTITY = 0
    CLASS = 1
    PREDICATE = 2
    VALUE = 3


@dataclass(frozen=True)
class Name:
    """A name and its bearer: `target` is an IRI, or a literal as N-Triples text."""

    text: str
    target: str
    kind: Kind
    preferred: bool = True


@dataclass(frozen=True)
class Match:
    """A name found: `hits` are (query position, token number, quality between 0 and 1).

    `similarity` is the share of the name, weighted by rarity, that the query holds; `length` is
    the rarity of all its tokens together.
    """

    name: Name
    similarity: float
    length: float
    hits: tuple[tuple[int, int, float], ...]


@dataclass(frozen=True, eq=False, repr=False)
class NameIndex:
    """Read-only; arrays are memory-mapped when loaded from disk."""

    words: NDArray[np.uint8]
    word_offsets: NDArray[np.int64]
    posting_offsets: NDArray[np.int64]
    postings: NDArray[np.int32]
    texts: NDArray[np.uint8]
    text_offsets: NDArray[np.int64]
    targets: NDArray[np.uint8]
    target_offsets: NDArray[np.int64]
    lengths: NDArray[np.float32]  # sum of the rarities of a name's tokens
    kinds: NDArray[np.uint8]
    preferred: NDArray[np.bool_]

    @classmethod
    def of(cls, names: Iterable[Name]) -> Self:
        """Build from names; a name given twice is kept once."""
        texts, targets, words = _Packed(), _Packed(), dict[str, int]()
        kinds, preferred, flat, counts = bytearray(), bytearray(), array("i"), array("i")
        seen = set[int]()  # hashes: the names themselves may be too many to keep
        for name in names:
            key = hash((name.text, name.target, int(name.kind), name.preferred))
            if key in seen:
                continue
            seen.add(key)
            texts.add(name.text)
            targets.add(name.target)
            kinds.append(name.kind)
            preferred.append(name.preferred)
            held = {words.setdefault(token, len(words)) for token in name_tokens(name.text)}
            flat.extend(held)
            counts.append(len(held))
        del seen
        vocabulary = sorted(words)
        order = np.empty(len(words), dtype=np.int32)
        order[[words[word] for word in vocabulary]] = np.arange(len(words))
        held_words = order[np.frombuffer(flat, dtype=np.int32)]
        bearers = np.arange(len(counts), dtype=np.int32).repeat(np.frombuffer(counts, np.int32))
        postings = bearers[np.argsort(held_words, kind="stable")]
        uses = np.bincount(held_words, minlength=len(words))
        rarities = np.array([rarity(count, len(counts)) for count in uses.tolist()], np.float32)
        lengths = np.zeros(len(counts), dtype=np.float32)
        np.add.at(lengths, postings, rarities.repeat(uses))
        return cls(
            *_Packed(vocabulary).arrays(),
            np.cumsum([0, *uses], dtype=np.int64),
            postings,
            *texts.arrays(),
            *targets.arrays(),
            lengths,
            np.frombuffer(kinds, dtype=np.uint8),
            np.frombuffer(preferred, dtype=np.bool_),
        )

    @classmethod
    def load(cls, folder: Path) -> Self:
        """Open a saved index without reading it into memory."""
        fields = cls.__dataclass_fields__
        return cls(
            *(np.asarray(np.load(folder / f"names_{name}.npy", mmap_mode="r")) for name in fields)
        )

    def save(self, folder: Path) -> None:
        """Write the index into an existing folder."""
        for name in self.__dataclass_fields__:
            np.save(folder / f"names_{name}.npy", getattr(self, name))

    def __len__(self) -> int:
        return len(self.kinds)

    def name(self, at: int) -> Name:
        """Return one name by its number."""
        return Name(
            _cut(self.texts, self.text_offsets, at),
            _cut(self.targets, self.target_offsets, at),
            Kind(int(self.kinds[at])),
            bool(self.preferred[at]),
        )

    def word_id(self, word: str) -> int | None:
        """Return the number of a token of the vocabulary, or None."""
        return self.vocabulary.get(word)

    @cached_property
    def vocabulary(self) -> dict[str, int]:
        """Every token with its number."""
        words = self.words.tobytes()
        offsets = self.word_offsets.tolist()
        return {words[a:b].decode(): at for at, (a, b) in enumerate(pairwise(offsets))}

    @cached_property
    def listed(self) -> list[str]:
        """Every token, in the order of the letters."""
        return list(self.vocabulary)

    def rarity_of(self, word: int) -> float:
        """Return the rarity of a token by its number."""
        count = int(self.posting_offsets[word + 1] - self.posting_offsets[word])
        return rarity(count, len(self))

    def bearing(self, word: int) -> NDArray[np.int32]:
        """Return the numbers of the names that hold a token, ascending."""
        return self.postings[self.posting_offsets[word] : self.posting_offsets[word + 1]]

    def search(
        self, hits: Iterable[tuple[int, int, float]], *, at_least: float = 0.3, limit: int = 400
    ) -> list[Match]:
        """Return the names that the hits cover by a share `at_least`, best first.

        A hit is (query position, token number, quality between 0 and 1). Of several hits on one
        token of a name the best counts.
        """
        listed = sorted(set(hits), key=lambda hit: (hit[1], -hit[2]))
        if not listed:
            return []
        score = self._covered(listed)
        found = np.flatnonzero(score >= at_least)
        if len(found) > limit:
            weight = score[found] * np.sqrt(self.lengths[found])
            found = found[np.argpartition(-weight, limit)[:limit]]
        wanted: dict[int, list[tuple[int, int, float]]] = {int(at): [] for at in found}
        keys = np.array(sorted(wanted), dtype=np.int32)
        for position, word, quality in listed:
            posted = self.bearing(word)
            for at in np.intersect1d(posted, keys, assume_unique=True):
                wanted[int(at)].append((position, word, quality))
        matches = [
            Match(
                self.name(at),
                min(1.0, float(score[at])),
                float(self.lengths[at]),
                tuple(sorted(hits)),
            )
            for at, hits in wanted.items()
        ]
        return sorted(matches, key=lambda m: (-m.similarity, len(m.name.text), m.name.target))

    def _covered(self, listed: list[tuple[int, int, float]]) -> NDArray[np.float64]:
        score = np.zeros(len(self))
        seen = -1
        for _, word, quality in listed:
            if word == seen:
                continue
            seen = word
            score[self.bearing(word)] += quality * self.rarity_of(word)
        return score / np.maximum(self.lengths, 1e-9)


def name_tokens(text: str) -> tuple[str, ...]:
    """Return the stems of a name's tokens, as the index holds them."""
    return tuple(stem(token) for token in tokens(text))


def rarity(count: int, total: int) -> float:
    """Return the weight of a token: 1 for one in all names, more the rarer it is."""
    return 1.0 + math.log((1 + total) / (1 + count)) / 4


class _Packed:
    """Texts one after the other."""

    def __init__(self, texts: Iterable[str] = ()) -> None:
        self._bytes = bytearray()
        self._ends = array("q", [0])
        for text in texts:
            self.add(text)

    def add(self, text: str) -> None:
        """Put one more behind the others."""
        self._bytes += text.encode()
        self._ends.append(len(self._bytes))

    def arrays(self) -> tuple[NDArray[np.uint8], NDArray[np.int64]]:
        """Return their bytes, and where each begins; one entry more says where the last ends."""
        return np.frombuffer(self._bytes, np.uint8), np.frombuffer(self._ends, np.int64)


def _cut(blob: NDArray[np.uint8], offsets: NDArray[np.int64], at: int) -> str:
    return blob[offsets[at] : offsets[at + 1]].tobytes().decode()


_ALIKE = 50  # names of the same words that are compared word for word
_CLOSE = 1e-3  # between sums of rarities that are taken for equal


@dataclass(frozen=True)
class Phrase:
    """The words from `first` to before `end` are exactly these names, of at most 50."""

    first: int
    end: int
    names: tuple[Name, ...]


def phrases(words: Sequence[str], index: NameIndex, *, inflected: bool = False) -> Iterator[Phrase]:
    """Yield the names, of any length, that stand in a list of folded words.

    By where they start, the shortest first; they may overlap. From each word on it looks as far as
    some name holds all words until there. With `inflected` they may differ in their plural endings.
    """
    for first in range(len(words)):
        yield from _starting(words, first, index, inflected=inflected)


def _starting(
    words: Sequence[str], first: int, index: NameIndex, *, inflected: bool
) -> Iterator[Phrase]:
    held: np.ndarray | None = None
    stems: dict[str, float] = {}
    for end in range(first + 1, len(words) + 1):
        word = stem(words[end - 1])
        if word not in stems:
            number = index.word_id(word)
            if number is None:
                return
            stems[word] = index.rarity_of(number)
            bearing = index.bearing(number)
            held = bearing if held is None else np.intersect1d(held, bearing, assume_unique=True)
        if held is None or not len(held):
            return
        whole = held[np.abs(index.lengths[held] - sum(stems.values())) < _CLOSE * len(stems)]
        named = (index.name(int(at)) for at in whole[:_ALIKE])
        read = name_tokens if inflected else tokens
        said = tuple(stem(word) if inflected else word for word in words[first:end])
        if found := tuple(name for name in named if read(name.text) == said):
            yield Phrase(first, end, found)
