"""An index of names on disk: every token of every name leads to the items with that name.

Names of entities, classes, predicates and short literal values share one index. A search measures
how much of each name with a common token the query covers. All texts are split into words, folded
and stemmed in this module.
"""

from __future__ import annotations

import math
import re
import unicodedata
from array import array
from bisect import bisect_left
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from enum import IntEnum
from functools import cached_property, lru_cache
from itertools import pairwise
from pathlib import Path
from typing import Self

import numpy as np
from numpy.typing import NDArray

_WORD_PATTERN = re.compile(r"[^\W\d_]+|\d+(?:[.,]\d+)*", re.UNICODE)
_CAMEL_BOUNDARY_PATTERN = re.compile(r"(?<=[a-z])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")
_CAMEL_WORD_PATTERN = re.compile(r"[a-z]+(?:[A-Z][a-z]+)+\d*")
_LETTER_REPLACEMENTS = str.maketrans(
    {"ł": "l", "ø": "o", "đ": "d", "æ": "ae", "œ": "oe", "ı": "i", "ð": "d"}
)
_POSSESSIVE_ENDINGS = ("'s", "’s")


@lru_cache(maxsize=100_000)
def fold_word(word: str) -> str:
    """Return a word in lower case, without Latin accents."""
    word = word.casefold()
    if word.isascii():
        return word
    parts = unicodedata.normalize("NFD", word.translate(_LETTER_REPLACEMENTS))
    characters = [
        character
        for position, character in enumerate(parts)
        if not _is_latin_accent(parts, position)
    ]
    return unicodedata.normalize("NFC", "".join(characters))


def split_tokens(text: str) -> tuple[str, ...]:
    """Split text into folded words and numbers; "hasSite2" gives has, site, 2."""
    for ending in _POSSESSIVE_ENDINGS:
        text = text.replace(ending, " ")
    if _CAMEL_WORD_PATTERN.fullmatch(text):
        text = _CAMEL_BOUNDARY_PATTERN.sub(" ", text)
    return tuple(fold_word(word) for word in _WORD_PATTERN.findall(text))


@lru_cache(maxsize=100_000)
def stem_word(word: str) -> str:
    """Return a folded word without its plural ending, so that singular and plural match.

    The stemmer is light on purpose: it only joins forms of one noun or verb in English, German,
    Spanish and French. Numbers and short words stay unchanged.
    """
    if len(word) < 3 or not word[0].isalpha():
        return word
    if len(word) == 3:
        return word[:2] if word[2] == "s" and word[1] not in "suia" else word
    for ending, replacement in _PLURAL_ENDINGS:
        if word.endswith(ending) and len(word) - len(ending) + len(replacement) >= 3:
            return word[: len(word) - len(ending)] + replacement
    return word


_PLURAL_ENDINGS = (
    ("ches", "ch"), ("shes", "sh"), ("sses", "ss"), ("xes", "x"), ("ies", "y"), ("ss", "ss"),
    ("us", "us"), ("is", "is"), ("s", ""),
)  # fmt: skip


def _is_latin_accent(text: str, position: int) -> bool:
    if not unicodedata.combining(text[position]):
        return False
    base = position - 1
    while base > 0 and unicodedata.combining(text[base]):
        base -= 1
    return base >= 0 and "a" <= text[base] <= "z"


# Scripts written without spaces: each sign is a word, so that any part of a name is found.
_UNSPACED_PATTERN = re.compile(
    "[\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff]"
)
UNSPACED_RUN_PATTERN = re.compile(f"{_UNSPACED_PATTERN.pattern}+")


def split_words(text: str) -> list[str]:
    """Return the folded words of a text; a text of symbols alone is one word.

    >>> split_words("Müller-Straße 7")
    ['muller', 'strasse', '7']
    >>> split_words("東京 Tower")
    ['東', '京', 'tower']
    >>> split_words("+ +")
    ['++']
    """
    words = list(split_tokens(text))
    if not text.isascii() and _UNSPACED_PATTERN.search(text):
        words = [part for word in words for part in _split_unspaced(word)]
    if not words:
        signs = "".join(fold_word(text).split())
        return [signs] if signs else []
    return words


def split_stems(text: str) -> list[str]:
    """Return the stems of the words of a text."""
    return [stem_word(word) for word in split_words(text)]


def pad_words(text: str) -> str:
    """Return the folded words of a text, with single spaces between and around them."""
    return f" {' '.join(split_words(text))} "


def _split_unspaced(word: str) -> Iterator[str]:
    start = 0
    for character in _UNSPACED_PATTERN.finditer(word):
        if character.start() > start:
            yield word[start : character.start()]
        yield character[0]
        start = character.end()
    if start < len(word):
        yield word[start:]


