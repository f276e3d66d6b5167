"""Words of a graph's own names that mean what a word of the question means, or nearly so.

The lexicon has far more relatives of a word than one graph has names: only those that occur in the
names of its classes and predicates count; peoples and codes of countries count in names of things.
"""

from collections.abc import Iterator, Mapping
from functools import lru_cache
from typing import Final

import numpy as np

from askgraph.index.names import NameIndex
from askgraph.search.linking.lexicon import relatives
from askgraph.search.linking.schema_words import SchemaWords, schema_words
from askgraph.search.linking.word_lists import countries

Meant = tuple[int, float, str]
"""A word of the index that is meant, by its number, how well it fits, and how it is related."""

SCHEMA_ONLY: Final = frozenset(
    ("derivation", "doer", "hypernym", "hyponym", "near", "short", "initials")
)
"""Relations that hold in names of classes and predicates alone."""
AKIN: Final = frozenset(("synonym", "near", "hypernym", "hyponym"))
"""Relations between words that do not share a root."""

_BEST: Final = {
    "synonym": 0.74,
    "derivation": 0.66,
    "doer": 0.6,
    "hypernym": 0.6,
    "hyponym": 0.56,
    "demonym": 0.85,
}
"""The quality of the nearest relatives; `more` and `less` are about scales, not about names."""
_LEAST: Final = {
    "synonym": 0.4,
    "derivation": 0.4,
    "doer": 0.4,
    "hypernym": 0.45,
    "hyponym": 0.55,
    "demonym": 0.0,
}
"""The weight of relatives at least."""
_NAMING: Final = frozenset(("synonym", "derivation", "doer", "hypernym", "hyponym"))
"""Relations in which a word may name a class or predicate."""
_FARTHEST: Final = 0.6
"""What is left of it for the farthest."""
_CODE: Final = 0.83
"""The quality of a country's other names and codes: all of a name, never a part of one."""
_EQUAL: Final = 1e-3
"""Between rarities that are taken for equal."""
_MOST = 4
"""So many relatives of one word at most that a graph's names have."""


def akin(word: str, index: NameIndex) -> Iterator[Meant]:
    """Yield what the lexicon says a word may mean among the names of classes and predicates."""
    schema = schema_words(index)
    found: dict[int, tuple[float, str]] = {}
    for relative in relatives(word):
        how = relative.how
        if how not in _NAMING or relative.weight < _LEAST[how]:
            continue
        quality = _BEST[how] * (_FARTHEST + (1 - _FARTHEST) * relative.weight)
        for number in _occurring(relative.words, index, schema):
            if quality > found.get(number, (0.0, ""))[0]:
                found[number] = quality, how
    own = index.word_id(word)
    nearest = sorted(found.items(), key=lambda item: (-item[1][0], item[0]))
    for number, (quality, how) in nearest[:_MOST]:
        if number != own:
            yield number, quality, "near" if how == "synonym" else how


def of_countries(word: str, index: NameIndex) -> Iterator[Meant]:
    """Yield the words of a country's names and codes for its people or for another of its names."""
    named = [(one.words, _BEST["demonym"]) for one in relatives(word) if one.how == "demonym"]
    sets = _countries()
    for words, quality in (*named, ((word,), 0.0)):
        found = [index.word_id(part) for part in words] if quality else []
        if found and None not in found:
            yield from ((number, quality, "demonym") for number in found if number is not None)
        for other in sets.get(words, ()):
            numbers = [index.word_id(part) for part in other] if other != words else [None]
            if None not in numbers:
                yield from ((number, _CODE, "code") for number in numbers if number is not None)


def is_told(word: str, other: str) -> bool:
    """Return whether the lexicon says that a word may stand for another in a name."""
    return any(
        one.words == (other,) and one.how in _NAMING and one.weight >= _LEAST[one.how]
        for one in relatives(word)
    )


def is_name(word: str, index: NameIndex) -> bool:
    """Return whether a word is all of the name of something."""
    number = index.word_id(word)
    if number is None:
        return False
    alone = np.abs(index.lengths[index.bearing(number)] - index.rarity_of(number)) < _EQUAL
    return bool(alone.any())


def _occurring(words: tuple[str, ...], index: NameIndex, schema: SchemaWords) -> Iterator[int]:
    numbers = [index.word_id(word) for word in words]
    if schema.numbers.issuperset(numbers):
        yield from (number for number in numbers if number is not None)
    if len(words) == 1:
        yield from schema.bent.get(words[0], ())


@lru_cache(maxsize=1)
def _countries() -> Mapping[tuple[str, ...], tuple[tuple[str, ...], ...]]:
    """The names and codes of each country, by each of them."""
    found: dict[tuple[str, ...], tuple[tuple[str, ...], ...]] = {}
    for names in countries():
        found |= dict.fromkeys(names, names)
    return found
