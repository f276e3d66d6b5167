"""Word vectors: the meaning of common English, German, Spanish and French words as numbers.

Words of similar meaning have vectors of similar direction, in all four languages: "weight",
"Gewicht" and "peso". The table comes from a multilingual sentence encoder
(`tools/make_word_vectors.py`; licences beside the file). It has 32-bit hashes of folded words,
sorted; a scale for each word; and 4 bits for each dimension. The file is memory-mapped: a look-up
bisects the hashes and decodes one row. A vector's length is the weight of its word in a phrase;
frequent words weigh less.

A word that the table lacks gets the sum of its parts ("Lieferdatum"), or the vector of its longest
known beginning.
"""

import zlib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cache, lru_cache
from pathlib import Path
from typing import Final
from weakref import WeakKeyDictionary

import numpy as np
from numpy.typing import NDArray

from askgraph.deadline import limit_to_deadline
from askgraph.index.names import (
    IndexedName,
    ItemKind,
    NameIndex,
    fold_word,
    split_tokens,
    stem_word,
)

Vectors = NDArray[np.float32]

WORD_VECTORS: Final = Path(__file__).with_name("word-vectors.bin")  # the table's file
LICENCE: Final = Path(__file__).with_name("word-vectors-licence.txt")
"""The licences of the encoder and of the list of words."""

MAGIC: Final = b"askgraph vectors"  # the first bytes of the file; counts follow
_HEADER_SIZE: Final = len(MAGIC) + 8
MAX_LEVEL: Final = 7  # a number is one of -7 to 7, in four bits, times the scale of its row
_MIN_PART_LENGTH: Final = 3  # letters of each part of a compound at least
_MAX_COMPOUND_LENGTH: Final = 80  # letters of a compound at most; every place is tried as a split
_LINKING_LETTERS: Final = ("", "s", "es", "n", "en")  # letters between the parts
_MIN_BEGINNING_LENGTH, _MAX_ENDING_LENGTH = 4, 4
"""Letters of a word's known beginning at least, and of its ending at most."""
_MAX_VALUE_COUNT: Final = 2_000  # beyond, only short values of known words are compared: "Sopa"
_MAX_READ_VALUE_COUNT, _MAX_SHORT_VALUE_WORDS = 20_000, 2  # beyond, none is compared
_MAX_ENTITY_COUNT: Final = 8_000  # the same for the names of things
_TIME_SHARE: Final = 0.2  # names are read until this share of a question's time is gone


@dataclass(frozen=True, eq=False)
class WordVectorTable:
    """Vectors by the hashes of words; all arrays have one row for each word."""

    hashes: NDArray[np.uint32]  # hashes of the words, ascending
    scales: NDArray[np.float16]  # the factor of each row
    codes: NDArray[np.uint8]  # two numbers of a row in each byte

    @classmethod
    def load(cls, path: Path) -> "WordVectorTable":
        """Open a table without reading it into memory."""
        file = np.memmap(path, np.uint8, mode="r")
        if file[: len(MAGIC)].tobytes() != MAGIC:
            raise ValueError(f"{path} is no table of word vectors")
        count, width = file[len(MAGIC) : _HEADER_SIZE].view("<u4").tolist()
        scales_start = _HEADER_SIZE + 4 * count
        codes_start = scales_start + 2 * count
        return cls(
            file[_HEADER_SIZE:scales_start].view("<u4"),
            file[scales_start:codes_start].view("<f2"),
            file[codes_start:].reshape(count, width),
        )

    def find(self, word: str) -> Vectors | None:
        """Return the vector of a folded word, None if the table lacks it."""
        key = hash_word(word)
        row = int(self.hashes.searchsorted(np.uint32(key)))
        if row == len(self.hashes) or self.hashes[row] != key:
            return None
        codes = np.asarray(self.codes[row])
        levels = np.stack((codes >> 4, codes & 15), 1).reshape(-1).astype(np.float32)
        vector: Vectors = (levels - MAX_LEVEL) * np.float32(self.scales[row])
        return vector


def hash_word(word: str) -> int:
    """Return the hash of a folded word, 32 bits."""
    return zlib.crc32(word.encode())


@cache
def load_table() -> WordVectorTable:
    """Return the package's table."""
    return WordVectorTable.load(WORD_VECTORS)


@lru_cache(maxsize=16_384)
def find_vector(word: str) -> Vectors | None:
    """Return the vector of a word, or of its known parts; None if it has none.

    >>> find_vector("Gewicht").shape
    (128,)
    """
    folded = fold_word(word)
    if not folded.isalpha():
        return None
    vector = _find_known(folded)
    if vector is None:
        vector = _join_parts(folded)
    if vector is None:
        longest = len(folded) - 1
        shortest = max(_MIN_BEGINNING_LENGTH, len(folded) - _MAX_ENDING_LENGTH)
        beginnings = (load_table().find(folded[:end]) for end in range(longest, shortest - 1, -1))
        vector = next((item for item in beginnings if item is not None), None)
    return vector


def _find_known(folded: str) -> Vectors | None:
    vector = load_table().find(folded)
    if vector is None:
        stem = stem_word(folded)
        vector = None if stem == folded else load_table().find(stem)
    return vector