class ItemKind(IntEnum):
    """The kind of item that a name denotes."""

    ENTITY = 0
    CLASS = 1
    PREDICATE = 2
    VALUE = 3


@dataclass(frozen=True)
class IndexedName:
    """A name of an item."""

    text: str
    target: str  # the item: an IRI, or a literal as N-Triples text
    kind: ItemKind
    preferred: bool = True  # whether it is a main name, not a synonym
    whole: bool = False  # whether only all of its words together mean the item


@dataclass(frozen=True)
class IndexedNameMatch:
    """A name that a search found.

    Attributes:
        similarity: the share of the name, weighted by rarity, that the query covers.
        length: the sum of the rarities of all its tokens.
        hits: (query position, token number, quality between 0 and 1) of each covered token.
    """

    name: IndexedName
    similarity: float
    length: float
    hits: tuple[tuple[int, int, float], ...]


@dataclass(frozen=True, eq=False, repr=False)
class NameIndex:
    """An index of names; read-only, with arrays memory-mapped when loaded from disk."""

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
    whole: NDArray[np.bool_]

    @classmethod
    def from_names(cls, names: Iterable[IndexedName]) -> Self:
        """Build an index; duplicate names are dropped."""
        packed_texts, packed_targets, words = _PackedTexts(), _PackedTexts(), dict[str, int]()
        kinds, preferred, whole = bytearray(), bytearray(), bytearray()
        flat, counts = array("i"), array("i")
        name_hashes = set[int]()  # store hashes: the names may not fit in memory
        for name in names:
            key = hash((name.text, name.target, int(name.kind), name.preferred, name.whole))
            if key in name_hashes:
                continue
            name_hashes.add(key)
            packed_texts.add(name.text)
            packed_targets.add(name.target)
            kinds.append(name.kind)
            preferred.append(name.preferred)
            whole.append(name.whole)
            token_numbers = {words.setdefault(token, len(words)) for token in stem_name(name.text)}
            flat.extend(token_numbers)
            counts.append(len(token_numbers))
        del name_hashes
        vocabulary = sorted(words)
        order = np.empty(len(words), dtype=np.int32)
        order[[words[word] for word in vocabulary]] = np.arange(len(words))
        name_words = order[np.frombuffer(flat, dtype=np.int32)]
        name_numbers = np.arange(len(counts), dtype=np.int32).repeat(
            np.frombuffer(counts, np.int32)
        )
        postings = name_numbers[np.argsort(name_words, kind="stable")]
        use_counts = np.bincount(name_words, minlength=len(words))
        rarities = np.array(
            [compute_rarity(count, len(counts)) for count in use_counts.tolist()], np.float32
        )
        lengths = np.zeros(len(counts), dtype=np.float32)
        np.add.at(lengths, postings, rarities.repeat(use_counts))
        return cls(
            *_PackedTexts(vocabulary).to_arrays(),
            np.cumsum([0, *use_counts], dtype=np.int64),
            postings,
            *packed_texts.to_arrays(),
            *packed_targets.to_arrays(),
            lengths,
            np.frombuffer(kinds, dtype=np.uint8),
            np.frombuffer(preferred, dtype=np.bool_),
            np.frombuffer(whole, dtype=np.bool_),
        )

    @classmethod
    def load(cls, folder: Path) -> Self:
        """Open a saved index without reading it into memory."""
        arrays = {
            name: np.asarray(np.load(path, mmap_mode="r"))
            for name in cls.__dataclass_fields__
            if (path := folder / f"names_{name}.npy").exists() or name != "whole"
        }
        # An index of askgraph 0.1 has no names of vocabularies.
        arrays.setdefault("whole", np.zeros(len(arrays["kinds"]), dtype=np.bool_))
        return cls(**arrays)

    def save(self, folder: Path) -> None:
        """Write the index into an existing folder."""
        for name in self.__dataclass_fields__:
            np.save(folder / f"names_{name}.npy", getattr(self, name))

    def __len__(self) -> int:
        return len(self.kinds)

    def read_name(self, number: int) -> IndexedName:
        """Return a name by its number."""
        return IndexedName(
            _read_text(self.texts, self.text_offsets, number),
            _read_text(self.targets, self.target_offsets, number),
            ItemKind(int(self.kinds[number])),
            bool(self.preferred[number]),
            bool(self.whole[number]),
        )

    def find_word(self, word: str) -> int | None:
        """Return the number of a token of the vocabulary, or None."""
        return self.vocabulary.get(word)

    @cached_property
    def vocabulary(self) -> dict[str, int]:
        """All tokens with their numbers."""
        words = self.words.tobytes()
        return {
            words[start:end].decode(): number
            for number, (start, end) in enumerate(pairwise(self.word_offsets.tolist()))
        }

    @cached_property
    def sorted_tokens(self) -> list[str]:
        """All tokens in alphabetical order."""
        return list(self.vocabulary)

    def get_rarity(self, word: int) -> float:
        """Return the rarity of a token by its number."""
        count = int(self.posting_offsets[word + 1] - self.posting_offsets[word])
        return compute_rarity(count, len(self))

    def find_names(self, word: int) -> NDArray[np.int32]:
        """Return the numbers of the names that contain a token, ascending."""
        return self.postings[self.posting_offsets[word] : self.posting_offsets[word + 1]]

    def search(
        self, hits: Iterable[tuple[int, int, float]], *, at_least: float = 0.3, limit: int = 400
    ) -> list[IndexedNameMatch]:
        """Return the names that the hits cover by at least a share, best first.

        Args:
            hits: (query position, token number, quality between 0 and 1); among several hits on one
                token of a name the best counts.
            at_least: the minimum share, weighted by rarity.
            limit: the maximum number of names.
        """
        sorted_hits = sorted(set(hits), key=lambda hit: (hit[1], -hit[2]))
        if not sorted_hits:
            return []
        score = np.zeros(len(self))
        previous_word = -1
        for _, word, quality in sorted_hits:
            if word == previous_word:
                continue
            previous_word = word
            score[self.find_names(word)] += quality * self.get_rarity(word)
        score = score / np.maximum(self.lengths, 1e-9)
        matching = np.flatnonzero(score >= at_least)
        if len(matching) > limit:
            weight = score[matching] * np.sqrt(self.lengths[matching])
            matching = matching[np.argpartition(-weight, limit)[:limit]]
        hits_by_name: dict[int, list[tuple[int, int, float]]] = {
            int(number): [] for number in matching
        }
        keys = np.array(sorted(hits_by_name), dtype=np.int32)
        for position, word, quality in sorted_hits:
            for number in np.intersect1d(self.find_names(word), keys, assume_unique=True):
                hits_by_name[int(number)].append((position, word, quality))
        matches = [
            IndexedNameMatch(
                self.read_name(number),
                min(1.0, float(score[number])),
                float(self.lengths[number]),
                tuple(sorted(hits)),
            )
            for number, hits in hits_by_name.items()
        ]
        return sorted(
            matches, key=lambda match: (-match.similarity, len(match.name.text), match.name.target)
        )


