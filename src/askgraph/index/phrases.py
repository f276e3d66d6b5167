"""Names of a graph that a text holds word for word, and where."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from askgraph.index.names import Name, NameIndex, name_tokens
from askgraph.index.tokens import stem, tokens

__all__ = ["Phrase", "phrases"]

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