def is_unknown_word(folded: str, *, compounds: bool = False) -> bool:
    """Return whether a word is in the table in no form, nor (with `compounds`) two known words."""
    is_known = _find_known(folded) is not None
    return folded.isalpha() and not is_known and not (compounds and _join_parts(folded) is not None)


def weigh_known_words(folded: Sequence[str]) -> dict[str, float]:
    """Return those of many words that the table has, with weights; frequent words weigh less."""
    table, weights = load_table(), dict[str, float]()
    stems = [stem if len(stem := stem_word(word)) > _MIN_PART_LENGTH else word for word in folded]
    for form in (folded, stems):
        keys = np.array([hash_word(word) for word in form], np.uint32)
        rows = table.hashes.searchsorted(keys).clip(max=len(table.hashes) - 1)
        for at in np.flatnonzero(table.hashes[rows] == keys).tolist():
            vector = table.find(form[at])
            if vector is not None:
                weights.setdefault(folded[at], float(np.linalg.norm(vector)))
    return weights


def _join_parts(folded: str) -> Vectors | None:
    """Return the sum of the vectors of two parts; of several splits, the one with longest parts."""
    if len(folded) > _MAX_COMPOUND_LENGTH:
        return None
    ends = range(_MIN_PART_LENGTH, len(folded) - _MIN_PART_LENGTH + 1)
    for end in sorted(ends, key=lambda end: (-min(end, len(folded) - end), -end)):
        last = _find_known(folded[end:])
        if last is None:
            continue
        for letters in _LINKING_LETTERS:
            first_word = folded[:end].removesuffix(letters)
            if len(first_word) < _MIN_PART_LENGTH or len(first_word) + len(letters) != end:
                continue
            first = load_table().find(first_word)
            if first is not None:
                return first + last
    return None


def combine_words(words: Iterable[str]) -> Vectors | None:
    """Return the unit vector of a phrase, None if no word has a vector."""
    vectors = [vector for word in words if (vector := find_vector(word)) is not None]
    if not vectors:
        return None
    total: Vectors = np.sum(vectors, axis=0)
    length = float(np.linalg.norm(total))
    return total / np.float32(length) if length else None


@dataclass(frozen=True, eq=False)
class NameVectors:
    """Names of one or more kinds that have vectors, and their unit vectors."""

    names: tuple[IndexedName, ...]
    vectors: Vectors

    def find_nearest(
        self, words: Sequence[str], *, limit: int, at_least: float
    ) -> list[tuple[IndexedName, float]]:
        """Return the names nearest to a phrase with their cosines, nearest first.

        Args:
            at_least: the minimum cosine.
        """
        vector = combine_words(words)
        if vector is None or not self.names:
            return []
        cosines = self.vectors @ vector
        nearest = np.argsort(-cosines, kind="stable")[:limit].tolist()
        return [(self.names[at], float(cosines[at])) for at in nearest if cosines[at] >= at_least]


_name_vectors: WeakKeyDictionary[NameIndex, dict[bool, NameVectors]] = WeakKeyDictionary()


_MIN_WORD_LENGTH = 3  # letters of a name's longest word: "to" and "is" mean nothing alone


def get_name_vectors(index: NameIndex, *, is_of_things: bool = False) -> NameVectors:
    """Return the vectors of an index's names, computed once.

    With very many names, it returns the vectors of the names read within a share of the time
    limit, and starts again at the next question. Of many values, only short ones have vectors.

    Args:
        is_of_things: whether to compare things instead of classes, predicates and values.
    """
    index_vectors = _name_vectors.setdefault(index, {})
    if is_of_things in index_vectors:
        return index_vectors[is_of_things]
    kinds = [] if is_of_things else [int(ItemKind.CLASS), int(ItemKind.PREDICATE)]
    kind = ItemKind.ENTITY if is_of_things else ItemKind.VALUE
    count = np.count_nonzero(index.kinds == int(kind))
    if count <= (_MAX_ENTITY_COUNT if is_of_things else _MAX_READ_VALUE_COUNT):
        kinds.append(int(kind))
    names: list[IndexedName] = []
    vectors: list[Vectors] = []
    numbers = np.flatnonzero(np.isin(index.kinds, kinds)).tolist()
    for number in (timed := limit_to_deadline(numbers, share=_TIME_SHARE)):
        name = index.read_name(number)
        words = split_tokens(name.text)
        is_of_many = name.kind is ItemKind.VALUE and count > _MAX_VALUE_COUNT
        is_long = is_of_many and len(words) > _MAX_SHORT_VALUE_WORDS
        is_foreign = is_of_things or (is_of_many and not is_long)
        is_foreign = is_foreign and any(map(is_unknown_word, words))  # "Agrigento Painter"
        vector = None if is_long or is_foreign else combine_words(words)
        if vector is not None and max(map(len, words)) >= _MIN_WORD_LENGTH:
            names.append(name)
            vectors.append(vector)
    dimensions = 2 * load_table().codes.shape[1]
    result = NameVectors(
        tuple(names), np.array(vectors, np.float32).reshape(len(names), dimensions)
    )
    if not timed.is_cut:
        index_vectors[is_of_things] = result
    return result