def stem_name(text: str) -> tuple[str, ...]:
    """Return the stems of a name's tokens, as the index stores them."""
    return tuple(stem_word(token) for token in split_tokens(text))


def compute_rarity(count: int, total: int) -> float:
    """Return the weight of a token: 1 for a token of all names, more for rarer ones."""
    return 1.0 + math.log((1 + total) / (1 + count)) / 4


class _PackedTexts:
    """Texts as one array of bytes."""

    def __init__(self, texts: Iterable[str] = ()) -> None:
        self._bytes = bytearray()
        self._ends = array("q", [0])
        for text in texts:
            self.add(text)

    def add(self, text: str) -> None:
        """Append a text."""
        self._bytes += text.encode()
        self._ends.append(len(self._bytes))

    def to_arrays(self) -> tuple[NDArray[np.uint8], NDArray[np.int64]]:
        """Return the bytes, and the start of each text followed by the end of the last."""
        return np.frombuffer(self._bytes, np.uint8), np.frombuffer(self._ends, np.int64)


def _read_text(blob: NDArray[np.uint8], offsets: NDArray[np.int64], number: int) -> str:
    return blob[offsets[number] : offsets[number + 1]].tobytes().decode()


_MAX_COMPARED_COUNT = 50  # names of the same words that are compared word for word
_RARITY_TOLERANCE_SIZE = 1e-3  # difference between sums of rarities that count as equal


@dataclass(frozen=True)
class NamePhrase:
    """Words, from `first` to before `end`, that are exactly these names (at most 50)."""

    first: int
    end: int
    names: tuple[IndexedName, ...]


def find_phrases(
    words: Sequence[str], index: NameIndex, *, inflected: bool = False
) -> Iterator[NamePhrase]:
    """Yield the names, of any length, in a list of folded words.

    They are ordered by their start, then by length, and may overlap. From each word the search
    extends as long as some name contains all words so far. With `inflected` they may differ in
    their plural endings.
    """
    for first in range(len(words)):
        yield from _find_phrases_from(words, first, index, inflected=inflected)


def _find_phrases_from(
    words: Sequence[str], first: int, index: NameIndex, *, inflected: bool
) -> Iterator[NamePhrase]:
    candidates: np.ndarray | None = None
    stems: dict[str, float] = {}
    for end in range(first + 1, len(words) + 1):
        word = stem_word(words[end - 1])
        if word not in stems:
            number = index.find_word(word)
            if number is None:
                return
            stems[word] = index.get_rarity(number)
            bearing = index.find_names(number)
            candidates = (
                bearing
                if candidates is None
                else np.intersect1d(candidates, bearing, assume_unique=True)
            )
        if candidates is None or not len(candidates):
            return
        complete = candidates[
            np.abs(index.lengths[candidates] - sum(stems.values()))
            < _RARITY_TOLERANCE_SIZE * len(stems)
        ]
        names = (index.read_name(int(candidate)) for candidate in complete[:_MAX_COMPARED_COUNT])
        split = stem_name if inflected else split_tokens
        phrase = tuple(stem_word(word) if inflected else word for word in words[first:end])
        if exact_names := tuple(name for name in names if split(name.text) == phrase):
            yield NamePhrase(first, end, exact_names)


_MAX_WORDS = 6  # last typed words that may begin one name
_MAX_NAMES_COUNT = 2000  # names to read for one prefix
_MAX_POSTINGS_COUNT = 200_000  # entries of the index to read for one prefix
_MIN_LETTERS_COUNT = 2  # letters


@dataclass(frozen=True)
class NameCompletion:
    """A name, and the start (in characters) of the words in the text that it completes."""

    name: IndexedName
    start: int


def complete_names(names: NameIndex, text: str, *, limit: int = 8) -> tuple[NameCompletion, ...]:
    """Return at most `limit` completions of the end of a text, one name for each target.

    The longest run of final words that begins a name counts: "moons of Sat" is completed by
    names with words that begin with "sat". Names that start with the typed text come first, then
    short names. A text that ends with a space, or with fewer than two letters, has no completion.
    The time is bounded for any size of the index.
    """
    completion_by_target: dict[str, NameCompletion] = {}
    if not text[-1:].strip():
        return ()
    for start in [match.start() for match in re.finditer(r"\S+", text)][-_MAX_WORDS:]:
        typed = text[start:]
        if sum(map(str.isalnum, typed)) < _MIN_LETTERS_COUNT:
            break  # and so have the shorter ones
        for name in _sort_names(_find_names(names, typed), typed):
            completion_by_target.setdefault(name.target, NameCompletion(name, start))
        if len(completion_by_target) >= limit:
            break
    return tuple(completion_by_target.values())[:limit]


def _find_names(names: NameIndex, typed: str) -> Iterator[IndexedName]:
    """Yield names with all words but the last unchanged, and one that the last begins."""
    words = split_tokens(typed)
    if not words:
        return
    matches: NDArray[np.int32] | None = None
    for word in words[:-1]:
        number = names.find_word(stem_word(word))
        names_with_word = names.find_names(number) if number is not None else np.empty(0, np.int32)
        matches = names_with_word if matches is None else np.intersect1d(matches, names_with_word)
    last_word = words[-1]
    first = _find_word_position(names, last_word)
    last = _find_word_position(names, last_word + "\U0010ffff")
    start, end = int(names.posting_offsets[first]), int(names.posting_offsets[last])
    completing = names.postings[start : min(end, start + _MAX_POSTINGS_COUNT)]
    full_word = names.find_word(stem_word(last_word))
    if full_word is not None:
        completing = np.concatenate([completing, names.find_names(full_word)[:_MAX_POSTINGS_COUNT]])
    completing = np.unique(completing)
    matches = completing if matches is None else np.intersect1d(matches, completing)
    shortest = np.argsort(names.lengths[matches], kind="stable")[:_MAX_NAMES_COUNT]
    for name_number in matches[shortest].tolist():
        name = names.read_name(name_number)
        if name.kind is not ItemKind.VALUE:
            yield name


def _find_word_position(names: NameIndex, word: str) -> int:
    """Return the number of the first token of the vocabulary that is not before a word."""
    ends = names.word_offsets
    return bisect_left(
        range(len(ends) - 1),
        word.encode(),
        key=lambda number: names.words[ends[number] : ends[number + 1]].tobytes(),
    )


def _sort_names(names: Iterator[IndexedName], typed: str) -> list[IndexedName]:
    folded_text = " ".join(fold_word(word) for word in typed.split())

    def build_sort_key(name: IndexedName) -> tuple[bool, bool, bool, int, str]:
        text = " ".join(fold_word(word) for word in name.text.split())
        return (
            not text.startswith(folded_text),
            f" {folded_text}" not in f" {text}",
            not name.preferred,
            len(text),
            text,
        )

    return sorted(names, key=build_sort_key)
